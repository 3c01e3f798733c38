"""The lessons' scenarios, the settings of a machine, and the faults, each as what it does to a machine."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from clientgo import context, tour
from clientgo.apimachinery.api import errors as apierrors
from clientgo.testing import synctest
from clientgo.tour.script import FAULTS, Step, play
from clientgo.tour.settings import Settings
from clientgo.utils.clock import REAL_CLOCK

APPLE, BREAD = "0 create apple an apple", "0 create bread some bread"

# The lessons' texts, questions and pictures are about exactly these runs.
SCRIPTS: dict[str, tuple[str, str, str, dict[str, Any], float]] = {
    "list-and-watch": (
        "List and watch",
        f"{APPLE} | {BREAD}",
        "2 create cheese a cheese | 4 update apple a red apple | 6 delete bread",
        {},
        70.0,
    ),
    "deltas": (
        "Deltas: why a key keeps several",
        APPLE,
        "2 create bread some bread | 2 update bread fresh bread | 2 update bread dark bread | 2 delete bread",
        {"fifo": "DeltaFIFO"},
        30.0,
    ),
    "queue": (
        "The work queue's three sets",
        f"{APPLE} | {BREAD}",
        "1 slow-server | 2 update apple a red apple | 3 update apple a green apple | 3 update apple a yellow apple",
        {},
        30.0,
    ),
    "backoff": ("Rate limiting and backoff", APPLE, "2 writes-fail | 2 create bread some bread", {}, 30.0),
    "tombstone": ("Tombstones", f"{APPLE} | {BREAD}", "2 delete-unseen", {}, 60.0),
    "handlers": (
        "Handlers, buffers and the slow one",
        APPLE,
        "2 handler-blocks | 3 create bread some bread | 4 create cheese a cheese | 5 update bread dark bread"
        " | 8 handler-goes-on",
        {"handlers": 2},
        30.0,
    ),
    "versions": (
        "Resource versions, bookmarks, 410",
        APPLE,
        "2 create bread some bread | 10 elsewhere a-secret | 70 cut | 80 gone",
        {},
        30.0,
    ),
    "fifos": (
        "DeltaFIFO against RealFIFO",
        f"{APPLE} | {BREAD}",
        "2 create cheese a cheese | 2 update apple a red apple | 2 update cheese a ripe cheese | 2 delete cheese",
        {"fifo": "DeltaFIFO", "replace": "Sync"},
        30.0,
    ),
    "indexer": (
        "The indexer",
        f"{APPLE} | {BREAD}",
        "2 create avocado an avocado | 4 update bread dark bread | 6 delete apple",
        {"words": True},
        30.0,
    ),
    "resync": ("Resync without relist", f"{APPLE} | {BREAD}", "", {"resync": 10.0}, 15.0),
    "level": (
        "Reconcile is level-triggered",
        APPLE,
        "2 create bread some bread | 2 update bread fresh bread | 2 update bread dark bread | 6 meddle bread NONSENSE"
        " | 10 gone",
        {},
        30.0,
    ),
    "stale": (
        "Read your own writes, and stale caches",
        APPLE,
        "1 watch-lags | 2 create bread some bread | 4 update bread dark bread",
        {},
        30.0,
    ),
    "events": (
        "Events and their correlator",
        APPLE,
        "2 update apple red | 3 update apple an apple | 4 update apple red | 5 update apple green"
        " | 6 update apple yellow | 7 update apple brown | 8 update apple black | 9 update apple rotten"
        " | 10 update apple gone",
        {"events": True},
        30.0,
    ),
    "election": ("Leader election", APPLE, "6 kill | 17 create bread some bread", {"replicas": 2}, 30.0),
    "owners": (
        "Ownership, finalizers and garbage collection",
        f"{APPLE} | {BREAD}",
        "2 own slice bread | 4 hold bread | 6 delete bread | 8 release bread | 10 own core apple | 11 hold core"
        " | 12 delete-foreground apple | 14 release core",
        {},
        30.0,
    ),
    "priority": (
        "The priority queue",
        f"{APPLE} | {BREAD} | 0 create cheese a cheese",
        "0 slow-server | 3 update cheese a ripe cheese | 3 create dates some dates",
        {"queue": "PriorityQueue"},
        30.0,
    ),
}


def text_of(steps: Any) -> str:
    return " | ".join(f"{step.at:g} {step.verb} {step.name} {step.text}".strip() for step in steps)


def test_every_scenario_has_a_script() -> None:
    assert list(tour.SCENARIOS) == list(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_scenario_does_what_its_lesson_tells(name: str) -> None:
    scenario = tour.SCENARIOS[name]
    title, before, steps, settings, after = SCRIPTS[name]
    assert (scenario.name, scenario.title, scenario.after) == (name, title, after)
    assert (text_of(scenario.before), text_of(scenario.steps)) == (before, steps)
    assert scenario.settings == Settings(**settings)
    # Every verb is known, and a later step is never before an earlier one.
    known = {*scenario.program.verbs, *FAULTS}
    assert {step.verb for step in (*scenario.before, *scenario.steps)} <= known
    assert [step.at for step in scenario.steps] == sorted(step.at for step in scenario.steps)


def test_a_scenario_is_by_itself_half_a_minute_of_the_lessons_controller() -> None:
    scenario = tour.Scenario(name="a", title="b")
    assert (scenario.before, scenario.steps, scenario.settings, scenario.after) == ((), (), Settings(), 30.0)
    assert scenario.program is tour.SCENARIOS["queue"].program and text_of([Step(1.5, "cut")]) == "1.5 cut"


# ---- settings


def test_the_settings_are_at_first_todays_machine() -> None:
    assert Settings().to_dict() == {
        "fifo": "RealFIFO",
        "replace": "Replaced",
        "watch_list": False,
        "resync": 0.0,
        "handlers": 1,
        "workers": 1,
        "queue": "workqueue",
        "limiter": "exponential",
        "base_delay": 1.0,
        "replicas": 1,
        "events": False,
        "words": False,
        "last": "",
    }
    given = {**Settings().to_dict(), "resync": 5, "events": True, "last": "x" * 100}
    made = Settings.of(given)
    assert made == Settings(resync=5.0, events=True, last="x" * 100) and type(made.resync) is float


@pytest.mark.parametrize(
    ("name", "lowest", "highest", "least"),
    [
        ("handlers", 1, 2, 1),
        ("workers", 1, 4, 1),
        ("replicas", 1, 2, 1),
        ("resync", 0.0, 3600.0, 0.5),
        ("base_delay", 0.001, 1000.0, 0.0005),
    ],
)
def test_a_number_has_its_limits(name: str, lowest: float, highest: float, least: float) -> None:
    for good in (lowest, highest):
        assert getattr(Settings.of({name: good}), name) == good
    for bad in (lowest - least, highest + least):
        with pytest.raises(ValueError, match=f"^{name} is between {lowest} and {highest}, not {bad}$"):
            Settings.of({name: bad})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fifo": "x"}, "fifo is RealFIFO or DeltaFIFO, not 'x'"),
        ({"replace": "x"}, "replace is Replaced or Sync, not 'x'"),
        ({"queue": "x"}, "queue is workqueue or PriorityQueue, not 'x'"),
        ({"limiter": "x"}, "limiter is exponential or fast-slow or default, not 'x'"),
        ({"last": "x" * 101}, "last is the beginning of a thread's name, at most 100 characters"),
        ({"workers": 1.0}, "the setting 'workers' is no int: 1.0"),
        ({"events": 1}, "the setting 'events' is no bool: 1"),
        ({"resync": True}, "the setting 'resync' is no float: True"),
        ({"speed": 1}, "there is no setting 'speed'"),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_its_choices(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Settings.of(given)
    assert str(caught.value) == message


# ---- scripts


class Program:
    """Verbs that note their steps and times. One of them is refused by the server."""

    def __init__(self) -> None:
        self.done: list[tuple[float, str]] = []
        self.began = REAL_CLOCK.now()
        self.verbs = {"create": self._note, "delete": self._note, "refused": self._refuse}

    def _note(self, machine: Any, step: Step) -> None:
        self.done.append((round(REAL_CLOCK.now() - self.began, 3), step.name))

    def _refuse(self, machine: Any, step: Step) -> None:
        self._note(machine, step)
        raise apierrors.new_bad_request("no")


def test_steps_happen_at_their_times_until_the_run_ends() -> None:
    with synctest.bubble():
        ctx, cancel = context.with_timeout(context.background(), 50.0)
        program: Any = Program()
        machine: Any = SimpleNamespace(program=program, ctx=ctx)
        steps = [Step(0, "create", "a"), Step(2, "refused", "b"), Step(2, "create", "c"), Step(1, "create", "d")]
        play(machine, [*steps, Step(7.5, "delete", "e"), Step(51, "create", "never"), Step(52, "create", "never")])
        cancel()
        assert program.done == [(0.0, "a"), (2.0, "b"), (2.0, "c"), (2.0, "d"), (7.5, "e")]
        assert REAL_CLOCK.now() - program.began == pytest.approx(50.0)


# ---- faults


class Parts:
    """A part of a machine that notes each call in `done`, under the part's name."""

    def __init__(self, done: list[tuple[Any, ...]], name: str) -> None:
        self._done = done
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: self._done.append((f"{self._name} {name}", *args, *sorted(kwargs.items())))


@pytest.fixture
def machine() -> Any:
    """Return a machine whose parts note in `done` what a fault does."""
    done: list[tuple[Any, ...]] = []

    def command(verb: str) -> Any:
        return lambda machine, step: done.append((verb, step.name, step.text))

    stored = [SimpleNamespace(name="bread"), SimpleNamespace(name="apple")]
    buckets: dict[str, Any] = {"/configmaps": (stored, 7), "/secrets": ([], 0)}
    return SimpleNamespace(
        done=done,
        program=SimpleNamespace(
            resources=("/configmaps", "/secrets"), verbs={verb: command(verb) for verb in ("create", "delete")}
        ),
        server=SimpleNamespace(store=SimpleNamespace(contents=buckets.__getitem__)),
        replica=SimpleNamespace(**{name: Parts(done, name) for name in ("wire", "bystander", "trouble")}),
        forget_history=lambda: done.append(("forget",)),
        pause=lambda seconds: done.append(("pause", seconds)),
    )


READS, WRITES = frozenset({"GET"}), frozenset({"POST", "PUT", "PATCH", "DELETE"})


@pytest.mark.parametrize(
    ("fault", "place", "does"),
    [
        ("cut", "wire", [("wire cut_this_or_next",)]),
        ("half-open", "wire", [("wire freeze",)]),
        (
            "gone",
            "apiserver",
            [("wire down",), ("create", "meanwhile", "made while nobody watched"), ("forget",), ("wire up",)],
        ),
        ("busy", "apiserver", [("wire refuse", 3, 429, "TooManyRequests", READS, ("retry_after", 1)), ("wire cut",)]),
        ("slow-server", "apiserver", [("wire slow", 2.0)]),
        ("watch-lags", "wire", [("wire lag", 2.5)]),
        ("worker-raises", "workers", [("trouble fail", 3)]),
        ("worker-hangs", "workers", [("trouble hang",)]),
        ("restart", "apiserver", [("wire down",), ("pause", 5.0), ("wire up",)]),
        (
            "delete-unseen",
            "apiserver",
            [("wire down",), ("delete", "apple", ""), ("forget",), ("pause", 3.0), ("wire up",)],
        ),
        ("writes-fail", "apiserver", [("wire refuse", 3, 500, "InternalError", WRITES)]),
        ("handler-blocks", "handlers", [("bystander block",)]),
        ("handler-goes-on", "handlers", [("bystander let_go",)]),
        ("handler-raises", "handlers", [("bystander fail", 1)]),
        ("mend", "", [("wire reconnect",), ("bystander let_go",), ("trouble let_go",)]),
    ],
)
def test_a_fault_does_this_to_a_machine(machine: Any, fault: str, place: str, does: list[tuple[Any, ...]]) -> None:
    FAULTS[fault].do(machine)
    assert machine.done == does and FAULTS[fault].place == place


def test_without_objects_nothing_is_deleted_unseen(machine: Any) -> None:
    machine.program.resources = ("/secrets",)
    FAULTS["delete-unseen"].do(machine)
    assert [each[0] for each in machine.done] == ["wire down", "forget", "pause", "wire up"]


def test_the_wall_clock_jumps_by_an_hour_and_no_timer_with_it() -> None:
    machine: Any = SimpleNamespace()
    with synctest.bubble(two_clocks=True):
        wall, steady = time.time(), time.monotonic()
        FAULTS["clock-jump"].do(machine)
        assert (time.time() - wall, time.monotonic() - steady) == (3600.0, 0.0)
