"""The reflector in streaming mode. Go: reflector_watchlist_test.go."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
from recordingstore import RecordingStore
from scriptedwatch import Script, ScriptedListerWatcher
from virtualserver import SILENCE, Reply, VirtualServer, pod, pod_informer
from virtualserver import event as event_line

from clientgo import context, features, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import reflector as reflector_module
from clientgo.util import consistencydetector
from clientgo.utils.clock import testing as clocktesting

BACKGROUND = context.background()
Answers = list[dict[str, Any]]
STREAM = {
    "resource_version_match": "NotOlderThan",
    "send_initial_events": True,
    "allow_watch_bookmarks": True,
    "timeout_seconds_in_300_600": True,
}
WATCH = {"allow_watch_bookmarks": True, "timeout_seconds_in_300_600": True}


@pytest.fixture(autouse=True)
def streaming_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, True):
        yield


def switch_streaming(on: bool) -> None:
    """Enable or disable watch-lists until the end of the test."""
    features.feature_gates().set_for_testing(features.WATCH_LIST_CLIENT, on)  # type: ignore[attr-defined]


def event(kind: str, name: str, rv: str, delay_ms: int = 0) -> dict[str, Any]:
    return {"type": kind, "object": {"name": name, "rv": rv}, "delay_ms": delay_ms}


def end_of_initial_events(rv: str) -> dict[str, Any]:
    return {"type": "BOOKMARK", "object": {"rv": rv}, "initial_events_end": True}


CLOSE = {"type": "CLOSE", "delay_ms": 2000}
SYNCED = [event("ADDED", "a", "1"), end_of_initial_events("2")]


def run_for(
    seconds: float, watches: Answers, lists: Answers | None = None
) -> tuple[list[tuple[str, dict[str, Any]]], RecordingStore, list[str]]:
    """Return the calls with their options, the store, and the reported errors."""
    with synctest.bubble() as bubble:
        server = ScriptedListerWatcher(bubble, Script(deque(lists or ()), deque(watches)))
        store = RecordingStore()
        backoff = wait.Backoff(duration=1.0, cap=30.0, factor=2.0, steps=10)
        options = cache.ReflectorOptions(name="test-reflector", backoff=backoff)
        reflector = cache.new_reflector_with_options(server, corev1.ConfigMap(), store, options)
        errors: list[str] = []
        reflector.watch_error_handler = lambda _, __, err: errors.append(str(err))
        ctx, cancel = context.with_cancel(BACKGROUND)
        thread = threading.Thread(target=reflector.run_with_context, args=(ctx,), name="reflector")
        thread.start()
        bubble.sleep(seconds)
        cancel()
        thread.join()
        server.join()
        return [(call["call"], call["options"]) for call in server.calls], store, errors


def replaced(store: RecordingStore) -> list[list[str]]:
    """Return the names in each replace."""
    return [[obj["name"] for obj in op["objects"]] for op in store.ops if op["op"] == "replace"]


def test_what_arrives_together_with_the_end_of_the_initial_objects_is_not_lost() -> None:
    """The server sends both in one chunk. The stream reads the initial objects, and the watch reads the rest."""
    end = pod("", "7") | {"metadata": {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}}}
    lines = (("ADDED", pod("a", "1")), ("BOOKMARK", end), ("ADDED", pod("b", "8")), ("DELETED", pod("a", "9")))
    piece = b"".join(event_line(*line) for line in lines)
    with synctest.bubble() as bubble:
        server = VirtualServer(bubble, lambda call: Reply(pieces=[(0.0, piece), SILENCE]))
        informer = pod_informer(server)
        stop = threading.Event()
        thread = threading.Thread(target=informer.run, args=(stop,), name="informer")
        thread.start()
        bubble.sleep(1.0)
        assert (informer.get_store().list_keys(), len(server.calls)) == (["b"], 1)
        stop.set()
        thread.join()


def test_items_are_published_with_the_bookmark() -> None:
    """
    Go: TestWatchList
    Go: TestWatchList/prove that the reflector is synced after receiving a bookmark event
    Go: TestReflectorListAndWatch/UseWatchList enabled
    """
    calls, store, errors = run_for(1.0, [{"events": [*SYNCED, event("MODIFIED", "a", "3")]}])
    assert calls == [("watch", STREAM)]
    assert replaced(store) == [["a"]]
    assert store.ops[0]["resource_version"] == "2"
    assert store.ops[1:] == [
        {"op": "update", "object": {"name": "a", "rv": "3"}},
        {"op": "update_resource_version", "resource_version": "3"},
    ]
    assert errors == []


def test_without_the_bookmark_nothing_is_published() -> None:
    """Go: TestWatchList/the reflector won't be synced if the bookmark event has been received"""
    _, store, _ = run_for(1.0, [{"events": [event("ADDED", "a", "1")]}])
    assert store.ops == []


def test_with_the_gate_off_it_lists() -> None:
    """Go: TestWatchList/the reflector uses the old LIST/WATCH semantics if the UseWatchList is turned off"""
    switch_streaming(False)
    calls, _, _ = run_for(1.0, [], [{"items": [], "resource_version": "5"}])
    assert calls == [("list", {"limit": 500, "resource_version": "0"}), ("watch", WATCH | {"resource_version": "5"})]


@pytest.mark.parametrize(
    "kind",
    [
        # Go: TestWatchList/the reflector can fall back to old LIST/WATCH semantics when a server doesn't support streaming  # noqa: E501
        "invalid",
        # Go: TestWatchList/returning any other error than apierrors.NewInvalid forces fallback
        "plain",
        "bad_request",
        "forbidden",
    ],
)
def test_other_errors_fall_back_to_a_list_at_once(kind: str) -> None:
    calls, store, errors = run_for(1.0, [{"error": kind}], [{"items": [{"name": "b"}], "resource_version": "5"}])
    assert [call for call, _ in calls] == ["watch", "list", "watch"]
    assert calls[1][1] == {"limit": 500, "resource_version": "0"}
    assert replaced(store) == [["b"]]
    assert errors == []


def test_changes_before_the_bookmark_count() -> None:
    # Go: TestWatchList/check if Updates and Deletes events are propagated during streaming (until the bookmark is received)  # noqa: E501
    events = [
        event("ADDED", "a", "1"),
        event("ADDED", "b", "2"),
        event("MODIFIED", "a", "3"),
        event("DELETED", "b", "4"),
        end_of_initial_events("5"),
    ]
    _, store, _ = run_for(1.0, [{"events": events}])
    assert replaced(store) == [["a"]]
    assert store.objects["a"].get_resource_version() == "3"


@pytest.mark.parametrize("kind", ["too_many_requests", "connection_refused"])
def test_a_busy_server_is_asked_for_a_stream_again(kind: str) -> None:
    """Go: TestWatchList/checks if the reflector retries 429"""
    calls, store, _ = run_for(3.0, [{"error": kind}, {"events": SYNCED}])
    assert calls == [("watch", STREAM)] * 2
    assert replaced(store) == [["a"]]


def test_a_stream_that_closes_too_early_begins_again_from_nothing() -> None:
    """Go: TestWatchList/check if stopping a watcher before sync results in creating a new watch-list request"""
    calls, store, _ = run_for(5.0, [{"events": [event("ADDED", "lost", "1"), CLOSE]}, {"events": SYNCED}])
    assert calls == [("watch", STREAM)] * 2
    assert replaced(store) == [["a"]]


def test_after_the_sync_a_closed_watch_is_followed_by_an_ordinary_one() -> None:
    """Go: TestWatchList/stopping a watcher after synchronization results in creating a new watch request"""
    calls, _, _ = run_for(5.0, [{"events": [*SYNCED, CLOSE]}])
    assert calls == [("watch", STREAM), ("watch", WATCH | {"resource_version": "2"})]


def test_an_expired_version_after_the_sync_is_an_error_and_begins_again() -> None:
    """Go: TestWatchList/expiring an established watcher results in returning an error from the reflector"""
    calls, store, errors = run_for(6.0, [{"events": [*SYNCED, CLOSE]}, {"error": "expired"}, {"events": SYNCED}])
    assert [options.get("send_initial_events") for _, options in calls] == [True, None, True]
    assert errors == ["The resourceVersion for the provided watch is too old."]
    assert replaced(store) == [["a"], ["a"]]


def test_an_ordinary_bookmark_does_not_end_the_initial_events() -> None:
    _, store, _ = run_for(1.0, [{"events": [event("ADDED", "a", "1"), event("BOOKMARK", "", "2")]}])
    assert store.ops == []


@pytest.mark.parametrize("value", ["false", "True", "1"])
def test_the_annotation_must_say_true_to_end_the_initial_events(value: str) -> None:
    """Go: TestWatchList/prove that the reflector is checking the value of the initialEventsEnd annotation"""
    bookmark = event("BOOKMARK", "", "2") | {"initial_events_end": value}
    _, store, _ = run_for(1.0, [{"events": [event("ADDED", "a", "1"), bookmark]}])
    assert store.ops == []


@pytest.mark.parametrize(("kind", "since"), [("ADDED", "0"), ("MODIFIED", "6"), ("DELETED", "6"), ("BOOKMARK", "6")])
def test_a_watch_from_anywhere_counts_versions_once_something_else_than_an_added_came(kind: str, since: str) -> None:
    """It begins with what there is, in any order: a version among that does not say where to go on."""
    switch_streaming(False)
    events = [event("ADDED", "a", "5"), event(kind, "" if kind == "BOOKMARK" else "b", "6"), CLOSE]
    calls, _, _ = run_for(3.0, [{"events": events}], [{"items": [], "resource_version": "0"}])
    assert [options["resource_version"] for call, options in calls if call == "watch"] == ["0", since]


class Client:
    def __init__(self, **answers: bool) -> None:
        if "unsupported" in answers:
            self.is_watch_list_semantics_un_supported = lambda: answers["unsupported"]


@pytest.mark.parametrize(
    ("gate", "client", "used"),
    [
        # Go: TestNewReflectorWithDisablementWatchList/WatchListClient feature gate off, client supports WatchList semantics  # noqa: E501
        (False, Client(unsupported=False), False),
        # Go: TestNewReflectorWithDisablementWatchList/WatchListClient feature gate on, client supports WatchList semantics  # noqa: E501
        (True, Client(unsupported=False), True),
        # Go: TestNewReflectorWithDisablementWatchList/WatchListClient feature gate on, client doesn't support the WatchList semantics  # noqa: E501
        (True, Client(unsupported=True), False),
        # Go: TestNewReflectorWithDisablementWatchList/WatchListClient feature gate on, client doesn't expose the IsWatchListSemanticsUnSupported method  # noqa: E501
        (True, Client(), True),
    ],
)
def test_conditions_for_a_streaming_list(gate: bool, client: Client, used: bool) -> None:
    """Go: TestNewReflectorWithDisablementWatchList"""
    switch_streaming(gate)
    lw = cache.to_list_watcher_with_watch_list_semantics(cache.ListWatch(), client)
    assert cache.new_reflector(lw, corev1.Pod(), RecordingStore(), 0.0)._use_watch_list is used


def test_the_ticker_of_a_watch_without_initial_objects_never_warns(caplog: pytest.LogCaptureFixture) -> None:
    """Go: TestInitialEventsEndBookmarkTicker/testing NoopInitialEventsEndBookmarkTicker"""
    clock = clocktesting.new_fake_clock(1000.0)
    ticker = reflector_module._InitialEventsEndBookmarkTicker(klog.background(), "it", clock, clock.now(), False)
    assert not clock.has_waiters()
    clock.step(30.0)
    ticker.stop()
    assert "expired" not in caplog.text


def test_the_ticker_warns_once_for_each_interval_without_events(caplog: pytest.LogCaptureFixture) -> None:
    """
    Go: TestInitialEventsEndBookmarkTicker
    Go: TestInitialEventsEndBookmarkTicker/testing InitialEventsEndBookmarkTicker backed by a fake clock
    """
    clock = clocktesting.new_fake_clock(1000.0)
    ticker = reflector_module._InitialEventsEndBookmarkTicker(
        klog.background(), "testName", clock, clock.now(), True, 10.0
    )
    clock.step(9.0)
    assert caplog.text == ""
    clock.step(1.0)
    assert caplog.text.count("testName: awaiting required bookmark event for initial events stream, no events") == 1
    assert "no events received for 10s" in caplog.text
    caplog.clear()
    clock.step(5.0)
    ticker.last_event_observe_time = clock.now()
    clock.step(5.0)
    assert caplog.text == ""
    clock.step(10.0)
    assert caplog.text.count("testName: hasn't received required bookmark event marking the end of initial events") == 1
    assert "received last event 15s ago" in caplog.text
    caplog.clear()
    ticker.stop()
    clock.step(30.0)
    assert caplog.text == ""
    assert not clock.has_waiters()


def test_a_stream_without_end_is_complained_about(caplog: pytest.LogCaptureFixture) -> None:
    run_for(25.0, [{"events": [event("ADDED", "a", "1", delay_ms=1000)]}])
    assert caplog.text.count("Warning: event bookmark expired") == 1
    assert "received last event 19" in caplog.text


def test_a_stream_without_events_is_reported_after_ten_seconds(caplog: pytest.LogCaptureFixture) -> None:
    run_for(9.9, [{"events": []}])
    assert "event bookmark expired" not in caplog.text
    run_for(10.1, [{"events": []}])
    assert "no events received for 10s" in caplog.text


@pytest.mark.parametrize(
    ("events", "version"),
    [
        # Go: TestWatchListResourceVersion/empty resource version
        ([], ""),
        # Go: TestWatchListResourceVersion/empty resource version without bookmark event
        ([event("ADDED", "a", "1")], ""),
        # Go: TestWatchListResourceVersion/non empty resource version with bookmark event and initial events annotation
        (SYNCED, "2"),
    ],
)
def test_the_version_counts_once_something_else_than_an_added_came(events: Answers, version: str) -> None:
    """Go: TestWatchListResourceVersion"""
    with synctest.bubble() as bubble:
        server = ScriptedListerWatcher(bubble, Script(deque(), deque([{"events": events}])))
        reflector = cache.new_reflector(server, corev1.ConfigMap(), RecordingStore(), 0.0)
        ctx, _ = context.with_timeout(BACKGROUND, 5.0)
        if version:
            reflector._watch_list(ctx).stop()
        else:
            with pytest.raises(reflector_module._StopRequested):
                reflector._watch_list(ctx)
        assert reflector.last_sync_resource_version() == version
        server.join()


TransformedStore = cache.RealFIFO | cache.DeltaFIFO


@pytest.mark.parametrize(
    "kind",
    [
        # Go: TestReflectorRespectStoreTransformer/real-fifo
        "real-fifo",
        # Go: TestReflectorRespectStoreTransformer/delta-fifo
        "delta-fifo",
    ],
)
def test_the_collected_objects_go_through_the_stores_transformer(kind: str) -> None:
    """Twice each: into the collection, and again into the store. So a transformer must be idempotent.

    Go: TestReflectorRespectStoreTransformer
    """
    transformed: list[str] = []

    def transform(obj: Any) -> Any:
        transformed.append(obj.get_name())
        obj.set_labels({"transformed": "yes"})
        return obj

    def pod(name: str, rv: str, **annotations: str) -> corev1.Pod:
        meta = metav1.ObjectMeta(name=name, namespace="ns", resource_version=rv, annotations=annotations)
        return corev1.Pod(metadata=meta)

    known = cache.new_store(cache.meta_namespace_key_func)
    store: TransformedStore
    if kind == "real-fifo":
        store = cache.new_real_fifo(cache.meta_namespace_key_func, known, transform)
    else:
        store = cache.new_delta_fifo_with_options(cache.DeltaFIFOOptions(transformer=transform))
    end = pod("", "3")
    end.set_annotations({metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true"})
    fake = watch.new_fake_with_chan_size(10, False)
    fake.add(pod("foo-1", "1"))
    fake.add(pod("foo-2", "2"))
    fake.action("BOOKMARK", end)
    fake.add(pod("foo-3", "3"))
    fake.action("BOOKMARK", pod("", "4"))
    with synctest.bubble() as bubble:
        reflector = cache.new_reflector(cache.ListWatch(watch_func=lambda _: fake), corev1.Pod(), store, 0.0)
        ctx, cancel = context.with_cancel(BACKGROUND)
        bubble.after_func(1.0, cancel)
        reflector.list_and_watch_with_context(ctx)
    assert transformed == ["foo-1", "foo-2"] * 2 + ["foo-3"]
    popped: list[Any] = []
    for _ in range(3):
        store.pop(lambda deltas, _: popped.append(deltas[-1].object))
    assert all(obj.get_labels() == {"transformed": "yes"} for obj in popped)


@pytest.mark.parametrize("transform", [None, lambda obj: obj])
@pytest.mark.parametrize("consistent", [True, False])
def test_the_consistency_detector_compares_the_stream_with_a_list(
    transform: Any, consistent: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Go: TestReflectorDataConsistencyDetector"""
    restore = consistencydetector.set_data_consistency_detection_for_watch_list_enabled_for_test(True)
    try:
        listed = [{"name": "a", "rv": "1"}] if consistent else [{"name": "b", "rv": "1"}]
        with synctest.bubble() as bubble:
            lists = deque([{"error": "plain"}, {"items": listed, "resource_version": "2"}])
            server = ScriptedListerWatcher(bubble, Script(lists, deque([{"events": SYNCED}])))
            store = cache.new_real_fifo_with_options(cache.RealFIFOOptions(atomic_events=True, transformer=transform))
            reflector = cache.new_reflector(server, corev1.ConfigMap(), store, 0.0)
            ctx, cancel = context.with_timeout(BACKGROUND, 10.0)
            if consistent:
                reflector._watch_list(ctx).stop()
            else:
                with pytest.raises(consistencydetector.DataInconsistencyError, match="data inconsistency detected"):
                    reflector._watch_list(ctx)
            cancel()
            server.join()
            exact = {"resource_version": "2", "resource_version_match": "Exact"}
            assert [call["options"] for call in server.calls if call["call"] == "list"] == [exact, exact]
        assert "will result in an additional call to the API server" in caplog.text
    finally:
        restore()


@pytest.mark.parametrize(
    ("stream_takes", "store_takes", "steps"),
    [
        (11.0, 0.0, ['"Objects streamed" count:1 11000ms', '"SyncWith done" 0ms']),
        (0.0, 12.0, ['"Objects streamed" count:1 0ms', '"SyncWith done" 12000ms']),
    ],
    ids=["stream", "store"],
)
def test_a_slow_stream_is_logged_step_by_step(
    stream_takes: float, store_takes: float, steps: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="clientgo")

    class SlowStore(RecordingStore):
        def replace(self, *args: Any) -> None:
            time.sleep(store_takes)
            super().replace(*args)

    end = corev1.Pod(metadata=metav1.ObjectMeta(resource_version="9"))
    end.set_annotations({metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true"})
    with synctest.bubble() as bubble:
        fake = watch.new_fake_with_chan_size(10, False)

        def stream(_: metav1.ListOptions) -> watch.Interface:
            time.sleep(stream_takes)
            fake.add(corev1.Pod(metadata=metav1.ObjectMeta(name="a", resource_version="1")))
            fake.action("BOOKMARK", end)
            return fake

        reflector = cache.new_reflector(cache.ListWatch(watch_func=stream), corev1.Pod(), SlowStore(), 0.0)
        ctx, cancel = context.with_cancel(BACKGROUND)
        bubble.after_func(13.0, cancel)
        reflector.list_and_watch_with_context(ctx)

    assert '"Reflector WatchList" name:' in caplog.text
    assert re.findall(r"---(.*ms) ", caplog.text) == steps


def test_what_cannot_be_transformed_costs_no_other_of_its_stream() -> None:
    def transform(obj: Any) -> Any:
        if obj.get_name() == "bad":
            raise ValueError("not this one")
        return obj

    names = ("good", "bad")
    initial = [watch.Event("ADDED", corev1.Pod(metadata=metav1.ObjectMeta(name=name))) for name in names]
    end = corev1.Pod(metadata=metav1.ObjectMeta(resource_version="9"))
    end.set_annotations({metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true"})

    def stream(_: metav1.ListOptions) -> watch.Interface:
        fake = watch.new_fake_with_chan_size(10, False)
        for kind, obj in (*initial, watch.Event("BOOKMARK", end)):
            fake.action(kind, obj)
        return fake

    with synctest.bubble() as bubble:
        informer = cache.new_shared_index_informer(cache.ListWatch(watch_func=stream), corev1.Pod(), 0.0, {})
        informer.set_transform(transform)
        ctx, cancel = context.with_cancel(BACKGROUND)
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer")
        thread.start()
        bubble.sleep(0.1)
        assert informer.get_store().list_keys() == ["good"]
        ((key, refusal),) = informer.refused().items()
        assert (key, refusal.obj.get_name()) == ("bad", "bad")
        assert str(refusal.err) == 'unable to transform the object with key "bad": not this one'
        assert not informer.has_synced()
        del initial[1]
        bubble.sleep(3.0)
        assert informer.refused() == {}
        assert informer.has_synced()
        cancel()
        thread.join()


def test_an_inconsistency_is_an_error_and_no_reason_to_list_instead() -> None:
    restore = consistencydetector.set_data_consistency_detection_for_watch_list_enabled_for_test(True)
    try:
        lists = [{"items": [{"name": "b", "rv": "1"}], "resource_version": "2"}]
        calls, store, errors = run_for(0.1, [{"events": SYNCED}], lists)
    finally:
        restore()
    assert [call for call, _ in calls] == ["watch", "list"]
    assert store.ops == []
    assert errors == ["data inconsistency detected for test-reflector, panicking!"]
