"""Sets of labels: their text, conflicts and unions."""

from __future__ import annotations

import pytest

from clientgo.apimachinery import labels


def test_a_set_is_written_in_the_order_of_its_keys() -> None:
    """Go: TestSetString."""
    assert str(labels.Set({"foo": "bar", "baz": "qup"})) == "baz=qup,foo=bar"


def test_an_empty_value_is_a_value() -> None:
    """Go: TestLabelHas, TestLabelGet."""
    ls = labels.Set({"x": "y", "e": ""})
    assert (ls.has("x"), ls.has("e"), ls.has("foo")) == (True, True, False)
    assert (ls.get("x"), ls.get("foo")) == ("y", "")


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        ({}, {}, False), ({"env": "test"}, {"infra": "true"}, False), ({"env": "a"}, {"infra": "b", "env": "a"}, False),
        ({"env": "test"}, {"env": "dev"}, True), ({"env": "a", "infra": "b"}, {"infra": "c", "color": "d"}, True),
    ],
)  # fmt: skip
def test_two_values_of_one_label_conflict(one: dict[str, str], other: dict[str, str], conflict: bool) -> None:
    """Go: TestLabelConflict."""
    assert labels.conflicts(one, other) is labels.conflicts(other, one) is conflict


def test_the_second_set_wins() -> None:
    """Go: TestLabelMerge."""
    assert labels.merge({}, {}) == {}
    assert labels.merge({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == {"a": "1", "b": "3", "c": "4"}


@pytest.mark.parametrize(
    ("text", "read"),
    [("", {}), ("x=a", {"x": "a"}), (" x = a , y = b ", {"x": "a", "y": "b"}), ("a=1, b=2", {"a": "1", "b": "2"})],
)
def test_pairs_are_read_as_labels(text: str, read: dict[str, str]) -> None:
    """Go: TestLabelSelectorParse."""
    assert labels.convert_selector_to_labels_map(text) == read


@pytest.mark.parametrize(
    "text", [",", "x", "x,y", "x=$y", "x!=y", "x==y", "x=a||y=b", "x in (y)", "x notin (y)", "x y"]
)
def test_other_selectors_are_no_labels(text: str) -> None:
    """Go: TestLabelSelectorParse."""
    with pytest.raises(Exception, match=r"invalid selector|Invalid value"):
        labels.convert_selector_to_labels_map(text)
