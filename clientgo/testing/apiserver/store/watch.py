"""Watches: one pump thread writes to all watch sockets, so that hundreds of watchers cost no threads.

Kinds whose objects a webhook converts have a pump of their own: a slow webhook then delays no other watches.

Watchers that want the same thing share a View, whose bytes are made once per round however many read them. A watcher
that does not keep up has a bounded backlog; beyond it the connection is dropped, as a real server does.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import selectors
import socket
import ssl
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, Protocol

from clientgo import klog
from clientgo.testing.apiserver.store.storage import Event, Store
from clientgo.testing.apiserver.store.view import View
from clientgo.testing.apiserver.wire.http import LAST_CHUNK, HttpServer, chunk, head
from clientgo.utils.clock import Clock

MAX_BACKLOG = 8 * 1024 * 1024
# Bytes that all backlogs may hold together. Watchers that share a view share them.
MAX_BACKLOG_IN_ALL = 256 * 1024 * 1024
# Seconds for a client to read the end of a watch.
_CLOSING_SECONDS = 60.0
# Timers of watches that have ended, above which they are removed.
_MAX_DEAD_TIMERS = 256
BOOKMARK_PERIOD = 60.0
# A bookmark comes this long before the end, so that the next watch can start from it.
BOOKMARK_BEFORE_END = 2.0
# With many watchers, rounds that follow each other closely are spread, so that one send carries several events.
_PAUSE_PER_WATCHER = 25e-6
_MAX_PAUSE = 0.01
_BUSY_GAP = 0.05
_LONGEST_SLEEP = 3600.0
_PIECE = 128 * 1024
# Objects that a selector may pass over in one round, while all other watchers wait.
_MOST_PASSED_OVER = 4096


class Watcher:
    """One watch connection. Touched by the pump thread only, once attached."""

    __slots__ = (
        "backlog", "bookmarks", "chunked", "closing", "connection", "deadline", "keep", "lines", "next_bookmark",
        "out", "pending", "source", "view", "writing",
    )  # fmt: skip

    def __init__(
        self,
        connection: Any,
        view: View,
        lines: Iterator[bytes],
        deadline: float,
        bookmarks: bool,
        *,
        chunked: bool = True,
        keep: bool = True,
    ) -> None:
        """Initialize a watcher of the pump's `connection`. `lines` begin the stream. HTTP/1.0 gets no chunks.

        `keep`: the connection outlives the watch.
        """
        self.connection = connection
        self.view = view
        self.lines = lines
        # The head and the initial events, made piece by piece as the socket takes them.
        self.source: Iterator[bytes] | None = _first_pieces(view.media, chunked, keep, lines)
        # Live events, bounded by MAX_BACKLOG.
        self.out: deque[bytes] = deque()
        self.backlog = 0
        self.pending = memoryview(b"")
        self.deadline = deadline
        self.bookmarks = bookmarks
        self.next_bookmark = 0.0
        self.writing = False
        self.closing = False
        self.chunked = chunked
        self.keep = keep

    def __repr__(self) -> str:
        return f"<Watcher {self.view!r} backlog {self.backlog}>"

    def push(self, data: bytes) -> None:
        self.out.append(data)
        self.backlog += len(data)

    def forget(self) -> None:
        """Release the events and the initial state, which a timer would keep until the deadline."""
        self.lines = iter(())
        self.source = None
        self.out.clear()
        self.backlog = 0
        self.pending = memoryview(b"")

    def next_piece(self) -> bool:
        """Load `pending` with the next bytes to send; False when there are none now."""
        if self.source is not None:
            piece = next(self.source, None)
            if piece is not None:
                self.pending = memoryview(piece)
                return True
            self.source = None
        if not self.out:
            return False
        # Small frames are sent together. Large frames are not copied but shared with other watchers.
        data = self.out.popleft()
        size = len(data)
        if self.out and size < _PIECE:
            parts = [data]
            while self.out and size < _PIECE:
                parts.append(self.out.popleft())
                size += len(parts[-1])
            data = b"".join(parts)
        self.backlog -= size
        self.pending = memoryview(data)
        return True


def _stream_head(media: str, chunked: bool, keep: bool) -> bytes:
    headers = {"Cache-Control": "no-cache, private", "Content-Type": media}
    if chunked:
        headers["Transfer-Encoding"] = "chunked"
    if not keep:
        headers["Connection"] = "close"
    return head(200, headers)


def _first_pieces(media: str, chunked: bool, keep: bool, lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the response's head, then the initial lines in chunks of moderate size. Yields b"" for a pause."""
    ready = [_stream_head(media, chunked, keep)]
    frame = chunk if chunked else bytes
    size = passed = 0
    batch: list[bytes] = []
    for line in lines:
        if not line:
            passed += 1
            if passed % _MOST_PASSED_OVER == 0:
                yield b""
            continue
        batch.append(line)
        size += len(line)
        if size >= _PIECE:
            ready.append(frame(b"".join(batch)))
            yield b"".join(ready)
            ready, batch, size = [], [], 0
    if batch:
        ready.append(frame(b"".join(batch)))
    if ready:
        yield b"".join(ready)


class Watches(Protocol):
    """Sends events to watchers. `offer` and `attach` are called under the store's lock, and do not call the store."""

    def start(self, server: HttpServer | None) -> None: ...

    def stop(self) -> None:
        """End all watches, and wait until the pump's thread has ended."""
        ...

    def offer(self, bucket: str, event: Event) -> None: ...

    def attach(self, watcher: Watcher) -> None: ...

    def end_bucket(self, bucket: str) -> None:
        """Close all watches of a resource that is no longer served."""
        ...


class Pump:
    """The thread that sends events to watchers. start() and stop() belong to the server.

    Views that block are sent by another pump for each bucket, which begins with the first such watch and ends after
    `end_bucket`.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        # Attached watchers, events and closed buckets in the order in which they happened.
        self._queue: deque[tuple[str, Any]] = deque()
        self._receiver, self._waker = socket.socketpair()
        self._receiver.setblocking(False)
        self._waker.setblocking(False)
        self._woken = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._receiver, selectors.EVENT_READ, None)
        self._watchers: dict[str, dict[Any, list[Watcher]]] = {}
        # How many watchers of each bucket are attached and have not ended. Guarded by its own lock; `offer` reads it
        # without: no watcher attaches meanwhile, because both calls hold the store's lock.
        self._interest: dict[str, int] = {}
        self._interest_lock = threading.Lock()
        self._views: dict[Any, View] = {}
        self._timers: list[tuple[float, int, Watcher]] = []
        self._ids = itertools.count()
        self._server: HttpServer | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._version = 0
        self._count = 0
        # Bytes added to backlogs since the sum of all was last computed; those of a view count once.
        self._added = 0
        self._last_delivery = 0.0
        # Guards the next two. Taken under the store's lock, and nothing else is called under it but their methods.
        self._others_lock = threading.Lock()
        # By bucket, the pumps of the views that block; and those that end when their last watcher has ended.
        self._others: dict[str, Pump] = {}
        self._ending: list[Pump] = []
        # True if this pump ends when its last watcher has ended.
        self._is_ending = False

    def __repr__(self) -> str:
        return f"<Pump {sum(len(w) for v in self._watchers.values() for w in v.values())} watchers>"

    def start(self, server: HttpServer | None) -> None:
        self._server = server
        self._thread = threading.Thread(target=self._run, name="apiserver-watch-pump", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with self._others_lock:
            self._stopping = True
            others = [*self._others.values(), *self._ending]
        for pump in others:
            pump.stop()
        self._wake()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._close()

    def _close(self) -> None:
        self._selector.close()
        self._receiver.close()
        self._waker.close()

    # ---- from other threads; both are called under the store's lock and only append

    def offer(self, bucket: str, event: Event) -> None:
        """Queue the event and wake the pump if there are watchers.

        This includes watchers of other objects, because a clock may have been advanced.
        """
        if self._others:
            with self._others_lock:
                for pump in self._others.values():
                    pump.offer(bucket, event)
        if bucket in self._interest:
            self._queue.append((bucket, event))
        if self._interest and not self._woken:
            self._wake()

    def attach(self, watcher: Watcher) -> None:
        bucket = watcher.view.bucket
        if watcher.view.blocks:
            with self._others_lock:
                if not self._stopping:
                    self._other(bucket)._attach(bucket, watcher)
                    return
        self._attach(bucket, watcher)

    def _other(self, bucket: str) -> Pump:
        """Return the pump of a bucket's views that block. Start it if this is the first one."""
        pump = self._others.get(bucket)
        if pump is None:
            pump = self._others[bucket] = Pump(self._store, self._clock)
            pump.start(self._server)
        return pump

    def _attach(self, bucket: str, watcher: Watcher) -> None:
        with self._interest_lock:
            self._interest[bucket] = self._interest.get(bucket, 0) + 1
        self._queue.append(("", watcher))
        if not self._woken:
            self._wake()

    def end_bucket(self, bucket: str) -> None:
        """Close all watches of a resource that is no longer served."""
        with self._others_lock:
            pump = self._others.pop(bucket, None)
            if pump is not None:
                self._ending = [*(each for each in self._ending if each.is_alive), pump]
        if pump is not None:
            pump._is_ending = True
            pump.end_bucket(bucket)
        self._queue.append((bucket, None))
        self._wake()

    @property
    def is_alive(self) -> bool:
        """True if the pump's thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def _wake(self) -> None:
        self._woken = True
        with contextlib.suppress(OSError):
            self._waker.send(b"x")

    # ---- the pump thread

    def _run(self) -> None:
        try:
            while not (self._stopping or (self._is_ending and not self._count and not self._queue)):
                self._round()
        except Exception as err:
            klog.error_s(err, "The watch pump failed")
        finally:
            for views in list(self._watchers.values()):
                for watchers in list(views.values()):
                    for watcher in list(watchers):
                        self._drop(watcher)
            if self._is_ending:
                self._close()

    def _round(self) -> None:
        ready = self._selector.select(self._timeout())
        dirty: set[Watcher] = set()
        for key, events in ready:
            watcher = key.data
            if watcher is None:
                self._drain_waker()
                self._coalesce()
                continue
            if events & selectors.EVENT_READ and not self._still_there(watcher):
                continue
            if events & selectors.EVENT_WRITE:
                dirty.add(watcher)
        self._dispatch(dirty)
        self._fire_timers(dirty)
        for watcher in dirty:
            self._flush(watcher)
        if self._added > MAX_BACKLOG_IN_ALL // 8:
            self._added = 0
            self._bound_backlogs()

    def _bound_backlogs(self) -> None:
        """Drop the slow watchers of the views with the largest backlogs until all of them fit."""
        groups = [watchers for views in self._watchers.values() for watchers in views.values()]
        views = [(max(watcher.backlog for watcher in group), group) for group in groups]
        views.sort(key=lambda view: view[0])
        total = sum(backlog for backlog, _ in views)
        while total > MAX_BACKLOG_IN_ALL:
            backlog, watchers = views.pop()
            total -= backlog
            for watcher in [each for each in watchers if each.backlog]:
                klog.v(2).info("Dropping a slow watcher", bucket=watcher.view.bucket)
                self._drop(watcher)

    def _timeout(self) -> float | None:
        if not self._timers:
            return None
        # A client may ask for any number of seconds, the selector takes fewer.
        return min(max(0.0, self._timers[0][0] - self._clock.now()), _LONGEST_SLEEP)

    def _drain_waker(self) -> None:
        try:
            while self._receiver.recv(4096):
                pass
        except BlockingIOError:
            pass

    def _still_there(self, watcher: Watcher) -> bool:
        """Report whether the client is still connected. Bytes that it sends early are kept for the next request."""
        try:
            data = watcher.connection.sock.recv(65536)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return True
        except OSError:
            data = b""
        if data and len(watcher.connection.buffer) < 65536:
            watcher.connection.buffer += data
            return True
        self._drop(watcher)
        return False

    def _dispatch(self, dirty: set[Watcher]) -> None:
        """Move the queued events to the backlogs of the watchers that see them."""
        self._woken = False
        version = self._store.version
        queue = self._queue
        batch: dict[str, list[Event]] = {}
        while queue:
            bucket, item = queue.popleft()
            if type(item) is Event:
                if bucket in self._watchers:
                    batch.setdefault(bucket, []).append(item)
                continue
            # A watcher that attaches now must not see earlier events.
            self._deliver(batch, dirty)
            batch = {}
            if item is None:
                self._close_bucket(bucket)
            else:
                self._add(item)
                dirty.add(item)
        self._deliver(batch, dirty)
        self._version = version

    def _coalesce(self) -> None:
        """Let a few more events arrive when there are many watchers and the last round was only just now."""
        if self._count * _PAUSE_PER_WATCHER < 0.0005:
            return
        now = self._clock.now()
        if now - self._last_delivery < _BUSY_GAP:
            self._clock.sleep(min(self._count * _PAUSE_PER_WATCHER, _MAX_PAUSE))
        self._last_delivery = now

    def _deliver(self, batch: dict[str, list[Event]], dirty: set[Watcher]) -> None:
        broken: list[Watcher] = []
        for bucket, events in batch.items():
            for key, watchers in self._watchers.get(bucket, {}).items():
                line = self._views[key].line
                try:
                    data = b"".join([line(event) for event in events])
                except Exception as err:
                    # If one view cannot encode an object, the other watches continue.
                    klog.error_s(err, "Could not show an event", resource=bucket)
                    broken += watchers
                    continue
                if not data:
                    continue
                framed = chunk(data)
                self._added += len(framed)
                for watcher in watchers:
                    watcher.push(framed if watcher.chunked else data)
                    dirty.add(watcher)
        for watcher in broken:
            self._drop(watcher)

    def _add(self, watcher: Watcher) -> None:
        view = watcher.view
        sock = watcher.connection.sock
        try:
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ, watcher)
        except (OSError, ValueError, KeyError):
            self._lose_interest(view.bucket)
            return
        self._views[view.key] = view
        self._watchers.setdefault(view.bucket, {}).setdefault(view.key, []).append(watcher)
        self._count += 1
        now = self._clock.now()
        if watcher.bookmarks:
            before_end = watcher.deadline - BOOKMARK_BEFORE_END
            watcher.next_bookmark = min(now + BOOKMARK_PERIOD, before_end) if before_end > now else watcher.deadline
        self._schedule(watcher)

    def _schedule(self, watcher: Watcher) -> None:
        when = watcher.deadline
        if watcher.bookmarks:
            when = min(when, watcher.next_bookmark)
        heapq.heappush(self._timers, (when, next(self._ids), watcher))

    def _remove(self, watcher: Watcher) -> bool:
        views = self._watchers.get(watcher.view.bucket, {})
        watchers = views.get(watcher.view.key)
        if watchers is None or watcher not in watchers:
            return False
        watchers.remove(watcher)
        self._count -= 1
        self._lose_interest(watcher.view.bucket)
        if not watchers:
            del views[watcher.view.key]
            self._views.pop(watcher.view.key, None)
            if not views:
                self._watchers.pop(watcher.view.bucket, None)
        watcher.deadline = 0.0
        watcher.forget()
        if len(self._timers) > 2 * self._count + _MAX_DEAD_TIMERS:
            self._timers = [timer for timer in self._timers if timer[2].deadline]
            heapq.heapify(self._timers)
        return True

    def _lose_interest(self, bucket: str) -> None:
        with self._interest_lock:
            if self._interest[bucket] > 1:
                self._interest[bucket] -= 1
            else:
                del self._interest[bucket]

    def _drop(self, watcher: Watcher) -> None:
        """End a watch without ceremony."""
        if self._remove(watcher):
            self._unregister(watcher)
            watcher.connection.close()

    def _unregister(self, watcher: Watcher) -> None:
        with contextlib.suppress(KeyError, ValueError, OSError):
            self._selector.unregister(watcher.connection.sock)

    def _close_bucket(self, bucket: str) -> None:
        for watchers in list(self._watchers.get(bucket, {}).values()):
            for watcher in list(watchers):
                self._finish(watcher)
                self._flush(watcher)

    def _finish(self, watcher: Watcher) -> None:
        """Send the last chunk and give the connection back when that is out."""
        if watcher.closing:
            return
        watcher.closing = True
        if watcher.chunked:
            watcher.push(LAST_CHUNK)
        watcher.deadline = self._clock.now() + _CLOSING_SECONDS
        watcher.bookmarks = False
        self._schedule(watcher)

    def _fire_timers(self, dirty: set[Watcher]) -> None:
        now = self._clock.now()
        while self._timers and self._timers[0][0] <= now:
            _, _, watcher = heapq.heappop(self._timers)
            if watcher.deadline == 0.0:
                continue
            if watcher.closing:
                if now >= watcher.deadline:
                    self._drop(watcher)
                continue
            if now >= watcher.deadline:
                self._finish(watcher)
                dirty.add(watcher)
                continue
            if watcher.bookmarks and now >= watcher.next_bookmark:
                if watcher.source is None:
                    line = watcher.view.bookmark(max(self._version, watcher.view.after))
                    watcher.push(chunk(line) if watcher.chunked else line)
                    dirty.add(watcher)
                before_end = watcher.deadline - BOOKMARK_BEFORE_END
                again = now + BOOKMARK_PERIOD
                watcher.next_bookmark = min(again, before_end) if now < before_end - 0.5 else watcher.deadline
            self._schedule(watcher)

    def _flush(self, watcher: Watcher) -> None:
        """Send as much as the socket takes, but one piece of the initial state in a round: other watchers wait."""
        if watcher.deadline == 0.0:
            return
        sock = watcher.connection.sock
        try:
            while watcher.pending or watcher.next_piece():
                sent = sock.send(watcher.pending)
                watcher.pending = watcher.pending[sent:]
                if watcher.source is not None and not watcher.pending:
                    break
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            if watcher.backlog > MAX_BACKLOG:
                klog.v(2).info("Dropping a slow watcher", bucket=watcher.view.bucket)
                self._drop(watcher)
            else:
                self._continue_when_writable(watcher)
            return
        except OSError:
            self._drop(watcher)
            return
        except Exception as err:
            # The initial state is made here, piece by piece.
            klog.error_s(err, "Could not show the initial state", resource=watcher.view.bucket)
            self._drop(watcher)
            return
        if watcher.source is not None:
            self._continue_when_writable(watcher)
        elif watcher.closing:
            self._release(watcher)
        elif watcher.writing:
            watcher.writing = False
            self._selector.modify(sock, selectors.EVENT_READ, watcher)

    def _continue_when_writable(self, watcher: Watcher) -> None:
        if not watcher.writing:
            watcher.writing = True
            self._selector.modify(watcher.connection.sock, selectors.EVENT_READ | selectors.EVENT_WRITE, watcher)

    def _release(self, watcher: Watcher) -> None:
        """Return the connection of a properly ended watch to its next request."""
        if self._remove(watcher):
            self._unregister(watcher)
            assert self._server is not None
            if watcher.keep:
                self._server.resume(watcher.connection)
            else:
                watcher.connection.close()
