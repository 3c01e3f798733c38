"""A server for tests that has nothing but what discovery reads, written down path by path."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from httpscript import Answer, Received, ScriptedServer, serving, status

from clientgo import discovery, rest

AGGREGATED_V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
AGGREGATED_V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

Documents = Mapping[str, Any]


def group(name: str, *versions: str) -> dict[str, Any]:
    """Return an APIGroup; the first version is the preferred one."""
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def resources(group_version: str, *known: dict[str, Any]) -> dict[str, Any]:
    """Return an APIResourceList."""
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": list(known)}


def resource(name: str, kind: str, **more: Any) -> dict[str, Any]:
    """Return an APIResource in namespaces that can be listed."""
    return {"name": name, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": ["list"], **more}


def legacy(groups: list[dict[str, Any]], lists: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the documents of a server that does not aggregate: its core group is v1."""
    documents: dict[str, Any] = {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups},
    }
    for listed in lists:
        version = listed["groupVersion"]
        documents[f"/api/{version}" if version == "v1" else f"/apis/{version}"] = listed
    return documents


def path_of(request: Received) -> str:
    """Return the path of the request, without its timeout."""
    return request.target.partition("?")[0]


def answer(documents: Documents, request: Received, content_type: str = "application/json") -> Answer:
    """Return the document at the path, which is a dict or an Answer, or a NotFound response."""
    found = documents.get(path_of(request))
    if isinstance(found, Answer):
        return found
    if found is None:
        return status(404, "NotFound", "the server could not find the requested resource")
    return Answer(200, json.dumps(found).encode(), {"Content-Type": content_type})


@contextlib.contextmanager
def discovering(
    documents: Documents, content_type: str = "application/json", base_path: str = ""
) -> Iterator[tuple[discovery.DiscoveryClient, ScriptedServer]]:
    """Yield a client of a server with these documents. The next request sees changes of them."""
    with serving(lambda request: answer(documents, request, content_type)) as server:
        client = discovery.new_discovery_client_for_config(rest.Config(host=server.url + base_path))
        try:
            yield client, server
        finally:
            client.close()
