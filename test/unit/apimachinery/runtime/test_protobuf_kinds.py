"""Each kind of field in protobuf: once, as a pointer, in a list and in a map, with its zero value and with null."""

from __future__ import annotations

import inspect
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import protobuf_engines
import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.serializer import JSONSerializer, protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import Message, ProtobufSerializer, WireError, upb
from clientgo.apimachinery.runtime.serializer.protobuf.decoding import MAX_DEPTH
from clientgo.apimachinery.runtime.serializer.protobuf.parts import MessagePart, ObjectIdentity
from clientgo.apimachinery.runtime.serializer.protobuf.walk import WalkedPart
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes, put_varint, signed, varint
from clientgo.kubernetes.scheme import SCHEME

T = TypeVar("T")

engine = protobuf_engines.fixture()

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class Case:
    """A kind with its JSON value, its bytes on the wire, the JSON of its zero value and the bytes of that."""

    kind: str
    json: Any
    wire: bytes
    zero: Any
    zero_wire: bytes
    wire_type: int = BYTES


SECOND = 10**9
CASES = [
    Case("string", "é", "é".encode(), "", b""),
    Case("bool", True, b"\1", False, b"\0", VARINT),
    Case("int", -2, b"\xfe" + b"\xff" * 8 + b"\1", 0, b"\0", VARINT),
    Case("double", 1.5, struct.pack("<d", 1.5), 0, struct.pack("<d", 0.0), FIXED64),
    Case("duration", "1.5s", b"\x08" + put_varint(SECOND * 3 // 2), "0s", b"\x08\0"),
    Case("quantity", "100m", b"\n\x04100m", "0", b"\n\x010"),
    Case("intorstring", "25%", b"\x08\1\x10\0\x1a\x0325%", 0, b"\x08\0\x10\0\x1a\0"),
]
EACH = pytest.mark.parametrize("case", CASES, ids=[case.kind for case in CASES])


def schema_of(kind: str) -> Message:
    """Return a message with a field of the kind in each shape."""
    lines = [f"1 one {kind}", f"2 perhaps? *{kind}", f"3 list? []{kind}", f"4 map? map:{kind}"]
    return Message(f"Some{kind.capitalize()}", lines, "test")


def field(number: int, value: bytes, wire_type: int) -> bytes:
    tag = put_varint(number << 3 | wire_type)
    return put_bytes(tag, value) if wire_type == BYTES else tag + value


def sized(number: int, value: bytes) -> bytes:
    return field(number, value, BYTES)


@EACH
def test_a_value_is_written_and_read_in_each_shape(case: Case) -> None:
    schema = schema_of(case.kind)
    document = {"one": case.json, "perhaps": case.json, "list": [case.json, case.json], "map": {"k": case.json}}
    written = protobuf.encode_message(schema, document)
    assert written == b"".join(
        (
            *(field(number, case.wire, case.wire_type) for number in (1, 2, 3, 3)),
            sized(4, sized(1, b"k") + field(2, case.wire, case.wire_type)),
        )
    )
    assert protobuf.decode_message(schema, written) == document


@EACH
def test_a_value_that_is_missing_is_zero_and_is_written(case: Case) -> None:
    schema = schema_of(case.kind)
    written = protobuf.encode_message(schema, {})
    assert written == field(1, case.zero_wire, case.wire_type)
    assert protobuf.decode_message(schema, written) == {"one": case.zero}
    assert protobuf.decode_message(schema, b"") == {"one": case.zero}


def lazily(schema: Message, data: bytes) -> MessagePart:
    """Return the message that decodes a field when it is read, by the engine of this run."""
    owner = ObjectIdentity(schema, "ns/name")
    return upb.parsed_part(owner, schema, False, data) or WalkedPart(owner, schema, False, data)


@EACH
def test_a_field_that_is_read_alone_is_the_same(case: Case) -> None:
    schema = schema_of(case.kind)
    several = {"list": [case.json] * 2, "map": {"k": case.json, "l": case.json}}
    document = {"one": case.json, "perhaps": case.json, **several}
    part = lazily(schema, protobuf.encode_message(schema, document))
    assert {name: part.get(name) for name in document} == document
    empty = lazily(schema, b"")
    assert [empty.get(name) for name in document] == [case.zero, None, None, None]
    assert part.get("unknown") is None


@EACH
def test_the_last_one_of_several_values_counts(case: Case) -> None:
    schema = schema_of(case.kind)
    data = field(1, case.zero_wire, case.wire_type) + field(1, case.wire, case.wire_type)
    assert protobuf.decode_message(schema, data) == {"one": case.json}
    assert lazily(schema, data).get("one") == case.json


@EACH
def test_an_element_that_is_null_is_the_zero_of_its_kind(case: Case) -> None:
    schema = schema_of(case.kind)
    written = protobuf.encode_message(schema, {"one": case.json, "list": [None], "map": {"k": None}})
    assert protobuf.decode_message(schema, written) == {
        "one": case.json,
        "list": [case.zero],
        "map": {"k": case.zero},
    }


@EACH
def test_an_entry_without_a_value_has_the_zero_of_its_kind(case: Case) -> None:
    schema = schema_of(case.kind)
    assert protobuf.decode_message(schema, sized(4, sized(1, b"k")))["map"] == {"k": case.zero}
    value = field(2, case.wire, case.wire_type)
    assert protobuf.decode_message(schema, sized(4, value))["map"] == {"": case.json}


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("string", 1, "expected a string, got 1"),
        ("bool", 1, "expected a boolean, got 1"),
        ("int", True, "expected an integer, got true"),
        ("int", 1.5, "expected an integer, got 1.5"),
        ("double", "1", 'expected a number, got "1"'),
        ("double", True, "expected a number, got true"),
        ("bytes", 1, "expected bytes in base64"),
        ("bytes", "%", "expected bytes in base64"),
        ("quantity", True, "expected a quantity, got true"),
        ("quantity", [], r"expected a quantity, got \[\]"),
        ("intorstring", True, "expected an integer, got true"),
        ("strings", "a", 'expected a list, got "a"'),
    ],
)
def test_a_value_of_another_type_is_refused_by_its_name(kind: str, value: Any, reason: str) -> None:
    with pytest.raises(protobuf.EncodeError, match=reason) as caught:
        protobuf.encode_message(Message("Kinds", [f"1 one {kind}"], "test"), {"one": value})
    assert "one" in str(caught.value)


@pytest.mark.parametrize(("value", "text"), [(10, "10"), (0.5, "0.5"), ("1Gi", "1Gi")])
def test_a_quantity_may_be_a_number_in_json(value: Any, text: str) -> None:
    schema = Message("Kinds", ["1 one quantity"], "test")
    written = protobuf.encode_message(schema, {"one": value})
    assert written == sized(1, sized(1, text.encode()))


def test_bytes_in_base64_may_have_line_ends() -> None:
    schema = Message("Kinds", ["1 one bytes"], "test")
    assert protobuf.encode_message(schema, {"one": "YW\r\nJj"}) == sized(1, b"abc")


def test_a_field_shows_its_number_name_shape_and_kind() -> None:
    schema = schema_of("string")
    assert [repr(each) for each in schema.fields] == [
        "<Field 1 one of shape 0, kind 0>",
        "<Field 2 perhaps of shape 0, kind 0>",
        "<Field 3 list of shape 1, kind 0>",
        "<Field 4 map of shape 2, kind 0>",
    ]
    assert repr(schema) == "<Message test.SomeString>"


@pytest.mark.parametrize(
    ("number", "size"),
    [(0, 1), (127, 1), (128, 2), (2**14 - 1, 2), (2**14, 3), (2**63 - 1, 9), (2**63, 10), (2**64 - 1, 10), (-1, 10)],
)
def test_a_number_takes_one_byte_for_each_seven_bits(number: int, size: int) -> None:
    written = put_varint(number)
    assert len(written) == size
    assert varint(written, 0) == (number % 2**64, size)
    assert signed(number % 2**64) == (number if number < 2**63 else number - 2**64)


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
def test_a_number_of_more_than_64_bits_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="is no int64"):
        put_varint(number)


@pytest.mark.parametrize("data", [b"\xff" * 9 + b"\2", b"\x80" * 10 + b"\0"], ids=["65 bits", "11 bytes"])
def test_a_varint_of_more_than_64_bits_is_refused(data: bytes) -> None:
    with pytest.raises(WireError, match="integer overflow"):
        varint(data, 0)


@pytest.mark.parametrize("kind", ["int", "bool"])
def test_numbers_may_be_packed(kind: str) -> None:
    schema = schema_of(kind)
    values = [True, False, True] if kind == "bool" else [1, 300, -1]
    data = sized(3, b"".join(map(put_varint, values)))
    assert protobuf.decode_message(schema, data)["list"] == values
    assert lazily(schema, data).get("list") == values
    overlong = sized(3, b"\x80") + field(1, b"\1", VARINT)
    with pytest.raises(WireError, match="unexpected EOF"):
        protobuf.decode_message(schema, overlong)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_double_that_json_does_not_have_is_refused(value: float) -> None:
    schema = schema_of("double")
    data = field(1, struct.pack("<d", value), FIXED64)
    for read in (lambda: protobuf.decode_message(schema, data), lambda: lazily(schema, data).get("one")):
        with pytest.raises(WireError, match=f"json: unsupported value: {value}"):
            read()


def test_a_double_that_is_cut_off_is_refused() -> None:
    with pytest.raises(WireError, match="unexpected EOF"):
        protobuf.decode_message(schema_of("double"), field(1, b"1234567", FIXED64))


def test_an_integer_that_no_double_holds_is_refused() -> None:
    with pytest.raises(protobuf.EncodeError, match="too large"):
        protobuf.encode_message(schema_of("double"), {"one": 10**400})


@pytest.mark.parametrize(
    ("entry", "wire_type"),
    [(field(1, b"\1", VARINT), VARINT), (sized(1, b"k") + field(2, b"\1", VARINT), VARINT)],
    ids=["key", "value"],
)
def test_an_entry_of_a_map_in_another_wire_type_is_refused(entry: bytes, wire_type: int) -> None:
    with pytest.raises(WireError, match=f"wrong wireType = {wire_type} for field map"):
        protobuf.decode_message(schema_of("string"), sized(4, entry))


def test_a_number_in_a_map_is_no_text() -> None:
    with pytest.raises(WireError, match="wrong wireType = 2 for field map"):
        protobuf.decode_message(schema_of("int"), sized(4, sized(1, b"k") + sized(2, b"1")))


@pytest.mark.parametrize(
    ("value", "wire_type"),
    [(b"\x96\1", VARINT), (b"12345678", FIXED64), (b"abc", BYTES), (b"1234", FIXED32)],
    ids=["varint", "64 bits", "bytes", "32 bits"],
)
def test_a_field_that_is_not_in_the_table_is_kept_beside_the_others(value: bytes, wire_type: int) -> None:
    schema = schema_of("string")
    newer = field(9, value, wire_type)
    document: Any = protobuf.decode_message(schema, newer + sized(1, b"a"))
    assert dict(document) == {"one": "a"}
    assert document.fields == {"test.SomeString": newer}
    assert lazily(schema, newer + sized(1, b"a")).get("one") == "a"
    with pytest.raises(WireError, match="unexpected EOF"):
        protobuf.decode_message(schema, newer[:-1])


def test_the_zero_time_of_go_is_null() -> None:
    schema = Message("Times", ["1 one time", "2 two microtime"], "test")
    year_one = b"\x08" + put_varint(-62135596800) + b"\x10\0"
    data = sized(1, year_one) + sized(2, year_one)
    assert protobuf.decode_message(schema, data) == {"one": None, "two": None}
    later = b"\x08" + put_varint(-62135596799) + b"\x10\0"
    assert protobuf.decode_message(schema, sized(1, later))["one"] == "0001-01-01T00:00:01Z"
    for empty in (None, "0001-01-01T00:00:00Z"):
        assert protobuf.encode_message(schema, {"one": empty, "two": empty}) == sized(1, b"") + sized(2, b"")


def test_any_json_may_be_null_in_a_list_and_deep() -> None:
    schema = Message("Raws", ["1 list? []raw"], "test")
    assert protobuf.encode_message(schema, {"list": [None, 1]}) == sized(1, b"") + sized(1, sized(1, b"1"))
    deep: Any = 1
    for _ in range(3000):
        deep = [deep]
    assert protobuf.encode_message(schema, {"list": [deep]}) == sized(1, sized(1, b"[" * 3000 + b"1" + b"]" * 3000))
    with pytest.raises(protobuf.EncodeError, match=r"expected a string, got \[{64}$"):
        protobuf.encode_message(schema_of("string"), {"one": deep})


def test_items_of_a_schema_may_be_a_list_with_null() -> None:
    schema = protobuf.message_of(apiextensionsv1.JSONSchemaProps)
    assert schema is not None
    document = {"items": [{"type": "string"}, None]}
    written = protobuf.encode_message(schema, document)
    assert protobuf.decode_message(schema, written)["items"] == [{"type": "string"}, {}]
    with pytest.raises(protobuf.EncodeError, match='expected an object, got "a"'):
        protobuf.encode_message(schema, {"not": "a"})


def on_a_deep_stack(left: int, call: Callable[[], T]) -> T:
    """Call `call` with so many frames left."""

    def descend(frames: int) -> T:
        return call() if frames <= 0 else descend(frames - 1)

    return descend(sys.getrecursionlimit() - len(inspect.stack()) - left)


def test_a_deep_message_on_a_deep_stack_is_refused() -> None:
    """The limit of 200 messages fits on an empty stack."""
    schema = protobuf.message_of(apiextensionsv1.JSONSchemaProps)
    assert schema is not None
    document: dict[str, Any] = {}
    for _ in range(MAX_DEPTH - 1):
        document = {"not": document}
    written = protobuf.encode_message(schema, document)
    with pytest.raises(WireError, match="nested deeper than 200 messages"):
        on_a_deep_stack(120, lambda: protobuf.decode_message(schema, written))
    with pytest.raises(protobuf.EncodeError, match="nested deeper than 200 messages"):
        on_a_deep_stack(120, lambda: protobuf.encode_message(schema, document))


def test_a_field_of_a_type_that_no_table_has_is_an_error() -> None:
    lost = Message("Lost", ["1 one NoSuchType"], "clientgo.api.core.v1")
    with pytest.raises(LookupError, match="clientgo.api.core.v1: no message NoSuchType"):
        _ = lost.fields[0].message


def test_an_envelope_has_only_fields_with_a_length() -> None:
    with pytest.raises(WireError, match="wrong wireType = 0 for field 2 of Unknown"):
        protobuf.read_envelope(b"k8s\0" + field(2, b"\1", VARINT))


def test_a_serializer_reads_documents_too_and_shows_its_scheme() -> None:
    serializer = ProtobufSerializer(SCHEME, JSONSerializer(SCHEME))
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    found = serializer.decode_document(document)
    assert isinstance(found, corev1.Pod)
    assert found.get_name() == "a"
    assert repr(serializer) == f"<ProtobufSerializer {SCHEME!r}>"


def test_the_package_is_sought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "google.protobuf.descriptor_pool", None)
        lookup = upb.Lookup(is_wanted=True)
        assert lookup.engine() is None
    assert lookup.engine() is None


def test_a_package_in_plain_python_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = pytest.importorskip("google.protobuf.descriptor_pool")

    class DescriptorPool:
        """Of plain Python, so it belongs to the module."""

    DescriptorPool.__module__ = pools.__name__
    monkeypatch.setattr(pools, "DescriptorPool", DescriptorPool)
    with pytest.raises(ImportError, match="has no upb here"):
        upb.Engine()


def test_an_object_without_a_version_says_so() -> None:
    serializer = ProtobufSerializer(SCHEME, JSONSerializer(SCHEME))
    for version in ("", "7"):
        data = serializer.encode(corev1.Pod(metadata=metav1.ObjectMeta(name="a", resource_version=version)))
        found, _ = serializer.decode(data, None, corev1.Pod)
        assert found.get_resource_version() == version
