"""Filters of events. Mirrors pkg/predicate/predicate.go.

A handler receives an event if all predicates of its watch return True. Predicates run before the handler, in the thread
that delivers the events. They must be fast, and their objects are read-only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from clientgo.apimachinery import labels
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.event.event import (
    TypedCreateEvent,
    TypedDeleteEvent,
    TypedGenericEvent,
    TypedUpdateEvent,
)
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.golang.functions import require_function
from clientgo.klog.answers import is_true

__all__ = [
    "AnnotationChangedPredicate",
    "Funcs",
    "GenerationChangedPredicate",
    "InvalidSelectorError",
    "LabelChangedPredicate",
    "Predicate",
    "ResourceVersionChangedPredicate",
    "TypedAnnotationChangedPredicate",
    "TypedFuncs",
    "TypedGenerationChangedPredicate",
    "TypedLabelChangedPredicate",
    "TypedPredicate",
    "TypedResourceVersionChangedPredicate",
    "and_",
    "label_selector_predicate",
    "new_predicate_funcs",
    "new_typed_predicate_funcs",
    "not_",
    "or_",
]

_LOG = RUNTIME_LOG.with_name("predicate").with_name("eventFilters")

ObjectT = TypeVar("ObjectT")
ObjectT_contra = TypeVar("ObjectT_contra", contravariant=True)
KubeObjectT = TypeVar("KubeObjectT", bound=Object)


class TypedPredicate(Protocol[ObjectT_contra]):
    """A filter of events: the handler receives those for which it returns True. Go: predicate.TypedPredicate."""

    def create(self, e: TypedCreateEvent[ObjectT_contra], /) -> bool:
        """Report whether the handler receives this creation."""
        ...

    def delete(self, e: TypedDeleteEvent[ObjectT_contra], /) -> bool:
        """Report whether the handler receives this deletion."""
        ...

    def update(self, e: TypedUpdateEvent[ObjectT_contra], /) -> bool:
        """Report whether the handler receives this update."""
        ...

    def generic(self, e: TypedGenericEvent[ObjectT_contra], /) -> bool:
        """Report whether the handler receives this event."""
        ...


Predicate: TypeAlias = TypedPredicate[Object]
"""A predicate for any kind of object. Go: predicate.Predicate."""


@dataclass(kw_only=True)
class TypedFuncs(Generic[ObjectT]):
    """A predicate made of functions; None accepts every event. Go: predicate.TypedFuncs."""

    create_func: Callable[[TypedCreateEvent[ObjectT]], bool] | None = None
    delete_func: Callable[[TypedDeleteEvent[ObjectT]], bool] | None = None
    update_func: Callable[[TypedUpdateEvent[ObjectT]], bool] | None = None
    generic_func: Callable[[TypedGenericEvent[ObjectT]], bool] | None = None

    def create(self, e: TypedCreateEvent[ObjectT], /) -> bool:
        """Return the result of `create_func`."""
        return self.create_func is None or is_true(self.create_func, e)

    def delete(self, e: TypedDeleteEvent[ObjectT], /) -> bool:
        """Return the result of `delete_func`."""
        return self.delete_func is None or is_true(self.delete_func, e)

    def update(self, e: TypedUpdateEvent[ObjectT], /) -> bool:
        """Return the result of `update_func`."""
        return self.update_func is None or is_true(self.update_func, e)

    def generic(self, e: TypedGenericEvent[ObjectT], /) -> bool:
        """Return the result of `generic_func`."""
        return self.generic_func is None or is_true(self.generic_func, e)


Funcs: TypeAlias = TypedFuncs[Object]
"""A predicate for any kind of object. Go: predicate.Funcs."""


def new_predicate_funcs(filter: Callable[[Object], bool]) -> Funcs:
    """Return a predicate that applies `filter` to the event's object, for an update to the new one.

    Go: predicate.NewPredicateFuncs.
    """
    return new_typed_predicate_funcs(filter)


def new_typed_predicate_funcs(filter: Callable[[ObjectT], bool]) -> TypedFuncs[ObjectT]:
    """Return a predicate for one kind of object, as `new_predicate_funcs` does.

    Go: predicate.NewTypedPredicateFuncs.
    """
    require_function(filter, "the filter of a predicate", "obj")
    return TypedFuncs(
        create_func=lambda e: is_true(filter, e.object),
        update_func=lambda e: is_true(filter, e.object_new),
        delete_func=lambda e: is_true(filter, e.object),
        generic_func=lambda e: is_true(filter, e.object),
    )


def _has_both(e: TypedUpdateEvent[KubeObjectT]) -> bool:
    """Report whether the update has both objects. Logs an error otherwise."""
    if e.object_old is None:
        _LOG.error(None, "Update event has no old object to update", event=e)
        return False
    if e.object_new is None:
        _LOG.error(None, "Update event has no new object to update", event=e)
        return False
    return True


class TypedResourceVersionChangedPredicate(TypedFuncs[KubeObjectT]):
    """A predicate that rejects updates without a new resourceVersion, such as resyncs.

    Go: TypedResourceVersionChangedPredicate.
    """

    def update(self, e: TypedUpdateEvent[KubeObjectT], /) -> bool:
        """Report whether the resourceVersion changed."""
        return _has_both(e) and e.object_new.get_resource_version() != e.object_old.get_resource_version()


ResourceVersionChangedPredicate: TypeAlias = TypedResourceVersionChangedPredicate[Object]
"""A predicate for any kind of object. Go: predicate.ResourceVersionChangedPredicate."""


class TypedGenerationChangedPredicate(TypedFuncs[KubeObjectT]):
    """A predicate that rejects updates of metadata or status only. Go: TypedGenerationChangedPredicate.

    The server increments the generation when the spec changes and when an object with finalizers is deleted. For custom
    resources it does so only if the CRD has the status subresource; otherwise every change increments it. Some kinds
    have no generation: the predicate rejects every update of a ConfigMap.
    """

    def update(self, e: TypedUpdateEvent[KubeObjectT], /) -> bool:
        """Report whether the generation changed."""
        return _has_both(e) and e.object_new.get_generation() != e.object_old.get_generation()


GenerationChangedPredicate: TypeAlias = TypedGenerationChangedPredicate[Object]
"""A predicate for any kind of object. Go: predicate.GenerationChangedPredicate."""


class TypedAnnotationChangedPredicate(TypedFuncs[KubeObjectT]):
    """A predicate that rejects updates without changed annotations. Go: TypedAnnotationChangedPredicate.

    Combine it with GenerationChangedPredicate by `or_` if the controller reads annotations.
    """

    def update(self, e: TypedUpdateEvent[KubeObjectT], /) -> bool:
        """Report whether the annotations changed."""
        return _has_both(e) and e.object_new.get_annotations() != e.object_old.get_annotations()


AnnotationChangedPredicate: TypeAlias = TypedAnnotationChangedPredicate[Object]
"""A predicate for any kind of object. Go: predicate.AnnotationChangedPredicate."""


class TypedLabelChangedPredicate(TypedFuncs[KubeObjectT]):
    """A predicate that rejects updates without changed labels. Go: TypedLabelChangedPredicate."""

    def update(self, e: TypedUpdateEvent[KubeObjectT], /) -> bool:
        """Report whether the labels changed."""
        return _has_both(e) and e.object_new.get_labels() != e.object_old.get_labels()


LabelChangedPredicate: TypeAlias = TypedLabelChangedPredicate[Object]
"""A predicate for any kind of object. Go: predicate.LabelChangedPredicate."""


def and_(*predicates: TypedPredicate[ObjectT]) -> TypedPredicate[ObjectT]:
    """Return a predicate that accepts an event if all predicates do. It stops at the first rejection.

    Go: predicate.And.
    """
    return TypedFuncs(
        create_func=lambda e: all(is_true(p.create, e) for p in predicates),
        update_func=lambda e: all(is_true(p.update, e) for p in predicates),
        delete_func=lambda e: all(is_true(p.delete, e) for p in predicates),
        generic_func=lambda e: all(is_true(p.generic, e) for p in predicates),
    )


def or_(*predicates: TypedPredicate[ObjectT]) -> TypedPredicate[ObjectT]:
    """Return a predicate that accepts an event if any predicate does. It stops at the first acceptance.

    Go: predicate.Or.
    """
    return TypedFuncs(
        create_func=lambda e: any(is_true(p.create, e) for p in predicates),
        update_func=lambda e: any(is_true(p.update, e) for p in predicates),
        delete_func=lambda e: any(is_true(p.delete, e) for p in predicates),
        generic_func=lambda e: any(is_true(p.generic, e) for p in predicates),
    )


def not_(predicate: TypedPredicate[ObjectT]) -> TypedPredicate[ObjectT]:
    """Return a predicate that accepts an event if the other one rejects it. Go: predicate.Not."""
    return TypedFuncs(
        create_func=lambda e: not is_true(predicate.create, e),
        update_func=lambda e: not is_true(predicate.update, e),
        delete_func=lambda e: not is_true(predicate.delete, e),
        generic_func=lambda e: not is_true(predicate.generic, e),
    )


class InvalidSelectorError(ValueError):
    """Raised for an invalid label selector. `predicate` is what Go returns with the error: it accepts every event."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.predicate: Predicate = Funcs()


def label_selector_predicate(s: metav1.LabelSelector) -> Predicate:
    """Return a predicate for objects whose labels match the selector. Go: predicate.LabelSelectorPredicate.

    Raises InvalidSelectorError.
    """
    try:
        selector = metav1.label_selector_as_selector(s)
    except Exception as err:
        raise InvalidSelectorError(str(err)) from err
    return new_predicate_funcs(lambda obj: selector.matches(labels.Set(obj.get_labels())))
