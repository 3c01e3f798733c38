"""Builds the package: adds the programs of cmd/ to the wheel, as clientgo/programs, for the command `clientgo`.

The pages of the package and of the programs get links that work in the wheel (plain_links.py). The mode of a file does
not depend on the umask, so that equal sources give an identical wheel.
"""

from __future__ import annotations

import os
from pathlib import Path

from setuptools.command.build_py import build_py

from hack.plain_links import wheel_page

ROOT = Path(__file__).resolve().parent.parent


class BuildPrograms(build_py):
    """build_py, and a copy of every file below cmd/ that is not compiled code."""

    def run(self) -> None:
        """Copy the package and the programs."""
        super().run()
        if self.editable_mode:
            return
        for source, target in self._programs():
            self.mkpath(str(target.parent))
            self.copy_file(str(source), str(target))
        build = Path(self.build_lib)
        for path in sorted((build / "clientgo").rglob("*")):
            if path.suffix == ".md":
                below = path.relative_to(build / "clientgo").as_posix()
                page = f"cmd{below.removeprefix('programs')}" if below.startswith("programs/") else f"clientgo/{below}"
                path.write_text(wheel_page(page), encoding="utf-8")
            if path.is_file():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return the files that the build writes."""
        programs = [] if self.editable_mode else [str(target) for _, target in self._programs()]
        return [*super().get_outputs(include_bytecode), *programs]

    def get_source_files(self) -> list[str]:
        """Return the files that a source distribution needs."""
        return [*super().get_source_files(), *(os.path.relpath(source, ROOT) for source, _ in self._programs())]

    def _programs(self) -> list[tuple[Path, Path]]:
        programs = Path(self.build_lib) / "clientgo" / "programs"
        files = (path for path in sorted((ROOT / "cmd").rglob("*")) if path.is_file())
        return [
            (path, programs / path.relative_to(ROOT / "cmd"))
            for path in files
            if "__pycache__" not in path.parts and not path.name.endswith((".pyc", ".egg-info"))
        ]
