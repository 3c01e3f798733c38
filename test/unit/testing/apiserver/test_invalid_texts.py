"""Texts that are not valid UTF-8, which come over protobuf: the server keeps their bytes, and answers in every form."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from apiclient import Api
from patience import PATIENCE

from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf.messages import message
from clientgo.apimachinery.runtime.serializer.protobuf.protobuf import wrap
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.wire.jsonio import loads_exact

Json = dict[str, Any]
PROTOBUF = "application/vnd.kubernetes.protobuf"
NAMESPACE = "/api/v1/namespaces/default"
BYTES = b"\xe2\x82"
CUT = BYTES.decode("utf-8", "surrogateescape")
SHOWN = "\ufffd\ufffd"


@pytest.fixture
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def post(api: Api, path: str, package: str, kind: str, document: Json, group: str = "") -> Json:
    """Post a document as protobuf. Return the created object, from JSON."""
    found = message(package, kind)
    assert found is not None
    body = wrap(protobuf.encode_message(found, document), f"{group}v1", kind)
    response = api.session.post(f"{api.env.url}{path}", body, headers={"Content-Type": PROTOBUF}, timeout=PATIENCE)
    assert response.status_code == 201, response.text
    made: Json = response.json()
    return made


def get(api: Api, path: str, accept: str) -> bytes:
    response = api.session.get(f"{api.env.url}{path}", headers={"Accept": accept}, timeout=PATIENCE)
    assert response.status_code == 200, response.text
    return response.content


def make_pod(api: Api) -> None:
    metadata = {"name": "p", "annotations": {"a": f"cut{CUT}"}}
    spec = {"containers": [{"name": "c", "image": "i", "args": [CUT]}]}
    post(api, f"{NAMESPACE}/pods", "clientgo.api.core.v1", "Pod", {"metadata": metadata, "spec": spec})


@pytest.mark.parametrize("path", [f"{NAMESPACE}/pods", f"{NAMESPACE}/pods/p"])
def test_answers_in_yaml_show_replacement_characters(api: Api, path: str) -> None:
    make_pod(api)
    answer = yaml.safe_load(get(api, path, "application/yaml"))
    assert answer == json.loads(get(api, path, "application/json"))
    pod = answer["items"][0] if "items" in answer else answer
    assert pod["metadata"]["annotations"] == {"a": f"cut{SHOWN}"}
    assert pod["spec"]["containers"][0]["args"] == [SHOWN]


def test_the_string_data_of_a_secret_keeps_its_bytes(api: Api) -> None:
    document = {"metadata": {"name": "s"}, "stringData": {"a": f"cut{CUT}", "b": "plain"}}
    made = post(api, f"{NAMESPACE}/secrets", "clientgo.api.core.v1", "Secret", document)
    assert {name: base64.b64decode(text) for name, text in made["data"].items()} == {
        "a": b"cut" + BYTES,
        "b": b"plain",
    }


@pytest.mark.parametrize("token", [CUT, f"a.b{CUT}.c", f"a.b.c{CUT}"])
def test_a_review_of_such_a_token_is_negative(api: Api, token: str) -> None:
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    spec = {"spec": {"token": token}}
    made = post(api, path, "clientgo.api.authentication.v1", "TokenReview", spec, "authentication.k8s.io/")
    assert made["status"] == {"user": {}, "error": "invalid bearer token"}


def test_an_error_quotes_an_invalid_value_as_go_does(api: Api) -> None:
    body = {"metadata": {"name": "bad", "labels": {"a": "x\x01\x7f<é"}}}

    (cause,) = api("POST", "/api/v1/namespaces/default/configmaps", body, want=422)["details"]["causes"]

    assert cause["message"].startswith('Invalid value: "x\\x01\\x7f<é": a valid label must be')


def test_the_description_of_a_definition_is_in_every_document(api: Api) -> None:
    schema = {"type": "object", "description": f"cut{CUT}", "properties": {"a": {"type": "string", "title": CUT}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    document = {"metadata": {"name": "foos.example.com"}, "spec": spec}
    kind = "CustomResourceDefinition"
    post(api, definitions, "clientgo.apiextensions.v1", kind, document, "apiextensions.k8s.io/")
    assert api.env.wait_idle()
    for path, accept in (
        ("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"),
        ("/openapi/v2", "application/json"),
        ("/openapi/v3/apis/example.com/v1", "application/json"),
        (definitions, "application/yaml"),
    ):
        assert f"cut{SHOWN}".encode() in get(api, path, accept)


def test_a_restart_keeps_the_bytes(tmp_path: Path) -> None:
    read = []
    for is_first in (True, False):
        with Environment(data_dir=str(tmp_path)) as env:
            api = Api(env)
            if is_first:
                make_pod(api)
            read.append(get(api, f"{NAMESPACE}/pods/p", PROTOBUF))
            api.close()
    assert read[0] == read[1]
    assert b"cut" + BYTES in read[0]


@pytest.mark.parametrize("text", ["plain", "\ufffd", CUT, "\\udce2", "\\ud83d\\ude00", "😀", "\x00", f"{CUT}😀\ufffd"])
def test_the_journal_reads_back_each_text(text: str) -> None:
    obj = {"metadata": {"name": text, text: [text]}, "n": 2**53 + 1}
    assert loads_exact(Stored("key", obj, 1).exact) == obj
