"""Subresources of other kinds than their object: scales, tokens, evictions, bindings, approvals."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ctrlcluster import CTX, Cluster, deployment, in_form, kind_in_form, node, pod
from signingrequests import request_pem

from clientgo.api.apps import v1 as appsv1
from clientgo.api.authentication import v1 as authenticationv1
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.certificates import v1 as certificatesv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import client

pytestmark = pytest.mark.shared_server

WHOLE = ["typed", "unstructured"]

REQUEST = base64.b64decode(request_pem("CN=a"))


def replicas(cluster: Cluster, ns: str) -> int | None:
    key = client.ObjectKey(namespace=ns, name="web")
    return cluster.client.get(CTX, key, appsv1.Deployment).spec.replicas


def scale_of(obj: Any) -> int:
    return int(autoscalingv1.Scale.from_dict(obj.to_dict()).spec.replicas)


@pytest.mark.parametrize("form", WHOLE)
def test_a_scale_is_read(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > SubResourceClient > with structured objects > should be able to read the Scale subresource
    Go: client: Client > SubResourceClient > with unstructured objects > should be able to read the Scale subresource
    """
    made = deployment(ns, "web", replicas=3)
    cluster.client.create(CTX, made)
    scale = cluster.client.sub_resource("scale").get(CTX, in_form(made, form), kind_in_form(autoscalingv1.Scale, form))
    assert scale.get_name() == "web"
    assert scale_of(scale) == 3


@pytest.mark.parametrize("form", WHOLE)
def test_a_scale_is_updated(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > SubResourceClient > with structured objects > should be able to update the scale subresource
    Go: client: Client > SubResourceClient > with unstructured objects > should be able to update the scale subresource
    """
    made = deployment(ns, "web")
    cluster.client.create(CTX, made)
    body = in_form(autoscalingv1.Scale(spec=autoscalingv1.ScaleSpec(replicas=4)), form)
    obj = in_form(made, form)
    before = obj.to_dict()
    cluster.client.sub_resource("scale").update(CTX, obj, client.with_sub_resource_body(body))
    assert replicas(cluster, ns) == 4
    # The answer is a scale, and goes into that.
    assert (body.get_name(), scale_of(body)) == ("web", 4)
    assert obj.to_dict() == before


@pytest.mark.parametrize("form", WHOLE)
def test_a_scale_is_patched(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > SubResourceClient > with structured objects > should be able to patch the scale subresource
    Go: client: Client > SubResourceClient > with unstructured objects > should be able to patch the scale subresource
    """
    made = deployment(ns, "web")
    cluster.client.create(CTX, made)
    scales = cluster.client.sub_resource("scale")
    body = scales.get(CTX, made, kind_in_form(autoscalingv1.Scale, form))
    patch = client.merge_from(body.deep_copy())
    if form == "typed":
        body.spec.replicas = 5
    else:
        body.object["spec"]["replicas"] = 5
    scales.patch(CTX, in_form(made, form), patch, client.with_sub_resource_body(body))
    assert replicas(cluster, ns) == 5


@pytest.mark.parametrize("form", WHOLE)
def test_a_scale_is_applied(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > SubResourceClient > with structured objects > should be able to apply the scale subresource
    Go: client: Client > SubResourceClient > with unstructured objects > should be able to apply the scale subresource
    """
    cluster.client.create(CTX, deployment(ns, "web"))
    named = appsv1.Deployment(metadata=metav1.ObjectMeta(name="web", namespace=ns))
    scale = autoscalingv1.Scale(
        metadata=metav1.ObjectMeta(name="web", namespace=ns), spec=autoscalingv1.ScaleSpec(replicas=6)
    )
    options = client.SubResourceApplyOptions(sub_resource_body=in_form(scale, form))
    cluster.client.sub_resource("scale").apply(
        CTX, in_form(named, form), options, client.FieldOwner("me"), client.FORCE_OWNERSHIP
    )
    assert replicas(cluster, ns) == 6


@pytest.mark.parametrize("form", WHOLE)
def test_a_token_is_asked_for(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > SubResourceClient > with structured objects > should be able to create ServiceAccount tokens
    Go: client: Client > SubResourceClient > with unstructured objects > should be able to create ServiceAccount tokens
    """
    account = corev1.ServiceAccount(metadata=metav1.ObjectMeta(name="robot", namespace=ns))
    cluster.client.create(CTX, account)
    request = in_form(authenticationv1.TokenRequest(), form)
    cluster.client.sub_resource("token").create(CTX, in_form(account, form), request)
    assert authenticationv1.TokenRequest.from_dict(request.to_dict()).status.token != ""


@pytest.mark.parametrize("form", WHOLE)
def test_a_pod_is_evicted(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > SubResourceClient > with structured objects > should be able to create Pod evictions
    Go: client: Client > SubResourceClient > with unstructured objects > should be able to create Pod evictions
    """
    made = pod(ns, "p")
    cluster.client.create(CTX, made)
    eviction = policyv1.Eviction(delete_options=metav1.DeleteOptions(grace_period_seconds=0))
    cluster.client.sub_resource("eviction").create(CTX, in_form(made, form), in_form(eviction, form))
    with pytest.raises(apierrors.StatusError) as caught:
        cluster.client.get(CTX, client.object_key_from_object(made), corev1.Pod)
    assert apierrors.is_not_found(caught.value)


@pytest.mark.parametrize("form", WHOLE)
def test_a_pod_is_bound_to_a_node(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > SubResourceClient > with structured objects > should be able to create Pod bindings
    Go: client: Client > SubResourceClient > with unstructured objects > should be able to create Pod bindings
    """
    where = node(cluster.new_name())
    cluster.client.create(CTX, where)
    made = pod(ns, "p")
    cluster.client.create(CTX, made)
    binding = corev1.Binding(target=corev1.ObjectReference(kind="Node", name=where.get_name()))
    cluster.client.sub_resource("binding").create(CTX, in_form(made, form), in_form(binding, form))
    found = cluster.client.get(CTX, client.object_key_from_object(made), corev1.Pod)
    assert found.spec.node_name == where.get_name()


@pytest.mark.parametrize("form", WHOLE)
@pytest.mark.parametrize("by_patch", [True, False])
def test_a_certificate_is_approved(cluster: Cluster, form: str, by_patch: bool) -> None:
    """
    Go: client: Client > SubResourceClient > with structured objects > should be able to approve CSRs
    Go: client: Client > SubResourceClient > with unstructured objects > should be able to approve CSRs
    """
    made = certificatesv1.CertificateSigningRequest(
        metadata=metav1.ObjectMeta(name=cluster.new_name("csr")),
        spec=certificatesv1.CertificateSigningRequestSpec(
            request=REQUEST, signer_name="example.com/mine", usages=["client auth"]
        ),
    )
    cluster.client.create(CTX, made)
    before = in_form(made.deep_copy(), form)
    approved = certificatesv1.CertificateSigningRequestCondition(
        type="Approved", status="True", reason="Test", message="for a test"
    )
    made.status.conditions = [approved]
    obj = in_form(made, form)
    approvals = cluster.client.sub_resource("approval")
    if by_patch:
        approvals.patch(CTX, obj, client.merge_from(before))
    else:
        approvals.update(CTX, obj)
    key = client.object_key_from_object(made)
    found = cluster.client.get(CTX, key, certificatesv1.CertificateSigningRequest)
    assert [each.type for each in found.status.conditions] == ["Approved"]
