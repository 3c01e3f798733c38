"""Expectations: writes of the controller that its cache may not show yet.

The cache is behind the server by an unknown time. Most writes need no care: the server rejects the creation of an
existing object and the update of a changed one, and the controller tries again. A decision that counts nodes or changes
a system outside of Kubernetes would be wrong with an old count, without an error. So each such write is recorded here,
and the controller makes no further decision until the cache shows it.

Expectations are kept in memory. After a restart the cache is newer than all earlier writes.
"""

from __future__ import annotations

import threading

from api.v1 import Elasticsearch
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.types import NamespacedName
from clientgo.context import Context
from clientgo.controller_runtime import client


class ExpectedGenerations:
    """StatefulSets that were written: the cache must show this generation, or a later one. Not thread-safe."""

    def __init__(self, reader: client.Reader, live: client.Reader) -> None:
        """Create the expectations. `live` reads without a cache, for new objects that the cache does not have yet."""
        self._reader = reader
        self._live = live
        self._generations: dict[NamespacedName, tuple[str, int]] = {}

    def expect_generation(self, obj: appsv1.StatefulSet) -> None:
        """Expect what the server has answered."""
        self._generations[client.object_key_from_object(obj)] = obj.get_uid(), obj.get_generation()

    def pending_generations(self, ctx: Context) -> list[str]:
        """Return the names of the StatefulSets that the cache still shows in an old generation. Drops the others."""
        for key, (uid, generation) in list(self._generations.items()):
            if self._is_seen(ctx, key, uid, generation):
                del self._generations[key]
        return sorted(key.name for key in self._generations)

    def _is_seen(self, ctx: Context, key: NamespacedName, uid: str, generation: int) -> bool:
        found = _get(ctx, self._reader, key)
        if found is None and generation == 1:
            # The cache does not have it yet, or it was deleted before the cache had it.
            found = _get(ctx, self._live, key)
            return found is None or found.get_uid() != uid
        return found is None or found.get_uid() != uid or found.get_generation() >= generation


class ExpectedPodDeletions:
    """Pods that were deleted: the cache must show that they are gone, or that others have their names.

    Not thread-safe.
    """

    def __init__(self, reader: client.Reader) -> None:
        self._reader = reader
        self._deletions: dict[NamespacedName, str] = {}

    def expect_deletion(self, pod: corev1.Pod) -> None:
        """Expect that the pod goes."""
        self._deletions[client.object_key_from_object(pod)] = pod.get_uid()

    def pending_pod_deletions(self, ctx: Context) -> list[str]:
        """Return the names of the deleted pods that the cache still shows. Drops the others."""
        for key, uid in list(self._deletions.items()):
            if self._is_gone(ctx, key, uid):
                del self._deletions[key]
        return sorted(key.name for key in self._deletions)

    def _is_gone(self, ctx: Context, key: NamespacedName, uid: str) -> bool:
        try:
            return self._reader.get(ctx, key, corev1.Pod).get_uid() != uid
        except errors.StatusError as err:
            client.ignore_not_found(err)
            return True


class Expectations:
    """The expectations of one cluster. Not thread-safe: only one worker at a time processes a cluster."""

    def __init__(self, reader: client.Reader, live: client.Reader) -> None:
        self.generations = ExpectedGenerations(reader, live)
        self.deletions = ExpectedPodDeletions(reader)

    def pending(self, ctx: Context) -> str:
        """Return a message about the writes that the cache does not show yet; "" if there are none."""
        if pods := self.deletions.pending_pod_deletions(ctx):
            return f"Expecting deletion for Pods: {','.join(pods)}"
        if sets := self.generations.pending_generations(ctx):
            return f"StatefulSets not reconciled yet: {','.join(sets)}"
        return ""


class ClustersExpectations:
    """The expectations of all clusters. Thread-safe."""

    def __init__(self, reader: client.Reader, live: client.Reader) -> None:
        self._reader = reader
        self._live = live
        # Guards _clusters.
        self._lock = threading.Lock()
        self._clusters: dict[tuple[NamespacedName, str], Expectations] = {}

    def for_cluster(self, es: Elasticsearch) -> Expectations:
        """Return the expectations of this cluster. The first call creates them."""
        key = client.object_key_from_object(es), es.get_uid()
        with self._lock:
            return self._clusters.setdefault(key, Expectations(self._reader, self._live))

    def forget(self, key: NamespacedName) -> None:
        """Drop the expectations of a deleted cluster."""
        with self._lock:
            self._clusters = {each: kept for each, kept in self._clusters.items() if each[0] != key}


def _get(ctx: Context, reader: client.Reader, key: NamespacedName) -> appsv1.StatefulSet | None:
    try:
        return reader.get(ctx, key, appsv1.StatefulSet)
    except errors.StatusError as err:
        client.ignore_not_found(err)
        return None
