"""Other packages' access to the document below an object."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.runtime.documents import (
    document_of,
    free_document_of,
    replace_document,
    writable_document_of,
)
from clientgo.apimachinery.runtime.serializer import JSONSerializer
from clientgo.apimachinery.runtime.view import ReadOnlyError
from clientgo.kubernetes.scheme import SCHEME


def document(name: str = "a", **more: Any) -> dict[str, Any]:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name}, **more}


KINDS = pytest.mark.parametrize("cls", [corev1.Pod, unstructured.Unstructured])


@KINDS
def test_the_document_is_the_object_s_own(cls: type[Object]) -> None:
    own = document()
    obj = cls.from_dict(own)

    assert document_of(obj) is writable_document_of(obj) is free_document_of(obj) is own


@KINDS
def test_a_frozen_objects_document_is_readable_but_not_writable(cls: type[Object]) -> None:
    obj = cls.from_dict(document()).freeze()

    assert document_of(obj) == document()
    with pytest.raises(ReadOnlyError):
        writable_document_of(obj)
    with pytest.raises(ReadOnlyError):
        replace_document(obj, document("b"))
    assert document_of(obj) == document()


@KINDS
def test_a_replaced_document_is_not_copied(cls: type[Object]) -> None:
    obj, other = cls.from_dict(document()), document("b")

    replace_document(obj, other)

    assert document_of(obj) is other


@KINDS
def test_of_a_frozen_object_a_copy_can_be_changed(cls: type[Object]) -> None:
    obj = cls.from_dict(document()).freeze()

    free_document_of(obj)["metadata"]["name"] = "b"

    assert document_of(obj) == document()


def test_a_part_of_a_frozen_object_is_frozen_too() -> None:
    pod = corev1.Pod.from_dict(document()).freeze()

    free_document_of(pod.metadata)["name"] = "b"

    assert document_of(pod) == document()
    with pytest.raises(ReadOnlyError):
        replace_document(pod.metadata, {"name": "b"})


def test_writing_to_a_part_that_is_absent_attaches_it() -> None:
    pod = corev1.Pod.from_dict(document())

    assert document_of(pod.spec) == {}
    assert "spec" not in document_of(pod)
    writable_document_of(pod.spec)["nodeName"] = "n"

    assert pod.spec.node_name == "n"


def test_a_part_that_is_replaced_stays_a_part() -> None:
    pod = corev1.Pod.from_dict(document(spec={"nodeName": "n", "hostname": "h"}))

    replace_document(pod.spec, {"nodeName": "m"})
    assert document_of(pod)["spec"] == {"nodeName": "m"}

    replace_document(pod.spec, document_of(pod)["spec"])
    assert document_of(pod)["spec"] == {"nodeName": "m"}


def test_decoding_into_an_item_of_a_list_changes_the_list() -> None:
    pods = corev1.PodList.from_dict({"items": [document(), document("b")]})
    serializer = JSONSerializer(SCHEME)

    serializer.decode(serializer.encode(corev1.Pod.from_dict(document("c"))), into=pods.items[1])

    assert [pod.metadata.name for pod in pods.items] == ["a", "c"]


def test_the_items_of_a_frozen_list_without_classes_can_be_changed_and_do_not_change_it() -> None:
    pods = unstructured.Unstructured.from_dict({"kind": "PodList", "apiVersion": "v1", "items": [document()]}).freeze()

    (item,) = meta.extract_list(pods)
    item.set_name("changed")

    assert document_of(pods)["items"] == [document()]
