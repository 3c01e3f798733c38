"""A test that hangs, and in CI one that skips, is a failure that says why."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

ROOT = Path(__file__).parents[3]
# Where a copy of the conftest finds its plugins.
PLUGINS = os.pathsep.join(map(str, (ROOT, ROOT / "test" / "support")))

HANGS = """
import threading
import pytest

def test_deadlock():
    held = threading.Lock()
    held.acquire()
    threading.Thread(target=held.acquire, name="the-other-one", daemon=True).start()
    held.acquire()

def test_the_next_one_runs():
    pass
"""
STUCK = """
import ctypes
import signal

def test_holds_the_interpreter():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    ctypes.PyDLL(None).sleep(1000)
"""
FAILS_WITH_A_SOCKET = """
import socket

def test_fails():
    here, there = socket.socketpair()
    assert here.fileno() == there.fileno()
"""
SKIPS = """
import pytest

def test_skips():
    pytest.skip("no such tool here")

def test_skips_where_it_may():
    pytest.skip("no IPv6 here")
"""


def run_pytest(tmp_path: Path, tests: str, *options: str, **environment: str) -> str:
    (tmp_path / "test_it.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key != "CI"} | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return done.stdout + done.stderr


def test_a_deadlock_is_a_failure_with_the_stack_of_every_thread(tmp_path: Path) -> None:
    limits = re.search(r"^limits=\((.*)\)$", (ROOT / "hack" / "test").read_text(), re.MULTILINE)
    assert limits
    options = re.sub(r"--timeout \d+", "--timeout 1", limits[1]).split()

    printed = run_pytest(tmp_path, HANGS, *options)

    assert "1 failed, 1 passed" in printed
    assert "Timeout (>1.0s)" in printed
    assert "the-other-one" in printed


def test_objects_in_a_failed_tests_traceback_delay_no_test(tmp_path: Path) -> None:
    conftest = (ROOT / "test" / "conftest.py").read_text()
    endless = conftest.replace("_GRACE = 30.0", f"_GRACE = {10 * PATIENCE}")
    assert endless != conftest
    (tmp_path / "conftest.py").write_text(endless)

    printed = run_pytest(tmp_path, FAILS_WITH_A_SOCKET, PYTHONPATH=PLUGINS)

    assert "FAILED test_it.py::test_fails" in printed


def test_a_process_that_no_timeout_reaches_ends_with_the_stack_of_every_thread(tmp_path: Path) -> None:
    conftest = (ROOT / "test" / "conftest.py").read_text()
    shorter = conftest.replace("_LAST_RESORT = 60.0", "_LAST_RESORT = 0.5")
    assert shorter != conftest
    (tmp_path / "conftest.py").write_text(shorter)

    printed = run_pytest(tmp_path, STUCK, "--timeout", "0.5", PYTHONPATH=PLUGINS)

    assert "Timeout (0:00:01)!" in printed
    assert "in test_holds_the_interpreter" in printed


def test_a_skip_fails_in_ci_and_only_there(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "test" / "conftest.py").read_text())
    environment = {"PYTHONPATH": PLUGINS}

    assert "2 skipped" in run_pytest(tmp_path, SKIPS, **environment)
    in_ci = run_pytest(tmp_path, SKIPS, CI="true", **environment)

    assert "1 failed, 1 skipped" in in_ci
    assert "skipped in CI, where nothing may be missing: " in in_ci
    assert "no such tool here" in in_ci
