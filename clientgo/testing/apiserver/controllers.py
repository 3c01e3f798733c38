"""The controllers a control plane cannot do without: CRDs, namespaces, garbage collection.

One thread, fed by what the store commits. Deterministic enough for tests: a CRD is served before its create request is
answered; the rest happens within milliseconds.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from clientgo import klog
from clientgo.testing.apiserver import crd, http, namespaces
from clientgo.testing.apiserver.call import Call
from clientgo.testing.apiserver.errors import ApiError
from clientgo.testing.apiserver.negotiation import Form
from clientgo.testing.apiserver.options import DeleteOptions, WriteOptions
from clientgo.testing.apiserver.registry import Resource
from clientgo.testing.apiserver.storage import Changed, Event, Exists, Missing, Stored

if TYPE_CHECKING:
    from clientgo.testing.apiserver.server import Server

Json = dict[str, Any]
_COLLECTOR = "generic-garbage-collector"


def internal_request(method: str, manager: str) -> http.Request:
    """A request that no client made."""
    return http.Request(method, "/", {"user-agent": manager}, None)  # type: ignore[arg-type]


class Controllers:
    """Runs on one thread of its own; start() and stop() belong to the server.

    Owners are tracked by uid: `_dependents` maps an owner's uid to the objects that name it.
    """

    def __init__(self, server: Server, *, collect_garbage: bool = True) -> None:
        self._server = server
        self._collect = collect_garbage
        # Guards the queue only.
        self._cond = threading.Condition()
        self._queue: deque[tuple[str, Event]] = deque()
        self._stopping = False
        self._busy = False
        self._thread: threading.Thread | None = None
        self._dependents: dict[str, set[tuple[str, str]]] = {}
        self._owners: dict[tuple[str, str], set[str]] = {}
        self._alive: dict[str, tuple[str, str]] = {}

    def __repr__(self) -> str:
        return f"<Controllers {len(self._queue)} queued, {len(self._dependents)} owners>"

    def start(self) -> None:
        for bucket, stored in self._server.store.walk():
            self._queue.append((bucket, Event("ADDED", None, stored)))
        self._thread = threading.Thread(target=self._run, name="apiserver-controllers", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with self._cond:
            self._stopping = True
            self._cond.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def offer(self, bucket: str, event: Event) -> None:
        """From the store, under its lock."""
        with self._cond:
            self._queue.append((bucket, event))
            if len(self._queue) == 1:
                self._cond.notify_all()

    def wait_idle(self, timeout: float = 10.0) -> bool:
        """Block until everything committed so far has been handled."""
        clock = self._server.clock
        end = clock.now() + timeout
        with self._cond:
            while self._queue or self._busy:
                left = end - clock.now()
                if left <= 0:
                    return False
                clock.wait(self._cond, left)
        return True

    def _run(self) -> None:
        while True:
            with self._cond:
                self._busy = False
                if not self._queue:
                    self._cond.notify_all()
                while not self._queue and not self._stopping:
                    self._cond.wait()
                if self._stopping:
                    return
                bucket, event = self._queue.popleft()
                self._busy = True
            try:
                self._handle(bucket, event)
            except Exception as err:
                klog.error_s(err, "Controller failed", resource=bucket, key=event.new.key)

    def _handle(self, bucket: str, event: Event) -> None:
        if self._collect:
            self._track(bucket, event)
        if bucket == "/namespaces" and event.type != "DELETED":
            self._sync_namespace(event.new)
        elif bucket == crd.STORAGE and event.type != "DELETED":
            self._sync_crd(event.new)
        elif event.type == "DELETED":
            self._sync_holders(bucket, event.new)

    def _sync_holders(self, bucket: str, gone: Stored) -> None:
        """A deleted object may have been the last in its namespace or of its CRD."""
        store = self._server.store
        if gone.namespace:
            namespace = store.get("/namespaces", gone.namespace)
            if namespace is not None and namespace.obj["metadata"].get("deletionTimestamp"):
                self._sync_namespace(namespace)
        resource = self._server.registry.by_storage(bucket)
        if resource is not None and resource.custom:
            definition = store.get(crd.STORAGE, f"{resource.plural}.{resource.group}")
            if definition is not None and definition.obj["metadata"].get("deletionTimestamp"):
                self._sync_crd(definition)

    # ---- CRDs

    def establish(self, stored: Stored) -> None:
        """Accept the names of a CRD and serve it; called before the create or update is answered."""
        store, times = self._server.store, self._server.times
        for _ in range(20):
            current = store.get(crd.STORAGE, stored.key)
            if current is None:
                break
            others = [other.obj for other in store.list(crd.STORAGE)[1]]
            status = crd.accepted_status(current.obj, others, times.now_text())
            if status == current.obj.get("status"):
                break
            resource = self._server.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
            assert resource is not None
            call = Call(internal_request("PUT", "kube-apiserver"), resource, "", current.name, "status", Form())
            obj = {**current.obj, "metadata": dict(current.obj["metadata"]), "status": status}
            try:
                options = WriteOptions(call.request, "UpdateOptions")
                base = current.obj["metadata"].get("managedFields")
                self._server.rest.finish_update(call, obj, current.obj, current, options, base)
                break
            except (Changed, Missing):
                continue
        self.serve_group(stored.obj["spec"]["group"])

    def serve_group(self, name: str) -> None:
        """Make the served resources of a group those of its CRDs."""
        store, registry = self._server.store, self._server.registry
        definitions = [s.obj for s in store.list(crd.STORAGE)[1] if s.obj["spec"]["group"] == name]
        before = registry.group(name)
        if before is None and not any(crd.is_established(obj) for obj in definitions):
            return
        known = {r.storage for v in before.resources.values() for r in v.values()} if before is not None else set()
        group = crd.make_group(name, definitions)
        registry.set_custom(name, group)
        now = {r.storage for v in group.resources.values() for r in v.values()} if group is not None else set()
        for bucket in known - now:
            store.drop(bucket)
            self._server.pump.end_bucket(bucket)

    def _sync_crd(self, stored: Stored) -> None:
        """A CRD being deleted: its objects first, then its finalizer."""
        current = self._server.store.get(crd.STORAGE, stored.key)
        if current is None or not current.obj["metadata"].get("deletionTimestamp"):
            return
        if crd.CLEANUP_FINALIZER not in (current.obj["metadata"].get("finalizers") or ()):
            return
        spec = current.obj["spec"]
        bucket = f"{spec['group']}/{spec['names']['plural']}"
        resource, now = self._resource(crd.STORAGE), self._server.times.now_text()
        self._change(resource, crd.STORAGE, current.key, lambda obj: crd.terminating(obj, now), "status")
        self._delete_all(bucket, "")
        if not self._server.store.count(bucket):
            self._change(resource, crd.STORAGE, current.key, lambda obj: crd.terminated(obj, now), "status")

    # ---- namespaces

    def _sync_namespace(self, stored: Stored) -> None:
        store = self._server.store
        current = store.get("/namespaces", stored.key)
        if current is None:
            return
        if not current.obj["metadata"].get("deletionTimestamp"):
            self._default_account(current.name)
            return
        remains = namespaces.Remains()
        for bucket in store.buckets():
            resource = self._server.registry.by_storage(bucket)
            if resource is not None and resource.namespaced:
                self._delete_all(bucket, f"{current.name}/")
                remains.add(resource, store.list(bucket, f"{current.name}/")[1])
        kind = self._resource("/namespaces")
        if not remains:
            self._change(kind, "/namespaces", current.name, namespaces.without_finalizer, "finalize")
            return
        now = self._server.times.now_text()
        self._change(
            kind, "/namespaces", current.name, lambda obj: namespaces.with_conditions(obj, remains, now), "status"
        )

    def _default_account(self, name: str) -> None:
        if self._server.store.get("/serviceaccounts", f"{name}/default") is not None:
            return
        self._server.create_object("", "v1", "serviceaccounts", name, {"metadata": {"name": "default"}})

    # ---- helpers

    def _resource(self, bucket: str) -> Resource:
        resource = self._server.registry.by_storage(bucket)
        assert resource is not None
        return resource

    def _delete_all(self, bucket: str, prefix: str) -> None:
        for stored in self._server.store.list(bucket, prefix)[1]:
            if not stored.obj["metadata"].get("deletionTimestamp"):
                self._delete(bucket, stored.key, {"gracePeriodSeconds": 0} if bucket == "/pods" else {})

    def _delete(self, bucket: str, key: str, options: Json) -> None:
        resource = self._server.registry.by_storage(bucket)
        if resource is None:
            return
        namespace, _, name = key.rpartition("/")
        call = Call(internal_request("DELETE", _COLLECTOR), resource, namespace, name, "", Form())
        parsed = DeleteOptions(call.request, options)
        for _ in range(20):
            current = self._server.store.get(bucket, key)
            if current is None:
                return
            try:
                self._server.rest.delete_object(call, current, parsed)
                return
            except (Changed, Missing):
                continue
            except ApiError as err:
                klog.v(3).info("Could not delete", resource=bucket, key=key, err=str(err))
                return

    def _change(self, resource: Resource, bucket: str, key: str, change: Any, subresource: str = "") -> None:
        """Update an object in the way of the server's own controllers; an object held by nothing more goes."""
        namespace, _, name = key.rpartition("/")
        call = Call(internal_request("PUT", _COLLECTOR), resource, namespace, name, subresource, Form())
        options = WriteOptions(call.request, "UpdateOptions")
        for _ in range(20):
            current = self._server.store.get(bucket, key)
            if current is None:
                return
            obj = change(current.obj)
            obj = {**obj, "metadata": dict(obj["metadata"])}
            try:
                base = current.obj["metadata"].get("managedFields")
                self._server.rest.finish_update(call, obj, current.obj, current, options, base)
                return
            except (Changed, Missing, Exists):
                continue
            except ApiError as err:
                klog.v(3).info("Could not update", resource=bucket, key=key, err=str(err))
                return

    def _remove_finalizer(self, bucket: str, key: str, finalizer: str) -> None:
        def change(obj: Json) -> Json:
            metadata = dict(obj["metadata"])
            left = [name for name in metadata.get("finalizers") or () if name != finalizer]
            if left:
                metadata["finalizers"] = left
            else:
                metadata.pop("finalizers", None)
            return {**obj, "metadata": metadata}

        self._change(self._resource(bucket), bucket, key, change)

    # ---- garbage collection

    def _track(self, bucket: str, event: Event) -> None:
        new = event.new
        me = (bucket, new.key)
        metadata = new.obj["metadata"]
        uid = metadata.get("uid", "")
        if event.type == "DELETED":
            self._forget(me)
            self._alive.pop(uid, None)
            self._owner_gone(uid)
            return
        self._alive[uid] = me
        owners = {reference.get("uid", "") for reference in metadata.get("ownerReferences") or ()}
        before = self._owners.get(me, set())
        for gone in before - owners:
            self._drop_dependent(gone, me)
        for added in owners - before:
            self._dependents.setdefault(added, set()).add(me)
        if owners:
            self._owners[me] = owners
        else:
            self._owners.pop(me, None)
        if owners - before:
            self._attend(me)
        if metadata.get("deletionTimestamp"):
            self._owner_terminating(me, metadata)
        for gone in before - owners:
            self._recheck_owner(gone)

    def _forget(self, me: tuple[str, str]) -> None:
        for owner in self._owners.pop(me, set()):
            self._drop_dependent(owner, me)
            self._recheck_owner(owner)

    def _drop_dependent(self, owner: str, me: tuple[str, str]) -> None:
        dependents = self._dependents.get(owner)
        if dependents is not None:
            dependents.discard(me)
            if not dependents:
                del self._dependents[owner]

    def _recheck_owner(self, uid: str) -> None:
        """The owner may wait in the foreground for exactly this dependent."""
        me = self._alive.get(uid)
        stored = self._server.store.get(*me) if me is not None else None
        if stored is not None and me is not None and stored.obj["metadata"].get("deletionTimestamp"):
            self._owner_terminating(me, stored.obj["metadata"])

    def _owner_gone(self, uid: str) -> None:
        for dependent in list(self._dependents.get(uid, ())):
            self._attend(dependent)

    def _owner_exists(self, reference: Json, namespace: str) -> bool:
        """Whether the object a reference names exists with that uid, by the index or else by the store."""
        uid = reference.get("uid", "")
        if uid in self._alive:
            me = self._alive[uid]
            stored = self._server.store.get(*me)
            return stored is not None and stored.obj["metadata"].get("uid") == uid
        resource = self._server.registry.by_kind(reference.get("apiVersion", ""), reference.get("kind", ""))
        if resource is None:
            # An unknown kind may come later; a real collector does not delete then either.
            return True
        key = f"{namespace}/{reference.get('name')}" if resource.namespaced else str(reference.get("name"))
        stored = self._server.store.get(resource.storage, key)
        return stored is not None and stored.obj["metadata"].get("uid") == uid

    def _attend(self, me: tuple[str, str]) -> None:
        """Delete an object none of whose owners exist; drop references to those that do not."""
        stored = self._server.store.get(*me)
        if stored is None or stored.obj["metadata"].get("deletionTimestamp"):
            return
        references = stored.obj["metadata"].get("ownerReferences") or []
        dangling = [r for r in references if not self._owner_exists(r, stored.namespace)]
        if not dangling:
            return
        if len(dangling) == len(references):
            policy = {"preconditions": {"uid": stored.obj["metadata"]["uid"]}}
            self._delete(*me, {**policy, "propagationPolicy": self._policy_of(stored)})
            return
        gone = {reference.get("uid") for reference in dangling}
        self._unreference(me, gone)

    @staticmethod
    def _policy_of(stored: Stored) -> str:
        """A dependent follows the way its finalizers already ask for."""
        finalizers = stored.obj["metadata"].get("finalizers") or ()
        if "orphan" in finalizers:
            return "Orphan"
        return "Foreground" if "foregroundDeletion" in finalizers else "Background"

    def _unreference(self, me: tuple[str, str], gone: set[Any]) -> None:
        def change(obj: Json) -> Json:
            metadata = dict(obj["metadata"])
            left = [r for r in metadata.get("ownerReferences") or () if r.get("uid") not in gone]
            if left:
                metadata["ownerReferences"] = left
            else:
                metadata.pop("ownerReferences", None)
            return {**obj, "metadata": metadata}

        resource = self._server.registry.by_storage(me[0])
        if resource is not None:
            self._change(resource, *me, change)

    def _owner_terminating(self, me: tuple[str, str], metadata: Json) -> None:
        finalizers = metadata.get("finalizers") or ()
        uid = metadata.get("uid", "")
        if "orphan" in finalizers:
            for dependent in list(self._dependents.get(uid, ())):
                self._unreference(dependent, {uid})
            self._remove_finalizer(*me, "orphan")
        elif "foregroundDeletion" in finalizers:
            blocking = self._delete_dependents(uid)
            if not blocking:
                self._remove_finalizer(*me, "foregroundDeletion")

    def _delete_dependents(self, uid: str) -> int:
        """Delete in the foreground what the owner owns alone; how many still block it."""
        blocking = 0
        for dependent in list(self._dependents.get(uid, ())):
            stored = self._server.store.get(*dependent)
            if stored is None:
                continue
            references = stored.obj["metadata"].get("ownerReferences") or []
            mine = [r for r in references if r.get("uid") == uid]
            others = [r for r in references if r.get("uid") != uid and self._owner_exists(r, stored.namespace)]
            if others:
                self._unreference(dependent, {uid})
                continue
            if not stored.obj["metadata"].get("deletionTimestamp"):
                has_own = bool(self._dependents.get(stored.obj["metadata"]["uid"]))
                policy = "Foreground" if has_own else "Background"
                self._delete(*dependent, {"propagationPolicy": policy})
                stored = self._server.store.get(*dependent)
            if stored is not None and any(r.get("blockOwnerDeletion") for r in mine):
                blocking += 1
        return blocking
