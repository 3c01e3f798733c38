"""Sharding of a controller's work among several replicas: each works on some of the shards. Not in Go.

With plain leader election, only the leader works. Here every object belongs to one of `shards` shards, by a hash of its
namespace and name, and every shard has its own Lease, which one replica at a time holds by client-go's leader election.
The replicas detect each other by further Leases, compute the owner of each shard, and hand shards over when a replica
joins or leaves.

    sharder = sharding.new_sharder(sharding.ShardingConfig(leases=client.coordination_v1(), name="my-controller", ...))

    queue = sharding.ShardedQueue(queue, sharder, lambda item: (item.namespace, item.name))

A controller with a work queue needs only this: the queue drops other replicas' objects, both on addition and before a
worker gets them. A queue with priorities needs a ShardedPriorityQueue, which controller-runtime's controllers accept
through the option `new_queue`. Without a queue, call `sharder.owns` first, and do the work inside `with
sharder.working_on(...) as ours`.

`on_acquired(shard)` must queue all objects of the shard again, from the cache, since their earlier events were dropped.

By default every replica caches all objects. With `ShardingConfig.informers` a replica lists, watches and caches only
the objects of its shards, which an API server of Kubernetes 1.36 selects by namespace or by uid. The README in this
folder states when to use this and what it costs.

Other replicas acquire the shards of crashed replicas within one lease duration and two retry periods (19 s with the
defaults), and the time of their requests to the API server. The first period passes until a replica observes the last
renewal, the second until it looks again after the Lease has expired. This holds for replicas that crash at once, and on
average it takes one lease duration and one retry period. They acquire the shards of a stopped replica within a few
retry periods.

Guarantee: no two replicas work on the same key at the same time, within the limits of an election. A replica releases a
shard only when the work on its keys has ended, and `working_on` yields False as soon as the lease has expired by this
process' clocks. The remaining risk is the time between that check and the following writes. If no renewal succeeds, a
replica begins no work in the last `lease_duration - renew_deadline - retry_period` seconds of its lease (3 s with the
defaults, less the time that the last renewal took). Work that takes longer must call `owns` again before it writes,
since another replica may have the shard by then. So may it after a pause of the process (by a debugger, or the
migration of a virtual machine), which continues until its sync ends. Clocks of different machines are never compared.
As in any election, the guarantee fails if one clock runs faster than another by more than the ratio of lease duration
to renew deadline.
"""

from clientgo.tools.sharding.assignment import assign, shard_of
from clientgo.tools.sharding.informer import ShardedInformer, ShardedInformers, ShardedRegistration
from clientgo.tools.sharding.list_watch import ListingClient, ShardListWatch, list_watch_of, supports_sharding
from clientgo.tools.sharding.membership import Membership
from clientgo.tools.sharding.queue import PrioritizedQueue, ShardedPriorityQueue, ShardedQueue
from clientgo.tools.sharding.ranges import ShardBy, selector_of, shard_of_value
from clientgo.tools.sharding.sharder import Sharder, ShardingConfig, ShardingStatistics, new_sharder

__all__ = [
    "ListingClient",
    "Membership",
    "PrioritizedQueue",
    "ShardBy",
    "ShardListWatch",
    "ShardedInformer",
    "ShardedInformers",
    "ShardedPriorityQueue",
    "ShardedQueue",
    "ShardedRegistration",
    "Sharder",
    "ShardingConfig",
    "ShardingStatistics",
    "assign",
    "list_watch_of",
    "new_sharder",
    "selector_of",
    "shard_of",
    "shard_of_value",
    "supports_sharding",
]
