"""The accessors of top-level objects, and the scheme that finds their classes."""

from __future__ import annotations

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind


def pod(**meta: object) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(**meta))


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({"metadata": {"name": "a", "namespace": "ns"}}, "ns/a"),
        ({"metadata": {"name": "a"}}, "a"),
        ({"metadata": {"name": "a", "namespace": ""}}, "a"),
        ({"metadata": {}}, ""),
        ({}, ""),
    ],
)
def test_the_key_is_namespace_and_name(document: dict[str, object], key: str) -> None:
    assert corev1.Pod.from_dict(document).object_key() == key


def test_accessors_read_zero_values_and_write_into_the_document() -> None:
    obj = corev1.Pod()
    assert (obj.get_name(), obj.get_labels(), obj.get_finalizers(), obj.get_generation()) == ("", {}, [], 0)
    assert obj.get_deletion_timestamp() is None
    assert obj.get_owner_references() == []

    obj.set_name("a")
    obj.set_labels({"x": "y"})
    obj.set_finalizers(["f"])
    obj.set_generation(3)
    obj.set_resource_version("7")
    obj.set_owner_references([metav1.OwnerReference(name="o", uid="u")])
    obj.set_deletion_grace_period_seconds(0)

    assert obj.to_dict() == {
        "metadata": {
            "name": "a",
            "labels": {"x": "y"},
            "finalizers": ["f"],
            "generation": 3,
            "resourceVersion": "7",
            "ownerReferences": [{"name": "o", "uid": "u"}],
            "deletionGracePeriodSeconds": 0,
        }
    }
    obj.set_labels(None)
    assert "labels" not in obj.to_dict()["metadata"]


def test_getters_give_copies() -> None:
    obj = pod(name="a", labels={"x": "y"}).freeze()

    obj.get_labels()["x"] = "changed"

    assert obj.metadata.labels["x"] == "y"


def test_a_list_hands_out_items_that_share_their_documents() -> None:
    pods = corev1.PodList.from_dict({"metadata": {"resourceVersion": "9"}, "items": [{"metadata": {"name": "a"}}]})

    (item,) = pods.extract_items()

    assert isinstance(item, corev1.Pod)
    assert document_of(item) is document_of(pods)["items"][0]
    assert (pods.get_resource_version(), pods.items[0].metadata.name) == ("9", "a")
    item.freeze()
    assert not pods.frozen


def test_items_of_an_unstructured_list_take_their_kind_from_the_list() -> None:
    foos = UnstructuredList({"kind": "FooList", "apiVersion": "g/v1", "items": [{"metadata": {"name": "a"}}]})

    (item,) = foos.extract_items()

    assert item.group_version_kind() == GroupVersionKind("g", "v1", "Foo")


def test_unstructured_has_the_accessors_of_every_object() -> None:
    obj = Unstructured({"kind": "Foo", "apiVersion": "g/v1", "metadata": {"name": "a", "namespace": "n"}})

    assert (obj.object_key(), obj.get_kind(), obj.get_api_version()) == ("n/a", "Foo", "g/v1")
    assert obj.object["kind"] == "Foo"
    assert obj.new_empty_instance().to_dict() == {"apiVersion": "g/v1", "kind": "Foo"}
    obj.unmarshal_json(b'{"kind":"Bar","x":[1]}')
    assert obj.marshal_json() == b'{"kind":"Bar","x":[1]}\n'
    with pytest.raises(runtime.MissingKindError):
        obj.unmarshal_json("{}")
    assert obj.get_kind() == "Bar"


def test_a_frozen_unstructured_object_gives_away_only_copies() -> None:
    obj = Unstructured({"kind": "Foo", "metadata": {"name": "a"}}).freeze()

    obj.object["metadata"]["name"] = "changed"

    assert obj.get_name() == "a"
    with pytest.raises(runtime.ReadOnlyError):
        obj.object = {}


def test_the_scheme_maps_kinds_and_classes() -> None:
    scheme = runtime.Scheme("test")
    apps = GroupVersion("apps", "v1")
    scheme.add_known_types(apps, appsv1.Deployment)
    gvk = apps.with_kind("Deployment")

    assert isinstance(scheme.new(gvk), appsv1.Deployment)
    assert scheme.object_kinds(appsv1.Deployment()) == ([gvk], False)
    assert scheme.recognizes(gvk)
    assert not scheme.recognizes(apps.with_kind("Foo"))
    with pytest.raises(runtime.NotRegisteredError, match='no kind "Foo" is registered for version "apps/v1"'):
        scheme.new(apps.with_kind("Foo"))
    with pytest.raises(runtime.NotRegisteredError, match="no kind is registered for the type"):
        scheme.object_kinds(corev1.Pod())
    with pytest.raises(ValueError, match="Double registration"):
        scheme.add_known_type_with_name(gvk, appsv1.StatefulSet)


def test_the_scheme_counts_no_internal_version_among_those_it_has() -> None:
    """Go: Scheme.addObservedVersion."""
    scheme = runtime.new_scheme()
    for version in ("__internal", "v1", "v1beta1"):
        scheme.add_known_types(GroupVersion("apps", version), appsv1.Deployment)
    assert scheme.prioritized_versions_for_group("apps") == [GroupVersion("apps", v) for v in ("v1", "v1beta1")]
    assert not scheme.is_version_registered(GroupVersion("apps", "__internal"))
    assert scheme.recognizes(GroupVersion("apps", "__internal").with_kind("Deployment"))


def test_the_scheme_asks_an_unstructured_object_for_its_kind() -> None:
    scheme = runtime.new_scheme()

    kinds, unversioned = scheme.object_kinds(Unstructured({"kind": "Foo", "apiVersion": "g/v1"}))

    assert (kinds, unversioned) == ([GroupVersionKind("g", "v1", "Foo")], False)
    with pytest.raises(runtime.MissingKindError):
        scheme.object_kinds(Unstructured({}))


def test_the_built_in_scheme_knows_the_built_in_kinds() -> None:
    from clientgo.kubernetes.scheme import SCHEME

    assert SCHEME.object_kinds(corev1.Pod())[0] == [GroupVersionKind("", "v1", "Pod")]
    assert SCHEME.object_kinds(metav1.Status())[1]
    assert SCHEME.convert_to_version(corev1.Pod(), GroupVersion("", "v1")).kind == "Pod"
