"""Bodies that want too much, or say what cannot be said: refused or mended, and the server lives on."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import requests
from patience import PATIENCE

from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import MAX_DEPTH, MAX_YAML_VALUES

pytestmark = pytest.mark.shared_server

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
APPLY = "application/apply-patch+yaml"


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment() as made:
        yield made


@pytest.fixture
def session(env: Environment) -> Iterator[requests.Session]:
    with requests.Session() as made:
        made.headers["Authorization"] = f"Bearer {env.token}"
        yield made


def ask(
    env: Environment, session: requests.Session, method: str, path: str, body: str, media: str
) -> requests.Response:
    answer = session.request(method, env.url + path, data=body.encode(), headers={"Content-Type": media}, timeout=30)
    assert session.get(f"{env.url}/readyz", timeout=30).text == "ok"
    return answer


DEEP = {
    "lists": "[" * 100_000,
    "maps": '{"a":' * 100_000,
    "block lists": "- " * 100_000,
    "flow in a map": "a: " + "[" * 50_000,
    "in an object": '{"metadata":{"annotations":' + '{"a":' * 5000,
    "closed": "[" * 5000 + "]" * 5000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
@pytest.mark.parametrize(
    ("method", "media"),
    [
        ("POST", "application/json"),
        ("POST", "application/yaml"),
        ("PUT", "application/yaml"),
        ("PATCH", APPLY),
        ("PATCH", "application/merge-patch+json"),
        ("PATCH", "application/json-patch+json"),
        ("PATCH", "application/strategic-merge-patch+json"),
        ("DELETE", "application/yaml"),
    ],
)
def test_depth_is_refused(env: Environment, session: requests.Session, method: str, media: str, text: str) -> None:
    path = CONFIG_MAPS if method == "POST" else f"{CONFIG_MAPS}/deep?fieldManager=m"
    assert ask(env, session, method, path, text, media).status_code == 400


def test_patches_cannot_dig_deeper_level_by_level(env: Environment, session: requests.Session) -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "digs.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "digs", "kind": "Dig"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
            ],
        },
    }
    env.create(crd)
    path = "/apis/example.com/v1/namespaces/default/digs"
    body = {"apiVersion": "example.com/v1", "kind": "Dig", "metadata": {"name": "d"}, "a": {}}
    assert ask(env, session, "POST", path, json.dumps(body), "application/json").status_code == 201
    depth, answer = 1, None
    while answer is None or answer.status_code == 200:
        assert depth <= MAX_DEPTH
        value = json.loads('{"a":' * 100 + "{}" + "}" * 100)
        patch = [{"op": "add", "path": "/a" * depth, "value": value}]
        answer = ask(env, session, "PATCH", f"{path}/d", json.dumps(patch), "application/json-patch+json")
        depth += 100
    assert (answer.status_code, answer.json()["message"]) == (400, "exceeded max depth")
    for media in ("application/json", "application/yaml"):
        assert session.get(f"{env.url}{path}/d", headers={"Accept": media}, timeout=30).status_code == 200


def test_half_of_a_surrogate_pair_is_the_replacement_character(env: Environment, session: requests.Session) -> None:
    body = r'{"metadata":{"name":"half"},"data":{"a":"x\ud800y","b":"\udc00","c":"\ud83d\ude00","d":"\\ud800"}}'
    made = ask(env, session, "POST", CONFIG_MAPS, body, "application/json")
    assert made.json()["data"] == {"a": "x\ufffdy", "b": "\ufffd", "c": "\U0001f600", "d": "\\ud800"}
    for media in ("application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io"):
        listed = session.get(env.url + CONFIG_MAPS, headers={"Accept": media}, timeout=30)
        assert listed.status_code == 200
        listed.content.decode()
    patch = r'{"metadata":{"annotations":{"a\ud800":"\udbff"}}}'
    answer = ask(env, session, "PATCH", f"{CONFIG_MAPS}/half", patch, "application/merge-patch+json")
    assert answer.status_code == 422  # no name of an annotation holds that character
    patch = r'{"metadata":{"annotations":{"a":"\udbff"}}}'
    answer = ask(env, session, "PATCH", f"{CONFIG_MAPS}/half", patch, "application/merge-patch+json")
    assert answer.json()["metadata"]["annotations"] == {"a": "\ufffd"}


@pytest.mark.parametrize(
    ("number", "wanted"), [("2.0", 2), ("1e2", 100), ("-0.0", 0), ("2.5", None), ("3e9", None), ("1e400", None)]
)
def test_a_whole_number_of_yaml_is_an_integer(
    env: Environment, session: requests.Session, number: str, wanted: int | None
) -> None:
    """Go writes JSON first, where 2.0 is 2."""
    path, spec = "/api/v1/namespaces/default/replicationcontrollers", f"replicas: {number}, selector: {{a: b}}"
    template = "metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}"
    head = "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: whole}\n"
    body = f"{head}spec: {{{spec}, template: {{{template}}}}}"
    made = ask(env, session, "POST", f"{path}?dryRun=All", body, "application/yaml")
    applied = ask(env, session, "PATCH", f"{path}/whole?dryRun=All&fieldManager=me", body, APPLY)
    if wanted is not None:
        assert (made.json()["spec"]["replicas"], applied.json()["spec"]["replicas"]) == (wanted, wanted)
    assert (made.status_code, applied.status_code) == ((201, 201) if wanted is not None else (400, 500))


def test_aliases_do_not_make_a_short_text_large(env: Environment, session: requests.Session) -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
    )
    assert ask(env, session, "POST", CONFIG_MAPS, bomb, "application/yaml").status_code == 400


@pytest.mark.takes_turns(4)
def test_many_equal_names_cost_no_more_than_others(env: Environment, session: requests.Session) -> None:
    data = ",".join(f'"k{i}":"v"' for i in range(100_000))
    body = f'{{"metadata":{{"name":"many"}},"data":{{{data}}}}}'
    path = f"{CONFIG_MAPS}?dryRun=All&fieldValidation=Strict"
    answer = ask(env, session, "POST", path, body, "application/json")
    assert answer.status_code == 201  # and within the timeout, which quadratic time is not


POD = '{"metadata":{"name":"typed"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
DEPLOYMENT = (
    '{"metadata":{"name":"typed"},"spec":{"selector":{"matchLabels":{"a":"b"}},'
    '"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}'
)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/v1/namespaces/default/pods/typed/binding", '{"target":true}'),
        ("POST", "/api/v1/namespaces/default/pods/typed/binding", '{"target":{"name":7}}'),
        ("POST", "/api/v1/namespaces/default/pods/typed/eviction", '{"deleteOptions":[]}'),
        ("PUT", "/apis/apps/v1/namespaces/default/deployments/typed/scale", '{"metadata":1,"spec":{"replicas":1}}'),
        ("PUT", "/apis/apps/v1/namespaces/default/deployments/typed/scale", '{"spec":{"replicas":"many"}}'),
        ("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", '{"spec":{"audiences":"one"}}'),
        ("DELETE", "/api/v1/namespaces/default/pods/typed", '{"gracePeriodSeconds":"soon"}'),
    ],
)
def test_wrongly_typed_subresources_are_bad_requests(
    env: Environment, session: requests.Session, method: str, path: str, body: str
) -> None:
    ask(env, session, "POST", "/api/v1/namespaces/default/pods", POD, "application/json")
    ask(env, session, "POST", "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT, "application/json")
    answer = ask(env, session, method, path, body, "application/json")
    assert answer.status_code == 400, answer.text
    assert answer.json()["reason"] == "BadRequest"


@pytest.mark.takes_turns(3)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CONFIG_MAPS, {"metadata": {"name": "a", "finalizers": [f"A {i}" for i in range(60_000)]}}),
        ("/api/v1/namespaces/default/pods", {"metadata": {"name": "a"}, "spec": {"containers": [{}] * 60_000}}),
        ("/api/v1/namespaces/default/services", {"metadata": {"name": "a"}, "spec": {"ports": [{}] * 60_000}}),
    ],
)
def test_validation_ends_after_more_errors_than_an_answer_shows(
    env: Environment, session: requests.Session, monkeypatch: pytest.MonkeyPatch, path: str, body: object
) -> None:
    made: list[str] = []
    create = errors.FieldError.__init__

    def counted(self: errors.FieldError, reason: str, field: str, text: str) -> None:
        made.append(field)
        create(self, reason, field, text)

    monkeypatch.setattr(errors.FieldError, "__init__", counted)
    answer = session.post(f"{env.url}{path}", json=body, timeout=PATIENCE)
    assert answer.status_code == 422
    assert answer.json()["details"]["causes"][-1]["message"].endswith("more errors in the object")
    assert errors.MAX_FIELD_ERRORS <= len(made) < errors.MAX_FIELD_ERRORS + 100


def test_a_validation_within_another_thread_or_call_is_counted_alone() -> None:
    few = errors.few_field_errors(lambda: [errors.field_required("a")] * 3)
    assert [str(error) for error in few] == ["a: Required value"] * 3
    many = errors.few_field_errors(lambda: [errors.field_required(str(i)) for i in range(errors.MAX_FIELD_ERRORS + 5)])
    assert len(many) == errors.MAX_FIELD_ERRORS + 1
    assert many[-1].body == "and more errors in the object"
    # Outside of a validation nothing is counted.
    assert len([errors.field_required("a") for _ in range(errors.MAX_FIELD_ERRORS + 1)]) > errors.MAX_FIELD_ERRORS


@pytest.mark.takes_turns(3)
@pytest.mark.parametrize(("item", "values"), [("- {a: 1, b: [x]}\n", 6), ("- x\n", 1), ("- - - y\n", 3)])
def test_yaml_of_more_values_than_any_object_is_refused(
    env: Environment, session: requests.Session, item: str, values: int
) -> None:
    for path, method, media in (
        (CONFIG_MAPS, "POST", "application/yaml"),
        (f"{CONFIG_MAPS}/a?fieldManager=m", "PATCH", APPLY),
    ):
        body = f"metadata: {{name: a}}\na:\n{item * (MAX_YAML_VALUES // values)}"
        headers = {"Content-Type": media}
        answer = session.request(method, f"{env.url}{path}", data=body, headers=headers, timeout=PATIENCE)
        assert answer.status_code == 400
        assert f"document has more than {MAX_YAML_VALUES} values" in answer.json()["message"]


def test_one_answer_has_at_most_a_hundred_problems_of_strict_decoding(
    env: Environment, session: requests.Session
) -> None:
    unknown = {f"unknown{i}": 1 for i in range(500)}
    body = {"metadata": {"name": "strict"}, **unknown}
    answer = session.post(f"{env.url}{CONFIG_MAPS}?fieldValidation=Strict", json=body, timeout=PATIENCE)
    assert answer.status_code == 400
    assert answer.json()["message"].count("unknown field") == 100
