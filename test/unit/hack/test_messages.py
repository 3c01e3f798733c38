"""The page about error messages has every exception class and every error and warning of the log."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack" / "site"))
messages = importlib.import_module("messages")
PAGE = (messages.PAGES / "errors.md").read_text(encoding="utf-8")

SOURCE = """
class NewError(OSError):
    pass

class _Hidden(NewError):
    pass

class Derived(_Hidden, Generic[T]):
    pass

class NoError:
    pass

def f(logger, parser, err):
    klog.error_s(err, "Something new failed", pod=1)
    logger.error(err, f"{x}: no connection to {y}")
    handle_error_with_context(ctx, err, "A third thing failed")
    klog.info_s("Warning: a remark")
    klog.info_s("No warning")
    parser.error("a flag")
    logger.warning("Failed to watch")
    logger.warning(err)
    raise NewError("x") from ValueError("y")
"""


def test_every_exception_and_log_line_is_explained() -> None:
    assert len(messages.exception_classes()) > 100
    assert len(messages.log_lines()) > 100
    assert messages.unexplained() == []


def test_a_new_exception_or_log_line_is_found(tmp_path: Path) -> None:
    module = tmp_path / "clientgo" / "tools" / "new.py"
    module.parent.mkdir(parents=True)
    module.write_text(SOURCE)
    left_out = tmp_path / "clientgo" / "api" / "types.py"
    left_out.parent.mkdir(parents=True)
    left_out.write_text("class GeneratedError(Exception): pass")

    assert set(messages.exception_classes(tmp_path)) == {"NewError", "Derived"}
    found = messages.log_lines(tmp_path)
    new = {"Something new failed", "no connection to", "A third thing failed", "Warning: a remark", "Failed to watch"}
    assert found.keys() == new
    assert str(found["Something new failed"]) == "clientgo/tools/new.py:15"
    assert messages.raised(tmp_path) == {"NewError": 1}
    unexplained = messages.unexplained(tmp_path, messages.PAGES)
    assert [line.partition(" (")[0] for line in unexplained] == [
        "Derived", "NewError", "A third thing failed", "Something new failed", "Warning: a remark", "no connection to",
    ]  # fmt: skip


def test_the_exceptions_to_the_rule_are_still_there() -> None:
    texts = messages.log_lines().keys() | messages.exception_classes().keys()

    assert messages.SHOWN_BY_OTHERS.keys() - texts == set()
    assert all(messages.SHOWN_BY_OTHERS.values())


def test_every_name_of_the_remedies_is_in_the_code() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "clientgo").rglob("*.py"))
    rows = re.findall(r"(?m)^\| (.*) \|$", PAGE)
    remedies = [row.rpartition(" | ")[2] for row in rows]
    names = {
        name
        for remedy in remedies
        for text in re.findall(r"`([^`]+)`", remedy)
        for name in re.findall(r"[a-z]+(?:_[a-z]+)+", text)
    }

    assert len(names) > 15
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", code)) == []


def test_every_row_has_a_cause_or_a_remedy() -> None:
    rows = [row.split(" | ") for row in re.findall(r"(?m)^\| (.*) \|$", PAGE)]

    assert [row for row in rows if len(row) > 2 and not any(cell.strip() for cell in row[1:])] == []
