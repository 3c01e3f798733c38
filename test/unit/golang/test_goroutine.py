"""Tests of `go`: a call in a thread, whose result another thread waits for."""

from __future__ import annotations

import threading

import pytest

from clientgo.golang.channel import Signal, select
from clientgo.golang.goroutine import go


def test_a_call_runs_in_a_thread_of_its_name_and_returns_its_result() -> None:
    call = go(lambda: threading.current_thread().name, "worker")
    assert call.result() == "worker"
    assert call.result() == "worker"


def test_the_result_waits_for_the_call() -> None:
    release = threading.Event()

    def wait() -> int:
        assert release.wait(10.0)
        return 3

    call = go(wait, "worker")
    call.join(0.0)
    assert not call.done.is_set()
    release.set()
    assert call.result() == 3


def test_an_error_of_the_call_is_raised_by_result() -> None:
    def fail() -> int:
        raise ValueError("no")

    call = go(fail, "worker")
    with pytest.raises(ValueError, match="no"):
        call.result()
    assert call.done.is_set()


@pytest.mark.timeout(20)
def test_the_end_of_a_call_is_a_case_of_select() -> None:
    release = Signal()
    call = go(release.wait, "worker")
    assert select([call.done], default=True).case == -1
    release.set()
    assert select([None, call.done]).case == 1
