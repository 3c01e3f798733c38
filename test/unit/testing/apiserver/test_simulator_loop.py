"""The work loop of the simulator: which keys come back, and after how many failures."""

from __future__ import annotations

import threading

import pytest
from patience import PATIENCE

from clientgo import context
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.testing.apiserver.simulator.loop import Loop


@pytest.mark.parametrize(
    ("failures", "calls"),
    [
        pytest.param([errors.new_conflict(GroupResource("", "pods"), "a", None)] * 2, 3, id="conflicts come back"),
        pytest.param([errors.new_not_found(GroupResource("", "pods"), "a")], 1, id="an absent object does not"),
        pytest.param([], 1, id="success"),
    ],
)
def test_a_key_comes_back_until_it_succeeds_and_its_failures_are_forgotten(
    failures: list[Exception], calls: int
) -> None:
    left, seen = list(failures), list[str]()
    called, done = threading.Event(), threading.Event()

    def sync(ctx: context.Context, namespace: str, name: str) -> None:
        seen.append(f"{namespace}/{name}")
        if len(seen) == calls:
            called.set()
        if name == "last":
            done.set()
        elif left:
            raise left.pop(0)

    ctx, cancel = context.with_cancel(context.background())
    loop = Loop("test", sync)
    loop.queue.add("default/a")
    loop.start(ctx)
    try:
        assert called.wait(PATIENCE)
        loop.queue.add("last")  # its turn comes after the end of the call before
        assert done.wait(PATIENCE)
    finally:
        loop.stop()
        cancel()

    assert seen == ["default/a"] * calls + ["/last"]
    assert loop.queue.num_requeues("default/a") == 0
