"""Errors of a strategic merge patch's type: their texts and fields. Mirrors strategicpatch/errors.go."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.util import strategicpatch


def test_the_error_of_a_missing_field_names_the_field_and_the_type() -> None:
    with pytest.raises(ValueError, match='^unable to find api field "ports" in v1.Pod$') as caught:
        raise strategicpatch.FieldNotFoundError("v1.Pod", "ports")
    assert (caught.value.path, caught.value.field) == ("v1.Pod", "ports")


def test_the_error_of_another_type_names_both() -> None:
    with pytest.raises(ValueError, match='^invalid type for spec: got "map", expected "array"$') as caught:
        raise strategicpatch.InvalidTypeError("spec", "array", "map")
    assert (caught.value.path, caught.value.expected, caught.value.actual) == ("spec", "array", "map")
