"""Work split over threads is done once, all of it."""

from __future__ import annotations

import threading

import pytest

from clientgo import context
from clientgo.testing import synctest
from clientgo.util import workqueue
from clientgo.utils.clock import REAL_CLOCK


@pytest.mark.parametrize(
    ("pieces", "workers", "chunk_size"),
    [(1000, 10, 1), (1000, 10, 10), (1000, 10, 100), (999, 10, 13), (3, 10, 2), (5, 1, 0)],
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
