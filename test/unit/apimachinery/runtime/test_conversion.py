"""Query parameters become values as Go converts them: no number that only Python accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clientgo.apimachinery import fields, labels, runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import conversion

NUMBERS = [
    conversion.convert_slice_string_to_int,
    conversion.convert_slice_string_to_int64,
    conversion.convert_slice_string_to_pointer_int64,
]


@pytest.mark.parametrize("convert", NUMBERS)
def test_the_first_value_is_the_number(convert: Callable[[Any], int | None]) -> None:
    assert convert(["-7", "8"]) == -7
    assert convert(["+7"]) == 7


@pytest.mark.parametrize("convert", [*NUMBERS, lambda texts: conversion.convert_string_to_int64(texts[0])])
@pytest.mark.parametrize("text", ["", " 5", "1_000", "٣", "0x10", "5.0", "9223372036854775808"])
def test_a_text_that_go_does_not_parse_is_refused(convert: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(ValueError, match=r"^strconv\.ParseInt: parsing "):
        convert([text])


def test_an_absent_value_is_the_zero_value_of_the_type() -> None:
    assert conversion.convert_slice_string_to_string([]) == ""
    assert conversion.convert_slice_string_to_int64([]) == 0
    assert conversion.convert_slice_string_to_pointer_int64([]) is None
    assert conversion.convert_slice_string_to_bool([]) is False
    assert conversion.convert_slice_string_to_pointer_bool([]) is False


@pytest.mark.parametrize(("text", "value"), [("0", False), ("FALSE", False), ("", True), ("no", True), ("1", True)])
def test_only_false_and_0_are_false(text: str, value: bool) -> None:
    assert conversion.convert_slice_string_to_bool([text]) is value
    assert conversion.convert_slice_string_to_pointer_bool([text]) is value


def test_the_first_text_counts() -> None:
    assert conversion.convert_slice_string_to_string(["a", "b"]) == "a"
    assert conversion.convert_string_to_pointer_int64("12") == 12
    assert metav1.convert_slice_string_to_v1_resource_version_match(["Exact", "x"]) == "Exact"
    assert metav1.convert_slice_string_to_v1_include_object_policy(["None"]) == "None"
    assert metav1.convert_slice_string_to_v1_resource_version_match([]) == ""


def test_selectors_become_text_and_text_becomes_selectors() -> None:
    selected = metav1.convert_string_to_labels_selector("a in (b,c)")
    assert selected.matches(labels.Set({"a": "c"})) and not selected.matches(labels.Set({"a": "d"}))
    assert metav1.convert_labels_selector_to_string(selected) == "a in (b,c)"
    by_name = metav1.convert_string_to_fields_selector("metadata.name=x")
    assert metav1.convert_fields_selector_to_string(by_name) == "metadata.name=x"
    assert str(fields.parse_selector_or_die("a=b")) == "a=b"
    assert metav1.convert_labels_selector_to_string(None) == metav1.convert_fields_selector_to_string(None) == ""


def test_ports_come_one_in_a_value_or_many() -> None:
    assert metav1.convert_slice_string_to_slice_int32(["80,443", "65535"]) == [80, 443, 65535]
    with pytest.raises(
        ValueError, match=r'cannot convert to \[\]int32: strconv\.ParseUint: parsing "65536": value out'
    ):
        metav1.convert_slice_string_to_slice_int32(["65536"])


def test_delete_options_of_a_query() -> None:
    options = metav1.convert_url_values_to_v1_delete_options(
        {
            "gracePeriodSeconds": ["0"],
            "orphanDependents": [""],
            "propagationPolicy": ["Foreground"],
            "dryRun": ["All"],
            "ignoreStoreReadErrorWithClusterBreakingPotential": ["true"],
            "uid": ["u"],
        }
    )
    assert options.to_dict() == {
        "gracePeriodSeconds": 0,
        "orphanDependents": True,
        "propagationPolicy": "Foreground",
        "dryRun": ["All"],
        "ignoreStoreReadErrorWithClusterBreakingPotential": True,
        "preconditions": {"uid": "u"},
    }
    assert metav1.convert_url_values_to_v1_delete_options({}).to_dict() == {}
    by_version = metav1.convert_url_values_to_v1_delete_options({"resourceVersion": ["7"]})
    assert by_version.preconditions.to_dict() == {"resourceVersion": "7"}
    with pytest.raises(ValueError, match="ParseInt"):
        metav1.convert_url_values_to_v1_delete_options({"gracePeriodSeconds": ["soon"]})


def test_errors_of_decoders_are_told_apart() -> None:
    strict = runtime.StrictDecodingError([ValueError("unknown field")])
    assert runtime.as_strict_decoding_error(strict) == (strict, True)
    assert runtime.as_strict_decoding_error(ValueError()) == (None, False)
    kinds = [runtime.new_missing_kind_err("{}"), runtime.new_missing_version_err("{}"), strict, ValueError(), None]
    assert [runtime.is_missing_kind(err) for err in kinds] == [True, False, False, False, False]
    assert [runtime.is_missing_version(err) for err in kinds] == [False, True, False, False, False]
    assert [runtime.is_strict_decoding_error(err) for err in kinds] == [False, False, True, False, False]
