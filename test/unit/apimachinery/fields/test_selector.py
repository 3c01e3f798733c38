"""Field selectors: escapes, terms, matches, and how terms are translated."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clientgo.apimachinery import fields


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        (r"k=\,,k2=v2", [("k", ","), ("k2", "v2")]),
        (r"k=\\,k2=v2", [("k", "\\"), ("k2", "v2")]),
        (r"k=\\\,,k2=v2", [("k", "\\,"), ("k2", "v2")]),
        (r"k=\=", [("k", "=")]),
        ("함=수,목=록", [("함", "수"), ("목", "록")]),
        ("a=b,c==d", [("a", "b"), ("c", "d")]),
        ("a=a,", [("a", "a")]),
        (",a=a", [("a", "a")]),
        ("a=", [("a", "")]),
    ],
)
def test_terms_end_at_a_comma_that_is_not_escaped(text: str, terms: list[tuple[str, str]]) -> None:
    """Go: TestSplitTerms, TestSplitTerm."""
    found = [(each.field, each.value) for each in fields.parse_selector(text).requirements()]
    assert sorted(found) == sorted(terms)


@pytest.mark.parametrize(
    ("value", "escaped"),
    [("", ""), ("a", "a"), ("=", r"\="), (",", r"\,"), ("\\", r"\\"), ("\\=\\,\\", r"\\\=\\\,\\")],
)
def test_values_are_escaped_and_back(value: str, escaped: str) -> None:
    """Go: TestEscapeValue."""
    assert (fields.escape_value(value), fields.unescape_value(escaped)) == (escaped, value)


@pytest.mark.parametrize("text", ["\\", "\\\\\\", r"\a"])
def test_a_backslash_escapes_three_characters_only(text: str) -> None:
    """Go: TestEscapeValue."""
    with pytest.raises(fields.InvalidEscapeSequence):
        fields.unescape_value(text)


@pytest.mark.parametrize("text", ["x=a,y=b,z=c", "", "x!=a,y=b", r"x=a||y\=b", r"x=a\=\=b"])
def test_a_selector_is_written_as_it_was_read(text: str) -> None:
    """Go: TestSelectorParse."""
    assert str(fields.parse_selector(text)) == text


@pytest.mark.parametrize("text", ["x=a||y=b", "x==a==b", "x=a,b", "x in (a)", "x in (a,b,c)", "x"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    """Go: TestSelectorParse."""
    with pytest.raises(ValueError):
        fields.parse_selector(text)


def test_the_order_of_the_terms_does_not_matter() -> None:
    """Go: TestDeterministicParse."""
    assert str(fields.parse_selector("x=a,a=x")) == str(fields.parse_selector("a=x,x=a"))


@pytest.mark.parametrize(
    ("text", "found", "matches"),
    [
        ("", {"x": "y"}, True),
        ("x=y,z=w", {"x": "y", "z": "w"}, True),
        ("x!=y,z!=w", {"x": "z", "z": "a"}, True),
        ("notin=in", {"notin": "in"}, True),
        ("x=", {}, True),
        ("x!=", {}, False),
        ("x!=y", {}, True),
        ("x=y", {"x": "z"}, False),
        ("x=y,z=w", {"x": "w", "z": "w"}, False),
        ("x!=y,z!=w", {"x": "z", "z": "w"}, False),
        (r"a=b,complex=\=value\\\,\\", {"a": "b", "complex": r"=value\,\ "[:-1]}, True),
    ],
)
def test_every_term_must_match_and_an_absent_field_is_empty(text: str, found: dict[str, str], matches: bool) -> None:
    """Go: TestSelectorMatches."""
    assert fields.parse_selector(text).matches(fields.Set(found)) is matches


def test_selectors_of_one_term_and_of_a_set() -> None:
    """Go: TestOneTermEqualSelector, TestSetMatches, TestEverything."""
    one = fields.one_term_equal_selector("x", "y")
    assert one.matches({"x": "y"}) and not one.matches({"x": "z"}) and not one.empty()
    assert not fields.one_term_not_equal_selector("x", "y").matches({"x": "y"})
    found = {"foo": "bar", "baz": "blah"}
    for wanted in ({}, {"foo": "bar"}, found):
        assert fields.selector_from_set(wanted).matches(found)
    for wanted in ({"foo": "=blah"}, {"foo": "bar", "more": "x"}):
        assert not fields.selector_from_set(wanted).matches(found)
    assert fields.everything().empty() and fields.everything().matches({"x": "y"})


def test_what_has_no_terms_is_empty() -> None:
    """Go: TestNilMapIsValid, TestSetIsEmpty."""
    assert fields.selector_from_set(None).empty() and fields.Set().as_selector().empty()
    assert fields.and_selectors().empty() and fields.and_selectors(fields.and_selectors()).empty()
    assert not fields.and_selectors(fields.one_term_equal_selector("a", "b")).empty()
    assert not fields.one_term_not_equal_selector("", "").empty()


EQUAL, OTHER = fields.one_term_equal_selector, fields.one_term_not_equal_selector


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        pytest.param(fields.Set().as_selector(), ("", False), id="empty set"),
        pytest.param(EQUAL("", ""), ("", False), id="empty hasTerm"),
        pytest.param(EQUAL("a", "b"), ("", False), id="skipped hasTerm"),
        pytest.param(EQUAL("test", "b"), ("b", True), id="valid hasTerm"),
        pytest.param(EQUAL("test", ""), ("", True), id="valid hasTerm no value"),
        pytest.param(OTHER("test", "b"), ("", False), id="valid notHasTerm"),
        pytest.param(fields.and_selectors(), ("", False), id="empty andTerm"),
        pytest.param(fields.and_selectors(fields.and_selectors()), ("", False), id="nested andTerm"),
        pytest.param(fields.and_selectors(EQUAL("test", "b")), ("b", True), id="nested andTerm matches"),
        pytest.param(fields.and_selectors(EQUAL("", ""), EQUAL("test", "b")), ("b", True), id="andTerm with non-match"),
    ],
)
def test_a_term_that_equals_is_an_exact_match(selector: fields.Selector, found: tuple[str, bool]) -> None:
    """Go: TestRequiresExactMatch."""
    assert selector.requires_exact_match("test") == found


Translate = Callable[[str, str], tuple[str, str]]


@pytest.mark.parametrize(
    ("text", "translate", "result"),
    [
        pytest.param("", lambda field, value: (field, value), "", id="empty selector"),
        pytest.param("a=b,c=d", lambda field, value: (field, value), "a=b,c=d", id="no-op transform"),
        pytest.param(
            "a=b,c!=d",
            lambda field, value: ("e", "f") if field == "a" else (field, value),
            "e=f,c!=d",
            id="transform one field",
        ),
        pytest.param("a=b", lambda field, value: ("", ""), "", id="remove field to make empty"),
        pytest.param(
            "a=b,c=d,e=f",
            lambda field, value: ("", "") if field == "c" else (field, value),
            "a=b,e=f",
            id="remove only one field",
        ),
    ],
)
def test_terms_are_translated_or_dropped_one_by_one(text: str, translate: Translate, result: str) -> None:
    """Go: TestTransform."""
    translated = fields.parse_and_transform_selector(text, translate)
    assert str(translated) == result and translated.empty() is (result == "")


def test_a_set_of_fields() -> None:
    """Go: TestSetString, TestFieldHas, TestFieldGet."""
    found = fields.Set({"foo": "bar", "baz": ""})
    assert str(found) == "baz=,foo=bar"
    assert (found.has("foo"), found.has("baz"), found.has("x")) == (True, True, False)
    assert (found.get("foo"), found.get("x")) == ("bar", "")
