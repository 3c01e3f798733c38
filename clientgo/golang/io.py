"""The one error of Go's standard io package that has no like in Python.

A stream that ends where it may is an EOFError. Go: io.EOF.
"""

from __future__ import annotations

__all__ = ["ErrUnexpectedEOF"]


class ErrUnexpectedEOF(EOFError):
    """The stream ended in the middle of something. Go: io.ErrUnexpectedEOF."""

    def __init__(self, message: str = "unexpected EOF") -> None:
        super().__init__(message)
