"""Errors of a strategic merge patch's type: their texts and fields. Mirrors strategicpatch/errors.go."""

from __future__ import annotations

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import mergepatch, strategicpatch


def test_the_error_of_a_missing_field_names_the_field_and_the_type() -> None:
    with pytest.raises(ValueError, match='^unable to find api field "ports" in v1.Pod$') as caught:
        raise strategicpatch.FieldNotFoundError("v1.Pod", "ports")
    assert (caught.value.path, caught.value.field) == ("v1.Pod", "ports")


def test_the_error_of_another_type_names_both() -> None:
    with pytest.raises(ValueError, match='^invalid type for spec: got "map", expected "array"$') as caught:
        raise strategicpatch.InvalidTypeError("spec", "array", "map")
    assert (caught.value.path, caught.value.expected, caught.value.actual) == ("spec", "array", "map")


@pytest.mark.parametrize("empty", [b"", ""])
def test_an_empty_document_is_merged_by_no_patch_but_compared_as_an_empty_object(empty: bytes | str) -> None:
    for original, patch in (("{}", empty), (empty, "{}")):
        with pytest.raises(mergepatch.ErrBadJSONDoc):
            strategicpatch.strategic_merge_patch(original, patch, corev1.Pod)
    assert strategicpatch.create_two_way_merge_patch(empty, b'{"kind": "Pod"}', corev1.Pod) == b'{"kind":"Pod"}'


def test_null_is_an_empty_object() -> None:
    assert strategicpatch.strategic_merge_patch('{"kind": "Pod"}', "null", corev1.Pod) == b'{"kind":"Pod"}'
    assert strategicpatch.create_two_way_merge_patch("null", '{"kind": "Pod"}', corev1.Pod) == b'{"kind":"Pod"}'


def test_different_retained_keys_are_shown_as_go_shows_them() -> None:
    schema = strategicpatch.new_patch_meta_from_struct(corev1.Pod)
    one, other = ({"spec": {"$retainKeys": keys, "volumes": []}} for keys in (["a", "b"], None))
    with pytest.raises(ValueError, match=r"^\[a b\] and <nil> are not deep equal: "):
        strategicpatch.merge_strategic_merge_map_patch_using_lookup_patch_meta(schema, one, other)
