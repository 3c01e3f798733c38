"""Reads watch events off a response. Mirrors rest/watch/decoder.go.

Differs: it reads whatever has arrived and decodes all events in it (`decode_available`), since a system call, a UTF-8
decoder and a thread switch for each event cost more than the event's JSON. `decode` is Go's method, event by event.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from typing import Any

from clientgo.apimachinery.runtime.interfaces import Decoder as ObjectDecoder
from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.apimachinery.watch import Event, EventType
from clientgo.transport.http import Body

# The C scanner without what json.loads does around it.
_scan: Callable[[str, int], tuple[Any, int]] = json.scanner.make_scanner(json.JSONDecoder())  # type: ignore[attr-defined]

_EVENT_TYPES = {event_type.value: event_type for event_type in EventType}

# A server sends a bookmark each minute, up to a quarter later, also when nothing changes. Once a stream has shown that
# its server does, silence for twice as long means that the connection is dead.
SILENCE_AFTER_BOOKMARK = 150.0

_INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Decoder:
    """Watch events from a body of JSON lines. `decode*` belong to one thread; `close` may come from any."""

    def __init__(self, body: Body, embedded_decoder: ObjectDecoder) -> None:
        self._body = body
        self._decode_object = embedded_decoder.decode_document
        # The start of a line whose end has not arrived.
        self._rest: list[bytes] = []
        self._ended = False
        # Decoded events `decode` has not given out.
        self._ready: deque[Event] = deque()
        # The error behind the last of the ready events.
        self._failure: Exception | None = None
        # The object decoded last, for messages; looked at only when something fails.
        self._last: Any = None
        self._expects_bookmarks = False

    def decode(self) -> tuple[str, Any]:
        """The next event.

        Blocks. Raises EOFError at the end, ErrUnexpectedEOF in the middle of an event, ValueError for
        what is no event."""
        if not self._ready:
            self._ready.extend(self.decode_available())
        return self._ready.popleft()

    def decode_available(self) -> list[Event]:
        """All events that have arrived, at least one, after waiting for it. Raises as `decode` does."""
        if self._failure is not None:
            raise self._failure
        while True:
            block = self._read_lines()
            events: list[Event] = []
            try:
                self._decode_block(block, events)
            except Exception as err:
                # What arrived before it is good, and goes first.
                self._failure = err
                if not events:
                    raise
            if events:
                if not self._expects_bookmarks:
                    self._look_for_bookmark(events)
                return events

    def _read_lines(self) -> bytes:
        """Complete lines, at least one."""
        while not self._ended:
            piece = self._body.read_some()
            if not piece:
                self._ended = True
                break
            cut = piece.rfind(b"\n")
            if cut < 0:
                self._rest.append(piece)
                continue
            head = piece[: cut + 1]
            if self._rest:
                head = b"".join((*self._rest, head))
            self._rest = [piece[cut + 1 :]] if cut + 1 < len(piece) else []
            return head
        rest, self._rest = b"".join(self._rest), []
        if not rest.strip():
            raise EOFError("EOF")
        return rest

    def _decode_block(self, block: bytes, events: list[Event]) -> None:
        scan, types, decode, append = _scan, _EVENT_TYPES, self._decode_object, events.append
        for line in block.decode("utf-8").split("\n"):
            if not line:
                continue
            try:
                document, end = scan(line, 0)
            except (StopIteration, ValueError, RecursionError):
                if not line.strip():
                    continue
                raise self._broken(line) from None
            if end != len(line) and line[end:].strip():
                raise self._error("more than one JSON value in a line")
            try:
                event_type = types[document["type"]]
                raw = document["object"]
            except (KeyError, TypeError):
                raise self._not_an_event(document) from None
            try:
                obj = decode(raw)
            except Exception as err:
                raise self._error(f"unable to decode watch event: {err}") from err
            self._last = obj
            append(Event(event_type, obj))

    def _broken(self, line: str) -> Exception:
        """A line that is no JSON: cut off by the end of the stream, or garbage."""
        if self._ended:
            return ErrUnexpectedEOF()
        return self._error(f"invalid JSON: {line[:64]!r}")

    def _not_an_event(self, document: Any) -> Exception:
        if not isinstance(document, dict) or "object" not in document or not isinstance(document.get("type"), str):
            return self._error("unable to decode to metav1.WatchEvent")
        return self._error(f"got invalid watch event type: {document['type']}")

    def _error(self, message: str) -> ValueError:
        version = self._last.get_resource_version() if hasattr(self._last, "get_resource_version") else ""
        return ValueError(f'{message} (after resourceVersion {version})' if version else message)

    def _look_for_bookmark(self, events: list[Event]) -> None:
        for event in events:
            if event.type is EventType.BOOKMARK and not _ends_initial_events(event.object):
                self._expects_bookmarks = True
                self._body.set_read_timeout(SILENCE_AFTER_BOOKMARK)
                return

    def close(self) -> None:
        """Break the stream off; a `decode` that blocks then raises at once."""
        self._body.abort()

    def release(self) -> None:
        """Let go of the connection. For the thread that decodes, when it has finished."""
        self._body.close()


def _ends_initial_events(obj: Any) -> bool:
    return bool(obj.get_annotations().get(_INITIAL_EVENTS_END)) if hasattr(obj, "get_annotations") else True


def new_decoder(decoder: Body, embedded_decoder: ObjectDecoder) -> Decoder:
    """A decoder of the events in a response's body (Go: NewDecoder)."""
    return Decoder(decoder, embedded_decoder)
