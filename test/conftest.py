"""What every test runs under: Hypothesis profiles, and the proof that no thread and no socket is left behind."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings

# `pytest --hypothesis-profile thorough` looks for as long as one has patience.
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("default", deadline=None, suppress_health_check=_QUIET)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, suppress_health_check=_QUIET)
settings.register_profile("thorough", deadline=None, max_examples=20_000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))

# How long a thread or socket on its way out may take; a leak costs this much once, all else nothing.
_GRACE = 5.0


@dataclass
class _Snapshot:
    """The threads and sockets there are."""

    threads: set[threading.Thread] = field(default_factory=lambda: set(threading.enumerate()))
    sockets: set[str] = field(default_factory=lambda: _open_sockets())

    def leaked(self) -> list[str]:
        """What has come since and does not go within the grace period."""
        done = threading.Event()
        for thread in set(threading.enumerate()) - self.threads:
            thread.join(_GRACE)
        left = [f"thread {thread.name}" for thread in set(threading.enumerate()) - self.threads if thread.is_alive()]
        if _open_sockets() - self.sockets:
            # A socket dropped without close is a ResourceWarning of its own; here only those somebody still holds.
            gc.collect()
            for _ in range(20):
                if not _open_sockets() - self.sockets:
                    break
                done.wait(_GRACE / 20)
        return left + sorted(_open_sockets() - self.sockets)


def _open_sockets() -> set[str]:
    found = set()
    try:
        descriptors = os.listdir("/proc/self/fd")
    except FileNotFoundError:  # not Linux
        return found
    for descriptor in descriptors:
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:
            continue
        if target.startswith("socket:"):
            found.add(target)
    return found


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "shared_server: uses a server of the whole module; threads and sockets are checked when the module ends",
    )
    config.addinivalue_line("markers", "kubectl: drives real kubectl binaries")


@pytest.fixture(autouse=True, scope="module")
def _module_leaves_nothing_behind() -> Iterator[None]:
    before = _Snapshot()
    yield
    leaked = before.leaked()
    assert not leaked, f"left behind by the module: {leaked}"


@pytest.fixture(autouse=True)
def _leaves_nothing_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.node.get_closest_marker("shared_server"):
        yield
        return
    before = _Snapshot()
    yield
    leaked = before.leaked()
    assert not leaked, f"left behind: {leaked}"
