"""A log line about a list, or a stream of the initial objects, that does not end. Beyond Go, which logs it only later.

A server, or a proxy before it, may send one byte per second, pages or bookmarks without end, or nothing. There is no
error then, and the program just seems to hang.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Final

from clientgo import klog
from clientgo.golang.duration import format_duration
from clientgo.utils.clock import PassiveClock
from clientgo.utils.clock.watchdog import checked_after

__all__ = ["PATIENCE", "reporting_slow_list"]

PATIENCE: Final = 30.0
"""Seconds until a list is reported: enough for a hundred thousand objects over a slow network."""


def reporting_slow_list(clock: PassiveClock, about: Mapping[str, object]) -> contextlib.AbstractContextManager[None]:
    """Warn once when the block takes half a minute. `about` names the reflector."""

    def report() -> None:
        klog.background().info(
            "Warning: the list of all objects is not complete: the server sends it slowly, in part or without an end, "
            "or requests fail and are repeated; -v=6 shows the requests",
            **about,
            running=format_duration(PATIENCE),
        )

    return checked_after(clock, PATIENCE, report)
