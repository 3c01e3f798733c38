"""Log lines about waits for informers that were never started, or never stopped. Has no Go file: there they are silent.

Each mistake costs one line at the default level, which states the remedy:

  * `StartWarnings`, for informer factories: a wait of a factory that was never started, and informers that were
    requested after its start and do not run ten seconds later;
  * `reporting_unstarted`, for the waits of this package: a wait that lasts ten seconds and includes such an informer;
  * `reporting_unstopped`, for the shutdown of informer factories: one that lasts ten seconds, because the context of an
    informer is not done.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, runtime_checkable

from clientgo import klog
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.watchdog import check_later, checked_after

PATIENCE = 10.0
"""Seconds until a wait, or an informer that does not run, is reported: enough for a start by another thread."""


class StartWarnings:
    """The warnings of one informer factory, which calls all methods with its lock held."""

    def __init__(self) -> None:
        self._start_called = False
        self._is_check_scheduled = False
        # The messages logged so far, each once.
        self._logged: set[str] = set()

    def start_called(self) -> None:
        """Record that the factory was started, whether or not it had informers."""
        self._start_called = True

    def wait_called(self, requested: Iterable[str]) -> None:
        """Warn of a wait without a start, which returns at once; `requested` are the names of the informers."""
        if not self._start_called:
            self._log_once(
                "Warning: the wait for the caches to sync returns at once, because the factory was not started: "
                "request all informers, then start the factory, then wait",
                requested,
            )

    def requested(self, check: Callable[[], None]) -> None:
        """Let the factory's method `check` find out later whether an informer made after the start runs."""
        if self._start_called and not self._is_check_scheduled:
            self._is_check_scheduled = True
            check_later(REAL_CLOCK, PATIENCE, check)

    def report_unstarted(self, unstarted: Iterable[str]) -> None:
        """Warn of the informers that `check` found not running."""
        self._is_check_scheduled = False
        if unstarted := [*unstarted]:
            self._log_once(
                "Warning: informers do not run, because they were requested after the start of their factory: "
                "start the factory again, which starts only the new informers",
                unstarted,
            )

    def _log_once(self, message: str, informers: Iterable[str]) -> None:
        if message not in self._logged:
            self._logged.add(message)
            klog.background().info(message, informers=sorted(informers))


@runtime_checkable
class _Informer(Protocol):
    def has_started(self) -> bool: ...

    def type_name(self) -> str: ...


def reporting_unstarted(waited_for: Iterable[object]) -> contextlib.AbstractContextManager[None]:
    """Warn when the block lasts ten seconds and waits for an informer that was not started.

    `waited_for` are checkers, or `has_synced` methods, of informers and their handlers' registrations; all else is
    ignored. Costs nothing if all informers run when the block begins.
    """
    informers = [informer for each in waited_for if (informer := _informer_of(each)) is not None]
    if all(informer.has_started() for informer in informers):
        return contextlib.nullcontext()
    return checked_after(REAL_CLOCK, PATIENCE, lambda: _report(informers))


def _report(informers: Iterable[_Informer]) -> None:
    if unstarted := sorted({informer.type_name() for informer in informers if not informer.has_started()}):
        klog.background().info(
            "Warning: a wait for caches to sync includes informers that were not started: start their factory after "
            "requesting them, or call run_with_context of each in a thread",
            informers=unstarted,
        )


class _Stoppable(Protocol):
    def is_stopped(self) -> bool: ...


def reporting_unstopped(informers: Mapping[str, _Stoppable]) -> contextlib.AbstractContextManager[None]:
    """Warn when the block waits ten seconds for the end of `informers`, by name, and one of them still runs."""
    return checked_after(REAL_CLOCK, PATIENCE, lambda: _report_unstopped(informers))


def _report_unstopped(informers: Mapping[str, _Stoppable]) -> None:
    # One that has stopped waits for an event handler, which the informer itself reports.
    if running := sorted(name for name, informer in informers.items() if not informer.is_stopped()):
        klog.background().info(
            "Warning: the shutdown of a factory waits for informers that still run: first cancel the context, or set "
            "the stop channel, that they were started with",
            informers=running,
        )


def _informer_of(waited_for: object) -> _Informer | None:
    """Return the informer behind a checker or a method; None if there is none."""
    owner: object = waited_for
    while owner is not None and not isinstance(owner, _Informer):
        owner = getattr(owner, "__self__", None) or getattr(owner, "awaited", None)
    return owner


__all__ = ["PATIENCE", "StartWarnings", "reporting_unstarted", "reporting_unstopped"]
