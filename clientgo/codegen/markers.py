"""Markers: comments in a program that control its generated manifests, in controller-gen's syntax.

    # +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch

What each of them means stands in [rbac.py](rbac.py) and [webhooks.py](webhooks.py). No Go file: in Go they are a part
of controller-tools, pkg/markers.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from clientgo import klog

_ARGUMENT = re.compile(r"\s*(\w+)\s*=\s*")
_VALUE = re.compile(r"\s*(?:\"((?:[^\"\\]|\\.)*)\"|`([^`]*)`|([^,;{}\"`]*))\s*")


@dataclass(frozen=True)
class Marker:
    """One marker: its arguments, each a list of texts, and where it stands, as `file:line`."""

    arguments: Mapping[str, list[str]]
    place: str

    def check(self, known: Iterable[str], required: Iterable[str]) -> None:
        """Raise ValueError for unknown and for missing arguments."""
        unknown = [name for name in self.arguments if name not in set(known)]
        missing = [name for name in required if name not in self.arguments]
        if unknown:
            raise ValueError(f"{self.place}: unknown argument {unknown[0]!r}")
        if missing:
            raise ValueError(f"{self.place}: missing argument {missing[0]!r}")

    def list(self, name: str) -> list[str]:
        """Return the values of an argument, or [] when it is absent."""
        return self.arguments.get(name, [])

    def text(self, name: str, default: str = "") -> str:
        """Return the only value of an argument. Raises ValueError if it has several."""
        values = self.arguments.get(name, [default])
        if len(values) != 1:
            raise ValueError(f"{self.place}: one {name} is needed, there are {len(values)}")
        return values[0]

    def boolean(self, name: str) -> bool:
        """Return the value of a boolean argument. Raises ValueError unless it is "true" or "false"."""
        text = self.text(name)
        if text not in ("true", "false"):
            raise ValueError(f"{self.place}: {name} is true or false, not {text!r}")
        return text == "true"


def read_all(root: Path, folder: Path, name: str) -> list[Marker]:
    """Return the markers of a name in all modules below `folder`, in a stable order. Places are relative to `root`.

    Raises ValueError, with the place, for an unreadable marker or a module that is not Python. Raises OSError.
    """
    found: list[Marker] = []
    for path in sorted(folder.rglob("*.py")):
        found += read(path, name, path.relative_to(root).as_posix())
    return found


def read(path: Path, name: str, shown: str) -> Iterator[Marker]:
    """Yield the markers of a name (`kubebuilder:rbac`) in one module, which messages call `shown`.

    Logs comments that look like a marker and are none.
    """
    data = path.read_bytes()
    prefix = f"+{name}:"
    if name.partition(":")[0].encode() not in data.lower():
        return
    # With an argument, since other comments may be about markers.
    similar = re.compile(r"\+?\s*" + name.replace(":", r"\s*:\s*") + r"\s*:?\s*\w+\s*=", re.IGNORECASE)
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type != tokenize.COMMENT:
                continue
            text, place = token.string.lstrip("#").strip(), f"{shown}:{token.start[0]}"
            if text.startswith(prefix):
                yield Marker(_arguments(text.removeprefix(prefix), place), place)
            elif similar.match(text):
                klog.warning(f"{place}: the comment has no effect: a marker begins with '# {prefix}'")
    except (SyntaxError, tokenize.TokenError) as err:
        if prefix.encode() in data:
            raise ValueError(f"{shown}: {err}") from err


def _arguments(text: str, place: str) -> dict[str, list[str]]:
    """Return a marker's arguments: {"a": ["b", "c"], "d": ["e"]} for `a=b;c,d="e"` and for `a={b,c},d=e`."""
    found: dict[str, list[str]] = {}
    position = 0
    while True:
        argument = _ARGUMENT.match(text, position)
        if argument is None:
            raise ValueError(f"{place}: expected name=value at {text[position:]!r}")
        if argument[1] in found:
            raise ValueError(f"{place}: {argument[1]} is there twice")
        found[argument[1]], position = _values(text, argument.end(), place)
        if position == len(text):
            return found
        if text[position] != ",":
            raise ValueError(f"{place}: expected a comma at {text[position:]!r}")
        position += 1


def _values(text: str, position: int, place: str) -> tuple[list[str], int]:
    """Return the values that begin at `position` and the position after them."""
    braces = text.startswith("{", position)
    separator = "," if braces else ";"
    position += braces
    values: list[str] = []
    while value := _VALUE.match(text, position):
        position = value.end()
        values.append(_text(value))
        if not text.startswith(separator, position):
            break
        position += 1
    if not braces:
        return values, position
    if not text.startswith("}", position):
        raise ValueError(f"{place}: expected }} at {text[position:]!r}")
    return values, position + 1


def _text(value: re.Match[str]) -> str:
    quoted, raw, bare = value.groups()
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted)
    return raw if raw is not None else str(bare).strip()
