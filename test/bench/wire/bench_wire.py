#!/usr/bin/env python3
"""From the socket to the handler: an informer beside the least that Python can do, and beside the official informer.

    python test/bench/wire/bench_wire.py [--repeat 5] [--pods 10000] [--variety SEED] [--stream-lists] [--go PATH]
                                         [client ...]

A replay server (replay_server.py) lists Pods and replays a watch; each client (clients.py) runs in a process of its
own, in turns, so that a busy machine is busy for all. There is one server for each encoding and table. The first table
is of varied Pods: no two have the same lengths. The second one is of uniform Pods of 3.4 KB, which only a benchmark
has. Two of them are floors: http.client with json.loads into a dict, and the informer of PyPI's kubernetes package. The
others are ours as installed, with protobuf; those called "json" ask for that. Those called "fast" decode with the extra
`fast`, the others with the standard library alone. Handlers called "reading" read a label, an image, the phase and a
condition of each Pod, the others the name alone. What needs a package that is not installed is left out. Go's informer
takes part too if there is its program, built from go/main.go.

The aims are ratios of the medians, on a quiet machine of two cores. On varied Pods the reading handler takes at most 40
us of CPU with `fast`, and without it does 1.3 times its floor's events a second. On uniform Pods, as installed, from
process start to synced at most 1.3 times Go (1.0 to 1.1), with the reading handler at least 1.4 times its floor's
events a second (1.7) and at most 32 us of CPU (22), and no more memory than Go (a third). Over JSON with `fast`, at
least 0.8 times the first floor's events (2.1) and 8 times the official informer's (15), and at most 1.3 times the first
floor's time to sync (0.2); with the standard library 0.62, 4.3 and 1.1: what holds it back is not the collector but
four threads passing 20 KB of small objects from one core's cache to the other's.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from clients import CLIENTS, JSON, STARTED

HERE = Path(__file__).resolve().parent

NEEDS = {
    "official informer": "kubernetes",
    "informer, fast, reading": "google.protobuf",
    "watch, json, fast": "msgspec",
    "informer, json, fast": "msgspec",
    "informer, json, fast, reading": "msgspec",
}
# The official informer gets fewer: its pace is the same from the first to the last.
EVENTS = {"official informer": 4_000}
# What our clients are compared with.
BASES = ("floor", "floor, reading", "official informer", "Go", "Go, json", "Go, reading")
FIGURES = ("sync seconds", "from start", "events/s", "us of CPU", "MB")
# The clients of Go's program, with their options.
GO = {
    "Go": (),
    "Go, json": ("-content-type", JSON),
    "Go, reading": ("-reading",),
}
PATIENCE = 300.0

Figures = dict[str, float]


class Servers:
    """The replay servers, each started when the first client needs it."""

    def __init__(self, stack: contextlib.ExitStack, pods: int) -> None:
        self._stack = stack
        self._pods = pods
        # By their options.
        self._urls: dict[tuple[str, ...], str] = {}

    def url(self, events: int, arguments: list[str]) -> str:
        """Return the address of the server with these options."""
        options = ("--pods", str(self._pods), "--events", str(events), *arguments)
        if options not in self._urls:
            command = [sys.executable, str(HERE / "replay_server.py"), *options]
            server = self._stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            self._stack.callback(server.terminate)
            assert server.stdout is not None
            self._urls[options] = f"http://127.0.0.1:{json.loads(server.stdout.readline())['port']}"
        return self._urls[options]


def measured(client: str, servers: Servers, pods: int, events: int, server_options: list[str], go: str) -> Figures:
    """Run one client."""
    url = servers.url(events, [*server_options, *["--protobuf"] * speaks_protobuf(client)])
    command = command_of(client, url, pods, events, go)
    env = os.environ | {"CLIENTGO_LAZY_DECODING": str("fast" in client).lower(), STARTED: str(perf_counter())}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env)
    if ran.returncode != 0:
        raise SystemExit(f"{client} failed:\n{ran.stderr}")
    figures: Figures = json.loads(ran.stdout.splitlines()[-1])
    return figures


def command_of(client: str, url: str, pods: int, events: int, go: str) -> list[str]:
    if client not in GO:
        return [sys.executable, str(HERE / "clients.py"), client, url, str(pods), str(events)]
    return [go, "-json", "-url", url, "-pods", str(pods), "-events", str(events), *GO[client]]


def speaks_protobuf(client: str) -> bool:
    return client.startswith(("watch", "informer", "Go")) and "json" not in client


def is_possible(client: str, go: str) -> bool:
    """Report whether the client's requirements are installed. Prints what is missing."""
    if client in GO and not go:
        print(f"{client}: left out, its program is not given")
        return False
    package = NEEDS.get(client)
    if package is None or is_installed(package):
        return True
    print(f"{client}: left out, the {package} package is not installed")
    return False


def is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # The package around it is absent.
        return False


def show(title: str, runs: dict[str, list[Figures]]) -> None:
    print(f"\n{title}")
    medians = {client: {f: statistics.median(run[f] for run in of) for f in FIGURES} for client, of in runs.items()}
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print(f"{'':28}" + "".join(f"{figure:>15}" for figure in FIGURES))
    for client, figures in medians.items():
        print(row(client, figures))
    for base in (base for base in BASES if base in medians):
        for client, figures in medians.items():
            if are_comparable(client, base):
                print(ratios(client, figures, base, medians[base]))


def are_comparable(client: str, base: str) -> bool:
    """Report whether our client does the work of the base: any of the floors, or the Go client of the same encoding."""
    ours = client.startswith(("watch", "informer"))
    alike = base not in GO or speaks_protobuf(client) == speaks_protobuf(base)
    return ours and alike and ("reading" in client) == ("reading" in base)


def row(client: str, figures: Figures) -> str:
    return f"{client:28}" + "".join(
        f"{figures[f]:15,.{2 if f in ('sync seconds', 'from start') else 0}f}" for f in FIGURES
    )


def ratios(client: str, figures: Figures, base: str, base_figures: Figures) -> str:
    """Go's start counts, the floors' would be Python's own."""
    sync = "from start" if base in GO else "sync seconds"
    events_ratio, sync_ratio = (figures[figure] / base_figures[figure] for figure in ("events/s", sync))
    pair = f"{client} : {base}"
    return f"{pair:47} events/s {events_ratio:5.2f}x   {sync} {sync_ratio:5.2f}x"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--variety", metavar="SEED", default="1", help="the seed of the varied Pods")
    parser.add_argument("--stream-lists", action="store_true", help="the server understands sendInitialEvents")
    parser.add_argument("--go", metavar="PATH", default="", help="the program built from go/main.go")
    parser.add_argument("clients", nargs="*", choices=[*CLIENTS, *GO, []])
    options = parser.parse_args()
    chosen = [client for client in options.clients or [*CLIENTS, *GO] if is_possible(client, options.go)]
    server_options = ["--stream-lists"] if options.stream_lists else []
    tables = {
        f"varied Pods, seed {options.variety}": [*server_options, "--variety", options.variety],
        "uniform Pods": server_options,
    }
    runs: dict[str, dict[str, list[Figures]]] = {title: {client: [] for client in chosen} for title in tables}
    with contextlib.ExitStack() as stack:
        servers = Servers(stack, options.pods)
        for _ in range(options.repeat):
            for title, arguments in tables.items():
                for client in chosen:
                    events = min(options.events, EVENTS.get(client, options.events))
                    figures = measured(client, servers, options.pods, events, arguments, options.go)
                    runs[title][client].append(figures)
    for title, of in runs.items():
        show(title, of)


if __name__ == "__main__":
    main()
