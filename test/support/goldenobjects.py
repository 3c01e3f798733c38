"""The objects of golden cases: from their shorthand to Python values and back.

The shorthand stands in golden/README.md: {"name", "ns", "rv", "v", "tags"} is a ConfigMap, {"raw"} a plain string,
{"explicit_key"} an ExplicitKey, {"tombstone", "obj"} a DeletedFinalStateUnknown.
"""

from __future__ import annotations

from typing import Any

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.tools import cache

Shorthand = dict[str, Any]


def to_object(short: Shorthand | None) -> Any:
    """Return the value of a shorthand."""
    if short is None:
        return None
    if "raw" in short:
        return short["raw"]
    if "explicit_key" in short:
        return cache.ExplicitKey(short["explicit_key"])
    if "tombstone" in short:
        return cache.DeletedFinalStateUnknown(short["tombstone"], to_object(short.get("obj")))
    return to_config_map(short)


def to_config_map(short: Shorthand) -> corev1.ConfigMap:
    """Return the ConfigMap of a shorthand."""
    metadata: dict[str, Any] = {}
    for ours, theirs in (("name", "name"), ("ns", "namespace"), ("rv", "resourceVersion")):
        if short.get(ours):
            metadata[theirs] = short[ours]
    if "tags" in short:
        metadata["annotations"] = {"tags": ",".join(short["tags"])}
    document: dict[str, Any] = {"metadata": metadata}
    if "v" in short:
        document["data"] = {"v": short["v"]}
    return corev1.ConfigMap.from_dict(document)


def to_shorthand(obj: Any) -> Any:
    """Return the shorthand of an object, as the golden files write it in results."""
    if obj is None:
        return None
    if isinstance(obj, cache.DeletedFinalStateUnknown):
        return {"tombstone": obj.key, "obj": to_shorthand(obj.obj)}
    if isinstance(obj, str):
        return {"raw": obj}
    short = {"name": obj.get_name(), "ns": obj.get_namespace(), "rv": obj.get_resource_version(), "v": value(obj)}
    short = {key: text for key, text in short.items() if text or key == "name"}
    if tags(obj):
        short["tags"] = tags(obj)
    return short


def value(obj: Any) -> str:
    """Return the `v` of a ConfigMap, or ""."""
    return str((document_of(obj).get("data") or {}).get("v", ""))


def tags(obj: Any) -> list[str]:
    """Return the `tags` of a ConfigMap, in order."""
    joined = obj.get_annotations().get("tags", "")
    return joined.split(",") if joined else []


def sort_objects(shorts: list[Shorthand]) -> list[Shorthand]:
    """Sort the objects by namespace and name, as the golden files do for the values of a map."""
    return sorted(shorts, key=lambda short: (short.get("ns", ""), short.get("name", "")))


def error_of(err: Exception | None) -> Any:
    """Return an error as the cache files write it."""
    if err is None:
        return None
    if isinstance(err, cache.KeyError):
        return {"kind": "key_error", "inner": str(err.err)}
    return {"kind": "error", "message": str(err)}


def transformer(name: str | None) -> cache.TransformFunc | None:
    """Return the transform function of that name, or None."""
    return None if name is None else {"append_t": append_t, "error_on_w": error_on_w}[name]


def append_t(obj: Any) -> Any:
    """Return a ConfigMap's copy with `+t` appended to its v, and other objects unchanged."""
    if not isinstance(obj, corev1.ConfigMap):
        return obj
    changed = obj.deep_copy()
    changed.data["v"] = value(obj) + "+t"
    return changed


def error_on_w(obj: Any) -> Any:
    """Return the object, unless its v is w."""
    if isinstance(obj, corev1.ConfigMap) and value(obj) == "w":
        raise ValueError("transform failed for w")
    return obj
