"""Directives of strategic merge patches, and patches made of three documents (from Go's patch_test.go tables)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import jsonmergepatch, mergepatch
from clientgo.apimachinery.util import strategicpatch as smp


def containers(*items: Any, **directives: Any) -> dict[str, Any]:
    return {"spec": {"containers": list(items), **directives}}


def c(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, **fields}


@pytest.mark.parametrize(
    ("original", "patch", "expected"),
    [
        (containers(c("a"), c("b")), containers({"$patch": "delete", "name": "a"}), containers(c("b"))),
        (containers(c("a"), c("b")), containers(c("x"), {"$patch": "replace"}), containers(c("x"))),
        (containers(c("a", image="1")), containers(c("a", image=None)), containers(c("a"))),
        (
            containers(c("a"), c("b")),
            {"spec": {"$setElementOrder/containers": [c("b"), c("a")]}},
            containers(c("b"), c("a")),
        ),
        (
            {"metadata": {"labels": {"a": "1"}}},
            {"metadata": {"$patch": "replace", "name": "n"}},
            {"metadata": {"name": "n"}},
        ),
        ({"metadata": {"labels": {"a": "1"}}}, {"metadata": {"$patch": "delete"}}, {"metadata": {}}),
        (
            {"metadata": {"finalizers": ["a", "b"]}},
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
            {"metadata": {"finalizers": ["b"]}},
        ),
        (
            {"spec": {"volumes": [c("v", emptyDir={})]}},
            {"spec": {"volumes": [{"$retainKeys": ["name", "hostPath"], "name": "v", "hostPath": {"path": "/"}}]}},
            {"spec": {"volumes": [c("v", hostPath={"path": "/"})]}},
        ),
    ],
)
def test_directives_are_carried_out(original: Any, patch: Any, expected: Any) -> None:
    """Go: TestStrategicMergePatch, TestCustomStrategicMergePatch."""
    assert smp.strategic_merge_map_patch(original, patch, corev1.Pod) == expected


@pytest.mark.parametrize(("current", "order"), [(["1", "2", "4"], ["2", "4", "3"]), (["1", "4", "2"], ["4", "2", "3"])])
def test_a_new_element_takes_the_room_a_deleted_one_leaves(current: list[str], order: list[str]) -> None:
    """Go's server, too, puts "3" behind "4", which the patch does not know."""
    patch = {
        "spec": {
            "$setElementOrder/containers": [c("2"), c("3")],
            "containers": [c("3"), {"name": "1", "$patch": "delete"}],
        }
    }
    merged = smp.strategic_merge_map_patch(containers(*[c(name) for name in current]), patch, corev1.Pod)
    assert [container["name"] for container in merged["spec"]["containers"]] == order


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (containers({"$patch": "bogus", "name": "a"}), "unknown patch type"),
        (containers({"image": "x"}), "does not contain declared merge key: name"),
        (containers({"$patch": "merge"}), "merging lists cannot yet be specified"),
        ({"metadata": {"$patch": "bogus"}}, "unknown patch type"),
        ({"metadata": {"$retainKeys": ["a"], "name": "x"}}, "invalid patch format of retainKeys"),
        ({"spec": {"$setElementOrder/containers": [c("b")], "containers": [c("a")]}}, "The order in patch list"),
        (containers("a"), "list element types are not identical"),
    ],
)
def test_malformed_patches_are_refused(patch: Any, message: str) -> None:
    original = {"metadata": {"name": "n"}, **containers(c("a"))}
    with pytest.raises(ValueError, match=message):
        smp.strategic_merge_map_patch(original, patch, corev1.Pod)


def test_a_strategy_that_retains_keys_says_which() -> None:
    original = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    modified = {"spec": {"strategy": {"type": "Recreate"}}}
    patch = smp.create_two_way_merge_map_patch(original, modified, appsv1.Deployment)
    assert patch["spec"]["strategy"]["$retainKeys"] == ["type"]
    assert smp.strategic_merge_map_patch(original, patch, appsv1.Deployment) == modified


def test_a_strategy_that_retains_keys_says_nothing_where_none_is_left() -> None:
    """Go: diffMaps adds no empty $retainKeys, which would be read as a demand."""
    original = {"spec": {"strategy": {"type": "Recreate"}}}
    patch = smp.create_two_way_merge_map_patch(original, {"spec": {"strategy": {}}}, appsv1.Deployment)
    assert patch == {"spec": {"strategy": {"type": None}}}


@pytest.mark.parametrize("value", [{"a": 1}, [1]])
def test_a_field_the_type_does_not_have_matters_only_when_it_changes(value: Any) -> None:
    """Go: handleMapDiff, handleSliceDiff."""
    # Go: TestUnknownField.
    assert smp.create_two_way_merge_map_patch({"odd": value}, {"odd": value}, corev1.Pod) == {}
    with pytest.raises(ValueError, match="unable to find api field"):
        smp.create_two_way_merge_map_patch({"odd": value}, {"odd": type(value)()}, corev1.Pod)


def test_three_documents_make_a_patch_that_keeps_what_others_set() -> None:
    original = json.dumps(containers(c("a", image="1"), c("old")))
    modified = json.dumps(containers(c("a", image="2")))
    current = containers(c("a", image="1", tty=True), c("old"), c("sidecar"))
    schema = smp.new_patch_meta_from_struct(corev1.Pod)
    patch = smp.create_three_way_merge_patch(original, modified, json.dumps(current), schema, True)
    merged = smp.strategic_merge_map_patch(current, json.loads(patch), corev1.Pod)
    assert merged == containers(c("a", image="2", tty=True), c("sidecar"))


def test_three_documents_conflict_when_both_sides_changed_the_same() -> None:
    """Go: TestHasConflicts."""
    documents = [json.dumps({"spec": {"nodeName": name}}) for name in ("old", "mine", "theirs")]
    schema = smp.new_patch_meta_from_struct(corev1.Pod)
    with pytest.raises(mergepatch.ErrConflict):
        smp.create_three_way_merge_patch(*documents, schema, False)  # type: ignore[call-arg]
    assert smp.create_three_way_merge_patch(*documents, schema, True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("left", "right", "conflict"),
    [
        ("a", "a", False),
        ("a", "b", True),
        (1, 1, False),
        (1, "1", True),
        (1, True, True),
        (None, None, False),
        ({}, {"a": 1}, False),
        ({"a": 1}, {"b": 2}, False),
        ({"a": 1}, {"a": 2}, True),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, True),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, False),
        ({"a": 1}, {"a": {"b": 1}}, True),
        ([], [], False),
        ([1], [1], False),
        ([1], [2], True),
        ([1], [1, 2], True),
        ([{"a": 1}], [{"b": 1}], False),
        ([{"a": 1}], [{"a": 2}], True),
    ],
)
def test_patches_conflict_where_both_say_something_else(left: Any, right: Any, conflict: bool) -> None:
    """Go: TestHasConflicts."""
    assert mergepatch.has_conflicts(left, right) is mergepatch.has_conflicts(right, left) is conflict


def test_preconditions_can_refuse_a_patch() -> None:
    before, after = '{"kind":"Pod"}', '{"kind":"Other"}'
    with pytest.raises(mergepatch.ErrPreconditionFailed):
        smp.create_two_way_merge_patch(before, after, corev1.Pod, mergepatch.require_key_unchanged("kind"))


def test_json_merge_patch_of_three_documents() -> None:
    """Go: TestCreateThreeWayJSONMergePatch."""
    original, modified, current = '{"a":1,"b":2}', '{"a":5}', '{"a":1,"b":2,"c":3}'
    patch = jsonmergepatch.create_three_way_json_merge_patch(original, modified, current)
    assert json.loads(patch) == {"a": 5, "b": None}
    assert jsonmergepatch.merge_patch(json.loads(current), json.loads(patch)) == {"a": 5, "c": 3}


def test_json_merge_patch_keeps_what_is_wanted_and_no_more() -> None:
    """Go: CreateThreeWayJSONMergePatch: what changed and is not yet so, what is to go, and objects made empty."""
    # Go: TestCreateThreeWayJSONMergePatch, TestKeepOrDeleteNullInObj.
    original = {"map": {"gone": 1, "changed": 2}, "done": 1, "same": True}
    modified = {"map": {"changed": 3}, "done": 2, "same": True, "empty": {}}
    current = {"map": {"gone": 1, "changed": 2, "theirs": 0}, "done": 2, "same": 1}
    documents = [json.dumps(document) for document in (original, modified, current)]
    patch = json.loads(jsonmergepatch.create_three_way_json_merge_patch(*documents))  # type: ignore[arg-type]
    assert patch == {"map": {"gone": None, "changed": 3}, "same": True, "empty": {}}
    assert patch["same"] is True


def test_json_merge_patch_puts_an_object_where_a_scalar_was() -> None:
    assert jsonmergepatch.merge_patch({"a": 1, "b": 2}, {"a": {"c": 1, "d": None}}) == {"a": {"c": 1}, "b": 2}


@pytest.mark.parametrize("document", ["{", "[]", "1"])
def test_what_is_no_json_object_is_refused(document: str) -> None:
    with pytest.raises(mergepatch.ErrBadJSONDoc):
        smp.strategic_merge_patch(document, "{}", corev1.Pod)


@pytest.mark.parametrize("number", [1000000, 2**31 - 1, 2**63 - 1, 3.4028234663852886e38, 1.7976931348623157e308])
def test_numbers_are_the_same_after_a_patch(number: float) -> None:
    """Go: TestNumberConversion."""
    old = {"spec": {"activeDeadlineSeconds": number}}
    new = {**old, "metadata": {"name": "newname"}}
    patch = smp.create_two_way_merge_patch(json.dumps(old).encode(), json.dumps(new).encode(), corev1.Pod)
    assert json.loads(patch) == {"metadata": {"name": "newname"}}
    assert json.loads(smp.strategic_merge_patch(json.dumps(old).encode(), patch, corev1.Pod)) == new


ORDER = "$setElementOrder/containers"


@pytest.mark.parametrize(
    ("present", "wanted", "order", "merged"),
    [
        (["a", "b"], None, [], ["a", "b"]),
        (["a", "b"], ["c"], [], ["a", "b", "c"]),
        (["a", "b"], ["c", "d"], [], ["a", "b", "d", "c"]),
        (["a", "b"], ["b"], [], ["a", "b"]),
        (None, ["a", "b"], [], ["b", "a"]),
        (None, ["a", "b"], ["b", "a"], None),
        (["a", "b"], None, ["x"], ["a", "b"]),
        (["a", "b"], ["b"], ["b"], ["a", "b"]),
    ],
)
def test_an_order_that_does_not_name_the_elements_sorts_them_as_go_does(
    present: list[str] | None, wanted: list[str] | None, order: list[str], merged: list[str] | None
) -> None:
    """Go: mergePatchIntoOriginal, normalizeSliceOrder.

    An element that the server does not have yet is less than every other and every other less than it. So insertion
    sort moves each element to the front of those behind which it found such a one: [c, d, a, b], as the patch is merged
    first, becomes [d, c, a, b], [a, d, c, b] and [a, b, d, c].
    """
    original = {"spec": {} if present is None else {"containers": [c(name) for name in present]}}
    patch: dict[str, Any] = {"spec": {ORDER: [c(name) for name in order]}}
    if wanted is not None:
        patch["spec"]["containers"] = [c(name) for name in wanted]
    if merged is None:
        with pytest.raises(ValueError, match="The order in patch list"):
            smp.strategic_merge_map_patch(original, patch, corev1.Pod)
        return
    result = smp.strategic_merge_map_patch(original, patch, corev1.Pod)
    assert [container["name"] for container in result["spec"]["containers"]] == merged


@pytest.mark.parametrize("kind", [("containers", c("x")), ("ephemeralContainers", c("x"))])
@pytest.mark.parametrize(("present", "wanted"), [([], None), (None, []), ([], [])])
def test_an_order_of_a_list_without_elements_is_an_error(kind: Any, present: Any, wanted: Any) -> None:
    """Go: sliceElementType, which finds no type."""
    name, element = kind
    original = {"spec": {} if present is None else {name: present}}
    for order in ([], [element]):
        patch = {"spec": {f"$setElementOrder/{name}": order, **({} if wanted is None else {name: wanted})}}
        with pytest.raises(ValueError, match="^no elements in any of the given slices$"):
            smp.strategic_merge_map_patch(original, patch, corev1.Pod)


@pytest.mark.parametrize("order", [[], [c("x")]])
def test_an_order_directive_for_a_missing_list_changes_nothing(order: list[Any]) -> None:
    original = {"metadata": {"name": "n"}, "spec": {"hostNetwork": True}}
    assert smp.strategic_merge_map_patch(original, {"spec": {ORDER: order}}, corev1.Pod) == original


@pytest.mark.parametrize("order", [None, "a", {}])
def test_an_order_that_is_no_list_is_an_error(order: Any) -> None:
    """Go: mergepatch.ErrBadArgType."""
    with pytest.raises(ValueError, match=r"^expected a \[\]interface \{\}, but received a "):
        smp.strategic_merge_map_patch(containers(c("a")), {"spec": {ORDER: order}}, corev1.Pod)


def test_thirteen_elements_with_one_merge_key_are_paired_in_the_order_of_go_s_quicksort() -> None:
    """Go: sortMapsBasedOnField; clientgo.golang.sort has the order of thirteen equal elements and of twelve."""
    before = [{"port": 53, "nodePort": number} for number in range(13)]
    after = before[:12]
    pairs = zip([11, 10, 9, 8, 7, 0, 5, 4, 3, 2, 1, 12], range(11, -1, -1), strict=True)
    original, modified = ({"spec": {"ports": ports}} for ports in (before, after))
    patch = smp.create_two_way_merge_map_patch(original, modified, corev1.Service)
    assert patch["spec"]["ports"] == [
        *({"port": 53, "nodePort": new} for old, new in pairs if old != new),
        {"port": 53, "$patch": "delete"},
    ]


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        (["b", "a"], ["b", "a"], {"$setElementOrder/finalizers": ["b", "a"]}),
        (["a", "b"], ["a", "b"], {}),
        (["c", "a", "b"], ["a", "b", "c"], {}),
        (["a", "b"], ["b", "a"], {"$setElementOrder/finalizers": ["b", "a"]}),
        (["g", "h", "f", "f"], [], {"$deleteFromPrimitiveList/finalizers": ["f", "h", "g"]}),
    ],
)
def test_go_compares_a_list_of_scalars_after_it_has_sorted_the_old_one(before: Any, after: Any, patch: Any) -> None:
    """Patches of Go 1.27 with v0.36. Go deduplicates by moving the last element to the duplicate's place."""
    made = smp.create_two_way_merge_patch(
        json.dumps({"metadata": {"finalizers": before}}), json.dumps({"metadata": {"finalizers": after}}), corev1.Pod
    )
    assert json.loads(made) == ({"metadata": patch} if patch else {})


def test_of_ports_with_equal_numbers_the_last_one_conflicts() -> None:
    """Go puts the elements of both patches into maps by their merge keys, in which the last one wins."""
    shared = [
        {"name": "b", "port": 80, "protocol": "TCP"},
        {"port": 80, "targetPort": 1},
        {"port": 80, "protocol": "TCP"},
    ]
    text = {"port": 80, "targetPort": "x"}
    original, current = [*shared, text], [*shared, {"port": 80, "targetPort": "z"}]
    modified = [*shared, {"port": 80, "targetPort": 1}, text]
    documents = (json.dumps({"spec": {"ports": ports}}) for ports in (original, modified, current))
    schema = smp.new_patch_meta_from_struct(corev1.Service)
    patch = json.loads(smp.create_three_way_merge_patch(*documents, schema, False))
    assert patch["spec"]["ports"] == [
        {"name": "b", "port": 80, "protocol": "TCP", "targetPort": 1},
        {"port": 80, "targetPort": None},
        {"name": None, "port": 80, "protocol": None},
    ]


@pytest.mark.parametrize(
    ("original", "patch", "message"),
    [
        ({}, {"$patch": None}, "unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]"),
        ({}, {"$patch": 1}, "unknown patch type: %!s(int64=1) in map: map[$patch:1]"),
        ({}, {"$patch": True}, "unknown patch type: %!s(bool=true) in map: map[$patch:true]"),
        ({}, {"$patch": {}}, "unknown patch type: map[] in map: map[$patch:map[]]"),
        (
            {"spec": {}},
            {"spec": {"$setElementOrder/nope": []}},
            'unable to find api field in struct PodSpec for the json field "nope"',
        ),
        (
            {"metadata": {"labels": {}}},
            {"metadata": {"labels": {"$setElementOrder/x": []}}},
            "merging an object in json but data type is not struct, instead is: map",
        ),
        (
            {"spec": {"tolerations": []}},
            {"spec": {"$deleteFromPrimitiveList/tolerations": [{"key": "a"}]}},
            "cannot merge lists without merge key for struct",
        ),
        (containers(c("a")), {"spec": {"$setElementOrder/containers": ["x"]}}, "value for key 0 is not a map"),
        ({"spec": {}}, containers(**{"$setElementOrder/containers": ["x"]}), "no elements in any of the given slices"),
        (
            containers({"noKey": 1}),
            containers({"$patch": "replace"}, c("a"), **{"$setElementOrder/containers": []}),
            "map: map[noKey:1] does not contain declared merge key: name",
        ),
        (containers(c("a")), containers([]), "list element types are not identical: [[map[name:a]] [[]]]"),
        (containers([]), containers(c("a")), "lists of lists are not supported"),
    ],
)
def test_a_directive_is_refused_in_gos_words(original: Any, patch: Any, message: str) -> None:
    """The texts of Go's strategicpatch v0.36, in the order of its checks."""
    with pytest.raises(ValueError) as err:
        smp.strategic_merge_map_patch(original, patch, corev1.Pod)
    assert str(err.value) == message


@pytest.mark.parametrize("directive", ["unknown", "merge", True, 1])
def test_a_directive_below_an_absent_field_only_removes_what_contains_it(directive: Any) -> None:
    """Go: removeDirectives. Only a directive for a field that the document has is checked."""
    patch = {"spec": {"securityContext": {"$patch": directive}, "containers": [c("a", **{"$patch": directive})]}}
    assert smp.strategic_merge_map_patch({"spec": {}}, patch, corev1.Pod) == {"spec": {"containers": []}}
    with pytest.raises(ValueError):
        smp.strategic_merge_map_patch({"spec": {"securityContext": {}}}, patch, corev1.Pod)
