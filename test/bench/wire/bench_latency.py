#!/usr/bin/env python3
"""Measure the latency of a change until its handler runs in an idle process, compared with less than an informer.

    python test/bench/wire/bench_latency.py [--repeat 3] [--changes 500] [--rate 100] [--go PATH] [client ...]

A server (../scale/cluster_server.py) writes a Pod every 10 ms, and says in it when. Each client is a process of its
own, in turns. The informers are ours as installed, those that ask for JSON, and Go's if there is its program, built
from go/main.go; beside them:

* socket: a bare socket, of whose bytes nothing is read but the time;
* floor: http.client and json.loads, into a dict, in one thread;
* stations: the same, handed over as in Go's pipeline from thread to thread, five of them, by queue.SimpleQueue.

Milliseconds from the server's write to the handler: the medians of the runs.
"""

from __future__ import annotations

import argparse
import http.client
import importlib.util
import json
import os
import queue
import socket
import statistics
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scale"))

import cluster_server
from clients import JSON

PATIENCE = 120.0
PODS = 1000
PATH = "/api/v1/pods"
MARK = b'"revision":"'


class Run:
    """The report of a client: `ready` after its watch is open, then `saw` for every change."""

    def __init__(self, url: str, changes: int, rate: float) -> None:
        self.url = url
        self.changes = changes
        self.done = threading.Event()
        self._rate = rate
        self._late: list[float] = []

    def ready(self) -> None:
        urllib.request.urlopen(f"{self.url}/go?rate={self._rate}&count={self.changes}").read()

    def saw(self, revision: str) -> None:
        self._late.append(cluster_server.seconds_since(revision))
        if len(self._late) == self.changes:
            self.done.set()

    def report(self) -> dict[str, float]:
        assert self.done.wait(PATIENCE), f"{len(self._late)} changes seen"
        parts = statistics.quantiles(self._late, n=100)
        return {"median": parts[49] * 1e3, "99th": parts[98] * 1e3}


def bare_socket(run: Run) -> None:
    url = urlsplit(run.url)
    with socket.create_connection((url.hostname, url.port)) as sock, sock.makefile("rb") as lines:
        sock.sendall(b"GET %b?watch=1 HTTP/1.1\r\nHost: here\r\n\r\n" % PATH.encode())
        while lines.readline().strip():
            pass
        run.ready()
        while not run.done.is_set():
            line = lines.readline()
            at = line.find(MARK) + len(MARK)
            if at >= len(MARK):
                run.saw(line[at : at + 8].decode())


def changed(run: Run) -> Iterator[Any]:
    """Yield the objects of a watch, by http.client and json.loads."""
    connection = http.client.HTTPConnection(urlsplit(run.url).netloc)
    connection.request("GET", f"{PATH}?watch=1")
    response = connection.getresponse()
    run.ready()
    for _ in range(run.changes):
        yield json.loads(response.readline())["object"]
    connection.close()


def floor(run: Run) -> None:
    cache = {}
    for pod in changed(run):
        cache[pod["metadata"]["name"]] = pod
        run.saw(pod["metadata"]["labels"]["revision"])


def stations(run: Run) -> None:
    """Run five threads: a reader, a reflector, a controller, a processor and a handler."""
    cache = {}
    read, queued, stored, pending = (queue.SimpleQueue[Any]() for _ in range(4))

    def store(pod: Any) -> None:
        cache[pod["metadata"]["name"]] = pod
        stored.put(pod)

    def handle(pod: Any) -> None:
        run.saw(pod["metadata"]["labels"]["revision"])

    def station(source: queue.SimpleQueue[Any], work: Callable[[Any], None]) -> None:
        for _ in range(run.changes):
            work(source.get())

    works = ((read, queued.put), (queued, store), (stored, pending.put), (pending, handle))
    threads = [threading.Thread(target=station, args=each, name="station") for each in works]
    for thread in threads:
        thread.start()
    for pod in changed(run):
        read.put(pod)
    for thread in threads:
        thread.join()


def informer(run: Run, content_type: str = "") -> None:
    """Run this library's shared informer with one handler."""
    from clientgo import context, informers, kubernetes, rest
    from clientgo.tools import cache

    ctx, cancel = context.with_cancel(context.background())
    config = rest.Config(host=run.url, qps=-1, content_type=content_type)
    factory = informers.new_shared_informer_factory(kubernetes.new_for_config(config), 0.0)
    handlers = cache.ResourceEventHandlerFuncs(update_func=lambda old, new: run.saw(new.metadata.labels["revision"]))
    handle = factory.core().v1().pods().informer().add_event_handler(handlers)
    factory.start_with_context(ctx)
    assert cache.wait_for(ctx, "", handle.has_synced_checker())
    run.ready()
    run.done.wait(PATIENCE)
    cancel()
    factory.shutdown()


CLIENTS: dict[str, Callable[[Run], None]] = {
    "socket": bare_socket,
    "floor": floor,
    "stations": stations,
    "informer": informer,
    "informer, json, fast": partial(informer, content_type=JSON),
    "informer, json": partial(informer, content_type=JSON),
}
# What needs a package that is not installed is left out.
NEEDS = {"informer, json, fast": "msgspec"}


def measured(client: str, options: argparse.Namespace) -> dict[str, float]:
    """Run one client in its own process, against its own server."""
    with cluster_server.serving({PATH: ("v1", "Pod")}, PODS, protobuf=client in ("informer", "Go")) as ready:
        command = command_of(client, f"http://127.0.0.1:{ready['port']}", options)
        env = os.environ | {"CLIENTGO_LAZY_DECODING": str("fast" in client).lower()}
        ran = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE, env=env)
    if ran.returncode != 0:
        raise SystemExit(f"{client} failed:\n{ran.stderr}")
    figures: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return figures


def command_of(client: str, url: str, options: argparse.Namespace) -> list[str]:
    if client != "Go":
        return [sys.executable, __file__, "--url", url, *sys.argv[1:], client]
    return [options.go, "-url", url, "-changes", str(options.changes), "-rate", str(options.rate)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--go", metavar="PATH", default="", help="the program built from go/main.go")
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("clients", nargs="*", choices=[*CLIENTS, []])
    options = parser.parse_args()
    if options.url:  # This is one of the clients.
        run = Run(options.url, options.changes, options.rate)
        CLIENTS[options.clients[-1]](run)
        print(json.dumps(run.report()), flush=True)
        return
    clients = options.clients or list(CLIENTS)
    clients = [each for each in clients if each not in NEEDS or importlib.util.find_spec(NEEDS[each])]
    clients += ["Go"] * bool(options.go)
    runs: dict[str, list[dict[str, float]]] = {client: [] for client in clients}
    for _ in range(options.repeat):
        for client in clients:
            runs[client].append(measured(client, options))
    for client, figures in runs.items():
        median, late = (statistics.median(each[name] for each in figures) for name in ("median", "99th"))
        print(f"{client:24} median {median:6.2f} ms, of one in a hundred {late:6.2f} ms", flush=True)
    print("load average", *(f"{each:.1f}" for each in os.getloadavg()))


if __name__ == "__main__":
    main()
