"""Custom resources convert between their versions, through the hub or by functions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime import schema
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.context import Context
from clientgo.controller_runtime.metrics import REGISTRY
from clientgo.controller_runtime.webhook import conversion
from clientgo.golang.http.server import Request, ResponseWriter

GROUP = "jobs.example.com"


def kind(version: str, name: str = "Job") -> schema.GroupVersionKind:
    return schema.GroupVersionKind(GROUP, version, name)


class JobV1(runtime.ResourceObject):
    GROUP_VERSION_KIND = kind("v1")
    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    every: str = runtime.field("every", "string", default="")

    def convert_to(self, dst: runtime.Object) -> None:
        assert isinstance(dst, JobV2)
        if self.every == "boom":
            raise AssertionError("no such time")
        dst.metadata = self.metadata
        dst.schedule = self.every
        if self.every == "newer":
            dst.set_owner_references([metav1.OwnerReference.from_dict(UnknownFields({}, {"m": b"x"}))])

    def convert_from(self, src: runtime.Object) -> None:
        assert isinstance(src, JobV2)
        self.metadata = src.metadata
        self.every = src.schedule


class JobV2(runtime.ResourceObject):
    GROUP_VERSION_KIND = kind("v2")
    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    schedule: str = runtime.field("schedule", "string", default="")

    def hub(self) -> None:
        pass


class JobV3(runtime.ResourceObject):
    GROUP_VERSION_KIND = kind("v3")
    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    when: str = runtime.field("when", "string", default="")

    def convert_to(self, dst: runtime.Object) -> None:
        assert isinstance(dst, JobV2)
        dst.metadata, dst.schedule = self.metadata, self.when

    def convert_from(self, src: runtime.Object) -> None:
        assert isinstance(src, JobV2)
        self.metadata, self.when = src.metadata, src.schedule


class Other(runtime.ResourceObject):
    """A kind with two versions that do not convert."""

    GROUP_VERSION_KIND = kind("v1", "Other")


class OtherV2(runtime.ResourceObject):
    GROUP_VERSION_KIND = kind("v2", "Other")


def scheme_of(*classes: type[runtime.Object]) -> runtime.Scheme:
    scheme = runtime.Scheme()
    for cls in classes:
        assert cls.GROUP_VERSION_KIND is not None
        scheme.add_known_type_with_name(cls.GROUP_VERSION_KIND, cls)
    return scheme


SCHEME = scheme_of(JobV1, JobV2, JobV3, Other, OtherV2)


def job(version: str, **fields: str) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Job", "metadata": {"name": "a"}, **fields}


def convert(desired: str, *objects: dict[str, Any], registry: conversion.Registry | None = None) -> dict[str, Any]:
    handler = conversion.new_webhook_handler(SCHEME, registry or conversion.new_registry())
    about = {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1"}
    review = {**about, "request": {"uid": "u1", "desiredAPIVersion": f"{GROUP}/{desired}", "objects": list(objects)}}
    body = json.dumps(review).encode()
    request = Request("POST", "/convert", read=lambda count: body[:count])
    request.headers["Content-Length"] = str(len(body))
    response = ResponseWriter()
    handler(response, request)
    answer = json.loads(response.body)
    assert (answer["kind"], answer["apiVersion"]) == ("ConversionReview", "apiextensions.k8s.io/v1")
    assert answer["response"]["uid"] == "u1"
    return answer["response"]


def failure(response: dict[str, Any]) -> str:
    assert response["result"]["status"] == "Failure"
    assert not response.get("convertedObjects")
    return str(response["result"]["message"])


@pytest.mark.parametrize(
    ("source", "desired", "expected"),
    [
        (job("v1", every="1h"), "v2", job("v2", schedule="1h")),
        (job("v2", schedule="1h"), "v1", job("v1", every="1h")),
        (job("v1", every="1h"), "v3", job("v3", when="1h")),
    ],
)
def test_objects_convert_through_the_hub(source: dict[str, Any], desired: str, expected: dict[str, Any]) -> None:
    """Go: webhook/conversion: ConversionTest > Conversion Webhook > should convert spoke to hub successfully
    Go: webhook/conversion: ConversionTest > Conversion Webhook > should convert hub to spoke successfully
    Go: webhook/conversion: ConversionTest > Conversion Webhook > should convert spoke to spoke successfully
    """
    response = convert(desired, source, source)
    assert response["result"]["status"] == "Success"
    assert response["convertedObjects"] == [expected, expected]


@pytest.mark.parametrize(
    ("desired", "source", "text"),
    [
        ("v1", job("v1"), "conversion is not allowed between same type JobV1"),
        ("v2", {**job("v1"), "kind": "Other"}, "Other is not convertible to OtherV2"),
        ("v2", job("v1", every="boom"), "panic: no such time [recovered]"),
        ("v2", {**job("v1"), "every": 7}, "cannot unmarshal number"),
        ("v9", job("v1"), "no kind"),
        ("v2", job("v1", every="newer"), "has fields that this version does not know"),
    ],
)
def test_what_cannot_be_converted_fails_as_a_whole(desired: str, source: dict[str, Any], text: str) -> None:
    """Go: webhook/conversion: ConversionTest > Conversion Webhook > should return error when dest/src
    ... objects are of same type
    Go: webhook/conversion: ConversionTest > Conversion Webhook > should return error when the API group
    ... does not have a hub defined
    Go: webhook/conversion: ConversionTest > Conversion Webhook > should return error on panic in conversion
    """
    assert text in failure(convert(desired, job("v3", when="fine"), source))


def test_the_programs_handlers_hear_of_bugs_and_of_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    monkeypatch.setattr(utilruntime.runtime, "PANIC_HANDLERS", [lambda ctx, err: reported.append(str(err))])
    convert("v2", job("v1", every="boom"))
    convert("v1", job("v1"))
    assert reported == ["no such time"]


def test_another_group_is_another_kind() -> None:
    """Go: webhook/conversion: ConversionTest > Conversion Webhook > should return error when dest/src
    ... objects belong to different API groups
    """

    class Elsewhere(runtime.ResourceObject):
        GROUP_VERSION_KIND = schema.GroupVersionKind("elsewhere.example.com", "v1", "Job")

    SCHEME.add_known_type_with_name(Elsewhere.GROUP_VERSION_KIND, Elsewhere)
    source = {**job("v1"), "apiVersion": "elsewhere.example.com/v1"}
    assert "does not belong to same API Group" in failure(convert("v2", source))


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[]", b"{", b"{}", b"[" * 100_000, b'{"request": 7}', b'{"request":{"uid":1}}'),
        *(b'{"request":{"objects":{}}}', b'{"request":{"desiredAPIVersion":[]}}', b'"a"', b"null"),
    ],
)
def test_what_is_no_review_is_a_bad_request(body: bytes) -> None:
    request = Request("POST", "/convert", read=lambda count: body[:count])
    request.headers["Content-Length"] = str(len(body))
    response = ResponseWriter()
    conversion.new_webhook_handler(SCHEME, conversion.new_registry())(response, request)
    assert response.status == 400


def to_v1(ctx: Context, hub: JobV2, spoke: JobV1) -> None:
    spoke.metadata, spoke.every = hub.metadata, f"every {hub.schedule}"


def from_v1(ctx: Context, spoke: JobV1, hub: JobV2) -> None:
    hub.metadata, hub.schedule = spoke.metadata, spoke.every.removeprefix("every ")


def to_v3(ctx: Context, hub: JobV2, spoke: JobV3) -> None:
    spoke.metadata, spoke.when = hub.metadata, f"at {hub.schedule}"


def from_v3(ctx: Context, spoke: JobV3, hub: JobV2) -> None:
    hub.metadata, hub.schedule = spoke.metadata, spoke.when.removeprefix("at ")


V1, V3 = conversion.new_spoke_converter(JobV1, to_v1, from_v1), conversion.new_spoke_converter(JobV3, to_v3, from_v3)
JOBS = scheme_of(JobV1, JobV2, JobV3, Other)


def test_a_registered_converter_goes_before_methods() -> None:
    """Go: webhook/conversion: NewHubSpokeConverter > should succeed if all converter are specified"""
    registry = conversion.new_registry()
    registry.register_converter(kind("v2").group_kind(), conversion.new_hub_spoke_converter(JobV2, V1, V3)(JOBS))
    response = convert("v3", job("v1", every="every 1h"), registry=registry)
    assert response["convertedObjects"] == [job("v3", when="at 1h")]
    back = convert("v1", job("v2", schedule="2h"), registry=registry)
    assert back["convertedObjects"] == [job("v1", every="every 2h")]
    with pytest.raises(ValueError, match="converter already registered"):
        registry.register_converter(kind("v2").group_kind(), conversion.new_hub_spoke_converter(JobV2, V1, V3)(JOBS))


@pytest.mark.parametrize(
    ("make", "scheme", "text"),
    [
        (conversion.new_hub_spoke_converter(JobV2, V1, V3), scheme_of(JobV1, JobV3), "failed to get GVK for hub JobV2"),
        (conversion.new_hub_spoke_converter(JobV2, V1, V3), scheme_of(JobV1, JobV2), "get GVK for spoke JobV3"),
        (
            conversion.new_hub_spoke_converter(JobV2, conversion.new_spoke_converter(Other, to_v1, from_v1)),
            JOBS,
            "does not match hub GroupKind",
        ),
        (conversion.new_hub_spoke_converter(JobV2, V1, V1), JOBS, "duplicate spoke converter"),
        (conversion.new_hub_spoke_converter(JobV2, V1), JOBS, "no converter for"),
    ],
)
def test_converters_that_do_not_fit_together_are_refused(make: Any, scheme: runtime.Scheme, text: str) -> None:
    """Go: webhook/conversion: NewHubSpokeConverter > should return error if hub is not registered in the scheme
    Go: webhook/conversion: NewHubSpokeConverter > should return error if spoke is not registered in the scheme
    Go: webhook/conversion: NewHubSpokeConverter > should return error if spoke does not have the same
    ... GroupKind as the hub
    Go: webhook/conversion: NewHubSpokeConverter > should return error if same spoke is specified twice
    Go: webhook/conversion: NewHubSpokeConverter > should return error if a converter is missing
    """
    with pytest.raises(ValueError, match=text):
        make(scheme)


def test_a_kind_is_convertible_when_one_version_is_the_hub_and_all_others_convert() -> None:
    """Go: webhook/conversion: IsConvertible > should return true for convertible types
    Go: webhook/conversion: IsConvertible > should return false for a non convertible type
    Go: webhook/conversion: IsConvertible > should not error for u
    """
    assert conversion.is_convertible(SCHEME, JobV1())
    assert not conversion.is_convertible(SCHEME, Other())
    assert not conversion.is_convertible(scheme_of(JobV1), JobV1())
    assert not conversion.is_convertible(SCHEME, unstructured.Unstructured.from_dict(job("v1")))
    assert not conversion.is_convertible(runtime.Scheme(), JobV1())
    with pytest.raises(conversion.PartialImplementationError, match="no hub defined"):
        conversion.is_convertible(scheme_of(JobV1, JobV3), JobV1())


class SecondHub(JobV2):
    GROUP_VERSION_KIND = kind("v4")


class Inconvertible(Other):
    GROUP_VERSION_KIND = kind("v5")


@pytest.mark.parametrize(
    ("classes", "text"),
    [
        ((JobV1, JobV3), "does not have any Hub defined: Job.jobs.example.com"),
        ((JobV1, JobV2, JobV3, SecondHub), "multiple hub versions defined for Job.jobs.example.com"),
    ],
)
def test_a_kind_needs_exactly_one_hub(classes: tuple[type[runtime.Object], ...], text: str) -> None:
    review = {"request": {"uid": "u1", "desiredAPIVersion": f"{GROUP}/v3", "objects": [job("v1", every="1h")]}}
    response = reviewed(json.dumps(review).encode(), scheme_of(*classes))
    assert json.loads(response.body)["response"]["result"]["message"] == text


@pytest.mark.parametrize(
    ("classes", "text", "hubs", "non_spokes", "spokes"),
    [
        ((JobV1, JobV3), "no hub defined for gvk jobs.example.com/v1, Kind=Job", [], [], [JobV1, JobV3]),
        (
            (JobV1, JobV2, SecondHub),
            "multiple(2) hubs defined for group-kind 'Job' hubs [JobV2 SecondHub]",
            [JobV2, SecondHub],
            [],
            [JobV1],
        ),
        (
            (JobV1, JobV2, Inconvertible),
            "1 inconvertible types detected for group-kind 'Job': [Inconvertible]",
            [JobV2],
            [Inconvertible],
            [JobV1],
        ),
    ],
)
def test_the_error_of_a_partial_implementation_names_the_versions(
    classes: tuple[type[runtime.Object], ...], text: str, hubs: list[type], non_spokes: list[type], spokes: list[type]
) -> None:
    with pytest.raises(conversion.PartialImplementationError) as caught:
        conversion.is_convertible(scheme_of(*classes), JobV1())
    assert str(caught.value) == text
    assert (caught.value.hubs, caught.value.non_spokes, caught.value.spokes) == (hubs, non_spokes, spokes)


def reviewed(body: bytes, scheme: runtime.Scheme = SCHEME) -> ResponseWriter:
    request = Request("POST", "/convert", read=lambda count: body[:count])
    request.headers["Content-Length"] = str(len(body))
    response = ResponseWriter()
    conversion.new_webhook_handler(scheme, conversion.new_registry())(response, request)
    return response


def test_a_review_is_answered_in_json() -> None:
    review = {"request": {"uid": "u1", "desiredAPIVersion": f"{GROUP}/v3", "objects": [job("v1", every="1h")]}}
    response = reviewed(json.dumps(review).encode())
    assert response.header()["Content-Type"] == "application/json"


@pytest.mark.parametrize("stated", [{}, {"kind": "Other"}, {"apiVersion": "apiextensions.k8s.io/v1", "kind": "K"}])
def test_the_answer_has_the_kind_that_the_review_states_and_text_as_go_reads_it(stated: dict[str, str]) -> None:
    review = {**stated, "request": {"uid": "half \ud83d of \xe9", "desiredAPIVersion": f"{GROUP}/v3", "objects": []}}
    for body in (json.dumps(review).encode(), json.dumps(review).replace("\\u00e9", "\\udc00").encode()):
        answer = json.loads(bytes(reviewed(body).body))
        assert {name: value for name, value in answer.items() if name != "response"} == stated
        assert answer["response"]["uid"].startswith("half \ufffd of ") and "\udc00" not in answer["response"]["uid"]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"{", "failed to read conversion request"),
        (b"{}", "conversion request is nil"),
        (
            json.dumps({"request": {"uid": "u7", "desiredAPIVersion": "x/v1", "objects": [job("v1")]}}).encode(),
            "failed to convert",
        ),
    ],
)
def test_what_cannot_be_converted_is_logged(body: bytes, line: str, caplog: pytest.LogCaptureFixture) -> None:
    reviewed(body)
    [record] = [each for each in caplog.records if each.levelname == "ERROR"]
    assert line in record.getMessage()


def test_a_bug_of_a_converter_is_counted() -> None:

    def counted() -> float:
        return REGISTRY.get_sample_value("controller_runtime_conversion_webhook_panics_total") or 0.0

    before = counted()
    convert("v2", job("v1", every="boom"))
    convert("v2", {"apiVersion": f"{GROUP}/v1", "kind": "Other"})
    assert counted() == before + 1
