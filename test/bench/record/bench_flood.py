"""100,000 identical events from four threads: what they cost, and what becomes of them.

Run it as `python test/bench/record/bench_flood.py [events]`. For the default correlator, and for one whose spam filter
is lifted, it prints the sink calls, the count in the Event, the events dropped at each place, how much memory the
process took more, and how long one call held up a controller. The exit code says whether every event is accounted for.
"""

from __future__ import annotations

import logging
import resource
import sys
import threading
import time
from collections import Counter
from dataclasses import fields

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes.scheme import SCHEME
from clientgo.tools import record

THREADS = 4
POD = corev1.Pod(metadata=metav1.ObjectMeta(name="p", namespace="ns", uid="u"))


class Sink:
    """A sink that keeps the last state of each event, like a server."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.stored: dict[str, corev1.Event] = {}

    def _store(self, verb: str, event: corev1.Event) -> corev1.Event:
        self.calls[verb] += 1
        self.stored[event.get_name()] = event
        return event.deep_copy()

    def create(self, event: corev1.Event) -> corev1.Event:
        return self._store("create", event)

    def update(self, event: corev1.Event) -> corev1.Event:
        return self._store("update", event)

    def patch(self, old_event: corev1.Event, data: bytes) -> corev1.Event:
        return self._store("patch", old_event)


def flood(total: int, options: record.CorrelatorOptions, keep_up: bool) -> bool:
    """Record, wait until all is settled, print; whether every event is accounted for."""
    sink = Sink()
    broadcaster = record.new_broadcaster(record.with_correlator_options(options))
    broadcaster.start_recording_to_sink(sink)
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="flood"))
    slowest = [0.0] * THREADS

    def run(index: int) -> None:
        for _ in range(total // THREADS):
            begin = time.perf_counter()
            recorder.event(POD, "Normal", "Same", "m")
            slowest[index] = max(slowest[index], time.perf_counter() - begin)
            while keep_up and waiting(broadcaster) > 500:
                time.sleep(0.001)

    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    threads = [threading.Thread(target=run, args=(index,), name=f"flood-{index}") for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorded = time.perf_counter() - begin
    while settled(broadcaster) < total and time.perf_counter() - begin < 300:
        time.sleep(0.01)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    statistics = broadcaster.statistics()
    broadcaster.shutdown()

    print(f"  {total:,} events from {THREADS} threads in {recorded:.1f} s, the process grew by {grown / 1024:.1f} MiB")
    print(f"  slowest call of a controller: {max(slowest) * 1000:.1f} ms")
    print(f"  sink calls: {dict(sink.calls)}; count in the Event: {[event.count for event in sink.stored.values()]}")
    print(f"  {', '.join(f'{each.name}={getattr(statistics, each.name):,}' for each in fields(statistics))}")
    return settled_of(statistics) == total


def waiting(broadcaster: record.EventBroadcasterImpl) -> int:
    return len(broadcaster._incoming) + max((len(each.result) for each in broadcaster._watchers.values()), default=0)


def settled(broadcaster: record.EventBroadcasterImpl) -> int:
    return settled_of(broadcaster.statistics())


def settled_of(statistics: record.EventStatistics) -> int:
    return statistics.created + statistics.patched + statistics.dropped


def main() -> int:
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    logging.disable(logging.CRITICAL)
    lifted = record.CorrelatorOptions(burst_size=10**9, qps=1e9)
    print("default correlator, as fast as the threads can:")
    complete = flood(total, record.CorrelatorOptions(), keep_up=False)
    print("default correlator, threads that leave the queues time:")
    complete &= flood(total, record.CorrelatorOptions(), keep_up=True)
    print("spam filter lifted, a sink that keeps up:")
    complete &= flood(total, lifted, keep_up=True)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
