"""Events go to the server, by recorders that begin their work with the first event."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from clientgo import context, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.controller_runtime.cluster.cluster import make_broadcaster_producer
from clientgo.controller_runtime.internal import recorder
from clientgo.controller_runtime.log import LOG
from clientgo.kubernetes import new_for_config, scheme
from clientgo.testing import apiserver, synctest
from clientgo.tools import events, record
from clientgo.utils.clock import REAL_CLOCK

POD = corev1.Pod(metadata=metav1.ObjectMeta(namespace="default", name="a", uid="u"))


def provider_of(config: rest.Config, http_client: Any) -> recorder.Provider:
    producer = make_broadcaster_producer(config, http_client, None)
    return recorder.new_provider(config, http_client, scheme.SCHEME, LOG, producer)


def test_events_are_published() -> None:
    """Go: internal/recorder: recorder > deprecated recorder > should publish events
    Go: internal/recorder: recorder.Provider > NewProvider > should return a provider instance
    Go: internal/recorder: recorder.Provider > GetEventRecorderFor
    Go: recorder: Example_event
    """
    background = context.background()
    with apiserver.Environment() as environment:
        http_client, clients = rest.http_client_for(environment.config), new_for_config(environment.config)
        provider = provider_of(environment.config, http_client)
        made = provider.get_event_recorder_for("test-recorder")
        before = {thread.name for thread in threading.enumerate()}
        made.event(POD, "Normal", "Created", "Some message")
        made.eventf(POD, "Warning", "Failed", "%d times", 2)
        made.annotated_eventf(POD, {"a": "b"}, "Normal", "Noted", "%d times", 3)
        assert {thread.name for thread in threading.enumerate()} > before, "threads come with the first event"
        events = clients.core_v1().events("default")
        wait.poll_until_context_timeout(background, 0.05, 20.0, True, lambda ctx: len(events.list(ctx).items) == 3)
        found = {event.reason: event for event in events.list(background).items}
        assert (found["Created"].type, found["Created"].message) == ("Normal", "Some message")
        assert (found["Failed"].type, found["Failed"].message) == ("Warning", "2 times")
        assert (found["Noted"].message, found["Noted"].get_annotations()) == ("3 times", {"a": "b"})
        assert {event.source.component for event in found.values()} == {"test-recorder"}
        assert found["Created"].involved_object.name == "a"
        provider.stop(background)
        made.event(POD, "Normal", "Late", "is dropped")
        assert "Late" not in {event.reason for event in events.list(background).items}
        clients.close()
        http_client.close_idle_connections()


def test_without_a_host_that_can_be_there_is_no_provider() -> None:
    """Go: internal/recorder: recorder.Provider > NewProvider > should return an error if failed to init client."""
    http_client = rest.http_client_for(rest.Config(host="http://127.0.0.1:1"))
    with pytest.raises(ValueError, match="bad"):
        provider_of(rest.Config(host="http://bad host:port"), http_client)
    http_client.close_idle_connections()


class SlowSink:
    """A server in memory: each write takes two seconds, and none that is cancelled arrives."""

    def __init__(self, down: bool = False) -> None:
        self.down = down
        self.reasons: list[str] = []

    def _write(self, ctx: context.Context, event: Any) -> Any:
        if not context.sleep(ctx, 2.0):
            raise context.Canceled()
        if self.down:
            raise ConnectionError("connection refused")
        self.reasons.append(event.reason)
        return event

    def create(self, *args: Any) -> Any:
        ctx = args[0] if len(args) == 2 else context.background()
        return self._write(ctx, args[-1])

    def update(self, *args: Any) -> Any:
        return self.create(*args)

    def patch(self, *args: Any) -> Any:
        raise AssertionError("no event is repeated here")


def stopped_after_three_events(sinks: tuple[SlowSink, SlowSink], grace: float) -> float:
    """Record three events of both kinds and stop at once; how long that took."""

    def producer() -> tuple[record.EventBroadcaster, events.EventBroadcaster, bool]:
        deprecated: Any = record.new_broadcaster()
        start = deprecated.start_recording_to_sink
        deprecated.start_recording_to_sink = lambda _: start(sinks[0])
        return deprecated, events.new_broadcaster(sinks[1]), True

    http_client = rest.http_client_for(rest.Config(host="http://127.0.0.1:1"))
    with synctest.bubble():
        config = rest.Config(host="http://127.0.0.1:1")
        provider = recorder.new_provider(config, http_client, scheme.SCHEME, LOG, producer)
        for reason in ("One", "Two", "Three"):
            provider.get_event_recorder_for("test").event(POD, "Normal", reason, "text")
            provider.get_event_recorder("test").eventf(POD, None, "Normal", reason, "Test", "text")
        began = REAL_CLOCK.now()
        ctx, cancel = context.with_timeout(context.background(), grace)
        provider.stop(ctx)
        took = REAL_CLOCK.since(began)
        cancel()
        REAL_CLOCK.sleep(10.0)  # A write that is under way ends by itself.
    http_client.close_idle_connections()
    return took


def test_what_was_recorded_before_the_stop_is_written() -> None:
    """Go: internal/recorder: recorder.Provider > GetEventRecorder > should return a recorder instance."""
    sinks = SlowSink(), SlowSink()
    took = stopped_after_three_events(sinks, grace=30.0)
    assert [sink.reasons for sink in sinks] == [["One", "Two", "Three"]] * 2
    assert 6.0 <= took < 12.5, "and it waits no longer than that takes"


def test_the_stop_waits_no_longer_than_it_may() -> None:
    sinks = SlowSink(), SlowSink()
    assert stopped_after_three_events(sinks, grace=3.0) == pytest.approx(3.0)
    assert sinks[1].reasons == ["One"]


def test_a_server_that_is_down_is_not_tried_again_at_the_stop() -> None:
    """The pause between two tries is ten seconds, and there may be twelve tries."""
    sinks = SlowSink(down=True), SlowSink(down=True)
    assert stopped_after_three_events(sinks, grace=1000.0) < 30.0
    assert [sink.reasons for sink in sinks] == [[], []]


def test_a_broadcaster_that_hangs_does_not_hold_up_the_stop_beyond_its_time() -> None:
    class Stuck:
        """A program's own broadcaster, whose end takes long."""

        def start_recording_to_sink(self, sink: Any) -> None: ...

        def start_event_watcher(self, handler: Any) -> None: ...

        def new_recorder(self, scheme: Any, source: Any) -> record.FakeRecorder:
            return record.new_fake_recorder(10)

        def shutdown(self) -> None:
            REAL_CLOCK.sleep(100.0)

    def producer() -> Any:
        return Stuck(), events.new_broadcaster(SlowSink()), True

    config = rest.Config(host="http://127.0.0.1:1")
    http_client = rest.http_client_for(config)
    with synctest.bubble() as b:
        provider = recorder.new_provider(config, http_client, scheme.SCHEME, LOG, producer)
        provider.get_event_recorder_for("test").event(POD, "Normal", "One", "text")
        ctx, cancel = context.with_timeout(context.background(), 2.0)
        provider.stop(ctx)
        cancel()
        assert b.elapsed == pytest.approx(2.0)
        b.sleep(100.0)
    http_client.close_idle_connections()
