"""Scripts and faults: when a step happens, and what each fault does to a machine."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from clientgo import context
from clientgo.apimachinery.api import errors as apierrors
from clientgo.testing import synctest
from clientgo.tour.script import FAULTS, Step, play
from clientgo.utils.clock import REAL_CLOCK


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
