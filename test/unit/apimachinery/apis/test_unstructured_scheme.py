"""The serializer of objects without classes, and the encoder that falls back on it."""

from __future__ import annotations

import json

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.apis.meta.v1.unstructured import UNSTRUCTURED_JSON_SCHEME as SCHEME
from clientgo.apimachinery.runtime.schema import GroupVersionKind

FOO = b'{"apiVersion":"x/v1","kind":"Foo","spec":{"a":[1]}}\n'
FOO_LIST = b'{"apiVersion":"x/v1","kind":"FooList","items":[{"metadata":{"name":"a"}}]}'


def test_an_object_comes_back_as_it_was() -> None:
    """Go: TestGetDecoding."""
    obj, gvk = SCHEME.decode(FOO)
    assert isinstance(obj, unstructured.Unstructured)
    assert gvk == GroupVersionKind("x", "v1", "Foo")
    assert SCHEME.encode(obj) == FOO
    assert SCHEME.expecting(corev1.Pod).decode(FOO)[0] == obj


def test_what_has_items_is_a_list_whose_items_know_their_kind() -> None:
    """Go: TestListDecoding."""
    obj, _ = SCHEME.decode(FOO_LIST)
    assert isinstance(obj, unstructured.UnstructuredList)
    (item,) = obj.items
    assert (item.get_kind(), item.get_api_version(), item.get_name()) == ("Foo", "x/v1", "a")


def test_decode_into() -> None:
    target = unstructured.Unstructured()
    assert SCHEME.decode(FOO, None, target)[0] is target
    assert target.get_kind() == "Foo"
    assert isinstance(SCHEME.decode(FOO, None, corev1.Pod)[0], corev1.Pod)
    with pytest.raises(runtime.ReadOnlyError):
        SCHEME.decode(FOO, None, target.freeze())


def test_what_cannot_be_decoded() -> None:
    with pytest.raises(runtime.MissingKindError):
        SCHEME.decode(b"{}")
    for data in (b"[]", b"{"):
        with pytest.raises(ValueError):
            SCHEME.decode(data)


def test_encode_writes_typed_and_unknown_objects_too() -> None:
    assert json.loads(SCHEME.encode(corev1.Pod(metadata=metav1.ObjectMeta(name="a")))) == {"metadata": {"name": "a"}}
    assert SCHEME.encode(runtime.Unknown(b"raw")) == b"raw"


def test_the_fallback_serves_unknown_unstructured_objects() -> None:
    class Picky:
        """Knows nothing."""

        def encode(self, obj: runtime.Object) -> bytes:
            raise runtime.new_not_registered_err_for_kind("none", obj.group_version_kind())

        def identifier(self) -> str:
            return "picky"

    encoder = unstructured.new_json_fallback_encoder(Picky())
    assert encoder.encode(SCHEME.decode(FOO)[0]) == FOO
    assert json.loads(encoder.identifier()) == {"name": "fallback", "base": "picky"}
    with pytest.raises(runtime.NotRegisteredError):
        encoder.encode(corev1.Pod())
    Picky.encode = lambda self, obj: (_ for _ in ()).throw(OSError("disk full"))  # type: ignore[method-assign]
    with pytest.raises(OSError, match="disk full"):
        encoder.encode(SCHEME.decode(FOO)[0])
