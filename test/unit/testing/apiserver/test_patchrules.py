"""Strategic merge patches by the type facts, and what decoding does to quantities, as pure functions."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.apimachinery.util import jsonmergepatch
from clientgo.testing.apiserver.kinds import patchrules, schema
from clientgo.testing.apiserver.wire.errors import ApiError

Json = dict[str, Any]
POD_SPEC = schema.structure("k8s.io/api/core/v1", "PodSpec")
DEPLOYMENT = schema.structure("k8s.io/api/apps/v1", "Deployment")


@pytest.mark.parametrize(
    ("original", "change", "wanted"),
    [
        ({"a": 1}, {"a": None}, {}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": "x"}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ([1], {"a": 1}, {"a": 1}),
    ],
)
def test_merge_patch(original: Any, change: Any, wanted: Any) -> None:
    assert jsonmergepatch.merge_patch(original, change) == wanted


def test_strategic_merge_by_key_delete_and_order() -> None:
    original = {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}, {"name": "c", "image": "1"}]}
    change = {
        "$setElementOrder/containers": [{"name": "new"}, {"name": "c"}, {"name": "a"}],
        "containers": [{"name": "new", "image": "9"}, {"name": "a", "image": "2"}, {"name": "b", "$patch": "delete"}],
    }
    merged = patchrules.strategic_patch(original, change, POD_SPEC)
    assert merged["containers"] == [
        {"name": "new", "image": "9"},
        {"name": "c", "image": "1"},
        {"name": "a", "image": "2"},
    ]


def test_strategic_merge_needs_the_merge_key() -> None:
    with pytest.raises(ApiError, match="does not contain declared merge key: name"):
        patchrules.strategic_patch({"containers": [{"name": "a"}]}, {"containers": [{"image": "x"}]}, POD_SPEC)


def test_atomic_lists_and_string_maps() -> None:
    original = {"tolerations": [{"key": "a"}], "nodeSelector": {"x": "1", "y": "2"}}
    merged = patchrules.strategic_patch(
        original, {"tolerations": [{"key": "b"}], "nodeSelector": {"x": None}}, POD_SPEC
    )
    assert merged == {"tolerations": [{"key": "b"}], "nodeSelector": {"y": "2"}}


def test_a_patch_out_of_its_own_order_is_refused() -> None:
    change = {
        "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
        "containers": [{"name": "a"}, {"name": "b"}],
    }
    with pytest.raises(ApiError, match="doesn't match"):
        patchrules.strategic_patch({}, change, POD_SPEC)


def test_retained_keys_replace_a_union() -> None:
    original = {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]}
    change = {"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}]}
    merged = patchrules.strategic_patch(original, change, POD_SPEC)
    assert merged["volumes"] == [{"name": "v", "hostPath": {"path": "/x"}}, {"name": "w", "emptyDir": {}}]


def test_arbitrary_json_has_no_rules() -> None:
    revision = schema.structure("k8s.io/api/apps/v1", "ControllerRevision")
    original = {"data": {"spec": {"containers": [{"name": "a"}], "n": 1}}}
    merged = patchrules.strategic_patch(original, {"data": {"spec": {"containers": [{"name": "b"}]}}}, revision)
    assert merged == {"data": {"spec": {"containers": [{"name": "b"}], "n": 1}}}


def test_a_directive_for_a_field_the_type_does_not_have() -> None:
    with pytest.raises(ApiError, match='in struct PodSpec for the json field "bogus"'):
        patchrules.strategic_patch({}, {"$setElementOrder/bogus": []}, POD_SPEC)


_NAMES = ("$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/args", "containers")
patches = st.recursive(
    st.none() | st.sampled_from(["delete", "replace", "merge", "a", "b"]) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*_NAMES, "name", "args", "volumes", "nodeSelector"]), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(_NAMES), patches))
def test_any_strategic_patch_fits_or_is_refused(change: Json) -> None:
    containers: list[Json] = [{"name": "a", "args": ["a", "b"]}, {"name": "b"}]
    original = {"containers": containers, "nodeSelector": {"name": "a"}, "volumes": [{"name": "a"}]}
    before = copy.deepcopy(original)
    with contextlib.suppress(ApiError):
        assert isinstance(patchrules.strategic_patch(original, change, POD_SPEC), dict)
    assert original == before


def test_decoding_a_deployment_twice_changes_nothing() -> None:
    doc = {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "spec": {"template": {"spec": {"containers": [{"name": "a"}]}}},
    }
    once = DEPLOYMENT.decode(doc, schema.Context(), "", "")
    assert DEPLOYMENT.decode(once, schema.Context(), "", "") == once
    assert list(once) == ["kind", "apiVersion", "metadata", "spec", "status"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("1000m", "1"), ("0.5", "500m"), ("1024Ki", "1Mi"), ("1.5Gi", "1536Mi"), ("100", "100"), ("1e3", "1e3"),
        ("0", "0"), ("12000", "12k"), ("1500", "1500"), ("0.0001", "100u"), ("-5", "-5"), ("2048", "2048"),
    ],
)  # fmt: skip
def test_quantities_are_canonical(given: str, wanted: str) -> None:
    decoded = schema.codec("k8s.io/apimachinery/pkg/api/resource.Quantity", "").decode(given, schema.Context(), "", "")
    assert decoded == wanted
