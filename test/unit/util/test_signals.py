"""A context that a signal ends, in processes of their own: a signal loses its previous effect for good."""

from __future__ import annotations

import subprocess
import sys

import pytest
from patience import PATIENCE

PROGRAM = """
import signal, sys
from clientgo import context
from clientgo.util import signals

root, cancel = context.with_cancel(context.background())
ctx = signals.notify_context(root{chosen})
assert ctx.err() is None
{then}
"""


def run(then: str, chosen: str = "") -> tuple[int, str]:
    command = [sys.executable, "-c", PROGRAM.format(chosen=chosen, then=then)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_first_signal_cancels_the_context_and_not_its_parent(name: str) -> None:
    then = f"signal.raise_signal(signal.{name}); print(ctx.done().wait(60), repr(ctx.err()), root.err())"
    assert run(then) == (0, "True Canceled('context canceled') None\n")


def test_the_second_signal_exits_at_once() -> None:
    then = "for _ in range(2): signal.raise_signal(signal.SIGTERM)\nsignal.pause()\nprint('not reached')"
    assert run(then) == (1, "")


def test_the_parent_ends_the_context_too() -> None:
    assert run("cancel(); print(ctx.err() is not None)") == (0, "True\n")


def test_other_signals_can_be_chosen() -> None:
    chosen = ", signal.SIGUSR1"
    assert run("signal.raise_signal(signal.SIGUSR1); print(ctx.done().wait(60))", chosen) == (0, "True\n")
    code, printed = run("signal.raise_signal(signal.SIGTERM); signal.pause()", chosen)
    assert (code, printed) == (-15, "")


def test_outside_of_the_main_thread_it_is_an_error() -> None:
    then = (
        "import threading\n"
        "def other():\n"
        "    try: signals.notify_context(root)\n"
        "    except ValueError: print('refused')\n"
        "thread = threading.Thread(target=other); thread.start(); thread.join()"
    )
    assert run(then) == (0, "refused\n")
