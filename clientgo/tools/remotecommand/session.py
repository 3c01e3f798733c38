"""The threads of one call of `stream_with_context`. Some of Go's goroutines outlive the call."""

from __future__ import annotations

import threading
from collections.abc import Callable

from clientgo import klog
from clientgo.apimachinery.util import runtime
from clientgo.golang.stop import Signal
from clientgo.tools.remotecommand.reader import Reader

__all__ = ["Session"]

# Seconds that the end waits for a thread which may be blocked in an object of the caller.
_PATIENCE = 0.1


class Session:
    """Starts threads and waits for them. One thread uses it, except for `failed`."""

    def __init__(self, logger: klog.Logger) -> None:
        self.logger = logger
        self.ended = Signal()
        self._threads: list[tuple[threading.Thread, bool]] = []

    def go(self, name: str, fn: Callable[[], None], *, may_stay: bool = False) -> threading.Thread:
        """Call `fn` in a thread. With `may_stay` it may be blocked in an object of the caller at the end."""

        def run() -> None:
            with runtime.handle_crash_with_logger(self.logger, go_on=True):
                fn()

        thread = threading.Thread(target=run, name=f"remotecommand-{name}", daemon=True)
        self._threads.append((thread, may_stay))
        thread.start()
        return thread

    def stop_with(self, reader: Reader) -> None:
        """Let the reader's `read` return when the session ends."""
        self.ended.add_done_callback(reader.stop)

    def failed(self, err: Exception, message: str) -> None:
        """Log an error of a copy, unless the session has ended."""
        if not self.ended.is_set():
            runtime.handle_error_with_logger(self.logger, err, message)

    def end(self) -> None:
        """Mark the session as ended."""
        self.ended.set()

    def join(self) -> None:
        """Wait for the threads. The caller has closed everything on which they wait."""
        for thread, may_stay in self._threads:
            thread.join(_PATIENCE if may_stay else None)
