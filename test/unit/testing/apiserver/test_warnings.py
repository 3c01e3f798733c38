"""Warning headers: deprecated versions, unknown fields, and what the server stores without acting on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.rest.warnings import parse_warning_headers
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.wire.warnings import warning_headers

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SCHEMA: Json = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "integer"}}}}}


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def definition(plural: str, schema: Json = SCHEMA, **version: Any) -> Json:
    entry = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    names = {"plural": plural, "kind": plural.capitalize()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [entry]},
    }


def test_the_users_of_a_deprecated_version_are_told(api: Api) -> None:
    api("POST", DEFINITIONS, definition("olds", deprecated=True), want=201)
    path = "/apis/example.com/v1/namespaces/default/olds"
    assert api.warnings("GET", path) == ["example.com/v1 Olds is deprecated"]
    assert api.warnings("GET", f"{path}/none") == ["example.com/v1 Olds is deprecated"]
    api("POST", DEFINITIONS, definition("wornouts", deprecated=True, deprecationWarning="use a shoe"), want=201)
    assert api.warnings("GET", "/apis/example.com/v1/wornouts") == ["use a shoe"]


def test_deprecated_built_in_kinds(api: Api) -> None:
    wanted = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    assert api.warnings("GET", "/api/v1/endpoints") == [wanted]
    assert api.warnings("GET", "/api/v1/componentstatuses") == ["v1 ComponentStatus is deprecated in v1.19+"]
    assert api.warnings("GET", "/api/v1/pods") == []


def test_rules_that_are_evaluated_and_fields_of_that_name_are_not_announced(api: Api) -> None:
    rule = {"rule": "self.a < 3"}
    spec = {"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": [rule]}
    body = definition("rules", {"type": "object", "properties": {"spec": spec}})
    assert api.warnings("POST", DEFINITIONS, body) == []
    spec["properties"] = {"x-kubernetes-validations": {"type": "string"}}
    del spec["x-kubernetes-validations"]
    body = definition("fields", {"type": "object", "properties": {"spec": spec}})
    assert api.warnings("POST", DEFINITIONS, body) == []


def test_webhooks_that_nobody_can_ask_are_announced(api: Api) -> None:
    group = "/apis/admissionregistration.k8s.io/v1"
    valid = {"sideEffects": "None", "admissionReviewVersions": ["v1"]}
    webhook = {"name": "a.example.com", "clientConfig": {"url": "https://127.0.0.1:1"}, **valid}
    path = f"{group}/validatingwebhookconfigurations"
    assert api.warnings("POST", path, {"metadata": {"name": "quiet"}, "webhooks": [webhook]}) == []
    webhook = {"name": "b.example.com", "clientConfig": {"service": {"namespace": "a", "name": "b"}}, **valid}
    texts = api.warnings("POST", path, {"metadata": {"name": "hooks"}, "webhooks": [webhook]})
    assert [text.partition(":")[0] for text in texts] == ["webhooks[0].clientConfig.service"]
    body = definition("hooked")
    body["spec"]["conversion"] = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}
    body["spec"]["conversion"]["webhook"]["clientConfig"] = {"service": {"namespace": "a", "name": "b"}}
    (text,) = api.warnings("POST", DEFINITIONS, body)
    assert text.startswith("spec.conversion.webhook.clientConfig.service: ")


def test_warnings_come_with_errors_too(api: Api) -> None:
    body = {"metadata": {"name": "Wrong"}, "dota": {}}
    assert api.warnings("POST", "/api/v1/namespaces/default/configmaps", body) == ['unknown field "dota"']


@pytest.mark.parametrize("text", ["example warning", 'Test of "Iñtërnâtiônàlizætiøn,💝🐹🌇⛔"', "a\\b", "a, b"])
def test_a_warning_is_read_as_it_was_written(text: str) -> None:
    """Go: TestNewWarningHeader."""
    (header,) = warning_headers([text])
    (found,) = parse_warning_headers([header.encode().decode("latin-1")])
    assert (found.code, found.agent, found.text) == (299, "-", text)


@pytest.mark.parametrize("text", ["Test of new\nline", "Test of control\x00character"])
def test_a_text_that_no_header_can_say_is_left_out(text: str) -> None:
    """Go: TestNewWarningHeader."""
    assert warning_headers([text, "said"]) == ['299 - "said"']


def test_the_annotation_of_an_ingress_class_is_warned_of_only_when_the_ingress_is_created(api: Api) -> None:
    path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
    metadata = {"name": "annotated", "annotations": {"kubernetes.io/ingress.class": "nginx"}}
    body = {"metadata": metadata, "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}

    created = api.warnings("POST", path, body)
    name = "kubernetes.io/ingress.class"
    assert created == [f"annotation \"{name}\" is deprecated, please use 'spec.ingressClassName' instead"]
    assert api.warnings("PUT", f"{path}/annotated", body) == []


def repeating_pod() -> Json:
    """Return a pod whose lists have keys twice; the fields that differ between them make each pair valid."""
    port, other_port = {"containerPort": 53, "protocol": "UDP"}, {"containerPort": 80, "hostPort": 80}
    env = [
        {"name": "A", "value": "1"},
        {"name": "A", "value": "2"},
        {"name": "B", "value": "1"},
        {"name": "B", "value": "$(B),2"},
        {"name": "B", "value": "$(B)"},
        {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    ]
    main = {"name": "main", "image": "i", "env": env, "ports": [port, {**port, "protocol": "TCP"}, other_port]}
    ports = [port, {"containerPort": 53, "hostPort": 53}, {**other_port, "hostIP": "10.0.0.1"}]
    return {
        "imagePullSecrets": [{"name": "s"}, {"name": "s"}, {}],
        "hostAliases": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}, {"ip": "10.0.0.1"}],
        "containers": [main, {"name": "side", "image": "i", "ports": ports}],
        "initContainers": [{"name": "init", "image": "i", "env": env[:2]}],
    }


REPETITIONS = [
    'hostAliases[2].ip: duplicate ip "10.0.0.1"',
    'imagePullSecrets[1].name: duplicate name "s"',
    'imagePullSecrets[2].name: invalid empty name ""',
    'initContainers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    'containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    'containers[0].env[4]: hides previous definition of "B", which may be dropped when using apply',
    'containers[0].env[5]: hides previous definition of "A", which may be dropped when using apply',
    "containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]",
    "containers[1].ports[1]: overlapping port definition with spec.containers[0].ports[1]",
    "containers[1].ports[2]: dangerously ambiguous port definition with spec.containers[0].ports[2]",
]


def test_the_creator_of_a_pod_is_warned_of_keys_that_apply_may_merge(api: Api) -> None:
    pods = "/api/v1/namespaces/default/pods"
    body = {"metadata": {"name": "repeating"}, "spec": repeating_pod()}
    assert api.warnings("POST", pods, body) == [f"spec.{text}" for text in REPETITIONS]
    stored = api("GET", f"{pods}/repeating", want=200)
    stored["metadata"]["labels"] = {"a": "b"}
    assert api.warnings("PUT", f"{pods}/repeating", stored) == []


@pytest.mark.parametrize(
    ("path", "template", "change"),
    [
        ("/apis/apps/v1/namespaces/default/deployments", "spec.template", {"paused": True}),
        ("/apis/batch/v1/namespaces/default/cronjobs", "spec.jobTemplate.spec.template", {"suspend": True}),
    ],
)
def test_the_writer_of_a_template_is_warned_of_keys_that_apply_may_merge(
    api: Api, path: str, template: str, change: Json
) -> None:
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": repeating_pod()}
    spec: Json = {"selector": {"matchLabels": {"a": "b"}}, "template": pod}
    if path.endswith("cronjobs"):
        pod["spec"]["restartPolicy"] = "Never"
        spec = {"schedule": "1 * * * *", "jobTemplate": {"spec": {"template": pod}}}
    wanted = [f"{template}.spec.{text}".replace("with spec.", f"with {template}.spec.") for text in REPETITIONS]
    assert api.warnings("POST", path, {"metadata": {"name": "repeating"}, "spec": spec}) == wanted

    one = f"{path}/repeating"
    merge = "application/merge-patch+json"
    assert api.warnings("PATCH", one, {"metadata": {"labels": {"c": "d"}}}, merge) == []
    assert api.warnings("PATCH", one, {"spec": change}, merge) == wanted
