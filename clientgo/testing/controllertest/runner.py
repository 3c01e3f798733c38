"""The course of a run, and the checks that need no code of the user."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clientgo.testing import synctest
from clientgo.testing.controllertest.history import History, program
from clientgo.testing.controllertest.outcome import State, difference, end_state
from clientgo.testing.controllertest.recorded import recorded
from clientgo.testing.controllertest.steps import Step
from clientgo.testing.controllertest.world import Violated, World

if TYPE_CHECKING:
    from clientgo.testing.controllertest.machine import ControllerMachine

# pytest leaves this module's frames out of a traceback: the program replaces them.
__tracebackhide__ = True

# Virtual seconds between two user actions of the run without faults.
_BETWEEN = 5.0
# Virtual seconds that a controller has to fill its caches before the first step.
_STARTS_WITHIN = 1.0


class ControllerFailure(AssertionError):
    """Raised for a run that violates a check. Its text has the program that repeats it, and the history."""

    def __init__(self, check: str, problem: str, script: str, history: History) -> None:
        super().__init__(f"{problem}\n\n{script}  # <- {check}\n\n{history.table()}")
        self.check = check
        self.problem = problem
        self.script = script
        self.history = history


@dataclass(frozen=True)
class Result:
    """The result of a run."""

    check: str
    """The name of the violated check, or ""."""
    problem: str
    history: History
    state: State
    watched: frozenset[str]
    """The resources that the controller lists and watches."""
    requests: int
    actions: tuple[Step, ...]
    """The user actions in the order in which they happened."""


def execute(
    machine_type: type[ControllerMachine], steps: Sequence[Step], schedule: int = 0, *, settle_between: bool = False
) -> Result:
    """Run the steps in a bubble, with the checks of a single run. `settle_between`: settle after each step."""
    world = World(machine_type, schedule)
    state: State = {}
    try:
        with world, contextlib.suppress(Violated):
            state = _run_steps(world, steps, settle_between)
    except synctest.BubbleError as err:
        if not world.problem[0]:
            world.report("hang", str(err))
    check, problem = world.problem
    requests = world.requests.total()
    return Result(check, problem, world.history, state, frozenset(world.watched), requests, tuple(world.user.actions))


def _run_steps(world: World, steps: Sequence[Step], settle_between: bool) -> State:
    world.start()
    world.sleep(_STARTS_WITHIN)
    for step in steps:
        step.run(world)
        if settle_between:
            world.settle(_BETWEEN)
        world.wait()
    world.sleep(_BETWEEN)
    world.note("test", "", "all faults end")
    world.heal()
    world.settle()
    if world.user.repeat_failed():
        world.settle()
    for name, check in world.machine.final_conditions():
        world.apply_rule(name, check)
    state = end_state(world)
    world.wait()
    _restart(world, state)
    _delete_owners(world)
    world.stop()
    return state


def _restart(world: World, state: State) -> None:
    """Check that a second run from the end state writes nothing."""
    world.note("test", "", "the controller is restarted")
    world.stop()
    world.idle_writes.clear()
    changes = world.changes
    world.start()
    world.settle()
    if world.changes != changes:
        after = end_state(world)
        text = difference(state, after) or f"{world.changes - changes} changes"
        world.report("second run", f"a restart without any change of the cluster writes: {text}")
    elif world.idle_writes:
        writes = len(world.idle_writes)
        world.report("idle writes", f"{writes} writes that change nothing, such as: {world.idle_writes[0]}")
    world.wait()


def _delete_owners(world: World) -> None:
    """Check that the controller's objects go with the user's objects."""
    world.note("test", "", "the user deletes all objects")
    world.user.delete_all()
    world.settle()
    kept = world.machine.keeps
    left = sorted(
        f"{bucket.strip('/')} {key}"
        for (bucket, key), actor in world.made_by.items()
        if actor not in ("server", "other") and bucket.strip("/") not in kept
    )
    if left:
        world.report("left behind", f"left behind after the deletion of all user objects: {', '.join(left)}")
    world.wait()


_references: dict[tuple[type, str], State] = {}


def check(
    machine_type: type[ControllerMachine], steps: Sequence[Step], schedule: int = 0, record: Path | None = None
) -> Result:
    """Run the script, then its user actions without faults, and compare the end states.

    record: a new file for what the controller's reflectors receive in the first of these runs.

    Raises ControllerFailure for a violated check, and FileExistsError if the file exists.
    """
    with recorded(record) if record else contextlib.nullcontext():
        result = execute(machine_type, steps, schedule)
    _raise(machine_type, steps, schedule, result)
    changed = difference(_reference(machine_type, result.actions), result.state)
    if changed:
        result = replace(result, check="end state", problem=f"the faults change the result: {changed}")
        _raise(machine_type, steps, schedule, result)
    return result


def _reference(machine_type: type[ControllerMachine], actions: tuple[Step, ...]) -> State:
    """Return the end state of the user actions without faults. Raises ControllerFailure if they violate a check."""
    key = (machine_type, repr(actions))
    if key not in _references:
        plain = execute(machine_type, actions, settle_between=True)
        _raise(machine_type, actions, 0, plain)
        if len(_references) > 10_000:
            _references.clear()
        _references[key] = plain.state
    return _references[key]


def _raise(machine_type: type[ControllerMachine], steps: Sequence[Step], schedule: int, result: Result) -> None:
    if result.check:
        script = program(machine_type, steps, schedule)
        raise ControllerFailure(result.check, result.problem, script, result.history)
