"""Namespaces: a default service account in each, and a deleted one goes when its content is gone."""

from __future__ import annotations

from clientgo.testing.apiserver.controllers import namespace_conditions
from clientgo.testing.apiserver.controllers.objects import Objects
from clientgo.testing.apiserver.store.storage import Stored

STORAGE = "/namespaces"


class Namespaces:
    """One thread calls it."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def __repr__(self) -> str:
        return "<Namespaces>"

    def content_gone(self, name: str) -> None:
        """Handle the removal of an object in this namespace, which may be the last one."""
        namespace = self._objects.store.get(STORAGE, name)
        if namespace is not None and namespace.obj["metadata"].get("deletionTimestamp"):
            self.sync(namespace)

    def sync(self, stored: Stored) -> None:
        """Do the next step for one namespace: create its account, or continue its deletion."""
        objects = self._objects
        current = objects.store.get(STORAGE, stored.key)
        if current is None:
            return
        if not current.obj["metadata"].get("deletionTimestamp"):
            self._default_account(current.name)
            return
        remains = namespace_conditions.Remains()
        for bucket in objects.store.buckets():
            resource = objects.registry.by_storage(bucket)
            if resource is not None and resource.namespaced:
                objects.delete_all(bucket, f"{current.name}/")
                remains.add(resource, objects.store.list(bucket, f"{current.name}/")[1])
        if not remains:
            objects.change(STORAGE, current.name, namespace_conditions.without_finalizer, "finalize")
            return
        now = objects.times.now_text()
        objects.change(
            STORAGE, current.name, lambda obj: namespace_conditions.with_conditions(obj, remains, now), "status"
        )

    def _default_account(self, name: str) -> None:
        if self._objects.store.get("/serviceaccounts", f"{name}/default") is None:
            self._objects.create("", "v1", "serviceaccounts", name, {"metadata": {"name": "default"}})
