"""Reconciles one part of a cluster with its builder's manifest. Mirrors pkg/resource/resource.go.

As with kubectl apply, an annotation of the part has the digest of the applied manifest. It shows a change of the
manifest; the part itself shows changes by others. Fields outside of the manifest keep the server's values.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime import DEFAULT_UNSTRUCTURED_CONVERTER, ResourceObject, Scheme
from clientgo.apimachinery.types import NamespacedName
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.controller_runtime.controller import controllerutil
from resources.builders import LAST_APPLIED, Builder, Manifest, digest_of, is_part_of
from resources.cluster import Cluster


class Reconciler:
    """A reconciler of one builder's object. For writes `reader` must be the API server's, else the cache is enough."""

    def __init__(self, c: client.Client, reader: client.Reader, scheme: Scheme, cluster: Cluster) -> None:
        self._client = c
        self._reader = reader
        self._scheme = scheme
        self._cluster = cluster

    def existing(self, ctx: Context, builder: Builder) -> Any:
        """Return the existing object, or None. Raises StatusError."""
        try:
            return self._reader.get(ctx, NamespacedName(self._cluster.namespace, builder.resource_name()), builder.kind)
        except errors.StatusError as err:
            client.ignore_not_found(err)
            return None

    def is_there(self, ctx: Context, builder: Builder) -> bool:
        """Report whether the object exists and the cluster owns it. Raises StatusError."""
        found = self.existing(ctx, builder)
        return found is not None and _is_controlled_by(found, self._cluster)

    def has_changed(self, ctx: Context, builder: Builder) -> bool:
        """Report whether the object needs a change. Raises StatusError."""
        found = self.existing(ctx, builder)
        return found is None or self._target(builder, found) is not None

    def reconcile(self, ctx: Context, builder: Builder) -> bool:
        """Write the object if necessary, and report whether it has changed. Raises StatusError, such as a conflict."""
        found = self.existing(ctx, builder)
        if found is None:
            self._client.create(ctx, self._new(builder))
            return True
        if not _is_controlled_by(found, self._cluster):
            raise ValueError(f"{builder.kind.__name__} {builder.resource_name()} belongs to somebody else")
        target = self._target(builder, found)
        if target is None:
            return False
        self._client.update(ctx, builder.kind.from_dict(target))
        return True

    def delete(self, ctx: Context, builder: Builder) -> None:
        """Delete the object if the cluster owns it. Raises StatusError."""
        found = self.existing(ctx, builder)
        if found is None or not _is_controlled_by(found, self._cluster):
            return
        try:
            self._client.delete(ctx, found, client.Preconditions(uid=found.get_uid()))
        except errors.StatusError as err:
            client.ignore_not_found(err)

    def _new(self, builder: Builder) -> ResourceObject:
        manifest = builder.build(None)
        metadata = {
            **manifest["metadata"],
            "namespace": self._cluster.namespace,
            "name": builder.resource_name(),
        }
        metadata["annotations"] = {
            **metadata.get("annotations", {}),
            LAST_APPLIED: digest_of(manifest, builder.digested),
        }
        obj = builder.kind.from_dict({**manifest, "metadata": metadata})
        controllerutil.set_controller_reference(self._cluster.crdb, obj, self._scheme)
        return obj

    @staticmethod
    def _target(builder: Builder, found: ResourceObject) -> Manifest | None:
        """Return the manifest to write, or None if the object needs no change."""
        manifest = builder.build(found)
        # With the fields of a newer server, which to_dict omits.
        document = DEFAULT_UNSTRUCTURED_CONVERTER.to_unstructured(found)
        digest = digest_of(manifest, builder.digested)
        applied = (document["metadata"].get("annotations") or {}).get(LAST_APPLIED)
        if applied == digest and is_part_of(manifest, document):
            return None
        metadata = document["metadata"]
        for name in ("labels", "annotations"):
            metadata[name] = {**(metadata.get(name) or {}), **manifest["metadata"].get(name, {})}
        metadata["annotations"][LAST_APPLIED] = digest
        for name, value in manifest.items():
            if name == "spec":
                document.setdefault("spec", {}).update(value)
            elif name != "metadata":
                document[name] = value
        return document


def _is_controlled_by(obj: ResourceObject, cluster: Cluster) -> bool:
    return any(owner.controller and owner.uid == cluster.crdb.get_uid() for owner in obj.get_owner_references())
