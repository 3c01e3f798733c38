"""A patch made of two documents turns the one into the other, for random documents of a Pod."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import jsonmergepatch
from clientgo.apimachinery.util import strategicpatch as smp
from clientgo.golang import sort as gosort

TEXTS = st.sampled_from(["a", "b", "c", ""])
NAMES = st.sampled_from(["n1", "n2", "n3", "n4"])
MAPS = st.dictionaries(st.sampled_from(["k1", "k2", "k3"]), TEXTS, max_size=3)


def maybe(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return an object with some of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


def named(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return a list of objects with different names."""
    item = st.fixed_dictionaries({"name": NAMES}, optional=fields)
    return st.lists(item, max_size=4, unique_by=lambda each: each["name"])


PORTS = st.lists(
    st.fixed_dictionaries({"containerPort": st.integers(1, 4)}, optional={"protocol": st.sampled_from(["TCP", "UDP"])}),
    max_size=3,
    unique_by=lambda each: each["containerPort"],
)
CONTAINERS = named(image=TEXTS, env=named(value=TEXTS), ports=PORTS, args=st.lists(TEXTS, max_size=3))
PODS = maybe(
    metadata=maybe(name=NAMES, labels=MAPS, annotations=MAPS, finalizers=st.lists(NAMES, max_size=4, unique=True)),
    spec=maybe(
        containers=CONTAINERS,
        nodeSelector=MAPS,
        hostNetwork=st.booleans(),
        activeDeadlineSeconds=st.integers(0, 3),
        volumes=named(emptyDir=maybe(medium=TEXTS), configMap=maybe(name=NAMES)),
        tolerations=st.lists(maybe(key=NAMES), max_size=2),
    ),
)
SCHEMA = smp.new_patch_meta_from_struct(corev1.Pod)


@given(PODS, PODS)
def test_a_strategic_merge_patch_leads_from_one_document_to_the_other(original: Any, modified: Any) -> None:
    before = json.dumps([original, modified])
    patch = smp.create_two_way_merge_map_patch(original, modified, corev1.Pod)
    merged = smp.strategic_merge_map_patch(original, patch, corev1.Pod)
    assert without_empty(merged) == without_empty(modified)
    assert json.dumps([original, modified]) == before, "the documents given were changed"


@given(PODS)
def test_equal_documents_need_no_patch(document: Any) -> None:
    """Go sorts the old finalizers in place and then compares: unsorted ones keep their order by a directive."""
    finalizers = document.get("metadata", {}).get("finalizers") or []
    order = {"metadata": {"$setElementOrder/finalizers": finalizers}} if finalizers != sorted(finalizers) else {}
    assert smp.create_two_way_merge_map_patch(document, json.loads(json.dumps(document)), corev1.Pod) == order
    assert jsonmergepatch.create_merge_patch(document, json.loads(json.dumps(document))) == {}


@given(PODS, PODS)
def test_applying_a_patch_twice_changes_nothing_more(original: Any, modified: Any) -> None:
    patch = smp.create_two_way_merge_map_patch(original, modified, corev1.Pod)
    once = smp.strategic_merge_map_patch(original, patch, corev1.Pod)
    assert without_empty(smp.strategic_merge_map_patch(once, patch, corev1.Pod)) == without_empty(once)


@given(PODS, PODS)
def test_a_three_way_merge_without_other_changes_gives_the_wanted_document(original: Any, modified: Any) -> None:
    texts = [json.dumps(each) for each in (original, modified, original)]
    patch = smp.create_three_way_merge_patch(texts[0], texts[1], texts[2], SCHEMA, False)
    merged = smp.strategic_merge_map_patch(original, json.loads(patch), corev1.Pod)
    assert without_empty(merged) == without_empty(modified)


@given(PODS, PODS)
def test_a_json_merge_patch_leads_from_one_document_to_the_other(original: Any, modified: Any) -> None:
    patch = jsonmergepatch.create_merge_patch(original, modified)
    assert jsonmergepatch.merge_patch(original, patch) == modified


def without_empty(value: Any) -> Any:
    """Return the value without empty lists and objects, which neither a merge nor a typed reader distinguishes from
    absent ones.
    """
    if isinstance(value, dict):
        kept = {key: without_empty(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in ({}, [])}
    if isinstance(value, list):
        return [without_empty(each) for each in value]
    return value


SERVICE_PORTS = st.lists(
    st.fixed_dictionaries(
        {"port": st.sampled_from([53, 80, 443])},
        optional={
            "protocol": st.sampled_from(["TCP", "UDP"]),
            "name": st.sampled_from(["a", "b"]),
            "nodePort": st.integers(1, 2),
        },
    ),
    max_size=16,
)


def in_go_s_order(ports: list[Any]) -> list[Any]:
    keyed = [(str(port["port"]), port) for port in ports]
    gosort.sort(keyed, lambda one, other: one[0] <= other[0])
    return [port for _, port in keyed]


def model_of_patch(before: list[Any], after: list[Any]) -> list[Any]:
    """Go's diffListsOfMaps for flat elements: the lists side by side, sorted by port; deletions come last."""
    left, right = in_go_s_order(before), in_go_s_order(after)
    changes: list[Any] = []
    deletions: list[Any] = []
    while left or right:
        if left and right and left[0]["port"] == right[0]["port"]:
            old, new = left.pop(0), right.pop(0)
            change = {key: value for key, value in new.items() if old.get(key) != value}
            change |= {key: None for key in old if key not in new}
            if change:
                changes.append(change | {"port": new["port"]})
        elif not left or (right and str(right[0]["port"]) < str(left[0]["port"])):
            changes.append(right.pop(0))
        else:
            deletions.append({"port": left.pop(0)["port"], "$patch": "delete"})
    first = [port["port"] for port in after]
    return sorted(changes, key=lambda change: first.index(change["port"])) + deletions


def model_of_result(before: list[Any], changes: list[Any], order: list[int]) -> list[Any] | None:
    """Go's mergeSlice and the order for flat elements; None where the patch contradicts its own order."""
    plain = [change for change in changes if "$patch" not in change]
    positions = iter(order)
    if order and not all(any(port == change["port"] for port in positions) for change in plain):
        return None
    gone = {change["port"] for change in changes if "$patch" in change}
    merged = [dict(port) for port in before if port["port"] not in gone]
    for change in plain:
        present = next((port for port in merged if port["port"] == change["port"]), None)
        if present is None:
            merged.append(dict(change))
        else:
            for key, value in change.items():
                if value is None:
                    present.pop(key, None)
                else:
                    present[key] = value
    return sorted(merged, key=lambda port: order.index(port["port"]))


@given(SERVICE_PORTS.filter(bool), SERVICE_PORTS.filter(bool))
def test_elements_that_share_their_merge_key_are_paired_and_merged_as_go_does(before: Any, after: Any) -> None:
    """The model is Go's algorithm for flat elements; test/golden holds what Go itself answered."""
    original, modified = ({"spec": {"ports": ports}} for ports in (before, after))
    patch = smp.create_two_way_merge_map_patch(original, modified, corev1.Service)
    changes = model_of_patch(before, after)
    assert patch.get("spec", {}).get("ports", []) == changes
    order = [port["port"] for port in after]
    assert bool(patch) == bool(changes or order != [port["port"] for port in before])
    if not patch:
        return
    expected = model_of_result(before, changes, order)
    if expected is None:
        with pytest.raises(ValueError, match="The order in patch list"):
            smp.strategic_merge_map_patch(original, patch, corev1.Service)
        return
    assert smp.strategic_merge_map_patch(original, patch, corev1.Service) == {"spec": {"ports": expected}}
