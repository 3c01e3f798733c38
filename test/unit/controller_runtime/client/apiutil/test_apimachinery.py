"""The kind of an object, and the scope of a kind."""

from __future__ import annotations

import pytest
from ctrlcluster import Cluster, kind_in_form

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.error import MissingKindError, MissingVersionError, NotRegisteredError
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind
from clientgo.controller_runtime.client import apiutil
from clientgo.kubernetes.scheme import SCHEME

pytestmark = pytest.mark.shared_server

APPS = GroupVersion("apps", "v1")


@pytest.mark.parametrize(
    ("gvk", "expected"),
    [
        (APPS.with_kind("Deployment"), True),
        (GroupVersionKind("", "v1", "Node"), False),
        (GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), False),
    ],
)
def test_the_server_says_which_kinds_live_in_namespaces(
    cluster: Cluster, gvk: GroupVersionKind, expected: bool
) -> None:
    """
    Go: client/apiutil: TestApiMachinery
    """
    mapper = cluster.client.rest_mapper()
    assert apiutil.is_gvk_namespaced(gvk, mapper) is expected
    named = Unstructured()
    named.set_group_version_kind(gvk)
    assert apiutil.is_object_namespaced(named, SCHEME, mapper) is expected
    assert cluster.client.is_object_namespaced(named) is expected


def test_the_scope_of_a_kind_that_is_not_there_is_an_error(cluster: Cluster) -> None:
    with pytest.raises(RuntimeError, match="failed to get restmapping: no matches for kind") as caught:
        apiutil.is_gvk_namespaced(APPS.with_kind("Unheard"), cluster.client.rest_mapper())
    assert meta.is_no_match_error(caught.value)


@pytest.mark.parametrize("form", ["typed", "unstructured", "metadata"])
def test_the_kind_of_an_object_or_a_class(form: str) -> None:
    assert apiutil.gvk_for_object(kind_in_form(appsv1.Deployment, form), SCHEME) == APPS.with_kind("Deployment")
    assert apiutil.gvk_for_object(kind_in_form(appsv1.DeploymentList, form), SCHEME) == APPS.with_kind("DeploymentList")
    assert apiutil.gvk_for_object(appsv1.Deployment(), SCHEME) == APPS.with_kind("Deployment")


def test_what_says_no_kind_has_none() -> None:
    with pytest.raises(MissingKindError):
        apiutil.gvk_for_object(metav1.PartialObjectMetadata, SCHEME)
    head = metav1.PartialObjectMetadata()
    head.set_group_version_kind(GroupVersionKind("apps", "", "Deployment"))
    with pytest.raises(MissingVersionError):
        apiutil.gvk_for_object(head, SCHEME)
    with pytest.raises(MissingKindError):
        apiutil.gvk_for_object(Unstructured(), SCHEME)
    with pytest.raises(NotRegisteredError):
        apiutil.gvk_for_object(corev1.Pod, Scheme())


def test_a_class_of_several_kinds_must_say_which_it_is() -> None:
    scheme = Scheme()
    scheme.add_known_type_with_name(GroupVersionKind("g", "v1", "One"), corev1.Pod)
    scheme.add_known_type_with_name(GroupVersionKind("g", "v1", "Two"), corev1.Pod)
    with pytest.raises(ValueError, match="refusing to guess at one"):
        apiutil.gvk_for_object(corev1.Pod, scheme)
    named = corev1.Pod()
    named.set_group_version_kind(GroupVersionKind("g", "v1", "Two"))
    assert apiutil.gvk_for_object(named, scheme).kind == "Two"
    named.set_group_version_kind(GroupVersionKind("g", "v1", "Three"))
    with pytest.raises(ValueError, match="supplied GroupVersionKind .* was not found"):
        apiutil.gvk_for_object(named, scheme)
