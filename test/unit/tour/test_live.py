"""A program that really runs, looked at: what there is to see, and that it does not notice unless it is asked to.

Its time is virtual: threads as in a program, and each run the same.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour import live as live_module
from clientgo.util import workqueue


def config_map(name: str, text: str = "") -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default"), data={"text": text})


class Program:
    """An informer, a handler that queues keys, and a worker that takes `takes` seconds for each."""

    def __init__(
        self,
        bubble: Any,
        options: cache.SharedIndexInformerOptions | None = None,
        handler: cache.HandlerOptions | None = None,
    ) -> None:
        self.bubble = bubble
        self.source = new_fake_controller_source()
        options = options or cache.SharedIndexInformerOptions()
        options.indexers = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
        self.informer = cache.new_shared_index_informer_with_options(self.source, corev1.ConfigMap(), options)
        limiter = workqueue.new_typed_item_exponential_failure_rate_limiter(1.0, 100.0)
        self.queue: Any = workqueue.new_typed_rate_limiting_queue(limiter)
        self.informer.add_event_handler_with_options(Handler(self.queue), handler or cache.HandlerOptions())
        self.takes = 0.0
        self.done: list[str] = []
        self._ctx, self._cancel = context.with_cancel(context.background())
        self.threads = [
            threading.Thread(target=self.informer.run_with_context, args=(self._ctx,), name="informer", daemon=True),
            threading.Thread(target=self._work, name="worker-0", daemon=True),
        ]

    def _work(self) -> None:
        while True:
            key, shutdown = self.queue.get()
            if shutdown:
                return
            self.bubble.sleep(self.takes)
            self.done.append(key)
            self.queue.done(key)

    def start(self) -> None:
        for thread in self.threads:
            thread.start()
        self.bubble.sleep(1.0)

    def stop(self) -> None:
        self._cancel()
        self.queue.shut_down()
        for thread in self.threads:
            thread.join()
        self.source.shutdown()


class Handler:
    def __init__(self, queue: Any) -> None:
        self.queue = queue

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self.queue.add(cache.meta_namespace_key_func(obj))

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self.queue.add(cache.meta_namespace_key_func(new_obj))

    def on_delete(self, obj: Any) -> None:
        self.queue.add(cache.deletion_handling_meta_namespace_key_func(obj))


NAME = f"{__name__}.Handler"


@contextmanager
def running(*, attach_first: bool = True) -> Iterator[tuple[Program, tour.Live, tour.LiveView]]:
    with synctest.bubble() as bubble:
        live = tour.Live()
        view = tour.LiveView(live)
        if attach_first:
            live.attach()
        program = Program(bubble)
        program.start()
        try:
            if not attach_first:
                live.watch(program.informer, program.queue)
                live.attach()
            yield program, live, view
        finally:
            program.stop()
            live.detach()


def facts(view: Any, name: str) -> dict[str, Any]:
    station = view["views"][name]
    return dict((station["handlers"][0] if name == "handlers" else station)["facts"])


@pytest.mark.parametrize("attach_first", [True, False])
def test_every_station_shows_what_it_holds(attach_first):
    with running(attach_first=attach_first) as (program, _, view):
        program.source.add(config_map("apple"))
        program.takes = 60.0
        program.bubble.sleep(2.0)
        program.source.add(config_map("bread"))
        program.bubble.sleep(2.0)
        seen = view.paint()
    views = seen["views"]
    assert [each["key"] for each in views["indexer"]["objects"]] == ["default/apple", "default/bread"]
    assert views["indexer"]["indices"] == {"namespace": {"default": ["default/apple", "default/bread"]}}
    assert views["reflector"]["state"] == "watching"
    assert facts(seen, "reflector")["heard"] == "2.0s"
    assert views["queue"]["order"] == ["default/bread"] and views["queue"]["processing"] == ["default/apple"]
    assert facts(seen, "queue")["oldest"] == "2.0s"
    # What a worker was waiting for when the tour came is in unknown hands.
    name, worker = next(iter(views["workers"]["workers"].items()))
    assert (worker["doing"], worker["key"]) == ("reconciles", "default/apple")
    assert (name, worker["for"]) == (("worker-0", "4.0s") if attach_first else ("? 0", ""))
    assert views["handlers"]["handlers"][0]["name"] == NAME
    assert seen["informers"][0]["objects"] == 2 and len(seen["queues"]) == 1
    assert json.loads(json.dumps(seen)) == seen


def test_a_reflector_s_requests_are_counted_and_seen_at_once():
    with synctest.bubble() as bubble:
        live = tour.Live()
        view = tour.LiveView(live)
        live.attach()
        program = Program(bubble)
        try:
            for thread in program.threads:
                thread.start()
            bubble.wait()  # no tick of the tour comes between
            seen = view.paint()["views"]["reflector"]
        finally:
            program.stop()
            live.detach()
    assert (seen["state"], seen["lists"], seen["watches"], seen["bookmarks"]) == ("watching", 1, 1, 0)


def test_the_last_hops_of_a_key_and_the_states_of_its_object():
    with running() as (program, _, view):
        program.source.add(config_map("apple"))
        program.source.add(config_map("bread"))
        program.bubble.sleep(1.0)
        program.source.modify(config_map("apple", "red"))
        program.bubble.sleep(1.0)
        everything = view.paint()
        program.source.modify(config_map("apple", "green"))
        program.bubble.sleep(1.0)
        seen = view.paint(key="default/apple", since=everything["last"])
        states = view.object(0, "default/apple")
    kinds = [f"{hop['station']}.{hop['kind']}" for hop in seen["hops"]]
    assert kinds[:4] == ["fifo.queued", "fifo.popped", "indexer.replaced", "handlers.buffered"]
    rest = {"handlers.taken", "handlers.called", "queue.added", "handlers.returned", "queue.taken", "queue.done"}
    assert {*kinds[4:]} == rest and len(kinds) == 10
    assert {hop["key"] for hop in seen["hops"]} == {"default/apple"}
    assert [state["data"]["text"] for state in states.values() if state["data"]["text"]] == ["red", "green"]
    assert everything["skipped"] == seen["skipped"] == 0


def test_the_past_of_a_key_is_told_from_the_hops_that_were_kept():
    with running() as (program, _, view):
        program.source.add(config_map("apple"))
        program.source.add(config_map("bread"))
        program.takes = 60.0
        program.source.modify(config_map("apple", "red"))
        program.bubble.sleep(1.0)
        past = view.past("queue.processing", "default/apple")
        nothing = view.past()
    kinds = [f"{hop['station']}.{hop['kind']}" for hop in past["hops"]]
    chain = [kinds[link["at"]] for link in past["links"]]
    assert chain[-3:] == ["handlers.called", "queue.added", "queue.taken"] and chain[0] == "fifo.queued"
    assert {link["key"] for link in past["links"]} == {"default/apple"}
    assert kinds[past["changes"]["queue.processing"]] == "queue.taken"
    assert past["kept"] > len(past["hops"]) and past["skipped"] == 0
    assert nothing["links"] == [] and "indexer.objects" in nothing["changes"]
    assert "reflector.error" not in nothing["changes"], "it never had one"
    assert json.loads(json.dumps(past)) == past


RESYNC = 10.0


@contextmanager
def resyncing(
    *, in_order: bool = True, handler: cache.HandlerOptions | None = None
) -> Iterator[tuple[Program, tour.Live, tour.LiveView]]:
    """Run a program whose informer resyncs every RESYNC seconds, with a paused handler that is in its first call."""
    with synctest.bubble() as bubble:
        live = tour.Live()
        view = tour.LiveView(live)
        live.attach()
        options = cache.SharedIndexInformerOptions(resync_period=RESYNC, in_order=in_order)
        program = Program(bubble, options, handler)
        program.start()
        try:
            live.pause(NAME)
            program.source.add(config_map("first"))
            bubble.sleep(1.0)
            yield program, live, view
        finally:
            program.stop()
            live.detach()


def chain_of(view: tour.LiveView, notice: Any, place: str = "handlers.pending") -> list[tuple[str, float]]:
    about = {name: notice[name] for name in ("key", "version", "queued")}
    past = view.past(place, handler=NAME, **about)
    hops = [past["hops"][link["at"]] for link in past["links"]]
    return [(f"{hop['station']}.{hop['kind']}", hop["time"]) for hop in hops]


def pending(view: tour.LiveView, key: str) -> list[Any]:
    (handler,) = view.paint()["views"]["handlers"]["handlers"]
    return [each for each in handler["pending"] if each["key"] == key]


@pytest.mark.parametrize("in_order", [True, False])
def test_the_chain_of_a_pending_notification_stays_its_own_when_a_resync_adds_another_one(in_order):
    with resyncing(in_order=in_order) as (program, _, view):
        program.source.add(config_map("apple"))
        program.bubble.sleep(1.0)
        (added,) = pending(view, "default/apple")
        before = chain_of(view, added)
        program.bubble.sleep(20.0)  # two resyncs, which notify of the same version
        shown = pending(view, "default/apple")
        chains = [chain_of(view, each) for each in shown]
    assert shown[0] == added and [each["version"] for each in shown] == [added["version"]] * 3
    assert [name for name, _ in before] == ["fifo.queued", "fifo.popped", "indexer.stored", "handlers.buffered"]
    assert chains[0] == before
    arrived = [chain[-1][1] for chain in chains]
    assert arrived == sorted(set(arrived)), "each notification has a chain of its own"
    assert all("fifo.resync" in dict(chain) for chain in chains[1:])


def test_the_chain_of_a_delivered_notification_begins_at_its_own_arrival_in_the_buffer():
    with resyncing() as (program, live, view):
        program.source.add(config_map("apple"))
        program.bubble.sleep(1.0)
        (added,) = pending(view, "default/apple")
        before = chain_of(view, added)
        program.bubble.sleep(20.0)
        live.go_on(NAME)
        program.bubble.sleep(1.0)
        chains = [
            chain_of(view, {**added, "queued": hop.more["queued"]}, "handlers.delivering")
            for hop in live.hops(key="default/apple")
            if hop.kind == "called"
        ]
    assert len(chains) == 3 and chains[0][:-1] == before
    assert [chain[-1][0] for chain in chains] == ["handlers.called"] * 3
    assert len({chain[-2][1] for chain in chains}) == 3


@pytest.mark.parametrize("in_order", [True, False])
def test_the_chain_of_a_merged_notification_is_that_of_its_newest_state(in_order):
    bound = cache.HandlerOptions(max_pending=3)
    with resyncing(in_order=in_order, handler=bound) as (program, live, view):
        program.source.add(config_map("apple"))
        for number in range(3):
            program.bubble.sleep(1.0)
            program.source.modify(config_map("apple", str(number)))
        program.bubble.sleep(1.0)
        changed = [hop.time for hop in live.hops(key="default/apple") if hop.kind == "replaced"][-1]
        (merged,) = pending(view, "default/apple")
        before = chain_of(view, merged)
        program.bubble.sleep(2 * RESYNC)  # notifies of the same state again
        later = chain_of(view, merged)
        unknown = chain_of(view, {**merged, "queued": merged["queued"] - 0.5})
        live.go_on(NAME)
        program.bubble.sleep(1.0)
        called = next(hop for hop in live.hops(key="default/apple") if hop.kind == "called")
        delivered = chain_of(view, {**merged, "queued": called.more["queued"]}, "handlers.delivering")
    assert called.more["queued"] == merged["queued"]
    assert [name for name, _ in before] == ["fifo.queued", "fifo.popped", "indexer.replaced", "handlers.buffered"]
    assert {time for _, time in before} == {changed} and later == before and unknown == []
    assert delivered[:-1] == before and delivered[-1][0] == "handlers.called"


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("in_order", [True, False])
def test_every_notification_of_a_large_resync_is_known(in_order):
    count = 3 * 60
    with resyncing(in_order=in_order) as (program, live, view):
        for number in range(count):
            program.source.add(config_map(f"n-{number:03}"))
        live.go_on(NAME)
        program.bubble.sleep(5.0)
        live.pause(NAME)
        program.bubble.sleep(10.0)
        answers = [view.past("handlers.pending", f"default/n-{number:03}", NAME) for number in range(1, count)]
    for past in answers:
        hops = past["hops"]
        assert [hops[link["at"]]["kind"] for link in past["links"]][-1] == "buffered"
        assert hops[past["links"][-1]["at"]]["time"] == RESYNC
        assert hops[past["changes"]["handlers.handlers"]]["time"] == RESYNC


def test_the_end_of_a_program_is_no_error_of_its_watch():
    with running() as (program, live, _):
        program.source.add(config_map("apple"))
        program.bubble.sleep(1.0)
        program.stop()
        hops = live.hops(-1, most=10_000)
    ended = [hop for hop in hops if (hop.station, hop.kind) == ("reflector", "ended")]
    assert [hop.more["error"] for hop in ended] == [""]
    assert [hop for hop in hops if hop.more.get("error")] == []


def test_a_watch_that_fails_ends_with_its_error(monkeypatch):
    watcher = watch.RaceFreeFakeWatcher()
    with running() as (program, live, _):
        monkeypatch.setattr(program.source, "watch", lambda options: watcher)
        program.source.broadcaster.shutdown()  # the open watch ends, and the next one is `watcher`
        program.bubble.sleep(60.0)
        watcher.error(apierrors.new_internal_error(OSError("no disk")).status())
        program.bubble.sleep(1.0)
        hops = live.hops(-1, most=10_000)
    errors = [hop.more["error"] for hop in hops if (hop.station, hop.kind) == ("reflector", "ended")]
    assert any("no disk" in error for error in errors)


@pytest.mark.parametrize("attached", [False, True])
def test_a_list_that_fails_reaches_the_programs_error_handler_with_and_without_the_tour(monkeypatch, attached):
    """The tour shows the error and does not take it."""
    errors: list[str] = []

    def fail(*_: object) -> None:
        raise ConnectionError("no network")

    with synctest.bubble() as bubble:
        live = tour.Live()
        if attached:
            live.attach()
        program = Program(bubble)
        program.informer.set_watch_error_handler_with_context(lambda ctx, r, err: errors.append(str(err)))
        monkeypatch.setattr(program.source, "list", fail)
        monkeypatch.setattr(program.source, "watch", fail)
        program.start()
        hops = live.hops(-1, most=10_000)
        program.stop()
        live.detach()
    assert errors and "no network" in errors[0]
    failed = [hop.more["error"] for hop in hops if (hop.station, hop.kind) == ("reflector", "failed")]
    assert bool(failed) is attached
    assert all("no network" in error for error in failed)


@contextmanager
def two_programs() -> Iterator[tour.LiveView]:
    """Run two programs with an informer of ConfigMaps and a queue each; the second handles only its first object."""
    with running() as (first, _, view):
        second = Program(first.bubble)
        second.start()
        try:
            second.source.add(config_map("apple"))
            second.queue.add_rate_limited("default/apple")
            first.bubble.sleep(5.0)
            for name in ("apple", "bread"):
                first.source.add(config_map(name))
            first.takes = 60.0
            first.queue.add_rate_limited("default/cheese")
            first.source.modify(config_map("apple", "red"))
            first.bubble.sleep(1.5)
            yield view
        finally:
            second.stop()


def test_the_last_changes_are_those_of_one_informer_and_one_queue():
    with two_programs() as view:
        answers = {number: view.past(informer=number, queue=number) for number in (0, 1)}
        mixed = view.past(informer=1, queue=0)
        none = view.past(informer=7, queue=7)
    times = {
        number: {part: past["hops"][at]["time"] for part, at in past["changes"].items()}
        for number, past in answers.items()
    }
    assert {*times[0]} == {*times[1]} > {"queue.failures", "queue.waiting", "handlers.handlers", "reflector.watches"}
    moved = {part for part in times[1] if not part.startswith("reflector.")}
    assert all(times[1][part] < 5.0 < times[0][part] for part in moved)
    assert moved >= {"fifo.keys", "indexer.objects", "handlers.handlers", "queue.order", "queue.failures"}
    for past in answers.values():
        assert past["hops"][past["changes"]["handlers.handlers"]]["kind"] == "returned"
    assert times[0]["reflector.watches"] < times[1]["reflector.watches"]
    late = {part for part, at in mixed["changes"].items() if mixed["hops"][at]["time"] > 5.0}
    assert late and all(part.startswith("queue.") for part in late)
    assert none["changes"] == {}


def test_a_key_in_two_queues_has_a_chain_in_each():
    with two_programs() as view:
        chains = [view.past("queue.order", "default/apple", informer=at, queue=at) for at in (0, 1)]
        crossed = view.past("queue.order", "default/apple", informer=1, queue=0)
        other = view.past("indexer.objects", "default/apple", informer=1, queue=0)
    for number, past in enumerate(chains):
        hops = [past["hops"][link["at"]] for link in past["links"]]
        assert hops[-1]["station"] == "queue" and {(hop["time"] > 5.0) for hop in hops} == {number == 0}
    # Another informer's handler may have added the key.
    assert [crossed["hops"][link["at"]] for link in crossed["links"]] == [
        chains[0]["hops"][link["at"]] for link in chains[0]["links"]
    ]
    assert other["links"]
    assert all(other["hops"][link["at"]]["time"] < 5.0 for link in other["links"])


def test_rates_count_every_call():
    with running() as (program, _, view):
        for number in range(40):
            program.queue.add(f"key-{number}")
            program.bubble.sleep(0.05)
        seen = view.paint()
    assert facts(seen, "queue")["per-second-adds"] == facts(seen, "queue")["per-second-gets"] == "20/s"


@pytest.mark.parametrize("priorities", [False, True])
def test_a_queue_that_was_there_before_is_found_when_an_item_is_added(priorities: bool) -> None:
    with synctest.bubble() as bubble:
        queue: Any = (
            workqueue.new_priority_queue(workqueue.PriorityQueueConfig()) if priorities else workqueue.new_typed()
        )
        with tour.Live() as live:
            assert live.queues() == []
            queue.add("a")
            bubble.sleep(3.0)
            seen = tour.LiveView(live).paint()
        queue.shut_down()

    assert len(seen["queues"]) == 1
    assert seen["views"]["queue"]["order"] == ["a"]
    assert facts(seen, "queue")["oldest"] == "3.0s"


def test_a_priority_queue_is_shown_as_the_other():
    with synctest.bubble() as bubble, tour.Live() as live:
        queue: Any = workqueue.new_priority_queue(workqueue.PriorityQueueConfig())
        held = threading.Event()

        def work() -> None:
            while True:
                item, shutdown = queue.get()
                if shutdown:
                    return
                held.wait()
                queue.done(item)

        worker = threading.Thread(target=work, name="worker-0", daemon=True)
        worker.start()
        queue.add("a")
        bubble.sleep(3.0)
        queue.add("b")
        queue.add_with_opts(workqueue.AddOpts(priority=5), "b")
        queue.add_after("c", 60.0)
        bubble.sleep(0.5)
        seen = tour.LiveView(live).paint()
        held.set()
        bubble.sleep(1.0)
        after = tour.LiveView(live).paint()
        queue.shut_down()
        worker.join()
    assert len(seen["queues"]) == 1
    shown, worked = seen["views"]["queue"], seen["views"]["workers"]["workers"]["worker-0"]
    assert (shown["order"], shown["processing"], [each["key"] for each in shown["waiting"]]) == (["b"], ["a"], ["c"])
    assert facts(seen, "queue")["oldest"] == "0.5s" and facts(seen, "queue")["per-second-adds"] == "3/s"
    assert (worked["doing"], worked["key"], worked["for"]) == ("reconciles", "a", "3.5s")
    assert [f"{hop['kind']} {hop['key']}" for hop in seen["hops"]] == [
        "added a",
        "taken a",
        "added b",
        "raised b",
        "waits c",
    ]
    assert after["views"]["workers"]["workers"]["worker-0"]["doing"] == "waiting"


def test_to_tick_and_to_count_copies_no_backlog(monkeypatch):
    with running() as (program, live, view):
        live.pause(NAME)
        for name in ("apple", "bread", "cheese"):
            program.source.add(config_map(name))
        program.bubble.sleep(1.0)
        parts = live.informers()[0].parts()
        with monkeypatch.context() as patch:
            for part in (parts.handlers[0], parts.indexer):
                patch.setattr(type(part), "contents", lambda each: pytest.fail("it was copied"))
            live.tick()
            # Of an informer that is not selected only the counts are shown.
            (shown,) = view.paint(informer=1)["informers"]
        assert (shown["objects"], shown["pending"]) == (3, 3)


def test_what_is_too_much_is_counted_and_said_and_nothing_of_it_is_lost():
    with running() as (program, live, view):
        before = view.paint()
        for number in range(3 * live_module.BURST):
            program.queue.add(number)
        program.bubble.sleep(0.2)
        seen = view.paint()
        emitted = [hop for hop in live.hops(before["last"], most=10_000) if hop.kind == "added"]
        # As many calls as the machinery made.
        assert program.done == list(range(3 * live_module.BURST))
        sums = {tap.function: total for tap, total in live.sums().items()}
        assert sums["Typed.add"].calls == 3 * live_module.BURST
        assert sums["Typed.add"].emitted == len(emitted) == live_module.BURST
        assert seen["skipped"] == sum(each.calls - each.emitted for each in sums.values()) >= 2 * live_module.BURST
        # Time gives more.
        program.bubble.sleep(4.0)
        program.queue.add("later")
        program.bubble.sleep(0.2)
        assert live.hops(seen["last"])[0].key == "later"


def test_a_paused_handler_waits_and_what_waits_is_seen_and_nothing_is_lost():
    with running() as (program, live, view):
        live.pause(NAME)
        for name in ("apple", "bread", "cheese"):
            program.source.add(config_map(name))
        program.bubble.sleep(3.0)
        seen = view.paint()
        handler = seen["views"]["handlers"]["handlers"][0]
        assert handler["paused"] and program.done == []
        shown = facts(seen, "handlers")
        assert (shown["length"], shown["oldest"]) == (3, "3.0s")
        assert 2.8 <= float(shown["in-call"].rstrip("s")) <= 3.0
        assert seen["informers"][0]["pending"] == 3
        live.go_on(NAME)
        program.bubble.sleep(1.0)
        assert program.done == ["default/apple", "default/bread", "default/cheese"]
        assert not view.paint()["views"]["handlers"]["handlers"][0]["paused"]


def test_a_paused_handler_and_a_slow_worker_do_not_keep_a_program_from_ending():
    with running() as (program, live, _):
        live.pause(NAME)
        live.slow("worker-0", live_module.LONGEST_DELAY)
        program.source.add(config_map("apple"))
        program.queue.add("bread")
        program.bubble.sleep(1.0)
        began = live.clock.now()
        program.stop()
        assert live.clock.now() - began < 5.0


def test_the_programs_log_blames_no_handler_for_a_pause(caplog):
    caplog.set_level("INFO")
    with running() as (program, live, _):
        live.pause(NAME)
        program.source.add(config_map("apple"))
        program.bubble.sleep(60.0)
        live.go_on(NAME)
        program.bubble.sleep(1.0)
        assert program.done == ["default/apple"]
    logged = [record.getMessage() for record in caplog.records]
    assert [text for text in logged if "The tour pauses a handler" in text]
    assert not [text for text in logged if "Warning" in text]


def test_the_programs_log_has_no_trace_of_a_slow_handler_after_a_pause_with_a_large_backlog(caplog):
    caplog.set_level("DEBUG", logger="clientgo")
    with running() as (program, live, view):
        for number in range(1200):
            program.source.add(config_map(f"n-{number}"))
        program.bubble.sleep(1.0)
        name = f"{view.paint()['views']['handlers']['handlers'][0]['name']} #2"
        live.pause(name)
        program.informer.add_event_handler(Handler(other := workqueue.new_typed()))
        program.bubble.sleep(3.0)
        assert other.len() == 0
        live.go_on(name)
        program.bubble.sleep(1.0)
        assert other.len() == 1200
        other.shut_down()
    assert "The tour ends the pause" in caplog.text and "processorListener handler" not in caplog.text


def test_two_handlers_of_one_name_are_paused_one_by_one():
    with running() as (program, live, view):
        second = Handler(other := workqueue.new_typed())
        program.informer.add_event_handler(second)
        program.bubble.sleep(1.0)
        names = [each["name"] for each in view.paint()["views"]["handlers"]["handlers"]]
        assert names == [NAME, f"{NAME} #2"]
        live.pause(names[1])
        program.source.add(config_map("apple"))
        program.bubble.sleep(1.0)
        shown = view.paint()["views"]["handlers"]["handlers"]
        assert [each["paused"] for each in shown] == [False, True]
        assert program.done == ["default/apple"] and other.len() == 0
        assert view.past(place="handlers.delivering", key="default/apple", handler=names[1])["links"]
        live.go_on(names[1])
        live.pause(names[0])
        program.source.add(config_map("bread"))
        program.bubble.sleep(1.0)
        assert program.done == ["default/apple"] and other.len() == 2
        other.shut_down()


def test_the_name_of_a_handler_stays_when_another_one_is_removed():
    with running() as (program, live, view):
        more = [program.informer.add_event_handler(Handler(program.queue)) for _ in range(2)]
        program.bubble.sleep(1.0)
        assert [live.name_of(each) for each in more] == [f"{NAME} #2", f"{NAME} #3"]
        program.informer.remove_event_handler(more[0])
        program.bubble.sleep(1.0)
        names = [each["name"] for each in view.paint()["views"]["handlers"]["handlers"]]
    assert names == [NAME, f"{NAME} #3"]


def test_queues_of_one_type_are_told_apart_by_names_variables_and_lines():
    limiter = workqueue.default_typed_controller_rate_limiter
    orders: Any = workqueue.new_typed_rate_limiting_queue(limiter())
    config = workqueue.TypedRateLimitingQueueConfig[Any](name="payments")
    named: Any = workqueue.new_typed_rate_limiting_queue_with_config(limiter(), config)
    handler = Handler(workqueue.new_typed())
    live = tour.Live()
    live.watch(orders, named, handler.queue)
    with live:
        made: Any = workqueue.new_typed_rate_limiting_queue(limiter())
        plain: Any = workqueue.new_typed()
        line = Path(__file__).read_text().splitlines().index("        plain: Any = workqueue.new_typed()") + 1
        titles = tour.LiveView(live).paint()["queues"]
        for queue in (orders, named, handler.queue, made, plain):
            queue.shut_down()
    assert titles == [
        "1: orders (RateLimitingType)",
        "2: payments (RateLimitingType)",
        "3: handler.queue (Typed)",
        f"4: test_live.py:{line - 1} (RateLimitingType)",
        f"5: test_live.py:{line} (Typed)",
    ]


def test_to_end_the_tour_lets_go_who_is_paused():
    with running() as (program, live, _):
        live.pause(NAME)
        live.slow("worker-0", 50.0)
        program.source.add(config_map("apple"))
        program.queue.add("bread")
        program.bubble.sleep(1.0)
        assert program.done == []
        live.detach()
        program.bubble.sleep(1.0)
        assert sorted(program.done) == ["bread", "default/apple"]


def test_pauses_and_delays_end_and_are_logged_when_no_page_is_connected_for_a_few_seconds(caplog):
    caplog.set_level("INFO")
    with running() as (program, live, _):
        live.connected()
        live.pause(NAME)
        live.slow("worker-0", 50.0)
        program.source.add(config_map("apple"))
        program.queue.add("bread")
        for _ in range(4):
            program.bubble.sleep(live_module.ABSENCE - 1.0)
            live.connected()
        assert program.done == [] and live.requested() != (frozenset(), {})
        started = [record.getMessage() for record in caplog.records]
        assert [text for text in started if "The tour pauses a handler" in text and NAME in text]
        assert [text for text in started if "The tour slows down a worker" in text and "worker-0" in text]
        program.bubble.sleep(live_module.ABSENCE + 1.0)
        assert live.requested() == (frozenset(), {})
        assert sorted(program.done) == ["bread", "default/apple"]
        ended = [record.getMessage() for record in caplog.records][len(started) :]
        assert len(ended) == 2 and all("no page of the tour is connected" in text for text in ended)


def test_a_pause_that_no_page_asked_for_lasts_until_its_end():
    with running() as (program, live, _):
        live.pause(NAME)
        program.source.add(config_map("apple"))
        program.bubble.sleep(10 * live_module.ABSENCE)
        assert program.done == [] and live.requested()[0] == {NAME}


def test_a_page_that_waits_counts_as_connected():
    with running() as (program, live, _):
        live.connected()
        live.pause(NAME)
        program.bubble.sleep(live_module.ABSENCE - 1.0)
        began = live.clock.now()
        live.stay_connected()
        assert 1.0 <= live.clock.now() - began <= 3.0
        program.bubble.sleep(live_module.ABSENCE - 1.0)
        assert live.requested()[0] == {NAME}


def test_a_slow_worker_waits_with_each_key_until_it_is_quick_again():
    with running() as (program, live, view):
        live.slow("worker-0", 2.0)
        for key in ("a", "b", "c"):
            program.queue.add(key)
        program.bubble.sleep(3.0)
        assert program.done == ["a"]
        assert view.paint()["views"]["workers"]["workers"]["worker-0"]["delay"] == 2.0
        live.slow("worker-0", 0)
        program.bubble.sleep(0.1)
        assert program.done == ["a", "b", "c"]
        with pytest.raises(ValueError, match="0 to 60 seconds, not 61"):
            live.slow("worker-0", 61)


def test_after_the_tour_the_machinery_is_as_before():
    before = [(tap.find(), tap.find().__code__) for tap in tour.TAPS]
    with running() as (program, live, _):
        live.pause("nobody")
        assert all(function.__code__ is not code for function, code in before)
        live.detach()
        assert [(tap.find(), tap.find().__code__) for tap in tour.TAPS] == before
        program.queue.add("a")
        program.bubble.sleep(1.0)
        assert program.done == ["a"]


def test_only_what_can_be_looked_at_is_watched():
    with pytest.raises(TypeError, match="watches factories, informers and queues, not list"):
        tour.Live().watch([])


CODE = tour.Code("file", "function", "file.go", "Function", 1, (), "caller:1")


def test_who_looks_again_is_told_only_what_changed_and_can_put_it_together():
    with running() as (program, _, view):
        program.source.add(config_map("apple"))
        program.bubble.sleep(2.0)
        program.takes = 60.0
        first = view.look(0)
        assert first["views"].keys() == view.paint()["views"].keys() and {"informers", "queues"} <= first.keys()
        program.queue.add("key")
        program.bubble.sleep(2.0)
        second = view.look(first["look"], since=first["last"])
        assert "queue" in second["views"] and "indexer" not in second["views"] and "queues" not in second
        together = {**first, **second, "views": {**first["views"], **second["views"]}}
        full = view.paint(since=first["last"])
        assert {name: together[name] for name in full if name != "hops"} == {
            name: part for name, part in full.items() if name != "hops"
        }
        # A hop is the same, except for lists and its code, which is sent once.
        for short, hop in zip(second["hops"], full["hops"], strict=True):
            assert second["codes"][short["code"]] == hop["code"]
            assert {**hop, **short, "more": hop["more"], "code": hop["code"]} == hop
            assert short["more"] == {name: each for name, each in hop["more"].items() if not isinstance(each, list)}
        # A hop that was dropped from the last view is sent completely.
        for _ in range(40):
            view.look(0)
        assert view.look(first["look"])["views"].keys() == first["views"].keys()


def test_a_hop_that_comes_late_is_not_lost():
    """A hop gets its number before it is reported, so that another thread may report a later one first."""
    live = tour.Live()
    hops = [tour.Hop(number=n, station="queue", kind="added", key=str(n), time=0.0, thread="x", code=CODE)
            for n in range(3)]  # fmt: skip
    seen, last = live.hops_since()
    assert (seen, last) == ([], -1)
    for number in (1, 0):
        live._receive(hops[number])
        seen, last = live.hops_since(last)
        assert seen == [hops[number]]
    live._receive(hops[2])
    assert live.hops_since(last) == ([hops[2]], 2) and live.hops(most=2) == [hops[0], hops[2]]


def test_of_many_hops_the_last_are_kept():
    live = tour.Live()
    for number in range(live_module.KEPT_HOPS + 10):
        live._receive(tour.Hop(number=number, station="queue", kind="added", key=str(number), time=0.0, thread="x",
                            code=CODE))  # fmt: skip
    live.tick()  # also without a reader
    assert not live._arrived
    seen, last = live.hops_since(most=10**6)
    assert [hop.number for hop in seen] == list(range(10, live_module.KEPT_HOPS + 10)) and last == seen[-1].number
    assert live.hops_since(5)[0] == seen[-200:] and live.hops_since(last - 1)[0] == seen[-1:]


def test_to_look_costs_little_however_much_there_is():
    with running() as (program, live, view):
        live.pause(NAME)
        for number in range(300):
            program.source.add(config_map(f"object-{number:03}"))
            program.queue.add(f"key-{number:03}")
        program.bubble.sleep(1.0)
        seen = view.paint()["views"]
    handler = seen["handlers"]["handlers"][0]
    assert (dict(handler["facts"])["length"], len(handler["taken"]) + len(handler["pending"])) == (300, 24 + 24)
    assert (dict(seen["indexer"]["facts"])["length"], len(seen["indexer"]["objects"])) == (300, 24)
    (keys,) = seen["indexer"]["indices"]["namespace"].values()
    assert len(keys) == 25 and keys[-1] == "+276"
