"""Sessions: operations done to a queue and to its model, and compared after each step."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, NoReturn, TypeAlias

from clientgo.golang.functions import create_checked
from clientgo.testing import synctest
from clientgo.testing.workqueue_machine.metrics import MetricsError, RecordingMetrics
from clientgo.testing.workqueue_machine.model import (
    METHODS,
    SHUT_DOWN,
    DelayingQueueModel,
    Item,
    PriorityQueueModel,
    QueueModel,
    RateLimitingQueueModel,
    copied,
)
from clientgo.util.workqueue import AddOpts

# pytest leaves this module's frames out of a traceback: the script replaces them.
__tracebackhide__ = True

NewQueue: TypeAlias = Callable[[Any], Any]
"""Makes the queue under test; its argument is a workqueue.MetricsProvider or None."""


class QueueMismatch(AssertionError):
    """The queue did something else than the model; the text ends with a script that shows it."""

    def __init__(self, text: str = "", operations: Sequence[tuple[str, tuple[Any, ...]]] = ()) -> None:
        """Set the text, and the operations of the script: names of methods with their arguments."""
        super().__init__(text)
        self.operations = operations


def blocked_threads(stacks: str) -> list[str]:
    """Return for each thread of a bubble's report the innermost line of its stack, if this is in the queue."""
    found = []
    for part in re.split(r"^  thread ", stacks, flags=re.MULTILINE)[1:]:
        name = re.match(r"'(.*?)'", part)
        place = part.rstrip().splitlines()[-1].strip()
        if name and not place.startswith(str(_FOLDER)) and " in " in place:
            found.append(f"{name[1]} waits at {place}")
    return found


_FOLDER = Path(__file__).parent


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
    """Session that runs the same operations on a queue and on its model, and compares them after each step. Raises
    QueueMismatch.

    Leaving the `with` block shuts the queue down and takes out what is left: nothing may be lost, and no call or
    thread may stay blocked.
    """

    methods: ClassVar[tuple[str, ...]] = METHODS
    """The methods that a queue must have."""

    def __init__(self, new_queue: NewQueue, schedule: synctest.Schedule | None = None, *, polls: float = 0.0) -> None:
        """Prepare a session; the `with` block makes the queue.

        polls: the longest time, in seconds, that a call of the queue sleeps although it could go on, as one that polls
        instead of waiting to be notified. So many seconds of virtual time pass after each operation.
        """
        self._polls = polls
        self._long = min(100.0, 100 * polls) if polls else 100.0  # seconds; every poll takes a little of real time
        self._new_queue = new_queue
        self._schedule = schedule
        self._bubble = synctest.bubble(schedule)
        self._metrics = RecordingMetrics()
        self.model = self._new_model()
        self.script: list[str] = []
        self._operations: list[tuple[str, tuple[Any, ...]]] = []
        self._answers: list[Item] = []
        self._gets: list[_Call] = []
        self._drains: list[_Call] = []
        self._broken = False
        self.over = False
        """True after a metric has failed: no more operations can be compared."""

    def _new_model(self) -> Any:
        return QueueModel()

    def __enter__(self) -> QueueSession:
        with contextlib.ExitStack() as undo:
            undo.enter_context(self._bubble)
            self.queue = create_checked(self._new_queue, (self._metrics,), *self.methods)
            undo.pop_all()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        if exc is None and not self._broken:
            try:
                if not self.over:
                    self._drain_remaining()
            except BaseException as err:
                self._bubble.__exit__(type(err), err, err.__traceback__)
                raise
            try:
                self._bubble.__exit__(None, None, None)
            except synctest.BubbleError as err:
                self._fail_in_bubble(err)
            return
        self._bubble.__exit__(exc_type, exc or QueueMismatch(), tb)

    # ---- the operations

    def add(self, item: Item) -> None:
        self._step(f"add({item!r})", lambda: self.queue.add(copied(item)), lambda: self.model.add(item), args=(item,))

    def get(self) -> None:
        """Call `get`. The call may block. Its thread stays in the session until an item or the shutdown arrives."""
        self._step("get()", self._get, self.model.get, self._gets)

    def done(self, item: Item) -> None:
        """Call `done` for an item that a get has returned."""
        self._step(
            f"done({item!r})",
            lambda: self.queue.done(copied(item)),
            lambda: self.model.done(item),
            args=(item,),
        )

    def shut_down(self) -> None:
        self._step("shut_down()", lambda: self.queue.shut_down(), self.model.shut_down)

    def shut_down_with_drain(self) -> None:
        """Call `shut_down_with_drain`, which may block."""
        self._step(
            "shut_down_with_drain()",
            lambda: self.queue.shut_down_with_drain(),
            self.model.shut_down_with_drain,
            self._drains,
        )

    def with_failing_metrics(self, operation: str, *args: Item) -> None:
        """Call `add`, `get` or `done` while every metric raises: afterwards the queue must not hold its lock.

        Ends the session, because Go promises nothing of the items. Does nothing for a queue without metrics.
        """
        if not self._metrics.used:
            return
        self.over = True
        self.script.append(f"q.with_failing_metrics({', '.join(map(repr, (operation, *args)))})")
        self._operations.append(("with_failing_metrics", (operation, *args)))

        def call() -> None:
            self._metrics.failing_in = threading.current_thread()
            try:
                getattr(self.queue, operation)(*map(copied, args))
            except MetricsError:
                pass
            finally:
                self._metrics.failing_in = None

        for name, fn in ((operation, call), ("len", self.queue.len), ("shut_down", self.queue.shut_down)):
            after = _Call(name, fn)
            self._pass_time(self._polls)
            if not after.done:
                self._fail(f"{name}() blocks" + " since: the lock was not released" * (name != operation))
        self._pass_time(self._long)

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        self._step(f"sleep({seconds!r})", None, lambda: self.model.sleep(seconds), seconds=seconds, args=(seconds,))

    def work_off(self) -> None:
        """Get the ready items one after the other, and call `done` for each at once."""
        while self.model.ready:
            before = set(self.model.processing)
            self.get()
            for item in self.model.processing - before:
                self.done(item)

    def drain(self, gets_first: bool = True) -> None:
        """Shut down with drain while the workers get and finish the items one by one.

        The first item in progress is added again before the shutdown. With `gets_first` a worker gets the next item
        before another one finishes; otherwise all items in progress are finished while others are ready.
        """
        held = sorted(self.model.processing, key=repr)
        for item in held[:1]:
            self.add(item)
        self.shut_down_with_drain()
        while held:
            if self.model.ready and gets_first:
                before = set(self.model.processing)
                self.get()
                held.extend(self.model.processing - before)
            self.done(held.pop(0))

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
        args: tuple[Any, ...] = (),
    ) -> None:
        self.script.append(f"q.{line}")
        self._operations.append((line.partition("(")[0], args))
        drains_before = len(self._drains)
        call = _Call(line, operation) if operation is not None else None
        if call is not None and may_block_in is not None:
            may_block_in.append(call)
            drains_before = len(self._drains)
        self._pass_time(seconds)

        gets_before = self.model.blocked_gets
        if self._polls:
            answers, expected = self._poll(model_operation)
        else:
            answers, self._answers = self._answers, []
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

    def _poll(self, model_operation: Callable[[], None]) -> tuple[list[Item], list[Item]]:
        """Let the calls poll once more. Return what `get` returned meanwhile, and what it should have returned."""
        model = self.model

        def operate_and_pass_time() -> None:
            model_operation()
            model.hand_out()
            model.sleep(self._polls)

        self._pass_time(self._polls)
        answers, self._answers = self._answers, []
        expected = model.step(operate_and_pass_time, answers)
        while model.last_due > model.now - self._polls:  # the queue may not have seen that this delay is over
            self._pass_time(self._polls)
            more, self._answers = self._answers, []
            expected += model.step(lambda: model.sleep(self._polls), more)
            answers += more
        return answers, expected

    def _pass_time(self, seconds: float) -> None:
        try:
            if seconds:
                self._bubble.sleep(seconds)
            else:
                self._bubble.wait()
        except synctest.BubbleError as err:
            self._fail_in_bubble(err)
        except synctest.HangError:
            self._broken = True
            raise

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
            held = sorted(self.model.processing, key=repr)
            self._fail(f"shut_down_with_drain returned while {held} was being processed")
        # Go wakes one of several drains when the last item is done, and all on the first shut_down.
        must_return = line.startswith("done(") or line == "shut_down_with_drain()"
        if before and not busy and must_return and not returned:
            self._fail("shut_down_with_drain blocks although no item is being processed")
        if line == "shut_down()" and self._drains and not self.model.counts["shut_down"]:
            self._fail("shut_down does not release shut_down_with_drain")
        self.model.counts["shut_down"] += line == "shut_down()"

    def _check_state(self) -> None:
        model = self.model
        for name, actual, expected in (
            ("len()", self.queue.len(), len(model.ready)),
            ("shutting_down()", self.queue.shutting_down(), model.shutting_down),
            *self._metrics_to_compare(),
        ):
            if actual != expected:
                self._fail(f"{name} is {actual}, expected {expected}")
        check = getattr(self.queue, "_check", None)
        if check is not None:
            try:
                check()
            except AssertionError as err:
                self._fail(f"an invariant of the queue is broken: {_assertion(err)}", err)

    def _metrics_to_compare(self) -> list[tuple[str, float, float]]:
        metrics, counts = self._metrics, self.model.counts
        rows = []
        for name, metric, expected in (
            ("the depth metric", metrics.depth, len(self.model.dirty)),
            ("the adds metric", metrics.adds, counts["add"]),
            ("the retries metric", metrics.retries, counts["retry"]),
        ):
            if metric is not None:
                rows.append((name, metric.value, expected))
        for name, metric, expected in (
            ("the number of latencies", metrics.latency, counts["get"]),
            ("the number of work durations", metrics.work_duration, counts["done"]),
        ):
            if metric is not None:
                rows.append((name, metric.observations, expected))
        return rows

    def _drain_remaining(self) -> None:
        if self._drains:
            self.shut_down()
        self._wait_for_delayed_items()
        in_progress = sorted(self.model.processing, key=repr)
        if not in_progress:
            self.work_off()
            for _ in range(2 - self.model.blocked_gets):  # for the shutdown to wake
                self.get()
        if self.model.blocked_gets:
            self.sleep(self._long)  # a get waits for ever
        self._begin_a_delay()
        if in_progress:
            self.add(in_progress[-1])  # to come behind what is ready
            self.shut_down_with_drain()
        # The last `done` releases the drain in some sessions, `shut_down` in others.
        until = (len(in_progress) + len(self.model.ready) + 1) % 2
        for item in reversed(in_progress[until:]):
            self.done(item)
        self.shut_down()
        for item in in_progress[:until]:
            self.done(item)
        self.work_off()
        self.get()
        self._pass_time(self._long)  # let the queue's own threads see the shutdown

    def _wait_for_delayed_items(self) -> None:
        """Do nothing, for a queue without delays."""

    def _begin_a_delay(self) -> None:
        """Do nothing, for a queue without delays."""

    def _fail(self, problem: str, cause: BaseException | None = None) -> NoReturn:
        self._broken = True
        text = f"{self.script[-1]}: {problem}\n\n{self.script_text(problem)}"
        raise QueueMismatch(text, tuple(self._operations)) from cause

    def _fail_in_bubble(self, err: synctest.BubbleError) -> NoReturn:
        """Report threads that are blocked for ever, with their positions in the queue, or an exception in a thread."""
        summary, _, stacks = str(err).partition("\n")
        threads = blocked_threads(stacks)[:2] if err.__cause__ is None else []
        self._fail("; ".join([f"{type(err).__name__}: {summary.removesuffix(',')}", *threads]), err.__cause__)

    def _arguments(self) -> list[str]:
        schedule = [repr(self._schedule)] if self._schedule is not None and self._schedule.picks else []
        return schedule + ([f"polls={self._polls!r}"] if self._polls else [])

    def script_text(self, problem: str = "") -> str:
        """Return the session so far as a program."""
        name = getattr(self._new_queue, "__name__", "new_queue")
        arguments = "".join(f", {argument}" for argument in self._arguments())
        script = [*self.script[:-1], self.script[-1] + f"  # <- {problem.splitlines()[0]}"] if problem else self.script
        lines = [f"    {line}" for line in _joined(script, _LINES)]
        return "\n".join([f"with {type(self).__name__}({name}{arguments}) as q:", *lines])


# Together with the problem, an empty line and the line of the session these are ten.
_LINES = 7
_WIDTH = 100


def _joined(script: Sequence[str], most: int) -> list[str]:
    """Return the lines of a script. If these are more than `most`, join neighbours, rather those without a comment."""
    lines = [*script]
    for comment in ("", "  # blocks"):
        place = 0
        while len(lines) > most and place + 1 < len(lines):
            first, second = lines[place].removesuffix(comment), lines[place + 1]
            joined = f"{first}; {second}" + "  # get blocks" * (first != lines[place])
            if "  # " in first or "  # " in second or len(joined) > _WIDTH:
                place += 1
            else:
                lines[place : place + 2] = [joined]
    return lines


def _assertion(err: AssertionError) -> str:
    """Return the line that asserted, and the error's own text if it has one."""
    line = traceback.extract_tb(err.__traceback__)[-1].line or ""
    return ": ".join(part for part in (line, str(err)) if part)


def _text(answers: Sequence[Item]) -> str:
    return ", ".join(map(repr, answers)) if answers else "nothing"


class DelayingQueueSession(QueueSession):
    """Adds `add_after`."""

    methods = (*QueueSession.methods, "add_after")

    def _new_model(self) -> Any:
        return DelayingQueueModel()

    def add_after(self, item: Item, delay: float) -> None:
        self._step(
            f"add_after({item!r}, {delay!r})",
            lambda: self.queue.add_after(copied(item), delay),
            lambda: self.model.add_after(item, delay),
            args=(item, delay),
        )

    def _wait_for_delayed_items(self) -> None:
        """Look before and at each moment when something becomes ready."""
        while self.model.waiting and not self.model.shutting_down:
            self.work_off()
            if not self.model.waiting:  # time passes for a queue that polls
                return
            rest = max(0.0, min(self.model.waiting.values()) - self.model.now)
            self.sleep(round(rest / 2, 6))
            self.sleep(round(rest - round(rest / 2, 6), 6))

    def _begin_a_delay(self) -> None:
        """Add an item whose delay the shutdown interrupts."""
        added = [args[0] for name, args in self._operations if name.startswith("add")]
        if added and not self.model.shutting_down:
            self.add_after(added[-1], 1.0)


def exponential(failures: int, base: float = 0.125, limit: float = 8.0) -> float:
    """Return the delays of a rate limiting queue under test: base * 2^failures, at most `limit` seconds."""
    return min(base * 2.0**failures, limit) if failures < sys.float_info.max_exp else limit


class RateLimitingQueueSession(DelayingQueueSession):
    """Adds `add_rate_limited`, `forget` and `num_requeues`.

    The queue's delays have to be those of `exponential` with `base` and `limit`, in seconds.
    """

    methods = (*DelayingQueueSession.methods, "add_rate_limited", "forget", "num_requeues")

    def __init__(
        self,
        new_queue: NewQueue,
        schedule: synctest.Schedule | None = None,
        *,
        base: float = 0.125,
        limit: float = 8.0,
        polls: float = 0.0,
    ) -> None:
        self._base = base
        self.limit = limit
        """Seconds of the longest delay of an item that fails."""
        super().__init__(new_queue, schedule, polls=polls)

    def _arguments(self) -> list[str]:
        default = (self._base, self.limit) == (0.125, 8.0)
        return super()._arguments() + ([] if default else [f"base={self._base!r}", f"limit={self.limit!r}"])

    def _new_model(self) -> Any:
        return RateLimitingQueueModel(self._delay)

    def _delay(self, failures: int) -> float:
        return exponential(failures, self._base, self.limit)

    def add_rate_limited(self, item: Item, times: int = 1) -> None:
        """Call `add_rate_limited` as often as `times`: many failures show the delays' limit."""

        def repeatedly(call: Callable[[], object]) -> None:
            for _ in range(times):
                call()

        self._step(
            f"add_rate_limited({item!r})" if times == 1 else f"add_rate_limited({item!r}, {times=})",
            lambda: repeatedly(lambda: self.queue.add_rate_limited(copied(item))),
            lambda: repeatedly(lambda: self.model.add_rate_limited(item)),
            args=(item, times),
        )
        self.num_requeues(item)

    def _wait_for_delayed_items(self) -> None:
        """Forget an item that waits, whose delay must go on, and wait for all."""
        waiting = sorted(self.model.waiting, key=repr)
        if waiting and not self.model.shutting_down:
            self.forget(waiting[0])
        super()._wait_for_delayed_items()

    def failures_to_limit(self) -> int:
        """Return the number of failures after which the delay no longer grows."""
        return next((n for n in range(64) if self._delay(n) >= self.limit), 64)

    def forget(self, item: Item) -> None:
        self._step(
            f"forget({item!r})",
            lambda: self.queue.forget(copied(item)),
            lambda: self.model.forget(item),
            args=(item,),
        )
        self.num_requeues(item)

    def num_requeues(self, item: Item) -> None:
        actual, expected = self.queue.num_requeues(copied(item)), self.model.failures[item]
        if actual != expected:
            self._fail(f"num_requeues({item!r}) is {actual}, expected {expected}")


class PriorityQueueSession(RateLimitingQueueSession):
    """Adds `add_with_opts`, which takes a workqueue.AddOpts."""

    methods = (*RateLimitingQueueSession.methods, "add_with_opts")

    def _new_model(self) -> Any:
        return PriorityQueueModel(self._delay)

    def add_with_opts(
        self,
        item: Item,
        after: float = 0.0,
        rate_limited: bool = False,
        priority: int | None = None,
        also: Sequence[Item] = (),
    ) -> None:
        """Add an item, and other items in the same call."""
        opts = AddOpts(after=after, rate_limited=rate_limited, priority=priority)

        def add_to_model() -> None:
            for each in (item, *also):
                self.model.add_with_opts(each, after, rate_limited, priority)

        given = {"after": after, "rate_limited": rate_limited, "priority": priority}
        options = "".join(f", {name}={value}" for name, value in given.items() if value != getattr(AddOpts(), name))
        options += f", also={[*also]!r}" if also else ""
        self._step(
            f"add_with_opts({item!r}{options})",
            lambda: self.queue.add_with_opts(opts, *map(copied, (item, *also))),
            add_to_model,
            args=(item, after, rate_limited, priority, also),
        )
