"""Log files: their names, links, headers and sizes. Mirrors klog/v2/klog_file.go."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import socket
import sys
import tempfile
import time
from typing import IO

__all__ = ["LogFile"]


class LogFile:
    """A log file, created with its first line. Not thread-safe.

    Without a `path` it is a file in the log folder with a name of program, host, user, severity, time and process, and
    with a link `<program>.<severity>` to the latest one. A file that would exceed `max_size` bytes is replaced: by a
    new file in the folder, or by truncation if `path` is set.
    """

    def __init__(self, severity: str, path: str, folder: str, header: bool, max_size: int) -> None:
        self._severity = severity
        self._path = path
        self._folder = folder or tempfile.gettempdir()
        self._header = header
        self._max_size = max_size
        self._file: IO[str] | None = None
        self._size = 0

    def write(self, line: str) -> None:
        """Append one line. Raises OSError."""
        size = len(line.encode("utf-8", "replace"))
        if self._file is None:
            self._file = self._open(startup=True)
        elif self._size + size > self._max_size:
            self.close()
            self._file = self._open(startup=False)
        self._file.write(line)
        self._file.flush()
        self._size += size

    def close(self) -> None:
        """Close the file. Drops a rest that cannot be written, since the lines of a full disk are lost anyway."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def _open(self, startup: bool) -> IO[str]:
        # Readable only by the user, since logs may be confidential.
        flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if startup else os.O_TRUNC)
        path = self._path or self._new_name()
        file = os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8", errors="backslashreplace")
        if not self._path:
            self._link(os.path.basename(path))
        self._size = os.fstat(file.fileno()).st_size
        if self._header:
            text = _header()
            file.write(text)
            self._size += len(text.encode("utf-8", "replace"))
        return file

    def _new_name(self) -> str:
        moment = time.strftime("%Y%m%d-%H%M%S")
        host = socket.gethostname().partition(".")[0]
        name = f"{_program()}.{host}.{_user()}.log.{self._severity}.{moment}.{os.getpid()}"
        path, number = os.path.join(self._folder, name), 0
        while os.path.exists(path):  # replaced within a second
            number += 1
            path = os.path.join(self._folder, f"{name}.{number}")
        return path

    def _link(self, name: str) -> None:
        link = os.path.join(self._folder, f"{_program()}.{self._severity}")
        with contextlib.suppress(OSError):  # the link is optional; Go also ignores this error
            if os.path.islink(link):
                os.remove(link)
            os.symlink(name, link)


def _header() -> str:
    moment = time.strftime("%Y/%m/%d %H:%M:%S")
    return (
        f"Log file created at: {moment}\n"
        f"Running on machine: {socket.gethostname()}\n"
        f"Binary: Python {platform.python_version()} for {sys.platform}/{platform.machine()}\n"
        "Log line format: [IWEF]mmdd hh:mm:ss.uuuuuu processid file:line] msg\n"
    )


def _program() -> str:
    name = os.path.basename(sys.argv[0] or "python")
    return os.path.basename(os.path.dirname(os.path.abspath(sys.argv[0]))) if name == "__main__.py" else name


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknownuser"
