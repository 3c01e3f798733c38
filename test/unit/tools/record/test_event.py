"""Recorders and broadcasters: what reaches a sink, how often it is tried, how everything ends (Go: event_test.go).

All tests run in a bubble: its time is virtual, and it reports threads that are left over.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clientgo import context, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.kubernetes.scheme import SCHEME
from clientgo.rest import RequestConstructionError
from clientgo.testing import synctest
from clientgo.tools import record, reference

EVENTS = GroupResource("", "events")
SOURCE = corev1.EventSource(component="eventTest", host="node-1")


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble() as b:
        yield b


def pod(name: str = "foo", namespace: str = "baz", uid: str = "bar") -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace=namespace, uid=uid))


def container_of(one: corev1.Pod) -> corev1.ObjectReference:
    return reference.get_partial_reference(SCHEME, one, "spec.containers[2]")


class Sink:
    """A sink that records the calls. `answer` may raise, or return the server's event."""

    def __init__(self, answer: Callable[[str, corev1.Event], corev1.Event] | None = None) -> None:
        self.calls: list[tuple[str, corev1.Event]] = []
        self.patches: list[dict[str, Any]] = []
        self._answer = answer or (lambda verb, event: event.deep_copy())

    def _call(self, verb: str, event: corev1.Event) -> corev1.Event:
        self.calls.append((verb, event.deep_copy()))
        return self._answer(verb, event)

    def create(self, event: corev1.Event) -> corev1.Event:
        return self._call("create", event)

    def update(self, event: corev1.Event) -> corev1.Event:
        return self._call("update", event)

    def patch(self, old_event: corev1.Event, data: bytes) -> corev1.Event:
        self.patches.append(json.loads(data))
        return self._call("patch", old_event)

    def verbs(self) -> list[str]:
        return [verb for verb, _ in self.calls]


# The table of Go's TestEventf and TestMultiSinkCache: what is recorded, and the call it must lead to.
# Go: TestEventf/#0 obj: testRef, eventtype: v1.EventTypeNormal, reason: "Start…
# Go: TestEventf/#1 obj: testPod, eventtype: v1.EventTypeNormal, reason: "Kille…
# Go: TestEventf/#2 obj: testRef, eventtype: v1.EventTypeNormal, reason: "Start…
# Go: TestEventf/#3 obj: testRef2, eventtype: v1.EventTypeNormal, reason: "Star…
# Go: TestEventf/#4 obj: testRef, eventtype: v1.EventTypeNormal, reason: "Start…
# Go: TestEventf/#5 obj: testRef2, eventtype: v1.EventTypeNormal, reason: "Stop…
# Go: TestEventf/#6 obj: testRef2, eventtype: v1.EventTypeNormal, reason: "Stop…
# Go: TestMultiSinkCache/#0 obj: testRef, eventtype: v1.EventTypeNormal, reason: "Start…
# Go: TestMultiSinkCache/#1 obj: testPod, eventtype: v1.EventTypeNormal, reason: "Kille…
# Go: TestMultiSinkCache/#2 obj: testRef, eventtype: v1.EventTypeNormal, reason: "Start…
# Go: TestMultiSinkCache/#3 obj: testRef2, eventtype: v1.EventTypeNormal, reason: "Star…
# Go: TestMultiSinkCache/#4 obj: testRef, eventtype: v1.EventTypeNormal, reason: "Start…
# Go: TestMultiSinkCache/#5 obj: testRef2, eventtype: v1.EventTypeNormal, reason: "Stop…
# Go: TestMultiSinkCache/#6 obj: testRef2, eventtype: v1.EventTypeNormal, reason: "Stop…
FIRST = container_of(pod())
OTHER = container_of(pod(uid="differentUid"))
TABLE = [
    (FIRST, "Started", "create", 1),
    (pod(), "Killed", "create", 1),
    (FIRST, "Started", "patch", 2),
    (OTHER, "Started", "create", 1),
    (FIRST, "Started", "patch", 3),
    (OTHER, "Stopped", "create", 1),
    (OTHER, "Stopped", "patch", 2),
]


def record_table(b: synctest.Bubble, recorder: record.EventRecorder, sink: Sink) -> None:
    del sink.calls[:]
    for number, (obj, reason, verb, count) in enumerate(TABLE):
        recorder.eventf(obj, "Normal", reason, "some verbose message: %v", 1)
        b.wait()
        assert len(sink.calls) == number + 1, number
        got_verb, event = sink.calls[-1]
        assert (got_verb, event.count, event.reason) == (verb, count, reason), number
        if verb == "patch":
            assert sink.patches[-1]["count"] == count, number


def test_the_log_line_of_an_event_is_gos(bubble: synctest.Bubble) -> None:
    """StartLogging prints the object with %#v and the texts with %v, without Python's quotes or escapes."""
    lines: list[str] = []
    broadcaster = record.new_broadcaster_for_tests(0)
    broadcaster.start_logging(lambda text, *args: lines.append(text % args))
    about = corev1.ObjectReference(
        kind="Gadget", namespace="it's", name='a"b\n\u00e9\u200b', uid="%s", api_version="x.example.com/v1beta1"
    )
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    recorder.event(about, "Warning", "Odd", "100% 'quoted' \"text\" \u2713 {} %s")
    bubble.wait()
    assert lines == [
        'Event(v1.ObjectReference{Kind:"Gadget", Namespace:"it\'s", Name:"a\\"b\\n\u00e9\\u200b", UID:"%s", '
        'APIVersion:"x.example.com/v1beta1", ResourceVersion:"", FieldPath:""}): '
        "type: 'Warning' reason: 'Odd' 100% 'quoted' \"text\" \u2713 {} %s"
    ]
    broadcaster.shutdown()


def test_an_event_is_created_and_its_repeats_are_patched(bubble: synctest.Bubble) -> None:
    """Go: TestEventf"""
    sink, lines = Sink(), []
    broadcaster = record.new_broadcaster_for_tests(0)
    broadcaster.start_logging(lambda text, *args: lines.append(text % args))
    broadcaster.start_recording_to_sink(sink)
    record_table(bubble, broadcaster.new_recorder(SCHEME, SOURCE), sink)

    event = sink.calls[0][1]
    about = event.involved_object
    assert event.get_namespace() == "baz" and event.get_name().startswith("foo.")
    assert (about.kind, about.name, about.uid, about.api_version) == ("Pod", "foo", "bar", "v1")
    assert about.field_path == "spec.containers[2]"
    assert (event.message, event.type) == ("some verbose message: 1", "Normal")
    assert (event.source, event.reporting_controller, event.reporting_instance) == (SOURCE, "eventTest", "node-1")
    assert event.first_timestamp == event.last_timestamp is not None
    assert lines[0] == (
        'Event(v1.ObjectReference{Kind:"Pod", Namespace:"baz", Name:"foo", UID:"bar", APIVersion:"v1", '
        'ResourceVersion:"", FieldPath:"spec.containers[2]"}): '
        "type: 'Normal' reason: 'Started' some verbose message: 1"
    )
    assert broadcaster.statistics().created == 4 and broadcaster.statistics().patched == 3
    broadcaster.shutdown()


def test_each_sink_counts_for_itself(bubble: synctest.Bubble) -> None:
    """Go: TestMultiSinkCache"""
    broadcaster = record.new_broadcaster_for_tests(0)
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    for _ in range(2):
        sink = Sink()
        watcher = broadcaster.start_recording_to_sink(sink)
        record_table(bubble, recorder, sink)
        watcher.stop()
    broadcaster.shutdown()


def test_events_about_objects_without_namespace_go_to_default(bubble: synctest.Bubble) -> None:
    """Go: TestEventfNoNamespace"""
    # Go: TestEventfNoNamespace/#0 obj: testRef, eventtype: v1.EventTypeNormal, reason: "Start…
    sink = Sink()
    broadcaster = record.new_broadcaster_for_tests(0)
    broadcaster.start_recording_to_sink(sink)
    node = corev1.Node(metadata=metav1.ObjectMeta(name="n"))
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    recorder.annotated_eventf(node, {"a": "b"}, "Warning", "Started", "100%% of %q", "it")
    bubble.wait()
    event = sink.calls[0][1]
    assert (event.get_namespace(), event.involved_object.namespace) == ("default", "")
    assert (event.message, event.get_annotations()) == ('100% of "it"', {"a": "b"})
    broadcaster.shutdown()


def status_error() -> Exception:
    return errors.new_forbidden(EVENTS, "e", "no")


@pytest.mark.parametrize(
    ("failure", "tries"),
    [
        (RequestConstructionError(ValueError("bad")), 1),  # Go: TestWriteEventError/giveUp1
        (status_error(), 1),  # Go: TestWriteEventError/giveUp2
        (errors.UnexpectedObjectError(None), 12),  # Go: TestWriteEventError/retry1
        (OSError("a test error"), 12),  # Go: TestWriteEventError/retry2
    ],
)
def test_only_what_may_pass_is_tried_again(bubble: synctest.Bubble, failure: Exception, tries: int) -> None:
    """Go: TestWriteEventError"""

    def fail(verb: str, event: corev1.Event) -> corev1.Event:
        raise failure

    sink = Sink(fail)
    broadcaster = record.new_broadcaster()
    broadcaster.start_recording_to_sink(sink)
    broadcaster.new_recorder(SCHEME, SOURCE).event(pod(), "Normal", "R", "m")
    # Eleven sleeps of 10 s, the first of them shorter.
    bubble.sleep(110.1)
    assert sink.verbs() == ["create"] * tries
    statistics = broadcaster.statistics()
    assert statistics.failed_tries == tries
    assert (statistics.dropped_rejected, statistics.dropped_retry_limit) == ((1, 0) if tries == 1 else (0, 1))
    broadcaster.shutdown()


def test_the_first_pause_alone_is_shortened_at_random(bubble: synctest.Bubble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.random", lambda: 0.25)
    times: list[float] = []

    def fail(verb: str, event: corev1.Event) -> corev1.Event:
        times.append(bubble.elapsed)
        raise OSError("down")

    broadcaster = record.new_broadcaster()
    broadcaster.start_recording_to_sink(Sink(fail))
    broadcaster.new_recorder(SCHEME, SOURCE).event(pod(), "Normal", "R", "m")
    bubble.sleep(25.0)
    assert times == [0.0, 2.5, 12.5, 22.5]
    broadcaster.shutdown()


def test_trying_stops_with_the_first_success(bubble: synctest.Bubble) -> None:
    """Go: TestWriteEventError"""
    # Go: TestWriteEventError/succeedEventually
    failures = [OSError("down"), OSError("down")]

    def fail_twice(verb: str, event: corev1.Event) -> corev1.Event:
        if failures:
            raise failures.pop()
        return event

    sink = Sink(fail_twice)
    broadcaster = record.new_broadcaster()
    broadcaster.start_recording_to_sink(sink)
    broadcaster.new_recorder(SCHEME, SOURCE).event(pod(), "Normal", "R", "m")
    bubble.sleep(20.1)
    assert sink.verbs() == ["create"] * 3 and broadcaster.statistics().created == 1
    broadcaster.shutdown()


def test_a_repeat_of_an_event_the_server_forgot_is_created_anew(bubble: synctest.Bubble) -> None:
    """Go: TestUpdateExpiredEvent"""

    def answer(verb: str, event: corev1.Event) -> corev1.Event:
        if verb == "patch":
            raise errors.new_not_found(EVENTS, event.get_name())
        created = event.deep_copy()
        created.set_resource_version("42")
        return created

    sink = Sink(answer)
    broadcaster = record.new_broadcaster_for_tests(0)
    broadcaster.start_recording_to_sink(sink)
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    for _ in range(2):
        recorder.event(pod(), "Normal", "R", "m")
    bubble.wait()
    assert sink.verbs() == ["create", "patch", "create"]
    assert [event.get_resource_version() for _, event in sink.calls] == ["", "42", ""]
    assert sink.calls[2][1].count == 2
    broadcaster.shutdown()


def test_after_cancellation_an_event_is_tried_once(bubble: synctest.Bubble) -> None:
    """Go: TestCancelEvent"""

    def fail(verb: str, event: corev1.Event) -> corev1.Event:
        cancel()
        raise OSError("down")

    ctx, cancel = context.with_cancel(context.background())
    sink = Sink(fail)
    broadcaster = record.new_broadcaster(record.with_context(ctx))
    broadcaster.start_recording_to_sink(sink)
    broadcaster.new_recorder(SCHEME, SOURCE).event(pod(), "Normal", "R", "m")
    bubble.wait()
    assert sink.verbs() == ["create"] and bubble.elapsed == 0
    assert broadcaster.statistics().dropped_shutdown == 1


def test_a_full_queue_of_events_arrives_although_each_fails_four_times(bubble: synctest.Bubble) -> None:
    """Go: TestLotsOfEvents"""
    tries: dict[str, int] = {}

    def fail_four_times(verb: str, event: corev1.Event) -> corev1.Event:
        tries[event.reason] = tries.get(event.reason, 0) + 1
        if tries[event.reason] < 5:
            raise OSError("down")
        return event

    number_of_events = record.MAX_QUEUED_EVENTS
    sink, logged = Sink(fail_four_times), []
    broadcaster = record.new_broadcaster(
        record.with_sleep_duration(0), record.with_correlator_options(record.CorrelatorOptions(burst_size=10**6))
    )
    broadcaster.start_recording_to_sink(sink)
    broadcaster.start_logging(lambda *args: logged.append(args))
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    for number in range(number_of_events):
        recorder.event(pod(), "Normal", f"Reason-{number}", "m")
    bubble.wait()
    assert broadcaster.statistics().created == len(logged) == number_of_events
    assert broadcaster.statistics().dropped == 0
    broadcaster.shutdown()


def test_cancelling_the_context_stops_all_threads(bubble: synctest.Bubble) -> None:
    """Go: TestBroadcasterShutdown"""
    ctx, cancel = context.with_cancel(context.background())
    broadcaster = record.new_broadcaster(record.with_context(ctx))
    broadcaster.start_structured_logging(0)
    broadcaster.start_recording_to_sink(Sink())
    bubble.wait()
    assert {"watch-broadcaster", "event-watcher"} <= {thread.name for thread in threading.enumerate()}
    cancel()
    bubble.wait()
    # The bubble fails the test if a thread is left.


def test_shutdown_without_a_context_ends_the_watchers_too(
    bubble: synctest.Bubble, caplog: pytest.LogCaptureFixture
) -> None:
    """Go: TestStartEventWatcherExitsOnDirectShutdown"""
    handled: list[corev1.Event] = []
    broadcaster = record.new_broadcaster()
    broadcaster.start_event_watcher(handled.append)
    broadcaster.shutdown()
    broadcaster.shutdown()
    late = broadcaster.start_event_watcher(handled.append)
    assert list(late.result_chan()) == []
    assert handled == []
    assert "Unable start event watcher (will not retry!)" in caplog.text


@pytest.mark.parametrize("seed", range(10))
def test_recording_from_many_threads_during_shutdown_is_safe(seed: int) -> None:
    """Go: TestNonRacyShutdown"""

    def scenario() -> None:
        broadcaster = record.new_broadcaster_for_tests(0)
        broadcaster.start_recording_to_sink(Sink())
        recorder = broadcaster.new_recorder(SCHEME, SOURCE)
        threads = [
            threading.Thread(
                target=recorder.eventf, args=(pod(), "Normal", "Started", "m %d", number), name=f"r{number}"
            )
            for number in range(10)
        ]
        for thread in threads:
            thread.start()
        broadcaster.shutdown()
        for thread in threads:
            thread.join()

    synctest.run(scenario, schedule=synctest.RandomSchedule(seed))


@pytest.mark.parametrize(
    ("obj", "eventtype"), [(None, "Normal"), ("no object", "Normal"), (pod(), "Odd"), (corev1.Pod, "Normal")]
)
def test_what_cannot_be_recorded_is_logged_and_never_raised(bubble: synctest.Bubble, obj: Any, eventtype: str) -> None:
    sink = Sink()
    broadcaster = record.new_broadcaster_for_tests(0)
    broadcaster.start_recording_to_sink(sink)
    recorder = broadcaster.new_recorder(SCHEME, SOURCE).with_logger(klog.background())
    recorder.eventf(obj, eventtype, "Reason", "%d %z", "not a number")
    bubble.wait()
    assert sink.calls == []
    broadcaster.shutdown()


def test_a_handler_that_raises_does_not_stop_the_others(bubble: synctest.Bubble) -> None:
    seen: list[str] = []

    def handler(event: corev1.Event) -> None:
        seen.append(event.reason)
        raise ValueError("handler")

    broadcaster = record.new_broadcaster()
    broadcaster.start_event_watcher(handler)
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    recorder.event(pod(), "Normal", "One", "m")
    recorder.event(pod(), "Normal", "Two", "m")
    bubble.wait()
    assert seen == ["One", "Two"]
    broadcaster.shutdown()


def test_an_adapter_records_core_events_through_the_new_interface(bubble: synctest.Bubble) -> None:
    sink = Sink()
    broadcaster = record.new_broadcaster_for_tests(0)
    broadcaster.start_recording_to_sink(sink)
    adapter = record.new_event_recorder_adapter(broadcaster.new_recorder(SCHEME, SOURCE))
    adapter.with_logger(klog.background()).eventf(pod(), None, "Normal", "Reason", "Acting", "note %s", "x")
    bubble.wait()
    assert sink.calls[0][1].message == "note x"
    broadcaster.shutdown()


def test_the_fake_recorder_writes_texts() -> None:
    fake = record.new_fake_recorder(4)
    fake.event(pod(), "Normal", "Created", "100% done")
    fake.eventf(pod(), "Warning", "Failed", "%s: %d", "x", 2)
    fake.include_object = True
    typed = pod()
    typed.api_version, typed.kind = "v1", "Pod"
    fake.annotated_eventf(typed, {"b": "2", "a": "1"}, "Normal", "R", "m")
    assert fake.events is not None
    fake.events.close()
    assert list(fake.events) == [
        "Normal Created 100% done",
        "Warning Failed x: 2",
        "Normal R m involvedObject{kind=Pod,apiVersion=v1} map[a:1 b:2]",
    ]
    record.FakeRecorder().event(pod(), "Normal", "R", "discarded")


def test_a_broadcaster_has_the_given_correlator_options(bubble: synctest.Bubble) -> None:
    sink = Sink()
    broadcaster = record.new_broadcaster_with_correlator_options(record.CorrelatorOptions(burst_size=1))
    broadcaster.start_recording_to_sink(sink)
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    for reason in ("R1", "R2"):
        recorder.event(pod(), "Normal", reason, "m")
    bubble.wait()
    assert [event.reason for _, event in sink.calls] == ["R1"]
    assert broadcaster.statistics().dropped_as_spam == 1
    broadcaster.shutdown()


def test_an_event_that_the_spam_filter_drops_is_no_error(
    bubble: synctest.Bubble, caplog: pytest.LogCaptureFixture
) -> None:
    broadcaster = record.new_broadcaster_with_correlator_options(record.CorrelatorOptions(burst_size=1))
    broadcaster.start_recording_to_sink(Sink())
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    for reason in ("R1", "R2"):
        recorder.event(pod(), "Normal", reason, "m")
    bubble.wait()
    broadcaster.shutdown()
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


def test_the_pause_between_two_attempts_has_the_given_length(bubble: synctest.Bubble) -> None:
    at: list[float] = []

    def fail(verb: str, event: corev1.Event) -> corev1.Event:
        at.append(bubble.elapsed)
        raise OSError("down")

    broadcaster = record.new_broadcaster_for_tests(3.0)
    broadcaster.start_recording_to_sink(Sink(fail))
    broadcaster.new_recorder(SCHEME, SOURCE).event(pod(), "Normal", "R", "m")
    bubble.sleep(60.0)
    assert at[0] == 0.0 and 0.0 <= at[1] <= 3.0
    assert [later - earlier for earlier, later in itertools.pairwise(at[1:])] == pytest.approx([3.0] * 10)
    broadcaster.shutdown()


def test_a_patch_that_fails_is_not_replaced_by_a_creation(bubble: synctest.Bubble) -> None:
    """Only a patch that finds no event is."""

    def answer(verb: str, event: corev1.Event) -> corev1.Event:
        if verb == "patch":
            raise OSError("down")
        return event.deep_copy()

    sink = Sink(answer)
    broadcaster = record.new_broadcaster_for_tests(60.0)
    broadcaster.start_recording_to_sink(sink)
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    for _ in range(2):
        recorder.event(pod(), "Normal", "R", "m")
    bubble.wait()
    assert sink.verbs() == ["create", "patch"]
    broadcaster.shutdown()


def test_a_drain_tries_an_event_once_and_does_not_pause(bubble: synctest.Bubble) -> None:
    def fail(verb: str, event: corev1.Event) -> corev1.Event:
        raise OSError("down")

    sink = Sink(fail)
    broadcaster = record.new_broadcaster()
    broadcaster.start_recording_to_sink(sink)
    recorder = broadcaster.new_recorder(SCHEME, SOURCE)
    for reason in ("R1", "R2"):
        recorder.event(pod(), "Normal", reason, "m")
    broadcaster.shutdown_with_drain(context.background())
    assert ([event.reason for _, event in sink.calls], bubble.elapsed) == (["R1", "R2"], 0.0)


@pytest.mark.parametrize("sent", [True, False])
def test_an_event_for_which_there_is_no_room_is_logged_and_counted(
    bubble: synctest.Bubble, sent: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broadcaster = record.new_broadcaster()
    monkeypatch.setattr(broadcaster, "action_or_drop", lambda action, event: sent)
    broadcaster.new_recorder(SCHEME, SOURCE).event(pod(), "Normal", "R", "m")
    assert broadcaster.statistics() == record.EventStatistics(dropped_queue_full=0 if sent else 1)
    assert ("too many queued events, dropped event" in caplog.text) is not sent
    broadcaster.shutdown()


class Counting(context.Context):
    """A context that is not done, and counts the callbacks that are added and not removed."""

    def __init__(self) -> None:
        self.callbacks = 0

    def add_done_callback(self, fn: Callable[[], None]) -> Callable[[], bool]:
        forget = super().add_done_callback(fn)
        self.callbacks += 1

        def remove() -> bool:
            self.callbacks -= 1
            return forget()

        return remove


def test_a_context_that_outlives_the_broadcaster_keeps_nothing_of_it(bubble: synctest.Bubble) -> None:
    ctx = Counting()
    broadcaster = record.new_broadcaster(record.with_context(ctx))
    during = ctx.callbacks
    broadcaster.shutdown()
    assert during > ctx.callbacks == 0


def test_a_new_broadcaster_has_counted_nothing() -> None:
    assert set(dataclasses.astuple(record.EventStatistics())) == {0}
    assert record.EventStatistics().dropped == 0


def test_options_select_the_defaults() -> None:
    assert not any(dataclasses.astuple(record.CorrelatorOptions()))
