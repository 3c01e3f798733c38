"""Sharding of the work among replicas: the flags -shards and -shard-by, and each replica's informers and queue.

The Go sample-controller has none of these. Every Foo belongs to a shard and every shard has a Lease, with the durations
of -leader-elect-lease-duration and the other two. clientgo.tools.sharding states the guarantee.
"""

from __future__ import annotations

import argparse
import socket
import threading
import uuid
from collections.abc import Callable

from clientgo import context, kubernetes
from clientgo import informers as kubeinformers
from clientgo.api.apps import v1 as appsv1
from clientgo.context import Context
from clientgo.klog.exceptions import as_operational
from clientgo.tools import cache, sharding
from clientgo.tools.sharding import ShardBy, ShardedInformers
from controller import Queue, new_queue
from pkg.apis.samplecontroller import v1alpha1
from pkg.generated.clientset import versioned as clientset
from pkg.generated.informers import externalversions as informers


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


    parser.add_argument(
        "-shard-by",
        "--shard-by",
        choices=[by.name.lower() for by in ShardBy],
        default=ShardBy.NAME.name.lower(),
        help="The value that decides the shard of a Foo. By namespace a replica caches the Foos and Deployments of its "
        "shards only; by uid its Foos only, and all Deployments; by name everything. (default name)",
    )


def shard_informers(
    flags: argparse.Namespace,
    kube_informer_factory: kubeinformers.SharedInformerFactory,
    example_informer_factory: informers.SharedInformerFactory,
) -> ShardedInformers | None:
    """Make the factories return informers of this replica's shards. Call it before any other use of the factories.

    Returns None if every replica caches all objects. With -shard-by=uid a Deployment and its Foo have different shards,
    so the informer of Deployments stays unchanged.
    """
    by = ShardBy[flags.shard_by.upper()]
    if not flags.shards or by is ShardBy.NAME:
        return None
    sharded = ShardedInformers(flags.shards, by)
    by_namespace = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}

    def foos(client: clientset.Interface, resync_period: float) -> cache.SharedIndexInformer:
        source = sharding.list_watch_of(client.samplecontroller_v1alpha1().foos(""))
        return sharded.informer(source, v1alpha1.Foo, resync_period, by_namespace)

    def deployments(client: kubernetes.Interface, resync_period: float) -> cache.SharedIndexInformer:
        source = sharding.list_watch_of(client.apps_v1().deployments(""))
        return sharded.informer(source, appsv1.Deployment, resync_period, by_namespace)

    example_informer_factory.informer_for(v1alpha1.Foo, foos)
    if by is ShardBy.NAMESPACE:
        kube_informer_factory.informer_for(appsv1.Deployment, deployments)
    return sharded


def new_sharder(
    client: kubernetes.Interface,
    flags: argparse.Namespace,
    on_acquired: Callable[[int], object],
    sharded_informers: ShardedInformers | None,
) -> sharding.Sharder:
    """Return the sharder. Raises ValueError for flags that contradict each other."""
    if flags.leader_elect:
        text = "-shards and -leader-elect exclude each other: replicas share the work, or one does it all"
        raise as_operational(ValueError(text))
    return sharding.new_sharder(
        sharding.ShardingConfig(
            leases=client.coordination_v1(),
            namespace=flags.leader_elect_resource_namespace,
            name=flags.leader_elect_resource_name,
            identity=f"{socket.gethostname()}_{uuid.uuid4()}",
            shards=flags.shards,
            on_acquired=on_acquired,
            informers=sharded_informers,
            lease_duration=flags.leader_elect_lease_duration,
            renew_deadline=flags.leader_elect_renew_deadline,
            retry_period=flags.leader_elect_retry_period,
        )
    )


def queue_for(sharder: sharding.Sharder) -> Queue:
    """Return the controller's queue, which accepts only this replica's Foos."""

    def name_of(item: cache.ObjectName) -> tuple[str, str]:
        return item.namespace, item.name

    return sharding.ShardedQueue(new_queue(), sharder, name_of)


def run_beside(ctx: Context, sharder: sharding.Sharder, work: Callable[[Context], None]) -> None:
    """Run `work` beside the sharder, and wait for both. Raises the error of `work`."""
    taking_part, leave = context.with_cancel(ctx)
    sharing = threading.Thread(target=sharder.run, args=(taking_part,), name="sharder", daemon=True)
    sharing.start()
    try:
        work(ctx)
    finally:
        leave()
        sharing.join()
