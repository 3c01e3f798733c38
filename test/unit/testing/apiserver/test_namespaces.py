"""A namespace that is being deleted: what it says while something holds it, and whose finalizers are whose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api, eventually

from clientgo.testing.apiserver import Environment

Json = dict[str, Any]
MERGE = "application/merge-patch+json"


@pytest.fixture
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def conditions(api: Api, name: str) -> dict[str, tuple[str, str]]:
    assert api.env.server.controllers.wait_idle()
    found = api("GET", f"/api/v1/namespaces/{name}", want=200)["status"].get("conditions") or ()
    return {c["type"]: (c["status"], c["message"]) for c in found}


def test_a_namespace_names_what_holds_it(api: Api) -> None:
    api("POST", "/api/v1/namespaces", {"metadata": {"name": "full"}}, want=201)
    for name in ("a", "b"):
        metadata = {"name": name, "finalizers": ["example.com/hold"]}
        api("POST", "/api/v1/namespaces/full/configmaps", {"metadata": metadata}, want=201)
    answer = api("DELETE", "/api/v1/namespaces/full", want=200)
    assert "deletionGracePeriodSeconds" not in answer["metadata"]
    found = conditions(api, "full")
    assert found["NamespaceContentRemaining"] == (
        "True",
        "Some resources are remaining: configmaps. has 2 resource instances",
    )
    assert found["NamespaceFinalizersRemaining"] == (
        "True",
        "Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances",
    )
    assert found["NamespaceDeletionContentFailure"][0] == "False"
    api("PATCH", "/api/v1/namespaces/full/configmaps/a", {"metadata": {"finalizers": None}}, media=MERGE, want=200)
    assert "configmaps. has 1 resource" in conditions(api, "full")["NamespaceContentRemaining"][1]
    api("PATCH", "/api/v1/namespaces/full/configmaps/b", {"metadata": {"finalizers": None}}, media=MERGE, want=200)
    eventually(lambda: api.request("GET", "/api/v1/namespaces/full").status_code == 404)


def test_finalizers_of_others_stay_until_they_are_finalized(api: Api) -> None:
    spec = {"finalizers": ["example.com/mine"]}
    api("POST", "/api/v1/namespaces", {"metadata": {"name": "mine"}, "spec": spec}, want=201)
    api("DELETE", "/api/v1/namespaces/mine", want=200)
    assert api.env.server.controllers.wait_idle()
    namespace = api("GET", "/api/v1/namespaces/mine", want=200)
    assert namespace["spec"]["finalizers"] == ["example.com/mine"]
    namespace["spec"]["finalizers"] = []
    api("PUT", "/api/v1/namespaces/mine/finalize", namespace, want=200)
    eventually(lambda: api.request("GET", "/api/v1/namespaces/mine").status_code == 404)
