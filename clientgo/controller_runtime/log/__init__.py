"""sigs.k8s.io/controller-runtime/pkg/log: the logger of this package, and the loggers of reconcilers."""

from clientgo.controller_runtime.log.log import LOG, from_context, into_context, set_logger
from clientgo.controller_runtime.log.null import NullLogSink
from clientgo.controller_runtime.log.warning_handler import (
    KubeAPIWarningLogger,
    KubeAPIWarningLoggerOptions,
    new_kube_api_warning_logger,
)

__all__ = [
    "LOG",
    "KubeAPIWarningLogger",
    "KubeAPIWarningLoggerOptions",
    "NullLogSink",
    "from_context",
    "into_context",
    "new_kube_api_warning_logger",
    "set_logger",
]
