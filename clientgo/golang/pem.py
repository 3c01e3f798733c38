"""Blocks of PEM as Go reads them: text around the blocks and malformed blocks are skipped. Replaces encoding/pem."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["Block", "blocks", "encode"]

# The first or last line of a block.
_BOUNDARY = re.compile(rb"^-----(BEGIN|END) ([^\r\n]*)-----[ \t]*\r?$", re.MULTILINE)
_LINE = 64


class Block(NamedTuple):
    """A block: its type, its headers and its content. Go: pem.Block."""

    type: str
    bytes: bytes
    headers: Mapping[str, str] = MappingProxyType({})


def blocks(data: bytes) -> Iterator[Block]:
    """Yield the blocks in `data`, in linear time. Go: pem.Decode, called until no block is left."""
    begin = None
    for line in _BOUNDARY.finditer(data):
        if line[1] == b"BEGIN":
            # A block ends at the first end line. What has no end before the next begin line is no block.
            begin = line
            continue
        if begin is not None and begin[2] == line[2]:
            headers, body = _headers(data[begin.end() : line.start()].removeprefix(b"\n"))
            try:
                content = base64.b64decode(body.translate(None, b"\r\n\t "), validate=True)
            except binascii.Error:
                pass
            else:
                yield Block(begin[2].decode("utf-8", "replace"), content, headers)
        begin = None


def _headers(text: bytes) -> tuple[dict[str, str], bytes]:
    """Return the headers at the start of a block, and the rest."""
    found: dict[str, str] = {}
    at = 0
    while (end := text.find(b"\n", at)) >= 0 and (colon := text.find(b":", at, end)) >= 0:
        name, value = text[at:colon], text[colon + 1 : end]
        found[name.strip().decode("utf-8", "replace")] = value.strip().decode("utf-8", "replace")
        at = end + 1
    return found, text[at:]


def encode(type: str, content: bytes) -> bytes:
    """Return a block without headers. Go: pem.EncodeToMemory."""
    text = base64.b64encode(content).decode()
    lines = [text[at : at + _LINE] for at in range(0, len(text), _LINE)]
    return "\n".join((f"-----BEGIN {type}-----", *lines, f"-----END {type}-----", "")).encode()
