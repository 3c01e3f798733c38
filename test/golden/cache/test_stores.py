"""Indexer, UndeltaStore, ExpirationCache and MutationCache against what Go did."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases
from goldenobjects import error_of, sort_objects, tags, to_object, to_shorthand, value
from invariants import check_invariants

from clientgo import klog
from clientgo.tools import cache
from clientgo.utils.clock import testing as clocktesting


def only_x(obj: Any) -> list[str]:
    return ["yes"] if value(obj) == "x" else []


def err_on_w(obj: Any) -> list[str]:
    if value(obj) == "w":
        raise ValueError("cannot index w")
    return ["ok"]


INDEX_FUNCS: dict[str, cache.IndexFunc] = {
    "namespace": cache.meta_namespace_index_func,
    "v": lambda obj: [value(obj)],
    "tags": tags,
    "only_x": only_x,
    "err_on_w": err_on_w,
}


def outcome(call: Any, *args: Any) -> tuple[Any, Exception | None]:
    try:
        return call(*args), None
    except Exception as err:
        return None, err


class IndexerReplay:
    """Runner of one case's steps against an Indexer."""

    def __init__(self, config: dict[str, Any]) -> None:
        indexers = {name: INDEX_FUNCS[name] for name in config["indexers"]}
        self.indexer: Any = cache.new_indexer(cache.deletion_handling_meta_namespace_key_func, indexers)

    def run(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        return getattr(self, f"op_{op}")(args)

    def write(self, call: Any, *args: Any) -> dict[str, Any]:
        _, err = outcome(call, *args)
        result = {
            "error": None,
            "keys": sorted(self.indexer.list_keys()),
            "last_rv": self.indexer.last_store_sync_resource_version(),
        }
        if isinstance(err, cache.TransactionError) and isinstance(err.errors[0], cache.IndexingError):
            err = err.errors[0]
        if isinstance(err, cache.IndexingError):  # where Go panics
            return {"panic": str(err)}
        return {**result, "error": error_of(err)}

    def op_add(self, args: dict[str, Any]) -> dict[str, Any]:
        return self.write(self.indexer.add, to_object(args["object"]))

    def op_update(self, args: dict[str, Any]) -> dict[str, Any]:
        return self.write(self.indexer.update, to_object(args["object"]))

    def op_delete(self, args: dict[str, Any]) -> dict[str, Any]:
        return self.write(self.indexer.delete, to_object(args["object"]))

    def op_replace(self, args: dict[str, Any]) -> dict[str, Any]:
        objs = [to_object(short) for short in args["objects"]]
        return self.write(self.indexer.replace, objs, args["resource_version"])

    def op_bookmark(self, args: dict[str, Any]) -> dict[str, Any]:
        result = self.write(self.indexer.bookmark, args["resource_version"])
        assert result.pop("error") is None
        return result

    def op_transaction(self, args: dict[str, Any]) -> dict[str, Any]:
        txns = [
            cache.Transaction(to_object(txn["object"]), cache.TransactionType(txn["type"]))
            for txn in args["transactions"]
        ]
        _, err = outcome(self.indexer.transaction, *txns)
        result = self.write(lambda: None)
        if err is not None:
            assert isinstance(err, cache.TransactionError), err
            result["error"] = {
                "n_errors": len(err.errors),
                "successful_indices": err.successful_indices,
                "total": err.total_transactions,
            }
        return result

    def op_get(self, args: dict[str, Any]) -> dict[str, Any]:
        return described_get(*outcome(self.indexer.get, to_object(args["object"])))

    def op_get_by_key(self, args: dict[str, Any]) -> dict[str, Any]:
        return described_get(*outcome(self.indexer.get_by_key, args["key"]))

    def op_list(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"objects": sort_objects([to_shorthand(obj) for obj in self.indexer.list()])}

    def op_index(self, args: dict[str, Any]) -> dict[str, Any]:
        found, err = outcome(self.indexer.index, args["index"], to_object(args["object"]))
        return described_list(found, err)

    def op_by_index(self, args: dict[str, Any]) -> dict[str, Any]:
        found, err = outcome(self.indexer.by_index, args["index"], args["value"])
        keys, keys_err = outcome(self.indexer.index_keys, args["index"], args["value"])
        result = described_list(found, err)
        return {**result, "keys": keys or [], "keys_error": None if keys_err is None else str(keys_err)}

    def op_index_keys(self, args: dict[str, Any]) -> dict[str, Any]:
        keys, _ = outcome(self.indexer.index_keys, args["index"], args["value"])
        return {"keys": keys or []}

    def op_list_index_func_values(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"values": sorted(self.indexer.list_index_func_values(args["index"]))}

    def op_get_indexers(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"names": sorted(self.indexer.get_indexers())}

    def op_add_indexers(self, args: dict[str, Any]) -> dict[str, Any]:
        _, err = outcome(self.indexer.add_indexers, {name: INDEX_FUNCS[name] for name in args["names"]})
        return {"error": None if err is None else str(err)}


def described_get(found: tuple[Any, bool] | None, err: Exception | None) -> dict[str, Any]:
    obj, exists = found or (None, False)
    return {"error": error_of(err), "exists": exists, "object": to_shorthand(obj)}


def described_list(found: list[Any] | None, err: Exception | None) -> dict[str, Any]:
    objects = sort_objects([to_shorthand(obj) for obj in found or []])
    return {"error": None if err is None else str(err), "objects": objects}


@pytest.mark.parametrize("case", cases("cache/indexer.jsonl"))
def test_indexer(case: dict[str, Any]) -> None:
    """Content, indexes, version and errors are Go's after every step.

    A panic of Go's, which has stored the object before it asks the index functions, ends its program. Here it is an
    error, and the store stays as it was. What Go's store holds after a recovered panic is not compared.
    """
    replay = IndexerReplay(case["config"])
    for step in case["steps"]:
        before = replay.indexer.list()
        result = replay.run(step["op"], step["args"])
        check_invariants(*replay.indexer.components())
        if "panic" in step["expect"]:
            assert result == {"panic": step["expect"]["panic"]}, step
            assert step["op"] not in ("add", "update") or replay.indexer.list() == before
            return
        assert result == step["expect"], step


@pytest.mark.parametrize("case", cases("cache/undelta_store.jsonl"))
def test_undelta_store(case: dict[str, Any]) -> None:
    """Every change pushes the complete state once; a failed one pushes nothing."""
    pushes: list[Any] = []
    store = cache.new_undelta_store(
        lambda objs: pushes.append(sort_objects([to_shorthand(obj) for obj in objs])), cache.meta_namespace_key_func
    )
    for step in case["steps"]:
        pushes.clear()
        args = step["args"]
        if step["op"] == "replace":
            objs = [to_object(short) for short in args["objects"]]
            _, err = outcome(store.replace, objs, args["resource_version"])
        else:
            _, err = outcome(getattr(store, step["op"]), to_object(args["object"]))
        assert {"error": error_of(err), "pushes": pushes} == step["expect"], step


class ExpirationReplay:
    """Runner of one case's steps against an ExpirationCache."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.clock = clocktesting.new_fake_clock(1000.0)
        policy = cache.TTLPolicy(config["ttl_ms"] / 1000, self.clock)
        self.store: Any = cache.new_expiration_store(cache.meta_namespace_key_func, policy, clock=self.clock)

    def run(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        if op == "advance":
            self.clock.step(args["ms"] / 1000)
            return {}
        if op == "list":
            return {"objects": sort_objects([to_shorthand(obj) for obj in self.store.list()])}
        if op == "list_keys":
            return {"keys": sorted(self.store.list_keys())}
        if op == "get":
            return described_get(*outcome(self.store.get, to_object(args["object"])))
        if op == "get_by_key":
            return described_get(*outcome(self.store.get_by_key, args["key"]))
        if op == "replace":
            objs = [to_object(short) for short in args["objects"]]
            _, err = outcome(self.store.replace, objs, args["resource_version"])
            return {"error": error_of(err), "last_rv": self.store.last_store_sync_resource_version()}
        _, err = outcome(getattr(self.store, op), to_object(args["object"]))
        return {"error": error_of(err)}


@pytest.mark.parametrize("case", cases("cache/expiration_cache.jsonl"))
def test_expiration_cache(case: dict[str, Any]) -> None:
    """An object older than the time to live is removed by the first access."""
    replay = ExpirationReplay(case["config"])
    for step in case["steps"]:
        assert replay.run(step["op"], step["args"]) == step["expect"], step


class MutationReplay:
    """Runner of one case's steps against a MutationCache."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.clock = clocktesting.new_fake_clock(1000.0)
        indexers = {name: INDEX_FUNCS[name] for name in config["indexers"]}
        self.store = cache.new_indexer(cache.meta_namespace_key_func, indexers)
        self.cache = cache.new_integer_resource_version_mutation_cache(
            klog.background(),
            self.store,
            self.store if config["indexer"] else None,
            config["ttl_ms"] / 1000,
            config["include_adds"],
            clock=self.clock,
        )

    def run(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        if op == "advance":
            self.clock.step(args["ms"] / 1000)
        elif op == "mutation":
            self.cache.mutation(to_object(args["object"]))
        elif op == "store_add":
            self.store.add(to_object(args["object"]))
        elif op == "store_delete":
            self.store.delete(to_object(args["object"]))
        elif op == "get_by_key":
            return described_get(*outcome(self.cache.get_by_key, args["key"]))
        else:
            found, err = outcome(self.cache.by_index, args["index"], args["value"])
            return {**described_list(found, err), "error": error_of(err)}
        return {}


@pytest.mark.parametrize("case", cases("cache/mutation_cache.jsonl"))
def test_mutation_cache(case: dict[str, Any]) -> None:
    """The newer of store and mutations is returned, until the mutation has expired."""
    replay = MutationReplay(case["config"])
    for step in case["steps"]:
        assert replay.run(step["op"], step["args"]) == step["expect"], step
