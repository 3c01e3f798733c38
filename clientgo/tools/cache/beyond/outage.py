"""Log lines about a server that refuses connections, or whose list does not end. Beyond Go.

`OutageReporter` reports an outage, which Go logs at -v=2 only: at its begin, after a minute, and after twice as long
each time, up to an hour; then its end.

`reporting_slow_list` reports a list, or a stream of the initial objects, that does not end. A server, or a proxy before
it, may send one byte per second, pages or bookmarks without end, or nothing. There is no error then, and the program
just seems to hang.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Final

from clientgo import klog
from clientgo.golang.duration import format_duration
from clientgo.utils.clock import PassiveClock
from clientgo.utils.clock.watchdog import checked_after

__all__ = ["SLOW_LIST", "OutageReporter", "reporting_slow_list"]

SLOW_LIST: Final = 30.0
"""Seconds until a list is reported: enough for a hundred thousand objects over a slow network."""

# Seconds between two reports.
_FIRST_PERIOD = 60.0
_MAX_PERIOD = 60 * 60.0


class OutageReporter:
    """Reporter of the outages that one reflector sees. Belongs to the thread of the reflector."""

    def __init__(self, clock: PassiveClock, reflector: str, type_description: str) -> None:
        self._clock = clock
        self._about = {"reflector": reflector, "type": type_description}
        # Time of the first refusal; None while the server answers.
        self._since: float | None = None
        self._next_report = 0.0

    def refused(self, logger: klog.Logger, err: BaseException) -> None:
        """Count one refused connection, and log it if a report is due."""
        now = self._clock.now()
        if self._since is None:
            self._since = self._next_report = now
        if now < self._next_report:
            return
        elapsed = now - self._since
        self._next_report = now + min(max(_FIRST_PERIOD, elapsed), _MAX_PERIOD)
        logger.info(
            "Warning: cannot connect to the API server, trying again until it answers; if it should be running, check "
            "the address in the kubeconfig, the network and the proxy settings",
            **self._about,
            since=format_duration(float(round(elapsed))),
            err=err,
        )

    def answered(self, logger: klog.Logger) -> None:
        """Log the end of the outage, if there is one."""
        if self._since is None:
            return
        elapsed, self._since = self._clock.since(self._since), None
        logger.info("Connected to the API server again", **self._about, after=format_duration(float(round(elapsed))))


def reporting_slow_list(clock: PassiveClock, about: Mapping[str, object]) -> contextlib.AbstractContextManager[None]:
    """Warn once when the block takes half a minute. `about` names the reflector."""

    def report() -> None:
        klog.background().info(
            "Warning: the list of all objects is not complete: the server sends it slowly, in part or without an end, "
            "or requests fail and are repeated; -v=6 shows the requests",
            **about,
            running=format_duration(SLOW_LIST),
        )

    return checked_after(clock, SLOW_LIST, report)
