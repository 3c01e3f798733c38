"""The runtime's typed clients and caches of built-in kinds ask for protobuf, all others for JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from ctrlcluster import FORMS, Cluster, deployment, in_form, kind_in_form, new_cluster
from decoding import is_undecoded, protobuf_is_the_default

from clientgo import context, rest
from clientgo.api.apps import v1 as appsv1
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.core import v1 as corev1
from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import ResourceObject, Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.controller_runtime import cache, client
from clientgo.golang import http

pytestmark = [protobuf_is_the_default, pytest.mark.shared_server]

CTX = context.background()
JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
FIRST = f"{PROTOBUF}, */*"
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")


class Recorder:
    """Passes requests on, and remembers what was sent and what came back."""

    def __init__(self, inner: http.Client) -> None:
        self._inner = inner
        self.sent: list[tuple[str, str, str]] = []
        self.got: list[str] = []

    def round_trip(self, request: http.Request) -> http.Response:
        headers = request.headers
        self.sent.append((request.method, headers.get("Accept") or "", headers.get("Content-Type") or ""))
        response = self._inner.do(request)
        self.got.append((response.headers.get("Content-Type") or "").partition(";")[0])
        return response


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with new_cluster() as cluster:
        yield cluster


@pytest.fixture
def recorder(cluster: Cluster) -> Recorder:
    return Recorder(cluster.http_client)


def client_of(cluster: Cluster, recorder: Recorder, **content: Any) -> client.WithWatch:
    config = rest.copy_config(cluster.config)
    for name in ("content_type", "accept_content_types"):
        setattr(config, name, content.pop(name, ""))
    opts = client.Options(http_client=http.Client(recorder), mapper=cluster.client.rest_mapper(), **content)
    return client.new_with_watch(config, opts)


def test_every_method_asks_for_protobuf_and_writes_json(cluster: Cluster, recorder: Recorder, ns: str) -> None:
    c = client_of(cluster, recorder)
    web = deployment(ns, "web")
    c.create(CTX, web)
    c.update(CTX, web)
    c.status().update(CTX, web)
    before = web.deep_copy()
    web.spec.replicas = 2
    c.patch(CTX, web, client.merge_from(before))
    c.apply(CTX, deployment(ns, "web"), client.FieldOwner("m"), client.FORCE_OWNERSHIP)
    found = c.get(CTX, client.object_key_from_object(web), appsv1.Deployment)
    scale = c.sub_resource("scale").get(CTX, found, autoscalingv1.Scale)
    c.sub_resource("scale").update(CTX, found, client.with_sub_resource_body(scale))
    c.list(CTX, appsv1.DeploymentList, client.InNamespace(ns))
    c.watch(CTX, appsv1.DeploymentList, client.InNamespace(ns)).stop()
    c.delete(CTX, found)
    c.delete_all_of(CTX, appsv1.Deployment, client.InNamespace(ns))

    assert recorder.sent == [
        ("POST", FIRST, JSON),
        ("PUT", FIRST, JSON),
        ("PUT", FIRST, JSON),
        ("PATCH", FIRST, "application/merge-patch+json"),
        # As in Go, which has another client for these.
        ("PATCH", f"{JSON}, */*", "application/apply-patch+yaml"),
        ("GET", FIRST, ""),
        ("GET", FIRST, ""),
        ("PUT", FIRST, JSON),
        ("GET", FIRST, ""),
        ("GET", FIRST, ""),
        ("DELETE", FIRST, JSON),
        ("DELETE", FIRST, JSON),
    ]
    assert recorder.got == [PROTOBUF] * 4 + [JSON] + [PROTOBUF] * 7


@pytest.mark.parametrize(
    ("content", "accepted", "written"),
    [
        ({"content_type": JSON}, f"{JSON}, */*", JSON),
        ({"content_type": PROTOBUF}, FIRST, PROTOBUF),
        ({"accept_content_types": JSON}, JSON, JSON),
        ({"accept_content_types": PROTOBUF}, PROTOBUF, JSON),
    ],
)
def test_the_config_decides_first(
    cluster: Cluster, recorder: Recorder, ns: str, content: Any, accepted: str, written: str
) -> None:
    client_of(cluster, recorder, **content).create(CTX, deployment(ns, "web"))
    assert recorder.sent == [("POST", accepted, written)]


@pytest.mark.parametrize(("form", "media"), [("unstructured", JSON), ("metadata", PROTOBUF)])
def test_unstructured_objects_come_in_json(
    cluster: Cluster, recorder: Recorder, ns: str, form: str, media: str
) -> None:
    web = deployment(ns, "web")
    cluster.client.create(CTX, web)
    c = client_of(cluster, recorder)
    found = c.get(CTX, client.object_key_from_object(web), kind_in_form(appsv1.Deployment, form))
    assert (found.get_uid(), found.kind) == (web.get_uid(), "Deployment")
    assert recorder.got == [media]
    assert (PROTOBUF in recorder.sent[0][1]) == (media == PROTOBUF)


class Deployment(ResourceObject):
    """A user's own class for a built-in kind, which has no message."""

    GROUP_VERSION_KIND = DEPLOYMENT


@pytest.mark.parametrize("module", [__name__, "__main__"])
def test_a_class_without_a_message_comes_in_json(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, recorder: Recorder, ns: str, module: str
) -> None:
    protobuf.message_of.cache_clear()
    monkeypatch.setattr(Deployment, "__module__", module)
    web = deployment(ns, "web")
    cluster.client.create(CTX, web)
    scheme = Scheme("own")
    metav1.add_to_group_version(scheme, DEPLOYMENT.group_version())
    scheme.add_known_types(DEPLOYMENT.group_version(), Deployment)
    c = client_of(cluster, recorder, scheme=scheme)
    found = c.get(CTX, client.object_key_from_object(web), Deployment)
    assert found.to_dict()["spec"]["replicas"] == 1
    assert recorder.got == [JSON]


def test_kinds_that_are_not_built_in_come_in_json(cluster: Cluster, recorder: Recorder) -> None:
    """Definitions of custom resources have messages, but Go's scheme of kinds with protobuf has not got them."""
    scheme = Scheme("definitions")
    apiextensionsv1.add_to_scheme(scheme)
    client_of(cluster, recorder, scheme=scheme).list(CTX, apiextensionsv1.CustomResourceDefinitionList)
    assert recorder.got == [JSON]


def test_a_cache_keeps_the_messages(cluster: Cluster, recorder: Recorder, ns: str) -> None:
    """Its objects say their kind, as those that came in JSON do, and still they are not decoded for it."""
    # The first that comes is decoded at once, if it comes as an event.
    for name in ("a", "web"):
        cluster.client.create(CTX, deployment(ns, name, tier="front"))
    opts = cache.Options(http_client=http.Client(recorder), mapper=cluster.client.rest_mapper())
    made = cache.new(cluster.config, opts)
    ctx, cancel = context.with_cancel(CTX)
    thread = threading.Thread(target=made.start, args=(ctx,), name="cache")
    thread.start()
    try:
        found = made.get(CTX, client.ObjectKey(ns, "web"), appsv1.Deployment)
        assert (found.kind, found.get_labels(), found.spec.replicas) == ("Deployment", {"tier": "front"}, 1)
        assert is_undecoded(found)
        copied = found.deep_copy()
        assert is_undecoded(copied)
        copied.spec.replicas = 2
        cluster.client.update(CTX, copied)
    finally:
        cancel()
        thread.join()
    assert set(recorder.got) == {PROTOBUF}
    assert {accept for _, accept, _ in recorder.sent} == {FIRST}


@pytest.mark.parametrize("form", FORMS)
def test_objects_are_the_same_in_both_encodings(cluster: Cluster, recorder: Recorder, ns: str, form: str) -> None:
    web = deployment(ns, "web")
    cluster.client.create(CTX, web)
    key = client.object_key_from_object(web)
    over_json = client_of(cluster, Recorder(cluster.http_client), content_type=JSON)
    wanted = in_form(over_json.get(CTX, key, appsv1.Deployment), form)
    assert in_form(client_of(cluster, recorder).get(CTX, key, appsv1.Deployment), form) == wanted
    assert recorder.got == [PROTOBUF]


def test_a_config_map_comes_back_as_it_went(cluster: Cluster, ns: str) -> None:
    made = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a", namespace=ns), binary_data={"k": b"\0\xff"})
    cluster.client.create(CTX, made)
    found = cluster.client.get(CTX, client.ObjectKey(ns, "a"), corev1.ConfigMap)
    assert dict(found.binary_data) == {"k": b"\0\xff"}


def test_a_merge_patch_of_an_object_with_a_cut_string_has_only_what_changed(cluster: Cluster, ns: str) -> None:
    text = "cut \udcc3"
    made = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cut", namespace=ns), data={"k": text})
    cluster.client.create(CTX, made)
    key = client.ObjectKey(ns, "cut")
    for form in (client.merge_from, client.strategic_merge_from):
        found = cluster.client.get(CTX, key, corev1.ConfigMap).deep_copy()
        patch = form(found.deep_copy())
        found.data["n"] = found.data.get("n", "") + "1"
        assert json.loads(patch.data(found)) == {"data": {"n": found.data["n"]}}
        cluster.client.patch(CTX, found, patch)
    after = cluster.client.get(CTX, key, corev1.ConfigMap)
    assert dict(after.data) == {"k": text, "n": "11"}
