"""Shorten a session that a queue failed: leave out operations and simplify others, as long as it still fails.

This replaces Hypothesis' shrinking, which takes up to twenty times as long and ends with longer scripts. Hypothesis
deletes neighbours, but a `get` and the `done` of its item belong together, and other operations stand between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, permutations
from typing import Any, TypeAlias

from clientgo.testing.workqueue_machine.model import Item
from clientgo.testing.workqueue_machine.session import QueueMismatch, QueueSession

# Pytest leaves this module's frames out of a traceback: the script replaces them.
__tracebackhide__ = True

Operation: TypeAlias = tuple[str, tuple[Any, ...]]

# A longer script loses no groups of so many operations that are no neighbours: there are too many groups.
_MOST_FOR_GROUPS = {1: math.inf, 2: 25, 3: 14, 4: 12}
# A failure of more lines loses an operation also by changing another one, which takes seconds.
_MOST_LINES = 10
# A script of more operations does not: it has too many pairs.
_MOST_FOR_CHANGES = 12


def shortened(
    new_session: Callable[[], QueueSession], failure: QueueMismatch, items: Sequence[Item] = ()
) -> QueueMismatch:
    """Return the failure of the shortest and simplest session that small steps lead to.

    items: the items that may take the place of others, the preferred ones first.

    Runs each session that it tries, which takes no time: its clock is virtual.
    """
    preferred = tuple(dict.fromkeys(items))
    found, operations = failure, failure.operations
    while True:
        last_resort = _changed_parts(operations) if _is_long(found) else ()
        for changed in chain(_parts(operations), _simpler(operations, preferred), last_resort):
            better = _failure_of(new_session, changed)
            if better is not None and _size(better.operations, preferred) < _size(operations, preferred):
                break
        else:
            return found
        found, operations = better, better.operations


def _is_long(failure: QueueMismatch) -> bool:
    """Report whether a user reads more than ten lines. Without a text each operation stands for its line."""
    lines = len(str(failure).splitlines()) or len(failure.operations) + 3
    return lines > _MOST_LINES


def _size(operations: Sequence[Operation], preferred: Sequence[Item]) -> tuple[float, ...]:
    """Return the measure that shortening reduces: operations first, then what there is to read in their arguments."""
    simplicity = [_complexity(each) for each in operations]
    places = [preferred.index(item) for item in _items_of(operations) if item in preferred]
    return len(operations), sum(simplicity), len(places), sum(places)


def _parts(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Yield the operations without a half, a quarter ... of them, without one, and without two to four."""
    size = len(operations) // 2
    while size > 1:
        for begin in range(0, len(operations), size):
            yield [*operations[:begin], *operations[begin + size :]]
        size //= 2
    for count in (count for count, most in _MOST_FOR_GROUPS.items() if len(operations) <= most):
        for left_out in combinations(range(len(operations)), count):
            yield [each for i, each in enumerate(operations) if i not in left_out]


def _changed_parts(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Yield the operations without one, and with another one moved or simplified."""
    if len(operations) > _MOST_FOR_CHANGES:
        return
    for changed, dropped in permutations(range(len(operations)), 2):
        for simpler in _simpler_operations(operations[changed]):
            yield [simpler if i == changed else each for i, each in enumerate(operations) if i != dropped]
    for moved, dropped in permutations(range(len(operations)), 2):
        others = [each for i, each in enumerate(operations) if i not in (moved, dropped)]
        for to in range(len(others) + 1):
            yield [*others[:to], operations[moved], *others[to:]]


def _simpler(operations: Sequence[Operation], preferred: Sequence[Item]) -> Iterator[list[Operation]]:
    """Yield the operations with one of them simplified, and with other items."""
    for i, each in enumerate(operations):
        for simpler in _simpler_operations(each):
            yield [*operations[:i], simpler, *operations[i + 1 :]]
    used = [item for item in _items_of(operations) if item in preferred]
    for other in (each for each in used if each not in used[:1]):
        yield _renamed(operations, {other: used[used.index(other) - 1]})
    yield _renamed(operations, dict(zip(used, preferred, strict=False)))


# The names of the operations that take an item.
_OF_ITEMS = {"add", "add_after", "add_rate_limited", "add_with_opts", "done", "forget"}


def _items_of(operations: Sequence[Operation]) -> list[Item]:
    """Return the items in the order of their first operations."""
    found = dict[Item, None]()
    for name, args in operations:
        if name in _OF_ITEMS:
            found |= dict.fromkeys([args[0], *(args[4] if name == "add_with_opts" else ())])
    return [*found]


def _renamed(operations: Sequence[Operation], names: dict[Item, Item]) -> list[Operation]:
    changed = list[Operation]()
    for name, args in operations:
        if name in _OF_ITEMS:
            args = (names.get(args[0], args[0]), *args[1:])
        if name == "add_with_opts":
            args = (*args[:4], tuple(names.get(each, each) for each in args[4]))
        changed.append((name, args))
    return changed


def _simpler_operations(operation: Operation) -> Iterator[Operation]:
    """Yield operations that may replace one: another method that does less, or simpler arguments."""
    name, args = operation
    if name == "sleep":
        yield from ((name, (seconds,)) for seconds in _SIMPLE_SECONDS)
    elif name == "add_after":
        yield "add", args[:1]
        yield from ((name, (args[0], seconds)) for seconds in _SIMPLE_SECONDS)
    elif name == "add_rate_limited":
        item, times = args
        yield "add", (item,)
        steps = (times - 1, *(times >> shift for shift in range(1, times.bit_length())))
        yield from ((name, (item, times - step)) for step in steps if step > 0)
    elif name == "add_with_opts":
        item, after, rate_limited, priority, also = args
        yield "add", (item,)
        yield "add_after", (item, after)
        yield "add_rate_limited", (item, 1)
        for seconds in (0.0, *_SIMPLE_SECONDS):
            yield name, (item, seconds, rate_limited, priority, also)
        yield name, (item, after, False, priority, also)
        for simpler in (None, 1, -1):
            yield name, (item, after, rate_limited, simpler, also)
        yield name, (item, after, rate_limited, priority, ())


_SIMPLE_SECONDS = 1.0, 0.5


def _complexity(operation: Operation) -> float:
    """Return a number that grows with what there is to read in an operation."""
    name, args = operation
    if name == "sleep":
        return _complexity_of(args[0], *_SIMPLE_SECONDS)
    if name == "add_after":
        return 1 + _complexity_of(args[1], *_SIMPLE_SECONDS)
    if name == "add_rate_limited":
        return float(args[1])
    if name == "add_with_opts":
        _, after, rate_limited, priority, also = args
        return (
            2
            + len(also)
            + _complexity_of(after, 0.0, *_SIMPLE_SECONDS)
            + _complexity_of(rate_limited, False, True)
            + _complexity_of(priority, None, 1, -1)
        )
    return 0


def _complexity_of(value: object, *simple: object) -> float:
    return float(simple.index(value) if value in simple else len(simple))


def _failure_of(new_session: Callable[[], QueueSession], operations: Sequence[Operation]) -> QueueMismatch | None:
    """Return the failure of these operations, or None if the queue passes or they make no session."""
    try:
        with new_session() as session:
            for name, args in operations:
                if name == "done" and args[0] not in session.model.processing:
                    # The session must be left in order.
                    break
                getattr(session, name)(*args)
    except QueueMismatch as err:
        return err
    except Exception:
        # Without the operations that were left out, the session does something that it cannot compare.
        return None
    return None
