"""Key functions against what Go answered."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases
from goldenobjects import to_object

from clientgo.tools import cache


def on_key(func: Any) -> Any:
    return lambda args: func(args["key"])


def on_object(func: Any) -> Any:
    return lambda args: func(to_object(args["object"]))


FUNCTIONS = {
    "meta_namespace_key_func": on_object(cache.meta_namespace_key_func),
    "deletion_handling_meta_namespace_key_func": on_object(cache.deletion_handling_meta_namespace_key_func),
    "object_to_name": on_object(cache.object_to_name),
    "deletion_handling_object_to_name": on_object(cache.deletion_handling_object_to_name),
    "meta_namespace_index_func": on_object(cache.meta_namespace_index_func),
    "split_meta_namespace_key": on_key(cache.split_meta_namespace_key),
    "parse_object_name": on_key(cache.parse_object_name),
}


def describe(result: Any) -> dict[str, Any]:
    if isinstance(result, cache.ObjectName):
        return {"name": result.name, "namespace": result.namespace, "string": str(result)}
    if isinstance(result, str):
        return {"key": result}
    if isinstance(result, tuple) and len(result) == 2:
        return {"namespace": result[0], "name": result[1]}
    return {"values": list(result)}


@pytest.mark.parametrize("case", cases("cache/key_funcs.jsonl"))
def test_key_funcs(case: dict[str, Any]) -> None:
    """Each answers as Go's does, errors included."""
    for step in case["steps"]:
        expect = step["expect"]
        try:
            result = FUNCTIONS[step["op"]](step["args"])
        except ValueError as err:
            # What Go returns beside an error has no place here.
            assert str(err) == expect["error"], step
            continue
        assert {"error": None, **describe(result)} == expect, step
