"""sigs.k8s.io/controller-runtime/pkg/internal/recorder."""

from clientgo.controller_runtime.internal.recorder.recorder import (
    EventBroadcasterProducer,
    Provider,
    new_provider,
)

__all__ = [
    "EventBroadcasterProducer",
    "Provider",
    "new_provider",
]
