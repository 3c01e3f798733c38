"""The names and values of a message, and how those of a request go out. Stands for header.go of Go's net/http.

urllib3 has such a dict too, but importing it takes a tenth of a second, a quarter of a program's start.
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
    """Values by name, whatever the case of its letters; a name may have several, in the order they came.

    As a mapping it has all values of a name in one, joined by commas, but for `items`, which has each by itself. Names
    keep the spelling they came in first. Not thread-safe. Go: http.Header, whose names are spelled in one way instead.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        # The name as it came and its values, by the name in lower case.
        self._fields: dict[str, tuple[str, list[str]]] = {}
        for name, value in fields.items() if isinstance(fields, Mapping) else fields:
            self.add(name, value)

    def add(self, name: str, value: str) -> None:
        """One value more. Go: Header.Add."""
        self._fields.setdefault(name.lower(), (name, []))[1].append(value)

    def getlist(self, name: str) -> list[str]:
        """The values by themselves, none for a name that is not there. Go: Header.Values."""
        found = self._fields.get(name.lower())
        return [] if found is None else list(found[1])

    def discard(self, name: str) -> None:
        """Take all values away, if there are any. Go: Header.Del."""
        self._fields.pop(name.lower(), None)

    def copy(self) -> Header:
        """Another one with the same values. Go: Header.Clone."""
        copied = Header()
        copied._fields = {key: (name, list(values)) for key, (name, values) in self._fields.items()}
        return copied

    def items(self) -> ItemsView[str, str]:
        """A pair for each value."""
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
        # Not the values: credentials are among them.
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
    """A copy with UTF-8 in its bytes, for http.client makes a byte of each character.

    Raises ValueError, never with a value in it: that may be a secret.
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
