"""A pytest plugin for long searches: Hypothesis profiles, and a progress line.

No Go file. In any project that tests with `clientgo.testing`:

    pytest -p clientgo.testing.thorough --hypothesis-profile thorough

or, to have it always, `pytest_plugins = ["clientgo.testing.thorough"]` in the conftest.py at the root. It adds the
profile `thorough`: 20,000 cases for each property instead of 100, no deadline, no health checks. HYPOTHESIS_PROFILE in
the environment chooses a profile too.

On a terminal a property that takes longer than a second shows its progress:

    test_queue.py::test_my_queue_interleaved: 1,200 of 20,000 cases, 310 a second, 1 min 1 s left

In a pipe, a file or a worker of pytest-xdist it shows nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any
from unittest import mock

import pytest

from clientgo.testing.synctest.schedule import need_hypothesis

need_hypothesis(__name__)

from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.stateful import RuleBasedStateMachine

settings.register_profile("thorough", deadline=None, max_examples=20_000, suppress_health_check=list(HealthCheck))

# Real seconds between two updates of the line.
_UPDATE_EVERY = 1.0


class Progress:
    """A counter of one property's cases that reports their number, their rate and the remaining time.

    show: called with the line, at most once a second.
    """

    def __init__(
        self, name: str, expected: int, show: Callable[[str], object], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._expected = expected
        self._show = show
        self._now = now
        self._began = self._shown = now()
        self.cases = 0

    def case_done(self) -> None:
        """Count a case."""
        self.cases += 1
        now = self._now()
        if now - self._shown >= _UPDATE_EVERY:
            self._shown = now
            self._show(self._line(now - self._began))

    def _line(self, elapsed: float) -> str:
        rate = self.cases / elapsed
        # Shrinking a failure, and cases that a filter rejects, come in addition.
        if self.cases > self._expected:
            return f"{self._name}: {self.cases:,} cases, {rate:,.0f} a second"
        left = format_seconds((self._expected - self.cases) / rate)
        return f"{self._name}: {self.cases:,} of {self._expected:,} cases, {rate:,.0f} a second, {left} left"


def format_seconds(seconds: float) -> str:
    """Format seconds for people.

    >>> format_seconds(8.4), format_seconds(61), format_seconds(7260)
    ('8 s', '1 min 1 s', '2 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def pytest_configure(config: pytest.Config) -> None:
    profile = os.environ.get("HYPOTHESIS_PROFILE")
    if profile == "thorough":
        settings.load_profile(profile)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    test: Any = getattr(item, "obj", None)
    reporter: Any = item.config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or not reporter.isatty or not is_hypothesis_test(test):
        return (yield)
    progress = Progress(item.nodeid, _expected(item), lambda line: _show(item, reporter, line))
    with _count_cases(test, progress.case_done):
        outcome = yield
    _show(item, reporter, "")
    return outcome


def _expected(item: pytest.Item) -> int:
    chosen = getattr(getattr(item, "cls", None), "settings", None)
    return chosen.max_examples if isinstance(chosen, settings) else settings().max_examples


def _count_cases(test: Any, case_done: Callable[[], None]) -> AbstractContextManager[object]:
    """Make every case of the test call `case_done`."""
    handle = getattr(test, "hypothesis", None)
    if handle is None:  # a state machine's test case: each case makes a machine
        return mock.patch.object(RuleBasedStateMachine, "__init__", _calling(RuleBasedStateMachine.__init__, case_done))
    return mock.patch.object(handle, "inner_test", _calling(handle.inner_test, case_done))


def _calling(inner: Callable[..., Any], case_done: Callable[[], None]) -> Callable[..., Any]:
    @wraps(inner)
    def counted(*args: Any, **kwargs: Any) -> Any:
        try:
            return inner(*args, **kwargs)
        finally:
            case_done()

    return counted


def _show(item: pytest.Item, reporter: Any, line: str) -> None:
    capture: Any = item.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
        reporter.rewrite(line, erase=True)
