"""Integer fields have the ranges of their Go types: a value outside is an error, as in Go's decoder."""

from __future__ import annotations

import json
from typing import Any

import pytest
from decoding import TYPED, decoding_at_once, event, outcome

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.fields import field
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.golang.json import UnmarshalTypeError

INT32, INT64 = 2**31, 2**63


def pod(spec: dict[str, Any]) -> corev1.Pod:
    return corev1.Pod.from_dict({"metadata": {"name": "a"}, "spec": spec})


@pytest.mark.parametrize("value", [-INT32, -1, 0, INT32 - 1])
def test_an_int32_may_have_every_value_of_its_range(value: int) -> None:
    obj = pod({"priority": value, "terminationGracePeriodSeconds": value})
    assert obj.spec.priority == obj.spec.termination_grace_period_seconds == value
    obj.spec.priority = value
    assert obj.spec.priority == value


@pytest.mark.parametrize("value", [-INT32 - 1, INT32, INT64, 2**70])
def test_an_int32_out_of_its_range_is_an_error_when_it_is_read_or_written(value: int) -> None:
    obj = pod({"priority": value})
    with pytest.raises(UnmarshalTypeError) as caught:
        _ = obj.spec.priority
    text = f"json: cannot unmarshal number {value} into Go struct field PodSpec.spec.priority of type int32"
    assert text in str(caught.value)
    with pytest.raises(ValueError, match=f"PodSpec.priority: {value} is out of the range of int32"):
        obj.spec.priority = value
    assert obj.to_dict()["spec"] == {"priority": value}


@pytest.mark.parametrize("value", [-INT64 - 1, INT64])
def test_an_int64_out_of_its_range_is_an_error_when_it_is_read_or_written(value: int) -> None:
    obj = pod({"terminationGracePeriodSeconds": value})
    with pytest.raises(UnmarshalTypeError, match=f"number {value} into Go struct field .* of type int64"):
        _ = obj.spec.termination_grace_period_seconds
    with pytest.raises(ValueError, match="out of the range of int64"):
        obj.spec.termination_grace_period_seconds = value
    obj.spec.termination_grace_period_seconds = INT64 - 1
    assert obj.spec.termination_grace_period_seconds == INT64 - 1


def test_elements_of_lists_have_the_range_of_their_type() -> None:
    obj = pod({"securityContext": {"supplementalGroups": [1, INT64]}})
    groups = obj.spec.security_context.supplemental_groups
    assert groups[0] == 1
    for read in (lambda: groups[1], lambda: [*groups], lambda: groups[:], lambda: 5 in groups):
        with pytest.raises(UnmarshalTypeError, match=f"number {INT64} into Go struct field .*upplementalGroups"):
            read()
    with pytest.raises(ValueError, match="out of the range of int64"):
        groups.append(INT64)
    other = pod({"securityContext": {"supplementalGroups": [1, 2]}})
    assert [*other.spec.security_context.supplemental_groups] == [1, 2]


def test_the_number_of_an_int_or_string_is_an_int32() -> None:
    def service(port: object) -> corev1.Service:
        return corev1.Service.from_dict({"spec": {"ports": [{"targetPort": port}]}})

    assert service("http").spec.ports[0].target_port == "http"
    assert service(INT32 - 1).spec.ports[0].target_port == INT32 - 1
    with pytest.raises(UnmarshalTypeError, match=f"number {INT32} into Go struct field .* of type int32"):
        _ = service(INT32).spec.ports[0].target_port
    with pytest.raises(ValueError, match="out of the range of int32"):
        service(1).spec.ports[0].target_port = INT32
    for wrong in (True, 1.5):
        with pytest.raises(UnmarshalTypeError):
            _ = service(wrong).spec.ports[0].target_port


@pytest.mark.parametrize("value", [INT32 - 1, INT32, -INT32 - 1, 2**70])
def test_both_decoders_find_the_same(value: int) -> None:
    line = json.dumps(
        {"type": "ADDED", "object": {"kind": "Pod", "apiVersion": "v1", "spec": {"priority": value}}}
    )

    def read() -> str:
        return outcome(lambda: event(line, TYPED).spec.priority)

    with decoding_at_once():
        expected = read()
    assert ("int32" in expected) == (value != INT32 - 1)
    assert read() == expected


class _Port(Struct):
    number: int = field("number", "uint16", default=0)
    offset: int = field("offset", "int8", default=0)


@pytest.mark.parametrize(("key", "lowest", "highest"), [("number", 0, 65_535), ("offset", -128, 127)])
def test_a_field_of_a_narrow_type_accepts_its_range_and_nothing_else(key: str, lowest: int, highest: int) -> None:
    for inside in (lowest, highest):
        assert getattr(_Port.from_dict({key: inside}), key) == inside
    for outside in (lowest - 1, highest + 1):
        with pytest.raises(UnmarshalTypeError):
            getattr(_Port.from_dict({key: outside}), key)
