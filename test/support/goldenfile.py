"""Read golden cases: what Go client-go v0.36 answered to sequences of operations.

`cases("workqueue/queue.jsonl")` gives one pytest parameter per case. The files stand gzipped under test/golden; the
environment variable GOLDEN_DIR points the same tests at any other directory of the format (plain or gzipped).
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent.parent / "golden"


def golden_dir() -> Path:
    """Return the directory the cases come from."""
    return Path(os.environ.get("GOLDEN_DIR") or HERE)


def read(name: str) -> list[dict[str, Any]]:
    """Return all cases of one file, in file order; [] when GOLDEN_DIR is set and has no such file."""
    for path in (golden_dir() / name, golden_dir() / f"{name}.gz"):
        if path.exists():
            opener = gzip.open if path.suffix == ".gz" else open
            with opener(path, "rt", encoding="utf-8") as file:
                return [json.loads(line) for line in file if line.strip()]
    if "GOLDEN_DIR" in os.environ:
        return []
    raise FileNotFoundError(f"no golden file {name} under {golden_dir()}")


def cases(name: str) -> list[Any]:
    """Return one `pytest.param` per case of the file, with the case's name as id."""
    return [pytest.param(case, id=str(case["name"])) for case in read(name)]
