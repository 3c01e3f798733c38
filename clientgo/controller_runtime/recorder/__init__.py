"""sigs.k8s.io/controller-runtime/pkg/recorder: event recorders."""

from clientgo.controller_runtime.recorder.recorder import (
    Provider,
)

__all__ = [
    "Provider",
]
