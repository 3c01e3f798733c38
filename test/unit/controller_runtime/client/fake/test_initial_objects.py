"""Objects that a fake client is built with: their version, and their owners before the first apply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ctrlcluster import CTX

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.types import PatchType
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake


def config_map(name: str = "cm", **metadata: Any) -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(namespace="ns", name=name, **metadata), data={"a": "1"})


def widget(**spec: Any) -> Unstructured:
    metadata = {"namespace": "ns", "name": "w"}
    return Unstructured({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec})


def apply(c: client.Client, obj: Any) -> None:
    document = {**obj.to_dict(), "apiVersion": "v1", "kind": "ConfigMap"}
    metadata = {name: obj.to_dict()["metadata"][name] for name in ("name", "namespace")}
    c.apply(CTX, Unstructured({**document, "metadata": metadata}), client.FieldOwner("me"))


@pytest.mark.parametrize("make", [config_map, widget])
@pytest.mark.parametrize("how", ["with_objects", "with_runtime_objects"])
def test_the_callers_objects_get_version_999(make: Callable[[], client.Object], how: str) -> None:
    obj = make()
    getattr(fake.new_client_builder(), how)(obj).build()
    assert obj.get_resource_version() == "999"


def test_the_items_of_the_callers_lists_get_version_999() -> None:
    items = corev1.ConfigMapList(items=[config_map("a"), config_map("b", resource_version="7")])
    fake.new_client_builder().with_lists(items).build()
    assert [item.metadata.resource_version for item in items.items] == ["999", "7"]


def test_a_frozen_object_stays_as_it_is() -> None:
    obj = config_map()
    obj.freeze()
    c = fake.new_client_builder().with_objects(obj).build()
    assert obj.get_resource_version() == ""
    assert c.get(CTX, client.object_key_from_object(obj), corev1.ConfigMap).get_resource_version() == "999"


def test_the_first_update_of_a_custom_resource_needs_no_get() -> None:
    obj = widget(a=1)
    c = fake.new_client_builder().with_objects(obj).build()
    obj.object["spec"]["a"] = 2
    c.update(CTX, obj)
    assert obj.get_resource_version() == "1000"


def test_objects_are_added_before_lists() -> None:
    """The list's item is the second of its name, also when the list was given first."""
    builder = fake.new_client_builder().with_lists(corev1.ConfigMapList(items=[config_map()]))
    with pytest.raises(ValueError, match='failed to add list .*: configmaps "cm" already exists'):
        builder.with_objects(config_map()).build()


_WRITES: dict[str, Callable[[client.Client, Any], None]] = {
    "update": lambda c, obj: c.update(CTX, obj),
    "merge patch": lambda c, obj: c.patch(CTX, obj, client.raw_patch(PatchType.MERGE, b"{}")),
    "apply": apply,
    "delete with finalizers": lambda c, obj: c.delete(CTX, obj),
}


@pytest.mark.parametrize("write", _WRITES)
@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("abc", "invalid syntax"),
        ("-1", "invalid syntax"),
        ("+1", "invalid syntax"),
        ("1_0", "invalid syntax"),
        ("18446744073709551616", "value out of range"),
    ],
)
def test_a_version_that_is_not_a_number_is_reported_in_gos_words(write: str, version: str, reason: str) -> None:
    obj = config_map(resource_version=version, finalizers=["f"])
    c = fake.new_client_builder().with_objects(obj).build()
    with pytest.raises(ValueError) as raised:
        _WRITES[write](c, obj)
    text = f'can not convert resourceVersion "{version}" to int: strconv.ParseUint: parsing "{version}": {reason}'
    assert str(raised.value) == text


@pytest.mark.parametrize("changed", [False, True])
def test_an_apply_to_an_object_from_before_conflicts_with_before_first_apply(changed: bool) -> None:
    """An update of an object with a uid keeps no owners, so that the first apply finds those before it."""
    obj = config_map(uid="u-1")
    c = fake.new_client_builder().with_objects(obj).with_return_managed_fields().build()
    if changed:
        obj.data["a"] = "2"
        c.update(CTX, obj, client.FieldOwner("updater"))
    wanted = config_map()
    wanted.data["a"] = "3"
    with pytest.raises(apierrors.StatusError) as raised:
        apply(c, wanted)
    text = 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a'
    assert str(raised.value) == text


def test_an_update_of_an_object_without_a_uid_keeps_its_owner() -> None:
    obj = config_map()
    c = fake.new_client_builder().with_objects(obj).with_return_managed_fields().build()
    obj.data["a"] = "2"
    c.update(CTX, obj, client.FieldOwner("updater"))
    assert [entry.manager for entry in obj.metadata.managed_fields] == ["updater"]


def test_the_deletion_timestamp_of_an_object_with_finalizers_has_an_owner() -> None:
    obj = config_map(finalizers=["f"])
    c = fake.new_client_builder().with_objects(obj).with_return_managed_fields().build()
    c.delete(CTX, obj)
    found = c.get(CTX, client.object_key_from_object(obj), corev1.ConfigMap)
    (entry,) = found.to_dict()["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("unknown", "Update")
    assert entry["fieldsV1"] == {"f:metadata": {"f:deletionTimestamp": {}}}
