"""The interface of actors, their dependencies and their errors. Mirrors pkg/actor/actor.go.

Differs: actors here never wait, while those in Go wait for minutes. An actor that would have to wait raises
NotReadyError, and the operator calls it again later. The program may have been killed after any write, so each actor
reads the state of its work from the API server, not from the cache. Each write carries a resourceVersion: a change in
the meantime is a conflict, and the actor reads again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from database import Database
from features import FeatureGates
from resources import Builder, Cluster, Pods, Reconciler

from clientgo.api.apps import v1 as appsv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime import ResourceObject, Scheme
from clientgo.apimachinery.types import NamespacedName
from clientgo.context import Context
from clientgo.controller_runtime import client as ctrlclient
from clientgo.controller_runtime.client import Client, Reader
from clientgo.logr import Logger

T = TypeVar("T", bound=ResourceObject)


class NotReadyError(Exception):
    """The actor must wait for something; try again soon."""


class PermanentError(Exception):
    """The operator cannot correct this error."""


class ValidationError(Exception):
    """The user's specification is impossible. The operator does nothing until it changes."""


class Actor(Protocol):
    """One action against a cluster. Go: actor.Actor."""

    def get_action_type(self) -> str: ...

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        """Do the next step of the action, and set its results in the status of `cluster`. May raise any error."""
        ...


@dataclass(frozen=True, kw_only=True)
class Action:
    """The dependencies of actors. `client` reads from the cache, `reader` from the API server."""

    client: Client
    reader: Reader
    scheme: Scheme
    database: Database
    gates: FeatureGates

    def find(self, ctx: Context, cluster: Cluster, name: str, kind: type[T]) -> T | None:
        """Read an object from the API server.

        Returns the caller's own copy, or None if it is missing. Raises StatusError.
        """
        try:
            return self.reader.get(ctx, NamespacedName(cluster.namespace, name), kind).deep_copy()
        except errors.StatusError as err:
            ctrlclient.ignore_not_found(err)
            return None

    def stateful_set(self, ctx: Context, cluster: Cluster) -> appsv1.StatefulSet:
        """Return the cluster's StatefulSet. Raises NotReadyError when it is missing or its controller lags behind its
        spec.
        """
        found = self.find(ctx, cluster, cluster.statefulset_name, appsv1.StatefulSet)
        if found is None or found.metadata.deletion_timestamp is not None:
            raise NotReadyError("statefulset is not there")
        if found.status.observed_generation < found.get_generation():
            raise NotReadyError("statefulset is updating, waiting for its controller")
        return found

    def pods(self, ctx: Context, cluster: Cluster) -> Pods:
        return Pods(ctx, self.reader, cluster)

    def reconcile(self, ctx: Context, cluster: Cluster, builder: Builder) -> bool:
        """Create or update a part of the cluster, and report whether it has changed. Raises StatusError."""
        return Reconciler(self.client, self.reader, self.scheme, cluster).reconcile(ctx, builder)

    def has_changed(self, ctx: Context, cluster: Cluster, builder: Builder) -> bool:
        """Report whether the part needs a change, by the cache. Raises StatusError."""
        return Reconciler(self.client, self.client, self.scheme, cluster).has_changed(ctx, builder)

    def is_there(self, ctx: Context, cluster: Cluster, builder: Builder) -> bool:
        """Report whether the cluster has this part, by the cache. Raises StatusError."""
        return Reconciler(self.client, self.client, self.scheme, cluster).is_there(ctx, builder)

    def delete(self, ctx: Context, cluster: Cluster, builder: Builder) -> None:
        """Delete a part of the cluster if it exists. Raises StatusError."""
        Reconciler(self.client, self.reader, self.scheme, cluster).delete(ctx, builder)

    def annotate(self, ctx: Context, cluster: Cluster, annotations: Mapping[str, str | None]) -> None:
        """Write annotations of the CrdbCluster; None removes one. Raises StatusError, for example a conflict."""
        before = cluster.crdb.deep_copy()
        after = cluster.crdb.deep_copy()
        for name, value in annotations.items():
            if value is None:
                after.metadata.annotations.pop(name, None)
            else:
                after.metadata.annotations[name] = value
        patch = ctrlclient.merge_from_with_options(before, ctrlclient.MergeFromWithOptimisticLock())
        self.client.patch(ctx, after, patch)
        # The status that is written later belongs to this version.
        cluster.crdb.set_resource_version(after.get_resource_version())
        cluster.crdb.metadata.annotations = after.metadata.annotations


def check_ready(pods: Pods, replicas: int, *, but: int = -1) -> None:
    """Raise NotReadyError unless exactly these replicas exist and all are ready. The pod with ordinal `but` may be
    unready.
    """
    ordinal = pods.unready(replicas, but)
    if ordinal is not None:
        raise NotReadyError(f"pod {ordinal} is not ready" if ordinal < replicas else f"pod {ordinal} is not gone yet")
