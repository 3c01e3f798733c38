"""The values of Secrets that the tour has seen, and the search for them in texts and objects."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, Final

from clientgo.golang import callers

__all__ = ["HIDDEN", "Payloads", "SecretValues"]

callers.mark_inserted()

HIDDEN: Final = "(hidden)"
# Letters of the parts by which values are found. No value is shorter.
_GRAM: Final = 4
# Values that are remembered.
_MOST_VALUES: Final = 20_000
# Values of a text that are hidden one by one.
_MOST_FOUND: Final = 1000
# Texts of objects that are remembered, and the length of the longest.
_MOST_TEXTS: Final = 20_000
_LONGEST_KNOWN: Final = 500
# Letters of the other texts of one object. Reading more would take too long, so the rest is hidden.
_MOST_LETTERS: Final = 200_000
_DEPTH: Final = 100
# What a program names its objects by. The tour finds and plays them by these fields.
_NAMES: Final = frozenset(
    ("name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp")
)
_TYPE: Final = frozenset(("apiVersion", "kind"))


class SecretValues:
    """Values of Secrets with their letters folded, the oldest first. Thread-safe.

    A search takes time that is linear in the length of its text, for any number of values with different first letters.
    """

    def __init__(self) -> None:
        # Guards the next two.
        self._lock = threading.Lock()
        self._values: dict[str, None] = {}
        # By their first letters.
        self._by_gram: dict[str, dict[str, None]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<SecretValues {len(self)}>"

    def add(self, values: Iterable[str]) -> bool:
        """Remember values of four letters or more, and report whether one is new. Drop the oldest above a number."""
        is_new = False
        with self._lock:
            for value in map(str.casefold, values):
                is_new |= value not in self._values
                self._values.pop(value, None)
                self._values[value] = None
                self._by_gram.setdefault(value[:_GRAM], {})[value] = None
            while len(self._values) > _MOST_VALUES:
                oldest = next(iter(self._values))
                del self._values[oldest]
                alike = self._by_gram[oldest[:_GRAM]]
                del alike[oldest]
                if not alike:
                    del self._by_gram[oldest[:_GRAM]]
        return is_new

    def found_in(self, folded: str) -> list[str]:
        """Return the values that a text with folded letters contains."""
        if len(folded) < _GRAM:
            return []
        grams = {folded[at : at + _GRAM] for at in range(len(folded) - _GRAM + 1)}
        with self._lock:
            starts = grams & self._by_gram.keys()
            alike = [value for start in starts for value in self._by_gram[start] if value[-_GRAM:] in grams]
        return [value for value in alike if value in folded]

    def hidden_in(self, text: str) -> str:
        """Return the text without the values in any letter case, the longest of those that overlap first.

        A text with thousands of values is hidden as a whole.
        """
        folded = text.casefold()
        found = sorted(self.found_in(folded), key=len, reverse=True)
        if not found:
            return text
        if len(found) > _MOST_FOUND:
            return HIDDEN
        # A folded letter may be several ones, as of a sharp s.
        origin = range(len(text)) if text.isascii() else [i for i, each in enumerate(text) for _ in each.casefold()]
        taken, spans = bytearray(len(folded)), []
        for value in found:
            start = folded.find(value)
            while start >= 0:
                end = start + len(value)
                last = taken.rfind(1, start, end)
                if last < 0:
                    taken[start:end] = b"\1" * len(value)
                    spans.append((origin[start], origin[end - 1] + 1))
                start = folded.find(value, end if last < 0 else last + 1)
        pieces, at = [], 0
        for start, end in sorted(spans):
            pieces += [text[at:start], HIDDEN]
            at = max(at, end)
        return "".join((*pieces, text[at:]))


class Payloads:
    """Takes values of Secrets out of all texts of an object but its names. Thread-safe.

    Texts repeat in the versions of an object and in objects of the same kind, so results are remembered.
    """

    def __init__(self, scrub: Callable[[str], str]) -> None:
        """Initialize the texts. `scrub` returns a text without the values."""
        self._scrub = scrub
        # Replaced as a whole by `forget`; single operations are atomic.
        self._known: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Payloads {len(self._known)} texts>"

    def forget(self) -> None:
        """Forget the results, because there are new values."""
        self._known = {}

    def without_values(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return an object without the values. Texts of more than 200,000 letters in sum are hidden."""
        room = [_MOST_LETTERS]
        return {name: self._field(name, value, room) for name, value in document.items()}

    def _field(self, name: str, value: Any, room: list[int]) -> Any:
        if name in _TYPE and isinstance(value, str):
            return value
        if name == "metadata" and isinstance(value, dict):
            return self._metadata(value, room, _DEPTH)
        return self._value(value, _DEPTH, room)

    def _metadata(self, metadata: dict[str, Any], room: list[int], depth: int) -> Any:
        if not depth:
            return HIDDEN
        return {
            name: value if name in _NAMES and isinstance(value, str) else self._value(value, depth - 1, room)
            for name, value in metadata.items()
        }

    def _value(self, value: Any, depth: int, room: list[int]) -> Any:
        if isinstance(value, str):
            return self._text(value, room)
        if isinstance(value, dict | list) and not depth:
            return HIDDEN
        if isinstance(value, list):
            return [self._value(each, depth - 1, room) for each in value]
        if not isinstance(value, dict):
            return value
        below = {}
        for name, each in value.items():
            if name == "metadata" and isinstance(each, dict):  # of an object in a list, or of a template
                below[name] = self._metadata(each, room, depth - 1)
            else:
                below[self._text(name, room)] = self._value(each, depth - 1, room)
        return below

    def _text(self, text: str, room: list[int]) -> str:
        if len(text) < _GRAM:
            return text
        known = self._known
        if (scrubbed := known.get(text)) is not None:
            return scrubbed
        room[0] -= len(text)
        if room[0] < 0:
            return HIDDEN
        scrubbed = self._scrub(text)
        if len(text) <= _LONGEST_KNOWN:
            if len(known) >= _MOST_TEXTS:
                known.clear()
            known[text] = scrubbed
        return scrubbed
