"""A store for a reflector that records its calls."""

from __future__ import annotations

from typing import Any

from goldenobjects import sort_objects, to_shorthand


class RecordingStore:
    """A store that keeps the objects and records its calls."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.ops: list[dict[str, Any]] = []

    def add(self, obj: Any) -> None:
        self._set("add", obj)

    def update(self, obj: Any) -> None:
        self._set("update", obj)

    def _set(self, op: str, obj: Any) -> None:
        self.objects[obj.object_key()] = obj
        self.ops.append({"op": op, "object": to_shorthand(obj)})

    def delete(self, obj: Any) -> None:
        self.objects.pop(obj.object_key(), None)
        self.ops.append({"op": "delete", "object": to_shorthand(obj)})

    def replace(self, objs: Any, resource_version: str) -> None:
        self.objects = {obj.object_key(): obj for obj in objs}
        shorts = sort_objects([to_shorthand(obj) for obj in objs])
        self.ops.append({"op": "replace", "objects": shorts, "resource_version": resource_version})

    def resync(self) -> None:
        self.ops.append({"op": "resync"})

    def bookmark(self, resource_version: str) -> None:
        self.ops.append({"op": "bookmark", "resource_version": resource_version})

    def update_resource_version(self, resource_version: str) -> None:
        self.ops.append({"op": "update_resource_version", "resource_version": resource_version})
