"""The errors of Go's io package that have no counterpart in Python.

EOFError corresponds to io.EOF.
"""

from __future__ import annotations

__all__ = ["ErrShortBuffer", "ErrUnexpectedEOF"]


class ErrUnexpectedEOF(EOFError):
    """Raised at the end of a stream within an item. Go: io.ErrUnexpectedEOF."""

    def __init__(self, message: str = "unexpected EOF") -> None:
        super().__init__(message)


class ErrShortBuffer(Exception):
    """Raised for a buffer that is too small; `n` bytes of it are filled. Go: io.ErrShortBuffer."""

    def __init__(self, n: int) -> None:
        super().__init__("short buffer")
        self.n = n
