"""Leave out operations of a session that a queue failed, as long as it still fails.

Hypothesis deletes neighbours. A `get` and the `done` of its item belong together, and other operations stand between
them, so that its shortest script may still have several such pairs too many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations
from typing import Any, TypeAlias

from clientgo.testing.workqueue_machine.session import QueueMismatch, QueueSession

# Pytest leaves this module's frames out of a traceback: the script replaces them.
__tracebackhide__ = True

Operation: TypeAlias = tuple[str, tuple[Any, ...]]

# A longer script loses no groups of so many operations that are no neighbours: there are too many groups.
_MOST_FOR_GROUPS = {1: math.inf, 2: 25, 3: 14, 4: 12}
# A script of so many operations has ten lines. A slightly longer one loses an operation also by moving another one.
_TEN_LINES, _MOST_FOR_MOVES = 7, 12


def shortened(new_session: Callable[[], QueueSession], failure: QueueMismatch) -> QueueMismatch:
    """Return the failure of the shortest part of a session that leaving out operations leads to.

    Runs the part in sessions of its own, which take no time: their clock is virtual.
    """
    found, operations = failure, failure.operations
    while True:
        for fewer in _parts(operations):
            shorter = _failure_of(new_session, fewer)
            if shorter is not None and len(shorter.operations) < len(operations):
                break
        else:
            return found
        found, operations = shorter, shorter.operations


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
    if _TEN_LINES < len(operations) <= _MOST_FOR_MOVES:
        for moved, dropped in permutations(range(len(operations)), 2):
            others = [each for i, each in enumerate(operations) if i not in (moved, dropped)]
            for to in range(len(others) + 1):
                yield [*others[:to], operations[moved], *others[to:]]


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
