"""CBOR as Kubernetes reads and writes it: what is accepted, the limits, and hostile bytes.

golden/apimachinery/test_cbor.py compares more than 2,000 inputs with Go's answers.
"""

from __future__ import annotations

import math
import random
import struct
import subprocess
import sys
import tracemalloc
from typing import Any

import pytest

pytest.importorskip("cbor2")

import cbor2

from clientgo.apimachinery.runtime.serializer.cbor import direct
from clientgo.apimachinery.runtime.serializer.cbor.internal import modes
from clientgo.golang.io import ErrUnexpectedEOF

UNACCEPTED = "cbor: data item of cbor type primitives is not accepted by protocol: "


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("0a", 10),
        ("1b7fffffffffffffff", 2**63 - 1),
        ("3b7fffffffffffffff", -(2**63)),
        ("40", ""),
        ("d64401020304", "AQIDBA=="),
        ("7f616161626163ff", "abc"),
        ("9f9f8080ff9f8080ffff", [[[], []], [[], []]]),
        ("bf6141bf616101616202ff6142bf616901616a02ffff", {"A": {"a": 1, "b": 2}, "B": {"i": 1, "j": 2}}),
        ("a243abcdef187b43414243187c", {"\udcab\udccd\udcef": 123, "ABC": 124}),
        ("f94200", 3.0),
        ("fa7f7fffff", 3.4028234663852886e38),
        ("fb0000000000000001", 5e-324),
        ("f4", False),
        ("f5", True),
        ("f6", None),
        ("c074323030362d30312d30325431353a30343a30355a", "2006-01-02T15:04:05Z"),
        ("c1fb3ff8000000000000", "1970-01-01T00:00:01.5Z"),
        ("c48221196ab3", [-2, 27315]),
        ("d9d9f7d9d9f701", 1),
    ],
)
def test_items_become_json_values(data: str, value: Any) -> None:
    """Go: TestDecode"""
    decoded = direct.unmarshal(bytes.fromhex(data))
    assert decoded == value and type(decoded) is type(value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            "1bffffffffffffffff",
            "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's "
            "int64)",
        ),
        ("6180", "cbor: invalid UTF-8 string"),
        ("a2614101614102", 'cbor: found duplicate map key "A" at map element index 1'),
        ("a2414101614102", 'cbor: found duplicate map key "A" at map element index 1'),
        ("a25f426865436c6c6fff015f416844656c6c6fff02", 'cbor: found duplicate map key "hello" at map element index 1'),
        ("a10102", "cbor: cannot unmarshal positive integer into Go value of type string"),
        ("f97c00", f"{UNACCEPTED}floating-point infinity"),
        ("fb7ff8000000000000", f"{UNACCEPTED}floating-point NaN"),
        ("f7", f"{UNACCEPTED}simple value 23 is not recognized"),
        ("f8ff", f"{UNACCEPTED}simple value 255 is not recognized"),
        ("f81f", "cbor: invalid simple value 31 for type primitives"),
        ("c249010000000000000000", "cbor: data item of cbor type tag is not accepted by protocol: bignum"),
        ("c0420102", "cbor: tag number 0 must be followed by text string, got byte string"),
        (
            "c11b0000003afff44181",
            "cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: "
            "year outside of range [0,9999]",
        ),
        ("0102", "cbor: 1 bytes of extraneous data starting at index 1"),
        ("1c", "cbor: invalid additional information 28 for type positive integer"),
        ("81ff", 'cbor: unexpected "break" code'),
        ("5f00ff", "cbor: wrong element type positive integer for indefinite-length byte string"),
        ("5f5f4100ffff", "cbor: indefinite-length byte string chunk is not definite-length"),
    ],
)
def test_unacceptable_items_are_errors_in_gos_words(data: str, message: str) -> None:
    with pytest.raises(modes.InvalidCBORError) as caught:
        direct.unmarshal(bytes.fromhex(data))
    assert str(caught.value) == message


@pytest.mark.parametrize("value", range(256))
def test_only_three_simple_values_are_accepted(value: int) -> None:
    data = bytes((0xE0 | value,)) if value < 24 else bytes((0xF8, value))
    if value in (20, 21, 22):
        assert direct.unmarshal(data) is {20: False, 21: True, 22: None}[value]
        return
    with pytest.raises(ValueError, match=f"simple value {value}"):
        direct.unmarshal(data)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"bb": 1, "a": 2, "": 3}, "a3400341610242626201"),
        ([1.0, -0.0, 65504.0, 65505.0, 0.1], "85f93c00f98000f97bfffa477fe100fb3fb999999999999a"),
        ("\udcff", "41ff"),
        (2**64, "fa5f800000"),
        ([None, True, False], "83f6f5f4"),
    ],
)
def test_values_have_one_encoding(value: Any, data: str) -> None:
    """Go: TestEncode"""
    assert direct.marshal(value).hex() == data


def test_values_without_a_json_form_are_not_encoded() -> None:
    for value in (math.nan, math.inf, [-math.inf], 10**400):
        with pytest.raises(ValueError, match="cbor: unsupported"):
            direct.marshal(value)
    for other in ({1: "a"}, b"bytes", {"a": object()}):
        with pytest.raises(TypeError, match="cbor: unsupported type"):
            direct.marshal(other)
    itself: list[Any] = []
    itself.append(itself)
    with pytest.raises(ValueError, match="contains itself"):
        direct.marshal(itself)


def test_the_order_of_keys_is_free_on_request() -> None:
    document = {"bb": 1.5, "a": [{"d": 1, "c": "x"}]}
    free = modes.encode_nondeterministic(document)
    assert free != modes.encode(document)
    assert len(free) == len(modes.encode(document))
    assert modes.unmarshal(free) == document


def random_value(source: random.Random, depth: int) -> Any:
    choice = source.randrange(9 if depth else 6)
    if choice == 0:
        return source.choice((None, True, False))
    if choice == 1:
        return source.randint(-(2**63), 2**63 - 1) >> source.randrange(64)
    if choice == 2:
        return source.choice((0.5, -0.0, 1e300, 1e-8, source.random()))
    if choice < 6:
        return source.choice(("", "a", "é", "\udcff", "日本", "x" * 300))
    if choice == 6:
        return [random_value(source, depth - 1) for _ in range(source.randrange(30))]
    return {f"{n}{source.choice('aé')}": random_value(source, depth - 1) for n in range(source.randrange(30))}


@pytest.mark.parametrize("seed", range(20))
def test_values_survive_a_round_trip(seed: int) -> None:
    """Go: TestRoundtrip"""
    value = random_value(random.Random(seed), 3)
    data = direct.marshal(value)
    assert direct.unmarshal(data) == value
    assert direct.marshal(direct.unmarshal(data)) == data
    assert modes.unmarshal(b"\xd9\xd9\xf7" + data) == value


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_values_or_the_documented_errors(seed: int) -> None:
    source = random.Random(seed)
    data = bytearray(direct.marshal(random_value(source, 3)))
    for _ in range(100):
        changed = bytearray(data)
        for _ in range(source.randrange(1, 4)):
            changed[source.randrange(len(changed))] = source.randrange(256)
        try:
            value = direct.unmarshal(bytes(changed))
        except (ValueError, EOFError):
            continue
        assert direct.unmarshal(direct.marshal(value)) == value


@pytest.mark.parametrize("end", range(1, 60))
def test_truncated_bytes_are_an_unexpected_end(end: int) -> None:
    data = direct.marshal({"name": "a", "list": [1, 2.5, None, {"k": "v"}], "text": "x" * 40, "n": 2**40})
    if end >= len(data):
        assert direct.unmarshal(data)["n"] == 2**40
        return
    with pytest.raises(ErrUnexpectedEOF):
        direct.unmarshal(data[:end])
    with pytest.raises(EOFError):
        direct.unmarshal(b"")


LEVELS = 10000


@pytest.mark.parametrize(
    ("head", "inner", "tail"), [("81", "80", ""), ("a140", "a0", ""), ("9f", "80", "ff"), ("bf40", "a0", "ff")]
)
def test_items_may_be_nested_in_as_many_levels_as_in_go(head: str, inner: str, tail: str) -> None:
    deepest = bytes.fromhex(head * (LEVELS - 1) + inner + tail * (LEVELS - 1))
    value, levels = direct.unmarshal(deepest), 1
    while value:
        value, levels = value[0] if isinstance(value, list) else value[""], levels + 1
    assert levels == LEVELS
    with pytest.raises(ValueError, match="cbor: exceeded max nested level 10000"):
        direct.unmarshal(bytes.fromhex(head * LEVELS + inner + tail * LEVELS))


def test_values_are_encoded_in_as_many_levels() -> None:
    """cbor2 would overflow the stack of the process."""
    value: Any = {}
    for level in range(LEVELS - 1):
        value = {"bb": [], "k": value, "a": 1} if level % 2 else [value, "x"]
    data = direct.marshal(value)
    assert direct.marshal(direct.unmarshal(data)) == data


HUGE = 2**60


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x9b" + HUGE.to_bytes(8, "big"), id="array of 2**60"),
        pytest.param(b"\x9a\x7f\xff\xff\xff\x00", id="array of 2**31"),
        pytest.param(b"\xba\x00\x1f\xff\xff\x40", id="map of 2**21"),
        pytest.param(b"\xbb" + HUGE.to_bytes(8, "big"), id="map of 2**60"),
        pytest.param(b"\x5b" + HUGE.to_bytes(8, "big") + b"x", id="string of 2**60"),
        pytest.param(b"\x5b" + b"\xff" * 8, id="string of 2**64"),
        pytest.param(b"\x81" * 100_000, id="arrays"),
        pytest.param(b"\xc4" * 100_000 + b"\0", id="tags"),
        pytest.param(b"\xd8\x20" * 5_000 + b"\xc0\x0a", id="tags with wrong content"),
        pytest.param(b"\xc2\x59\xff\xff" + b"\xff" * 65535, id="bignum"),
        pytest.param(b"\x5f" + b"\x41\xc3" * 1000, id="endless string"),
        pytest.param(b"\xb9\x0b\xb8" + b"\x40\x00" * 3000, id="equal keys"),
        pytest.param(b"\xb9\x0b\xb8" + b"\x01\x80" * 3000, id="wrong keys"),
    ],
)
def test_lengths_that_bytes_claim_cost_nothing(data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises((ValueError, EOFError)):
            direct.unmarshal(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000 + 20 * len(data)


def test_maps_have_at_most_as_many_pairs_as_in_go() -> None:
    pairs = 2097152
    with pytest.raises(ValueError, match="exceeded max number of key-value pairs 2097152 for CBOR map"):
        direct.unmarshal(b"\xba" + (pairs + 1).to_bytes(4, "big"))
    # Maps of an indefinite length have the same limit, here a smaller one.
    limits = modes.FRAME._replace(pairs=100, elements=100)
    for head, items, message in (
        (b"\xbf", 200, "exceeded max number of key-value pairs 100 for CBOR map"),
        (b"\x9f", 100, "exceeded max number of elements 100 for CBOR array"),
    ):
        assert modes.Scanner(0, limits).scan(head + b"\0" * items + b"\xff")
        with pytest.raises(ValueError, match=message):
            modes.Scanner(0, limits).scan(head + b"\0" * (items + 2))


def test_the_check_continues_where_bytes_ended() -> None:
    """So a slow stream costs as much as a fast one."""
    data = direct.marshal({"a": [1, 2**40, "text", {"b": None}], "c": 1.5}) + b"\x01"
    buffer, scanner = bytearray(), modes.Scanner()
    reads = 0
    for byte in data:
        buffer.append(byte)
        before = scanner.at
        is_complete = scanner.scan(buffer)
        assert scanner.at >= before
        reads += 1
        if is_complete:
            break
    assert scanner.at == reads == len(data) - 1


def test_the_fast_way_and_the_exact_way_agree() -> None:
    from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.exact import ExactDecoder

    for seed in range(30):
        data = direct.marshal(random_value(random.Random(seed), 3))
        scanner = modes.Scanner()
        assert scanner.scan(data) and scanner.is_plain
        assert ExactDecoder(data).value() == direct.unmarshal(data)


def test_cbor2_alone_accepts_what_go_rejects() -> None:
    """The reason for the check before it: once cbor2 is as strict, the check is superfluous."""
    for text in ("0102", "f97e00", "c24101", "a10102", "1b8000000000000000", "f7"):
        cbor2.loads(bytes.fromhex(text))
        with pytest.raises(ValueError, match="^cbor: "):
            direct.unmarshal(bytes.fromhex(text))


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("{}", "a0"),
        ('{"a":1,"b":[1.0,"x",null]}', "a2416101416283f93c004178f6"),
        ("9223372036854775808", "fa5f000000"),
        ('"\\ud800"', "43efbfbd"),
    ],
)
def test_json_is_transcoded(text: str, data: str) -> None:
    """Go: TestTranscodeFromJSON"""
    assert modes.transcode_from_json(text.encode()).hex() == data


def test_malformed_json_is_not_transcoded() -> None:
    for text in (b"", b"{", b"{} {}", b"nul"):
        with pytest.raises(ValueError):
            modes.transcode_from_json(text)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("a0", "{}"),
        ("a24161014162d9d9f78202f94200", '{"a":1,"b":[2,3]}'),
        ("d64401020304", '"AQIDBA=="'),
        ("c11a43b940e5", '"2006-01-02T15:04:05Z"'),
        ("623c3e", '"\\u003c\\u003e"'),
    ],
)
def test_cbor_is_transcoded(data: str, text: str) -> None:
    """Go: TestTranscodeToJSON"""
    assert modes.transcode_to_json(bytes.fromhex(data)).decode() == text


def test_malformed_cbor_is_not_transcoded() -> None:
    for data in (b"", b"\xa1", b"\xa0\xa0", b"\xf9\x7e\x00"):
        with pytest.raises((ValueError, EOFError)):
            modes.transcode_to_json(data)


def test_diagnostic_notation_shows_what_is_not_accepted_too() -> None:
    data = bytes.fromhex("85c24103f97e00f8ff" + "41615f4101ff")
    assert direct.diagnose(data) == "[3, NaN, simple(255), 'a', (_ '\\u0001')]"
    with pytest.raises(ValueError, match="too large to be shown"):
        direct.diagnose(b"\xc2\x59\x10\x00" + b"\xff" * 4096)


def test_floats_of_all_widths_are_exact() -> None:
    for bits in range(0, 0x7C00, 97):
        (value,) = struct.unpack(">e", bits.to_bytes(2, "big"))
        assert direct.marshal(value) == b"\xf9" + bits.to_bytes(2, "big")
        assert direct.unmarshal(direct.marshal(value)) == value


def test_a_missing_extra_is_named() -> None:
    program = (
        "import sys\n"
        "sys.modules['cbor2'] = None\n"
        "from clientgo import dynamic, features, rest\n"
        "from clientgo.features.testing import set_feature_during_test\n"
        "dynamic.config_for(rest.Config(host='http://h'))\n"
        "with set_feature_during_test(features.CLIENTS_ALLOW_CBOR, True):\n"
        "    dynamic.config_for(rest.Config(host='http://h'))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == (
        "ModuleNotFoundError: CBOR needs cbor2: pip install 'clientgo[cbor]'"
    )
