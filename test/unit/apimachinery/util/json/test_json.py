"""JSON texts and what they are read as."""

from __future__ import annotations

import re
from typing import Any

import pytest

from clientgo.apimachinery.util import json


# Go: TestEvaluateTypes
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-0", 0),
        ("2147483647", 2**31 - 1),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0.0", 0.0),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("-0.3", -0.3),
        ('""', ""),
        ('"0"', "0"),
        ("[]", []),
        ("[1,1.5]", [1, 1.5]),
        ("{}", {}),
        ('{"a":{"b":[1]}}', {"a": {"b": [1]}}),
    ],
)
def test_numbers_are_integers_or_floats_as_they_are_written(text: str, value: Any) -> None:
    found = json.unmarshal(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["x", "", "{", "[1,]", '"a'])
def test_what_is_no_json_is_refused(text: str) -> None:
    """Go: TestEvaluateTypes."""
    with pytest.raises(ValueError):
        json.unmarshal(text)


# What Go's encoder does with float64: the shortest digits, an exponent below 1e-6 and from 1e21 on.
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1000.0, "1000"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (100.25, "100.25"),
        (0.0001, "0.0001"),
        (0.00001, "0.00001"),
        (-0.000001, "-0.000001"),
        (0.00000123, "0.00000123"),
        (9.99e-7, "9.99e-7"),
        (1e-7, "1e-7"),
        (1.5e-9, "1.5e-9"),
        (1e-10, "1e-10"),
        (5e-324, "5e-324"),
        (9223372036854776000.0, "9223372036854776000"),
        (1e16, "10000000000000000"),
        (1.2345678901234567e20, "123456789012345670000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1.5e21, "-1.5e+21"),
        (1e100, "1e+100"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_a_float_is_written_as_go_writes_it(value: float, text: str) -> None:
    assert json.marshal(value) == text
    assert json.marshal({"b": [value], "a": (value, "<v1.0,")}) == f'{{"a":[{text},"\\u003cv1.0,"],"b":[{text}]}}'
    assert json.encode({"b": value, 1: value}) == f'{{"b":{text},"1":{text}}}'
    assert float(text) == value


@pytest.mark.parametrize(("value", "text"), [(float("nan"), "NaN"), (float("inf"), "+Inf"), (-float("inf"), "-Inf")])
def test_what_json_has_no_number_for_is_refused(value: float, text: str) -> None:
    """Go: json.UnsupportedValueError."""
    with pytest.raises(ValueError, match=rf"^json: unsupported value: {re.escape(text)}$"):
        json.marshal({"a": [value]})
    assert json.marshal(["NaN", "Infinity"]) == '["NaN","Infinity"]'


@pytest.mark.parametrize("text", ["1e999", "-1e999", "1E+400", "9" * 400 + ".0"])
def test_a_number_that_no_float64_can_hold_is_refused(text: str) -> None:
    """Go: json.UnmarshalTypeError."""
    message = f"json: cannot unmarshal number {text} into Go value of type float64"
    deep = "[" * 5000 + text + "]" * 5000
    for document in (text, f'{{"a":[{text}]}}', deep):
        with pytest.raises(ValueError, match=re.escape(message)):
            json.unmarshal(document)
    with pytest.raises(ValueError, match=re.escape(message)):
        json.scan_at_any_depth(deep, 0)
    assert json.unmarshal('["1e999",1.7976931348623157e308,1e-999]') == ["1e999", 1.7976931348623157e308, 0.0]


def test_an_integer_above_int64_stays_exact() -> None:
    assert json.unmarshal(f"[{2**63},{10**400}]") == [2**63, 10**400]


def test_names_that_look_like_floats_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("clientgo.apimachinery.util.json.json._encoded")
    document = {"ip": "10.0.0.1", "image": "web:v1.0", "node": ["node-0", "node-05"], "c++": "+", "f": 1.5, "i": 1000}
    assert json.unmarshal(json.marshal(document)) == document


def test_what_holds_itself_is_refused() -> None:
    value: list[Any] = [1.0]
    value.append(value)
    with pytest.raises(ValueError, match="Circular reference"):
        json.marshal(value)


@pytest.mark.parametrize("kind", [str, bytes])
def test_half_of_an_escaped_surrogate_pair_is_read_as_go_reads_it(kind: type) -> None:
    text = r'{"a\udfff": ["\uD800x", "\ud83d\ude00", "\\ud800", "\ud800\ud83d\ude00", "\u0041"]}'
    expected = {"a\ufffd": ["\ufffdx", "\U0001f600", "\\ud800", "\ufffd\U0001f600", "A"]}
    assert json.unmarshal(text if kind is str else text.encode()) == expected
