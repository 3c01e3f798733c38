"""Leases in memory, with the part of a typed client that locks for leader election use."""

from __future__ import annotations

import threading
from collections.abc import Callable

from clientgo.api.coordination import v1 as coordinationv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.context import Context

_LEASES = GroupResource("coordination.k8s.io", "leases")


class FakeLeases:
    """All Leases of a server that checks resource versions, and the client of one namespace. Thread-safe.

    `calls` lists the verbs; `react` runs before each call, outside the lock, and may raise in its place.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stored: dict[str, coordinationv1.Lease] = {}
        self._version = 0
        self.calls: list[str] = []
        self.react: Callable[[str, Context], None] = lambda verb, ctx: None

    def leases(self, namespace: str) -> FakeLeases:
        return self

    def put(self, lease: coordinationv1.Lease) -> None:
        """Store a Lease behind everybody's back."""
        with self._lock:
            self._store(lease)

    def stored(self, name: str) -> coordinationv1.Lease | None:
        """Return the server's Lease."""
        with self._lock:
            lease = self._stored.get(name)
            return None if lease is None else lease.deep_copy()

    def get(self, ctx: Context, name: str, options: metav1.GetOptions | None = None) -> coordinationv1.Lease:
        self._enter("get", ctx)
        with self._lock:
            if name not in self._stored:
                raise errors.new_not_found(_LEASES, name)
            return self._stored[name].deep_copy()

    def create(
        self, ctx: Context, obj: coordinationv1.Lease, opts: metav1.CreateOptions | None = None
    ) -> coordinationv1.Lease:
        self._enter("create", ctx)
        with self._lock:
            if obj.get_name() in self._stored:
                raise errors.new_already_exists(_LEASES, obj.get_name())
            return self._store(obj)

    def update(
        self, ctx: Context, obj: coordinationv1.Lease, opts: metav1.UpdateOptions | None = None
    ) -> coordinationv1.Lease:
        self._enter("update", ctx)
        name = obj.get_name()
        with self._lock:
            if name not in self._stored:
                raise errors.new_not_found(_LEASES, name)
            if obj.get_resource_version() != self._stored[name].get_resource_version():
                raise errors.new_conflict(_LEASES, name, "the object has been modified")
            return self._store(obj)

    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> coordinationv1.LeaseList:
        """Return the objects that match the selector, which is one `label=value`."""
        self._enter("list", ctx)
        label, _, value = (opts.label_selector if opts is not None else "").partition("=")
        with self._lock:
            found = [one.deep_copy() for one in self._stored.values() if one.metadata.labels.get(label, "") == value]
        return coordinationv1.LeaseList(items=found)

    def delete(self, ctx: Context, name: str, opts: metav1.DeleteOptions | None = None) -> None:
        self._enter("delete", ctx)
        with self._lock:
            if name not in self._stored:
                raise errors.new_not_found(_LEASES, name)
            del self._stored[name]

    def _enter(self, verb: str, ctx: Context) -> None:
        self.calls.append(verb)
        self.react(verb, ctx)

    def _store(self, lease: coordinationv1.Lease) -> coordinationv1.Lease:
        self._version += 1
        stored = lease.deep_copy()
        stored.set_resource_version(str(self._version))
        self._stored[lease.get_name()] = stored
        return stored.deep_copy()
