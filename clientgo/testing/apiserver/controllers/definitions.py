"""CustomResourceDefinitions: names accepted, groups served, and objects removed before their definition.

Mirrors apiextensions-apiserver's controllers. A definition is served before its create request is answered, which the
real server does within a second.
"""

from __future__ import annotations

import threading

from clientgo import klog
from clientgo.apimachinery.util import managedfields
from clientgo.testing.apiserver.controllers.objects import Objects
from clientgo.testing.apiserver.kinds import crd, ownership, strategy
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.store.storage import Changed, Missing, Store, Stored
from clientgo.testing.apiserver.store.watch import Watches
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times
from clientgo.testing.apiserver.wire.webhooks import WebhookClients

_ATTEMPTS = 20


class Establisher:
    """A controller that makes the registry serve the stored definitions.

    Thread-safe: all state is in store and registry. A group's definitions are read and served in one step, since a
    thread that read them before a deletion could otherwise serve a deleted definition without end.
    """

    def __init__(self, store: Store, registry: Registry, pump: Watches, times: Times, clients: WebhookClients) -> None:
        self._store = store
        self._registry = registry
        self._pump = pump
        self._times = times
        self._clients = clients
        # Held from reading a group's definitions until they are served. Store, registry and pump have their own locks.
        self._serving = threading.Lock()

    def __repr__(self) -> str:
        return f"<Establisher {self._registry!r}>"

    def committed(self, kind: str, resource: Resource, new: Stored, old: Stored | None) -> None:
        """Handle a write to any resource that is stored and whose response is not sent yet."""
        if resource.storage != crd.STORAGE:
            return
        group = new.obj["spec"]["group"]
        before = old.obj if old is not None and kind != "DELETED" else {}
        changed = any(before.get(part) != new.obj.get(part) for part in ("spec", "status"))
        if kind != "DELETED" and not new.obj["metadata"].get("deletionTimestamp"):
            changed |= self._accept_names(resource, new.key)
        if changed:
            self._accept_released(resource, group)
            self.serve_group(group)

    def serve_all(self) -> None:
        """Serve the groups of all stored definitions, as a server that comes back has to."""
        groups = {stored.name.partition(".")[2] for stored in self._store.list(crd.STORAGE)[1]}
        for group in sorted(groups):
            try:
                self.serve_group(group)
            except Exception as err:
                # One damaged definition does not cost the others.
                klog.error_s(err, "Could not serve the custom resources of a group", group=group)

    def serve_group(self, name: str) -> None:
        """Make the served resources of a group those of its definitions."""
        with self._serving:
            self._serve_group(name)

    def _serve_group(self, name: str) -> None:
        store, registry = self._store, self._registry
        definitions = [s.obj for s in store.list(crd.STORAGE)[1] if s.name.partition(".")[2] == name]
        # Not the built-in group of that name, whose objects would go with the last definition.
        before = registry.custom_group(name)
        if before is None and not any(crd.is_established(obj) for obj in definitions):
            return
        known = {r.storage for v in before.resources.values() for r in v.values()} if before is not None else set()
        group = crd.make_group(name, definitions, self._clients)
        registry.set_custom(name, group)
        now = {r.storage for v in group.resources.values() for r in v.values()} if group is not None else set()
        for bucket in known - now:
            store.drop(bucket)
            self._pump.end_bucket(bucket)

    def _accept_released(self, resource: Resource, group: str) -> None:
        """Accept names that other definitions of the group wait for, now that a definition may have released them."""
        for _ in range(_ATTEMPTS):
            waiting = [
                stored.key
                for stored in self._store.list(crd.STORAGE)[1]
                if crd.waits_for_names(stored.obj, group) and not stored.obj["metadata"].get("deletionTimestamp")
            ]
            # Each of them: a name that one releases may be the next one's.
            if not sum(self._accept_names(resource, key) for key in waiting):
                return

    def _accept_names(self, resource: Resource, key: str) -> bool:
        """Write the status that the names lead to and report whether it is new."""
        for _ in range(_ATTEMPTS):
            current = self._store.get(crd.STORAGE, key)
            if current is None:
                return False
            others = [other.obj for other in self._store.list(crd.STORAGE)[1] if other.key != key]
            status = crd.accepted_status(current.obj, others, self._times.now_text())
            if status == current.obj.get("status"):
                return False
            try:
                self._store.update(crd.STORAGE, key, self._with_status(resource, current.obj, status), current.rv)
                return True
            except (Changed, Missing):
                continue
        return False

    def _with_status(self, resource: Resource, obj: Json, status: Json) -> Json:
        new = {**obj, "metadata": dict(obj["metadata"]), "status": status}
        writer = managedfields.Writer("kube-apiserver", resource.group_version, "status")
        node, base = ownership.merge_node(resource), obj["metadata"].get("managedFields")
        managed = managedfields.updated(node, obj, new, base, writer, self._times.now_text())
        ownership.set_managed(new, managed)
        return strategy.normalise(resource, new)


class Definitions:
    """Definitions being deleted: their objects first, then their finalizer. One thread calls it."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def __repr__(self) -> str:
        return "<Definitions>"

    def object_gone(self, bucket: str) -> None:
        """Handle the removal of an object in this bucket, which may be the last one of its definition."""
        resource = self._objects.registry.by_storage(bucket)
        if resource is None or not resource.custom:
            return
        definition = self._objects.store.get(crd.STORAGE, f"{resource.plural}.{resource.group}")
        if definition is not None and definition.obj["metadata"].get("deletionTimestamp"):
            self.sync(definition)

    def sync(self, stored: Stored) -> None:
        """Do the next step of a definition's deletion."""
        objects = self._objects
        current = objects.store.get(crd.STORAGE, stored.key)
        if current is None or not current.obj["metadata"].get("deletionTimestamp"):
            return
        if crd.CLEANUP_FINALIZER not in (current.obj["metadata"].get("finalizers") or ()):
            return
        spec = current.obj["spec"]
        bucket = objects.registry.storage_of_custom(spec["group"], spec["names"]["plural"])
        now = objects.times.now_text()
        objects.change(crd.STORAGE, current.key, lambda obj: crd.terminating(obj, now), "status")
        objects.delete_all(bucket, "")
        if not objects.store.count(bucket):
            objects.change(crd.STORAGE, current.key, lambda obj: crd.terminated(obj, now), "status")
