"""A recording as a server: a ListerWatcher that answers as the recorded one did, and a test's fixture made of it.

    recording = tour.Recording("FILE")
    informer = cache.new_shared_index_informer(tour.play(recording, v1.Pod), v1.Pod(), 0.0, {})

    apiserver = tour.fixture("FILE")            # in a test module

    def test_the_night_of_the_outage(apiserver):
        with synctest.bubble() as bubble:
            informer = cache.new_shared_index_informer(apiserver(v1.Pod), v1.Pod(), 0.0, {})
            ...
            bubble.sleep(3600.0)                # an hour of it, in no time

Answers come in the recorded order, none before its time: lists, events, bookmarks, errors, ends of watches, refusals.
Time is the clock's, so in a bubble of `clientgo.testing.synctest` a day takes a moment and is always the same. With
another `speed` it goes faster, and with math.inf all comes at once; between several reflectors there is no order then.

A reflector that asks otherwise than the recorded one did (it is of another version, or has other settings) is answered
as well: a list in place of a stream has the same objects; a list out of turn has what was known by then; a watch where
the recorded one made a list gets an error: its version is gone. After the end nothing comes: a watch is silent,
and a list has the last known objects. The program's own writes are no part of it.
"""

from __future__ import annotations

import bisect
import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, cast

from clientgo import context
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import ListObject, Object, schema
from clientgo.apimachinery.watch import Event, EventType
from clientgo.apimachinery.watch import Interface as Watching
from clientgo.golang import channel
from clientgo.golang.channel import Channel, Send, Signal
from clientgo.golang.stop import Done
from clientgo.kubernetes import scheme
from clientgo.tools import cache
from clientgo.tour.picture import Json
from clientgo.tour.recording import Known, Recording, Source, is_end_of_initial_objects, key_of, version_of
from clientgo.utils.clock import REAL_CLOCK, PassiveClock
from clientgo.utils.clock.clock import Clock

__all__ = ["Playback", "RecordedError", "fixture", "kind_of", "play", "source_of"]


_CHANGES = frozenset({EventType.ADDED, EventType.MODIFIED, EventType.DELETED})
# How many of the last events are remembered.
_SEEN = 6


class RecordedError(OSError):
    """A request failed when it was recorded, with an error that is not the server's."""


class _Objects(ListObject):
    """A list of whatever objects."""

    __slots__ = ("_objects",)

    def __init__(self, objects: list[Any], version: str) -> None:
        super().__init__(api_version="v1", kind="List")
        self._objects = objects
        self.set_resource_version(version)

    def extract_items(self) -> list[Any]:
        return self._objects


class Playback:
    """One source of a recording as a ListerWatcher, for one reflector. Thread-safe.

    kind: the class of the objects; that of the client's scheme, or Unstructured, when None.
    start: from when on, in seconds since the recording began; a list has what was known by then.
    speed: so many recorded seconds are one of the clock's; math.inf for all at once.
    """

    def __init__(
        self,
        recording: Recording,
        source: Source,
        kind: type[Object] | None = None,
        *,
        start: float = 0.0,
        speed: float = 1.0,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        """Begin at `start`. Raises ValueError for a speed that is not above 0."""
        if not speed > 0:
            raise ValueError(f"a speed is above 0, not {speed}")
        self.source = source
        self._recording = recording
        self._kind = kind
        self._clock = clock
        self._speed = speed
        # Guards all below.
        self._lock = threading.Lock()
        self._place = bisect.bisect_right(source.times, start) if start > 0 else 0
        # The answers that its reflector has received so far.
        self._known = recording.known(source, start) if start > 0 else Known()
        if not self._known.is_complete:
            self._place = 0
        # A list is owed to who begins in the middle, whatever the recorded one did there.
        self._owes_list = self._place > 0
        self._streams = not self._owes_list and self._streams_first()
        # The clock's time at the recording's beginning, computed on the first request.
        self._origin: float | None = None
        self._start = start if self._place else self._first_time()
        self._watches: list[_PlayedWatch] = []
        self._came: deque[Json] = deque(maxlen=_SEEN)

    def _first_time(self) -> float:
        return self.source.times[0] if self.source.times else 0.0

    def _streams_first(self) -> bool:
        first = next(self._recording.entries(self.source), {})
        options = first.get("options")
        return first.get("what") == "watch" and isinstance(options, dict) and bool(options.get("sendInitialEvents"))

    # ---- as a ListerWatcher

    def is_watch_list_semantics_un_supported(self) -> bool:
        """Report whether the recorded reflector began with a list."""
        return not self._streams

    def list(self, options: metav1.ListOptions) -> Any:
        """See ListerWatcher."""
        return self.list_with_context(context.background(), options)

    def watch(self, options: metav1.ListOptions) -> Watching:
        """See ListerWatcher."""
        return self.watch_with_context(context.background(), options)

    def list_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Any:
        """Return the next recorded list, or the known objects. Blocks until its time; raises the recorded error."""
        self._begin()
        with self._lock:
            answer, time = self._next_list()
        if answer is None:
            ctx.done().wait()
            raise context.Canceled
        self._wait_for(ctx, time)
        if answer["what"] == "failed":
            raise _error_of(answer)
        objects = [self._object(item, answer, f"items[{number}]") for number, item in enumerate(answer["items"])]
        return _Objects([obj for obj in objects if obj is not None], answer.get("version", ""))

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Watching:
        """Return the next recorded watch, or its rest. Blocks until its time; raises the recorded error."""
        self._begin()
        with self._lock:
            failure = self._open_watch(streams=options.send_initial_events is True)
        if failure is not None:
            self._wait_for(ctx, failure["t"])
            raise _error_of(failure)
        played = _PlayedWatch(self)
        with self._lock:
            self._watches.append(played)
        return played

    def moment(self) -> float:
        """Return the current time of the recording, in seconds since its beginning."""
        if self._origin is None or math.isinf(self._speed):
            return self._start
        return (self._clock.now() - self._origin) * self._speed

    def seen(self) -> tuple[str, Sequence[Json]]:
        """Return the reflector's last version, and the last events: type, key, version. Takes no lock."""
        return self._known.version, list(self._came)

    def __enter__(self) -> Playback:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what is open; its threads have ended then."""
        with self._lock:
            watches, self._watches = self._watches, []
        for each in watches:
            each.stop()
        for each in watches:
            each.join()

    # ---- time

    def _begin(self) -> None:
        """Begin a request: its answer is behind the events of the watch before it."""
        self.close()
        with self._lock:
            if self._origin is None:
                self._origin = self._clock.now() - self._start / self._speed

    def due(self, time: float) -> float:
        """Return the clock's seconds until that time of the recording; 0 or less when it has come."""
        if self._origin is None or math.isinf(self._speed):
            return 0.0
        return self._origin + time / self._speed - self._clock.now()

    def _wait_for(self, ctx: context.Context, time: float) -> None:
        left = self.due(time)
        if left > 0 and not context.sleep(ctx, left, self._clock):
            raise context.Canceled

    # ---- the script. All of it under the lock.

    def _entry(self) -> Json | None:
        """Return the next line; None behind the end."""
        while self._place < len(self.source.entries):
            entry = self._recording.entry(self.source, self._place)
            if entry is not None:
                return entry
            self._place += 1
        return None

    def _take(self, entry: Json) -> None:
        self._known.apply(entry)
        self._place += 1
        obj = entry.get("object")
        if entry["what"] == "event" and isinstance(obj, dict) and entry.get("type") in _CHANGES:
            key, version = key_of(obj), version_of(obj)
            self._came.append({"type": entry["type"], "key": key, "version": version, "ref": f"{key}@{version}"})

    def _pass_over(self, *kinds: str) -> Json | None:
        """Skip lines of these kinds and return the next line."""
        while (entry := self._entry()) is not None and entry["what"] in kinds:
            self._take(entry)
        return entry

    def _next_list(self) -> tuple[Json | None, float]:
        """Return the answer to a list, and its time; None behind the end."""
        entry = self._pass_over("ended")
        if self._owes_list or entry is None:
            self._owes_list = False
            return (self._all_known() if self._known.is_complete else None), 0.0
        if entry["what"] == "watch" and _is_stream(entry):
            return self._list_of_stream()
        if entry["what"] not in ("list", "listed", "failed"):
            return self._all_known(), 0.0
        # A list in pages was requested page by page.
        answer = self._pass_over("list")
        if answer is None or answer["what"] not in ("listed", "failed"):
            return (self._all_known(), 0.0) if answer is not None else (None, 0.0)
        self._take(answer)
        items = answer.get("items")
        answer["items"] = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        return answer, answer["t"]

    def _all_known(self) -> Json:
        return {"what": "listed", "items": list(self._known.objects.values()), "version": self._known.version}

    def _list_of_stream(self) -> tuple[Json | None, float]:
        """Return the initial objects of a stream as a list. The stream's rest is the watch behind it."""
        time = 0.0
        while (entry := self._entry()) is not None:
            self._take(entry)
            time = entry["t"]
            if entry["what"] == "failed":
                return entry, time
            if entry["what"] == "event" and is_end_of_initial_objects(entry.get("object") or {}):
                return self._all_known(), time
            if entry["what"] == "ended":
                return self._next_list()
        return None, time

    def _open_watch(self, *, streams: bool) -> Json | None:
        """Go to the first event of the requested watch. Return its failure, if it failed."""
        entry = self._pass_over("ended")
        if entry is None or entry["what"] == "event":
            return None
        if entry["what"] == "watch" and _is_stream(entry) == streams:
            entry = self._pass_over("watch", "opened")
            if entry is not None and entry["what"] == "failed":
                self._take(entry)
                return entry
            return None
        if entry["what"] == "failed":
            self._take(entry)
            return entry
        if streams:
            return {"what": "failed", "t": 0.0, "error": "the recorded reflector made a list here"}
        expired = apierrors.new_resource_expired("the recorded reflector made a list here")
        return {"what": "failed", "t": 0.0, "object": expired.status().to_dict()}

    def next_event(self, watch_ended: bool) -> Json | None:
        """Return the next event of a watch, or its end. None if nothing is left for this watch."""
        with self._lock:
            if watch_ended:
                return None
            entry = self._entry()
            if entry is None or (entry.get("why") == "left" and self._place + 1 == len(self.source.entries)):
                return None
            return entry if entry["what"] == "event" else {"what": "ended", "t": entry["t"]}

    def took(self, entry: Json) -> None:
        """Take an event that was received."""
        with self._lock:
            self._take(entry)

    def event(self, entry: Json) -> Event | None:
        """Return an entry as the reflector gets it; None for a damaged one."""
        kind, obj = entry.get("type"), entry.get("object")
        if not isinstance(kind, str) or not isinstance(obj, dict):
            return None
        if kind == EventType.ERROR:
            status = self._decode(metav1.Status, obj, entry, "object")
            return None if status is None else Event(kind, status)
        decoded = self._object(obj, entry, "object")
        if decoded is None:
            return None
        return Event(EventType(kind) if kind in set(EventType) else kind, decoded)

    def _object(self, document: Json, entry: Json, field: str) -> Any:
        return self._decode(self._kind or kind_of(document), document, entry, field)

    def _decode(self, kind: type[Object], document: Json, entry: Json, place: str) -> Any:
        """Return an object of a line; None, and the recording notes a damage, if it cannot be decoded."""
        try:
            obj = kind.from_dict(document)
            # Access that fails, fails here, and not in a thread of the machinery.
            if kind is metav1.Status:
                repr(obj)  # reads every field
            else:
                cache.meta_namespace_key_func(obj)
        except Exception as err:
            if "place" in entry:
                self._recording.note_undecoded(entry, place, err)
            return None
        return obj

    def clock(self) -> Clock:
        """Return the clock of this playback."""
        return self._clock

    def __repr__(self) -> str:
        return f"<Playback of {self.source.type}, line {self._place} of {len(self.source.entries)}>"


def _is_stream(entry: Json) -> bool:
    options = entry.get("options")
    return isinstance(options, dict) and options.get("sendInitialEvents") is True


def _error_of(entry: Json) -> Exception:
    text = str(entry.get("error", ""))
    status = entry.get("object")
    if isinstance(status, dict):
        try:
            decoded = metav1.Status.from_dict(status).deep_copy()
            repr(decoded)  # reads every field: the reflector must not meet one that cannot be decoded
            return apierrors.StatusError(decoded)
        except Exception as err:
            return RecordedError(f"a recorded status that cannot be decoded: {err}")
    if entry.get("refused") is True:
        return ConnectionRefusedError(111, text or "connection refused")
    return RecordedError(f"{entry.get('type', 'Exception')}: {text}")


def kind_of(document: Json) -> type[Object]:
    """Return the class that the client's scheme has for an object; Unstructured for an unknown kind."""
    gvk = schema.from_api_version_and_kind(*_kind_in(document))
    return type(scheme.SCHEME.new(gvk)) if scheme.SCHEME.recognizes(gvk) else Unstructured


class _PlayedWatch:
    """One watch, and a Reader of it: use either `read_events` or `result_chan`.

    The reader's thread decodes what it reads, as that of a connection. The thread of the channel ends soon after
    `stop`, or with it.
    """

    def __init__(self, playback: Playback) -> None:
        self.read_at = 0.0
        self._playback = playback
        self._stopped = Signal()
        # Guards both fields below.
        self._lock = threading.Lock()
        self._events: Channel[Event] | None = None
        self._thread: threading.Thread | None = None

    def read_events(self, done: Done, clock: PassiveClock) -> Iterator[Event]:
        """Yield each event when its time has come, until the watch ends. See Reader."""
        for entry, event in self._due_events(done):
            self.read_at = clock.now()
            # An event was received even if the caller leaves the iteration here.
            self._playback.took(entry)
            if event is not None:
                yield event

    def result_chan(self) -> Channel[Event]:
        with self._lock:
            if self._events is None:
                self._events = Channel()
                if self._stopped.is_set():
                    self._events.close()
                    return self._events
                name = f"playback {self._playback.source.type}"
                self._thread = threading.Thread(target=self._send, args=(self._events,), name=name, daemon=True)
                self._thread.start()
            return self._events

    def stop(self) -> None:
        self._stopped.set()

    def join(self) -> None:
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _send(self, events: Channel[Event]) -> None:
        """Send each event. One that is not received is left for the next watch."""
        try:
            for entry, event in self._due_events(self._stopped):
                if event is not None and channel.select([self._stopped, Send(events, event)]).case == 0:
                    return
                self._playback.took(entry)
        finally:
            events.close()

    def _due_events(self, done: Done) -> Iterator[tuple[Json, Event | None]]:
        """Yield each line when its time has come, and its event, until the watch ends or `done` is set."""
        playback = self._playback
        while (entry := playback.next_event(self._stopped.is_set())) is not None:
            if not self._wait(done, playback.due(entry["t"])) or entry["what"] == "ended":
                return
            yield entry, playback.event(entry)
        channel.select([self._stopped, done])

    def _wait(self, done: Done, seconds: float) -> bool:
        """Report whether neither the watch was stopped nor `done` set in the meantime."""
        if seconds > 0:
            timer = self._playback.clock().new_timer(seconds)
            if channel.select([self._stopped, done, timer.c()]).case != 2:
                timer.stop()
        return not self._stopped.is_set() and not done.is_set()


# ---- for tests


class Server(Protocol):
    """A recording that plays, as a fixture gives it."""

    def __call__(self, kind: type[Object] | str, *, start: float = ..., speed: float = ...) -> cache.ListerWatcher:
        """Return the ListerWatcher for objects of a class, or of a type as in `Source.type`."""
        ...


def source_of(recording: Recording, kind: type[Object] | str) -> Source:
    """Return the source with objects of a class, or a type ("*v1.Pod"). Raises LookupError unless there is one."""
    found = [source for source in recording.sources.values() if _brings(recording, source, kind)]
    if len(found) != 1:
        has = ", ".join(sorted(source.type for source in recording.sources.values())) or "nothing"
        name = kind if isinstance(kind, str) else kind.__name__
        raise LookupError(f"{recording.path} has {len(found)} sources of {name}; it has {has}")
    return found[0]


def _brings(recording: Recording, source: Source, kind: type[Object] | str) -> bool:
    if isinstance(kind, str):
        return source.type == kind
    gvk = kind.GROUP_VERSION_KIND
    if gvk is None:
        return False
    first = first_object(recording, source)
    if first is None:
        return source.type in (f"*{gvk.version}.{gvk.kind}", str(gvk))
    return _kind_in(first) == gvk.to_api_version_and_kind()


def _kind_in(document: Json) -> tuple[str, str]:
    return str(document.get("apiVersion", "")), str(document.get("kind", ""))


def first_object(recording: Recording, source: Source) -> Json | None:
    """Return one of the source's objects; None when it has none."""
    for entry in recording.entries(source):
        items = entry.get("items") if entry["what"] == "listed" else [entry.get("object")]
        if entry["what"] not in ("listed", "event") or entry.get("type") == EventType.ERROR:
            continue
        for item in items if isinstance(items, list) else []:
            if isinstance(item, dict):
                return item
    return None


def play(
    recording: Recording,
    kind: type[Object] | str,
    *,
    start: float = 0.0,
    speed: float = 1.0,
    clock: Clock = REAL_CLOCK,
) -> Playback:
    """Return a ListerWatcher that answers as the recorded server did to the reflector of such objects.

    kind: a class, which the objects get, or `Source.type`. See Playback for the rest. Raises LookupError.
    """
    source = source_of(recording, kind)
    return Playback(recording, source, None if isinstance(kind, str) else kind, start=start, speed=speed, clock=clock)


def fixture(path: str | os.PathLike[str], *, scope: str = "function") -> Any:
    """Return a pytest fixture that serves a recording: called with a class it returns that class's ListerWatcher.

    The fixture closes its ListerWatchers at the end of the test. Needs pytest.
    """
    import pytest

    @pytest.fixture(scope=cast(Any, scope))
    def server() -> Iterator[Callable[..., Playback]]:
        played: list[Playback] = []
        with Recording(path) as recording:

            def lister_watcher(kind: type[Object] | str, **options: Any) -> Playback:
                played.append(play(recording, kind, **options))
                return played[-1]

            yield lister_watcher
            for each in played:
                each.close()

    return server
