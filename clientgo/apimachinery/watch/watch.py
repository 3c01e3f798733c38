"""Watches, which are streams of events, and fake watches for tests.

Mirrors k8s.io/apimachinery/pkg/watch/watch.go. A result channel is a `Channel`: iterate over it, or receive from it. It
is closed when the watch ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from clientgo import klog
from clientgo.golang.channel import Channel, Signal


@runtime_checkable
class Interface(Protocol):
    """A stream of events. Go: watch.Interface."""

    def stop(self) -> None:
        """End the watch; the result channel is closed soon afterwards. Idempotent; does not block."""
        ...

    def result_chan(self) -> Channel[Event]:
        """Return the channel of the events, which is closed when the watch ends. An ERROR event may precede a failure.
        """
        ...


class EventType(StrEnum):
    """The type of a change. Go: watch.EventType."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    ERROR = "ERROR"


DEFAULT_CHAN_SIZE = 100
"""The buffer size of a RaceFreeFakeWatcher; programs may change it in this module. Go: watch.DefaultChanSize."""


class Event(NamedTuple):
    """A change of an object. Go: watch.Event.

    `type` is an EventType, or another text if the server sends an unknown type. `object` is the new state for ADDED and
    MODIFIED, the last state for DELETED, only a resource version for BOOKMARK, and a Status for ERROR.
    """

    type: str
    object: Any


class _EmptyWatch:
    """A watch that has already ended. Go: watch.emptyWatch."""

    def __init__(self) -> None:
        self._result: Channel[Event] = Channel()
        self._result.close()

    def stop(self) -> None:
        return

    def result_chan(self) -> Channel[Event]:
        return self._result


def new_empty_watch() -> Interface:
    """Return a watch without events, which has already ended. Go: watch.NewEmptyWatch."""
    return _EmptyWatch()


class FakeWatcher:
    """A watch whose events a test sends. Thread-safe. Go: watch.FakeWatcher.

    Unbuffered by default: methods such as `add` block until the event is received, and raise ChannelClosed when the
    watch is stopped (Go panics).
    """

    def __init__(self, logger: klog.Logger | None = None, channel_size: int = 0) -> None:
        self._logger = logger or klog.background()
        # Guards _stopped and the replacement of _result. As in Go, not held while sending.
        self._lock = threading.Lock()
        self._result: Channel[Event] = Channel(channel_size)
        self._stopped = False

    def stop(self) -> None:
        """Close the result channel. Go: FakeWatcher.Stop."""
        with self._lock:
            if self._stopped:
                return
            self._logger.v(4).info("Stopping fake watcher")
            self._result.close()
            self._stopped = True

    def is_stopped(self) -> bool:
        """Report whether `stop` was called. Go: FakeWatcher.IsStopped."""
        with self._lock:
            return self._stopped

    def reset(self) -> None:
        """Start again with an unbuffered channel. Go: FakeWatcher.Reset."""
        with self._lock:
            self._stopped = False
            self._result = Channel()

    def result_chan(self) -> Channel[Event]:
        """Return the channel of events. Go: FakeWatcher.ResultChan."""
        return self._result

    def add(self, obj: Any) -> None:
        """Send an ADDED event. Blocks until it is received. Go: FakeWatcher.Add."""
        self.action(EventType.ADDED, obj)

    def modify(self, obj: Any) -> None:
        """Send a MODIFIED event. Blocks until it is received. Go: FakeWatcher.Modify."""
        self.action(EventType.MODIFIED, obj)

    def delete(self, last_value: Any) -> None:
        """Send a DELETED event. Blocks until it is received. Go: FakeWatcher.Delete."""
        self.action(EventType.DELETED, last_value)

    def error(self, err_value: Any) -> None:
        """Send an ERROR event. Blocks until it is received. Go: FakeWatcher.Error."""
        self.action(EventType.ERROR, err_value)

    def action(self, action: str, obj: Any) -> None:
        """Send an event of any type. Blocks until it is received. Go: FakeWatcher.Action."""
        self._result.send(Event(action, obj))

    def __repr__(self) -> str:
        return f"<FakeWatcher {'stopped' if self._stopped else 'open'} {self._result!r}>"


def new_fake() -> FakeWatcher:
    """Return an unbuffered fake. Go: watch.NewFake."""
    return FakeWatcher()


def new_fake_with_chan_size(size: int, blocking: bool) -> FakeWatcher:
    """Return a fake with a buffer. As in Go, `blocking` has no effect. Go: watch.NewFakeWithChanSize."""
    return FakeWatcher(channel_size=size)


@dataclass(kw_only=True, slots=True)
class FakeOptions:
    """Options of a FakeWatcher. Go: watch.FakeOptions."""

    logger: klog.Logger | None = None
    channel_size: int = 0


def new_fake_with_options(options: FakeOptions) -> FakeWatcher:
    """Return a FakeWatcher with options. Go: watch.NewFakeWithOptions."""
    return FakeWatcher(options.logger, options.channel_size)


class RaceFreeFakeWatcher:
    """A watch with a buffer whose events a test sends. Thread-safe. Go: RaceFreeFakeWatcher.

    Sending never blocks: after `stop` it does nothing, and a full buffer raises RuntimeError (Go panics).
    """

    def __init__(self, logger: klog.Logger | None = None, channel_size: int | None = None) -> None:
        """Initialize a watch with a buffer for `channel_size` events, by default DEFAULT_CHAN_SIZE as in Go."""
        self._logger = logger or klog.background()
        self._channel_size = channel_size
        # Guards the other attributes. Held while sending, so that no event is sent on a closed channel.
        self._lock = threading.Lock()
        self._result = self._new_channel()
        self.stopped = False

    def stop(self) -> None:
        """Close the result channel. Go: RaceFreeFakeWatcher.Stop."""
        with self._lock:
            if self.stopped:
                return
            self._logger.v(4).info("Stopping fake watcher")
            self._result.close()
            self.stopped = True

    def is_stopped(self) -> bool:
        """Report whether `stop` was called. Go: RaceFreeFakeWatcher.IsStopped."""
        with self._lock:
            return self.stopped

    def reset(self) -> None:
        """Start again with an empty channel. Go: RaceFreeFakeWatcher.Reset."""
        with self._lock:
            self.stopped = False
            self._result = self._new_channel()

    def result_chan(self) -> Channel[Event]:
        """Return the channel of events. Go: RaceFreeFakeWatcher.ResultChan."""
        with self._lock:
            return self._result

    def add(self, obj: Any) -> None:
        """Send an ADDED event. Go: RaceFreeFakeWatcher.Add."""
        self.action(EventType.ADDED, obj)

    def modify(self, obj: Any) -> None:
        """Send a MODIFIED event. Go: RaceFreeFakeWatcher.Modify."""
        self.action(EventType.MODIFIED, obj)

    def delete(self, last_value: Any) -> None:
        """Send a DELETED event. Go: RaceFreeFakeWatcher.Delete."""
        self.action(EventType.DELETED, last_value)

    def error(self, err_value: Any) -> None:
        """Send an ERROR event. Go: RaceFreeFakeWatcher.Error."""
        self.action(EventType.ERROR, err_value)

    def action(self, action: str, obj: Any) -> None:
        """Send an event of any type. Go: RaceFreeFakeWatcher.Action."""
        with self._lock:
            if not self.stopped and not self._result.try_send(Event(action, obj)):
                raise RuntimeError("channel full")

    def _new_channel(self) -> Channel[Event]:
        return Channel(DEFAULT_CHAN_SIZE if self._channel_size is None else self._channel_size)

    def __repr__(self) -> str:
        return f"<RaceFreeFakeWatcher {'stopped' if self.stopped else 'open'} {self._result!r}>"


def new_race_free_fake() -> RaceFreeFakeWatcher:
    """Return a RaceFreeFakeWatcher with the background logger. Go: watch.NewRaceFreeFake."""
    return RaceFreeFakeWatcher()


def new_race_free_fake_with_logger(logger: klog.Logger) -> RaceFreeFakeWatcher:
    """Return a RaceFreeFakeWatcher. Go: watch.NewRaceFreeFakeWithLogger."""
    return RaceFreeFakeWatcher(logger)


class ProxyWatcher:
    """A watch around a channel that other code fills. `stop` only notifies that code. Go: watch.ProxyWatcher."""

    def __init__(self, ch: Channel[Event]) -> None:
        self._result = ch
        self._stop = Signal()

    def stop(self) -> None:
        """Set stop_chan. Go: ProxyWatcher.Stop."""
        self._stop.set()

    def stopping(self) -> bool:
        """Report whether `stop` was called. Go: ProxyWatcher.Stopping."""
        return self._stop.is_set()

    def result_chan(self) -> Channel[Event]:
        """Return the channel of events. Go: ProxyWatcher.ResultChan."""
        return self._result

    def stop_chan(self) -> Signal:
        """Return the channel that `stop` closes. Go: ProxyWatcher.StopChan."""
        return self._stop


def new_proxy_watcher(ch: Channel[Event]) -> ProxyWatcher:
    """Return a watch of the events in a channel. Go: watch.NewProxyWatcher."""
    return ProxyWatcher(ch)


@dataclass(slots=True)
class MockWatcher:
    """A watch made of two functions. Go: watch.MockWatcher."""

    stop_func: Callable[[], None]
    result_chan_func: Callable[[], Channel[Event]]

    def stop(self) -> None:
        """Call the stop function. Go: MockWatcher.Stop."""
        self.stop_func()

    def result_chan(self) -> Channel[Event]:
        """Return the result of the channel function. Go: MockWatcher.ResultChan."""
        return self.result_chan_func()
