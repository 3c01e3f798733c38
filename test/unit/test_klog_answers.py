"""The user's functions that report True or False, where one returns None, a coroutine or a generator by mistake."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch as apiwatch
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.util import errors as utilerrors
from clientgo.apimachinery.util import wait
from clientgo.controller_runtime import event, predicate
from clientgo.controller_runtime.handler import Funcs
from clientgo.controller_runtime.healthz import healthz
from clientgo.controller_runtime.internal.source.event_handler import new_event_handler
from clientgo.controller_runtime.manager.runnable_group import ErrorSink, Runnables
from clientgo.klog import answers
from clientgo.tools import cache
from clientgo.tools import watch as toolswatch
from clientgo.util import retry, workqueue

POD = corev1.Pod(metadata=metav1.ObjectMeta(name="wombat"))


@pytest.fixture(autouse=True)
def nothing_logged_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_logged", set())


def forgot_to_return(*args: object) -> Any:
    len(args)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def filtering() -> None:
    handler = cache.FilteringResourceEventHandler(forgot_to_return, cache.ResourceEventHandlerFuncs())
    handler.on_add(POD, False)
    handler.on_update(POD, POD)
    handler.on_delete(POD)


class LikesNothing:
    """A predicate of the user's own class."""

    create = update = delete = generic = forgot_to_return


def own_predicate() -> None:
    queue = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
    handler = new_event_handler(context.background(), queue, Funcs(), [LikesNothing()])
    handler.on_add(POD, False)
    handler.on_update(POD, POD)
    handler.on_delete(POD)
    queue.shut_down()


def combined_predicates() -> None:
    asked = event.CreateEvent(POD, False)
    likes_nothing: predicate.Predicate = LikesNothing()
    assert not predicate.and_(likes_nothing).create(asked)
    assert not predicate.or_(likes_nothing).create(asked)
    assert predicate.not_(likes_nothing).create(asked)
    assert not predicate.Funcs(create_func=forgot_to_return).create(asked)
    assert not predicate.new_predicate_funcs(forgot_to_return).create(asked)


def retried() -> None:
    def fail() -> None:
        raise LookupError("the burrow is empty")

    with pytest.raises(LookupError):
        retry.on_error(wait.Backoff(steps=3), forgot_to_return, fail)


def polled() -> None:
    with pytest.raises(wait.ErrWaitTimeout):
        wait.exponential_backoff(wait.Backoff(steps=3), forgot_to_return)
    ctx, cancel = context.with_cancel(context.background())
    cancel()
    with pytest.raises(context.Canceled):
        wait.poll_until_context_cancel(ctx, 1, True, forgot_to_return)
    with pytest.raises(wait.ErrWaitTimeout):
        wait.poll_immediate_until(1, forgot_to_return, ctx.done())


def synced() -> None:
    stop = threading.Event()
    stop.set()
    assert not cache.wait_for_cache_sync(stop, forgot_to_return)


def watched() -> None:
    watcher = apiwatch.new_fake_with_chan_size(1, False)
    watcher.add(POD)
    watcher.stop()
    with pytest.raises(toolswatch.ErrWatchClosed):
        toolswatch.until_without_retry(context.background(), watcher, forgot_to_return)


def matched() -> None:
    error = ValueError("odd")
    assert utilerrors.filter_out(error, forgot_to_return) is error


USES = [filtering, own_predicate, combined_predicates, retried, polled, synced, watched, matched]


@pytest.mark.parametrize("use", USES)
def test_a_function_that_returns_none_for_a_bool_is_logged_once(
    use: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    use()
    use()

    (line,) = [line for line in lines(caplog) if "forgot_to_return" in line]
    place = f"test_klog_answers.py:{forgot_to_return.__code__.co_firstlineno}"
    assert line == f"forgot_to_return at {place} returned None, which counts as False: return True or False"


async def asynchronous(obj: object) -> bool:
    return obj is not None


def lazy(obj: object) -> Iterator[bool]:
    yield obj is None


@pytest.mark.filterwarnings("error")
def test_a_coroutine_and_a_generator_count_as_true_and_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[object] = []
    for function in (asynchronous, lazy):
        filtered = cache.FilteringResourceEventHandler(
            function,  # type: ignore[arg-type]
            cache.ResourceEventHandlerFuncs(add_func=seen.append),
        )
        filtered.on_add(POD, False)

    assert seen == [POD, POD]
    assert [line.partition(" returned ")[2] for line in lines(caplog)] == [
        "a coroutine, which counts as True: define it with def, not async def",
        "a generator, which counts as True: return True or False, without yield",
    ]


def test_an_exception_that_is_returned_and_not_raised_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert answers.is_true(lambda obj: ValueError("odd"), POD)

    (line,) = lines(caplog)
    assert line.endswith(" returned an exception, which counts as True: raise it")


def test_a_tuple_of_a_bool_and_an_error_as_in_go_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert answers.is_true(lambda: (False, None))

    (line,) = lines(caplog)
    assert line.endswith(" returned a tuple, which counts as True: return only True or False, and raise errors")


def returned_error(*args: object) -> Any:
    return LookupError("the burrow is empty")


def retried_update() -> None:
    retry.retry_on_conflict(retry.DEFAULT_RETRY, returned_error)


def health_check() -> None:
    healthz._check(returned_error, None)  # type: ignore[arg-type]


def conversion() -> None:
    scheme = Scheme()
    scheme.add_conversion_func(corev1.Pod, corev1.ConfigMap, returned_error)
    scheme.convert(corev1.Pod(), corev1.ConfigMap())


def runnable() -> None:
    sink = ErrorSink(klog.background())
    runnables = Runnables(context.background, sink)
    runnables.add(returned_error)
    runnables.leader_election.start(context.background())
    sink.failed.wait(PATIENCE)
    assert sink.first is not None
    raise sink.first


@pytest.mark.parametrize("use", [retried_update, health_check, conversion, runnable])
def test_an_error_that_is_returned_as_in_go_is_raised(use: Callable[[], None]) -> None:
    with pytest.raises(LookupError, match="the burrow is empty"):
        use()


def test_a_conflict_that_is_returned_as_in_go_is_retried() -> None:
    returned: list[object] = [errors.new_conflict(corev1.resource("pods"), "wombat", None), None]

    retry.retry_on_conflict(wait.Backoff(steps=2), lambda: returned.pop(0))

    assert returned == []


@pytest.mark.parametrize("result", [True, False, 0, 1, "", "wombat", [], [1], {}])
def test_other_results_have_pythons_truth_value(result: object, caplog: pytest.LogCaptureFixture) -> None:
    assert answers.is_true(lambda: result) is bool(result)
    assert not lines(caplog)


def test_functions_made_anew_for_each_call_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    for _ in itertools.repeat(None, 3):
        answers.is_true(lambda: None)

    assert len(lines(caplog)) == 1
