"""Fields and field selectors (k8s.io/apimachinery/pkg/fields)."""

from clientgo.apimachinery.fields.fields import Fields, Set
from clientgo.apimachinery.fields.requirements import Requirement, Requirements
from clientgo.apimachinery.fields.selector import (
    FieldsLike,
    InvalidEscapeSequence,
    Selector,
    TransformFunc,
    UnescapedRune,
    and_selectors,
    escape_value,
    everything,
    nothing,
    one_term_equal_selector,
    one_term_not_equal_selector,
    parse_and_transform_selector,
    parse_selector,
    parse_selector_or_die,
    selector_from_set,
    unescape_value,
)

__all__ = [
    "Fields",
    "FieldsLike",
    "InvalidEscapeSequence",
    "Requirement",
    "Requirements",
    "Selector",
    "Set",
    "TransformFunc",
    "UnescapedRune",
    "and_selectors",
    "escape_value",
    "everything",
    "nothing",
    "one_term_equal_selector",
    "one_term_not_equal_selector",
    "parse_and_transform_selector",
    "parse_selector",
    "parse_selector_or_die",
    "selector_from_set",
    "unescape_value",
]
