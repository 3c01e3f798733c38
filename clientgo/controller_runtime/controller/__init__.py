"""sigs.k8s.io/controller-runtime/pkg/controller: what reconciles.

The names are looked up when they are first used: handlers need the priority queue of this package, and controllers
need the handlers.
"""

from typing import TYPE_CHECKING

from clientgo.utils.later import later

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
    __getattr__, __dir__ = later(__name__, {"controller": __all__})
