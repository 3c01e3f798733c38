"""Priority: the number behind a pod's priority class, of the default class without one."""

from __future__ import annotations

from collections.abc import Iterator

from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json

CLASSES = "scheduling.k8s.io/priorityclasses"
_PREEMPT = "PreemptLowerPriority"
_SYSTEM = {
    "system-node-critical": (
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    "system-cluster-critical": (
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
}


def bootstrap_objects() -> Iterator[Json]:
    """Yield the priority classes that every cluster has."""
    for name, (value, text) in _SYSTEM.items():
        yield {"metadata": {"name": name}, "value": value, "description": text}


def admit(store: Store, request: AdmissionRequest) -> None:
    if request.resource.storage != "/pods":
        return
    spec = request.obj["spec"]
    name, value, policy = _class_of(store, request, spec.get("priorityClassName", ""))
    given = spec.get("priority")
    if given is not None and given != value:
        why = f"the integer value of priority ({given}) must not be provided in pod spec; priority admission controller"
        why += f" computed {value} from the given PriorityClass name"
        raise errors.forbidden("", "pods", request.name, why)
    if name:
        spec["priorityClassName"] = name
    spec["priority"] = value
    given = spec.get("preemptionPolicy")
    if given is not None and given != policy:
        why = f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission "
        why += f"controller computed {policy} from the given PriorityClass name"
        raise errors.forbidden("", "pods", request.name, why)
    spec["preemptionPolicy"] = policy


def _class_of(store: Store, request: AdmissionRequest, name: str) -> tuple[str, int, str]:
    """Name, value and preemption policy of the class that a pod is in."""
    if not name:
        default = _default(store)
        return _facts(default) if default is not None else ("", 0, _PREEMPT)
    stored = store.get(CLASSES, name)
    if stored is not None:
        return _facts(stored.obj)
    why = f"no PriorityClass with name {name} was found"
    raise errors.forbidden("", "pods", request.name, why)


def _default(store: Store) -> Json | None:
    """Return the PriorityClass with globalDefault, or None.

    If there are several, returns the one with the lowest value.
    """
    found = [stored.obj for stored in store.list(CLASSES)[1] if stored.obj.get("globalDefault")]
    return min(found, key=lambda obj: int(obj.get("value", 0)), default=None)


def _facts(obj: Json) -> tuple[str, int, str]:
    return obj["metadata"]["name"], obj.get("value", 0), obj.get("preemptionPolicy") or _PREEMPT
