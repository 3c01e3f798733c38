"""Objects as JSON: what is read, into what, and what is written."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.serializer import JSONSerializer
from clientgo.apimachinery.runtime.serializer.json.json import parse_json
from clientgo.kubernetes.scheme import SCHEME

JSON = JSONSerializer(SCHEME)
POD = GroupVersionKind("", "v1", "Pod")


# Go: TestDecode
@pytest.mark.parametrize(
    ("text", "defaults", "into", "cls", "gvk"),
    [
        pytest.param(b'{"apiVersion":"v1","kind":"Pod"}', None, None, corev1.Pod, POD, id="as it says"),
        pytest.param(b"{}", POD, None, corev1.Pod, POD, id="as the caller says"),
        pytest.param(b"{}", None, corev1.Pod, corev1.Pod, POD, id="as the class says"),
        pytest.param(b'{"kind":"Pod"}', None, corev1.Pod, corev1.Pod, POD, id="the version as the class says"),
        pytest.param(b'{"apiVersion":"v1"}', None, corev1.Pod, corev1.Pod, POD, id="the kind as the class says"),
        pytest.param(b'{"apiVersion":"v1","kind":"Pod"}', None, corev1.Node, corev1.Pod, POD, id="of another class"),
        pytest.param(
            b'{"apiVersion":"x/v1","kind":"Y"}',
            None,
            unstructured.Unstructured,
            unstructured.Unstructured,
            GroupVersionKind("x", "v1", "Y"),
            id="unstructured",
        ),
    ],
)
def test_the_kind_is_what_the_text_the_caller_or_the_class_says(
    text: bytes,
    defaults: GroupVersionKind | None,
    into: type[runtime.Object] | None,
    cls: type[runtime.Object],
    gvk: GroupVersionKind,
) -> None:
    decoded, actual_gvk = JSON.decode(text, defaults, into)
    assert (type(decoded), actual_gvk) == (cls, gvk)


@pytest.mark.parametrize("text", [b"{}", b'{"apiVersion":"v1"}'])
def test_a_kind_is_needed(text: bytes) -> None:
    """Go: TestDecode."""
    with pytest.raises(runtime.MissingKindError):
        JSON.decode(text)


def test_an_object_is_one_line_that_says_its_kind() -> None:
    """Go: TestEncode."""
    pod = corev1.Pod.from_dict({"metadata": {"name": "a"}})
    assert JSON.encode(pod) == b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}\n'
    assert pod.kind == "", "the object stays as it is"


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"kind":1}'])
def test_what_says_no_kind_at_all_is_an_error_that_says_so(text: bytes) -> None:
    """Go: TestSimpleMetaFactoryInterpret."""
    with pytest.raises(ValueError, match="couldn't get version/kind; json parse error"):
        JSON.decode(text)


def test_floats_without_a_fraction_come_back_as_integers() -> None:
    """Go: TestRoundtripUnstructuredFractionlessFloat64."""
    source = unstructured.Unstructured({"apiVersion": "x/v1", "kind": "Y", "one": 1.0, "many": [2.0, 3, 1.5]})
    found, _ = JSON.decode(JSON.encode(source), None, unstructured.Unstructured)
    read: Any = found.to_dict()
    assert [type(each) for each in (read["one"], *read["many"])] == [int, int, int, float]
    assert found == source


# Go: TestJSONLimits
@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a":' + "[" * 10**5 + "]" * 10**5 + "}", id="3MB of deeply nested slices"),
        pytest.param('{"a":' + "[" * 10**5, id="3MB of unbalanced nested slices"),
        pytest.param('{"":' * 10**5 + "{}" + "}" * 10**5, id="3MB of deeply nested maps"),
        pytest.param('{"":' * 10**5, id="3MB of unbalanced nested maps"),
    ],
)
def test_a_hostile_depth_is_an_error(text: str) -> None:
    """Both Python's parser and Go's stop at a maximum depth. The length of the text does not matter."""
    with pytest.raises(ValueError, match="exceeded max depth"):
        parse_json(text.encode())


# Go: TestCollectionsEncoding
@pytest.mark.parametrize("value", [None, [], {}, [{}], [None], {"k": None}, {"k": []}, 1.5, "<\u2028>"])
def test_absent_null_and_empty_stay_apart_in_a_list_and_its_items(value: Any) -> None:
    items = [{"apiVersion": "x/v1", "kind": "Y", "field": value}, {"apiVersion": "x/v1", "kind": "Y"}]
    document = {"apiVersion": "x/v1", "kind": "YList", "metadata": {}, "field": value, "items": items}
    found = unstructured.UnstructuredList.from_dict(document)
    assert parse_json(JSON.encode(found)) == document


def test_an_unstructured_list_always_has_items() -> None:
    """Go: TestCollectionsEncoding."""
    for empty in (unstructured.UnstructuredList(), unstructured.UnstructuredList.from_dict({"items": None})):
        codec = unstructured.UNSTRUCTURED_JSON_SCHEME
        assert {JSON.encode(empty), codec.encode(empty), empty.marshal_json()} == {b'{"items":[]}\n'}
        assert empty.object == {"items": []}


def test_the_content_of_an_unstructured_list_holds_objects_only() -> None:
    """Go: UnstructuredList.SetUnstructuredContent."""
    found = unstructured.UnstructuredList()
    for content, items in (({}, []), ({"items": 1}, []), ({"items": [{"a": 1}, 2, None, {}]}, [{"a": 1}, {}])):
        found.set_unstructured_content(content)
        assert found.object == content == {"items": items}


HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


INTERPRET = "couldn't get version/kind; json parse error"
MISMATCH = f"json: cannot unmarshal %s into Go value of type {HEAD}"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "unexpected end of JSON input"),
        (b"oops", "invalid character 'o' looking for beginning of value"),
        (b'{"kind":"Po', "unexpected end of JSON input"),
        (b'{"kind":"Pod"}x', "invalid character 'x' after top-level value"),
        (b"[7]", MISMATCH % "array"),
        (b'"a"', MISMATCH % "string"),
        (b"7", MISMATCH % "number"),
        (b'{"kind":7}', "json: cannot unmarshal number into Go struct field .kind of type string"),
    ],
)
def test_a_body_without_a_kind_is_rejected_in_go_s_words(body: bytes, text: str) -> None:
    """The texts are those of Go's client for the same responses."""
    with pytest.raises(ValueError) as caught:
        JSONSerializer(SCHEME).decode(body)
    assert str(caught.value) == f"{INTERPRET}: {text}"


def test_null_without_a_wanted_kind_has_none() -> None:
    with pytest.raises(Exception, match="Object 'Kind' is missing in 'null'"):
        JSONSerializer(SCHEME).decode(b"null")


def test_null_is_an_empty_object_of_the_wanted_kind() -> None:
    obj, _ = JSONSerializer(SCHEME).decode(b"null", None, corev1.Pod)
    assert isinstance(obj, corev1.Pod) and obj.get_name() == ""
