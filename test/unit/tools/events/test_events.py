"""Recording events of events.k8s.io/v1: events, series, their upkeep, and what falls back to core/v1."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context, klog
from clientgo.api.core import v1 as corev1
from clientgo.api.events import v1 as eventsv1
from clientgo.api.networking import v1 as networkingv1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersion, GroupVersionKind
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util import strategicpatch
from clientgo.apimachinery.util.validation import is_dns1123_subdomain
from clientgo.context import Context
from clientgo.kubernetes.scheme import SCHEME
from clientgo.rest import RequestConstructionError
from clientgo.testing import synctest
from clientgo.tools import events, reference
from clientgo.tools.events import event_broadcaster
from clientgo.tools.events.event_broadcaster import _EventBroadcasterImpl, _get_key, _record_event
from clientgo.utils.clock import RealClock

EVENTS = GroupResource("events.k8s.io", "events")
POD = corev1.Pod(metadata=metav1.ObjectMeta(name="foo", namespace="baz", uid="bar"))


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble() as b:
        yield b


@dataclass
class Sink:
    """A server in memory: it creates, and applies patches to what it has."""

    calls: list[tuple[str, eventsv1.Event]] = field(default_factory=list)
    stored: dict[str, eventsv1.Event] = field(default_factory=dict)
    fail: Callable[[str], Exception | None] = lambda verb: None

    def create(self, ctx: Context, event: eventsv1.Event) -> eventsv1.Event:
        self._called("create", event)
        if event.get_name() in self.stored:
            raise errors.new_already_exists(EVENTS, event.get_name())
        self.stored[event.get_name()] = event.deep_copy()
        return event.deep_copy()

    def update(self, ctx: Context, event: eventsv1.Event) -> eventsv1.Event:
        self._called("update", event)
        return event

    def patch(self, ctx: Context, old_event: eventsv1.Event, data: bytes) -> eventsv1.Event:
        self._called("patch", old_event)
        found = self.stored.get(old_event.get_name())
        if found is None:
            raise errors.new_not_found(EVENTS, old_event.get_name())
        merged = strategicpatch.strategic_merge_map_patch(found.to_dict(), json.loads(data), eventsv1.Event)
        self.stored[old_event.get_name()] = eventsv1.Event.from_dict(merged)
        return self.stored[old_event.get_name()].deep_copy()

    def _called(self, verb: str, event: eventsv1.Event) -> None:
        self.calls.append((verb, event.deep_copy()))
        if failure := self.fail(verb):
            raise failure


def broadcaster_of(sink: Sink, cache: dict[Any, eventsv1.Event] | None = None) -> _EventBroadcasterImpl:
    return _EventBroadcasterImpl(sink, 0, {} if cache is None else cache)


def recorded(b: synctest.Bubble, regarding: Any, related: Any, *texts: Any) -> eventsv1.Event:
    """Return the event that a recorder makes of one call."""
    broadcaster, seen = broadcaster_of(Sink()), []
    broadcaster.start_event_watcher(seen.append)
    broadcaster.new_recorder(SCHEME, "c1").eventf(regarding, related, *texts)
    b.wait()
    broadcaster.shutdown()
    (event,) = seen
    return event  # type: ignore[no-any-return]


def test_a_normal_event(bubble: synctest.Bubble) -> None:
    """Go: TestEventf"""
    # Go: TestEventf/normal event
    event = recorded(bubble, POD, None, "Normal", "Started", "starting", "Pod started")
    about = event.regarding
    assert event.get_name().startswith("foo.") and event.get_namespace() == "baz"
    assert (about.kind, about.name, about.uid, about.api_version) == ("Pod", "foo", "bar", "v1")
    assert (event.type, event.reason, event.action, event.note) == ("Normal", "Started", "starting", "Pod started")
    assert event.reporting_controller == "c1" and event.reporting_instance.startswith("c1-")
    assert event.event_time is not None and event.series is None and event.related is None


def test_an_event_about_two_objects(bubble: synctest.Bubble) -> None:
    """Go: TestEventf"""
    # Go: TestEventf/event with related object and format args
    node = corev1.Node(metadata=metav1.ObjectMeta(name="node1", uid="67890"))
    texts = ("Warning", "FailedScheduling", "scheduling", "Pod failed to schedule on %s: %s", "node1", "no room")
    event = recorded(bubble, POD, node, *texts)
    assert event.note == "Pod failed to schedule on node1: no room"
    assert event.related is not None and (event.related.kind, event.related.name) == ("Node", "node1")


@pytest.mark.parametrize(
    "regarding",
    [
        # Go: TestEventf/event with invalid Event name
        networkingv1.IPAddress(metadata=metav1.ObjectMeta(name="2001:db8::123", uid="12345")),
        # Go: TestEventf/large event name
        corev1.Pod(metadata=metav1.ObjectMeta(name="x" * 253 * 4, namespace="ns1")),
    ],
)
def test_a_name_that_would_be_invalid_is_replaced(bubble: synctest.Bubble, regarding: Any) -> None:
    """Go: TestEventf"""
    event = recorded(bubble, regarding, None, "Warning", "R", "a", "n")
    assert is_dns1123_subdomain(event.get_name()) == []
    assert event.regarding.name == regarding.get_name()
    assert event.get_namespace() == (regarding.get_namespace() or "default")


def test_what_cannot_be_recorded_is_logged_and_never_raised(bubble: synctest.Bubble) -> None:
    broadcaster, seen = broadcaster_of(Sink()), []
    broadcaster.start_event_watcher(seen.append)
    recorder = broadcaster.new_recorder(SCHEME, "c1").with_logger(klog.background())
    recorder.eventf(None, None, "Normal", "R", "a", "n")
    recorder.eventf(POD, None, "Odd", "R", "a", "n")
    recorder.eventf(POD, "unknown related objects do no harm", "Normal", "R", "a", "n")
    bubble.wait()
    assert [event.reason for event in seen] == ["R"]
    broadcaster.shutdown()
    recorder.eventf(POD, None, "Normal", "R", "a", "too late")


def test_the_second_event_of_a_kind_makes_a_series(bubble: synctest.Bubble) -> None:
    """Go: TestEventSeriesf"""
    regarding = reference.get_partial_reference(SCHEME, POD, ".spec.containers[1]")
    related = reference.get_partial_reference(SCHEME, POD, ".spec.containers[0]")
    sink = Sink()
    broadcaster = broadcaster_of(sink)
    ctx, cancel = context.with_cancel(context.background())
    broadcaster.start_recording_events(ctx)
    recorder = broadcaster.new_recorder(SCHEME, "eventTest")

    def record(action: str) -> tuple[str, eventsv1.Event]:
        recorder.eventf(regarding, related, "Normal", "test", action, "some verbose message: %v", 1)
        bubble.wait()
        return sink.calls[-1]

    assert record("started")[0] == "create"
    # Go: TestEventSeriesf/#0 regarding: regarding, related: related, actual: isomorphicE…
    verb, event = record("started")
    assert (verb, event.series and event.series.count) == ("patch", 2)
    # Go: TestEventSeriesf/#1 regarding: regarding, related: related, actual: nonIsomorph…
    verb, event = record("stopped")
    assert (verb, event.series) == ("create", None)
    # The third of a series only counts.
    bubble.sleep(60.0)
    record("started")
    now = from_clock(RealClock().now())
    bubble.sleep(60.0)
    assert len(sink.calls) == 3
    broadcaster.refresh_existing_event_series(ctx)
    assert sink.calls[-1][1].series == eventsv1.EventSeries(count=3, last_observed_time=now)
    cancel()
    bubble.wait()
    broadcaster.shutdown()


def test_events_in_a_row_become_one_with_a_series(bubble: synctest.Bubble) -> None:
    """Go: TestEventSeriesWithEventSinkImplRace"""
    sink, stop = Sink(), threading.Event()
    broadcaster = events.new_broadcaster(sink)
    broadcaster.start_recording_to_sink(stop)
    recorder = broadcaster.new_recorder(SCHEME, "test")
    for _ in range(2):
        recorder.eventf(corev1.ObjectReference(), None, "Normal", "reason", "action", "", "")
    bubble.wait()
    (event,) = sink.stored.values()
    assert event.series is not None and event.series.count == 2
    stop.set()
    # Plain events are watched by a helper thread, which looks up once a second.
    bubble.sleep(2.0)
    broadcaster.shutdown()


def cached(controller: str, minutes_ago: float | None) -> eventsv1.Event:
    """Return an event of a series last observed that long ago, or for None a new event without a series."""
    now = RealClock().now()
    event = eventsv1.Event(
        event_time=from_clock(now), reporting_controller=controller, reason="test", type="Normal", note="n"
    )
    event.set_name(f"foo.{controller}")
    event.set_namespace("baz")
    if minutes_ago is not None:
        event.series = eventsv1.EventSeries(count=10, last_observed_time=from_clock(now - 60 * minutes_ago))
    return event


def test_a_series_that_ended_is_written_and_forgotten(bubble: synctest.Bubble) -> None:
    """Go: TestFinishSeries"""
    finished, going_on, single = cached("finished", 9), cached("going-on", 1), cached("single", None)
    cache = {_get_key(event): event for event in (finished, going_on, single)}
    sink = Sink(stored={finished.get_name(): finished.deep_copy()})
    broadcaster = broadcaster_of(sink, cache)

    broadcaster.finish_series(context.background())

    assert [(verb, event.get_name()) for verb, event in sink.calls] == [("patch", finished.get_name())]
    assert sink.calls[0][1].series == finished.series
    assert set(cache) == {_get_key(going_on), _get_key(single)}
    bubble.sleep(6 * 60 + 1)
    broadcaster.finish_series(context.background())
    assert cache == {}
    broadcaster.shutdown()


def test_a_series_that_goes_on_hides_none_that_ended(bubble: synctest.Bubble) -> None:
    going_on, finished = cached("going-on", 1), cached("finished", 9)
    cache = {_get_key(event): event for event in (going_on, finished)}
    broadcaster = broadcaster_of(Sink(stored={finished.get_name(): finished.deep_copy()}), cache)
    broadcaster.finish_series(context.background())
    assert list(cache) == [_get_key(going_on)]
    broadcaster.shutdown()


def test_no_delay_follows_the_last_try(bubble: synctest.Bubble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clientgo.apimachinery.util.wait.jitter", lambda seconds, factor: seconds)
    sink = Sink(fail=lambda verb: OSError("down"))
    broadcaster = _EventBroadcasterImpl(sink, 10.0, {})
    broadcaster.record_to_sink(context.background(), cached("c", None), RealClock())
    assert (len(sink.calls), bubble.elapsed) == (12, 110.0)
    broadcaster.shutdown()


@pytest.mark.parametrize("sent", [True, False])
def test_an_event_for_which_there_is_no_room_is_logged(
    bubble: synctest.Bubble, sent: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broadcaster = broadcaster_of(Sink())
    monkeypatch.setattr(broadcaster, "action_or_drop", lambda action, event: sent)
    broadcaster.new_recorder(SCHEME, "c1").eventf(POD, None, "Normal", "R", "a", "n")
    assert ("too many queued events, dropped event" in caplog.text) is not sent
    broadcaster.shutdown()


def test_a_series_whose_last_write_failed_is_kept_and_written_later(bubble: synctest.Bubble) -> None:
    """Unlike what the server refuses for good: writing that again would give the same answer."""
    later, refused = cached("later", 9), cached("refused", 9)
    cache = {_get_key(event): event for event in (later, refused)}
    failures: list[Exception | None] = [OSError("down"), errors.new_forbidden(EVENTS, "e", "no"), None]
    sink = Sink(stored={later.get_name(): later.deep_copy()}, fail=lambda verb: failures.pop(0))
    broadcaster = broadcaster_of(sink, cache)
    broadcaster.finish_series(context.background())
    assert list(cache) == [_get_key(later)]
    broadcaster.finish_series(context.background())
    assert cache == {}
    assert [event.get_name() for _, event in sink.calls] == ["foo.later", "foo.refused", "foo.later"]
    broadcaster.shutdown()


def test_a_series_the_server_forgot_is_created_without_a_version(bubble: synctest.Bubble) -> None:
    """The API refuses to create what has a resourceVersion. Go: createEvent of recordEvent."""
    event = cached("forgotten", 1)
    event.set_resource_version("7")
    sink = Sink()
    assert _record_event(context.background(), sink, event)[1] is False
    assert [(verb, each.get_resource_version()) for verb, each in sink.calls] == [("patch", "7"), ("create", "")]


@pytest.mark.parametrize(
    "failure",
    [
        # Go: TestRefreshExistingEventSeries/#0 patchFunc: func(event *eventsv1.Event, patch []byte) (*even…
        None,
        # Go: TestRefreshExistingEventSeries/#1 patchFunc: func(event *eventsv1.Event, patch []byte) (*even…
        RequestConstructionError(ValueError("bad")),
    ],
)
def test_a_series_that_goes_on_is_refreshed_and_kept(bubble: synctest.Bubble, failure: Exception | None) -> None:
    """Go: TestRefreshExistingEventSeries"""
    event = cached("eventTest", 9)
    cache = {_get_key(event): event}
    sink = Sink(stored={event.get_name(): event.deep_copy()}, fail=lambda verb: failure)
    broadcaster = broadcaster_of(sink, cache)
    broadcaster.refresh_existing_event_series(context.background())
    assert [verb for verb, _ in sink.calls] == ["patch"]
    assert list(cache) == [_get_key(event)] and cache[_get_key(event)] == event
    broadcaster.shutdown()


def test_a_refreshed_series_continues_from_the_state_of_the_server(bubble: synctest.Bubble) -> None:
    event = cached("eventTest", 9)
    stored = event.deep_copy()
    stored.set_resource_version("8")
    sink = Sink(stored={event.get_name(): stored})
    broadcaster = broadcaster_of(sink, {_get_key(event): event})
    broadcaster.refresh_existing_event_series(context.background())
    broadcaster.refresh_existing_event_series(context.background())
    assert [each.get_resource_version() for _, each in sink.calls] == ["", "8"]
    broadcaster.shutdown()


def test_a_series_ends_after_more_than_six_minutes(bubble: synctest.Bubble) -> None:
    event = cached("eventTest", 6)
    cache = {_get_key(event): event}
    broadcaster = broadcaster_of(Sink(stored={event.get_name(): event.deep_copy()}), cache)
    broadcaster.finish_series(context.background())
    assert list(cache) == [_get_key(event)]
    bubble.sleep(0.001)
    broadcaster.finish_series(context.background())
    assert cache == {}
    broadcaster.shutdown()


def plain_and_isomorphic() -> tuple[eventsv1.Event, eventsv1.Event]:
    plain = eventsv1.Event(metadata=metav1.ObjectMeta(name="test", namespace="default"))
    isomorphic = plain.deep_copy()
    isomorphic.series = eventsv1.EventSeries(count=2)
    return plain, isomorphic


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ((0,), 0),  # Go: TestRecordEventToSink/record one Event
        ((0, 1), 1),  # Go: TestRecordEventToSink/record one Event followed by an isomorphic one
        ((1, 0), 1),  # Go: TestRecordEventToSink/record one isomorphic Event before the original
        ((1,), 1),  # Go: TestRecordEventToSink/record one isomorphic Event without one already existing
    ],
)
def test_an_event_and_its_series_may_arrive_in_any_order(order: tuple[int, ...], expected: int) -> None:
    """Go: TestRecordEventToSink"""
    both, sink = plain_and_isomorphic(), Sink()
    for index in order:
        _record_event(context.background(), sink, both[index])
    assert list(sink.stored.values()) == [both[expected]]


def test_a_series_that_another_client_creates_meanwhile_is_patched(bubble: synctest.Bubble) -> None:
    """The first patch finds no event, and the creation finds one."""
    _, isomorphic = plain_and_isomorphic()
    sink = Sink()

    def create_first(verb: str) -> None:
        if verb == "create":
            sink.stored["test"] = plain_and_isomorphic()[0]

    sink.fail = create_first
    broadcaster = broadcaster_of(sink, {_get_key(isomorphic): plain_and_isomorphic()[0]})
    broadcaster.record_to_sink(context.background(), plain_and_isomorphic()[0], RealClock())
    assert [verb for verb, _ in sink.calls] == ["patch", "create", "patch"]
    assert sink.stored["test"].series is not None
    broadcaster.shutdown()


@pytest.mark.parametrize(
    ("failure", "tries"),
    [
        (OSError("down"), 12),
        (errors.new_forbidden(EVENTS, "e", "no"), 1),
        (errors.new_already_exists(EVENTS, "e"), 1),
        (RequestConstructionError(ValueError("bad")), 1),
    ],
    ids=["network", "forbidden", "already exists", "no request"],
)
def test_only_what_may_pass_is_tried_again(bubble: synctest.Bubble, failure: Exception, tries: int) -> None:
    sink = Sink(fail=lambda verb: failure)
    broadcaster = _EventBroadcasterImpl(sink, 10.0, {})
    ctx, cancel = context.with_cancel(context.background())
    broadcaster.start_recording_to_sink_with_context(ctx)
    broadcaster.new_recorder(SCHEME, "c").eventf(POD, None, "Normal", "R", "a", "n")
    bubble.sleep(11 * 12.5 + 1)
    assert len(sink.calls) == tries
    cancel()
    bubble.wait()
    broadcaster.shutdown()


@pytest.mark.parametrize(
    ("failure", "level", "text"),
    [
        (ConnectionError("down"), 40, '"Unable to write event (may retry after sleeping)" err="down"'),
        (errors.new_forbidden(EVENTS, "e", "no"), 40, '"Server rejected event (will not retry!)" err='),
        (errors.new_already_exists(EVENTS, "e"), 15, '"Server rejected event (will not retry!)" event='),
        (RequestConstructionError(ValueError("bad")), 40, '"Unable to construct event (will not retry!)" err='),
    ],
    ids=["network", "forbidden", "already exists", "no request"],
)
def test_each_failed_write_is_logged(
    bubble: synctest.Bubble, failure: Exception, level: int, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(1, logger="clientgo")
    broadcaster = _EventBroadcasterImpl(Sink(fail=lambda verb: failure), 10.0, {})
    ctx, cancel = context.with_cancel(context.background())
    broadcaster.start_recording_to_sink_with_context(ctx)
    broadcaster.new_recorder(SCHEME, "c").eventf(POD, None, "Normal", "R", "a", "n")
    bubble.sleep(1.0)
    records = [each for each in caplog.records if each.filename == "event_broadcaster.py"]
    assert [each.levelno for each in records] == [level]
    assert records[0].getMessage().startswith(text)
    cancel()
    bubble.wait()
    broadcaster.shutdown()


def test_a_slow_sink_loses_events_and_counts_them(bubble: synctest.Bubble) -> None:
    release = threading.Event()

    def wait(verb: str) -> None:
        release.wait()

    broadcaster = broadcaster_of(Sink(fail=wait))
    ctx, cancel = context.with_cancel(context.background())
    broadcaster.start_recording_events(ctx)
    recorder = broadcaster.new_recorder(SCHEME, "c")
    for number in range(1500):
        recorder.eventf(POD, None, "Normal", f"R{number}", "a", "n")
        if number % 500 == 0:
            bubble.wait()
    bubble.wait()
    assert broadcaster.dropped == 1500 - (event_broadcaster.MAX_QUEUED_EVENTS + 1)
    cancel()
    release.set()
    bubble.wait()
    broadcaster.shutdown()


def test_events_are_logged(bubble: synctest.Bubble) -> None:
    class Logger(klog.Logger):
        def info(self, msg: str, /, **pairs: object) -> None:
            lines.append((msg, pairs["reason"], pairs["note"]))

    lines: list[Any] = []
    broadcaster = broadcaster_of(Sink())
    stop_logging = broadcaster.start_logging(Logger())
    recorder = broadcaster.new_recorder(SCHEME, "c")
    recorder.eventf(POD, None, "Normal", "R", "a", "n")
    bubble.wait()
    stop_logging()
    recorder.eventf(POD, None, "Normal", "R", "a", "n")
    bubble.wait()
    assert lines == [("Event occurred", "R", "n")]
    broadcaster.shutdown()
    broadcaster.start_structured_logging(0)()
    with pytest.raises(RuntimeError, match="broadcaster already stopped"):
        broadcaster.start_logging(Logger())


V1, V1BETA1, CORE = (
    GroupVersion("events.k8s.io", "v1"),
    GroupVersion("events.k8s.io", "v1beta1"),
    GroupVersion("", "v1"),
)
POD_KIND = GroupVersionKind("", "v1", "Pod")


@pytest.mark.parametrize(
    ("version", "kind", "name", "uid", "expected"),
    [
        # Go: TestGetFieldSelector/events.k8s.io/v1beta1 event with empty parameters
        (V1BETA1, GroupVersionKind(), "", "", ""),
        # Go: TestGetFieldSelector/events.k8s.io/v1beta1 event with non-empty parameters
        (V1BETA1, POD_KIND, "p", "u", "regarding.apiVersion=v1,regarding.kind=Pod,regarding.name=p,regarding.uid=u"),
        # Go: TestGetFieldSelector/events.k8s.io/v1 event with empty parameters
        (V1, GroupVersionKind(), "", "", ""),
        # Go: TestGetFieldSelector/events.k8s.io/v1 event with non-empty parameters
        (V1, POD_KIND, "p", "u", "regarding.apiVersion=v1,regarding.kind=Pod,regarding.name=p,regarding.uid=u"),
        # Go: TestGetFieldSelector/v1 event with non-empty parameters
        (
            CORE,
            POD_KIND,
            "p",
            "u",
            "involvedObject.apiVersion=v1,involvedObject.kind=Pod,involvedObject.name=p,involvedObject.uid=u",
        ),
    ],
)
def test_the_field_names_of_a_selector_depend_on_the_api_version(
    version: GroupVersion, kind: GroupVersionKind, name: str, uid: str, expected: str
) -> None:
    """Go: TestGetFieldSelector"""
    selector = events.get_field_selector(version, kind, name, uid)
    assert ",".join(sorted(str(selector).split(","))) == expected


def test_an_unknown_version_has_no_events() -> None:
    """Go: TestGetFieldSelector"""
    # Go: TestGetFieldSelector/unknown group version
    with pytest.raises(ValueError, match="unknown version"):
        events.get_field_selector(GroupVersion("", "v2beta1"), POD_KIND, "", "")


def test_the_fake_recorder_writes_texts() -> None:
    fake = events.new_fake_recorder(1)
    fake.with_logger(klog.background()).eventf(POD, None, "Normal", "R", "a", "note %d", 1)
    assert fake.events is not None and fake.events.receive(timeout=PATIENCE) == ("Normal R note 1", True)
    events.FakeRecorder().eventf(POD, None, "Normal", "R", "a", "discarded")


class FakeDiscovery:
    def __init__(self, found: bool) -> None:
        self._found = found

    def server_resources_for_group_version(self, group_version: str) -> None:
        assert group_version == "events.k8s.io/v1"
        if not self._found:
            raise errors.new_not_found(GroupResource(), group_version)


class FakeClient:
    """The part of a clientset that the adapter needs. Records all writes in one list."""

    def __init__(self, has_events_v1: bool) -> None:
        self._discovery = FakeDiscovery(has_events_v1)
        self.written: list[Any] = []

    def discovery(self) -> FakeDiscovery:
        return self._discovery

    def events_v1(self) -> FakeClient:
        return self

    def core_v1(self) -> FakeClient:
        return self

    def events(self, namespace: str) -> FakeClient:
        self.namespace = namespace
        return self

    def update(self, ctx: Context, event: eventsv1.Event) -> eventsv1.Event:
        self.written.append(event)
        return event

    def patch(self, ctx: Context, name: str, pt: PatchType, data: bytes) -> eventsv1.Event:
        self.written.append((name, pt, data))
        return eventsv1.Event(metadata=metav1.ObjectMeta(name=name, resource_version="2"))

    def create(self, ctx: Context, event: eventsv1.Event) -> eventsv1.Event:
        self.written.append(event)
        return event

    def create_with_event_namespace(self, event: corev1.Event) -> corev1.Event:
        self.written.append(event)
        return event


@pytest.mark.parametrize(("has_events_v1", "kind"), [(True, eventsv1.Event), (False, corev1.Event)])
def test_the_adapter_writes_the_events_the_server_has(bubble: synctest.Bubble, has_events_v1: bool, kind: type) -> None:
    client, stop = FakeClient(has_events_v1), threading.Event()
    adapter = events.new_event_broadcaster_adapter(client)  # type: ignore[arg-type]
    adapter.start_recording_to_sink(stop)
    adapter.new_recorder("c").eventf(POD, None, "Normal", "R", "a", "n")
    bubble.wait()
    assert [type(event) for event in client.written] == [kind]
    adapter.deprecated_new_legacy_recorder("c").event(POD, "Normal", "R", "m")
    bubble.wait()
    assert type(client.written[-1]) is corev1.Event
    stop.set()
    bubble.sleep(2.0)
    adapter.shutdown()


def test_the_sink_that_is_the_api_wants_a_namespace() -> None:
    client = FakeClient(True)
    sink = events.EventSinkImpl(client)  # type: ignore[arg-type]
    for call in (sink.create, sink.update, lambda ctx, event: sink.patch(ctx, event, b"{}")):
        with pytest.raises(ValueError, match="an event with empty namespace"):
            call(context.background(), eventsv1.Event())
    event = eventsv1.Event(metadata=metav1.ObjectMeta(name="e", namespace="ns"))
    assert sink.create(context.background(), event) is event


def test_the_sink_that_is_the_api_returns_the_answers_for_the_namespace_of_the_event() -> None:
    client = FakeClient(True)
    sink = events.EventSinkImpl(client)  # type: ignore[arg-type]
    event = eventsv1.Event(metadata=metav1.ObjectMeta(name="e", namespace="ns"))
    for write in (sink.create, sink.update):
        client.namespace = ""
        assert write(context.background(), event) is event
        assert client.namespace == "ns"
    client.namespace = ""
    assert sink.patch(context.background(), event, b"{}").get_resource_version() == "2"
    assert (client.namespace, client.written[-1]) == ("ns", ("e", PatchType.STRATEGIC_MERGE, b"{}"))


def test_dropped_events_are_logged_at_each_doubling(
    bubble: synctest.Bubble, caplog: pytest.LogCaptureFixture
) -> None:
    broadcaster = broadcaster_of(Sink())
    logged = []
    for _ in range(9):
        before = len(caplog.messages)
        broadcaster.event_dropped()
        logged.append(len(caplog.messages) - before)
    assert logged == [1, 1, 0, 1, 0, 0, 0, 1, 0]
    assert "Event watcher is too slow, dropped events" in caplog.text
    broadcaster.shutdown()


def test_an_event_that_is_given_up_is_logged(bubble: synctest.Bubble, caplog: pytest.LogCaptureFixture) -> None:
    broadcaster = broadcaster_of(Sink(fail=lambda verb: OSError("down")))
    broadcaster.record_to_sink(context.background(), cached("c", None), RealClock())
    assert "Unable to write event (retry limit exceeded!)" in caplog.text
    broadcaster.shutdown()


def test_a_handler_that_raises_gets_the_next_event(bubble: synctest.Bubble) -> None:
    broadcaster, seen = broadcaster_of(Sink()), []

    def handle(event: eventsv1.Event) -> None:
        seen.append(event.reason)
        raise ValueError("a bug of the user's")

    broadcaster.start_event_watcher(handle)
    recorder = broadcaster.new_recorder(SCHEME, "c1")
    for reason in ("First", "Second"):
        recorder.eventf(POD, None, "Normal", reason, "a", "n")
    bubble.wait()
    assert seen == ["First", "Second"]
    broadcaster.shutdown()


def test_a_recorder_logs_each_event_that_it_cannot_record(
    bubble: synctest.Bubble, caplog: pytest.LogCaptureFixture
) -> None:
    broadcaster = broadcaster_of(Sink())
    recorder = broadcaster.new_recorder(SCHEME, "c1")
    recorder.eventf(POD, None, "Odd", "R", "a", "n")
    assert "Unsupported event type" in caplog.text
    broadcaster.shutdown()
    recorder.eventf(POD, None, "Normal", "R", "a", "n")
    assert "Unable to record event (will not retry!)" in caplog.text


def test_the_series_are_kept_up_until_the_context_is_done(bubble: synctest.Bubble) -> None:
    broadcaster = broadcaster_of(Sink())
    ctx, cancel = context.with_cancel(context.background())
    before = set(threading.enumerate())
    broadcaster.start_recording_to_sink_with_context(ctx)
    upkeep = {thread.name for thread in set(threading.enumerate()) - before}
    assert {"event-series-refresh", "event-series-finish"} <= upkeep
    cancel()
    bubble.sleep(1.0)
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert not left & {"event-series-refresh", "event-series-finish", "event-watcher"}
    broadcaster.shutdown()


@pytest.mark.parametrize("fails", [False, True])
def test_a_drain_writes_or_tries_each_event_once(
    bubble: synctest.Bubble, fails: bool, caplog: pytest.LogCaptureFixture
) -> None:
    sink = Sink(fail=lambda verb: OSError("down") if fails else None)
    broadcaster = _EventBroadcasterImpl(sink, 10.0, {})
    ctx, cancel = context.with_cancel(context.background())
    broadcaster.start_recording_to_sink_with_context(ctx)
    recorder = broadcaster.new_recorder(SCHEME, "c")
    for number in range(3):
        recorder.eventf(POD, None, "Normal", f"R{number}", "a", "n")
    broadcaster.shutdown_with_drain(context.background())
    assert [event.reason for _, event in sink.calls] == ["R0", "R1", "R2"]
    assert bubble.elapsed == 0.0
    assert "retry limit exceeded" not in caplog.text
    recorder.eventf(POD, None, "Normal", "late", "a", "n")
    assert "Unable to record event (will not retry!)" in caplog.text
    cancel()
    bubble.wait()


def test_a_drain_ends_with_its_context(bubble: synctest.Bubble) -> None:
    go_on = threading.Event()
    broadcaster = broadcaster_of(Sink(fail=lambda verb: go_on.wait() and None))
    ctx, cancel = context.with_cancel(context.background())
    broadcaster.start_recording_events(ctx)
    broadcaster.new_recorder(SCHEME, "c").eventf(POD, None, "Normal", "R", "a", "n")
    waiting, give_up = context.with_timeout(context.background(), 5.0)
    broadcaster.shutdown_with_drain(waiting)
    assert bubble.elapsed == 5.0
    go_on.set()
    give_up()
    cancel()
    bubble.wait()


def test_a_broadcaster_that_is_shut_down_logs_what_it_cannot_start(
    bubble: synctest.Bubble, caplog: pytest.LogCaptureFixture
) -> None:
    broadcaster, stop = broadcaster_of(Sink()), threading.Event()
    broadcaster.shutdown()
    broadcaster.start_recording_to_sink(stop)
    broadcaster.start_structured_logging(0)()
    stop.set()
    bubble.sleep(2.0)
    texts = [each.getMessage().partition(" err=")[0] for each in caplog.records if each.levelname == "ERROR"]
    assert texts == ['"Failed to start recording to sink"', '"Failed to start event watcher"']


def test_a_sink_gets_only_events_of_its_api(bubble: synctest.Bubble, caplog: pytest.LogCaptureFixture) -> None:
    sink = Sink()
    broadcaster = broadcaster_of(sink)
    ctx, cancel = context.with_cancel(context.background())
    broadcaster.start_recording_events(ctx)
    broadcaster.action(watch.EventType.ADDED, corev1.Event())
    bubble.wait()
    assert sink.calls == []
    assert '"unexpected type, expected eventsv1.Event"' in caplog.text
    cancel()
    bubble.wait()
    broadcaster.shutdown()


def test_a_context_that_is_done_ends_the_recording_and_not_the_broadcaster(bubble: synctest.Bubble) -> None:
    sink, seen = Sink(), []
    broadcaster = broadcaster_of(sink)
    ctx, cancel = context.with_cancel(context.background())
    broadcaster.start_recording_events(ctx)
    broadcaster.start_event_watcher(seen.append)
    watchers = [thread for thread in threading.enumerate() if thread.name == "event-watcher"]
    cancel()
    bubble.wait()
    assert [thread.is_alive() for thread in watchers] == [False, True]
    broadcaster.new_recorder(SCHEME, "c").eventf(POD, None, "Normal", "R", "a", "n")
    bubble.wait()
    assert (sink.calls, len(seen)) == ([], 1)
    broadcaster.shutdown()


@pytest.mark.parametrize(("related", "lines"), [(None, []), ("no object", [(11, '"Could not construct reference"')])])
def test_a_related_object_without_a_reference_is_logged_for_developers(
    bubble: synctest.Bubble, related: Any, lines: list[tuple[int, str]], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(1, logger="clientgo")
    event = recorded(bubble, POD, related, "Normal", "R", "a", "n")
    assert event.related is None
    found = [each for each in caplog.records if each.filename == "event_recorder.py"]
    assert [(each.levelno, each.getMessage().partition(" object=")[0]) for each in found] == lines


def test_no_thread_of_a_broadcaster_keeps_the_interpreter_alive() -> None:
    """Outside of a bubble, which makes every thread a daemon."""
    broadcaster = broadcaster_of(Sink())
    ctx, cancel = context.with_cancel(context.background())
    before = set(threading.enumerate())
    broadcaster.start_recording_to_sink_with_context(ctx)
    started = set(threading.enumerate()) - before
    assert {"event-series-refresh", "event-series-finish", "event-watcher"} <= {thread.name for thread in started}
    assert all(thread.daemon for thread in started)
    cancel()
    broadcaster.shutdown()
    for thread in started:
        thread.join(PATIENCE)
