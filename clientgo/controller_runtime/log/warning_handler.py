"""A logger of the warnings in an API server's responses. Mirrors pkg/log/warning_handler.go."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from clientgo.context import Context
from clientgo.controller_runtime.log.log import from_context

__all__ = ["KubeAPIWarningLogger", "KubeAPIWarningLoggerOptions", "new_kube_api_warning_logger"]


@dataclass(kw_only=True)
class KubeAPIWarningLoggerOptions:
    """The options of a KubeAPIWarningLogger. Go: log.KubeAPIWarningLoggerOptions."""

    deduplicate: bool = False
    """Log each text only once. The logger then keeps every text in memory."""


class KubeAPIWarningLogger:
    """A rest.WarningHandlerWithContext that logs to the request's logger. Go: log.KubeAPIWarningLogger."""

    def __init__(self, opts: KubeAPIWarningLoggerOptions | None = None) -> None:
        self._opts = opts or KubeAPIWarningLoggerOptions()
        # Guards _written.
        self._lock = threading.Lock()
        self._written: set[str] = set()

    def handle_warning_header_with_context(self, ctx: Context, code: int, agent: str, message: str) -> None:
        """Log the text of a warning header. Ignores codes other than 299 and empty texts."""
        if code != 299 or not message:
            return
        if self._opts.deduplicate:
            with self._lock:
                if message in self._written:
                    return
                self._written.add(message)
        from_context(ctx).info(message)


def new_kube_api_warning_logger(opts: KubeAPIWarningLoggerOptions | None = None) -> KubeAPIWarningLogger:
    """Return a warning handler for `rest.Config.warning_handler_with_context`. Go: log.NewKubeAPIWarningLogger."""
    return KubeAPIWarningLogger(opts)
