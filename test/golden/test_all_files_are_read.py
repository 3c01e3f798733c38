"""No golden file is passed over: one that no test reads would be a check that never ran."""

from __future__ import annotations

import re
from pathlib import Path

from goldenfile import golden_dir

HERE = Path(__file__).resolve().parent


def test_every_golden_file_is_read_by_a_test() -> None:
    there = {str(path.relative_to(golden_dir())).removesuffix(".gz") for path in golden_dir().rglob("*.jsonl*")}
    tests = "\n".join(path.read_text() for path in HERE.rglob("test_*.py"))
    read = set(re.findall(r"\b(?:cases|read)\(\"([\w/]+\.jsonl)\"", tests))
    assert there, f"no golden files under {golden_dir()}"
    assert there <= read, f"no test reads {sorted(there - read)}"
