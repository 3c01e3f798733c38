"""Selectors beyond the golden cases: composing them, matching views, and their immutability."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import fields, labels
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.selection import Operator
from clientgo.apimachinery.util.validation import field

KEYS = st.sampled_from(["a", "b", "example.com/c", "in", "notin"])
VALUES = st.sampled_from(["", "1", "2", "x.y", "in"])


class GoLabels:
    """Labels as Go programs write them: not a mapping."""

    def __init__(self, **values: str) -> None:
        self._values = values

    def has(self, label: str) -> bool:
        return label in self._values

    def get(self, label: str) -> str:
        return self._values.get(label, "")

    def lookup(self, label: str) -> tuple[str, bool]:
        return self.get(label), self.has(label)


def test_selectors_match_dicts_views_and_go_labels() -> None:
    selector = labels.parse("app=web,tier!=db,!canary")
    pod = corev1.Pod(metadata=metav1.ObjectMeta(labels={"app": "web"}))
    assert selector.matches({"app": "web"})
    assert selector.matches(pod.metadata.labels)
    assert selector.matches(GoLabels(app="web"))
    assert not selector.matches(GoLabels(app="web", canary="yes"))


def test_adding_requirements_leaves_the_selector_as_it_was() -> None:
    first = labels.parse("b=1")
    both = first.add(labels.new_requirement("a", Operator.EXISTS))
    assert (str(first), str(both)) == ("b=1", "a,b=1")
    assert labels.nothing().add(labels.new_requirement("a", Operator.EXISTS)) is labels.nothing()
    assert both.deep_copy_selector() == both and hash(both.deep_copy_selector()) == hash(both)


def test_everything_and_nothing() -> None:
    assert labels.everything().matches({}) and labels.everything().empty()
    assert not labels.nothing().matches({}) and not labels.nothing().empty()
    assert labels.matches_nothing(labels.nothing()) and not labels.matches_nothing(labels.everything())
    assert labels.nothing().requirements() == ([], False)
    assert fields.everything().matches({}) and not fields.nothing().matches({})


def test_exact_matches_are_found() -> None:
    selector = labels.parse("a in (1),b in (1,2),c!=3")
    assert [selector.requires_exact_match(key) for key in "abcd"] == [
        ("1", True),
        ("", False),
        ("", False),
        ("", False),
    ]
    combined = fields.and_selectors(fields.parse_selector("a=1"), fields.one_term_not_equal_selector("b", "2"))
    assert [combined.requires_exact_match(key) for key in "ab"] == [("1", True), ("", False)]


def test_field_selectors_are_translated() -> None:
    def translate(field: str, value: str) -> tuple[str, str]:
        return ("", "") if field == "drop" else (f"metadata.{field}", value)

    for selector, expected in (
        ("name=a,drop=x", "metadata.name=a"),
        ("name!=a,drop!=x", "metadata.name!=a"),
        ("drop=x", ""),
        ("drop!=x", ""),
        ("drop=x,drop!=y", ""),
    ):
        translated = fields.parse_and_transform_selector(selector, translate)
        assert str(translated) == expected
        assert translated.empty() is (expected == "")
    with pytest.raises(ValueError, match="can't understand"):
        fields.parse_selector("name")


def test_a_set_of_labels_is_its_own_selector() -> None:
    selector = labels.ValidatedSetSelector({"b": "2", "a": "1"})
    assert str(selector) == "a=1,b=2" and selector.requires_exact_match("a") == ("1", True)
    assert selector.matches({"a": "1", "b": "2", "c": "3"}) and not selector.matches({"a": "1"})
    assert str(selector.add(labels.new_requirement("c", Operator.EXISTS))) == "a=1,b=2,c"


def test_a_text_of_exact_matches_is_a_set_of_labels() -> None:
    """Go: ConvertSelectorToLabelsMap."""
    assert labels.convert_selector_to_labels_map(" a = 1 ,b=2") == {"a": "1", "b": "2"}
    assert labels.convert_selector_to_labels_map("") == {}
    for wrong in ("a", "a=1=2", "a==1", "a=1,"):
        with pytest.raises(ValueError, match="invalid selector: "):
            labels.convert_selector_to_labels_map(wrong)
    with pytest.raises(field.Error, match='Invalid value: "no label"'):
        labels.convert_selector_to_labels_map("a=no label")


def test_label_sets() -> None:
    one, two = labels.Set(a="1", b="2"), labels.Set(b="3")
    assert labels.conflicts(one, two) and not labels.conflicts(one, {"a": "1"})
    assert not labels.conflicts(one, {"c": "1", "a": "1"}) and not labels.conflicts({"c": "1"}, one)
    assert labels.merge(one, two) == {"a": "1", "b": "3"} and labels.equals(one, {"b": "2", "a": "1"})
    assert labels.format_labels({}) == "<none>"
    assert (one.get("x"), one.has("a"), one.lookup("x")) == ("", True, ("", False))
    with pytest.raises(Exception, match="Invalid value"):
        labels.Set(a="not valid").as_validated_selector()


def test_an_operator_that_there_is_not_is_refused() -> None:
    """Go: NewRequirement."""
    with pytest.raises(Exception, match=r'operator: Unsupported value: "between": supported values: .*"in"'):
        labels.new_requirement("a", "between", ["1"])


def test_the_parser_sorts_the_values_of_a_requirement() -> None:
    """So that two texts that say the same are equal. Go: Parser.parseRequirement."""
    (requirement,) = labels.parse("a in (h,g,f,e,d,c,b)").requirements()[0]
    assert requirement.values_unsorted() == ["b", "c", "d", "e", "f", "g", "h"]


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.dictionaries(KEYS, VALUES, max_size=4))
def test_a_selector_from_labels_matches_exactly_their_supersets(wanted: dict[str, str], found: dict[str, str]) -> None:
    expected = all(found.get(key) == value for key, value in wanted.items())
    selector = labels.selector_from_set(wanted)
    assert selector.matches(found) == expected
    assert labels.parse(str(selector)).matches(found) == expected


@given(st.text(alphabet="ab=!,()<> in\0\t-", max_size=20))
def test_the_parser_answers_every_text_with_a_selector_or_a_value_error(text: str) -> None:
    try:
        selector = labels.parse(text)
    except ValueError:
        return
    again = labels.parse(str(selector))
    assert str(again) == str(selector)


@given(st.text(alphabet="\\,=!a \0é", max_size=20))
def test_escaping_field_values_can_be_undone(text: str) -> None:
    assert fields.unescape_value(fields.escape_value(text)) == text
    selector = fields.parse_selector(str(fields.one_term_equal_selector("f", text)))
    assert selector.requires_exact_match("f") == (text, True)
