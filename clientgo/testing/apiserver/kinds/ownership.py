"""How the fields of a served resource merge, and who owns them after a write."""

from __future__ import annotations

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
    if resource.struct is None:
        return {"metadata": {}}
    zero: Json = resource.struct.decode({}, schema.Context(), "", "")
    return zero


def set_managed(obj: Json, managed: list[Json]) -> None:
    """Write the entries into an object of the caller's own."""
    if managed:
        obj["metadata"]["managedFields"] = managed
    else:
        obj["metadata"].pop("managedFields", None)


def scaled(entries: list[Json], writer: managedfields.Writer, replicas_path: str) -> list[Json]:
    """The managedFields after the scale subresource has changed the number of replicas, whose owner is the writer."""
    if not entries:
        return []
    managers = managedfields.Managers(entries)
    path = tuple(f"f:{name}" for name in replicas_path.lstrip(".").split("."))
    key = (writer.manager, "Update", writer.api_version, writer.subresource)
    managers.sets = {other: paths - {path} for other, paths in managers.sets.items()}
    # As in Go, nobody notes the time.
    managers.sets[key], managers.times[key] = {path}, ""
    return managers.encode()


def without_times(obj: Json) -> Json:
    """The object without the times of its managedFields; a view that shares everything else with it."""
    metadata = obj["metadata"]
    entries = [
        {name: value for name, value in entry.items() if name != "time"}
        for entry in metadata.get("managedFields") or ()
    ]
    return {**obj, "metadata": {**metadata, "managedFields": entries}}
