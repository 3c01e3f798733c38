"""Write the listers, one module per kind."""

from __future__ import annotations

from clientgo.codegen import naming
from clientgo.codegen.client_gen import GENERATED
from clientgo.codegen.clients import LISTER_EXPANSIONS, Clientset, GroupVersion, Kind
from clientgo.codegen.lazy_gen import render_front_door


def render_kind(group: GroupVersion, kind: Kind) -> str:
    """Return the text of <group>/<version>/<kind>.py."""
    api = f"from {group.parent} import {group.version} as {group.alias}"
    imports = {api, "from clientgo.listers import ResourceIndexer", "from clientgo.tools import cache"}
    expanded = (group.module, kind.name) in LISTER_EXPANSIONS
    if expanded:
        module = f"clientgo.listers.{group.directory}.{group.version}.{kind.module}_expansion"
        imports.add(f"from {module} import {kind.name}ListerExpansion")
    header = "\n".join(sorted(imports, key=lambda line: line.split()[1]))
    name, resource = kind.name, kind.genclient.resource
    typed = f"{group.alias}.{name}"
    base = f"{name}ListerExpansion" if expanded else f"ResourceIndexer[{typed}]"
    text = f'''"""The lister of {resource}. {GENERATED}"""

from __future__ import annotations

{header}


class {name}Lister({base}):
    """A lister of {resource} in an informer's cache. The objects are shared and read-only."""
'''
    if kind.genclient.namespaced:
        text += f'''
    def {kind.accessor}(self, namespace: str) -> {name}NamespaceLister:
        """Return the lister of one namespace."""
        return {name}NamespaceLister(self.indexer, self.resource, namespace)


class {name}NamespaceLister(ResourceIndexer[{typed}]):
    """A lister of one namespace's {resource} in an informer's cache. The objects are shared and read-only."""
'''
    return (
        text
        + f'''

def new_{_snake(kind)}_lister(indexer: cache.Indexer) -> {name}Lister:
    """Return a lister that reads an informer's indexer. Go: New{name}Lister."""
    return {name}Lister(indexer, {group.alias}.resource("{resource}"))
'''
    )


def render_group_init(clientset: Clientset, group: GroupVersion) -> str:
    """Return the text of <group>/<version>/__init__.py."""
    package = f"{clientset.listers}.{group.directory}.{group.version}"
    imports = []
    for kind in group.kinds():
        if not kind.listable:
            continue
        names = [f"{kind.name}Lister"]
        if kind.genclient.namespaced:
            names.append(f"{kind.name}NamespaceLister")
        names.append(f"new_{_snake(kind)}_lister")
        if (group.module, kind.name) in LISTER_EXPANSIONS:
            imports.append((f"{package}.{kind.module}_expansion", [f"{kind.name}ListerExpansion"]))
        imports.append((f"{package}.{kind.module}", names))
    return render_front_door(f"The listers of {group.group or 'core'}/{group.version}. {GENERATED}", package, imports)


def _snake(kind: Kind) -> str:
    return naming.snake(kind.name)
