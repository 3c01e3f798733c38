"""The reflector in list mode. Go: reflector_test.go."""

from __future__ import annotations

import gc
import logging
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from goldenobjects import to_config_map
from recordingstore import RecordingStore
from scriptedwatch import Script, ScriptedListerWatcher

from clientgo import context, features
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.util import wait
from clientgo.features.testing import set_feature_during_test
from clientgo.golang.channel import Channel, Signal
from clientgo.rest.watch.reader import new_reader
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import reflector as reflector_module
from clientgo.tools.cache.beyond.malformed import MalformedEventError
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.testing import new_fake_clock

BACKGROUND = context.background()
Answers = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


def mk_pod(name: str, rv: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name=name, resource_version=rv))


def mk_list(rv: str, *pods: corev1.Pod, token: str = "") -> corev1.PodList:
    return corev1.PodList(metadata=metav1.ListMeta(resource_version=rv, continue_=token), items=pods)


def new_reflector(lw: Any, store: Any | None = None, expected: object = corev1.Pod, **options: Any) -> cache.Reflector:
    if store is None:
        store = cache.new_store(cache.meta_namespace_key_func)
    return cache.new_reflector_with_options(
        lw, expected, store, cache.ReflectorOptions(name="test-reflector", **options)
    )


def list_only(list_func: Callable[[metav1.ListOptions], Any]) -> cache.ListWatch:
    """Return a source that has a list, and refuses a watch."""

    def refuse(_: metav1.ListOptions) -> watch.Interface:
        raise RuntimeError("no watch")

    return cache.ListWatch(list_func=list_func, watch_func=refuse)


def list_once(reflector: cache.Reflector) -> None:
    """Let the reflector list a source of `list_only`."""
    with pytest.raises(RuntimeError, match="no watch"):
        reflector.list_and_watch_with_context(BACKGROUND)


class CountedWatch(watch.FakeWatcher):
    """A fake that counts how often it is stopped."""

    def __init__(self) -> None:
        super().__init__(channel_size=10)
        self.stops = 0

    def stop(self) -> None:
        self.stops += 1
        super().stop()


def handle_watch(
    ctx: context.Context,
    w: watch.Interface,
    store: Any = None,
    resync_ctx: context.Context | None = None,
    expected: object = corev1.Pod,
) -> cache.Reflector:
    if store is None:
        store = cache.new_store(cache.meta_namespace_key_func)
    reflector = new_reflector(cache.ListWatch(), store, expected)

    def set_version(rv: str, _: bool) -> None:
        reflector._last_sync_resource_version = rv

    reflector._handle_watch(ctx, REAL_CLOCK.now(), new_reader(w), store, set_version, resync_ctx or ctx)
    return reflector


def watch_of(*events: watch.Event) -> CountedWatch:
    """Return a closed watch that has sent these events."""
    fake = CountedWatch()
    for event in events:
        fake.action(event.type, event.object)
    fake.result_chan().close()
    fake.stop = lambda: None  # type: ignore[method-assign]
    return fake


@contextmanager
def running(reflector: cache.Reflector) -> Iterator[context.CancelFunc]:
    """Run the reflector in a thread until the block ends."""
    ctx, cancel = context.with_cancel(BACKGROUND)
    thread = threading.Thread(target=reflector.run_with_context, args=(ctx,), name="reflector")
    thread.start()
    try:
        yield cancel
    finally:
        cancel()
        thread.join()


def scripted(bubble: synctest.Bubble, lists: Answers, watches: Answers | None = None) -> ScriptedListerWatcher:
    return ScriptedListerWatcher(bubble, Script(deque(lists), deque(watches or ())))


def config_maps(rv: str, *names: str, token: str | None = None) -> dict[str, Any]:
    answer: dict[str, Any] = {"items": [{"name": name, "rv": rv} for name in names], "resource_version": rv}
    return answer if token is None else answer | {"continue": token}


def new_config_map_reflector(server: ScriptedListerWatcher, store: Any, **options: Any) -> cache.Reflector:
    options.setdefault("backoff", wait.Backoff(duration=1.0, cap=30.0, factor=2.0, steps=10))
    return new_reflector(server, store, corev1.ConfigMap(), **options)


def run_for(
    seconds: float, lists: Answers, watches: Answers | None = None, **options: Any
) -> tuple[list[dict[str, Any]], RecordingStore, cache.Reflector]:
    """Run a reflector against a script: (the calls it made, its store, itself)."""
    with synctest.bubble() as bubble:
        server = scripted(bubble, lists, watches)
        store = RecordingStore()
        page_size = options.pop("watch_list_page_size", 0)
        reflector = new_config_map_reflector(server, store, **options)
        reflector.watch_list_page_size = page_size
        with running(reflector):
            bubble.sleep(seconds)
        server.join()
        return server.calls, store, reflector


def list_options(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [call["options"] for call in calls if call["call"] == "list"]


def versions(calls: list[dict[str, Any]]) -> list[str]:
    return [options.get("resource_version", "") for options in list_options(calls)]


def test_an_error_event_ends_the_watch() -> None:
    """Go: TestCloseWatchChannelOnError"""
    fake = CountedWatch()
    fake.error(apierrors.new_internal_error(Exception("broken")).status())
    reflector = new_reflector(cache.ListWatch(list_func=lambda _: mk_list("1"), watch_func=lambda _: fake))
    reflector.list_and_watch_with_context(BACKGROUND)
    assert fake.is_stopped()


def test_a_cancel_ends_the_run_and_the_watch() -> None:
    """Go: TestRunUntil"""
    with synctest.bubble() as bubble:
        fake = CountedWatch()
        reflector = new_reflector(cache.ListWatch(list_func=lambda _: mk_list("1"), watch_func=lambda _: fake))
        with running(reflector) as cancel:
            fake.add(mk_pod("bar", ""))
            bubble.wait()
            cancel()
        assert fake.is_stopped()
        assert fake.result_chan().receive(0) == (None, False)


@pytest.mark.parametrize("method", ["run", "list_and_watch"])
def test_a_stop_channel_does_as_well_as_a_context(method: str) -> None:
    """It is let watch for as long as the channel is open, and ends the watch when it is closed."""
    with synctest.bubble() as bubble:
        opened: list[CountedWatch] = []

        def open_watch(_: metav1.ListOptions) -> watch.Interface:
            opened.append(CountedWatch())
            return opened[-1]

        store = cache.new_store(cache.meta_namespace_key_func)
        listed = cache.ListWatch(list_func=lambda _: mk_list("1"), watch_func=open_watch)
        reflector = cache.new_reflector(listed, corev1.Pod(), store, 0.0)
        stop = Signal()
        thread = threading.Thread(target=getattr(reflector, method), args=(stop,))
        thread.start()
        bubble.wait()
        opened[0].add(mk_pod("bar", "2"))
        bubble.sleep(3600.0)
        assert (store.list_keys(), thread.is_alive(), [w.stops for w in opened]) == (["ns/bar"], True, [0])
        stop.set()
        thread.join()
        assert [w.stops for w in opened] == [1]


@pytest.mark.parametrize("method", ["run", "list_and_watch"])
def test_a_closed_stop_channel_leaves_nothing_running(method: str) -> None:
    fake = CountedWatch()
    reflector = new_reflector(cache.ListWatch(list_func=lambda _: mk_list("1"), watch_func=lambda _: fake))
    stop = threading.Event()
    stop.set()
    getattr(reflector, method)(stop)
    assert fake.stops <= 1


def test_the_resync_timer_fires_after_each_period() -> None:
    """Go: TestReflectorResyncChan"""
    _, store, _ = run_for(3.5, [config_maps("1")], resync_period=1.0)
    assert store.ops[1:] == [{"op": "resync"}] * 3


def test_without_time_nothing_is_watched() -> None:
    """Go: TestReflectorWatchStoppedBefore"""
    ctx, cancel = context.with_cancel(BACKGROUND)
    cancel()

    def unexpected(_: metav1.ListOptions) -> Any:
        pytest.fail("a call after the stop")

    new_reflector(cache.ListWatch(list_func=unexpected, watch_func=unexpected))._watch(ctx, None, ctx)


def test_a_cancel_during_a_watch_stops_it_and_opens_no_other() -> None:
    """Go: TestReflectorWatchStoppedAfter"""
    with synctest.bubble() as bubble:
        ctx, cancel = context.with_cancel(BACKGROUND)
        opened: list[CountedWatch] = []

        def open_watch(_: metav1.ListOptions) -> watch.Interface:
            opened.append(CountedWatch())
            return opened[-1]

        reflector = new_reflector(cache.ListWatch(list_func=lambda _: mk_list("1"), watch_func=open_watch))
        thread = threading.Thread(target=reflector.list_and_watch_with_context, args=(ctx,), name="reflector")
        thread.start()
        bubble.wait()
        cancel()
        thread.join()
        assert [w.stops for w in opened] == [1]


def test_a_watch_handled_too_late_is_stopped_once() -> None:
    """Go: TestReflectorHandleWatchStoppedBefore"""
    ctx, cancel = context.with_cancel(BACKGROUND)
    cancel()
    fake = CountedWatch()
    with pytest.raises(reflector_module._StopRequested, match="stop requested"):
        handle_watch(ctx, fake)
    assert fake.stops == 1


def test_a_watch_is_left_and_stopped_once_on_cancel() -> None:
    """
    Go: TestReflectorHandleWatchStoppedAfter
    Go: TestReflectorStopWatch
    """
    with synctest.bubble() as bubble:
        ctx, cancel = context.with_cancel(BACKGROUND)
        fake = CountedWatch()
        bubble.after_func(1.0, cancel)
        with pytest.raises(reflector_module._StopRequested):
            handle_watch(ctx, fake)
        assert fake.stops == 1


@pytest.mark.parametrize("delay", [0.0, 0.5])
def test_a_watch_that_ends_within_a_second_without_events_is_an_error(delay: float) -> None:
    """
    Go: TestReflectorHandleWatchResultChanClosedBefore
    Go: TestReflectorHandleWatchResultChanClosedAfter
    """
    with synctest.bubble() as bubble:
        fake = CountedWatch()
        bubble.after_func(delay, fake.result_chan().close)
        fake.stop = lambda: None  # type: ignore[method-assign]
        with pytest.raises(cache.VeryShortWatchError) as caught:
            handle_watch(BACKGROUND, fake)
        assert str(caught.value) == (
            "very short watch: test-reflector: Unexpected watch close - watch lasted less than a second and "
            "no items received"
        )


def test_events_reach_the_store(caplog: pytest.LogCaptureFixture) -> None:
    """
    Go: TestReflectorWatchHandler
    Go: TestReflectorWatchHandler/#0 mkPod("foo", ""), false}
    Go: TestReflectorWatchHandler/#1 mkPod("rejected", ""), false}
    Go: TestReflectorWatchHandler/#2 mkPod("bar", "55"), true}
    Go: TestReflectorWatchHandler/#3 mkPod("baz", "32"), true}
    """
    store = cache.new_store(cache.meta_namespace_key_func)
    store.add(mk_pod("foo", ""))
    store.add(mk_pod("bar", ""))
    fake = CountedWatch()
    fake.add(corev1.Service(metadata=metav1.ObjectMeta(name="rejected")))
    fake.delete(mk_pod("foo", ""))
    fake.modify(mk_pod("bar", "55"))
    fake.add(mk_pod("baz", "32"))
    fake.result_chan().close()
    fake.stop = lambda: None  # type: ignore[method-assign]
    reflector = handle_watch(BACKGROUND, fake, store)
    versions = {pod.get_name(): pod.get_resource_version() for pod in store.list()}
    assert versions == {"bar": "55", "baz": "32"}
    assert reflector.last_sync_resource_version() == "32"
    assert 'expectedType="*v1.Pod" actualType="*v1.Service"' in caplog.text


class Unstorable:
    """A store that fails."""

    def add(self, obj: Any) -> None:
        raise ValueError("no")

    update = delete = bookmark = add

    def replace(self, objs: Any, rv: str) -> None:
        pass

    def resync(self) -> None:
        pass


def test_events_that_cannot_be_stored_or_understood_are_reported_and_skipped(caplog: pytest.LogCaptureFixture) -> None:
    kinds = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "STRANGE")
    fake = watch_of(*(watch.Event(kind, mk_pod("a", "1")) for kind in kinds))
    assert handle_watch(BACKGROUND, fake, Unstorable()).last_sync_resource_version() == "1"
    for text in ("add watch", "update watch", "delete watch", "send bookmark", "Unknown watch event"):
        assert text in caplog.text

    fake = watch_of(watch.Event("ADDED", "no object"), watch.Event("ADDED", mk_pod("b", "2")))
    assert handle_watch(BACKGROUND, fake, Unstorable(), expected=None).last_sync_resource_version() == "2"
    assert "Unable to understand watch event" in caplog.text


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED"])
def test_an_object_without_a_key_ends_the_watch(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    def by_app(obj: Any) -> str:
        return str(obj.get_labels()["app"])

    labeled = corev1.Pod(metadata=metav1.ObjectMeta(name="b", labels={"app": "b"}))
    fake = watch_of(watch.Event(kind, mk_pod("a", "1")), watch.Event("ADDED", labeled))
    store = cache.new_store(by_app)

    with pytest.raises(MalformedEventError, match="couldn't create key for object"):
        handle_watch(BACKGROUND, fake, store)
    assert store.list_keys() == []
    assert not caplog.records, "the error is raised, not reported"


def test_what_a_store_does_not_take_is_listed_anew_and_costs_no_other() -> None:
    """Of an indexer without an informer; in Go an index function that fails ends the program."""

    def by_team(obj: Any) -> list[str]:
        return [obj.get_labels()["team"]]

    def pod(name: str, **labels: str) -> corev1.Pod:
        return corev1.Pod(metadata=metav1.ObjectMeta(name=name, labels=labels))

    listed = corev1.PodList(items=[pod("a", team="x"), pod("bad")], metadata=metav1.ListMeta(resource_version="1"))
    opened: list[CountedWatch] = []

    def open_watch(_: metav1.ListOptions) -> watch.Interface:
        opened.append(CountedWatch())
        return opened[-1]

    with synctest.bubble() as bubble:
        store = cache.new_indexer(cache.meta_namespace_key_func, {"team": by_team})
        lister = cache.ListWatch(list_func=lambda _: listed.deep_copy(), watch_func=open_watch)
        with running(new_reflector(lister, store, corev1.Pod())):
            bubble.sleep(0.1)
            opened[0].add(pod("c", team="x"))
            bubble.sleep(0.1)
            assert store.list_keys() == ["a", "c"], "the watch goes on"
            listed.items = [pod("a", team="x"), pod("bad", team="z")]
            bubble.sleep(3.0)
            assert store.index_keys("team", "z") == ["bad"]
            opened[1].modify(pod("a"))
            listed.items = [pod("a", team="y")]
            bubble.sleep(6.0)
            assert store.index_keys("team", "y") == ["a"]
            assert [each.stops for each in opened] == [1, 1, 0]


def test_a_list_then_a_watch_with_these_options() -> None:
    """
    Go: TestReflectorListAndWatch
    Go: TestReflectorListAndWatch/UseWatchList disabled
    """
    events = [{"type": "ADDED", "object": {"name": "b", "rv": "6"}}]
    calls, store, reflector = run_for(1.0, [config_maps("5", "a")], [{"events": events}])
    assert [(call["call"], call["options"]) for call in calls] == [
        ("list", {"limit": 500, "resource_version": "0"}),
        ("watch", {"resource_version": "5", "allow_watch_bookmarks": True, "timeout_seconds_in_300_600": True}),
    ]
    assert sorted(store.objects) == ["a", "b"]
    assert reflector.last_sync_resource_version() == "6"


def test_pass_after_pass_the_store_is_what_was_listed_and_errors_come_out() -> None:
    """
    Go: TestReflectorListAndWatchWithErrors
    Go: TestReflectorListAndWatchWithErrors/#0 list: mkList("1"), events: []watch.Event{ {Type: watch.Adde…
    Go: TestReflectorListAndWatchWithErrors/#1 list: mkList("3", mkPod("foo", "2"), mkPod("bar", "3")), ev…
    Go: TestReflectorListAndWatchWithErrors/#2 listErr: fmt.Errorf("a list error"), }
    Go: TestReflectorListAndWatchWithErrors/#3 list: mkList("5", mkPod("bar", "3"), mkPod("qux", "5")), wa…
    Go: TestReflectorListAndWatchWithErrors/#4 list: mkList("5", mkPod("bar", "3"), mkPod("qux", "5")), ev…
    Go: TestReflectorListAndWatchWithErrors/#5 list: mkList("6", mkPod("bar", "3"), mkPod("qux", "5"), mkP…
    """
    store = cache.new_store(cache.meta_namespace_key_func)
    bar, qux, new = mk_pod("bar", "3"), mk_pod("qux", "5"), mk_pod("new", "6")

    def one_pass(
        listed: corev1.PodList | Exception, events: list[watch.Event], watch_error: Exception | None = None
    ) -> set[str]:
        def list_func(_: metav1.ListOptions) -> Any:
            if isinstance(listed, Exception):
                raise listed
            return listed

        def watch_func(_: metav1.ListOptions) -> watch.Interface:
            if watch_error is not None:
                raise watch_error
            fake = CountedWatch()
            for event in events:
                fake.action(event.type, event.object)
            # What ends a watch for good: the next thing then is a list.
            fake.error(apierrors.new_resource_expired("old").status())
            return fake

        reflector = new_reflector(cache.ListWatch(list_func=list_func, watch_func=watch_func), store)
        reflector.list_and_watch_with_context(BACKGROUND)
        return set(store.list_keys())

    added = [watch.Event("ADDED", mk_pod("foo", "2")), watch.Event("ADDED", bar)]
    assert one_pass(mk_list("1"), added) == {"ns/foo", "ns/bar"}
    changes = [watch.Event("DELETED", mk_pod("foo", "4")), watch.Event("ADDED", qux)]
    assert one_pass(mk_list("3", mk_pod("foo", "2"), bar), changes) == {"ns/bar", "ns/qux"}
    with pytest.raises(RuntimeError, match=r"failed to list \*v1\.Pod: a list error"):
        one_pass(Exception("a list error"), [])
    assert set(store.list_keys()) == {"ns/bar", "ns/qux"}
    with pytest.raises(Exception, match="a watch error"):
        one_pass(mk_list("5", bar, qux), [], Exception("a watch error"))
    assert one_pass(mk_list("5", bar, qux), [watch.Event("ADDED", new)]) == {"ns/bar", "ns/qux", "ns/new"}
    assert one_pass(mk_list("6", bar, qux, new), []) == {"ns/bar", "ns/qux", "ns/new"}


def test_what_is_no_list_is_an_error() -> None:
    reflector = new_reflector(cache.ListWatch(list_func=lambda _: mk_pod("a", "1")))
    with pytest.raises(RuntimeError, match="failed to list"):
        reflector.list_and_watch_with_context(BACKGROUND)
    table = UnstructuredList.from_dict({"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": {}})
    reflector = new_reflector(cache.ListWatch(list_func=lambda _: table))
    with pytest.raises(RuntimeError, match="unsupported list gvk"):
        reflector.list_and_watch_with_context(BACKGROUND)


@pytest.mark.parametrize(
    ("failures", "at_least", "at_most"),
    [
        # Go: TestReflectorListAndWatchInitConnBackoff/#0 5, 32 * time.Millisecond, 64 * time.Millisecond}
        (5, 0.031, 0.064),
        # Go: TestReflectorListAndWatchInitConnBackoff/#1 40, 35 * 2 * maxBackoff, 40 * 2 * maxBackoff}
        (40, 35 * 0.05, 40 * 2 * 0.05),
    ],
)
def test_a_refused_connection_is_retried_with_growing_pauses(failures: int, at_least: float, at_most: float) -> None:
    """Go: TestReflectorListAndWatchInitConnBackoff"""
    backoff = wait.Backoff(duration=0.001, cap=0.05, factor=2.0, jitter=1.0, steps=1000)
    refused = [{"error": "connection_refused"}] * failures
    calls, _, _ = run_for(100.0, [config_maps("1")], refused, backoff=backoff)
    assert len(list_options(calls)) == 1
    assert len(calls) == 1 + failures + 1
    # The last pause ends with the watch that works.
    assert at_least <= calls[-1]["at_ms"] / 1000 <= at_most


@pytest.mark.parametrize(
    ("backoff", "low", "high"),
    [
        # Go: TestNewReflectorWithCustomBackoff/default backoff
        (None, 15.0, 60.0),
        # Go: TestNewReflectorWithCustomBackoff/custom backoff
        (wait.Backoff(duration=0.01, cap=0.1, factor=2.0, steps=10), 0.24, 0.27),
    ],
)
def test_the_backoff_can_be_chosen(backoff: wait.Backoff | None, low: float, high: float) -> None:
    """Go: TestNewReflectorWithCustomBackoff"""
    calls, _, _ = run_for(100.0, [config_maps("1")], [{"error": "connection_refused"}] * 5, backoff=backoff)
    assert low <= calls[-1]["at_ms"] / 1000 <= high


def test_too_many_requests_back_off_and_never_list_anew() -> None:
    """
    Go: TestBackoffOnTooManyRequests
    Go: TestNoRelistOnTooManyRequests
    """
    busy = {"events": [{"type": "ERROR", "status": "too_many_requests"}]}
    calls, _, _ = run_for(100.0, [config_maps("1")], [{"error": "too_many_requests"}, busy])
    assert [(call["call"], call["at_ms"]) for call in calls] == [
        ("list", 0),
        ("watch", 0),
        ("watch", 1000),
        ("watch", 3000),
    ]


@pytest.mark.parametrize(
    ("retry_for", "rewind_at", "retries"),
    [
        # Go: TestRetryInternalError/retries off
        (0.0, 0, 0),
        # Go: TestRetryInternalError/retries on, all calls fail
        (30.0, 0, 31),
        # Go: TestRetryInternalError/retries on, one call successful
        (30.0, 10, 40),
    ],
)
def test_internal_errors_are_retried_for_a_while(
    retry_for: float, rewind_at: int, retries: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Go: TestRetryInternalError"""
    caplog.set_level(1, "clientgo")
    with synctest.bubble() as bubble:
        opened: list[int] = []

        def watch_func(_: metav1.ListOptions) -> watch.Interface:
            opened.append(1)
            if len(opened) == rewind_at:
                bubble.sleep(60.0)
            bubble.sleep(1.0)
            fake = watch.new_fake_with_chan_size(1, False)
            fake.error(apierrors.new_internal_error(Exception("etcdserver: no leader")).status())
            return fake

        lw = cache.ListWatch(list_func=lambda _: mk_list("1"), watch_func=watch_func)
        reflector = new_reflector(lw)
        reflector.max_internal_error_retry_duration = retry_for
        reflector.list_and_watch_with_context(BACKGROUND)
        assert len(opened) - 1 == retries
    assert caplog.text.count("Retrying watch after internal error") == retries


def test_a_failing_resync_ends_the_watch_and_is_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    """Go: TestReflectorResync"""
    with synctest.bubble() as bubble:
        store = RecordingStore()
        resyncs: list[float] = []

        def resync() -> None:
            resyncs.append(bubble.elapsed)
            if len(resyncs) == 2:
                raise RuntimeError("resync failed")

        store.resync = resync  # type: ignore[method-assign]
        lw = cache.ListWatch(list_func=lambda _: mk_list("0"), watch_func=lambda _: watch.new_fake())
        new_reflector(lw, store, resync_period=1.0).list_and_watch_with_context(BACKGROUND)
        assert resyncs == [1.0, 2.0]
    assert 'err="resync failed"' in caplog.text


def test_a_stop_waits_for_the_resync_that_is_under_way() -> None:
    class SlowStore(RecordingStore):
        def resync(self) -> None:
            REAL_CLOCK.sleep(5.0)
            super().resync()

    with synctest.bubble() as bubble:
        store = SlowStore()
        reflector = new_config_map_reflector(scripted(bubble, [config_maps("1")]), store, resync_period=1.0)
        ctx, cancel = context.with_cancel(BACKGROUND)
        bubble.after_func(2.0, cancel)
        reflector.run_with_context(ctx)
        assert bubble.elapsed == 6.0
        assert store.ops[-1] == {"op": "resync"}


def test_a_failed_resync_is_noticed_on_a_busy_watch() -> None:
    fake = CountedWatch()
    for number in range(10):
        fake.add(mk_pod("a", str(number)))
    resync_ctx, cancel = context.with_cancel_cause(BACKGROUND)
    cancel(RuntimeError("resync failed"))
    with pytest.raises(RuntimeError, match="resync failed"):
        handle_watch(BACKGROUND, fake, resync_ctx=resync_ctx)
    assert fake.stops == 1


def test_a_failed_resync_is_noticed_on_a_watch_that_never_rests() -> None:
    events: Channel[watch.Event] = Channel(10)
    resync_ctx, cancel = context.with_cancel_cause(BACKGROUND)
    event = watch.Event(watch.EventType.MODIFIED, mk_pod("a", "1"))

    class Restless(CountedWatch):
        def result_chan(self) -> Any:
            return events

    class Store(RecordingStore):
        def update(self, obj: Any) -> None:
            super().update(obj)
            if len(self.ops) == 10:
                cancel(RuntimeError("resync failed"))
            if len(self.ops) < 100:
                events.send(event)

    store = Store()
    events.send(event)
    events.send(event)
    with pytest.raises(RuntimeError, match="resync failed"):
        handle_watch(BACKGROUND, Restless(), store, resync_ctx)
    assert len(store.ops) == 10


def test_should_resync_is_asked_each_time() -> None:
    with synctest.bubble() as bubble:
        server = scripted(bubble, [config_maps("1")])
        store = RecordingStore()
        reflector = new_config_map_reflector(server, store, resync_period=1.0)
        answers = iter([False, True, False])
        reflector.should_resync = lambda: next(answers)
        with running(reflector):
            bubble.sleep(3.5)
        assert store.ops[1:] == [{"op": "resync"}]
        server.join()


def test_a_page_size_makes_pages_of_any_list() -> None:
    """Go: TestReflectorWatchListPageSize"""
    pages = [config_maps("10", "a", "b", token="C1"), config_maps("10", "c", "d", token="C2"), config_maps("10", "e")]
    calls, store, _ = run_for(1.0, pages, watch_list_page_size=2)
    assert list_options(calls) == [
        {"limit": 2, "resource_version": "0"},
        {"limit": 2, "continue": "C1"},
        {"limit": 2, "continue": "C2"},
    ]
    assert sorted(store.objects) == ["a", "b", "c", "d", "e"]


EXPIRED = {"events": [{"type": "ERROR", "status": "expired"}]}


def test_a_list_at_a_version_is_not_paged() -> None:
    """
    Go: TestReflectorNotPaginatingNotConsistentReads
    Go: TestReflectorResyncWithResourceVersion
    """
    calls, _, _ = run_for(5.0, [config_maps("10", "a"), config_maps("11", "a")], [EXPIRED])
    assert list_options(calls) == [{"limit": 500, "resource_version": "0"}, {"resource_version": "10"}]


def test_a_server_without_watch_cache_is_listed_in_pages_from_then_on() -> None:
    """Go: TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled"""
    first = [config_maps("10", "a", token="C1"), config_maps("10", "b")]
    calls, store, _ = run_for(5.0, [*first, config_maps("11", "c")], [EXPIRED])
    assert list_options(calls) == [
        {"limit": 500, "resource_version": "0"},
        {"limit": 500, "continue": "C1"},
        {"limit": 500, "resource_version": "10"},
    ]
    assert sorted(store.objects) == ["c"]


def test_an_expired_version_is_followed_by_the_newest_at_once() -> None:
    """Go: TestReflectorExpiredExactResourceVersion"""
    calls, store, _ = run_for(5.0, [config_maps("10", "a"), {"error": "expired"}, config_maps("11", "b")], [EXPIRED])
    assert versions(calls) == ["0", "10", ""]
    assert sorted(store.objects) == ["b"]


def test_an_expired_page_is_followed_by_the_full_list() -> None:
    """Go: TestReflectorFullListIfExpired"""
    lists = [config_maps("10", "a"), config_maps("10", "a", token="C1"), {"error": "expired"}, config_maps("11", "b")]
    calls, store, _ = run_for(5.0, lists, [EXPIRED], watch_list_page_size=4)
    assert list_options(calls) == [
        {"limit": 4, "resource_version": "0"},
        {"limit": 4, "resource_version": "10"},
        {"limit": 4, "continue": "C1"},
        {"resource_version": "10"},
    ]
    assert sorted(store.objects) == ["b"]


@pytest.mark.parametrize("kind", ["too_large_rv", "too_large_rv_cause"])
def test_a_version_from_the_future_is_followed_by_the_newest_at_once(kind: str) -> None:
    """Go: TestReflectorFullListIfTooLarge"""
    calls, _, _ = run_for(5.0, [config_maps("20", "a"), {"error": kind}, config_maps("10", "a")], [EXPIRED])
    assert versions(calls) == ["0", "20", ""]


def versions_asked_after(err: Exception) -> list[str]:
    """Return the versions of a reflector's lists at a server that answers the second one, at version 20, with `err`."""
    asked: list[str] = []

    def answer(options: metav1.ListOptions) -> corev1.PodList:
        asked.append(options.resource_version)
        if options.resource_version == "20":
            raise err
        return mk_list("20")

    reflector = new_reflector(list_only(answer))
    list_once(reflector)
    with pytest.raises((RuntimeError, type(err))):
        reflector.list_and_watch_with_context(BACKGROUND)
    return asked


@pytest.mark.parametrize(
    ("status", "too_large"),
    [
        (apierrors.new_timeout_error("Too large resource version", 1), True),
        (apierrors.new_timeout_error("something else", 1), False),
        (apierrors.new_internal_error(Exception("Too large resource version")), False),
        (Exception("Too large resource version"), False),
    ],
)
def test_servers_have_said_too_large_in_different_ways(status: Exception, too_large: bool) -> None:
    assert versions_asked_after(status) == (["0", "20", ""] if too_large else ["0", "20"])


def test_the_old_servers_said_it_in_a_cause_without_type() -> None:
    err = apierrors.new_timeout_error("see below", 1)
    err.status().details.causes = [metav1.StatusCause(message="Too large resource version")]
    assert versions_asked_after(err) == ["0", "20", ""]


SERVICE = Unstructured.from_dict({"apiVersion": "mygroup.example.com/v1", "kind": "MyKind"})


@pytest.mark.parametrize(
    ("example", "description"),
    [
        # Go: TestGetTypeDescriptionFromObject/Nil type
        (None, "<unspecified>"),
        # Go: TestGetTypeDescriptionFromObject/Normal type
        (corev1.Pod(), "*v1.Pod"),
        (corev1.Pod, "*v1.Pod"),
        # Go: TestGetTypeDescriptionFromObject/Unstructured type without GVK
        (Unstructured.from_dict({}), "*unstructured.Unstructured"),
        # Go: TestGetTypeDescriptionFromObject/Unstructured type with GVK
        (SERVICE, "mygroup.example.com/v1, Kind=MyKind"),
    ],
)
def test_the_description_of_the_expected_type(example: object, description: str) -> None:
    """Go: TestGetTypeDescriptionFromObject"""
    assert new_reflector(cache.ListWatch(), expected=example).type_description() == description


@pytest.mark.parametrize(
    ("example", "gvk"),
    [
        # Go: TestGetExpectedGVKFromObject/Nil type
        (None, None),
        # Go: TestGetExpectedGVKFromObject/Some non Unstructured type
        (corev1.Pod(), None),
        # Go: TestGetExpectedGVKFromObject/Unstructured type without GVK
        (Unstructured.from_dict({}), None),
        # Go: TestGetExpectedGVKFromObject/Unstructured type with GVK
        (SERVICE, SERVICE.group_version_kind()),
    ],
)
def test_the_kind_events_are_checked_for(example: object, gvk: object) -> None:
    """Go: TestGetExpectedGVKFromObject"""
    assert reflector_module._get_expected_gvk_from_object(example) == gvk


def test_an_event_of_another_kind_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    other = Unstructured.from_dict({"apiVersion": "v1", "kind": "Other", "metadata": {"name": "a"}})
    store = RecordingStore()
    fake = watch_of(watch.Event("ADDED", other), watch.Event("ADDED", SERVICE))
    handle_watch(BACKGROUND, fake, store, expected=SERVICE)
    assert store.objects.keys() == {SERVICE.get_name()}
    assert "Unexpected watch event object gvk" in caplog.text


@pytest.mark.parametrize(
    "event",
    [
        watch.Event("ADDED", corev1.Pod.from_dict({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "b"}})),
        watch.Event("ADDED", corev1.Pod.from_dict({"apiVersion": "v9", "kind": "Pod", "metadata": {"name": "b"}})),
        watch.Event("MODIFIED", corev1.Pod.from_dict({"kind": "Nonsense", "metadata": {"name": "b"}})),
        watch.Event("BOOKMARK", corev1.Pod.from_dict({"kind": "Service", "metadata": {"resourceVersion": "9"}})),
        watch.Event("ADDED", corev1.Pod.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": ["b"]})),
        watch.Event("DELETED", corev1.Pod.from_dict({"metadata": "b"})),
    ],
    ids=lambda event: f"{event.type} {event.object.to_dict()}",
)
def test_an_event_that_cannot_be_in_the_watch_ends_it_and_leads_to_a_list(event: watch.Event) -> None:
    """In Go it is not decoded, which is an ERROR event. Nothing of it, nor of what comes behind, is stored."""
    with synctest.bubble() as bubble:
        lists: list[str] = []
        opened: list[CountedWatch] = []

        def list_pods(_: metav1.ListOptions) -> corev1.PodList:
            lists.append("list")
            return mk_list("5", mk_pod("a", "5"))

        def open_watch(_: metav1.ListOptions) -> watch.Interface:
            opened.append(CountedWatch())
            return opened[-1]

        store = cache.new_store(cache.meta_namespace_key_func)
        reflector = new_reflector(cache.ListWatch(list_func=list_pods, watch_func=open_watch), store, corev1.Pod())
        with running(reflector):
            bubble.wait()
            opened[0].action(event.type, event.object)
            opened[0].add(mk_pod("c", "7"))
            bubble.wait()
            assert opened[0].stops == 1
            assert reflector.last_sync_resource_version() == "5"
            bubble.sleep(3.0)
            assert (len(lists), len(opened)) == (2, 2)
            assert store.list_keys() == ["ns/a"]
            opened[1].add(corev1.Pod.from_dict({"kind": "Pod", "metadata": {"name": "d", "resourceVersion": "8"}}))
            bubble.wait()
            assert store.list_keys() == ["ns/a", "d"], "half of the kind is no other kind"


def test_metadata_alone_may_be_of_any_kind() -> None:
    raw = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "resourceVersion": "3"}}
    added = watch.Event("ADDED", metav1.PartialObjectMetadata.from_dict(raw))
    reflector = handle_watch(BACKGROUND, watch_of(added), expected=metav1.PartialObjectMetadata)
    assert reflector.last_sync_resource_version() == "3"


@pytest.mark.parametrize(
    ("asked", "minimum"),
    [
        # Go: TestWatchTimeout/no timeout
        (0.0, 300),
        # Go: TestWatchTimeout/small timeout not honored
        (1.0, 300),
        # Go: TestWatchTimeout/30m timeout
        (1800.0, 1800),
    ],
)
def test_a_watch_ends_by_itself_after_a_random_time(asked: float, minimum: int) -> None:
    """Go: TestWatchTimeout"""
    timeouts: set[int | None] = set()

    def open_watch(options: metav1.ListOptions) -> watch.Interface:
        timeouts.add(options.timeout_seconds)
        raise RuntimeError("no watch")

    lw = cache.ListWatch(list_func=lambda _: mk_list("1"), watch_func=open_watch)
    reflector = new_reflector(lw, min_watch_timeout=asked)
    for _ in range(50):
        with pytest.raises(RuntimeError, match="no watch"):
            reflector.list_and_watch_with_context(BACKGROUND)
    assert all(timeout is not None and minimum <= timeout <= 2 * minimum for timeout in timeouts)
    assert len(timeouts) > 1


def test_a_store_with_the_method_gets_every_version() -> None:
    """Go: TestReflectorResourceVersionUpdate"""
    events = [
        {"type": "ADDED", "object": {"name": "a", "rv": "10"}},
        {"type": "MODIFIED", "object": {"name": "a", "rv": "20"}},
        {"type": "DELETED", "object": {"name": "a", "rv": "30"}},
        {"type": "BOOKMARK", "object": {"rv": "40"}},
    ]
    _, store, _ = run_for(1.0, [config_maps("5")], [{"events": events}])
    notified = [op["resource_version"] for op in store.ops if op["op"] == "update_resource_version"]
    assert notified == ["10", "20", "30", "40"]


def test_a_paged_list_is_stored_complete_and_pages_are_not_kept() -> None:
    """Go: TestReflectorListExtract"""

    class Page(corev1.PodList):
        """The lists of this test alone."""

    pages: list[Any] = [
        Page(
            metadata=metav1.ListMeta(resource_version="1", continue_=token), items=[mk_pod(name, "1") for name in names]
        )
        for names, token in ((("p0", "p1", "p2"), "C"), (("last",), ""))
    ]
    store = cache.new_store(cache.meta_namespace_key_func)
    list_once(new_reflector(list_only(lambda options: pages[1] if options.continue_ else pages[0]), store))
    assert sorted(store.list_keys()) == ["ns/last", "ns/p0", "ns/p1", "ns/p2"]
    # An item must not lead back to the list it came in, or it would keep all the others in memory.
    pages.clear()
    gc.collect()
    assert not [each for each in gc.get_objects() if isinstance(each, Page)]


def test_a_corrupt_object_deleted_by_force_leads_to_a_new_list() -> None:
    """Go: TestReflectorReplacesStoreOnUnsafeDelete"""
    with synctest.bubble() as bubble:
        status = metav1.Status(
            status="Failure",
            code=500,
            reason="StorageReadError",
            message="failed to prepare current and previous objects: corrupt object has been deleted",
        )
        lists = deque([mk_list("3", mk_pod("a", "1")), mk_list("5", mk_pod("a", "1"))])
        first = watch.new_fake_with_chan_size(2, False)
        first.add(mk_pod("corrupt", "4"))
        first.error(status)
        watches = deque([first, watch.new_fake()])
        lw = cache.ListWatch(list_func=lambda _: lists.popleft(), watch_func=lambda _: watches.popleft())
        store = RecordingStore()
        with running(new_reflector(lw, store)):
            bubble.sleep(10.0)
        assert [op["op"] for op in store.ops] == ["replace", "add", "update_resource_version", "replace"]
        assert sorted(store.objects) == ["ns/a"]


@pytest.mark.parametrize(
    ("api_version", "kind", "unsupported"),
    [
        # Go: TestIsUnsupportedTableObject/Unsupported Table object in meta.k8s.io/v1beta1
        ("meta.k8s.io/v1beta1", "Table", True),
        # Go: TestIsUnsupportedTableObject/Unsupported Table object in meta.k8s.io/v1
        ("meta.k8s.io/v1", "Table", True),
        # Go: TestIsUnsupportedTableObject/Pod obj is not a Table
        ("v1", "Pod", False),
        # Go: TestIsUnsupportedTableObject/Table object with unrecognised API group
        ("example.com/v1", "Table", False),
    ],
)
def test_a_table_is_no_object(api_version: str, kind: str, unsupported: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Go: TestIsUnsupportedTableObject"""
    obj = Unstructured.from_dict({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}})
    assert reflector_module._is_unsupported_table_object(obj) is unsupported
    assert not reflector_module._is_unsupported_table_object(corev1.Pod())
    store = RecordingStore()
    pod = watch.Event("ADDED", mk_pod("p", "1"))
    handle_watch(BACKGROUND, watch_of(watch.Event("ADDED", obj), pod), store, expected=None)
    assert store.objects.keys() == ({"ns/p"} if unsupported else {"a", "ns/p"})
    assert ("Unsupported watch event object gvk" in caplog.text) is unsupported


# --- Beyond Go's tests ----------------------------------------------------------------------------------------------


def test_it_reports_the_time_of_the_servers_last_answer() -> None:
    with synctest.bubble() as bubble:
        events = [{"type": "BOOKMARK", "object": {"rv": "2"}, "delay_ms": 60_000}]
        server = scripted(bubble, [{"error": "connection_refused"}, config_maps("1")], [{"events": events}])
        reflector = new_config_map_reflector(server, RecordingStore())
        began = REAL_CLOCK.now()
        contacts: list[float | None] = []

        def look() -> None:
            last = reflector.last_contact()
            contacts.append(None if last is None else last - began)

        with running(reflector):
            for seconds in (0.5, 10.0, 60.0, 600.0):
                bubble.sleep(seconds)
                look()
        server.join()
        assert contacts == [None, *(pytest.approx(seconds, abs=0.1) for seconds in (1.0, 61.0, 61.0))]


@pytest.mark.parametrize("kind", ["internal", "expired"])
def test_a_watch_that_always_fails_makes_no_storm(kind: str) -> None:
    """At most as many requests as client-go makes: a round now, one after a second, one after three or four."""
    with synctest.bubble() as bubble:
        server = scripted(bubble, [config_maps(str(rv), "a") for rv in range(1, 50)], [{"error": kind}] * 50)
        reflector = new_config_map_reflector(server, RecordingStore(), backoff=None)
        with running(reflector):
            bubble.sleep(4.0)
        kinds = [call["call"] for call in server.calls]
        assert kinds.count("list") <= 3
        assert kinds.count("watch") <= 3
        server.join()


def test_a_list_that_ignores_its_context_does_not_hold_up_the_stop() -> None:
    with synctest.bubble() as bubble:
        release = threading.Event()

        def stuck(_: metav1.ListOptions) -> Any:
            release.wait()
            return mk_list("1")

        reflector = new_reflector(cache.ListWatch(list_func=stuck))
        with running(reflector) as cancel:
            bubble.wait()
            cancelled_at = bubble.elapsed
            cancel()
        assert bubble.elapsed - cancelled_at < 1.0
        release.set()
        bubble.wait()


def test_a_failing_error_handler_does_not_end_the_reflector(caplog: pytest.LogCaptureFixture) -> None:
    with synctest.bubble() as bubble:
        server = scripted(bubble, [{"error": "plain"}, config_maps("1", "a")])
        store = RecordingStore()
        reflector = new_config_map_reflector(server, store)

        def fail(*_: Any) -> None:
            raise ValueError("handler bug")

        reflector.watch_error_handler = fail
        with running(reflector):
            bubble.sleep(5.0)
        assert sorted(store.objects) == ["a"]
        server.join()
    assert "handler bug" in caplog.text


@pytest.mark.parametrize(
    ("err", "level", "text"),
    [
        (apierrors.new_resource_expired("old"), None, "Watch closed"),
        (EOFError(), None, ""),
        (reflector_module.utilnet.ErrUnexpectedEOF(), None, "Watch closed with unexpected EOF"),
        (RuntimeError("broken"), logging.ERROR, "Failed to watch"),
    ],
)
def test_errors_are_logged_as_loudly_as_they_deserve(
    err: Exception, level: int | None, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="clientgo")
    reflector = new_reflector(cache.ListWatch())
    caplog.clear()
    cache.default_watch_error_handler(BACKGROUND, reflector, err)
    assert text in caplog.text
    assert (level is None) == all(record.levelno < logging.INFO for record in caplog.records)
    assert bool(caplog.records) == bool(text)


@pytest.mark.parametrize(
    ("list_takes", "store_takes", "error", "steps"),
    [
        (11.0, 0.0, None, ['"Objects listed" 11000ms', '"Objects extracted" 0ms', '"SyncWith done" 0ms']),
        (0.0, 12.0, None, ['"Objects listed" 0ms', '"Objects extracted" 0ms', '"SyncWith done" 12000ms']),
        (13.0, 0.0, ValueError("no such list"), ['"Objects listed" error:no such list 13000ms']),
    ],
    ids=["list", "store", "error"],
)
def test_a_slow_list_is_logged_step_by_step(
    list_takes: float, store_takes: float, error: Exception | None, steps: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="clientgo")

    class SlowStore(RecordingStore):
        def replace(self, *args: Any) -> None:
            REAL_CLOCK.sleep(store_takes)
            super().replace(*args)

    with synctest.bubble() as bubble:

        def listed(_: metav1.ListOptions) -> corev1.PodList:
            REAL_CLOCK.sleep(list_takes)
            if error is not None:
                raise error
            return mk_list("1")

        lw = cache.ListWatch(list_func=listed, watch_func=lambda _: watch.new_fake())
        with running(new_reflector(lw, SlowStore())):
            bubble.sleep(13.5)
    assert '"Reflector ListAndWatch" name:test-reflector' in caplog.text
    assert re.findall(r"---(.*ms) ", caplog.text) == steps


def test_logs_read_as_those_of_go(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="clientgo")
    run_for(30.5, [config_maps("1", "a")], resync_period=30.0)
    assert [record.getMessage() for record in caplog.records if record.filename == "reflector.py"] == [
        '"Starting reflector" type="*v1.ConfigMap" resyncPeriod="30s" reflector="test-reflector"',
        '"Listing and watching" type="*v1.ConfigMap" reflector="test-reflector"',
        '"Caches populated" type="*v1.ConfigMap" reflector="test-reflector"',
        '"Forcing resync" reflector="test-reflector"',
        '"Stopping reflector" type="*v1.ConfigMap" resyncPeriod="30s" reflector="test-reflector"',
    ]


def test_a_reflector_without_a_name_is_named_after_its_maker() -> None:
    made: Callable[[], cache.Reflector] = lambda: cache.new_reflector(  # noqa: E731
        cache.ListWatch(), corev1.Pod(), RecordingStore(), 0.0
    )
    assert "test_reflector" in made().name()
    assert cache.new_named_reflector("mine", cache.ListWatch(), None, RecordingStore(), 0.0).name() == "mine"


def test_an_indexer_by_namespace_and_its_reflector() -> None:
    lw = list_only(lambda _: mk_list("1", mk_pod("a", "1")))
    indexer, reflector = cache.new_namespace_keyed_indexer_and_reflector(lw, corev1.Pod(), 0.0)
    list_once(reflector)
    assert [pod.get_name() for pod in indexer.by_index(cache.NAMESPACE_INDEX, "ns")] == ["a"]
    assert "of *v1.Pod at '1'" in repr(reflector)
    assert to_config_map({"name": "a"}) not in indexer.list()


def test_a_reflector_that_ends_drops_the_request_for_a_list() -> None:
    """Its timer would fire up to ten minutes later."""
    clock = new_fake_clock()
    ctx, cancel = context.with_cancel(BACKGROUND)

    def end(_: metav1.ListOptions) -> corev1.PodList:
        reflector.request_list()
        assert clock.has_waiters()
        cancel()
        return mk_list("1")

    reflector = new_reflector(list_only(end), clock=clock)
    reflector.run_with_context(ctx)

    assert not clock.has_waiters()
