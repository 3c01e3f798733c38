#!/usr/bin/env python3
"""Measure the gain of each optimization on the way of a watch event, on varied Pods.

    python test/bench/wire/bench_gains.py [--repeat 5] [--pods 10000] [--events 30000] [--variety SEED] [name ...]

Each optimization is switched off alone, in turns with the program as it is; the figures are medians. `gain` is the CPU
time for an event that it saves. An optimization below 3 % on each row is not worth its lines. The handler reads four
fields. "lazy" needs the extra `fast`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from bench_wire import PATIENCE, Servers
from clients import CLIENTS, Run

FAST, INSTALLED = "informer, fast, reading", "informer, reading"
CPU = "us of CPU"


def without_pull() -> None:
    """Let a thread fill a result channel, as in Go, where the reflector reads the connection (rest/watch/reader.py)."""
    from clientgo.rest.watch import reader
    from clientgo.tools.cache import reflector

    reflector.new_reader = reader._ChannelReader  # type: ignore[attr-defined]


def without_batches() -> None:
    """Look up the cached states of a batch one by one (tools/cache/beyond/processing.py)."""
    from clientgo.tools.cache.beyond import processing

    processing._reads_batches = lambda store: False  # type: ignore[assignment]


def without_lazy_decoding() -> None:
    """Decode each object completely (apimachinery/runtime/source.py). Set in the environment, before any import."""


SWITCHES: dict[str, tuple[Callable[[], None], tuple[str, ...]]] = {
    "pull": (without_pull, (FAST, INSTALLED)),
    "batches": (without_batches, (FAST, INSTALLED)),
    "lazy": (without_lazy_decoding, (FAST,)),
}


def measured(client: str, switch: str, url: str, pods: int, events: int) -> float:
    """Run a client in a process of its own, and return its CPU time for an event in microseconds."""
    command = [sys.executable, __file__, "--child", client, switch, url, str(pods), str(events)]
    is_lazy = "fast" in client and switch != "lazy"
    env = os.environ | {"CLIENTGO_LAZY_DECODING": str(is_lazy).lower()}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env)
    if ran.returncode != 0:
        raise SystemExit(f"{client} failed:\n{ran.stderr}")
    figures: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return figures[CPU]


def child(client: str, switch: str, url: str, pods: str, events: str) -> None:
    if switch:
        SWITCHES[switch][0]()
    run: Any = Run(url, int(pods), int(events))
    CLIENTS[client](run)
    print(json.dumps(run.report()), flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=30_000)
    parser.add_argument("--variety", metavar="SEED", default="1")
    parser.add_argument("names", nargs="*", choices=[*SWITCHES, []])
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"{'':12}{'client':28}{'us of CPU':>12}{'without':>12}{'gain':>8}")
    with contextlib.ExitStack() as stack:
        servers = Servers(stack, options.pods)
        for name in options.names or SWITCHES:
            for client in SWITCHES[name][1]:
                arguments = ["--variety", options.variety, *["--protobuf"] * ("json" not in client)]
                url = servers.url(options.events, arguments)
                runs: dict[str, list[float]] = {"": [], name: []}
                for _ in range(options.repeat):
                    for switch, of in runs.items():
                        of.append(measured(client, switch, url, options.pods, options.events))
                with_it, without = (statistics.median(of) for of in runs.values())
                gain = 1 - with_it / without
                print(f"{name:12}{client:28}{with_it:12.1f}{without:12.1f}{gain:8.0%}", flush=True)


if __name__ == "__main__":
    main()
