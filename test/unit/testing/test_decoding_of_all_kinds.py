"""The fakes decode objects of all kinds into the classes of clients as the embedded server decodes them by facts.

Both imitate Go's decoder in their own way, so their answers about random documents check each other.
"""

from __future__ import annotations

import copy
import json
import random
from importlib import import_module
from typing import Any

import pytest

from clientgo import context
from clientgo.api import facts
from clientgo.api.apps import v1 as appsv1
from clientgo.api.certificates import v1 as certificatesv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.runtime.converter import decode_as_go, to_go_document
from clientgo.apimachinery.runtime.schema import parse_group_version
from clientgo.apimachinery.types import PatchType
from clientgo.applyconfigurations import for_kind
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake as ctrlfake
from clientgo.kubernetes import fake as clientsetfake
from clientgo.testing.apiserver.kinds import schema
from clientgo.testing.apiserver.kinds.reported_errors import reported_error

CTX = context.background()
Json = dict[str, Any]
# Structs with a JSON form of their own.
SCALARS = {"Time", "MicroTime", "Duration", "FieldsV1"}
VALUES: list[Any] = [
    *(0, 1.5, 1e3, -1, 2**31, 10**20, True, None, "x", "", "1", "MQ==", "MQ", "1Gi", "0.5", "1h30m0s"),
    *("2020-01-01T00:00:00Z", "2020-01-01T00:00:00+01:00", "2020-01-01T00:00:00.123456Z"),
    *([], {}, [1], [[]], [{}], [None], {"a": 1}, {"a": []}, {"a": None}),
]


def kinds() -> list[tuple[str, str, str, type[Object]]]:
    """Return the API version, name, Go package and class of each kind that the facts have."""
    found = []
    for version, package in facts.packages_by_group_version().items():
        for name in facts.types_of(package):
            struct = schema.kind_struct(version, name)
            if struct is None or not {"kind", "metadata"} <= struct.fields.keys() or name.endswith("List"):
                continue
            cls = for_kind(parse_group_version(version).with_kind(name))
            if cls is None:
                cls = getattr(import_module("clientgo.apiextensions.v1"), name, None)
            if cls is not None:
                found.append((version, name, package, cls))
    return found


KINDS = kinds()


def drawn(draw: random.Random, go_type: str, package: str, depth: int) -> Any:
    """Return a value of a Go type, with values of other types in random places."""
    collection, inner, owner = facts.collection_of(go_type, package)
    if depth == 0 or draw.random() < 0.12:
        return draw.choice(VALUES)
    if collection == "list":
        return [drawn(draw, inner, owner, depth - 1) for _ in range(draw.randint(0, 2))]
    if collection == "map":
        values = {key: drawn(draw, inner, owner, depth - 1) for key in draw.sample("abc", draw.randint(0, 2))}
        # Protobuf, in which the server stores objects, reads null bytes as empty ones.
        return {key: "" if value is None and inner == "[]byte" else value for key, value in values.items()}
    owner, name = ("", "") if collection else facts.resolve(go_type.lstrip("*"), package)
    if facts.is_struct(owner, name) and name not in SCALARS:
        rows = draw.sample(fields := list(facts.fields_of(owner, name)), min(len(fields), draw.randint(0, 4)))
        return {row.json: drawn(draw, row.type, owner, depth - 1) for row in rows}
    right = {"int32": [0, 1], "int64": [0, 1], "bool": [True, False]}.get(go_type.lstrip("*"), [])
    return draw.choice(right or ["x", ""] if draw.random() < 0.6 else VALUES)


@pytest.mark.parametrize("seed", range(4))
def test_fakes_and_server_decode_random_objects_alike(seed: int) -> None:
    assert len(KINDS) > 70
    draw = random.Random(seed)
    refused = 0
    for _ in range(400):
        version, name, package, cls = draw.choice(KINDS)
        document: Any = drawn(draw, name, package, 6)
        struct = schema.kind_struct(version, name)
        if not isinstance(document, dict) or struct is None:
            continue
        case = f"{version} {name} {json.dumps(document)}"
        try:
            decoded = decode_as_go(cls, copy.deepcopy(document))
        except ValueError as err:
            refused += 1
            assert str(reported_error(struct, document)) == str(err), case
        else:
            assert reported_error(struct, document) is None, case
            normal = struct.decode(document, schema.Context(), "", "")
            assert to_go_document(decoded, nulls=True) == normal, case
    assert 100 < refused < 300


def patched(obj: Any, kind: PatchType, patch: bytes) -> Json:
    """Return the object that both fakes make of a patch, without its resourceVersion."""
    target = obj.deep_copy()
    c = ctrlfake.new_client_builder().with_objects(obj.deep_copy()).build()
    c.patch(CTX, target, client.raw_patch(kind, patch))
    fake: Any = clientsetfake.new_clientset(obj.deep_copy())
    if isinstance(obj, certificatesv1.CertificateSigningRequest):
        answer = fake.certificates_v1().certificate_signing_requests().patch(CTX, "x", kind, patch)
    elif isinstance(obj, corev1.ResourceQuota):
        answer = fake.core_v1().resource_quotas("ns").patch(CTX, "x", kind, patch)
    else:
        answer = fake.apps_v1().controller_revisions("ns").patch(CTX, "x", kind, patch)
    found: list[Json] = [answer.to_dict(), target.to_dict()]
    for each in found:
        for field in ("resourceVersion", "managedFields", "creationTimestamp"):
            each["metadata"].pop(field, None)
        each.pop("kind", None)
        each.pop("apiVersion", None)
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        (PatchType.MERGE, b'{"metadata":{"labels":{"a":"b"}}}'),
        (PatchType.STRATEGIC_MERGE, b'{"metadata":{"labels":{"a":"b"}}}'),
        (PatchType.JSON, b'[{"op":"test","path":"/spec/request","value":null},'
                         b'{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]'),
    ],
)  # fmt: skip
def test_a_patch_of_an_object_without_its_required_bytes_applies(kind: PatchType, patch: bytes) -> None:
    obj = certificatesv1.CertificateSigningRequest.from_dict({"metadata": {"name": "x"}})
    assert patched(obj, kind, patch)["metadata"] == {"name": "x", "labels": {"a": "b"}}


def test_a_patch_sees_values_as_go_writes_them() -> None:
    quota = corev1.ResourceQuota.from_dict(
        {"metadata": {"name": "x", "namespace": "ns"}, "spec": {"hard": {"cpu": "0.5"}}}
    )
    patch = b'[{"op":"test","path":"/spec/hard/cpu","value":"500m"}]'
    assert patched(quota, PatchType.JSON, patch)["spec"] == {"hard": {"cpu": "500m"}}


def test_an_absent_raw_value_is_null_for_a_patch() -> None:
    revision = appsv1.ControllerRevision.from_dict({"metadata": {"name": "x", "namespace": "ns"}, "revision": 1})
    patch = b'[{"op":"test","path":"/data","value":null},{"op":"remove","path":"/data"}]'
    assert "data" not in patched(revision, PatchType.JSON, patch)
