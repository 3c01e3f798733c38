"""A watch of a stream that a decoder reads.

Mirrors k8s.io/apimachinery/pkg/watch/streamwatcher.go. Difference: the result channel has a buffer, since an unbuffered
hand-over between threads costs more in Python than decoding an event.
"""

from __future__ import annotations

import threading
from typing import Any, Final, Protocol

from clientgo import klog
from clientgo.apimachinery.util.net import ErrUnexpectedEOF, is_probable_eof, is_timeout
from clientgo.apimachinery.util.runtime import handle_crash_with_logger
from clientgo.apimachinery.watch.watch import Event, EventType
from clientgo.golang.channel import Channel, Send, Signal, select

_RESULT_BUFFER: Final = 100


class Decoder(Protocol):
    """The source of the events. Go: watch.Decoder."""

    def decode(self) -> tuple[str, Any]:
        """Return the next event's type and object. Blocks until there is one.

        Raises EOFError at the end of the stream, and ErrUnexpectedEOF or another error if the stream breaks.
        """
        ...

    def close(self) -> None:
        """Close the source; a blocked `decode` must then raise. Called once."""
        ...


class Reporter(Protocol):
    """A converter of exceptions into the objects of ERROR events. Go: watch.Reporter."""

    def as_object(self, err: BaseException, /) -> Any:
        """Return the object for an exception, usually a metav1.Status."""
        ...


class StreamWatcher:
    """A watch that reads a Decoder in its own thread, "stream-watcher". Thread-safe. Go: watch.StreamWatcher.

    The thread ends, and closes the result channel, after `stop` or at the end of the stream.
    """

    def __init__(self, d: Decoder, r: Reporter, logger: klog.Logger | None = None) -> None:
        self._logger = logger or klog.background()
        self._source = d
        self._reporter = r
        self._result: Channel[Event] = Channel(_RESULT_BUFFER)
        self._done = Signal()
        threading.Thread(target=self._receive, name="stream-watcher", daemon=True).start()

    def result_chan(self) -> Channel[Event]:
        """Return the channel of events. Go: StreamWatcher.ResultChan."""
        return self._result

    def stop(self) -> None:
        """Close the source. Go: StreamWatcher.Stop."""
        if self._done.set():
            self._source.close()

    def _receive(self) -> None:
        try:
            with handle_crash_with_logger(self._logger, go_on=True):
                self._receive_until_done()
        finally:
            try:
                self.stop()
            finally:
                self._result.close()

    def _receive_until_done(self) -> None:
        decode, done, send = self._source.decode, self._done, self._send
        while True:
            try:
                action, obj = decode()
            except Exception as err:
                self._report(err)
                return
            if done.is_set() or not send(Event(action, obj)):
                return

    def _send(self, event: Event) -> bool:
        """Send the event. Returns False if the watch was stopped before a thread received it."""
        if self._result.try_send(event):
            return True
        return select([self._done, Send(self._result, event)]).case == 1

    def _report(self, err: Exception) -> None:
        if isinstance(err, ErrUnexpectedEOF):
            self._logger.v(1).info("Unexpected EOF during watch stream event decoding", err=err)
        elif isinstance(err, EOFError) or self._done.is_set():
            return
        elif is_probable_eof(err) or is_timeout(err):
            self._logger.v(5).info("Unable to decode an event from the watch stream", err=err)
        else:
            shown = ValueError(f"unable to decode an event from the watch stream: {err}")
            self._send(Event(EventType.ERROR, self._reporter.as_object(shown)))

    def __repr__(self) -> str:
        return f"<StreamWatcher {'stopped' if self._done.is_set() else 'open'} {self._result!r}>"


def new_stream_watcher(d: Decoder, r: Reporter) -> StreamWatcher:
    """Return a watch of the events that the decoder reads. Go: watch.NewStreamWatcher."""
    return StreamWatcher(d, r)


def new_stream_watcher_with_logger(logger: klog.Logger, d: Decoder, r: Reporter) -> StreamWatcher:
    """Return a watch of the events that the decoder reads, with a logger. Go: watch.NewStreamWatcherWithLogger."""
    return StreamWatcher(d, r, logger)
