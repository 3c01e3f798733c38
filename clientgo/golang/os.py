"""Files that are written with their folders. Replaces os.MkdirAll and os.WriteFile."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["mkdir_all", "write_file"]


def mkdir_all(folder: str | Path, mode: int) -> None:
    """Create a folder and its parents, all with `mode`. Raises OSError. Go: os.MkdirAll."""
    wanted = Path(folder)
    for each in (*reversed(wanted.parents), wanted):
        if not each.is_dir():
            each.mkdir(mode, exist_ok=True)


def write_file(path: str | Path, data: bytes, mode: int) -> None:
    """Write a file. A new file gets `mode`, an existing one keeps its own. Raises OSError. Go: os.WriteFile."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with open(descriptor, "wb") as file:
        file.write(data)
