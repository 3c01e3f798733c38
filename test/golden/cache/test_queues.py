"""DeltaFIFO, RealFIFO, FIFO and Heap against what Go did."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases
from goldenobjects import error_of, sort_objects, to_object, to_shorthand, transformer, value
from invariants import check_invariants

from clientgo.tools import cache


class KnownObjects:
    """The store that the consumer of a queue fills, with keys that make trouble."""

    def __init__(self, shorts: list[dict[str, Any]]) -> None:
        self.objects: dict[str, Any] = {}
        for obj in map(to_object, shorts):
            self.objects[obj.object_key()] = obj

    def list_keys(self) -> list[str]:
        return sorted(self.objects)

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        if key.endswith("err"):
            raise LookupError("lookup failed")
        if key.endswith("gone") or key not in self.objects:
            return None, False
        return self.objects[key], True

    def apply(self, deltas: list[cache.Delta]) -> None:
        for delta in deltas:
            obj = delta.object
            if delta.type == cache.DeltaType.REPLACED_ALL:
                self.objects = {}
                for each in obj.objects:
                    try:
                        self.objects[cache.deletion_handling_meta_namespace_key_func(each)] = each
                    except ValueError:
                        continue
            elif delta.type in (cache.DeltaType.SYNC_ALL, cache.DeltaType.BOOKMARK):
                continue
            elif delta.type == cache.DeltaType.DELETED:
                self.objects.pop(cache.deletion_handling_meta_namespace_key_func(obj), None)
            else:
                self.objects[cache.meta_namespace_key_func(obj)] = obj


class QueueReplay:
    """Runner of one case's steps against a queue. Subclasses have the differences between the queues."""

    queue: Any

    def __init__(self, config: dict[str, Any]) -> None:
        known = config.get("known_objects")
        self.known = KnownObjects(known or [])
        self.has_known = known is not None

    def describe(self) -> dict[str, Any]:
        """Return the state of the queue after each step."""
        return {"has_synced": self.queue.has_synced()}

    def returned(self, popped: Any) -> Any:
        """Return a popped item as the file writes it."""
        return [{"type": str(delta.type), "object": described_delta_object(delta.object)} for delta in popped]

    def run(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        method = getattr(self, f"op_{op}", None)
        result = method(args) if method else self.write(op, args)
        return {**result, **self.describe()} if op != "known_keys" else result

    def write(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        try:
            if op == "replace":
                objs = [to_object(short) for short in args["objects"]]
                self.queue.replace(objs, args["resource_version"])
            elif op == "bookmark":
                self.queue.bookmark(args["resource_version"])
            elif op == "resync":
                self.queue.resync()
            else:
                getattr(self.queue, op)(to_object(args["object"]))
        except Exception as err:
            return {"error": error_of(err)}
        return {"error": None}

    def op_has_synced(self, args: dict[str, Any]) -> dict[str, Any]:
        return {}

    def op_close(self, args: dict[str, Any]) -> dict[str, Any]:
        self.queue.close()
        return {"is_closed": self.queue.is_closed()}

    def op_known_keys(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"keys": self.known.list_keys() or None}  # Go writes an empty slice of keys as null

    def op_pop(self, args: dict[str, Any]) -> dict[str, Any]:
        seen: list[tuple[Any, bool]] = []

        def process(popped: Any, is_in_initial_list: bool) -> None:
            seen.append((popped, is_in_initial_list))
            if isinstance(popped, cache.Deltas):
                self.known.apply(popped)
            if "process_error" in args:
                raise RuntimeError(args["process_error"])

        try:
            popped, error = self.queue.pop(process), None
            assert popped is seen[0][0]
        except Exception as err:
            error = error_of(err)
        if not seen:
            return {"called": False, "error": error, "returned": None}
        [(popped, is_in_initial_list)] = seen
        returned = self.returned(popped)
        return {"called": True, "error": error, "returned": returned, "is_in_initial_list": is_in_initial_list}


def described_delta_object(obj: Any) -> Any:
    if isinstance(obj, cache.ReplacedAllInfo):
        objects = [to_shorthand(each) for each in obj.objects]
        return {"replaced_all": objects, "resource_version": obj.resource_version}
    if isinstance(obj, cache.SyncAllInfo):
        return {"sync_all": True}
    if isinstance(obj, cache.BookmarkInfo):
        return {"bookmark": obj.resource_version}
    return to_shorthand(obj)


class DeltaFIFOReplay(QueueReplay):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.queue = cache.new_delta_fifo_with_options(
            cache.DeltaFIFOOptions(
                known_objects=self.known if self.has_known else None,
                emit_delta_type_replaced=config["emit_delta_type_replaced"],
                transformer=transformer(config["transformer"]),
            )
        )

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "queue_keys": [key for key, _ in self.queue.contents().deltas]}


class RealFIFOReplay(QueueReplay):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.queue = cache.new_real_fifo_with_options(
            cache.RealFIFOOptions(
                known_objects=self.known if self.has_known else None,
                transformer=transformer(config["transformer"]),
                atomic_events=config["atomic_events"],
                unlock_while_processing=config["unlock_while_processing"],
                emit_delta_type_bookmark=config["emit_delta_type_bookmark"],
            )
        )

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "n_pending": self.queue.statistics().items}

    def op_pop_batch(self, args: dict[str, Any]) -> dict[str, Any]:
        seen: list[tuple[str, Any, bool]] = []

        def processor(name: str) -> Any:
            def process(popped: Any, is_in_initial_list: bool) -> None:
                seen.append((name, popped, is_in_initial_list))
                self.known.apply(popped)
                if "process_error" in args:
                    raise RuntimeError(args["process_error"])

            return process

        error = None
        try:
            self.queue.pop_batch(processor("process_batch"), processor("process_single"))
        except Exception as err:
            error = error_of(err)
        if not seen:
            return {"called": None, "error": error}
        [(called, popped, is_in_initial_list)] = seen
        deltas = self.returned(popped)
        return {"called": called, "error": error, "deltas": deltas, "is_in_initial_list": is_in_initial_list}


class FIFOReplay(QueueReplay):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.queue = cache.new_fifo(cache.meta_namespace_key_func)

    def returned(self, popped: Any) -> Any:
        return to_shorthand(popped)


def replay(case: dict[str, Any], queue: QueueReplay) -> None:
    for step in case["steps"]:
        expect = dict(step["expect"])
        result = queue.run(step["op"], step["args"])
        if step["op"] == "has_synced" and "is_closed" in expect:
            result["is_closed"] = queue.queue.is_closed()
        assert result == expect, step
        check_invariants(queue.queue)


@pytest.mark.parametrize("case", cases("cache/delta_fifo.jsonl"))
def test_delta_fifo(case: dict[str, Any]) -> None:
    """The queued, popped, known and synced objects equal Go's after every step."""
    replay(case, DeltaFIFOReplay(case["config"]))


@pytest.mark.parametrize("case", cases("cache/real_fifo.jsonl"))
def test_real_fifo(case: dict[str, Any]) -> None:
    """The queued, popped, known and synced objects equal Go's after every step."""
    if case["name"] == "real_fifo_constructor_panics":
        for step in case["steps"]:
            assert constructor_panic(step["args"]) == step["expect"]["panic"], step
    else:
        replay(case, RealFIFOReplay(case["config"]))


def constructor_panic(args: dict[str, Any]) -> str | None:
    """Return the error of a RealFIFO with these options, or None. Go: TestRealFIFO options."""
    known = KnownObjects([]) if args.pop("known_objects") else None
    try:
        cache.new_real_fifo_with_options(cache.RealFIFOOptions(known_objects=known, **args))
    except ValueError as err:
        return str(err)
    return None


@pytest.mark.parametrize("case", cases("cache/fifo.jsonl"))
def test_fifo(case: dict[str, Any]) -> None:
    """The popped and synced objects equal Go's after every step."""
    replay(case, FIFOReplay(case["config"]))


class HeapReplay:
    """Runner of one case's steps against a Heap."""

    def __init__(self) -> None:
        self.heap = cache.new_heap(cache.meta_namespace_key_func, self.less)

    @staticmethod
    def less(a: Any, b: Any) -> bool:
        return (value(a), a.object_key()) < (value(b), b.object_key())

    def run(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        if op == "list":
            return {"objects": sort_objects([to_shorthand(obj) for obj in self.heap.list()])}
        if op == "close":
            self.heap.close()
            return {"is_closed": self.heap.is_closed(), **self.keys()}
        error, obj, exists = None, None, False
        try:
            if op == "pop":
                obj = self.heap.pop()
            elif op == "get":
                obj, exists = self.heap.get(to_object(args["object"]))
            elif op == "bulk_add":
                self.heap.bulk_add([to_object(short) for short in args["objects"]])
            else:
                getattr(self.heap, op)(to_object(args["object"]))
        except Exception as err:
            error = error_of(err)
        if op == "get":
            return {"error": error, "exists": exists, "object": to_shorthand(obj)}
        if op == "pop":
            return {"error": error, "object": to_shorthand(obj), **self.keys()}
        return {"error": error, **self.keys()}

    def keys(self) -> dict[str, Any]:
        return {"keys": sorted(self.heap.list_keys())}


@pytest.mark.parametrize("case", cases("cache/heap.jsonl"))
def test_heap(case: dict[str, Any]) -> None:
    """The popped and found objects and the errors equal Go's after every step."""
    replay = HeapReplay()
    for step in case["steps"]:
        assert replay.run(step["op"], step["args"]) == step["expect"], step
        check_invariants(replay.heap)
