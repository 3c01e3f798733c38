"""A watch over a `Decoder`, which hands over what arrived together at once and decodes it where it is received.

Does what apimachinery's watch.StreamWatcher does (watch/streamwatcher.go) for the one source that brings events in
batches: the lock of the result channel is taken once a batch, its receiver is woken at most once, and what waits in the
channel are lines, not objects.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from clientgo import context, klog
from clientgo.apimachinery.api.errors import ErrorReporter
from clientgo.apimachinery.util.net import ErrUnexpectedEOF, is_probable_eof, is_timeout
from clientgo.apimachinery.util.runtime import handle_crash_with_logger
from clientgo.apimachinery.watch import Event, EventType
from clientgo.golang.batch_channel import BatchChannel
from clientgo.golang.channel import Channel, ChannelClosed
from clientgo.rest.watch.decoder import Decoder
from clientgo.utils.pacer import Pacer

# Events waiting for a slow reader. While so many wait, the connection is not read, and the server feels it.
_RESULT_BUFFER = 512

# stop() waits for its thread, which a shut down socket ends in milliseconds; never longer than this, in seconds.
_STOP_PATIENCE = 5.0


class _EventChannel(BatchChannel[Any]):
    """Takes lines, or frames, and gives events: each is decoded by the thread that receives it, in the moment it does.

    A line that cannot be decoded becomes an ERROR event, and is the last that comes.
    """

    def __init__(
        self, decode_line: Callable[[Any], Event], on_failure: Callable[[Exception], Event], *, paced: bool
    ) -> None:
        """`paced`: the thread that decodes gives way in time for what it makes to be used up."""
        super().__init__(_RESULT_BUFFER)
        self._decode_line = decode_line
        self._on_failure = on_failure
        self._pacer = Pacer() if paced else None

    def unpack(self, value: Any) -> Event:
        """The event in a line, or in a frame."""
        if isinstance(value, Event):
            return value
        try:
            event = self._decode_line(value)
        except Exception as err:
            # Nothing behind it can be trusted.
            self.abandon()
            return self._on_failure(err)
        if self._pacer is not None:
            self._pacer.give_way()
        return event

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
        self._result = _EventChannel(source.decode_line, self._failed, paced=source.PACED)
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
            with handle_crash_with_logger(self._logger, go_on=True):
                self._receive_until_done()
        finally:
            self._source.release()
            self._result.close_quietly()

    def _receive_until_done(self) -> None:
        read, send = self._source.read_lines, self._result.send_all
        try:
            while True:
                try:
                    lines = read()
                except Exception as err:
                    self._report(err)
                    return
                send(lines)
        except ChannelClosed:
            return

    def _report(self, err: Exception) -> None:
        if self._stopped or isinstance(err, context.Canceled):
            return
        if isinstance(err, ErrUnexpectedEOF):
            self._logger.v(1).info("Unexpected EOF during watch stream event decoding", err=err)
        elif isinstance(err, EOFError):
            return
        elif is_probable_eof(err) or is_timeout(err):
            self._logger.v(5).info("Unable to decode an event from the watch stream", err=err)
        else:
            self._result.send(self._error_event(err))

    def _failed(self, err: Exception) -> Event:
        """What the receiver of a line that is no event gets. Ends the reading."""
        self._source.close()
        return self._error_event(err)

    def _error_event(self, err: Exception) -> Event:
        shown = ValueError(f"unable to decode an event from the watch stream: {err}")
        return Event(EventType.ERROR, self._reporter.as_object(shown))

    def __repr__(self) -> str:
        return (
            f"<BatchedStreamWatcher {self._thread.name!r}, {'stopped' if self._stopped else 'open'}, {self._result!r}>"
        )
