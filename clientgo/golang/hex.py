"""Hexadecimal dumps. Mirrors encoding/hex."""

from __future__ import annotations

_LINE = 16


def dump(data: bytes) -> str:
    """Format the bytes as `hexdump -C` does, without its last line. Go: hex.Dump.

    >>> print(dump(b"k8s\\0 and more than a line"), end="")
    00000000  6b 38 73 00 20 61 6e 64  20 6d 6f 72 65 20 74 68  |k8s. and more th|
    00000010  61 6e 20 61 20 6c 69 6e  65                       |an a line|
    """
    return "".join(_line(at, data[at : at + _LINE]) for at in range(0, len(data), _LINE))


def _line(at: int, part: bytes) -> str:
    text = "".join(chr(byte) if 32 <= byte <= 126 else "." for byte in part)
    return f"{at:08x}  {part[:8].hex(' '):<23}  {part[8:].hex(' '):<23}  |{text}|\n"
