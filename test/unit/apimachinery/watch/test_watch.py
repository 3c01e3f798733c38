"""Fakes, filters, the broadcaster and the stream watcher of clientgo.apimachinery.watch."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from invariants import check_invariants
from patience import PATIENCE

from clientgo.apimachinery import watch
from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.apimachinery.watch import Event, EventType, FullChannelBehavior
from clientgo.golang.channel import Channel, ChannelClosed


def receive(w: watch.Interface) -> Event:
    event, ok = w.result_chan().receive(timeout=PATIENCE)
    assert ok and event is not None
    return event


def assert_closed(w: watch.Interface) -> None:
    assert w.result_chan().receive(timeout=PATIENCE) == (None, False)


def drain(w: watch.Interface) -> threading.Thread:
    """Read the watch to its end in another thread."""
    thread = threading.Thread(target=lambda: list(w.result_chan()), name="drain", daemon=True)
    thread.start()
    return thread


def test_an_empty_watch_is_closed_at_once() -> None:
    """Go: TestEmpty."""
    w = watch.new_empty_watch()
    w.stop()
    assert list(w.result_chan()) == []


def test_a_fake_with_a_buffer_delivers_in_order_then_closes() -> None:
    """Go: TestFake."""
    fake = watch.new_fake_with_chan_size(4, False)
    fake.add("a")
    fake.modify("b")
    fake.delete("c")
    fake.error("d")
    fake.stop()
    fake.stop()
    assert fake.is_stopped()
    assert list(fake.result_chan()) == [("ADDED", "a"), ("MODIFIED", "b"), ("DELETED", "c"), ("ERROR", "d")]
    with pytest.raises(ChannelClosed):
        fake.add("e")


def test_a_fake_can_begin_anew() -> None:
    fake = watch.new_fake_with_options(watch.FakeOptions(channel_size=1))
    fake.stop()
    fake.reset()
    assert not fake.is_stopped()
    assert not fake.result_chan().closed


def test_a_race_free_fake_keeps_the_buffer_it_was_made_with() -> None:
    fake = watch.RaceFreeFakeWatcher(channel_size=1)
    for _ in range(2):
        fake.add("one")
        with pytest.raises(RuntimeError, match="channel full"):
            fake.add("two")
        fake.reset()


def test_the_race_free_fake_ignores_events_after_stop_and_refuses_too_many() -> None:
    """Go: TestRaceFreeFake."""
    fake = watch.new_race_free_fake()
    for number in range(100):
        fake.action(EventType.ADDED, number)
    with pytest.raises(RuntimeError, match="channel full"):
        fake.modify("one too many")
    fake.stop()
    fake.delete("ignored")
    assert [event.object for event in fake.result_chan()] == list(range(100))
    fake.reset()
    fake.error("again")
    assert receive(fake) == (EventType.ERROR, "again")


def test_stopping_a_proxy_only_notifies_its_producer() -> None:
    """Go: TestProxyWatcher."""
    channel: Channel[Event] = Channel(1)
    proxy = watch.new_proxy_watcher(channel)
    assert not proxy.stopping()
    proxy.stop()
    proxy.stop()
    assert proxy.stopping() and proxy.stop_chan().is_set()
    assert proxy.result_chan() is channel and not channel.closed


def test_a_mock_watcher_calls_its_functions() -> None:
    stops: list[bool] = []
    channel: Channel[Event] = Channel()
    mock = watch.MockWatcher(lambda: stops.append(True), lambda: channel)
    mock.stop()
    assert stops == [True] and mock.result_chan() is channel


def test_a_filter_changes_and_drops_events() -> None:
    """Go: TestFilter."""
    source = watch.new_fake_with_chan_size(3, False)
    filtered = watch.filter(source, lambda event: (Event(event.type, event.object * 2), event.object != 2))
    for number in (1, 2, 3):
        source.add(number)
    filtered.stop()
    assert [event.object for event in filtered.result_chan()] == [2, 6]


def test_a_filter_that_is_stopped_still_gives_what_came_before() -> None:
    """Go: TestFilterStop."""
    source = watch.new_fake_with_chan_size(2, False)
    filtered = watch.filter(source, lambda event: (event, event.object != "bar"))
    source.add("foo")
    source.add("bar")
    filtered.stop()
    assert source.is_stopped()
    assert [event.object for event in filtered.result_chan()] == ["foo"]


def test_a_recorder_remembers_what_passed() -> None:
    """Go: TestRecorder."""
    source = watch.new_fake_with_chan_size(2, False)
    recorder = watch.new_recorder(source)
    source.add("a")
    source.delete("a")
    recorder.stop()
    assert list(recorder.result_chan()) == recorder.events() == [("ADDED", "a"), ("DELETED", "a")]
    recorder.events().clear()
    assert len(recorder.events()) == 2, "the list is the caller's own"


def test_every_watcher_of_a_broadcaster_gets_every_event_in_order() -> None:
    """Go: TestBroadcaster."""
    broadcaster = watch.new_broadcaster(0, FullChannelBehavior.WAIT_IF_CHANNEL_FULL)
    recorders = [watch.new_recorder(broadcaster.watch()) for _ in range(3)]
    sent = [Event(EventType.ADDED, number) for number in range(50)]

    drains = [drain(recorder) for recorder in recorders]
    for event in sent:
        broadcaster.action(event.type, event.object)
    broadcaster.shutdown()
    for thread in drains:
        thread.join(PATIENCE)

    assert all(recorder.events() == sent for recorder in recorders)
    check_invariants(broadcaster)


def test_a_stopped_watcher_does_not_hold_up_the_others() -> None:
    """Go: TestBroadcasterWatcherClose, TestBroadcasterWatcherStopDeadlock."""
    broadcaster = watch.new_broadcaster(0, FullChannelBehavior.WAIT_IF_CHANNEL_FULL)
    silent, reading = broadcaster.watch(), watch.new_recorder(broadcaster.watch())
    draining = drain(reading)
    broadcaster.action(EventType.ADDED, 1)  # The silent watcher blocks this one until it is stopped.
    silent.stop()
    assert_closed(silent)
    broadcaster.action(EventType.ADDED, 2)
    broadcaster.shutdown()
    draining.join(PATIENCE)
    assert [event.object for event in reading.events()] == [1, 2]


def test_a_slow_watcher_loses_events_when_the_broadcaster_may_drop() -> None:
    """Go: TestBroadcasterDropIfChannelFull."""
    broadcaster = watch.new_broadcaster(1, FullChannelBehavior.DROP_IF_CHANNEL_FULL)
    slow = broadcaster.watch()
    for number in range(5):
        broadcaster.action(EventType.ADDED, number)
    broadcaster.shutdown()
    assert [event.object for event in slow.result_chan()] == [0]


def test_a_watch_with_prefix_gets_the_prefix_first() -> None:
    broadcaster = watch.new_long_queue_broadcaster(0, FullChannelBehavior.WAIT_IF_CHANNEL_FULL)
    prefix = [Event(EventType.ADDED, "a"), Event(EventType.ADDED, "b")]
    watcher = broadcaster.watch_with_prefix(prefix)
    broadcaster.action(EventType.MODIFIED, "c")
    assert [receive(watcher).object for _ in range(3)] == ["a", "b", "c"]
    broadcaster.shutdown()
    assert_closed(watcher)


@pytest.mark.parametrize(("queue_length", "prefix", "room"), [(0, 3, 4), (3, 3, 4), (9, 3, 9), (9, 0, 9)])
def test_behind_a_prefix_there_is_room_for_one_more_event_at_least(queue_length: int, prefix: int, room: int) -> None:
    """The reader has not started, and no event is dropped before the watcher is full. Go: WatchWithPrefix."""
    broadcaster = watch.new_broadcaster(queue_length, FullChannelBehavior.DROP_IF_CHANNEL_FULL)
    watcher = broadcaster.watch_with_prefix([Event(EventType.ADDED, number) for number in range(prefix)])
    for number in range(prefix, 20):
        broadcaster.action(EventType.MODIFIED, number)
    broadcaster.shutdown()
    assert [event.object for event in watcher.result_chan()] == list(range(room))


def test_action_or_drop_never_waits_for_the_queue() -> None:
    broadcaster = watch.new_long_queue_broadcaster(2, FullChannelBehavior.WAIT_IF_CHANNEL_FULL)
    silent = broadcaster.watch()
    given = [broadcaster.action_or_drop(EventType.ADDED, number) for number in range(10)]
    # Two wait in the watcher's buffer, one in the broadcaster's hand, two in its queue.
    assert given.count(True) <= 5 and given[0] and not given[-1]
    silent.stop()
    broadcaster.shutdown()


def test_a_broadcaster_that_is_shut_down_says_so() -> None:
    """Stopping a watch then is nothing.

    Go: TestBroadcasterWatchAfterShutdown, TestBroadcasterSendEventAfterShutdown, TestBroadcasterShutdownRace.
    """
    broadcaster = watch.new_broadcaster(1, FullChannelBehavior.DROP_IF_CHANNEL_FULL)
    watcher = broadcaster.watch()
    broadcaster.shutdown()
    broadcaster.shutdown()
    watcher.stop()
    for call in (
        broadcaster.watch,
        lambda: broadcaster.action(EventType.ADDED, 1),
        lambda: broadcaster.action_or_drop(EventType.ADDED, 1),
    ):
        with pytest.raises(RuntimeError, match="broadcaster already stopped"):
            call()


class FakeDecoder:
    """Decoder that returns the items of a list, and raises an item that is an exception."""

    def __init__(self, *items: Any) -> None:
        self._items: Iterator[Any] = iter(items)
        self.closed = 0

    def decode(self) -> tuple[str, Any]:
        item = next(self._items, EOFError())
        if isinstance(item, Exception):
            raise item
        return item  # type: ignore[no-any-return]

    def close(self) -> None:
        self.closed += 1


class FakeReporter:
    def as_object(self, err: BaseException) -> str:
        return f"reported: {err}"


@pytest.mark.parametrize(
    "end", [EOFError(), ErrUnexpectedEOF(), TimeoutError("slow"), ConnectionResetError("reset"), None]
)
def test_a_stream_that_just_ends_closes_the_watch(end: Exception | None) -> None:
    """Go: TestStreamWatcher."""
    decoder = FakeDecoder(("ADDED", 1), ("DELETED", 2), *([end] if end else []))
    watcher = watch.new_stream_watcher(decoder, FakeReporter())
    assert list(watcher.result_chan()) == [("ADDED", 1), ("DELETED", 2)]
    assert decoder.closed == 1


def test_a_stream_that_breaks_is_reported_as_an_event() -> None:
    """Go: TestStreamWatcherError."""
    watcher = watch.new_stream_watcher(FakeDecoder(ValueError("test error")), FakeReporter())
    expected = "reported: unable to decode an event from the watch stream: test error"
    assert list(watcher.result_chan()) == [("ERROR", expected)]


@pytest.mark.parametrize("err", [OSError("use of closed network connection"), ValueError("read from a closed file")])
def test_stopping_a_stream_watcher_closes_its_source_once(err: Exception) -> None:
    """Go: TestStreamWatcherRace."""
    released: Channel[None] = Channel()

    class Blocking(FakeDecoder):
        def decode(self) -> tuple[str, Any]:
            released.receive(timeout=PATIENCE)
            raise err

        def close(self) -> None:
            super().close()
            released.close()

    decoder = Blocking()
    watcher = watch.new_stream_watcher(decoder, FakeReporter())
    watcher.stop()
    watcher.stop()
    assert list(watcher.result_chan()) == []
    assert decoder.closed == 1
