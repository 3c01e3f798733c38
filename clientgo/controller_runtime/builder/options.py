"""The options of a builder's watches. Mirrors pkg/builder/options.go."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from clientgo.controller_runtime.predicate.predicate import TypedPredicate

if TYPE_CHECKING:
    from clientgo.controller_runtime.builder.controller import ForInput, OwnsInput, WatchesInput

ObjectT = TypeVar("ObjectT")
ObjectT_contra = TypeVar("ObjectT_contra", contravariant=True)

__all__ = [
    "MATCH_EVERY_OWNER",
    "ONLY_METADATA",
    "ForOption",
    "OwnsOption",
    "Predicates",
    "WatchesOption",
    "with_predicates",
]


class ObjectProjection(enum.Enum):
    """The part of an object that a watch delivers: all of it, or its metadata. Go: objectProjection."""

    NORMAL = "all"
    METADATA = "metadata"


class ForOption(Protocol[ObjectT_contra]):
    """An option of `for_`, for kinds of that type. Go: builder.ForOption."""

    def apply_to_for(self, opts: ForInput[ObjectT_contra], /) -> None:
        """Change the input."""
        ...


class OwnsOption(Protocol[ObjectT_contra]):
    """An option of `owns`, for kinds of that type. Go: builder.OwnsOption."""

    def apply_to_owns(self, opts: OwnsInput[ObjectT_contra], /) -> None:
        """Change the input."""
        ...


class WatchesOption(Protocol[ObjectT_contra]):
    """An option of `watches`, for kinds of that type. Go: builder.WatchesOption."""

    def apply_to_watches(self, opts: WatchesInput[ObjectT_contra, Any], /) -> None:
        """Change the input."""
        ...


def with_predicates(*predicates: TypedPredicate[ObjectT]) -> Predicates[ObjectT]:
    """Return an option that drops the events that one of the predicates rejects. Go: builder.WithPredicates."""
    return Predicates(predicates)


class Predicates(Generic[ObjectT]):
    """An option that holds the predicates of a watch. Go: builder.Predicates."""

    def __init__(self, predicates: Sequence[TypedPredicate[ObjectT]] = ()) -> None:
        self._predicates = list(predicates)

    def apply_to_for(self, opts: ForInput[ObjectT], /) -> None:
        """Set them."""
        opts.predicates = self._predicates

    def apply_to_owns(self, opts: OwnsInput[ObjectT], /) -> None:
        """Set them."""
        opts.predicates = self._predicates

    def apply_to_watches(self, opts: WatchesInput[ObjectT, Any], /) -> None:
        """Set them."""
        opts.predicates = self._predicates


class _ProjectAs:
    def __init__(self, projection: ObjectProjection) -> None:
        self._projection = projection

    def apply_to_for(self, opts: ForInput[Any], /) -> None:
        opts.object_projection = self._projection

    def apply_to_owns(self, opts: OwnsInput[Any], /) -> None:
        opts.object_projection = self._projection

    def apply_to_watches(self, opts: WatchesInput[Any, Any], /) -> None:
        opts.object_projection = self._projection


ONLY_METADATA = _ProjectAs(ObjectProjection.METADATA)
"""An option to watch and cache metadata only.

Reads of the kind must then ask for PartialObjectMetadata too: any other read starts a second informer.
Go: builder.OnlyMetadata.
"""


class _MatchEveryOwner:
    def apply_to_owns(self, opts: OwnsInput[Any], /) -> None:
        opts.match_every_owner = True


MATCH_EVERY_OWNER = _MatchEveryOwner()
"""An option of `owns` that queues every owner of the kind, not only the controlling owner.

Go: builder.MatchEveryOwner.
"""
