"""A replica of bench_shards.py: informers of its shards, a sharded queue, and a worker that reads each object.

    shards_replica.py URL TOKEN NAME SHARDS LEASE_SECONDS IDENTITY

The first line on stdout is {}. It answers `state REVISION` on stdin with its shards and how many objects it has
reconciled: with this label `revision`, or at all for -1. It answers `usage` with the number of cached objects, its CPU
time and its memory. It stops at the end of stdin and gives its shards back.
"""

from __future__ import annotations

import collections
import json
import sys
import threading
from time import process_time
from typing import Any

from bench_scale import memory

from clientgo import context, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.tools import cache, sharding
from clientgo.tools.sharding import ShardBy, ShardedInformers, ShardingConfig, list_watch_of
from clientgo.util import workqueue

# The renew deadline and the retry period as fractions of the lease duration: those of the defaults.
DEADLINE, PERIOD = 10 / 15, 2 / 15
ALL = -1


class Replica:
    """The controller."""

    def __init__(self, url: str, token: str, name: str, shards: int, lease: float, identity: str) -> None:
        client = kubernetes.new_for_config(rest.Config(host=url, bearer_token=token, qps=-1))
        informers = ShardedInformers(shards, ShardBy.UID)
        self.informer = informers.informer(list_watch_of(client.core_v1().config_maps("")), corev1.ConfigMap)
        self.sharder = sharding.new_sharder(
            ShardingConfig(
                leases=client.coordination_v1(),
                namespace="default",
                name=name,
                identity=identity,
                shards=shards,
                on_acquired=self._enqueue_shard,
                informers=informers,
                lease_duration=lease,
                renew_deadline=lease * DEADLINE,
                retry_period=lease * PERIOD,
            )
        )
        inner = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        self.queue = sharding.ShardedQueue(inner, self.sharder, cache.split_meta_namespace_key)
        update = lambda old, new: self._enqueue(new)  # noqa: E731
        self.informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=self._enqueue, update_func=update))
        # Guards the counts: reconciled objects by revision.
        self._lock = threading.Lock()
        self._reconciled: collections.Counter[int] = collections.Counter()

    def _enqueue(self, obj: Any) -> None:
        self.queue.add(cache.meta_namespace_key_func(obj))

    def _enqueue_shard(self, shard: int) -> None:
        for obj in self.informer.objects_of(shard):
            self._enqueue(obj)

    def work(self) -> None:
        """Reconcile until the queue is shut down."""
        while True:
            key, is_shut_down = self.queue.get()
            if is_shut_down:
                return
            found, exists = self.informer.get_indexer().get_by_key(key)
            if exists:
                revision = int(found.metadata.labels["revision"])
                assert found.data["text"]
                with self._lock:
                    self._reconciled[revision] += 1
                    self._reconciled[ALL] += 1
            self.queue.forget(key)
            self.queue.done(key)

    def state(self, revision: int) -> dict[str, Any]:
        """Return the answer to `state`, which the parent asks for often."""
        with self._lock:
            reconciled = self._reconciled[revision]
        return {"held": self.sharder.statistics().held, "reconciled": reconciled}

    def usage(self) -> dict[str, Any]:
        """Return the answer to `usage`."""
        used = process_time()
        return {"CPU s": used, "MB": memory(), "objects": len(self.informer.get_indexer().list_keys())}


def main() -> None:
    url, token, name, shards, lease, identity = sys.argv[1:]
    replica = Replica(url, token, name, int(shards), float(lease), identity)
    ctx, stop = context.with_cancel(context.background())
    runs = {
        "informer": lambda: replica.informer.run_with_context(ctx),
        "sharder": lambda: replica.sharder.run(ctx),
        "worker": replica.work,
    }
    threads = [threading.Thread(target=run, name=name, daemon=True) for name, run in runs.items()]
    for thread in threads:
        thread.start()
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        print(json.dumps(replica.usage() if command == "usage" else replica.state(int(arguments[0]))), flush=True)
    replica.queue.shut_down()
    stop()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
