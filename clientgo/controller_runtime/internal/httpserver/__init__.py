"""sigs.k8s.io/controller-runtime/pkg/internal/httpserver."""

from clientgo.controller_runtime.internal.httpserver.server import (
    new,
)

__all__ = [
    "new",
]
