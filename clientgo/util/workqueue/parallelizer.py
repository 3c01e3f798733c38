"""Divides work among threads. Mirrors util/workqueue/parallelizer.go."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from clientgo import context
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang.functions import require_function

__all__ = ["DoWorkPieceFunc", "Options", "parallelize_until", "with_chunk_size"]

DoWorkPieceFunc: TypeAlias = Callable[[int], None]
"""Processes the piece of work with the given number, counted from 0."""


@dataclass
class _Options:
    chunk_size: int = 0


Options: TypeAlias = Callable[[_Options], None]


def with_chunk_size(c: int) -> Options:
    """Pass `c` pieces at a time to a worker. Reduces the overhead of many small pieces."""

    def apply(options: _Options) -> None:
        options.chunk_size = c

    return apply


def parallelize_until(
    ctx: context.Context | None, workers: int, pieces: int, do_work_piece: DoWorkPieceFunc, *opts: Options
) -> None:
    """Process pieces 0 to `pieces` - 1 in up to `workers` threads; return when all are done. Go: ParallelizeUntil.

    No further piece begins once `ctx` is done. If a piece raises, the error is logged and the worker continues. In Go
    the worker ends and skips the rest of its chunk.
    """
    require_function(do_work_piece, "the work on a piece", "piece")
    if pieces == 0:
        return
    options = _Options()
    for opt in opts:
        opt(options)
    chunk_size = max(1, options.chunk_size)
    chunks = _ceil_div(pieces, chunk_size)
    chunk_starts = iter(range(0, pieces, chunk_size))
    # Guards chunk_starts.
    lock = threading.Lock()
    guard = utilruntime.handle_crash_with_context(ctx or context.background(), go_on=True)
    done = None if ctx is None else ctx.done()

    def work() -> None:
        while True:
            with lock:
                start = next(chunk_starts, None)
            if start is None:
                return
            for piece in range(start, min(start + chunk_size, pieces)):
                if done is not None and done.is_set():
                    return
                with guard:
                    do_work_piece(piece)

    threads = [
        threading.Thread(target=work, name=f"parallelize-{number}", daemon=True)
        for number in range(min(workers, chunks))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _ceil_div(a: int, b: int) -> int:
    return (a + b - 1) // b
