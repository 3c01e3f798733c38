"""A watch over a `Decoder`: read by the thread that uses the events, or through a result channel.

Does what apimachinery's watch.StreamWatcher does (watch/streamwatcher.go) for the connection of a server. A reader (see
reader.py) decodes each event when it asks for it, so that the events that wait are bytes and not objects. A thread runs
only for a result channel.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

from clientgo import context, klog
from clientgo.apimachinery.api.errors import ErrorReporter
from clientgo.apimachinery.util.net import ErrUnexpectedEOF, is_probable_eof, is_timeout
from clientgo.apimachinery.util.runtime import handle_crash_with_logger
from clientgo.apimachinery.watch import Event, EventType
from clientgo.golang.channel import Channel, ChannelClosed
from clientgo.golang.stop import Done, Signal, add_done_callback
from clientgo.rest.watch.decoder import Decoder
from clientgo.utils.clock import REAL_CLOCK, PassiveClock

# Events that may wait in the result channel. While it is full, the connection is not read, and the server blocks.
_RESULT_BUFFER = 512

# Seconds for which `stop` waits for the thread of the result channel, which ends within milliseconds.
_STOP_PATIENCE = 5.0


class BatchedStreamWatcher:
    """A watch.Interface and a Reader of one Decoder: use either `read_events` or `result_chan`. Thread-safe.

    After `stop`, or when the stream ends, it releases the connection as soon as no thread reads from it.
    """

    def __init__(self, source: Decoder, reporter: ErrorReporter, logger: klog.Logger, name: str) -> None:
        self.read_at = 0.0
        self._source = source
        self._reporter = reporter
        self._logger = logger
        self._name = name
        # Lines or frames that have arrived and are not decoded yet. Belongs to the thread that reads.
        self._arrived: deque[Any] = deque()
        self._is_over = Signal()
        self._is_released = Signal()
        # Guards the fields below.
        self._lock = threading.Lock()
        self._is_reading = False
        self._result: Channel[Event] | None = None
        self._thread: threading.Thread | None = None

    def read_events(self, done: Done, clock: PassiveClock) -> Iterator[Event]:
        """Yield the events. Decodes each one when the caller requests it. See Reader.

        For bytes that are not an event it yields an ERROR event, and then ends the watch.
        """
        arrived, decode = self._arrived, self._source.decode_line
        is_over = self._is_over.is_set
        stop_interrupting = add_done_callback(done, self._end)
        try:
            while not is_over():
                if not arrived:
                    failure = self._read()
                    self.read_at = clock.now()
                    if failure is not None:
                        yield failure
                    continue
                try:
                    event = decode(arrived.popleft())
                except Exception as err:  # The bytes after it may be anything.
                    event = self._error_event(err)
                    self._end()
                yield event
        finally:
            stop_interrupting()

    def result_chan(self) -> Channel[Event]:
        """Return the channel of the events, and start the thread that fills it. See watch.Interface."""
        with self._lock:
            if self._result is None:
                self._result = Channel(_RESULT_BUFFER)
                if self._is_over.is_set():
                    self._result.close()
                    return self._result
                self._thread = threading.Thread(
                    target=self._receive, args=(self._result,), name=f"watch {self._name}", daemon=True
                )
                self._thread.start()
            return self._result

    def stop(self) -> None:
        """End the watch: no event comes after this. Waits milliseconds for the thread of the result channel."""
        self._end()
        with self._lock:
            result, thread = self._result, self._thread
        if result is not None:
            with contextlib.suppress(ChannelClosed):
                result.close()
            result.try_receive_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(_STOP_PATIENCE)

    def _receive(self, result: Channel[Event]) -> None:
        try:
            with handle_crash_with_logger(self._logger, go_on=True), contextlib.suppress(ChannelClosed):
                for event in self.read_events(context.background().done(), REAL_CLOCK):
                    result.send(event)
        finally:
            self._end()
            with contextlib.suppress(ChannelClosed):
                result.close()

    def _read(self) -> Event | None:
        """Block until something has arrived. Return the ERROR event of a failure, if it is to be reported."""
        with self._lock:
            self._is_reading = True
        try:
            if not self._is_over.is_set():
                self._arrived.extend(self._source.read_lines())
            return None
        except Exception as err:
            failure = self._failure_event(err)
            self._is_over.set()
            return failure
        finally:
            with self._lock:
                self._is_reading = False
            if self._is_over.is_set():
                self._release()

    def _end(self) -> None:
        """End a `_read` that blocks, and every later one."""
        self._is_over.set()
        self._source.close()
        with self._lock:
            is_reading = self._is_reading
        if not is_reading:
            self._release()

    def _release(self) -> None:
        if self._is_released.set():
            self._source.release()

    def _failure_event(self, err: Exception) -> Event | None:
        if self._is_over.is_set() or isinstance(err, context.Canceled):
            return None
        if isinstance(err, ErrUnexpectedEOF):
            self._logger.v(1).info("Unexpected EOF during watch stream event decoding", err=err)
        elif isinstance(err, EOFError):
            return None
        elif is_probable_eof(err) or is_timeout(err):
            self._logger.v(5).info("Unable to decode an event from the watch stream", err=err)
        else:
            return self._error_event(err)
        return None

    def _error_event(self, err: Exception) -> Event:
        shown = ValueError(f"unable to decode an event from the watch stream: {err}")
        return Event(EventType.ERROR, self._reporter.as_object(shown))

    def __repr__(self) -> str:
        state = "over" if self._is_over.is_set() else "open"
        return f"<BatchedStreamWatcher {self._name!r}, {state}, {len(self._arrived)} events to decode>"
