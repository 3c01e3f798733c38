"""sigs.k8s.io/controller-runtime/pkg/manager/signals: a context that SIGINT and SIGTERM end."""

from clientgo.controller_runtime.manager.signals.signal import (
    setup_signal_handler,
)

__all__ = [
    "setup_signal_handler",
]
