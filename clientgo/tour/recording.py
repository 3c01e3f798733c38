"""A recording: its format, and what reads it.

A recording is a file of JSON lines. Each is an object with `what` it is, then `t`, when it happened in seconds since
the recording began, and then the rest, in this order; so who looks for something reads the beginning of a line alone.

    recording  the first line: `format`, a number; `began`, the date; `program`, how it is called
    source     a reflector begins: `source`, its number here; its `name`; the `type` of its objects
    list       a list was asked for: `source`, `request` (its number), `options` as in the request
    listed     the objects of a list are all there: `source`, `version`, `items`. A list in pages is one
    watch      a watch was asked for: as list
    opened     the watch began: `source`, `request`
    event      something came over it: `source`, `request`, `type`, `object`
    ended      the watch ended: `source`, `request`; `why`: closed by the server, or left by the reflector; `error`
    failed     a request failed: `source`, `request`; `type`, `error` of the exception; `refused`: no server listened;
               `object`: the Status that the server sent, if it did
    code       a place in the source: `code`, its number here, and the fields of `Code` but its lines
    hop        a hop: the fields of `Hop` in which there is something, of `code` the number; `t` is its time
    skipped    so many `hops` were not written, since the recorder could not follow
    unwritten  a line of the kind `of` could not be written as JSON; `error` says why
    end        the last line of a recording that was ended in order

`object` and `items` are objects as the reflector got them; values of Secrets are replaced by marks. Kinds and fields
may be added; a reader passes over what it does not know. A greater `format` means that it cannot do so.

A recording that was cut off, or damaged, is read as far as it can be. Each field is checked where it is read, see
recorded.py: lines and fields that make no sense are skipped, counted, and described in `damages` by line and field. Of
a file, however long, only the places of its lines are kept in memory.
"""

from __future__ import annotations

import bisect
import json
import os
import re
import threading
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, BinaryIO

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tour.picture import Json
from clientgo.tour.recorded import LineError, check, check_object, printable

__all__ = ["FORMAT", "Known", "Recording", "RecordingError", "Source"]

FORMAT = 1
"""The number of the format."""

LONGEST_LINE = 256 * 1024 * 1024
"""No line is longer than that, in bytes; what is, is damaged."""

_WIRE = frozenset({"source", "list", "listed", "watch", "opened", "event", "ended", "failed"})
_BEGINNING = re.compile(rb'\{"what":"(\w{1,20})","t":(\d{1,12}(?:\.\d{1,9})?(?:e-\d\d)?)[,}]')
_SOURCE = re.compile(rb'"source":(\d{1,9})[,}]')
# The first few are enough to find the damage.
_DAMAGES = 20
# So many are remembered, to be counted once.
_DESCRIBED = 10_000
# Of a hop whose place in the source is not known.
_NO_CODE: Json = {"file": "", "function": "", "goFile": "", "goFunction": "", "first": 0, "lines": [], "caller": ""}


def _loads(line: bytes) -> Any:
    return json.loads(line, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


class RecordingError(ValueError):
    """A file is no recording that can be read here."""


@dataclass
class Source:
    """The requests and events of one reflector."""

    number: int
    name: str = ""
    type: str = ""
    """Of its objects: "*v1.Pod"."""
    entries: array[int] = field(default_factory=lambda: array("q"), repr=False)
    """The places of its lines in the file."""
    times: array[float] = field(default_factory=lambda: array("d"), repr=False)
    """Time of each entry, in seconds since the recording began."""
    events: int = 0
    lists: int = 0

    def to_dict(self) -> Json:
        """Return it as JSON."""
        last = self.times[-1] if self.times else 0.0
        counts = {"events": self.events, "lists": self.lists, "last": last}
        return {"source": self.number, "name": self.name, "type": self.type, **counts}


class Known:
    """The objects and the version that a reflector knows after all entries so far."""

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {}
        """By key."""
        self.version = ""
        self.is_complete = False
        """True after a list, or after a stream's end of the initial objects."""
        self._streamed: dict[str, Json] | None = None

    def apply(self, entry: Json) -> None:
        """Apply a line of the source. Invalid parts are skipped."""
        kind = entry["what"]
        if kind == "listed":
            items = [item for item in entry.get("items", ()) if isinstance(item, dict)]
            self._publish({key_of(item): item for item in items}, str(entry.get("version", "")))
        elif kind == "watch":
            options = entry.get("options")
            streams = isinstance(options, dict) and options.get("sendInitialEvents") is True
            self._streamed = {} if streams else None
        elif kind == "event" and isinstance(entry.get("object"), dict):
            self._apply_event(entry.get("type"), entry["object"])

    def _publish(self, objects: dict[str, Json], version: str) -> None:
        self.objects, self.version, self.is_complete = objects, version, True
        self._streamed = None

    def _apply_event(self, kind: object, obj: Json) -> None:
        into = self.objects if self._streamed is None else self._streamed
        if kind in ("ADDED", "MODIFIED"):
            into[key_of(obj)] = obj
        elif kind == "DELETED":
            into.pop(key_of(obj), None)
        elif kind != "BOOKMARK":
            return
        if self._streamed is None:
            self.version = version_of(obj) or self.version
        elif kind == "BOOKMARK" and is_end_of_initial_objects(obj):
            self._publish(self._streamed, version_of(obj))


def _metadata(obj: Json) -> Json:
    metadata = obj.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def key_of(obj: Json) -> str:
    """Return the key of an object in a recording."""
    metadata = _metadata(obj)
    return "/".join(str(metadata[name]) for name in ("namespace", "name") if metadata.get(name))


def version_of(obj: Json) -> str:
    """Return the object's resourceVersion, "" for none."""
    return str(_metadata(obj).get("resourceVersion", ""))


def is_end_of_initial_objects(obj: Json) -> bool:
    """Report whether this bookmark ends the initial objects of a stream."""
    annotations = _metadata(obj).get("annotations")
    return isinstance(annotations, dict) and annotations.get(metav1.INITIAL_EVENTS_ANNOTATION_KEY) == "true"


class Recording:
    """A recording in a file; a context manager that closes it. Thread-safe.

    Opening reads the file once. Raises OSError, and RecordingError for a file with another or a newer format.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.program = ""
        self.began = ""
        self.duration = 0.0
        """The time of the last line."""
        self.sources: dict[int, Source] = {}
        """Sources with entries, by number."""
        self.hops = 0
        """Number of recorded hops."""
        self.skipped = 0
        """Number of hops that were not written."""
        self.damaged = 0
        """Number of damaged lines that were found so far."""
        self.damages: list[str] = []
        """The first of them."""
        self.is_complete = False
        """True if the recording was ended in order."""
        # The places at which lines begin: the number of a line is one more than its index.
        self._lines = array("q", [0])
        # Damages that were described already: a line may be read many times.
        self._described: set[tuple[int, str]] = set()
        self._hop_offsets = array("q")
        self._hop_times = array("d")
        self._codes: dict[int, Json] = {}
        # Guards the file's position and the counts of damages.
        self._lock = threading.Lock()
        self._file: BinaryIO = open(path, "rb")  # noqa: SIM115  (it is closed by `close`)
        try:
            self._scan()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def check_for_sources(self) -> None:
        """Raise RecordingError when nothing came to a reflector: then there is nothing to replay."""
        if not any(source.entries for source in self.sources.values()):
            raise RecordingError(f"nothing came to a reflector in {self.path}")

    # ---- the first look

    def _scan(self) -> None:
        head = self._file.readline(64 * 1024)
        self._read_head(head)
        place = len(head)
        number = 1
        while line := self._file.readline(LONGEST_LINE):
            number += 1
            self._lines.append(place)
            length = len(line)
            if not line.endswith(b"\n"):
                length += self._pass_over()
            found = _BEGINNING.match(line)
            if found is None or not line.endswith(b"}\n"):
                self._add_damage(f"line {number} is cut off or no line of a recording")
            else:
                self._note_line(found[1].decode(), float(found[2]), place, line)
            place += length

    def _read_head(self, line: bytes) -> None:
        try:
            head = _loads(line)
        except (ValueError, RecursionError):
            head = None
        if not isinstance(head, dict) or head.get("what") != "recording" or type(head.get("format")) is not int:
            raise RecordingError(f"{self.path} is no recording of the tour")
        if head["format"] > FORMAT:
            raise RecordingError(f"{self.path} has format {head['format']}, which is later than {FORMAT}")
        sound = check("recording", head, lambda err: self._note_field(0, err)) or {}
        self.began, self.program = sound.get("began", ""), sound.get("program", "")

    def _pass_over(self) -> int:
        """Skip the rest of a line that is too long, and return its length."""
        length = 0
        while part := self._file.readline(LONGEST_LINE):
            length += len(part)
            if part.endswith(b"\n"):
                break
        return length

    def _add_damage(self, text: str) -> None:
        self.damaged += 1
        if len(self.damages) < _DAMAGES:
            self.damages.append(printable(text))

    def _note_line(self, kind: str, time: float, place: int, line: bytes) -> None:
        self.duration = max(self.duration, time)
        if kind == "hop":
            self.hops += 1
            self._hop_offsets.append(place)
            # Several threads wrote: times may differ a little from the order, which a search needs.
            self._hop_times.append(max(time, self._hop_times[-1]) if self._hop_times else time)
        elif kind in _WIRE:
            found = _SOURCE.search(line, 0, 200)
            if found is None:
                self._note_field(place, LineError("source", "is missing at the line's beginning"))
                return
            source = self.sources.setdefault(int(found[1]), Source(int(found[1])))
            self._note_wire(source, kind, time, place, line)
        elif kind in ("code", "skipped"):
            self._note_aside(kind, self._parse(kind, line, place))
        elif kind == "end":
            self.is_complete = True

    def _note_wire(self, source: Source, kind: str, time: float, place: int, line: bytes) -> None:
        if kind == "source":
            about = self._parse(kind, line, place) or {}
            source.name, source.type = about.get("name", ""), about.get("type", "")
            return
        source.entries.append(place)
        source.times.append(max(time, source.times[-1]) if source.times else time)
        source.events += kind == "event"
        source.lists += kind == "listed"

    def _note_aside(self, kind: str, about: Json | None) -> None:
        if about is None:
            return
        if kind == "skipped":
            self.skipped += about["hops"]
        else:
            self._codes[about["code"]] = {name: about[name] for name in _NO_CODE if name in about}

    # ---- reading

    def _parse(self, kind: str, line: bytes, place: int) -> Json | None:
        """Return a line's sound fields; None, and a damage is noted, if it makes no sense."""
        try:
            entry = _loads(line)
        except (ValueError, RecursionError) as err:
            self._note_field(place, LineError("line", f"cannot be read: {err}"))
            return None
        return check(kind, entry, lambda err: self._note_field(place, err))

    def _note_field(self, place: int, err: LineError) -> None:
        """Describe the error in a field of a line, once."""
        number = bisect.bisect_right(self._lines, place)
        with self._lock:
            if (number, err.field) in self._described:
                return
            if len(self._described) < _DESCRIBED:
                self._described.add((number, err.field))
            self._add_damage(f"line {number}: {err}")

    def note_undecoded(self, entry: Json, field: str, err: Exception) -> None:
        """Note that an object in a line, which `entry` returned, cannot be decoded."""
        self._note_field(entry["place"], LineError(field, f"cannot be decoded: {type(err).__name__}: {err}"[:500]))

    def _read(self, kind: str, place: int) -> Json | None:
        with self._lock:
            self._file.seek(place)
            line = self._file.readline(LONGEST_LINE)
        return self._parse(kind, line, place)

    def entry(self, source: Source, number: int) -> Json | None:
        """Return a line of a source; None for a line that makes no sense. `place` is where it is in the file."""
        place = source.entries[number]
        with self._lock:
            self._file.seek(place)
            line = self._file.readline(LONGEST_LINE)
        found = _BEGINNING.match(line)
        entry = None if found is None else self._parse(found[1].decode(), line, place)
        if entry is None or not self._has_sound_objects(source, entry, place):
            return None
        entry["t"], entry["place"] = source.times[number], place
        return entry

    def _has_sound_objects(self, source: Source, entry: Json, place: int) -> bool:
        """Report whether a line of a source is worth something; an item that makes no sense is left out."""
        try:
            if entry.get("source") != source.number:
                raise LineError("source", f"must be {source.number}, as at the line's beginning")
            if "object" in entry:
                is_change = entry["what"] == "event" and entry.get("type") in ("ADDED", "MODIFIED", "DELETED")
                check_object(entry["object"], "object", is_named=is_change)
        except LineError as err:
            self._note_field(place, err)
            return False
        items = []
        for number, item in enumerate(entry.get("items", ())):
            try:
                items.append(check_object(item, f"items[{number}]", is_named=True))
            except LineError as err:
                self._note_field(place, err)
        if "items" in entry:
            entry["items"] = items
        return True

    def entries(self, source: Source, first: int = 0) -> Iterator[Json]:
        """Yield all readable lines of the source, from a number on."""
        for number in range(first, len(source.entries)):
            entry = self.entry(source, number)
            if entry is not None:
                yield entry

    def known(self, source: Source, time: float) -> Known:
        """Return what its reflector knew `time` seconds after the beginning. Reads all entries before."""
        known = Known()
        for number in range(bisect.bisect_right(source.times, time)):
            entry = self.entry(source, number)
            if entry is not None:
                known.apply(entry)
        return known

    def hops_until(self, time: float, most: int = 60) -> list[Json]:
        """Return the last hops of the recorded program up to a time, as Hop.to_dict returns them."""
        last = bisect.bisect_right(self._hop_times, time)
        found = [self._read("hop", self._hop_offsets[number]) for number in range(max(0, last - most), last)]
        return [self._complete(hop) for hop in found if hop is not None]

    def _complete(self, hop: Json) -> Json:
        texts = dict.fromkeys(("version", "old", "thread", "station", "kind", "key"), "")
        nothing = {**texts, "merged": [], "more": {}, "number": 0}
        code = {**_NO_CODE, **self._codes.get(hop.get("code", -1), {})}
        complete = {**nothing, **hop, "time": hop.get("t", 0.0), "code": code}
        del complete["what"]
        complete.pop("t", None)
        return complete

    def to_dict(self) -> Json:
        """Return the facts about it as JSON."""
        return {
            "path": os.path.basename(self.path),
            "program": self.program,
            "began": self.began,
            "duration": self.duration,
            "sources": [source.to_dict() for _, source in sorted(self.sources.items())],
            "hops": self.hops,
            "skipped": self.skipped,
            "damaged": self.damaged,
            "damages": list(self.damages),
            "whole": self.is_complete,
        }

    def __repr__(self) -> str:
        return f"<Recording {self.path!r}, {len(self.sources)} sources, {self.hops} hops, {self.duration:.1f} s>"
