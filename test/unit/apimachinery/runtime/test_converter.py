"""Objects as Go's structs would be decoded and encoded."""

from __future__ import annotations

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.converter import drop_unknown_fields, to_go_document


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
    entry = {"manager": "m", "fieldsV1": {"f:any": {".": {}}}}
    obj = corev1.Pod.from_dict({"metadata": {"managedFields": [entry]}})
    drop_unknown_fields(obj)
    assert obj.to_dict() == {"metadata": {"managedFields": [entry]}}


def test_go_writes_structs_also_when_they_are_empty() -> None:
    document = to_go_document(appsv1.Deployment.from_dict({"metadata": {"name": "a"}, "unheard": 1}))
    assert document["metadata"] == {"name": "a"}
    assert document["status"] == {}
    assert document["spec"]["strategy"] == {}
    assert "unheard" not in document
    assert "replicas" not in document["spec"]
