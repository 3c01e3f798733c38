"""Measure and count what the project states in numbers, and write hack/site/pages/report.md from it.

    hack/report                          every section in its short form: see the minutes of each below
    hack/report --full                   five bugs in each area, and all benchmarks with all objects: hours
    hack/report golden parity            only these sections; the page keeps the results of the others
    hack/report bugs --draws 5 --seed 7  five bugs of one line in each area, drawn with this seed: half an hour
    hack/report bench --full --bench workqueue  those whose path has the word; the page keeps the results of the others
    hack/report --go ~/go/bin/go         use this Go; GOPATH and other settings of Go apply
    hack/report --limit 300              stop each command after 300 seconds; the page says so
    hack/report --render                 measure nothing, write the page again

The short form draws one bug in each area, and runs the benchmarks with pictures, with few objects and one round. The
page states the form of each benchmark. The results are in hack/data/report.json, a section with its commands, its date
and its seconds. Progress goes to a terminal. A command that fails leaves its figures out of the page, and the script
fails at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import gzip
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from report_charts import Chart, as_json, charts_of, svg

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "hack/data/report.json"
PAGE = ROOT / "hack/site/pages/report.md"
PLOTS = PAGE.parent / "plots"
CLIENT_GO = "k8s.io/client-go@v0.36.0"
# Arguments that bound a benchmark, without --full.
QUICK = {
    "test/bench/workqueue/bench_queue.py": ("--items", "50000", "--rounds", "1"),
    "test/bench/wire/bench_wire.py": ("--repeat", "1", "--pods", "1000", "--events", "5000"),
    "test/bench/wire/bench_latency.py": ("--repeat", "1", "--changes", "100"),
    "test/bench/cache/bench_pipeline.py": ("--repeat", "1", "--events", "20000"),
}
# How the page names the form of a benchmark.
FULL = "all objects and rounds (`--full`)"
SHORT = "the short form: few objects and one round, so only large differences mean something"
PYTEST = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
# Tests that let servers, connections, caches and processes fail.
FAULTS = (
    "test/unit/testing/controllertest",
    "test/unit/cmd/test_elasticsearch_operator_lives.py",
    "test/unit/test_interrupts.py",
    "test/property/test_informer_faults.py",
)
AREAS = ("cache", "workqueue", "events", "leaderelection", "rest", "controller_runtime")

Json = dict[str, Any]


class Done(NamedTuple):
    """A command that has ended: its output, its seconds, and its exit code, or None if the limit stopped it."""

    output: str
    seconds: float
    code: int | None


Run = Callable[..., Done]


@dataclass(frozen=True)
class Options:
    """The bounds of the slow sections."""

    draws: int = 1
    seed: int = 1
    bench: str = ""
    limit: float | None = None
    full: bool = False
    # The command `go`; "" for none.
    go: str = ""


def run(*command: str, limit: float | None = None) -> Done:
    """Run a command in the root with this Python first on PATH, and show its lines on a terminal as they come.

    Blocks up to `limit` seconds, then ends the command and its children.
    """
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    started = time.monotonic()
    lines: list[str] = []
    stopped = threading.Event()
    with subprocess.Popen(
        command, cwd=ROOT, env=env, text=True, errors="replace", start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip

        def stop() -> None:
            stopped.set()
            _kill(process)

        try:
            timer = threading.Timer(limit if limit is not None else threading.TIMEOUT_MAX, stop)
            timer.name = "limit of a command"
            timer.start()
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    lines.append(line)
                    _show(f"    {line.rstrip()}")
                process.wait()
            finally:
                timer.cancel()
                timer.join()
        finally:
            _kill(process)
    return Done("".join(lines), time.monotonic() - started, None if stopped.is_set() else process.returncode)


def _kill(process: subprocess.Popen[str]) -> None:
    """End a command's children too, which may outlive it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def passed(output: str) -> dict[str, int]:
    """Return the counts of pytest's last line, by outcome."""
    last = output.rstrip().rpartition("\n")[2]
    return {outcome: int(count) for count, outcome in re.findall(r"(\d+) (passed|failed|skipped|errors?)", last)}


def golden(options: Options, run: Run) -> Json:
    """Count the recorded answers of Go, and run the tests that compare them."""
    counts: dict[str, int] = defaultdict(int)
    for file in ROOT.joinpath("test/golden").rglob("*.jsonl.gz"):
        area = file.relative_to(ROOT / "test/golden").parts[0]
        with gzip.open(file) as lines:
            counts[area] += sum(1 for _ in lines)
    rows = [[area, str(count)] for area, count in sorted(counts.items())]
    tests = _tests(options, run, ("test/golden",), ["area", "cases"], [*rows, ["all", str(sum(counts.values()))]])
    chart = Chart("Recorded answers of Go", "cases", sorted(counts.items(), key=lambda row: -row[1]), ours="")
    return {**tests, "charts": as_json([chart])}


def _tests(
    options: Options, run: Run, paths: Sequence[str], header: Sequence[str] = (), rows: Sequence[Sequence[str]] = ()
) -> Json:
    command = [*PYTEST, *paths]
    done = run(*command, limit=options.limit)
    counts = passed(done.output)
    text = ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "no result"
    ok = done.code in (0, None)
    return {"commands": [_result(command, done)], "header": header, "rows": rows, "text": f"Tests: {text}.", "ok": ok}


def parity(options: Options, run: Run) -> Json:
    """Compare the exported identifiers of Go, and the behaviours that Go's tests protect, with the port."""
    command = ["python", "hack/verify-parity"]
    done = run(*command, limit=options.limit)
    rows = parity_rows(done.output)
    header = ["Go module", "identifiers", "have", "missing", "differ", "left out", "behaviours of tests", "named"]
    return {"commands": [_result(command, done)], "header": header, "rows": rows, "text": "", "ok": done.code == 0}


def parity_rows(output: str) -> list[list[str]]:
    """Return the totals of each Go module from the output of hack/verify-parity."""
    identifiers: dict[str, list[int]] = defaultdict(lambda: [0] * 5)
    behaviours: dict[str, list[int]] = defaultdict(lambda: [0] * 2)
    module = ""
    for line in output.splitlines():
        if line.startswith("behaviours of"):
            module = "sigs.k8s.io/controller-runtime" if "controller-runtime" in line else "k8s.io/client-go"
        elif match := re.match(r"\s*[\d,-]+\s+((?:sigs\.)?k8s\.io/[^/\s]+)\S*((?:\s+\d+){5})", line):
            _add(identifiers[match[1]], match[2])
        elif module and (match := re.match(r"\s+\S+((?:\s+\d+){2})\s*$", line)):
            _add(behaviours[module], match[1])
    modules = sorted(identifiers.keys() | behaviours.keys())
    return [[name, *map(str, identifiers[name]), *map(str, behaviours[name])] for name in modules]


def _add(sums: list[int], numbers: str) -> None:
    for position, number in enumerate(numbers.split()):
        sums[position] += int(number)


def conformance(options: Options, run: Run) -> Json:
    """Compare the embedded API server with the recorded answers of a real one."""
    folder = ROOT / "test/conformance"
    cases = sum(len(_load(file)) for file in folder.joinpath("server_cases").glob("*.json.gz"))
    transcripts = len(list(folder.joinpath("transcripts").glob("*.json.gz")))
    rows = [["sequences of requests", str(cases)], ["transcripts of connections", str(transcripts)]]
    return _tests(options, run, ("test/conformance",), ["recorded", "number"], rows)


def _load(file: Path) -> Any:
    with gzip.open(file) as content:
        return json.load(content)


def bugs(options: Options, run: Run) -> Json:
    """Draw bugs of one line at random, and count those that the tests catch."""
    commands, rows, ok = [], [], True
    for number, area in enumerate(AREAS, 1):
        _show(f"  [{number} of {len(AREAS)}] {area}")
        command = ["hack/mutants", "--random", str(options.seed), "--count", str(options.draws), area]
        done = run(*command, limit=options.limit)
        found = bug_row(done.output)
        # The code 1 says that a bug survived, as the table does.
        commands.append(_result(command, done if found is None else done._replace(code=0)))
        ok = ok and (found is not None or done.code is None)
        rows.append([area, *(found or ["stopped", "", "", "", ""])])
    header = ["area", "bugs", "caught", "survived", "no bug", "of the bugs"]
    text = "A survivor is either a missing test or no bug; see [the page about the scripts](../../README.md)."
    return {"commands": commands, "header": header, "rows": rows, "text": text, "ok": ok}


def bug_row(output: str) -> list[str] | None:
    """Return bugs, caught, survived, no bug and the share from the last row of hack/mutants, or None without one."""
    matches = re.findall(r"(?m)^(\S+) +(\d+) +(\d+) +(\d+) +(\d+) +([\d.]+ ?%|-)", output)
    return list(matches[-1][1:]) if matches else None


def faults(options: Options, run: Run) -> Json:
    """Run the tests in which servers, connections, caches and processes fail."""
    paths = [path for path in FAULTS if ROOT.joinpath(path).exists()]
    return _tests(options, run, paths, ["scripts"], [[f"`{path}`"] for path in paths])


def draws(options: Options, run: Run) -> Json:
    """Read the draws that were made with seeds chosen before, which hack/README.md keeps."""
    header, rows = drawn(ROOT.joinpath("hack/README.md").read_text(encoding="utf-8"))
    shares = [(row[0], next(float(cell[:-2]) for cell in reversed(row) if cell.endswith(" %"))) for row in rows]
    chart = Chart("Bugs of one line that the tests catch, in the last draw", "percent", shares, ours="")
    text = "[The page about the scripts](../../README.md) has the commands, and says how to read the figures."
    return {"commands": [], "header": header, "rows": rows, "text": text, "charts": as_json([chart]), "ok": bool(rows)}


def drawn(page: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table of draws."""
    lines = [line for line in page.partition("### Measured draws")[2].splitlines() if line.startswith("| ")]
    header, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return header, rows


def bench(options: Options, run: Run) -> Json:
    """Run the benchmarks, and keep what they print and the pictures of it. Builds Go's programs if there is a Go."""
    texts, ok = [], True
    paths = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.joinpath("test/bench").rglob("bench*.py"))
    chosen = [path for path in paths if options.bench in path and (path in QUICK or options.full)]
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(chosen, 1):
            _show(f"  [{number} of {len(chosen)}] {path}")
            command = ["python", path, *(() if options.full else QUICK[path])]
            program = go_program(path, options.go, Path(folder), run) if options.go else ""
            command += ["--go", program] if program else []
            done = run(*command, limit=options.limit)
            output = done.output.replace(f"{folder}{os.sep}", "")
            ok = ok and done.code in (0, None)
            texts.append(
                {
                    "title": path,
                    "output": output.rstrip(),
                    "charts": as_json(charts_of(path, output)),
                    "command": _result([part.replace(f"{folder}{os.sep}", "") for part in command], done),
                    "about": about_run(options if program else replace(options, go=""), run),
                }
            )
    return {"commands": [], "header": [], "rows": [], "text": "", "outputs": texts, "ok": ok}


def about_run(options: Options, run: Run) -> str:
    """Return when and where a benchmark ran, with which Go and in which form."""
    parts = [f"on {datetime.date.today().isoformat()} with {machine()}"]
    if options.go:
        parts.append(run(options.go, "version", limit=60.0).output.strip())
    form = FULL if options.full else SHORT
    return "; ".join([*parts, form])


def go_program(bench: str, go: str, folder: Path, run: Run) -> str:
    """Return the path of Go's program for a benchmark, which is built once; "" if it has none or the build fails."""
    source = ROOT / bench
    main = source.parent / "go" / "main.go"
    if not main.exists() or '"--go"' not in source.read_text(encoding="utf-8"):
        return ""
    program = folder / f"go-{source.parent.name}"
    if program.exists():
        return str(program)
    work = folder / f"{program.name}-source"
    if not work.exists():
        work.mkdir()
        shutil.copy(main, work)
        # GO111MODULE=off takes the packages from GOPATH.
        steps = [["build", "-o", str(program), "."]]
        if os.environ.get("GO111MODULE") != "off":
            steps[:0] = [["mod", "init", "bench"], ["get", CLIENT_GO], ["mod", "tidy"]]
        for step in steps:
            done = run("env", "-C", str(work), go, *step, limit=900.0)
            if done.code != 0:
                print(f"{bench}: no program of Go: {done.output.strip()[-300:]}", file=sys.stderr)
                break
    return str(program) if program.exists() else ""


def _result(command: Sequence[str], done: Done) -> Json:
    return {"command": shlex.join(command), "seconds": round(done.seconds, 1), "code": done.code}


class Section(NamedTuple):
    """A section of the page: its title, an introduction, its function, and the minutes that its short form takes."""

    title: str
    about: str
    measure: Callable[[Options, Run], Json]
    # Measured on two busy cores.
    minutes: int


SECTIONS: Mapping[str, Section] = {
    "golden": Section(
        "Answers of Go",
        "Sequences of operations with the answers of client-go v0.36; each case must agree.",
        golden,
        2,
    ),
    "parity": Section(
        "Parity with Go",
        "Exported identifiers of Go that the port has, and behaviours of Go's tests that a test of the port names. "
        "Identifiers that are left out have a reason in `hack/data/parity`.",
        parity,
        1,
    ),
    "conformance": Section(
        "The embedded API server",
        "It is compared with the recorded answers of a real kube-apiserver.",
        conformance,
        2,
    ),
    "draws": Section(
        "Bugs drawn at random: the measured draws",
        "A script draws lines of a module and changes one thing in each; a test should fail. A draw counts only if its "
        "seed was fixed before.",
        draws,
        0,
    ),
    "bugs": Section(
        "Bugs drawn at random: a draw of this report",
        "One line of the library changes at random; the tests of the area should fail.",
        bugs,
        8,
    ),
    "faults": Section(
        "Faults",
        "Controllers and informers while servers, connections, caches and processes fail.",
        faults,
        4,
    ),
    "bench": Section(
        "Benchmarks",
        "What each benchmark prints, next to its baselines; Go's rows need Go on the machine. Below each stands how it "
        "was measured: in the short form, or in full (`hack/report bench --full`).",
        bench,
        5,
    ),
}


def render(results: Mapping[str, Json]) -> str:
    """Return the page. A section without results says so."""
    lines = [
        "# Numbers",
        "",
        "`hack/report` measures the numbers of this page and writes it. Each section names its commands; "
        "[the page about performance](performance.md) interprets the benchmarks.",
        "",
    ]
    for name, section in SECTIONS.items():
        lines += [f"## {section.title}", "", section.about, ""]
        if name not in results:
            lines += [f"Not measured yet: `hack/report {name}`.", ""]
            continue
        lines += _rendered(name, results[name])
    return "\n".join(lines).rstrip() + "\n"


def plots(results: Mapping[str, Json]) -> dict[str, str]:
    """Return the pictures by the names of their files."""
    found = {name: results.get(name, {}).get("charts", ()) for name in SECTIONS}
    found |= {Path(each["title"]).stem: each["charts"] for each in results.get("bench", {}).get("outputs", ())}
    return {
        _plot(name, number): svg(Chart(**chart))
        for name, charts in found.items()
        for number, chart in enumerate(charts, 1)
    }


def _plot(section: str, number: int) -> str:
    return f"{section}-{number}.svg"


def _rendered(name: str, result: Json) -> list[str]:
    lines = _pictures(name, result.get("charts", ()))
    if result["rows"]:
        lines += [f"| {' | '.join(result['header'])} |", "|" + "---|" * len(result["header"])]
        lines += [f"| {' | '.join(row)} |" for row in result["rows"]] + [""]
    lines += [result["text"], ""] if result["text"] else []
    for each in result.get("outputs", ()):
        stem = Path(each["title"]).stem
        lines += [f"### {stem}.py", "", *_pictures(stem, each["charts"]), "```text", each["output"], "```", ""]
        lines += [f"{_command(each['command'])}, {each['about']}.", ""]
    if result["commands"]:
        lines += [f"Measured on {result['date']} with {result['machine']}:", ""]
    lines += [f"* {_command(each)}" for each in result["commands"]]
    return [*lines, ""]


def _pictures(name: str, charts: Sequence[Json]) -> list[str]:
    lines: list[str] = []
    for number, chart in enumerate(charts, 1):
        lines += [f"**{chart['title']}** ({chart['unit']})", ""]
        lines += ["```{raw} html", f":file: plots/{_plot(name, number)}", "```", ""]
    return lines


def _command(result: Json) -> str:
    end = {0: "", None: "; stopped by the limit"}.get(result["code"], f"; ended with code {result['code']}")
    return f"`{result['command']}`: {result['seconds']} s{end}"


def machine() -> str:
    """Return the interpreter, the number of cores and the load, for the page."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.0f}"


def measure(names: Sequence[str], options: Options, results: dict[str, Json], run: Run = run) -> list[str]:
    """Measure sections, add them to `results`, and return the names of those that failed."""
    failed = []
    for number, name in enumerate(names, 1):
        _show(f"[{number} of {len(names)}] {SECTIONS[name].title}")
        result = SECTIONS[name].measure(options, run)
        if not result.pop("ok"):
            failed.append(name)
            continue
        result |= {"date": datetime.date.today().isoformat(), "machine": machine()}
        results[name] = merged(results.get(name, {}), result) if "outputs" in result else result
    return failed


def merged(former: Json, new: Json) -> Json:
    """Return the new results of benchmarks, and the former ones of those that did not run now."""
    done = {each["title"] for each in new["outputs"]}
    kept = [each for each in former.get("outputs", ()) if each["title"] not in done]
    outputs = sorted([*kept, *new["outputs"]], key=lambda each: str(each["title"]))
    return {**new, "outputs": outputs}


def _show(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, store and render; the result is the exit code."""
    parser = argparse.ArgumentParser(
        "hack/report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    costs = ", ".join(f"{name} {section.minutes or '<1'}" for name, section in SECTIONS.items())
    total = sum(section.minutes for section in SECTIONS.values())
    about = f"all by default; minutes on two busy cores: {costs}; together {total}"
    parser.add_argument("sections", nargs="*", help=about)
    parser.add_argument("--full", action="store_true", help="more bugs, and every benchmark with all objects: hours")
    parser.add_argument("--draws", type=int, help="bugs to draw in each area (default: 1, with --full 5)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw (default: 1)")
    parser.add_argument("--bench", default="", metavar="WORD", help="only benchmarks whose path has the word")
    found = shutil.which("go") or ""
    parser.add_argument(
        "--go", default=found, metavar="COMMAND", help=f"for Go's rows; '' for none (default: {found!r})"
    )
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="stop each command after this time")
    parser.add_argument("--render", action="store_true", help="only write the page from the stored results")
    flags = parser.parse_args(arguments)
    if unknown := [name for name in flags.sections if name not in SECTIONS]:
        parser.error(f"there is no section {unknown[0]}")
    bugs_per_area = flags.draws if flags.draws is not None else 5 if flags.full else 1
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    failed: list[str] = []
    for name in [] if flags.render else flags.sections or list(SECTIONS):
        options = Options(bugs_per_area, flags.seed, flags.bench, flags.limit, flags.full, flags.go)
        failed += measure([name], options, results)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(render(results), encoding="utf-8")
    PLOTS.mkdir(exist_ok=True)
    for file in PLOTS.glob("*.svg"):
        file.unlink()
    for name, picture in plots(results).items():
        PLOTS.joinpath(name).write_text(picture, encoding="utf-8")
    if failed:
        print(f"failed: {', '.join(failed)}; the page keeps their former results", file=sys.stderr)
    return 1 if failed else 0


def end_by_signals() -> None:
    """Let SIGINT, SIGTERM and SIGHUP end the command that runs, and then this process; ignored ones stay ignored."""

    def end(number: int, frame: object) -> None:
        sys.exit(128 + number)

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) != signal.SIG_IGN:
            signal.signal(each, end)


if __name__ == "__main__":
    end_by_signals()
    sys.exit(main())
