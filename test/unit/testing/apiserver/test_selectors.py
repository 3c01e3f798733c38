"""Field selectors by the objects' own fields. No server runs."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.kinds import selectors
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.wire.errors import ApiError

REGISTRY = Registry()
POD: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "team", "labels": {"app": "web"}},
    "spec": {"nodeName": "n1", "hostNetwork": True},
    "status": {"phase": "Running", "podIP": "10.0.0.1"},
}
EVENT = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod"}, "source": {"component": "kubelet"}}


def selection(text: str, labels: str = "", *, group: str = "", plural: str = "pods") -> selectors.Selection:
    resource = REGISTRY.find(group, "v1", plural)
    assert resource is not None
    return selectors.Selection(resource, labels, text)


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("spec.nodeName=n1", True),
        ("spec.nodeName!=n1", False),
        ("spec.nodeName=n1,status.phase=Running", True),
        ("spec.nodeName=n1,status.phase=Failed", False),
        ("spec.nodeName=n1,status.phase!=Failed", True),
        ("spec.hostNetwork=true", True),
        ("spec.schedulerName=", True),
        ("status.podIPs=10.0.0.1", False),
        ("metadata.namespace=team", True),
    ],
)
def test_all_terms_must_hold(text: str, matches: bool) -> None:
    assert selection(text).matches(POD) is matches


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("metadata.name=web", "web"),
        ("metadata.name!=web", None),
        ("status.phase=a,metadata.name=web", "web"),
        ("", None),
    ],
)
def test_a_selector_of_one_name_says_which(text: str, name: str | None) -> None:
    found = selection(text)
    assert (found.name, found.everything) == (name, text == "")


def test_labels_must_hold_too() -> None:
    assert selection("", "app=web").matches(POD) and not selection("", "app=db").matches(POD)
    assert not selection("spec.nodeName=n1", "app=db").matches(POD)
    assert not selection("spec.nodeName=n2", "app=web").matches(POD)
    assert selection("", "!app").matches({"metadata": {}})


def test_an_event_goes_by_the_names_of_its_group() -> None:
    assert selection("involvedObject.kind=Pod,source=kubelet", plural="events").matches(EVENT)
    assert selection("regarding.kind=Pod", group="events.k8s.io", plural="events").matches(EVENT)
    with pytest.raises(ApiError, match="field label not supported: regarding.kind"):
        selection("regarding.kind=Pod", plural="events")


def test_a_field_nobody_selects_by_is_refused() -> None:
    with pytest.raises(ApiError, match=r"^field label not supported: spec\.volumes$"):
        selection("spec.volumes=a")
    with pytest.raises(ApiError, match='"data" is not a known field selector: only "metadata.name", "metadata.namesp'):
        selection("data=a", plural="configmaps")
