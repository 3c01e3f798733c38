"""Looking at what the queues, the store and the listeners of an informer hold."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.tools.cache import testing as cachetesting


def config_map(name: str, version: str = "1") -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(namespace="ns", name=name, resource_version=version))


def shown(contents: cache.FIFOContents) -> list[tuple[str, list[str]]]:
    return [(key, [str(delta.type) for delta in deltas]) for key, deltas in contents.deltas]


def test_a_delta_fifo_shows_each_key_with_its_deltas_in_order():
    fifo = cache.new_delta_fifo_with_options(
        cache.DeltaFIFOOptions(known_objects=cache.new_store(cache.meta_namespace_key_func))
    )
    fifo.add(config_map("a"))
    fifo.add(config_map("b"))
    fifo.update(config_map("a", "2"))
    assert shown(fifo.contents()) == [("ns/a", ["Added", "Updated"]), ("ns/b", ["Added"])]
    assert fifo.contents().synced


def test_a_real_fifo_shows_every_delta_by_itself():
    options = cache.RealFIFOOptions(atomic_events=True, emit_delta_type_bookmark=True)
    fifo = cache.new_real_fifo_with_options(options)
    assert not fifo.contents().synced
    fifo.replace([config_map("a")], "1")
    fifo.update(config_map("a", "2"))
    fifo.bookmark("3")
    assert shown(fifo.contents()) == [("", ["ReplacedAll"]), ("ns/a", ["Updated"]), ("", ["Bookmark"])]
    assert fifo.contents().initial_left == 1


@pytest.mark.parametrize("in_order", [True, False])
def test_a_fifo_can_be_looked_at_while_a_batch_is_processed(in_order):
    store = cache.new_store(cache.meta_namespace_key_func)
    fifo: cache.RealFIFO | cache.DeltaFIFO
    if in_order:
        fifo = cache.new_real_fifo_with_options(cache.RealFIFOOptions(known_objects=store))
    else:
        fifo = cache.new_delta_fifo_with_options(cache.DeltaFIFOOptions(known_objects=store))
    fifo.add(config_map("a"))
    fifo.add(config_map("b"))
    seen = []
    fifo.pop(lambda deltas, initial: seen.append(fifo.contents()))  # under the lock
    assert [key for key, _ in seen[0].deltas] == ["ns/b"]


@pytest.mark.parametrize("kind", ["real", "delta"])
def test_of_a_long_fifo_the_first_can_be_seen_and_how_long_it_is(kind):
    store = cache.new_store(cache.meta_namespace_key_func)
    if kind == "real":
        fifo = cache.new_real_fifo_with_options(cache.RealFIFOOptions(known_objects=store))
    else:
        fifo = cache.new_delta_fifo_with_options(cache.DeltaFIFOOptions(known_objects=store))
    for name in "abcd":
        fifo.add(config_map(name))
    assert [key for key, _ in fifo.contents(2).deltas] == ["ns/a", "ns/b"]
    assert fifo.contents(2).length == fifo.contents().length == len(fifo.contents().deltas) == 4


def test_of_a_large_store_some_can_be_seen_and_how_much_there_is():
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {"namespace": cache.meta_namespace_index_func})
    for name in "abcd":
        indexer.add(config_map(name))
    contents = indexer.contents(3)
    assert len(contents.items) == 3 and contents.items.keys() < indexer.contents().items.keys()
    assert len(contents.indices["namespace"]["ns"]) == 3
    assert contents.counts == indexer.contents().counts == {"namespace": {"ns": 4}}


def test_a_store_shows_its_objects_and_the_tables_of_its_indexes():
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {"namespace": cache.meta_namespace_index_func})
    indexer.add(config_map("a"))
    indexer.add(config_map("b", "7"))
    contents = indexer.contents()
    assert indexer.size() == len(contents.items) > 0
    assert [*contents.items] == ["ns/a", "ns/b"]
    assert contents.indices == {"namespace": {"ns": ("ns/a", "ns/b")}}
    assert contents.resource_version == "7"
    indexer.delete(config_map("a"))
    assert [*contents.items] == ["ns/a", "ns/b"]


def test_a_registration_shows_current_and_pending_notifications():
    source = cachetesting.new_fake_controller_source()
    informer = cache.new_shared_informer(source, corev1.ConfigMap(), 0.0)
    entered, leave = threading.Event(), threading.Event()

    def hang(obj: object) -> None:
        entered.set()
        leave.wait()

    registration = informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=hang))
    stop = threading.Event()
    thread = threading.Thread(target=informer.run, args=(stop,), name="informer", daemon=True)
    thread.start()
    source.add(config_map("a"))
    entered.wait()
    source.add(config_map("b"))
    try:
        while not registration.contents().pending:  # the thread is in the handler, so it stays there
            stop.wait(0.01)
        contents = registration.contents()
        assert contents.delivering.new_obj.get_name() == "a"
        assert [each.new_obj.get_name() for each in contents.pending] == ["b"]
        assert contents.taken == () and not contents.closed
        assert registration.delivering() is contents.delivering and registration.waiting() == 2
    finally:
        leave.set()
        stop.set()
        source.shutdown()
        thread.join()
    assert registration.contents().closed


@pytest.mark.parametrize("kind", ["fifo", "delta", "real"])
def test_each_queue_counts_its_objects_and_deltas(kind: str) -> None:
    store = cache.new_store(cache.meta_namespace_key_func)
    fifo: Any = {
        "fifo": lambda: cache.new_fifo(cache.meta_namespace_key_func),
        "delta": lambda: cache.new_delta_fifo_with_options(cache.DeltaFIFOOptions(known_objects=store)),
        "real": lambda: cache.new_real_fifo_with_options(cache.RealFIFOOptions(known_objects=store)),
    }[kind]()
    fifo.replace([config_map("a"), config_map("b")], "1")
    fifo.update(config_map("a", "2"))
    entries, deltas = {"fifo": (2, 2), "delta": (2, 3), "real": (3, 3)}[kind]
    assert fifo.statistics() == cache.FIFOStatistics(entries, deltas, 2, False)
    fifo.pop(lambda *_: None)
    fifo.close()
    left = {"fifo": (1, 1), "delta": (1, 1), "real": (2, 2)}[kind]
    assert fifo.statistics() == cache.FIFOStatistics(*left, 1, True)


def test_a_store_shows_one_object_by_its_key() -> None:
    store: Any = cache.new_thread_safe_store({}, {})
    store.add("ns/a", config_map("a"))
    assert store.peek("ns/a") == config_map("a")
    assert store.peek("ns/b") is None
    assert store.size() == 1
    assert store.get_all(["ns/b", "ns/a"]) == [None, config_map("a")]


def test_a_controller_shows_its_queue_and_its_reflector_once_it_runs():
    source = cachetesting.new_fake_controller_source()
    options = cache.InformerOptions(
        lister_watcher=source,
        object_type=corev1.ConfigMap(),
        handler=cache.ResourceEventHandlerFuncs(),
        in_order=False,
    )
    _, controller = cache.new_informer_with_options(options)
    queue, reflector = controller.parts()
    assert isinstance(queue, cache.DeltaFIFO) and reflector is None
    queue.replace([config_map("a")], "1")
    assert shown(queue.contents()) == [("ns/a", ["Replaced"])], "as Go's newInformer sets emitDeltaTypeReplaced"
    stop = threading.Event()
    thread = threading.Thread(target=controller.run, args=(stop,), name="controller")
    thread.start()
    stop.set()
    thread.join()
    queue_again, reflector = controller.parts()
    assert queue_again is queue
    assert reflector.type_description() == "*v1.ConfigMap"
    source.shutdown()
