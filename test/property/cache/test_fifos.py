"""DeltaFIFO and RealFIFO between a server and a consumer that keeps a copy of what is there.

Two things are checked. The content of the queue is at every step what a plain model of it says: no delta is lost, each
key's deltas are in order, deletions are not doubled, tombstones are made for exactly what is gone. And whatever
happens, a consumer that applies all it is given ends with what the server has.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from invariants import check_invariants
from queueobjects import Item, ignore, key_of

from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import DeletedFinalStateUnknown, Delta, DeltaType

NAMES = st.sampled_from("abcd")


class Consumer:
    """A consumer that copies the objects of its deltas, and detects invalid deltas."""

    def __init__(self) -> None:
        self.objects: dict[str, Item] = {}

    def list_keys(self) -> list[str]:
        return list(self.objects)

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        return self.objects.get(key), key in self.objects

    def process(self, deltas: Sequence[Delta], is_in_initial_list: bool) -> None:
        assert deltas, "popped nothing"
        for delta in deltas:
            self.apply(delta)

    def apply(self, delta: Delta) -> None:
        if delta.type == DeltaType.REPLACED_ALL:
            self.objects = {obj.name: obj for obj in delta.object.objects}
        elif delta.type == DeltaType.DELETED:
            key = delta.object.key if isinstance(delta.object, DeletedFinalStateUnknown) else delta.object.name
            self.objects.pop(key, None)
        elif delta.type not in (DeltaType.SYNC_ALL, DeltaType.BOOKMARK):
            self.objects[delta.object.name] = delta.object


class PipelineMachine(RuleBasedStateMachine):
    """Machine that plays the server, the Reflector that watches it, and the consumer."""

    atomic = False

    def __init__(self) -> None:
        super().__init__()
        self.consumer = Consumer()
        self.server: dict[str, Item] = {}
        self.versions = 0
        # Whether the Reflector misses what happens at the server, until it lists anew.
        self.blind = True
        self.queue = self.new_queue()
        self.listed = False

    def new_queue(self) -> Any:
        raise NotImplementedError

    # What the model notes of each operation; the machines below keep their models in these.

    def model_change(self, type: DeltaType, obj: Item) -> None:
        raise NotImplementedError

    def model_replace(self, objs: list[Item]) -> None:
        raise NotImplementedError

    def model_resync(self) -> None:
        raise NotImplementedError

    # ---- server and Reflector

    @rule(name=NAMES)
    def write(self, name: str) -> None:
        """Create or change an object."""
        self.versions += 1
        existed = name in self.server
        obj = self.server[name] = Item(name, self.versions)
        if self.blind:
            return
        if existed:
            self.model_change(DeltaType.UPDATED, obj)
            self.queue.update(obj)
        else:
            self.model_change(DeltaType.ADDED, obj)
            self.queue.add(obj)

    @precondition(lambda self: self.server)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        obj = self.server.pop(data.draw(st.sampled_from(sorted(self.server))))
        if not self.blind:
            self.model_change(DeltaType.DELETED, obj)
            self.queue.delete(obj)

    @rule()
    def lose_the_watch(self) -> None:
        self.blind = True

    @rule()
    def relist(self) -> None:
        objs = list(self.server.values())
        self.model_replace(objs)
        self.queue.replace(objs, str(self.versions))
        self.blind = False
        self.listed = True

    @rule()
    def resync(self) -> None:
        self.model_resync()
        self.queue.resync()

    # ---- consumer

    @precondition(lambda self: self.waiting())
    @rule()
    def pop(self) -> None:
        self.model_pop(self.queue.pop(self.consumer.process))

    def waiting(self) -> bool:
        return self.queue.statistics().items > 0

    def model_pop(self, popped: Any) -> None:
        raise NotImplementedError

    @invariant()
    def the_queue_is_sound(self) -> None:
        check_invariants(self.queue)

    @invariant()
    def statistics_match_contents(self) -> None:
        statistics = self.queue.statistics()
        contents = self.queue.contents()
        assert statistics.items == contents.length == len(contents.deltas)
        assert statistics.deltas == sum(len(deltas) for _, deltas in contents.deltas)
        assert self.queue.has_synced() <= (statistics.initial_left == 0)
        assert not statistics.closed

    def teardown(self) -> None:
        """Check that the consumer finally has the objects that the Reflector saw."""
        while self.waiting():
            self.model_pop(self.queue.pop(self.consumer.process))
        if not self.blind:
            assert self.consumer.objects == self.server
        if self.listed:
            assert self.queue.has_synced()


class DeltaFIFOMachine(PipelineMachine):
    """The model: the deltas of each key, in the order in which the keys came."""

    def new_queue(self) -> cache.DeltaFIFO:
        self.model: dict[str, list[Delta]] = {}
        return cache.new_delta_fifo_with_options(
            cache.DeltaFIFOOptions(
                key_function=key_of, known_objects=self.consumer, emit_delta_type_replaced=True
            )
        )

    def model_append(self, key: str, delta: Delta) -> None:
        deltas = self.model.setdefault(key, [])
        if deltas and deltas[-1].type == delta.type == DeltaType.DELETED:
            if isinstance(deltas[-1].object, DeletedFinalStateUnknown):
                deltas[-1] = delta
            return
        deltas.append(delta)

    def model_change(self, type: DeltaType, obj: Item) -> None:
        known = obj.name in self.model or obj.name in self.consumer.objects
        if type != DeltaType.DELETED or known:
            self.model_append(obj.name, Delta(type, obj))

    def model_replace(self, objs: list[Item]) -> None:
        listed = {obj.name for obj in objs}
        for obj in objs:
            self.model_append(obj.name, Delta(DeltaType.REPLACED, obj))
        queued = {key: deltas[-1].object for key, deltas in self.model.items()}
        known = {key: obj for key, obj in self.consumer.objects.items() if key not in queued}
        for key, obj in {**queued, **known}.items():
            if key in listed:
                continue
            last = obj.obj if isinstance(obj, DeletedFinalStateUnknown) else obj
            self.model_append(key, Delta(DeltaType.DELETED, DeletedFinalStateUnknown(key, last)))

    def model_resync(self) -> None:
        for key, obj in self.consumer.objects.items():
            if key not in self.model:
                self.model_append(key, Delta(DeltaType.SYNC, obj))

    def model_pop(self, popped: Any) -> None:
        key = next(iter(self.model))
        assert popped == self.model.pop(key)

    @invariant()
    def contents_match_model(self) -> None:
        model = [(key, list(deltas)) for key, deltas in self.model.items()]
        assert [(key, list(deltas)) for key, deltas in self.queue.contents().deltas] == model


TestDeltaFIFO = DeltaFIFOMachine.TestCase


class RealFIFOMachine(PipelineMachine):
    """The model: all deltas, in the order in which they came."""

    def new_queue(self) -> cache.RealFIFO:
        self.model: list[Delta] = []
        queue = cache.new_real_fifo_with_options(self.options())
        queue._batch_size = 3
        return queue

    def options(self) -> cache.RealFIFOOptions:
        return cache.RealFIFOOptions(key_function=key_of, known_objects=self.consumer)

    def model_change(self, type: DeltaType, obj: Item) -> None:
        self.model.append(Delta(type, obj))

    def model_replace(self, objs: list[Item]) -> None:
        listed = {obj.name for obj in objs}
        last = {self.name_of(delta): delta for delta in self.model}
        for key, delta in last.items():
            if key not in listed and delta.type != DeltaType.DELETED:
                self.model.append(Delta(DeltaType.DELETED, DeletedFinalStateUnknown(key, delta.object)))
        for key, obj in self.consumer.objects.items():
            if key not in listed and key not in last:
                self.model.append(Delta(DeltaType.DELETED, DeletedFinalStateUnknown(key, obj)))
        self.model += [Delta(DeltaType.REPLACED, obj) for obj in objs]

    def model_resync(self) -> None:
        queued = {self.name_of(delta) for delta in self.model}
        self.model += [Delta(DeltaType.SYNC, obj) for key, obj in self.consumer.objects.items() if key not in queued]

    def name_of(self, delta: Delta) -> str:
        obj = delta.object
        return str(obj.key if isinstance(obj, DeletedFinalStateUnknown) else obj.name)

    def model_pop(self, popped: Any) -> None:
        assert popped == self.model[: len(popped)]
        del self.model[: len(popped)]

    @precondition(lambda self: self.waiting())
    @rule()
    def pop_batch(self) -> None:
        initial_left = self.queue._initial.left
        synced = self.queue.has_synced()
        batches: list[list[Delta]] = []

        def process(deltas: list[Delta], is_in_initial_list: bool) -> None:
            assert is_in_initial_list == (not synced)
            self.consumer.process(deltas, is_in_initial_list)
            batches.append(deltas)

        self.queue.pop_batch(process, process)
        [batch] = batches
        assert len(batch) <= self.queue._batch_size
        if initial_left:
            assert len(batch) <= initial_left
        if len(batch) > 1:
            names = [self.name_of(delta) for delta in batch]
            assert len(set(names)) == len(names)
        self.model_pop(batch)

    @invariant()
    def contents_match_model(self) -> None:
        assert [delta for _, deltas in self.queue.contents().deltas for delta in deltas] == self.model


TestRealFIFO = RealFIFOMachine.TestCase


class AtomicRealFIFOMachine(RealFIFOMachine):
    """Replaces and resyncs are one delta each; the lock is free while the consumer works."""

    def options(self) -> cache.RealFIFOOptions:
        return cache.RealFIFOOptions(
            key_function=key_of, atomic_events=True, unlock_while_processing=True, emit_delta_type_bookmark=True
        )

    def model_replace(self, objs: list[Item]) -> None:
        info = cache.ReplacedAllInfo(str(self.versions), list(objs))
        self.model.append(Delta(DeltaType.REPLACED_ALL, info))

    def model_resync(self) -> None:
        self.model.append(Delta(DeltaType.SYNC_ALL, cache.SyncAllInfo()))

    @rule()
    def bookmark(self) -> None:
        self.model.append(Delta(DeltaType.BOOKMARK, cache.BookmarkInfo(str(self.versions))))
        self.queue.bookmark(str(self.versions))


TestAtomicRealFIFO = AtomicRealFIFOMachine.TestCase


def new_delta_fifo() -> Any:
    return cache.new_delta_fifo_with_options(cache.DeltaFIFOOptions(key_function=key_of))


def new_real_fifo() -> Any:
    return cache.new_real_fifo_with_options(
        cache.RealFIFOOptions(key_function=key_of, atomic_events=True, unlock_while_processing=True)
    )


def new_fifo() -> Any:
    return cache.new_fifo(key_of)


@settings(max_examples=30)
@given(make=st.sampled_from([new_delta_fifo, new_real_fifo, new_fifo]), schedule=synctest.schedules())
def test_no_wake_up_is_lost(make: Any, schedule: synctest.Schedule) -> None:
    """However threads take turns, one consumer gets what two producers add, and the end when it comes."""

    def scenario() -> None:
        queue = make()
        got: list[str] = []

        def consume() -> None:
            while True:
                try:
                    popped = queue.pop(ignore)
                except cache.ErrFIFOClosed:
                    return
                got.extend([delta.object.name for delta in popped] if isinstance(popped, list) else [popped.name])

        def produce(prefix: str) -> None:
            for i in range(3):
                queue.add(Item(f"{prefix}{i}"))

        consumer = threading.Thread(target=consume, name="consumer")
        producers = [threading.Thread(target=produce, args=(prefix,), name=prefix) for prefix in "ab"]
        for thread in (consumer, *producers):
            thread.start()
        for thread in producers:
            thread.join()
        queue.close()
        consumer.join()
        for prefix in "ab":
            assert [name for name in got if name[0] == prefix] == [f"{prefix}{i}" for i in range(3)]

    synctest.run(scenario, schedule=schedule)
