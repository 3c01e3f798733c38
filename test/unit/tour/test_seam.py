"""The hooks of a tour: what it sees, and that it does not change the machinery."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from types import CodeType, FunctionType

import pytest

from clientgo import tour
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.testing import synctest
from clientgo.tour import hop as hop_module
from clientgo.util import workqueue
from clientgo.util.workqueue.queue import Typed


def codes() -> list[tuple[FunctionType, CodeType]]:
    return [(tap.find(), tap.find().__code__) for tap in tour.TAPS]


def tap_of(function: str) -> tour.Tap:
    return next(tap for tap in tour.TAPS if tap.function == function)


@pytest.fixture
def hops() -> list[tour.Hop]:
    return []


def names(hops: list[tour.Hop]) -> list[str]:
    return [f"{hop.kind} {hop.key}" for hop in hops]


def test_every_function_that_is_watched_is_there_and_names_its_go_file():
    for tap in tour.TAPS:
        assert tap.find().__qualname__ == tap.function
        assert tap.station in tour.STATIONS
        assert tap.go_file and (tap.go_function or tap.go_file == "etcd's compaction")


def test_nothing_is_changed_while_nobody_is_attached_and_all_is_as_before_afterwards(hops):
    before = codes()
    with tour.Seam(tour.TAPS, hops.append):
        assert all(now is was and code is not old for (now, code), (was, old) in zip(codes(), before))
    assert codes() == before


def test_it_is_undone_also_when_the_body_raises(hops):
    before = codes()
    with pytest.raises(ZeroDivisionError), tour.Seam(tour.TAPS, hops.append):
        1 / 0  # noqa: B018
    assert codes() == before


def test_a_tap_without_a_function_is_refused_by_name_and_nothing_is_wrapped(hops):
    before = codes()
    missing = replace(tour.TAPS[0], function="Store.vanished")
    with pytest.raises(LookupError, match=r"no function Store.vanished in clientgo.testing.apiserver.store.storage"):
        tour.Seam([*tour.TAPS, missing], hops.append).attach()
    assert codes() == before


def test_the_queues_three_sets_hop_by_hop(hops):
    with tour.Seam(tour.TAPS, hops.append):
        queue = workqueue.new_typed()
        queue.add("a")
        queue.add("a")
        queue.get()
        queue.add("a")
        queue.add("a")
        queue.done("a")
        queue.get()
        queue.done("a")
    kinds = ["added", "duplicate", "taken", "marked", "duplicate", "requeued", "taken", "done"]
    assert [hop.kind for hop in hops] == kinds
    assert {hop.station for hop in hops} == {"queue"}
    assert [hop.number for hop in hops] == list(range(8))


def test_a_delay_is_told_with_its_failure_and_its_due_time(hops):
    with synctest.bubble() as bubble, tour.Seam(tour.TAPS, hops.append):
        limiter = workqueue.new_typed_item_exponential_failure_rate_limiter(2.0, 100.0)
        queue = workqueue.new_typed_rate_limiting_queue(limiter)
        queue.add_rate_limited("a")
        queue.add_after("a", 5.0)
        bubble.sleep(3.0)
        queue.forget("a")
        queue.forget("a")
        queue.shut_down()
    assert names(hops) == ["failure a", "waits a", "sooner a", "due a", "added a", "forgotten a"]
    assert hops[0].more == {"delay": 2.0, "failures": 1}
    assert [hop.time for hop in hops] == [0.0, 0.0, 0.0, 2.0, 2.0, 3.0]
    assert hops[3].thread == "workqueue--delay"


def test_the_lines_that_ran_are_told_when_asked_for(hops):
    with tour.Seam(tour.TAPS, hops.append, lines=True):
        queue = workqueue.new_typed()
        queue.add("a")
        queue.add("a")
    source, first = __import__("inspect").getsourcelines(vars(Typed)["add"])

    def ran(hop: tour.Hop) -> str:
        return "".join(source[line - first] for line in hop.code.lines)

    assert "_push(item)" in ran(hops[0]) and "touch(item)" not in ran(hops[0])
    assert "touch(item)" in ran(hops[1]) and "_push(item)" not in ran(hops[1])
    assert hops[0].code.first == first
    assert hops[0].code.caller.startswith("test/unit/tour/test_seam.py:")


def test_no_lines_are_told_when_nobody_asks_and_a_debugger_keeps_its_trace(hops):
    seen = []

    def debugger(frame, event, arg):
        seen.append(event)

    sys = __import__("sys")
    before = sys.gettrace()
    sys.settrace(debugger)
    try:
        with tour.Seam(tour.TAPS, hops.append, lines=True):
            workqueue.new_typed().add("a")
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(before)
    with tour.Seam(tour.TAPS, hops.append):
        workqueue.new_typed().add("b")
    assert hops[0].code.lines and not hops[1].code.lines


def test_several_seams_see_the_same_and_the_last_one_puts_things_back():
    before = codes()
    one: list[tour.Hop] = []
    two: list[tour.Hop] = []
    first, second = tour.Seam(tour.TAPS, one.append), tour.Seam(tour.TAPS, two.append)
    first.attach()
    second.attach()
    queue = workqueue.new_typed()
    queue.add("a")
    first.detach()
    queue.add("b")
    second.detach()
    second.detach()
    queue.add("c")
    assert names(one) == ["added a"]
    assert names(two) == ["added a", "added b"]
    assert codes() == before


def test_a_seam_is_attached_once(hops):
    seam = tour.Seam(tour.TAPS, hops.append)
    with seam, pytest.raises(RuntimeError, match="attached already"):
        seam.attach()


def test_what_kept_a_function_is_seen_from_when_to_when_the_tour_is_attached(hops):
    with synctest.bubble() as bubble:
        queue = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        queue.add("before")
        with tour.Seam(tour.TAPS, hops.append):
            queue.add("a")
            queue.add_after("b", 1.0)
            bubble.sleep(2.0)
        queue.add("after")
        assert [queue.get()[0] for _ in range(4)] == ["before", "a", "b", "after"]
        queue.shut_down()
    assert names(hops) == ["added a", "waits b", "due b", "added b"]


class Base:
    def reconcile(self, key: str) -> str:
        return key


class Derived(Base):
    def reconcile(self, key: str, *, times: int = 1) -> str:
        return super().reconcile(key) * times


def test_a_method_that_calls_super_and_has_defaults_can_be_watched(hops):
    derived, bound = Derived(), Derived().reconcile
    with tour.Seam([tour.worker_tap(__name__, "Derived.reconcile")], hops.append):
        assert derived.reconcile("a") == "a" and bound("b", times=2) == "bb"
    assert derived.reconcile("c", times=3) == "ccc"
    assert names(hops) == ["reconcile a", "ok a", "reconcile b", "ok b"]


def test_a_meter_lets_so_many_through_and_counts_the_rest(hops):
    seam = tour.Seam([tap_of("Typed.add")], hops.append, metered=True)
    meter = seam.meters[tap_of("Typed.add")]
    meter.allow(3)
    with seam:
        queue = workqueue.new_typed()
        for item in range(10):
            queue.add(item)
        assert meter.read() == (10, 3)
        meter.allow(2)
        for item in range(10, 20):
            queue.add(item)
    assert meter.read() == meter.read() == (20, 5)
    assert names(hops) == [f"added {item}" for item in (0, 1, 2, 10, 11)]
    assert queue.contents().order == tuple(range(20))


def test_a_meter_counts_every_call_of_many_threads():
    meter = tour.Meter()
    meter.allow(0)
    threads = [
        threading.Thread(target=lambda: [meter.count() for _ in range(20_000)], name=f"caller-{n}", daemon=True)
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert meter.read()[1] == 0
    assert meter.read() == (80_000, 0)


def test_a_probe_stands_around_each_call_whether_it_is_told_or_not(hops):
    seen = []

    def note(function):
        def add(queue, item):
            seen.append(item)
            return function(queue, item)

        return add

    probe = tour.Probe("clientgo.util.workqueue.queue", "Typed.add", note)
    seam = tour.Seam([tap_of("Typed.add")], hops.append, probes=[probe], metered=True)
    seam.meters[tap_of("Typed.add")].allow(1)
    queue = workqueue.new_typed()
    with seam:
        queue.add("a")
        queue.add("b")
    queue.add("c")
    assert seen == ["a", "b"] and names(hops) == ["added a"] and queue.contents().order == ("a", "b", "c")


@pytest.fixture
def errors() -> Iterator[list[str]]:
    """Return the list of reported errors."""
    seen: list[str] = []
    before = [*utilruntime.ERROR_HANDLERS]
    utilruntime.ERROR_HANDLERS[:] = [lambda ctx, err, msg, *more: seen.append(str(err))]
    yield seen
    utilruntime.ERROR_HANDLERS[:] = before


def test_a_listener_that_raises_disturbs_nobody_and_it_is_said(errors):
    def raising(hop: tour.Hop) -> None:
        raise ValueError("no")

    with tour.Seam(tour.TAPS, raising):
        queue = workqueue.new_typed()
        queue.add("a")
        assert queue.get() == ("a", False)
    assert len(errors) == 2 and "a tour's listener raised on" in errors[0] and "ValueError('no')" in errors[0]


@pytest.mark.parametrize("when", ["before", "after", "instead"])
def test_a_tap_that_raises_changes_nothing_and_it_is_said(hops, when, errors):
    calls = []

    def around(call, queue, item):
        if when == "after":
            call()
        calls.append(item)
        if when != "instead":
            raise ValueError("no")

    broken = replace(tap_of("Typed.add"), around=around)
    with tour.Seam([broken], hops.append):
        queue = workqueue.new_typed()
        queue.add("a")
        queue.add("b")
    assert queue.contents().order == ("a", "b")
    assert calls == ["a", "b"]
    trouble = ["the tour could not observe Typed.add: ValueError('no')"]
    assert errors == (trouble * 2 if when != "instead" else [])


def test_what_a_function_raises_is_raised_and_no_trouble_of_the_tour(hops, errors):
    with tour.Seam(tour.TAPS, hops.append):
        queue = workqueue.new_typed()
        with pytest.raises(TypeError, match="unhashable"):
            queue.add([])
    assert errors == []


def test_hops_of_many_threads_have_a_number_each(hops):
    with tour.Seam(tour.TAPS, hops.append):
        queue = workqueue.new_typed()
        threads = [
            threading.Thread(target=lambda n=n: [queue.add((n, i)) for i in range(200)], name=f"adder-{n}", daemon=True)
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(hop.number for hop in hops) == list(range(800))
    assert {hop.thread for hop in hops} == {f"adder-{n}" for n in range(4)}


def test_the_stream_is_json_with_the_documented_fields(hops):
    with tour.Seam(tour.TAPS, hops.append, lines=True):
        workqueue.new_typed().add("a")
    documented = re.findall(r"^    (\w+) {2,}\S", hop_module.__doc__ or "", re.MULTILINE)
    shown = json.loads(json.dumps(hops[0].to_dict()))
    assert [*shown] == documented
    assert shown["code"]["function"] == "Typed.add"
    assert shown["code"]["goFile"] == "util/workqueue/queue.go"
