"""Random sessions of the queue's state machines as data, for ports in other languages.

`clientgo.testing.workqueue_machine` compares a queue with a model during random operations. Here the same operations
are drawn in advance, and the model says what a queue has to do. The same commit gives the same sessions.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from clientgo.testing.workqueue_machine.machine import (
    DelayingQueueMachine,
    PriorityQueueMachine,
    QueueMachine,
    RateLimitingQueueMachine,
)
from clientgo.testing.workqueue_machine.model import (
    SHUT_DOWN,
    DelayingQueueModel,
    PriorityQueueModel,
    QueueModel,
    RateLimitingQueueModel,
)

BASE, LIMIT = 0.25, 1.0
CASES, STEPS = 40, 60
ITEMS = ("a", "b", "c", "d")
DELAYS = (0, 250, 500, 1000, 2000)
# What a session does in one rule of a machine is one operation here, or several.
_WEIGHTS = {
    *("add", "get", "done", "shut_down", "add_after", "sleep", "add_rate_limited", "forget", "add_with_opts"),
    "fail_often",
}


def delay_of(failures: int) -> float:
    """Return the delay of an item that has failed so many times before, in seconds."""
    return float(min(BASE * 2.0**failures, LIMIT))


KINDS: dict[str, tuple[type[QueueMachine], Callable[[], Any]]] = {
    "queue": (QueueMachine, QueueModel),
    "delaying_queue": (DelayingQueueMachine, DelayingQueueModel),
    "rate_limiting_queue": (RateLimitingQueueMachine, lambda: RateLimitingQueueModel(delay_of)),
    "priority_queue": (PriorityQueueMachine, lambda: PriorityQueueModel(delay_of)),
}


class _Ambiguous(Exception):
    """The order of the items that a get may return is free."""


class _Session:
    """A model that is asked with the operations of the data."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def operations(self, dice: random.Random, weighted: tuple[str, ...]) -> tuple[str, dict[str, Any]] | None:
        """Return the next operation with its arguments; None if it makes no sense now."""
        op = dice.choice(weighted)
        model, item = self.model, dice.choice(ITEMS)
        if op in ("add", "add_rate_limited", "forget", "fail_often"):
            return op, {"item": item}
        if op == "get":
            return (op, {}) if model.blocked_gets < 2 else None
        if op == "done":
            return (op, {"item": dice.choice(sorted(model.processing))}) if model.processing else None
        if op == "shut_down":
            # It ends most of what can happen.
            return (dice.choice(("shut_down", "shut_down_with_drain")), {}) if dice.random() < 0.2 else None
        if op == "add_after":
            return op, {"item": item, "delay_ms": dice.choice(DELAYS)}
        if op == "sleep":
            return op, {"ms": dice.choice(DELAYS[1:])}
        priority = dice.choice((None, -2, -1, 0, 1, 2))
        options = {"after_ms": dice.choice(DELAYS), "rate_limited": dice.random() < 0.5, "priority": priority}
        return op, {"item": item, **options}

    def run(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        """Do one operation and return the result that a queue must have."""
        model = self.model
        if op == "sleep":
            handed = model.step(lambda: self._sleep(args["ms"]), [])
        elif op == "add_after":
            handed = self._step(lambda: model.add_after(args["item"], args["delay_ms"] / 1000))
        elif op == "add_with_opts":
            handed = self._step(
                lambda: model.add_with_opts(
                    args["item"], args["after_ms"] / 1000, args["rate_limited"], args["priority"]
                )
            )
        else:
            handed = self._step(lambda: getattr(model, op)(*args.values()))
        result = {
            "handed_out": [None if item is SHUT_DOWN else item for item in handed],
            "len": len(model.ready),
            "blocked_gets": model.blocked_gets,
            "shutting_down": model.shutting_down,
            "is_draining": model.draining and bool(model.processing),
        }
        if hasattr(model, "failures"):
            result["failures"] = {item: count for item, count in sorted(model.failures.items()) if count}
        return result

    def _step(self, operation: Callable[[], None]) -> list[Any]:
        def checked() -> None:
            operation()
            self._check()

        return list(self.model.step(checked, []))

    def _sleep(self, milliseconds: int) -> None:
        # In the smallest step that matters: items that are due at the same moment come in any order.
        for _ in range(milliseconds // DELAYS[1]):
            due = round(self.model.now + DELAYS[1] / 1000, 6)
            together = sum(at == due for at in self.model.waiting.values())
            if together > 1 and not isinstance(self.model, PriorityQueueModel):
                raise _Ambiguous
            self.model.sleep(DELAYS[1] / 1000)
            self._check()
            self.model.hand_out()

    def _check(self) -> None:
        ranks = list(self.model.ready.values())
        if len(set(ranks)) < len(ranks):
            raise _Ambiguous


def _case(kind: str, seed: int) -> dict[str, Any]:
    machine, new_model = KINDS[kind]
    weighted = tuple(op for op in machine.operations if op in _WEIGHTS)
    dice = random.Random(seed)
    session = _Session(new_model())
    steps: list[dict[str, Any]] = []

    def run(op: str, args: dict[str, Any]) -> None:
        steps.append({"op": op, "args": args, "expect": session.run(op, args)})

    while len(steps) < STEPS:
        drawn = session.operations(dice, weighted)
        if drawn is None:
            continue
        if drawn[0] != "fail_often":
            run(*drawn)
            continue
        # Let an item fail until its delay no longer grows, work all off, and let it fail once more.
        limit = {"ms": int(LIMIT * 1000)}
        for _ in range(3):
            run("add_rate_limited", drawn[1])
        run("sleep", limit)
        while session.model.ready:
            run("get", {})
        for item in sorted(session.model.processing):
            run("done", {"item": item})
        run("add_rate_limited", drawn[1])
        run("sleep", limit)
    config = {"type": kind}
    if hasattr(session.model, "failures"):
        config |= {"base_ms": int(BASE * 1000), "limit_ms": int(LIMIT * 1000)}
    return {"name": f"{kind}_machine_{seed}", "seed": seed, "config": config, "steps": steps}


def cases(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the sessions of a kind of queue. Sessions in which the order of items is free are left out."""
    found, seed = 0, 0
    while found < CASES:
        try:
            case = _case(kind, seed)
        except _Ambiguous:
            pass
        else:
            found += 1
            yield case
        seed += 1


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file."""
    for kind in KINDS:
        lines = [json.dumps(case, separators=(",", ":")) for case in cases(kind)]
        yield f"machines/{kind}_machine.jsonl", ("\n".join(lines) + "\n").encode()
