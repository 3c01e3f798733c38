"""YAML is read by Go's rules, and within bounds whatever stands in it."""

from __future__ import annotations

import time
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from clientgo.apimachinery.util import yaml
from clientgo.apimachinery.util.yaml import decoder


def problem(text: str | bytes, limits: yaml.Limits = yaml.DEFAULT_LIMITS) -> str:
    with pytest.raises(yaml.YAMLSyntaxError) as caught:
        yaml.unmarshal(text, limits)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_what_any_writer_of_yaml_says_is_read(value: Any) -> None:
    # In quotes, with tags: without them Go's numbers and PyYAML's are not the same texts.
    assert yaml.unmarshal(pyyaml.safe_dump(value, default_style='"')) == value
    assert yaml.unmarshal(pyyaml.safe_dump(value, default_style='"', default_flow_style=True)) == value


# Each value on the right is what Go's library makes of it. It writes JSON first, where 2.0 is 2.
SCALARS = [
    ("yes", True),
    ("y", True),
    ("N", False),
    ("Off", False),
    ("yess", "yess"),
    ("~", None),
    ("", None),
    ("null", None),
    ("nUll", "nUll"),
    ("12", 12),
    ("-12", -12),
    ("+12", 12),
    ("1_000", 1000),
    ("0x1F", 31),
    ("-0x1F", -31),
    ("0b101", 5),
    ("0o17", 15),
    ("017", 15),
    ("08", 8),
    ("0", 0),
    ("-0", 0),
    ("9223372036854775808", 2**63),
    ("18446744073709551616", float(2**64)),
    ("-9223372036854775809", -(2**63)),
    ("9223372036854775807.5", float(2**63)),
    ("1e18", 10**18),
    ("1e20", 1e20),
    ("-0.0", 0),
    ("1e-400", 0),
    ("2.50", 2.5),
    ("9" * 5000, "9" * 5000),
    ("1" * 200, float("1" * 200)),
    ("1e3", 1000),
    ("1e999", "1e999"),
    ("1.", 1),
    (".5", 0.5),
    (".5e1", 5),
    (".", "."),
    ("+", "+"),
    ("12:30:00", "12:30:00"),
    ("2001-01-01", "2001-01-01"),
    ("2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
    ("1.2.3", "1.2.3"),
    ("<<", "<<"),
    ('"12"', "12"),
    ("'yes'", "yes"),
    ("!!str 12", "12"),
    ("! 12", 12),
    ("!!float 1", 1),
    ("!!int '1'", 1),
    ("!!binary aGVsbG8=", "hello"),
    ("!mine x", "x"),
    ("!!timestamp 2001-01-01", "2001-01-01"),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_a_scalar_is_what_it_is_for_go(text: str, value: Any) -> None:
    """Go: TestUnmarshal."""
    found = yaml.unmarshal(f"a: {text}")["a"]
    assert (found, type(found)) == (value, type(value))


def test_keys_become_texts() -> None:
    text = "1: a\ntrue: b\n1.5: c\n'x': d\n-3: e\n1e6: f\n"
    assert yaml.unmarshal(text) == {"1": "a", "true": "b", "1.5": "c", "x": "d", "-3": "e", "1e+06": "f"}


def test_only_the_first_document_counts() -> None:
    assert yaml.unmarshal("a: 1\n---\nb: [") == {"a": 1}
    assert yaml.unmarshal("---\n---\na: 1") is None
    assert yaml.unmarshal("# nothing\n") is None


def test_a_later_key_wins_and_a_merge_counts_where_it_stands() -> None:
    assert yaml.unmarshal("a: 1\na: 2") == {"a": 2}
    assert yaml.unmarshal("p: &p {a: 1, b: 1}\nq: {<<: *p, a: 2}")["q"] == {"a": 2, "b": 1}
    assert yaml.unmarshal("p: &p {a: 1}\nq: &q {a: 2, b: 2}\nr: {<<: [*p, *q], c: 3}")["r"] == {"a": 1, "b": 2, "c": 3}
    assert yaml.unmarshal("p: &p {a: 1}\nq: {a: 2, <<: *p}")["q"] == {"a": 1}
    assert yaml.unmarshal('{"<<": {"a": 1}}') == {"<<": {"a": 1}}


def test_what_an_alias_brings_is_no_shared_object() -> None:
    value = yaml.unmarshal("a: &a {b: [1]}\nc: *a\nd: &d [*a, *a]\ne: *d")
    value["c"]["b"].append(2)
    assert value["a"] == {"b": [1]}
    assert value["e"] == [{"b": [1]}, {"b": [1]}]


def test_an_alias_means_the_anchor_before_it() -> None:
    assert yaml.unmarshal("[&a 1, *a, &b [*a], &a 2, *b, *a]") == [1, 1, [1], 2, [1], 2]


# The text Go answers, from its rule: a line only after the first, counted from one by the scanner.
PROBLEMS = [
    ("a: b: c", "yaml: mapping values are not allowed in this context"),
    ("x: 1\na: b: c", "yaml: line 2: mapping values are not allowed in this context"),
    ("a: %x", "yaml: found character that cannot start any token"),
    ("a: @x", "yaml: found character that cannot start any token"),
    ("a: `x", "yaml: found character that cannot start any token"),
    ("\na: @x", "yaml: line 2: found character that cannot start any token"),
    ("a:\n\tb: c", "yaml: line 2: found character that cannot start any token"),
    ("a: 'x", "yaml: found unexpected end of stream"),
    ("a: [1", "yaml: line 1: did not find expected ',' or ']'"),
    ("a: {b", "yaml: line 1: did not find expected ',' or '}'"),
    ("- a\nb: c", "yaml: line 1: did not find expected '-' indicator"),
    ("a: 1\n- b", "yaml: line 1: did not find expected key"),
    ("a: !<x", "yaml: did not find the expected '>'"),
    ("a: &", "yaml: did not find expected alphabetic or numeric character"),
    ('a: "\\q"', "yaml: found unknown escape character"),
    ("a: \x01", "yaml: control characters are not allowed"),
    ("stuff: 1\n\t\ttest-foo: 1\n", "yaml: line 2: found a tab character that violates indentation"),
    (b"a: \xff", "yaml: invalid leading UTF-8 octet"),
    ("a: *b", "yaml: unknown anchor 'b' referenced"),
    ("a: &a [*a]", "yaml: anchor 'a' value contains itself"),
    ("a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
    ("a: !!binary x", "yaml: !!binary value contains invalid base64 data"),
    ("<<: 1", "yaml: map merge requires map or sequence of maps as the value"),
    ("{{ name }}: 1", 'yaml: invalid map key: map[interface {}]interface {}{"name":interface {}(nil)}'),
    ("~: 1", "unsupported map key of type: %!s(<nil>), key: <nil>"),
    ("a: .nan", "json: unsupported value: NaN"),
    ("a: -.inf", "json: unsupported value: -Inf"),
]


@pytest.mark.skipif(not pyyaml.__with_libyaml__, reason="the texts are libyaml's")
@pytest.mark.parametrize(("text", "message"), PROBLEMS)
def test_an_error_is_worded_as_by_go(text: str | bytes, message: str) -> None:
    """Go: TestDecodeBrokenYAML, TestTypedJSONOrYamlErrors."""
    assert problem(text) == message


LEAKY = ["a: *s3cret", "a: &s3cret [*s3cret]", "a: !!int s3cret", "{{ s3cret }}: 1", "a: s3cret: b"]


@pytest.mark.parametrize("text", LEAKY)
def test_a_redacted_message_has_no_word_of_the_document(text: str) -> None:
    with pytest.raises(yaml.YAMLSyntaxError) as caught:
        yaml.unmarshal(text)
    assert "s3cret" not in caught.value.redacted
    assert caught.value.redacted.startswith("yaml: ")


HOSTILE = {
    "lists": "[" * 100_000,
    "maps": "{a: " * 100_000,
    "block lists": "- " * 100_000,
    "complex keys": "? " * 100_000,
    "deep by aliases": "".join(f"a{i}: &a{i} [*a{i - 1}]\n" if i else "a0: &a0 [1]\n" for i in range(300)),
    "billion laughs": "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{f'*a{i - 1},' * 9}]\n" for i in range(1, 12)),
    "merged laughs": "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} [{f'*a{i - 1},' * 9}]\n" for i in range(1, 12)),
    "directives": "%TAG !a! b\n" * 200_000,
    "values": "[" + "1," * 60_000 + "1]",
    "text": "a: " + "x" * 3_000_000,
}


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("loader", [pyyaml.SafeLoader, getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_fails_without_harm_to_others(name, loader, monkeypatch):
    """Go: TestYAMLLimits."""
    monkeypatch.setattr(decoder, "_Loader", loader)
    before = time.process_time()
    message = problem(HOSTILE[name], yaml.Limits(size=2_500_000, depth=200, values=50_000))
    assert time.process_time() - before < 20  # a second; without a bound minutes, or no process any more
    assert any(expected in message for expected in ("max depth of 200", "aliasing", "more than", "larger than"))


def test_many_values_at_a_great_depth_are_refused_where_the_depth_alone_is_allowed() -> None:
    before = time.process_time()
    limits = yaml.Limits(depth=10_000)
    assert "at too great a depth" in problem("[" * 900 + "1," * 500_000, limits)
    # Seconds without the bound; libyaml before PyYAML 6.0.4 takes a minute and more at a depth of 9,000.
    message = problem("[" * 9_000 + "1," * 500_000, limits)
    assert "at too great a depth" in message or message == "yaml: exceeded max depth of 1000"
    assert time.process_time() - before < 20


def test_the_limits_are_exact() -> None:
    assert yaml.unmarshal("[" * 200 + "]" * 200) is not None
    assert problem("\n" + "[" * 201 + "]" * 201) == "yaml: line 2: exceeded max depth of 200"
    limits = yaml.Limits(size=9, values=4)
    assert yaml.unmarshal("[1, 2, 3]", limits) == [1, 2, 3]
    assert problem("[1,2,3,4]", limits) == "yaml: document has more than 4 values"
    assert problem("[1, 2, 3] ", limits) == "yaml: document is larger than 9 bytes"


def test_depth_beyond_pythons_stack_is_read_where_it_is_allowed() -> None:
    value = yaml.unmarshal("[" * 1_000 + "]" * 1_000, yaml.Limits(depth=10_000))
    depth = 0
    while value:
        value, depth = value[0], depth + 1
    assert depth == 999


def test_libyamls_own_limit_of_depth_is_named_as_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object, **__: object) -> None:
        mark = pyyaml.Mark("", 0, 3, 0, None, None)
        raise pyyaml.scanner.ScannerError("while increasing flow level", mark, "exceeded maximum nesting depth", mark)

    monkeypatch.setattr(decoder.yaml, "parse", parse)
    assert problem("[", yaml.Limits(depth=200)) == "yaml: line 4: exceeded max depth of 200"
    assert problem("[", yaml.Limits(depth=5000)) == "yaml: line 4: exceeded max depth of 1000"
