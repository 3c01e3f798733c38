"""The user and the other controllers of a run. Steps call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clientgo.testing.controllertest.cluster import Client, Json, path_of
from clientgo.testing.controllertest.faults import FINALIZER, TOUCHED

if TYPE_CHECKING:
    from clientgo.testing.apiserver.kinds.registry import Resource
    from clientgo.testing.controllertest.steps import Step
    from clientgo.testing.controllertest.world import World

Key = tuple[str, str, str]


class User:
    """Writes as another client. It remembers the objects that it wants, so that it can insist on them."""

    def __init__(self, world: World, client: Client) -> None:
        self._world = world
        self._client = client
        self.wanted: dict[Key, Json | None] = {}
        """The last state that the user asked for, by kind, namespace and name; None for a deleted object."""
        self.actions: list[Step] = []
        """The user actions, in the order in which they happened."""

    def __repr__(self) -> str:
        return f"<User who wants {len(self.wanted)} objects>"

    def set(self, obj: Json) -> None:
        """Create the object, or replace its spec and other fields. Labels and annotations are added."""
        metadata = obj["metadata"]
        kind = f"{obj['apiVersion']}/{obj['kind']}"
        namespace, name = metadata.get("namespace", "default"), metadata["name"]
        self.wanted[kind, namespace, name] = obj
        self._set(self._world.cluster.resource(kind), namespace, name, obj)

    def delete(self, kind: str, name: str, namespace: str = "default") -> None:
        """Delete the object if it exists."""
        resource = self._world.cluster.resource(kind)
        full = f"{resource.group}/{resource.version}".removeprefix("/") + f"/{resource.kind}"
        self.wanted[full, namespace, name] = None
        self._send("DELETE", resource, namespace, name)

    def repeat_failed(self) -> bool:
        """Repeat the last request for each object that is missing or left over. Returns True if something changed."""
        before = self._world.server.store.version
        for (kind, namespace, name), obj in self.wanted.items():
            resource = self._world.cluster.resource(kind)
            found = self._world.cluster.get(kind, name, namespace)
            if obj is not None and found is None:
                self._set(resource, namespace, name, obj)
            elif obj is None and found is not None:
                self._send("DELETE", resource, namespace, name)
        return self._world.server.store.version != before

    def delete_all(self) -> None:
        """Delete all objects of the user."""
        for (kind, namespace, name), obj in list(self.wanted.items()):
            if obj is not None:
                self.delete(kind, name, namespace)

    def touch(self, bucket: str, key: str) -> None:
        """Add an annotation, as another controller does."""
        self._patch(bucket, key, {"metadata": {"annotations": {TOUCHED: "yes"}}}, "other")

    def remove(self, bucket: str, key: str) -> None:
        """Delete an object, as another controller or an administrator does."""
        resource, namespace, name = self._locate(bucket, key)
        self._send("DELETE", resource, namespace, name, actor="other")

    def add_finalizer(self, bucket: str, key: str) -> None:
        """Add a finalizer, which stays until the faults end."""
        resource, namespace, name = self._locate(bucket, key)
        _, found = self._request("GET", path_of(resource, namespace, name))
        finalizers = found.get("metadata", {}).get("finalizers", [])
        if FINALIZER not in finalizers and "deletionTimestamp" not in found.get("metadata", {}):
            self._patch(bucket, key, {"metadata": {"finalizers": [*finalizers, FINALIZER]}}, "other")

    def remove_finalizers(self) -> None:
        """Remove the finalizers of `add_finalizer`."""
        for bucket, stored in list(self._world.server.store.walk()):
            finalizers = stored.obj["metadata"].get("finalizers") or []
            if FINALIZER in finalizers:
                left = [name for name in finalizers if name != FINALIZER]
                self._patch(bucket, stored.key, {"metadata": {"finalizers": left}}, "other")

    def create_namespace(self, name: str) -> None:
        """Create a namespace. The creation is no part of the history."""
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        with self._world.acting("server"):
            self._client.request("POST", "/api/v1/namespaces", namespace)

    def delete_namespace(self, name: str) -> None:
        """Delete a namespace. The user no longer wants its objects."""
        for key in self.wanted:
            if key[1] == name:
                self.wanted[key] = None
        self._send("DELETE", self._world.cluster.resource("Namespace"), "", name)

    def _set(self, resource: Resource, namespace: str, name: str, obj: Json) -> None:
        code, found = self._request("GET", path_of(resource, namespace, name))
        if code == 404:
            if resource.namespaced and self._world.cluster.get("Namespace", namespace) is None:
                self.create_namespace(namespace)
            self._send("POST", resource, namespace, "", obj)
            code, found = self._request("GET", path_of(resource, namespace, name))
        elif "deletionTimestamp" not in found.get("metadata", {}):
            while (changed := _merged(found, obj)) != found:
                if self._send("PUT", resource, namespace, name, changed) != 409:
                    break
                code, found = self._request("GET", path_of(resource, namespace, name))
        if "status" in obj and code == 200:
            self._send("PUT", resource, namespace, name, {**found, "status": obj["status"]}, subresource="status")

    def _locate(self, bucket: str, key: str) -> tuple[Resource, str, str]:
        resource = self._world.server.registry.by_storage(bucket)
        assert resource is not None
        namespace, _, name = key.rpartition("/")
        return resource, namespace, name

    def _patch(self, bucket: str, key: str, patch: Json, actor: str) -> None:
        resource, namespace, name = self._locate(bucket, key)
        self._send("PATCH", resource, namespace, name, patch, actor=actor)

    def _send(
        self,
        method: str,
        resource: Resource,
        namespace: str,
        name: str,
        body: Any = None,
        *,
        subresource: str = "",
        actor: str = "user",
    ) -> int:
        """Send a request, add it to the history, and return the response's code."""
        world = self._world
        with world.acting(actor):
            code, answer = self._client.request(method, path_of(resource, namespace, name, subresource), body)
        shown = name or body["metadata"]["name"]
        reason = f" {answer.get('reason')}" if code >= 300 else f" @{world.server.store.version}"
        verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[method]
        world.note(actor, f"{verb} {resource.plural} {namespace}/{shown}", f"{code}{reason}")
        return code

    def _request(self, method: str, path: str) -> tuple[int, Json]:
        return self._client.request(method, path)


def _merged(found: Json, wanted: Json) -> Json:
    """Return `found` with the fields of `wanted`; their labels and annotations are united."""
    metadata = dict(found["metadata"])
    for field in ("labels", "annotations"):
        if given := wanted["metadata"].get(field):
            metadata[field] = {**metadata.get(field, {}), **given}
    others = {name: value for name, value in wanted.items() if name not in ("metadata", "status")}
    return {**found, **others, "metadata": metadata}
