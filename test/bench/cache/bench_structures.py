#!/usr/bin/env python3
"""Compare the data structures of tools/cache with a plain dict in the same run.

    python test/bench/cache/bench_structures.py [--objects 100000] [--repeat 3]

Go: BenchmarkIndexer, BenchmarkLister_Match_1k_100, BenchmarkLister_Match_10k_100, BenchmarkLister_Match_100k_100,
BenchmarkLister_Match_1M_100, BenchmarkLister_Match_1M_0, BenchmarkAddWithSlowHandlers, BenchmarkExtractList,
BenchmarkExtractListWithAlloc, BenchmarkEachListItem, BenchmarkEachListItemWithAlloc

Every figure is the best of the repeats. The ratio says how many times as long it takes as the baseline named with it,
measured in turns with it. CPU time is counted, so that other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import gc
import sys
import threading
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.tools import cache


def make_pods(n: int, version: int = 1) -> list[corev1.Pod]:
    """Return `n` small Pods in 100 namespaces on 1000 nodes."""
    return [
        corev1.Pod.from_dict(
            {
                "metadata": {
                    "namespace": f"namespace-{i % 100}",
                    "name": f"pod-{i}",
                    "uid": f"00000000-0000-0000-0000-{i:012d}",
                    "resourceVersion": str(version * n + i),
                    "labels": {"app": f"app-{i % 50}"},
                },
                "spec": {"nodeName": f"node-{i % 1000}"},
            }
        )
        for i in range(n)
    ]


def by_node(obj: Any) -> list[str]:
    return [document_of(obj)["spec"]["nodeName"]]


INDEXERS: Any = {"namespace": cache.meta_namespace_index_func, "node": by_node}


Prepare = Callable[[], Callable[[], None]]


class Report:
    """Printer of one line for each measurement."""

    def __init__(self, repeat: int) -> None:
        self.repeat = repeat
        self.prepared: dict[str, tuple[int, Prepare]] = {}

    def measure(
        self, name: str, n: int, prepare: Prepare, baseline: str = "", clock: Callable[[], float] = process_time
    ) -> None:
        """Measure the `n` operations that `prepare` returns, in turns with the baseline."""
        self.prepared[name] = (n, prepare)
        runs = [self.prepared[baseline], (n, prepare)] if baseline else [(n, prepare)]
        best = [float("inf")] * len(runs)
        for _ in range(self.repeat):
            for i, (operations, prepare_one) in enumerate(runs):
                best[i] = min(best[i], self._once(prepare_one(), clock) / operations)
        ratio = f"{best[-1] / best[0]:6.2f} x {baseline}" if baseline else ""
        print(f"{name:44} {best[-1] * 1e9:8,.0f} ns {1 / best[-1]:12,.0f}/s  {ratio}")

    def _once(self, timed: Callable[[], None], clock: Callable[[], float]) -> float:
        gc.collect()
        gc.disable()
        try:
            started = clock()
            timed()
            return clock() - started
        finally:
            gc.enable()


def bench_store(report: Report, n: int) -> None:
    pods, newer = make_pods(n), make_pods(n, 2)
    keys = [pod.object_key() for pod in pods]
    lock = threading.Lock()

    def filled_dict() -> dict[str, Any]:
        return dict(zip(keys, pods))

    def filled_indexer(indexers: Any = INDEXERS) -> Any:
        indexer = cache.new_indexer(cache.meta_namespace_key_func, indexers)
        indexer.replace(pods, "1")
        return indexer

    def dict_get() -> Callable[[], None]:
        items = filled_dict()

        def run() -> None:
            for key in keys:
                with lock:
                    items[key]

        return run

    def dict_write() -> Callable[[], None]:
        items: dict[str, Any] = {}

        def run() -> None:
            for pod in newer:
                key = pod.object_key()
                with lock:
                    items[key] = pod

        return run

    def dict_update_by_hand() -> Callable[[], None]:
        """Update a dict with two indexes: the least work for the keys, versions and values of the old and the new
        object.
        """
        items = filled_dict()
        namespace, node = INDEXERS["namespace"], INDEXERS["node"]

        def run() -> None:
            for pod in newer:
                key = pod.object_key()
                pod.get_resource_version()
                with lock:
                    old = items[key]
                    items[key] = pod
                    if namespace(old) != namespace(pod) or node(old) != node(pod):
                        raise AssertionError("moved")

        return run

    def each(call: Callable[[Any], Any], args: list[Any]) -> Callable[[], None]:
        def run() -> None:
            for arg in args:
                call(arg)

        return run

    report.measure("dict get under its lock", n, dict_get)
    report.measure("get_by_key", n, lambda: each(filled_indexer().get_by_key, keys), "dict get under its lock")
    report.measure("get", n, lambda: each(filled_indexer().get, pods), "dict get under its lock")
    report.measure("dict write under its lock", n, dict_write)
    report.measure("dict update, indexes by hand", n, dict_update_by_hand)
    report.measure(
        "add, 2 indexers",
        n,
        lambda: each(cache.new_indexer(cache.meta_namespace_key_func, INDEXERS).add, pods),
        "dict write under its lock",
    )
    report.measure(
        "update, 2 indexers", n, lambda: each(filled_indexer().update, newer), "dict write under its lock"
    )
    report.measure(
        "update, 2 indexers (again)", n, lambda: each(filled_indexer().update, newer), "dict update, indexes by hand"
    )
    report.measure("update, no indexer", n, lambda: each(filled_indexer({}).update, newer), "dict write under its lock")
    report.measure("delete, 2 indexers", n, lambda: each(filled_indexer().delete, pods), "dict write under its lock")

    def transactions() -> Callable[[], None]:
        indexer = filled_indexer()
        txns = [cache.Transaction(pod, cache.TransactionType.UPDATE) for pod in newer]
        batches = [txns[i : i + 1000] for i in range(0, n, 1000)]
        return each(lambda batch: indexer.transaction(*batch), batches)

    report.measure("update in transactions of 1000", n, transactions, "dict write under its lock")

    def replace() -> Callable[[], None]:
        indexer = cache.new_indexer(cache.meta_namespace_key_func, INDEXERS)
        return lambda: indexer.replace(pods, "1")

    report.measure("replace, 2 indexers", n, replace, "dict write under its lock")
    namespaces = [f"namespace-{i}" for i in range(100)]
    report.measure(
        f"by_index, {n // 100} objects each (per object)",
        n,
        lambda: each(partial(filled_indexer().by_index, "namespace"), namespaces),
        "dict get under its lock",
    )
    nodes = [f"node-{i}" for i in range(1000)] * 10
    report.measure(
        f"by_index, {n // 1000} objects each (per call)",
        len(nodes),
        lambda: each(partial(filled_indexer().by_index, "node"), nodes),
        "dict get under its lock",
    )


def bench_listers(report: Report, n: int) -> None:
    """Measure listing by a label of one object in `n // 100`, by a label of none, and without a selector."""
    indexer = cache.new_indexer(cache.meta_namespace_key_func, INDEXERS)
    for i, pod in enumerate(make_pods(n)):
        if i % (n // 100) == 0:
            pod.set_labels({"match": "yes"})
        indexer.add(pod)

    def list_all(selector: str) -> Prepare:
        parsed = labels.parse(selector)
        return lambda: lambda: cache.list_all(indexer, parsed, [].append)

    report.measure("list_all, everything", n, list_all(""), "dict get under its lock")
    report.measure("list_all, 100 match", n, list_all("match=yes"), "dict get under its lock")
    report.measure("list_all, none matches", n, list_all("match=no"), "dict get under its lock")


def ignore(popped: Any, is_in_initial_list: bool) -> None:
    pass


def bench_queues(report: Report, n: int) -> None:
    pods = make_pods(n)

    class Nothing:
        def list_keys(self) -> list[str]:
            return []

        def get_by_key(self, key: str) -> tuple[Any, bool]:
            return None, False

    def delta_fifo() -> Any:
        return cache.new_delta_fifo_with_options(
            cache.DeltaFIFOOptions(known_objects=Nothing(), emit_delta_type_replaced=True)
        )

    def real_fifo() -> Any:
        return cache.new_real_fifo_with_options(
            cache.RealFIFOOptions(atomic_events=True, unlock_while_processing=True)
        )

    def through(make: Callable[[], Any]) -> Callable[[], Callable[[], None]]:
        def prepare() -> Callable[[], None]:
            queue = make()

            def run() -> None:
                for pod in pods:
                    queue.update(pod)
                for _ in pods:
                    queue.pop(ignore)

            return run

        return prepare

    def in_batches() -> Callable[[], None]:
        queue = real_fifo()

        def run() -> None:
            for pod in pods:
                queue.update(pod)
            while queue.statistics().items:
                queue.pop_batch(ignore, ignore)

        return run

    def threaded(make: Callable[[], Any], batches: bool) -> Prepare:
        """Run a producer and a consumer at the same time."""

        def prepare() -> Callable[[], None]:
            queue = make()
            pop = partial(queue.pop_batch, ignore, ignore) if batches else partial(queue.pop, ignore)
            return lambda: produce_and_consume(queue, pop)

        return prepare

    def beside_slow_handlers(unlock: bool) -> Prepare:
        """Run a producer and a consumer that takes 1 ms for each batch, with or without the lock."""

        def prepare() -> Callable[[], None]:
            queue = cache.new_real_fifo_with_options(
                cache.RealFIFOOptions(atomic_events=True, unlock_while_processing=unlock)
            )
            return lambda: produce_and_consume(queue, lambda: queue.pop_batch(slowly, slowly))

        return prepare

    def slowly(popped: Any, is_in_initial_list: bool) -> None:
        sleep(0.001)

    def produce_and_consume(queue: Any, pop: Callable[[], object]) -> None:
        def consume() -> None:
            try:
                while True:
                    pop()
            except cache.ErrFIFOClosed:
                return

        consumer = threading.Thread(target=consume, name="bench consumer", daemon=True)
        consumer.start()
        for pod in pods:
            queue.update(pod)
        queue.close()
        consumer.join()

    report.measure("DeltaFIFO update + pop", n, through(delta_fifo), "dict write under its lock")
    report.measure("RealFIFO update + pop", n, through(real_fifo), "dict write under its lock")
    report.measure("RealFIFO update + pop_batch", n, in_batches, "dict write under its lock")
    report.measure("DeltaFIFO, two threads", n, threaded(delta_fifo, False), "dict write under its lock")
    report.measure("RealFIFO, two threads", n, threaded(real_fifo, False), "dict write under its lock")
    report.measure("RealFIFO, two threads, batches", n, threaded(real_fifo, True), "dict write under its lock")
    report.measure("RealFIFO, slow handler, unlocked", n, beside_slow_handlers(True), clock=perf_counter)
    report.measure("RealFIFO, slow handler, locked", n, beside_slow_handlers(False), clock=perf_counter)


def bench_lists(report: Report, n: int) -> None:
    """Measure extracting the items of lists. Go has a second form that copies the items. Here both are the same."""
    pods = corev1.PodList.from_dict({"items": [pod.to_dict() for pod in make_pods(n)]})
    config_maps = corev1.ConfigMapList.from_dict({"items": [{"metadata": {"name": str(i)}} for i in range(n)]})
    for objs in (pods, config_maps):
        name = type(objs).__name__
        report.measure(f"extract_list, {name}", n, lambda objs=objs: lambda: len(meta.extract_list(objs)))  # type: ignore
        report.measure(f"each_list_item, {name}", n, lambda objs=objs: lambda: meta.each_list_item(objs, id))  # type: ignore


def bench_memory(n: int) -> None:
    """Measure the memory of an object, and the store's memory for it."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    pods = make_pods(n)
    objects = tracemalloc.get_traced_memory()[0]
    indexer = cache.new_indexer(cache.meta_namespace_key_func, INDEXERS)
    indexer.replace(pods, "1")
    stored = tracemalloc.get_traced_memory()[0]
    plain = {pod.object_key(): pod for pod in pods}
    beside = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(plain) == n
    print(f"memory per object: {(objects - before) / n:,.0f} bytes")
    print(
        f"memory the store adds with 2 indexes: {(stored - objects) / n:,.0f} bytes each; "
        f"a plain dict: {(beside - stored) / n:,.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    report = Report(options.repeat)
    bench_store(report, options.objects)
    bench_listers(report, options.objects)
    bench_queues(report, options.objects)
    bench_lists(report, options.objects)
    bench_memory(options.objects)


if __name__ == "__main__":
    main()
