#!/usr/bin/env python3
"""Count the wakeups of a process with 50 idle informers, each with a handler and a work queue with a waiting worker.

    python test/bench/idle/bench_idle.py [--seconds 60] [--pods 1000]

The server (../scale/cluster_server.py) is silent after the lists, so that no thread has a reason to wake. Linux counts
how often each thread went to sleep (`voluntary_ctxt_switches`); an idle thread that sleeps again has been awake. The
report has the wakeups a second of each thread that woke, the CPU time, and the memory. A metric that counts the seconds
of unfinished work updates twice a second in Go too, only in a queue with a metrics provider; there is none here.

kube-apiserver sends a bookmark each minute on each watch, this server none. So 150 seconds after the lists each
informer takes its connection for dead, once, and opens another one: two or three wakeups of its reflector.

In an hour on CPython 3.11 with 251 threads, there were 0.28 wakeups a second of all threads together, all of them of
reflectors, and the process used 0.022 % of a core.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys
import threading
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "wire"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scale"))

import cluster_server
from bench_scale import memory, path_of, resources

from clientgo import context, informers, kubernetes, rest
from clientgo.tools import cache
from clientgo.util import workqueue

# Threads that run for a few seconds after the start, such as the watchdog, have ended by then.
SETTLING = 15.0


def wakeups() -> dict[str, int]:
    """Return for each thread how often it went to sleep since it started."""
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    found: collections.Counter[str] = collections.Counter()
    for task in Path("/proc/self/task").iterdir():
        switches = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.MULTILINE)
        assert switches is not None
        found[names.get(int(task.name), "a thread that is not Python's")] += int(switches[1])
    return found


def work(queue: workqueue.TypedRateLimitingInterface[str]) -> None:
    while True:
        item, is_shut_down = queue.get()
        if is_shut_down:
            return
        queue.done(item)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pods", type=int, default=1000)
    options = parser.parse_args()
    kinds = {path_of(each): (str(each.group_version()), kind) for each, kind in resources().items()}
    with cluster_server.serving(kinds, options.pods, protobuf=True) as ready:
        clientset = kubernetes.new_for_config(rest.Config(host=f"http://127.0.0.1:{ready['port']}", qps=-1))
        factory = informers.new_shared_informer_factory(clientset, 0.0)
        empty = memory()
        queues = []
        for resource in resources():
            queue = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
            factory.for_resource(resource).informer().add_event_handler(
                cache.ResourceEventHandlerFuncs(add_func=lambda obj, q=queue: q.add(cache.object_to_name(obj).name))
            )
            threading.Thread(target=work, args=(queue,), name=f"worker {resource.resource}", daemon=True).start()
            queues.append(queue)
        ctx, cancel = context.with_cancel(context.background())
        factory.start_with_context(ctx)
        assert all(factory.wait_for_cache_sync(ctx.done()).values())
        waiting = threading.Event()
        waiting.wait(SETTLING)

        before, used = wakeups(), process_time()
        waiting.wait(options.seconds)
        after, used = wakeups(), process_time() - used
        woke = {name: after[name] - before.get(name, 0) for name in after}
        woke["MainThread"] -= 1  # This function's own wait.
        print(
            f"{len(after)} threads, {sum(woke.values()) / options.seconds:.2f} wakeups a second, "
            f"{used / options.seconds * 100:.3f} % of a core, {memory() - empty:.1f} MB more than before the informers"
        )
        for name, count in sorted(woke.items(), key=lambda item: -item[1]):
            if count > 0:
                print(f"    {count / options.seconds:8.2f} a second: {name}")
        cancel()
        for queue in queues:
            queue.shut_down()
        factory.shutdown()


if __name__ == "__main__":
    assert os.name == "posix"
    main()
