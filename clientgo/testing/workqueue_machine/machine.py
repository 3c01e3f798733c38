"""Hypothesis state machines that find the sessions in which a queue and its model differ."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, TypeAlias, cast

from hypothesis import Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from clientgo.testing.workqueue_machine.model import Item
from clientgo.testing.workqueue_machine.session import (
    DelayingQueueSession,
    NewQueue,
    PriorityQueueSession,
    QueueMismatch,
    QueueSession,
    RateLimitingQueueSession,
)
from clientgo.testing.workqueue_machine.shortening import shortened

# pytest leaves this module's frames out of a traceback: the script replaces them.
__tracebackhide__ = True

Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]

# The empty string is rare, because it finds only queues that take it for the absence of an item.
ITEMS: Sequence[Item] = (*"abc" * 5, "")
DELAYS_THAT_PASS = st.sampled_from((0.25, 0.5, 1.0, 2.0))
DELAYS = st.sampled_from((0.0, 0.25, 0.5, 1.0, 2.0, 0.25, 0.5, 1.0, 2.0, -1.0))
# Failures beyond the longest delay. The larger number is rare, because it takes long: then 2.0 ** failures is too large
# for a float, and a number of 64 bits has overflowed.
MORE_FAILURES = st.sampled_from((1, 1, 1, 1100))
PRIORITIES = st.none() | st.integers(-2, 2)
METRICS_FAIL = st.sampled_from(("not yet", "now"))
SHUTDOWNS = st.sampled_from(("not yet", "not yet", "not yet", "with drain", "at once", "while working"))


@functools.cache
def _one_of(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    """Return a cached strategy: Hypothesis hashes all values of each new one, which would be one per step."""
    return st.sampled_from(values)


def _shortening(machine: type[QueueMachine]) -> Callable[[Any], None]:
    """Return the test of a machine, which reports a failure with the shortest script that was found."""
    run: Callable[[Any], None] = machine.TestCase.runTest

    @functools.wraps(run)
    def run_test(case: Any) -> None:
        try:
            run(case)
        except QueueMismatch as err:
            failure = shortened(
                lambda: machine.session_type(machine.new_queue, **machine.session_options), err, machine.items
            )
            for note in getattr(err, "__notes__", ()) if failure is not err else ():
                failure.add_note(note)
            raise failure from failure.__cause__

    return run_test


class QueueMachine(RuleBasedStateMachine):
    """Random operations on a plain queue. `QueueMachine.of(new_queue).TestCase` is a unittest case pytest collects.

    All operations share one rule: as rules of their own Hypothesis would leave some of them out of most runs, and
    little happens in a queue without gets, or without adds.
    """

    session_type: ClassVar[type[QueueSession]] = QueueSession
    new_queue: ClassVar[Any]
    items: ClassVar[tuple[Item, ...]] = tuple(ITEMS)
    session_options: ClassVar[dict[str, Any]] = {}
    # Names of methods; a more frequent name is chosen more often. A shutdown is rare, because it ends most actions.
    operations: ClassVar[tuple[str, ...]] = (
        *("add",) * 8,
        *("get",) * 6,
        *("done",) * 4,
        "work_off",
        "shut_down",
        *("fail_metrics",) * 2,
    )

    @classmethod
    def of(cls, new_queue: NewQueue, *, items: Sequence[Item] = ITEMS, **options: Any) -> type[Self]:
        """Return the machine that tests the queues of `new_queue`.

        items: the items to add. Each call gets an equal copy of a string, never the same object twice. Items that `<`
        rejects show whether a queue orders them.
        options: what the session takes, in seconds: `polls` for a queue that polls instead of waiting to be notified,
        `base` and `limit` of the delays of a rate limiting queue.

        Hypothesis neither shrinks nor explains a failure: the machine shortens the script, in a tenth of the time. Nor
        does Hypothesis list what it drew, unless it is to be verbose.
        """
        name = f"{cls.__name__}_{getattr(new_queue, '__name__', 'queue')}"
        members = {"new_queue": staticmethod(new_queue), "items": tuple(items), "session_options": options}
        machine: Any = type(name, (cls,), members)
        of_profile = settings()
        quiet = Verbosity.quiet if of_profile.verbosity == Verbosity.normal else of_profile.verbosity
        phases = [phase for phase in of_profile.phases if phase not in (Phase.shrink, Phase.explain)]
        machine.TestCase.settings = settings(
            machine.TestCase.settings, phases=phases, verbosity=quiet, report_multiple_bugs=False
        )
        machine.TestCase.runTest = _shortening(machine)
        return cast("type[Self]", machine)

    def __init__(self) -> None:
        super().__init__()
        self.session: Any = self.session_type(self.new_queue, **self.session_options)
        self.session.__enter__()

    def teardown(self) -> None:
        self.session.__exit__(None, None, None)

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        if self.session.over:
            return
        getattr(self, data.draw(_one_of(tuple(self.operations))))(data.draw)

    def add(self, draw: Draw) -> None:
        self.session.add(draw(_one_of(self.items)))

    def get(self, draw: Draw) -> None:
        if self.session.model.blocked_gets < 2:
            self.session.get()

    def done(self, draw: Draw) -> None:
        processing = tuple(sorted(self.session.model.processing, key=repr))
        if processing:
            self.session.done(draw(_one_of(processing)))

    def work_off(self, draw: Draw) -> None:
        self.session.work_off()

    def shut_down(self, draw: Draw) -> None:
        how = draw(SHUTDOWNS)
        model = self.session.model
        if how == "while working" and model.processing and not model.shutting_down:
            self.session.drain(gets_first=draw(st.booleans()))
        elif how == "with drain":
            self.session.shut_down_with_drain()
        elif how == "at once":
            self.session.shut_down()

    def fail_metrics(self, draw: Draw) -> None:
        """Let the metrics raise. Happens rarely, since it ends the session."""
        model = self.session.model
        if model.shutting_down or model.blocked_gets or draw(METRICS_FAIL) == "not yet":
            return
        calls: list[tuple[Any, ...]] = [("add", item) for item in self.items if item not in model.dirty][:1]
        calls += [("get",)] if model.ready else []
        calls += [("done", item) for item in sorted(model.processing, key=repr)]
        self.session.with_failing_metrics(*draw(st.sampled_from(calls)))


class DelayingQueueMachine(QueueMachine):
    """Random operations and passing time on a delaying queue."""

    session_type = DelayingQueueSession
    operations = (*QueueMachine.operations, *("add_after",) * 8, *("add_after_again",) * 2, *("sleep",) * 4)

    def add_after(self, draw: Draw) -> None:
        self.session.add_after(draw(_one_of(self.items)), draw(DELAYS))

    def add_after_again(self, draw: Draw) -> None:
        """Add an item that waits already."""
        waiting = tuple(sorted(self.session.model.waiting, key=repr))
        if waiting:
            self.session.add_after(draw(_one_of(waiting)), draw(DELAYS_THAT_PASS))

    def sleep(self, draw: Draw) -> None:
        self.session.sleep(draw(DELAYS_THAT_PASS))


class RateLimitingQueueMachine(DelayingQueueMachine):
    """Random operations and passing time on a rate limiting queue whose delays are `exponential`."""

    session_type = RateLimitingQueueSession
    operations = (
        *DelayingQueueMachine.operations,
        *("add_rate_limited",) * 6,
        *("forget",) * 2,
        *("fail",) * 4,
        *("fail_often",) * 3,
    )

    def add_rate_limited(self, draw: Draw) -> None:
        self.session.add_rate_limited(draw(_one_of(self.items)))

    def forget(self, draw: Draw) -> None:
        self.session.forget(draw(_one_of(self.items)))

    def fail(self, draw: Draw) -> None:
        """Add a failed item again, as a worker does."""
        processing = tuple(sorted(self.session.model.processing, key=repr))
        if processing:
            item = draw(_one_of(processing))
            self.session.add_rate_limited(item)
            self.session.done(item)

    def fail_often(self, draw: Draw) -> None:
        """Let an item fail until its delay no longer grows, and once more when it is ready again.

        In between it may recover, and is forgotten.
        """
        item = draw(_one_of(self.items))
        self.session.add_rate_limited(item, self.session.failures_to_limit() + draw(MORE_FAILURES))
        self.session.sleep(self.session.limit)
        self.session.work_off()
        if draw(st.booleans()):
            self.session.forget(item)
        self.session.add_rate_limited(item)


class PriorityQueueMachine(RateLimitingQueueMachine):
    """Random operations, priorities and passing time on a priority queue whose delays are `exponential`."""

    session_type = PriorityQueueSession
    operations = (
        *RateLimitingQueueMachine.operations,
        *("add_with_opts",) * 20,
        *("add_several",) * 6,
        *("retry",) * 6,
    )

    def add_with_opts(self, draw: Draw) -> None:
        self.session.add_with_opts(draw(_one_of(self.items)), draw(DELAYS), draw(st.booleans()), draw(PRIORITIES))

    def add_several(self, draw: Draw) -> None:
        """Add two items in one call, some of them while several workers wait."""
        item, other = draw(_one_of(self.items)), draw(_one_of(self.items))
        model = self.session.model
        while draw(st.booleans()) and model.blocked_gets < 2 and not model.ready and not model.shutting_down:
            self.session.get()
        self.session.add_with_opts(item, draw(_one_of((0.0, 0.0, 0.5))), False, draw(PRIORITIES), (other,))

    def retry(self, draw: Draw) -> None:
        """Let an item of a high priority fail or recover, and get it again among others."""
        model = self.session.model
        if model.shutting_down or model.blocked_gets:
            return
        self.session.add_with_opts(draw(_one_of(self.items)), priority=3)
        if model.ready:
            self.session.get()
        item = draw(_one_of(tuple(sorted(model.processing, key=repr))))
        if draw(st.booleans()):
            self.session.forget(item)
        self.session.add_rate_limited(item)
        self.session.done(item)
        self.session.add(draw(_one_of(self.items)))
        self.session.sleep(self.session.limit)
        self.session.work_off()
