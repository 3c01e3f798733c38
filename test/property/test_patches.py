"""A patch made of two documents turns the one into the other, for random documents of a Pod."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import jsonmergepatch
from clientgo.apimachinery.util import strategicpatch as smp

TEXTS = st.sampled_from(["a", "b", "c", ""])
NAMES = st.sampled_from(["n1", "n2", "n3", "n4"])
MAPS = st.dictionaries(st.sampled_from(["k1", "k2", "k3"]), TEXTS, max_size=3)


def maybe(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with some of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


def named(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """A list of objects with different names."""
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
    assert smp.create_two_way_merge_map_patch(document, json.loads(json.dumps(document)), corev1.Pod) == {}
    assert jsonmergepatch.create_merge_patch(document, json.loads(json.dumps(document))) == {}


@given(PODS, PODS)
def test_applying_a_patch_twice_changes_nothing_more(original: Any, modified: Any) -> None:
    patch = smp.create_two_way_merge_map_patch(original, modified, corev1.Pod)
    once = smp.strategic_merge_map_patch(original, patch, corev1.Pod)
    assert without_empty(smp.strategic_merge_map_patch(once, patch, corev1.Pod)) == without_empty(once)


@given(PODS, PODS)
def test_three_documents_lead_to_the_wanted_one_when_nobody_else_changed_anything(original: Any, modified: Any) -> None:
    texts = [json.dumps(each) for each in (original, modified, original)]
    patch = smp.create_three_way_merge_patch(texts[0], texts[1], texts[2], SCHEMA, False)
    merged = smp.strategic_merge_map_patch(original, json.loads(patch), corev1.Pod)
    assert without_empty(merged) == without_empty(modified)


@given(PODS, PODS)
def test_a_json_merge_patch_leads_from_one_document_to_the_other(original: Any, modified: Any) -> None:
    patch = jsonmergepatch.create_merge_patch(original, modified)
    assert jsonmergepatch.merge_patch(original, patch) == modified


def without_empty(value: Any) -> Any:
    """A merge cannot tell an empty list or object from an absent one, and no typed reader can."""
    if isinstance(value, dict):
        kept = {key: without_empty(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in ({}, [])}
    if isinstance(value, list):
        return [without_empty(each) for each in value]
    return value
