"""The limits of a live tour at their boundaries: hops, structures, calls, rates, pauses and delays."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from clientgo import tour
from clientgo.golang import callers
from clientgo.testing import synctest
from clientgo.tour import live, programframes
from clientgo.tour.hop import Code, Hop
from clientgo.tour.live import Live
from clientgo.tour.taps import TAPS
from clientgo.util import workqueue

CODE = Code("file.py", "f", "", "", 1, (), "file.py:1")


def receive(live: Live, count: int = 1, station: str = "queue", kind: str = "added", **about: Any) -> None:
    """Give a tour hops whose keys are their places."""
    for number in range(count):
        fields = {"key": str(number), "time": 0.0, "thread": "main", "code": CODE, **about}
        live._receive(Hop(number=number, station=station, kind=kind, **fields))


def places(hops: list[Hop]) -> list[int]:
    return [hop.number for hop in hops]


# ---- the hops that are kept


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, range(6)),
        ({"since": 0}, range(1, 6)),
        ({"since": 4}, [5]),
        ({"since": 5}, []),
        ({"since": 9}, []),
        ({"most": 2}, [4, 5]),
        ({"most": 6}, range(6)),
        ({"most": 7}, range(6)),
        ({"since": 1, "most": 3}, [3, 4, 5]),
        ({"key": "3"}, [3]),
        ({"key": "none"}, []),
    ],
)
def test_the_last_hops_behind_a_place_are_found(asked: Any, found: Any) -> None:
    live = Live()
    assert live.hops_since() == ([], -1)
    receive(live, 6)
    hops, last = live.hops_since(**asked)
    assert places(hops) == list(found) and last == 5
    assert places(live.hops(**asked)) == list(found)


def test_the_last_5000_hops_are_kept_and_200_are_shown() -> None:
    live = Live()
    receive(live, 5000)
    assert places(live.hops(most=9999)) == list(range(5000))
    receive(live, 3)
    hops, last = live.hops_since(most=9999)
    assert len(hops) == 5000 and hops[0].number == 3 and last == 5002
    assert places(live.hops(since=5001, most=9999)) == [2]
    assert len(live.hops(since=4, most=9999)) == 4998
    assert len(live.hops()) == 200


def test_a_hop_of_a_thread_has_the_structure_of_its_last_hop_there() -> None:
    live, first, second = Live(), object(), object()
    for kind, owner in (("watch", first), ("line", None), ("list", second), ("line", None), ("ended", None)):
        receive(live, station="reflector", kind=kind, owner=owner)
    receive(live, station="handlers", kind="called", owner=first)
    receive(live, station="handlers", kind="taken", owner=second)
    for kind in ("called", "returned", "raised", "buffered"):
        receive(live, station="handlers", kind=kind, owner=first)
    owners = [first, first, second, second, None, None, second, second, second, second, first]
    assert [hop.owner for hop in live.hops()] == owners


# ---- the structures that are known


def informer(*handlers: Any) -> Any:
    parts = SimpleNamespace(handlers=handlers)
    return SimpleNamespace(parts=lambda: parts)


class Queue:
    """An inner queue, or one around it."""

    def __init__(self, inner: Any = None, limits: bool = False) -> None:
        self.contents = lambda: None
        self.get = self._get if inner is None else inner.get
        if limits:
            self.add_rate_limited = lambda item: None

    def _get(self) -> None:
        """Stand for the method that workers call."""


def test_factories_informers_and_queues_are_watched_once() -> None:
    live, one, two = Live(), informer(), informer()
    live.watch(SimpleNamespace(made=lambda: {"a": one, "b": two}), one)
    assert live.informers() == [one, two] and live.unlisted() == 0
    inner = Queue()
    outer = Queue(inner, limits=True)
    live.watch(inner, inner, outer)
    (held,) = live.queues()
    assert held.queue is outer and held.inner is inner and held.origin == "inner"
    # The part inside of a queue with a limiter hides it no more.
    live.watch(inner, Queue(inner))
    assert live.queues()[0].queue is outer
    for wrong in (3, object(), SimpleNamespace(contents=1), SimpleNamespace(get=1)):
        with pytest.raises(TypeError, match="watches factories, informers and queues"):
            live.watch(wrong)


def test_two_hundred_informers_and_queues_are_listed_and_the_others_counted() -> None:
    live = Live()
    informers, queues = [informer() for _ in range(202)], [Queue() for _ in range(203)]
    live.watch(*informers[:200], *queues[:200])
    assert live.unlisted() == 0
    live.watch(*informers, *queues)
    assert live.unlisted() == 5
    assert live.informers() == informers[:200]
    assert [held.queue for held in live.queues()] == queues[:200]


def test_handlers_of_one_name_are_numbered_from_two() -> None:
    class Listener:
        def name(self) -> str:
            return "h"

    listeners = [Listener() for _ in range(4)]
    live = Live()
    live.watch(informer(*listeners[:3]))
    assert live.name_of(listeners[1]) == "h #2" and live.name_of(listeners[3]) == "h #4"
    assert [live.name_of(each) for each in listeners] == ["h", "h #2", "h #3", "h #4"]


def test_a_call_of_a_handler_lasts_since_the_tick_that_saw_it_first() -> None:
    held: list[Any] = [None]
    handler = SimpleNamespace(delivering=lambda: held[0])
    time = [10.0]
    clock: Any = SimpleNamespace(now=lambda: time[0])
    live = Live(clock=clock)
    live.watch(informer(SimpleNamespace(delivering=lambda: None), handler))

    def tick(at: float, delivering: Any) -> float | None:
        time[0], held[0] = at, delivering
        live.tick()
        return live.in_call(handler)

    first, second = object(), object()
    assert [tick(11.0, None), tick(12.0, first), tick(13.5, first), tick(15.0, second)] == [None, 0.0, 1.5, 0.0]
    time[0] = 15.25
    assert live.in_call(handler) == 0.25 and live.in_call(object()) is None
    assert tick(16.0, None) is None


# ---- the calls that become hops


def test_calls_become_hops_two_hundred_at_once_and_fifty_a_second() -> None:
    time = [0.0]
    clock: Any = SimpleNamespace(now=lambda: time[0])
    live = Live(clock=clock)
    tap, meter = next(iter(live._seam.meters.items()))
    seen = []

    def call(times: int) -> None:
        for _ in range(times):
            if meter.count() < meter.limit:
                meter.emit()
        live.tick()
        seen.append(live.sums()[tap].emitted)

    live.tick()
    for seconds, times in ((0.0, 150), (0.0, 100), (0.5, 1), (0.0, 100), (1.0, 0), (0.0, 100), (60.0, 0), (0.0, 500)):
        time[0] += seconds
        call(times)
    assert seen == [150, 200, 200, 225, 225, 275, 275, 475]
    assert live.sums()[tap].calls == 951


def test_a_rate_is_over_the_last_ten_ticks() -> None:
    time = [0.0]
    clock: Any = SimpleNamespace(now=lambda: time[0])
    live = Live(clock=clock)
    tap, meter = next(iter(live._seam.meters.items()))
    live.tick()
    assert live.sums()[tap].rate == 0.0
    rates = []
    for number in range(12):
        for _ in range(10 if number < 2 else 1):
            meter.count()
        time[0] += 0.5
        live.tick()
        rates.append(live.sums()[tap].rate)
    assert rates[0] == 20.0 and rates[1] == 20.0 and rates[9] == 28 / 5.0
    assert rates[10:] == [19 / 5.0, 2.0]


# ---- time


def test_the_ticker_runs_ten_times_a_second_until_the_end() -> None:
    ticks: list[float] = []
    with synctest.bubble() as bubble:
        live = Live()
        live.on_tick = lambda: ticks.append(live.clock.now())
        with live:
            bubble.sleep(1.05)
        count = len(ticks)
        bubble.sleep(1.0)
        names = [thread.name for thread in threading.enumerate()]
    assert count == len(ticks) == 11
    assert ticks[-1] - ticks[-2] == pytest.approx(0.1) and "tour ticker" not in names


@pytest.mark.parametrize(("wait", "is_paused"), [(4.8, True), (5.3, False)])
def test_pauses_and_delays_end_five_seconds_after_the_last_visit(wait: float, is_paused: bool) -> None:
    with synctest.bubble() as bubble, Live() as live:
        live.pause("never visited")
        bubble.sleep(60.0)
        assert live.requested()[0]
        live.connected()
        live.slow("w", 1.0)
        bubble.sleep(wait)
        paused, delays = live.requested()
    assert bool(paused) == bool(delays) == is_paused


@pytest.mark.parametrize("what", ["pause", "slow"])
def test_one_of_pauses_and_delays_is_enough_to_be_ended(what: str) -> None:
    with synctest.bubble() as bubble, Live() as live:
        live.connected()
        if what == "pause":
            live.pause("h")
        else:
            live.slow("w", 1.0)
        bubble.sleep(6.0)
        assert live.requested() == (frozenset(), {})


def test_a_page_stays_connected_for_two_seconds_and_not_after_the_end() -> None:
    with synctest.bubble() as bubble:
        live = Live()
        with live:
            began = live.clock.now()
            live.stay_connected()
            assert live.clock.now() - began == pytest.approx(2.0)
            live.pause("h")
            bubble.sleep(4.5)  # it was noted behind the wait too
            assert live.requested()[0]
        began = live.clock.now()
        live.stay_connected()
        assert live.clock.now() == began and live.is_detached()


@pytest.mark.parametrize(("delay", "is_good"), [(0.0, True), (60.0, True), (-0.1, False), (60.1, False)])
def test_a_worker_is_slowed_down_by_zero_to_sixty_seconds(delay: float, is_good: bool) -> None:
    live = Live()
    live.slow("other", 2.0)
    if is_good:
        live.slow("w", delay)
        assert live.requested()[1] == {"other": 2.0, **({"w": delay} if delay else {})}
    else:
        with pytest.raises(ValueError, match="by 0 to 60 seconds"):
            live.slow("w", delay)


def test_a_request_changes_its_part_alone_and_nothing_after_the_end() -> None:
    live = Live()
    live.pause("a")
    live.pause("b")
    live.slow("w", 1.0)
    live.go_on("a")
    assert live.requested() == (frozenset({"b"}), {"w": 1.0})
    live.detach()
    live.pause("c")
    assert live.requested() == (frozenset(), {})


@pytest.mark.parametrize("end", ["go on", "detach"])
def test_handlers_have_their_own_code_but_for_a_pause(end: str) -> None:
    functions = [tap.find() for tap in TAPS if tap.hop in ("handlers.add", "handlers.update", "handlers.delete")]
    before = [function.__code__ for function in functions]
    live = Live()
    live.slow("w", 1.0)
    assert [function.__code__ for function in functions] == before
    live.pause("a")
    paused = [function.__code__ for function in functions]
    live.pause("b")
    live.go_on("a")
    assert [function.__code__ for function in functions] == paused
    assert all(ours is not theirs for ours, theirs in zip(paused, before, strict=True))
    if end == "go on":
        live.go_on("b")
    else:
        live.detach()
    assert [function.__code__ for function in functions] == before


def test_a_slowed_worker_gets_its_key_after_the_delay_and_at_once_when_the_queue_ends() -> None:
    with synctest.bubble() as bubble, Live() as live:
        queue: Any = workqueue.new_typed()
        got: list[tuple[str, float]] = []

        def work() -> None:
            for _ in range(3):
                got.append((queue.get()[0], live.clock.now()))
                queue.done(got[-1][0])

        live.slow("w", 3.0)
        worker = threading.Thread(target=work, name="w", daemon=True)
        began = live.clock.now()
        queue.add("a")
        worker.start()
        bubble.sleep(4.0)
        assert [(key, round(at - began, 6)) for key, at in got] == [("a", 3.0)]
        live.slow("other", 50.0)
        live.slow("w", 0.0)
        queue.add("b")
        bubble.sleep(0.1)
        assert got[1] == ("b", began + 4.0)
        live.slow("w", 50.0)
        queue.add("c")
        bubble.sleep(0.1)
        queue.shut_down()
        bubble.sleep(0.7)
        assert got[2][0] == "c" and got[2][1] - began <= 4.7
        worker.join()


def test_an_item_is_old_since_it_was_added_first() -> None:
    with synctest.bubble() as bubble, Live() as live:
        queue: Any = workqueue.new_priority_queue(workqueue.PriorityQueueConfig())
        (held,) = live.queues()
        began = live.clock.now()
        queue.add("a")
        queue.add_after("later", 100.0)
        bubble.sleep(2.0)
        queue.add("a")
        assert held.since == {"a": began}
        assert queue.get()[0] == "a" and held.since == {}
        (work,) = live.workers()
        assert (work.item, work.since, work.queue) == ("a", began + 2.0, queue)
        queue.done("a")
        assert [work.item for work in live.workers()] == [None]
        queue.shut_down()
        queue.get()
        assert live.workers() == []


def test_a_programs_own_functions_are_watched_beside_the_machinerys() -> None:
    own = tour.worker_tap("module", "function")
    assert set(Live([own])._marks) == {*TAPS, own}


def test_after_the_end_no_thread_of_the_tour_is_left() -> None:
    with tour.Live():
        (ticker,) = (each for each in threading.enumerate() if each.name == "tour ticker")
        assert ticker.daemon
    assert not ticker.is_alive()


class PlainQueue:
    """A queue of the program's own that has only what the tour needs."""

    def __init__(self) -> None:
        self.held = {"a", "b"}

    def get(self) -> tuple[Any, bool]:
        raise AssertionError("the tour takes nothing")

    def contents(self) -> Any:
        return SimpleNamespace(processing=frozenset(self.held))


def test_the_keys_of_a_queue_that_lists_no_processing_ones_are_those_of_its_contents() -> None:
    live, queue = Live(), PlainQueue()
    live.watch(queue)
    found = live.workers()
    assert sorted((work.thread, work.item, work.queue is queue, work.since) for work in found) == [
        ("?", "a", True, None),
        ("?", "b", True, None),
    ]
    assert [(held.queue is held.inner, held.since) for held in live.queues()] == [(True, {})]


def test_a_hops_object_and_owner_are_no_part_of_its_text() -> None:
    made = Hop(number=1, time=0.5, station="queue", kind="added", key="a", thread="t", code=CODE, object=7, owner=8)
    assert "object" not in repr(made) and "owner" not in repr(made) and "key='a'" in repr(made)
    assert str(made) == "   1 +0.500s queue.added a  [t]"


@pytest.mark.parametrize("is_inserted", [True, False])
def test_without_a_frame_of_the_program_there_is_no_name(
    monkeypatch: pytest.MonkeyPatch, is_inserted: bool
) -> None:
    thing = object()
    assert programframes.variable_of(thing) == "thing" and "test_live_limits.py:" in programframes.line_of_call()
    monkeypatch.setattr(programframes.callers, "is_inserted", lambda file: is_inserted)
    assert (programframes.variable_of(thing), programframes.line_of_call() == "") == (
        ("", True) if is_inserted else ("thing", False)
    )


def test_its_frames_are_no_part_of_the_programs_output() -> None:
    assert callers.is_inserted(live.__file__)


def test_a_pause_during_the_end_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another page may ask for it between the steps of the end."""
    functions = [probe.find() for probe in Live()._control_probes()]
    before = [function.__code__ for function in functions]
    watching = tour.Live()
    with watching:
        ended: list[Any] = []

        def pause_once(*about: Any) -> None:
            if not ended:
                ended.append(about)
                watching.pause("h")
                assert [function.__code__ for function in functions] != before

        monkeypatch.setattr(live, "log_changes", pause_once)
    assert ended and [function.__code__ for function in functions] == before
    assert watching.is_detached()
