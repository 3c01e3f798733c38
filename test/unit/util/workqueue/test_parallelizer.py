"""Work split over threads is done once, all of it."""

from __future__ import annotations

import threading

import pytest

from clientgo import context
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.testing import synctest
from clientgo.util import workqueue
from clientgo.utils.clock import REAL_CLOCK


@pytest.mark.parametrize(
    ("pieces", "workers", "chunk_size"),
    [(1000, 10, 1), (1000, 10, 10), (1000, 10, 100), (999, 10, 13), (3, 10, 2), (5, 1, 0), (1, 3, 1)],
)
def test_every_piece_is_done_exactly_once(pieces: int, workers: int, chunk_size: int) -> None:
    """Go: TestParallelizeUntil/#0-#3"""
    seen = [0] * pieces

    def work(piece: int) -> None:
        seen[piece] += 1

    workqueue.parallelize_until(context.background(), workers, pieces, work, workqueue.with_chunk_size(chunk_size))

    assert seen == [1] * pieces


def test_it_returns_when_all_pieces_are_done() -> None:
    with synctest.bubble():
        done: list[int] = []

        def work(piece: int) -> None:
            REAL_CLOCK.sleep(1.0)
            done.append(piece)

        workqueue.parallelize_until(None, 2, 5, work)
        assert sorted(done) == [0, 1, 2, 3, 4]


def test_no_pieces_start_no_thread() -> None:
    before = threading.active_count()
    workqueue.parallelize_until(None, 10, 0, lambda piece: pytest.fail("there is nothing to do"))
    assert threading.active_count() == before


def test_no_piece_is_begun_after_the_context_is_done() -> None:
    ctx, cancel = context.with_cancel(context.background())
    done: list[int] = []

    def work(piece: int) -> None:
        done.append(piece)
        if piece == 2:
            cancel()

    workqueue.parallelize_until(ctx, 1, 10, work)

    assert done == [0, 1, 2]


def test_a_piece_that_raises_does_not_stop_the_others() -> None:
    done: list[int] = []

    def work(piece: int) -> None:
        if piece == 1:
            raise ValueError("piece 1 is broken")
        done.append(piece)

    workqueue.parallelize_until(None, 1, 4, work, workqueue.with_chunk_size(4))

    assert done == [0, 2, 3]


def workers_of(workers: int, pieces: int, *opts: workqueue.Options) -> tuple[list[str], set[str]]:
    """Return the worker of each piece, and the workers there are. Each piece takes a second."""
    by_piece = [""] * pieces
    alive: set[str] = set()

    def work(piece: int) -> None:
        by_piece[piece] = threading.current_thread().name
        alive.update(thread.name for thread in threading.enumerate() if thread.name.startswith("parallelize-"))
        REAL_CLOCK.sleep(1.0)

    with synctest.bubble():
        workqueue.parallelize_until(None, workers, pieces, work, *opts)
    return by_piece, alive


def test_a_worker_takes_one_piece_at_a_time_or_a_chunk() -> None:
    (first, second), _ = workers_of(2, 2)
    assert first != second
    by_piece, _ = workers_of(2, 4, workqueue.with_chunk_size(2))
    assert by_piece[0] == by_piece[1] != by_piece[2] == by_piece[3]


@pytest.mark.parametrize(("workers", "pieces", "threads"), [(10, 4, 2), (10, 5, 3), (2, 5, 2)])
def test_there_are_no_more_threads_than_chunks_or_workers(workers: int, pieces: int, threads: int) -> None:
    _, alive = workers_of(workers, pieces, workqueue.with_chunk_size(2))
    assert alive == {f"parallelize-{number}" for number in range(threads)}


def test_its_threads_keep_no_interpreter_alive() -> None:
    daemon: list[bool] = []
    workqueue.parallelize_until(None, 1, 1, lambda piece: daemon.append(threading.current_thread().daemon))
    assert daemon == [True]


def test_an_error_is_reported_with_the_callers_context(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[context.Context] = []
    monkeypatch.setattr(utilruntime.runtime, "PANIC_HANDLERS", [lambda ctx, err: reported.append(ctx)])

    def work(piece: int) -> None:
        raise ValueError("piece is broken")

    for ctx in (context.with_value(context.background(), "name", "the caller's"), None):
        workqueue.parallelize_until(ctx, 1, 1, work)
    assert [ctx.value("name") for ctx in reported] == ["the caller's", None]
