"""The defaults and bounds that LimitRanges set for pods and claims. No server runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.testing.apiserver.admission import limit_ranger
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import copy

Json = dict[str, Any]
REGISTRY = Registry()
NOTE = "kubernetes.io/limit-ranger"


class Ranges:
    """The part of a store that the plugin reads: LimitRanges in the namespace ns."""

    def __init__(self, *limits: Json) -> None:
        self._found = [SimpleNamespace(obj={"spec": {"limits": [limit]}}) for limit in limits]

    def count(self, storage: str) -> int:
        assert storage == "/limitranges"
        return len(self._found)

    def list(self, storage: str, prefix: str) -> tuple[int, list[Any]]:
        assert (storage, prefix) == ("/limitranges", "ns/")
        return 1, self._found


def request(storage: str, obj: Json, **more: Any) -> AdmissionRequest:
    resource = REGISTRY.by_storage(storage)
    assert resource is not None
    return AdmissionRequest(resource, "ns", "x", copy(obj), **more)


def pod(**resources: Json) -> Json:
    container = {"name": "c", **({"resources": resources} if resources else {})}
    return {"metadata": {"name": "x"}, "spec": {"containers": [container]}}


DEFAULTS: Json = {"type": "Container", "default": {"memory": "2", "cpu": "2"}, "defaultRequest": {"cpu": "1"}}


def admitted(storage: str, obj: Json, *limits: Json, **more: Any) -> Json:
    asked = request(storage, obj, **more)
    store: Any = Ranges(*limits)
    limit_ranger.admit(store, asked)
    return asked.obj


def test_a_new_pod_gets_the_defaults() -> None:
    obj = pod()
    obj["spec"]["initContainers"] = [{"name": "i", "resources": {"requests": {"cpu": "3"}}}]
    found = admitted("/pods", obj, DEFAULTS)
    assert found["spec"]["containers"][0]["resources"] == {
        "requests": {"cpu": "1"},
        "limits": {"cpu": "2", "memory": "2"},
    }
    assert found["spec"]["initContainers"][0]["resources"] == {
        "requests": {"cpu": "3"},
        "limits": {"cpu": "2", "memory": "2"},
    }
    assert found["metadata"]["annotations"][NOTE] == (
        "LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c; cpu, memory limit for "
        "init container i"
    )


def test_a_pod_with_its_own_amounts_has_no_annotation() -> None:
    own = pod(requests={"cpu": "5"}, limits={"cpu": "6", "memory": "7"})
    assert admitted("/pods", own, DEFAULTS) == own


@pytest.mark.parametrize("limits", [(), ({**DEFAULTS, "type": "Pod"},)])
def test_only_ranges_of_containers_have_defaults(limits: tuple[Json, ...]) -> None:
    found = admitted("/pods", pod(), *limits)
    assert "annotations" not in found["metadata"]
    assert found["spec"]["containers"][0].get("resources", {}) == {}


@pytest.mark.parametrize(
    ("storage", "obj", "more"),
    [
        ("/pods", pod(), {"old": pod()}),
        ("/pods", pod(), {"subresource": "eviction"}),
        ("/configmaps", {"metadata": {"name": "x"}}, {}),
        ("/persistentvolumeclaims", {"metadata": {"name": "x"}, "spec": {}}, {}),
    ],
)
def test_nothing_else_gets_defaults(storage: str, obj: Json, more: Json) -> None:
    assert admitted(storage, obj, DEFAULTS, **more) == obj


def refusal(storage: str, obj: Json, *limits: Json, **more: Any) -> str:
    """Return the reason, or "" if the write is admitted."""
    store: Any = Ranges(*limits)
    try:
        limit_ranger.validate(store, request(storage, obj, **more))
    except ApiError as err:
        text: str = err.status()["message"]
        return text.partition(" is forbidden: ")[2]
    return ""


def bound(kind: str = "Container", **tables: Json) -> Json:
    return {"type": kind, **tables}


MINIMUM, MAXIMUM = "minimum cpu usage per Container is 2", "maximum cpu usage per Container is 2"
RATIO = "cpu max limit to request ratio per Container is 2"


def amounts(request: str | None, limit: str | None) -> Json:
    given = {"requests": request, "limits": limit}
    return {name: {"cpu": value} for name, value in given.items() if value is not None}


@pytest.mark.parametrize(
    ("limit", "given", "why"),
    [
        (bound(min={"cpu": "2"}), ("2", None), ""),
        (bound(min={"cpu": "2"}), ("2", "2"), ""),
        (bound(min={"cpu": "2"}), (None, "5"), f"{MINIMUM}.  No request is specified"),
        (bound(min={"cpu": "2"}), ("1", None), f"{MINIMUM}, but request is 1"),
        (bound(min={"cpu": "2"}), ("2", "1"), f"{MINIMUM}, but limit is 1"),
        (bound(max={"cpu": "2"}), (None, "2"), ""),
        (bound(max={"cpu": "2"}), ("2", "2"), ""),
        (bound(max={"cpu": "2"}), ("1", None), f"{MAXIMUM}.  No limit is specified"),
        (bound(max={"cpu": "2"}), (None, "3"), f"{MAXIMUM}, but limit is 3"),
        (bound(max={"cpu": "2"}), ("3", "2"), f"{MAXIMUM}, but request is 3"),
        (bound(maxLimitRequestRatio={"cpu": "2"}), ("1", "2"), ""),
        (bound(maxLimitRequestRatio={"cpu": "2"}), (None, "2"),
         f"{RATIO}, but no request is specified or request is 0"),
        (bound(maxLimitRequestRatio={"cpu": "2"}), ("0", "2"),
         f"{RATIO}, but no request is specified or request is 0"),
        (bound(maxLimitRequestRatio={"cpu": "2"}), ("1", None), f"{RATIO}, but no limit is specified or limit is 0"),
        (bound(maxLimitRequestRatio={"cpu": "2"}), ("2", "5"), f"{RATIO}, but provided ratio is 2.500000"),
        (bound(min={"cpu": "2"}, max={"memory": "1"}), ("1", None),
         f"[{MINIMUM}, but request is 1, maximum memory usage per Container is 1.  No limit is specified]"),
    ],
)  # fmt: skip
def test_the_bounds_of_a_container(limit: Json, given: tuple[str | None, str | None], why: str) -> None:
    assert refusal("/pods", pod(**amounts(*given)), limit) == why


def test_the_bounds_of_a_pod_are_those_of_all_containers_together() -> None:
    obj = pod(requests={"cpu": "1"})
    obj["spec"]["containers"].append({"name": "d", "resources": {"requests": {"cpu": "1"}}})
    assert refusal("/pods", obj, bound("Pod", min={"cpu": "2"})) == ""
    wanted = "minimum cpu usage per Pod is 3, but request is 2"
    assert refusal("/pods", obj, bound("Pod", min={"cpu": "3"})) == wanted


CLAIM = "PersistentVolumeClaim"


@pytest.mark.parametrize(
    ("limit", "size", "why"),
    [
        (bound(CLAIM, min={"storage": "1Gi"}, max={"storage": "1Gi"}), "1Gi", ""),
        (bound(CLAIM, min={"storage": "1Gi"}), "1Mi",
         f"minimum storage usage per {CLAIM} is 1Gi, but request is 1Mi"),
        (bound(CLAIM, max={"storage": "1Gi"}), "2Gi",
         f"maximum storage usage per {CLAIM} is 1Gi, but request is 2Gi"),
        (bound(CLAIM, max={"storage": "1Gi"}), None,
         f"maximum storage usage per {CLAIM} is 1Gi.  No request is specified"),
        (bound("Container", max={"storage": "1Gi"}), "2Gi", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_update", [False, True])
def test_the_bounds_of_a_claim(limit: Json, size: str | None, why: str, is_update: bool) -> None:
    spec = {"resources": {"requests": {"storage": size}}} if size else {}
    claim = {"metadata": {"name": "x"}, "spec": spec}
    assert refusal("/persistentvolumeclaims", claim, limit, **({"old": claim} if is_update else {})) == why


@pytest.mark.parametrize("more", [{"old": pod()}, {"subresource": "resize"}])
def test_updates_of_pods_have_no_bounds(more: Json) -> None:
    assert refusal("/pods", pod(), bound(min={"cpu": "2"}), **more) == ""


def test_a_resize_has_the_bounds_and_defaults_of_a_new_pod() -> None:
    resize = {"old": pod(), "subresource": "resize"}
    sized = pod(requests={"cpu": "2"}, limits={"cpu": "2"})
    assert refusal("/pods", sized, bound(max={"cpu": "1"}), **resize) == (
        "maximum cpu usage per Container is 1, but limit is 2"
    )
    found = admitted("/pods", pod(), DEFAULTS, **resize)
    (container,) = found["spec"]["containers"]
    assert container["resources"] == {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "2"}}
    assert "annotations" not in found["metadata"]
