"""Several replicas share the work: the flag -shards, and the queue that lets each work on its part.

The Go sample-controller has neither. Every Foo belongs to a shard, by its namespace and name; every shard has a Lease,
with the durations of -leader-elect-lease-duration and the other two (clientgo.tools.sharding says what is promised).
"""

from __future__ import annotations

import argparse
import socket
import threading
import uuid
from collections.abc import Callable

from clientgo import context, kubernetes
from clientgo.context import Context
from clientgo.tools import cache, sharding
from controller import Queue, new_queue


def add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-shards",
        "--shards",
        type=int,
        default=0,
        metavar="N",
        help="Share the work with other replicas: it is cut into N parts, and each replica works on its share of them. "
        "The same for all replicas. (default 0: this replica does it all)",
    )


def new_sharder(
    client: kubernetes.Interface, flags: argparse.Namespace, on_acquired: Callable[[int], object]
) -> sharding.Sharder:
    """Raises ValueError for flags that make no sense together."""
    if flags.leader_elect:
        raise ValueError("-shards and -leader-elect exclude each other: replicas share the work, or one does it all")
    return sharding.new_sharder(
        sharding.ShardingConfig(
            leases=client.coordination_v1(),
            namespace=flags.leader_elect_resource_namespace,
            name=flags.leader_elect_resource_name,
            identity=f"{socket.gethostname()}_{uuid.uuid4()}",
            shards=flags.shards,
            on_acquired=on_acquired,
            lease_duration=flags.leader_elect_lease_duration,
            renew_deadline=flags.leader_elect_renew_deadline,
            retry_period=flags.leader_elect_retry_period,
        )
    )


def queue_for(sharder: sharding.Sharder) -> Queue:
    """The controller's queue, for this replica's Foos only."""

    def name_of(item: cache.ObjectName) -> tuple[str, str]:
        return item.namespace, item.name

    return sharding.ShardedQueue(new_queue(), sharder, name_of)


def run_beside(ctx: Context, sharder: sharding.Sharder, work: Callable[[Context], None]) -> None:
    """Run `work` while the sharder takes part; both have ended when this returns. Raises what `work` raises."""
    taking_part, leave = context.with_cancel(ctx)
    sharing = threading.Thread(target=sharder.run, args=(taking_part,), name="sharder", daemon=True)
    sharing.start()
    try:
        work(ctx)
    finally:
        leave()
        sharing.join()
