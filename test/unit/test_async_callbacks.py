"""Functions of the user that are async or generators by mistake: their calls run nothing, which no error shows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from clientgo import context, klog, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.context import Context
from clientgo.controller_runtime.handler import Funcs
from clientgo.controller_runtime.healthz import healthz
from clientgo.controller_runtime.internal.source.event_handler import require_methods
from clientgo.controller_runtime.manager.runnable_group import ErrorSink, Runnables
from clientgo.controller_runtime.webhook import admission
from clientgo.golang.functions import require_plain
from clientgo.klog.exceptions import full_text
from clientgo.kubernetes import fake
from clientgo.kubernetes.scheme import SCHEME
from clientgo.tools import cache, leaderelection, record
from clientgo.tools.cache.beyond.refusals import Untransformed, mark_failures
from clientgo.tools.leaderelection import resourcelock
from clientgo.tools.record.watchers import require_event
from clientgo.util import workqueue


async def asleep(*args: object) -> None:
    raise AssertionError("never runs")


def lazy(*args: object) -> Any:
    yield args


async def dreaming(*args: object) -> Any:
    yield args


class AsyncCall:
    async def __call__(self, *args: object) -> None:
        raise AssertionError("never runs")


def handled(function: Any) -> None:
    informer = cache.new_shared_index_informer(cache.ListWatch(), corev1.Pod(), 0.0, {})
    informer.add_event_handler(cache.ResourceEventHandlerFuncs(update_func=function))


def filtered(function: Any) -> None:
    informer = cache.new_shared_index_informer(cache.ListWatch(), corev1.Pod(), 0.0, {})
    inner = cache.ResourceEventHandlerFuncs(delete_func=function)
    informer.add_event_handler(cache.FilteringResourceEventHandler(lambda obj: True, inner))


def controlled(function: Any) -> None:
    require_methods(Funcs(create_func=function), (), ("create", "update", "delete"))


def led(function: Any) -> None:
    lock = resourcelock.LeaseLock(
        metav1.ObjectMeta(name="wombat", namespace="default"),
        fake.new_clientset().coordination_v1(),
        resourcelock.ResourceLockConfig(identity="me"),
    )
    callbacks = leaderelection.LeaderCallbacks(on_started_leading=function, on_stopped_leading=lambda: None)
    config = leaderelection.LeaderElectionConfig(
        lock=lock, lease_duration=15.0, renew_deadline=10.0, retry_period=2.0, callbacks=callbacks
    )
    leaderelection.new_leader_elector(config)


def watched(function: Any) -> None:
    broadcaster = record.new_broadcaster()
    try:
        broadcaster.start_event_watcher(function)
    finally:
        broadcaster.shutdown()


def added(function: Any) -> None:
    Runnables(context.background, ErrorSink(klog.background())).add(function)


def repeated(function: Any) -> None:
    ctx, cancel = context.with_cancel(context.background())
    cancel()
    wait.until_with_context(ctx, function, 1.0)


def parallel(function: Any) -> None:
    workqueue.parallelize_until(None, 1, 1, function)


def checked(function: Any) -> None:
    healthz._check(function, None)  # type: ignore[arg-type]


USES = [handled, filtered, controlled, led, watched, added, repeated, parallel, checked]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("function", [asleep, lazy, dreaming, functools.partial(asleep, 1), AsyncCall()])
def test_a_function_that_would_not_run_is_refused_with_its_name_and_place(
    use: Callable[[Any], None], function: Any
) -> None:
    with pytest.raises(TypeError, match=r"(async|generator) function: .* at test_async_callbacks\.py:\d+$"):
        use(function)


@pytest.mark.parametrize("function", [print, lambda: None, functools.partial(print), None, 3, object(), Context, len])
def test_plain_functions_and_other_objects_are_accepted(function: object) -> None:
    require_plain(function, "a test")


@pytest.mark.parametrize(
    "result",
    ["wombat", lazy(), (corev1.Pod(), None), ValueError("odd"), corev1.Pod],
    ids=["text", "generator", "go", "error", "class"],
)
def test_a_transform_that_returns_no_object_is_named(result: Any) -> None:
    transform = mark_failures(lambda obj: result)
    assert transform is not None

    found = transform(corev1.Pod())

    assert isinstance(found, Untransformed)
    assert str(found.err).startswith("the transform function returned ")


@pytest.mark.parametrize("returned", [None, "wombat", lazy()], ids=["none", "text", "generator"])
def test_a_sink_that_returns_no_event_is_named(returned: object) -> None:
    with pytest.raises(TypeError, match="AsyncCall returned .*: return the event as the server stored it"):
        require_event(returned, corev1.Event, AsyncCall())


class Forgetful:
    """A rate limiter without a return."""

    def when(self, item: str) -> Any:
        return None

    def forget(self, item: str) -> None:
        pass

    def num_requeues(self, item: str) -> int:
        return 0


def test_a_rate_limiter_that_returns_no_number_is_named() -> None:
    queue = workqueue.new_typed_rate_limiting_queue(Forgetful())
    try:
        with pytest.raises(TypeError, match="Forgetful.when returned None: it returns a number of seconds"):
            queue.add_rate_limited("wombat")
    finally:
        queue.shut_down()


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Argless(Exception):
    @property
    def args(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no arguments")

    def __str__(self) -> str:
        return "argless wombat"


def fail(*args: object) -> Any:
    raise Mute


def fail_without_arguments(*args: object) -> Any:
    raise Argless


class MuteLimiter:
    def wait(self, ctx: Context) -> None:
        raise Mute


@pytest.mark.parametrize(
    ("setting", "function", "text"),
    [
        ("dial", lambda host, port: None, "returned None: dial returns a connected socket"),
        ("proxy", lambda url: 3, "the proxy function returned 3: it returns the URL of a proxy, or None"),
        ("wrap_transport", lambda rt: None, "returned None: wrap_transport returns an object with round_trip"),
        ("dial", fail, ": Mute"),
        ("proxy", fail, ": Mute"),
        ("dial", fail_without_arguments, ": argless wombat"),
        ("rate_limiter", MuteLimiter(), "client rate limiter Wait returned an error: <no text: RuntimeError>"),
    ],
)
def test_a_setting_of_a_client_that_returns_nothing_or_an_error_without_text_is_named(
    setting: str, function: Any, text: str
) -> None:
    from clientgo import kubernetes

    config = rest.Config(host="http://127.0.0.1:1", **{setting: function})
    with pytest.raises(Exception) as caught:
        client = kubernetes.new_for_config(config)
        try:
            client.core_v1().pods("default").get(context.background(), "wombat", metav1.GetOptions())
        finally:
            client.close()

    assert text in str(caught.value)


@pytest.mark.parametrize("failure", [TimeoutError(), Mute(), KeyError("wombat")], ids=["empty", "mute", "key"])
def test_a_list_function_whose_error_has_no_clear_text_is_described_by_the_type(failure: Exception) -> None:
    def fail_to_list(options: metav1.ListOptions) -> Any:
        raise failure

    source = cache.ListWatch(list_func=fail_to_list, watch_func=fail_to_list)
    store = cache.new_store(cache.meta_namespace_key_func)
    reflector = cache.new_reflector_with_options(source, corev1.Pod(), store, cache.ReflectorOptions())

    with pytest.raises(RuntimeError, match=r"failed to list .*: (TimeoutError|<no text: Runtime|KeyError: 'wom)"):
        reflector.list_and_watch_with_context(context.background())


@pytest.mark.parametrize("failure", [TimeoutError(), Mute()], ids=["empty", "mute"])
def test_the_answer_of_a_webhook_whose_error_has_no_text_has_the_type(failure: Exception) -> None:
    class Refusing:
        def validate_create(self, ctx: Context, obj: corev1.ConfigMap) -> Any:
            raise failure

        def default(self, ctx: Context, obj: corev1.ConfigMap) -> None:
            raise failure

        validate_delete: Any = validate_create

        def validate_update(self, ctx: Context, old_obj: corev1.ConfigMap, new_obj: corev1.ConfigMap) -> Any:
            raise failure

    request = admission.Request.from_dict({"operation": "CREATE", "object": {"metadata": {"name": "wombat"}}})
    for hook in (
        admission.with_custom_validator(SCHEME, corev1.ConfigMap, Refusing()),
        admission.with_custom_defaulter(SCHEME, corev1.ConfigMap, Refusing()),
    ):
        response = hook.handle(context.background(), request)

        assert not response.allowed
        assert response.result is not None and response.result.message.startswith(type(failure).__name__)


def test_all_lines_of_an_error_are_in_an_answer() -> None:
    assert full_text(ValueError("first\nsecond")) == "first\nsecond"
    assert full_text("a text") == "a text"
