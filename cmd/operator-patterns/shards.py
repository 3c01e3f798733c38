"""Sharding of the work among replicas: the flag -shards, and the queue that gives each replica its part.

Every Site belongs to a shard, by its namespace and name, and every shard has a Lease (clientgo.tools.sharding documents
the guarantees). The manager then elects no leader: all replicas run the controller, each with a queue that accepts and
returns only its own Sites. cmd/sample-controller does the same without a manager.
"""

from __future__ import annotations

import argparse
import socket
import threading
import uuid

from api.v1alpha1 import SiteList
from clientgo import context
from clientgo import controller_runtime as ctrl
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.controller_runtime.controller.priorityqueue import priorityqueue
from clientgo.klog.exceptions import as_operational
from clientgo.tools import sharding
from clientgo.tools.sharding import ShardBy, ShardedInformers
from clientgo.tools.sharding.membership import MemberLeasesGetter
from clientgo.util import workqueue


def sharded_informers(flags: argparse.Namespace) -> ShardedInformers | None:
    """Return the informers of this replica's shards, or None if every replica caches all objects."""
    by = ShardBy[flags.shard_by.upper()]
    return ShardedInformers(flags.shards, by) if flags.shards and by is not ShardBy.NAME else None


class Shards:
    """This replica's part of the Sites. A Runnable: give it to the manager, and `new_queue` to the controller."""

    def __init__(
        self,
        reader: client.Reader,
        leases: MemberLeasesGetter,
        name: str,
        flags: argparse.Namespace,
        informers: ShardedInformers | None = None,
    ) -> None:
        """Set up the sharder. `reader` is the manager's client, which reads from the cache.

        Raises ValueError for flags that contradict each other.
        """
        if flags.leader_elect:
            text = "-shards and -leader-elect exclude each other: several replicas work, or one does"
            raise as_operational(ValueError(text))
        if not flags.leader_elect_namespace:
            raise as_operational(ValueError("-shards needs -leader-elect-namespace, where the Leases are"))
        self._reader = reader
        # Guards _queue, which exists once the controller has started.
        self._lock = threading.Lock()
        self._queue: workqueue.TypedRateLimitingInterface[ctrl.Request] | None = None
        self.sharder = sharding.new_sharder(
            sharding.ShardingConfig(
                leases=leases,
                namespace=flags.leader_elect_namespace,
                name=name,
                identity=f"{socket.gethostname()}_{uuid.uuid4()}",
                shards=flags.shards,
                on_acquired=self._enqueue_shard,
                informers=informers,
                lease_duration=flags.leader_elect_lease_duration,
                renew_deadline=flags.leader_elect_renew_deadline,
                retry_period=flags.leader_elect_retry_period,
            )
        )

    def start(self, ctx: Context) -> None:
        """Hold shards until `ctx` is done, then release each shard after its keys in progress are done. Blocks."""
        self.sharder.run(ctx)

    def need_leader_election(self) -> bool:
        """Return False: there is no leader. So the manager starts this after the cache and before the controllers."""
        return False

    def new_queue(
        self, name: str, rate_limiter: workqueue.TypedRateLimiter[ctrl.Request]
    ) -> workqueue.TypedRateLimitingInterface[ctrl.Request]:
        """Return the controller's usual queue behind a filter. It is the `new_queue` of controller.Options."""

        def choose(opts: priorityqueue.Opts[ctrl.Request]) -> None:
            opts.rate_limiter = rate_limiter

        inner: priorityqueue.PriorityQueue[ctrl.Request] = priorityqueue.new(name, choose)
        queue = sharding.ShardedPriorityQueue(inner, self.sharder, lambda request: (request.namespace, request.name))
        with self._lock:
            self._queue = queue
        return queue

    def _enqueue_shard(self, shard: int) -> None:
        """Queue all Sites of a newly acquired shard, because this replica ignored their events before."""
        with self._lock:
            queue = self._queue
        if queue is None:
            return  # The controller is yet to start, and will see all Sites then.
        for site in self._reader.list(context.background(), SiteList).items:
            request = ctrl.Request(site.get_namespace(), site.get_name())
            if self.sharder.shard_of(request.namespace, request.name) == shard:
                queue.add(request)
