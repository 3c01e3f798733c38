"""The errors of Go's standard io package that have no like in Python.

A stream that ends where it may is an EOFError. Go: io.EOF.
"""

from __future__ import annotations

__all__ = ["ErrShortBuffer", "ErrUnexpectedEOF"]


class ErrUnexpectedEOF(EOFError):
    """The stream ended in the middle of something. Go: io.ErrUnexpectedEOF."""

    def __init__(self, message: str = "unexpected EOF") -> None:
        super().__init__(message)


class ErrShortBuffer(Exception):
    """A buffer that is too small for what is to be read; `n` bytes of it are filled. Go: io.ErrShortBuffer."""

    def __init__(self, n: int) -> None:
        super().__init__("short buffer")
        self.n = n
