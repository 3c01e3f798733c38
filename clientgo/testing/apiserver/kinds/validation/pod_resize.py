"""Validation of pods/resize. Mirrors ValidatePodResize of pkg/apis/core/validation.

A resize changes the cpu and the memory of a pod or of its containers, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clientgo.apimachinery.api.resource import Quantity, parse_quantity
from clientgo.testing.apiserver.kinds import defaults
from clientgo.testing.apiserver.kinds.validation.pods import MIRROR, pod_spec
from clientgo.testing.apiserver.wire.errors import FieldError, field_forbidden, field_invalid
from clientgo.testing.apiserver.wire.jsonio import Json

_RESIZABLE = ("cpu", "memory")
_TABLES = ("requests", "limits")
_ONLY = "only cpu and memory resources are mutable"


def resize(obj: Json, old: Json) -> list[FieldError]:
    """Validate the whole pod, and that a resize changes only cpu and memory and keeps the QoS class."""
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    if (old["metadata"].get("annotations") or {}).get(MIRROR) is not None:
        return [field_forbidden("", "static pods cannot be resized")]
    if (old_spec.get("os") or {}).get("name") == "windows":
        return [field_forbidden("", "windows pods cannot be resized")]
    errors = [] if new_spec == old_spec else pod_spec(new_spec, "spec")
    qos = defaults.qos_class(old_spec)
    if defaults.qos_class(new_spec) != qos:
        text = "Pod QOS Class may not change as a result of resizing"
        # The class that the pod has, and keeps.
        errors.append(field_invalid("spec", qos, text))
    if not _is_supported(old):
        errors.append(field_forbidden("spec", "Pod running on node without support for resize"))
    errors += _pod_level(new_spec, old_spec)
    misplaced = list(_order(new_spec, old_spec))
    return errors + (misplaced or list(_containers(new_spec, old_spec)))


def _is_supported(old: Json) -> bool:
    """Report whether the pod's node reports the resources of a running container. Go: isPodResizeRequestSupported."""
    for container in (old.get("status") or {}).get("containerStatuses") or ():
        if (container.get("state") or {}).get("running") is not None:
            return container.get("resources") is not None
    return True


def _pod_level(new_spec: Json, old_spec: Json) -> Iterator[FieldError]:
    new, old = new_spec.get("resources"), old_spec.get("resources")
    if old and new is None:
        yield field_forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    for table in _TABLES:
        if _lacks(new or {}, old or {}, table):
            yield field_forbidden(f"spec.resources.{table}", f"pod-level resource {table} cannot be removed")
    if _fixed(new) != _fixed(old):
        yield field_forbidden("spec", f"{_ONLY} at pod-level")


def _order(new_spec: Json, old_spec: Json) -> Iterator[FieldError]:
    for group in ("containers", "initContainers"):
        new, old = new_spec.get(group) or [], old_spec.get(group) or []
        if len(new) != len(old):
            yield field_forbidden(f"spec.{group}", f"{group} may not be added or removed on resize")
            continue
        for i, (after, before) in enumerate(zip(new, old, strict=True)):
            if after.get("name") != before.get("name"):
                yield field_forbidden(f"spec.{group}[{i}].name", f"{group} may not be renamed or reordered on resize")


def _containers(new_spec: Json, old_spec: Json) -> Iterator[FieldError]:
    init, main = (
        list(zip(new_spec.get(group) or (), old_spec.get(group) or (), strict=True))
        for group in ("initContainers", "containers")
    )
    for group, pairs in (("initContainers", init), ("containers", main)):
        for i, (new, old) in enumerate(pairs):
            for table in _TABLES:
                if _lacks(new.get("resources") or {}, old.get("resources") or {}, table):
                    yield field_forbidden(f"spec.{group}[{i}].resources.{table}", f"resource {table} cannot be removed")
    for new, old in main:
        if _without_resizable(new) != _without_resizable(old):
            yield field_forbidden("spec", _ONLY)
    for i, (new, old) in enumerate(init):
        where = f"spec.initContainers[{i}]"
        if _without_resizable(new) != _without_resizable(old):
            text = "only cpu and memory resources for init or sidecar containers are mutable"
            yield field_forbidden(where, text)
        restarts = any(each.get("restartPolicy") == "RestartContainer" for each in new.get("resizePolicy") or ())
        if new != old and new.get("restartPolicy") != "Always" and restarts:
            text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
            yield field_forbidden(where, text)


def _lacks(new: Json, old: Json, table: str) -> bool:
    """Report whether the new resources lack a name of the old ones."""
    return not set(old.get(table) or ()) <= set(new.get(table) or ())


def _without_resizable(container: Json) -> Json:
    return {**container, "resources": _fixed(container.get("resources"))}


def _fixed(resources: Json | None) -> Json:
    """Return the part of the resources that a resize keeps. Quantities are numbers, and empty tables are absent."""
    out: Json = {name: value for name, value in (resources or {}).items() if name not in _TABLES and value}
    for table in _TABLES:
        kept = {
            name: _number(value)
            for name, value in ((resources or {}).get(table) or {}).items()
            if name not in _RESIZABLE
        }
        if kept:
            out[table] = kept
    return out


def _number(value: Any) -> Quantity | str:
    try:
        return parse_quantity(str(value))
    except ValueError:
        return str(value)
