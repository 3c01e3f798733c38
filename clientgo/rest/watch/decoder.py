"""Reads watch events off a response. Mirrors rest/watch/decoder.go.

Differs: reading and decoding are two steps. `read_lines` takes whatever has arrived, since a system call and a thread
switch for each event cost more than the event's JSON. `decode_line` is for the thread that uses the event: objects that
wait in a queue as dicts make the cyclic garbage collector run over them again and again, lines do not. `decode` is Go's
method, which does both.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from clientgo.apimachinery.runtime.interfaces import Decoder as ObjectDecoder
from clientgo.apimachinery.runtime.interfaces import LazyDecoder
from clientgo.apimachinery.runtime.text_source import read_event
from clientgo.apimachinery.util.json import TooDeepError, scan_at_any_depth
from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.apimachinery.watch import Event, EventType
from clientgo.golang import utf8
from clientgo.golang.http import Body
from clientgo.hops import hop

# An event is never nearly as large. Go: the default of streaming.NewDecoder.
MAX_EVENT = 16 * 1024 * 1024

_JSON_SPACE = " \t\r\n"

_EVENT_TYPES = {event_type.value: event_type for event_type in EventType}
# Looking a member up in its enum takes a tenth of a microsecond, which each event would.
_BOOKMARK = EventType.BOOKMARK

# A server sends a bookmark each minute, up to a quarter later, also when nothing changes. Once a stream has shown that
# its server does, silence for twice as long means that the connection is dead.
SILENCE_AFTER_BOOKMARK = 150.0

_INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Decoder:
    """Watch events from a body of JSON lines.

    `read_lines` belongs to one thread and `decode_line` to another, or both to the thread that calls `decode`. Any
    thread may call `close`.
    """

    def __init__(self, body: Body, embedded_decoder: ObjectDecoder) -> None:
        self._body = body
        self._decode_object = embedded_decoder.decode_document
        self._wrap = embedded_decoder.decode_lazily if isinstance(embedded_decoder, LazyDecoder) else None
        # The start of a line whose end has not arrived.
        self._rest: list[bytes] = []
        self._rest_size = 0
        self._ended = False
        # Lines `decode` has not come to.
        self._lines: deque[Any] = deque()
        # The object decoded last, for messages; looked at only when something fails.
        self._last: Any = None
        self._expects_bookmarks = False

    def decode(self) -> tuple[str, Any]:
        """Return the next event. Blocks.

        Raises EOFError at the end, ErrUnexpectedEOF in the middle of an event, ValueError for what is no event.
        """
        if not self._lines:
            self._lines.extend(self.read_lines())
        return self.decode_line(self._lines.popleft())

    def read_lines(self) -> list[str]:
        """Return all lines that have arrived, at least one, after waiting for it. Raises as `decode` does."""
        while not self._ended:
            piece = self._body.read_some()
            if not piece:
                self._ended = True
                break
            cut = piece.rfind(b"\n") + 1
            if not cut:
                self._rest.append(piece)
                self._rest_size += len(piece)
                if self._rest_size > MAX_EVENT:
                    raise self._error("object to decode was longer than maximum allowed size")
                continue
            head = piece[:cut]
            if self._rest:
                head = b"".join((*self._rest, head))
            self._rest = [piece[cut:]] if cut < len(piece) else []
            self._rest_size = len(piece) - cut
            lines = self._split(head)
            if lines:
                return lines
        return self._last_line()

    def _last_line(self) -> list[str]:
        """Return the text behind the last newline if it is a whole event.

        Raises EOFError if there is no text, ErrUnexpectedEOF for a part of an event.
        """
        lines = self._split(b"".join(self._rest))
        self._rest = []
        if not lines:
            raise EOFError("EOF")
        try:
            scan_at_any_depth(lines[0].lstrip(_JSON_SPACE), 0)
        except (StopIteration, ValueError):
            raise ErrUnexpectedEOF from None
        return lines

    def _split(self, block: bytes) -> list[str]:
        # A stray byte in a text does no harm, as in Go; between texts it makes the line invalid, but not those before.
        return [line for line in utf8.decode_valid(block).split("\n") if line and not line.isspace()]

    @hop("reflector.decode", go="(*Decoder).Decode")
    def decode_line(self, line: str) -> Event:
        """Return the event in a line. Raises ValueError that names the last resource version seen."""
        event = self._undecoded_event(line) or self._decoded_event(line)
        self._last = event.object
        if event.type is _BOOKMARK and not self._expects_bookmarks:
            self._handle_bookmark(event.object)
        return event

    def _undecoded_event(self, line: str) -> Event | None:
        """Return the event with an object that is decoded when it is read; None when it must be decoded at once."""
        wrap = self._wrap
        found = read_event(line) if wrap is not None else None
        if wrap is None or found is None:
            return None
        event_type, obj = _EVENT_TYPES.get(found[0]), wrap(found[1])
        return None if event_type is None or obj is None else Event(event_type, obj)

    def _decoded_event(self, line: str) -> Event:
        line = line.lstrip(_JSON_SPACE)
        try:
            document, end = scan_at_any_depth(line, 0)
        except TooDeepError as err:
            raise self._error(f"{err}: {line[:64]!r}") from None
        except (StopIteration, ValueError):
            raise self._error(f"invalid JSON: {line[:64]!r}") from None
        if end != len(line) and line[end:].strip():
            raise self._error("more than one JSON value in a line")
        try:
            event_type = _EVENT_TYPES[document["type"]]
            raw = document["object"]
        except (KeyError, TypeError):
            raise self._not_an_event(document) from None
        try:
            obj = self._decode_object(raw)
        except Exception as err:
            raise self._error(f"unable to decode watch event: {err}") from err
        return Event(event_type, obj)

    def _handle_bookmark(self, obj: Any) -> None:
        """Expect more bookmarks, unless this one is the end of the initial events, which every server sends."""
        if not _ends_initial_events(obj):
            self._expects_bookmarks = True
            self._body.limit_silence(SILENCE_AFTER_BOOKMARK)

    def _not_an_event(self, document: Any) -> Exception:
        if not isinstance(document, dict) or "object" not in document or not isinstance(document.get("type"), str):
            return self._error("unable to decode to metav1.WatchEvent")
        return self._error(f"got invalid watch event type: {document['type']}")

    def _error(self, message: str) -> ValueError:
        version = self._last.get_resource_version() if hasattr(self._last, "get_resource_version") else ""
        return ValueError(f"{message} (after resourceVersion {version})" if version else message)

    def close(self) -> None:
        """Break the stream off; a `decode` that blocks then raises at once."""
        self._body.abort()

    def release(self) -> None:
        """Let go of the connection. For the thread that reads, when it has finished."""
        self._body.close()


def _ends_initial_events(obj: Any) -> bool:
    return obj.get_annotations().get(_INITIAL_EVENTS_END) == "true" if hasattr(obj, "get_annotations") else True


def new_decoder(decoder: Body, embedded_decoder: ObjectDecoder) -> Decoder:
    """Return a decoder of the events in a response's body. Go: NewDecoder."""
    return Decoder(decoder, embedded_decoder)
