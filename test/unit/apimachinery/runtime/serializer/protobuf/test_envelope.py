"""The envelope of an object's message, byte for byte."""

from __future__ import annotations

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.serializer import JSONSerializer, protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import ProtobufSerializer, WireError
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes, put_varint, varint
from clientgo.kubernetes.scheme import SCHEME

CODEC = ProtobufSerializer(SCHEME, JSONSerializer(SCHEME))
EMPTY = b"k8s\0\x0a\x04\x0a\0\x12\0\x12\0\x1a\0\x22\0"
NAMED = b"k8s\0\x0a\x15\x0a\x0dother/version\x12\x04test\x12\x03\x01\x02\x03\x1a\0\x22\0"


# Go: TestEncode, TestProtobufDecode, TestNestedMarshalToWriter
@pytest.mark.parametrize(
    ("message", "api_version", "kind", "wire"),
    [(b"", "", "", EMPTY), (b"\x01\x02\x03", "other/version", "test", NAMED)],
)
def test_an_envelope_is_what_go_writes_and_is_read_again(
    message: bytes, api_version: str, kind: str, wire: bytes
) -> None:
    assert protobuf.wrap(message, api_version, kind) == wire
    found = protobuf.read_envelope(wire)
    assert (found.api_version, found.kind, wire[found.begin : found.end]) == (api_version, kind, message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "^empty data$"),
        (b"k", "does not appear to be a protobuf message"),
        (b"k8s", "does not appear to be a protobuf message"),
        (b"k8s\x01", "does not appear to be a protobuf message"),
        (b"k8s\0", "^empty body$"),
    ],
)
def test_what_does_not_begin_as_an_object_is_none(data: bytes, message: str) -> None:
    """Go: TestRecognize, TestProtobufDecode."""
    with pytest.raises(WireError, match=message):
        CODEC.decode(data)


def test_what_says_no_kind_or_version_is_refused() -> None:
    """Go: Serializer.Decode."""
    with pytest.raises(runtime.MissingKindError, match=r'APIVersion:"v1", Kind:""'):
        CODEC.decode(protobuf.wrap(b"", "v1", ""))
    with pytest.raises(runtime.MissingVersionError, match=r'APIVersion:"", Kind:"Pod"'):
        CODEC.decode(protobuf.wrap(b"", "", "Pod"))
    with pytest.raises(runtime.MissingKindError):
        CODEC.decode_event(put_bytes(b"\n", b"ADDED") + put_bytes(b"\x12", put_bytes(b"\n", EMPTY)))


# Go: copyKindDefaults
@pytest.mark.parametrize(
    ("api_version", "kind", "defaults"),
    [
        ("", "", GroupVersionKind("", "v1", "Pod")),
        ("", "", GroupVersionKind("", "", "Pod")),
        ("", "", GroupVersionKind("", "v1", "")),
        ("", "Pod", None),
        ("v1", "", None),
        ("v1", "Pod", GroupVersionKind("apps", "v2", "Other")),
    ],
)
def test_what_the_envelope_does_not_say_the_defaults_say_and_then_the_object_to_fill(
    api_version: str, kind: str, defaults: GroupVersionKind | None
) -> None:
    pod = corev1.Pod()
    found, gvk = CODEC.decode(protobuf.wrap(b"", api_version, kind), defaults, pod)
    assert found is pod
    assert gvk == GroupVersionKind("", "v1", "Pod")


def test_a_status_is_one_of_v1() -> None:
    """Go: TestV1EncodeDecodeStatus."""
    found, gvk = CODEC.decode(CODEC.encode(metav1.Status(message="m")))
    assert isinstance(found, metav1.Status)
    assert (found.message, gvk) == ("m", GroupVersionKind("", "v1", "Status"))


def test_an_object_comes_with_its_kind() -> None:
    """Go: TestDecodeObjects."""
    pod = corev1.Pod.from_dict({"metadata": {"name": "cool"}, "spec": {"hostname": "coolhost"}})
    found, gvk = CODEC.decode(CODEC.encode(pod))
    assert isinstance(found, corev1.Pod)
    assert (found.metadata.name, found.spec.hostname) == ("cool", "coolhost")
    assert gvk == found.group_version_kind() == GroupVersionKind("", "v1", "Pod")


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b"]])
def test_a_list_comes_back_with_its_items(names: list[str]) -> None:
    """Go: TestCollectionsEncoding."""
    items = [{"metadata": {"name": name}, "data": {"k": name}} for name in names]
    source = corev1.ConfigMapList.from_dict({"metadata": {"resourceVersion": "7", "continue": "c"}, "items": items})
    found, _ = CODEC.decode(CODEC.encode(source), None, corev1.ConfigMapList)
    assert isinstance(found, corev1.ConfigMapList)
    assert (found.metadata.resource_version, found.metadata.continue_) == ("7", "c")
    assert [(item.metadata.name, item.data) for item in found.items] == [(name, {"k": name}) for name in names]


def test_the_largest_number_takes_ten_bytes() -> None:
    """Go: TestVarint."""
    data = put_varint(2**64 - 1)
    assert len(data) == 10
    assert varint(data, 0) == (2**64 - 1, 10)


@pytest.mark.parametrize("bits", range(7, 64, 7))
def test_a_number_takes_a_byte_for_each_seven_bits(bits: int) -> None:
    for number, size in ((2**bits - 1, bits // 7), (2**bits, bits // 7 + 1)):
        assert varint(put_varint(number), 0) == (number, size)
