"""The generic clients: requests, results, and the mistakes that they refuse. Mirrors gentype/type.go."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from roundtrips import Turns, answer, client_of, status_of

from clientgo import context, gentype
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.serializer import PARAMETER_CODEC

CTX = context.background()
POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}}
PODS = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": {"name": "web"}}]}
WEB = corev1.Pod(metadata=metav1.ObjectMeta(name="web"))


def pods(
    turns: Turns, namespace: str = "ns", **more: Any
) -> gentype.ClientWithListAndApply[corev1.Pod, corev1.PodList]:
    client, _ = client_of(turns)
    return gentype.ClientWithListAndApply("pods", client, namespace, corev1.Pod, corev1.PodList, **more)


@pytest.mark.parametrize(
    ("call", "method", "path", "query"),
    [
        (lambda c: c.get(CTX, "web", metav1.GetOptions(resource_version="1")), "GET", "/web", "resourceVersion=1"),
        (lambda c: c.create(CTX, WEB, metav1.CreateOptions(field_manager="m")), "POST", "", "fieldManager=m"),
        (lambda c: c.update(CTX, WEB, metav1.UpdateOptions(field_manager="m")), "PUT", "/web", "fieldManager=m"),
        (lambda c: c.update_status(CTX, WEB), "PUT", "/web/status", ""),
        (
            lambda c: c.patch(CTX, "web", "application/merge-patch+json", b"{}", metav1.PatchOptions(), "status"),
            "PATCH",
            "/web/status",
            "",
        ),
        (lambda c: c.apply(CTX, WEB, metav1.ApplyOptions(field_manager="m", force=True)), "PATCH", "/web",
         "fieldManager=m&force=true"),
        (lambda c: c.apply_status(CTX, POD), "PATCH", "/web/status", ""),
    ],
)  # fmt: skip
def test_a_method_sends_one_request_and_returns_the_servers_object(
    call: Callable[[Any], corev1.Pod], method: str, path: str, query: str
) -> None:
    found = call(pods(turns := Turns(answer(200, POD))))
    assert (type(found), found.name) == (corev1.Pod, "web")
    (request,) = turns.requests
    assert request.method == method
    assert request.url == f"http://h/api/v1/namespaces/ns/pods{path}{'?' + query if query else ''}"


def test_many_objects_are_listed_and_deleted_within_the_timeout_of_the_options() -> None:
    client = pods(turns := Turns(answer(200, PODS)), namespace="")
    options = metav1.ListOptions(label_selector="a=b", timeout_seconds=5)
    assert [pod.name for pod in client.list(CTX, options).items] == ["web"]
    client.delete_collection(CTX, metav1.DeleteOptions(grace_period_seconds=0), options)
    query = "labelSelector=a%3Db&timeout=5s&timeoutSeconds=5"
    assert [(request.method, request.url) for request in turns.requests] == [
        ("GET", f"http://h/api/v1/pods?{query}"),
        ("DELETE", f"http://h/api/v1/pods?{query}"),
    ]
    assert json.loads(turns.requests[1].body)["gracePeriodSeconds"] == 0


def test_a_deletion_that_is_refused_raises() -> None:
    client = pods(Turns(answer(404, status_of(404, "NotFound", "no"))))
    for call in (lambda: client.delete(CTX, "web"), lambda: client.delete_collection(CTX)):
        with pytest.raises(errors.StatusError):
            call()


def test_a_watch_leaves_the_callers_options_alone() -> None:
    event = json.dumps({"type": "ADDED", "object": POD}).encode() + b"\n"
    client = pods(turns := Turns(answer(200, event, Content_Type="application/json")))
    options = metav1.ListOptions(timeout_seconds=7)
    events = list(client.watch(CTX, options).result_chan())
    assert [event.object.name for event in events] == ["web"]
    assert turns.requests[0].url == "http://h/api/v1/namespaces/ns/pods?timeout=7s&timeoutSeconds=7&watch=true"
    assert options == metav1.ListOptions(timeout_seconds=7)


def test_the_scale_of_an_object_is_applied_with_its_own_type() -> None:
    scale = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "web"}, "spec": {"replicas": 3}}
    client = pods(turns := Turns(answer(200, scale)))
    found = client.apply_subresource(CTX, "web", {"spec": {"replicas": 3}}, None, "scale", autoscalingv1.Scale)
    assert (type(found), found.spec.replicas) == (autoscalingv1.Scale, 3)
    assert turns.requests[0].url.endswith("/pods/web/scale")
    assert json.loads(turns.requests[0].body) == {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "spec": {"replicas": 3},
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.apply(CTX, None), "object provided to Apply must not be nil"),
        (lambda c: c.apply_status(CTX, None), "object provided to Apply must not be nil"),
        (lambda c: c.apply(CTX, {"metadata": {}}), "obj.Name must be provided to Apply"),
        (
            lambda c: c.apply_subresource(CTX, "web", None, None, "scale", autoscalingv1.Scale),
            "scale provided to ApplyScale must not be nil",
        ),
    ],
)
def test_an_apply_of_nothing_is_refused_before_anything_is_sent(call: Callable[[Any], object], message: str) -> None:
    client = pods(turns := Turns(answer(200, POD)))
    with pytest.raises(ValueError, match=f"^{message}$"):
        call(client)
    assert turns.requests == []


def test_options_of_another_package_are_refused() -> None:
    client = pods(turns := Turns(answer(200, POD)))
    with pytest.raises(TypeError, match="expected options of the package metav1"):
        client.get(CTX, "web", {"resourceVersion": "1"})
    assert turns.requests == []


@pytest.mark.parametrize("prefers_protobuf", [None, False, True])
@pytest.mark.parametrize("cls", [gentype.ClientWithList, gentype.ClientWithListAndApply])
def test_a_client_asks_for_protobuf_if_it_is_told_to(cls: Any, prefers_protobuf: bool | None) -> None:
    settings = {} if prefers_protobuf is None else {"prefers_protobuf": prefers_protobuf}
    client, _ = client_of(turns := Turns(answer(200, POD)))
    cls("pods", client, "ns", corev1.Pod, corev1.PodList, **settings).get(CTX, "web")
    assert ("protobuf" in turns.requests[0].headers.get("Accept", "")) is bool(prefers_protobuf)


def test_the_functions_of_go_create_the_four_clients() -> None:
    rest_client, _ = client_of(Turns(lambda request: answer(200, POD)))
    plain = ("pods", rest_client, PARAMETER_CODEC, "ns", corev1.Pod)
    made = {
        gentype.Client: gentype.new_client(*plain),
        gentype.ClientWithApply: gentype.new_client_with_apply(*plain),
        gentype.ClientWithList: gentype.new_client_with_list(*plain, corev1.PodList),
        gentype.ClientWithListAndApply: gentype.new_client_with_list_and_apply(*plain, corev1.PodList),
    }
    for cls, client in made.items():
        assert type(client) is cls
        assert (client.get_client(), client.get_namespace()) == (rest_client, "ns")
        assert client.get(CTX, "web").name == "web"
        assert repr(client) == f"<{cls.__name__} pods in 'ns'>"
    assert repr(pods(Turns(answer()), "")) == "<ClientWithListAndApply pods in 'all namespaces'>"
