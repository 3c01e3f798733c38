"""A handler that queues requests for an object's owners. Mirrors pkg/handler/enqueue_owner.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.schema import GroupKind, parse_group_version
from clientgo.context import Context
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.event.event import (
    TypedCreateEvent,
    TypedDeleteEvent,
    TypedGenericEvent,
    TypedUpdateEvent,
)
from clientgo.controller_runtime.handler.eventhandler import (
    EventHandler,
    TypedEventHandler,
    with_low_priority_when_unchanged,
)
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.reconcile.reconcile import Request
from clientgo.util.workqueue import TypedRateLimitingInterface

__all__ = ["OwnerOption", "enqueue_request_for_owner", "only_controller_owner", "typed_enqueue_request_for_owner"]

_LOG = RUNTIME_LOG.with_name("eventhandler").with_name("enqueueRequestForOwner")

ObjectT = TypeVar("ObjectT", bound=Object)
_Queue: TypeAlias = TypedRateLimitingInterface[Request]

OwnerOption: TypeAlias = Callable[["_EnqueueRequestForOwner[Any]"], None]
"""A function that changes which owners the handler queues. Go: handler.OwnerOption."""


def enqueue_request_for_owner(
    scheme: Scheme, mapper: meta.RESTMapper, owner_type: Object | type[Object], *opts: OwnerOption
) -> EventHandler:
    """Return a handler that queues the owners of this group and kind, in any version.

    Namespaced owners are in the object's namespace. For an update it queues the owners of both objects, each once.
    Raises an error if the scheme does not have exactly one kind for `owner_type`, a class or an example (Go panics).
    Go: handler.EnqueueRequestForOwner.
    """
    return typed_enqueue_request_for_owner(scheme, mapper, owner_type, *opts)


def typed_enqueue_request_for_owner(
    scheme: Scheme, mapper: meta.RESTMapper, owner_type: Object | type[Object], *opts: OwnerOption
) -> TypedEventHandler[Any, Request]:
    """Return a handler for one kind of object. Go: handler.TypedEnqueueRequestForOwner."""
    handler: _EnqueueRequestForOwner[Any] = _EnqueueRequestForOwner(_group_kind(scheme, owner_type), mapper)
    for opt in opts:
        opt(handler)
    return with_low_priority_when_unchanged(handler)


def only_controller_owner() -> OwnerOption:
    """Return an option that restricts the handler to the controlling owner. Go: handler.OnlyControllerOwner."""

    def apply(handler: _EnqueueRequestForOwner[Any]) -> None:
        handler.is_controller = True

    return apply


def _group_kind(scheme: Scheme, owner_type: Object | type[Object]) -> GroupKind:
    example = owner_type() if isinstance(owner_type, type) else owner_type
    name = type(example).__name__
    try:
        kinds, _ = scheme.object_kinds(example)
    except Exception as err:
        _LOG.error(err, "Could not get ObjectKinds for OwnerType", **{"owner type": name})
        raise
    if len(kinds) != 1:
        _LOG.error(None, "expected exactly 1 kind for OwnerType", **{"owner type": name, "kinds": kinds})
        raise ValueError(f"expected exactly 1 kind for OwnerType {name}, but found {kinds} kinds")
    return kinds[0].group_kind()


class _EnqueueRequestForOwner(Generic[ObjectT]):
    def __init__(self, group_kind: GroupKind, mapper: meta.RESTMapper) -> None:
        self._group_kind = group_kind
        self._mapper = mapper
        self.is_controller = False

    def create(self, ctx: Context, evt: TypedCreateEvent[ObjectT], q: _Queue, /) -> None:
        self._enqueue(q, evt.object)

    def update(self, ctx: Context, evt: TypedUpdateEvent[ObjectT], q: _Queue, /) -> None:
        self._enqueue(q, evt.object_old, evt.object_new)

    def delete(self, ctx: Context, evt: TypedDeleteEvent[ObjectT], q: _Queue, /) -> None:
        self._enqueue(q, evt.object)

    def generic(self, ctx: Context, evt: TypedGenericEvent[ObjectT], q: _Queue, /) -> None:
        self._enqueue(q, evt.object)

    def _enqueue(self, q: _Queue, *objects: ObjectT | None) -> None:
        requests: dict[Request, None] = {}
        for obj in objects:
            if obj is not None:
                self._collect(obj, requests)
        for request in requests:
            q.add(request)

    def _collect(self, obj: ObjectT, requests: dict[Request, None]) -> None:
        """Add the requests for an object's owners, up to the first owner that cannot be parsed."""
        for ref in self._owner_references(obj):
            try:
                ref_gv = parse_group_version(ref.api_version)
            except ValueError as err:
                _LOG.error(err, "Could not parse OwnerReference APIVersion", **{"api version": ref.api_version})
                return
            if ref.kind != self._group_kind.kind or ref_gv.group != self._group_kind.group:
                continue
            try:
                mapping = self._mapper.rest_mapping(self._group_kind, ref_gv.version)
            except Exception as err:
                _LOG.error(err, "Could not retrieve rest mapping", kind=self._group_kind)
                return
            is_root = mapping.scope.name() == meta.RESTScopeName.ROOT
            requests[Request("" if is_root else obj.get_namespace(), ref.name)] = None

    def _owner_references(self, obj: ObjectT) -> list[metav1.OwnerReference]:
        if not self.is_controller:
            return obj.get_owner_references()
        ref = metav1.get_controller_of(obj)
        return [] if ref is None else [ref]
