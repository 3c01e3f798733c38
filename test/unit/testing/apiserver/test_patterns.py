"""Patterns of schemas: RE2's semantics, on an engine in linear time, with google-re2 and without."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from apiclient import Api
from hypothesis import given
from hypothesis import strategies as st
from threadtools import eventually

from clientgo.codegen import structural
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.cel.common.values import EvalError
from clientgo.testing.apiserver.cel.library import regex, regex_size
from clientgo.testing.apiserver.kinds import linear_regex, patterns
from clientgo.testing.apiserver.kinds.validation import custom_resources

Json = dict[str, Any]
ROOT = Path(__file__).parents[4]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Each takes Python's `re` quadratic, cubic or exponential time for a long text that does not match.
HOSTILE = [
    "^(a+)+$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "(.*)*x",
    "^(.*a){12}$",
    "a*a*a*a*a*a*b",
    r"^(\w+\s?)*$",
    r"(\d+|[0-9]+)*;",
    "(a?){40}a{40}$",
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
]
NEEDS_RE2 = [r"\bword\b", "(?i)a", r"\p{L}", "[[:alpha:]]", r"\Qa\E", "(?P<name>a)", r"(a{100}){100}", "a{2", r"\101"]
NEEDS_RE2 += ["(((){999}){999}){999}", "(((a{0}){999}){999}){999}", "(" * 100 + ")" * 100]

needs_re2 = pytest.mark.skipif(not regex.AVAILABLE, reason="needs the extra `cel`")


@pytest.fixture(params=["google-re2", "without"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "without":
        monkeypatch.setattr(regex, "AVAILABLE", False)
    elif not regex.AVAILABLE:
        pytest.skip("needs the extra `cel`")
    return str(request.param)


# A backtracking engine would not end within hours, so that no measure of time is needed.
@pytest.mark.parametrize("pattern", HOSTILE)
@pytest.mark.parametrize("text", ["a" * 100_000 + "!", "0" * 100_000 + "!", "a " * 50_000 + "!"])
def test_a_hostile_pattern_ends(engine: str, pattern: str, text: str) -> None:
    patterns.check(pattern)
    assert patterns.search(pattern, text) in (False, pattern == "(a?){40}a{40}$")


def test_the_work_of_one_search_is_bounded() -> None:
    # Each position of the text leads to a set of states that was not met before.
    pattern = linear_regex.Pattern("[ab]*a[ab]{900}$")
    text = "".join("ab"[bin(i).count("1") % 2] for i in range(200_000))
    with pytest.raises(linear_regex.TooMuchWork):
        pattern.search(text)


def test_a_search_beyond_its_bound_is_an_invalid_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "AVAILABLE", False)
    monkeypatch.setattr(linear_regex, "_MAX_VISITS", 5)
    (error,) = validate({"type": "string", "pattern": "^a+$"}, "a" * 10)
    assert "should match '^a+$, but pattern is invalid: it takes too long here: regular expressions need" in str(error)


def validate(schema: Json, value: Any) -> list[Any]:
    root = {"type": "object", "properties": {"v": schema}}
    return list(custom_resources.validate({"v": value}, root))


SLOW_TO_COMPILE = [r"\d{1,1000}" * 20, "x?" * 6000, r"[^\pL]" * 900, "(?:(?:a{0,30}){0,30}b?){30}"]
SLOW_TO_COMPILE += ["[]?*]a{0,999}" * 6, r"(?:\Qa{\E{0,99}){0,99}", "(?P<n>[[:alpha:]-]{0,999})" * 6, "{x{0,900}" * 6]


@needs_re2
@pytest.mark.parametrize("pattern", SLOW_TO_COMPILE)
def test_a_pattern_that_takes_long_to_compile_is_refused(pattern: str) -> None:
    started = time.thread_time()
    with pytest.raises(patterns.PatternError, match="error parsing regexp: expression too large: `"):
        patterns.check(pattern)
    with pytest.raises(EvalError, match="error parsing regexp: expression too large: `"):
        regex.compile_pattern(pattern)
    assert time.thread_time() - started < 1


@pytest.mark.parametrize(
    "pattern",
    [
        "[a-z]" * 9000,
        "[?*]" * 9000,
        r"\?" * 9000,
        r"\Q" + "?" * 9000,
        "a{1}" * 9000,
        "{a}" * 9000,
        "[[:^alpha:]?]" * 900,
        r"\x{10FFFF}" * 900,
        r"\d{1,1000}" * 4,
        "a|" * 9000,
        "(?:a)" * 9000,
        "(?i)a+" * 4000,
        "a{99999}",
        "a{2,1}",
        "(",
        ")?",
    ],
)
def test_patterns_that_compile_quickly_are_not_too_large(pattern: str) -> None:
    assert not regex_size.is_too_large(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("a$", "a\n", False),
        (r"a\z", "a", True),
        (r"^\d+$", "\u0661\u0662", False),
        (r"^\w$", "é", False),
        (r"^\s$", "\v", False),
        (r"^\s$", "\u00a0", False),
        ("^.$", "\n", False),
        ("^.$", "😀", True),
        ("^[^a]$", "\n", True),
        ("^[]a-]+$", "]-a", True),
        ("^(?:ab|c){2,3}?$", "abcab", True),
        ("^a{0}$", "", True),
        ("(^a|b$)", "xb", True),
        ("", "anything", True),
        ("a|", "b", True),
    ],
)
def test_patterns_mean_what_they_mean_to_go(engine: str, pattern: str, text: str, matches: bool) -> None:
    assert patterns.search(pattern, text) is matches


_SIGNS = r"a b c 1 - . \. [a-c] [^a] []a] [a-] \d \W \s ^ $ [\d-] [\w.-] \n ] } \A \z é [à-ü] [^]] [^\s]"
_ATOMS = st.sampled_from(_SIGNS.split())
_PATTERNS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map("|".join),
        st.tuples(inner, st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "??", "{0}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)


@needs_re2
@given(st.one_of(_PATTERNS, st.text("ab-.^$[]()|*+?{}1,\\dwsn:", max_size=8)), st.text("abc-.1 \né_]}", max_size=8))
def test_the_own_engine_agrees_with_re2(pattern: str, text: str) -> None:
    try:
        own = linear_regex.Pattern(pattern)
    except linear_regex.Unsupported:
        return
    assert own.search(text) is patterns.search(pattern, text)


@pytest.mark.parametrize("pattern", NEEDS_RE2)
def test_what_needs_google_re2_is_refused_without_it(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "AVAILABLE", False)
    with pytest.raises(patterns.PatternError, match=r"cannot be run because of .*pip install 'clientgo\[cel\]'"):
        patterns.check(pattern)
    (error,) = validate({"type": "string", "pattern": pattern}, "text")
    assert "pip install 'clientgo[cel]'" in str(error)


INVALID = ["(", "a**", "(?=a)", "(?<!a)", r"(a)\1", "x{1001}", "[z-a]", ")", "+", "a\\", r"\8", "[", "a++", "(?>a)"]


@pytest.mark.parametrize("pattern", INVALID)
def test_a_pattern_that_is_none_is_refused(engine: str, pattern: str) -> None:
    with pytest.raises(patterns.PatternError):
        patterns.check(pattern)


def _patterns_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        for inner in value.values():
            yield from _patterns_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _patterns_of(inner)


def test_the_programs_and_generated_schemas_need_no_extra() -> None:
    found = {structural._QUANTITY, *_patterns_of(structural._CONDITION)}
    for path in (ROOT / "cmd").glob("*/config/crd/*.yaml"):
        found |= {pattern for document in yaml.safe_load_all(path.read_text()) for pattern in _patterns_of(document)}
    assert len(found) > 4
    for pattern in sorted(found):
        linear_regex.Pattern(pattern)


# ---- on a running server


@pytest.fixture(scope="module")
def server() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        client("GET", "/version", want=200)
        yield client
        client.close()


@pytest.fixture
def api(server: Api) -> Iterator[Api]:
    yield server
    server("DELETE", CRDS, want=200)
    # A definition stays until a controller has deleted its custom resources.
    eventually(lambda: not server("GET", CRDS, want=200)["items"], "definitions are gone")


def crd(schema: Json) -> Json:
    root = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"v": schema}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}
    names = {"plural": "ps", "kind": "P"}
    spec = {"group": "x.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": "ps.x.example.com"}, "spec": spec}


WHERE = "spec.validation.openAPIV3Schema.properties[spec].properties[v]"


def test_a_crd_without_the_engine_says_which_field_is_refused_and_why(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regex, "AVAILABLE", False)
    status = api("POST", CRDS, crd({"type": "string", "pattern": "(?i)^a"}), want=422)
    (cause,) = status["details"]["causes"]
    assert (status["reason"], cause["field"]) == ("Invalid", f"{WHERE}.pattern")
    assert cause["message"] == (
        'Invalid value: "(?i)^a": cannot be run because of a group with flags or a name: '
        "regular expressions need google-re2, which is not installed: pip install 'clientgo[cel]'"
    )


@pytest.mark.parametrize("place", ["anyOf[0]", "allOf[0]", "oneOf[0]", "not"])
def test_patterns_of_alternatives_are_checked_too(api: Api, engine: str, place: str) -> None:
    name, _, _ = place.partition("[")
    one: Json = {"properties": {"a": {"pattern": "("}}}
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        name: one if name == "not" else [one],
    }
    status = api("POST", CRDS, crd(schema), want=422)
    assert f"{WHERE}.{place}.properties[a].pattern" in [cause["field"] for cause in status["details"]["causes"]]


@pytest.mark.parametrize("name", ["patternProperties", "definitions", "dependencies"])
def test_words_that_no_custom_resource_may_use_are_refused(api: Api, name: str) -> None:
    inner: Any = {"^(a+)+$": ["b"]} if name == "dependencies" else {"^(a+)+$": {"type": "string"}}
    status = api("POST", CRDS, crd({"type": "object", name: inner}), want=422)
    assert f"{WHERE}.{name}: Forbidden: {name} is not supported" in status["message"]


@pytest.mark.parametrize("pattern", ["^(a+)+$", r"^(\w+\s?)*$"])
def test_a_hostile_pattern_does_not_hold_the_server(api: Api, engine: str, pattern: str) -> None:
    api("POST", CRDS, crd({"type": "string", "pattern": pattern}), want=201)
    body = {"apiVersion": "x.example.com/v1", "kind": "P", "metadata": {"name": "p"}, "spec": {"v": "a" * 1000 + "!"}}
    status = api("POST", "/apis/x.example.com/v1/namespaces/default/ps", body, want=422)
    assert status["details"]["causes"][0]["field"] == "spec.v"


@needs_re2
@pytest.mark.parametrize("pattern", ["(" * 20_000 + ")" * 20_000, "(a)" * 5000, "(a|(b))*" * 1000])
def test_a_search_keeps_no_groups(pattern: str) -> None:
    """With groups, one search with the first pattern took eight gigabytes."""
    assert regex.compile_schema_pattern(pattern).groups == 0
    assert not patterns.search(f"{pattern}c", "a" * 20_000)


@needs_re2
@pytest.mark.parametrize("count", [1000, 3000])
def test_only_few_groups_have_names(count: int) -> None:
    few, many = ("".join(f"(?P<n{i}>a?)" for i in range(number)) for number in (100, count))
    assert patterns.search(few, "a" * 10_000)
    with pytest.raises(patterns.PatternError, match="expression too large"):
        patterns.check(many)
    with pytest.raises(EvalError, match="expression too large"):
        regex.compile_pattern(many)
