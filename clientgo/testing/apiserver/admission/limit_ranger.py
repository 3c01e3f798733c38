"""LimitRanger: containers get the defaults of a LimitRange; pods and claims must respect its limits.

Mirrors plugin/pkg/admission/limitranger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clientgo.apimachinery.api.resource import Quantity, parse_quantity
from clientgo.testing.apiserver.admission.pod_resources import Amounts, amounts, of_pod
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json

_ANNOTATION = "kubernetes.io/limit-ranger"
_PODS, _CLAIMS = "/pods", "/persistentvolumeclaims"


def admit(store: Store, request: AdmissionRequest) -> None:
    """Fill in the defaults, and note in an annotation which. A resize changes no annotation."""
    if not _is_new_pod(request) and not request.is_resize:
        return
    for limits in _limits(store, request.namespace):
        changes = _complete(request.obj["spec"], limits)
        if changes and not request.is_resize:
            metadata = request.obj["metadata"]
            text = f"LimitRanger plugin set: {'; '.join(changes)}"
            metadata["annotations"] = {**(metadata.get("annotations") or {}), _ANNOTATION: text}


def validate(store: Store, request: AdmissionRequest) -> None:
    is_claim = request.resource.storage == _CLAIMS and not request.subresource
    if not is_claim and not _is_new_pod(request) and not request.is_resize:
        return
    for limits in _limits(store, request.namespace):
        found = _claim(limits, request.obj) if is_claim else found_in_pod(limits, request.obj["spec"])
        texts = list(dict.fromkeys(found))
        if texts:
            why = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            raise errors.forbidden("", request.resource.plural, request.name, why)


def _is_new_pod(request: AdmissionRequest) -> bool:
    return request.resource.storage == _PODS and request.old is None and not request.subresource


def _limits(store: Store, namespace: str) -> Iterator[list[Json]]:
    """Yield the limits of each LimitRange in a namespace."""
    if not store.count("/limitranges"):
        return
    for stored in store.list("/limitranges", f"{namespace}/")[1]:
        yield (stored.obj.get("spec") or {}).get("limits") or []


# ---- defaults


def _complete(spec: Json, limits: list[Json]) -> list[str]:
    default: dict[str, Json] = {"requests": {}, "limits": {}}
    for limit in limits:
        if limit.get("type") == "Container":
            default["requests"].update(limit.get("defaultRequest") or {})
            default["limits"].update(limit.get("default") or {})
    changes: list[str] = []
    for group, shown in (("containers", "container"), ("initContainers", "init container")):
        for container in spec.get(group) or ():
            changes += _complete_container(container, default, shown)
    return changes


def _complete_container(container: Json, default: dict[str, Json], shown: str) -> list[str]:
    changes = []
    resources = dict(container.get("resources") or {})
    for kind in ("requests", "limits"):
        given = resources.get(kind) or {}
        missing = sorted(name for name in default[kind] if name not in given)
        if missing:
            resources[kind] = {**given, **{name: default[kind][name] for name in missing}}
            changes.append(f"{', '.join(missing)} {kind[:-1]} for {shown} {container.get('name', '')}")
    container["resources"] = resources
    return changes


# ---- bounds


def _claim(limits: list[Json], obj: Json) -> Iterator[str]:
    requests = amounts(((obj.get("spec") or {}).get("resources") or {}).get("requests"))
    for limit in limits:
        if limit.get("type") == "PersistentVolumeClaim":
            yield from _each(limit, "min", _least, requests, {})
            yield from _each(limit, "max", _most_requested, requests, {})


def found_in_pod(limits: list[Json], spec: Json) -> Iterator[str]:
    """Yield a message for each bound of a LimitRange that a pod exceeds."""
    for limit in limits:
        if limit.get("type") == "Container":
            for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
                resources = container.get("resources") or {}
                yield from _bounds(limit, amounts(resources.get("requests")), amounts(resources.get("limits")))
        elif limit.get("type") == "Pod":
            yield from _bounds(limit, of_pod(spec, "requests"), of_pod(spec, "limits"))


def _bounds(limit: Json, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _each(limit, "min", _least, requests, limits)
    yield from _each(limit, "max", _most, requests, limits)
    yield from _each(limit, "maxLimitRequestRatio", _ratio, requests, limits)


_Check = Callable[[str, str, Quantity, Quantity | None, Quantity | None], str]


def _each(limit: Json, table: str, check: _Check, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """Yield the problems that `check` finds in the resources of a limit."""
    for name, bound in sorted((limit.get(table) or {}).items()):
        text = check(name, limit["type"], parse_quantity(str(bound)), requests.get(name), limits.get(name))
        if text:
            yield text


def _least(name: str, kind: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    head = f"minimum {name} usage per {kind} is {bound}"
    if request is None:
        return f"{head}.  No request is specified"
    if request < bound:
        return f"{head}, but request is {request}"
    return f"{head}, but limit is {limit}" if limit is not None and limit < bound else ""


def _most_requested(name: str, kind: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    head = f"maximum {name} usage per {kind} is {bound}"
    if request is None:
        return f"{head}.  No request is specified"
    return f"{head}, but request is {request}" if request > bound else ""


def _most(name: str, kind: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    head = f"maximum {name} usage per {kind} is {bound}"
    if limit is None:
        return f"{head}.  No limit is specified"
    if limit > bound:
        return f"{head}, but limit is {limit}"
    return f"{head}, but request is {request}" if request is not None and request > bound else ""


def _ratio(name: str, kind: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    head = f"{name} max limit to request ratio per {kind} is {bound}"
    if request is None or not request:
        return f"{head}, but no request is specified or request is 0"
    if limit is None or not limit:
        return f"{head}, but no limit is specified or limit is 0"
    ratio = limit.milli_value() / request.milli_value()
    return f"{head}, but provided ratio is {ratio:f}" if ratio * 1000 > bound.milli_value() else ""
