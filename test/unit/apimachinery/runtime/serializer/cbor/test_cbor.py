"""Objects as CBOR: the serializer's own rules, besides those that golden/apimachinery/test_cbor.py compares with Go."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("cbor2")

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.error import StrictDecodingError
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind
from clientgo.apimachinery.runtime.serializer import JSONSerializer, cbor, new_codec_factory, with_serializer
from clientgo.apimachinery.runtime.serializer.cbor import direct
from clientgo.kubernetes.scheme import SCHEME

SERIALIZER = cbor.new_serializer(JSONSerializer(SCHEME))
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"é": "\udcff"}},
    "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 80}]}]},
}


def test_encoded_objects_begin_with_the_self_described_tag() -> None:
    """Go: TestRecognizesData"""
    data = SERIALIZER.encode(corev1.Pod.from_dict(POD))
    assert data.startswith(bytes.fromhex("d9d9f7"))
    assert SERIALIZER.recognizes_data(data)
    for other in (b"", b"{}", b"\xd9\xd9", b"\xa0", data[3:]):
        assert not SERIALIZER.recognizes_data(other)


def test_typed_and_unstructured_objects_have_the_same_bytes() -> None:
    """Go: TestEncode"""
    data = SERIALIZER.encode(corev1.Pod.from_dict(POD))
    assert SERIALIZER.encode(Unstructured.from_dict(POD)) == data
    assert data == cbor.SELF_DESCRIBED + direct.marshal(POD)
    without_kind = {key: value for key, value in POD.items() if key not in ("apiVersion", "kind")}
    assert SERIALIZER.encode(corev1.Pod.from_dict(without_kind)) == data
    items = SERIALIZER.encode(UnstructuredList.from_dict({"kind": "PodList", "apiVersion": "v1"}))
    assert direct.unmarshal(items)["items"] == []


def test_the_order_of_keys_does_not_matter() -> None:
    """Go: TestEncodeNondeterministic"""
    turned = dict(reversed(POD.items()))
    obj = Unstructured.from_dict(turned)
    assert SERIALIZER.encode(obj) == SERIALIZER.encode(Unstructured.from_dict(POD))
    free = SERIALIZER.encode_nondeterministic(obj)
    assert free != SERIALIZER.encode(obj)
    assert SERIALIZER.decode(free, None, Unstructured)[0].to_dict() == POD


def test_an_object_is_the_same_as_from_json() -> None:
    """Go: TestDecode"""
    data = SERIALIZER.encode(Unstructured.from_dict(POD))
    for into in (None, corev1.Pod, corev1.Pod()):
        obj, gvk = SERIALIZER.decode(data, None, into)
        assert isinstance(obj, corev1.Pod)
        assert gvk == GroupVersionKind("", "v1", "Pod")
        assert obj.to_dict() == POD
    filled = Unstructured()
    assert SERIALIZER.decode(data, None, filled)[0] is filled
    assert filled.to_dict() == POD


def test_a_missing_kind_comes_from_the_defaults() -> None:
    """Go: TestMetaFactoryInterpret"""
    data = direct.marshal({"metadata": {"name": "p"}})
    obj, gvk = SERIALIZER.decode(data, GroupVersionKind("", "v1", "Pod"))
    assert isinstance(obj, corev1.Pod) and gvk.kind == "Pod"
    assert SERIALIZER.decode(data, None, corev1.Pod)[1] == GroupVersionKind("", "v1", "Pod")
    with pytest.raises(ValueError, match="Object 'Kind' is missing in '{'metadata': {'name': 'p'}}'"):
        SERIALIZER.decode(data)


def test_unknown_fields_are_strict_errors_with_their_position() -> None:
    strict = cbor.new_serializer(JSONSerializer(SCHEME), cbor.strict(True), cbor.transcode(False))
    assert strict.decode(direct.marshal(POD))[0].to_dict() == POD
    document = {**POD, "spec": {"containers": [{"name": "c"}, {"name": "d", "other": 1}]}}
    # In the order of the bytes: shorter keys first.
    with pytest.raises(StrictDecodingError) as caught:
        strict.decode(direct.marshal(document))
    assert str(caught.value) == "strict decoding error: cbor: found unknown field at map element index 1"
    with pytest.raises(StrictDecodingError, match="index 2"):
        strict.decode(direct.marshal({**document, "text": 1, "kind": "Pod"}))
    assert SERIALIZER.decode(direct.marshal(document))[0].to_dict() == document


def test_duplicate_keys_are_errors_in_both_modes() -> None:
    data = bytes.fromhex("a3446b696e6443506f644a61706956657273696f6e427631446b696e6441") + b"X"
    strict = cbor.new_serializer(JSONSerializer(SCHEME), cbor.strict(True))
    for serializer in (SERIALIZER, strict):
        with pytest.raises(ValueError, match='found duplicate map key "kind" at map element index 2'):
            serializer.decode(data)


def test_events_have_a_type_and_an_object() -> None:
    data = direct.marshal({"type": "ADDED", "object": POD})
    event_type, obj = SERIALIZER.decode_event(data)
    assert event_type == "ADDED" and isinstance(obj, corev1.Pod) and obj.to_dict() == POD
    for event in ({}, {"type": "ADDED"}, {"type": 1, "object": POD}, {"type": "ADDED", "object": []}, None):
        with pytest.raises(ValueError, match="unable to decode to metav1.WatchEvent"):
            SERIALIZER.decode_event(direct.marshal(event))


def test_the_entry_of_the_media_type() -> None:
    info = cbor.new_serializer_info(JSONSerializer(SCHEME))
    assert (info.media_type, info.media_type_type, info.media_type_sub_type) == (
        "application/cbor", "application", "cbor",
    )  # fmt: skip
    assert not info.encodes_as_text
    assert info.stream_serializer is not None and info.stream_serializer.framer is cbor.new_framer()
    with pytest.raises(StrictDecodingError):
        assert info.strict_serializer is not None
        info.strict_serializer.decode(direct.marshal({**POD, "other": 1}))
    assert repr(info.serializer).startswith("<CBORSerializer of <JSONSerializer")


def test_typed_clients_may_have_cbor_as_another_media_type() -> None:
    factory = new_codec_factory(SCHEME, with_serializer(cbor.new_serializer_info))
    assert [info.media_type for info in factory.supported_media_types()] == ["application/json", "application/cbor"]
    assert len(new_codec_factory(SCHEME).supported_media_types()) == 1
    codecs = factory.without_conversion()
    serializer = codecs.supported_media_types()[1].serializer
    decoder = codecs.decoder_to_version(serializer, None)
    obj, _ = decoder.decode(direct.marshal(POD))
    assert "kind" not in obj.to_dict() and obj.to_dict()["metadata"]["name"] == "p"
    encoder = codecs.encoder_for_version(serializer, GroupVersion("apps", "v1"))
    options = direct.unmarshal(encoder.encode(metav1.DeleteOptions(grace_period_seconds=1)))
    assert options == {"kind": "DeleteOptions", "apiVersion": "apps/v1", "gracePeriodSeconds": 1}
    assert encoder.identifier() == "cbor"
