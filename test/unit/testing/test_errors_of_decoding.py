"""The error that Go's decoder reports for an object with several wrong values, in the fakes and in the server."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from clientgo import context, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.api.facts import FieldFact, collection_of, fields_of, is_struct, resolve
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.types import PatchType
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake as ctrlfake
from clientgo.kubernetes import fake as clientsetfake
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.kinds import schema
from clientgo.testing.apiserver.kinds.reported_errors import reported_error
from clientgo.testing.apiserver.local import LocalTransport

CTX = context.background()
CORE = "k8s.io/api/core/v1"
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.fixture(scope="module")
def server() -> Iterator[rest.Interface]:
    with Server(listen=False) as started:
        config = rest.Config(host=started.url, bearer_token=started.token, qps=-1)
        config.transport = LocalTransport(started)
        clientset = kubernetes.new_for_config(config)
        clientset.core_v1().pods("default").create(CTX, corev1.Pod.from_dict(json.loads(json.dumps(POD))))
        yield clientset.core_v1().rest_client()
        clientset.close()


def of_server(pods: rest.Interface, kind: PatchType, patch: bytes) -> str:
    """Return the server's error for a patch of the pod; "" without one."""
    try:
        pods.patch(kind).namespace("default").resource("pods").name("p").body(patch).do(CTX).into(corev1.Pod())
    except apierrors.StatusError as err:
        details = err.status().details
        assert details is not None
        cause = details.causes[0].message if details.causes else err.status().message
        return cause.partition("}: ")[2] or cause.partition('": ')[2] or cause
    return ""


def of_fakes(kind: PatchType, patch: bytes) -> str:
    """Return the error of both fakes for a patch of the pod; "" without one."""
    texts = set()
    for write in (
        lambda pod: clientsetfake.new_clientset(pod).core_v1().pods("default").patch(CTX, "p", kind, patch),
        lambda pod: (
            ctrlfake.new_client_builder().with_objects(pod).build().patch(CTX, pod, client.raw_patch(kind, patch))
        ),
    ):
        try:
            write(corev1.Pod.from_dict(json.loads(json.dumps(POD))))
        except ValueError as err:
            texts.add(str(err))
        else:
            texts.add("")
    assert len(texts) == 1
    return texts.pop()


def go(value: str, field: str, go_type: str) -> str:
    return f"json: cannot unmarshal {value} into Go struct field {field} of type {go_type}"


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ('{"spec":{"containers":[{"imagePullPolicy":1}]}}',
         go("number", "Container.spec.containers.imagePullPolicy", "v1.PullPolicy")),
        ('{"spec":{"containers":[{"ports":[{"protocol":[]}]}]}}',
         go("array", "ContainerPort.spec.containers.ports.protocol", "v1.Protocol")),
        ('{"spec":{"containers":[{"resources":{"limits":[]}}]}}',
         go("array", "ResourceRequirements.spec.containers.resources.limits", "v1.ResourceList")),
        ('{"metadata":{"uid":1}}', go("number", "ObjectMeta.metadata.uid", "types.UID")),
        # Keys are sorted before Go decodes the merged document.
        ('{"spec":{"restartPolicy":1,"priority":"x"}}', go("string", "PodSpec.spec.priority", "int32")),
        ('{"spec":{"tolerations":1,"hostNetwork":2}}', go("number", "PodSpec.spec.hostNetwork", "bool")),
        # Quantities and times decode themselves, and their errors end the decoding.
        ('{"metadata":{"labels":1},"spec":{"overhead":{"cpu":"x"}}}', QUANTITY),
        ('{"spec":{"priority":1.50}}', go("number 1.50", "PodSpec.spec.priority", "int32")),
        ('{"spec":{"priority":1e2}}', go("number 1e2", "PodSpec.spec.priority", "int32")),
        ('{"spec":{"priority":2E+0}}', go("number 2E+0", "PodSpec.spec.priority", "int32")),
    ],
)  # fmt: skip
def test_a_merge_patch_is_refused_with_the_error_that_go_reports(
    server: rest.Interface, patch: str, text: str
) -> None:
    assert of_fakes(PatchType.MERGE, patch.encode()) == text
    assert of_server(server, PatchType.MERGE, patch.encode()) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # The value of an operation keeps the order of its keys.
        ('{"restartPolicy":1,"priority":"x"}', go("number", "PodSpec.spec.restartPolicy", "v1.RestartPolicy")),
        ('{"priority":"x","restartPolicy":1}', go("string", "PodSpec.spec.priority", "int32")),
        ('{"priority":1.0}', go("number 1.0", "PodSpec.spec.priority", "int32")),
    ],
)
def test_a_json_patch_keeps_the_order_within_its_values(server: rest.Interface, value: str, text: str) -> None:
    patch = f'[{{"op":"replace","path":"/spec","value":{value}}}]'.encode()
    assert of_fakes(PatchType.JSON, patch) == text
    assert of_server(server, PatchType.JSON, patch) == text


def test_a_json_patch_sorts_the_keys_outside_of_its_values() -> None:
    steps = [{"op": "add", "path": f"/spec/{key}", "value": {}} for key in ("restartPolicy", "priority")]
    assert of_fakes(PatchType.JSON, json.dumps(steps).encode()) == go("object", "PodSpec.spec.priority", "int32")


def test_a_strategic_merge_patch_in_a_fake_reads_whole_numbers_as_integers() -> None:
    pods = clientsetfake.new_clientset(corev1.Pod.from_dict(json.loads(json.dumps(POD)))).core_v1().pods("default")
    patched = pods.patch(CTX, "p", PatchType.STRATEGIC_MERGE, b'{"spec":{"priority":1e2}}')
    assert patched.spec.priority == 100
    text = go("number 1.5", "PodSpec.spec.priority", "int32")
    assert of_fakes(PatchType.STRATEGIC_MERGE, b'{"spec":{"priority":1.50}}') == text


def test_an_unstructured_object_is_written_as_json_before_it_is_decoded() -> None:
    def create(spec: dict[str, Any]) -> Any:
        c = ctrlfake.new_client_builder().build()
        c.create(CTX, Unstructured.from_dict({**json.loads(json.dumps(POD)), "spec": spec}))
        return c.get(CTX, client.ObjectKey("default", "p"), corev1.Pod())

    assert create({"priority": 2.0}).spec.priority == 2
    with pytest.raises(ValueError, match=r"string into Go struct field PodSpec\.spec\.priority of type int32"):
        create({"restartPolicy": 1, "priority": "x"})


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('"spec":{"restartPolicy":1,"priority":"x"}', go("number", "PodSpec.spec.restartPolicy", "v1.RestartPolicy")),
        ('"spec":{"priority":"x","restartPolicy":1}', go("string", "PodSpec.spec.priority", "int32")),
        ('"spec":{"priority":1e2}', go("number 1e2", "PodSpec.spec.priority", "int32")),
        ('"spec":{"priority":"x","activeDeadlineSeconds":1.50}', go("string", "PodSpec.spec.priority", "int32")),
        ('"spec":[],"metadata":{"creationTimestamp":true}',
         go("bool", "ObjectMeta.metadata.creationTimestamp", "string")),
    ],
)  # fmt: skip
def test_a_created_object_is_refused_with_the_error_that_go_reports(
    server: rest.Interface, body: str, text: str
) -> None:
    data = f'{{"apiVersion":"v1","kind":"Pod",{body}}}'.encode()
    with pytest.raises(apierrors.StatusError) as raised:
        server.post().namespace("default").resource("pods").body(data).do(CTX).into(corev1.Pod())
    assert raised.value.status().message.endswith(f": {text}")


@pytest.mark.parametrize(
    ("schema_of_crd", "text"),
    [
        ({"additionalProperties": {"type": 5}},
         go("number", "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.additionalProperties", "string")),
        ({"additionalProperties": 5}, "boolean or JSON schema expected"),
        ({"items": {"items": [{"type": 4}]}},
         go("number", "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items", "string")),
        ({"items": [5]},
         go("number", "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items", "v1.JSONSchemaProps")),
        ({"dependencies": {"a": [5]}},
         go("number", "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.dependencies", "string")),
        ({"items": 5, "dependencies": {"a": True}}, ""),
    ],
)  # fmt: skip
def test_types_that_call_the_decoder_themselves_name_their_own_field(schema_of_crd: Any, text: str) -> None:
    struct = schema.kind_struct("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    assert struct is not None
    definition = {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema_of_crd}}]}}
    assert str(reported_error(struct, definition) or "") == text


@pytest.mark.timeout(60)
def test_errors_deep_within_schemas_are_found_in_linear_time() -> None:
    struct = schema.kind_struct("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    assert struct is not None
    inner: dict[str, Any] = {"type": 5}
    for _ in range(60):
        inner = {"additionalProperties": inner}
    found = reported_error(struct, {"spec": {"versions": [{"schema": {"openAPIV3Schema": inner}}]}})
    assert found is not None and "additionalProperties of type string" in str(found)


def test_keys_of_maps_have_their_types_names() -> None:
    struct = schema.kind_struct("resource.k8s.io/v1", "ResourceSlice")
    assert struct is not None
    found = reported_error(struct, {"spec": {"devices": [{"attributes": []}]}})
    assert str(found) == go(
        "array", "Device.spec.devices.attributes", "map[v1.QualifiedName]v1.DeviceAttribute"
    )


VALUES: list[Any] = [0, 1.5, True, "x", [], {}, [1], [[]], [{}], {"a": 1}, {"a": []}, -1, 2**40]


def wrong_values(source: random.Random, package: str, name: str, depth: int) -> dict[str, Any]:
    """Return an object with some fields of a struct, whose values are often of another type."""
    facts: list[FieldFact] = source.sample(rows := list(fields_of(package, name)), min(len(rows), source.randint(1, 3)))
    return {fact.json: wrong_value(source, fact.type, package, depth) for fact in facts if fact.json != "status"}


def wrong_value(source: random.Random, go_type: str, package: str, depth: int) -> Any:
    collection, inner, owner = collection_of(go_type, package)
    if depth == 0 or source.random() < 0.2:
        return source.choice(VALUES)
    if collection == "list":
        return [wrong_value(source, inner, owner, depth - 1) for _ in range(source.randint(1, 2))]
    if collection == "map":
        return {key: wrong_value(source, inner, owner, depth - 1) for key in source.sample("ab", 1)}
    found = ("", "") if collection else resolve(go_type.lstrip("*"), package)
    return wrong_values(source, *found, depth - 1) if is_struct(*found) else source.choice(VALUES)


def test_server_and_fakes_report_the_same_error_for_random_objects(server: rest.Interface) -> None:
    source = random.Random(27)
    refused = 0
    for _ in range(150):
        spec = wrong_values(source, CORE, "PodSpec", 5)
        kind = source.choice([PatchType.MERGE, PatchType.JSON])
        patch: Any = {"spec": spec}
        if kind == PatchType.JSON:
            patch = [{"op": "add", "path": "/spec", "value": spec}]
        data = json.dumps(patch).encode()
        text = of_fakes(kind, data)
        if text:
            refused += 1
            assert of_server(server, kind, data) == text, data
    assert refused > 50
