"""RuntimeClass: a pod's class must exist, and sets the pod's overhead and scheduling."""

from __future__ import annotations

from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json, copy

_CLASSES = "node.k8s.io/runtimeclasses"


def admit(store: Store, request: AdmissionRequest) -> None:
    if request.resource.storage != "/pods" or request.old is not None or request.subresource:
        return
    spec = request.obj["spec"]
    name = spec.get("runtimeClassName")
    if name is None:
        return
    stored = store.get(_CLASSES, name)
    if stored is None:
        raise _rejected(request, f'RuntimeClass "{name}" not found')
    _set_overhead(request, spec, stored.obj)
    _set_scheduling(request, spec, stored.obj.get("scheduling") or {})


def validate(store: Store, request: AdmissionRequest) -> None:
    if request.resource.storage != "/pods" or request.old is not None or request.subresource:
        return
    spec = request.obj["spec"]
    stored = store.get(_CLASSES, spec.get("runtimeClassName") or "")
    if spec.get("overhead") and (stored is None or not stored.obj.get("overhead")):
        raise _rejected(request, "Pod Overhead set without corresponding RuntimeClass defined Overhead")


def _rejected(request: AdmissionRequest, why: str) -> errors.ApiError:
    return errors.forbidden("", "pods", request.name, f"pod rejected: {why}")


def _set_overhead(request: AdmissionRequest, spec: Json, runtime: Json) -> None:
    fixed = (runtime.get("overhead") or {}).get("podFixed")
    if not fixed:
        return
    if spec.get("overhead") and spec["overhead"] != fixed:
        raise _rejected(request, "Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    spec["overhead"] = copy(fixed)


def _set_scheduling(request: AdmissionRequest, spec: Json, scheduling: Json) -> None:
    wanted, given = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key, value in wanted.items():
        if given.get(key, value) != value:
            text = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
            raise _rejected(request, f"{text}pod.spec.nodeSelector[{key}] = {given[key]}")
    if wanted:
        spec["nodeSelector"] = {**given, **wanted}
    known = list(spec.get("tolerations") or ())
    more = [toleration for toleration in scheduling.get("tolerations") or () if toleration not in known]
    if more:
        spec["tolerations"] = known + copy(more)
