"""The low-level controller and the informers made of it. Go: controller_test.go."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context, features, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import controller as controller_module
from clientgo.tools.cache import testing as framework
from clientgo.tools.cache.notifications import AddNotification, Notify, notify_each

KEY = cache.deletion_handling_meta_namespace_key_func
BOTH_QUEUES = pytest.mark.parametrize("in_order", [True, False], ids=["RealFIFO", "DeltaFIFO"])
BOTH_EVENTS = pytest.mark.parametrize("atomic", [True, False], ids=["atomic", "single"])


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


def pod(name: str, rv: str = "", **labels: str) -> corev1.Pod:
    meta = metav1.ObjectMeta(name=name, namespace="default", resource_version=rv, labels=labels)
    return corev1.Pod(metadata=meta)


@contextmanager
def fake_source() -> Iterator[framework.FakeControllerSource]:
    source = framework.new_fake_controller_source()
    try:
        yield source
    finally:
        source.shutdown()


@contextmanager
def running(controller: cache.Controller) -> Iterator[None]:
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=controller.run_with_context, args=(ctx,), name="controller")
    thread.start()
    try:
        yield
    finally:
        cancel()
        thread.join()


def notify(handler: cache.ResourceEventHandler) -> Notify:
    return notify_each(klog.background(), handler)


class Recorder:
    """A handler that records its calls, and the store's objects at each call."""

    def __init__(self, store: cache.Store | None = None) -> None:
        self.store = store
        self.notified: list[tuple[str, str, str]] = []
        self.initial: list[bool] = []

    def _note(self, action: str, obj: Any) -> None:
        if isinstance(obj, cache.DeletedFinalStateUnknown):
            obj = obj.obj
        stored = ""
        if self.store is not None:
            found, exists = self.store.get_by_key(KEY(obj))
            stored = found.get_resource_version() if exists else ""
        self.notified.append((action, obj.get_name(), stored if self.store is not None else obj.get_resource_version()))

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self._note("add", obj)
        self.initial.append(is_in_initial_list)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._note("update", new_obj)

    def on_delete(self, obj: Any) -> None:
        self._note("delete", obj)

    def take(self) -> list[tuple[str, str, str]]:
        notified, self.notified = self.notified, []
        return notified


@BOTH_QUEUES
def test_a_hand_built_controller(in_order: bool) -> None:
    """Everything that appears is deleted at the source, until that is empty.

    Go: Example
    """
    with synctest.bubble() as bubble, fake_source() as source:
        downstream = cache.new_store(KEY)
        fifo: cache.Queue
        if in_order:
            fifo = cache.new_real_fifo(cache.meta_namespace_key_func, downstream, None)
        else:
            fifo = cache.new_delta_fifo_with_options(
                cache.DeltaFIFOOptions(known_objects=downstream, emit_delta_type_replaced=True)
            )
        deleted: list[str] = []

        def process(deltas: Any, is_in_initial_list: bool) -> None:
            newest = deltas.newest()
            if newest.type == cache.DeltaType.DELETED:
                downstream.delete(newest.object)
                deleted.append(KEY(newest.object))
            else:
                downstream.add(newest.object)
                source.delete(newest.object)

        config = cache.Config(
            queue=fifo, lister_watcher=source, object_type=corev1.Pod(), full_resync_period=0.0, process=process
        )
        controller = cache.new(config)
        assert not controller.has_synced()
        with running(controller):
            for name in ("a-hello", "b-controller", "c-framework"):
                source.add(pod(name))
            bubble.wait()
            assert deleted == ["default/a-hello", "default/b-controller", "default/c-framework"]
            assert downstream.list() == []
            assert controller.has_synced()
            assert controller.last_sync_resource_version() == "6"
            assert controller.last_contact() is not None


def test_nothing_lacking_in_a_part_of_the_first_list_is_not_yet_synced() -> None:
    failures = [cache.Failure("default/a", pod("a"), ValueError("not yet"))]
    states: list[tuple[list[str], bool]] = []

    def process(obj: Any, is_in_initial_list: bool) -> None:
        states.append(([*controller.refused()], controller.has_synced()))
        if failures:
            raise cache.ProcessError("cannot", [failures.pop()])

    with synctest.bubble() as bubble, fake_source() as source:
        fifo = cache.new_real_fifo(KEY, cache.new_store(KEY), None)
        controller = cache.new(cache.Config(queue=fifo, lister_watcher=source, process=process))
        fifo.replace([pod("a"), pod("a"), pod("b")], "1")
        with running(controller):
            bubble.sleep(0.1)  # errors are logged no faster than one a millisecond
            assert states[:3] == [([], False), (["default/a"], False), ([], False)]
            assert controller.has_synced()


@BOTH_QUEUES
def test_an_informer_for_one_handler(in_order: bool) -> None:
    """Go: ExampleNewInformer"""
    with synctest.bubble() as bubble, fake_source() as source:
        deleted: list[str] = []
        store, controller = cache.new_informer_with_options(
            cache.InformerOptions(
                lister_watcher=source,
                object_type=corev1.Pod(),
                handler=cache.ResourceEventHandlerFuncs(
                    add_func=source.delete, delete_func=lambda obj: deleted.append(KEY(obj))
                ),
                in_order=in_order,
            )
        )
        with running(controller):
            for name in ("a", "b", "c"):
                source.add(pod(name))
            bubble.wait()
            assert sorted(deleted) == ["default/a", "default/b", "default/c"]
            assert store.list() == []


@BOTH_QUEUES
def test_a_controller_survives_a_hammering(in_order: bool) -> None:
    """Go: TestHammerController"""
    with synctest.bubble() as bubble, fake_source() as source:
        recorder = Recorder()
        store, controller = cache.new_informer_with_options(
            cache.InformerOptions(
                lister_watcher=source, object_type=corev1.Pod, handler=recorder, resync_period=0.1, in_order=in_order
            )
        )
        assert not controller.has_synced()

        def hammer(seed: int) -> None:
            choose = random.Random(seed)
            names: set[str] = set()
            for _ in range(50):
                name = choose.choice("abcdef") + str(seed)
                if name not in names:
                    names.add(name)
                    source.add(pod(name))
                elif choose.random() < 0.5:
                    source.modify(pod(name))
                else:
                    names.remove(name)
                    source.delete(pod(name))

        with running(controller):
            bubble.wait()
            assert controller.has_synced()
            threads = [threading.Thread(target=hammer, args=(seed,)) for seed in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            bubble.sleep(1.0)
            in_source = {obj.get_name(): obj.get_resource_version() for obj in source.items.values()}
            assert {obj.get_name(): obj.get_resource_version() for obj in store.list()} == in_source


@BOTH_QUEUES
def test_only_possible_transitions_are_notified(in_order: bool) -> None:
    """Go: TestUpdate"""
    with synctest.bubble() as bubble, fake_source() as source:
        transitions: set[tuple[str, str]] = set()
        deleted: list[str] = []

        def label(obj: Any) -> str:
            return str(obj.get_labels()["check"])

        def on_update(old: Any, new: Any) -> None:
            transitions.add((label(old), label(new)))
            if label(new) == "to":
                source.delete(new)

        _, controller = cache.new_informer_with_options(
            cache.InformerOptions(
                lister_watcher=source,
                object_type=corev1.Pod(),
                handler=cache.ResourceEventHandlerFuncs(
                    update_func=on_update, delete_func=lambda obj: deleted.append(obj.get_name())
                ),
                in_order=in_order,
            )
        )
        with running(controller):
            bubble.wait()
            for i in range(20):
                source.add(pod(f"p{i}", check="from"))
                source.modify(pod(f"p{i}", check="to"))
                bubble.wait()
        assert transitions <= {("from", "to"), ("to", "to"), ("from", "from")}
        assert sorted(deleted) == sorted(f"p{i}" for i in range(20))


@BOTH_QUEUES
def test_a_failing_handler_is_logged_and_hears_the_rest(in_order: bool, caplog: pytest.LogCaptureFixture) -> None:
    with synctest.bubble() as bubble, fake_source() as source:
        notified: list[str] = []

        def on_add(obj: Any) -> None:
            if obj.get_name() == "bad":
                raise ValueError("handler bug")
            notified.append(obj.get_name())

        store, controller = cache.new_informer_with_options(
            cache.InformerOptions(
                lister_watcher=source,
                handler=cache.ResourceEventHandlerFuncs(add_func=on_add),
                in_order=in_order,
            )
        )
        for name in ("a", "bad", "b"):
            source.add(pod(name))
        with running(controller):
            bubble.wait()
            assert sorted(notified) == ["a", "b"]
            assert len(store.list()) == 3
    assert "handler bug" in caplog.text


def test_with_really_crash_a_handlers_exception_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Go: TestPanicPropagated"""
    monkeypatch.setattr(utilruntime.runtime, "REALLY_CRASH", True)
    handler = cache.ResourceEventHandlerFuncs(add_func=lambda obj: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        notify_each(klog.background(), handler)([AddNotification(pod("a"), False)])


@BOTH_QUEUES
def test_a_transforming_informer_shows_only_transformed_objects(in_order: bool) -> None:
    """Go: TestTransformingInformer"""
    with synctest.bubble() as bubble, fake_source() as source:
        recorder = Recorder()
        seen: list[Any] = []

        def transform(obj: Any) -> Any:
            seen.append(obj.get_name())
            assert not obj.frozen, "the transformer must be free to change the object"
            obj.set_labels({"transformed": "yes"})
            return obj

        store, controller = cache.new_informer_with_options(
            cache.InformerOptions(
                lister_watcher=source,
                object_type=corev1.Pod(),
                handler=recorder,
                transform=transform,
                in_order=in_order,
            )
        )
        source.add(pod("a"))
        source.modify(pod("a"))
        with running(controller):
            bubble.wait()
            assert recorder.take() == [("add", "a", "2")]
            source.modify(pod("a"))
            bubble.wait()
            assert recorder.take() == [("update", "a", "3")]
            assert [obj.get_labels() for obj in store.list()] == [{"transformed": "yes"}]
            source.delete(pod("a"))
            bubble.wait()
            assert recorder.take() == [("delete", "a", "4")]
        assert seen == ["a"] * 3


@BOTH_QUEUES
def test_a_resync_transforms_nothing_again(in_order: bool) -> None:
    """Go: TestTransformingInformerRace"""
    with synctest.bubble() as bubble, fake_source() as source:
        transformed: list[str] = []

        def transform(obj: Any) -> Any:
            transformed.append(obj.get_name())
            return obj

        recorder = Recorder()
        _, controller = cache.new_transforming_indexer_informer(source, corev1.Pod(), 0.1, recorder, {}, transform)
        if not in_order:
            _, controller = cache.new_informer_with_options(
                cache.InformerOptions(
                    lister_watcher=source, handler=recorder, resync_period=0.1, transform=transform, in_order=False
                )
            )
        source.add(pod("a"))
        with running(controller):
            bubble.sleep(1.05)
            assert recorder.take() == [("add", "a", "1")] + [("update", "a", "1")] * 10
        assert transformed == ["a"]


def test_the_deprecated_constructors_do_as_well() -> None:
    with synctest.bubble() as bubble, fake_source() as source:
        source.add(pod("a"))
        by_label = {"label": lambda obj: list(obj.get_labels())}
        made: list[tuple[cache.Store, cache.Controller]] = [
            cache.new_informer(source, corev1.Pod(), 0.0, Recorder()),
            cache.new_indexer_informer(source, corev1.Pod(), 0.0, Recorder(), by_label),
            cache.new_transforming_informer(source, corev1.Pod(), 0.0, Recorder(), None),
            cache.new_transforming_indexer_informer(source, corev1.Pod(), 0.0, Recorder(), by_label, None),
            cache.new_informer_with_options(
                cache.InformerOptions(lister_watcher=source, handler=Recorder(), indexers=by_label)
            ),
        ]
        stop = threading.Event()
        threads = [threading.Thread(target=controller.run, args=(stop,)) for _, controller in made]
        for thread in threads:
            thread.start()
        bubble.sleep(2.0)
        for store, controller in made:
            assert store.list_keys() == ["default/a"]
            assert controller.has_synced_checker().done().is_set()
        stop.set()
        for thread in threads:
            thread.join()
        bubble.sleep(2.0)


@BOTH_QUEUES
def test_the_checker_of_a_controller_has_the_name_of_its_queue(in_order: bool) -> None:
    """Go: Name of the queue's DoneChecker, which WaitFor logs."""
    options = cache.InformerOptions(
        lister_watcher=cache.ListWatch(), object_type=corev1.Pod(), handler=Recorder(), in_order=in_order
    )
    _, controller = cache.new_informer_with_options(options)
    queue, _ = controller.parts()  # type: ignore[attr-defined]
    assert controller.has_synced_checker().name() == queue.name()
    assert "*v1.Pod" in queue.name()


def test_a_tombstone_has_the_name_of_its_object() -> None:
    """Go: TestDeletionHandlingObjectToName"""
    obj = pod("a")
    tombstone = cache.DeletedFinalStateUnknown(KEY(obj), obj)
    assert cache.deletion_handling_object_to_name(tombstone) == cache.deletion_handling_object_to_name(obj)
    assert cache.deletion_handling_object_to_name(obj) == cache.ObjectName("default", "a")
    assert KEY(tombstone) == KEY(obj) == "default/a"


class FailingStore:
    """A store whose transactions fail for some objects."""

    def __init__(self, failing: set[int]) -> None:
        self._failing = failing

    def get(self, obj: Any) -> tuple[Any, bool]:
        return None, False

    def transaction(self, *txns: cache.Transaction) -> None:
        if self._failing:
            good = [i for i in range(len(txns)) if i not in self._failing]
            raise cache.TransactionError(good, len(txns), [Exception("fail")])


@pytest.mark.parametrize(
    ("count", "failing", "notified", "message"),
    [
        # Go: TestProcessDeltasInBatch/all transaction succeeding should works
        (1, set(), ["p0"], None),
        # Go: TestProcessDeltasInBatch/all transaction failing should not trigger listener
        (1, {0}, [], r"failed to execute \(1/1\)"),
        # Go: TestProcessDeltasInBatch/partial transaction failing should only trigger successful events to listener #1
        (2, {1}, ["p0"], r"failed to execute \(1/2\)"),
        # Go: TestProcessDeltasInBatch/partial transaction failing should only trigger successful events to listener #2
        (3, {1}, ["p0", "p2"], r"failed to execute \(1/3\)"),
    ],
)
def test_a_batch_notifies_only_of_stored_objects(
    count: int, failing: set[int], notified: list[str], message: str | None
) -> None:
    """Go: TestProcessDeltasInBatch"""
    recorder = Recorder()
    store: Any = FailingStore(failing)
    deltas = [cache.Delta(cache.DeltaType.ADDED, pod(f"p{i}")) for i in range(count)]

    def process() -> None:
        controller_module.process_deltas_in_batch(klog.background(), notify(recorder), store, deltas, True, KEY)

    if message is None:
        process()
    else:
        with pytest.raises(RuntimeError, match=message):
            process()
    assert [name for _, name, _ in recorder.notified] == notified


def test_an_object_without_a_key_hides_no_other_object() -> None:
    store = cache.new_store(KEY)
    store.add(pod("a", "1"))
    recorder = Recorder()
    deltas = [cache.Delta(cache.DeltaType.UPDATED, "no object"), cache.Delta(cache.DeltaType.ADDED, pod("a", "2"))]
    with pytest.raises(RuntimeError, match=r"failed to execute \(1/2\)"):
        controller_module.process_deltas_in_batch(klog.background(), notify(recorder), store, deltas, False, KEY)
    assert recorder.notified == [("update", "a", "2")]


def test_what_a_batch_stores_is_read_only_from_then_on() -> None:
    added, gone = pod("a", "1"), pod("b", "2")
    tombstone = cache.DeletedFinalStateUnknown("ns/b", gone)
    deltas = [cache.Delta(cache.DeltaType.ADDED, added), cache.Delta(cache.DeltaType.DELETED, tombstone)]
    store = cache.new_store(KEY)
    controller_module.process_deltas_in_batch(klog.background(), notify(Recorder()), store, deltas, False, KEY)
    assert added.frozen
    assert gone.frozen


def test_what_is_known_of_a_batch_is_looked_up_at_once_where_the_store_can() -> None:
    store: Any = cache.new_store(KEY)
    store.add(pod("a", "1"))

    written: list[Any] = []

    class Looking:
        """With what a batch needs alone."""

        get_all = store.get_all

        def transaction(self, *txns: Any) -> None:
            written.extend((txn.type, txn.object.name) for txn in txns)
            store.transaction(*txns)

    recorder = Recorder()
    looking: Any = Looking()
    deltas = [
        cache.Delta(cache.DeltaType.UPDATED, pod("a", "2")),
        cache.Delta(cache.DeltaType.ADDED, pod("b", "3")),
        cache.Delta(cache.DeltaType.DELETED, pod("c", "4")),
    ]
    controller_module.process_deltas_in_batch(klog.background(), notify(recorder), looking, deltas, False, KEY)
    assert recorder.notified == [("update", "a", "2"), ("add", "b", "3"), ("delete", "c", "4")]
    kinds = cache.TransactionType
    assert written == [(kinds.UPDATE, "a"), (kinds.ADD, "b"), (kinds.DELETE, "c")]


def test_a_batch_takes_no_delta_about_everything_and_a_store_without_transactions_does_too() -> None:
    store = cache.new_store(KEY)
    recorder = Recorder()
    everything = [cache.Delta(cache.DeltaType.SYNC_ALL, cache.SyncAllInfo())]
    with pytest.raises(ValueError, match="SyncAll is not supported in batch"):
        controller_module.process_deltas_in_batch(klog.background(), notify(recorder), store, everything, True, KEY)

    class Plain:
        """Without a method `transaction`."""

        def __init__(self) -> None:
            for name in ("add", "update", "delete", "get", "list"):
                setattr(self, name, getattr(store, name))

    plain: Any = Plain()
    deltas = [
        cache.Delta(cache.DeltaType.ADDED, pod("a", "1")),
        cache.Delta(cache.DeltaType.ADDED, "no object"),
        cache.Delta(cache.DeltaType.UPDATED, pod("a", "2")),
        cache.Delta(cache.DeltaType.DELETED, pod("a", "3")),
    ]
    with pytest.raises(RuntimeError, match="unexpected error when handling deltas"):
        controller_module.process_deltas_in_batch(klog.background(), notify(recorder), plain, deltas, True, KEY)
    assert recorder.notified == [("add", "a", "1"), ("update", "a", "2"), ("delete", "a", "3")]


@pytest.mark.parametrize("kind", [cache.DeltaType.REPLACED_ALL, cache.DeltaType.SYNC_ALL, cache.DeltaType.BOOKMARK])
def test_a_delta_about_everything_must_carry_its_information(kind: cache.DeltaType) -> None:
    deltas = cache.Deltas((cache.Delta(kind, pod("a")),))
    with pytest.raises(TypeError, match="did not contain"):
        controller_module.process_deltas(klog.background(), notify(Recorder()), cache.new_store(KEY), deltas, True, KEY)


@BOTH_EVENTS
@pytest.mark.parametrize(
    ("known", "listed", "notified"),
    [
        # Go: TestReplaceEvents/Create with no initial objects [in testReplaceEvents]
        ([], [("pod-1", "1")], [("add", "pod-1", "1")]),
        # Go: TestReplaceEvents/Delete all objects [in testReplaceEvents]
        ([("pod-1", "1"), ("pod-2", "2")], [], [("delete", "pod-1", ""), ("delete", "pod-2", "")]),
        # Go: TestReplaceEvents/Create, update, delete [in testReplaceEvents]
        (
            [("gone", "1"), ("kept", "2")],
            [("kept", "3"), ("new", "4")],
            [("delete", "gone", ""), ("update", "kept", "3"), ("add", "new", "4")],
        ),
    ],
)
def test_a_replace_notifies_alike_atomic_or_not(
    atomic: bool, known: list[tuple[str, str]], listed: list[tuple[str, str]], notified: list[tuple[str, str, str]]
) -> None:
    """At each call the store contains the notified state.

    Go: TestReplaceEvents
    """
    store = cache.new_store(KEY)
    recorder = Recorder(store)
    deliver = notify(recorder)
    fifo = cache.new_real_fifo_with_options(
        cache.RealFIFOOptions(atomic_events=atomic, known_objects=None if atomic else store)
    )
    for name, rv in known:
        store.add(pod(name, rv))
    fifo.replace([pod(name, rv) for name, rv in listed], "10")

    def process(deltas: Any, is_in_initial_list: bool) -> None:
        controller_module.process_deltas(klog.background(), deliver, store, deltas, is_in_initial_list, KEY)

    def process_batch(deltas: Any, is_in_initial_list: bool) -> None:
        controller_module.process_deltas_in_batch(
            klog.background(), deliver, store, deltas, is_in_initial_list, KEY
        )

    fifo.close()
    with pytest.raises(cache.ErrFIFOClosed):
        while True:
            fifo.pop_batch(process_batch, process)
    assert recorder.notified == notified
    assert sorted(obj.get_name() for obj in store.list()) == sorted(name for name, _ in listed)


@BOTH_EVENTS
def test_a_dropped_watch_is_made_up_for_by_the_next_list(atomic: bool) -> None:
    """Go: TestResetWatch"""
    with (
        set_feature_during_test(features.ATOMIC_FIFO, atomic),
        set_feature_during_test(features.UNLOCK_WHILE_PROCESSING_FIFO, atomic),
        synctest.bubble() as bubble,
        fake_source() as source,
    ):
        recorder = Recorder()
        _, controller = cache.new_informer(source, corev1.Pod(), 0.0, recorder)
        source.add(pod("a"))
        with running(controller):
            bubble.wait()
            assert recorder.take() == [("add", "a", "1")]
            source.modify_drop_watch(pod("a"))
            source.add_drop_watch(pod("b"))
            source.reset_watch()
            bubble.sleep(10.0)
            assert sorted(recorder.take()) == [("add", "b", "3"), ("update", "a", "2")]
            assert recorder.initial == [True, False]


def test_the_stores_version_follows_what_is_applied() -> None:
    """Go: TestStoreResourceVersion"""
    with synctest.bubble() as bubble, fake_source() as source:
        store, controller = cache.new_informer(source, corev1.Pod(), 0.0, Recorder())
        source.add(pod("a"))
        with running(controller):
            bubble.wait()
            assert store.last_store_sync_resource_version() == "1"
            source.modify(pod("a"))
            bubble.wait()
            assert store.last_store_sync_resource_version() == "2"
            source.delete(pod("a"))
            bubble.wait()
            assert store.last_store_sync_resource_version() == "3"


def test_objects_without_metadata_leave_the_stores_version_at_the_list() -> None:
    """Go: TestStoreResourceVersionWithNonMetaTransform"""
    store = cache.new_store(lambda obj: str(obj))
    deltas = cache.Deltas((cache.Delta(cache.DeltaType.REPLACED_ALL, cache.ReplacedAllInfo("10", ["a"])),))
    controller_module.process_deltas(klog.background(), notify(Recorder()), store, deltas[:0], True, str)
    ignore = cache.ResourceEventHandlerFuncs()
    controller_module.process_deltas(klog.background(), notify(ignore), store, deltas, True, str)
    assert store.last_store_sync_resource_version() == "10"
    changed = cache.Deltas((cache.Delta(cache.DeltaType.UPDATED, "a"), cache.Delta(cache.DeltaType.ADDED, "b")))
    controller_module.process_deltas(klog.background(), notify(ignore), store, changed, True, str)
    assert store.last_store_sync_resource_version() == "10"
    relisted = cache.Deltas((cache.Delta(cache.DeltaType.REPLACED_ALL, cache.ReplacedAllInfo("20", ["b"])),))
    controller_module.process_deltas(klog.background(), notify(ignore), store, relisted, True, str)
    assert store.last_store_sync_resource_version() == "20"


# --- Beyond Go's tests ----------------------------------------------------------------------------------------------


def test_cached_objects_are_read_only() -> None:
    store = cache.new_store(KEY)
    obj = pod("a", "1")
    deltas = cache.Deltas((cache.Delta(cache.DeltaType.ADDED, obj),))
    controller_module.process_deltas(klog.background(), notify(Recorder()), store, deltas, True, KEY)
    (cached,) = store.list()
    with pytest.raises(runtime.ReadOnlyError, match="deep_copy"):
        cached.metadata.labels["a"] = "b"
    cached.deep_copy().metadata.labels["a"] = "b"


def test_what_a_process_function_raises_is_reported_and_the_next_item_follows(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with synctest.bubble() as bubble, fake_source() as source:
        processed: list[int] = []

        def process(obj: Any, is_in_initial_list: bool) -> None:
            processed.append(1)
            raise ValueError("cannot process")

        fifo = cache.new_real_fifo_with_options(cache.RealFIFOOptions(atomic_events=True))
        with running(cache.new(cache.Config(queue=fifo, lister_watcher=source, process=process))):
            bubble.wait()
            source.add(pod("a"))
            source.add(pod("b"))
            bubble.sleep(1.0)
        assert len(processed) == 3
    assert sum('err="ValueError: cannot process"' in message for message in caplog.messages) == 3


@pytest.mark.parametrize("with_context", [True, False])
def test_the_watch_error_handler_is_called(with_context: bool) -> None:
    with synctest.bubble() as bubble, fake_source() as source:
        source.list_error = RuntimeError("no list")
        errors: list[str] = []
        handlers: dict[str, Callable[..., None]] = {}
        if with_context:
            handlers["watch_error_handler_with_context"] = lambda _, __, err: errors.append(str(err))
        else:
            handlers["watch_error_handler"] = lambda _, err: errors.append(str(err))
        fifo = cache.new_real_fifo_with_options(cache.RealFIFOOptions(atomic_events=True))
        config = cache.Config(queue=fifo, lister_watcher=source, process=lambda *_: None, **handlers)  # type: ignore[arg-type]
        with running(cache.new(config)):
            bubble.wait()
        assert errors == ["failed to list <unspecified>: no list"]


def test_handlers_of_functions_call_only_what_there_is() -> None:
    notified: list[Any] = []
    for handler in (
        cache.ResourceEventHandlerFuncs(),
        cache.ResourceEventHandlerDetailedFuncs(),
        cache.ResourceEventHandlerFuncs(
            add_func=lambda obj: notified.append(obj),
            update_func=lambda old, new: notified.append((old, new)),
            delete_func=lambda obj: notified.append([obj]),
        ),
        cache.ResourceEventHandlerDetailedFuncs(
            add_func=lambda obj, initial: notified.append((obj, initial)),
            update_func=lambda old, new: notified.append((old, new)),
            delete_func=lambda obj: notified.append([obj]),
        ),
    ):
        handler.on_add("a", True)
        handler.on_update("a", "b")
        handler.on_delete("b")
    assert notified == ["a", ("a", "b"), ["b"], ("a", True), ("a", "b"), ["b"]]


def test_a_filter_turns_updates_into_additions_and_deletions() -> None:
    recorder = Recorder()
    handler = cache.FilteringResourceEventHandler(lambda obj: "pass" in obj.get_labels(), recorder)
    passing, other = pod("a", "1", **{"pass": "yes"}), pod("a", "2")
    handler.on_add(other, True)
    handler.on_add(passing, True)
    handler.on_update(other, other)
    handler.on_update(passing, passing)
    handler.on_update(other, passing)
    handler.on_update(passing, other)
    handler.on_delete(other)
    handler.on_delete(passing)
    assert [action for action, _, _ in recorder.notified] == ["add", "update", "add", "delete", "delete"]
    assert recorder.initial == [True, False]


def test_no_thread_of_a_controller_keeps_the_interpreter_alive() -> None:
    """Outside of a bubble, which makes every thread a daemon."""
    with fake_source() as source:
        source.add(pod("a"))
        added = threading.Event()
        handler = cache.ResourceEventHandlerFuncs(add_func=lambda obj: added.set())
        _, controller = cache.new_informer(source, corev1.Pod(), 0.0, handler)
        before = set(threading.enumerate())
        with running(controller):
            assert added.wait(PATIENCE)
            started = {thread.name: thread.daemon for thread in set(threading.enumerate()) - before}
    own = {name: daemon for name, daemon in started.items() if name.startswith("reflector ") or "closer" in name}
    assert len(own) == 2
    assert all(own.values())


def test_a_config_has_gos_defaults() -> None:
    config = cache.Config(queue=None, lister_watcher=None, process=lambda deltas, initial: None)  # type: ignore[arg-type]
    assert (config.full_resync_period, config.min_watch_timeout, config.watch_list_page_size) == (0.0, 0.0, 0)
