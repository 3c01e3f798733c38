"""Finalizers by name. Mirrors pkg/finalizer."""

from clientgo.controller_runtime.finalizer.finalizer import (
    Result,
    new_finalizers,
)
from clientgo.controller_runtime.finalizer.types import (
    Finalizer,
    Finalizers,
    Registerer,
)

__all__ = [
    "Finalizer",
    "Finalizers",
    "Registerer",
    "Result",
    "new_finalizers",
]
