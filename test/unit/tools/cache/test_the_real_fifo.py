"""RealFIFO hands out everything, in the order in which it came."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest
from invariants import check_invariants
from queueobjects import Item, Known, deltas, errors_of_closed_pops, in_threads, join, key_of, pop, tombstone

from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import Delta, DeltaType, RealFIFO


def new(known: Known | None = None, **options: Any) -> RealFIFO:
    """Return a queue with single deltas."""
    known = known or Known()
    return cache.new_real_fifo_with_options(
        cache.RealFIFOOptions(key_function=key_of, known_objects=known, **options)
    )


def new_atomic(**options: Any) -> RealFIFO:
    """Return a queue in which a replace or resync is one delta."""
    return cache.new_real_fifo_with_options(
        cache.RealFIFOOptions(key_function=key_of, atomic_events=True, **options)
    )


def apply(queue: RealFIFO, operations: list[tuple[Any, ...]]) -> None:
    for op, *args in operations:
        getattr(queue, op)(*args)
        check_invariants(queue)


def pop_all(queue: RealFIFO) -> list[Delta]:
    popped = []
    while queue.statistics().items:
        popped += pop(queue)
        check_invariants(queue)
    return popped


def test_every_value_comes_out_in_the_order_it_went_in() -> None:
    """Go: TestRealFIFO_basic"""
    queue = new()
    n = 500

    def produce(prefix: str) -> None:
        for i in range(n):
            queue.add(Item(prefix, i))

    producers = in_threads([partial(produce, "a"), partial(produce, "b")])
    values: dict[str, list[int]] = {"a": [], "b": []}
    for _ in range(2 * n):
        [delta] = pop(queue)
        values[delta.object.name].append(delta.object.val)
    join(producers)
    assert values == {"a": list(range(n)), "b": list(range(n))}


def test_replace_comes_after_a_queued_deletion() -> None:
    """Go: TestRealFIFO_replaceWithDeleteDeltaIn"""
    old, new_ = Item("foo", 1), Item("foo", 2)
    queue = new(Known(old))
    queue.delete(old)
    queue.replace([new_], "")
    assert pop_all(queue) == deltas(("Deleted", old), ("Replaced", new_))


FOO, FOO2 = Item("foo", 2), Item("foo", 3)


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        pytest.param(
            [("add", FOO), ("replace", [], "0")],
            deltas(("Added", FOO), ("Deleted", tombstone(FOO))),
            id="Added object should be deleted on Replace",
        ),
        pytest.param(
            [("add", FOO), ("delete", FOO), ("replace", [], "0")],
            deltas(("Added", FOO), ("Deleted", FOO)),
            id="Deleted object should have only a single Delete",
        ),
        pytest.param(
            [("add", FOO), ("replace", [FOO], "0"), ("replace", [FOO], "0"), ("replace", [], "0")],
            deltas(("Added", FOO), ("Replaced", FOO), ("Replaced", FOO), ("Deleted", tombstone(FOO))),
            id="Synced objects should have a single delete",
        ),
        pytest.param(
            [("add", FOO), ("replace", [], "0"), ("replace", [], "1")],
            deltas(("Added", FOO), ("Deleted", tombstone(FOO))),
            id="Added objects should have a single delete on multiple Replaces",
        ),
        pytest.param(
            [("add", FOO), ("delete", FOO), ("add", FOO2), ("replace", [], "0")],
            deltas(("Added", FOO), ("Deleted", FOO), ("Added", FOO2), ("Deleted", tombstone(FOO2))),
            id="Added and deleted and added object should be deleted",
        ),
        pytest.param(
            [("add", FOO), ("bookmark", "1")],
            deltas(("Added", FOO)),
            id="Bookmark object should not be added without atomic",
        ),
    ],
)
def test_replace_deletes_what_is_only_queued(operations: list[tuple[Any, ...]], expected: cache.Deltas) -> None:
    """Go: TestRealFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue"""
    queue = new()
    apply(queue, operations)
    assert pop_all(queue) == expected


def test_nothing_is_put_together() -> None:
    """Go: TestRealFIFO_addUpdate"""
    queue = new()
    apply(queue, [("add", Item("foo", 10)), ("update", Item("foo", 12)), ("delete", Item("foo", 15))])
    assert pop_all(queue) == deltas(
        ("Added", Item("foo", 10)), ("Updated", Item("foo", 12)), ("Deleted", Item("foo", 15))
    )


def test_every_object_is_transformed_exactly_once() -> None:
    """Go: TestRealFIFO_transformer"""

    def transform(obj: Any) -> Any:
        assert isinstance(obj, Item), f"must not be transformed: {obj}"
        return Item(obj.name, obj.val + "+t")

    queue = new(transformer=transform)
    apply(
        queue,
        [
            ("add", Item("foo", "10")),
            ("update", Item("foo", "12")),
            ("delete", Item("foo", "15")),
            ("add", Item("bar", "16")),
            ("replace", [], ""),
        ],
    )
    assert [delta.object for delta in pop_all(queue)] == [
        Item("foo", "10+t"),
        Item("foo", "12+t"),
        Item("foo", "15+t"),
        Item("bar", "16+t"),
        tombstone(Item("bar", "16+t")),
    ]
    assert queue.transformer() is transform


@pytest.mark.parametrize("known", [Known(), Known(Item("foo", 5), Item("bar", 6), Item("baz", 7))])
def test_every_operation_is_queued(known: Known) -> None:
    """Go: TestRealFIFO_enqueueingNoLister, Go: TestRealFIFO_enqueueingWithLister"""
    queue = new(known)
    apply(
        queue,
        [
            ("add", Item("foo", 10)),
            ("update", Item("bar", 15)),
            ("add", Item("qux", 17)),
            ("delete", Item("qux", 18)),
            ("delete", Item("baz", 20)),
        ],
    )
    assert [delta.object.val for delta in pop_all(queue)] == [10, 15, 17, 18, 20]


def test_replace_of_a_queued_object_comes_by_itself() -> None:
    """Go: TestRealFIFO_addReplace"""
    queue = new()
    apply(queue, [("add", Item("foo", 10)), ("replace", [Item("foo", 15)], "0")])
    assert [delta.object.val for delta in pop_all(queue)] == [10, 15]


def test_resync_leaves_a_key_with_queued_deltas_alone() -> None:
    """Go: TestRealFIFO_ResyncNonExisting, Go: TestRealFIFO_UpdateResyncRace"""
    for change in ("delete", "update"):
        queue = new(Known(Item("foo", 5)))
        apply(queue, [(change, Item("foo", 10)), ("resync",)])
        assert [delta.type for delta in pop_all(queue)] == [f"{change.capitalize()}d"]


def test_resync_queues_what_is_known_once() -> None:
    """Go: TestRealFIFO_Resync"""
    queue = new(Known(Item("foo", 5)))
    apply(queue, [("resync",), ("resync",)])
    assert pop_all(queue) == deltas(("Sync", Item("foo", 5)))


def test_deletion_of_what_is_only_queued_is_kept() -> None:
    """Go: TestRealFIFO_DeleteExistingNonPropagated"""
    queue = new()
    apply(queue, [("add", Item("foo", 5)), ("delete", Item("foo", 6))])
    assert pop_all(queue) == deltas(("Added", Item("foo", 5)), ("Deleted", Item("foo", 6)))


def test_replace_makes_deletions_first() -> None:
    """A tombstone holds the newest queued object, or else the known one.

    Go: TestRealFIFO_ReplaceMakesDeletions, Go: TestRealFIFO_ReplaceMakesDeletionsReplaced
    """
    foo, bar, baz = Item("foo", 5), Item("bar", 6), Item("baz", 7)

    queue = new(Known(foo, bar, baz))
    apply(queue, [("delete", Item("baz", 10)), ("replace", [foo], "0")])
    assert pop_all(queue) == deltas(
        ("Deleted", Item("baz", 10)), ("Deleted", tombstone(bar)), ("Replaced", foo)
    )

    queue = new(Known(foo, bar))
    apply(queue, [("add", baz), ("replace", [foo], "0")])
    assert pop_all(queue) == deltas(
        ("Added", baz), ("Deleted", tombstone(baz)), ("Deleted", tombstone(bar)), ("Replaced", foo)
    )

    queue = new(Known(foo, bar))
    apply(queue, [("delete", bar), ("add", Item("bar", 100)), ("replace", [foo], "0")])
    assert pop_all(queue) == deltas(
        ("Deleted", bar),
        ("Added", Item("bar", 100)),
        ("Deleted", tombstone(Item("bar", 100))),
        ("Replaced", foo),
    )


def test_synced_only_after_the_whole_first_list() -> None:
    """Go: TestRealFIFO_HasSyncedCorrectOnDeletion"""
    queue = new(Known(Item("foo", 5), Item("bar", 6), Item("baz", 7)))
    queue.replace([Item("foo", 5)], "0")
    seen = []
    for _ in range(3):
        assert not queue.has_synced()
        queue.pop(lambda popped, is_in_initial_list: seen.append((popped[0].type, is_in_initial_list)))
    assert queue.has_synced()
    assert seen == [("Deleted", True), ("Deleted", True), ("Replaced", True)]


def test_not_synced_while_the_last_one_is_processed() -> None:
    queue = new_atomic(unlock_while_processing=True)
    queue.replace([Item("foo", 5)], "0")
    seen = []
    queue.pop(lambda popped, is_in_initial_list: seen.append(queue.has_synced()))
    assert seen == [False]
    assert queue.has_synced()


def test_arrival_order() -> None:
    """Go: TestRealFIFO_detectLineJumpers"""
    queue = new()
    for name, val in (("foo", 10), ("bar", 1), ("foo", 11), ("foo", 13), ("zab", 30)):
        queue.add(Item(name, val))
    [first] = pop(queue)
    queue.add(Item("foo", 14))
    assert [delta.object.val for delta in [first, *pop_all(queue)]] == [10, 1, 11, 13, 30, 14]


@pytest.mark.parametrize(
    ("obj", "key"),
    [
        (Item("A"), "A"),
        (cache.DeletedFinalStateUnknown("B", None), "B"),
        (deltas(("Added", Item("C"))), "C"),
        (deltas(("Deleted", cache.DeletedFinalStateUnknown("D", None))), "D"),
        (Delta(DeltaType.ADDED, Item("E")), "E"),
    ],
)
def test_key_of_looks_into_containers(obj: Any, key: str) -> None:
    """Go: TestRealFIFO_KeyOf/#0-#3"""
    assert new()._key_of(obj) == key


A, B, C, D = (Item(name, 1) for name in "abcd")


@pytest.mark.parametrize(
    ("operations", "pops", "synced"),
    [
        ([], 0, False),
        ([("add", A)], 0, True),
        ([("replace", [], "0")], 0, True),
        ([("replace", [A, B], "0")], 0, False),
        ([("replace", [A, B], "0")], 1, False),
        ([("replace", [A, B], "0")], 2, True),
        ([("replace", [A, A], "0")], 1, False),
        ([("replace", [A, A], "0")], 2, True),
    ],
)
def test_has_synced(operations: list[tuple[Any, ...]], pops: int, synced: bool) -> None:
    """Go: TestRealFIFO_HasSynced/#0-#6"""
    queue = new()
    apply(queue, operations)
    for _ in range(pops):
        pop(queue)
    assert queue.has_synced() == synced
    assert queue.has_synced_checker().done().is_set() == synced


def test_close_ends_every_pop() -> None:
    """Go: TestRealFIFO_PopShouldUnblockWhenClosed"""
    errors = errors_of_closed_pops(new, 5)
    assert len(errors) == 5
    assert all(isinstance(err, cache.ErrFIFOClosed) for err in errors)


def batches(queue: RealFIFO) -> list[str]:
    """Return the names in each batch of the queue. Capital letters mark the initial list."""
    got = []

    def note(popped: list[Delta], is_in_initial_list: bool) -> None:
        names = "".join(str(delta.object.name) for delta in popped)
        got.append(names.upper() if is_in_initial_list else names)

    def note_single(popped: Any, is_in_initial_list: bool) -> None:
        assert isinstance(popped, cache.Deltas)
        assert len(popped) == 1
        note(popped, is_in_initial_list)

    while queue.statistics().items:
        queue.pop_batch(note, note_single)
        check_invariants(queue)
    return got


@pytest.mark.parametrize(
    ("initial", "updates", "size", "expected"),
    [
        pytest.param("abcd", "", 0, ["ABCD"], id="non-split: pop unique items should work"),
        pytest.param(
            "ab",
            "cd",
            0,
            ["AB", "cd"],
            id="split due to initial list: initial 2 items with 2 updates should have 2 batches",
        ),
        pytest.param(
            "a",
            "aa",
            0,
            ["A", "a", "a"],
            id="split due to non-unique#1: update single item for multiple items should have separate batch",
        ),
        pytest.param(
            "a",
            "bcbd",
            0,
            ["A", "bc", "bd"],
            id="split due to non-unique#2: update 3 item for with non-unique item at the end should have "
            "separate batch",
        ),
        pytest.param(
            "a",
            "bcc",
            0,
            ["A", "bc", "c"],
            id="split due to non-unique#3: update 3 item for with non-unique item in the mid should have "
            "separate batch",
        ),
        pytest.param(
            "abcd", "", 2, ["AB", "CD"], id="split due to batch size#1: batching initial list should work"
        ),
        pytest.param(
            "a",
            "bcd",
            2,
            ["A", "bc", "d"],
            id="split due to batch size#2: batching incoming non-initial deltas should work",
        ),
        pytest.param(
            "abc",
            "d",
            2,
            ["AB", "C", "d"],
            id="split due to batch size#3: pop 4 mixed initial & non-initial items with 2 batch size should have "
            "3 batch",
        ),
    ],
)
def test_where_batches_are_cut(initial: str, updates: str, size: int, expected: list[str]) -> None:
    """Go: TestRealFIFO_PopMultipleDeltaInBatch"""
    queue = new()
    queue._batch_size = size or queue._batch_size
    queue.replace([Item(name) for name in initial], "0")
    for name in updates:
        queue.update(Item(name))
    assert batches(queue) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param("1ab", ["1", "ab"], id="1st item is broken"),
        pytest.param("ab1c", ["ab1", "c"], id="nth item is broken"),
        pytest.param("a12b", ["a1", "2", "b"], id="multiple nth items are broken"),
        pytest.param("1a2b", ["1", "a2", "b"], id="mixed 1st and nth items are broken"),
    ],
)
def test_an_object_that_lost_its_key_closes_a_batch(names: str, expected: list[str]) -> None:
    """Go: TestRealFIFO_PopBrokenItemsInBatch"""
    lost: set[str] = set()

    def key_or_fail(obj: Any) -> str:
        if obj.name in lost:
            raise ValueError("broken")
        return str(obj.name)

    queue = cache.new_real_fifo_with_options(cache.RealFIFOOptions(key_function=key_or_fail, known_objects=Known()))
    for name in names:
        queue.add(Item(name))
    lost.update("12")
    assert batches(queue) == expected


def test_what_has_no_key_is_not_queued() -> None:
    queue = new()
    for change in (queue.add, queue.update, queue.delete):
        with pytest.raises(cache.KeyError):
            change("no item")
    queue.delete(tombstone(Item("a")))  # says its key itself
    assert pop_all(queue) == [Delta(DeltaType.DELETED, tombstone(Item("a")))]


def replaced_all(version: str, *objs: Item) -> Delta:
    return Delta(DeltaType.REPLACED_ALL, cache.ReplacedAllInfo(version, list(objs)))


def bookmark(version: str) -> Delta:
    return Delta(DeltaType.BOOKMARK, cache.BookmarkInfo(version))


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        pytest.param([("replace", [], "0")], [replaced_all("0")], id="Base replace"),
        pytest.param(
            [("add", A), ("replace", [], "0")],
            [Delta(DeltaType.ADDED, A), replaced_all("0")],
            id="Added object exists in deltas on Atomic Replace",
        ),
        pytest.param(
            [("replace", [A], "1"), ("replace", [A, B], "2")],
            [replaced_all("1", A), replaced_all("2", A, B)],
            id="Multiple replaces run in order",
        ),
        pytest.param(
            [("add", A), ("bookmark", "5"), ("replace", [B], "6")],
            [Delta(DeltaType.ADDED, A), bookmark("5"), replaced_all("6", B)],
            id="Bookmark object should not be included in Replace",
        ),
    ],
)
def test_atomic_replace_is_one_delta(operations: list[tuple[Any, ...]], expected: list[Delta]) -> None:
    """Go: TestRealFIFO_ReplaceAtomic, Go: TestRealFIFO_ReplaceAtomicPop"""
    queue = new_atomic(emit_delta_type_bookmark=True)
    apply(queue, operations)
    assert pop_all(queue) == expected


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        pytest.param([("resync",)], [Delta(DeltaType.SYNC_ALL, cache.SyncAllInfo())], id="Base resync"),
        pytest.param(
            [("add", A), ("resync",)],
            [Delta(DeltaType.ADDED, A), Delta(DeltaType.SYNC_ALL, cache.SyncAllInfo())],
            id="Added object exists in deltas on Atomic Resync",
        ),
    ],
)
def test_atomic_resync_is_one_delta(operations: list[tuple[Any, ...]], expected: list[Delta]) -> None:
    """Go: TestRealFIFO_ResyncAtomic"""
    queue = new_atomic()
    apply(queue, operations)
    assert pop_all(queue) == expected


def test_a_delta_of_everything_goes_alone() -> None:
    queue = new_atomic(emit_delta_type_bookmark=True)
    apply(queue, [("add", A), ("add", B), ("resync",), ("bookmark", "5"), ("add", C), ("add", D)])
    sizes: list[int] = []
    while queue.statistics().items:
        queue.pop_batch(lambda popped, _: sizes.append(len(popped)), lambda popped, _: sizes.append(len(popped)))
    assert sizes == [2, 1, 1, 2]


def blocks_others(bubble: synctest.Bubble, queue: Any) -> bool:
    """Report whether another thread that uses the queue now has to wait."""
    other = threading.Thread(target=queue.is_closed, name="other")
    other.start()
    bubble.wait()
    return other.is_alive()


@pytest.mark.parametrize("unlock", [True, False])
def test_producers_may_go_on_while_one_processes(unlock: bool) -> None:
    """With unlock_while_processing the process function itself could add; without, the lock is held."""
    with synctest.bubble() as bubble:
        queue = new_atomic(unlock_while_processing=unlock)
        queue.add(A)
        added: list[int] = []

        def process(popped: Any, is_in_initial_list: bool) -> None:
            threading.Thread(target=queue.add, args=(B,), name="producer").start()
            bubble.wait()
            added.append(queue.contents().length)

        queue.pop(process)
        assert added == [int(unlock)]
        bubble.wait()
        assert queue.contents().length == 1


def test_a_full_queue_makes_its_producers_wait() -> None:
    with synctest.bubble() as bubble:
        queue = new_atomic(unlock_while_processing=True)
        queue._batch_size = 2
        for obj in (A, B, C, D, A):
            queue.add(obj)
        held: list[bool] = []
        while queue.statistics().items:
            queue.pop(lambda popped, is_in_initial_list: held.append(blocks_others(bubble, queue)))
        assert held == [True, False, False, False, False]


def test_the_lock_is_held_again_after_a_failure() -> None:
    """And released: it would be released twice if it were not taken again."""

    def fail(popped: Any, is_in_initial_list: bool) -> None:
        raise RuntimeError("boom")

    with synctest.bubble() as bubble:
        queue = new_atomic(unlock_while_processing=True)
        queue.replace([A], "1")
        with pytest.raises(RuntimeError, match="boom"):
            queue.pop(fail)
        assert not blocks_others(bubble, queue)
        assert queue.has_synced()  # processed, if in vain


def test_the_name_comes_from_the_identity_first() -> None:
    identifier = cache.InformerNameAndResource("factory")
    assert new(name="pods", identifier=identifier).name() == "factory"
    assert new(name="pods").name() == "pods"
    assert new().name() == "RealFIFO"


def test_repr_shows_the_pending_items() -> None:
    queue = new()
    queue.replace([A, B], "1")
    queue.update(A)
    assert repr(queue) == "<RealFIFO 3 deltas, single events, initial 2 left, open>"


@pytest.mark.parametrize(
    ("seconds", "waiting", "batch", "logged"),
    [(0.11, 11, False, True), (0.09, 11, False, False), (0.11, 10, False, False), (0.35, 11, True, True)],
)
def test_a_slow_pop_is_logged_while_many_deltas_wait(
    seconds: float, waiting: int, batch: bool, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Go: the trace "RealFIFO Pop Process", from a tenth of a second on, and for each delta of a batch."""
    caplog.set_level(1, logger="clientgo")
    with synctest.bubble() as bubble:
        queue = new()
        for number in range(waiting + (3 if batch else 1)):
            queue.add(Item(f"item-{number % 3}"))  # A batch has no key twice.

        def process(deltas: Any, is_in_initial_list: bool) -> None:
            bubble.sleep(seconds)

        if batch:
            queue.pop_batch(process, process)
        else:
            queue.pop(process)
    lines = [each.getMessage() for each in caplog.records if "RealFIFO Pop" in each.getMessage()]
    assert bool(lines) is logged
    if logged:
        assert "item-0" in lines[0]
        assert str(waiting) in lines[0]
        assert ("BatchSize" in lines[0]) is batch


def test_a_key_that_the_consumer_does_not_have_is_not_resynced(caplog: pytest.LogCaptureFixture) -> None:
    class Lost(Known):
        """It lists the key of an object that was removed meanwhile."""

        def get_by_key(self, key: str) -> tuple[Any, bool]:
            return (None, False) if key == "gone" else super().get_by_key(key)

    queue = new(Lost(Item("gone"), Item("a")))
    queue.resync()
    assert pop_all(queue) == deltas(("Sync", Item("a")))
    assert "Key does not exist in known objects store, unable to queue object for sync" in caplog.text


def test_options_select_gos_defaults() -> None:
    options = cache.RealFIFOOptions()
    assert (options.atomic_events, options.unlock_while_processing, options.emit_delta_type_bookmark) == (False,) * 3


def test_an_empty_deltas_has_no_key() -> None:
    with pytest.raises(cache.KeyError) as caught:
        new().add(cache.Deltas())
    cause = caught.value.unwrap()
    assert isinstance(cause, cache.KeyError)
    assert isinstance(cause.unwrap(), cache.ErrZeroLengthDeltasObject)
