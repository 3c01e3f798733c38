"""sigs.k8s.io/controller-runtime/pkg/config: defaults for controllers."""

from clientgo.controller_runtime.config.controller import (
    Controller,
)

__all__ = [
    "Controller",
]
