"""Write the informers: modules for kinds, packages for groups and versions, `factory.py` and `generic.py`."""

from __future__ import annotations

from clientgo.codegen import naming
from clientgo.codegen.client_gen import GENERATED, render_front_door
from clientgo.codegen.clients import Clientset, GroupVersion, Kind
from clientgo.codegen.lazy_gen import render_lazy_imports

_OPTIONS = "with_custom_resync_config, with_informer_name, with_namespace, with_transform, with_tweak_list_options"
_SHARED = f"BaseSharedInformerFactory, SharedInformerOption, {_OPTIONS}"


def _sorted(lines: list[str]) -> str:
    return "\n".join(sorted(lines, key=lambda line: line.split()[1]))


def render_kind(clientset: Clientset, group: GroupVersion, kind: Kind) -> str:
    """Return the text of <group>/<version>/<kind>.py."""
    name, resource = kind.name, kind.genclient.resource
    snake = naming.snake(name)
    namespaced = kind.genclient.namespaced
    lister = f"{clientset.listers}.{group.directory}.{group.version}"
    header = _sorted(
        [
            f"from {group.parent} import {group.version} as {group.alias}",
            "from clientgo.apimachinery import watch",
            "from clientgo.apimachinery.apis.meta import v1 as metav1",
            "from clientgo.context import Context",
            "from clientgo.informers import internalinterfaces",
            f"from {clientset.clientset} import Interface",
            f"from {lister}.{kind.module} import {name}Lister, new_{snake}_lister",
            "from clientgo.tools import cache",
        ]
    )
    scope = "namespace: str, " if namespaced else ""
    passed = "namespace, " if namespaced else ""
    resource_client = f"client.{group.accessor}().{kind.accessor}({'namespace' if namespaced else ''})"
    own_scope = "self._namespace, " if namespaced else ""
    indexers = "{cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}"
    return f'''"""The informer of {resource}. {GENERATED}"""

from __future__ import annotations

{header}


class {name}Informer:
    """The factory's shared informer of {resource}, and its lister."""

    def __init__(
        self,
        factory: internalinterfaces.SharedInformerFactory,
        {"namespace: str," if namespaced else ""}
        tweak_list_options: internalinterfaces.TweakListOptionsFunc | None,
    ) -> None:
        self._factory = factory
        {"self._namespace = namespace" if namespaced else ""}
        self._tweak_list_options = tweak_list_options

    def informer(self) -> cache.SharedIndexInformer:
        """Return the factory's shared informer, which the first call creates. Go: Informer.

        The factory starts it in `start_with_context`.
        """
        return self._factory.informer_for({group.alias}.{name}, self._default_informer)

    def lister(self) -> {name}Lister:
        """Return a lister of the informer's cache. Creates the informer if necessary. Go: Lister."""
        return new_{snake}_lister(self.informer().get_indexer())

    def _default_informer(self, client: Interface, resync_period: float) -> cache.SharedIndexInformer:
        options = internalinterfaces.InformerOptions(
            resync_period=resync_period,
            indexers={indexers},
            informer_name=self._factory.informer_name(),
            tweak_list_options=self._tweak_list_options,
        )
        return new_{snake}_informer_with_options(client, {own_scope}options)


def new_{snake}_informer(
    client: Interface, {scope}resync_period: float, indexers: cache.Indexers
) -> cache.SharedIndexInformer:
    """Return a new informer, which shares no cache; prefer `{name}Informer` of a factory.

    `resync_period` is in seconds, and 0 disables the resync. Go: New{name}Informer.
    """
    options = internalinterfaces.InformerOptions(resync_period=resync_period, indexers=indexers)
    return new_{snake}_informer_with_options(client, {passed}options)


def new_filtered_{snake}_informer(
    client: Interface,
    {scope}
    resync_period: float,
    indexers: cache.Indexers,
    tweak_list_options: internalinterfaces.TweakListOptionsFunc | None,
) -> cache.SharedIndexInformer:
    """Return a new informer whose list options `tweak_list_options` changes; prefer `{name}Informer` of a factory.

    `resync_period` is in seconds, and 0 disables the resync. Go: NewFiltered{name}Informer.
    """
    options = internalinterfaces.InformerOptions(
        resync_period=resync_period, indexers=indexers, tweak_list_options=tweak_list_options
    )
    return new_{snake}_informer_with_options(client, {passed}options)


def new_{snake}_informer_with_options(
    client: Interface, {scope}options: internalinterfaces.InformerOptions
) -> cache.SharedIndexInformer:
    """Return a new informer, which shares no cache; prefer `{name}Informer` of a factory.

    Go: New{name}InformerWithOptions.
    """
    tweak = options.tweak_list_options or _keep

    def list_with_context(ctx: Context, opts: metav1.ListOptions) -> {group.alias}.{name}List:
        tweak(opts)
        return {resource_client}.list(ctx, opts)

    def watch_with_context(ctx: Context, opts: metav1.ListOptions) -> watch.Interface:
        tweak(opts)
        return {resource_client}.watch(ctx, opts)

    list_watch = cache.ListWatch(list_with_context_func=list_with_context, watch_func_with_context=watch_with_context)
    gvr = {group.alias}.SCHEME_GROUP_VERSION.with_resource("{resource}")
    return cache.new_shared_index_informer_with_options(
        cache.to_list_watcher_with_watch_list_semantics(list_watch, client),
        {group.alias}.{name}(),
        cache.SharedIndexInformerOptions(
            resync_period=options.resync_period,
            indexers=options.indexers,
            identifier=internalinterfaces.identifier(options, gvr),
        ),
    )


def _keep(options: metav1.ListOptions) -> None:
    """Leave the list options unchanged."""
'''.replace("\n        \n", "\n").replace("    namespace: str, \n", "    namespace: str,\n").replace("\n    \n", "\n")


def render_version_interface(clientset: Clientset, group: GroupVersion) -> str:
    """Return the text of <group>/<version>/__init__.py, which has the informers of a group version."""
    package = f"{clientset.informers}.{group.directory}.{group.version}"
    kinds = [kind for kind in group.kinds() if kind.watchable]
    typing = "from typing import TYPE_CHECKING\n\n" if kinds else ""
    passed_on = render_lazy_imports(package, [(f"{package}.{kind.module}", [f"{kind.name}Informer"]) for kind in kinds]) or "\n"
    accessors = "".join(
        f'''
    def {kind.accessor}(self) -> {kind.name}Informer:
        """Return the factory's informer of {kind.genclient.resource}."""
        from {package}.{kind.module} import {kind.name}Informer

        return {kind.name}Informer(self._factory, {"self._namespace, " if kind.genclient.namespaced else ""}self._tweak_list_options)
'''
        for kind in kinds
    )
    exported = "".join(f'    "{name}",\n' for name in naming.sort_exports({"Interface", *(f"{k.name}Informer" for k in kinds)}))
    return f'''"""The informers of {group.group or "core"}/{group.version}. {GENERATED}"""

from __future__ import annotations

{typing}from clientgo.informers import internalinterfaces
{passed_on}__all__ = [
{exported}]


class Interface:
    """The informers of {group.group or "core"}/{group.version}, with one accessor per resource.

    An accessor imports its modules on the first call.
    """

    def __init__(
        self,
        factory: internalinterfaces.SharedInformerFactory,
        namespace: str,
        tweak_list_options: internalinterfaces.TweakListOptionsFunc | None,
    ) -> None:
        self._factory = factory
        self._namespace = namespace
        self._tweak_list_options = tweak_list_options
{accessors}'''


def render_group_interface(clientset: Clientset, directory: str, groups: list[GroupVersion]) -> str:
    """Return the text of <group>/__init__.py, which has the versions of a group."""
    package = f"{clientset.informers}.{directory}"
    hints = f"    from {package} import {', '.join(g.version for g in groups)}"
    accessors = "".join(
        f'''
    def {g.version}(self) -> {g.version}.Interface:
        """Return the informers of {g.group or "core"}/{g.version}."""
        from {package}.{g.version} import Interface

        return Interface(self._factory, self._namespace, self._tweak_list_options)
'''
        for g in groups
    )
    return f'''"""The informers of the API group {groups[0].group or "core"}, by version. {GENERATED}"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clientgo.informers import internalinterfaces

if TYPE_CHECKING:
{hints}

__all__ = ["Interface"]


class Interface:
    """The informers of a group, with one accessor per version.

    An accessor imports its modules on the first call.
    """

    def __init__(
        self,
        factory: internalinterfaces.SharedInformerFactory,
        namespace: str,
        tweak_list_options: internalinterfaces.TweakListOptionsFunc | None,
    ) -> None:
        self._factory = factory
        self._namespace = namespace
        self._tweak_list_options = tweak_list_options
{accessors}'''


def render_factory(clientset: Clientset) -> str:
    """Return the text of factory.py."""
    by_directory = clientset.by_directory()
    hints = f"    from {clientset.informers} import {', '.join(by_directory)}"
    accessors = "".join(
        f'''
    def {groups[0].group_word.lower()}(self) -> {directory}.Interface:
        """Return the informers of the API group {groups[0].group or "core"}."""
        from {clientset.informers}.{directory} import Interface

        return Interface(self, self.namespace, self.tweak_list_options)
'''
        for directory, groups in by_directory.items()
    )
    groups = next((g for d, g in by_directory.items() if d == "core"), next(iter(by_directory.values())))
    kinds = groups[0].kinds()
    kind = next((kind for kind in kinds if kind.name == "Pod"), kinds[0])
    example = (kind.plural, kind.accessor)
    header = _sorted(
        [
            "from clientgo.apimachinery.runtime.schema import GroupVersionResource",
            "from clientgo.informers.internalinterfaces import TweakListOptionsFunc",
            f"from clientgo.informers.internalinterfaces.shared_informer_factory import {_SHARED}",
            f"from {clientset.clientset} import Interface",
        ]
    )
    return f'''"""The shared informers of a clientset, with one accessor per API group. Mirrors factory.go.

    factory = new_shared_informer_factory(client, 30.0)
    {example[0].lower()} = factory.{groups[0].group_word.lower()}().{groups[0].version}().{example[1]}()
    {example[0].lower()}.informer().add_event_handler(...)
    factory.start_with_context(ctx)
    factory.wait_for_cache_sync_with_context(ctx)

{GENERATED}"""

from __future__ import annotations

from typing import TYPE_CHECKING

{header}

if TYPE_CHECKING:
{hints}
    from {clientset.informers}.generic import GenericInformer

__all__ = [
    "SharedInformerFactory",
    "SharedInformerOption",
    "new_filtered_shared_informer_factory",
    "new_shared_informer_factory",
    "new_shared_informer_factory_with_options",
    "with_custom_resync_config",
    "with_informer_name",
    "with_namespace",
    "with_transform",
    "with_tweak_list_options",
]


class SharedInformerFactory(BaseSharedInformerFactory):
    """A factory of shared informers, with one accessor per API group. Thread-safe. Go: SharedInformerFactory.

    All users of the factory share one informer, and thus one watch and one cache, per resource.
    """

    def for_resource(self, resource: GroupVersionResource) -> GenericInformer:
        """Return the informer of a resource named at run time. Raises ValueError if unknown. Go: ForResource."""
        from {clientset.informers}.generic import for_resource

        return for_resource(self, resource)
{accessors}

def new_shared_informer_factory(client: Interface, default_resync: float) -> SharedInformerFactory:
    """Return a factory of informers for all namespaces. Go: NewSharedInformerFactory.

    `default_resync` is in seconds, and 0 disables the resync.
    """
    return new_shared_informer_factory_with_options(client, default_resync)


def new_filtered_shared_informer_factory(
    client: Interface, default_resync: float, namespace: str, tweak_list_options: TweakListOptionsFunc | None
) -> SharedInformerFactory:
    """Deprecated: use new_shared_informer_factory_with_options. Go: NewFilteredSharedInformerFactory."""
    options = [with_namespace(namespace)]
    if tweak_list_options is not None:
        options.append(with_tweak_list_options(tweak_list_options))
    return new_shared_informer_factory_with_options(client, default_resync, *options)


def new_shared_informer_factory_with_options(
    client: Interface, default_resync: float, *options: SharedInformerOption
) -> SharedInformerFactory:
    """Return a factory to which the options are applied in order. Go: NewSharedInformerFactoryWithOptions.

    `default_resync` is in seconds, and 0 disables the resync.
    """
    factory = SharedInformerFactory(client, default_resync)
    for option in options:
        option(factory)
    return factory
'''


def render_generic(clientset: Clientset) -> str:
    """Return the text of generic.py."""
    rows = "".join(
        f'    ("{g.group}", "{g.version}", "{kind.genclient.resource}"): '
        f"lambda f: f.{g.group_word.lower()}().{g.version}().{kind.accessor}().informer(),\n"
        for g in clientset.groups
        for kind in g.kinds()
        if kind.watchable
    )
    return f'''"""Informers by resource name. Mirrors generic.go. {GENERATED}"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersionResource
from clientgo.tools import cache

if TYPE_CHECKING:
    from {clientset.informers}.factory import SharedInformerFactory


class GenericInformer:
    """An informer and a lister for callers that do not know the class of the objects. Go: GenericInformer."""

    def __init__(self, informer: cache.SharedIndexInformer, resource: GroupResource) -> None:
        self._informer = informer
        self._resource = resource

    def informer(self) -> cache.SharedIndexInformer:
        """Return the shared informer. Go: Informer."""
        return self._informer

    def lister(self) -> cache.GenericLister:
        """Return a lister of the informer's cache. Go: Lister."""
        return cache.new_generic_lister(self._informer.get_indexer(), self._resource)


def for_resource(factory: SharedInformerFactory, resource: GroupVersionResource) -> GenericInformer:
    """Return the factory's informer of `resource`. Raises ValueError when the clientset has no such resource."""
    make = _INFORMERS.get((resource.group, resource.version, resource.resource))
    if make is None:
        raise ValueError(f"no informer found for {{resource}}")
    return GenericInformer(make(factory), resource.group_resource())


_INFORMERS: dict[tuple[str, str, str], Callable[[SharedInformerFactory], cache.SharedIndexInformer]] = {{
{rows}}}
'''


def render_init(clientset: Clientset) -> str:
    """Return the text of the informers' `__init__.py`."""
    names = [
        "SharedInformerFactory",
        "SharedInformerOption",
        "new_filtered_shared_informer_factory",
        "new_shared_informer_factory",
        "new_shared_informer_factory_with_options",
        "with_custom_resync_config",
        "with_informer_name",
        "with_namespace",
        "with_transform",
        "with_tweak_list_options",
    ]
    modules = [(f"{clientset.informers}.factory", names), (f"{clientset.informers}.generic", ["GenericInformer"])]
    return render_front_door(f"Shared informers: {clientset.title[0].lower()}{clientset.title[1:]}.", modules)
