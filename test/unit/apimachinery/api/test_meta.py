"""Accessors, list helpers, conditions and RESTMappers of clientgo.apimachinery.api.meta."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource

PODS = GroupVersionResource("", "v1", "pods")
POD = GroupVersionKind("", "v1", "Pod")
EVENTS = GroupVersionKind("events.k8s.io", "v1", "Event")
CORE_EVENTS = GroupVersionKind("", "v1", "Event")


def pod(name: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="ns"))


def test_an_object_is_its_own_accessor() -> None:
    """Go: TestAPIObjectMeta, TestGenericTypeMeta."""
    one = pod("a")
    assert meta.accessor(one) is one
    assert meta.new_accessor().name(one) == "a"
    with pytest.raises(TypeError, match="object does not implement the Object interfaces"):
        meta.accessor("text")
    with pytest.raises(TypeError, match="object does not implement the List interfaces"):
        meta.list_accessor(one)


def test_type_and_labels_are_read_and_written_through_the_accessor() -> None:
    """Go: TestGenericTypeMeta."""
    accessor, one = meta.new_accessor(), pod("a")
    accessor.set_api_version(one, "v1")
    accessor.set_kind(one, "Pod")
    accessor.set_labels(one, {"a": "b"})
    assert (accessor.api_version(one), accessor.kind(one), accessor.labels(one)) == ("v1", "Pod", {"a": "b"})


def test_partial_metadata_shares_nothing() -> None:
    """Go: TestAsPartialObjectMetadata."""
    one = pod("a")
    partial = meta.as_partial_object_metadata(one)
    one.set_name("b")
    assert partial.get_name() == "a" and partial.get_namespace() == "ns"


@pytest.mark.parametrize("make", [corev1.PodList, lambda: UnstructuredList({"items": []})])
def test_lists_of_any_kind_are_filled_and_read(make: type) -> None:
    """Go: TestIsList, TestExtractList, TestEachListItem, TestEachList, TestSetList, TestSetListToMatchingType,
    TestSetExtractListRoundTrip, TestSetListToRuntimeObjectArray.
    """
    items = make()
    assert meta.is_list_type(items) and meta.len_list(items) == 0
    meta.set_list(items, [pod("a"), pod("b")])
    assert [item.get_name() for item in meta.extract_list(items)] == ["a", "b"]
    names: list[str] = []
    meta.each_list_item(items, lambda item: names.append(item.get_name()))
    assert names == ["a", "b"] and meta.len_list(items) == 2


def test_what_is_no_list_is_refused() -> None:
    """Go: TestIsList, TestExtractListOfInterfacePtrs."""
    assert not meta.is_list_type(pod("a")) and meta.len_list(pod("a")) == 0
    for call in (meta.extract_list, lambda obj: meta.set_list(obj, [])):
        with pytest.raises(TypeError, match="is not a list"):
            call(pod("a"))
    assert [each.get_name() for each in meta.extract_list(Unstructured({"items": [{"metadata": {"name": "x"}}]}))] == [
        "x"
    ]


def test_a_condition_changes_its_transition_time_with_its_status_only() -> None:
    start, later = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    conditions: list[metav1.Condition] = []
    ready = metav1.Condition(type="Ready", status="False", reason="A", message="", last_transition_time=start)

    assert meta.set_status_condition(conditions, ready)
    assert not meta.set_status_condition(conditions, ready)
    reworded = metav1.Condition(type="Ready", status="False", reason="B", message="", last_transition_time=later)
    assert meta.set_status_condition(conditions, reworded)
    assert (conditions[0].reason, conditions[0].last_transition_time) == ("B", start)

    flipped = metav1.Condition(type="Ready", status="True", reason="B", message="", last_transition_time=later)
    assert meta.set_status_condition(conditions, flipped)
    assert conditions[0].last_transition_time == later
    assert meta.is_status_condition_true(conditions, "Ready") and not meta.is_status_condition_false(
        conditions, "Ready"
    )
    seen = metav1.Condition(type="Ready", status="True", reason="B", message="", observed_generation=7)
    assert meta.set_status_condition(conditions, seen)
    assert (conditions[0].observed_generation, conditions[0].last_transition_time) == (7, later)
    assert meta.remove_status_condition(conditions, "Ready") and not meta.remove_status_condition(conditions, "Ready")
    assert not meta.is_status_condition_true(conditions, "Ready") and not meta.is_status_condition_false(
        conditions, "Ready"
    )


def mapper(*kinds: GroupVersionKind) -> meta.DefaultRESTMapper:
    result = meta.new_default_rest_mapper([kind.group_version() for kind in kinds])
    for kind in kinds:
        result.add(kind, meta.REST_SCOPE_NAMESPACE)
    return result


def test_a_mapper_finds_resources_and_kinds_by_partial_names() -> None:
    m = mapper(POD, EVENTS)
    for name in ("pod", "pods", "Pods"):
        assert m.resource_for(GroupVersionResource(resource=name)) == PODS
        assert m.kind_for(GroupVersionResource(resource=name)) == POD
    assert m.kind_for(GroupVersionResource("events", "", "event")) == EVENTS
    assert m.resource_singularizer("pods") == "pod"
    mapping = m.rest_mapping(GroupKind("", "Pod"))
    assert (mapping.resource, mapping.scope.name()) == (PODS, meta.RESTScopeName.NAMESPACE)


def test_a_mapper_says_what_it_does_not_know() -> None:
    m = mapper(POD)
    with pytest.raises(meta.NoResourceMatchError, match="no matches for /, Resource=nothing"):
        m.resource_for(GroupVersionResource(resource="nothing"))
    with pytest.raises(meta.NoKindMatchError) as raised:
        m.rest_mapping(GroupKind("apps", "Deployment"), "v1")
    assert str(raised.value) == 'no matches for kind "Deployment" in version "apps/v1"'
    assert meta.is_no_match_error(raised.value) and not meta.is_ambiguous_error(raised.value)
    outer = RuntimeError("outer")
    outer.__cause__ = raised.value
    assert meta.is_no_match_error(outer)


def test_ambiguous_names_are_settled_by_priority() -> None:
    m = mapper(EVENTS, CORE_EVENTS)
    with pytest.raises(meta.AmbiguousResourceError) as raised:
        m.kind_for(GroupVersionResource(resource="events"))
    assert meta.is_ambiguous_error(raised.value)
    preferring = meta.PriorityRESTMapper(
        m,
        [GroupVersionResource("", meta.ANY_VERSION, meta.ANY_RESOURCE)],
        [GroupVersionKind("", meta.ANY_VERSION, meta.ANY_KIND)],
    )
    assert preferring.kind_for(GroupVersionResource(resource="events")) == CORE_EVENTS
    assert preferring.resource_for(GroupVersionResource(resource="events")).group == ""


def test_priorities_that_nothing_fits_are_passed_over_and_versions_asked_for_come_first() -> None:
    """Go: PriorityRESTMapper."""
    v1, v2 = GroupVersionKind("g", "v1", "K"), GroupVersionKind("g", "v2", "K")
    both = meta.MultiRESTMapper([mapper(v1), mapper(v2)])
    resource = GroupVersionResource(resource="ks")
    priorities = [GroupVersionKind("g", version, meta.ANY_KIND) for version in ("v9", "v2")]
    assert meta.PriorityRESTMapper(both, [], priorities).kind_for(resource) == v2
    unprioritized = meta.PriorityRESTMapper(both, [], [])
    assert unprioritized.rest_mapping(GroupKind("g", "K"), "v1", "v2").group_version_kind == v1
    with pytest.raises(meta.AmbiguousKindError):
        unprioritized.rest_mapping(GroupKind("g", "K"))


def test_one_answer_of_many_mappers_is_wanted() -> None:
    """Go: MultiRESTMapper."""
    both = meta.MultiRESTMapper([mapper(GroupVersionKind("g", version, "K")) for version in ("v1", "v2")])
    with pytest.raises(meta.AmbiguousKindError):
        both.rest_mapping(GroupKind("g", "K"))
    assert meta.MultiRESTMapper([mapper(POD), mapper(EVENTS)]).resource_singularizer("events") == "event"
    with pytest.raises(meta.NoResourceMatchError):
        both.resource_singularizer("pods")


def test_mappers_are_joined_or_asked_in_turn() -> None:
    first, second = mapper(POD), mapper(EVENTS)
    both = meta.MultiRESTMapper([first, second])
    assert both.kind_for(GroupVersionResource(resource="events")) == EVENTS
    assert len(meta.MultiRESTMapper([first, first]).kinds_for(PODS)) == 1
    with pytest.raises(meta.NoKindMatchError):
        both.rest_mapping(GroupKind("x", "Y"))
    first_hit = meta.FirstHitRESTMapper([first, second])
    assert first_hit.rest_mapping(GroupKind("events.k8s.io", "Event")).group_version_kind == EVENTS
    with pytest.raises(meta.NoResourceMatchError):
        first_hit.kind_for(GroupVersionResource(resource="nothing"))


def test_a_lazy_mapper_is_made_once() -> None:
    made: list[int] = []

    def load() -> meta.RESTMapper:
        made.append(1)
        return mapper(POD)

    lazy = meta.new_lazy_rest_mapper_loader(load)
    assert not made
    assert lazy.kind_for(PODS) == lazy.kinds_for(PODS)[0] == POD
    assert made == [1]
    meta.maybe_reset_rest_mapper(lazy)


def test_default_group_versions_order_the_answers() -> None:
    v1, v2 = GroupVersionKind("g", "v1", "K"), GroupVersionKind("g", "v2", "K")
    m = meta.new_default_rest_mapper([GroupVersion("g", "v2"), GroupVersion("g", "v1")])
    m.add(v1, meta.REST_SCOPE_ROOT)
    m.add(v2, meta.REST_SCOPE_ROOT)
    assert m.kinds_for(GroupVersionResource("g", "", "ks")) == [v2, v1]
    assert m.rest_mapping(GroupKind("g", "K"), "v1").group_version_kind == v1
    assert m.rest_mapping(GroupKind("g", "K")).group_version_kind == v2
    assert m.rest_mapping(GroupKind("g", "K"), "v9", "v1").group_version_kind == v1


def test_resources_come_by_default_group_version_and_then_by_name() -> None:
    """Go: resourceByPreferredGroupVersion. Here two resources share a singular."""
    m = meta.new_default_rest_mapper([GroupVersion("g", "v1")])
    plurals = [GroupVersionResource("g", *each) for each in (("v0", "ka"), ("v1", "kc"), ("v1", "kb"))]
    for plural in plurals:
        kind = GroupVersionKind("g", plural.version, plural.resource.title())
        m.add_specific(kind, plural, GroupVersionResource("g", plural.version, "k"), meta.REST_SCOPE_ROOT)
    assert m.resources_for(GroupVersionResource(resource="k")) == [plurals[2], plurals[1], plurals[0]]
