"""The OpenAPI documents of the embedded server: the index leads to a document of each group and version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def test_each_entry_of_the_index_leads_to_the_document_of_its_group(api: Api) -> None:
    index: dict[str, Any] = api("GET", "/openapi/v3", want=200)["paths"]
    assert {"api/v1", "apis/apps/v1", "apis/batch/v1"} <= index.keys()
    for name in ("api/v1", "apis/apps/v1"):
        document = api("GET", index[name]["serverRelativeURL"], want=200)
        assert document["openapi"].startswith("3.0")
        assert all(path.startswith(f"/{name}/") for path in document["paths"])
    assert "/apis/apps/v1/namespaces/{namespace}/deployments" in document["paths"]
    assert "io.k8s.api.apps.v1.Deployment" in document["components"]["schemas"]


def test_a_document_that_the_client_has_is_not_sent_again(api: Api) -> None:
    found = api.session.get(api.env.url + "/openapi/v2", headers={"Accept": "application/json"})
    assert found.status_code == 200
    headers = {"If-None-Match": found.headers["ETag"], "Accept": "application/json"}
    unchanged = api.session.get(api.env.url + "/openapi/v2", headers=headers)
    assert (unchanged.status_code, unchanged.content) == (304, b"")


@pytest.mark.parametrize("path", ["apis/nope/v1", "apis/apps/v9", "api/v2", "apis/apps", "apis/apps/v1/more", "x"])
def test_there_is_no_document_of_a_group_that_is_not_served(api: Api, path: str) -> None:
    assert api.request("GET", f"/openapi/v3/{path}").status_code == 404


def test_the_selectable_fields_of_custom_resources_are_published(api: Api) -> None:
    spec = {"type": "object", "properties": {"host": {"type": "string"}, "port": {"type": "integer"}}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        "selectableFields": [{"jsonPath": ".spec.port"}, {"jsonPath": ".spec.host"}],
    }
    names = {"plural": "listeners", "kind": "Listener"}
    definition = {
        "metadata": {"name": "listeners.published.io"},
        "spec": {"group": "published.io", "scope": "Namespaced", "names": names, "versions": [version]},
    }
    api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition, want=201)
    schemas = api("GET", "/openapi/v3/apis/published.io/v1", want=200)["components"]["schemas"]
    v2 = api.session.get(api.env.url + "/openapi/v2", headers={"Accept": "application/json"}).json()["definitions"]

    for published in (schemas["io.published.v1.Listener"], v2["io.published.v1.Listener"]):
        assert published["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.port"}, {"fieldPath": "spec.host"}]
    assert "x-kubernetes-selectable-fields" not in schemas["io.published.v1.ListenerList"]
