#!/usr/bin/env python3
"""Measure the first table of the section "Informer benchmark" of clientgo/README.md in one run.

    python test/bench/table.py [--go FOLDER] [--repeat 3] [--write] [part ...]

Parts are wire, start, pipeline and queue. `--go` names the folder of Go's programs `wire`, `configmaps`, `pipeline`
and `queue`, built from the folders `go` beside the benchmarks; without it the column is empty. Ours and Go's take
turns, and the medians count. `--write` replaces the table in the README; without it the script prints the table.

The rows are those of the benchmarks bench_wire.py, bench_start.py, bench_pipeline.py and bench_queue.py, which print
more. Varied Pods come first, since no two objects of a cluster have the same lengths.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / name) for name in ("wire", "start", "cache", "workqueue")]

import bench_pipeline
import bench_queue
import bench_start
import bench_wire

README = HERE.parents[1] / "clientgo" / "README.md"
BEGIN, END = "<!-- written by test/bench/table.py -->", "<!-- end of the table -->"
POD_COUNT, EVENT_COUNT = 10_000, 20_000
VARIED = (
    "Go, reading",
    "informer, fast, reading",
    "informer, reading",
    "floor, reading",
    "informer, json, fast, reading",
    "informer, json, reading",
    "Go",
    "informer",
)
UNIFORM = ("Go, reading", "informer, fast, reading", "informer, reading", "floor, reading")


@dataclass(frozen=True)
class Row:
    """A row of the table. `target` is empty, or the target and whether it is met."""

    work: str
    go: str
    here: str
    ratio: str
    target: str = ""

    def markdown(self) -> str:
        return f"| {self.work} | {self.go} | {self.here} | {self.ratio} | {self.target} |"


def rate(value: float) -> str:
    """Return a number with three significant digits: 1,230,000."""
    digits = max(0, len(str(int(value))) - 3)
    return f"{round(value, -digits):,.0f}"


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def met(holds: bool) -> str:
    return "met" if holds else "**not met**"


def median(values: Sequence[float]) -> float:
    return float(statistics.median(values))


# ---- events over a socket


def wire_rows(go: Path | None, repeat: int) -> Iterator[Row]:
    """Return the rows of Pods from a server."""
    program = str(go / "wire") if go else ""
    varied = _wire(VARIED, ["--variety", "1"], program, repeat)
    uniform = _wire(UNIFORM, [], program, repeat)
    theirs, ours = varied.get("Go, reading"), varied["informer, fast, reading"]
    holds = ours["us of CPU"] <= 40 and (theirs is None or ours["events/s"] > theirs["events/s"])
    work, target = "varied Pods, four fields read, protobuf with `fast`", f"more events than Go and 40 µs: {met(holds)}"
    yield events_row(work, varied, "Go, reading", "informer, fast, reading", target)
    ours, floor = varied["informer, reading"], varied["floor, reading"]
    of_floor = ours["events/s"] / floor["events/s"]
    target = f"1.3 of the floor: {met(of_floor >= 1.3)} ({of_floor:.2f})"
    yield events_row("the same, as installed", varied, "Go, reading", "informer, reading", target)
    yield events_row("the same, name read", varied, "Go", "informer")
    yield events_row("the same, JSON with `fast`", varied, "Go, reading", "informer, json, fast, reading")
    yield events_row("the same, JSON", varied, "Go, reading", "informer, json, reading")
    yield events_row("floor: `http.client` and `json.loads`", varied, "Go, reading", "floor, reading")
    yield events_row("uniform Pods, four fields read, as installed", uniform, "Go, reading", "informer, reading")
    yield events_row("the same, with `fast`", uniform, "Go, reading", "informer, fast, reading")
    yield events_row("floor", uniform, "Go, reading", "floor, reading")
    for title, figures in (("varied", varied), ("uniform", uniform)):
        work = f"process start to synced, 10,000 {title} Pods"
        yield _figure(work, figures, "from start", seconds)
        yield _figure(f"peak memory, 10,000 {title} Pods", figures, "MB", lambda value: f"{value:.0f} MB")


def _wire(clients: Sequence[str], options: list[str], program: str, repeat: int) -> dict[str, bench_wire.Figures]:
    chosen = [client for client in clients if bench_wire.is_possible(client, program)]
    runs: dict[str, list[bench_wire.Figures]] = {client: [] for client in chosen}
    with contextlib.ExitStack() as stack:
        servers = bench_wire.Servers(stack, POD_COUNT)
        for _ in range(repeat):
            for client in chosen:
                figures = bench_wire.measured(client, servers, POD_COUNT, EVENT_COUNT, options, program)
                runs[client].append(figures)
    return {
        client: {name: median([run[name] for run in of]) for name in bench_wire.FIGURES} for client, of in runs.items()
    }


def events_row(work: str, figures: dict[str, bench_wire.Figures], go: str, client: str, target: str = "") -> Row:
    def cell(name: str) -> str:
        found = figures.get(name)
        return f"{rate(found['events/s'])}; {found['us of CPU']:.0f} µs" if found else ""

    if client not in figures:
        return Row(work, cell(go), "not installed", "")
    ratio = f"{figures[client]['events/s'] / figures[go]['events/s']:.2f}" if go in figures else ""
    return Row(work, cell(go), cell(client), ratio, target)


def _figure(work: str, figures: dict[str, bench_wire.Figures], name: str, text: Callable[[float], str]) -> Row:
    here, theirs = figures["informer, reading"][name], figures.get("Go, reading")
    if theirs is None:
        return Row(work, "", text(here), "")
    return Row(work, text(theirs[name]), text(here), f"{here / theirs[name]:.2f}")


# ---- 5,000 ConfigMaps from the embedded API server


def start_rows(go: Path | None, repeat: int) -> Iterator[Row]:
    """Return the rows of a process that syncs 5,000 ConfigMaps."""
    commands = {"here": bench_start.SYNC_COMMAND} | ({"go": [str(go / "configmaps")]} if go else {})
    runs = bench_start.config_maps(2 * repeat, commands)
    wall, cpu = ({name: min(run[i] for run in of) for name, of in runs.items()} for i in (0, 1))
    holds = wall["here"] <= 0.35 and ("go" not in wall or wall["here"] <= 1.5 * wall["go"])
    target = f"0.35 s, 1.5 of Go: {met(holds)}"
    for work, of, aim in (("process start to synced, 5,000 ConfigMaps", wall, target), ("its CPU", cpu, "")):
        theirs, ratio = (seconds(of["go"]), f"{of['here'] / of['go']:.1f}") if "go" in of else ("", "")
        yield Row(work, theirs, seconds(of["here"]), ratio, aim)


# ---- events from memory


def pipeline_rows(go: Path | None, repeat: int) -> Iterator[Row]:
    """Return the rows of decoded objects from a plain channel."""
    sizes = {"n": 10_000, "events": 100_000}
    for handlers, aim in ((1, 150_000), (3, 120_000)):
        ours, theirs = [], []
        for _ in range(repeat):
            ours.append(bench_pipeline.run(**sizes, handlers=handlers, buffer=512, alone=500))
            if go:
                theirs.append(bench_pipeline.run_go(str(go / "pipeline"), **sizes, handlers=handlers, alone=500))
        here = median([run[0] for run in ours])
        work = f"decoded events from a plain channel, {handlers} handler{'s' if handlers > 1 else ''}"
        yield ratio_row(work, [run[0] for run in theirs], here, rate, f"{aim:,}: {met(here >= aim)}")
        if handlers == 1:
            alone = median([median(run[2]) for run in ours]) * 1e6
            of_go, target = [median(run[2]) * 1e6 for run in theirs], f"50 µs: {met(alone <= 50)}"
            work = "a single event, from the watch to the handler"
            yield ratio_row(work, of_go, alone, lambda value: f"{value:.0f} µs", target)


def ratio_row(work: str, theirs: Sequence[float], here: float, text: Callable[[float], str], target: str = "") -> Row:
    if not theirs:
        return Row(work, "", text(here), "", target)
    return Row(work, text(median(theirs)), text(here), f"{here / median(theirs):.2f}", target)


# ---- queue


def queue_rows(go: Path | None, repeat: int) -> Iterator[Row]:
    """Return the rows of the work queue."""
    items = 300_000
    keys = [f"namespace/name-{number}" for number in range(items)]
    works: dict[str, Callable[[], float]] = {
        "one thread, distinct keys": lambda: bench_queue.alone(bench_queue.workqueue.new_typed, keys),
        "1 workers, distinct keys": lambda: bench_queue.with_workers(bench_queue.workqueue.new_typed, keys, 1),
        "4 workers, distinct keys": lambda: bench_queue.with_workers(bench_queue.workqueue.new_typed, keys, 4),
    }
    titles = ("queue: one thread, items a second", "queue: one worker", "queue: four workers")
    theirs = bench_queue.Go(str(go / "queue"), items) if go else None
    ours: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeat):
        for name, work in works.items():
            ours[name].append(items / work())
        if theirs:
            theirs.take_turn("", 0.0)
    for title, name in zip(titles, works, strict=True):
        yield ratio_row(title, theirs.rates(name) if theirs else (), median(ours[name]), rate)


PARTS: dict[str, Callable[[Path | None, int], Iterator[Row]]] = {
    "wire": wire_rows,
    "start": start_rows,
    "pipeline": pipeline_rows,
    "queue": queue_rows,
}


def table(rows: Sequence[Row], repeat: int, load: float) -> str:
    """Return the table with a sentence about its run."""
    head = ["| work | Go | here | here to Go | target |", "|---|---|---|---|---|"]
    when = datetime.date.today().isoformat()
    about = (
        f"Medians of {repeat} runs in turns on {when}, {os.cpu_count()} cores, CPython {sys.version.split()[0]}, load "
        f"average {load:.1f} before the run. Events a second; CPU for each event."
    )
    return "\n".join([*head, *(row.markdown() for row in rows), "", about])


def written(text: str, document: str) -> str:
    """Return the document with the table between its two marks. Raises ValueError for a document without them."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document lacks {BEGIN!r} or {END!r}")
    return f"{before}{BEGIN}\n{text}\n\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--go", metavar="FOLDER", type=Path, help="has Go's programs")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="replace the table in clientgo/README.md")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    options = parser.parse_args()
    load = os.getloadavg()[0]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # An installed program has its bytecode.
    rows: list[Row] = []
    for name in options.parts or PARTS:
        for row in PARTS[name](options.go, options.repeat):
            print(row.markdown(), file=sys.stderr, flush=True)
            rows.append(row)
    text = table(rows, options.repeat, load)
    if not options.write:
        print(text)
        return
    README.write_text(written(text, README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
