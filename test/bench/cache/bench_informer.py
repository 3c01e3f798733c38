#!/usr/bin/env python3
"""Measure the objects per second of a SharedIndexInformer, without a network.

    python test/bench/cache/bench_informer.py [--objects 100000] [--repeat 3] [--delta-fifo]

A FakeControllerSource holds small Pods. `first list` is from the start of the informer until every handler has been
told of every object; `watch` is the time in which as many changes go from the source to every handler.

The source copies each object, which takes longer than all the informer does with it; so `source alone` is measured too,
with only a thread that takes the events, and `informer` is what remains of the CPU time without it.
`plain` is a dict with two indexes, kept up to date by hand in one thread.

Go: BenchmarkSharedIndexInformer, BenchmarkReflectorList, BenchmarkListener
"""

from __future__ import annotations

import argparse
import gc
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_structures import INDEXERS, make_pods

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source

PATIENCE = 300.0


class Counter:
    """A handler that counts, and tells when it has been told often enough."""

    def __init__(self) -> None:
        self.count = 0
        self.target = -1
        self.reached = threading.Event()

    def expect(self, more: int) -> None:
        self.reached.clear()
        self.target = self.count + more

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self.count += 1
        if self.count == self.target:
            self.reached.set()

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self.count += 1
        if self.count == self.target:
            self.reached.set()

    def on_delete(self, obj: Any) -> None:
        raise AssertionError("nothing was deleted")


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Return the time and the CPU time of the work, in seconds."""
    gc.collect()
    # The objects the benchmark holds in store are no part of what it measures: the collector need not look at them.
    gc.freeze()
    started, started_cpu = perf_counter(), process_time()
    work()
    times = perf_counter() - started, process_time() - started_cpu
    gc.unfreeze()
    return times


def show(name: str, n: int, times: tuple[float, float], alone: tuple[float, float] | None = None) -> None:
    seconds, cpu = times
    rest = ""
    if alone is not None:
        net = max(cpu - alone[1], 1e-9)
        rest = f"   informer {n / net:10,.0f}/s of CPU {net / n * 1e6:5.1f} us each"
    print(f"{name:26} {n / seconds:10,.0f} objects/s {cpu / n * 1e6:5.1f} us of CPU each{rest}", flush=True)


def plain(pods: list[corev1.Pod]) -> None:
    """Measure a dict with two indexes."""
    items: dict[str, Any] = {}
    indexes: dict[str, dict[str, set[str]]] = {name: {} for name in INDEXERS}
    for pod in pods:
        key = pod.object_key()
        items[key] = pod
        for name, index_func in INDEXERS.items():
            for value in index_func(pod):
                indexes[name].setdefault(value, set()).add(key)


def source_alone(n: int) -> dict[str, tuple[float, float]]:
    """Measure the source alone: a list, and as many changes for a thread that drops them."""
    source = new_fake_controller_source()
    for pod in make_pods(n):
        source.add_drop_watch(pod)
    newer = make_pods(n, 2)
    times = {"first list": timed(lambda: source.list(metav1.ListOptions()))}
    watch = source.watch(metav1.ListOptions(resource_version=str(n)))
    counter = Counter()
    counter.expect(n)

    def consume() -> None:
        for event in watch.result_chan():
            counter.on_update(None, event.object)

    consumer = threading.Thread(target=consume, name="bench consumer", daemon=True)
    consumer.start()

    def changes() -> None:
        for pod in newer:
            source.modify(pod)
        assert counter.reached.wait(PATIENCE), "the source is stuck"

    times["watch"] = timed(changes)
    watch.stop()
    source.shutdown()
    consumer.join()
    return times


def run(n: int, handlers: int, in_order: bool) -> dict[str, tuple[float, float]]:
    """Measure an informer with `handlers` handlers: its first list and as many changes."""
    source = new_fake_controller_source()
    pods, newer = make_pods(n), make_pods(n, 2)
    for pod in pods:
        source.add_drop_watch(pod)
    informer = cache.new_shared_index_informer_with_options(
        source, corev1.Pod, cache.SharedIndexInformerOptions(indexers=dict(INDEXERS), in_order=in_order)
    )
    counters = [Counter() for _ in range(handlers)]
    for counter in counters:
        counter.expect(n)
        informer.add_event_handler(counter)
    ctx, cancel = context.with_cancel(context.background())
    runner = threading.Thread(target=informer.run_with_context, args=(ctx,), name="bench informer", daemon=True)

    def wait() -> None:
        for counter in counters:
            assert counter.reached.wait(PATIENCE), "the informer is stuck"

    def first_list() -> None:
        runner.start()
        wait()

    def changes() -> None:
        for pod in newer:
            source.modify(pod)
        wait()

    times = {"first list": timed(first_list)}
    for counter in counters:
        counter.expect(n)
    times["watch"] = timed(changes)
    cancel()
    runner.join()
    source.shutdown()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--handlers", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--delta-fifo", action="store_true", help="with DeltaFIFO in place of RealFIFO")
    options = parser.parse_args()
    n = options.objects
    pods = make_pods(n)
    show("plain", n, min(timed(lambda: plain(pods)) for _ in range(options.repeat)))
    alone = best_of([source_alone(n) for _ in range(options.repeat)])
    for what, times in alone.items():
        show(f"source alone, {what}", n, times)
    for handlers in options.handlers:
        best = best_of([run(n, handlers, not options.delta_fifo) for _ in range(options.repeat)])
        for what, times in best.items():
            show(f"{what}, {handlers} handler{'s' if handlers > 1 else ''}", n, times, alone[what])


def best_of(runs: list[dict[str, tuple[float, float]]]) -> dict[str, tuple[float, float]]:
    """Return the least of each figure."""
    columns = {what: [times[what] for times in runs] for what in runs[0]}
    return {what: (min(t[0] for t in times), min(t[1] for t in times)) for what, times in columns.items()}


if __name__ == "__main__":
    main()
