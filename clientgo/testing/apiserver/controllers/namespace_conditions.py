"""The conditions of a namespace that is being deleted: remaining objects, and finalizers that block the deletion.

Mirrors the conditions of Kubernetes' namespace controller (pkg/controller/namespace/deletion). They explain why a
namespace stays in Terminating. Pure functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.wire.jsonio import Json

FINALIZER = "kubernetes"


class Remains:
    """The remaining objects of a namespace: numbers by resource and by finalizer."""

    def __init__(self) -> None:
        self.resources: Counter[str] = Counter()
        self.finalizers: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self.resources)

    def __repr__(self) -> str:
        return f"<Remains {dict(self.resources)}>"

    def add(self, resource: Resource, objects: Iterable[Stored]) -> None:
        for stored in objects:
            # The dot stands there for the core group, too.
            self.resources[f"{resource.plural}.{resource.group}"] += 1
            self.finalizers.update(stored.obj["metadata"].get("finalizers") or ())


def without_finalizer(obj: Json) -> Json:
    """Return the namespace without its controller's finalizer. Other finalizers stay."""
    spec = obj.get("spec") or {}
    left = [name for name in spec.get("finalizers") or () if name != FINALIZER]
    return {**obj, "spec": {**spec, "finalizers": left or None}}


def with_conditions(obj: Json, remains: Remains, now: str) -> Json:
    """Return the namespace with conditions that name the remaining content."""
    status = obj.get("status") or {}
    known = {condition.get("type"): condition for condition in status.get("conditions") or ()}
    conditions = [_condition(known.get(row[0]), *row, now) for row in _rows(remains)]
    return {**obj, "status": {**status, "conditions": conditions}}


def _rows(remains: Remains) -> list[tuple[str, str, str, str]]:
    rows = [
        ("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
    ]
    if remains.resources:
        texts = [f"{name} has {count} resource instances" for name, count in sorted(remains.resources.items())]
        text = f"Some resources are remaining: {', '.join(texts)}"
        rows.append(("NamespaceContentRemaining", "True", "SomeResourcesRemain", text))
    else:
        text = "All content successfully removed"
        rows.append(("NamespaceContentRemaining", "False", "ContentRemoved", text))
    if remains.finalizers:
        texts = [f"{name} in {count} resource instances" for name, count in sorted(remains.finalizers.items())]
        text = f"Some content in the namespace has finalizers remaining: {', '.join(texts)}"
        rows.append(("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", text))
    else:
        text = "All content-preserving finalizers finished"
        rows.append(("NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers", text))
    return rows


def _condition(before: Json | None, kind: str, status: str, reason: str, message: str, now: str) -> Json:
    moved = before is None or before.get("status") != status
    since = now if moved or before is None else before.get("lastTransitionTime", now)
    return {"type": kind, "status": status, "lastTransitionTime": since, "reason": reason, "message": message}
