"""The quick form for Reconcilers of controller_runtime: one object, and a fault at each API call in turn."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.controller_runtime import client, reconcile
from clientgo.testing import synctest
from clientgo.testing.controllertest.errors import described
from clientgo.testing.controllertest.machine import ControllerMachine
from clientgo.testing.controllertest.outcome import State, difference, end_state
from clientgo.testing.controllertest.process import Life
from clientgo.testing.controllertest.runner import ControllerFailure
from clientgo.testing.controllertest.steps import Fail, Kill, Lose, Set, Step
from clientgo.testing.controllertest.world import Violated, World

# pytest leaves this module's frames out of a traceback: the program replaces them.
__tracebackhide__ = True

Json = dict[str, Any]
NewReconciler = Callable[[client.Client], Any]
"""A function that returns a Reconciler for a client. Each life of the process calls it."""

# Calls of `reconcile` after which one that still asks for another is reported.
_MOST_ATTEMPTS = 50


def faults_at(call: int) -> list[Step]:
    """Return the faults that are possible at an API call."""
    return [Kill(call, "before"), Kill(call, "after"), Lose(call), Fail(call, 409), Fail(call, 500)]


def explore_reconciler(
    new_reconciler: NewReconciler,
    objects: Sequence[Json],
    *,
    crds: Sequence[str | Path | Json] = (),
    scheme: Scheme | None = None,
    faults: Sequence[Step] | None = None,
) -> int:
    """Reconcile the first object, with one fault at one API call in each run, and return the number of runs.

    Each run must end like the run without faults, and then another `reconcile` must write nothing. A reconciler that
    raises or asks for another call is called again.

    new_reconciler: makes the reconciler. objects: the objects that exist at first. crds: files or documents. scheme:
    the scheme of the client. faults: the faults to try; None for all. Blocks, in virtual time. Raises
    ControllerFailure for a violated check.
    """
    machine = type("ReconcilerMachine", (ControllerMachine,), {"crds": crds})
    run = _Runs(machine, new_reconciler, [Set(obj) for obj in objects], scheme)
    expected, calls = run.execute(None, None)
    every = [fault for call in range(1, calls + 1) for fault in faults_at(call)] if faults is None else faults
    for fault in every:
        run.execute(fault, expected)
    return 1 + len(every)


class _Runs:
    def __init__(
        self,
        machine: type[ControllerMachine],
        new_reconciler: NewReconciler,
        objects: list[Set],
        scheme: Scheme | None,
    ) -> None:
        self._machine = machine
        self._new_reconciler = new_reconciler
        self._objects = objects
        self._scheme = scheme

    def execute(self, fault: Step | None, expected: State | None) -> tuple[State, int]:
        """Run with one fault, and return the end state and the number of API calls."""
        world = World(self._machine)
        state: State = {}
        calls = 0
        try:
            with world, contextlib.suppress(Violated):
                for obj in self._objects:
                    obj.run(world)
                world.wait()
                if fault is not None:
                    fault.run(world)
                state, calls = self._reconcile(world)
                if expected is not None and (changed := difference(expected, state)):
                    world.report("end state", f"the fault changes the result: {changed}")
        except synctest.BubbleError as err:
            world.report("hang", str(err))
        if world.problem[0]:
            raise ControllerFailure(*world.problem, self._program(fault), world.history)
        return state, calls

    def _reconcile(self, world: World) -> tuple[State, int]:
        life = Life(world, "controller")
        reconciler = self._start(life)
        metadata = self._objects[0].obj["metadata"]
        request = reconcile.Request(metadata.get("namespace", "default"), metadata["name"])
        for _ in range(_MOST_ATTEMPTS):
            try:
                result = reconciler.reconcile(life.ctx, request) or reconcile.Result()
            except Exception as err:
                world.note("controller", "reconcile", described(err))
                if life.is_dead:
                    life = Life(world, "controller")
                    reconciler = self._start(life)
                else:
                    world.reported(err)
                world.sleep(1.0)
                continue
            world.wait()
            if result.is_zero():
                break
            world.sleep(max(result.requeue_after, 1.0))
        else:
            world.report("quiet", f"reconcile is not finished after {_MOST_ATTEMPTS} calls")
            world.wait()
        state = end_state(world)
        calls = world.faults.calls
        world.faults.end(world.now())
        self._once_more(world, lambda: reconciler.reconcile(life.ctx, request), state)
        return state, calls

    @staticmethod
    def _once_more(world: World, call: Callable[[], object], state: State) -> None:
        """Check that another call writes nothing."""
        world.note("test", "", "another reconcile")
        world.idle_writes.clear()
        changes = world.changes
        call()
        if world.changes != changes:
            text = difference(state, end_state(world)) or f"{world.changes - changes} changes"
            world.report("second run", f"another reconcile writes: {text}")
        elif world.idle_writes:
            world.report("idle writes", f"another reconcile writes what is there: {world.idle_writes[0]}")
        world.wait()

    def _start(self, life: Life) -> Any:
        return self._new_reconciler(client.new(life.config, client.Options(scheme=self._scheme)))

    def _program(self, fault: Step | None) -> str:
        name = getattr(self._new_reconciler, "__qualname__", "new_reconciler")
        lines = [
            "from clientgo.testing import controllertest as ct",
            f"from {self._new_reconciler.__module__} import {name}",
            "",
            f"ct.explore_reconciler({name}, [",
            *(f"    {step.obj!r}," for step in self._objects),
            f"], faults=[{f'ct.{fault!r}' if fault is not None else ''}])",
        ]
        return "\n".join(lines)
