"""Measure the cost of a live tour for its program, and whether its page keeps up.

    python test/bench/tour/bench_live.py [--objects 10000] [--informers 10] [--changes 100000] [--foos 1000]
                                         [--rounds 3]

`changes`: so many informers with so many objects in all; changes go from a FakeControllerSource through reflector,
FIFO, indexer, handler and work queue to a worker. `Foos`: the sample-controller brings Foos in order against the
embedded API server in the same process. Each is measured in turns without the tour, with it, and with a page that looks
in a process of its own, as a browser does (looker.py).

The promise, which is judged at the end: attached, looked at or not, at most a third of the events a second is lost; the
page is new at least ten times a second; and nothing is lost silently: what was not told one by one is counted. Events a
second are by CPU time, so that a busy machine does not decide. Looks are by the clock on the wall: on a machine that is
busy with other things they are fewer. What a look costs in CPU time, and the part of a core that the program had, say
what they are alone: a look waits for its turn among the program's threads, a few times 5 ms, and takes what it costs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import operator
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "cmd" / "sample-controller"))

from looker import PERIOD

from clientgo import context, informers, kubernetes, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang.http.server_connection import Connection
from clientgo.testing.apiserver import Environment
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.util import workqueue

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 600.0


class Page:
    """Looks as the browser does, from a process of its own: looker.py."""

    def __init__(self, address: str, informers: int) -> None:
        command = [sys.executable, str(Path(__file__).with_name("looker.py")), address, str(informers)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        output, _ = self._process.communicate()  # which ends its input
        self.found: dict[str, Any] = json.loads(output)


class Costs:
    """The CPU seconds of the threads that answer the page's requests."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.looks, self.spent = 0, 0.0

    def each(self) -> float:
        return self.spent / max(1, self.looks)

    def watch(self) -> None:
        serve = Connection.serve_one

        def serve_one(connection: Connection) -> bool:
            began = thread_time()
            try:
                return serve(connection)
            finally:
                self.looks, self.spent = self.looks + 1, self.spent + thread_time() - began

        Connection.serve_one = serve_one  # type: ignore[method-assign]


class Counts:
    """The checks that a tour loses nothing: it counts every call, and keeps every reported hop."""

    def __init__(self) -> None:
        self.updates = 0
        self.differences: list[str] = []

    def check(self, live: tour.Live) -> None:
        """Check the counts after all threads have become idle."""
        live.tick()
        counted = sum(each.calls for tap, each in live.sums().items() if tap.function == "UpdateNotification.deliver")
        if self.updates and counted != self.updates:
            self.differences.append(f"{self.updates:,} updates were delivered, {counted:,} counted")
        hops, last = live.hops_since()
        if hops and max(hop.number for hop in hops) != last:
            self.differences.append(f"{max(hop.number for hop in hops) + 1:,} hops were told, {last + 1:,} are there")


MODES = ("without", "attached", "looked at")
PAGES: list[Page] = []
COSTS = Costs()
COUNTS = Counts()


@contextmanager
def watched(mode: str, informers: int) -> Iterator[None]:
    if mode == "without":
        yield
        return
    with tour.serve() as server:
        if mode == "attached":
            yield
        else:
            page = Page(server.url, informers)
            with page:
                yield
            PAGES.append(page)
        COUNTS.check(server.live)


class Pipeline:
    """Informers on sources in memory, whose handlers queue keys, and a worker that does nothing with them."""

    def __init__(self, informers: int, objects: int) -> None:
        self._queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        self._ctx, self._cancel = context.with_cancel(context.background())
        self._updates = itertools.count().__next__
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
        self._updates()

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
        """Return the changes per second of CPU time."""
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
        COUNTS.updates = self._updates()
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
    """Return the Foos that the sample-controller syncs per second of CPU time, including the server's."""
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


def compare(title: str, measure: Callable[[], float], informers: int, rounds: int) -> list[str]:
    """Measure in turns, print the medians and what becomes of the promise; what was not kept."""
    rates: dict[str, list[float]] = {mode: [] for mode in MODES}
    used = []
    PAGES.clear()
    COSTS.clear()
    COUNTS.updates = 0
    COUNTS.differences.clear()
    for number in range(rounds):
        for mode in MODES[number % 3 :] + MODES[: number % 3]:  # in each place once: the first of a process is slower
            began, spent = perf_counter(), process_time()
            with watched(mode, informers):
                rates[mode].append(measure())
            used.append((process_time() - spent) / (perf_counter() - began))
    medians = {mode: statistics.median(each) for mode, each in rates.items()}
    print(f"{title}; the program had {statistics.median(used):.0%} of a core")
    lost = {mode: 1 - statistics.median(map(operator.truediv, rates[mode], rates["without"])) for mode in MODES}
    for mode in MODES:
        spread = f"{min(rates[mode]):,.0f} to {max(rates[mode]):,.0f}"
        print(f"  {mode:12}{medians[mode]:10,.0f} for each second of CPU ({spread}), {lost[mode]:4.0%} lost")
    found = [page.found for page in PAGES]
    took = sorted(seconds for each in found for seconds in each["took"])
    rate, worst = statistics.median(each["rate"] for each in found), max(each["worst"] for each in found)
    print(f"  looks       {rate:10.1f} a second, of {1 / PERIOD:.1f} asked for; worst gap {worst * 1e3:.0f} ms")
    print(f"  a look      {_at(took, 0.5):10.0f} ms for half of them, 19 of 20 within {_at(took, 0.95):.0f} ms")
    cost, page = COSTS.each(), statistics.median(each["cpu"] for each in found)
    size = statistics.median(each["bytes"] for each in found)
    costs = f"{cost * 1e3:10.1f} ms of CPU in the program, {page * 1e3:.1f} ms to read {size / 1024:.0f} KiB"
    print(f"  it costs    {costs}")
    emitted = [each["calls"] - each["skipped"] for each in found]
    calls, skipped = sum(each["calls"] for each in found), sum(each["skipped"] for each in found)
    print(f"  hops        {sum(emitted):10,} told, {skipped:,} skipped and said, of {calls:,} calls")
    kept = {
        f"at most a third lost while attached ({lost['attached']:.0%})": lost["attached"] <= 1 / 3,
        f"at most a third lost while looked at ({lost['looked at']:.0%})": lost["looked at"] <= 1 / 3,
        f"at least 10 looks a second ({rate:.1f})": rate >= 10,
        f"nothing is lost silently {'; '.join(COUNTS.differences)}".rstrip(): not COUNTS.differences,
    }
    for promise, is_kept in kept.items():
        print(f"  {'kept' if is_kept else 'NOT KEPT'}: {promise}", flush=True)
    return [f"{title}: {promise}" for promise, is_kept in kept.items() if not is_kept]


def _at(sorted_: list[float], part: float) -> float:
    """Return a quantile in milliseconds."""
    return sorted_[int(len(sorted_) * part)] * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=10_000, help="in all informers together")
    parser.add_argument("--informers", type=int, default=10)
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--foos", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; the median counts")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    COSTS.watch()
    failed = compare(
        f"changes through {options.informers} informers with {options.objects:,} objects",
        lambda: Pipeline(options.informers, options.objects).run(options.changes),
        options.informers,
        options.rounds,
    )
    crd = ROOT / "cmd" / "sample-controller" / "artifacts" / "examples" / "crd.yaml"

    def foos() -> float:
        with Environment(crd_paths=[crd]) as environment:
            return sync_foos(environment, options.foos)

    failed += compare(f"sample-controller, {options.foos:,} Foos", foos, 2, options.rounds)
    print("\n".join(["", "Not kept:", *failed]) if failed else "\nThe promise is kept.")


if __name__ == "__main__":
    main()
