"""Ending the process after a fatal line. Mirrors klog/v2/exit.go."""

from __future__ import annotations

import os
import threading
from typing import Final, NoReturn

from clientgo.klog.output import flush

__all__ = ["EXIT_FLUSH_TIMEOUT", "flush_and_exit"]

EXIT_FLUSH_TIMEOUT: Final = 10.0
"""Seconds that programs pass to `flush_and_exit`, as in Go."""


def flush_and_exit(timeout: float, code: int) -> NoReturn:
    """Flush for at most `timeout` seconds and end the process with `code`, from any thread. Go: klog.FlushAndExit.

    No other code of the program runs: no `finally`, no `atexit`.
    """
    flusher = threading.Thread(target=flush, name="klog-flush", daemon=True)
    flusher.start()
    flusher.join(timeout)
    os._exit(code)
