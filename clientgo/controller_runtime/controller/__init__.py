"""sigs.k8s.io/controller-runtime/pkg/controller: what reconciles.

The names are looked up when they are first used: handlers need the priority queue of this package, and controllers
need the handlers.
"""

import importlib
from typing import TYPE_CHECKING

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

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = importlib.import_module("clientgo.controller_runtime.controller.controller")
        for each in __all__:
            globals()[each] = getattr(module, each)
        return globals()[name]
