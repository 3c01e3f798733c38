"""Objects without a class: accessors, lists, reading and writing JSON."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import (
    UNSTRUCTURED_JSON_SCHEME,
    Unstructured,
    UnstructuredList,
    nested_field_copy,
)

MOMENT = datetime(2009, 11, 10, 23, 0, tzinfo=UTC)
METADATA: dict[str, Any] = {
    "name": "test_name",
    "namespace": "test_namespace",
    "generateName": "test_generateName",
    "uid": "test_uid",
    "resourceVersion": "test_resourceVersion",
    "generation": 10,
    "deletionGracePeriodSeconds": 10,
    "selfLink": "test_selfLink",
    "creationTimestamp": "2009-11-10T23:00:00Z",
    "deletionTimestamp": "2009-11-10T23:00:00Z",
    "labels": {"test_label": "test_value"},
    "annotations": {"test_annotation": "test_value"},
    "ownerReferences": [
        {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1"},
        {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "2", "controller": True, "blockOwnerDeletion": True},
    ],
    "finalizers": ["finalizer.1", "finalizer.2"],
    "managedFields": [{"manager": "m", "operation": "Update"}],
}
FIELDS = (
    *("name", "namespace", "generate_name", "uid", "resource_version", "generation", "deletion_grace_period_seconds"),
    *("self_link", "creation_timestamp", "deletion_timestamp", "labels", "annotations", "owner_references"),
    *("finalizers", "managed_fields"),
)


def test_the_accessors_read_the_metadata_as_a_typed_object_does() -> None:
    """Go: TestUnstructuredGetters, TestUnstructuredMetadataRoundTrip, TestAccessorMethods."""
    obj = Unstructured({"apiVersion": "test_version", "kind": "test_kind", "metadata": METADATA})
    typed = corev1.Pod.from_dict({"metadata": METADATA})
    assert (obj.get_api_version(), obj.get_kind(), obj.get_name()) == ("test_version", "test_kind", "test_name")
    assert obj.get_creation_timestamp() == obj.get_deletion_timestamp() == MOMENT
    for name in FIELDS:
        assert getattr(obj, f"get_{name}")() == getattr(typed, f"get_{name}")(), name


def test_the_accessors_write_the_metadata_as_it_is_on_the_wire() -> None:
    """Go: TestUnstructuredSetters, TestUnstructuredMetadataRoundTrip, TestOwnerReferences."""
    typed = metav1.ObjectMeta.from_dict(METADATA)
    obj = Unstructured()
    obj.set_api_version("test_version")
    obj.set_kind("test_kind")
    for name in FIELDS:
        getattr(obj, f"set_{name}")(getattr(typed, f"get_{name}")())
    assert obj.to_dict() == {"apiVersion": "test_version", "kind": "test_kind", "metadata": METADATA}


def test_what_is_set_to_nothing_is_taken_away() -> None:
    """Go: TestUnstructuredMetadataOmitempty, TestNilDeletionTimestamp, TestEmptyCreationTimestampIsOmitted."""
    obj, empty = Unstructured({"metadata": dict(METADATA)}), corev1.Pod()
    for name in FIELDS:
        getattr(obj, f"set_{name}")(getattr(empty, f"get_{name}")())
    assert obj.to_dict() == {"metadata": {}}
    fresh = Unstructured()
    fresh.set_deletion_timestamp(fresh.get_deletion_timestamp())
    assert fresh.to_dict() == {} and fresh.get_deletion_timestamp() is None


def test_an_empty_object_has_no_content() -> None:
    """Go: TestNilUnstructuredContent."""
    obj = Unstructured()
    assert obj.deep_copy() == obj and obj.unstructured_content() == {}


def test_a_list_shows_its_items_as_content() -> None:
    """Go: TestUnstructuredList, TestUnstructuredListGetters, TestUnstructuredListSetters."""
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "test"}}
    items = UnstructuredList({"kind": "List", "apiVersion": "v1", "items": [pod]})
    assert nested_field_copy(items.unstructured_content()["items"][0], "metadata", "name") == ("test", True)
    items.set_resource_version("7")
    items.set_continue("token")
    items.set_remaining_item_count(3)
    assert items.to_dict()["metadata"] == {"resourceVersion": "7", "continue": "token", "remainingItemCount": 3}
    assert (items.get_resource_version(), items.get_continue(), items.get_remaining_item_count()) == ("7", "token", 3)
    items.set_api_version("test")
    items.set_kind("PodList")
    assert (items.get_api_version(), items.get_kind()) == ("test", "PodList")


def test_items_distinguish_a_list_from_an_object() -> None:
    """Go: TestDecode."""
    obj, _ = UNSTRUCTURED_JSON_SCHEME.decode(b'{"apiVersion": "test", "kind": "test_kind"}')
    assert isinstance(obj, Unstructured) and obj.get_kind() == "test_kind"
    empty, _ = UNSTRUCTURED_JSON_SCHEME.decode(b'{"apiVersion": "test", "kind": "PodList", "items": null}')
    assert isinstance(empty, UnstructuredList) and empty.items == []
    with pytest.raises(ValueError, match="cannot unmarshal object"):
        UNSTRUCTURED_JSON_SCHEME.decode(b'{"apiVersion": "test", "kind": "test_list", "items": {"a": 1}}')


@pytest.mark.parametrize(("kind", "of_items"), [("PodList", "Pod"), ("test_list", "test_list")])
def test_items_without_a_kind_take_it_from_the_list(kind: str, of_items: str) -> None:
    """Go: TestDecode."""
    text = f'{{"apiVersion": "test", "kind": "{kind}", "items": [{{"metadata": {{"name": "a"}}}}, {{"kind": "Own"}}]}}'
    items, _ = UNSTRUCTURED_JSON_SCHEME.decode(text.encode())
    assert isinstance(items, UnstructuredList)
    found = [(each.get_name(), each.get_kind(), each.get_api_version()) for each in items.items]
    assert found == [("a", of_items, "test"), ("", "Own", "")]


def test_numbers_stay_integers_or_floats() -> None:
    """Go: TestDecodeNumbers."""
    obj, _ = UNSTRUCTURED_JSON_SCHEME.decode(
        b'{"kind": "K", "apiVersion": "v1", "i": 1, "big": 9007199254740993, "f": 1.0, "e": 1e3}'
    )
    document = obj.to_dict()
    assert [(name, type(document[name])) for name in ("i", "big", "f", "e")] == [
        ("i", int), ("big", int), ("f", float), ("e", float),
    ]  # fmt: skip
    assert document["big"] == 9007199254740993
    assert UNSTRUCTURED_JSON_SCHEME.decode(UNSTRUCTURED_JSON_SCHEME.encode(obj))[0] == obj


@pytest.mark.parametrize("text", [b"{}", b'{"apiVersion": "v1"}', b"[]", b"{"])
def test_an_object_without_a_kind_is_refused(text: bytes) -> None:
    """Go: TestDecodeUnstructured."""
    with pytest.raises(Exception, match="Object 'Kind' is missing|json: cannot unmarshal|Expecting"):
        UNSTRUCTURED_JSON_SCHEME.decode(text)


def test_one_list_may_be_written_by_many_at_once() -> None:
    """Go: TestCodecOfUnstructuredList."""
    items, written = UnstructuredList({"kind": "List", "apiVersion": "v1"}), []
    threads = [
        threading.Thread(target=lambda: written.append(UNSTRUCTURED_JSON_SCHEME.encode(items)), name=f"writer-{n}")
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written == [UNSTRUCTURED_JSON_SCHEME.encode(items)] * 4


@pytest.mark.parametrize("metadata", [None, 5, "x", [], [{}], True])
def test_setters_leave_metadata_that_are_no_object_as_they_are(metadata: Any) -> None:
    """Go ignores the error of SetNestedField."""
    for document in ({"metadata": metadata}, {"metadata": metadata, "items": []}):
        obj: Any = (UnstructuredList if "items" in document else Unstructured).from_dict(dict(document))
        obj.set_resource_version("1")
        obj.set_resource_version("")
        if isinstance(obj, Unstructured):
            obj.set_name("x")
            obj.set_labels({"a": "b"})
            obj.set_deletion_grace_period_seconds(0)
            obj.set_deletion_grace_period_seconds(None)
        else:
            obj.set_remaining_item_count(0)
            obj.set_remaining_item_count(None)
        assert obj.to_dict() == document


def test_a_field_is_removed_without_making_metadata() -> None:
    obj = Unstructured.from_dict({"kind": "Pod"})
    obj.set_deletion_grace_period_seconds(None)
    assert obj.to_dict() == {"kind": "Pod"}
    obj.set_deletion_grace_period_seconds(0)
    assert obj.to_dict() == {"kind": "Pod", "metadata": {"deletionGracePeriodSeconds": 0}}


def test_what_a_getter_returns_can_be_written_back():
    obj = Unstructured({"apiVersion": "v1", "kind": "Bold", "metadata": {"name": "a"}})
    before = obj.deep_copy()

    obj.set_labels(obj.get_labels())
    obj.set_annotations(obj.get_annotations())
    obj.set_finalizers(obj.get_finalizers())
    obj.set_owner_references(obj.get_owner_references())

    assert obj == before
