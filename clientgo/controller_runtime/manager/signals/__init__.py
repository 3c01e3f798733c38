"""sigs.k8s.io/controller-runtime/pkg/manager/signals: a context that ends with the program."""

from clientgo.controller_runtime.manager.signals.signal import (
    setup_signal_handler,
)

__all__ = [
    "setup_signal_handler",
]
