"""The errors of invalid patches, and of patches that do not fit the object, in the real server's words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        body = {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}
        client("POST", "/apis/apps/v1/namespaces/default/deployments", body, want=201)
        yield client
        client.close()


STRATEGIC, MERGE, JSON = (f"application/{kind}+json" for kind in ("strategic-merge-patch", "merge-patch", "json-patch"))


def refused(api: Api, patch: Any, media: str, code: int = 422, query: str = "") -> Json:
    path = f"/apis/apps/v1/namespaces/default/deployments/web{query}"
    status: Json = api("PATCH", path, patch, media=media, want=code)
    return status


@pytest.mark.parametrize(
    ("change", "shown", "why"),
    [
        ({"spec": {"replicas": "two"}}, "map[spec:map[replicas:two]]", "unrecognized type: int32"),
        ({"spec": {"paused": 1}}, "map[spec:map[paused:1]]", "unrecognized type: bool"),
        ({"metadata": {"labels": {"a": 1}}}, "map[metadata:map[labels:map[a:1]]]", "cannot convert int64 to string"),
        ({"spec": {"replicas": 1.5}}, "map[spec:map[replicas:1.5]]", "cannot convert float64 to int32"),
        ({"kind": 7}, "map[kind:7]", "cannot convert int64 to string"),
        ({"apiVersion": []}, "map[apiVersion:[]]", "unrecognized type: string"),
    ],
)
def test_a_strategic_patch_is_shown_with_what_does_not_fit(api: Api, change: Json, shown: str, why: str) -> None:
    status = refused(api, change, STRATEGIC)
    assert status["message"] == f' "" is invalid: patch: Invalid value: "{shown}": {why}'
    assert status["reason"] == "Invalid"
    assert [cause["field"] for cause in status["details"]["causes"]] == ["patch"]


def test_only_a_strategic_patch_takes_a_whole_number_with_a_fraction_for_an_integer(api: Api) -> None:
    """Go: DefaultUnstructuredConverter.FromUnstructured."""
    path = "/apis/apps/v1/namespaces/default/deployments/web?dryRun=All"
    rolling = '"strategy":{"rollingUpdate":{"maxSurge":3.0}}'
    pods = '"template":{"spec":{"terminationGracePeriodSeconds":1e1,"containers":[{"name":"c","ports":[]}]}}'
    body = f'{{"spec":{{"replicas":2.0,{rolling},{pods}}}}}'
    spec = api("PATCH", path, body, media=STRATEGIC, want=200)["spec"]
    numbers = [spec["replicas"], spec["strategy"]["rollingUpdate"]["maxSurge"]]
    numbers.append(spec["template"]["spec"]["terminationGracePeriodSeconds"])
    assert numbers == [2, 3, 10] and all(type(number) is int for number in numbers)
    message = refused(api, '{"spec":{"replicas":2.0}}', MERGE)["message"]
    why = "json: cannot unmarshal number 2.0 into Go struct field DeploymentSpec.spec.replicas of type int32"
    assert message.endswith(f'": {why}')


@pytest.mark.parametrize(
    ("change", "media"),
    [({"spec": {"replicas": "two"}}, MERGE), ([{"op": "replace", "path": "/spec/replicas", "value": "two"}], JSON)],
)
def test_other_patches_show_the_patched_object(api: Api, change: Any, media: str) -> None:
    message = refused(api, change, media)["message"]
    assert message.startswith(r' "" is invalid: patch: Invalid value: "{\"')
    assert r"\"replicas\":\"two\"" in message
    why = "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"
    assert message.endswith(f'": {why}')


def test_unknown_fields_of_a_strict_patch(api: Api) -> None:
    strict = "?fieldValidation=Strict"
    message = refused(api, {"spec": {"replics": 1}}, STRATEGIC, query=strict)["message"]
    assert message.endswith('"map[spec:map[replics:1]]": strict decoding error: unknown field "spec.replics"')
    message = refused(api, '{"spec":{"replicas":1,"replicas":1}}', MERGE, query=strict)["message"]
    assert message.endswith('strict decoding error: duplicate field "spec.replicas"')
    change = {"zone": 1, "spec": {"y": 1, "template": {"metadata": {"x": 1}}}}
    unknown = ", ".join(f'unknown field "{path}"' for path in ("spec.template.metadata.x", "spec.y", "zone"))
    for media in (MERGE, STRATEGIC):
        message = refused(api, change, media, query=strict)["message"]
        assert message.endswith(f"strict decoding error: {unknown}")


def test_unknown_and_repeated_fields_of_a_body_come_in_its_order(api: Api) -> None:
    body = '{"metadata":{"name":"c"},"dota":{},"data":{"a":"1","a":"2"},"y":1,"binaryData":{},"binaryData":{}}'
    problems = ['unknown field "dota"', 'duplicate field "data.a"', 'unknown field "y"', 'duplicate field "binaryData"']
    path = "/api/v1/namespaces/default/configmaps?dryRun=All"
    message = api("POST", f"{path}&fieldValidation=Strict", body, want=400)["message"]
    assert message.endswith(f"cannot be handled as a ConfigMap: strict decoding error: {', '.join(problems)}")
    assert api.warnings("POST", path, body) == problems
    # YAML is made JSON with sorted keys first.
    yaml = "zone: 1\ndota: 1\nmetadata: {name: c, x: 1, q: 1}\n"
    assert api.warnings("POST", path, yaml, "application/yaml") == [
        f'unknown field "{name}"' for name in ("dota", "metadata.q", "metadata.x", "zone")
    ]


@pytest.mark.parametrize(
    ("body", "media", "message"),
    [
        ('"x"', STRATEGIC, "json: cannot unmarshal string into Go value of type map[string]interface {}"),
        (
            "[]",
            MERGE,
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ],
)
def test_what_is_no_patch(api: Api, body: str, media: str, message: str) -> None:
    assert refused(api, body, media, code=400)["message"] == message


NULLS = [("secrets", "data"), ("configmaps", "binaryData"), ("configmaps", "data")]


@pytest.mark.parametrize(("plural", "field"), NULLS)
def test_a_null_in_a_map_of_bytes_or_texts_is_an_empty_one(api: Api, plural: str, field: str) -> None:
    path = f"/api/v1/namespaces/default/{plural}"
    one = f"{path}/null-in-{field.lower()}"
    body = {"metadata": {"name": one.rpartition("/")[2]}, field: {"a": None}}
    assert api("POST", path, body, want=201)[field] == {"a": ""}
    assert api("PUT", one, {**body, field: {"b": None}}, want=200)[field] == {"b": ""}
    step = {"op": "add", "path": f"/{field}", "value": {"c": None}}
    assert api("PATCH", one, [step], media=JSON, want=200)[field] == {"c": ""}
    assert api("GET", one, want=200)[field] == {"c": ""}
