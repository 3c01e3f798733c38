"""Merge rules of a resource's fields, and the owners of the fields after a write."""

from __future__ import annotations

from functools import cache

from clientgo.apimachinery.util import managedfields
from clientgo.applyconfigurations import internal
from clientgo.testing.apiserver.kinds import schema
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.wire.jsonio import Json


def merge_node(resource: Resource) -> managedfields.Node:
    if resource.custom:
        return managedfields.of_schema(resource.structural, root=True)
    if resource.struct is None:
        return managedfields.DEDUCED_OBJECT
    return internal.of_type(resource.struct.package, resource.struct.name)


def zero(resource: Resource) -> Json:
    """Return a shared object with only the zero values of its type. Callers must not change it."""
    return {"metadata": {}} if resource.struct is None else _zero(resource.struct)


# Types do not change.
@cache
def _zero(struct: schema.Struct) -> Json:
    zero: Json = struct.decode({}, schema.Context(), "", "")
    return zero


def set_managed(obj: Json, managed: list[Json]) -> None:
    """Write the entries to an object that belongs to the caller."""
    if managed:
        obj["metadata"]["managedFields"] = managed
    else:
        obj["metadata"].pop("managedFields", None)



def without_times(obj: Json) -> Json:
    """Return the object without the times in its managedFields. The result shares everything else with the object."""
    metadata = obj["metadata"]
    entries = [
        {name: value for name, value in entry.items() if name != "time"}
        for entry in metadata.get("managedFields") or ()
    ]
    return {**obj, "metadata": {**metadata, "managedFields": entries}}
