"""A client whose writes the server checks and does not keep."""

from __future__ import annotations

import pytest
from ctrlcluster import CTX, Cluster, deployment

from clientgo.api.apps import v1 as appsv1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import PatchType
from clientgo.controller_runtime import client

pytestmark = pytest.mark.shared_server

ANNOTATE = client.raw_patch(PatchType.MERGE, b'{"metadata": {"annotations": {"a": "b"}}}')
SET_STATUS = client.raw_patch(PatchType.MERGE, b'{"status": {"replicas": 9}}')


@pytest.fixture
def made(cluster: Cluster) -> appsv1.Deployment:
    obj = deployment(cluster.new_namespace(), "web")
    cluster.client.create(CTX, obj)
    return obj


@pytest.fixture
def dry(cluster: Cluster) -> client.Client:
    return client.new_dry_run_client(cluster.client)


def stored(cluster: Cluster, obj: client.Object) -> appsv1.Deployment:
    return cluster.client.get(CTX, client.object_key_from_object(obj), appsv1.Deployment)


# Options of a call cannot undo it.
OPTIONS: list[list[client.FieldOwner]] = [[], [client.FieldOwner("me")]]


def test_reads_are_as_ever(cluster: Cluster, dry: client.Client, made: appsv1.Deployment) -> None:
    """
    Go: client: DryRunClient > should successfully Get an object
    Go: client: DryRunClient > should successfully List objects
    """
    assert dry.get(CTX, client.object_key_from_object(made), appsv1.Deployment) == stored(cluster, made)
    assert len(dry.list(CTX, appsv1.DeploymentList, client.InNamespace(made.get_namespace())).items) == 1


@pytest.mark.parametrize("opts", OPTIONS)
def test_nothing_is_created(cluster: Cluster, dry: client.Client, opts: list[client.FieldOwner]) -> None:
    """
    Go: client: DryRunClient > should not create an object
    """
    obj = deployment(cluster.new_namespace(), "web")
    dry.create(CTX, obj, *opts)
    assert obj.get_uid() != ""
    with pytest.raises(apierrors.StatusError) as caught:
        stored(cluster, obj)
    assert apierrors.is_not_found(caught.value)


@pytest.mark.parametrize("opts", OPTIONS)
def test_nothing_is_changed(
    cluster: Cluster, dry: client.Client, made: appsv1.Deployment, opts: list[client.FieldOwner]
) -> None:
    """
    Go: client: DryRunClient > should not change objects via
    """
    before = stored(cluster, made)
    applied = appsv1.Deployment(
        metadata=metav1.ObjectMeta(name="web", namespace=made.get_namespace()),
        status=appsv1.DeploymentStatus(replicas=9),
    )
    changed = made.deep_copy()
    changed.spec.replicas = 9
    dry.update(CTX, changed, *opts)
    assert changed.spec.replicas == 9
    dry.patch(CTX, made.deep_copy(), ANNOTATE, *opts)
    dry.apply(CTX, applied.deep_copy(), client.FORCE_OWNERSHIP, client.FieldOwner("me"))
    changed = made.deep_copy()
    changed.status.replicas = 9
    dry.status().update(CTX, changed, *opts)
    dry.status().patch(CTX, made.deep_copy(), SET_STATUS, *opts)
    dry.status().apply(CTX, applied.deep_copy(), client.FORCE_OWNERSHIP, client.FieldOwner("me"), *opts)
    assert stored(cluster, made) == before


def test_what_is_invalid_is_refused(cluster: Cluster, dry: client.Client, made: appsv1.Deployment) -> None:
    """
    Go: client: DryRunClient > should refuse a create request for an invalid object
    Go: client: DryRunClient > should refuse an update request for an invalid change
    """
    bad = deployment(made.get_namespace(), "bad")
    bad.spec.replicas = -1
    with pytest.raises(apierrors.StatusError) as caught:
        dry.create(CTX, bad)
    assert apierrors.is_invalid(caught.value)
    made.spec.replicas = -1
    with pytest.raises(apierrors.StatusError) as caught:
        dry.update(CTX, made)
    assert apierrors.is_invalid(caught.value)


@pytest.mark.parametrize("opts", [[], [client.PropagationPolicy("Background")]])
def test_nothing_is_deleted(
    cluster: Cluster, dry: client.Client, made: appsv1.Deployment, opts: list[client.PropagationPolicy]
) -> None:
    """
    Go: client: DryRunClient > should not delete objects
    """
    dry.delete(CTX, made, *opts)
    dry.delete_all_of(CTX, appsv1.Deployment, client.InNamespace(made.get_namespace()), *opts)
    assert stored(cluster, made).get_uid() == made.get_uid()
