"""The store: versions, snapshots, history, compare-and-swap; as a state machine against a small model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from clientgo.testing.apiserver.store import storage
from clientgo.testing.apiserver.store.storage import Changed, Compacted, Event, Exists, Missing, Store, with_version
from clientgo.testing.apiserver.wire.jsonio import dumps
from clientgo.utils.clock import REAL_CLOCK

Json = dict[str, Any]


def obj(name: str, value: Any = 0) -> Json:
    return {"metadata": {"name": name}, "value": value}


def names(stored: list[Any]) -> list[str]:
    return [item.name for item in stored]


def test_versions_grow_over_all_buckets() -> None:
    store = Store(REAL_CLOCK)
    versions = [store.create(bucket, f"ns/{i}", obj(str(i))).rv for i in range(3) for bucket in ("a", "b")]
    assert versions == [1, 2, 3, 4, 5, 6]


def test_keys_are_listed_in_order_within_a_prefix() -> None:
    store = Store(REAL_CLOCK)
    for key in ("b/x", "a/z", "a-b/y", "a/a"):
        store.create("pods", key, obj(key))
    assert [item.key for item in store.list("pods", "a/")[1]] == ["a/a", "a/z"]
    assert [item.key for item in store.list("pods")[1]] == ["a-b/y", "a/a", "a/z", "b/x"]


def test_lists_without_a_change_in_between_share_their_objects() -> None:
    store = Store(REAL_CLOCK)
    first = store.create("x", "ns/a", obj("a"))
    before = store.list("x")[1]
    assert store.list("x")[1] is before
    store.update("x", "ns/a", obj("a", 1), first.rv)
    store.create("x", "ns/b", obj("b"))
    store.delete("x", "ns/b", 3)
    assert [(item.name, item.obj["value"]) for item in before] == [("a", 0)], "a change leaves earlier lists alone"
    assert [(item.name, item.obj["value"]) for item in store.list("x")[1]] == [("a", 1)]


def test_a_list_at_an_older_version_is_the_state_of_then() -> None:
    store = Store(REAL_CLOCK)
    first = store.create("x", "a", obj("a", 1))
    second = store.update("x", "a", obj("a", 2), first.rv)
    store.create("x", "b", obj("b"))
    store.delete("x", "a", second.rv)
    assert [(item.name, item.obj["value"]) for item in store.list("x", at=first.rv)[1]] == [("a", 1)]
    assert names(store.list("x", at=3)[1]) == ["a", "b"]
    assert names(store.list("x")[1]) == ["b"]


def test_writes_expect_a_version() -> None:
    store = Store(REAL_CLOCK)
    first = store.create("x", "a", obj("a"))
    with pytest.raises(Exists):
        store.create("x", "a", obj("a"))
    store.update("x", "a", obj("a", 1), first.rv)
    with pytest.raises(Changed):
        store.update("x", "a", obj("a", 2), first.rv)
    with pytest.raises(Changed):
        store.delete("x", "a", first.rv)
    with pytest.raises(Missing):
        store.update("x", "b", obj("b"), 1)


def test_a_resource_can_be_looked_at_by_who_holds_the_lock() -> None:
    store = Store(REAL_CLOCK)
    seen: list[tuple[list[str], list[str], int]] = []

    def look(bucket: str, event: Event) -> None:  # under the lock
        items, log, oldest = store.contents(bucket)
        seen.append(([stored.key for stored in items], [each.type for each in log], oldest))

    store.subscribe(look)
    store.create("things", "ns/a", {"metadata": {"name": "a"}})
    store.compact(1)
    store.delete("things", "ns/a", 1)
    assert seen == [(["ns/a"], ["ADDED"], 0), ([], ["DELETED"], 1)]
    assert store.contents("nothing") == ([], [], 0)


def test_history_is_bounded() -> None:
    store = Store(REAL_CLOCK, history=5)
    for i in range(30):
        store.create("x", str(i), obj(str(i)))
    store.check()
    with pytest.raises(Compacted):
        store.list("x", at=3)
    assert len(store.list("x", at=28)[1]) == 28


@pytest.mark.parametrize("encoded", [lambda stored: stored.raw, lambda stored: stored.message(dumps)])
def test_the_bytes_of_the_history_are_bounded(
    monkeypatch: pytest.MonkeyPatch, encoded: Callable[[storage.Stored], bytes]
) -> None:
    """In whichever encoding clients ask for the objects."""
    monkeypatch.setattr(storage, "MAX_HISTORY_BYTES", 10_000)
    store = Store(REAL_CLOCK)
    stored = store.create("x", "a", obj("a"))
    kept = 0
    for i in range(100):
        stored = store.update("x", "a", obj("a", f"{i}" + "x" * 1000), stored.rv)
        assert len(encoded(stored)) > 1000
        store.check()
        kept = max(kept, len(history(store, stored.rv)))
    assert 5 <= kept <= 12
    assert store.list("x", at=stored.rv - 1)[1][0].obj["value"].startswith("98")
    store.compact(stored.rv)
    store.check()


def test_of_a_history_that_is_too_heavy_its_older_half_goes_by_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "MAX_HISTORY_BYTES", 20_000)
    store = Store(REAL_CLOCK)
    sizes = [12_000, *[100] * 100]
    for i, size in enumerate(sizes):
        assert len(store.create("x", str(i), obj(str(i), "x" * size)).raw) > size
    assert len(history(store, store.version)) > 90, "the first was more than half of it"
    store.check()


def history(store: Store, version: int) -> list[Any]:
    """Return the events that the server could still send to a watch."""
    for since in range(version):
        found: list[Any] = []
        try:
            store.follow("x", "", since, lambda _, first, found=found: found.extend(first))  # type: ignore[misc]
        except Compacted:
            continue
        return found
    return []


def test_compaction_discards_what_is_older() -> None:
    store = Store(REAL_CLOCK)
    for i in range(4):
        store.create("x", str(i), obj(str(i)))
    store.compact(3)
    with pytest.raises(Compacted):
        store.follow("x", "", 2, lambda version, first: None)
    seen: list[Any] = []
    store.follow("x", "", 3, lambda version, first: seen.extend(first))
    assert [event.rv for event in seen] == [4]


def test_a_list_at_the_compacted_version_is_still_possible() -> None:
    """etcd too drops only the versions before it."""
    store = Store(REAL_CLOCK)
    for i in range(4):
        store.create("x", str(i), obj(str(i)))
    store.compact(2)
    with pytest.raises(Compacted):
        store.list("x", at=1)
    for version in (2, 3, 4):
        at, items = store.list("x", at=version)
        assert (at, names(items)) == (version, [str(i) for i in range(version)])


def test_waiting_for_a_version_ends_when_it_comes_or_time_is_up() -> None:
    store = Store(REAL_CLOCK)
    store.create("x", "a", obj("a"))
    assert store.wait_for_version(1, 10.0)
    assert not store.wait_for_version(2, 0.0)


def test_the_version_stands_where_the_go_struct_has_it() -> None:
    metadata = with_version({"name": "a", "uid": "u", "labels": {}}, 7)
    assert list(metadata.items()) == [("name", "a"), ("uid", "u"), ("resourceVersion", "7"), ("labels", {})]


class StoreMachine(RuleBasedStateMachine):
    """Random writes; every list, at any version, and every replay must agree with the full record."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store(REAL_CLOCK, history=20)
        self.states: list[dict[str, int]] = [{}]
        self.events: list[Event] = []
        self.store.on_event = lambda bucket, event: self.events.append(event)

    @rule(key=st.sampled_from(["a", "b", "c", "n/a", "n/b"]), value=st.integers(0, 9))
    def write(self, key: str, value: int) -> None:
        state = dict(self.states[-1])
        current = self.store.get("x", key)
        if current is None:
            self.store.create("x", key, obj(key, value))
        else:
            self.store.update("x", key, obj(key, value), current.rv)
        state[key] = value
        self.states.append(state)

    @rule(key=st.sampled_from(["a", "b", "c", "n/a", "n/b"]))
    def delete(self, key: str) -> None:
        current = self.store.get("x", key)
        if current is None:
            return
        self.store.delete("x", key, current.rv)
        state = dict(self.states[-1])
        del state[key]
        self.states.append(state)

    @rule(back=st.integers(0, 25), prefix=st.sampled_from(["", "n/"]))
    def list_then(self, back: int, prefix: str) -> None:
        at = max(0, len(self.states) - 1 - back)
        try:
            _, items = self.store.list("x", prefix, at)
        except Compacted:
            return
        expected = {key: value for key, value in self.states[at].items() if key.startswith(prefix)}
        assert {item.key: item.obj["value"] for item in items} == expected
        assert [item.key for item in items] == sorted(expected)

    @precondition(lambda self: self.events)
    @rule(back=st.integers(1, 25))
    def replay(self, back: int) -> None:
        since = max(0, len(self.states) - 1 - back)
        seen: list[Event] = []
        try:
            self.store.follow("x", "", since, lambda version, first: seen.extend(first))
        except Compacted:
            return
        state = dict(self.states[since])
        for event in seen:
            if event.type == "DELETED":
                del state[event.new.key]
            else:
                state[event.new.key] = event.new.obj["value"]
        assert state == self.states[-1]

    @rule()
    def compact(self) -> None:
        self.store.compact(self.store.version - 3)

    @invariant()
    def holds_together(self) -> None:
        self.store.check()
        assert self.store.version == len(self.states) - 1


TestStore = StoreMachine.TestCase
