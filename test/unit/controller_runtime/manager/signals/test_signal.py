"""A program ends with its first signal when it has ended its work, and with its second one at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from clientgo.controller_runtime import manager

PROGRAM = """
import sys
from clientgo.controller_runtime.manager import signals

ctx = signals.setup_signal_handler()
try:
    signals.setup_signal_handler()
except RuntimeError as err:
    print(err, flush=True)
print("ready", flush=True)
ctx.done().wait()
print(f"ended: {ctx.err()}", flush=True)
if "stuck" in sys.argv:
    sys.stdin.read()
"""


class Program:
    """The program in a process of its own; it is killed when it hangs."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.timer = threading.Timer(60, self.process.kill)
        self.timer.start()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        self.timer.join()
        self.process.kill()
        self.process.communicate()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_the_context(number: signal.Signals) -> None:
    """Go: manager/signals: runtime signal > SignalHandler Test > test signal handler"""
    with Program() as program:
        assert "called twice" in program.line()
        assert program.line() == "ready"
        program.process.send_signal(number)
        assert program.line() == "ended: context canceled"
        assert program.process.wait() == 0


def test_the_second_signal_ends_the_process() -> None:
    with Program("stuck") as program:
        program.line()
        assert program.line() == "ready"
        program.process.send_signal(signal.SIGTERM)
        assert program.line() == "ended: context canceled"
        program.process.send_signal(signal.SIGINT)
        assert program.process.wait() == 1


def test_the_package_is_reached_through_the_managers() -> None:
    from clientgo import controller_runtime as ctrl

    assert ctrl.setup_signal_handler is manager.signals.setup_signal_handler
