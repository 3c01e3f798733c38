"""Objects as Go's structs would be decoded and encoded."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import timestamps
from clientgo.apimachinery.runtime.converter import drop_unknown_fields, to_go_document
from clientgo.kubernetes.scheme import CODECS


def test_what_a_class_does_not_declare_and_nulls_are_dropped_at_any_depth() -> None:
    obj = appsv1.Deployment.from_dict(
        {
            "unheard": 1,
            "metadata": {"name": "a", "labels": {"any": "label"}, "unheard": {}},
            "spec": {
                "replicas": None,
                "template": {"spec": {"containers": [{"name": "c", "unheard": [1], "image": None}]}},
            },
        }
    )
    drop_unknown_fields(obj)
    assert obj.to_dict() == {
        "metadata": {"name": "a", "labels": {"any": "label"}},
        "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}},
    }


def test_fields_that_hold_any_json_keep_it() -> None:
    """Go: TestFieldsV1MarshalJSON, TestFieldsV1UnmarshalJSON."""
    entry = {"manager": "m", "fieldsV1": {"f:any": {".": {}}}}
    obj = corev1.Pod.from_dict({"metadata": {"managedFields": [entry]}})
    drop_unknown_fields(obj)
    assert obj.to_dict() == {"metadata": {"managedFields": [entry]}}


def test_go_writes_structs_also_when_they_are_empty() -> None:
    """And no time that is not set. Go: TestOmitempty, TestOmitZero, TestOmitEmptyZero."""
    document = to_go_document(appsv1.Deployment.from_dict({"metadata": {"name": "a"}, "unheard": 1}))
    assert document["metadata"] == {"name": "a"}
    assert document["status"] == {}
    assert document["spec"]["strategy"] == {}
    assert "unheard" not in document
    assert "replicas" not in document["spec"]


def test_go_leaves_out_what_is_empty_where_it_may() -> None:
    """Go: TestMarshalJSONWithOmit."""
    assert to_go_document(metav1.LabelSelector(match_expressions=[], match_labels={})) == {}
    assert to_go_document(metav1.LabelSelector(match_labels={"a": ""})) == {"matchLabels": {"a": ""}}


def test_values_with_a_form_of_their_own_are_plain_in_a_document() -> None:
    """Go: TestCustomToUnstructured."""
    spec = {"ports": [{"port": 1, "targetPort": "web"}, {"port": 2, "targetPort": 3}]}
    service = corev1.Service.from_dict({"metadata": {"creationTimestamp": "2026-01-02T03:04:05Z"}, "spec": spec})
    service.spec.ports[0].target_port = 7
    document = runtime.DEFAULT_UNSTRUCTURED_CONVERTER.to_unstructured(service)
    assert [port["targetPort"] for port in document["spec"]["ports"]] == [7, 3]
    assert document["metadata"]["creationTimestamp"] == "2026-01-02T03:04:05Z"


@pytest.mark.parametrize("data", [{"foo": "bar"}, {}, None, {"kind": "OtherTest", "apiVersion": "x/v1"}])
def test_an_object_inside_another_stays_the_json_it_is(data: Any) -> None:
    """Go: TestEmbeddedRawExtensionMarshal, TestEmbeddedRawExtensionUnmarshal, TestEmbeddedRawExtensionRoundTrip,
    TestNestedObject, TestDecodeEmptyRawExtensionAsObject, TestDeepCopyOfRuntimeObject.
    """
    serializer = CODECS.supported_media_types()[0].serializer
    outer = appsv1.ControllerRevision.from_dict({"metadata": {"name": "a"}, "data": data, "revision": 1})
    assert json.loads(serializer.encode(outer))["data"] == data
    found, _ = serializer.decode(serializer.encode(outer))
    assert isinstance(found, appsv1.ControllerRevision)
    assert found.to_dict()["data"] == data
    copy = outer.deep_copy()
    assert copy == outer
    copy.data = {"changed": True}
    assert outer.to_dict()["data"] == data


def test_a_time_before_the_year_1000_has_four_digits_for_its_year() -> None:
    moment = datetime(99, 1, 2, 3, 4, 5, 6, tzinfo=UTC)

    assert timestamps.format_time(moment) == "0099-01-02T03:04:05Z"
    assert timestamps.format_micro_time(moment) == "0099-01-02T03:04:05.000006Z"
    assert timestamps.parse_micro_time(timestamps.format_micro_time(moment)) == moment
