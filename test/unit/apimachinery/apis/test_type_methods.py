"""The methods that generated types of apis/meta/v1 inherit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1

MOMENT = datetime(2026, 11, 21, 5, 0, tzinfo=UTC)
OWNER = metav1.OwnerReference(api_version="v1", kind="Node", name="n", uid="u")


@pytest.mark.parametrize(
    ("accessor", "value", "empty"),
    [
        ("name", "web", ""),
        ("generate_name", "web-", ""),
        ("namespace", "ns", ""),
        ("uid", "1-2", ""),
        ("resource_version", "7", ""),
        ("generation", 3, 0),
        ("self_link", "/x", ""),
        ("creation_timestamp", MOMENT, None),
        ("deletion_timestamp", MOMENT, None),
        ("deletion_grace_period_seconds", 0, None),
        ("labels", {"a": "b"}, {}),
        ("annotations", {"a": "b"}, {}),
        ("finalizers", ["f"], []),
        ("owner_references", [OWNER], []),
        ("managed_fields", [metav1.ManagedFieldsEntry(manager="m")], []),
    ],
)
def test_object_meta_and_its_object_have_the_same_accessors(accessor: str, value: Any, empty: Any) -> None:
    """Go: TestAccessOwnerReferences, TestResourceVersionerOfAPI."""
    pod = corev1.Pod()
    pod.metadata.resource_version = "1"  # Attaches the metadata.
    pod.metadata.resource_version = ""
    metadata: Any = pod.metadata

    assert getattr(metadata, f"get_{accessor}")() == empty
    getattr(metadata, f"set_{accessor}")(value)
    assert getattr(metadata, accessor) == value
    assert getattr(pod, f"get_{accessor}")() == getattr(metadata, f"get_{accessor}")() == value
    getattr(pod, f"set_{accessor}")(empty)
    assert getattr(metadata, f"get_{accessor}")() == empty
    assert metadata.to_dict() == {}


def test_setting_through_absent_metadata_attaches_it() -> None:
    pod = corev1.Pod()
    pod.metadata.set_name("web")
    assert pod.to_dict() == {"metadata": {"name": "web"}}
    assert pod.metadata.get_object_meta().get_name() == "web"


def test_metadata_of_a_frozen_object_cannot_be_set() -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="web")).freeze()
    with pytest.raises(runtime.ReadOnlyError):
        pod.metadata.set_labels({"a": "b"})
    pod.metadata.get_labels()["a"] = "b"
    assert pod.metadata.labels == {}


def test_list_meta_and_its_list_have_the_same_accessors() -> None:
    """Go: TestResourceVersionerOfAPI."""
    pods = corev1.PodList()
    pods.metadata.set_resource_version("7")
    metadata = pods.metadata
    metadata.set_continue("token")
    metadata.set_remaining_item_count(0)
    pods.set_shard_info(metav1.ShardInfo(selector="s"))
    assert (pods.get_resource_version(), pods.get_continue(), pods.get_remaining_item_count()) == ("7", "token", 0)
    assert metadata.get_list_meta().get_shard_info() == metav1.ShardInfo(selector="s")

    metadata.get_shard_info().selector = "t"
    assert pods.get_shard_info().selector == "s"
    metadata.set_shard_info(None)
    metadata.set_remaining_item_count(None)
    pods.set_continue("")
    metadata.set_self_link("/x")
    assert metadata.to_dict() == {"resourceVersion": "7", "selfLink": "/x"}


def test_texts_of_names() -> None:
    assert str(metav1.GroupResource(group="apps", resource="deployments")) == "deployments.apps"
    assert str(metav1.GroupResource(resource="pods")) == "pods"
    assert str(metav1.GroupKind(group="apps", kind="Deployment")) == "Deployment.apps"
    assert str(metav1.GroupKind(kind="Pod")) == "Pod"
    assert str(metav1.GroupVersionResource(version="v1", resource="pods")) == "/v1, Resource=pods"
    assert str(metav1.GroupVersionKind(group="apps", version="v1", kind="X")) == "apps/v1, Kind=X"


@pytest.mark.parametrize(
    ("version", "text"),
    [
        (metav1.GroupVersion(), ""),
        (metav1.GroupVersion(version="v1"), "v1"),
        (metav1.GroupVersion(group="apps", version="v1"), "apps/v1"),
    ],
)
def test_a_group_version_is_a_text_in_json(version: metav1.GroupVersion, text: str) -> None:
    """Go: TestGroupVersionUnmarshalJSON, TestGroupVersionMarshalJSON."""
    assert str(version) == text
    assert version.empty() == (text == "")
    assert version.marshal_json() == f'"{text}"'.encode()

    read = metav1.GroupVersion(group="old", version="v0")
    read.unmarshal_json(version.marshal_json())
    assert (read.group, read.version) == (version.group, version.version)
    read.unmarshal_text(b'"x/v2"')
    assert (read.group, read.version) == ("x", "v2")


def test_what_is_no_group_version() -> None:
    with pytest.raises(ValueError, match="illegal GroupVersion a/b/c: contains more than one /"):
        metav1.GroupVersion(group="a/b", version="c").marshal_json()
    for text in (b"1", b"[", b'"a/b/c"'):
        with pytest.raises(ValueError):
            metav1.GroupVersion().unmarshal_json(text)


def test_apply_options_as_patch_options() -> None:
    options = metav1.ApplyOptions(dry_run=["All"], force=True, field_manager="me").to_patch_options()
    assert options == metav1.PatchOptions(dry_run=["All"], force=True, field_manager="me")
    assert metav1.ApplyOptions().to_patch_options().to_dict() == {"force": False}


def test_the_parameter_codec_of_the_package() -> None:
    options = metav1.ListOptions()
    metav1.PARAMETER_CODEC.decode_parameters({"limit": ["5"], "watch": ["true"]}, metav1.SCHEME_GROUP_VERSION, options)
    assert (options.limit, options.watch) == (5, True)
    assert metav1.kind("Status").group == "meta.k8s.io"
