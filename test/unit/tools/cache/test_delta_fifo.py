"""DeltaFIFO keeps all that happened to an object together, and loses none of it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from invariants import check_invariants
from queueobjects import Item, Known, deltas, errors_of_closed_pops, ignore, in_threads, join, key_of, pop, tombstone

from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import DeltaFIFO


def new(**options: Any) -> DeltaFIFO:
    return cache.new_delta_fifo_with_options(cache.DeltaFIFOOptions(key_function=key_of, **options))


def pop_newest(queue: DeltaFIFO) -> Any:
    return pop(queue)[-1].object


def pop_all(queue: DeltaFIFO) -> list[Any]:
    popped = []
    while queue.statistics().items:
        popped.append(pop(queue))
        check_invariants(queue)
    return popped


def test_every_value_comes_out_in_the_order_it_went_in() -> None:
    """Go: TestDeltaFIFO_basic"""
    queue = new()
    n = 500

    def produce(prefix: str) -> None:
        for i in range(n):
            queue.add(Item(f"{prefix}{i}", i))

    producers = in_threads([partial(produce, "a"), partial(produce, "b")])
    values: dict[str, list[int]] = {"a": [], "b": []}
    for _ in range(2 * n):
        item = pop_newest(queue)
        values[item.name[0]].append(item.val)
    join(producers)
    assert values == {"a": list(range(n)), "b": list(range(n))}


def test_replace_adds_to_a_queued_deletion() -> None:
    """An object that was deleted and made again must not be lost. Go: TestDeltaFIFO_replaceWithDeleteDeltaIn"""
    old, new_ = Item("foo", 1), Item("foo", 2)
    queue = new(known_objects=Known(old))
    queue.delete(old)
    queue.replace([new_], "")
    assert pop(queue) == deltas(("Deleted", old), ("Sync", new_))


FOO, FOO2 = Item("foo", 2), Item("foo", 3)


@pytest.mark.parametrize("known", [Known(), None], ids=["known objects", "no known objects"])
@pytest.mark.parametrize(
    ("operations", "replaced", "expected"),
    [
        pytest.param(
            [("add", FOO), ("replace", [])],
            False,
            deltas(("Added", FOO), ("Deleted", tombstone(FOO))),
            id="Added object should be deleted on Replace",
        ),
        pytest.param(
            [("add", FOO), ("replace", [FOO]), ("replace", [])],
            True,
            deltas(("Added", FOO), ("Replaced", FOO), ("Deleted", tombstone(FOO))),
            id="Replaced object should have only a single Delete",
        ),
        pytest.param(
            [("add", FOO), ("delete", FOO), ("replace", [])],
            False,
            deltas(("Added", FOO), ("Deleted", FOO)),
            id="Deleted object should have only a single Delete",
        ),
        pytest.param(
            [("add", FOO), ("replace", [FOO]), ("replace", [FOO]), ("replace", [])],
            False,
            deltas(("Added", FOO), ("Sync", FOO), ("Sync", FOO), ("Deleted", tombstone(FOO))),
            id="Synced objects should have a single delete",
        ),
        pytest.param(
            [("add", FOO), ("replace", []), ("replace", [])],
            False,
            deltas(("Added", FOO), ("Deleted", tombstone(FOO))),
            id="Added objects should have a single delete on multiple Replaces",
        ),
        pytest.param(
            [("add", FOO), ("delete", FOO), ("add", FOO2), ("replace", [])],
            False,
            deltas(("Added", FOO), ("Deleted", FOO), ("Added", FOO2), ("Deleted", tombstone(FOO2))),
            id="Added and deleted and added object should be deleted",
        ),
    ],
)
def test_replace_deletes_what_is_only_queued(
    operations: list[tuple[str, Any]], replaced: bool, expected: cache.Deltas, known: Known | None
) -> None:
    """Go: TestDeltaFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue"""
    queue = new(known_objects=known, emit_delta_type_replaced=replaced)
    for op, arg in operations:
        if op == "replace":
            queue.replace(arg, "0")
        else:
            getattr(queue, op)(arg)
        check_invariants(queue)
    assert pop_all(queue) == [expected]


def test_changes_of_one_object_come_together() -> None:
    """Go: TestDeltaFIFO_addUpdate"""
    queue = new()
    queue.add(Item("foo", 10))
    queue.update(Item("foo", 12))
    queue.delete(Item("foo", 15))
    assert [[delta.object.val for delta in popped] for popped in pop_all(queue)] == [[10, 12, 15]]


def test_every_object_is_transformed_exactly_once() -> None:
    """Go: TestDeltaFIFO_transformer"""

    def transform(obj: Any) -> Any:
        assert isinstance(obj, Item), f"must not be transformed: {obj}"
        obj.val += "+t"
        return obj

    queue = new(transformer=transform)
    queue.add(Item("foo", "10"))
    queue.add(Item("bar", "11"))
    queue.update(Item("foo", "12"))
    queue.delete(Item("foo", "15"))
    queue.replace([], "")
    queue.add(Item("bar", "16"))
    queue.replace([], "")
    foo, bar = pop_all(queue)
    assert foo[-1].object == Item("foo", "15+t")
    assert bar[-1].object == tombstone(Item("bar", "16+t"))
    assert queue.transformer() is transform


def test_deleting_an_unknown_object_queues_nothing() -> None:
    """Go: TestDeltaFIFO_enqueueingNoLister"""
    queue = new()
    queue.add(Item("foo", 10))
    queue.update(Item("bar", 15))
    queue.add(Item("qux", 17))
    queue.delete(Item("qux", 18))
    queue.delete(Item("baz", 20))
    assert [popped[-1].object.val for popped in pop_all(queue)] == [10, 15, 18]


def test_deleting_what_is_known_is_queued() -> None:
    """Go: TestDeltaFIFO_enqueueingWithLister"""
    queue = new(known_objects=Known(Item("foo", 5), Item("bar", 6), Item("baz", 7)))
    queue.add(Item("foo", 10))
    queue.update(Item("bar", 15))
    queue.delete(Item("baz", 20))
    assert [popped[-1].object.val for popped in pop_all(queue)] == [10, 15, 20]


def test_replace_of_a_queued_object_comes_with_it() -> None:
    """Go: TestDeltaFIFO_addReplace"""
    queue = new()
    queue.add(Item("foo", 10))
    queue.replace([Item("foo", 15)], "0")
    assert pop_newest(queue).val == 15
    assert queue.statistics().items == 0


def test_resync_leaves_a_key_with_queued_deltas_alone() -> None:
    """Go: TestDeltaFIFO_ResyncNonExisting, Go: TestDeltaFIFO_UpdateResyncRace"""
    for change in ("delete", "update"):
        queue = new(known_objects=Known(Item("foo", 5)))
        getattr(queue, change)(Item("foo", 10))
        queue.resync()
        assert [delta.type for delta in pop(queue)] == [f"{change.capitalize()}d"]


def test_resync_queues_what_is_known_once() -> None:
    """Go: TestDeltaFIFO_Resync"""
    queue = new(known_objects=Known(Item("foo", 5)))
    queue.resync()
    queue.resync()
    assert pop_all(queue) == [deltas(("Sync", Item("foo", 5)))]


def test_deletion_of_what_is_only_queued_is_kept() -> None:
    """Go: TestDeltaFIFO_DeleteExistingNonPropagated"""
    queue = new(known_objects=Known())
    queue.add(Item("foo", 5))
    queue.delete(Item("foo", 6))
    assert pop_all(queue) == [deltas(("Added", Item("foo", 5)), ("Deleted", Item("foo", 6)))]


@pytest.mark.parametrize(("replaced", "listed"), [(False, "Sync"), (True, "Replaced")])
def test_replace_makes_deletions(replaced: bool, listed: str) -> None:
    """A tombstone holds the newest queued object, or else the known one.

    Go: TestDeltaFIFO_ReplaceMakesDeletions, Go: TestDeltaFIFO_ReplaceMakesDeletionsReplaced,
    Go: TestDeltaFIFO_ReplaceDeltaType
    """
    foo, bar, baz = Item("foo", 5), Item("bar", 6), Item("baz", 7)

    def queue_with(known: Known | None) -> DeltaFIFO:
        return new(known_objects=known, emit_delta_type_replaced=replaced)

    # a deletion is queued already
    queue = queue_with(Known(foo, bar, baz))
    queue.delete(Item("baz", 10))
    queue.replace([Item("foo", 5)], "0")
    assert pop_all(queue) == [
        deltas(("Deleted", Item("baz", 10))),
        deltas((listed, foo)),
        deltas(("Deleted", tombstone(bar))),
    ]

    # ~ an addition of an unknown object is queued
    queue = queue_with(Known(foo, bar))
    queue.add(baz)
    queue.replace([foo], "0")
    assert pop_all(queue) == [
        deltas(("Added", baz), ("Deleted", tombstone(baz))),
        deltas((listed, foo)),
        deltas(("Deleted", tombstone(bar))),
    ]

    # deleted and added again
    queue = queue_with(Known(foo, bar))
    queue.delete(bar)
    queue.add(Item("bar", 100))
    queue.replace([foo], "0")
    assert pop_all(queue) == [
        deltas(("Deleted", bar), ("Added", Item("bar", 100)), ("Deleted", tombstone(Item("bar", 100)))),
        deltas((listed, foo)),
    ]

    # ~ without known objects
    queue = queue_with(None)
    queue.delete(Item("baz", 10))
    queue.replace([foo], "0")
    assert pop_all(queue) == [deltas((listed, foo))]


def test_synced_only_after_the_deletions_of_the_first_list() -> None:
    """Go: TestDeltaFIFO_HasSyncedCorrectOnDeletion"""
    queue = new(known_objects=Known(Item("foo", 5), Item("bar", 6), Item("baz", 7)))
    queue.replace([Item("foo", 5)], "0")
    seen = []
    for expected in (False, False, False):
        assert queue.has_synced() == expected
        queue.pop(lambda popped, is_in_initial_list: seen.append((popped[0].type, is_in_initial_list)))
    assert queue.has_synced()
    assert queue.done().is_set()
    assert seen == [("Sync", True), ("Deleted", True), ("Deleted", True)]


def test_a_key_keeps_its_place() -> None:
    """Go: TestDeltaFIFO_detectLineJumpers"""
    queue = new()
    for name, val in (("foo", 10), ("bar", 1), ("foo", 11), ("foo", 13), ("zab", 30)):
        queue.add(Item(name, val))
    assert pop_newest(queue).val == 13
    queue.add(Item("foo", 14))  # now behind
    assert [popped[-1].object.val for popped in pop_all(queue)] == [1, 30, 14]


@pytest.mark.parametrize(
    ("obj", "key"),
    [
        (Item("A"), "A"),
        (cache.DeletedFinalStateUnknown("B", None), "B"),
        (deltas(("Added", Item("C"))), "C"),
        (deltas(("Deleted", cache.DeletedFinalStateUnknown("D", None))), "D"),
    ],
)
def test_key_of_looks_into_containers(obj: Any, key: str) -> None:
    """Go: TestDeltaFIFO_KeyOf/#0-#3"""
    assert new().key_of(obj) == key


def test_an_empty_deltas_has_no_key() -> None:
    with pytest.raises(cache.KeyError) as caught:
        new().key_of(cache.Deltas())
    assert isinstance(caught.value.unwrap(), cache.ErrZeroLengthDeltasObject)


A, B = Item("a", 1), Item("b", 2)


@pytest.mark.parametrize(
    ("actions", "synced"),
    [
        ([], False),
        ([("add", A)], True),
        ([("replace", [])], True),
        ([("replace", [A, B])], False),
        ([("replace", [A, B]), ("pop",)], False),
        ([("replace", [A, B]), ("pop",), ("pop",)], True),
        ([("replace", [A, A]), ("pop",)], True),
    ],
)
def test_has_synced(actions: list[Any], synced: bool) -> None:
    """Go: TestDeltaFIFO_HasSynced/#0-#6"""
    queue = new()
    for action in actions:
        if action[0] == "pop":
            pop(queue)
        elif action[0] == "replace":
            queue.replace(action[1], "0")
        else:
            queue.add(action[1])
    assert queue.has_synced() == synced
    assert queue.has_synced_checker().done().is_set() == synced


def test_close_ends_every_pop() -> None:
    """Go: TestDeltaFIFO_PopShouldUnblockWhenClosed"""
    errors = errors_of_closed_pops(new, 5)
    assert len(errors) == 5
    assert all(isinstance(err, cache.ErrFIFOClosed) for err in errors)


def test_a_closed_queue_still_hands_out_what_it_has() -> None:
    queue = new()
    queue.add(A)
    queue.close()
    assert pop(queue) == deltas(("Added", A))
    with pytest.raises(cache.ErrFIFOClosed, match="DeltaFIFO: manipulating with closed queue"):
        pop(queue)


def test_an_add_wakes_a_waiting_consumer() -> None:
    queue = new()
    popped: list[Any] = []
    consumer = in_threads([lambda: popped.extend([pop(queue), pop(queue)])])
    queue.add(A)
    queue.add(B)
    join(consumer)
    assert popped == [deltas(("Added", A)), deltas(("Added", B))]


def test_what_the_process_function_raises_is_raised() -> None:
    queue = new()
    queue.add(A)

    def fail(popped: Any, is_in_initial_list: bool) -> None:
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        queue.pop(fail)
    assert queue.statistics().items == 0
    queue.add(B)  # the lock is free again
    assert queue.pop(ignore) == deltas(("Added", B))


def test_repr_shows_the_pending_items() -> None:
    queue = new(name="pods")
    queue.replace([A, B], "1")
    queue.update(A)
    assert repr(queue) == "<pods 2 keys, 3 deltas, initial 2 left, open>"


def test_a_key_that_the_consumer_does_not_have_is_not_resynced(caplog: pytest.LogCaptureFixture) -> None:
    class Lost(Known):
        """It lists the key of an object that was removed meanwhile."""

        def get_by_key(self, key: str) -> tuple[Any, bool]:
            return (None, False) if key == "gone" else super().get_by_key(key)

    caplog.set_level("INFO", logger="clientgo")
    queue = cache.new_delta_fifo_with_options(
        cache.DeltaFIFOOptions(key_function=key_of, known_objects=Lost(Item("gone"), Item("a")))
    )
    queue.resync()
    assert [key for key, _ in queue.contents().deltas] == ["a"]
    assert "Key does not exist in known objects store, unable to queue object for sync" in caplog.text


@pytest.mark.parametrize(
    ("seconds", "waiting", "logged"), [(0.11, 11, True), (0.09, 11, False), (0.11, 10, False)]
)
def test_a_slow_pop_is_logged_while_many_keys_wait(
    seconds: float, waiting: int, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Go: the trace "DeltaFIFO Pop Process", from a tenth of a second on."""
    caplog.set_level(1, logger="clientgo")
    with synctest.bubble() as bubble:
        queue = new()
        for number in range(waiting + 1):
            queue.add(Item(f"item-{number}"))
        queue.pop(lambda popped, is_in_initial_list: bubble.sleep(seconds))
    lines = [each.getMessage() for each in caplog.records if "DeltaFIFO Pop" in each.getMessage()]
    assert bool(lines) is logged
    assert all("item-0" in line and str(waiting) in line for line in lines)
