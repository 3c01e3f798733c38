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
