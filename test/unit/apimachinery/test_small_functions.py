"""Functions of apimachinery that nothing in the library calls: programs ported from Go do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from clientgo import klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.api.validate import content
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.error import new_not_registered_gvk_err_for_target
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.util import mergepatch, strategicpatch
from clientgo.apimachinery.util.validation import is_env_var_name

POD = GroupVersionKind("", "v1", "Pod")


def test_a_precondition_of_a_patch_names_the_key_of_the_metadata() -> None:
    keeps_name = mergepatch.require_metadata_key_unchanged("name")
    assert not keeps_name({"metadata": {"name": "b"}})
    assert (
        keeps_name({"metadata": {"labels": {}}})
        and keeps_name({"metadata": None})
        and keeps_name({})
        and keeps_name([])
    )
    error = mergepatch.new_err_precondition_failed({"metadata": {"name": "b"}})
    assert mergepatch.is_precondition_failed(error)
    assert not mergepatch.is_precondition_failed(ValueError()) and not mergepatch.is_precondition_failed(None)


def test_strategic_patches_are_combined_into_one() -> None:
    schema = strategicpatch.new_patch_meta_from_struct(corev1.Pod)
    first = {"metadata": {"labels": {"a": "1"}}}
    combined = strategicpatch.merge_strategic_merge_map_patch_using_lookup_patch_meta(
        schema, first, {"metadata": {"labels": {"b": None}}}, {"metadata": {"labels": {"a": "2"}}}
    )
    assert combined == {"metadata": {"labels": {"a": "2", "b": None}}}
    assert first == {"metadata": {"labels": {"a": "1"}}}, "the patches are not changed"
    assert strategicpatch.item_removed_from_modified_slice("a", "b")
    assert not strategicpatch.item_removed_from_modified_slice("b", "b")


@pytest.mark.parametrize("name", ["A", "_a.b-c", "MyEnvName1"])
def test_a_name_of_an_environment_variable(name: str) -> None:
    assert is_env_var_name(name) == []


@pytest.mark.parametrize("name", ["", "1a", "a b", "a=b", "é"])
def test_no_name_of_an_environment_variable(name: str) -> None:
    [error] = is_env_var_name(name)
    assert error.startswith("a valid environment variable name must consist of alphabetic characters, digits, '_', '-'")


def test_a_name_of_a_parent_folder_is_no_environment_variable() -> None:
    assert is_env_var_name("..a")[-1] == "must not start with '..'"


def test_a_scheme_keeps_defaults_and_labels_of_a_kind() -> None:
    scheme = Scheme()
    scheme.add_known_type_with_name(POD, corev1.Pod)

    def name_it(pod: corev1.Pod) -> None:
        pod.metadata.name = pod.metadata.name or "default"

    def only_the_name(label: str, value: str) -> tuple[str, str]:
        if label != "spec.nodeName":
            raise ValueError(f"unknown label {label}")
        return label, value

    scheme.add_type_defaulting_func(corev1.Pod, name_it)
    scheme.add_field_label_conversion_func(POD, only_the_name)
    pod = corev1.Pod()
    scheme.default(pod)
    assert pod.metadata.name == "default"
    assert scheme.convert_field_label(POD, "spec.nodeName", "n") == ("spec.nodeName", "n")
    with pytest.raises(ValueError, match="unknown label status"):
        scheme.convert_field_label(POD, "status", "n")


def test_the_error_of_a_kind_that_does_not_fit() -> None:
    error = new_not_registered_gvk_err_for_target("s", POD, "apps/v1")
    assert str(error) == '"/v1, Kind=Pod" is not suitable for converting to "apps/v1" in scheme "s"'


def test_watchers_take_a_logger() -> None:
    logger = klog.background().with_name("mine")
    fake = watch.new_race_free_fake_with_logger(logger)
    fake.add(corev1.Pod())
    event, is_open = fake.result_chan().receive(10)
    assert is_open and event is not None and event.type == watch.EventType.ADDED
    fake.stop()


def test_the_items_of_a_list_are_a_view() -> None:
    pods = corev1.PodList(items=[corev1.Pod()])
    meta.get_items_ptr(pods)[0].metadata.name = "a"
    assert pods.items[0].metadata.name == "a"
    with pytest.raises(TypeError):
        meta.get_items_ptr(corev1.Pod())


def test_texts_of_limits() -> None:
    assert content.min_error(1) == "must be greater than or equal to 1"
    assert content.max_error(5) == "must be less than or equal to 5"
    assert (content.neq_error("a"), content.neq_error(3)) == ('must not be equal to "a"', "must not be equal to 3")


def test_times_of_queries_and_microseconds() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    assert metav1.Time.of(at).marshal_query_parameter() == "2026-01-02T03:04:05Z"
    assert metav1.Time.of(datetime(1, 1, 1, tzinfo=UTC)).marshal_query_parameter() == ""
    assert metav1.new_micro_time(at).marshal_json() == '"2026-01-02T03:04:05.678901Z"'
    assert abs((metav1.now_micro() - datetime.now(UTC)).total_seconds()) < 3600


def test_a_number_in_a_document_is_a_float64_only_if_it_has_that_type() -> None:
    document: dict[str, Any] = {"a": {"b": 1.5, "c": 1}}
    assert unstructured.nested_float64(document, "a", "b") == (1.5, True)
    assert unstructured.nested_float64(document, "a", "x") == (0.0, False)
    with pytest.raises(TypeError, match=r"\.a\.c accessor error: 1 is of the type int64, expected float64"):
        unstructured.nested_float64(document, "a", "c")


def test_an_event_of_a_watch_has_a_wire_form() -> None:
    event = metav1.InternalEvent(watch.EventType.ADDED, corev1.Pod(metadata=metav1.ObjectMeta(name="a")))
    sent = metav1.convert_v1_internal_event_to_v1_watch_event(event)
    assert sent.type == "ADDED"
    again = metav1.convert_v1_watch_event_to_v1_internal_event(sent)
    assert (again.type, again.object["metadata"]["name"]) == (watch.EventType.ADDED, "a")
