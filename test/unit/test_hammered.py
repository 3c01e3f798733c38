"""Objects that threads share keep their guarantees under concurrent use. See test/support/hammering.py.

Nothing here may rely on the GIL: `hack/test-pythons` runs it on a free-threaded Python too, where there is one.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import pytest
from hammering import ROUNDS, hammer
from invariants import check_invariants
from queueobjects import Item, key_of
from scripteddiscovery import discovering, group, legacy, resource, resources
from threadtools import eventually

from clientgo import context, informers, klog, snapshot
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.serializer.protobuf.encoding import encode_message
from clientgo.apimachinery.runtime.serializer.protobuf.message_source import message_source
from clientgo.apimachinery.runtime.serializer.protobuf.messages import message_of
from clientgo.apimachinery.util.cache import new_lru_expire_cache
from clientgo.discovery.cached.memory import new_mem_cache_client
from clientgo.golang.channel import Channel, Receive, Signal, select
from clientgo.klog import output
from clientgo.kubernetes import fake
from clientgo.tools import cache
from clientgo.tools.cache import testing as framework
from clientgo.util import flowcontrol, workqueue
from clientgo.util.flowcontrol import rate
from clientgo.utils import lru
from clientgo.utils.clock import REAL_CLOCK

WRITERS = range(3)
CTX = context.background()


def pod(name: str, colour: str = "red") -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="default", labels={"colour": colour}))


def of_each(job: Callable[[int, int], object]) -> list[Callable[[int], object]]:
    """Return the job once for each writer."""
    return [lambda number, writer=writer: job(writer, number) for writer in WRITERS]  # type: ignore[misc]


def test_what_an_index_gives_is_what_belongs_there() -> None:
    store: Any = cache.new_thread_safe_store({"colour": lambda obj: [obj[1]]}, {})
    colours = ["red", "green", "blue"]

    def write(writer: int, number: int) -> None:
        key, colour = f"{writer}/{number % 100}", colours[number % 3]
        if number % 4:
            store.update(key, (key, colour))
        else:
            store.delete(key)

    def read(number: int) -> None:
        colour = colours[number % 3]
        assert all(found == colour for _, found in store.by_index("colour", colour))
        assert len(store.list()) <= 300 and len(store.list_keys()) <= 300
        store.statistics()

    def look(number: int) -> None:
        contents = store.contents(number % 50 + 1)
        assert len(contents.items) <= number % 50 + 1
        assert all(key == obj[0] for key, obj in store.contents().items.items())

    hammer(*of_each(write), read, look)
    check_invariants(store)


def new_delta_fifo() -> Any:
    return cache.new_delta_fifo(key_of, None)


def new_real_fifo() -> Any:
    return cache.new_real_fifo_with_options(cache.RealFIFOOptions(key_function=key_of, atomic_events=True))


@pytest.mark.parametrize("new", [new_delta_fifo, new_real_fifo])
def test_a_fifo_loses_nothing_and_keeps_the_order_of_each_producer(new: Callable[[], Any]) -> None:
    fifo = new()
    notified: dict[str, list[int]] = {str(writer): [] for writer in WRITERS}

    def process(deltas: Any, is_in_initial_list: bool) -> None:
        for delta in deltas:
            notified[delta.object.name].append(delta.object.val)

    def consume(number: int) -> None:
        while fifo.contents(1).length:
            fifo.pop(process)

    def look(number: int) -> None:
        contents = fifo.contents()
        numbers = [delta.object.val for key, deltas in contents.deltas for delta in deltas if delta.object.name == "0"]
        assert numbers == sorted(numbers)
        assert fifo.contents(number % 3).length >= 0 and repr(fifo) and fifo.statistics().deltas >= 0

    hammer(*of_each(lambda writer, number: fifo.add(Item(str(writer), number))), consume, look)
    consume(0)
    check_invariants(fifo)
    fifo.close()
    assert notified == {str(writer): list(range(ROUNDS)) for writer in WRITERS}


def rate_limited() -> Any:
    limiter: Any = workqueue.new_typed_item_exponential_failure_rate_limiter(1e-6, 1e-4)
    return workqueue.new_typed_rate_limiting_queue(limiter)


@pytest.mark.parametrize("new", [workqueue.new_typed, rate_limited, workqueue.new_priority_queue])
def test_a_key_is_in_one_hand_and_its_last_add_is_never_lost(new: Callable[[], Any]) -> None:
    queue = new()
    items = [f"item {number}" for number in range(40)]
    wanted, done = dict.fromkeys(items, 0), dict.fromkeys(items, 0)
    held: set[str] = set()
    lock = threading.Lock()

    def add(writer: int, number: int) -> None:
        item = items[(writer + number) % len(items)]
        with lock:
            wanted[item] += 1
        if number % 7 == 0 and hasattr(queue, "add_rate_limited"):
            queue.add_rate_limited(item)
            queue.forget(item)
        queue.add(item)

    def work() -> None:
        while True:
            item, shutdown = queue.get()
            if shutdown:
                return
            with lock:
                assert item not in held
                held.add(item)
                version = wanted[item]
            with lock:
                done[item] = version
                held.remove(item)
            queue.done(item)

    def look(number: int) -> None:
        contents = queue.contents()
        assert contents.processing <= set(items) and contents.dirty <= set(items)
        assert queue.statistics().processing <= len(WRITERS)
        assert repr(queue) and queue.len() >= 0
        if hasattr(queue, "state_of"):
            queue.state_of(items[number % len(items)]), queue.processing()

    failed: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as err:
            failed.append(err)

    workers = [threading.Thread(target=guarded, name=f"worker {writer}") for writer in WRITERS]
    for worker in workers:
        worker.start()
    try:
        hammer(*of_each(add), look)
        eventually(lambda: failed or done == wanted, "all is done")
    finally:
        queue.shut_down()
        for worker in workers:
            worker.join()
    assert not failed, failed
    getattr(queue, "_check", lambda: None)()


def test_every_failure_is_counted_and_no_token_is_given_twice() -> None:
    items: Any = workqueue.new_typed_item_exponential_failure_rate_limiter(0.001, 1.0)
    bucket = rate.new_limiter(0.0, ROUNDS)
    backoff = flowcontrol.new_back_off(0.001, 1e9)
    given = [0 for _ in WRITERS]

    def count(writer: int, number: int) -> None:
        items.when("a")
        given[writer] += bucket.allow()
        backoff.next(str(number % 3), 0.0)
        backoff.gc()

    hammer(*of_each(count), lambda _: (items.failures(), repr(bucket), backoff.get("1")))
    assert items.num_requeues("a") == len(WRITERS) * ROUNDS
    assert sum(given) == ROUNDS
    check_invariants(bucket)


def test_a_channel_hands_over_each_value_once() -> None:
    channel: Channel[tuple[int, int]] = Channel(3)
    taken: list[Counter[tuple[int, int]]] = [Counter(), Counter()]

    def receive(into: Counter[tuple[int, int]]) -> None:
        stop = Signal()
        while (chosen := select([stop, Receive(channel)])).ok:
            into[chosen.value] += 1

    receivers = [threading.Thread(target=receive, args=(into,)) for into in taken]
    for receiver in receivers:
        receiver.start()
    hammer(*of_each(lambda writer, number: channel.send((writer, number))), lambda _: repr(channel))
    channel.close()
    for receiver in receivers:
        receiver.join()
    assert taken[0] + taken[1] == Counter((writer, number) for writer in WRITERS for number in range(ROUNDS))
    check_invariants(channel)


def test_a_signal_calls_back_once_for_several_setters() -> None:
    signals = [Signal() for _ in range(ROUNDS)]
    called = [deque[int]() for _ in signals]  # an append is one step

    def subscribe(writer: int, number: int) -> None:
        signals[number].add_done_callback(lambda: called[number].append(writer))

    hammer(*of_each(subscribe), *of_each(lambda writer, number: signals[number].set()))
    assert all(sorted(each) == list(WRITERS) for each in called)


def test_every_watcher_of_a_broadcaster_hears_all_in_one_order() -> None:
    broadcaster = watch.new_broadcaster(10, watch.FullChannelBehavior.WAIT_IF_CHANNEL_FULL)
    seen: list[list[Any]] = [[], []]
    readers = []
    for into in seen:
        watcher = broadcaster.watch()
        readers.append(
            threading.Thread(target=lambda w=watcher, i=into: i.extend(event.object for event in w.result_chan()))
        )
        readers[-1].start()

    def come_and_go(number: int) -> None:
        if number % 10 == 0:
            broadcaster.watch().stop()
        repr(broadcaster)

    hammer(*of_each(lambda writer, number: broadcaster.action("ADDED", (writer, number))), come_and_go)
    broadcaster.shutdown()
    for reader in readers:
        reader.join()
    assert seen[0] == seen[1] and len(seen[0]) == len(WRITERS) * ROUNDS
    assert all([n for w, n in seen[0] if w == writer] == list(range(ROUNDS)) for writer in WRITERS)
    check_invariants(broadcaster)


class VersionChecker:
    """A handler that knows what it was told of each object last."""

    def __init__(self) -> None:
        self.versions: dict[str, int] = {}

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        assert obj.get_name() not in self.versions
        self._see(obj)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._see(new_obj)

    def on_delete(self, obj: Any) -> None:
        del self.versions[obj.get_name()]

    def _see(self, obj: Any) -> None:
        version = int(obj.get_resource_version())
        assert version > self.versions.get(obj.get_name(), 0)
        self.versions[obj.get_name()] = version


def test_every_handler_gets_all_events_while_handlers_come_and_go() -> None:
    source = framework.new_fake_controller_source()
    informer: Any = cache.new_shared_index_informer(source, corev1.Pod(), 0.0, {})
    notified = VersionChecker()
    registration = informer.add_event_handler(notified)
    stop = Signal()
    running = threading.Thread(target=informer.run, args=(stop,), name="informer")
    running.start()
    alive: list[set[str]] = [set() for _ in WRITERS]

    def change(writer: int, number: int) -> None:
        name = f"{writer}-{number % 5}"
        if name not in alive[writer]:
            alive[writer].add(name)
            source.add(pod(name))
        elif number % 3:
            source.modify(pod(name, str(number)))
        else:
            alive[writer].remove(name)
            source.delete(pod(name))

    def join_and_leave(number: int) -> None:
        if number % 10 == 0:
            informer.remove_event_handler(informer.add_event_handler(VersionChecker()))

    def look(number: int) -> None:
        parts = informer.parts()
        for handler in parts.handlers:
            contents = handler.contents(number % 4 + 1)
            assert len(contents.pending) <= number % 4 + 1
            handler.contents(), handler.statistics(), handler.waiting(), handler.delivering()
        parts.indexer.contents(2), parts.fifo and parts.fifo.contents()
        assert repr(informer) and informer.get_store().list() is not None
        informer.last_sync_resource_version(), informer.last_contact(), informer.refused()

    try:
        hammer(*of_each(change), join_and_leave, look, rounds=ROUNDS // 2)
        names = set().union(*alive)
        versions = {obj.get_name(): int(obj.get_resource_version()) for obj in source.items.values()}
        assert versions.keys() == names
        eventually(lambda: notified.versions == versions or registration.statistics().failed, "the handler knows all")
        assert registration.statistics().failed == 0
        assert {obj.get_name() for obj in informer.get_store().list()} == names
        check_invariants(*informer.get_store().components())
    finally:
        stop.set()
        running.join()
        source.shutdown()


@pytest.mark.parametrize("again", range(max(2, ROUNDS // 100)))
def test_a_factory_that_many_start_and_stop_starts_each_informer_once(again: int) -> None:
    factory = informers.new_shared_informer_factory(fake.new_clientset(pod("a")), 0.0)
    ctx, cancel = context.with_cancel(CTX)

    def start(number: int) -> None:
        kinds = factory.core().v1()
        (kinds.pods, kinds.config_maps, kinds.secrets)[number % 3]().informer()
        factory.start_with_context(ctx)

    try:
        hammer(start, start, start, lambda _: factory.made(), rounds=6)
        assert all(factory.wait_for_cache_sync_with_context(ctx).synced.values())
        assert len(factory.made()) == 3
        assert [each.get_name() for each in factory.core().v1().pods().informer().get_store().list()] == ["a"]
    finally:
        cancel()
        factory.shutdown()


def test_a_line_of_the_log_stays_whole_while_the_settings_change() -> None:
    lines: deque[str] = deque()

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Keeping()
    handler.setFormatter(output.KlogFormatter())
    logger = logging.getLogger("clientgo")
    propagate, output_handler = logger.propagate, list(logger.handlers)
    logger.handlers[:] = [handler]
    logger.propagate = False

    def configure(number: int) -> None:
        output.configure(vmodule={"test_hammered": number % 2})

    try:
        hammer(
            *of_each(lambda writer, number: klog.background().info("whole", writer=writer, number=number)),
            lambda number: klog.v(1).info("detail", number=number),
            configure,
        )
        assert sum('] "whole" writer=' in line for line in lines) == len(WRITERS) * ROUNDS
        output.configure(vmodule={"test_hammered": 1})
        assert klog.v(1).enabled()
        output.configure(vmodule={})
        assert not klog.v(1).enabled()
    finally:
        output.configure(vmodule={})
        logger.propagate = propagate
        logger.handlers[:] = output_handler


def test_metrics_count_every_call() -> None:
    pytest.importorskip("prometheus_client")
    from clientgo.metrics import instruments

    counters = instruments.counter_vec("hammered_total", "Of the test.", ["writer"])
    all_together = instruments.Number()
    latency = instruments.Distribution([1.0, 2.0])

    def count(writer: int, number: int) -> None:
        counters.labels(str(number % 3)).inc()
        all_together.inc()
        latency.observe(number % 3 + 0.5)

    hammer(*of_each(count), lambda _: (all_together.value(), latency.buckets(), list(counters.collect())))
    total = len(WRITERS) * ROUNDS
    assert all_together.value() == total
    assert sum(counters.labels(value).value() for value in "012") == total
    buckets, _ = latency.buckets()
    assert buckets[-1][1] == total


def test_threads_that_decode_an_object_at_the_same_time_end_with_one_document() -> None:
    message = message_of(corev1.Pod)
    assert message is not None
    document = {
        "metadata": {"name": "a", "namespace": "default", "labels": {"colour": "red"}},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
    }
    data = encode_message(message, document)
    objects: list[Any] = []
    for _ in range(ROUNDS):
        pending = message_source(message, data)
        assert pending is not None
        objects.append(corev1.Pod.from_source(pending))
    documents: list[list[Any]] = [[] for _ in WRITERS]

    def read(writer: int, number: int) -> None:
        obj = objects[number]
        if (writer + number) % 3:
            assert obj.spec.node_name == "n" and obj.metadata.labels["colour"] == "red"
            assert [each.image for each in obj.spec.containers] == ["i"]
        assert obj.object_key() == "default/a"
        documents[writer].append(document_of(obj))

    hammer(*of_each(read), lambda number: objects[number].deep_copy())
    assert all(one is other is third for one, other, third in zip(*documents, strict=True))
    assert all(obj.spec.to_dict()["containers"][0]["image"] == "i" for obj in objects)


def test_a_thread_that_comes_too_late_to_decode_an_object_reads_its_document() -> None:
    message = message_of(corev1.Pod)
    assert message is not None
    source = message_source(message, encode_message(message, {"metadata": {"name": "a"}}))
    assert source is not None
    obj: Any = corev1.Pod.from_source(source)
    decoded = document_of(obj)
    # A thread that loaded the source before another thread replaced it by the document.
    assert source.document() is decoded and source.get("metadata") is decoded["metadata"]
    with pytest.raises(AttributeError):
        _ = obj.no_field


def test_the_fake_tracker_numbers_each_change_and_notifies_every_watch() -> None:
    client: Any = fake.new_clientset()
    pods = client.core_v1().pods("default")
    watching = pods.watch(CTX, metav1.ListOptions())
    rounds = ROUNDS // 5
    seen: list[tuple[str, str]] = []

    def read() -> None:
        seen.extend((event.type, event.object.get_name()) for event in watching.result_chan())

    reader = threading.Thread(target=read)
    reader.start()

    def change(writer: int, number: int) -> None:
        name = f"{writer}-{number}"
        pods.create(CTX, pod(name), metav1.CreateOptions())
        pods.update(CTX, pod(name, "blue"), metav1.UpdateOptions())
        assert pods.get(CTX, name, metav1.GetOptions()).get_labels() == {"colour": "blue"}
        pods.delete(CTX, name, metav1.DeleteOptions())

    hammer(*of_each(change), lambda _: (pods.list(CTX, metav1.ListOptions()), repr(client.tracker())), rounds=rounds)
    assert not pods.list(CTX, metav1.ListOptions()).items
    watching.stop()
    reader.join()
    for writer in WRITERS:
        own = [kind for kind, name in seen if name.startswith(f"{writer}-")]
        assert own == ["ADDED", "MODIFIED", "DELETED"] * rounds


def test_discovery_that_is_forgotten_while_others_read_is_never_half_there() -> None:
    documents = legacy(
        [group("apps", "v1")],
        [resources("v1", resource("pods", "Pod")), resources("apps/v1", resource("deployments", "Deployment"))],
    )
    with discovering(documents) as (client, _):
        cached = new_mem_cache_client(client)

        def read(writer: int, number: int) -> None:
            assert [each.name for each in cached.server_resources_for_group_version("v1").api_resources] == ["pods"]
            assert {each.name for each in cached.server_groups().groups} == {"", "apps"}
            repr(cached), cached.fresh()

        hammer(*of_each(read), lambda number: number % 5 or cached.invalidate(), rounds=ROUNDS // 10)


def test_caches_of_a_bounded_size_stay_within_it() -> None:
    recent, expiring = lru.new(5), new_lru_expire_cache(5)

    def use(writer: int, number: int) -> None:
        key = (writer * number) % 11
        recent.add(key, number)
        expiring.add(key, number, 60.0)
        recent.get(key), expiring.get(key), expiring.keys(), len(recent)
        if number % 9 == 0:
            recent.remove(key), recent.remove_oldest(), expiring.remove(key)

    hammer(*of_each(use))
    check_invariants(recent)
    check_invariants(expiring)


def test_timers_fire_once_or_are_stopped() -> None:
    fired = [deque[int]() for _ in WRITERS]
    stopped = [0 for _ in WRITERS]

    def use(writer: int, number: int) -> None:
        timer = REAL_CLOCK.after_func(1e-5 * (number % 3), lambda: fired[writer].append(number))
        stopped[writer] += number % 2 == 0 and timer.stop()

    rounds = ROUNDS // 5
    hammer(*of_each(use), rounds=rounds)
    for writer in WRITERS:
        eventually(lambda writer=writer: len(fired[writer]) + stopped[writer] == rounds, "all fired or were stopped")
        assert len(set(fired[writer])) == len(fired[writer])


def test_a_consistent_copy_is_from_one_moment() -> None:
    lock = threading.Lock()
    numbers: deque[int] = deque(range(50))
    shrinking: deque[int] = deque(range(ROUNDS))

    def rotate(number: int) -> None:
        with lock:
            numbers.append(numbers[-1] + 1)
            numbers.popleft()
        shrinking.popleft()

    def copy(number: int) -> None:
        seen = snapshot.consistent_copy(lambda: tuple(numbers), lock)
        assert seen == tuple(range(seen[0], seen[0] + len(seen))) and len(seen) in (50, 51)
        left = snapshot.first_items(shrinking, 7)
        assert len(left) <= 7 and sorted(left) == list(left)

    hammer(rotate, copy, copy)
