"""A watch over a `Decoder`, which hands over all events that arrived together at once.

Does what apimachinery's watch.StreamWatcher does (watch/streamwatcher.go) for the one source that brings events in
batches: the lock of the result channel is taken once a batch, and its reader woken at most once.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence

from clientgo import klog
from clientgo.apimachinery.api.errors import ErrorReporter
from clientgo.apimachinery.util.net import ErrUnexpectedEOF, is_probable_eof, is_timeout
from clientgo.apimachinery.util.runtime import handle_crash_with_logger
from clientgo.apimachinery.watch import Event, EventType
from clientgo.channel import Channel, ChannelClosed
from clientgo.rest.watch.decoder import Decoder

# Events waiting for a slow reader. When so many wait, the connection is not read, and the server feels it.
_RESULT_BUFFER = 1024

# stop() waits for its thread, which a shut down socket ends in milliseconds; never longer than this, in seconds.
_STOP_PATIENCE = 5.0


class _EventChannel(Channel[Event]):
    def send_all(self, events: Sequence[Event]) -> None:
        """Send the events in order, as many as there is room for under one lock. Raises ChannelClosed."""
        position, end = 0, len(events)
        while position < end:
            with self._lock:
                if self._closed:
                    raise ChannelClosed("send on closed channel")
                while self._receivers and position < end:
                    self._send_now(events[position])
                    position += 1
                room = self._capacity - len(self._buffer)
                taken = events[position : position + room]
                self._buffer.extend(taken)
                position += len(taken)
            if position < end:
                self.send(events[position])
                position += 1

    def abandon(self) -> None:
        """Close the channel and throw away what nobody took; closing twice does nothing."""
        with self._lock:
            self._buffer.clear()
            closed = self._closed
        if not closed:
            self.close_quietly()

    def close_quietly(self) -> None:
        """Close, unless it is closed."""
        with contextlib.suppress(ChannelClosed):
            self.close()


class BatchedStreamWatcher:
    """A watch.Interface that reads a Decoder in a thread of its own. Thread-safe.

    The thread ends, the result channel is closed and the connection with it, after `stop` or when the stream is over.
    """

    def __init__(self, source: Decoder, reporter: ErrorReporter, logger: klog.Logger, name: str) -> None:
        self._source = source
        self._reporter = reporter
        self._logger = logger
        self._result = _EventChannel(_RESULT_BUFFER)
        # Guards _stopped; held for nothing else.
        self._lock = threading.Lock()
        self._stopped = False
        self._thread = threading.Thread(target=self._receive, name=f"watch {name}", daemon=True)
        self._thread.start()

    def result_chan(self) -> Channel[Event]:
        """Where the events come; see watch.Interface."""
        return self._result

    def stop(self) -> None:
        """End the watch: no event comes after this. Returns when its thread has ended, which takes milliseconds."""
        with self._lock:
            first, self._stopped = not self._stopped, True
        if first:
            self._source.close()
            self._result.abandon()
        if threading.current_thread() is not self._thread:
            self._thread.join(_STOP_PATIENCE)

    def _receive(self) -> None:
        try:
            with handle_crash_with_logger(self._logger):
                self._receive_until_done()
        finally:
            self._source.release()
            self._result.close_quietly()

    def _receive_until_done(self) -> None:
        decode, send = self._source.decode_available, self._result.send_all
        try:
            while True:
                try:
                    events = decode()
                except Exception as err:
                    self._report(err)
                    return
                send(events)
        except ChannelClosed:
            return

    def _report(self, err: Exception) -> None:
        if self._stopped:
            return
        if isinstance(err, ErrUnexpectedEOF):
            self._logger.v(1).info("Unexpected EOF during watch stream event decoding", err=err)
        elif isinstance(err, EOFError):
            return
        elif is_probable_eof(err) or is_timeout(err):
            self._logger.v(5).info("Unable to decode an event from the watch stream", err=err)
        else:
            shown = ValueError(f"unable to decode an event from the watch stream: {err}")
            self._result.send_all([Event(EventType.ERROR, self._reporter.as_object(shown))])

    def __repr__(self) -> str:
        return (
            f"<BatchedStreamWatcher {self._thread.name!r}, {'stopped' if self._stopped else 'open'}, {self._result!r}>"
        )
