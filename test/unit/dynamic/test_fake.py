"""The fake dynamic client."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo import context, testing
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.dynamic import fake
from clientgo.kubernetes.scheme import SCHEME

CTX = context.background()
FOOS = GroupVersionResource("example.com", "v1", "foos")
PODS = GroupVersionResource("", "v1", "pods")


def foo(name: str, ns: str = "ns", **labels: str) -> Unstructured:
    metadata: dict[str, Any] = {"name": name, "namespace": ns}
    if labels:
        metadata["labels"] = labels
    return Unstructured.from_dict({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": metadata})


def names(client: fake.FakeDynamicClient, ns: str = "", **options: Any) -> list[str]:
    found = client.resource(FOOS).namespace(ns).list(CTX, metav1.ListOptions(**options))
    assert (found.get_kind(), found.get_api_version()) == ("FooList", "example.com/v1")
    return [item.get_name() for item in found.items]


def test_life_of_an_object() -> None:
    client = fake.new_simple_dynamic_client(runtime.Scheme(), foo("old"))
    foos = client.resource(FOOS).namespace("ns")
    created = foos.create(CTX, foo("new", app="x"))
    assert created == foo("new", app="x")
    created.object["spec"] = {"size": 1}
    assert foos.update(CTX, created).object["spec"] == {"size": 1}
    patched = foos.patch(CTX, "new", PatchType.MERGE, json.dumps({"spec": {"size": 2}}).encode())
    assert patched.object["spec"] == {"size": 2}
    assert foos.get(CTX, "new") == patched
    assert names(client) == ["new", "old"]
    assert names(client, label_selector="app=x") == ["new"]
    assert names(client, "other") == []
    foos.delete(CTX, "new")
    with pytest.raises(apierrors.StatusError) as raised:
        foos.get(CTX, "new")
    assert apierrors.is_not_found(raised.value)
    verbs = [action.get_verb() for action in client.actions()]
    assert verbs == ["create", "update", "patch", "get", "list", "list", "list", "delete", "get"]


def test_typed_objects_become_unstructured() -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="p", namespace="ns"))
    client = fake.new_simple_dynamic_client(SCHEME, pod)
    (found,) = client.resource(PODS).list(CTX).items
    assert isinstance(found, Unstructured)
    assert (found.get_kind(), found.get_api_version(), found.get_name()) == ("Pod", "v1", "p")
    assert client.resource(PODS).namespace("ns").get(CTX, "p") == found


def test_custom_list_kinds() -> None:
    mice = GroupVersionResource("example.com", "v1", "mice")
    client = fake.new_simple_dynamic_client_with_custom_list_kinds(runtime.Scheme(), {mice: "MouseList"})
    mouse = Unstructured.from_dict({"apiVersion": "example.com/v1", "kind": "Mouse", "metadata": {"name": "m"}})
    client.resource(mice).create(CTX, mouse)
    assert [item.get_name() for item in client.resource(mice).list(CTX).items] == ["m"]
    with pytest.raises(ValueError, match="you must register resource to list kind"):
        client.resource(FOOS).list(CTX)
    with pytest.raises(ValueError, match="must end in List"):
        fake.new_simple_dynamic_client_with_custom_list_kinds(runtime.Scheme(), {mice: "Mice"})


def test_watch_and_subresources() -> None:
    client = fake.new_simple_dynamic_client(runtime.Scheme(), foo("a"))
    foos = client.resource(FOOS).namespace("ns")
    watcher = foos.watch(CTX)
    foos.update_status(CTX, foo("a", app="x"))
    received = [watcher.result_chan().receive(timeout=10)[0].type for _ in range(2)]
    assert received == ["ADDED", "MODIFIED"]
    watcher.stop()
    assert [(action.get_verb(), action.get_subresource()) for action in client.actions()] == [
        ("watch", ""),
        ("update", "status"),
    ]


def test_reactors_answer_first() -> None:
    client = fake.new_simple_dynamic_client(runtime.Scheme(), foo("a"))
    client.prepend_reactor("get", "foos", lambda action: (True, foo("other")))
    assert client.resource(FOOS).namespace("ns").get(CTX, "a").get_name() == "other"
    client.prepend_reactor("patch", "foos/status", lambda action: (True, None))
    assert client.resource(FOOS).apply_status(CTX, "a", foo("a")) == Unstructured()
    action = client.actions()[-1]
    assert isinstance(action, testing.PatchActionImpl)
    assert (action.patch_type, action.subresource) == (PatchType.APPLY, "status")


def test_other_methods_are_recorded() -> None:
    client = fake.new_simple_dynamic_client(runtime.Scheme(), foo("a"))
    client.resource(FOOS).delete_collection(CTX, list_options=metav1.ListOptions(label_selector="a=b"))
    (action,) = client.actions()
    assert isinstance(action, testing.DeleteCollectionActionImpl)
    assert client.is_watch_list_semantics_un_supported()
    assert client.tracker().get(FOOS, "ns", "a") == foo("a")
