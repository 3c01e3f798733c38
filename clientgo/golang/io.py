"""The errors of Go's io package that have no counterpart in Python, and a bounded os.ReadFile.

EOFError corresponds to io.EOF.
"""

from __future__ import annotations

import errno
import os
from typing import Final

__all__ = ["MAX_FILE", "ErrShortBuffer", "ErrUnexpectedEOF", "read_file"]

MAX_FILE: Final = 16 * 1024 * 1024
"""The maximum size in bytes of a file of certificates, keys or tokens."""


class ErrUnexpectedEOF(EOFError):
    """Raised at the end of a stream within an item. Go: io.ErrUnexpectedEOF."""

    def __init__(self, message: str = "unexpected EOF") -> None:
        super().__init__(message)


class ErrShortBuffer(Exception):
    """Raised for a buffer that is too small; `n` bytes of it are filled. Go: io.ErrShortBuffer."""

    def __init__(self, n: int) -> None:
        super().__init__("short buffer")
        self.n = n


def read_file(path: str | os.PathLike[str], limit: int = MAX_FILE) -> bytes:
    """Return the content of a file. Raises OSError, also for more than `limit` bytes.

    The path may come from a kubeconfig and name an endless stream, such as /dev/zero, which would fill the memory. Go
    has no limit. Go: os.ReadFile.
    """
    with open(path, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(path))
    return data
