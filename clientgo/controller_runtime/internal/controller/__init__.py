"""sigs.k8s.io/controller-runtime/pkg/internal/controller: the implementation of controllers."""

from clientgo.controller_runtime.internal.controller.controller import (
    CACHE_SYNC_TIMEOUT,
    Controller,
    Options,
    new,
    reconcile_id_from_context,
)

__all__ = [
    "CACHE_SYNC_TIMEOUT",
    "Controller",
    "Options",
    "new",
    "reconcile_id_from_context",
]
