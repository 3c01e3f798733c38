"""Objects to apply: with zero values, and from the fields that a manager owns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import shop_types
from ctrlcluster import CTX, WIDGETS, Cluster, new_cluster

from clientgo import dynamic, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.util.managedfields import extract_into, extracted, parse_set
from clientgo.applyconfigurations import explicit, extract, for_kind

pytestmark = pytest.mark.shared_server

WIDGET = GroupVersionResource("example.com", "v1", "widgets")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with new_cluster(crds=[WIDGETS]) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Cluster) -> Any:
    return kubernetes.new_for_config_and_client(cluster.config, cluster.http_client)


def by(manager: str) -> metav1.ApplyOptions:
    return metav1.ApplyOptions(field_manager=manager, force=True)


def deployment(name: str, **spec: Any) -> appsv1.Deployment:
    pod = corev1.PodSpec(
        containers=[corev1.Container(name="web", image="web:1", ports=[corev1.ContainerPort(container_port=80)])],
        volumes=[corev1.Volume(name="tmp", empty_dir=explicit(corev1.EmptyDirVolumeSource)())],
    )
    labels = {"app": name}
    return appsv1.Deployment(
        metadata=metav1.ObjectMeta(name=name, labels=labels),
        spec=appsv1.DeploymentSpec(
            selector=metav1.LabelSelector(match_labels=labels),
            template=corev1.PodTemplateSpec(metadata=metav1.ObjectMeta(labels=labels), spec=pod),
            **spec,
        ),
    )


def test_a_typed_object_omits_zero_values_and_explicit_keeps_them() -> None:
    fields: dict[str, Any] = {"host_network": False, "node_name": "", "containers": [], "node_selector": {}}

    assert corev1.PodSpec(**fields).to_dict() == {"containers": []}
    assert explicit(corev1.PodSpec)(**fields, priority=0, hostname=None).to_dict() == {
        "hostNetwork": False,
        "nodeName": "",
        "containers": [],
        "nodeSelector": {},
        "priority": 0,
    }


def test_explicit_values_remain_in_the_objects_that_contain_them() -> None:
    container = explicit(corev1.Container)(name="a", stdin=False, resources=corev1.ResourceRequirements())
    pod = corev1.Pod(spec=corev1.PodSpec(containers=[container]))

    assert pod.deep_copy().to_dict() == {
        "spec": {"containers": [{"name": "a", "stdin": False, "resources": {}}]},
    }
    pod.spec.containers[0].stdin = False
    assert pod.to_dict()["spec"]["containers"] == [{"name": "a", "resources": {}}]


def test_a_users_type_needs_no_generated_code() -> None:
    size = explicit(shop_types.OrderSpec)(code="")
    entry = {"manager": "one", "operation": "Apply", "fieldsV1": {"f:spec": {"f:code": {}}}}
    order = shop_types.Order(
        metadata=metav1.ObjectMeta(name="a", managed_fields=[metav1.ManagedFieldsEntry.from_dict(entry)]), spec=size
    )

    found = extract(order, "one")

    assert type(found) is shop_types.Order
    assert found.to_dict()["spec"] == size.to_dict() == {"code": ""}


def test_an_unknown_field_of_explicit_is_an_error() -> None:
    with pytest.raises(TypeError, match="did you mean 'host_network'"):
        explicit(corev1.PodSpec)(hostNetwork=False)  # type: ignore[call-arg]


def test_zero_values_are_sent_and_owned(cluster: Cluster, client: Any) -> None:
    deployments = client.apps_v1().deployments(cluster.new_namespace())
    wanted = deployment("web", replicas=0)
    wanted.spec.template.spec.containers[0] = explicit(corev1.Container)(name="web", image="web:1", tty=False)
    deployments.apply(CTX, wanted, by("one"))

    fields = deployments.get(CTX, "web").metadata.managed_fields[0].to_dict()["fieldsV1"]

    spec = fields["f:spec"]
    assert "f:replicas" in spec
    assert "f:tty" in spec["f:template"]["f:spec"]["f:containers"]['k:{"name":"web"}']


def test_a_manager_gets_exactly_the_fields_that_it_applied(cluster: Cluster, client: Any) -> None:
    namespace = cluster.new_namespace()
    deployments = client.apps_v1().deployments(namespace)
    sent = deployment("web", replicas=3)
    deployments.apply(CTX, sent, by("one"))
    second = appsv1.Deployment.from_dict(
        {"metadata": {"name": "web", "annotations": {"by": "two"}}, "spec": {"paused": True}}
    )
    stored = deployments.apply(CTX, second, by("two"))

    one, two = extract(stored, "one"), extract(stored, "two")

    identity = {"apiVersion": "apps/v1", "kind": "Deployment"}
    expected = sent.to_dict()
    expected["metadata"]["namespace"] = namespace
    # The server has set the default, which is part of the port's key.
    expected["spec"]["template"]["spec"]["containers"][0]["ports"][0]["protocol"] = "TCP"
    ports = one.spec.template.spec.containers[0].ports
    assert ports[0].container_port == 80
    got = one.to_dict()
    got["spec"]["template"]["spec"]["containers"][0]["ports"][0].setdefault("protocol", "TCP")
    assert got == {**identity, **expected}
    assert two.to_dict() == {
        **identity,
        "metadata": {"name": "web", "namespace": namespace, "annotations": {"by": "two"}},
        "spec": {"paused": True},
    }
    assert "managedFields" in stored.to_dict()["metadata"]


def test_an_extracted_object_is_changed_and_applied_again(cluster: Cluster, client: Any) -> None:
    deployments = client.apps_v1().deployments(cluster.new_namespace())
    stored = deployments.apply(CTX, deployment("web", replicas=1), by("one"))
    mine = extract(stored, "one")
    assert mine.spec is not None
    mine.spec.replicas = 5

    changed = deployments.apply(CTX, mine, by("one"))

    assert changed.spec.replicas == 5
    assert changed.spec.template.to_dict() == stored.spec.template.to_dict()
    again = extract(changed, "one").to_dict()
    assert again["spec"].pop("replicas") == 5
    before = extract(stored, "one").to_dict()
    assert before["spec"].pop("replicas") == 1
    assert again == before


def test_the_fields_of_a_subresource_are_apart(cluster: Cluster, client: Any) -> None:
    deployments = client.apps_v1().deployments(cluster.new_namespace())
    deployments.apply(CTX, deployment("web"), by("one"))
    status = appsv1.Deployment.from_dict(
        {
            "metadata": {"name": "web"},
            "status": {"replicas": 2, "conditions": [{"type": "Available", "status": "True", "reason": "x"}]},
        }
    )
    stored = deployments.apply_status(CTX, status, by("one"))

    found = extract(stored, "one", "status").to_dict()

    assert found["status"] == status.to_dict()["status"]
    assert "spec" not in found
    assert "status" not in extract(stored, "one").to_dict()


def test_a_manager_without_fields_gets_the_name_alone(cluster: Cluster, client: Any) -> None:
    namespace = cluster.new_namespace()
    maps = client.core_v1().config_maps(namespace)
    stored = maps.create(
        CTX,
        corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a"), data={"x": "y"}),
        metav1.CreateOptions(field_manager="one"),
    )

    # An Update is not an Apply.
    assert extract(stored, "one").to_dict() == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": namespace},
    }


def test_the_fields_of_a_custom_resource_need_no_schema(cluster: Cluster) -> None:
    widgets = dynamic.new_for_config_and_client(cluster.config, cluster.http_client).resource(WIDGET)
    inside = widgets.namespace(cluster.new_namespace())
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a", "finalizers": ["x.io/a"]},
        "spec": {"list": [1, {"a": 2}], "empty": {}, "deep": {"er": False}},
    }
    inside.apply(CTX, "a", Unstructured.from_dict(widget), by("one"))
    other = {**widget, "metadata": {"name": "a", "finalizers": ["x.io/b"]}, "spec": {"more": 1}}
    stored = inside.apply(CTX, "a", Unstructured.from_dict(other), by("two"))

    found = extract(stored, "one").to_dict()

    assert found["spec"] == widget["spec"]
    assert found["metadata"]["finalizers"] == ["x.io/a"]
    assert isinstance(extract(stored, "one"), Unstructured)


PORTS = [{"port": 80, "name": "a"}, {"port": 80, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}]


@pytest.mark.parametrize(
    ("fields", "value", "expected"),
    [
        ({"f:a": {}}, {"a": {"b": [1]}, "c": 2}, {"a": {"b": [1]}}),
        ({"f:a": {".": {}, "f:b": {}}}, {"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}),
        ({"f:a": {"f:b": {}}}, {"a": 7}, None),
        ({"f:gone": {}}, {"a": 1}, None),
        ({"f:a": {"v:1": {}}}, {"a": [True, 1, "1"]}, {"a": [1]}),
        ({"f:a": {'v:"x"': {}, "v:null": {}}}, {"a": ["y", "x"]}, {"a": ["x"]}),
        ({"f:a": {"i:1": {}}}, {"a": ["x", "x", "y"]}, {"a": ["x"]}),
        ({"f:a": {'k:{"port":80,"protocol":"UDP"}': {}}}, {"a": PORTS}, {"a": [PORTS[1]]}),
        # The key protocol is absent, and no other item has both keys.
        ({"f:a": {'k:{"port":80,"protocol":"TCP"}': {"f:name": {}}}}, {"a": PORTS}, {"a": [{"name": "a"}]}),
        ({"f:a": {'k:{"port":9,"protocol":"TCP"}': {}}}, {"a": PORTS}, None),
        ({"f:a": {'k:{"port":80}': {}}}, {"a": [1, None, {"port": True}]}, None),
        ({"f:a": {}}, {"a": None}, None),
        ({}, {"a": 1}, None),
    ],
)
def test_the_parts_on_the_paths(fields: Any, value: Any, expected: Any) -> None:
    assert extracted(value, parse_set(fields)) == expected


def test_extracted_parts_are_copies() -> None:
    document: dict[str, Any] = {
        "metadata": {"managedFields": [{"manager": "one", "operation": "Apply", "fieldsV1": {"f:data": {"f:a": {}}}}]},
        "data": {"a": {"b": 1}},
    }

    found = extract_into(document, "one")
    assert found == {"data": {"a": {"b": 1}}}
    found["data"]["a"]["b"] = 2

    assert document["data"] == {"a": {"b": 1}}
    assert extract_into(document, "one", "status") is extract_into(document, "two") is None


def test_unreadable_managed_fields_are_an_error() -> None:
    entry = {"manager": "one", "operation": "Apply", "fieldsV1": {"f:a": 7}}
    pod = corev1.Pod.from_dict({"metadata": {"name": "a", "managedFields": [entry]}})

    with pytest.raises(ValueError, match="not an object"):
        extract(pod, "one")


def test_a_read_only_object_of_a_cache_can_be_extracted_from() -> None:
    entry = {"manager": "one", "operation": "Apply", "fieldsV1": {"f:spec": {"f:nodeName": {}}}}
    pod = corev1.Pod.from_dict({"metadata": {"name": "a", "managedFields": [entry]}, "spec": {"nodeName": "n"}})
    pod.freeze()

    found = extract(pod, "one")
    found.spec.node_name = "other"

    assert pod.spec.node_name == "n"


@pytest.mark.parametrize(
    ("gvk", "cls"),
    [
        (GroupVersionKind("apps", "v1", "Deployment"), appsv1.Deployment),
        (GroupVersionKind("", "v1", "Pod"), corev1.Pod),
        (GroupVersionKind("", "v1", "PodSpec"), corev1.PodSpec),
        (GroupVersionKind("apps", "v7", "Deployment"), None),
        (GroupVersionKind("", "v1", "os"), None),
    ],
)
def test_the_type_of_a_built_in_kind(gvk: GroupVersionKind, cls: Any) -> None:
    assert for_kind(gvk) is cls
