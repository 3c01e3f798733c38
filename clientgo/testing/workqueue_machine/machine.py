"""Hypothesis state machines that find the sessions in which a queue and its model differ."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from clientgo.testing.workqueue_machine.model import Item
from clientgo.testing.workqueue_machine.session import (
    DelayingQueueSession,
    NewQueue,
    PriorityQueueSession,
    QueueSession,
    RateLimitingQueueSession,
)

ITEMS = st.sampled_from("abc")
DELAYS = st.sampled_from((0.0, 0.25, 0.5, 1.0, 2.0))


class QueueMachine(RuleBasedStateMachine):
    """Random operations on a plain queue. `QueueMachine.of(new_queue).TestCase` is a unittest case pytest collects."""

    session_type: ClassVar[type[QueueSession]] = QueueSession
    new_queue: ClassVar[Any]

    @classmethod
    def of(cls, new_queue: NewQueue) -> type[QueueMachine]:
        """The machine that tests what `new_queue` makes."""
        name = f"{cls.__name__}_{getattr(new_queue, '__name__', 'queue')}"
        return type(name, (cls,), {"new_queue": staticmethod(new_queue)})

    def __init__(self) -> None:
        super().__init__()
        self.session: Any = self.session_type(self.new_queue)
        self.session.__enter__()

    def teardown(self) -> None:
        self.session.__exit__(None, None, None)

    @rule(item=ITEMS)
    def add(self, item: Item) -> None:
        self.session.add(item)

    @precondition(lambda self: self.session.model.blocked_gets < 3)
    @rule()
    def get(self) -> None:
        self.session.get()

    @precondition(lambda self: self.session.model.processing)
    @rule(which=st.integers(0, 2))
    def done(self, which: int) -> None:
        processing = sorted(self.session.model.processing)
        self.session.done(processing[which % len(processing)])

    @rule()
    def work_off(self) -> None:
        self.session.work_off()

    @rule(how=st.sampled_from(("not yet",) * 12 + ("drain", "drain", "at once")))
    def shut_down(self, how: str) -> None:
        # It ends most of what can happen, so most of the draws do nothing.
        if how == "drain":
            self.session.shut_down_with_drain()
        elif how == "at once":
            self.session.shut_down()


class DelayingQueueMachine(QueueMachine):
    """Random operations and passing time on a delaying queue."""

    session_type = DelayingQueueSession

    @rule(item=ITEMS, delay=DELAYS)
    def add_after(self, item: Item, delay: float) -> None:
        self.session.add_after(item, delay)

    @rule(seconds=DELAYS.filter(bool))
    def sleep(self, seconds: float) -> None:
        self.session.sleep(seconds)


class RateLimitingQueueMachine(DelayingQueueMachine):
    """Random operations and passing time on a rate limiting queue whose delays are `exponential`."""

    session_type = RateLimitingQueueSession

    @rule(item=ITEMS)
    def add_rate_limited(self, item: Item) -> None:
        self.session.add_rate_limited(item)

    @rule(item=ITEMS)
    def forget(self, item: Item) -> None:
        self.session.forget(item)

    @precondition(lambda self: self.session.model.processing)
    @rule()
    def fail(self) -> None:
        """What a worker does with an item it could not process."""
        item = min(self.session.model.processing)
        self.session.add_rate_limited(item)
        self.session.done(item)


class PriorityQueueMachine(RateLimitingQueueMachine):
    """Random operations, priorities and passing time on a priority queue whose delays are `exponential`."""

    session_type = PriorityQueueSession

    @rule(item=ITEMS, after=DELAYS, rate_limited=st.booleans(), priority=st.none() | st.integers(-2, 2))
    def add_with_opts(self, item: Item, after: float, rate_limited: bool, priority: int | None) -> None:
        self.session.add_with_opts(item, after, rate_limited, priority)
