"""Events that are not written are logged with the reason, once, at the level of Go; a drain writes all of them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clientgo import context, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.kubernetes.scheme import SCHEME
from clientgo.rest import RequestConstructionError
from clientgo.testing import synctest
from clientgo.tools import events, record
from clientgo.tools.events import event_broadcaster
from clientgo.utils.clock import REAL_CLOCK

POD = corev1.Pod(metadata=metav1.ObjectMeta(name="foo", namespace="baz", uid="bar"))
EVENTS = GroupResource("", "events")
DOWN = ConnectionError("down")


class Sink:
    """A sink that takes a second for each event and can be told to fail."""

    def __init__(self, failure: Exception | None = None, takes: float = 0.0) -> None:
        self.failure = failure
        self.takes = takes
        self.written: list[str] = []

    def create(self, event: corev1.Event) -> corev1.Event:
        if self.takes:
            REAL_CLOCK.sleep(self.takes)
        if self.failure is not None:
            raise self.failure
        self.written.append(event.reason)
        return event.deep_copy()

    update = create

    def patch(self, old_event: corev1.Event, data: bytes) -> corev1.Event:
        return self.create(old_event)


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble() as b:
        yield b


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[tuple[int, str]]]:
    """Return the levels and texts that the recorder has logged."""
    caplog.set_level(1, logger="clientgo")
    return lambda: [(each.levelno, each.getMessage()) for each in caplog.records if each.filename == "event.py"]


def already_exists() -> Exception:
    return errors.new_already_exists(EVENTS, "e")


def forbidden() -> Exception:
    return errors.new_forbidden(EVENTS, "e", "no")


@pytest.mark.parametrize(
    ("failure", "tries", "level", "text"),
    [
        (DOWN, 12, logging.ERROR, '"Unable to write event (may retry after sleeping)" err="down" event='),
        (
            forbidden(),
            1,
            logging.ERROR,
            '"Server rejected event (will not retry!)" err="events \\"e\\" is forbidden: no"',
        ),
        (already_exists(), 1, logging.INFO - 5, '"Server rejected event (will not retry!)" event='),
        (
            RequestConstructionError(ValueError("bad")),
            1,
            logging.ERROR,
            '"Unable to construct event (will not retry!)" err=',
        ),
    ],
    ids=["network", "forbidden", "already exists", "no request"],
)
def test_each_failed_write_is_logged(
    bubble: synctest.Bubble,
    lines: Callable[[], list[tuple[int, str]]],
    failure: Exception,
    tries: int,
    level: int,
    text: str,
) -> None:
    broadcaster = record.new_broadcaster()
    broadcaster.start_recording_to_sink(Sink(failure))
    broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c")).event(POD, "Normal", "R", "m")
    bubble.sleep(120.0)
    found = lines()
    broadcaster.shutdown()

    last = [(logging.ERROR, '"Unable to write event (retry limit exceeded!)" event=')] if tries > 1 else []
    expected = [(level, text)] * tries + last
    assert [each for each, _ in found] == [each for each, _ in expected], found
    for (_, line), (_, beginning) in zip(found, expected, strict=True):
        assert line.startswith(beginning)


@pytest.mark.parametrize(
    ("obj", "eventtype", "text"),
    [
        (None, "Normal", '"Could not construct reference, will not report event" err='),
        (POD, "Odd", '"Unsupported event type" eventType="Odd" reason="R" supported="Normal,Warning"'),
    ],
)
def test_an_event_that_cannot_be_made_is_logged(
    bubble: synctest.Bubble, lines: Callable[[], list[tuple[int, str]]], obj: Any, eventtype: str, text: str
) -> None:
    broadcaster = record.new_broadcaster()
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
    recorder.with_logger(klog.background()).event(obj, eventtype, "R", "m")
    broadcaster.shutdown()

    [(level, line)] = lines()
    assert level == logging.ERROR
    assert line.startswith(text)


def test_an_event_after_the_shutdown_is_logged_and_counted(
    bubble: synctest.Bubble, lines: Callable[[], list[tuple[int, str]]]
) -> None:
    broadcaster = record.new_broadcaster()
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
    broadcaster.shutdown()
    recorder.event(POD, "Normal", "R", "m")

    [(level, line)] = lines()
    assert level == logging.ERROR
    assert line == '"Unable to record event (will not retry!)" err="broadcaster already stopped"', "one line, as in Go"
    assert broadcaster.statistics().dropped_shutdown == 1


def test_a_shutdown_during_the_pause_of_a_retry_is_logged(
    bubble: synctest.Bubble, lines: Callable[[], list[tuple[int, str]]]
) -> None:
    broadcaster = record.new_broadcaster()
    broadcaster.start_recording_to_sink(Sink(DOWN))
    broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c")).event(POD, "Normal", "R", "m")
    bubble.wait()
    broadcaster.shutdown()
    bubble.wait()

    assert lines()[-1][1].startswith('"Unable to write event (broadcaster is shut down)" event=')
    assert broadcaster.statistics().dropped_shutdown == 1


def test_the_events_that_wait_for_a_slow_sink_at_the_shutdown_are_logged_as_a_number(
    bubble: synctest.Bubble, lines: Callable[[], list[tuple[int, str]]]
) -> None:
    broadcaster = record.new_broadcaster()
    sink = Sink(takes=1.0)
    broadcaster.start_recording_to_sink(sink)
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
    for number in range(5):
        recorder.event(POD, "Normal", f"R{number}", "m")
    bubble.wait()
    broadcaster.shutdown()
    bubble.sleep(10.0)

    assert sink.written == ["R0"]
    assert lines() == [(logging.ERROR, '"Events were not handled (broadcaster is shut down)" dropped=4')]


@pytest.mark.parametrize("seconds", [None, 2.5])
def test_a_drain_writes_all_events_while_its_context_lasts_and_then_shuts_down(
    bubble: synctest.Bubble, seconds: float | None
) -> None:
    broadcaster: Any = record.new_broadcaster()
    sink = Sink(takes=1.0)
    broadcaster.start_recording_to_sink(sink)
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
    for number in range(5):
        recorder.event(POD, "Normal", f"R{number}", "m")
    ctx, cancel = context.with_timeout(context.background(), seconds or 60.0)

    broadcaster.shutdown_with_drain(ctx)

    cancel()
    assert bubble.elapsed == (seconds or 5.0)
    bubble.sleep(10.0)
    assert sink.written == [f"R{number}" for number in range(3 if seconds else 5)]
    recorder.event(POD, "Normal", "late", "m")
    assert broadcaster.statistics().dropped_shutdown == (1 if seconds is None else 3)
    assert not [thread.name for thread in threading.enumerate() if thread.name == "event-watcher"]


def test_dropped_events_are_logged_at_each_doubling(
    bubble: synctest.Bubble, lines: Callable[[], list[tuple[int, str]]]
) -> None:
    broadcaster = record.new_broadcaster()
    broadcaster.start_recording_to_sink(Sink())
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
    for number in range(record.DEFAULT_SPAM_BURST + 9):
        recorder.event(POD, "Normal", f"R{number}", "m")
    bubble.wait()
    broadcaster.shutdown()
    found = [line.partition(" event=")[0] for level, line in lines() if level == logging.INFO - 2]
    assert found == [f'"Spam filter dropped events" dropped={number}' for number in (1, 2, 4, 8)]


def test_the_events_that_a_slow_sink_loses_are_logged_at_each_doubling(
    bubble: synctest.Bubble, lines: Callable[[], list[tuple[int, str]]]
) -> None:
    options = record.with_correlator_options(record.CorrelatorOptions(burst_size=10**6))
    broadcaster = record.new_broadcaster(options)
    broadcaster.start_recording_to_sink(Sink(takes=1.0))
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
    for number in range(2 * record.MAX_QUEUED_EVENTS):
        recorder.event(POD, "Normal", f"R{number}", "m")
        bubble.wait()
    lost = broadcaster.statistics().dropped_watcher_full
    broadcaster.shutdown()
    bubble.sleep(2.0)
    found = [line for level, line in lines() if "too slow" in line]
    assert lost > 512
    doublings = [1 << n for n in range(lost.bit_length())]
    assert found == [f'"Event watcher is too slow, dropped events" dropped={number}' for number in doublings]


def test_logging_ends_when_its_watch_is_stopped(
    bubble: synctest.Bubble, lines: Callable[[], list[tuple[int, str]]]
) -> None:
    broadcaster = record.new_broadcaster()
    watches = [broadcaster.start_structured_logging(0), broadcaster.start_logging(lambda *args: plain.append(args))]
    plain: list[tuple[object, ...]] = []
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
    recorder.event(POD, "Normal", "R", "m")
    bubble.wait()
    for each in watches:
        each.stop()
    recorder.event(POD, "Normal", "R", "m")
    bubble.wait()
    broadcaster.shutdown()
    [(level, line)] = lines()
    assert level == logging.INFO
    assert line.startswith('"Event occurred" object="baz/foo"')
    assert len(plain) == 1


def test_the_limits_are_those_of_go() -> None:
    """Users size their clusters' event storage by these."""
    assert record.MAX_TRIES_PER_EVENT == events.MAX_TRIES_PER_EVENT == 12
    assert record.MAX_QUEUED_EVENTS == events.MAX_QUEUED_EVENTS == 1000
    assert record.MAX_LRU_CACHE_ENTRIES == 4096
    assert record.DEFAULT_AGGREGATE_MAX_EVENTS == 10
    assert record.DEFAULT_AGGREGATE_INTERVAL_IN_SECONDS == 600
    assert record.DEFAULT_SPAM_BURST == 25
    assert pytest.approx(1 / 300) == record.DEFAULT_SPAM_QPS
    assert events.FINISH_TIME == 6 * 60
    assert events.REFRESH_TIME == 30 * 60
    assert record.DEFAULT_SLEEP_DURATION == event_broadcaster.DEFAULT_SLEEP_DURATION == 10.0


def test_the_events_broadcaster_logs_an_object_that_is_no_event_of_its_api(
    bubble: synctest.Bubble, caplog: pytest.LogCaptureFixture
) -> None:
    """A corev1.Event comes from a program that mixes both packages."""
    caplog.set_level(logging.INFO, logger="clientgo")
    broadcaster: Any = events.new_broadcaster(None)
    stop = broadcaster.start_structured_logging(0)
    broadcaster.action(watch.EventType.ADDED, corev1.Event())
    bubble.wait()
    stop()
    broadcaster.shutdown()
    found = [(each.levelno, each.getMessage()) for each in caplog.records if each.filename == "event_broadcaster.py"]
    assert found == [(logging.ERROR, '"unexpected type, expected eventsv1.Event"')]


class Odd(BaseException):
    """No Exception, like asyncio's CancelledError."""


@pytest.mark.parametrize("failure", [KeyError("colour"), SystemExit(3), Odd()], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("package", [record, events], ids=["record", "events"])
def test_the_line_about_a_handler_that_fails_names_the_event(
    bubble: synctest.Bubble, package: Any, failure: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(event: Any) -> None:
        raise failure

    broadcaster: Any = record.new_broadcaster() if package is record else events.new_broadcaster(None)
    broadcaster.start_event_watcher(fail)
    if package is record:
        broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c")).event(POD, "Normal", "R", "m")
    else:
        broadcaster.new_recorder(SCHEME, "c").eventf(POD, None, "Normal", "R", "A", "m")
    bubble.sleep(1.0)
    broadcaster.shutdown()
    (message,) = caplog.messages
    first = message.splitlines()[0]
    assert first.startswith('"Observed a panic"')
    assert "event=\"Event('baz/foo." in first
    assert 'at="test_unwritten_events.py:' in first


@pytest.mark.parametrize("count", [1, 2], ids=["create", "patch"])
def test_a_sink_that_returns_none_is_named(
    bubble: synctest.Bubble, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Forgetful(Sink):
        def create(self, event: corev1.Event) -> corev1.Event:
            created = super().create(event)
            return created if len(self.written) < count else None  # type: ignore[return-value]

    broadcaster = record.new_broadcaster()
    broadcaster.start_recording_to_sink(Forgetful())
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
    for _ in range(count):
        recorder.event(POD, "Normal", "R", "m")
    bubble.sleep(1.0)
    broadcaster.shutdown()
    (message,) = caplog.messages
    first = message.splitlines()[0]
    assert ".Forgetful returned None: return the event as the server stored it" in first
