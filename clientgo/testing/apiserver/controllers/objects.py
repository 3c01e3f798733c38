"""Writes of the server's own controllers. They use the verbs, as any client, and repeat a write after a conflict."""

from __future__ import annotations

from collections.abc import Callable

from clientgo import klog
from clientgo.hops import hop
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.store.storage import Changed, Exists, Missing
from clientgo.testing.apiserver.verbs.call import internal_call
from clientgo.testing.apiserver.verbs.core import Services
from clientgo.testing.apiserver.verbs.deleting import Deleter
from clientgo.testing.apiserver.verbs.options import DeleteOptions, WriteOptions
from clientgo.testing.apiserver.verbs.writing import Writer
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json

_COLLECTOR = "generic-garbage-collector"
_ATTEMPTS = 20


class Objects:
    """The stored objects, to read and to change. Objects are named by bucket and key."""

    def __init__(self, services: Services, writer: Writer, deleter: Deleter) -> None:
        self.store = services.store
        self.registry = services.registry
        self.times = services.times
        self._writer = writer
        self._deleter = deleter

    def __repr__(self) -> str:
        return f"<Objects {self.store!r}>"

    def resource(self, bucket: str) -> Resource:
        """Return the resource of a bucket, which must be served."""
        resource = self.registry.by_storage(bucket)
        assert resource is not None
        return resource

    def create(self, group: str, version: str, plural: str, namespace: str, obj: Json) -> None:
        """Create an object; one that is there or is refused is left as it is."""
        resource = self.registry.find(group, version, plural)
        assert resource is not None
        try:
            self._writer.create_own(resource, namespace, obj)
        except ApiError as err:
            klog.v(3).info("Could not create", resource=plural, err=str(err))

    def delete_all(self, bucket: str, prefix: str) -> None:
        """Delete the objects that are not being deleted yet, pods without a grace period."""
        for stored in self.store.list(bucket, prefix)[1]:
            if not stored.obj["metadata"].get("deletionTimestamp"):
                options: Json = {"propagationPolicy": "Background"}
                self.delete(bucket, stored.key, {**options, "gracePeriodSeconds": 0} if bucket == "/pods" else options)

    @hop(
        "apiserver.collect",
        go="(*GarbageCollector).attemptToDeleteItem",
        go_file="pkg/controller/garbagecollector/garbagecollector.go",
    )
    def delete(self, bucket: str, key: str, options: Json) -> None:
        """Delete an object with DeleteOptions. Ignores an object that is missing, and a rejected deletion."""
        resource = self.registry.by_storage(bucket)
        if resource is None:
            return
        namespace, _, name = key.rpartition("/")
        call = internal_call("DELETE", _COLLECTOR, resource, namespace, name)
        parsed = DeleteOptions(options)
        for _ in range(_ATTEMPTS):
            current = self.store.get(bucket, key)
            if current is None:
                return
            try:
                self._deleter.delete_object(call, current, parsed)
                return
            except (Changed, Missing):
                continue
            except ApiError as err:
                klog.v(3).info("Could not delete", resource=bucket, key=key, err=str(err))
                return

    def change(self, bucket: str, key: str, change: Callable[[Json], Json], subresource: str = "") -> None:
        """Update an object by a function of it that changes nothing in place; one held by nothing more goes."""
        resource = self.registry.by_storage(bucket)
        if resource is None:
            return
        namespace, _, name = key.rpartition("/")
        call = internal_call("PUT", _COLLECTOR, resource, namespace, name, subresource)
        options = WriteOptions(call.request, "UpdateOptions")
        for _ in range(_ATTEMPTS):
            current = self.store.get(bucket, key)
            if current is None:
                return
            obj = change(current.obj)
            obj = {**obj, "metadata": dict(obj["metadata"])}
            try:
                base = current.obj["metadata"].get("managedFields")
                self._writer.finish_update(call, obj, current.obj, current, options, base)
                return
            except (Changed, Missing, Exists):
                continue
            except ApiError as err:
                klog.v(3).info("Could not update", resource=bucket, key=key, err=str(err))
                return

    def remove_finalizer(self, bucket: str, key: str, finalizer: str) -> None:
        def change(obj: Json) -> Json:
            metadata = dict(obj["metadata"])
            left = [name for name in metadata.get("finalizers") or () if name != finalizer]
            if left:
                metadata["finalizers"] = left
            else:
                metadata.pop("finalizers", None)
            return {**obj, "metadata": metadata}

        self.change(bucket, key, change)
