"""The soak profile finds what grows with time, and nothing else. The day runs with `--hypothesis-profile thorough`."""

from __future__ import annotations

import pytest
from hypothesis import settings
from leakyoperators import FillsQueue, LeaksMemory, LeaksQueueItems, LeaksThreads, Resyncing
from samplemachine import SampleMachine
from widgetoperator import widget

from clientgo.testing import controllertest as ct

pytestmark = pytest.mark.takes_turns(2)

IS_LONG = settings().max_examples >= 10_000
HOURS, PERIOD = (24.0, 1800.0) if IS_LONG else (0.75, 300.0)
STEPS = [widget("a", 1), widget("b", 2)]


@pytest.mark.parametrize("machine", [Resyncing, SampleMachine] if IS_LONG else [Resyncing])
def test_a_controller_without_a_leak_passes(machine: type[ct.ControllerMachine]) -> None:
    soak = ct.soak(machine, HOURS, period=PERIOD)

    assert soak.rounds == round(HOURS * 3600 / PERIOD)
    assert soak.last.seconds == pytest.approx(HOURS * 3600, abs=120)
    assert soak.requests > soak.rounds, "the controller has worked"
    assert soak.first.threads == soak.last.threads
    assert soak.first.queued == soak.last.queued == 0


LEAKS = [(LeaksMemory, "leakyoperators.py"), (FillsQueue, "its work queues have ")]
if IS_LONG:
    LEAKS += [(LeaksThreads, "other threads: poller of a "), (LeaksQueueItems, "workqueue")]


@pytest.mark.parametrize(("machine", "problem"), LEAKS)
def test_a_leak_is_found(machine: type[ct.ControllerMachine], problem: str) -> None:
    with pytest.raises(ct.ControllerFailure) as raised:
        ct.soak(machine, 0.75, period=300.0, steps=STEPS)

    assert raised.value.check == "soak"
    assert problem in raised.value.problem, raised.value.problem
    assert len(raised.value.script.splitlines()) <= 15
    if machine is FillsQueue:  # one is enough
        with pytest.raises(ct.ControllerFailure, match=problem):
            exec(raised.value.script, {})


def test_a_soak_needs_rounds_for_both_halves() -> None:
    with pytest.raises(ValueError, match="a soak needs at least 9"):
        ct.soak(Resyncing, 1.0)
