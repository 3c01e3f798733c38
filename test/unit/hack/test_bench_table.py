"""test/bench/table.py: the rows of measured figures, and their place in the README."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test" / "bench"))
table = importlib.import_module("table")

GO = {"events/s": 20_000.0, "us of CPU": 80.0, "MB": 200.0}
OURS = {"events/s": 25_120.0, "us of CPU": 39.6, "MB": 50.0}


@pytest.mark.parametrize(("value", "text"), [(1_234_567.0, "1,230,000"), (48_123.4, "48,100"), (97.3, "97")])
def test_a_rate_has_three_digits(value: float, text: str) -> None:
    assert table.rate(value) == text


def test_a_row_has_the_ratio_to_go() -> None:
    row = table.events_row("varied", {"Go": GO, "informer": OURS}, "Go", "informer", "met")

    assert row.markdown() == "| varied | 20,000; 80 µs | 25,100; 40 µs | 1.26 | met |"
    assert table.ratio_row("queue", [4.0, 2.0, 8.0], 2.0, str).markdown() == "| queue | 4.0 | 2.0 | 0.50 |  |"


def test_a_row_without_go_or_without_the_client_has_empty_cells() -> None:
    ours_alone = table.events_row("varied", {"informer": OURS}, "Go", "informer")
    assert ours_alone == table.Row("varied", "", "25,100; 40 µs", "")
    assert table.events_row("varied", {"Go": GO}, "Go", "informer").here == "not installed"
    assert table.ratio_row("queue", [], 2.0, str) == table.Row("queue", "", "2.0", "")


def test_the_table_replaces_the_one_between_the_marks_of_the_readme() -> None:
    before = table.README.read_text(encoding="utf-8")

    after = table.written("| new |", before)

    assert table.written("| new |", after) == after
    begin, end = before.index(table.BEGIN), before.index(table.END)
    assert after.startswith(before[:begin] + table.BEGIN + "\n| new |\n\n" + table.END)
    assert after.endswith(before[end:])


def test_a_document_without_marks_is_an_error() -> None:
    with pytest.raises(ValueError, match="lacks '<!-- written by"):
        table.written("| new |", "# README\n")
