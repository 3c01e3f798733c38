"""The checks of a recording's lines: which values each field takes, and the words about those that it does not take."""

from __future__ import annotations

import math
from typing import Any

import pytest

from clientgo.tour import recorded
from clientgo.tour.recorded import LineError, check, check_object, printable, text_error

MOST = 2**53


def checked(kind: str, entry: Any) -> tuple[Any, list[tuple[str, str]]]:
    """Return the sound line, and the fields and messages of what is wrong."""
    errors: list[LineError] = []
    sound = check(kind, entry, errors.append)
    return sound, [(err.field, str(err)) for err in errors]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("kind", "field", "value", "error"),
    [
        ("hop", "key", "x" * 4096, None),
        ("hop", "key", "x" * 4097, "has 4097 characters, at most 4096 are allowed"),
        ("hop", "key", None, "must be a string, not null"),
        ("hop", "key", 1.5, "must be a string, not a number"),
        ("hop", "key", "\x7f", "has control characters or lone surrogates"),
        ("hop", "key", "\u2028", "has control characters or lone surrogates"),
        ("hop", "key", "\ud800", "has control characters or lone surrogates"),
        ("failed", "error", "x" * (1 << 20), None),
        ("failed", "error", "x" * ((1 << 20) + 1), f"has {(1 << 20) + 1} characters, at most {1 << 20} are allowed"),
        ("failed", "error", "two\nlines", None),
        ("failed", "error", [], "must be a string, not a list"),
        ("failed", "error", "\udfff", "has lone surrogates"),
        ("failed", "refused", True, None),
        ("failed", "refused", 1, "must be true or false, not a number"),
        ("list", "request", 0, None),
        ("list", "request", MOST, None),
        ("list", "request", MOST + 1, f"must be between 0 and {MOST}"),
        ("list", "request", -1, f"must be between 0 and {MOST}"),
        ("list", "request", True, "must be an integer, not a boolean"),
        ("list", "request", 1.0, "must be an integer, not a number"),
        ("list", "options", {}, None),
        ("list", "options", "", "must be an object, not a string"),
        ("hop", "t", 0, None),
        ("hop", "t", 0.5, None),
        ("hop", "t", MOST, None),
        ("hop", "t", MOST + 1, "must be a time in seconds"),
        ("hop", "t", -0.5, "must be a time in seconds"),
        ("hop", "t", math.nan, "must be a time in seconds"),
        ("hop", "t", math.inf, "must be a time in seconds"),
        ("hop", "t", True, "must be a number, not a boolean"),
        ("hop", "merged", ["a", "b"], None),
        ("hop", "merged", {}, "must be a list, not an object"),
        ("hop", "merged", ["a", 7], "has an entry that must be a string, not a number"),
        ("code", "lines", [], None),
        ("code", "lines", [1, 2], None),
        ("code", "lines", "1", "must be a list, not a string"),
        ("code", "lines", [1, "2"], "has an entry that must be an integer, not a string"),
        ("code", "lines", [1, -2], f"has an entry that must be between 0 and {MOST}"),
        ("hop", "novelty", {"any": [None, True]}, None),
        ("hop", "novelty", math.inf, "must be a finite number"),
        ("hop", "more", deep(1), "must be an object, not a list"),
    ],
)
def test_each_kind_of_field_takes_its_values_alone(kind: str, field: str, value: Any, error: str | None) -> None:
    needed = {"code": {"code": 3}}.get(kind, {})
    entry = {"what": kind, **needed, field: value}
    sound, errors = checked(kind, entry)
    if error is None:
        assert (sound, errors) == (entry, [])
    else:
        assert errors == [(field, f"`{field}` {error}")]
        # The rest of a hop or a place is worth something; the rest of a request is not.
        assert sound == ({"what": kind, **needed} if kind in ("hop", "code") else None)


@pytest.mark.parametrize(
    ("value", "place", "error"),
    [
        ({"a": [0, "\ud800"]}, "more.a.1", "has lone surrogates"),
        ({"a": {"b": -math.inf}}, "more.a.b", "must be a finite number"),
        ({"a\ud800": 1}, "more", "has the key 'a\\ud800', a lone surrogate"),
        ({"a": {"\udc00": 1}}, "more.a", "has the key '\\udc00', a lone surrogate"),
        ({"x" * 300: {"y": math.inf}}, f"more.{'x' * 195}", "must be a finite number"),
    ],
)
def test_an_error_inside_a_value_names_its_place(value: Any, place: str, error: str) -> None:
    assert checked("hop", {"what": "hop", "key": "a", "more": value}) == (
        {"what": "hop", "key": "a"},
        [(place, f"`{place}` {error}")],
    )


def test_a_value_may_be_a_hundred_values_deep() -> None:
    sound, errors = checked("hop", {"what": "hop", "novelty": deep(100)})
    assert sound is not None and "novelty" in sound and not errors
    ((place, message),) = checked("hop", {"what": "hop", "novelty": deep(101)})[1]
    assert place == ("novelty" + ".0" * 100)[:200] and message.endswith("is deeper than 100 values")


@pytest.mark.parametrize("entry", [None, 7, [], {}, {"what": "list"}, {"what": ["hop"]}])
def test_a_line_of_another_kind_than_its_beginning_says_is_no_line(entry: Any) -> None:
    assert checked("hop", entry) == (None, [("what", "`what` must be 'hop', as at the line's beginning")])


@pytest.mark.parametrize(
    ("kind", "entry", "missing"),
    [
        ("listed", {"version": "1"}, "items"),
        ("event", {"object": {}}, "type"),
        ("event", {"type": "ADDED"}, "object"),
        ("code", {"file": "a.py"}, "code"),
        ("skipped", {}, "hops"),
    ],
)
def test_a_line_without_a_field_that_it_needs_is_none(kind: str, entry: Any, missing: str) -> None:
    assert checked(kind, {"what": kind, **entry}) == (None, [(missing, f"`{missing}` is missing")])


def test_a_needed_field_that_makes_no_sense_is_described_once() -> None:
    assert checked("code", {"what": "code", "code": "x"}) == (
        None,
        [("code", "`code` must be an integer, not a string")],
    )


def test_a_kind_of_a_later_version_has_any_fields() -> None:
    entry = {"what": "novelty", "t": 1.5, "x": "\x1b", "y": [{}]}
    assert checked("novelty", entry) == (entry, [])


METADATA = {"name": "a", "namespace": "default"}


@pytest.mark.parametrize(
    ("document", "place", "error"),
    [
        (7, "object", "must be an object, not a number"),
        (None, "object", "must be an object, not null"),
        ({"kind": 7}, "object.kind", "must be a string, not a number"),
        ({"apiVersion": []}, "object.apiVersion", "must be a string, not a list"),
        ({"metadata": []}, "object.metadata", "must be an object, not a list"),
        ({"metadata": {"name": 1}}, "object.metadata.name", "must be a string, not a number"),
        ({"metadata": {"generateName": 1}}, "object.metadata.generateName", "must be a string, not a number"),
        ({"metadata": {"namespace": {}}}, "object.metadata.namespace", "must be a string, not an object"),
        ({"metadata": {"uid": True}}, "object.metadata.uid", "must be a string, not a boolean"),
        ({"metadata": {"creationTimestamp": 1}}, "object.metadata.creationTimestamp", "must be a string, not a number"),
        ({"metadata": {"labels": []}}, "object.metadata.labels", "must be an object, not a list"),
        ({"metadata": {"annotations": {"a": "b", "c": 1}}}, "object.metadata.annotations", "must have strings alone"),
        ({"metadata": {"ownerReferences": {}}}, "object.metadata.ownerReferences", "must be a list, not an object"),
        ({"metadata": {"managedFields": [{}, 1]}}, "object.metadata.managedFields", "must have objects alone"),
        ({"metadata": {"finalizers": "a"}}, "object.metadata.finalizers", "must be a list, not a string"),
        ({"data": {"a": math.nan}}, "object.data.a", "must be a finite number"),
    ],
)
def test_an_object_that_cannot_be_read_is_named_by_its_field(document: Any, place: str, error: str) -> None:
    with pytest.raises(LineError) as caught:
        check_object(document, "object")
    assert (caught.value.field, str(caught.value)) == (place, f"`{place}` {error}")


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"metadata": None},
        {"metadata": {}},
        {"metadata": {"name": ""}},
        {"metadata": {"name": None}},
        {"metadata": {**METADATA, "labels": {}, "annotations": {"a": "b"}, "ownerReferences": [{}], "finalizers": []}},
    ],
)
def test_an_object_may_lack_what_only_the_caches_objects_need(document: Any) -> None:
    assert check_object(document, "object") is document
    if "labels" in (document.get("metadata") or {}):
        assert check_object(document, "object", is_named=True) is document
    else:
        with pytest.raises(LineError, match=r"`object\.metadata\.name` is missing"):
            check_object(document, "object", is_named=True)


def test_what_a_terminal_cannot_show_is_replaced() -> None:
    assert printable("a\x1b[31m\tb\ud800c\u2029d") == "a\ufffd[31m\ufffdb\ufffdc\ufffdd"
    assert printable("ä, 中 und \U0001f600") == "ä, 中 und \U0001f600"
    assert text_error("ä, 中 und \U0001f600") is None and recorded.LONGEST_NAME == 4096
