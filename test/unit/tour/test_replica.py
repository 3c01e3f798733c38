"""A replica of the lessons' controller: its parts have the settings' values, and its faults last until their end."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang import http
from clientgo.testing import synctest
from clientgo.tools import cache, leaderelection
from clientgo.tour import replica
from clientgo.tour.replica import Bystander, OrdinaryList, Replica, Trouble, new_config, new_queue

SERVER: Any = SimpleNamespace(url="http://server.test", token="a-token")


class NoTransport:
    """A transport that reaches no server."""

    def round_trip(self, request: http.Request) -> Any:
        raise ConnectionError("no server")


def new_replica(**settings: Any) -> Replica:
    transport: Any = NoTransport()
    return Replica(SERVER, transport, "one", tour.Settings(**settings))


# ---- the limiter and the queue


@pytest.mark.parametrize(
    ("limiter", "delays"),
    [
        ("exponential", [0.5, 1.0, 2.0, 4.0, 8.0]),
        ("fast-slow", [0.5, 0.5, 0.5, 5.0, 5.0]),
        ("default", [0.5, 1.0, 2.0, 4.0, 8.0]),
    ],
)
def test_the_delays_of_a_limiter_begin_with_the_base_delay(limiter: str, delays: list[float]) -> None:
    found = replica._new_limiter(tour.Settings(limiter=limiter, base_delay=0.5))
    assert [found.when("a") for _ in delays] == delays and found.num_requeues("a") == 5
    assert found.when("b") == 0.5


def test_an_exponential_delay_ends_at_a_thousand_seconds() -> None:
    limiter = replica._new_limiter(tour.Settings(base_delay=999.0))
    assert [limiter.when("a") for _ in range(3)] == [999.0, 1000.0, 1000.0]


def test_the_default_limiter_gives_a_hundred_at_once_and_ten_a_second() -> None:
    with synctest.bubble():
        limiter = replica._new_limiter(tour.Settings(limiter="default", base_delay=0.001))
        delays = [limiter.when(str(number)) for number in range(103)]
    assert delays[:100] == [0.001] * 100
    assert delays[100:] == pytest.approx([0.1, 0.2, 0.3], abs=0.01)


@pytest.mark.parametrize(("name", "has_priorities"), [("workqueue", False), ("PriorityQueue", True)])
def test_the_queue_is_of_the_settings_kind_with_its_limiter(name: str, has_priorities: bool) -> None:
    queue = new_queue(tour.Settings(queue=name, base_delay=500.0))
    assert hasattr(queue, "add_with_opts") == has_priorities
    queue.add_rate_limited("a")
    assert queue.num_requeues("a") == 1 and queue.len() == 0
    queue.shut_down()


# ---- the parts of a replica


def test_a_client_reaches_the_server_by_its_transport_without_a_limit() -> None:
    transport: Any = NoTransport()
    config = new_config(SERVER, transport)
    assert (config.host, config.bearer_token, config.qps) == ("http://server.test", "a-token", -1)
    assert config.transport is transport


@pytest.mark.parametrize("handlers", [1, 2])
def test_the_second_handler_is_the_bystander(handlers: int) -> None:
    one = new_replica(handlers=handlers)
    informer: Any = one.informers[0]
    names = [each.name() for each in informer.parts().handlers]
    assert len(names) == handlers and names[0].startswith("shouter.Enqueuer")
    assert names[1:] == ["shouter.Bystander"][: handlers - 1]
    one.close()


@pytest.mark.parametrize(
    ("words", "names"), [(False, {"namespace", "initial"}), (True, {"namespace", "initial", "words"})]
)
def test_the_cache_has_the_settings_indices(words: bool, names: set[str]) -> None:
    one = new_replica(words=words)
    indexer = one.informers[0].get_indexer()
    assert set(indexer.get_indexers()) == names
    obj = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="apple", namespace="default"), data={"text": "red  round"})
    found = {name: list(index(obj)) for name, index in indexer.get_indexers().items()}
    expected = {"namespace": ["default"], "initial": ["a"], "words": ["red", "round"]}
    assert found == {name: expected[name] for name in names}
    one.close()


def test_a_list_that_cannot_stream_has_the_functions_of_the_other() -> None:
    inner: Any = SimpleNamespace(list_with_context=1, watch_with_context=2, list=3, watch=4)
    ordinary = OrdinaryList(inner)
    functions: Any = (ordinary.list_with_context, ordinary.watch_with_context, ordinary.list, ordinary.watch)
    assert functions == (1, 2, 3, 4) and ordinary.is_watch_list_semantics_un_supported() is True


@pytest.mark.parametrize("events", [False, True])
def test_events_are_recorded_if_the_settings_say_so_and_sooner_dropped(events: bool) -> None:
    one = new_replica(events=events)
    broadcaster: Any = one._broadcaster
    assert (broadcaster is not None) == (one._new_recorder() is not None) == events
    if events:
        assert (broadcaster._options.max_events, broadcaster._options.burst_size) == (4, 8)
    one.close()


def test_an_elector_has_the_durations_of_kubernetes_components() -> None:
    one = new_replica()
    callbacks = leaderelection.LeaderCallbacks(on_started_leading=lambda ctx: None, on_stopped_leading=lambda: None)
    elector = one.new_elector(callbacks)
    config: Any = elector._config
    assert (config.lease_duration, config.renew_deadline, config.retry_period) == (15.0, 10.0, 2.0)
    assert elector.identity() == "one" and config.callbacks is callbacks
    assert "default/shouter" in config.lock.describe()
    one.close()


def test_a_killed_replica_is_cut_off_and_asked_to_stop() -> None:
    one = new_replica()
    one.bystander.block()
    one.trouble.hang()
    assert not one.is_killed and one.ctx.err() is None and one.wire.state() == "up"
    one.stop()
    assert one.ctx.err() is not None and not one.is_killed and one.wire.state() == "up"
    one.bystander.on_add(None, False)  # neither blocks any more
    assert one.trouble.get_by_key("default/none") == (None, False)
    one.kill()
    assert one.is_killed and one.wire.state() != "up"
    one.close()
    assert one.queue.shutting_down()


# ---- faults


def blocks(call: Any, let_go: Any) -> bool:
    """Report whether the call blocks until `let_go`."""
    done = threading.Event()

    def run() -> None:
        call()
        done.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    waited = not done.wait(0.05)
    let_go()
    thread.join(PATIENCE)
    return waited and done.is_set()


CALLS: list[Any] = [
    lambda each: each.on_add(None, False),
    lambda each: each.on_update(None, None),
    lambda each: each.on_delete(None),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_bystander_raises_so_often_and_blocks_until_it_is_let_go(call: Any) -> None:
    bystander = Bystander("program")
    assert bystander.handler_name() == "program.Bystander" and Bystander().handler_name() == "shouter.Bystander"
    call(bystander)
    bystander.fail(1)
    bystander.fail(1)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="this handler was told to fail"):
            call(bystander)
    call(bystander)
    bystander.block()
    assert blocks(lambda: call(bystander), bystander.let_go)
    call(bystander)


def test_a_read_raises_so_often_and_hangs_until_it_is_let_go() -> None:
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {})
    obj = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="apple", namespace="default"))
    indexer.add(obj)
    trouble = Trouble(indexer)
    trouble.fail(1)
    trouble.fail(1)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="this worker was told to fail"):
            trouble.get_by_key("default/apple")
    assert trouble.get_by_key("default/apple") == (obj, True)
    trouble.hang()
    assert blocks(lambda: trouble.get_by_key("default/apple"), trouble.let_go)
    assert trouble.get_by_key("default/none") == (None, False)
