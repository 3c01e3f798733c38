"""Several replicas of a controller that share its work: each works on some of the shards. Has no Go counterpart.

One leader leaves the other replicas idle. Here every object belongs to one of `shards` shards, by a hash of its
namespace and name, and every shard has a Lease of its own, which one replica at a time holds by client-go's leader
election. The replicas see each other by further Leases, work out who should have which shard, and hand shards over when
one of them comes or goes.

    sharder = sharding.new_sharder(sharding.ShardingConfig(leases=client.coordination_v1(), name="my-controller", ...))

    queue = sharding.ShardedQueue(queue, sharder, lambda item: (item.namespace, item.name))

is all that a controller with a work queue needs: others' objects are not queued, nor given to a worker. In front of a
queue with priorities stands a ShardedPriorityQueue, and a controller-runtime's controller gets it by the option
`new_queue`. Without a queue, `sharder.owns` is the question before, and `with sharder.working_on(...) as ours` the
frame around the work.

`on_acquired(shard)` must queue all objects of the shard again, from the cache: no handler saw their events before.

The shards of a replica that crashes come to the others within one lease duration and two retry periods, 19 s with the
defaults; on average after one lease duration and one retry period. That is as long as plain leader election takes. The
shards of a replica that stops come to the others within some retry periods.

What is promised: no two replicas work on one key at the same time, as far as an election can promise it. A shard is
given up only when the keys of it that are worked on are through, and `working_on` says no as soon as the lease is over
by this process' clocks. What remains is the time between that question and the writes that follow it: a process that is
paused in there (a debugger, a virtual machine that is moved) goes on when it wakes up, and works until its sync ends.
Clocks of different machines are never compared; a clock that runs faster than another by more than the ratio of
lease duration to renew deadline breaks the promise, as in any election.
"""

from clientgo.tools.sharding.assignment import assign, shard_of
from clientgo.tools.sharding.membership import Membership
from clientgo.tools.sharding.queue import PrioritizedQueue, ShardedPriorityQueue, ShardedQueue
from clientgo.tools.sharding.sharder import Sharder, ShardingConfig, ShardingStatistics, new_sharder

__all__ = [
    "Membership",
    "PrioritizedQueue",
    "ShardedPriorityQueue",
    "ShardedQueue",
    "Sharder",
    "ShardingConfig",
    "ShardingStatistics",
    "assign",
    "new_sharder",
    "shard_of",
]
