"""Setup for all tests: Hypothesis profiles, reproducible jitter, and checks that a test leaves no thread or socket
behind and, in CI, that no test is skipped because something is missing.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import random
import signal
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from clientgo.testing import leaks

# `pytest --hypothesis-profile thorough` looks for as long as one has patience, and shows how far it is.
pytest_plugins = ["clientgo.testing.thorough", "turns"]

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
# A quarter of Hypothesis' own number, for each run of all tests; the profile `thorough` searches. The tests that find
# known bugs have Hypothesis' own number.
_EXAMPLES = 25
settings.register_profile("default", max_examples=_EXAMPLES, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
_THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
if not _THOROUGH:
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))

# How long a thread or socket on its way out may take; a leak costs this much once, all else nothing. The traceback of
# a test that failed goes on holding what the test had open: waiting for that is in vain.
_GRACE = 30.0
_GRACE_OF_FAILED = 1.0


class _Snapshot(leaks.Snapshot):
    """The threads, sockets and blocked signals there are."""

    def __init__(self) -> None:
        super().__init__()
        self._blocked = _blocked_signals()

    def leaked(self, grace: float) -> list[str]:
        """Return the threads, sockets and signals of the test that do not end within the grace period."""
        # Processes that tests start would inherit a blocked signal, and not end when they receive it.
        blocked = [f"{each.name} blocked" for each in _blocked_signals() - self._blocked]
        return super().leaked(grace) + blocked


def _blocked_signals() -> set[signal.Signals]:
    return {signal.Signals(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())}


# What may be missing in CI too: other machines have it, or this pass of hack/test leaves it out on purpose.
_MAY_BE_MISSING = (
    "msgspec is not installed, or switched off",
    "the protobuf package is not used here",
    "typed clients ask for JSON in this pass",
    "no IPv6",
    "no kubectl 1.",
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Fail a test that skips in CI, since skipped tests stay unnoticed there."""
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(known in reason for known in _MAY_BE_MISSING):
            report.outcome = "failed"
            report.longrepr = f"skipped in CI, where nothing may be missing: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Exempt the collected objects from garbage collection.

    The tests' eight hundred thousand objects live until the end. Collecting them takes a quarter of the time of
    pytest's collection, and a second for each later run of the collector.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # What a test makes is mostly freed without the collector, which would look 700 objects at a time: a sixth of
        # what tests with many threads take.
        gc.set_threshold(20_000, 10, 5)
        gc.enable()


# How much longer than its limit a test may take before its process ends, whatever it is stuck in.
_LAST_RESORT = 60.0


class _Watchdog:
    """Plugin that ends a process whose test is stuck in C code or in the clean-up after a timeout.

    Its thread is in C and needs no lock of Python's. It prints the stacks of all threads; xdist then reports the test
    and continues in a new process.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._output = os.dup(sys.__stderr__.fileno())  # where pytest does not capture it

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, Any]:
        faulthandler.dump_traceback_later(self._limit, exit=True, file=self._output)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()


def _ask_for_json() -> None:
    """Let clients ask for JSON if they do not specify a content type."""
    import clientgo.metadata.metadata as metadata
    from clientgo.apimachinery.runtime.serializer.codec_factory import CodecFactory
    from clientgo.rest.request import Request

    changes: list[tuple[Any, str, Any]] = [
        (Request, "use_protobuf_as_default", lambda self: self),
        (CodecFactory, "supports_protobuf", lambda self, kind: False),
        (metadata, "_MEDIA_TYPES", ("application/json",)),
    ]
    for owner, name, value in changes:
        assert hasattr(owner, name), f"{owner} has no {name} any more"
        setattr(owner, name, value)


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CLIENTGO_TEST_ENCODING") == "json":
        _ask_for_json()
    if limit := config.getoption("timeout", None):
        config.pluginmanager.register(_Watchdog(limit + _LAST_RESORT), "watchdog")
    config.addinivalue_line(
        "markers",
        "shared_server: uses a server of the whole module; threads and sockets are checked when the module ends",
    )
    config.addinivalue_line("markers", "kubectl: drives real kubectl binaries")
    config.addinivalue_line("markers", "starts_first: takes minutes, so that no core waits for it at the end of a run")
    # A shell starts what it puts in the background with Ctrl-C ignored, and programs started here would inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("starts_first") is None)


@pytest.fixture(autouse=True)
def _the_same_jitter_each_time(request: pytest.FixtureRequest) -> None:
    """Seed the jitter with the test's name, so that a test in virtual time is reproducible. Thorough runs use other
    seeds.
    """
    if not _THOROUGH:
        random.seed(request.node.nodeid)


@pytest.fixture(autouse=True, scope="module")
def _module_leaves_nothing_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    before, failed = _Snapshot(), request.session.testsfailed
    yield
    leaked = before.leaked(_grace_since(request, failed))
    assert not leaked, f"left behind by the module: {leaked}"


@pytest.fixture(autouse=True)
def _leaves_nothing_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.node.get_closest_marker("shared_server"):
        yield
        return
    before, failed = _Snapshot(), request.session.testsfailed
    yield
    leaked = before.leaked(_grace_since(request, failed))
    assert not leaked, f"left behind: {leaked}"


def _grace_since(request: pytest.FixtureRequest, failed: int) -> float:
    """Return the grace period, which is shorter after a failed test."""
    return _GRACE if request.session.testsfailed == failed else _GRACE_OF_FAILED
