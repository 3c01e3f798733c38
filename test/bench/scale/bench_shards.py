#!/usr/bin/env python3
"""Measure what replicas share: memory, CPU and time of each of 1, 2, 4 and 8 replicas with shards of the same objects.

    python test/bench/scale/bench_shards.py [--objects 20000] [--replicas 1 2 4 8] [--changes 5000] [--svg curve.svg]

An embedded API server with the feature gate ShardedListAndWatch is a process (shards_server.py) with ConfigMaps of 0.6
KB. Each replica is a process (shards_replica.py) with the informers of its shards by uid, a ShardedQueue and one
worker, which reads each object. The server takes 3 KB for an object. For each number of replicas:

* sync: seconds from the start of the replicas until each has its part of the shards, has synced it and reconciled it,
  and the CPU seconds of a replica for this;
* MB: the memory of a replica then; objects: the number in its cache, the largest of all replicas;
* changes: the server changes other objects as fast as it can, the replicas reconcile each; changes a second, CPU
  microseconds of all replicas and of the server for a change;
* recovery: seconds from SIGKILL of one replica until the others have its shards, have synced and reconciled them;
* server: its CPU seconds for the sync, and its memory.

On a machine with fewer cores than processes the seconds say little; CPU and memory of a replica count. `--svg` writes
the curves of a replica's memory, objects and CPU, each relative to a single replica, beside 1/replicas.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent
PERIOD = 0.1
# Columns of the table: the figure's name and its format.
COLUMNS = {
    "replicas": "d",
    "sync s": ".1f",
    "CPU s": ".1f",
    "MB": ".0f",
    "objects": ",d",
    "changes/s": ",.0f",
    "us of replicas": ".0f",
    "us of server": ".0f",
    "recovery s": ".1f",
    "server CPU s": ".1f",
    "server MB": ".0f",
}
# The figures of a replica that should shrink, with the colors of their curves.
CURVES = {"MB": "#1f6fb4", "objects": "#2a8a3e", "CPU s": "#b4481f"}

Figures = dict[str, float]


class Program:
    """A process that answers each line on its stdin with a line of JSON."""

    def __init__(self, program: str, *arguments: str) -> None:
        """Start it and read its first line."""
        self._name = program
        command = [sys.executable, str(HERE / program), *arguments]
        # Its log, which is shown only if it fails.
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - `end` closes it
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        self.ready = self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self._log.seek(0)
            raise SystemExit(f"{self._name} ended with {status}:\n{self._log.read()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, line: str) -> dict[str, Any]:
        """Send a line and return the answer. Blocks."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._read()

    def end(self) -> None:
        """Close its stdin, which ends it, and wait for it."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.wait()
        self._log.close()


@contextlib.contextmanager
def replicas(server: Program, count: int, options: argparse.Namespace) -> Iterator[list[Program]]:
    """Start the replicas, and end those that are left. Each set of replicas has Leases of its own."""
    started: list[Program] = []
    arguments = [server.ready["url"], server.ready["token"], f"bench-{count}", str(options.shards), str(options.lease)]
    try:
        started += [Program("shards_replica.py", *arguments, f"replica-{number}") for number in range(count)]
        yield started
    finally:
        for each in started:
            each.end()


def wait_until_reconciled(running: list[Program], revision: int, wanted: int, options: argparse.Namespace) -> float:
    """Wait until the replicas have all shards, divided evenly, and have reconciled so many objects at this revision.

    Returns the seconds this took. Raises SystemExit after `--patience` seconds.
    """
    started, pause = perf_counter(), threading.Event()
    while True:
        states = [each.ask(f"state {revision}") for each in running]
        held = sorted(shard for state in states for shard in state["held"])
        fair = -(-options.shards // len(running))
        is_divided = held == [*range(options.shards)] and all(len(state["held"]) <= fair for state in states)
        if is_divided and sum(state["reconciled"] for state in states) >= wanted:
            return perf_counter() - started
        if perf_counter() - started > options.patience:
            raise SystemExit(f"{len(running)} replicas are not done: {states}")
        pause.wait(PERIOD)


def measured(server: Program, count: int, options: argparse.Namespace) -> Figures:
    """Return the figures for a number of replicas."""
    usage = server.ask("usage")
    began = perf_counter()
    with replicas(server, count, options) as running:
        wait_until_reconciled(running, -1, options.objects, options)
        figures: Figures = {"replicas": count, "sync s": perf_counter() - began}
        usages = [each.ask("usage") for each in running]
        assert sum(each["objects"] for each in usages) == options.objects, usages
        figures |= {name: max(each[name] for each in usages) for name in ("CPU s", "MB", "objects")}
        synced = server.ask("usage")
        figures |= {"server CPU s": synced["CPU s"] - usage["CPU s"], "server MB": synced["MB"]}

        used = sum(each.ask("usage")["CPU s"] for each in running)
        began, changed = perf_counter(), server.ask(f"change {options.changes}")
        wait_until_reconciled(running, changed["revision"], options.changes, options)
        figures["changes/s"] = options.changes / (perf_counter() - began)
        handled = sum(each.ask("usage")["CPU s"] for each in running) - used
        figures["us of replicas"] = handled / options.changes * 1e6
        figures["us of server"] = (server.ask("usage")["CPU s"] - synced["CPU s"]) / options.changes * 1e6
        figures["recovery s"] = recovery(running, options) if count > 1 else float("nan")
    return figures


def recovery(running: list[Program], options: argparse.Namespace) -> float:
    """Kill a replica and return the seconds until the others have reconciled its objects."""
    before = sum(each.ask("state -1")["reconciled"] for each in running[1:])
    lost = running[0].ask("usage")["objects"]
    running[0].process.kill()
    seconds = wait_until_reconciled(running[1:], -1, before + lost, options)
    assert sum(each.ask("usage")["objects"] for each in running[1:]) == options.objects
    return seconds


def svg(runs: list[Figures], title: str) -> str:
    """Return a drawing of CURVES relative to the first run, and of 1/replicas, on logarithmic axes."""
    width, height, left, top = 520, 330, 60, 40
    last = max(1, len(runs) - 1)
    first = runs[0]

    def at(position: int, ratio: float) -> str:
        """Return the point of a ratio between 1/16 and 2."""
        exponent = min(1.0, max(-4.0, math.log2(ratio)))
        x, y = left + position * (width - left - 130) / last, top + (1 - exponent) * (height - top - 40) / 5
        return f"{x:.1f},{y:.1f}"

    def curve(points: list[str], color: str, dashes: str, label: str) -> str:
        x, y = points[-1].split(",")
        line = f'<polyline fill="none" stroke="{color}" stroke-dasharray="{dashes}" points="{" ".join(points)}"/>'
        return f'{line}<text x="{float(x) + 6:.1f}" y="{y}" fill="{color}">{label}</text>'

    ideal = [at(each, first["replicas"] / run["replicas"]) for each, run in enumerate(runs)]
    drawn = [curve(ideal, "#888888", "4 3", "1/replicas")]
    for name, color in CURVES.items():
        points = [at(each, run[name] / first[name]) for each, run in enumerate(runs)]
        drawn.append(curve(points, color, "none", f"{name} of a replica"))
    for each, run in enumerate(runs):
        x = at(each, 1.0).partition(",")[0]
        drawn.append(f'<text x="{x}" y="{height - 14}" text-anchor="middle">{run["replicas"]:.0f}</text>')
    for exponent in range(-4, 2):
        y = at(0, 2.0**exponent).partition(",")[2]
        drawn.append(f'<text x="{left - 10}" y="{y}" text-anchor="end">{2.0**exponent:g}</text>')
    drawn.append(f'<text x="{left}" y="20">{title}</text>')
    style = 'font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {style}>'
    return "\n".join([head, *drawn, "</svg>"]) + "\n"


def row(figures: Figures) -> str:
    return "".join(f"{format(figures[name], form):>16}" for name, form in COLUMNS.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=20_000)
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--shards", type=int, default=24)
    parser.add_argument("--changes", type=int, default=5_000, help="at most the number of objects")
    parser.add_argument("--lease", type=float, default=15.0, help="the duration of the Leases in seconds")
    parser.add_argument("--patience", type=float, default=1800.0, help="seconds for each step")
    parser.add_argument("--svg", metavar="FILE", help="write the curves")
    options = parser.parse_args()
    assert options.changes <= options.objects
    server = Program("shards_server.py", str(options.objects))
    print(f"{options.objects:,} objects, {options.shards} shards, load average {os.getloadavg()[0]:.1f}")
    print("".join(f"{name:>16}" for name in COLUMNS), flush=True)
    runs = []
    try:
        for count in options.replicas:
            runs.append(measured(server, count, options))
            print(row(runs[-1]), flush=True)
    finally:
        server.end()
    if options.svg:
        Path(options.svg).write_text(svg(runs, f"{options.objects:,} objects, {options.shards} shards"))


if __name__ == "__main__":
    main()
