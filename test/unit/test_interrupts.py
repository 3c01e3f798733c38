"""Ctrl-C ends whatever the main thread blocks in, within a moment, whenever it comes."""

from __future__ import annotations

import subprocess
import sys

import interrupted
from patience import PATIENCE
from processes import environment


def test_an_interrupt_ends_every_blocking_call() -> None:
    done = subprocess.run(
        [sys.executable, interrupted.__file__], capture_output=True, text=True, timeout=PATIENCE, env=environment()
    )

    assert done.returncode == 0, done.stderr
    assert set(interrupted.BLOCKING) <= set(done.stdout.splitlines())
    assert "new_priority_queue" in done.stdout
    assert done.stderr == ""
