"""Count the failures of items that several threads report and forget at the same time."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator

from clientgo.testing.workqueue_machine.model import Item


class _Call:
    """A call, by the numbers of the events at which it began and ended."""

    def __init__(self, begun: int) -> None:
        self.begun = begun
        self.ended = math.inf


class Failures:
    """A record of calls that count a failure of an item or forget its failures.

    Of two overlapping calls either may have come first, so that a count is known within limits. Needs no lock: no
    thread is preempted between these lines.
    """

    def __init__(self) -> None:
        self._events = itertools.count()
        self._failing: defaultdict[Item, list[_Call]] = defaultdict(list)
        self._forgetting: defaultdict[Item, list[_Call]] = defaultdict(list)

    def failing(self, item: Item) -> contextlib.AbstractContextManager[None]:
        """Record a call that counts a failure: the body of the `with` block."""
        return self._recorded(self._failing[item])

    def forgetting(self, item: Item) -> contextlib.AbstractContextManager[None]:
        """Record a call that forgets the failures of an item."""
        return self._recorded(self._forgetting[item])

    @contextlib.contextmanager
    def counting(self, item: Item) -> Iterator[Callable[[], range]]:
        """Return a function that returns, after the block, the numbers that a call in the block may have returned."""
        begun = next(self._events)
        yield lambda: self._expected(item, begun)

    @contextlib.contextmanager
    def _recorded(self, calls: list[_Call]) -> Iterator[None]:
        call = _Call(next(self._events))
        calls.append(call)
        yield
        call.ended = next(self._events)

    def _expected(self, item: Item, begun: int) -> range:
        failing, forgetting = self._failing[item], self._forgetting[item]
        least = sum(
            fail.ended < begun and all(forget.ended < fail.begun for forget in forgetting) for fail in failing
        )
        most = sum(
            not any(fail.ended < forget.begun and forget.ended < begun for forget in forgetting) for fail in failing
        )
        return range(least, most + 1)
