"""The garbage collector: it deletes dependents after or before their owners, or orphans them. For one thread."""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.controllers.objects import Objects
from clientgo.testing.apiserver.store.storage import Event, Stored
from clientgo.testing.apiserver.wire.jsonio import Json


class GarbageCollector:
    """The garbage collector. It tracks owners by uid.

    `_dependents` maps an owner's uid to the keys of the objects that name it; `_owners` maps each key to these uids.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._dependents: dict[str, set[tuple[str, str]]] = {}
        self._owners: dict[tuple[str, str], set[str]] = {}
        self._alive: dict[str, tuple[str, str]] = {}

    def __repr__(self) -> str:
        return f"<GarbageCollector {len(self._dependents)} owners>"

    def track(self, bucket: str, event: Event) -> None:
        """Process one change: delete new orphans, and check the owners that waited for this object."""
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
            self._collect_object(me)
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
        """Check a terminating owner again, which may have waited for this dependent in a foreground deletion."""
        me = self._alive.get(uid)
        stored = self._objects.store.get(*me) if me is not None else None
        if stored is not None and me is not None and stored.obj["metadata"].get("deletionTimestamp"):
            self._owner_terminating(me, stored.obj["metadata"])

    def _owner_gone(self, uid: str) -> None:
        for dependent in list(self._dependents.get(uid, ())):
            self._collect_object(dependent)

    def _owner_exists(self, reference: Json, namespace: str) -> bool:
        """Report whether the object of a reference exists with that uid.

        Looks into the index first, then into the store.
        """
        uid = reference.get("uid", "")
        if uid in self._alive:
            me = self._alive[uid]
            stored = self._objects.store.get(*me)
            return stored is not None and stored.obj["metadata"].get("uid") == uid
        resource = self._objects.registry.by_kind(reference.get("apiVersion", ""), reference.get("kind", ""))
        if resource is None:
            # An unknown kind may come later; a real collector does not delete then either.
            return True
        key = f"{namespace}/{reference.get('name')}" if resource.namespaced else str(reference.get("name"))
        stored = self._objects.store.get(resource.storage, key)
        return stored is not None and stored.obj["metadata"].get("uid") == uid

    def _unknown(self, reference: Json) -> bool:
        """Report whether the reference's kind is unknown.

        A real collector then decides nothing and tries again later.
        """
        kind = self._objects.registry.by_kind(reference.get("apiVersion", ""), reference.get("kind", ""))
        return kind is None and reference.get("uid", "") not in self._alive

    def _collect_object(self, me: tuple[str, str]) -> None:
        """Delete an object none of whose owners exist; drop references to those that do not."""
        stored = self._objects.store.get(*me)
        if stored is None or stored.obj["metadata"].get("deletionTimestamp"):
            return
        references = stored.obj["metadata"].get("ownerReferences") or []
        if any(self._unknown(reference) for reference in references):
            return
        dangling = [r for r in references if not self._owner_exists(r, stored.namespace)]
        if not dangling:
            return
        if len(dangling) == len(references):
            policy = {"preconditions": {"uid": stored.obj["metadata"]["uid"]}}
            self._objects.delete(*me, {**policy, "propagationPolicy": self._policy_of(stored)})
            return
        gone = {reference.get("uid") for reference in dangling}
        self._unreference(me, gone)

    @staticmethod
    def _policy_of(stored: Stored) -> str:
        """Return the deletion policy for a dependent, which follows its own finalizers."""
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

        self._objects.change(*me, change)

    def _owner_terminating(self, me: tuple[str, str], metadata: Json) -> None:
        finalizers = metadata.get("finalizers") or ()
        uid = metadata.get("uid", "")
        if "orphan" in finalizers:
            for dependent in list(self._dependents.get(uid, ())):
                self._unreference(dependent, {uid})
            self._objects.remove_finalizer(*me, "orphan")
        elif "foregroundDeletion" in finalizers:
            blocking = self._delete_dependents(uid)
            if not blocking:
                self._objects.remove_finalizer(*me, "foregroundDeletion")

    def _delete_dependents(self, uid: str) -> int:
        """Delete dependents without other owners in the foreground. Return how many still block the owner."""
        blocking = 0
        for dependent in list(self._dependents.get(uid, ())):
            stored = self._objects.store.get(*dependent)
            if stored is None:
                continue
            references = stored.obj["metadata"].get("ownerReferences") or []
            mine = [r for r in references if r.get("uid") == uid]
            others = [r for r in references if r.get("uid") != uid and self._owner_exists(r, stored.namespace)]
            if others:
                self._unreference(dependent, {uid})
                continue
            blocks = any(r.get("blockOwnerDeletion") for r in mine)
            if not stored.obj["metadata"].get("deletionTimestamp"):
                own = self._dependents.get(stored.obj["metadata"]["uid"])
                if blocks and own and any(map(self._waits_for_dependents, own)):
                    # A circle, in which each object would wait for the other ones for ever.
                    self._unblock(dependent)
                    blocks = False
                self._objects.delete(*dependent, {"propagationPolicy": "Foreground" if own else "Background"})
                stored = self._objects.store.get(*dependent)
            if stored is not None and blocks:
                blocking += 1
        return blocking

    def _waits_for_dependents(self, me: tuple[str, str]) -> bool:
        """Report whether an object is being deleted in the foreground."""
        stored = self._objects.store.get(*me)
        metadata = stored.obj["metadata"] if stored is not None else {}
        return bool(metadata.get("deletionTimestamp")) and "foregroundDeletion" in (metadata.get("finalizers") or ())

    def _unblock(self, me: tuple[str, str]) -> None:
        """Let an object no longer block the deletion of its owners. Go: unblockOwnerReferencesStrategicMergePatch."""

        def change(obj: Json) -> Json:
            references = obj["metadata"].get("ownerReferences") or ()
            free = [{**r, "blockOwnerDeletion": False} if r.get("blockOwnerDeletion") else r for r in references]
            return {**obj, "metadata": {**obj["metadata"], "ownerReferences": free}}

        self._objects.change(*me, change)
