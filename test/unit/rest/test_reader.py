"""Tests of the readers of watches: of a connection and of a result channel."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from httpscript import Answer, ScriptedServer

from clientgo import context, gentype, klog, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.watch import Event, EventType, new_fake, new_fake_with_chan_size
from clientgo.golang.channel import Channel, Signal
from clientgo.rest.watch import BatchedStreamWatcher
from clientgo.rest.watch.reader import Reader, new_reader
from clientgo.testing import synctest
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock import testing as clocktesting

NEVER = context.background().done()
REPORTER = errors.new_client_error_reporter(500, "GET", "ClientWatchDecoding")


class Source:
    """A decoder of lines that a test supplies, one batch for each read. Then it blocks until it is closed."""

    def __init__(self, *batches: list[str]) -> None:
        self._batches = list(batches)
        self.closed = threading.Event()
        self.read_blocks = threading.Event()
        self.calls: list[str] = []

    def read_lines(self) -> list[str]:
        if self._batches:
            return self._batches.pop(0)
        self.read_blocks.set()
        self.closed.wait()
        self.calls.append("left")
        raise OSError("use of closed network connection")

    def decode_line(self, line: str) -> Event:
        if line == "bad":
            raise ValueError("no event")
        return Event(EventType.ADDED, line)

    def close(self) -> None:
        self.closed.set()

    def release(self) -> None:
        self.calls.append("released")


def watcher_of(source: Any) -> BatchedStreamWatcher:
    return BatchedStreamWatcher(source, REPORTER, klog.background(), "pods")


def objects(events: Iterator[Event], count: int | None = None) -> list[Any]:
    return [event.object for event in itertools.islice(events, count)]


def in_thread(target: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=target, name="test reader")
    thread.start()
    return thread


def test_a_stream_is_read_by_the_calling_thread() -> None:
    w = watcher_of(Source(["a", "b"], ["c"]))
    threads = threading.active_count()
    assert new_reader(w) is w
    assert objects(w.read_events(NEVER, REAL_CLOCK), 3) == ["a", "b", "c"]
    assert threading.active_count() == threads
    w.stop()


@pytest.mark.parametrize("taken", [1, 2, 3])
def test_a_second_iteration_goes_on_after_the_last_event(taken: int) -> None:
    w = watcher_of(Source(["a", "b"], ["c", "d"]))
    first = w.read_events(Signal(), REAL_CLOCK)
    assert objects(first, taken) == ["a", "b", "c", "d"][:taken]
    first.close()  # type: ignore[attr-defined]
    assert objects(w.read_events(NEVER, REAL_CLOCK), 4 - taken) == ["a", "b", "c", "d"][taken:]
    w.stop()


def test_a_left_iteration_is_not_interrupted() -> None:
    """The signal of the first iteration must not end the second one."""
    w, done = watcher_of(Source(["a", "b"])), Signal()
    first = w.read_events(done, REAL_CLOCK)
    assert objects(first, 1) == ["a"]
    first.close()  # type: ignore[attr-defined]
    done.set()
    assert objects(w.read_events(NEVER, REAL_CLOCK), 1) == ["b"]
    w.stop()


@pytest.mark.parametrize("end", [Signal.set, None], ids=["done", "stop"])
def test_a_blocked_read_ends_and_its_thread_releases_the_connection(end: Callable[[Signal], object] | None) -> None:
    source, done = Source(["a"]), Signal()
    w = watcher_of(source)
    found: list[Any] = []
    reading = in_thread(lambda: found.extend(objects(w.read_events(done, REAL_CLOCK))))
    assert source.read_blocks.wait(10.0)
    if end is None:
        w.stop()
    else:
        end(done)
    reading.join(10.0)
    w.stop()
    assert found == ["a"], "the closed connection is no error"
    assert source.calls == ["left", "released"]
    assert objects(w.read_events(NEVER, REAL_CLOCK)) == []


def test_a_signal_that_is_set_before_ends_the_watch_without_a_read() -> None:
    source, done = Source(["a"]), Signal()
    done.set()
    w = watcher_of(source)
    assert objects(w.read_events(done, REAL_CLOCK)) == []
    assert source.calls == ["released"]


def test_events_that_arrived_before_a_stop_are_dropped() -> None:
    source = Source(["a", "b", "c"])
    w = watcher_of(source)
    events = w.read_events(NEVER, REAL_CLOCK)
    assert next(events).object == "a"
    w.stop()
    assert objects(events) == []
    assert source.calls == ["released"]


def test_bytes_that_are_no_event_end_the_watch_with_an_error_event() -> None:
    source = Source(["a", "bad", "b"])
    w = watcher_of(source)
    events = list(w.read_events(NEVER, REAL_CLOCK))
    assert [event.type for event in events] == [EventType.ADDED, EventType.ERROR]
    assert "no event" in events[1].object.message
    assert source.closed.is_set()
    assert source.calls == ["released"], "the caller need not stop the watch"


def test_a_failure_of_the_connection_is_reported_after_the_events() -> None:
    class Failing(Source):
        def read_lines(self) -> list[str]:
            return super().read_lines() if self._batches else self._fail()

        def _fail(self) -> list[str]:
            raise ValueError("longer than allowed")

    source = Failing(["a"])
    w = watcher_of(source)
    events = list(w.read_events(NEVER, REAL_CLOCK))
    assert [event.type for event in events] == [EventType.ADDED, EventType.ERROR]
    assert "longer than allowed" in events[1].object.message
    assert source.calls == ["released"]


def test_stopping_an_unread_watch_releases_its_connection() -> None:
    source = Source(["a"])
    w = watcher_of(source)
    w.stop()
    w.stop()
    assert source.calls == ["released"]
    assert w.result_chan().try_receive() == (None, False, True)


def test_the_time_of_arrival_is_that_of_the_read() -> None:
    clock = clocktesting.new_fake_clock(100.0)
    w = watcher_of(Source(["a", "b"], ["c"]))
    times = []
    for _ in itertools.islice(w.read_events(NEVER, clock), 3):
        times.append(w.read_at)
        clock.step(5.0)
    assert times == [100.0, 100.0, 110.0]
    w.stop()


def test_a_watch_of_a_server_is_a_reader_whose_connection_ends_with_the_signal() -> None:
    def answer() -> Iterator[bytes]:
        for name in (b"a", b"b"):
            yield b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s"}}}\n' % name
        server.closing.wait()

    with ScriptedServer(lambda request: Answer(chunks=answer())) as server:
        config = rest.Config(host=server.url, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1)
        client = gentype.ClientWithList("pods", rest.rest_client_for(config), "", corev1.Pod, corev1.PodList)
        w, done = client.watch(context.background(), metav1.ListOptions(timeout_seconds=300)), Signal()
        assert isinstance(w, Reader)
        names: list[str] = []

        def read() -> None:
            for event in w.read_events(done, REAL_CLOCK):
                names.append(event.object.metadata.name)
                if len(names) == 2:
                    both.set()

        both = threading.Event()
        reading = in_thread(read)
        assert both.wait(10.0)
        assert not any(thread.name.startswith("watch ") for thread in threading.enumerate())
        done.set()
        reading.join(10.0)
        assert not reading.is_alive()
        w.stop()
    assert names == ["a", "b"]


# --- Through a result channel -----------------------------------------------------------------------------------------


def test_a_channel_is_read_in_order_to_its_end() -> None:
    fake = new_fake_with_chan_size(10, False)
    for number in range(10):
        fake.add(number)
    fake.stop()
    r = new_reader(fake)
    assert objects(r.read_events(NEVER, REAL_CLOCK)) == list(range(10))


def test_a_second_iteration_over_a_channel_goes_on_after_the_last_event() -> None:
    fake = new_fake_with_chan_size(10, False)
    for number in range(4):
        fake.add(number)
    r = new_reader(fake)
    first = r.read_events(NEVER, REAL_CLOCK)
    assert objects(first, 1) == [0]
    first.close()  # type: ignore[attr-defined]
    fake.stop()
    assert objects(r.read_events(NEVER, REAL_CLOCK)) == [1, 2, 3]


@pytest.mark.parametrize("size", [0, 3])
def test_a_reader_of_a_channel_waits_for_events_and_the_signal(size: int) -> None:
    with synctest.bubble() as bubble:
        fake = new_fake_with_chan_size(size, False) if size else new_fake()
        r, done = new_reader(fake), Signal()
        found: list[tuple[Any, float]] = []

        def read() -> None:
            for event in r.read_events(done, REAL_CLOCK):
                found.append((event.object, r.read_at))

        began = REAL_CLOCK.now()
        reading = in_thread(read)
        for number in range(4):
            bubble.sleep(1.0)
            fake.add(number)
        bubble.wait()
        assert [obj for obj, _ in found] == [0, 1, 2, 3]
        assert [at - began for _, at in found] == pytest.approx([1.0, 2.0, 3.0, 4.0])
        done.set()
        reading.join()
        assert not fake.result_chan().closed


def test_events_that_wait_when_the_signal_is_set_stay_unread() -> None:
    fake, done = new_fake_with_chan_size(5, False), Signal()
    for number in range(5):
        fake.add(number)
    r = new_reader(fake)
    found = []
    for event in r.read_events(done, REAL_CLOCK):
        found.append(event.object)
        if len(found) == 2:
            done.set()
    assert found == [0, 1]


def test_any_watch_with_a_channel_can_be_read() -> None:
    class Plain:
        def __init__(self) -> None:
            self.channel: Channel[Event] = Channel(1)
            self.events = "no method of a reader"
            self.is_stopped = False

        def result_chan(self) -> Channel[Event]:
            return self.channel

        def stop(self) -> None:
            self.is_stopped = True

    plain = Plain()
    plain.channel.send(Event(EventType.ADDED, "a"))
    r = new_reader(plain)
    assert objects(r.read_events(NEVER, REAL_CLOCK), 1) == ["a"]
    r.stop()
    assert plain.is_stopped


def test_an_open_watch_keeps_its_connection_between_two_reads() -> None:
    source = Source(["a"], ["b"])
    w = watcher_of(source)
    events = w.read_events(NEVER, REAL_CLOCK)
    for name in ("a", "b"):
        assert next(events).object == name
        assert source.calls == []
    w.stop()
    assert source.calls == ["released"]


def test_a_stop_drops_the_events_in_the_result_channel() -> None:
    source = Source(["a", "b", "c"])
    w = watcher_of(source)
    result = w.result_chan()
    assert source.read_blocks.wait(10.0), "the three events are in the channel"
    assert result.receive(10.0)[1]
    w.stop()
    assert list(result) == []
    assert list(w.result_chan()) == []


def test_a_watch_says_its_name_its_state_and_the_number_of_events_to_decode() -> None:
    w = watcher_of(Source(["a", "b"]))
    assert objects(w.read_events(NEVER, REAL_CLOCK), 1) == ["a"]
    assert repr(w) == "<BatchedStreamWatcher 'pods', open, 1 events to decode>"
    w.stop()
    assert repr(w) == "<BatchedStreamWatcher 'pods', over, 1 events to decode>"


def test_a_reader_has_read_at_no_time_before_its_first_read() -> None:
    fake = new_fake()
    for reader in (watcher_of(Source(["a"])), new_reader(fake)):
        assert reader.read_at == 0.0
        reader.stop()
