"""Logs the warnings an API server sends along with its answers. Mirrors pkg/log/warning_handler.go."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from clientgo.context import Context
from clientgo.controller_runtime.log.log import from_context

__all__ = ["KubeAPIWarningLogger", "KubeAPIWarningLoggerOptions", "new_kube_api_warning_logger"]


@dataclass(kw_only=True)
class KubeAPIWarningLoggerOptions:
    """What can be chosen about a KubeAPIWarningLogger. Go: log.KubeAPIWarningLoggerOptions."""

    deduplicate: bool = False
    """Log each text once. Each different text is then kept for as long as the logger lives."""


class KubeAPIWarningLogger:
    """A rest.WarningHandlerWithContext that logs to the request's logger. Go: log.KubeAPIWarningLogger."""

    def __init__(self, opts: KubeAPIWarningLoggerOptions | None = None) -> None:
        self._opts = opts or KubeAPIWarningLoggerOptions()
        # Guards _written.
        self._lock = threading.Lock()
        self._written: set[str] = set()

    def handle_warning_header_with_context(self, ctx: Context, code: int, agent: str, message: str) -> None:
        """Log the text of a warning header. Other codes than 299, and empty texts, are ignored."""
        if code != 299 or not message:
            return
        if self._opts.deduplicate:
            with self._lock:
                if message in self._written:
                    return
                self._written.add(message)
        from_context(ctx).info(message)


def new_kube_api_warning_logger(opts: KubeAPIWarningLoggerOptions | None = None) -> KubeAPIWarningLogger:
    """A warning handler for `rest.Config.warning_handler_with_context`. Go: log.NewKubeAPIWarningLogger."""
    return KubeAPIWarningLogger(opts)
