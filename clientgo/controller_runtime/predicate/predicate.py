"""Which events reach a handler. Mirrors pkg/predicate/predicate.go.

All predicates of a watch must say true. They run in the thread that delivers the events, before the handler: they
must be quick, and their objects are read-only.
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
    """Says of each event whether the handler gets it. Go: predicate.TypedPredicate."""

    def create(self, e: TypedCreateEvent[ObjectT_contra], /) -> bool:
        """Whether the creation counts."""
        ...

    def delete(self, e: TypedDeleteEvent[ObjectT_contra], /) -> bool:
        """Whether the deletion counts."""
        ...

    def update(self, e: TypedUpdateEvent[ObjectT_contra], /) -> bool:
        """Whether the change counts."""
        ...

    def generic(self, e: TypedGenericEvent[ObjectT_contra], /) -> bool:
        """Whether the event counts."""
        ...


Predicate: TypeAlias = TypedPredicate[Object]
"""For any kind of object. Go: predicate.Predicate."""


@dataclass(kw_only=True)
class TypedFuncs(Generic[ObjectT]):
    """A predicate made of functions; what is None passes everything. Go: predicate.TypedFuncs."""

    create_func: Callable[[TypedCreateEvent[ObjectT]], bool] | None = None
    delete_func: Callable[[TypedDeleteEvent[ObjectT]], bool] | None = None
    update_func: Callable[[TypedUpdateEvent[ObjectT]], bool] | None = None
    generic_func: Callable[[TypedGenericEvent[ObjectT]], bool] | None = None

    def create(self, e: TypedCreateEvent[ObjectT], /) -> bool:
        """What `create_func` says."""
        return self.create_func is None or self.create_func(e)

    def delete(self, e: TypedDeleteEvent[ObjectT], /) -> bool:
        """What `delete_func` says."""
        return self.delete_func is None or self.delete_func(e)

    def update(self, e: TypedUpdateEvent[ObjectT], /) -> bool:
        """What `update_func` says."""
        return self.update_func is None or self.update_func(e)

    def generic(self, e: TypedGenericEvent[ObjectT], /) -> bool:
        """What `generic_func` says."""
        return self.generic_func is None or self.generic_func(e)


Funcs: TypeAlias = TypedFuncs[Object]
"""For any kind of object. Go: predicate.Funcs."""


def new_predicate_funcs(filter: Callable[[Object], bool]) -> Funcs:
    """Passes the events whose object `filter` likes; of a change the new object. Go: predicate.NewPredicateFuncs."""
    return new_typed_predicate_funcs(filter)


def new_typed_predicate_funcs(filter: Callable[[ObjectT], bool]) -> TypedFuncs[ObjectT]:
    """As `new_predicate_funcs`, for one kind of object. Go: predicate.NewTypedPredicateFuncs."""
    return TypedFuncs(
        create_func=lambda e: filter(e.object),
        update_func=lambda e: filter(e.object_new),
        delete_func=lambda e: filter(e.object),
        generic_func=lambda e: filter(e.object),
    )


def _has_both(e: TypedUpdateEvent[KubeObjectT]) -> bool:
    """Whether an update can be compared; one that cannot is logged."""
    if e.object_old is None:
        _LOG.error(None, "Update event has no old object to update", event=e)
        return False
    if e.object_new is None:
        _LOG.error(None, "Update event has no new object to update", event=e)
        return False
    return True


class TypedResourceVersionChangedPredicate(TypedFuncs[KubeObjectT]):
    """Drops the updates of a resync: those in which nothing changed. Go: TypedResourceVersionChangedPredicate."""

    def update(self, e: TypedUpdateEvent[KubeObjectT], /) -> bool:
        """Whether the resource version changed."""
        return _has_both(e) and e.object_new.get_resource_version() != e.object_old.get_resource_version()


ResourceVersionChangedPredicate: TypeAlias = TypedResourceVersionChangedPredicate[Object]
"""For any kind of object. Go: predicate.ResourceVersionChangedPredicate."""


class TypedGenerationChangedPredicate(TypedFuncs[KubeObjectT]):
    """Drops the updates that change metadata or status only. Go: TypedGenerationChangedPredicate.

    A server counts the generation up when the spec changes, and when an object with finalizers is deleted; of custom
    resources only when the CRD has the status subresource, otherwise at every change. Some kinds have no generation at
    all: of a ConfigMap no update passes.
    """

    def update(self, e: TypedUpdateEvent[KubeObjectT], /) -> bool:
        """Whether the generation changed."""
        return _has_both(e) and e.object_new.get_generation() != e.object_old.get_generation()


GenerationChangedPredicate: TypeAlias = TypedGenerationChangedPredicate[Object]
"""For any kind of object. Go: predicate.GenerationChangedPredicate."""


class TypedAnnotationChangedPredicate(TypedFuncs[KubeObjectT]):
    """Drops the updates that leave the annotations as they were. Go: TypedAnnotationChangedPredicate.

    Use it with `or_` and GenerationChangedPredicate where annotations are meant for the controller.
    """

    def update(self, e: TypedUpdateEvent[KubeObjectT], /) -> bool:
        """Whether the annotations changed."""
        return _has_both(e) and e.object_new.get_annotations() != e.object_old.get_annotations()


AnnotationChangedPredicate: TypeAlias = TypedAnnotationChangedPredicate[Object]
"""For any kind of object. Go: predicate.AnnotationChangedPredicate."""


class TypedLabelChangedPredicate(TypedFuncs[KubeObjectT]):
    """Drops the updates that leave the labels as they were. Go: TypedLabelChangedPredicate."""

    def update(self, e: TypedUpdateEvent[KubeObjectT], /) -> bool:
        """Whether the labels changed."""
        return _has_both(e) and e.object_new.get_labels() != e.object_old.get_labels()


LabelChangedPredicate: TypeAlias = TypedLabelChangedPredicate[Object]
"""For any kind of object. Go: predicate.LabelChangedPredicate."""


def and_(*predicates: TypedPredicate[ObjectT]) -> TypedPredicate[ObjectT]:
    """Passes what all pass; asks no further than the first that does not. Go: predicate.And."""
    return TypedFuncs(
        create_func=lambda e: all(p.create(e) for p in predicates),
        update_func=lambda e: all(p.update(e) for p in predicates),
        delete_func=lambda e: all(p.delete(e) for p in predicates),
        generic_func=lambda e: all(p.generic(e) for p in predicates),
    )


def or_(*predicates: TypedPredicate[ObjectT]) -> TypedPredicate[ObjectT]:
    """Passes what any passes; asks no further than the first that does. Go: predicate.Or."""
    return TypedFuncs(
        create_func=lambda e: any(p.create(e) for p in predicates),
        update_func=lambda e: any(p.update(e) for p in predicates),
        delete_func=lambda e: any(p.delete(e) for p in predicates),
        generic_func=lambda e: any(p.generic(e) for p in predicates),
    )


def not_(predicate: TypedPredicate[ObjectT]) -> TypedPredicate[ObjectT]:
    """Passes what the other does not. Go: predicate.Not."""
    return TypedFuncs(
        create_func=lambda e: not predicate.create(e),
        update_func=lambda e: not predicate.update(e),
        delete_func=lambda e: not predicate.delete(e),
        generic_func=lambda e: not predicate.generic(e),
    )


class InvalidSelectorError(ValueError):
    """A label selector that cannot be read. `predicate` is what Go returns beside the error: it passes everything."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.predicate: Predicate = Funcs()


def label_selector_predicate(s: metav1.LabelSelector) -> Predicate:
    """Passes the objects whose labels the selector chooses. Go: predicate.LabelSelectorPredicate.

    Raises InvalidSelectorError.
    """
    try:
        selector = metav1.label_selector_as_selector(s)
    except Exception as err:
        raise InvalidSelectorError(str(err)) from err
    return new_predicate_funcs(lambda obj: selector.matches(labels.Set(obj.get_labels())))
