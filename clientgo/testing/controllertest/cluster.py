"""The user's view of the cluster of a run: reading objects, and writing them as another client."""

from __future__ import annotations

import builtins
import json
from typing import TYPE_CHECKING, Any

from clientgo.apimachinery.runtime.view import copy_json
from clientgo.golang import http
from clientgo.testing.apiserver import Server

if TYPE_CHECKING:
    from clientgo.testing.apiserver.kinds.registry import Resource

Json = dict[str, Any]


class Cluster:
    """The objects of the server, for invariants and for final conditions. Reading takes no lock and never blocks."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def __repr__(self) -> str:
        return f"<Cluster of {self.server!r}>"

    def list(self, kind: str, namespace: str = "") -> list[Json]:
        """Return copies of the objects of a kind, by key. Raises LookupError for an unknown kind."""
        stored = self.server.store.contents(self.resource(kind).storage)[0]
        found = sorted((each.key, each.obj) for each in stored if namespace in ("", each.namespace))
        return [copy_json(obj) for _, obj in found]

    def get(self, kind: str, name: str, namespace: str = "default") -> Json | None:
        """Return a copy of an object, or None. Raises LookupError for an unknown kind."""
        resource = self.resource(kind)
        stored = self.server.store.get(resource.storage, f"{namespace}/{name}" if resource.namespaced else name)
        return copy_json(stored.obj) if stored is not None else None

    def owned_by(self, owner: Json, kind: str) -> builtins.list[Json]:
        """Return the objects of a kind that name `owner` in their ownerReferences."""
        uid = owner["metadata"]["uid"]
        return [
            obj
            for obj in self.list(kind, owner["metadata"].get("namespace", ""))
            if any(reference.get("uid") == uid for reference in obj["metadata"].get("ownerReferences", ()))
        ]

    def resource(self, kind: str) -> Resource:
        """Return the resource of a kind, which is written "Kind" or "group/version/Kind". Raises LookupError."""
        group_version, _, short = kind.rpartition("/")
        registry = self.server.registry
        if group_version:
            found = registry.by_kind(group_version, short)
        else:
            candidates = [each for each in registry.all() if each.kind == short]
            found = min(candidates, key=lambda each: _age(each.version), default=None)
        if found is None:
            raise LookupError(f"the server has no kind {kind!r}")
        return found


def _age(version: str) -> tuple[bool, str]:
    """Sort stable versions first."""
    return ("alpha" in version or "beta" in version, version)


def path_of(resource: Resource, namespace: str, name: str = "", subresource: str = "") -> str:
    """Return the URL path of an object or a collection."""
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    scope = f"/namespaces/{namespace}" if resource.namespaced else ""
    return "".join([base, scope, f"/{resource.plural}", *(f"/{part}" for part in (name, subresource) if part)])


class Client:
    """Requests of the user and of other controllers. An error response is returned, not raised."""

    def __init__(self, server: Server, transport: http.RoundTripper) -> None:
        self._server = server
        self._transport = transport

    def request(self, method: str, path: str, body: Json | None = None) -> tuple[int, Json]:
        """Send a request and return the response's code and document."""
        headers = http.Header({"Authorization": f"Bearer {self._server.token}", "Accept": "application/json"})
        headers["Content-Type"] = "application/merge-patch+json" if method == "PATCH" else "application/json"
        data = json.dumps(body).encode() if body is not None else None
        response = self._transport.round_trip(
            http.Request(method=method, url=f"{self._server.url}{path}", headers=headers, body=data)
        )
        return response.status_code, json.loads(response.body.read() or b"{}")
