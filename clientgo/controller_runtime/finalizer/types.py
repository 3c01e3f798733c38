"""The interfaces of finalizers. Mirrors pkg/finalizer/types.go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from clientgo.context import Context
from clientgo.controller_runtime.client.object import Object

if TYPE_CHECKING:
    from clientgo.controller_runtime.finalizer.finalizer import Result


class Registerer(Protocol):
    """A registry of finalizers. Go: finalizer.Registerer."""

    def register(self, key: str, f: Finalizer, /) -> None:
        """Add a finalizer under its name in metadata.finalizers. Raises ValueError for a duplicate."""
        ...


@runtime_checkable
class Finalizer(Protocol):
    """A function that cleans up after an object. Go: finalizer.Finalizer."""

    def finalize(self, ctx: Context, obj: Object, /) -> Result:
        """Clean up and return which parts of the object have changed. If it raises, the finalizer stays on the object.
        """
        ...


class Finalizers(Registerer, Finalizer, Protocol):
    """A registry of finalizers, which is itself a finalizer that runs them all. Go: finalizer.Finalizers."""
