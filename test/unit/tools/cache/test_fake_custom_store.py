"""FakeCustomStore calls what it was given, and nothing else."""

from __future__ import annotations

from typing import Any

from clientgo.tools import cache


def test_without_functions_it_does_nothing() -> None:
    store = cache.FakeCustomStore()
    store.add(1)
    store.update(1)
    store.delete(1)
    store.replace([1], "1")
    store.resync()
    assert (store.list(), store.list_keys()) == ([], [])
    assert store.get(1) == store.get_by_key("1") == (None, False)


def test_with_functions_it_calls_them() -> None:
    calls: list[Any] = []
    store = cache.FakeCustomStore(
        add_func=lambda obj: calls.append(("add", obj)),
        update_func=lambda obj: calls.append(("update", obj)),
        delete_func=lambda obj: calls.append(("delete", obj)),
        list_func=lambda: [1],
        list_keys_func=lambda: ["one"],
        get_func=lambda obj: (obj, True),
        get_by_key_func=lambda key: (key, True),
        replace_func=lambda objs, version: calls.append(("replace", objs, version)),
        resync_func=lambda: calls.append("resync"),
    )
    store.add(1)
    store.update(2)
    store.delete(3)
    store.replace([4], "5")
    store.resync()
    assert calls == [("add", 1), ("update", 2), ("delete", 3), ("replace", [4], "5"), "resync"]
    assert (store.list(), store.list_keys()) == ([1], ["one"])
    assert store.get(7) == (7, True)
    assert store.get_by_key("k") == ("k", True)
