"""A program prints the same, and ends the same, with the tour attached as without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

PROGRAM = '''\
"""A program that ends with an exception, in the way that its argument names."""
import os, sys
print(__file__, sys.argv, sys.path[0], __name__, __package__, __doc__)
def typed(x: int) -> int: ...
print(typed.__annotations__)
os.chdir("/")
print(os.path.exists(__file__))
way = sys.argv[1]
def find():
    return {}["reef"]
if way == "hook":
    sys.excepthook = lambda kind, err, trace: print("hook", kind, trace.tb_frame.f_code.co_name, trace.tb_lineno)
if way == "interrupt":
    raise KeyboardInterrupt
if way == "exit":
    sys.exit("no luck")
try:
    find()
except KeyError as err:
    raise RuntimeError("lost") from err
'''


def run(folder: Path, *command: str) -> tuple[int, str, list[str]]:
    result = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )
    lines = [line for line in result.stderr.splitlines() if not line.startswith("The informer tour is at")]
    return result.returncode, result.stdout, lines


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize(
    "program",
    [
        ["program.py", "raise"],
        ["program.py", "hook"],
        ["program.py", "interrupt"],
        ["program.py", "exit"],
        ["link/program.py", "raise"],
        ["-m", "package", "raise"],
        ["package", "interrupt"],
        ["wrong.py"],
        ["absent.py"],
        ["-m", "absent"],
    ],
    ids=" ".join,
)
def test_the_end_of_a_program_looks_as_without_the_tour(program: list[str], tmp_path: Path) -> None:
    for name in ("package", "link"):
        (tmp_path / name).mkdir()
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "link" / "program.py").symlink_to("../program.py")
    # A folder's own path in sys.path is relative with the tour.
    (tmp_path / "package" / "__main__.py").write_text(PROGRAM.replace("sys.path[0], ", "").replace("__package__, ", ""))
    (tmp_path / "wrong.py").write_text("a b\n")
    attached = run(tmp_path, "-m", "clientgo.tour.attach", "--no-browser", "--", *program)
    assert attached == run(tmp_path, *program)
