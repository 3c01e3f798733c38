"""The process of an exec plugin. Replaces os/exec in plugin/pkg/client/auth/exec/exec.go.

Differences: a context ends the plugin, and its output is bounded.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
from collections.abc import Iterator, Mapping
from typing import Final

from clientgo.context import Context

__all__ = ["Plugin"]

# The maximum size of a read.
_PIECE: Final = 64 * 1024


class Plugin:
    """A running plugin. One thread calls `wait`, once."""

    def __init__(self, args: list[str], executable: str, env: Mapping[str, str], stdin: int | None) -> None:
        """Start the process. Its standard error is that of this program. Raises OSError, ValueError."""
        self._process = subprocess.Popen(args, executable=executable, env=env, stdin=stdin, stdout=subprocess.PIPE)
        self.pid = self._process.pid

    def wait(self, ctx: Context, limit: int) -> tuple[int, bytes]:
        """Return the exit code and the output once both the process and its output have ended. Blocks.

        Kills the process if the context ends or the output exceeds `limit` bytes, and then returns the output so far.
        """
        with self._process:
            try:
                with _done_descriptor(ctx) as done:
                    output, is_whole = self._read(done, ctx, limit)
                if not is_whole:
                    self._process.kill()
            except BaseException:  # such as KeyboardInterrupt
                self._process.kill()
                raise
        return self._process.returncode, output

    def _read(self, done: int, ctx: Context, limit: int) -> tuple[bytes, bool]:
        """Return the output and whether it is complete.

        A process that the plugin started may keep the output open after the plugin was killed, so the descriptor
        `done` ends the reading too.
        """
        assert self._process.stdout is not None
        stdout = self._process.stdout.fileno()
        pieces: list[bytes] = []
        size = 0
        while size <= limit:
            _wait_for_either(stdout, done)
            if ctx.err() is not None:
                return b"".join(pieces), False
            piece = os.read(stdout, _PIECE)
            if not piece:
                return b"".join(pieces), True
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces), False


def _wait_for_either(one: int, other: int) -> None:
    """Wait until one of two descriptors is readable."""
    if not hasattr(select, "poll"):  # Windows, which cannot wait for a pipe: the read waits
        return
    poll = select.poll()
    poll.register(one, select.POLLIN)
    poll.register(other, select.POLLIN)
    poll.poll()


@contextlib.contextmanager
def _done_descriptor(ctx: Context) -> Iterator[int]:
    """Yield a descriptor that becomes readable when the context is done."""
    readable, writable = os.pipe()
    # Closed by the context or below, whichever is first.
    with contextlib.closing(os.fdopen(readable, "rb")), contextlib.closing(os.fdopen(writable, "wb")) as writer:
        forget = ctx.add_done_callback(writer.close)
        try:
            yield readable
        finally:
            forget()
