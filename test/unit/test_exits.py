"""`sys.exit` outside the main thread, which Python ignores there: each call is an error or a log line.

So is every other exception there that is no Exception, since it would end a thread of the machinery.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util.errors import aggregate_goroutines
from clientgo.controller_runtime import handler
from clientgo.controller_runtime.controller import priorityqueue
from clientgo.controller_runtime.internal import controller
from clientgo.controller_runtime.internal.source.kind import Kind
from clientgo.golang.stop import Signal, is_crash
from clientgo.testing import synctest
from clientgo.testing.synctest.errors import BubbleExit, HangError
from clientgo.tools import cache
from clientgo.tools.cache import testing as framework
from clientgo.tools.cache.controller import ResourceEventHandlerFuncs
from clientgo.tools.cache.notifications import AddNotification, notify_each
from clientgo.util import workqueue
from clientgo.utils.clock import RealClock

REMEDY = "sys.exit ends the program only in the main thread: cancel the program's context instead"


def leave(*_: Any) -> Any:
    sys.exit("done here")


def in_thread(fn: Callable[[], object]) -> None:
    thread = threading.Thread(target=fn, name="other")
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def clock_after_func() -> None:
    RealClock().after_func(1.0, leave)


def clock_after_func_at_once() -> None:
    RealClock().after_func(0.0, leave)


def context_after_func() -> None:
    ctx, cancel = context.with_cancel(context.background())
    context.after_func(ctx, leave)
    cancel()


def done_callback() -> None:
    ctx, cancel = context.with_cancel(context.background())
    ctx.add_done_callback(leave)
    in_thread(cancel)


@pytest.mark.parametrize("call", [clock_after_func, clock_after_func_at_once, context_after_func, done_callback])
def test_an_exit_in_a_callback_is_logged_with_its_location(
    call: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    with synctest.bubble() as bubble:
        call()
        bubble.sleep(2.0)
    [record] = caplog.records
    assert record.levelno == logging.ERROR
    assert REMEDY in record.getMessage()
    assert "in leave" in caplog.text


def test_the_callbacks_after_one_that_exits_run_too(caplog: pytest.LogCaptureFixture) -> None:
    signal, ran = Signal(), Signal()
    signal.add_done_callback(leave)
    signal.add_done_callback(ran.set)
    in_thread(signal.set)
    assert ran.is_set()
    assert REMEDY in caplog.text


def test_an_exit_in_the_main_thread_ends_the_program(caplog: pytest.LogCaptureFixture) -> None:
    signal = Signal()
    signal.add_done_callback(leave)
    with pytest.raises(SystemExit):
        signal.set()
    assert caplog.records == []


def test_an_exit_of_a_handler_is_logged_and_the_next_notification_delivered(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    def add(pod: corev1.Pod) -> None:
        seen.append(pod.metadata.name)
        if pod.metadata.name == "a":
            leave()

    notify = notify_each(klog.background(), ResourceEventHandlerFuncs(add_func=add))
    pods = [corev1.Pod.from_dict({"metadata": {"name": name}}) for name in "ab"]
    in_thread(lambda: notify([AddNotification(pod, False) for pod in pods]))
    assert seen == ["a", "b"]
    [record] = caplog.records
    assert REMEDY in record.getMessage()


def test_an_exit_of_a_goroutine_is_a_member_of_the_aggregate() -> None:
    err = aggregate_goroutines(leave, lambda: None)
    assert err is not None
    assert [type(each) for each in err.errors()] == [SystemExit]


class Source:
    """A source that exits in `start` or in `wait_for_sync`."""

    def __init__(self, exits_in: str) -> None:
        self.exits_in = exits_in

    def start(self, ctx: context.Context, queue: Any, /) -> None:
        if self.exits_in == "start":
            leave()

    def wait_for_sync(self, ctx: context.Context, /) -> None:
        leave()


class StartOnly:
    def start(self, ctx: context.Context, queue: Any, /) -> None:
        leave()


def cache_that_exits() -> Any:
    class Cache:
        def get_informer(self, *_: Any) -> Any:
            leave()

    return Kind(type=corev1.Pod(), cache=Cache(), handler=handler.Funcs())  # type: ignore[arg-type, call-arg]


@pytest.mark.parametrize(
    "source",
    [Source("start"), Source("wait_for_sync"), StartOnly(), cache_that_exits()],
    ids=["start of a syncing source", "wait", "start", "a kind's cache"],
)
def test_an_exit_of_a_source_ends_the_controller_at_once(source: Any) -> None:
    with synctest.bubble() as bubble:
        tested: controller.Controller[str] = controller.Controller(
            controller.Options(
                name="exits",
                new_queue=lambda name, limiter: priorityqueue.new(name),
                rate_limiter=workqueue.default_typed_controller_rate_limiter(),
                do=lambda ctx, request: None,
                cache_sync_timeout=120.0,
                log_constructor=lambda request: klog.background(),
            )
        )
        tested.watch(source)
        ctx, cancel = context.with_cancel(context.background())
        with pytest.raises(RuntimeError, match=r"called sys\.exit\('done here'\)"):
            tested.start(ctx)
        assert bubble.elapsed < 60.0
        cancel()


class Own(BaseException):
    """An exception of a user's library that must pass `except Exception`."""


OTHERS = [asyncio.CancelledError("late"), GeneratorExit("late"), Own("late"), BaseExceptionGroup("late", [Own("a")])]
others = pytest.mark.parametrize("other", OTHERS, ids=lambda err: type(err).__name__)


def raising(err: BaseException) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise err

    return fail


@others
def test_another_base_exception_of_a_handler_is_logged_and_the_next_notification_delivered(
    other: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    notify = notify_each(klog.background(), ResourceEventHandlerFuncs(add_func=raising(other)))
    pods = [corev1.Pod.from_dict({"metadata": {"name": name}}) for name in "ab"]
    in_thread(lambda: notify([AddNotification(pod, False) for pod in pods]))
    first, second = (record.getMessage().splitlines()[0] for record in caplog.records)
    assert first.replace('object="a"', 'object="b"') == second
    assert f'panicGoValue="{type(other).__name__}(' in first and "in fail" in first


class ListedSource(framework.FakeControllerSource):
    """A source that is listed again at each relist. FakeControllerSource sends no bookmark to a stream."""

    def is_watch_list_semantics_un_supported(self) -> bool:
        return True


@others
def test_another_base_exception_of_a_shared_informers_functions_is_logged_and_the_informer_continues(
    other: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def transform(obj: Any) -> Any:
        calls.append("transform")
        if len(calls) == 1:
            raise other
        return obj

    def add(obj: Any) -> None:
        calls.append(obj.metadata.name)
        raise other

    with synctest.bubble() as bubble:
        source = ListedSource()
        for name in "ab":
            source.add(corev1.Pod.from_dict({"metadata": {"name": name}}))
        informer = cache.new_shared_index_informer(source, corev1.Pod(), 0.0, {})
        informer.set_transform(transform)
        informer.add_event_handler(ResourceEventHandlerFuncs(add_func=add))
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer")
        thread.start()
        bubble.sleep(60.0)
        assert informer.has_synced()
        cancel()
        thread.join()
        source.shutdown()
    assert sorted(name for name in calls if name != "transform") == ["a", "b"]
    assert caplog.text.count(f'panicGoValue="{type(other).__name__}(') == 2
    # The transform function loses no object: the list is repeated.
    assert f'with key \\"a\\": the transform function raised {type(other).__name__}' in caplog.text


@others
def test_another_base_exception_of_a_goroutine_is_a_member_of_the_aggregate(other: BaseException) -> None:
    err = aggregate_goroutines(raising(other), lambda: None)
    assert err is not None
    assert err.errors() == [other]


@others
@pytest.mark.parametrize("place", ["start", "wait", "cache"])
def test_another_base_exception_of_a_source_ends_the_controller_at_once(other: BaseException, place: str) -> None:
    class Raises:
        def start(self, ctx: context.Context, queue: Any, /) -> None:
            if place == "start":
                raise other

        def wait_for_sync(self, ctx: context.Context, /) -> None:
            raise other

    class Cache:
        get_informer = staticmethod(raising(other))

    kind: Any = Kind(type=corev1.Pod(), cache=Cache(), handler=handler.Funcs())  # type: ignore[arg-type, call-arg]
    with synctest.bubble() as bubble:
        tested: controller.Controller[str] = controller.Controller(
            controller.Options(
                name="raises",
                new_queue=lambda name, limiter: priorityqueue.new(name),
                rate_limiter=workqueue.default_typed_controller_rate_limiter(),
                do=lambda ctx, request: None,
                cache_sync_timeout=120.0,
                log_constructor=lambda request: klog.background(),
            )
        )
        tested.watch(kind if place == "cache" else Raises())
        ctx, cancel = context.with_cancel(context.background())
        with pytest.raises(RuntimeError, match=f"raised {type(other).__name__}: late"):
            tested.start(ctx)
        assert bubble.elapsed < 60.0
        cancel()


PASSING = [KeyboardInterrupt(), BubbleExit(), HangError()]


@pytest.mark.parametrize("passing", PASSING, ids=lambda err: type(err).__name__)
def test_an_interrupt_and_the_ends_of_a_tests_threads_are_no_crashes(
    passing: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    passed: list[BaseException] = []

    def work() -> None:
        try:
            with utilruntime.handle_crash(go_on=True):
                raise passing
        except BaseException as err:
            passed.append(err)

    in_thread(work)
    assert passed == [passing]
    assert caplog.records == []


def test_in_the_main_thread_only_exceptions_are_crashes() -> None:
    assert is_crash(ValueError())
    assert not any(is_crash(each) for each in (*OTHERS, SystemExit(), KeyboardInterrupt()))
