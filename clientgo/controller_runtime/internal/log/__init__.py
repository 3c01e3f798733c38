"""sigs.k8s.io/controller-runtime/pkg/internal/log."""

from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG

__all__ = ["RUNTIME_LOG"]
