"""Patches, field sets and server-side apply, as pure functions."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.testing.apiserver import apply, patch, schema, typed
from clientgo.testing.apiserver.errors import ApiError

Json = dict[str, Any]
POD_SPEC = schema.structure("k8s.io/api/core/v1", "PodSpec")
DEPLOYMENT = schema.structure("k8s.io/api/apps/v1", "Deployment")
DEPLOYMENT_NODE = typed.of_struct("k8s.io/api/apps/v1", "Deployment")


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
    assert patch.merge_patch(original, change) == wanted


@pytest.mark.parametrize(
    ("operations", "wanted"),
    [
        ([{"op": "add", "path": "/list/-", "value": 4}], {"list": [1, 2, 4], "map": {"a/b": 1}}),
        ([{"op": "add", "path": "/list/0", "value": 0}], {"list": [0, 1, 2], "map": {"a/b": 1}}),
        ([{"op": "remove", "path": "/map/a~1b"}], {"list": [1, 2], "map": {}}),
        ([{"op": "move", "from": "/list/0", "path": "/map/first"}], {"list": [2], "map": {"a/b": 1, "first": 1}}),
        ([{"op": "copy", "from": "/list", "path": "/map/list"}], {"list": [1, 2], "map": {"a/b": 1, "list": [1, 2]}}),
        ([{"op": "replace", "path": "", "value": {}}], {}),
    ],
)
def test_json_patch(operations: list[Json], wanted: Any) -> None:
    original = {"list": [1, 2], "map": {"a/b": 1}}
    assert patch.json_patch(original, operations) == wanted
    assert original == {"list": [1, 2], "map": {"a/b": 1}}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/a", "value": 2},
        {"op": "remove", "path": "/missing"},
        {"op": "replace", "path": "/missing", "value": 1},
        {"op": "add", "path": "/a/b", "value": 1},
        {"op": "add", "path": "/list/7", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "move", "from": "/list", "path": "/list/0"},
        {"op": "spin", "path": "/a"},
        {"op": "add", "path": "no slash", "value": 1},
        {"path": "/a"},
        {"op": "add"},
    ],
)
def test_json_patch_that_does_not_fit(operation: Json) -> None:
    with pytest.raises(patch.PatchError):
        patch.json_patch({"a": 1, "list": [1]}, [operation])


def test_strategic_merge_by_key_delete_and_order() -> None:
    original = {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}, {"name": "c", "image": "1"}]}
    change = {
        "$setElementOrder/containers": [{"name": "new"}, {"name": "c"}, {"name": "a"}],
        "containers": [{"name": "new", "image": "9"}, {"name": "a", "image": "2"}, {"name": "b", "$patch": "delete"}],
    }
    merged = patch.strategic_patch(original, change, POD_SPEC)
    assert merged["containers"] == [
        {"name": "new", "image": "9"},
        {"name": "c", "image": "1"},
        {"name": "a", "image": "2"},
    ]


def test_strategic_merge_needs_the_merge_key() -> None:
    with pytest.raises(patch.PatchError, match="does not contain declared merge key: name"):
        patch.strategic_patch({"containers": [{"name": "a"}]}, {"containers": [{"image": "x"}]}, POD_SPEC)


def test_atomic_lists_and_string_maps() -> None:
    original = {"tolerations": [{"key": "a"}], "nodeSelector": {"x": "1", "y": "2"}}
    merged = patch.strategic_patch(original, {"tolerations": [{"key": "b"}], "nodeSelector": {"x": None}}, POD_SPEC)
    assert merged == {"tolerations": [{"key": "b"}], "nodeSelector": {"y": "2"}}


def test_a_patch_out_of_its_own_order_is_refused() -> None:
    change = {
        "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
        "containers": [{"name": "a"}, {"name": "b"}],
    }
    with pytest.raises(patch.PatchError, match="doesn't match"):
        patch.strategic_patch({}, change, POD_SPEC)


def test_retained_keys_replace_a_union() -> None:
    original = {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]}
    change = {"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}]}
    merged = patch.strategic_patch(original, change, POD_SPEC)
    assert merged["volumes"] == [{"name": "v", "hostPath": {"path": "/x"}}, {"name": "w", "emptyDir": {}}]


def test_arbitrary_json_has_no_rules() -> None:
    revision = schema.structure("k8s.io/api/apps/v1", "ControllerRevision")
    original = {"data": {"spec": {"containers": [{"name": "a"}], "n": 1}}}
    merged = patch.strategic_patch(original, {"data": {"spec": {"containers": [{"name": "b"}]}}}, revision)
    assert merged == {"data": {"spec": {"containers": [{"name": "b"}], "n": 1}}}


def test_a_directive_for_a_field_the_type_does_not_have() -> None:
    with pytest.raises(patch.PatchError, match='unable to find api field "bogus" in PodSpec'):
        patch.strategic_patch({}, {"$setElementOrder/bogus": []}, POD_SPEC)


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
    with contextlib.suppress(patch.PatchError):
        assert isinstance(patch.strategic_patch(original, change, POD_SPEC), dict)
    assert original == before


paths = st.frozensets(
    st.lists(st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"z"']), min_size=1, max_size=4).map(tuple)
)


@given(paths)
def test_field_sets_survive_their_json_form(members: frozenset[apply.Path]) -> None:
    assert apply.parse_set(apply.format_set(set(members))) == members


def managed(entries: list[Json]) -> dict[str, Json]:
    return {entry["manager"]: entry["fieldsV1"] for entry in entries}


def run_apply(
    live: Json, config: Json, entries: list[Json], manager: str, force: bool = False
) -> tuple[Json, list[Json]]:
    node = typed.of_schema(
        {"type": "object", "properties": {"spec": {"type": "object", "additionalProperties": {}}}}, True
    )
    return apply.applied(node, live, config, entries, manager, "v1", "", force, "now", not entries)


def test_apply_owns_what_it_says_and_removes_what_it_no_longer_says() -> None:
    live, entries = run_apply({}, {"spec": {"a": 1, "b": 2}}, [], "one")
    live, entries = run_apply(live, {"spec": {"b": 2}}, entries, "one")
    assert (live, managed(entries)) == ({"spec": {"b": 2}}, {"one": {"f:spec": {"f:b": {}}}})


def test_a_conflict_names_the_manager_and_force_takes_over() -> None:
    live, entries = run_apply({}, {"spec": {"a": 1}}, [], "one")
    with pytest.raises(ApiError, match=r'^Apply failed with 1 conflict: conflict with "one": \.spec\.a$') as raised:
        run_apply(live, {"spec": {"a": 2}}, entries, "two")
    assert raised.value.code == 409
    live, entries = run_apply(live, {"spec": {"a": 2}}, entries, "two", force=True)
    assert (live, managed(entries)) == ({"spec": {"a": 2}}, {"two": {"f:spec": {"f:a": {}}}})


def test_several_conflicts_are_listed() -> None:
    live, entries = run_apply({}, {"spec": {"a": 1, "b": 1}}, [], "one")
    with pytest.raises(ApiError, match=r"(?s)^Apply failed with 2 conflicts: .*- \.spec\.a\n- \.spec\.b$"):
        run_apply(live, {"spec": {"a": 2, "b": 2}}, entries, "two")


def test_equal_values_are_owned_together() -> None:
    live, entries = run_apply({}, {"spec": {"a": 1}}, [], "one")
    live, entries = run_apply(live, {"spec": {"a": 1}}, entries, "two")
    assert sorted(managed(entries)) == ["one", "two"]
    live, entries = run_apply(live, {"spec": {}}, entries, "one")
    assert live["spec"] == {"a": 1}


def test_an_item_whose_parts_others_own_stays() -> None:
    node = DEPLOYMENT_NODE
    template = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "1"}]}}}}
    live, entries = apply.applied(node, {}, template, [], "one", "apps/v1", "", False, "now", True)
    args = {"spec": {"template": {"spec": {"containers": [{"name": "web", "args": ["x"]}]}}}}
    live, entries = apply.applied(node, live, args, entries, "two", "apps/v1", "", False, "now", False)
    nothing: Json = {"spec": {}}
    live, entries = apply.applied(node, live, nothing, entries, "one", "apps/v1", "", False, "now", False)
    assert live["spec"]["template"]["spec"]["containers"] == [{"name": "web", "args": ["x"]}]


def test_an_update_takes_fields_from_other_managers() -> None:
    node = DEPLOYMENT_NODE
    live: Json = {"spec": {"replicas": 1}}
    entries = apply.updated(node, {"spec": {}}, live, [], "one", "apps/v1", "", "t1")
    entries = apply.updated(node, live, {"spec": {"replicas": 2}}, entries, "two", "apps/v1", "", "t2")
    assert managed(entries) == {"two": {"f:spec": {"f:replicas": {}}}}


def test_an_update_that_changes_nothing_keeps_times() -> None:
    live: Json = {"spec": {"replicas": 1}}
    entries = apply.updated(DEPLOYMENT_NODE, {"spec": {}}, live, [], "one", "apps/v1", "", "t1")
    assert apply.updated(DEPLOYMENT_NODE, live, live, entries, "two", "apps/v1", "", "t2") == entries


def test_many_updaters_are_folded_into_one() -> None:
    live: Json = {"metadata": {"labels": {}}}
    entries: list[Json] = []
    for i in range(14):
        new = {"metadata": {"labels": {**live["metadata"]["labels"], f"l{i}": "x"}}}
        entries = apply.updated(DEPLOYMENT_NODE, live, new, entries, f"m{i:02d}", "apps/v1", "", f"t{i:02d}")
        live = new
    assert len(entries) == apply.MAX_UPDATE_MANAGERS
    assert {"ancient-changes", "m13", "m12"} <= set(managed(entries))


def test_paths_read_as_in_messages() -> None:
    path = ("f:spec", "f:containers", 'k:{"name":"web"}', "f:image")
    assert apply.path_text(path) == '.spec.containers[name="web"].image'
    assert apply.path_text(("f:metadata", "f:finalizers", 'v:"a"')) == '.metadata.finalizers[="a"]'


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
