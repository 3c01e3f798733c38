"""Small requests that ask for large objects: each way to grow has a bound, and the server lives on."""

from __future__ import annotations

import base64
import functools
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api, eventually
from webhookserver import Webhooks, hook

from clientgo.golang.http.server import Request as HTTPRequest
from clientgo.golang.http.server import ResponseWriter
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.kinds import (
    patchrules,
    policy_checks,
    schema,
    schema_formats,
    schema_validation,
    strategy,
    structural,
)
from clientgo.testing.apiserver.kinds.expression_texts import check_expression_texts
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.kinds.validation import cron, fields
from clientgo.testing.apiserver.kinds.validation.metadata import metadata_update
from clientgo.testing.apiserver.verbs.sizes import MAX_REQUEST_BYTES
from clientgo.testing.apiserver.views import table
from clientgo.testing.apiserver.wire.errors import MAX_FIELD_ERRORS, ApiError, FieldError, invalid
from clientgo.testing.apiserver.wire.jsonio import MAX_YAML_VALUES, loads_yaml
from clientgo.testing.apiserver.wire.jsonio import copy as json_copy

Json = dict[str, Any]
MAPS = "/api/v1/namespaces/default/configmaps"
JSON_PATCH, MERGE_PATCH = "application/json-patch+json", "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


def doubling(times: int, path: str = "/metadata/annotations") -> list[Json]:
    """Return a JSON patch whose `copy` operations double a text's list, as the issue's attack does."""
    steps: list[Json] = [{"op": "add", "path": "/x", "value": ["0123456789"]}]
    for _ in range(times):
        steps += [{"op": "copy", "from": "/x", "path": "/y"}, {"op": "move", "from": "/y", "path": "/x/-"}]
    return [*steps, {"op": "remove", "path": "/x"}, {"op": "add", "path": path, "value": {"patched": "yes"}}]


@pytest.fixture(scope="module")
def server() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        client("GET", "/version", want=200)
        yield client
        client.close()


@pytest.fixture
def hooks() -> Iterator[Webhooks]:
    made = Webhooks()
    yield made
    made.close()


@pytest.fixture
def api(server: Api) -> Iterator[Api]:
    yield server
    server("DELETE", MAPS, want=200)


def test_copies_of_a_json_patch_stay_below_three_mebibytes(api: Api) -> None:
    api("POST", MAPS, {"metadata": {"name": "grows"}}, want=201)
    patched = api("PATCH", f"{MAPS}/grows", doubling(10), want=200, media=JSON_PATCH)
    assert patched["metadata"]["annotations"] == {"patched": "yes"}
    status = api("PATCH", f"{MAPS}/grows", doubling(20), want=422, media=JSON_PATCH)
    assert (status["reason"], status["details"]) == ("Invalid", {})
    assert status["message"] == "the server rejected our request due to an error in our request"


def test_a_json_patch_with_too_many_operations_names_the_limit(api: Api) -> None:
    api("POST", MAPS, {"metadata": {"name": "grows"}}, want=201)
    add = {"op": "add", "path": "/metadata/annotations", "value": {}}
    api("PATCH", f"{MAPS}/grows", [add] * 10_000, want=200, media=JSON_PATCH)
    status = api("PATCH", f"{MAPS}/grows", [add] * 10_001, want=413, media=JSON_PATCH)
    why = "The allowed maximum operations in a JSON patch is 10000, got 10001"
    assert (status["reason"], status["message"]) == ("RequestEntityTooLarge", f"Request entity too large: {why}")


def test_copies_of_a_webhooks_patch_stay_below_three_mebibytes(hooks: Webhooks) -> None:
    def grow(resp: ResponseWriter, req: HTTPRequest) -> None:
        uid = json.loads(req.read_body(1 << 20))["request"]["uid"]
        patch = base64.b64encode(json.dumps(doubling(20)).encode()).decode()
        response = {"uid": uid, "allowed": True, "patchType": "JSONPatch", "patch": patch}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        resp.write(json.dumps(review))

    hooks.configure("Mutating", "grow", hook("g.example.com", hooks.serve_raw(grow)))
    status = hooks.api("POST", MAPS, {"metadata": {"name": "grows"}}, want=500)
    text = "Unable to complete the copy, the accumulated size increase of copy is "
    assert text in status["message"] and status["message"].endswith("exceeding the limit 3145728")


@pytest.mark.takes_turns(4)
def test_many_webhooks_cannot_grow_an_object_one_after_the_other(hooks: Webhooks) -> None:
    calls: list[int] = []

    def grow(resp: ResponseWriter, req: HTTPRequest) -> None:
        body = req.read_body(1 << 30)
        calls.append(len(body))
        add = {"op": "add", "path": f"/data/{len(calls)}", "value": "x" * 3_000_000}
        patch = base64.b64encode(json.dumps([add]).encode()).decode()
        uid = json.loads(body)["request"]["uid"]
        response = {"uid": uid, "allowed": True, "patchType": "JSONPatch", "patch": patch}
        resp.write(json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}))

    config = hooks.serve_raw(grow)
    hooks.configure("Mutating", "grow", *[hook(f"g{i}.example.com", config) for i in range(20)])
    message = hooks.api("POST", MAPS, {"metadata": {"name": "grows"}, "data": {"a": "b"}}, want=500)["message"]

    assert message.endswith('"g6.example.com": failed to call webhook: the request is larger than 16777216 bytes')
    assert len(calls) == 6


@pytest.mark.takes_turns(4)
def test_copies_of_a_mutating_policy_stay_below_three_mebibytes(api: Api) -> None:
    group = "/apis/admissionregistration.k8s.io/v1"
    steps = ["JSONPatch{op: 'add', path: '/x', value: ['0123456789']}"]
    steps += [
        "JSONPatch{op: 'copy', from: '/x', path: '/y'}",
        "JSONPatch{op: 'move', from: '/y', path: '/x/-'}",
    ] * 20
    spec = {
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
            ]
        },
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": f"[{', '.join(steps)}]"}}],
    }
    api("POST", f"{group}/mutatingadmissionpolicies", {"metadata": {"name": "grow"}, "spec": spec}, want=201)
    bound = {"metadata": {"name": "grow"}, "spec": {"policyName": "grow"}}
    api("POST", f"{group}/mutatingadmissionpolicybindings", bound, want=201)
    try:
        status = api("POST", MAPS, {"metadata": {"name": "grows"}})
        assert "JSON Patch: Unable to complete the copy" in status["message"]
    finally:
        api("DELETE", f"{group}/mutatingadmissionpolicybindings/grow", want=200)
        api("DELETE", f"{group}/mutatingadmissionpolicies/grow", want=200)


def crd(plural: str, schema: Json) -> Json:
    kind = plural.capitalize()[:-1]
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "metadata": {"name": f"{plural}.grow.example.com"},
        "spec": {
            "group": "grow.example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [version],
        },
    }


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OBJECTS = "/apis/grow.example.com/v1/namespaces/default"
FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def delete_crd(api: Api, plural: str) -> None:
    """Delete a CRD, and wait until its objects are deleted: the name is not free before."""
    path = f"{CRDS}/{plural}.grow.example.com"
    api("DELETE", path, want=200)
    eventually(lambda: api.request("GET", path).status_code == 404)


@pytest.fixture
def heaps(api: Api) -> Iterator[Api]:
    api("POST", CRDS, crd("heaps", FREE), want=201)
    yield api
    delete_crd(api, "heaps")


def heap(**fields: Any) -> Json:
    return {"apiVersion": "grow.example.com/v1", "kind": "Heap", "metadata": {"name": "h"}, **fields}


def nested(times: int) -> list[Json]:
    """Return a JSON patch that doubles nested empty lists, which take little text but much work."""
    steps: list[Json] = [{"op": "add", "path": "/x", "value": [[]]}]
    for _ in range(times):
        steps += [{"op": "copy", "from": "/x", "path": "/y"}, {"op": "move", "from": "/y", "path": "/x/-"}]
    return steps


@pytest.mark.parametrize("sort", ["a patch of nested lists", "an apply of many keys"])
def test_other_requests_are_answered_during_a_long_one(heaps: Api, sort: str) -> None:
    heaps("POST", f"{OBJECTS}/heaps", heap(), want=201)
    path = f"{OBJECTS}/heaps/h"
    slow = Api(heaps.env)
    codes: list[int] = []
    if sort == "a patch of nested lists":
        long = functools.partial(slow.request, "PATCH", path, nested(17), JSON_PATCH)
    else:
        config = heap(data={f"key{i}": "value" for i in range(60_000)})
        long = functools.partial(slow.request, "PATCH", f"{path}?fieldManager=me", config, APPLY)
    thread = threading.Thread(target=lambda: codes.append(long().status_code), name="long-request")
    thread.start()

    answered = 0
    while thread.is_alive():
        heaps("GET", "/api/v1/namespaces/default", want=200)
        made = heaps("POST", MAPS, {"metadata": {"generateName": "meanwhile-"}}, want=201)
        heaps("DELETE", f"{MAPS}/{made['metadata']['name']}", want=200)
        answered += thread.is_alive()

    thread.join()
    slow.close()
    assert codes == [200]
    assert answered >= 2, "a lock that a long write holds delays every other request until it ends"


def test_an_object_above_etcds_limit_is_not_stored(heaps: Api) -> None:
    path = f"{OBJECTS}/heaps"
    status = heaps("POST", path, heap(a="x" * MAX_REQUEST_BYTES), want=500)
    assert status["message"] == "etcdserver: request is too large"
    assert "reason" not in status
    status = heaps("POST", path, heap(a="x" * (2 << 20)), want=500)
    assert status["message"].startswith(
        "rpc error: code = ResourceExhausted desc = trying to send message larger than max ("
    )
    assert status["message"].endswith(" vs. 2097152)")
    assert heaps("GET", f"{path}/h")["code"] == 404


def test_patches_cannot_grow_an_object_step_by_step(heaps: Api) -> None:
    path = f"{OBJECTS}/heaps/h"
    heaps("POST", f"{OBJECTS}/heaps", heap(a="x" * (1 << 20)), want=201)
    patch = {"b": "x" * (1 << 19)}
    assert heaps("PATCH", path, patch, want=500, media=MERGE_PATCH)["message"] == "etcdserver: request is too large"
    config = heap(c="x" * (1 << 19))
    where = f"{path}?fieldManager=me"
    assert heaps("PATCH", where, config, want=500, media=APPLY)["message"] == "etcdserver: request is too large"
    assert set(heaps("GET", path, want=200)) == {"a", "apiVersion", "kind", "metadata"}


@pytest.mark.takes_turns(4)
def test_managed_fields_give_way_before_an_object_is_too_large(heaps: Api) -> None:
    fields = {f"f{i}": 1 for i in range(70_000)}
    made = heaps("POST", f"{OBJECTS}/heaps", heap(**fields), want=201)
    assert "managedFields" not in made["metadata"]
    assert made["f69999"] == 1


def test_a_built_in_kind_is_measured_as_protobuf(api: Api) -> None:
    # A million line breaks are two million bytes of JSON.
    made = api("POST", MAPS, {"metadata": {"name": "lines"}, "data": {"a": "\n" * 1_000_000}}, want=201)
    assert len(made["data"]["a"]) == 1_000_000


def test_defaults_of_a_long_list_cannot_fill_the_memory(api: Api) -> None:
    item = {"type": "object", "properties": {"d": {"type": "string", "default": "x" * 10_000}}}
    schema = {"type": "object", "properties": {"spec": {"type": "array", "items": item}}}
    api("POST", CRDS, crd("heaps", schema), want=201)
    try:
        status = api("POST", f"{OBJECTS}/heaps", heap(spec=[{}] * 20_000), want=500)
        assert status["message"] == "the defaults of the schema add more than 16777216 bytes to the object"
        assert len(api("POST", f"{OBJECTS}/heaps", heap(spec=[{}] * 100), want=201)["spec"][99]["d"]) == 10_000
    finally:
        delete_crd(api, "heaps")


@pytest.mark.takes_turns(4)
@pytest.mark.parametrize("default", [{"a": [{}] * 100}, ["x"] * 100, "x" * 400])
def test_every_sort_of_default_is_counted(default: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # The real limit takes seconds of copying; the test of a long list above reaches it.
    monkeypatch.setattr(structural, "_MAX_DEFAULTED", 256 * 1024)
    schema = {"items": {"properties": {"d": {"default": default}}}}
    assert structural.default([{}], schema) == [{"d": default}]
    with pytest.raises(ApiError, match="the defaults of the schema add more than 262144 bytes"):
        structural.default([{}] * 1_000, schema)
    with pytest.raises(ApiError, match="the defaults of the schema add more than 262144 bytes"):
        structural.default({str(i): None for i in range(1_000)}, {"additionalProperties": {"default": default}})


ALTERNATIVES = {"type": "integer", "oneOf": [{"minimum": i} for i in range(2000)]}
MANY_CHOICES = {"type": "integer", "enum": list(range(50_000))}


@pytest.mark.takes_turns(4)
@pytest.mark.parametrize(
    ("items", "value", "why"),
    [
        (ALTERNATIVES, [3000] * 2000, "the validation by the schema takes more than 200000 steps"),
        (MANY_CHOICES, [49_999] * 2000, "the validation by the schema takes more than 200000 steps"),
        (MANY_CHOICES, [-1] * 100, "the violations of the schema take more than 600000 characters"),
    ],
)
@pytest.mark.parametrize("before", [False, True])
def test_a_schema_cannot_multiply_a_value_without_end(
    items: Any, value: Any, why: str, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The next test reaches the real limits, which takes seconds.
    monkeypatch.setattr(schema_validation, "_MAX_STEPS", 200_000)
    monkeypatch.setattr(schema_validation, "_MAX_TEXT", 600_000)
    schema = {"type": "array", "items": items}
    with pytest.raises(ApiError) as refused:
        if before:
            schema_validation.validate_update(value, [0], schema)
        else:
            schema_validation.validate(value, schema)
    assert (refused.value.code, refused.value.message) == (500, why)


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([49_999] * 2000, "the validation by the schema takes more than 3000000 steps"),
        ([-1] * 100, "the violations of the schema take more than 8388608 characters"),
    ],
)
def test_the_limits_of_a_validation(value: Any, why: str) -> None:
    with pytest.raises(ApiError) as refused:
        schema_validation.validate(value, {"type": "array", "items": MANY_CHOICES})
    assert refused.value.message == why


@pytest.mark.takes_turns(4)
def test_the_largest_request_has_room_in_one_validation() -> None:
    # Two bytes of JSON for each value.
    schema = {"type": "array", "items": {"type": "integer", "anyOf": [{"minimum": 0}]}}
    assert schema_validation.validate([1] * (MAX_REQUEST_BYTES // 2), schema) == []


# ---- many errors and many expressions

RULES = "x-kubernetes-validations"


@pytest.mark.takes_turns(4)
@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"finalizers": ["!"] * 200_000}, "metadata.finalizers"),
        ({"finalizers": [f"!{i}" for i in range(200_000)]}, "metadata.finalizers"),
        ({"labels": {f"!{i}": "v" for i in range(100_000)}}, "metadata.labels"),
        ({"annotations": {f"!{i}": "v" for i in range(100_000)}}, "metadata.annotations"),
    ],
)
def test_an_object_with_countless_errors_gets_a_short_answer(server: Api, metadata: Json, field: str) -> None:
    body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "wrong", **metadata}}
    found = server("POST", MAPS, body, want=422)
    causes = found["details"]["causes"]
    assert causes[0]["field"] == field
    count = len(causes) - 1
    assert 1000 < count < 20_000
    last = causes[-1]["message"].split()
    assert (last[0], last[2:]) == ("and", ["more", "errors", "in", "the", "object"])
    assert count + int(last[1]) >= MAX_FIELD_ERRORS, "validation ends after so many"
    assert len(json.dumps(found)) < 5 * 1024 * 1024
    server("GET", f"{MAPS}/wrong", want=404)


def test_a_single_error_is_never_cut() -> None:
    long = "x" * (2 << 20)
    only = invalid("", "ConfigMap", "n", [FieldError("FieldValueInvalid", "f", long)])
    assert long in only.message
    several = [FieldError("FieldValueInvalid", f"f{i}", "text") for i in range(1000)]
    assert [each["field"] for each in invalid("", "ConfigMap", "n", several).details["causes"]] == [
        f"f{i}" for i in range(1000)
    ]


def definition(name: str, *rules: Json, versions: int = 1) -> Json:
    spec = {"type": "object", "properties": {"a": {"type": "integer"}}, RULES: list(rules)}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    names = {"plural": f"{name}s", "singular": name, "kind": name.title(), "listKind": f"{name.title()}List"}
    served = [{"name": f"v{i + 1}", "served": True, "storage": i == 0, "schema": schema} for i in range(versions)]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}s.g.example.com"},
        "spec": {"group": "g.example.com", "scope": "Namespaced", "names": names, "versions": served},
    }


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TOO_MUCH_CEL = "Forbidden: the CEL expressions have more than 262144 code points"


@pytest.mark.parametrize(
    ("rules", "versions"),
    [
        ([{"rule": f"self.a>{i}"} for i in range(11_000)], 1),
        ([{"rule": f"self.a>{i}"} for i in range(1100)], 10),
        ([{"rule": "self.a>0", "messageExpression": "'x'"}] * 8000, 1),
        ([{"rule": " || ".join([f"self.a == {i}" for i in range(5000)])}] * 4, 1),
    ],
)
def test_the_expressions_of_a_definition_have_a_bound(server: Api, rules: list[Json], versions: int) -> None:
    body = definition("many", *rules, versions=versions)
    started = time.process_time()
    found = server("POST", DEFINITIONS, body, want=422)
    assert time.process_time() - started < 5, "to compile them takes much longer"
    assert TOO_MUCH_CEL in found["message"]
    assert [each["field"] for each in found["details"]["causes"]] == ["spec.versions"]


@pytest.mark.takes_turns(4)
def test_a_definition_with_thousands_of_rules_is_created(server: Api) -> None:
    rules = [{"rule": f"self.a>{i}"} for i in range(3000)]
    started = time.process_time()
    server("POST", DEFINITIONS, definition("thousand", *rules), want=201)
    assert time.process_time() - started < 20
    server("DELETE", f"{DEFINITIONS}/thousands.g.example.com", want=200)


@pytest.mark.parametrize(
    ("kind", "content", "field"),
    [
        (
            "ValidatingAdmissionPolicy",
            {"spec": {"validations": [{"expression": f"object.x>{i}"} for i in range(10_000)]}},
            "spec",
        ),
        (
            "ValidatingAdmissionPolicy",
            {"spec": {"variables": [{"name": f"v{i}", "expression": "object.x"} for i in range(11_000)]}},
            "spec",
        ),
        (
            "MutatingAdmissionPolicy",
            {
                "spec": {
                    "mutations": [
                        {"patchType": "JSONPatch", "jsonPatch": {"expression": f"[] + [{i}]"}} for i in range(10_200)
                    ]
                }
            },
            "spec",
        ),
        (
            "ValidatingWebhookConfiguration",
            {
                "webhooks": [
                    {"name": f"w{i}", "matchConditions": [{"name": "c", "expression": "true"}] * 60} for i in range(300)
                ]
            },
            "webhooks",
        ),
    ],
)
def test_the_expressions_of_a_policy_have_a_bound(kind: str, content: Json, field: str) -> None:
    started = time.thread_time()
    (found,) = policy_checks.check(kind, {"metadata": {"name": "p"}, **content})
    assert time.thread_time() - started < 2
    assert found.field == field
    assert found.body.startswith(TOO_MUCH_CEL)


def test_text_that_is_no_expression_does_not_count() -> None:
    long = "x" * 300_000
    assert check_expression_texts({"description": long, "properties": {"rule": {"type": long}}}, "p") == []
    assert check_expression_texts([{"rule": "x" * (256 * 1024 - 16)}], "p") == []
    assert len(check_expression_texts([{"rule": "x" * (256 * 1024 - 15)}], "p")) == 1


def test_a_yaml_document_takes_linear_time(server: Api) -> None:
    """The largest body that a client can send takes seconds; quadratic time would take hours."""

    def seconds(keys: int) -> float:
        head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:\n"
        text = head + "".join(f"  k{i}: v\n" for i in range(keys))
        started = time.thread_time()
        document = loads_yaml(text.encode())
        assert len(document["data"]) == keys
        return time.thread_time() - started

    few, many = min(seconds(20_000) for _ in range(3)), seconds(MAX_YAML_VALUES // 2 - 10)
    assert many < 20 * few
    assert many < 30


# ---- time: what is quadratic takes minutes for these, what is linear a second at most


def test_each_wrong_item_is_reported_in_linear_time() -> None:
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string"}}}}
    started = time.thread_time()
    found = schema_validation.validate({"l": list(range(50_000))}, schema)
    assert time.thread_time() - started < 10
    assert (len(found), len({str(error) for error in found})) == (50_000, 50_000)


def test_owners_are_compared_in_linear_time() -> None:
    owners = [{"kind": "P", "name": f"n{i}", "uid": f"u{i}"} for i in range(30_000)]
    metadata = {"ownerReferences": [*owners, owners[7]]}
    started = time.thread_time()
    (warning,) = strategy.drop_repeated_owners(metadata)
    assert time.thread_time() - started < 5
    assert warning.endswith("duplicate UID(s) observed: u7")
    assert metadata["ownerReferences"] == owners


def test_finalizers_of_a_deleted_object_are_compared_in_linear_time() -> None:
    old = {"name": "n", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [f"a/f{i}" for i in range(40_000)]}
    configmaps = Registry().find("", "v1", "configmaps")
    assert configmaps is not None
    started = time.thread_time()
    found = metadata_update(configmaps, old, {**old, "finalizers": old["finalizers"][::-1]})
    assert time.thread_time() - started < 5
    assert found == []


MANY_NAMES = [f"a.example/f{i}" for i in range(20_000)]
OWNED = [{"uid": name, "apiVersion": "v1", "kind": "Pod", "name": "n"} for name in MANY_NAMES]
LONG_LISTS = {
    "scalars": ({"finalizers": MANY_NAMES}, {"finalizers": [f"{name}-new" for name in MANY_NAMES]}),
    "the order of scalars": (
        {"finalizers": MANY_NAMES},
        {"finalizers": MANY_NAMES[::-1], "$setElementOrder/finalizers": MANY_NAMES[::-1]},
    ),
    "deletions of scalars": ({"finalizers": MANY_NAMES}, {"$deleteFromPrimitiveList/finalizers": MANY_NAMES[1:]}),
    "maps": (
        {"ownerReferences": OWNED},
        {"ownerReferences": [{**each, "uid": f"{each['uid']}-new"} for each in OWNED]},
    ),
    "changes of maps": ({"ownerReferences": OWNED}, {"ownerReferences": [{**each, "name": "m"} for each in OWNED]}),
    "the order of maps": (
        {"ownerReferences": OWNED},
        {
            "ownerReferences": OWNED[::-1],
            "$setElementOrder/ownerReferences": [{"uid": each["uid"]} for each in OWNED[::-1]],
        },
    ),
    "deletions of maps": (
        {"ownerReferences": OWNED},
        {"ownerReferences": [{"uid": each["uid"], "$patch": "delete"} for each in OWNED[1:]]},
    ),
}


@pytest.mark.parametrize(("live", "patch"), LONG_LISTS.values(), ids=LONG_LISTS.keys())
def test_a_strategic_patch_of_a_long_list_takes_linear_time(live: Json, patch: Json) -> None:
    struct = schema.kind_struct("v1", "ConfigMap")
    started = time.thread_time()
    merged = patchrules.strategic_patch({"metadata": json_copy(live)}, {"metadata": json_copy(patch)}, struct)
    assert time.thread_time() - started < 10
    merged = merged["metadata"]
    (name,) = live
    uids = [each["uid"] if isinstance(each, dict) else each for each in merged[name]]
    assert len(set(uids)) == len(uids)
    if "new" in json.dumps(patch):
        assert set(uids) == {*MANY_NAMES, *(f"{each}-new" for each in MANY_NAMES)}
    elif "elete" in json.dumps(patch):
        assert uids == MANY_NAMES[:1]
    else:
        assert uids == (MANY_NAMES[::-1] if f"$setElementOrder/{name}" in patch else MANY_NAMES)


def test_repeated_fields_are_found_in_linear_time(api: Api) -> None:
    fields = ",".join(f'"x{i}":1,"x{i}":2' for i in range(60_000))
    started = time.process_time()
    status = api("POST", f"{MAPS}?fieldValidation=Strict", f'{{"metadata":{{"name":"p"}},{fields}}}', want=400)
    assert time.process_time() - started < 5
    assert 'unknown field "x99"' in status["message"], "as many problems as in Go"


# ---- numbers with more digits than int() reads

MANY = "9" * 5000


def test_a_percentage_of_many_digits_is_above_all() -> None:
    assert [error.body.rpartition(": ")[2] for error in fields.at_most_all(f"{MANY}%", "f")] == [
        "must not be greater than 100%"
    ]
    assert fields.at_most_all(f"{'0' * 5000}100%", "f") == []
    assert fields.is_none(f"{'0' * 5000}%")
    assert not fields.is_none(f"{MANY}%")


@pytest.mark.parametrize("schedule", [f"{MANY} * * * *", f"0-{MANY} * * * *", f"*/{MANY} * * * *"])
def test_a_schedule_with_a_number_of_many_digits_is_refused(schedule: str) -> None:
    with pytest.raises(ValueError, match="value out of range"):
        cron.check(schedule)


def test_a_column_with_an_index_of_many_digits_is_empty() -> None:
    assert table.json_path(f".a[{MANY}]")({"a": [1]}) == table.json_path(".b")({})


def test_a_deployment_with_a_percentage_of_many_digits_is_invalid(api: Api) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    limits = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": f"{MANY}%"}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template, "strategy": limits}
    where = "/apis/apps/v1/namespaces/default/deployments"
    status = api("POST", where, {"metadata": {"name": "d"}, "spec": spec}, want=422)
    assert "must not be greater than 100%" in status["message"]


@pytest.mark.parametrize("text", ["(" * 100_000, "a@" * 50_000, "<" * 100_000, '"' * 100_000, "a@b(" * 30_000])
def test_an_address_of_many_brackets_is_none(text: str) -> None:
    assert not schema_formats.passes("email", text)


@pytest.mark.parametrize(("value", "step"), [(1e308, 1e-300), (-1e308, 1e-300), (1e308, 0.1), (10**308, 1e-10)])
def test_a_quotient_beyond_every_float_is_no_multiple(value: float, step: float) -> None:
    (error,) = schema_validation.validate(value, {"type": "number", "multipleOf": step})
    assert "should be a multiple of" in str(error)
