"""A builder of controllers. Mirrors pkg/builder/controller.go.

    ctrl.new_controller_managed_by(mgr).for_(Foo).owns(appsv1.Deployment).complete(reconciler)

Callers name kinds by their classes, or by example objects for Unstructured. As in Go, the methods may be called in any
order; `build` and `complete` raise the errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar, cast

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.util.naming import get_name_from_callsite
from clientgo.controller_runtime import controller, handler, source
from clientgo.controller_runtime.builder.options import (
    ONLY_METADATA,
    ForOption,
    ObjectProjection,
    OwnsOption,
    WatchesOption,
)
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.client.object import Object, require_object
from clientgo.controller_runtime.handler.eventhandler import TypedEventHandler
from clientgo.controller_runtime.log import LOG
from clientgo.controller_runtime.manager.manager import Manager
from clientgo.controller_runtime.predicate.predicate import TypedPredicate
from clientgo.controller_runtime.reconcile.reconcile import ReconcilerLike, Request
from clientgo.controller_runtime.source.source import TypedSource
from clientgo.golang.functions import check_options
from clientgo.klog import Logger, kref

__all__ = [
    "Builder",
    "ForInput",
    "OwnsInput",
    "TypedBuilder",
    "WatchesInput",
    "controller_managed_by",
    "typed_controller_managed_by",
]

RequestT = TypeVar("RequestT", bound=Hashable)
ObjectT = TypeVar("ObjectT", bound=Object)
# Covariant, so that an option for any kind of object is also an option for Foos.
ObjectT_co = TypeVar("ObjectT_co", covariant=True)
Kind: TypeAlias = Object | type[Object]

# With ONLY_METADATA, predicates receive PartialObjectMetadata.
_For: TypeAlias = ForOption[ObjectT] | ForOption[metav1.PartialObjectMetadata]
_Owns: TypeAlias = OwnsOption[ObjectT] | OwnsOption[metav1.PartialObjectMetadata]
_Watches: TypeAlias = WatchesOption[ObjectT] | WatchesOption[metav1.PartialObjectMetadata]


@dataclass(kw_only=True)
class ForInput(Generic[ObjectT_co]):
    """The arguments of `for_`. Go: builder.ForInput."""

    object: Kind | None = None
    predicates: list[TypedPredicate[ObjectT_co]] = field(default_factory=list)
    object_projection: ObjectProjection = ObjectProjection.NORMAL
    error: Exception | None = None


@dataclass(kw_only=True)
class OwnsInput(Generic[ObjectT_co]):
    """The arguments of one call of `owns`. Go: builder.OwnsInput."""

    object: Kind
    match_every_owner: bool = False
    predicates: list[TypedPredicate[ObjectT_co]] = field(default_factory=list)
    object_projection: ObjectProjection = ObjectProjection.NORMAL


@dataclass(kw_only=True)
class WatchesInput(Generic[ObjectT_co, RequestT]):
    """The arguments of one call of `watches`. Go: builder.WatchesInput."""

    object: Kind
    handler: TypedEventHandler[Any, RequestT]
    predicates: list[TypedPredicate[ObjectT_co]] = field(default_factory=list)
    object_projection: ObjectProjection = ObjectProjection.NORMAL


def controller_managed_by(m: Manager) -> Builder:
    """Return a builder of a controller that `m` starts. Go: builder.ControllerManagedBy."""
    return Builder(m)


def typed_controller_managed_by(m: Manager) -> TypedBuilder[Any]:
    """Return a builder for any type of request; it does not support `for_` and `owns`.

    Go: builder.TypedControllerManagedBy.
    """
    return TypedBuilder(m)


class Completable:
    """A base class of builders. Logs one line if a builder is dropped before `complete` or `build` was called.

    A Go program runs without such a controller, in silence.
    """

    # Until the completing call. False on the class, for a builder whose creation failed.
    _waits_for_complete = False

    def __init__(self, call: str) -> None:
        """Initialize a builder; `call` is what completes it, for the line."""
        self._completing_call = call
        self._made_at = get_name_from_callsite("clientgo.controller_runtime", default="an unknown place")
        self._waits_for_complete = True

    def __del__(self) -> None:
        if self._waits_for_complete and not sys.is_finalizing():
            LOG.with_name("builder").info(
                f"Warning: a builder was not completed, and has no effect: end it with {self._completing_call}",
                builder=type(self).__name__,
                at=self._made_at,
            )


class TypedBuilder(Completable, Generic[RequestT]):
    """A builder of one controller. Not thread-safe. Go: builder.TypedBuilder."""

    # True if requests name objects, which `for_` and `owns` require.
    _names_objects = False

    def __init__(self, mgr: Manager) -> None:
        super().__init__("complete(reconciler)")
        self._mgr = mgr
        self._for_input: ForInput[Any] = ForInput()
        self._owns_input: list[OwnsInput[Any]] = []
        self._watches_input: list[WatchesInput[Any, RequestT]] = []
        self._raw_sources: list[TypedSource[RequestT]] = []
        self._global_predicates: list[TypedPredicate[Any]] = []
        self._options: controller.TypedOptions[RequestT] = controller.TypedOptions()
        self._name = ""

    def for_(self, object: type[ObjectT] | ObjectT, *opts: _For[ObjectT]) -> TypedBuilder[RequestT]:
        """Reconcile objects of this kind: each event queues a request for its object. May be called once.

        The kind also provides the controller's default name.
        """
        if self._for_input.object is not None:
            text = "For(...) should only be called once, could not assign multiple objects for reconciliation"
            self._for_input.error = ValueError(text)
            return self
        self._require_kind("for_", object)
        self._for_input = ForInput(object=object)
        for opt in opts:
            opt.apply_to_for(self._for_input)
        return self

    def owns(self, object: type[ObjectT] | ObjectT, *opts: _Owns[ObjectT]) -> TypedBuilder[RequestT]:
        """Watch objects of this kind that a reconciled object controls; each event queues a request for the owner."""
        self._require_kind("owns", object)
        owns_input: OwnsInput[Any] = OwnsInput(object=object)
        for opt in opts:
            opt.apply_to_owns(owns_input)
        self._owns_input.append(owns_input)
        return self

    def watches(
        self,
        object: type[ObjectT] | ObjectT,
        event_handler: TypedEventHandler[ObjectT, RequestT],
        *opts: _Watches[ObjectT],
    ) -> TypedBuilder[RequestT]:
        """Watch objects of any kind; the handler decides which requests an event queues."""
        self._require_kind("watches", object)
        watches_input: WatchesInput[Any, RequestT] = WatchesInput(object=object, handler=event_handler)
        for opt in opts:
            opt.apply_to_watches(watches_input)
        self._watches_input.append(watches_input)
        return self

    def watches_metadata(
        self, object: type[ObjectT] | ObjectT, event_handler: TypedEventHandler[Any, RequestT], *opts: _Watches[ObjectT]
    ) -> TypedBuilder[RequestT]:
        """Watch objects as `watches` does with ONLY_METADATA: the handler receives PartialObjectMetadata."""
        return self.watches(object, event_handler, *opts, ONLY_METADATA)

    def watches_raw_source(self, src: TypedSource[RequestT]) -> TypedBuilder[RequestT]:
        """Watch any source. The predicates of `with_event_filter` do not apply to it."""
        self._raw_sources.append(src)
        return self

    def with_event_filter(self, p: TypedPredicate[Any]) -> TypedBuilder[RequestT]:
        """Filter the events of all kinds with this predicate, before the predicates of each kind."""
        self._global_predicates.append(p)
        return self

    def with_options(self, options: controller.TypedOptions[RequestT]) -> TypedBuilder[RequestT]:
        """Set the controller's options. Raises TypeError for other values, such as a dict."""
        check_options(options, controller.TypedOptions, "the argument of with_options")
        self._options = replace(options)
        return self

    def with_log_constructor(self, log_constructor: Callable[[RequestT | None], Logger]) -> TypedBuilder[RequestT]:
        """Set the function that makes the logger of a request, or the controller's own logger when it receives None."""
        self._options.log_constructor = log_constructor
        return self

    def named(self, name: str) -> TypedBuilder[RequestT]:
        """Set the controller's name, which metrics use and which must be unique. The default is the kind's name."""
        self._name = name
        return self

    def _require_kind(self, method: str, kind: object) -> None:
        """Raise TypeError for an argument without a kind, such as a name. It needs no `complete` then."""
        try:
            require_object(kind)
        except TypeError as err:
            self._waits_for_complete = False
            raise TypeError(f"{method}: {err}") from None

    def complete(self, r: ReconcilerLike[RequestT]) -> None:
        """Build the controller and add it to the manager. Raises ValueError for an incomplete configuration."""
        self.build(r)

    def build(self, r: ReconcilerLike[RequestT]) -> controller.TypedController[RequestT]:
        """Build the controller, add it to the manager and return it. Raises ValueError for an incomplete configuration.
        """
        self._waits_for_complete = False
        if r is None:
            raise ValueError("must provide a non-nil Reconciler")
        if self._mgr is None:
            raise ValueError("must provide a non-nil Manager")
        if self._for_input.error is not None:
            raise self._for_input.error
        ctrl = self._new_controller(r)
        self._watch(ctrl)
        return ctrl

    def _new_controller(self, r: ReconcilerLike[RequestT]) -> controller.TypedController[RequestT]:
        options = replace(self._options)
        if options.reconciler is not None:
            raise ValueError("reconciler was set via WithOptions() and via Build() or Complete()")
        options.reconciler = r
        defaults = self._mgr.get_controller_options()
        gvk = None
        if self._for_input.object is not None:
            gvk = apiutil.gvk_for_object(self._for_input.object, self._mgr.get_scheme())
            if options.max_concurrent_reconciles == 0:
                options.max_concurrent_reconciles = defaults.group_kind_concurrency.get(str(gvk.group_kind()), 0)
        if options.cache_sync_timeout == 0:
            options.cache_sync_timeout = defaults.cache_sync_timeout
        name = self._controller_name(gvk)
        if options.log_constructor is None:
            options.log_constructor = _log_constructor(self._mgr.get_logger(), name, gvk)
        return controller.new_typed(name, self._mgr, options)

    def _controller_name(self, gvk: GroupVersionKind | None) -> str:
        if self._name:
            return self._name
        if gvk is None:
            raise ValueError("one of For() or Named() must be called")
        return gvk.kind.lower()

    def _watch(self, ctrl: controller.TypedController[RequestT]) -> None:
        owner = self._for_input.object
        if owner is not None:
            if not self._names_objects:
                raise ValueError("For() can only be used with reconcile.Request")
            self._watch_kind(ctrl, owner, self._for_input, cast("Any", handler.EnqueueRequestForObject()))
        if self._owns_input and owner is None:
            raise ValueError("Owns() can only be used together with For()")
        for owns_input in self._owns_input:
            assert owner is not None
            self._watch_kind(ctrl, owns_input.object, owns_input, self._owner_handler(owner, owns_input))
        if owner is None and not self._watches_input and not self._raw_sources:
            raise ValueError(
                "there are no watches configured, controller will never get triggered. Use For(), Owns(), Watches() or "
                "WatchesRawSource() to set them up"
            )
        for watches_input in self._watches_input:
            self._watch_kind(ctrl, watches_input.object, watches_input, watches_input.handler)
        for src in self._raw_sources:
            ctrl.watch(src)

    def _owner_handler(self, owner: Kind, owns_input: OwnsInput[Any]) -> Any:
        options = [] if owns_input.match_every_owner else [handler.only_controller_owner()]
        return handler.enqueue_request_for_owner(
            self._mgr.get_scheme(), self._mgr.get_rest_mapper(), owner, *options
        )

    def _watch_kind(
        self,
        ctrl: controller.TypedController[RequestT],
        obj: Kind,
        options: ForInput[Any] | OwnsInput[Any] | WatchesInput[Any, RequestT],
        event_handler: TypedEventHandler[Any, RequestT],
    ) -> None:
        example = self._project(obj, options.object_projection)
        predicates = [*self._global_predicates, *options.predicates]
        ctrl.watch(source.typed_kind(self._mgr.get_cache(), example, event_handler, *predicates))

    def _project(self, obj: Kind, projection: ObjectProjection) -> Any:
        if projection is ObjectProjection.NORMAL:
            return obj
        try:
            gvk = apiutil.gvk_for_object(obj, self._mgr.get_scheme())
        except Exception as err:
            name = obj.__name__ if isinstance(obj, type) else type(obj).__name__
            raise ValueError(f"unable to determine GVK of {name} for a metadata-only watch: {err}") from err
        example = metav1.PartialObjectMetadata()
        example.set_group_version_kind(gvk)
        return example


class Builder(TypedBuilder[Request]):
    """A builder of one controller whose requests name objects. Go: builder.Builder."""

    _names_objects = True


def _log_constructor(
    log: Logger, name: str, gvk: GroupVersionKind | None
) -> Callable[[RequestT | None], Logger]:
    log = log.with_values(controller=name)
    if gvk is not None:
        log = log.with_values(controllerGroup=gvk.group, controllerKind=gvk.kind)

    def construct(request: RequestT | None) -> Logger:
        if not isinstance(request, Request):
            return log
        pairs: dict[str, object] = {}
        if gvk is not None:
            pairs[gvk.kind] = kref(request.namespace, request.name)
        return log.with_values(**pairs, namespace=request.namespace, name=request.name)

    return construct
