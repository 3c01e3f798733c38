"""Actions: the recorded requests of a fake client. Mirrors testing/actions.go.

The `new_root_*` functions make actions on cluster-scoped resources, the others on namespaced ones; each
`*_with_options` function also receives the request's options. Difference from Go: ActionImpl implements `deep_copy` for
all actions.
"""

from __future__ import annotations

import dataclasses
import posixpath
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, runtime_checkable

from clientgo.apimachinery import fields, labels
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.types import PatchType

__all__ = [
    "Action",
    "ActionImpl",
    "CreateAction",
    "CreateActionImpl",
    "DeleteAction",
    "DeleteActionImpl",
    "DeleteCollectionAction",
    "DeleteCollectionActionImpl",
    "GenericAction",
    "GenericActionImpl",
    "GetAction",
    "GetActionImpl",
    "ListAction",
    "ListActionImpl",
    "ListRestrictions",
    "PatchAction",
    "PatchActionImpl",
    "ProxyGetAction",
    "ProxyGetActionImpl",
    "UpdateAction",
    "UpdateActionImpl",
    "WatchAction",
    "WatchActionImpl",
    "WatchRestrictions",
    "extract_from_list_options",
    "new_create_action",
    "new_create_action_with_options",
    "new_create_subresource_action",
    "new_create_subresource_action_with_options",
    "new_delete_action",
    "new_delete_action_with_options",
    "new_delete_collection_action",
    "new_delete_collection_action_with_options",
    "new_delete_subresource_action",
    "new_delete_subresource_action_with_options",
    "new_get_action",
    "new_get_action_with_options",
    "new_get_subresource_action",
    "new_get_subresource_action_with_options",
    "new_list_action",
    "new_list_action_with_options",
    "new_patch_action",
    "new_patch_action_with_options",
    "new_patch_subresource_action",
    "new_patch_subresource_action_with_options",
    "new_proxy_get_action",
    "new_root_create_action",
    "new_root_create_action_with_options",
    "new_root_create_subresource_action",
    "new_root_create_subresource_action_with_options",
    "new_root_delete_action",
    "new_root_delete_action_with_options",
    "new_root_delete_collection_action",
    "new_root_delete_collection_action_with_options",
    "new_root_delete_subresource_action",
    "new_root_delete_subresource_action_with_options",
    "new_root_get_action",
    "new_root_get_action_with_options",
    "new_root_get_subresource_action",
    "new_root_get_subresource_action_with_options",
    "new_root_list_action",
    "new_root_list_action_with_options",
    "new_root_patch_action",
    "new_root_patch_action_with_options",
    "new_root_patch_subresource_action",
    "new_root_patch_subresource_action_with_options",
    "new_root_update_action",
    "new_root_update_action_with_options",
    "new_root_update_subresource_action",
    "new_root_update_subresource_action_with_options",
    "new_root_watch_action",
    "new_root_watch_action_with_options",
    "new_update_action",
    "new_update_action_with_options",
    "new_update_subresource_action",
    "new_update_subresource_action_with_options",
    "new_watch_action",
    "new_watch_action_with_options",
]


def new_root_get_action(resource: GroupVersionResource, name: str) -> GetActionImpl:
    """Return an action to get a cluster-scoped object, without options."""
    return new_root_get_action_with_options(resource, name, metav1.GetOptions())


def new_root_get_action_with_options(
    resource: GroupVersionResource, name: str, opts: metav1.GetOptions
) -> GetActionImpl:
    """Return an action to get a cluster-scoped object."""
    return GetActionImpl(verb="get", resource=resource, name=name, get_options=opts)


def new_get_action(resource: GroupVersionResource, namespace: str, name: str) -> GetActionImpl:
    """Return an action to get a namespaced object, without options."""
    return new_get_action_with_options(resource, namespace, name, metav1.GetOptions())


def new_get_action_with_options(
    resource: GroupVersionResource, namespace: str, name: str, opts: metav1.GetOptions
) -> GetActionImpl:
    """Return an action to get a namespaced object."""
    return GetActionImpl(verb="get", resource=resource, namespace=namespace, name=name, get_options=opts)


def new_root_get_subresource_action(resource: GroupVersionResource, subresource: str, name: str) -> GetActionImpl:
    """Return an action to get a subresource of a cluster-scoped object, without options."""
    return new_root_get_subresource_action_with_options(resource, subresource, name, metav1.GetOptions())


def new_root_get_subresource_action_with_options(
    resource: GroupVersionResource, subresource: str, name: str, opts: metav1.GetOptions
) -> GetActionImpl:
    """Return an action to get a subresource of a cluster-scoped object."""
    return GetActionImpl(verb="get", resource=resource, subresource=subresource, name=name, get_options=opts)


def new_get_subresource_action(
    resource: GroupVersionResource, namespace: str, subresource: str, name: str
) -> GetActionImpl:
    """Return an action to get a subresource of a namespaced object, without options."""
    return new_get_subresource_action_with_options(resource, namespace, subresource, name, metav1.GetOptions())


def new_get_subresource_action_with_options(
    resource: GroupVersionResource, namespace: str, subresource: str, name: str, opts: metav1.GetOptions
) -> GetActionImpl:
    """Return an action to get a subresource of a namespaced object."""
    return GetActionImpl(
        verb="get", resource=resource, namespace=namespace, subresource=subresource, name=name, get_options=opts
    )


def new_root_list_action(resource: GroupVersionResource, kind: GroupVersionKind, opts: Any) -> ListActionImpl:
    """Return an action to list cluster-scoped objects. Raises the errors of `extract_from_list_options`."""
    return new_root_list_action_with_options(resource, kind, opts)


def new_root_list_action_with_options(
    resource: GroupVersionResource, kind: GroupVersionKind, opts: metav1.ListOptions
) -> ListActionImpl:
    """Return an action to list cluster-scoped objects. As in Go, it keeps only the selectors of the options."""
    return new_list_action(resource, kind, "", opts)


def new_list_action(
    resource: GroupVersionResource, kind: GroupVersionKind, namespace: str, opts: Any
) -> ListActionImpl:
    """Return an action to list objects of a namespace. As in Go, it keeps only the selectors of the options."""
    action = new_list_action_with_options(resource, kind, namespace, opts)
    restrictions = action.list_restrictions
    action.list_options = metav1.ListOptions(
        label_selector=str(restrictions.labels), field_selector=str(restrictions.fields)
    )
    return action


def new_list_action_with_options(
    resource: GroupVersionResource, kind: GroupVersionKind, namespace: str, opts: metav1.ListOptions
) -> ListActionImpl:
    """Return an action to list objects of a namespace. Raises the errors of `extract_from_list_options`."""
    label_selector, field_selector, _ = extract_from_list_options(opts)
    return ListActionImpl(
        verb="list",
        resource=resource,
        namespace=namespace,
        kind=kind,
        list_options=opts,
        list_restrictions=ListRestrictions(label_selector, field_selector),
    )


def new_root_create_action(resource: GroupVersionResource, obj: Object) -> CreateActionImpl:
    """Return an action to create a cluster-scoped object, without options."""
    return new_root_create_action_with_options(resource, obj, metav1.CreateOptions())


def new_root_create_action_with_options(
    resource: GroupVersionResource, obj: Object, opts: metav1.CreateOptions
) -> CreateActionImpl:
    """Return an action to create a cluster-scoped object."""
    return CreateActionImpl(verb="create", resource=resource, object=obj, create_options=opts)


def new_create_action(resource: GroupVersionResource, namespace: str, obj: Object) -> CreateActionImpl:
    """Return an action to create a namespaced object, without options."""
    return new_create_action_with_options(resource, namespace, obj, metav1.CreateOptions())


def new_create_action_with_options(
    resource: GroupVersionResource, namespace: str, obj: Object, opts: metav1.CreateOptions
) -> CreateActionImpl:
    """Return an action to create a namespaced object."""
    return CreateActionImpl(verb="create", resource=resource, namespace=namespace, object=obj, create_options=opts)


def new_root_create_subresource_action(
    resource: GroupVersionResource, name: str, subresource: str, obj: Object
) -> CreateActionImpl:
    """Return an action to create a subresource of a cluster-scoped object, without options."""
    return new_root_create_subresource_action_with_options(resource, name, subresource, obj, metav1.CreateOptions())


def new_root_create_subresource_action_with_options(
    resource: GroupVersionResource, name: str, subresource: str, obj: Object, opts: metav1.CreateOptions
) -> CreateActionImpl:
    """Return an action to create a subresource of a cluster-scoped object."""
    return CreateActionImpl(
        verb="create", resource=resource, subresource=subresource, name=name, object=obj, create_options=opts
    )


def new_create_subresource_action(
    resource: GroupVersionResource, name: str, subresource: str, namespace: str, obj: Object
) -> CreateActionImpl:
    """Return an action to create a subresource of a namespaced object, without options."""
    return new_create_subresource_action_with_options(
        resource, name, subresource, namespace, obj, metav1.CreateOptions()
    )


def new_create_subresource_action_with_options(
    resource: GroupVersionResource, name: str, subresource: str, namespace: str, obj: Object, opts: metav1.CreateOptions
) -> CreateActionImpl:
    """Return an action to create a subresource of a namespaced object."""
    return CreateActionImpl(
        verb="create",
        resource=resource,
        namespace=namespace,
        subresource=subresource,
        name=name,
        object=obj,
        create_options=opts,
    )


def new_root_update_action(resource: GroupVersionResource, obj: Object) -> UpdateActionImpl:
    """Return an action to update a cluster-scoped object, without options."""
    return new_root_update_action_with_options(resource, obj, metav1.UpdateOptions())


def new_root_update_action_with_options(
    resource: GroupVersionResource, obj: Object, opts: metav1.UpdateOptions
) -> UpdateActionImpl:
    """Return an action to update a cluster-scoped object."""
    return UpdateActionImpl(verb="update", resource=resource, object=obj, update_options=opts)


def new_update_action(resource: GroupVersionResource, namespace: str, obj: Object) -> UpdateActionImpl:
    """Return an action to update a namespaced object, without options."""
    return new_update_action_with_options(resource, namespace, obj, metav1.UpdateOptions())


def new_update_action_with_options(
    resource: GroupVersionResource, namespace: str, obj: Object, opts: metav1.UpdateOptions
) -> UpdateActionImpl:
    """Return an action to update a namespaced object."""
    return UpdateActionImpl(verb="update", resource=resource, namespace=namespace, object=obj, update_options=opts)


def new_root_patch_action(resource: GroupVersionResource, name: str, pt: PatchType, patch: bytes) -> PatchActionImpl:
    """Return an action to patch a cluster-scoped object, without options."""
    return new_root_patch_action_with_options(resource, name, pt, patch, metav1.PatchOptions())


def new_root_patch_action_with_options(
    resource: GroupVersionResource, name: str, pt: PatchType, patch: bytes, opts: metav1.PatchOptions
) -> PatchActionImpl:
    """Return an action to patch a cluster-scoped object."""
    return PatchActionImpl(verb="patch", resource=resource, name=name, patch_type=pt, patch=patch, patch_options=opts)


def new_patch_action(
    resource: GroupVersionResource, namespace: str, name: str, pt: PatchType, patch: bytes
) -> PatchActionImpl:
    """Return an action to patch a namespaced object, without options."""
    return new_patch_action_with_options(resource, namespace, name, pt, patch, metav1.PatchOptions())


def new_patch_action_with_options(
    resource: GroupVersionResource, namespace: str, name: str, pt: PatchType, patch: bytes, opts: metav1.PatchOptions
) -> PatchActionImpl:
    """Return an action to patch a namespaced object."""
    return PatchActionImpl(
        verb="patch", resource=resource, namespace=namespace, name=name, patch_type=pt, patch=patch, patch_options=opts
    )


def new_root_patch_subresource_action(
    resource: GroupVersionResource, name: str, pt: PatchType, patch: bytes, *subresources: str
) -> PatchActionImpl:
    """Return an action to patch a subresource of a cluster-scoped object, without options."""
    return new_root_patch_subresource_action_with_options(
        resource, name, pt, patch, metav1.PatchOptions(), *subresources
    )


def new_root_patch_subresource_action_with_options(
    resource: GroupVersionResource,
    name: str,
    pt: PatchType,
    patch: bytes,
    opts: metav1.PatchOptions,
    *subresources: str,
) -> PatchActionImpl:
    """Return an action to patch a subresource of a cluster-scoped object."""
    return PatchActionImpl(
        verb="patch",
        resource=resource,
        subresource=posixpath.join("", *subresources),
        name=name,
        patch_type=pt,
        patch=patch,
        patch_options=opts,
    )


def new_patch_subresource_action(
    resource: GroupVersionResource, namespace: str, name: str, pt: PatchType, patch: bytes, *subresources: str
) -> PatchActionImpl:
    """Return an action to patch a subresource of a namespaced object, without options."""
    return new_patch_subresource_action_with_options(
        resource, namespace, name, pt, patch, metav1.PatchOptions(), *subresources
    )


def new_patch_subresource_action_with_options(
    resource: GroupVersionResource,
    namespace: str,
    name: str,
    pt: PatchType,
    patch: bytes,
    opts: metav1.PatchOptions,
    *subresources: str,
) -> PatchActionImpl:
    """Return an action to patch a subresource of a namespaced object."""
    return PatchActionImpl(
        verb="patch",
        resource=resource,
        namespace=namespace,
        subresource=posixpath.join("", *subresources),
        name=name,
        patch_type=pt,
        patch=patch,
        patch_options=opts,
    )


def new_root_update_subresource_action(
    resource: GroupVersionResource, subresource: str, obj: Object
) -> UpdateActionImpl:
    """Return an action to update a subresource of a cluster-scoped object, without options."""
    return new_root_update_subresource_action_with_options(resource, subresource, obj, metav1.UpdateOptions())


def new_root_update_subresource_action_with_options(
    resource: GroupVersionResource, subresource: str, obj: Object, opts: metav1.UpdateOptions
) -> UpdateActionImpl:
    """Return an action to update a subresource of a cluster-scoped object."""
    return UpdateActionImpl(verb="update", resource=resource, subresource=subresource, object=obj, update_options=opts)


def new_update_subresource_action(
    resource: GroupVersionResource, subresource: str, namespace: str, obj: Object
) -> UpdateActionImpl:
    """Return an action to update a subresource of a namespaced object, without options."""
    return new_update_subresource_action_with_options(resource, subresource, namespace, obj, metav1.UpdateOptions())


def new_update_subresource_action_with_options(
    resource: GroupVersionResource, subresource: str, namespace: str, obj: Object, opts: metav1.UpdateOptions
) -> UpdateActionImpl:
    """Return an action to update a subresource of a namespaced object."""
    return UpdateActionImpl(
        verb="update", resource=resource, namespace=namespace, subresource=subresource, object=obj, update_options=opts
    )


def new_root_delete_action(resource: GroupVersionResource, name: str) -> DeleteActionImpl:
    """Return an action to delete a cluster-scoped object, without options."""
    return new_root_delete_action_with_options(resource, name, metav1.DeleteOptions())


def new_root_delete_action_with_options(
    resource: GroupVersionResource, name: str, opts: metav1.DeleteOptions
) -> DeleteActionImpl:
    """Return an action to delete a cluster-scoped object."""
    return DeleteActionImpl(verb="delete", resource=resource, name=name, delete_options=opts)


def new_delete_action(resource: GroupVersionResource, namespace: str, name: str) -> DeleteActionImpl:
    """Return an action to delete a namespaced object, without options."""
    return new_delete_action_with_options(resource, namespace, name, metav1.DeleteOptions())


def new_delete_action_with_options(
    resource: GroupVersionResource, namespace: str, name: str, opts: metav1.DeleteOptions
) -> DeleteActionImpl:
    """Return an action to delete a namespaced object."""
    return DeleteActionImpl(verb="delete", resource=resource, namespace=namespace, name=name, delete_options=opts)


def new_root_delete_subresource_action(resource: GroupVersionResource, subresource: str, name: str) -> DeleteActionImpl:
    """Return an action to delete a subresource of a cluster-scoped object, without options."""
    return new_root_delete_subresource_action_with_options(resource, subresource, name, metav1.DeleteOptions())


def new_root_delete_subresource_action_with_options(
    resource: GroupVersionResource, subresource: str, name: str, opts: metav1.DeleteOptions
) -> DeleteActionImpl:
    """Return an action to delete a subresource of a cluster-scoped object."""
    return DeleteActionImpl(verb="delete", resource=resource, subresource=subresource, name=name, delete_options=opts)


def new_delete_subresource_action(
    resource: GroupVersionResource, subresource: str, namespace: str, name: str
) -> DeleteActionImpl:
    """Return an action to delete a subresource of a namespaced object, without options."""
    return new_delete_subresource_action_with_options(resource, subresource, namespace, name, metav1.DeleteOptions())


def new_delete_subresource_action_with_options(
    resource: GroupVersionResource, subresource: str, namespace: str, name: str, opts: metav1.DeleteOptions
) -> DeleteActionImpl:
    """Return an action to delete a subresource of a namespaced object."""
    return DeleteActionImpl(
        verb="delete", resource=resource, namespace=namespace, subresource=subresource, name=name, delete_options=opts
    )


def new_root_delete_collection_action(resource: GroupVersionResource, opts: Any) -> DeleteCollectionActionImpl:
    """Return an action to delete the cluster-scoped objects that `opts` selects."""
    return new_delete_collection_action(resource, "", opts)


def new_root_delete_collection_action_with_options(
    resource: GroupVersionResource, delete_opts: metav1.DeleteOptions, list_opts: metav1.ListOptions
) -> DeleteCollectionActionImpl:
    """Return an action to delete the cluster-scoped objects that `list_opts` selects."""
    return new_delete_collection_action_with_options(resource, "", delete_opts, list_opts)


def new_delete_collection_action(
    resource: GroupVersionResource, namespace: str, opts: Any
) -> DeleteCollectionActionImpl:
    """Return an action to delete the objects of a namespace that `opts` selects; all if it is not a ListOptions."""
    return new_delete_collection_action_with_options(
        resource, namespace, metav1.DeleteOptions(), _list_options_or_none(opts)
    )


def new_delete_collection_action_with_options(
    resource: GroupVersionResource, namespace: str, delete_opts: metav1.DeleteOptions, list_opts: metav1.ListOptions
) -> DeleteCollectionActionImpl:
    """Return an action to delete the objects of a namespace that `list_opts` selects."""
    label_selector, field_selector, _ = extract_from_list_options(list_opts)
    return DeleteCollectionActionImpl(
        verb="delete-collection",
        resource=resource,
        namespace=namespace,
        delete_options=delete_opts,
        list_options=list_opts,
        list_restrictions=ListRestrictions(label_selector, field_selector),
    )


def new_root_watch_action(resource: GroupVersionResource, opts: Any) -> WatchActionImpl:
    """Return an action to watch cluster-scoped objects."""
    return new_watch_action(resource, "", opts)


def new_root_watch_action_with_options(resource: GroupVersionResource, opts: metav1.ListOptions) -> WatchActionImpl:
    """Return an action to watch cluster-scoped objects."""
    return new_watch_action_with_options(resource, "", opts)


def extract_from_list_options(opts: Any) -> tuple[labels.Selector, fields.Selector, str]:
    """Return the label selector, field selector and resource version of `opts`.

    Raises TypeError if it is not a ListOptions, ValueError for an invalid selector (Go panics).
    """
    if not isinstance(opts, metav1.ListOptions):
        raise TypeError(f"expect a ListOptions {type(opts).__name__}")
    return (
        _parsed(labels.parse, opts.label_selector),
        _parsed(fields.parse_selector, opts.field_selector),
        opts.resource_version,
    )


def _parsed(parse: Any, selector: str) -> Any:
    try:
        return parse(selector)
    except Exception as err:
        raise ValueError(f'invalid selector "{selector}": {err}') from err


def _list_options_or_none(opts: Any) -> metav1.ListOptions:
    return opts if isinstance(opts, metav1.ListOptions) else metav1.ListOptions()


def new_watch_action(resource: GroupVersionResource, namespace: str, opts: Any) -> WatchActionImpl:
    """Return an action to watch objects of a namespace; all if `opts` is not a ListOptions."""
    return new_watch_action_with_options(resource, namespace, _list_options_or_none(opts))


def new_watch_action_with_options(
    resource: GroupVersionResource, namespace: str, opts: metav1.ListOptions
) -> WatchActionImpl:
    """Return an action to watch objects of a namespace."""
    label_selector, field_selector, resource_version = extract_from_list_options(opts)
    return WatchActionImpl(
        verb="watch",
        resource=resource,
        namespace=namespace,
        list_options=opts,
        watch_restrictions=WatchRestrictions(label_selector, field_selector, resource_version),
    )


def new_proxy_get_action(
    resource: GroupVersionResource, namespace: str, scheme: str, name: str, port: str, path: str, params: dict[str, str]
) -> ProxyGetActionImpl:
    """Return an action to read from a service or pod through the API server."""
    return ProxyGetActionImpl(
        verb="get",
        resource=resource,
        namespace=namespace,
        scheme=scheme,
        name=name,
        port=port,
        path=path,
        params=params,
    )


@dataclass
class ListRestrictions:
    """The selectors of a list or a deletion."""

    labels: labels.Selector = field(default_factory=labels.everything)
    fields: fields.Selector = field(default_factory=fields.everything)


@dataclass
class WatchRestrictions:
    """The selectors and the start version of a watch."""

    labels: labels.Selector = field(default_factory=labels.everything)
    fields: fields.Selector = field(default_factory=fields.everything)
    resource_version: str = ""


@runtime_checkable
class Action(Protocol):
    """A request to a fake client."""

    def get_namespace(self) -> str: ...

    def get_verb(self) -> str:
        """Return "get", "list", "watch", "create", "update", "patch", "delete" or "delete-collection"."""
        ...

    def get_resource(self) -> GroupVersionResource: ...

    def get_subresource(self) -> str: ...

    def matches(self, verb: str, resource: str) -> bool:
        """Report whether this is `verb` on `resource`, such as "pods" or "pods/status". Ignores case."""
        ...

    def deep_copy(self) -> Action:
        """Return a copy that shares no object with this action."""
        ...


@runtime_checkable
class GenericAction(Action, Protocol):
    """An action with a value of any kind."""

    def get_value(self) -> Any: ...


@runtime_checkable
class GetAction(Action, Protocol):
    """A request to get an object."""

    def get_name(self) -> str: ...


@runtime_checkable
class ListAction(Action, Protocol):
    """A request to list objects."""

    def get_list_restrictions(self) -> ListRestrictions: ...


@runtime_checkable
class CreateAction(Action, Protocol):
    """A request to create an object."""

    def get_object(self) -> Object: ...


@runtime_checkable
class UpdateAction(Action, Protocol):
    """A request to update an object."""

    def get_object(self) -> Object: ...


@runtime_checkable
class DeleteAction(Action, Protocol):
    """A request to delete an object."""

    def get_name(self) -> str: ...

    def get_delete_options(self) -> metav1.DeleteOptions: ...


@runtime_checkable
class DeleteCollectionAction(Action, Protocol):
    """A request to delete several objects."""

    def get_list_restrictions(self) -> ListRestrictions: ...


@runtime_checkable
class PatchAction(Action, Protocol):
    """A request to patch an object."""

    def get_name(self) -> str: ...

    def get_patch_type(self) -> PatchType: ...

    def get_patch(self) -> bytes: ...


@runtime_checkable
class WatchAction(Action, Protocol):
    """A request to watch objects."""

    def get_watch_restrictions(self) -> WatchRestrictions: ...


@runtime_checkable
class ProxyGetAction(Action, Protocol):
    """A request to read through the API server."""

    def get_scheme(self) -> str: ...

    def get_name(self) -> str: ...

    def get_port(self) -> str: ...

    def get_path(self) -> str: ...

    def get_params(self) -> dict[str, str]: ...


@dataclass(kw_only=True)
class ActionImpl:
    """The base class of all actions."""

    namespace: str = ""
    verb: str = ""
    resource: GroupVersionResource = GroupVersionResource()  # noqa: RUF009 (immutable)
    subresource: str = ""

    def get_namespace(self) -> str:
        return self.namespace

    def get_verb(self) -> str:
        return self.verb

    def get_resource(self) -> GroupVersionResource:
        return self.resource

    def get_subresource(self) -> str:
        return self.subresource

    def matches(self, verb: str, resource: str) -> bool:
        """See Action."""
        top, slash, sub = resource.casefold().partition("/")
        return (
            verb.casefold() == self.verb.casefold()
            and top == self.resource.resource.casefold()
            and (not slash or sub == self.subresource.casefold())
        )

    def deep_copy(self) -> Self:
        """Return a copy that shares no object with this action. A GenericActionImpl shares its value, as in Go."""
        changes: dict[str, Any] = {
            name: value.deep_copy() if isinstance(value, Struct) else dict(value)
            for name, value in vars(self).items()
            if isinstance(value, Struct | dict) and name != "value"
        }
        return dataclasses.replace(self, **changes)


@dataclass(kw_only=True)
class GenericActionImpl(ActionImpl):
    """An action with a value of any kind."""

    value: Any = None

    def get_value(self) -> Any:
        return self.value


@dataclass(kw_only=True)
class GetActionImpl(ActionImpl):
    """A request to get an object or subresource."""

    name: str = ""
    get_options: metav1.GetOptions = field(default_factory=metav1.GetOptions)

    def get_name(self) -> str:
        return self.name

    def get_get_options(self) -> metav1.GetOptions:
        return self.get_options


@dataclass(kw_only=True)
class ListActionImpl(ActionImpl):
    """A request to list objects."""

    kind: GroupVersionKind = GroupVersionKind()  # noqa: RUF009 (immutable)
    name: str = ""
    list_restrictions: ListRestrictions = field(default_factory=ListRestrictions)
    list_options: metav1.ListOptions = field(default_factory=metav1.ListOptions)

    def get_kind(self) -> GroupVersionKind:
        return self.kind

    def get_list_restrictions(self) -> ListRestrictions:
        return self.list_restrictions

    def get_list_options(self) -> metav1.ListOptions:
        return self.list_options


@dataclass(kw_only=True)
class CreateActionImpl(ActionImpl):
    """A request to create an object or subresource."""

    name: str = ""
    object: Any = None
    create_options: metav1.CreateOptions = field(default_factory=metav1.CreateOptions)

    def get_object(self) -> Any:
        return self.object

    def get_create_options(self) -> metav1.CreateOptions:
        return self.create_options


@dataclass(kw_only=True)
class UpdateActionImpl(ActionImpl):
    """A request to update an object or subresource."""

    object: Any = None
    update_options: metav1.UpdateOptions = field(default_factory=metav1.UpdateOptions)

    def get_object(self) -> Any:
        return self.object

    def get_update_options(self) -> metav1.UpdateOptions:
        return self.update_options


@dataclass(kw_only=True)
class PatchActionImpl(ActionImpl):
    """A request to patch an object or subresource."""

    name: str = ""
    patch_type: PatchType = PatchType("")  # noqa: RUF009 (immutable)
    patch: bytes = b""
    patch_options: metav1.PatchOptions = field(default_factory=metav1.PatchOptions)

    def get_name(self) -> str:
        return self.name

    def get_patch(self) -> bytes:
        return self.patch

    def get_patch_type(self) -> PatchType:
        return self.patch_type

    def get_patch_options(self) -> metav1.PatchOptions:
        return self.patch_options


@dataclass(kw_only=True)
class DeleteActionImpl(ActionImpl):
    """A request to delete an object or subresource."""

    name: str = ""
    delete_options: metav1.DeleteOptions = field(default_factory=metav1.DeleteOptions)

    def get_name(self) -> str:
        return self.name

    def get_delete_options(self) -> metav1.DeleteOptions:
        return self.delete_options


@dataclass(kw_only=True)
class DeleteCollectionActionImpl(ActionImpl):
    """A request to delete several objects."""

    list_restrictions: ListRestrictions = field(default_factory=ListRestrictions)
    delete_options: metav1.DeleteOptions = field(default_factory=metav1.DeleteOptions)
    list_options: metav1.ListOptions = field(default_factory=metav1.ListOptions)

    def get_list_restrictions(self) -> ListRestrictions:
        return self.list_restrictions

    def get_delete_options(self) -> metav1.DeleteOptions:
        return self.delete_options

    def get_list_options(self) -> metav1.ListOptions:
        return self.list_options


@dataclass(kw_only=True)
class WatchActionImpl(ActionImpl):
    """A request to watch objects."""

    watch_restrictions: WatchRestrictions = field(default_factory=WatchRestrictions)
    list_options: metav1.ListOptions = field(default_factory=metav1.ListOptions)

    def get_watch_restrictions(self) -> WatchRestrictions:
        return self.watch_restrictions

    def get_list_options(self) -> metav1.ListOptions:
        return self.list_options


@dataclass(kw_only=True)
class ProxyGetActionImpl(ActionImpl):
    """A request to read from a service or pod through the API server."""

    scheme: str = ""
    name: str = ""
    port: str = ""
    path: str = ""
    params: dict[str, str] = field(default_factory=dict)

    def get_scheme(self) -> str:
        return self.scheme

    def get_name(self) -> str:
        return self.name

    def get_port(self) -> str:
        return self.port

    def get_path(self) -> str:
        return self.path

    def get_params(self) -> dict[str, str]:
        return self.params
