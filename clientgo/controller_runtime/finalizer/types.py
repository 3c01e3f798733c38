"""What runs when an object is deleted. Mirrors pkg/finalizer/types.go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from clientgo.context import Context
from clientgo.controller_runtime.client.object import Object

if TYPE_CHECKING:
    from clientgo.controller_runtime.finalizer.finalizer import Result


class Registerer(Protocol):
    """Takes finalizers. Go: finalizer.Registerer."""

    def register(self, key: str, f: Finalizer) -> None:
        """Add a finalizer under the name it has in metadata.finalizers. Raises ValueError for one that is taken."""
        ...


@runtime_checkable
class Finalizer(Protocol):
    """Cleans up after an object. Go: finalizer.Finalizer."""

    def finalize(self, ctx: Context, obj: Object) -> Result:
        """Clean up; says what of the object was changed. What it raises keeps the finalizer in place."""
        ...


class Finalizers(Registerer, Finalizer, Protocol):
    """Finalizers by name, which run together. Go: finalizer.Finalizers."""
