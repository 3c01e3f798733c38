"""The health check for stale caches. Beyond Go."""

from __future__ import annotations

import pytest

from clientgo.tools import cache
from clientgo.utils.clock import testing as clocktesting


class Informer:
    def __init__(self) -> None:
        self.heard: float | None = None

    def last_heard(self) -> float | None:
        return self.heard


def test_it_fails_when_an_informer_heard_nothing_for_too_long() -> None:
    clock = clocktesting.new_fake_clock(1000.0)
    check = cache.StalenessCheck(180.0, clock)
    pods, nodes = Informer(), Informer()
    check.add("pods", pods)
    check.add("nodes", nodes)
    clock.step(180.0)
    check.check()

    pods.heard = clock.now()
    clock.step(1.0)
    with pytest.raises(cache.StaleError, match=r"^nothing heard from the server: nodes \(for 3m1s\)$"):
        check.check()

    nodes.heard = clock.now()
    check.check()
    clock.step(200.0)
    with pytest.raises(cache.StaleError, match=r"pods \(for 3m21s\), nodes \(for 3m20s\)"):
        check.check()
    assert check.name() == "informers-heard-from-server"
    assert repr(check) == "<StalenessCheck of 2 informers, 3m0s allowed>"


def test_it_takes_every_kind_of_listener() -> None:
    check = cache.StalenessCheck()
    check.add("informer", cache.new_shared_informer(cache.ListWatch(), None, 0.0))
    _, controller = cache.new_informer(cache.ListWatch(), None, 0.0, cache.ResourceEventHandlerFuncs())
    check.add("controller", controller)
    check.add("reflector", cache.new_reflector(cache.ListWatch(), None, cache.new_fifo(str), 0.0))
    check.check()
