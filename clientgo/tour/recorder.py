"""Records a program that really runs: what came to its reflectors, and every hop, into a file of JSON lines.

    with tour.record("FILE"):
        factory.start(ctx.done())
        controller.run(ctx)

recording.py has the file's format, and reads it. In the threads of the machinery little more is done than to keep an
object until a thread of the recorder writes it, ten times a second; for that thread nothing waits. When it cannot
follow, hops are left out, and the file says how many; of what came to the reflectors nothing ever is.

It contains no credentials: a request is recorded by its options alone, the values of Secrets are replaced by marks (see
secrecy.py, also for what that does not cover), and what looks like a token in an error's text is taken out. `redact`
may change, or empty, each object on its way into the file.

A reflector is recorded from its making on. Of those that were there before the recorder only the hops are.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TextIO

from clientgo import context
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.util import net as utilnet
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang import callers
from clientgo.golang.stop import Done
from clientgo.rest.watch.reader import new_reader
from clientgo.tools import cache
from clientgo.tour.attached import Attached
from clientgo.tour.hop import Code, Hop
from clientgo.tour.picture import Json
from clientgo.tour.quiet import signals_for_others
from clientgo.tour.recording import FORMAT
from clientgo.tour.seam import Probe, Seam, Tap
from clientgo.tour.secrecy import Secrecy
from clientgo.tour.taps import FEW, TAPS
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.clock import PassiveClock, WithTicker

__all__ = ["Recorder", "Redact", "record"]

callers.mark_inserted()

Redact = Callable[[Json], Json]
"""Given an object as JSON, what is to be in the file in its place. Called on the recorder's thread."""

_TICK = 0.1
# How many hops may wait to be written.
_MOST_HOPS = 100_000
_encode = json.JSONEncoder(separators=(",", ":")).encode


class Recorder(Attached):
    """One recording; a context manager. May be used once.

    path: of a new file, which only its owner can read.
    program: the program's name, for readers of the recording.
    hops: True to record hops too, which costs the most.
    taps: functions of the program's own to watch too, see worker_tap.
    redact: see the module.

    Raises FileExistsError, and what else opening a file raises.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        program: str = "",
        hops: bool = True,
        taps: Iterable[Tap] = (),
        redact: Redact | None = None,
        clock: WithTicker = REAL_CLOCK,
    ) -> None:
        self._clock = clock
        self._redact = redact
        self.secrecy = Secrecy()
        """By the numbers of sources."""
        self._seam = Seam((*TAPS, *taps) if hops else (), self._receive, clock=clock, probes=self._probes())
        # Appended to in the threads of the machinery, taken from by the writer.
        self._entries: deque[tuple[float, Json | Hop]] = deque()
        self._skipped = 0
        # Guards the next, and the numbers of sources; told at the end.
        self._changed = threading.Condition()
        self._is_over = False
        self._sources = 0
        self._thread = threading.Thread(target=self._write_on, name="tour recorder", daemon=True)
        # By a reflector's identity, the number of its source. Each reflector's threads write its own.
        self._numbers: dict[int, int] = {}
        # The reflector of each thread.
        self._at = threading.local()
        # The writer's.
        self._codes: dict[tuple[Any, ...], int] = {}
        self._file: TextIO | None = _open_new(path)
        self._began = clock.now()
        began = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._entries.append((0.0, {"what": "recording", "format": FORMAT, "began": began, "program": program}))

    def attach(self) -> None:
        """Begin."""
        self._seam.attach()
        self._thread.start()

    def detach(self) -> None:
        """Record no more, and close the file. Blocks until all is written."""
        self._seam.detach()
        with self._changed:
            if self._is_over:
                return
            self._is_over = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        self._note_skipped()
        self._entries.append((self._now(), {"what": "end"}))
        self._write()
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _now(self) -> float:
        return round(self._clock.now() - self._began, 6)

    # ---- recorded in the threads of the machinery

    def note(self, kind: str, **about: Any) -> None:
        """Write a line, soon. Only the line may refer to its objects."""
        if not self._is_over:
            self._entries.append((self._now(), {"what": kind, **about}))

    def _receive(self, hop: Hop) -> None:
        if len(self._entries) < _MOST_HOPS:
            self._entries.append((self._now(), hop))
        else:
            self._skipped += 1

    def _probes(self) -> tuple[Probe, ...]:
        return (
            Probe.at("reflector.source", self._around_source),
            Probe.at("reflector.pass", self._around_pass),
            Probe.at("reflector.list_pages", self._around_pass),
            Probe.at("reflector.sync_with", self._around_list),
            Probe.at("reflector.handle_any_watch", self._around_watch),
            *self.secrecy.probes(),
        )

    def _around_source(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def to_lister_watcher_with_context(lw: Any) -> Any:
            with self._changed:
                number, self._sources = self._sources, self._sources + 1
            return _RecordedSource(self, function(lw), number)

        return to_lister_watcher_with_context

    def _around_pass(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(reflector: Any, *args: Any) -> Any:
            self._at.reflector = reflector
            try:
                return function(reflector, *args)
            finally:
                self._at.reflector = None

        return run

    def _around_list(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def _sync_with(reflector: Any, ctx: Any, items: Any, resource_version: str) -> None:
            number = self._numbers.get(id(reflector))
            if number is not None:
                self.note("listed", source=number, version=resource_version, items=[_kept(each) for each in items])
            function(reflector, ctx, items, resource_version)

        return _sync_with

    def begin(self, source: int) -> None:
        """Note that the reflector of this thread is about to send a source's request."""
        reflector = getattr(self._at, "reflector", None)
        if reflector is not None and self._numbers.get(id(reflector)) != source:
            self._numbers[id(reflector)] = source
            self.secrecy.mark_description(source, reflector.type_description())
            self.note("source", source=source, name=reflector.name(), type=reflector.type_description())

    def _around_watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def _handle_any_watch(*args: Any) -> Any:
            w = args[3]
            try:
                result = function(*args)
            except cache.VeryShortWatchError:  # closed so soon that nothing came
                self._ended(w, "closed", "")
                raise
            except Exception as err:
                self._ended(w, "left", str(err))
                raise
            self._ended(w, "closed", "")
            return result

        return _handle_any_watch

    def _ended(self, w: Any, why: str, error: str) -> None:
        if isinstance(w, _RecordedWatch) and w.is_stopped:
            self.note("ended", source=w.source, request=w.request, why=why, error=error)

    # ---- the writer's

    def _write_on(self) -> None:
        while True:
            with self._changed:
                if self._is_over:
                    return
                self._clock.wait(self._changed, _TICK)
            self._write()

    def _write(self) -> None:
        if self._file is None:
            self._entries.clear()
            return
        self._note_skipped()
        try:
            while self._entries:
                for line in self._lines(*self._entries.popleft()):
                    self._file.write(line)
            self._file.flush()
        except OSError as err:
            file, self._file = self._file, None
            utilruntime.handle_error(RuntimeError(f"the tour records no more: {err}"))
            _close_anyway(file)

    def _note_skipped(self) -> None:
        skipped, self._skipped = self._skipped, 0
        if skipped:
            self._entries.append((self._now(), {"what": "skipped", "hops": skipped}))

    def _lines(self, time: float, entry: Json | Hop) -> Iterator[str]:
        try:
            if isinstance(entry, Hop):
                yield from self._hop_lines(time, entry)
            else:
                yield _line(time, self._readable(entry))
        except (ValueError, TypeError, RecursionError) as err:
            # A value that is no JSON only makes this line an error.
            kind = "hop" if isinstance(entry, Hop) else entry["what"]
            yield _line(
                time, {"what": "unwritten", "of": kind, "error": self.secrecy.scrubbed(f"{type(err).__name__}: {err}")}
            )

    def _hop_lines(self, time: float, hop: Hop) -> Iterator[str]:
        code = hop.code
        name = (code.file, code.function, code.caller)
        number = self._codes.get(name)
        if number is None:
            number = self._codes[name] = len(self._codes)
            yield _line(time, {"what": "code", "code": number, **_code(code)})
        # Empty values would be most of the file.
        entry: Json = {"what": "hop", "number": hop.number, "station": hop.station, "kind": hop.kind, "key": hop.key}
        entry["thread"] = hop.thread
        if hop.version:
            entry["version"] = hop.version
        if hop.old:
            entry["old"] = hop.old
        if hop.merged:
            entry["merged"] = hop.merged
        if hop.more:
            entry["more"] = self.secrecy.scrubbed_fields(_brief(hop.more))
        entry["code"] = number
        yield _line(time, entry)

    def _readable(self, entry: Json) -> Json:
        shown = dict(entry)
        is_secret = self.secrecy.is_secret_source(entry.get("source"))
        if "object" in shown:
            shown["object"] = self._document(shown["object"], is_secret=is_secret)
        if "items" in shown:
            shown["items"] = [self._document(each, is_secret=is_secret) for each in shown["items"]]
        return self.secrecy.scrubbed_fields(shown)

    def _document(self, obj: Any, *, is_secret: bool) -> Json:
        document = self.secrecy.shown(obj, is_secret=is_secret)
        return document if self._redact is None else self._redact(document)


def _brief(more: Mapping[str, Any]) -> Json:
    """Return a hop's facts without the names of hundreds of objects, which queries about the past of a run need."""
    return {
        name: value[:FEW] if isinstance(value, list) else value for name, value in more.items() if name != "others"
    }


def _open_new(path: str | os.PathLike[str]) -> TextIO:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    # With room for one tick, because the writing thread must wait for its turn each time.
    return os.fdopen(file, "w", 1 << 20, encoding="utf-8")


def _close_anyway(file: TextIO) -> None:
    try:
        file.close()
    except OSError:
        return  # what is left in its buffer has no place either


def _line(time: float, entry: Json) -> str:
    # In this order: who looks for something reads the beginning of each line alone.
    kind = entry.pop("what")
    return _encode({"what": kind, "t": time, **entry}) + "\n"


def _code(code: Code) -> Json:
    document = code.to_dict()
    del document["lines"]
    return document


def _kept(obj: Any) -> Any:
    """Return a copy of the object as it is now. Cheap for objects that are still encoded."""
    return obj.deep_copy() if isinstance(obj, Object) else obj


class _RecordedSource:
    """A reflector's ListerWatcher that also records each request and its result."""

    def __init__(self, recorder: Recorder, inner: cache.ListerWatcherWithContext, number: int) -> None:
        self._recorder = recorder
        self._inner = inner
        self._number = number
        # Guards the next: a list that was given up goes on in a thread of its own.
        self._lock = threading.Lock()
        self._requests = 0

    def _begin(self, kind: str, options: metav1.ListOptions) -> int:
        self._recorder.begin(self._number)
        with self._lock:
            number, self._requests = self._requests, self._requests + 1
        self._recorder.note(kind, source=self._number, request=number, options=options.to_dict())
        return number

    def list_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Any:
        number = self._begin("list", options)
        try:
            with self._recorder.secrecy.asking_for(self._number):
                return self._inner.list_with_context(ctx, options)
        except Exception as err:
            self._fail(number, err)
            raise

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Any:
        number = self._begin("watch", options)
        try:
            with self._recorder.secrecy.asking_for(self._number):
                w = self._inner.watch_with_context(ctx, options)
        except Exception as err:
            self._fail(number, err)
            raise
        self._recorder.note("opened", source=self._number, request=number)
        return _RecordedWatch(self._recorder, w, self._number, number)

    def _fail(self, number: int, err: Exception) -> None:
        about: Json = {"error": str(err), "type": type(err).__name__, "refused": utilnet.is_connection_refused(err)}
        if isinstance(err, apierrors.APIStatus):
            about["object"] = _kept(err.status())
        self._recorder.note("failed", source=self._number, request=number, **about)


class _RecordedWatch:
    """A watch whose events are recorded when they are read. See Reader."""

    def __init__(self, recorder: Recorder, inner: watch.Interface, source: int, request: int) -> None:
        self.source = source
        self.request = request
        self.is_stopped = False
        self._recorder = recorder
        self._inner = inner
        self._reader = new_reader(inner)

    @property
    def read_at(self) -> float:
        return self._reader.read_at

    def read_events(self, done: Done, clock: PassiveClock) -> Iterator[watch.Event]:
        for event in self._reader.read_events(done, clock):
            about = {"type": str(event.type), "object": _kept(event.object)}
            self._recorder.note("event", source=self.source, request=self.request, **about)
            yield event

    def stop(self) -> None:
        self.is_stopped = True
        self._inner.stop()

    def result_chan(self) -> Any:
        return self._inner.result_chan()


@contextmanager
def record(
    path: str | os.PathLike[str],
    *,
    program: str = "",
    hops: bool = True,
    taps: Iterable[Tap] = (),
    redact: Redact | None = None,
) -> Iterator[Recorder]:
    """Record this process into a new file for as long as the body runs. Raises as Recorder, which has the arguments."""
    recorder = Recorder(path, program=program, hops=hops, taps=taps, redact=redact)
    with signals_for_others():
        recorder.attach()
    try:
        yield recorder
    finally:
        recorder.detach()
