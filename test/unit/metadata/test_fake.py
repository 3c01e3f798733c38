"""The fake metadata client: objects as heads, actions recorded, reactors asked first."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context, testing
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.metadata import fake

CTX = context.background()
DEPLOYMENTS = GroupVersionResource("apps", "v1", "deployments")


def head(name: str, **labels: str) -> metav1.PartialObjectMetadata:
    obj = metav1.PartialObjectMetadata(metadata=metav1.ObjectMeta(namespace="ns", name=name, labels=labels))
    obj.api_version, obj.kind = "apps/v1", "Deployment"
    return obj


def new_client(*objects: metav1.PartialObjectMetadata) -> fake.FakeMetadataClient:
    scheme = fake.new_test_scheme()
    metav1.add_meta_to_scheme(scheme)
    return fake.new_simple_metadata_client(scheme, *objects)


def test_what_was_put_in_is_read_and_filtered_by_labels() -> None:
    deployments = new_client(head("a", tier="x"), head("b")).resource(DEPLOYMENTS).namespace("ns")
    assert deployments.get(CTX, "a").get_labels() == {"tier": "x"}
    listed = deployments.list(CTX, metav1.ListOptions(label_selector="tier=x"))
    assert [item.get_name() for item in listed.items] == ["a"]


def test_writes_change_what_is_there_and_are_recorded() -> None:
    client = new_client(head("a"))
    deployments: Any = client.resource(DEPLOYMENTS).namespace("ns")
    deployments.create_fake(head("new"), metav1.CreateOptions())
    changed = head("new", tier="x")
    deployments.update_fake(changed, metav1.UpdateOptions())
    assert deployments.get(CTX, "new").get_labels() == {"tier": "x"}
    deployments.patch(CTX, "new", PatchType.MERGE, b'{"metadata": {"labels": {"tier": "y"}}}')
    assert deployments.get(CTX, "new").get_labels() == {"tier": "y"}
    deployments.delete(CTX, "a")
    with pytest.raises(apierrors.StatusError) as caught:
        deployments.get(CTX, "a")
    assert apierrors.is_not_found(caught.value)
    verbs = [action.get_verb() for action in client.actions()]
    assert verbs == ["create", "update", "get", "patch", "get", "delete", "get"]


def test_a_reactor_can_answer_first() -> None:
    client = new_client(head("a"))

    def refuse(action: testing.Action) -> tuple[bool, Any]:
        raise apierrors.new_forbidden(DEPLOYMENTS.group_resource(), "a", "no")

    client.prepend_reactor("get", "deployments", refuse)
    with pytest.raises(apierrors.StatusError) as caught:
        client.resource(DEPLOYMENTS).namespace("ns").get(CTX, "a")
    assert apierrors.is_forbidden(caught.value)


def test_a_watch_reports_writes() -> None:
    deployments: Any = new_client().resource(DEPLOYMENTS).namespace("ns")
    watcher = deployments.watch(CTX)
    deployments.create_fake(head("a"), metav1.CreateOptions())
    event = watcher.result_chan().receive()[0]
    assert event.object.get_name() == "a"
    watcher.stop()
