"""The scale client. Go: scale/client_test.go, scale/roundtrip_test.go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from ctrlcluster import CTX, WIDGETS, Cluster, deployment, new_cluster

from clientgo import discovery, dynamic, rest, restmapper, scale, testing
from clientgo.api.apps import v1 as appsv1
from clientgo.api.apps import v1beta1 as appsv1beta1
from clientgo.api.apps import v1beta2 as appsv1beta2
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.extensions import v1beta1 as extensionsv1beta1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.error import NotRegisteredError
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersion, GroupVersionResource
from clientgo.apimachinery.types import NamespacedName, PatchType
from clientgo.apimachinery.util import jsonmergepatch, jsonpatch
from clientgo.discovery.fake import FakeDiscovery
from clientgo.golang import http
from clientgo.rest import fake as fakerest
from clientgo.scale import scheme as scalescheme
from clientgo.scale.fake import FakeScaleClient


def _listed(group_version: str, *resources: metav1.APIResource) -> metav1.APIResourceList:
    return metav1.APIResourceList(group_version=group_version, api_resources=list(resources))


def _resource(name: str, kind: str = "Scale", group: str = "", version: str = "") -> metav1.APIResource:
    return metav1.APIResource(name=name, namespaced=True, kind=kind, group=group, version=version)


# The last resource is in no static list of kinds.
LISTED = [
    _listed(
        "v1",
        _resource("pods", "Pod"),
        _resource("replicationcontrollers", "ReplicationController"),
        _resource("replicationcontrollers/scale", group="autoscaling", version="v1"),
    ),
    _listed("extensions/v1beta1", _resource("replicasets", "ReplicaSet"), _resource("replicasets/scale")),
    _listed(
        "apps/v1beta2",
        _resource("deployments", "Deployment"),
        _resource("deployments/scale", group="apps", version="v1beta2"),
    ),
    _listed(
        "apps/v1beta1",
        _resource("statefulsets", "StatefulSet"),
        _resource("statefulsets/scale", group="apps", version="v1beta1"),
    ),
    _listed(
        "cheese.testing.k8s.io/v27alpha15",
        _resource("cheddars", "Cheddar"),
        _resource("cheddars/scale", group="extensions", version="v1beta1"),
    ),
]
BETA_STATUS = {"replicas": 10, "targetSelector": "foo=bar"}
AT = "namespaces/default"
STORED: dict[str, tuple[str, dict[str, Any]]] = {
    f"/api/v1/{AT}/replicationcontrollers/foo/scale": ("autoscaling/v1", {"replicas": 10, "selector": "foo=bar"}),
    f"/apis/extensions/v1beta1/{AT}/replicasets/foo/scale": ("extensions/v1beta1", BETA_STATUS),
    f"/apis/apps/v1beta1/{AT}/statefulsets/foo/scale": ("apps/v1beta1", BETA_STATUS),
    f"/apis/apps/v1beta2/{AT}/deployments/foo/scale": ("apps/v1beta2", BETA_STATUS),
    f"/apis/cheese.testing.k8s.io/v27alpha15/{AT}/cheddars/foo/scale": ("extensions/v1beta1", BETA_STATUS),
}
RESOURCES = [
    GroupVersionResource("", "v1", "replicationcontrollers"),
    GroupVersionResource("extensions", "v1beta1", "replicasets"),
    GroupVersionResource("apps", "v1beta2", "deployments"),
    GroupVersionResource("apps", "v1beta1", "statefulsets"),
    GroupVersionResource("cheese.testing.k8s.io", "v27alpha15", "cheddars"),
]
NAMES = [gvr.resource for gvr in RESOURCES]


def _scale(replicas: int = 10) -> autoscalingv1.Scale:
    return autoscalingv1.Scale(
        api_version="autoscaling/v1",
        kind="Scale",
        metadata=metav1.ObjectMeta(name="foo"),
        spec=autoscalingv1.ScaleSpec(replicas=replicas),
        status=autoscalingv1.ScaleStatus(replicas=10, selector="foo=bar"),
    )


class Server:
    """Scales in the version of their endpoint. It rejects a scale of any other version."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, request: http.Request) -> http.Response:
        path = request.url.partition("?")[0].removeprefix("https://localhost")
        version, status = STORED[path]
        stored = {
            "apiVersion": version,
            "kind": "Scale",
            "metadata": {"name": "foo"},
            "spec": {"replicas": 10},
            "status": status,
        }
        result: Any = stored
        if request.method == "PUT":
            result = json.loads(_body(request))
            assert result["apiVersion"] == version
            self.bodies.append(result)
        elif request.method == "PATCH":
            patch, content_type = json.loads(_body(request)), request.headers.get("Content-Type")
            if content_type == PatchType.MERGE:
                result = jsonmergepatch.merge_patch(stored, patch)
            else:
                assert content_type == PatchType.JSON
                result = jsonpatch.apply(stored, patch)
        return _response(result)


def _response(document: Any) -> http.Response:
    headers = http.Header({"Content-Type": "application/json"})
    return http.Response(status_code=200, headers=headers, body=http.BytesBody(json.dumps(document).encode()))


def _body(request: http.Request) -> bytes:
    body = request.body
    assert body is not None
    return body if isinstance(body, bytes) else body.read()


def _fake_discovery() -> FakeDiscovery:
    fake = testing.Fake()
    fake.resources = LISTED
    return FakeDiscovery(fake)


def _client(server: Any) -> scale.ScalesGetter:
    disco = _fake_discovery()
    mapper = restmapper.new_discovery_rest_mapper(restmapper.get_api_group_resources(disco))
    client = fakerest.RESTClient(
        client=fakerest.create_http_client(server),
        negotiated_serializer=scale.new_scale_converter().codecs().without_conversion(),
        versioned_api_path="/not/a/real/path",
    )
    return scale.new(
        client, mapper, dynamic.legacy_api_path_resolver_func, scale.new_discovery_scale_kind_resolver(disco)
    )


@pytest.mark.parametrize("gvr", RESOURCES, ids=NAMES)
def test_a_scale_of_any_version_is_read_as_autoscaling_v1(gvr: GroupVersionResource) -> None:
    """Go: TestGetScale."""
    found = _client(Server()).scales("default").get(CTX, gvr.group_resource(), "foo")

    assert found.to_dict() == _scale().to_dict()


@pytest.mark.parametrize("gvr", RESOURCES, ids=NAMES)
def test_a_scale_is_written_in_the_version_of_its_endpoint(gvr: GroupVersionResource) -> None:
    """Go: TestUpdateScale."""
    server, sent = Server(), _scale()

    found = _client(server).scales("default").update(CTX, gvr.group_resource(), sent)

    assert found.to_dict() == _scale().to_dict() == sent.to_dict()
    status = server.bodies[0]["status"]
    if gvr.resource == "replicationcontrollers":
        assert status == {"replicas": 10, "selector": "foo=bar"}
    else:
        assert status == {"replicas": 10, "selector": {"foo": "bar"}, "targetSelector": "foo=bar"}


@pytest.mark.parametrize("gvr", RESOURCES, ids=NAMES)
@pytest.mark.parametrize(
    ("pt", "patch"),
    [
        (PatchType.MERGE, {"spec": {"replicas": 5}}),
        (PatchType.JSON, [{"op": "replace", "path": "/spec/replicas", "value": 5}]),
    ],
    ids=["merge", "json"],
)
def test_a_scale_of_any_version_is_patched(gvr: GroupVersionResource, pt: PatchType, patch: Any) -> None:
    """Go: TestPatchScale."""
    found = _client(Server()).scales("default").patch(CTX, gvr, "foo", pt, json.dumps(patch).encode())

    assert found.to_dict() == _scale(replicas=5).to_dict()


def test_a_response_of_another_kind_is_an_error() -> None:
    def pod(request: http.Request) -> http.Response:
        return _response({"apiVersion": "extensions/v1beta1", "kind": "Deployment"})

    with pytest.raises(ValueError, match="not convertible to autoscaling Scale"):
        _client(pod).scales("default").get(CTX, RESOURCES[0].group_resource(), "foo")


def test_the_errors_of_a_resource_without_scale() -> None:
    client, resolver = _client(Server()), scale.new_discovery_scale_kind_resolver(_fake_discovery())

    with pytest.raises(ValueError, match="unable to get full preferred group-version-resource for nopes"):
        client.scales("default").get(CTX, GroupResource("", "nopes"), "foo")
    with pytest.raises(ValueError, match="could not find proper group-version .* could not find scale subresource"):
        client.scales("default").update(CTX, GroupResource("", "pods"), _scale())
    with pytest.raises(ValueError, match="unable to fetch discovery information for x/v1, Resource=y"):
        resolver.scale_for_resource(GroupVersionResource("x", "v1", "y"))


def test_a_found_kind_is_cached_and_an_error_is_not() -> None:
    disco = _fake_discovery()
    resolver = scale.new_discovery_scale_kind_resolver(disco)

    for _ in range(2):
        assert str(resolver.scale_for_resource(RESOURCES[2]).group_version()) == "apps/v1beta2"
        with pytest.raises(ValueError, match="could not find"):
            resolver.scale_for_resource(GroupVersionResource("", "v1", "pods"))

    assert len(disco.fake.actions()) == 3


@pytest.mark.parametrize(
    "cls",
    [autoscalingv1.Scale, extensionsv1beta1.Scale, appsv1beta1.Scale, appsv1beta2.Scale],
    ids=["autoscaling", "extensions", "v1beta1", "v1beta2"],
)
@pytest.mark.parametrize("selector", ["", "a=b", "a=b,c in (d,e),!f"])
def test_each_version_survives_the_way_through_the_internal_version(cls: Any, selector: str) -> None:
    """Go: TestRoundTrip."""
    converter, gvk = scale.new_scale_converter(), cls.GROUP_VERSION_KIND
    status = {"replicas": 3, "selector" if cls is autoscalingv1.Scale else "targetSelector": selector}
    if cls is not autoscalingv1.Scale and selector == "a=b":
        status["selector"] = {"a": "b"}
    document = {
        "apiVersion": str(gvk.group_version()),
        "kind": "Scale",
        "metadata": {"name": "foo", "labels": {"x": "y"}},
        "spec": {"replicas": 4},
        "status": {key: value for key, value in status.items() if value != ""},
    }

    internal = converter.convert_to_version(cls.from_dict(document), scalescheme.SCHEME_GROUP_VERSION)
    back = converter.convert_to_version(internal, gvk.group_version())

    assert isinstance(internal, scalescheme.Scale)
    assert (internal.status.selector is None) == (selector == "")
    assert back.to_dict() == document


def test_labels_alone_are_the_selector_of_an_old_scale() -> None:
    old = extensionsv1beta1.Scale.from_dict({"status": {"replicas": 1, "selector": {"a": "b"}}})

    found = scale.new_scale_converter().convert_to_version(old, autoscalingv1.SCHEME_GROUP_VERSION)

    assert isinstance(found, autoscalingv1.Scale)
    assert found.status.selector == "a=b"


def test_what_cannot_be_converted() -> None:
    converter = scale.new_scale_converter()
    bad = autoscalingv1.Scale(status=autoscalingv1.ScaleStatus(selector="a in ("))

    with pytest.raises(ValueError, match="failed to parse target selector"):
        converter.convert_to_version(bad, scalescheme.SCHEME_GROUP_VERSION)
    with pytest.raises(NotRegisteredError):
        converter.convert_to_version(_scale(), GroupVersion("policy", "v1"))
    with pytest.raises(NotRegisteredError):
        converter.convert_to_version(appsv1beta1.Deployment(), autoscalingv1.SCHEME_GROUP_VERSION)


def test_the_names_of_the_internal_version() -> None:
    assert str(scalescheme.kind("Scale")) == "Scale.autoscaling"
    assert str(scalescheme.resource("scales")) == "scales.autoscaling"
    assert scalescheme.SCHEME_GROUP_VERSION in scale.new_scale_converter().scale_versions()


def test_the_fake_records_and_its_reactors_supply_the_scales() -> None:
    fake = FakeScaleClient()
    scales = fake.scales("default")
    assert scales.get(CTX, GroupResource("apps", "deployments"), "foo").to_dict() == autoscalingv1.Scale().to_dict()
    fake.add_reactor("*", "deployments", lambda action: (True, _scale(7)))

    found = [
        scales.get(CTX, GroupResource("apps", "deployments"), "foo"),
        scales.update(CTX, GroupResource("apps", "deployments"), _scale()),
        scales.patch(CTX, RESOURCES[2], "foo", PatchType.MERGE, b"{}"),
    ]

    assert [each.spec.replicas for each in found] == [7, 7, 7]
    actions = [(a.get_verb(), a.get_resource().version, a.get_subresource()) for a in fake.actions()]
    assert actions == [
        ("get", "", "scale"),
        ("get", "", "scale"),
        ("update", "", "scale"),
        ("patch", "v1beta2", "scale"),
    ]
    fake.prepend_reactor("*", "*", lambda action: (True, metav1.Status()))
    with pytest.raises(TypeError, match="unexpected return value type Status"):
        scales.get(CTX, GroupResource("apps", "deployments"), "foo")


SCALABLE_WIDGETS: Any = json.loads(json.dumps(WIDGETS))
SCALABLE_WIDGETS["spec"]["versions"][0]["subresources"] = {
    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with new_cluster(crds=[SCALABLE_WIDGETS]) as cluster:
        yield cluster


@pytest.mark.shared_server
def test_built_in_and_custom_resources_of_a_server_are_scaled(cluster: Cluster) -> None:
    namespace = cluster.new_namespace()
    cluster.client.create(CTX, deployment(namespace, "web"))
    config = rest.copy_config(cluster.config)
    config.content_type = "application/vnd.kubernetes.protobuf"
    dynamics = dynamic.new_for_config_and_client(cluster.config, cluster.http_client)
    widgets = dynamics.resource(GroupVersionResource("example.com", "v1", "widgets")).namespace(namespace)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "web"}, "spec": {"replicas": 1}}
    widgets.create(CTX, Unstructured.from_dict(widget))
    disco = discovery.new_discovery_client_for_config_and_client(cluster.config, cluster.http_client)
    mapper = restmapper.new_discovery_rest_mapper(restmapper.get_api_group_resources(disco))
    resolver = scale.new_discovery_scale_kind_resolver(disco)
    getter = scale.new_for_config(config, mapper, dynamic.legacy_api_path_resolver_func, resolver)
    scales = getter.scales(namespace)

    for resource in (GroupResource("apps", "deployments"), GroupResource("example.com", "widgets")):
        found = scales.get(CTX, resource, "web")
        found.spec.replicas = 3
        assert scales.update(CTX, resource, found).spec.replicas == 3
        with pytest.raises(errors.StatusError) as conflict:
            scales.update(CTX, resource, found)
        assert errors.is_conflict(conflict.value)
        gvr = mapper.resource_for(resource.with_version(""))
        patched = scales.patch(CTX, gvr, "web", PatchType.MERGE, b'{"spec":{"replicas":4}}')
        assert patched.spec.replicas == scales.get(CTX, resource, "web").spec.replicas == 4
    with pytest.raises(errors.StatusError) as missing:
        scales.get(CTX, GroupResource("apps", "deployments"), "nope")
    assert errors.is_not_found(missing.value)
    stored = cluster.client.get(CTX, NamespacedName(namespace, "web"), appsv1.Deployment)
    assert stored.spec.replicas == 4
    getter.close()
