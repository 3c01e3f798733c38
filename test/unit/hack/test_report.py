"""hack/report: the figures of each command, and the page that is made of them."""

from __future__ import annotations

import importlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from xml.etree import ElementTree

import pytest
from patience import PATIENCE
from processes import eventually

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))
report = importlib.import_module("report")

PARITY = """\
tier  Go package                                         rows   have  missing  differ  left out
   1  k8s.io/client-go/tools/cache                        523    522        0       0         1  complete
   2  k8s.io/client-go/rest                                10      9        1       0         0
 1,2  sigs.k8s.io/controller-runtime                       24     24        0       0         0  complete

behaviours of Go tests                                   rows  named
      tools/cache                                         100    100

behaviours of controller-runtime's tests                 rows  named
      source                                               22     21
"""
MUTANTS = """\
[1/2] caught 1.0s cache: x

area                      bugs  caught  survived  no bug  of the bugs
cache                        2       1         1       0        50 %
"""
QUEUES = """\
add+get+done a second             clientgo   queue.Queue          bare      priority    x queue.Queue    x bare
one thread, distinct keys          200,728       147,314       161,778       126,665          1.36          1.24
4 workers, distinct keys           100,000        50,000        40,000        30,000          2.00          2.50

of Go                             a second    clientgo x
4 workers, distinct keys           400,000          0.25
"""
WIRE = """\
varied Pods
floor                                  0.26           1.66          3,346             59             60
informer                               0.37           3.26         23,377             35             43
informer, json, fast                   0.63           4.00          7,388             31             51
Go                                     0.20           0.26         18,285             38             49

uniform Pods
informer                               0.37           3.26         23,377              1             43
"""
LATENCY = "informer                 median   0.58 ms, of one in a hundred  25.34 ms\nGo    median   0.31 ms, of one\n"
PIPELINE = "ours 1 handler     26,374 events/s   8.8 us\nGo   3 handlers    56,326 events/s   4.5 us of CPU each\n"


def answer(*command: str, limit: float | None = None) -> report.Done:
    """Answer as the commands do."""
    if command[0] == "env":  # A build of Go's program.
        if command[4] == "build":
            Path(command[6]).write_text("program")
        return report.Done("", 1.0, 0)
    output = {"hack/mutants": MUTANTS, "python": PARITY, "go": "go version go1.27"}[command[0]]
    if "pytest" in command:
        output = "....\n3 passed, 1 skipped in 2.0s\n"
    if "bench/" in command[1]:
        output = QUEUES
    return report.Done(output, 1.25, 0)


def test_a_page_has_the_figures_of_every_section() -> None:
    results: dict[str, object] = {}

    options = report.Options(bench="workqueue", go="go")
    assert report.measure(list(report.SECTIONS), options, results, answer) == []
    page = report.render(json.loads(json.dumps(results)))

    assert "| k8s.io/client-go | 533 | 531 | 1 | 0 | 1 | 100 | 100 |" in page
    assert "| sigs.k8s.io/controller-runtime | 24 | 24 | 0 | 0 | 0 | 22 | 21 |" in page
    assert "| cache | 2 | 1 | 1 | 0 | 50 % |" in page
    assert page.count("Tests: 3 passed, 1 skipped.") == 3
    assert page.count("### bench_queue.py\n") == 1
    assert f"```text\n{QUEUES}```\n\n`python test/bench/workqueue/bench_queue.py --items" in page
    assert "bench_queue.py --items 50000 --rounds 1 --go go-workqueue`: 1.2 s" in page
    assert f"; go version go1.27; {report.SHORT}." in page
    assert "| cache | 26 of 29, 22 of 30, 27 of 28, 28 of 30, 28 of 30 | 27 of 29 | 93 % | no |" in page
    assert page.count("```{raw} html\n:file: plots/") == len(report.plots(results)) == 4
    assert "* `python hack/verify-parity`: 1.2 s" in page
    assert "Not measured" not in page


def test_a_failed_command_keeps_the_former_result() -> None:
    results: dict[str, object] = {"parity": "former"}

    failed = report.measure(["parity"], report.Options(), results, lambda *command, limit: report.Done("", 1.0, 1))

    assert (failed, results) == (["parity"], {"parity": "former"})


def test_a_run_of_one_benchmark_keeps_the_results_of_the_others() -> None:
    results: dict[str, object] = {}
    report.measure(["bench"], report.Options(bench="workqueue"), results, answer)
    report.measure(["bench"], report.Options(bench="record/", full=True), results, answer)
    report.measure(["bench"], report.Options(bench="workqueue", full=True), results, answer)

    page = report.render(json.loads(json.dumps(results)))

    assert page.count("### bench_flood.py\n") == page.count("### bench_queue.py\n") == 1
    assert "`python test/bench/workqueue/bench_queue.py`: 1.2 s, on " in page
    assert page.count(report.FULL) == 2 and report.SHORT not in page
    assert set(report.plots(results)) == {"bench_queue-1.svg", "bench_queue-2.svg"}


def test_a_draw_with_survivors_is_no_failure_and_one_without_a_table_is() -> None:
    results: dict[str, object] = {}

    def draw(*command: str, limit: float | None) -> report.Done:
        return report.Done(MUTANTS, 1.0, 1)

    assert report.measure(["bugs"], report.Options(), results, draw) == []
    assert "failed" not in report.render(results) and "code 1" not in report.render(results)
    assert report.measure(["bugs"], report.Options(), {}, lambda *command, limit: report.Done("", 1.0, 2)) == ["bugs"]


def test_a_stopped_command_is_named_as_such() -> None:
    results: dict[str, object] = {}

    report.measure(["faults"], report.Options(), results, lambda *command, limit: report.Done("..", 9.0, None))

    assert "9.0 s; stopped by the limit" in report.render(results)


def test_the_limit_ends_a_command() -> None:
    done = report.run("python", "-c", "print(1, flush=True); import threading; threading.Event().wait()", limit=1.0)

    assert (done.code, done.output) == (None, "1\n")


def test_the_limit_ends_the_children_of_a_command_too() -> None:
    done = report.run("bash", "-c", "sleep 600 & echo started; wait", limit=1.0)

    assert (done.code, done.output) == (None, "started\n")
    assert done.seconds < 300


def test_a_command_shows_its_lines_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["python", "-c", "import sys; print('[1/2] caught'); print('no such file', file=sys.stderr); sys.exit(3)"]
    done = report.run(*command)
    assert (sorted(done.output.splitlines()), done.code) == (["[1/2] caught", "no such file"], 3)
    assert capsys.readouterr().err == ""

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert report.run(*command).output == done.output
    assert sorted(capsys.readouterr().err.splitlines()) == ["    [1/2] caught", "    no such file"]


def test_the_page_is_made_of_the_stored_results() -> None:
    results = json.loads(report.RESULTS.read_text(encoding="utf-8"))

    assert report.PAGE.read_text(encoding="utf-8") == report.render(results)


def test_the_pictures_are_made_of_the_stored_results() -> None:
    results = json.loads(report.RESULTS.read_text(encoding="utf-8"))

    stored = {path.name: path.read_text(encoding="utf-8") for path in report.PLOTS.iterdir()}
    assert stored == report.plots(results)
    assert "draws-1.svg" in stored


@pytest.mark.parametrize(
    ("path", "output", "bars"),
    [
        (
            "test/bench/workqueue/bench_queue.py",
            QUEUES,
            [("clientgo", 100_000), ("queue.Queue", 50_000), ("bare", 40_000), ("priority", 30_000), ("Go", 400_000)],
        ),
        (
            "test/bench/wire/bench_wire.py",
            WIRE,
            [("clientgo, protobuf", 35), ("clientgo, JSON, fast", 31), ("Go, protobuf", 38)],
        ),
        ("test/bench/wire/bench_latency.py", LATENCY, [("clientgo, protobuf", 0.58), ("Go", 0.31)]),
        ("test/bench/cache/bench_pipeline.py", PIPELINE, [("clientgo, 1 handler", 26_374), ("Go, 3 handlers", 56_326)]),
    ],
)
def test_a_chart_has_the_figures_of_its_benchmark(path: str, output: str, bars: list[tuple[str, float]]) -> None:
    assert report.charts_of(path, output)[-1].bars == bars
    assert report.charts_of(path, "Traceback") == []


def test_every_benchmark_with_a_chart_has_a_short_form_and_exists() -> None:
    charts = importlib.import_module("report_charts").CHARTS
    assert charts.keys() == report.QUICK.keys()
    assert [path for path in charts if not (ROOT / path).exists()] == []


def test_a_picture_is_xml_whose_lengths_are_in_proportion() -> None:
    bars = [("clientgo", 5.0), ("Go & <others>", 10.0), ("none", 0.0)]
    picture = ElementTree.fromstring(report.svg(report.Chart("Speed", "per second", bars)))

    rows = [each for each in picture if each.tag.endswith("rect") and "fill-opacity" not in each.attrib]
    assert [each.get("width") for each in rows] == ["50.00%", "100.00%", "0.00%"]
    assert rows[0].get("fill") != rows[1].get("fill")
    assert report.svg(report.Chart("Speed", "per second", bars, ours="")).count("font-weight") == 0
    texts = [each.text for each in picture if each.tag.endswith("text")]
    assert texts == ["clientgo", "5", "Go & <others>", "10", "none", "0"]
    assert picture.get("aria-label") == "Speed, per second. clientgo: 5, Go & <others>: 10, none: 0"


def test_a_failed_build_of_go_leaves_its_rows_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*command: str, limit: float | None = None) -> report.Done:
        return report.Done("no such host", 1.0, 1)

    assert report.go_program("test/bench/workqueue/bench_queue.py", "go", tmp_path, fail) == ""
    assert "no program of Go: no such host" in capsys.readouterr().err
    assert report.go_program("test/bench/record/bench_flood.py", "go", tmp_path, answer) == ""


def test_a_benchmark_without_go_s_rows_names_no_go() -> None:
    def build_nothing(*command: str, limit: float | None = None) -> report.Done:
        return report.Done("no such host", 1.0, 1) if command[0] == "env" else answer(*command, limit=limit)

    result = report.bench(report.Options(bench="workqueue", go="go"), build_nothing)

    assert [each["about"].endswith(f"; {report.SHORT}") for each in result["outputs"]] == [True]
    assert "go version" not in result["outputs"][0]["about"]


def test_an_unknown_section_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        report.main(["colours"])

    assert "there is no section colours" in capsys.readouterr().err


def test_every_path_of_the_sections_exists() -> None:
    assert [path for path in report.FAULTS if not (ROOT / path).exists()] == []
    assert [area for area in report.AREAS if not (ROOT / f"hack/mutants.d/{area}.txt").exists()] == []


def test_the_help_names_the_form_and_the_minutes_of_each_section(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        report.main(["--help"])

    text = " ".join(capsys.readouterr().out.split())
    assert "golden 2, parity 1, conformance 2, draws <1, bugs" in text
    minutes = sum(section.minutes for section in report.SECTIONS.values())
    assert f"together {minutes}" in text and minutes < 25
    assert "--full" in text and "--quick" not in text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_command_that_runs(number: signal.Signals) -> None:
    """The script measures a command that starts a child and then waits; both have to end."""
    script = (
        "import sys; sys.path.insert(0, 'hack'); import report, signal;"
        f"signal.signal({number.value}, signal.SIG_DFL);"  # a parent such as nohup may ignore it, and so would this one
        "report.end_by_signals();"
        "report._show = lambda text: print(text, flush=True);"
        "report.run('bash', '-c', 'sleep 600 & echo $$ $!; wait')"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        children = process.stdout.readline().split()
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number
        assert process.stderr.read() == ""

    assert len(children) == 2
    eventually("the end of the children", lambda: not any(is_alive(child) for child in children))


def is_alive(process: str) -> bool:
    """Report whether a process runs. A killed one may still wait for init to collect its exit code."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
