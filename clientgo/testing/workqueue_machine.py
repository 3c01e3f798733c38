"""Put any work queue under test: a small model, sessions that compare a queue with it, and Hypothesis state machines.

Has no Go file. `clientgo/util/workqueue` is tested with it, and so can be your own queue:

    from clientgo.testing import workqueue_machine

    def new_queue(metrics_provider):            # the queue may ignore the provider; then its metrics are not checked
        return MyQueue()

    TestMyQueue = workqueue_machine.QueueMachine.of(new_queue).TestCase     # random operations, one at a time

    @given(schedule=synctest.schedules())                                   # random interleavings of real threads
    def test_my_queue_interleaved(schedule):
        workqueue_machine.interleave(new_queue, schedule, workers=3, producers=2)

Everything runs in a `synctest` bubble: time is virtual, and a call that blocks goes on in its thread until a later
operation lets it return. The queue has to take its locks from `threading` at call time and its time from RealClock or
the `time` module.

A failure prints the shortest script Hypothesis found. It runs as it stands, without Hypothesis:

    with QueueSession(new_queue) as q:
        q.add('a')
        q.get()  # 'a'
        q.add('a')
        q.done('a')
        q.get()  # blocks  # <- nothing returned by get, expected 'a'
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from types import ModuleType, TracebackType
from typing import Any, ClassVar, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from clientgo.testing import synctest
from clientgo.util.workqueue import AddOpts

Item: TypeAlias = str
NewQueue: TypeAlias = Callable[[Any], Any]
"""Makes the queue under test; its argument is a workqueue.MetricsProvider or None."""


class _ShutDown:
    """What a session notes when `get` reports the shutdown."""

    def __repr__(self) -> str:
        return "shutdown"


SHUT_DOWN: Any = _ShutDown()


class QueueMismatch(AssertionError):
    """The queue did something else than the model; the text ends with a script that shows it."""


# ------------------------------------------------------------------------------------------------------------- models


class QueueModel:
    """What a work queue promises, in plain Python. Blocked calls are only counted: they are interchangeable.

    `rank` orders what is ready: the smallest is handed out first, equal ranks in any order.
    """

    def __init__(self) -> None:
        self.ready: dict[Item, Any] = {}  # item: rank
        self.dirty: set[Item] = set()  # what still has to be handed out
        self.processing: set[Item] = set()
        self.blocked_gets = 0
        self.shutting_down = False
        self.draining = False
        self.now = 0.0
        self.counts = Counter[str]()
        self._ranks = 0
        self._answers: list[Item] = []

    def add(self, item: Item) -> None:
        self._add(item, self._next_rank())

    def get(self) -> None:
        self.blocked_gets += 1

    def done(self, item: Item) -> None:
        self.counts["done"] += 1
        self.processing.remove(item)
        if item in self.dirty:
            self.ready[item] = self._next_rank()

    def shut_down(self) -> None:
        self.shutting_down = True
        self.draining = False

    def shut_down_with_drain(self) -> None:
        self.shutting_down = True
        self.draining = True

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def next_items(self) -> set[Item]:
        """Which items may be handed out next."""
        best = min(self.ready.values(), default=None)
        return {item for item, rank in self.ready.items() if rank == best}

    def hand_out(self) -> None:
        """Let blocked gets return. Where the order is free, follow what the queue did."""
        while self.blocked_gets and (self.ready or self.shutting_down):
            self.blocked_gets -= 1
            if not self.ready:
                self.handed_out.append(SHUT_DOWN)
                continue
            free = self.next_items()
            item = next((answer for answer in self._answers if answer in free), min(free))
            if item in self._answers:
                self._answers.remove(item)
            del self.ready[item]
            self.dirty.remove(item)
            self.processing.add(item)
            self.counts["get"] += 1
            self.handed_out.append(item)
            self.taken(item)

    def taken(self, item: Item) -> None:
        """For models that keep more of an item."""

    def step(self, operation: Callable[[], None], answers: Sequence[Item]) -> list[Item]:
        """Do `operation`; `answers` is what the queue handed out meanwhile. Returns what it should have."""
        self._answers = list(answers)
        self.handed_out: list[Item] = []
        operation()
        self.hand_out()
        return self.handed_out

    def _add(self, item: Item, rank: Any) -> None:
        if self.shutting_down or item in self.dirty:
            return
        self.counts["add"] += 1
        self.dirty.add(item)
        if item not in self.processing:
            self.ready[item] = rank

    def _next_rank(self) -> Any:
        self._ranks += 1
        return self._ranks


class DelayingQueueModel(QueueModel):
    """Items wait for their time; the earliest time of an item wins; a shutdown forgets those that wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: dict[Item, float] = {}  # item: when it becomes ready

    def add_after(self, item: Item, delay: float) -> None:
        if self.shutting_down:
            return
        self.counts["retry"] += 1
        if delay <= 0:
            self.add(item)
            return
        ready_at = round(self.now + delay, 6)
        self.waiting[item] = min(ready_at, self.waiting.get(item, ready_at))

    def sleep(self, seconds: float) -> None:
        until = round(self.now + seconds, 6)
        for moment in sorted({ready_at for ready_at in self.waiting.values() if ready_at <= until}):
            self.now = moment
            self._add_waiting([item for item, ready_at in self.waiting.items() if ready_at == moment])
            self.hand_out()
        self.now = until

    def _add_waiting(self, items: list[Item]) -> None:
        rank = self._next_rank()
        for item in items:
            del self.waiting[item]
            self._add(item, rank)


class RateLimitingQueueModel(DelayingQueueModel):
    """The n-th failure of an item since it was forgotten delays it by `delay(n)` seconds, n counting from 0."""

    def __init__(self, delay: Callable[[int], float]) -> None:
        super().__init__()
        self.delay = delay
        self.failures = Counter[Item]()

    def add_rate_limited(self, item: Item) -> None:
        delay = self.delay(self.failures[item])
        self.failures[item] += 1  # also after a shutdown
        self.add_after(item, delay)

    def forget(self, item: Item) -> None:
        self.failures[item] = 0


class PriorityQueueModel(RateLimitingQueueModel):
    """Higher priorities first. An item is in the queue once: adding again keeps the higher priority, the earlier time.

    A delayed add without priority keeps that of the item in progress; else the priority is 0.
    """

    def __init__(self, delay: Callable[[int], float]) -> None:
        super().__init__(delay)
        self.priority: dict[Item, int] = {}  # of what waits, is ready, or was added while processed
        self.priority_in_progress: dict[Item, int] = {}

    def add(self, item: Item) -> None:
        self.improve(item, -math.inf, 0)

    def add_after(self, item: Item, delay: float, priority: int | None = None) -> None:
        if self.shutting_down:
            return
        self.counts["retry"] += 1
        if priority is None:
            priority = self.priority_in_progress.get(item, 0)
        self.improve(item, round(self.now + delay, 6) if delay > 0 else -math.inf, priority)

    def add_with_opts(self, item: Item, after: float, rate_limited: bool, priority: int | None) -> None:
        if rate_limited:
            limited = self.delay(self.failures[item])
            self.failures[item] += 1
            after = min(after, limited) if after > 0 else limited
        if rate_limited or after > 0:
            self.add_after(item, after, priority)
        else:
            self.improve(item, -math.inf, priority or 0)

    def improve(self, item: Item, ready_at: float, priority: int) -> None:
        if self.shutting_down:
            return
        self.priority[item] = max(priority, self.priority.get(item, priority))
        if item in self.ready:
            _, order = self.ready[item]
            self.ready[item] = (-self.priority[item], order)
        if item in self.dirty:
            return
        self.waiting[item] = min(ready_at, self.waiting.get(item, ready_at))
        if self.waiting[item] == -math.inf:
            self._add_waiting([item])

    def taken(self, item: Item) -> None:
        self.priority_in_progress[item] = self.priority.pop(item)

    def done(self, item: Item) -> None:
        del self.priority_in_progress[item]
        super().done(item)
        if item in self.ready:
            self.ready[item] = (-self.priority[item], self._next_rank())

    def _add_waiting(self, items: list[Item]) -> None:
        order = self._next_rank()
        for item in items:
            del self.waiting[item]
            self._add(item, (-self.priority[item], order))


# ----------------------------------------------------------------------------------------------------------- metrics


class _Metric:
    def __init__(self) -> None:
        self.value: float = 0
        self.observations = 0

    def inc(self) -> None:
        self.value += 1

    def dec(self) -> None:
        self.value -= 1

    def set(self, value: float) -> None:
        self.value = value

    def observe(self, value: float) -> None:
        self.observations += 1
        self.value += value


class RecordingMetrics:
    """A workqueue.MetricsProvider that keeps what the queue reports."""

    def __init__(self) -> None:
        self.depth: _Metric | None = None
        self.adds: _Metric | None = None
        self.latency: _Metric | None = None
        self.work_duration: _Metric | None = None
        self.retries: _Metric | None = None

    def new_depth_metric(self, name: str) -> _Metric:
        self.depth = _Metric()
        return self.depth

    def new_adds_metric(self, name: str) -> _Metric:
        self.adds = _Metric()
        return self.adds

    def new_latency_metric(self, name: str) -> _Metric:
        self.latency = _Metric()
        return self.latency

    def new_work_duration_metric(self, name: str) -> _Metric:
        self.work_duration = _Metric()
        return self.work_duration

    def new_unfinished_work_seconds_metric(self, name: str) -> _Metric:
        return _Metric()

    def new_longest_running_processor_seconds_metric(self, name: str) -> _Metric:
        return _Metric()

    def new_retries_metric(self, name: str) -> _Metric:
        self.retries = _Metric()
        return self.retries


# ----------------------------------------------------------------------------------------------------------- sessions


class _Call:
    """One operation in a thread of its own, so that it may block while the session goes on."""

    def __init__(self, name: str, fn: Callable[[], Any]) -> None:
        self._fn = fn
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        try:
            self.result = self._fn()
        except Exception as err:
            self.error = err
        self.done = True


class QueueSession:
    """Does the same to a queue and to its model and compares them after each step; raises QueueMismatch.

    Leaving the `with` block shuts the queue down and takes out what is left: nothing may be lost, and no call or
    thread may stay blocked.
    """

    def __init__(self, new_queue: NewQueue, schedule: synctest.Schedule | None = None) -> None:
        self._new_queue = new_queue
        self._schedule = schedule
        self._bubble = synctest.bubble(schedule)
        self._metrics = RecordingMetrics()
        self.model = self._new_model()
        self.script: list[str] = []
        self._answers: list[Item] = []
        self._gets: list[_Call] = []
        self._drains: list[_Call] = []
        self._broken = False

    def _new_model(self) -> Any:
        return QueueModel()

    def __enter__(self) -> QueueSession:
        self._bubble.__enter__()
        self.queue = self._new_queue(self._metrics)
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        if exc is None and not self._broken:
            try:
                self._take_out_what_is_left()
            except BaseException as err:
                self._bubble.__exit__(type(err), err, err.__traceback__)
                raise
            self._bubble.__exit__(None, None, None)
            return
        self._bubble.__exit__(exc_type, exc or QueueMismatch(), tb)

    # ---- the operations

    def add(self, item: Item) -> None:
        self._step(f"add({item!r})", lambda: self.queue.add(item), lambda: self.model.add(item))

    def get(self) -> None:
        """The call may block; its thread stays in the session until an item or the shutdown comes."""
        self._step("get()", self._get, self.model.get, self._gets)

    def done(self, item: Item) -> None:
        """Only for items that a get has returned."""
        self._step(f"done({item!r})", lambda: self.queue.done(item), lambda: self.model.done(item))

    def shut_down(self) -> None:
        self._step("shut_down()", lambda: self.queue.shut_down(), self.model.shut_down)

    def shut_down_with_drain(self) -> None:
        """The call may block, as `get`."""
        self._step(
            "shut_down_with_drain()",
            lambda: self.queue.shut_down_with_drain(),
            self.model.shut_down_with_drain,
            self._drains,
        )

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        self._step(f"sleep({seconds!r})", None, lambda: self.model.sleep(seconds), seconds=seconds)

    def work_off(self) -> None:
        """Get what is ready, one after the other, and be done with it at once."""
        while self.model.ready:
            before = set(self.model.processing)
            self.get()
            for item in self.model.processing - before:
                self.done(item)

    # ---- comparing

    def _get(self) -> None:
        item, shutdown = self.queue.get()
        self._answers.append(SHUT_DOWN if shutdown else item)

    def _step(
        self,
        line: str,
        operation: Callable[[], Any] | None,
        model_operation: Callable[[], None],
        may_block_in: list[_Call] | None = None,
        seconds: float = 0.0,
    ) -> None:
        self.script.append(f"q.{line}")
        drains_before = len(self._drains)
        call = _Call(line, operation) if operation is not None else None
        if call is not None and may_block_in is not None:
            may_block_in.append(call)
            drains_before = len(self._drains)
        self._pass_time(seconds)

        answers, self._answers = self._answers, []
        gets_before = self.model.blocked_gets
        expected = self.model.step(model_operation, answers)
        self._note_answers(line == "get()" and gets_before == 0, answers)
        for blocked in [*self._gets, *self._drains, *([call] if call else [])]:
            if blocked.error is not None:
                self._fail(f"raises {type(blocked.error).__name__}: {blocked.error}", blocked.error)
        if call is not None and may_block_in is None and not call.done:
            self._fail("blocks")
        if Counter(map(repr, answers)) != Counter(map(repr, expected)):
            self._fail(f"{_text(answers)} returned by get, expected {_text(expected)}")
        self._gets = [get for get in self._gets if not get.done]
        self._check_drains(line, drains_before)
        self._check_state()

    def _pass_time(self, seconds: float) -> None:
        try:
            if seconds:
                self._bubble.sleep(seconds)
            else:
                self._bubble.wait()
        except synctest.BubbleError as err:
            self._fail(f"{type(err).__name__}: {err}", err)

    def _note_answers(self, own: bool, answers: list[Item]) -> None:
        if self.script[-1] == "q.get()" and not answers:
            self.script[-1] += "  # blocks"
        elif own and len(answers) == 1:
            self.script[-1] += f"  # {answers[0]!r}"
        elif answers:
            self.script[-1] += f"  # blocked gets return {', '.join(map(repr, answers))}"

    def _check_drains(self, line: str, before: int) -> None:
        self._drains = [drain for drain in self._drains if not drain.done]
        returned = before - len(self._drains)
        if returned:
            self.script[-1] += f"  # {returned} shut_down_with_drain returned"
        busy = bool(self.model.processing) and self.model.draining
        if busy and returned:
            self._fail(f"shut_down_with_drain returned while {sorted(self.model.processing)} was being processed")
        # Go wakes one of several drains when the last item is done, and all on the first shut_down.
        must_return = line.startswith("done(") or line == "shut_down_with_drain()"
        if before and not busy and must_return and not returned:
            self._fail("shut_down_with_drain blocks although no item is being processed")
        if line == "shut_down()" and self._drains and not self.model.counts["shut_down"]:
            self._fail("shut_down does not release shut_down_with_drain")
        self.model.counts["shut_down"] += line == "shut_down()"

    def _check_state(self) -> None:
        model = self.model
        for what, actual, expected in (
            ("len()", self.queue.len(), len(model.ready)),
            ("shutting_down()", self.queue.shutting_down(), model.shutting_down),
            *self._metrics_to_compare(),
        ):
            if actual != expected:
                self._fail(f"{what} is {actual}, expected {expected}")
        check = getattr(self.queue, "_check", None)
        if check is not None:
            try:
                check()
            except AssertionError as err:
                self._fail(f"an invariant of the queue is broken: {err}", err)

    def _metrics_to_compare(self) -> list[tuple[str, float, float]]:
        metrics, counts = self._metrics, self.model.counts
        rows = []
        for what, metric, expected in (
            ("the depth metric", metrics.depth, len(self.model.dirty)),
            ("the adds metric", metrics.adds, counts["add"]),
            ("the retries metric", metrics.retries, counts["retry"]),
        ):
            if metric is not None:
                rows.append((what, metric.value, expected))
        for what, metric, expected in (
            ("the number of latencies", metrics.latency, counts["get"]),
            ("the number of work durations", metrics.work_duration, counts["done"]),
        ):
            if metric is not None:
                rows.append((what, metric.observations, expected))
        return rows

    def _take_out_what_is_left(self) -> None:
        if self._drains:
            self.shut_down()
        self._wait_for_delayed_items()
        in_progress = sorted(self.model.processing)
        if in_progress:
            self.shut_down_with_drain()
        for item in in_progress[1:]:
            self.done(item)
        self.shut_down()
        for item in in_progress[:1]:
            self.done(item)
        self.work_off()
        self.get()
        self._pass_time(60.0)  # let the queue's own threads see the shutdown

    def _wait_for_delayed_items(self) -> None:
        """Nothing to do for a queue without delays."""

    def _fail(self, problem: str, cause: BaseException | None = None) -> None:
        self._broken = True
        raise QueueMismatch(f"{self.script[-1]}: {problem}\n\n{self.script_text(problem)}") from cause

    def script_text(self, problem: str = "") -> str:
        """The session so far as a program."""
        name = getattr(self._new_queue, "__name__", "new_queue")
        schedule = f", {self._schedule!r}" if self._schedule is not None and self._schedule.picks else ""
        lines = [f"with {type(self).__name__}({name}{schedule}) as q:", *(f"    {line}" for line in self.script)]
        if problem:
            lines[-1] += f"  # <- {problem.splitlines()[0]}"
        return "\n".join(lines)


def _text(answers: Sequence[Item]) -> str:
    return ", ".join(map(repr, answers)) if answers else "nothing"


class DelayingQueueSession(QueueSession):
    """Adds `add_after`."""

    def _new_model(self) -> Any:
        return DelayingQueueModel()

    def add_after(self, item: Item, delay: float) -> None:
        self._step(
            f"add_after({item!r}, {delay!r})",
            lambda: self.queue.add_after(item, delay),
            lambda: self.model.add_after(item, delay),
        )

    def _wait_for_delayed_items(self) -> None:
        """Look before and at each moment when something becomes ready."""
        while self.model.waiting and not self.model.shutting_down:
            self.work_off()
            rest = min(self.model.waiting.values()) - self.model.now
            self.sleep(round(rest / 2, 6))
            self.sleep(round(rest - round(rest / 2, 6), 6))


def exponential(failures: int, base: float = 0.125, limit: float = 8.0) -> float:
    """The delays a rate limiting queue under test has to be made with: base * 2^failures, at most `limit` seconds."""
    return min(base * 2.0**failures, limit)


class RateLimitingQueueSession(DelayingQueueSession):
    """Adds `add_rate_limited`, `forget` and `num_requeues`; the queue's delays have to be those of `exponential`."""

    def _new_model(self) -> Any:
        return RateLimitingQueueModel(exponential)

    def add_rate_limited(self, item: Item) -> None:
        self._step(
            f"add_rate_limited({item!r})",
            lambda: self.queue.add_rate_limited(item),
            lambda: self.model.add_rate_limited(item),
        )
        self.num_requeues(item)

    def forget(self, item: Item) -> None:
        self._step(f"forget({item!r})", lambda: self.queue.forget(item), lambda: self.model.forget(item))
        self.num_requeues(item)

    def num_requeues(self, item: Item) -> None:
        actual, expected = self.queue.num_requeues(item), self.model.failures[item]
        if actual != expected:
            self._fail(f"num_requeues({item!r}) is {actual}, expected {expected}")


class PriorityQueueSession(RateLimitingQueueSession):
    """Adds `add_with_opts`, which takes a workqueue.AddOpts."""

    def _new_model(self) -> Any:
        return PriorityQueueModel(exponential)

    def add_with_opts(
        self, item: Item, after: float = 0.0, rate_limited: bool = False, priority: int | None = None
    ) -> None:
        opts = AddOpts(after=after, rate_limited=rate_limited, priority=priority)
        self._step(
            f"add_with_opts({item!r}, after={after}, rate_limited={rate_limited}, priority={priority})",
            lambda: self.queue.add_with_opts(opts, item),
            lambda: self.model.add_with_opts(item, after, rate_limited, priority),
        )


# ----------------------------------------------------------------------------------------------------- state machines

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


# ------------------------------------------------------------------------------------------------------ interleavings


def interleave(
    new_queue: NewQueue,
    schedule: synctest.Schedule | synctest.RandomSchedule | None = None,
    *,
    workers: int = 2,
    producers: int = 2,
    items: Sequence[Item] = "ab",
    rounds: int = 2,
    work: float = 0.0,
    drain_after: int | None = None,
    delay: float = 0.0,
    preempt_in: Sequence[ModuleType] = (),
) -> None:
    """Run workers and producers on one queue under `schedule` and check what must hold however they interleave.

      * no item is in two hands at once
      * what was added before the shutdown began is processed after its last add: nothing is lost
      * no worker sleeps while an item is ready
      * shut_down_with_drain returns only after a moment in which nothing was being processed, and then all threads end

    Every producer adds every item `rounds` times; every worker adds each item once more while it holds it. `work` is
    how long an item takes, in seconds of virtual time. With `drain_after` the shutdown does not wait until all is done,
    but begins after the main thread had that many turns. With `delay` the producers use `add_after`.
    """
    with synctest.bubble(schedule, preempt_in=preempt_in) as b:
        _Interleaving(b, new_queue(None), [*items] * rounds, work, delay).run(workers, producers, drain_after)


class _Interleaving:
    """The bookkeeping needs no lock: there is no preemption point between its lines."""

    def __init__(self, bubble: synctest.Bubble, queue: Any, items: Sequence[Item], work: float, delay: float) -> None:
        self.bubble = bubble
        self.queue = queue
        self.items = items
        self.work = work
        self.delay = delay
        self.closing = False
        self.version = Counter[Item]()  # how often each item changed
        self.owed = Counter[Item]()  # the version that was added in time and has to be processed
        self.processed = Counter[Item]()
        self.in_hand: set[Item] = set()
        self.times_empty = 0
        self.idle = 0

    def run(self, workers: int, producers: int, drain_after: int | None) -> None:
        crew = [threading.Thread(target=self._work, name=f"worker-{n}") for n in range(workers)]
        crew += [threading.Thread(target=self._produce, name=f"producer-{n}") for n in range(producers)]
        for thread in crew:
            thread.start()
        if drain_after is None:
            self._watch_until_quiet()
        else:
            for _ in range(drain_after):
                time.sleep(0)
        self.closing = True
        nothing_in_hand, times_empty = not self.in_hand, self.times_empty
        self.queue.shut_down_with_drain()
        assert nothing_in_hand or self.times_empty > times_empty, (
            f"shut_down_with_drain returned, but all the time an item was being processed, now {self.in_hand}"
        )
        for thread in crew:
            thread.join()
        assert self.processed >= self.owed, f"lost: owed {dict(self.owed)}, processed {dict(self.processed)}"

    def _watch_until_quiet(self) -> None:
        for _ in range(100):
            self.bubble.wait()
            ready = self.queue.len()
            assert not (ready and self.idle), f"{self.idle} workers sleep while {ready} items are ready"
            if self.processed == self.version and not self.in_hand:
                return
            self.bubble.sleep(self.work or 1.0)
        raise AssertionError(f"lost: changed {dict(self.version)}, processed {dict(self.processed)}")

    def _produce(self) -> None:
        for item in self.items:
            if self.delay:
                self.version[item] += 1
                self.queue.add_after(item, self.delay)
            else:
                self._add(item)
            time.sleep(0)  # give way, or a producer is over before the first worker wakes

    def _add(self, item: Item) -> None:
        self.version[item] += 1
        version = self.version[item]
        self.queue.add(item)
        if not self.closing:
            self.owed[item] = max(self.owed[item], version)

    def _work(self) -> None:
        to_add_again = set(self.items)
        while True:
            self.idle += 1
            item, shutdown = self.queue.get()
            self.idle -= 1
            if shutdown:
                return
            assert item not in self.in_hand, f"{item!r} is in two hands at once"
            self.in_hand.add(item)
            version = self.version[item]
            time.sleep(self.work)
            if item in to_add_again:
                to_add_again.discard(item)
                self._add(item)
            self.processed[item] = max(self.processed[item], version)
            self.in_hand.remove(item)
            self.times_empty += not self.in_hand
            self.queue.done(item)
