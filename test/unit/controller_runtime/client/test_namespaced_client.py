"""A client of one namespace: it adds that, and refuses any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ctrlcluster import CTX, Cluster, deployment, in_form, node

from clientgo import context
from clientgo.api.apps import v1 as appsv1
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.core import v1 as corev1
from clientgo.api.rbac import v1 as rbacv1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import PatchType
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import interceptor

pytestmark = pytest.mark.shared_server

ANNOTATE = client.raw_patch(PatchType.MERGE, b'{"metadata": {"annotations": {"a": "b"}}}')
SET_STATUS = client.raw_patch(PatchType.MERGE, b'{"status": {"replicas": 9}}')
OWNER = client.FieldOwner("me")
WHOLE = ["typed", "unstructured"]


@pytest.fixture
def c(cluster: Cluster, ns: str) -> client.Client:
    return client.new_namespaced_client(cluster.client, ns)


@pytest.fixture
def other(cluster: Cluster) -> str:
    return cluster.new_namespace()


def stored(cluster: Cluster, namespace: str) -> appsv1.Deployment:
    return cluster.client.get(CTX, client.ObjectKey(namespace=namespace, name="web"), appsv1.Deployment)


def configuration(namespace: str) -> appsv1.Deployment:
    obj = deployment(namespace, "web")
    obj.metadata.annotations = {"a": "b"}
    return obj


def cluster_role(name: str) -> rbacv1.ClusterRole:
    return rbacv1.ClusterRole(metadata=metav1.ObjectMeta(name=name))


def test_objects_of_the_namespace_are_read(cluster: Cluster, c: client.Client, ns: str, other: str) -> None:
    """
    Go: client: NamespacedClient > Get > should successfully Get a namespace-scoped object
    Go: client: NamespacedClient > List > should successfully List objects when namespace is not specified with the
    ... object
    Go: client: NamespacedClient > List > should List objects from the namespace specified in the client
    Go: client: NamespacedClient > List > should successfully List objects when object is not namespaced scoped
    """
    for namespace in (ns, other):
        cluster.client.create(CTX, deployment(namespace, "web"))
    for namespace in ("", ns):
        found = c.get(CTX, client.ObjectKey(namespace=namespace, name="web"), appsv1.Deployment)
        assert found.get_namespace() == ns
    for opts in ([], [client.InNamespace(ns)], [client.InNamespace(other)]):
        listed = c.list(CTX, appsv1.DeploymentList, *opts)
        assert [each.get_namespace() for each in listed.items] == [ns]
    made = node(cluster.new_name())
    cluster.client.create(CTX, made)
    assert c.get(CTX, client.ObjectKey(namespace="", name=made.get_name()), corev1.Node).get_uid() == made.get_uid()
    assert made.get_name() in [each.get_name() for each in c.list(CTX, corev1.NodeList).items]


@pytest.mark.parametrize("form", WHOLE)
def test_an_object_without_a_namespace_gets_the_clients(cluster: Cluster, c: client.Client, ns: str, form: str) -> None:
    """
    Go: client: NamespacedClient > Create > should successfully create object in the right namespace
    Go: client: NamespacedClient > Update > should successfully update the provided object
    Go: client: NamespacedClient > Patch > should successfully modify the object using Patch
    Go: client: NamespacedClient > Delete and DeleteAllOf > should successfully delete an object when namespace is not
    ... specified
    Go: client: NamespacedClient > Apply > should successfully apply an object in the right namespace
    """
    obj = in_form(deployment("", "web"), form)
    c.create(CTX, obj)
    assert obj.get_namespace() == ns
    for namespace in (ns, ""):
        obj = in_form(stored(cluster, ns), form)
        obj.set_namespace(namespace)
        obj.set_annotations({"written-in": namespace or "none"})
        c.update(CTX, obj)
        assert stored(cluster, ns).get_annotations() == {"written-in": namespace or "none"}
        obj.set_namespace(namespace)
        c.patch(CTX, obj, ANNOTATE)
        assert stored(cluster, ns).get_annotations()["a"] == "b"
    configured = in_form(configuration(""), form)
    c.apply(CTX, configured, OWNER, client.FORCE_OWNERSHIP)
    assert configured.get_namespace() == ns
    named = in_form(deployment("", "web"), form)
    c.delete(CTX, named)
    assert named.get_namespace() == ""
    with pytest.raises(apierrors.StatusError):
        stored(cluster, ns)


@pytest.mark.parametrize("form", WHOLE)
def test_objects_of_other_namespaces_are_refused(
    cluster: Cluster, c: client.Client, ns: str, other: str, form: str
) -> None:
    """
    Go: client: NamespacedClient > Get > should error when namespace provided in the object is different than the one
    ... specified in client
    Go: client: NamespacedClient > Create > should not create object if the namespace of the object is different
    Go: client: NamespacedClient > Update > should not update when object namespace is different
    Go: client: NamespacedClient > Update > should not update any object from other namespace
    Go: client: NamespacedClient > Patch > should not modify the object when namespace of the object is different
    Go: client: NamespacedClient > Patch > should not modify an object from a different namespace
    Go: client: NamespacedClient > Apply > should not create an object if the namespace of the object is different
    Go: client: NamespacedClient > Apply > should not create an object through unstructured if the namespace of the
    ... object is different
    Go: client: NamespacedClient > SubResourceWriter > should not change objects via update status when object namespace
    ... is different
    Go: client: NamespacedClient > SubResourceWriter > should not change objects via status patch when object namespace
    ... is different
    Go: client: NamespacedClient > SubResourceWriter > should fail when applying via SubResource with conflicting
    ... namespace
    """
    made = deployment(other, "web")
    cluster.client.create(CTX, made)
    before = stored(cluster, other)
    obj = in_form(made, form)
    calls: list[Callable[[], Any]] = [
        lambda: c.get(CTX, client.object_key_from_object(made), appsv1.Deployment),
        lambda: c.create(CTX, in_form(deployment(other, "another"), form)),
        lambda: c.update(CTX, obj),
        lambda: c.patch(CTX, obj, ANNOTATE),
        lambda: c.apply(CTX, in_form(configuration(other), form), OWNER, client.FORCE_OWNERSHIP),
        lambda: c.delete(CTX, obj),
        lambda: c.status().update(CTX, obj),
        lambda: c.status().patch(CTX, obj, SET_STATUS),
        lambda: c.status().apply(CTX, in_form(configuration(other), form), OWNER, client.FORCE_OWNERSHIP),
        lambda: c.sub_resource("scale").get(CTX, obj, autoscalingv1.Scale),
        lambda: c.sub_resource("scale").create(CTX, obj, autoscalingv1.Scale()),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"does not match the namespace {ns} on the client"):
            call()
    assert stored(cluster, other) == before
    assert len(cluster.client.list(CTX, appsv1.DeploymentList, client.InNamespace(other)).items) == 1


def test_objects_without_namespaces_are_written_as_ever(cluster: Cluster, c: client.Client) -> None:
    """
    Go: client: NamespacedClient > Create > should create a cluster scoped object
    Go: client: NamespacedClient > Update > should update a cluster scoped resource
    Go: client: NamespacedClient > Patch > should successfully modify cluster scoped resource
    Go: client: NamespacedClient > Apply > should create a cluster scoped object
    """
    role = cluster_role(cluster.new_name())
    c.create(CTX, role)
    role.metadata.labels = {"a": "b"}
    c.update(CTX, role)
    c.patch(CTX, role, ANNOTATE)
    found = c.get(CTX, client.object_key_from_object(role), rbacv1.ClusterRole)
    assert (found.get_labels(), found.get_annotations(), found.get_namespace()) == ({"a": "b"}, {"a": "b"}, "")
    c.delete(CTX, role)
    applied = cluster_role(cluster.new_name())
    c.apply(CTX, applied, OWNER)
    assert applied.get_uid() != ""
    assert applied.get_namespace() == ""


@pytest.mark.parametrize("namespace", ["", "elsewhere"])
def test_the_configuration_of_an_object_without_namespace_is_sent_as_it_is(cluster: Cluster, namespace: str) -> None:
    sent: list[str] = []

    def apply(ctx: context.Context, c: client.WithWatch, obj: Any, *opts: Any) -> None:
        sent.append(obj.get_namespace())

    recording = interceptor.new_client(cluster.client, interceptor.Funcs(apply=apply))
    role = cluster_role("admins")
    role.metadata.namespace = namespace
    client.new_namespaced_client(recording, "ns").apply(CTX, role, OWNER)
    assert sent == [namespace]


def test_delete_all_of_stays_in_the_namespace(cluster: Cluster, c: client.Client, ns: str, other: str) -> None:
    """
    Go: client: NamespacedClient > Delete and DeleteAllOf > should successfully delete all of the deployments in the
    ... given namespace
    Go: client: NamespacedClient > Delete and DeleteAllOf > should not delete deployments in other namespaces
    """
    for namespace in (ns, other):
        cluster.client.create(CTX, deployment(namespace, "web"))
    c.delete_all_of(CTX, appsv1.Deployment, client.InNamespace(other))
    assert stored(cluster, other).get_namespace() == other
    with pytest.raises(apierrors.StatusError):
        stored(cluster, ns)


@pytest.mark.parametrize("namespace_given", [True, False])
def test_subresources_are_those_of_the_namespace(
    cluster: Cluster, c: client.Client, ns: str, namespace_given: bool
) -> None:
    """
    Go: client: NamespacedClient > SubResourceWriter > should change objects via update status
    Go: client: NamespacedClient > SubResourceWriter > should change objects via status patch
    Go: client: NamespacedClient > SubResourceWriter > should change objects via status apply
    Go: client: NamespacedClient > SubResourceWriter > should set namespace on ApplyConfiguration when applying via
    ... SubResource
    """
    cluster.client.create(CTX, deployment(ns, "web"))
    obj = stored(cluster, ns)
    obj.set_namespace(ns if namespace_given else "")
    obj.status.replicas = 3
    c.status().update(CTX, obj)
    assert stored(cluster, ns).status.replicas == 3

    obj.set_namespace(ns if namespace_given else "")
    c.status().patch(CTX, obj, SET_STATUS)
    assert stored(cluster, ns).status.replicas == 9

    applied = appsv1.Deployment(
        metadata=metav1.ObjectMeta(name="web", namespace=ns if namespace_given else ""),
        status=appsv1.DeploymentStatus(replicas=4),
    )
    c.status().apply(CTX, applied, OWNER, client.FORCE_OWNERSHIP)
    assert applied.get_namespace() == ns
    assert stored(cluster, ns).status.replicas == 4

    named = deployment(ns if namespace_given else "", "web")
    assert c.sub_resource("scale").get(CTX, named, autoscalingv1.Scale).spec.replicas == 1
    assert named.get_namespace() == (ns if namespace_given else "")


def test_a_kind_that_the_server_does_not_have_is_refused(c: client.Client) -> None:
    """
    Go: client: NamespacedClient > Test on invalid objects
    """
    unknown = in_form(deployment("", "web"), "unstructured")
    unknown.set_kind("Unknown")
    for call in (
        lambda: c.create(CTX, unknown),
        lambda: c.update(CTX, unknown),
        lambda: c.patch(CTX, unknown, ANNOTATE),
        lambda: c.delete(CTX, unknown),
        lambda: c.delete_all_of(CTX, unknown),
        lambda: c.get(CTX, client.object_key_from_object(unknown), unknown),
        lambda: c.status().update(CTX, unknown),
        lambda: c.status().patch(CTX, unknown, ANNOTATE),
    ):
        with pytest.raises(RuntimeError, match="error finding the scope of the object"):
            call()


def test_an_object_of_a_cache_is_refused_before_it_gets_the_namespace(c: client.Client) -> None:
    shared = deployment("", "web").freeze()
    for write in (c.create, c.update):
        with pytest.raises(runtime.ReadOnlyError, match=r"is shared and read-only .* call deep_copy\(\)"):
            write(CTX, shared)
