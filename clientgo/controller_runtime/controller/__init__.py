"""sigs.k8s.io/controller-runtime/pkg/controller: controllers, which reconcile requests.

The package loads its names on first use: handlers import the priority queue of this package, and controllers import the
handlers.
"""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.controller_runtime.controller.controller import (
        Controller,
        Options,
        TypedController,
        TypedOptions,
        new,
        new_typed,
        new_typed_unmanaged,
        new_unmanaged,
        reconcile_id_from_context,
    )

__all__ = [
    "Controller",
    "Options",
    "TypedController",
    "TypedOptions",
    "new",
    "new_typed",
    "new_typed_unmanaged",
    "new_unmanaged",
    "reconcile_id_from_context",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, {"controller": __all__})
