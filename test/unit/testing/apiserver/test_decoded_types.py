"""Values of the Go types as the server decodes them: what is refused, and what null and lists become."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.kinds import patchrules, schema

Json = dict[str, Any]
DEFINITIONS = "apiextensions.k8s.io/v1"


def decoded(group_version: str, kind: str, obj: Json) -> Json:
    struct = schema.kind_struct(group_version, kind)
    assert struct is not None
    found: Json = struct.decode(obj, schema.Context(), "", "")
    return found


@pytest.mark.parametrize(
    ("group_version", "kind", "obj", "text"),
    [
        ("v1", "Pod", {"spec": {"hostNetwork": "yes"}},
         "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool"),
        ("v1", "Pod", {"spec": {"nodeName": 1}},
         "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string"),
        ("v1", "Pod", {"spec": {"priority": 1.5}},
         "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32"),
        ("v1", "Pod", {"spec": {"priority": 2**31}},
         "json: cannot unmarshal number 2147483648 into Go struct field PodSpec.spec.priority of type int32"),
        ("policy/v1", "PodDisruptionBudget", {"spec": {"minAvailable": 2**31}},
         "json: cannot unmarshal number 2147483648 into Go struct field PodDisruptionBudgetSpec.spec.minAvailable of "
         "type int32"),
        ("v1", "Pod", {"spec": {"containers": {}}},
         "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container"),
        ("v1", "Pod", {"metadata": {"uid": 1}},
         "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID"),
        ("v1", "Pod", {"metadata": {"creationTimestamp": "2001-02-30T00:00:00+01:00"}},
         'parsing time "2001-02-30T00:00:00+01:00"'),
        ("v1", "Pod", {"metadata": {"creationTimestamp": "soon"}},
         'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"'),
        ("v1", "ConfigMap", {"data": {"a": 1}},
         "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
        ("v1", "Secret", {"data": {"a": 1}},
         "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(group_version: str, kind: str, obj: Json, text: str) -> None:
    with pytest.raises(schema.DecodeError) as raised:
        decoded(group_version, kind, obj)
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize(
    ("given", "time"),
    [
        ("2001-02-03T04:05:06Z", "2001-02-03T04:05:06Z"),
        ("2001-02-03T04:05:06.789Z", "2001-02-03T04:05:06Z"),
        ("2001-02-03T04:05:06+01:00", "2001-02-03T03:05:06Z"),
        ("2001-02-03T00:05:06.5-01:30", "2001-02-03T01:35:06Z"),
    ],
)
def test_times_are_in_utc_and_whole_seconds(given: str, time: str) -> None:
    assert decoded("v1", "Pod", {"metadata": {"creationTimestamp": given}})["metadata"]["creationTimestamp"] == time


@pytest.mark.parametrize(
    ("given", "time"),
    [
        ("2001-02-03T04:05:06.123456Z", "2001-02-03T04:05:06.123456Z"),
        ("2001-02-03T04:05:06.123456+01:00", "2001-02-03T03:05:06.123456Z"),
    ],
)
def test_times_of_leases_have_microseconds(given: str, time: str) -> None:
    lease = decoded("coordination.k8s.io/v1", "Lease", {"spec": {"renewTime": given}})
    assert lease["spec"]["renewTime"] == time


def test_null_in_a_list_is_the_zero_value() -> None:
    spec = decoded("v1", "Pod", {"spec": {"containers": [{"name": "c", "args": ["a", None]}, None]}})["spec"]
    assert spec["containers"][0]["args"] == ["a", ""]
    assert spec["containers"][1]["name"] == ""


def test_a_schema_keeps_any_json_and_lists_of_schemas() -> None:
    properties = {
        "any": {"default": {"x": [1, None, 2.5]}, "example": "e", "enum": [1, "a", None]},
        "list": {"type": "array", "items": {"type": "string"}},
        "more": {"type": "object", "additionalProperties": {"type": "integer"}},
        "closed": {"type": "object", "additionalProperties": False},
        "number": {"type": "number", "maximum": 1.5, "minimum": 1},
    }
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}}]
    spec = decoded(DEFINITIONS, "CustomResourceDefinition", {"spec": {"versions": versions}})["spec"]
    assert spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"] == properties


def test_a_limit_of_a_schema_is_a_number() -> None:
    version = {"name": "v1", "schema": {"openAPIV3Schema": {"maximum": "1"}}}
    with pytest.raises(schema.DecodeError, match="of type float64"):
        decoded(DEFINITIONS, "CustomResourceDefinition", {"spec": {"versions": [version]}})


@pytest.mark.parametrize(
    ("kind", "spec", "field", "go_type"),
    [
        ("Service", {"type": 5}, "ServiceSpec.spec.type", "v1.ServiceType"),
        ("Service", {"ports": [{"protocol": 5}]}, "ServicePort.spec.ports.protocol", "v1.Protocol"),
        ("Pod", {"nodeName": 5}, "PodSpec.spec.nodeName", "string"),
        ("PersistentVolumeClaim", {"accessModes": [5]}, "PersistentVolumeClaimSpec.spec.accessModes",
         "v1.PersistentVolumeAccessMode"),
        ("PersistentVolumeClaim", {"accessModes": 5}, "PersistentVolumeClaimSpec.spec.accessModes",
         "[]v1.PersistentVolumeAccessMode"),
        ("ResourceQuota", {"hard": 5}, "ResourceQuotaSpec.spec.hard", "v1.ResourceList"),
    ],
)  # fmt: skip
def test_the_error_of_a_named_type_has_its_name(kind: str, spec: Any, field: str, go_type: str) -> None:
    with pytest.raises(schema.DecodeError) as raised:
        decoded("v1", kind, {"spec": spec})
    assert str(raised.value) == f"json: cannot unmarshal number into Go struct field {field} of type {go_type}"


@pytest.mark.parametrize(
    ("kind", "spec", "text"),
    [
        ("Service", {"type": 5}, "cannot convert int64 to v1.ServiceType"),
        ("Service", {"type": True}, "unrecognized type: string"),
        ("ResourceQuota", {"hard": 5}, "cannot restore map from int64"),
        ("PersistentVolumeClaim", {"accessModes": 5}, "cannot restore slice from int64"),
    ],
)
def test_a_strategic_patch_to_a_named_type_names_it_as_gos_converter(kind: str, spec: Any, text: str) -> None:
    with pytest.raises(schema.DecodeError) as raised:
        decoded("v1", kind, {"spec": spec})
    assert patchrules.conversion_text(raised.value) == text
