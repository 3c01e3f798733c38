"""hack/report: the figures of each command, and the page that is made of them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

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


def answer(*command: str, limit: float | None = None) -> report.Done:
    """Answer as the commands do."""
    output = {"hack/mutants": MUTANTS, "python": PARITY}[command[0]]
    if "pytest" in command:
        output = "....\n3 passed, 1 skipped in 2.0s\n"
    if "bench" in command[-1]:
        output = "queue  1,000\n"
    return report.Done(output, 1.25, 0)


def test_a_page_has_the_figures_of_every_section() -> None:
    results: dict[str, object] = {}

    assert report.measure(list(report.SECTIONS), report.Options(bench="workqueue"), results, answer) == []
    page = report.render(json.loads(json.dumps(results)))

    assert "| k8s.io/client-go | 533 | 531 | 1 | 0 | 1 | 100 | 100 |" in page
    assert "| sigs.k8s.io/controller-runtime | 24 | 24 | 0 | 0 | 0 | 22 | 21 |" in page
    assert "| cache | 2 | 1 | 1 | 0 | 50 % |" in page
    assert page.count("Tests: 3 passed, 1 skipped.") == 3
    assert "### test/bench/workqueue/bench_queue.py\n\n```text\nqueue  1,000\n```" in page
    assert "* `python hack/verify-parity`: 1.2 s" in page
    assert "Not measured" not in page


def test_a_failed_command_keeps_the_former_result() -> None:
    results: dict[str, object] = {"parity": "former"}

    failed = report.measure(["parity"], report.Options(), results, lambda *command, limit: report.Done("", 1.0, 1))

    assert (failed, results) == (["parity"], {"parity": "former"})


def test_a_stopped_command_is_named_as_such() -> None:
    results: dict[str, object] = {}

    report.measure(["faults"], report.Options(), results, lambda *command, limit: report.Done("..", 9.0, None))

    assert "9.0 s; stopped by the limit" in report.render(results)


def test_the_limit_ends_a_command() -> None:
    done = report.run("python", "-c", "print(1, flush=True); import threading; threading.Event().wait()", limit=1.0)

    assert (done.code, done.output) == (None, "1\n")


def test_the_page_is_made_of_the_stored_results() -> None:
    results = json.loads(report.RESULTS.read_text(encoding="utf-8"))

    assert report.PAGE.read_text(encoding="utf-8") == report.render(results)


def test_an_unknown_section_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        report.main(["colours"])

    assert "there is no section colours" in capsys.readouterr().err


def test_every_path_of_the_sections_exists() -> None:
    assert [path for path in report.FAULTS if not (ROOT / path).exists()] == []
    assert [area for area in report.AREAS if not (ROOT / f"hack/mutants.d/{area}.txt").exists()] == []
