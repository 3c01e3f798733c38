"""The demonstration of shards, test/bench/scale/bench_shards.py, with few objects."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

BENCH = Path(__file__).parents[1] / "bench" / "scale" / "bench_shards.py"
OBJECTS = 300


@pytest.mark.takes_turns(8)
def test_two_replicas_have_half_of_the_objects_each_and_the_curve_shows_it(tmp_path: Path) -> None:
    drawing = tmp_path / "curve.svg"
    options = f"--objects {OBJECTS} --changes 100 --shards 4 --replicas 1 2 --lease 3 --patience 120"
    command = [sys.executable, str(BENCH), *options.split(), "--svg", str(drawing)]

    ran = subprocess.run(command, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stderr
    title, columns, *rows = (re.split(r"\s{2,}", line.strip()) for line in ran.stdout.splitlines())
    assert title[0].startswith("300 objects, 4 shards")
    single, half = (dict(zip(columns, row, strict=True)) for row in rows)
    assert single["objects"] == str(OBJECTS)
    assert OBJECTS / 2 <= int(half["objects"]) < OBJECTS
    assert single["recovery s"] == "nan"
    # No sooner than the Leases of the killed replica expire, less the time since it renewed them.
    assert float(half["recovery s"]) > 1
    drawn = ElementTree.parse(drawing).getroot()
    texts = ["".join(each.itertext()) for each in drawn.iter() if each.tag.endswith("text")]
    assert {"1/replicas", "MB of a replica", "objects of a replica", "1", "2"} <= {*texts}
