"""Conversion of managers between an object's replicas and its scale subresource.

Mirrors k8s.io/apimachinery/pkg/util/managedfields/scalehandler.go. The owner of an object's replicas also owns the
replicas of its Scale, and vice versa.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clientgo.apimachinery.util.managedfields.fieldmanager import Managers
from clientgo.apimachinery.util.managedfields.fieldpath import Path

SCALE_VERSION = "autoscaling/v1"
_REPLICAS: Path = ("f:spec", "f:replicas")


class ScaleHandler:
    """A converter of managers between an object and its Scale. Go: managedfields.ScaleHandler.

    `mappings` holds the path of the replicas for each version of the object, None for a version without scale.
    """

    def __init__(self, entries: Any, api_version: str, mappings: Mapping[str, Path | None]) -> None:
        self._parent = Managers(entries)
        self._api_version = api_version
        self._mappings = mappings

    def __repr__(self) -> str:
        return f"<ScaleHandler {self._api_version} {self._parent!r}>"

    def to_subresource(self) -> list[dict[str, Any]]:
        """Return the owners of the replicas as managers of the Scale. Go: ToSubresource."""
        out = Managers(())
        for key, paths in self._parent.sets.items():
            path = self._mappings.get(self._parent.versions[key])
            if path is not None and path in paths:
                out.sets[key] = {_REPLICAS}
                out.times[key] = self._parent.times[key]
                out.versions[key] = SCALE_VERSION
        return out.encode()

    def to_parent(self, scale_entries: Any) -> list[dict[str, Any]]:
        """Return the object's managers after a write to its Scale. Go: ToParent."""
        parent, out = self._parent, Managers(())
        scale = Managers(scale_entries).sets
        for key, paths in parent.sets.items():
            version = parent.versions[key]
            if version not in self._mappings:
                continue
            path = self._mappings[version]
            if path is not None and path in paths and scale.pop(key, None) is None:
                # Another manager owns them now.
                paths = paths - {path}
            out.sets[key], out.times[key], out.versions[key] = paths, parent.times[key], version
        replicas = self._mappings[self._api_version]
        for key, paths in scale.items():
            if _REPLICAS in paths and replicas is not None:
                # Without a time: a new manager has one only in the Scale.
                out.sets[key], out.versions[key] = {replicas}, self._api_version
                out.times[key] = parent.times.get(key, "")
        return out.encode()
