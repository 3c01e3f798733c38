"""Operators with a known class of bug each: the script that shows it, and a search that finds one.

With CONTROLLERTEST_CASES=2000 the machine searches for each bug, and each corrected operator passes as many cases.
"""

from __future__ import annotations

import itertools
import os

import brokenleaders as leaders
import brokenoperators as broken
import pytest
from hypothesis import Phase, Verbosity, given, settings
from widgetoperator import Widgets, widget

from clientgo import rest
from clientgo.context import Context
from clientgo.testing import controllertest as ct
from clientgo.testing.controllertest import runner, strategies
from clientgo.testing.controllertest.machine import number_of_cases

CASES = int(os.environ.get("CONTROLLERTEST_CASES", "0"))
KIND = "example.com/v1/Widget"
ONE, TWO, SECOND = widget("a", 1), widget("a", 2), ct.Sleep(1.0)
IN_SHOP = ct.Set({**ONE.obj, "metadata": {"name": "a", "namespace": "shop"}})

# The machine, the check that it violates, and the steps.
SCRIPTS: list[tuple[type[ct.ControllerMachine], str, list[ct.Step]]] = [
    (broken.CreatesTwice, "end state", [ct.Lag("configmaps", 5.0), ONE]),
    (broken.HalfDone, "end state", [ct.Lose(1), ONE]),
    (broken.KeepsFinalizer, "left behind", [ONE, SECOND, ct.Kill(1, "after"), ct.Delete(KIND, "a")]),
    (broken.SwallowsErrors, "status_follows_spec", [ct.Fail(1, 500), ONE]),
    (broken.IgnoresConflicts, "status_follows_spec", [ONE, SECOND, ct.Fail(1, 409), TWO]),
    (broken.NoBackoff, "backoff", [ONE]),
    (broken.Adopts, "status_follows_spec", [ONE]),
    (broken.DeletesOnStaleRead, "children_of_living_widgets_stay", [ONE, SECOND, ct.Rewind("widgets", 2)]),
    (
        broken.ScalesDownTooFar,
        "no_deletion_leaves_too_few",
        [widget("a", 3), SECOND, ct.Lag("configmaps", 5.0), TWO],
    ),
    (broken.ReadsOwnWriteTooEarly, "status_follows_spec", [ct.Lag("configmaps", 5.0), ONE]),
    (broken.RevertsSpec, "status_follows_spec", [ct.Before(2, TWO), ONE]),
    (broken.LosesFields, "lost update", [ONE, SECOND, ct.Touch(0), TWO]),
    (broken.IgnoresTombstones, "crash", [ONE, SECOND, ct.Drop("configmaps", 5.0, True), ct.Remove(0)]),
    (broken.LeaksOnDelete, "left behind", [ONE, SECOND, ct.Kill(0), ct.Delete(KIND, "a")]),
    (broken.OnlyEdges, "status_follows_spec", [ONE, SECOND, ct.Kill(0), TWO]),
    (broken.TrustsOrder, "crash", [ONE, SECOND, ct.Rewind("widgets", 2)]),
    (
        broken.TrustsNames,
        "status_follows_spec",
        [ONE, SECOND, ct.Drop("widgets", 5.0, True), ct.Delete(KIND, "a"), ONE],
    ),
    (broken.TrustsMemory, "second run", [ONE, SECOND, ct.Remove(0)]),
    (broken.WatchesOnlyOwners, "second run", [ONE, SECOND, ct.Remove(0)]),
    (broken.StatusLoop, "hot loop", [ONE]),
    (broken.RequeuesForever, "hot loop", [ONE]),
    (broken.WritesUnchangedStatus, "idle writes", [ONE]),
    (broken.LeavesThread, "stop", []),
    (broken.ChangesCache, "read-only", [ONE]),
    (leaders.TwoLeaders, "hot loop", [ct.ChangeLeader(1), ONE]),
    (leaders.PausedLeader, "no_child_goes_back", [ONE, ct.Sleep(5.0), ct.ChangeLeader(1), TWO, SECOND, widget("a", 3)]),
    (leaders.BlocksNamespace, "left behind", [IN_SHOP, SECOND, ct.DeleteNamespace("shop")]),
]
PAIRS = [*broken.PAIRS, *leaders.PAIRS]
FIXED = dict(PAIRS)


class Searched(Widgets):
    cases = CASES or 4


TestWidgets = Searched.TestCase


def test_a_profile_for_long_searches_sets_the_number_of_cases() -> None:
    usual, long = settings(max_examples=100), settings(max_examples=20_000)

    assert [number_of_cases(Searched, profile) for profile in (usual, long)] == [Searched.cases, 20_000]
    assert [number_of_cases(Widgets, profile) for profile in (usual, long)] == [100, 20_000]


def test_each_broken_operator_has_a_script_and_a_corrected_version() -> None:
    assert [machine for machine, _, _ in SCRIPTS] == [machine for machine, _ in PAIRS]


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize(
    ("machine", "check", "steps"), SCRIPTS, ids=[machine.__name__ for machine, _, _ in SCRIPTS]
)
def test_a_script_shows_the_bug_and_passes_after_its_correction(
    machine: type[ct.ControllerMachine], check: str, steps: list[ct.Step]
) -> None:
    with pytest.raises(ct.ControllerFailure) as raised:
        ct.replay(machine, steps)

    assert raised.value.check == check
    assert len(raised.value.script.splitlines()) <= 15
    ct.replay(FIXED[machine], steps)


LONG_OUTAGE = ct.Drop("widgets", 20.0, True)


@pytest.mark.parametrize(
    ("machine", "steps"),
    [
        # The reflector's backoff has grown to more than the time after which a cluster counts as quiet.
        (broken.ScalesDownTooFarFixed, [LONG_OUTAGE, ONE, ct.Sleep(5.0), LONG_OUTAGE, ct.Sleep(5.0)]),
        # Two pauses at one call: the process stands still for the second time after the faults have ended.
        (
            leaders.NeverBack,
            [ct.ChangeLeader(2, ct.Delete(KIND, "a")), ct.Sleep(5.0), ct.ChangeLeader(2), ONE],
        ),
    ],
    ids=["long outage", "two pauses"],
)
def test_the_machine_waits_until_a_controller_is_reconnected(
    machine: type[ct.ControllerMachine], steps: list[ct.Step]
) -> None:
    ct.replay(machine, steps)


class Renamed(leaders.Leads):
    """An operator whose restarted process is another candidate, which waits until the old lease has expired."""

    lives = itertools.count()

    def __init__(self, config: rest.Config, ctx: Context) -> None:
        super().__init__(config, ctx)
        self.identity += f"-{next(self.lives)}"


class Candidates(leaders.Led):
    operator = Renamed


def test_the_end_of_a_run_waits_for_a_leader_but_not_longer() -> None:
    """A wait for the longest possible change of the leader has a renewal every 15 seconds: it takes most of a run."""
    assert ct.replay(Candidates, [ct.Kill(0), ONE]).requests < 60


def test_a_child_that_comes_and_goes_during_an_outage_waits_for_the_resync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A retry creates the removed child again and ends the work. No event tells of the second removal."""
    again: list[ct.Step] = [ct.Sleep(5.0), ct.Remove(0)]
    steps = [ct.Drop("configmaps", 20.0, True), ONE, *again, *again]
    ct.replay(Widgets, steps)

    monkeypatch.setattr(Widgets.operator, "resync", 0.0)
    with pytest.raises(ct.ControllerFailure, match="a restart without any change of the cluster writes"):
        ct.replay(Widgets, steps)


def test_an_operator_looks_again_at_a_child_that_it_wrote_from_an_old_cache() -> None:
    """The cache of children misses a write, so that the next sync of the widget finds nothing to do."""
    three = widget("a", 3)
    ct.replay(broken.TrustsNamesFixed, [three, ct.Sleep(5.0), ct.Drop("configmaps", 5.0, True), ONE, three])


@pytest.mark.parametrize("failure", [ct.Kill(1, "after"), ct.Lose(1)], ids=["kill", "lost response"])
def test_a_backup_is_removed_although_its_creation_fails(failure: ct.Step) -> None:
    ct.replay(leaders.Shop, [IN_SHOP, SECOND, failure, ct.Delete(KIND, "a", "shop")])


def search(machine: type[ct.ControllerMachine], cases: int) -> None:
    phases = [Phase.explicit, Phase.generate, *([Phase.shrink] if CASES else [])]

    @settings(max_examples=cases, phases=phases, report_multiple_bugs=False, verbosity=Verbosity.quiet, database=None)
    @given(strategies.scripts(machine))
    def run(script: tuple[list[ct.Step], int]) -> None:
        runner.check(machine, *script)

    run()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Search for one bug, or for all in a long run."""
    if "searched" in metafunc.fixturenames:
        machines = [machine for machine, _ in PAIRS] if CASES else [broken.WritesUnchangedStatus]
        metafunc.parametrize("searched", machines)


def test_the_machine_finds_the_bug(searched: type[ct.ControllerMachine]) -> None:
    with pytest.raises(ct.ControllerFailure) as raised:
        search(searched, CASES or 50)
    assert raised.value.check
    assert not CASES or len(raised.value.script.splitlines()) <= 15


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("machine", sorted(set(FIXED.values()), key=lambda machine: machine.__name__))
def test_a_corrected_operator_passes(machine: type[ct.ControllerMachine]) -> None:
    search(machine, CASES or 1)
