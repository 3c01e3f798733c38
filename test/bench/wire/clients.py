#!/usr/bin/env python3
"""One client's way through the replay server's list and watch; bench_wire.py starts it in a process of its own.

    python test/bench/wire/clients.py informer http://127.0.0.1:PORT 10000 50000

Each client fills a cache with the Pods of the list and keeps it up to date from the watch. Sync time is from the first
line of its function, imports done, to all Pods cached, and "from start" from when bench_wire.py started the process
(the clock is one for all processes); the events are timed from the request that lets them go to the moment the client
has been told of the last one. The clients called "reading" read of each object what handlers read;
the others its name alone.
"""

from __future__ import annotations

import gc
import http.client
import json
import os
import resource
import sys
import threading
import urllib.request
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time
from typing import Any
from urllib.parse import urlsplit

from replay_server import LAST

PATIENCE = 300.0
STARTED = "BENCH_STARTED"
JSON = "application/json"


class Run:
    """The report of a client: `synced` once, then `saw` for every event of the watch."""

    def __init__(self, url: str, pods: int, events: int) -> None:
        self.url = url
        self.pods = pods
        self.events = events
        self.done = threading.Event()
        self.counted = 0
        self.sync_seconds = 0.0
        self.seconds_from_start = 0.0
        self._watch_started = 0.0
        self._watch_started_cpu = 0.0
        self._watch_ended = 0.0
        self._cpu = 0.0
        self._started = perf_counter()

    def start(self) -> None:
        """Start the clock."""
        self._started = perf_counter()

    def synced(self, cached: int) -> None:
        """Record that the cache holds the list. The events start when the client's watch is open and the client is
        idle.
        """
        assert cached == self.pods, f"{cached} of {self.pods} cached"
        now = perf_counter()
        self.sync_seconds = now - self._started
        self.seconds_from_start = now - float(os.environ.get(STARTED, self._started))
        threading.Timer(1.0, self._go).start()

    def _go(self) -> None:
        self._watch_started, self._watch_started_cpu = perf_counter(), process_time()
        urllib.request.urlopen(self.url + "/go").read()

    def saw(self, name: str) -> None:
        """Record that the cache is up to date with an event."""
        self.counted += 1
        if name == LAST:
            self._watch_ended, self._cpu = perf_counter(), process_time() - self._watch_started_cpu
            self.done.set()

    def report(self) -> dict[str, float]:
        assert self.counted == self.events, f"{self.counted} of {self.events} seen"
        return {
            "sync seconds": self.sync_seconds,
            "from start": self.seconds_from_start,
            "events/s": self.events / (self._watch_ended - self._watch_started),
            "us of CPU": self._cpu / self.events * 1e6,
            "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def read(pod: Any) -> None:
    """Read the fields that a handler reads: a label, an image, the phase, and a condition."""
    fields = pod.metadata.labels["app"], pod.spec.containers[0].image, pod.status.phase, pod.status.conditions[0].type
    assert all(fields)


def read_document(pod: dict[str, Any]) -> None:
    """Read the same fields of a dict."""
    spec, status = pod["spec"], pod["status"]
    labels = pod["metadata"]["labels"]
    assert all((labels["app"], spec["containers"][0]["image"], status["phase"], status["conditions"][0]["type"]))


def floor(run: Run, reading: bool = False) -> None:
    """Run http.client and json.loads into a dict, in one thread."""
    run.start()
    connection = http.client.HTTPConnection(urlsplit(run.url).netloc)
    connection.request("GET", "/api/v1/pods")
    listed = json.loads(connection.getresponse().read())
    cache = {(pod["metadata"]["namespace"], pod["metadata"]["name"]): pod for pod in listed["items"]}
    version = listed["metadata"]["resourceVersion"]
    del listed
    run.synced(len(cache))
    connection.request("GET", f"/api/v1/pods?watch=1&resourceVersion={version}")
    response = connection.getresponse()
    while not run.done.is_set():
        event = json.loads(response.readline())
        metadata = event["object"]["metadata"]
        cache[metadata["namespace"], metadata["name"]] = event["object"]
        if reading:
            read_document(event["object"])
        run.saw(metadata["name"])
    connection.close()


def watch(run: Run, content_type: str = "") -> None:
    """Run this library's typed list and watch into a dict, which is the network part of an informer."""
    import clientgo.kubernetes.typed.core.v1.core_client  # noqa: F401 - else imported on first use
    from clientgo import context, kubernetes, rest
    from clientgo.apimachinery.api import meta
    from clientgo.apimachinery.apis.meta import v1 as metav1

    run.start()
    ctx = context.background()
    pods = kubernetes.new_for_config(rest.Config(host=run.url, qps=-1, content_type=content_type)).core_v1().pods("")
    listed = pods.list(ctx, metav1.ListOptions())
    # Not listed.items: each of these keeps the whole list alive.
    cache = {pod.object_key(): pod for pod in meta.extract_list(listed)}
    version = listed.get_resource_version()
    del listed
    run.synced(len(cache))
    stream = pods.watch(ctx, metav1.ListOptions(resource_version=version))
    for event in stream.result_chan():
        cache[event.object.object_key()] = event.object
        run.saw(event.object.get_name())
        if run.done.is_set():
            break
    stream.stop()


def informer(run: Run, reading: bool = False, content_type: str = "") -> None:
    """Run this library's shared informer with one handler."""
    import clientgo.informers.core.v1.pod
    import clientgo.kubernetes.typed.core.v1.core_client  # noqa: F401 - else imported on first use
    from clientgo import context, informers, kubernetes, rest
    from clientgo.tools import cache

    run.start()
    ctx, cancel = context.with_cancel(context.background())
    config = rest.Config(host=run.url, qps=-1, content_type=content_type)
    factory = informers.new_shared_informer_factory(kubernetes.new_for_config(config), 0.0)
    pods = factory.core().v1().pods().informer()
    synced = threading.Event()

    def added(pod: Any) -> None:
        if synced.is_set():
            run.saw(pod.get_name())

    def updated(old: Any, new: Any) -> None:
        if reading:
            read(new)
        run.saw(new.get_name())

    handlers = cache.ResourceEventHandlerFuncs(add_func=added, update_func=updated)
    handle = pods.add_event_handler(handlers)
    factory.start_with_context(ctx)
    assert cache.wait_for(ctx, "", pods.has_synced_checker(), handle.has_synced_checker())
    synced.set()
    run.synced(len(pods.get_indexer().list_keys()))
    assert run.done.wait(PATIENCE), f"{run.counted} of {run.events} seen"
    cancel()
    factory.shutdown()


def official_informer(run: Run) -> None:
    """Run the informer of PyPI's kubernetes package."""
    from kubernetes import client
    from kubernetes.informer import SharedInformer

    run.start()
    configuration = client.Configuration()
    configuration.host = run.url
    pods = SharedInformer(client.CoreV1Api(client.ApiClient(configuration)).list_pod_for_all_namespaces)
    synced = threading.Event()
    listed = 0

    def added(pod: Any) -> None:
        nonlocal listed
        if synced.is_set():
            run.saw(pod.metadata.name)
            return
        listed += 1
        if listed == run.pods:
            synced.set()
            run.synced(len(pods.cache.list_keys()))

    pods.add_event_handler("ADDED", added)
    pods.add_event_handler("MODIFIED", lambda pod: run.saw(pod.metadata.name))
    pods.start()
    assert run.done.wait(PATIENCE), f"{run.counted} of {run.events} seen"


CLIENTS: dict[str, Callable[[Run], None]] = {
    "floor": floor,
    "watch": watch,
    "informer": informer,
    "watch, json": partial(watch, content_type=JSON),
    "watch, json, fast": partial(watch, content_type=JSON),
    "informer, json": partial(informer, content_type=JSON),
    "informer, json, fast": partial(informer, content_type=JSON),
    "floor, reading": partial(floor, reading=True),
    "informer, reading": partial(informer, reading=True),
    "informer, fast, reading": partial(informer, reading=True),
    "informer, json, reading": partial(informer, reading=True, content_type=JSON),
    "informer, json, fast, reading": partial(informer, reading=True, content_type=JSON),
    "official informer": official_informer,
}


def main() -> None:
    name, url, pods, events = sys.argv[1:]
    run = Run(url, int(pods), int(events))
    gc.collect()
    CLIENTS[name](run)
    print(json.dumps(run.report()), flush=True)


if __name__ == "__main__":
    main()
