"""The headers of a message, and their encoding. Replaces header.go of Go's net/http.

urllib3 has a similar dict, but importing it is slow (test/bench/start).
"""

from __future__ import annotations

import re
from collections.abc import ItemsView, Iterable, Iterator, Mapping, MutableMapping
from typing import Final

from clientgo.golang.strconv import quote

__all__ = ["Header", "encoded"]

_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ILLEGAL_IN_VALUE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Header(MutableMapping[str, str]):
    """A multi-valued dict of headers with case-insensitive names; values keep their order.

    As a mapping it joins all values of a name with commas, except `items`, which returns each value separately. Names
    keep their first spelling; Go's http.Header uses a canonical one. Not thread-safe. Go: http.Header.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        # Maps the lower-case name to the original name and its values.
        self._fields: dict[str, tuple[str, list[str]]] = {}
        for name, value in fields.items() if isinstance(fields, Mapping) else fields:
            self.add(name, value)

    def add(self, name: str, value: str) -> None:
        """Add a value. Go: Header.Add."""
        self._fields.setdefault(name.lower(), (name, []))[1].append(value)

    def getlist(self, name: str) -> list[str]:
        """Return the values of a name as a list, which may be empty. Go: Header.Values."""
        found = self._fields.get(name.lower())
        return [] if found is None else list(found[1])

    def discard(self, name: str) -> None:
        """Remove all values of a name, if there are any. Go: Header.Del."""
        self._fields.pop(name.lower(), None)

    def copy(self) -> Header:
        """Return a copy. Go: Header.Clone."""
        copied = Header()
        copied._fields = {key: (name, list(values)) for key, (name, values) in self._fields.items()}
        return copied

    def items(self) -> ItemsView[str, str]:
        """Return a pair for each value."""
        return _Items(self)

    def __getitem__(self, name: str) -> str:
        return ", ".join(self._fields[name.lower()][1])

    def __setitem__(self, name: str, value: str) -> None:
        self._fields[name.lower()] = (name, [value])

    def __delitem__(self, name: str) -> None:
        del self._fields[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._fields

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._fields.values())

    def __len__(self) -> int:
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Header):
            return self._by_lower_case() == other._by_lower_case()
        if isinstance(other, Mapping):
            return self == Header(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # mutable, compared by content

    def _by_lower_case(self) -> dict[str, list[str]]:
        return {key: values for key, (_, values) in self._fields.items()}

    def __repr__(self) -> str:
        # Not the values, which may contain credentials.
        return f"<Header {', '.join(self)}>"


class _Items(ItemsView[str, str]):
    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self._header = header

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for name in self._header:
            for value in self._header.getlist(name):
                yield name, value

    def __len__(self) -> int:
        return sum(len(self._header.getlist(name)) for name in self._header)

    def __contains__(self, item: object) -> bool:
        return any(item == pair for pair in self)


def encoded(headers: Header) -> Header:
    """Return a copy in which each UTF-8 byte is one character, as http.client expects.

    Raises ValueError without the value, which may be a secret.
    """
    result = Header()
    for name, value in headers.items():
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"net/http: invalid header field name {quote(name)}")
        if _ILLEGAL_IN_VALUE.search(value) is not None:
            raise ValueError(f"net/http: invalid header field value for {quote(name)}")
        result.add(
            name,
            value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("latin-1"),
        )
    return result
