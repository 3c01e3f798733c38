"""The command `clientgo programs`: a copy of the example programs to read, run and change.

A wheel has the programs in `clientgo/programs`, a clone in `cmd`. The copy makes the commands of the documents work in
both, since they name paths below `cmd`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from clientgo.cli import command


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    made = argparse.ArgumentParser(
        f"{command.PROG} programs",
        description="List the example programs, or copy them to a new folder: clientgo programs cmd",
    )
    made.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="the folder to make, with all programs")
    return made


def main(arguments: Sequence[str]) -> int:
    """List or copy the programs; return the exit code."""
    folder = parser().parse_args(arguments).folder
    source = command.programs()
    if folder is None:
        print("\n".join(str(path.parent) for path in sorted(source.glob("*/__main__.py"))))
        return 0
    if folder.exists():
        if folder.resolve() == source.resolve():
            print(f"{folder} has the programs already.")
            return 0
        print(f"{command.PROG} programs: {folder} exists; name a new folder", file=sys.stderr)
        return 1
    try:
        _copy(source, folder)
    except OSError as err:
        # copytree collects the errors of single files: (source, target, message).
        reason = err.strerror or err.args[0][0][2]
        print(f"{command.PROG} programs: cannot copy to {folder}: {reason}", file=sys.stderr)
        return 1
    print(f"Copied the programs to {folder}. {folder / 'README.md'} has their commands.")
    return 0


def _copy(source: Path, folder: Path) -> None:
    """Copy to a new folder, whole or not at all. Raises OSError."""
    try:
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
