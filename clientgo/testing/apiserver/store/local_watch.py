"""Watches within the process, without a pump thread and without sockets. Each reader encodes its own lines.

Takes the place of watch.Pump in a server that does not listen. Everything that blocks does so on a condition with the
server's clock, so such a server runs in virtual time.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator

from clientgo.testing.apiserver.store.storage import Event, Store
from clientgo.testing.apiserver.store.view import View
from clientgo.testing.apiserver.store.watch import BOOKMARK_PERIOD, Watcher
from clientgo.testing.apiserver.wire.http import HttpServer
from clientgo.utils.clock import Clock


def _at_once() -> float:
    return 0.0


class LocalStream:
    """The body of a watch's response within the process, in place of a connection.

    `delay()` returns the seconds that pass before a reader sees an event. Events stay in order: a late event delays all
    later ones, as in a cache that lags behind the server. `seen(event)` is called when the reader takes an event.
    """

    def __init__(
        self, delay: Callable[[], float] = _at_once, seen: Callable[[Event], object] = lambda event: None
    ) -> None:
        self._delay = delay
        self._seen = seen
        # Guards all below, and is notified of each change.
        self._changed = threading.Condition()
        self._first: Iterator[bytes] = iter(())
        self._events: deque[tuple[float, Event]] = deque()
        self._pump: LocalPump | None = None
        self._view: View | None = None
        self._ends_at = 0.0
        self._bookmark_at: float | None = None
        self._failure: Exception | None = None
        self._over = False

    def __repr__(self) -> str:
        return f"<LocalStream {self._view!r} {len(self._events)} waiting>"

    # ---- for the pump, under the store's lock

    def begin(self, pump: LocalPump, watcher: Watcher) -> None:
        """Begin the watch with the watcher's view, deadline and first lines."""
        self._pump, self._view, self._first = pump, watcher.view, watcher.lines
        self._ends_at = watcher.deadline
        if watcher.bookmarks:
            self._bookmark_at = pump.clock.now() + BOOKMARK_PERIOD

    def offer(self, event: Event) -> None:
        assert self._pump is not None
        with self._changed:
            at = self._pump.clock.now() + self._delay()
            if self._events:
                at = max(at, self._events[-1][0])
            self._events.append((at, event))
            self._changed.notify_all()

    def end(self) -> None:
        """End the watch. The reader gets the pending lines, and then the end."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    # ---- for the reader

    def read(self) -> bytes:
        return b"".join(iter(self.read_some, b""))

    def read_some(self) -> bytes:
        """Return the next line, or b"" at the end. Blocks on the server's clock."""
        assert self._view is not None and self._pump is not None
        if (line := next(filter(None, self._first), None)) is not None:
            return line
        while (event := self._next()) is not None:
            if isinstance(event, bytes):
                return event
            if line := self._view.line(event):
                self._seen(event)
                return line
        return b""

    def _next(self) -> Event | bytes | None:
        """Return the next event or bookmark, or None at the end."""
        assert self._pump is not None and self._view is not None
        clock = self._pump.clock
        with self._changed:
            while True:
                if self._failure is not None:
                    raise self._failure
                now = clock.now()
                if self._events and self._events[0][0] <= now:
                    return self._events.popleft()[1]
                if (self._over and not self._events) or now >= self._ends_at:
                    return None
                if self._bookmark_at is not None and now >= self._bookmark_at:
                    self._bookmark_at = now + BOOKMARK_PERIOD
                    if not self._events:
                        return self._view.bookmark(max(self._pump.seen, self._view.after))
                clock.wait(self._changed, self._next_moment() - now)

    def _next_moment(self) -> float:
        """Return the next time at which the reader has work even without a notification."""
        moments = [self._ends_at]
        if self._events:
            moments.append(self._events[0][0])
        if self._bookmark_at is not None:
            moments.append(self._bookmark_at)
        return min(moments)

    def limit_silence(self, seconds: float) -> None:
        """Ignore the limit, because nothing gets lost within a process."""

    def break_off(self, failure: Exception) -> None:
        """Raise this failure in a blocked reader and in later reads."""
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    def abort(self) -> None:
        self.break_off(ConnectionAbortedError("use of closed network connection"))

    def close(self) -> None:
        self.end()
        if self._pump is not None:
            self._pump.forget(self)


class LocalPump:
    """A pump that passes each event to the streams of its bucket. Thread-safe."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self.clock = clock
        # The version of the last event that was handed out.
        self.seen = store.version
        # Guards _streams; taken under the store's lock, and nothing else is called under it but `offer`.
        self._lock = threading.Lock()
        self._streams: dict[str, list[LocalStream]] = {}
        self._buckets: dict[LocalStream, str] = {}

    def __repr__(self) -> str:
        return f"<LocalPump {len(self._buckets)} watchers>"

    def start(self, server: HttpServer | None) -> None:
        """Do nothing: readers have their own threads."""

    def stop(self) -> None:
        """End all watches."""
        with self._lock:
            streams = list(self._buckets)
        for stream in streams:
            stream.end()

    def offer(self, bucket: str, event: Event) -> None:
        with self._lock:
            for stream in self._streams.get(bucket, ()):
                stream.offer(event)
            # Not before: a bookmark of this version says that the event is in the queue, or was.
            self.seen = event.rv

    def attach(self, watcher: Watcher) -> None:
        stream = watcher.connection
        assert isinstance(stream, LocalStream)
        stream.begin(self, watcher)
        with self._lock:
            self.seen = self._store.version
            self._streams.setdefault(watcher.view.bucket, []).append(stream)
            self._buckets[stream] = watcher.view.bucket

    def forget(self, stream: LocalStream) -> None:
        with self._lock:
            bucket = self._buckets.pop(stream, None)
            if bucket is not None:
                self._streams[bucket].remove(stream)

    def end_bucket(self, bucket: str) -> None:
        with self._lock:
            streams = list(self._streams.get(bucket, ()))
        for stream in streams:
            stream.end()
