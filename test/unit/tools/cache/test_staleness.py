"""The health check for stale caches. Beyond Go."""

from __future__ import annotations

import threading

import pytest
from threadtools import eventually, in_thread

from clientgo import informers
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.dynamic import dynamicinformer
from clientgo.dynamic import fake as dynamicfake
from clientgo.kubernetes import fake
from clientgo.kubernetes.scheme import SCHEME
from clientgo.tools import cache
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock import testing as clocktesting

PODS = GroupVersionResource("", "v1", "pods")


class Informer:
    def __init__(self) -> None:
        self.contact: float | None = None

    def last_contact(self) -> float | None:
        return self.contact


def test_it_fails_when_an_informer_heard_nothing_for_too_long() -> None:
    clock = clocktesting.new_fake_clock(1000.0)
    check = cache.StalenessCheck(180.0, clock)
    pods, nodes = Informer(), Informer()
    check.add("pods", pods)
    check.add("nodes", nodes)
    clock.step(180.0)
    check.check()

    pods.contact = clock.now()
    clock.step(1.0)
    with pytest.raises(cache.StaleError, match=r"^nothing heard from the server: nodes \(for 3m1s\)$"):
        check.check()

    nodes.contact = clock.now()
    check.check()
    clock.step(200.0)
    with pytest.raises(cache.StaleError, match=r"pods \(for 3m21s\), nodes \(for 3m20s\)"):
        check.check()
    assert check.name() == "informers-heard-from-server"
    assert repr(check) == "<StalenessCheck of 2 informers, 3m0s allowed>"


def test_an_informer_that_is_stopped_on_purpose_can_be_removed() -> None:
    clock = clocktesting.new_fake_clock(0.0)
    check = cache.StalenessCheck(1.0, clock)
    stopped, contact = Informer(), Informer()
    check.add("stopped", stopped)
    check.add("heard", contact)
    contact.contact = 0.0
    clock.step(2.0)
    with pytest.raises(cache.StaleError, match=r"stopped .*, heard"):
        check.check()
    check.remove("stopped")
    with pytest.raises(cache.StaleError, match=r": heard \(for 2s\)$"):
        check.check()
    check.remove("heard")
    check.check()


def test_it_may_be_used_by_many_threads() -> None:
    check = cache.StalenessCheck()

    def use(name: str) -> None:
        for number in range(200):
            check.add(f"{name} {number}", Informer())
            check.check()
            check.remove(f"{name} {number - 1}")

    threads = [in_thread(lambda name=name: use(name)) for name in "abcd"]  # type: ignore[misc]
    for thread in threads:
        thread.result()
    assert repr(check) == "<StalenessCheck of 4 informers, 11m0s allowed>"


def test_it_hears_of_the_informers_of_every_factory() -> None:
    typed = informers.new_shared_informer_factory(fake.new_simple_clientset(), 0.0)
    untyped = dynamicinformer.new_dynamic_shared_informer_factory(dynamicfake.new_simple_dynamic_client(SCHEME), 0.0)
    started = {
        "typed": typed.core().v1().pods().informer(),
        "named at run time": typed.for_resource(PODS.group_version().with_resource("nodes")).informer(),
        "dynamic": untyped.for_resource(PODS).informer(),
    }
    began = REAL_CLOCK.now()
    now = clocktesting.new_fake_clock(began - 1000.0)
    check = cache.StalenessCheck(100.0, now)
    for name, informer in started.items():
        check.add(name, informer)
    now.set_time(began)
    with pytest.raises(cache.StaleError, match=r"typed .*, named at run time .*, dynamic"):
        check.check()

    stop = threading.Event()
    for factory in (typed, untyped):
        factory.start(stop)
    try:
        for informer in started.values():
            eventually(lambda informer=informer: informer.last_contact() is not None)  # type: ignore[misc]
        check.check()
        assert all(informer.get_controller().last_contact() == informer.last_contact() for informer in started.values())
    finally:
        stop.set()
        typed.shutdown()
        untyped.shutdown()


def test_it_takes_every_kind_of_listener() -> None:
    check = cache.StalenessCheck()
    check.add("informer", cache.new_shared_informer(cache.ListWatch(), None, 0.0))
    _, controller = cache.new_informer(cache.ListWatch(), None, 0.0, cache.ResourceEventHandlerFuncs())
    check.add("controller", controller)
    check.add("reflector", cache.new_reflector(cache.ListWatch(), None, cache.new_fifo(str), 0.0))
    check.check()
