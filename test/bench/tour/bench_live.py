"""What a live tour costs the program that it is attached to, and whether its page keeps up.

    python test/bench/tour/bench_live.py [--objects 10000] [--informers 10] [--changes 20000] [--foos 1000] [--rounds 3]

`informers`: so many informers with so many objects in all; changes go from a FakeControllerSource through reflector,
FIFO, indexer, handler and work queue to a worker. `foos`: the sample-controller brings Foos in order against the
embedded API server in the same process. Each is measured in turns without the tour, with it, and with a page that looks
ten times a second; figures are of CPU time, so that a busy machine does not decide. The promise: attached, at most a
third of the events a second is lost. The page's rate of looks is by the clock on the wall, and what it costs comes
every so many seconds of that clock: on a machine that is busy with other things, both are worse than they are alone.
"""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import statistics
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "cmd" / "sample-controller"))

from clientgo import context, informers, kubernetes, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.util import workqueue

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 600.0
PERIOD = 0.08


class Page:
    """Looks as the browser does, as often as it can but not more often than that."""

    def __init__(self, address: str, informers: int) -> None:
        self._address = address
        self._informers = informers
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="page", daemon=True)
        self.took: list[float] = []
        self.skipped = 0
        self.calls = 0

    def _look(self) -> None:
        last = number = 0
        # One that stays, as a browser has it.
        connection = http.client.HTTPConnection(urlsplit(self._address).netloc, timeout=PATIENCE)
        while not self._ended.is_set():
            began = perf_counter()
            connection.request("GET", f"/api/live?since={last}&informer={number % self._informers}")
            with connection.getresponse() as response:
                seen = json.load(response)
            last, self.skipped, self.calls, number = seen["last"], seen["skipped"], seen["calls"], number + 1
            self.took.append(perf_counter() - began)
            self._ended.wait(max(0.0, PERIOD - self.took[-1]))
        connection.close()

    def __enter__(self) -> Page:
        self._began = perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.rate = len(self.took) / (perf_counter() - self._began)


MODES = ("without", "attached", "looked at")
PAGES: list[Page] = []


@contextmanager
def watched(mode: str, informers: int) -> Iterator[None]:
    if mode == "without":
        yield
        return
    with tour.serve() as server:
        if mode == "attached":
            yield
            return
        page = Page(server.url, informers)
        with page:
            yield
        PAGES.append(page)


class Pipeline:
    """Informers on sources in memory, whose handlers queue keys, and a worker that does nothing with them."""

    def __init__(self, informers: int, objects: int) -> None:
        self._queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        self._ctx, self._cancel = context.with_cancel(context.background())
        self._sources = [new_fake_controller_source() for _ in range(informers)]
        self._objects = [[pod(f"pod-{number}") for number in range(objects // informers)] for _ in self._sources]
        for source, pods in zip(self._sources, self._objects):
            for each in pods:
                source.add(each)
        self._informers = [
            cache.new_shared_index_informer(
                source, corev1.Pod(), 0.0, {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
            )
            for source in self._sources
        ]
        for informer in self._informers:
            informer.add_event_handler(self)
        self._threads = [
            threading.Thread(target=informer.run_with_context, args=(self._ctx,), name=f"informer-{n}", daemon=True)
            for n, informer in enumerate(self._informers)
        ]
        self._threads.append(threading.Thread(target=self._work, name="worker", daemon=True))

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self._queue.add(cache.meta_namespace_key_func(obj))

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._queue.add(cache.meta_namespace_key_func(new_obj))

    def on_delete(self, obj: Any) -> None:
        self._queue.add(cache.deletion_handling_meta_namespace_key_func(obj))

    def _work(self) -> None:
        while True:
            key, shutdown = self._queue.get()
            if shutdown:
                return
            self._queue.forget(key)
            self._queue.done(key)

    def run(self, changes: int) -> float:
        """Changes for each second of CPU time."""
        for thread in self._threads:
            thread.start()
        if not cache.wait_for_cache_sync(self._ctx.done(), *(informer.has_synced for informer in self._informers)):
            raise RuntimeError("the caches did not sync")
        each = changes // len(self._sources)
        began = process_time()
        for number in range(each):
            for source, pods in zip(self._sources, self._objects):
                source.modify(pods[number % len(pods)])
        last = [pods[(each - 1) % len(pods)].metadata.name for pods in self._objects]
        self._wait_for_caches(last)
        took = process_time() - began
        self._cancel()
        self._queue.shut_down()
        for thread in self._threads:
            thread.join()
        for source in self._sources:
            source.shutdown()
        return changes / took

    def _wait_for_caches(self, last: list[str]) -> None:
        pause = threading.Event()
        began = perf_counter()
        for source, informer, name in zip(self._sources, self._informers, last):
            newest = {each.get_name(): each.get_resource_version() for each in listed(source)}
            while informer.get_indexer().get_by_key(f"default/{name}")[0].get_resource_version() != newest[name]:
                pause.wait(0.002)
                if perf_counter() - began > PATIENCE:
                    raise RuntimeError("the caches did not follow")


def listed(source: Any) -> list[Any]:
    items: list[Any] = source.list(metav1.ListOptions()).extract_items()
    return items


def pod(name: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="default", labels={"app": "bench"}))


def sync_foos(environment: Environment, foos: int) -> float:
    """Foos that the sample-controller brings in order for each second of CPU time, the server's included."""
    from controller import new_controller
    from pkg.apis.samplecontroller import v1alpha1
    from pkg.generated.clientset import versioned
    from pkg.generated.informers import externalversions

    kube, sample = kubernetes.new_for_config(environment.config), versioned.new_for_config(environment.config)
    ctx, cancel = context.with_cancel(context.background())
    api = sample.samplecontroller_v1alpha1().foos("default")
    for number in range(foos):
        spec = v1alpha1.FooSpec(deployment_name=f"foo-{number}", replicas=1)
        foo = v1alpha1.Foo(metadata=metav1.ObjectMeta(name=f"foo-{number}"), spec=spec)
        api.create(ctx, foo, metav1.CreateOptions())
    kube_factory = informers.new_shared_informer_factory(kube, 0.0)
    sample_factory = externalversions.new_shared_informer_factory(sample, 0.0)
    deployments = kube_factory.apps().v1().deployments()
    foo_informer = sample_factory.samplecontroller().v1alpha1().foos()
    controller = new_controller(ctx, kube, sample, deployments, foo_informer)
    thread = threading.Thread(target=controller.run, args=(ctx, 2), name="controller", daemon=True)
    began, pause = process_time(), threading.Event()
    kube_factory.start(ctx.done())
    sample_factory.start(ctx.done())
    thread.start()
    while len(deployments.informer().get_indexer().list_keys()) < foos or controller.workqueue.len():
        pause.wait(0.02)
    took = process_time() - began
    cancel()
    thread.join()
    kube_factory.shutdown()
    sample_factory.shutdown()
    kube.close()
    sample.close()
    return foos / took


def compare(title: str, measure: Callable[[], float], informers: int, rounds: int) -> None:
    """Measure in turns and print the medians with their ratios."""
    rates: dict[str, list[float]] = {mode: [] for mode in MODES}
    for _ in range(rounds):
        for mode in MODES:
            with watched(mode, informers):
                rates[mode].append(measure())
    medians = {mode: statistics.median(each) for mode, each in rates.items()}
    print(f"{title}, for each second of CPU time")
    for mode in MODES:
        print(f"  {mode:12}{medians[mode]:12,.0f}   x without: {medians[mode] / medians['without']:.2f}", flush=True)
    page = PAGES[-1]
    slow = sorted(page.took)[int(len(page.took) * 0.95)]
    print(
        f"  looks: {page.rate:.1f}/s, of 12.5/s asked for; half within {statistics.median(page.took) * 1e3:.0f} ms, "
        f"19 of 20 within {slow * 1e3:.0f} ms; {page.calls:,} calls, {page.skipped:,} of them not told of",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=10_000, help="in all informers together")
    parser.add_argument("--informers", type=int, default=10)
    parser.add_argument("--changes", type=int, default=20_000)
    parser.add_argument("--foos", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; the median counts")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    compare(
        f"changes through {options.informers} informers with {options.objects:,} objects",
        lambda: Pipeline(options.informers, options.objects).run(options.changes),
        options.informers,
        options.rounds,
    )
    crd = ROOT / "cmd" / "sample-controller" / "artifacts" / "examples" / "crd.yaml"

    def foos() -> float:
        with Environment(crd_paths=[crd]) as environment:
            return sync_foos(environment, options.foos)

    compare(f"{options.foos:,} Foos", foos, 2, options.rounds)


if __name__ == "__main__":
    main()
