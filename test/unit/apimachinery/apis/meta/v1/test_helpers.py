"""Label selectors of the API, what an update of the status may not touch, controllers, conversions of parameters."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionKind


def selector(labels: dict[str, str], operator: str = "", *values: str) -> metav1.LabelSelector:
    expressions = [metav1.LabelSelectorRequirement(key="baz", operator=operator, values=list(values))] * bool(operator)
    return metav1.LabelSelector(match_labels=labels, match_expressions=expressions)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (selector({}), ""),
        (selector({"foo": "bar"}), "foo=bar"),
        (selector({}, "In", "qux", "norf"), "baz in (norf,qux)"),
        (selector({"foo": "bar"}, "In", "qux", "norf"), "baz in (norf,qux),foo=bar"),
        (selector({}, "NotIn", "a"), "baz notin (a)"),
        (selector({}, "Exists"), "baz"),
        (selector({}, "DoesNotExist"), "!baz"),
    ],
)
def test_a_selector_of_the_api_demands_labels_and_expressions(given: metav1.LabelSelector, text: str) -> None:
    """Go: TestLabelSelectorAsSelector."""
    before = given.deep_copy()
    found = metav1.label_selector_as_selector(given)
    assert str(found) == text and given == before and found.empty() is (text == "")


def test_no_selector_selects_nothing_and_a_broken_one_is_refused() -> None:
    """Go: TestLabelSelectorAsSelector."""
    assert (
        not metav1.label_selector_as_selector(None).matches({}) and not metav1.label_selector_as_selector(None).empty()
    )
    for broken in (selector({}, "Exists", "qux"), selector({}, "In"), selector({}, "Odd", "x")):
        with pytest.raises(Exception, match="values|not a valid label selector operator"):
            metav1.label_selector_as_selector(broken)


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (None, {}),
        (selector({"foo": "bar"}), {"foo": "bar"}),
        (selector({"foo": "bar"}, "In", "norf"), {"foo": "bar", "baz": "norf"}),
        (selector({}, "In", "norf"), {"baz": "norf"}),
    ],
)
def test_a_selector_of_exact_values_is_a_map(given: metav1.LabelSelector | None, labels: dict[str, str]) -> None:
    """Go: TestLabelSelectorAsMap."""
    assert metav1.label_selector_as_map(given) == labels


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (selector({"foo": "bar"}, "In", "norf", "qux"), "without a single value cannot be converted"),
        (selector({"foo": "bar"}, "In"), "without a single value cannot be converted"),
        (selector({}, "NotIn", "norf"), 'operator "NotIn" cannot be converted'),
        (selector({"foo": "bar"}, "Exists"), 'operator "Exists" cannot be converted'),
        (selector({}, "DoesNotExist"), 'operator "DoesNotExist" cannot be converted'),
        (selector({}, "Odd"), '"Odd" is not a valid selector operator'),
    ],
)
def test_a_selector_that_demands_more_is_no_map(given: metav1.LabelSelector, text: str) -> None:
    """Go: TestLabelSelectorAsMap."""
    with pytest.raises(ValueError, match=text):
        metav1.label_selector_as_map(given)


def test_a_label_is_added_to_a_copy_or_in_place() -> None:
    """Go: TestCloneSelectorAndAddLabel, TestAddLabelToSelector."""
    first = selector({"foo": "bar"}, "Exists")
    copy = metav1.clone_selector_and_add_label(first, "key", "value")
    assert copy.match_labels == {"foo": "bar", "key": "value"} and first.match_labels == {"foo": "bar"}
    assert copy.match_expressions == first.match_expressions
    assert metav1.clone_selector_and_add_label(first, "", "value") == first
    assert metav1.add_label_to_selector(first, "key", "value") is first and first.match_labels["key"] == "value"
    assert metav1.add_label_to_selector(selector({}), "", "value").match_labels == {}
    assert metav1.selector_has_label(first, "key") and not metav1.selector_has_label(first, "other")


def test_a_label_is_set_beside_the_others() -> None:
    """Go: TestSetMetaDataLabel."""
    meta = metav1.ObjectMeta()
    for label, value, labels in (("a", "1", {"a": "1"}), ("a", "2", {"a": "2"}), ("b", "3", {"a": "2", "b": "3"})):
        metav1.set_meta_data_label(meta, label, value)
        assert meta.labels == labels and metav1.has_label(meta, label)


MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
KEPT = {"deletionTimestamp", "generation", "selfLink", "labels", "annotations", "finalizers", "ownerReferences"}


def test_an_update_of_the_status_changes_no_metadata_but_the_managed_fields() -> None:
    """Go: TestResetObjectMetaForStatus."""
    existing = metav1.ObjectMeta(
        name="n",
        generate_name="g",
        namespace="ns",
        uid="u",
        resource_version="7",
        generation=3,
        self_link="/x",
        creation_timestamp=MOMENT,
        deletion_timestamp=MOMENT,
        deletion_grace_period_seconds=5,
        labels={"a": "b"},
        annotations={"a": "b"},
        finalizers=["f"],
        owner_references=[metav1.OwnerReference(name="o", uid="1")],
        managed_fields=[metav1.ManagedFieldsEntry(manager="m")],
    )
    meta = metav1.ObjectMeta()
    metav1.reset_object_meta_for_status(meta, existing)
    assert meta.to_dict() == {name: value for name, value in existing.to_dict().items() if name in KEPT}


def test_a_reference_to_a_controller_names_it_and_blocks_its_deletion() -> None:
    """Go: TestNewControllerRef."""
    owner = corev1.Pod(metadata=metav1.ObjectMeta(name="name", uid="uid1"))
    ref = metav1.new_controller_ref(owner, GroupVersionKind("group", "v1", "Kind"))
    assert (ref.api_version, ref.kind, ref.name, ref.uid) == ("group/v1", "Kind", "name", "uid1")
    assert (ref.controller, ref.block_owner_deletion) == (True, True)


def test_the_controller_is_the_one_owner_that_says_so() -> None:
    """Go: TestGetControllerOf, TestIsControlledBy."""
    owner = corev1.Pod(metadata=metav1.ObjectMeta(name="owner", uid="1"))
    other = corev1.Pod(metadata=metav1.ObjectMeta(name="other", uid="2"))
    refs = [
        metav1.OwnerReference(name="first", uid="0"),
        metav1.OwnerReference(name="not", uid="2", controller=False),
        metav1.new_controller_ref(owner, GroupVersionKind("", "v1", "Pod")),
    ]
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="p", owner_references=refs))
    found = metav1.get_controller_of(pod)
    assert found is not None and found.name == "owner"
    assert metav1.is_controlled_by(pod, owner) and not metav1.is_controlled_by(pod, other)
    assert metav1.get_controller_of(owner) is None and not metav1.is_controlled_by(owner, pod)


@pytest.mark.parametrize("labels", [{}, {"one": "foo"}, {"one": "foo", "two": "bar"}])
def test_labels_survive_a_selector(labels: dict[str, str]) -> None:
    """Go: TestMapToLabelSelectorRoundTrip."""
    made = metav1.convert_map_string_to_string_to_v1_label_selector(labels)
    assert metav1.convert_v1_label_selector_to_map_string_to_string(made) == labels


@pytest.mark.parametrize(("values", "policy"), [([], None), (["foo"], "foo"), (["bar", "foo"], "bar")])
def test_of_several_policies_the_first_counts(values: list[str], policy: str | None) -> None:
    """Go: TestConvertSliceStringToDeletionPropagation."""
    assert metav1.convert_slice_string_to_pointer_v1_deletion_propagation(values) == policy


@pytest.mark.parametrize(
    ("values", "moment"),
    [([], None), ([""], None), (["2026-01-01T00:00:00Z"], MOMENT), (["2026-01-01T00:00:00Z", "x"], MOMENT)],
)
def test_of_several_times_the_first_counts(values: list[str], moment: datetime | None) -> None:
    """Go: TestConvertSliceStringToPointerTime."""
    assert metav1.convert_slice_string_to_pointer_v1_time(values) == moment


def test_a_patch_takes_every_option_of_an_update() -> None:
    """Go: TestPatchOptionsIsSuperSetOfUpdateOptions."""

    def fields(cls: type) -> set[str]:
        return {
            name for each in cls.__mro__ for name in getattr(each, "__annotations__", {}) if not name.startswith("_")
        }

    assert {"dry_run", "field_manager", "field_validation"} <= fields(metav1.UpdateOptions)
    assert fields(metav1.UpdateOptions) <= fields(metav1.PatchOptions)


def test_the_verbs_of_a_resource_are_always_written() -> None:
    """Go: TestVerbsMarshalJSON, TestVerbsUnmarshalJSON, TestVerbsJsonIterUnmarshalJSON, TestVerbsProto."""
    for document in ({"verbs": []}, {"verbs": ["delete"]}):
        resource = metav1.APIResource.from_dict(document)
        assert list(resource.verbs) == document["verbs"] and resource.to_dict() == document
    for document in ({}, {"verbs": None}):
        assert list(metav1.APIResource.from_dict(document).verbs) == []


def test_a_text_becomes_labels_and_expressions() -> None:
    """Go: ParseToLabelSelector."""
    selector = metav1.parse_to_label_selector("a=1,b==2,c in (y,x),d notin (z),e,!f")
    assert dict(selector.match_labels) == {"a": "1", "b": "2"}
    assert [(each.key, each.operator, list(each.values)) for each in selector.match_expressions] == [
        ("c", "In", ["x", "y"]),
        ("d", "NotIn", ["z"]),
        ("e", "Exists", []),
        ("f", "DoesNotExist", []),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a>1", '"gt" isn\'t supported in label selectors'),
        ("a<1", '"lt" isn\'t supported in label selectors'),
        ("a!=1", '"!=" is not a valid label selector operator'),
        ("a in", 'couldn\'t parse the selector string "a in": '),
    ],
)
def test_a_text_that_no_label_selector_can_say_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        metav1.parse_to_label_selector(text)


def test_one_object_is_watched_from_its_version_on() -> None:
    """Go: SingleObject."""
    options = metav1.single_object(metav1.ObjectMeta(name="web", resource_version="7"))
    assert (options.field_selector, options.resource_version) == ("metadata.name=web", "7")


@pytest.mark.parametrize(
    ("fields", "found"),
    [({}, False), ({"name": "a"}, False), ({"uid": "u"}, True), ({"creation_timestamp": MOMENT}, True)],
)
def test_fields_that_only_the_server_sets_are_found(fields: dict[str, Any], found: bool) -> None:
    """Go: HasObjectMetaSystemFieldValues."""
    assert metav1.has_object_meta_system_field_values(metav1.ObjectMeta(**fields)) is found


def test_small_helpers_of_objects_and_options() -> None:
    assert metav1.set_as_label_selector(None) is None
    assert metav1.set_as_label_selector({"a": "b"}).to_dict() == {"matchLabels": {"a": "b"}}
    meta = metav1.ObjectMeta()
    assert not metav1.has_annotation(meta, "a")
    metav1.set_meta_data_annotation(meta, "a", "1")
    assert metav1.has_annotation(meta, "a") and meta.to_dict() == {"annotations": {"a": "1"}}
    assert metav1.new_precondition_delete_options("u").to_dict() == {"preconditions": {"uid": "u"}}
    assert metav1.new_uid_preconditions("u").to_dict() == {"uid": "u"}
    assert metav1.new_rv_deletion_precondition("7").to_dict() == {"preconditions": {"resourceVersion": "7"}}
    groups = metav1.APIGroupList.from_dict(
        {"groups": [{"name": "apps", "versions": [{"groupVersion": "apps/v1"}, {"groupVersion": "apps/v1beta1"}]}]}
    )
    assert metav1.extract_group_versions(groups) == ["apps/v1", "apps/v1beta1"]
