"""Hypothesis strategies of objects, of user actions and of scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from clientgo.testing.controllertest import runner, steps
from clientgo.testing.controllertest.steps import Step

if TYPE_CHECKING:
    from clientgo.testing.controllertest.machine import ControllerMachine

Json = dict[str, Any]

FAULTS = (
    "Kill",
    "Lose",
    "Fail",
    "Pause",
    "ChangeLeader",
    "Reject",
    "Before",
    "Lag",
    "Drop",
    "Rewind",
    "Touch",
    "Remove",
    "Linger",
    "Clock",
    "DeleteNamespace",
)

# Most controllers make one or two calls for a change; a fault of a later call often has no effect.
_CALLS = st.sampled_from((1, 1, 1, 2, 2, 3, 4, 5))
# The client itself retries after 429 and 503; they seldom reach a controller.
_CODES = st.sampled_from((409, 500, 409, 500, 409, 429, 503, 504))
_SECONDS = st.sampled_from((5.0, 1.0, 20.0))


def objects(
    api_version: str,
    kind: str,
    *,
    names: Sequence[str] = ("a", "a", "b"),
    namespace: str = "default",
    **fields: st.SearchStrategy[Any] | Any,
) -> st.SearchStrategy[Step]:
    """Return a strategy of steps that set or delete objects of a kind.

    names: the names to choose from; a repeated name is more frequent.
    fields: the top-level fields of the object, such as `spec`, each a value or a strategy.
    """
    given = {
        field: value if isinstance(value, st.SearchStrategy) else st.just(value) for field, value in fields.items()
    }

    def made(name: str, values: Json, is_deletion: bool) -> Step:
        if is_deletion:
            return steps.Delete(f"{api_version}/{kind}", name, namespace)
        metadata = {"name": name, "namespace": namespace} if namespace != "default" else {"name": name}
        return steps.Set({"apiVersion": api_version, "kind": kind, "metadata": metadata, **values})

    deletions = st.sampled_from((False, False, False, True))
    return st.builds(made, st.sampled_from(tuple(names)), st.fixed_dictionaries(given), deletions)


_resources: dict[type, tuple[str, ...]] = {}


def _watched(machine: type[ControllerMachine]) -> tuple[str, ...]:
    """Return the resources that the controller watches, found by starting it once."""
    if machine not in _resources:
        _resources[machine] = tuple(sorted(runner.execute(machine, []).watched))
    return _resources[machine]


def scripts(machine: type[ControllerMachine]) -> st.SearchStrategy[tuple[list[Step], int]]:
    """Return a strategy of scripts and seeds of schedules; the simplest seed is 0, the order without preemptions.

    A script has rounds: a fault is prepared, the user acts, time passes, and another client interferes. Random steps
    without this order would seldom meet: a fault of the second call is void if there is no second call.
    """

    def build() -> st.SearchStrategy[tuple[list[Step], int]]:
        desired = machine().desired()
        fault, interference = fault_steps(machine, desired)
        sleep = st.builds(steps.Sleep, st.sampled_from((1.0, 5.0, 20.0)))
        rounds: st.SearchStrategy[tuple[Step | None, ...]] = st.tuples(
            _either(fault, 2),
            _either(desired, 4),
            _either(sleep, 1),
            _either(interference, 1),
        )
        choices = [rounds] * 3
        if "Drop" in machine.faults:
            choices += _unseen(machine, desired)
        if "Touch" in machine.faults:
            choices.append(_touched(desired))
        if "Rewind" in machine.faults:
            choices.append(_rewound(machine, desired))
        if failures := _failures(machine):
            choices.append(_interrupted(st.one_of(failures), desired))
        if machine.namespaces and "DeleteNamespace" in machine.faults:
            choices.append(_ended(machine, desired))
        if machine.replicas > 1 and "ChangeLeader" in machine.faults:
            choices += [_handover(desired)] * 4
        # `one_of` would count an equal strategy once.
        rounds = st.sampled_from(choices).flatmap(lambda chosen: chosen)
        schedule = st.one_of(st.just(0), st.just(0), st.integers(0, 1000))
        flat = st.lists(rounds, min_size=1, max_size=machine.max_rounds).map(_flatten)
        return st.tuples(flat, schedule)

    return st.deferred(build)


def _handover(desired: st.SearchStrategy[Step]) -> st.SearchStrategy[tuple[Step | None, ...]]:
    """Return a strategy of rounds in which the user acts before, during and after a change of the leader.

    Most bugs of several leaders need that, and independent steps seldom have it.
    """
    change = st.builds(steps.ChangeLeader, _CALLS, desired)
    return st.tuples(desired, st.just(steps.Sleep(5.0)), change, desired)


def _unseen(
    machine: type[ControllerMachine], desired: st.SearchStrategy[Step]
) -> list[st.SearchStrategy[tuple[Step | None, ...]]]:
    """Return strategies of rounds in which an object goes or changes, or is replaced, and no watch ever shows it.

    They need an object, an outage, a change and a compaction in this order, which independent steps seldom have.
    """
    resources = _watched(machine)
    drop = st.builds(steps.Drop, st.sampled_from(resources) if resources else st.just("none"), _SECONDS, st.just(True))
    change = [desired, st.builds(steps.Remove, st.integers(0, 3))] if "Remove" in machine.faults else [desired]
    changed = st.tuples(desired, st.just(steps.Sleep(5.0)), drop, st.one_of(change))
    return [changed, st.builds(_replaced, desired, drop)]


def _replaced(action: Step, drop: Step) -> tuple[Step, ...]:
    """Return a round in which another object takes the place of an equal one, and no watch shows it."""
    if not isinstance(action, steps.Set):
        return (action, drop)
    obj, metadata = action.obj, action.obj["metadata"]
    kind = f"{obj['apiVersion']}/{obj['kind']}"
    deletion = steps.Delete(kind, metadata["name"], metadata.get("namespace", "default"))
    return (action, steps.Sleep(5.0), drop, deletion, action)


def _touched(desired: st.SearchStrategy[Step]) -> st.SearchStrategy[tuple[Step | None, ...]]:
    """Return a strategy of rounds in which another client writes between two actions of the user.

    A write that drops another writer's field needs them in this order, which independent steps seldom have.
    """
    return st.tuples(desired, st.just(steps.Sleep(5.0)), st.builds(steps.Touch, st.integers(0, 3)), desired)


def _rewound(
    machine: type[ControllerMachine], desired: st.SearchStrategy[Step]
) -> st.SearchStrategy[tuple[Step | None, ...]]:
    """Return a strategy of rounds in which the controller handles a change, restarts and reads the state before it.

    Without the pause nothing has changed yet. Independent steps seldom have a change, a pause and such a restart.
    """
    return st.tuples(desired, st.just(steps.Sleep(5.0)), _rewind(machine))


def _rewind(machine: type[ControllerMachine]) -> st.SearchStrategy[Step]:
    """Return a strategy of restarts after which the controller reads an old state of a resource that it watches."""
    resources = _watched(machine)
    resource = st.sampled_from(resources) if resources else st.just("none")
    return st.builds(steps.Rewind, resource, st.integers(1, 3))


def _ended(
    machine: type[ControllerMachine], desired: st.SearchStrategy[Step]
) -> st.SearchStrategy[tuple[Step | None, ...]]:
    """Return a strategy of rounds in which a namespace ends with an object that the controller has handled."""
    return st.tuples(desired, st.just(steps.Sleep(5.0)), _namespace_deletions(machine))


def _namespace_deletions(machine: type[ControllerMachine]) -> st.SearchStrategy[Step]:
    """Return a strategy of the deletions of the machine's namespaces."""
    return st.builds(steps.DeleteNamespace, st.sampled_from(tuple(machine.namespaces)))


def _failures(machine: type[ControllerMachine]) -> list[st.SearchStrategy[Step]]:
    """Return strategies of the machine's faults of one of the next calls."""
    call = st.sampled_from((1, 1, 2))
    faults: dict[str, st.SearchStrategy[Step]] = {
        "Fail": st.builds(steps.Fail, call, st.sampled_from((409, 500))),
        "Lose": st.builds(steps.Lose, call),
        "Kill": st.builds(steps.Kill, call, st.sampled_from(("after", "before"))),
    }
    return [fault for name, fault in faults.items() if name in machine.faults]


def _interrupted(
    failure: st.SearchStrategy[Step], desired: st.SearchStrategy[Step]
) -> st.SearchStrategy[tuple[Step | None, ...]]:
    """Return a strategy of rounds in which a call for a change of an existing object fails.

    Independent steps mostly fail a call for a new object, and a later event of the object leads to another attempt.
    """
    return st.tuples(desired, st.just(steps.Sleep(5.0)), failure, desired)


def _either(step: st.SearchStrategy[Any], weight: int) -> st.SearchStrategy[Step | None]:
    """Return a strategy of nothing or, `weight` times as often, a step."""
    return st.integers(0, weight).flatmap(lambda drawn: step if drawn else st.none())


def _flatten(rounds: Sequence[tuple[Step | None, ...]]) -> list[Step]:
    return [step for each in rounds for step in each if step is not None]


def fault_steps(
    machine: type[ControllerMachine], desired: st.SearchStrategy[Step]
) -> tuple[st.SearchStrategy[Step | None], st.SearchStrategy[Step | None]]:
    """Return strategies of the machine's faults, and of the interference of other clients."""
    resources = _watched(machine)
    resource = st.sampled_from(resources) if resources else st.just("none")
    index = st.integers(0, 3)
    others = st.one_of(desired, st.builds(steps.Touch, index))
    faults: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "Kill": lambda: st.builds(steps.Kill, st.integers(0, 5), st.sampled_from(("after", "before"))),
        "Lose": lambda: st.builds(steps.Lose, _CALLS),
        "Fail": lambda: st.builds(steps.Fail, _CALLS, _CODES),
        "Pause": lambda: st.builds(steps.Pause, _CALLS, _SECONDS),
        "Reject": lambda: st.builds(steps.Reject, resource, _SECONDS),
        "Before": lambda: st.builds(steps.Before, _CALLS, others),
        "Lag": lambda: st.builds(steps.Lag, resource, _SECONDS),
        "Drop": lambda: st.builds(steps.Drop, resource, _SECONDS, st.booleans()),
    }
    interference: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "Rewind": lambda: _rewind(machine),
        "Touch": lambda: st.builds(steps.Touch, index),
        "Remove": lambda: st.builds(steps.Remove, index),
        "Linger": lambda: st.builds(steps.Linger, index),
        "Clock": lambda: st.builds(steps.Clock, st.sampled_from((3600.0, -3600.0))),
    }

    if machine.replicas > 1:
        faults["ChangeLeader"] = lambda: st.builds(steps.ChangeLeader, _CALLS, st.one_of(st.none(), desired))
    if machine.namespaces:
        interference["DeleteNamespace"] = lambda: _namespace_deletions(machine)

    def chosen(each: dict[str, Callable[[], st.SearchStrategy[Any]]]) -> st.SearchStrategy[Step | None]:
        return st.one_of([make() for name, make in each.items() if name in machine.faults] or [st.none()])

    return chosen(faults), chosen(interference)
