"""UndeltaStore pushes everything at each change."""

from __future__ import annotations

from queueobjects import Item, key_of

from clientgo.tools import cache


def new() -> tuple[cache.UndeltaStore, list[list[Item]]]:
    pushes: list[list[Item]] = []
    return cache.new_undelta_store(pushes.append, key_of), pushes


def test_add_and_update_push() -> None:
    """Go: TestUpdateCallsPush"""
    store, pushes = new()
    store.add(Item("a", 1))
    store.update(Item("a", 2))
    assert pushes == [[Item("a", 1)], [Item("a", 2)]]


def test_delete_pushes() -> None:
    """Go: TestDeleteCallsPush"""
    store, pushes = new()
    store.add(Item("a", 1))
    store.delete(Item("a"))
    assert pushes == [[Item("a", 1)], []]


def test_reads_do_not_push() -> None:
    """Go: TestReadsDoNotCallPush"""
    store, pushes = new()
    store.list()
    store.list_keys()
    store.get(Item("a"))
    store.get_by_key("a")
    store.last_store_sync_resource_version()
    store.resync()
    assert pushes == []


def test_replace_pushes_once() -> None:
    """Go: TestReplaceCallsPush"""
    store, pushes = new()
    store.replace([Item("a", 1), Item("b", 2)], "0")
    assert pushes == [[Item("a", 1), Item("b", 2)]]
    store.bookmark("7")
    assert store.last_store_sync_resource_version() == "7"
