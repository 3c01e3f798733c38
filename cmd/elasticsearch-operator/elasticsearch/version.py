"""Versions of Elasticsearch."""

from __future__ import annotations

from typing import TypeAlias

Version: TypeAlias = tuple[int, int, int]


def parse(text: str) -> Version:
    """Return the version in a text. Raises ValueError for an invalid text.

    >>> parse("8.10.2") < parse("8.11.0")
    True
    """
    parts = text.split(".")
    if len(parts) != 3 or not all(part.isdecimal() and part.isascii() for part in parts):
        raise ValueError(f"invalid version {text!r}: expected three numbers, like 8.11.0")
    major, minor, patch = map(int, parts)
    return major, minor, patch
