"""Replicas of a controller whose informers hold only their shards, in front of an embedded API server in virtual time.

Use it inside a synctest bubble. Each replica has a work queue, one worker and a cache of ConfigMaps. `Cluster` records
the version at which each object was reconciled, and the objects that two replicas worked on at the same time. With
shards by uid, an object that is created again under the same name is another one: its replica may begin with it while
that of the deleted object still works.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from invariants import check_invariants

from clientgo import context, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang import http
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.tools import cache, sharding
from clientgo.tools.sharding import ShardBy, ShardedInformers, ShardingConfig, list_watch_of
from clientgo.util import workqueue

LEASE, DEADLINE, PERIOD = 15.0, 10.0, 2.0
# Seconds of work on some keys: long enough that a shard moves meanwhile, and within the guarantee for work that does
# not ask for its shard again.
LONG_WORK = LEASE - DEADLINE - PERIOD - 0.5
CTX = context.background()


class Network:
    """The round tripper of one replica. It can be cut, and can hide the server's feature gate."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._inner = LocalTransport(cluster.server)
        self.is_cut = False

    def round_trip(self, request: http.Request) -> http.Response:
        """Pass the request on. Raises ConnectionError while the network is cut."""
        if self.is_cut:
            raise ConnectionError("no route to host")
        if not self._cluster.gate:
            # A server without the gate ignores the parameter.
            parts = urlsplit(request.url)
            kept = [(name, value) for name, value in parse_qsl(parts.query) if name != "shardSelector"]
            request.url = urlunsplit(parts._replace(query=urlencode(kept)))
        return self._inner.round_trip(request)


class Cluster:
    """The server and what was reconciled."""

    def __init__(self, server: Server, shards: int, by: ShardBy) -> None:
        self.server = server
        self.shards = shards
        self.by = by
        # Whether the server applies shard selectors from the next request on.
        self.gate = True
        self.replicas: list[Replica] = []
        # Guards the fields below.
        self._lock = threading.Lock()
        # By object, see `subject`: the last version that was reconciled, "" for one that is deleted.
        self.reconciled: dict[str, str] = {}
        self._working: dict[str, str] = {}
        self.overlaps: list[str] = []
        config = rest.Config(host=server.url, bearer_token=server.token, transport=LocalTransport(server))
        self.client = kubernetes.new_for_config(config)

    def join(self, identity: str) -> Replica:
        """Start a replica."""
        replica = Replica(self, identity)
        self.replicas.append(replica)
        return replica

    def subject(self, key: str, uid: str) -> str:
        """Return what tells objects apart: the key, with shards by uid the uid too."""
        return key if self.by is ShardBy.NAMESPACE else f"{key} {uid}"

    def begin(self, subject: str, identity: str) -> None:
        """Note that a replica starts to work on an object."""
        with self._lock:
            if subject in self._working:
                self.overlaps.append(f"{subject}: {self._working[subject]} and {identity}")
            self._working[subject] = identity

    def end(self, subject: str, version: str) -> None:
        """Note that an object was reconciled at a version."""
        with self._lock:
            self._working.pop(subject, None)
            self.reconciled[subject] = version

    def put(self, namespace: str, name: str, value: str) -> None:
        """Create or change a ConfigMap."""
        client = self.client.core_v1().config_maps(namespace)
        found = client.list(CTX, metav1.ListOptions(field_selector=f"metadata.name={name}")).items
        if found:
            changed = found[0].deep_copy()
            changed.data = {"value": value}
            client.update(CTX, changed)
        else:
            made = corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name), data={"value": value})
            client.create(CTX, made)

    def remove(self, namespace: str, name: str) -> None:
        """Delete a ConfigMap if it exists."""
        client = self.client.core_v1().config_maps(namespace)
        if client.list(CTX, metav1.ListOptions(field_selector=f"metadata.name={name}")).items:
            client.delete(CTX, name)

    def objects(self) -> dict[str, str]:
        """Return the versions of all objects."""
        listed = self.client.core_v1().config_maps("").list(CTX).items
        return {self._subject_of(each): each.get_resource_version() for each in listed}

    def _subject_of(self, obj: corev1.ConfigMap) -> str:
        return self.subject(cache.meta_namespace_key_func(obj), obj.get_uid())

    def live(self) -> list[Replica]:
        """Return the replicas that run and have a network."""
        return [replica for replica in self.replicas if not replica.has_ended and not replica.network.is_cut]

    def problems(self) -> list[str]:
        """Return what is wrong while the cluster is quiet: gaps, overlaps, objects in a wrong cache."""
        found = list(self.overlaps)
        held = sorted(shard for replica in self.live() for shard in replica.sharder.statistics().held)
        if held != list(range(self.shards)):
            found.append(f"the shards are held by {[replica.sharder for replica in self.live()]}")
        objects = self.objects()
        cached: dict[str, str] = {}
        for replica in self.live():
            check_invariants(replica.informer)
            mine = replica.sharder.statistics().held
            for each in replica.informer.get_store().list():
                subject = self._subject_of(each)
                value = each.get_namespace() if self.by is ShardBy.NAMESPACE else each.get_uid()
                if sharding.shard_of_value(value, self.shards) not in mine:
                    found.append(f"{replica.identity} caches {subject}, which is not in its shards {mine}")
                cached[subject] = each.get_resource_version()
        if cached != objects:
            found.append(f"caches have {cached}, the server has {objects}")
        for subject, version in objects.items():
            if self.reconciled.get(subject) != version:
                found.append(f"{subject} was reconciled at {self.reconciled.get(subject)}, it is at {version}")
        return found


class Replica:
    """One replica: sharder, informer, queue and a worker, each in threads of their own."""

    def __init__(self, cluster: Cluster, identity: str) -> None:
        self._cluster = cluster
        self.identity = identity
        self.network = Network(cluster)
        self.has_ended = False
        # By key: the uid of the object for which the key was added last. Dict operations are atomic.
        self._uids: dict[str, str] = {}
        config = rest.Config(host=cluster.server.url, bearer_token=cluster.server.token, transport=self.network, qps=-1)
        client = kubernetes.new_for_config(config)
        informers = ShardedInformers(cluster.shards, cluster.by)
        self.informer = informers.informer(list_watch_of(client.core_v1().config_maps("")), corev1.ConfigMap)
        self.sharder = sharding.new_sharder(
            ShardingConfig(
                leases=client.coordination_v1(),
                namespace="default",
                name="test",
                identity=identity,
                shards=cluster.shards,
                on_acquired=self._queue_shard,
                informers=informers,
                lease_duration=LEASE,
                renew_deadline=DEADLINE,
                retry_period=PERIOD,
            )
        )
        inner = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        self._queue = sharding.ShardedQueue(inner, self.sharder, cache.split_meta_namespace_key)
        self.informer.add_event_handler(
            cache.ResourceEventHandlerFuncs(
                add_func=self._enqueue, update_func=lambda old, new: self._enqueue(new), delete_func=self._enqueue
            )
        )
        ctx, self._stop = context.with_cancel(CTX)
        runs: list[tuple[str, Callable[[], None]]] = [
            ("informer", lambda: self.informer.run_with_context(ctx)),
            ("sharder", lambda: self.sharder.run(ctx)),
            ("worker", self._work),
        ]
        self._threads = [threading.Thread(target=run, name=f"{name} of {identity}", daemon=True) for name, run in runs]
        for thread in self._threads:
            thread.start()

    def _enqueue(self, obj: Any) -> None:
        key = cache.deletion_handling_meta_namespace_key_func(obj)
        self._uids[key] = (obj.obj if isinstance(obj, cache.DeletedFinalStateUnknown) else obj).get_uid()
        self._queue.add(key)

    def _queue_shard(self, shard: int) -> None:
        for each in self.informer.objects_of(shard):
            self._enqueue(each)

    def _work(self) -> None:
        while True:
            key, shutdown = self._queue.get()
            if shutdown:
                return
            subject = self._cluster.subject(key, self._uids[key])
            self._cluster.begin(subject, self.identity)
            found, exists = self.informer.get_indexer().get_by_key(key)
            version = found.get_resource_version() if exists else ""
            context.sleep(CTX, LONG_WORK if key.endswith("-3") else 0.05)
            self._cluster.end(subject, version)
            self._queue.forget(key)
            self._queue.done(key)

    def end(self) -> None:
        """Stop the replica as SIGTERM does; blocks until its threads have ended."""
        self.has_ended = True
        self._queue.shut_down()
        self._stop()
        for thread in self._threads:
            thread.join()
