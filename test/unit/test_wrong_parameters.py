"""Functions of the user with other parameters than the library's call has: refused where they are given."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from clientgo import context, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import wait
from clientgo.controller_runtime import handler, manager, predicate, reconcile
from clientgo.controller_runtime.cache.informer_cache import index_by_field
from clientgo.controller_runtime.internal.source.event_handler import require_methods
from clientgo.controller_runtime.metrics import server as metricsserver
from clientgo.golang.functions import require_function, require_plain
from clientgo.tools import cache, record
from clientgo.tools.leaderelection import LeaderCallbacks
from clientgo.tools.leaderelection.slow_callbacks import CallbackThreads
from clientgo.util import workqueue
from clientgo.utils.clock import REAL_CLOCK


def wrong(a: object, b: object, c: object, d: object) -> Any:
    raise AssertionError("never called")


class Handler(cache.ResourceEventHandlerFuncs):
    """A handler of the user, with a method that lacks a parameter."""

    def on_add(self, obj: Any) -> None:  # type: ignore[override]
        raise AssertionError("never called")


class Worker:
    def start(self) -> None:
        raise AssertionError("never called")

    def reconcile(self, request: object) -> None:
        raise AssertionError("never called")


class Predicate(predicate.Funcs):
    def update(self, old: object, new: object) -> bool:  # type: ignore[override]
        raise AssertionError("never called")


def informer() -> cache.SharedIndexInformer:
    return cache.new_shared_index_informer(cache.ListWatch(), corev1.Pod(), 0.0, {})


def handled(**functions: Any) -> None:
    informer().add_event_handler(cache.ResourceEventHandlerFuncs(**functions))


def callback(**callbacks: Any) -> None:
    given: dict[str, Any] = {"on_started_leading": lambda ctx: None, "on_stopped_leading": lambda: None, **callbacks}
    CallbackThreads(REAL_CLOCK, LeaderCallbacks(**given))


def run(add: Callable[[manager.Manager], object]) -> None:
    options = manager.Options(metrics=metricsserver.Options(bind_address="0"))
    add(manager.new(rest.Config(host="localhost"), options))


def broadcast(start: str) -> None:
    broadcaster = record.new_broadcaster()
    try:
        getattr(broadcaster, start)(wrong)
    finally:
        broadcaster.shutdown()


EVENTS = ("create", "update", "delete")
CTX = context.background()


@pytest.mark.parametrize(
    "use",
    [
        lambda: handled(add_func=wrong),
        lambda: handled(update_func=lambda new: None),
        lambda: handled(delete_func=lambda: None),
        lambda: informer().add_event_handler(cache.ResourceEventHandlerDetailedFuncs(add_func=lambda obj: None)),
        lambda: informer().add_event_handler(cache.FilteringResourceEventHandler(wrong, Handler())),
        lambda: informer().add_event_handler(Handler()),
        lambda: informer().set_transform(wrong),
        lambda: informer().set_watch_error_handler(wrong),
        lambda: informer().set_watch_error_handler_with_context(lambda reflector, err: None),  # type: ignore
        lambda: informer().add_indexers({"node": wrong}),
        lambda: cache.new_shared_index_informer(cache.ListWatch(), corev1.Pod(), 0.0, {"node": lambda: ["a"]}),  # type: ignore
        lambda: cache.new_store(wrong),
        lambda: cache.ListWatch(list_func=lambda ctx, options: wrong(*[0] * 4)),  # type: ignore
        lambda: cache.ListWatch(watch_func_with_context=lambda options: wrong(*[0] * 4)),  # type: ignore
        lambda: callback(on_started_leading=lambda: None),
        lambda: callback(on_stopped_leading=lambda ctx: None),
        lambda: callback(on_new_leader=lambda: None),
        lambda: broadcast("start_event_watcher"),
        lambda: reconcile.to_function(wrong),
        lambda: reconcile.to_function(Worker()),
        lambda: handler.enqueue_requests_from_map_func(lambda obj: []),  # type: ignore
        lambda: predicate.new_predicate_funcs(wrong),
        lambda: require_methods(handler.Funcs(create_func=lambda ctx, event: None), [], EVENTS),  # type: ignore
        lambda: require_methods(handler.Funcs(), [predicate.Funcs(delete_func=lambda: True)], EVENTS),  # type: ignore
        lambda: require_methods(handler.Funcs(), [Predicate()], EVENTS),
        lambda: index_by_field(informer(), "spec.nodeName", wrong),
        lambda: run(lambda mgr: mgr.add(Worker())),
        lambda: run(lambda mgr: mgr.add_healthz_check("ping", lambda: None)),  # type: ignore
        lambda: wait.until_with_context(CTX, lambda: None, 1.0),  # type: ignore
        lambda: workqueue.parallelize_until(CTX, 1, 1, lambda: None),  # type: ignore
    ],
)
def test_a_function_with_other_parameters_is_refused_with_its_place(use: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"called with \(.*\), and accepts \(.*\): .* at test_wrong_parameters.py:\d+"):
        use()


@pytest.mark.parametrize("given", [Worker, Handler])
def test_a_class_is_no_runnable(given: Any) -> None:
    with pytest.raises(TypeError, match="a Runnable is an object with a method start.ctx., not its class: <class"):
        run(lambda mgr: mgr.add(given))


class Called:
    def __call__(self, one: object) -> None: ...

    def method(self, one: object) -> None: ...

    @classmethod
    def of_class(cls, one: object) -> None: ...

    @staticmethod
    def static(one: object) -> None: ...


def with_defaults(one: object, two: int = 2, *, three: int = 3) -> None: ...


def with_keyword(one: object, two: int = 2, *, three: int) -> None: ...


def two(first: object, second: object) -> None: ...


@functools.wraps(two)
def decorated(*args: object) -> None: ...


@pytest.mark.parametrize(
    "function",
    [
        Called(),
        Called().method,
        Called.of_class,
        Called.static,
        with_defaults,
        functools.partial(with_keyword, three=1),
        functools.partial(two, 0),
        functools.partial(two, second=1),
        functools.partial(functools.partial(two, second=1), second=2),
        decorated,
        lambda *every: None,
        lambda one, **rest: None,
        print,
        int,
        [].append,
        dict.get,
        Called,
    ],
)
def test_a_function_that_accepts_the_call_is_not_refused(function: object) -> None:
    require_function(function, "a function", "one")


@pytest.mark.parametrize(
    ("function", "accepted"),
    [
        (Called().method, "one"),
        (Called.of_class, "one"),
        (with_keyword, "one, two, three"),
        (functools.partial(two, first=1), "second"),
        (functools.partial(two, 1, 2), "first, second"),
        (lambda: None, ""),
        (Called(), "one"),
    ],
)
def test_a_function_that_does_not_accept_the_call_is_shown_with_its_parameters(function: object, accepted: str) -> None:
    parameters = "one" if accepted != "one" else "old, new"
    with pytest.raises(TypeError) as caught:
        require_plain(function, "a function", parameters)
    assert f"is called with ({parameters}), and accepts ({accepted}): " in str(caught.value)
