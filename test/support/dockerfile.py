"""Carries a Dockerfile out without Docker, so that a line that would fail there fails a test here.

    *_, image = build(root / "Dockerfile", context=root, folder=tmp_path)
    image.start("-help")

Each stage gets a folder for its file system; COPY copies into it, RUN runs on this machine, with every absolute path
moved into the folder and with this Python as the `python` of the base image. An instruction this module does not know
is an error. Not checked: what a base image lacks, who owns the files, and the user's rights.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from patience import PATIENCE
from processes import Program

_CONTINUED = re.compile(r"\\\n\s*")
_ABSOLUTE_PATH = re.compile(r"(?<![\w./-])/(?=\w)")


@dataclass
class Image:
    """One stage, and in the end what would be pushed."""

    root: Path
    base: str
    # What RUN has beside the instructions of ENV.
    building: dict[str, str] = field(default_factory=dict)
    working_directory: str = "/"
    environment: dict[str, str] = field(default_factory=dict)
    user: str = ""
    entrypoint: list[str] = field(default_factory=list)

    def path(self, inside: str) -> Path:
        """Return the path on this machine of a path in the image."""
        return self.root / os.path.join(self.working_directory, inside).lstrip("/")

    def start(self, *arguments: str, **env: str) -> Program:
        """Run the entrypoint with these arguments. Only PATH is inherited from this environment."""
        command = [self._moved(part) for part in self.entrypoint]
        return Program(*command, *arguments, env=self._environment(**env), cwd=self.path(self.working_directory))

    def run(self, command: str) -> None:
        """Run a RUN command. Raises AssertionError with its output if it fails.

        pip is configured as outside, but compiles nothing: Python compiles the few modules that a test imports.
        """
        pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_proxy")}
        pip["PIP_COMPILE"] = "0"
        done = subprocess.run(
            ["/bin/sh", "-c", self._moved(command)],
            cwd=self.path(self.working_directory),
            env=self._environment(**pip, **self.building),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"RUN {command}\nexit code {done.returncode}\n{done.stdout}{done.stderr}"

    def _moved(self, text: str) -> str:
        return _ABSOLUTE_PATH.sub(f"{self.root}/", text)

    def _environment(self, **more: str) -> dict[str, str]:
        tools = os.path.dirname(sys.executable)
        return {"PATH": f"{tools}:/usr/bin:/bin", "HOME": "/nonexistent", **self.environment, **more}


class _Build:
    """The state between two lines."""

    def __init__(self, context: Path, folder: Path, building: dict[str, str]) -> None:
        self._context = context
        self._folder = folder
        self._building = building
        self._ignored = _ignored(context / ".dockerignore")
        # By name, or by number.
        self.stages: dict[str, Image] = {}

    @property
    def image(self) -> Image:
        return next(reversed(self.stages.values()))

    def instruction(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        known = {
            "FROM": self._from,
            "WORKDIR": self._workdir,
            "COPY": self._copy,
            "RUN": lambda rest: self.image.run(rest),
            "ENV": self._env,
            "USER": self._user,
            "ENTRYPOINT": self._entrypoint,
        }
        assert name in known, f"nobody has taught this test what {line!r} does"
        known[name](rest.strip())

    def _from(self, rest: str) -> None:
        base, _, name = rest.partition(" AS ")
        assert base not in self.stages, f"nobody has taught this test to go on from a stage: FROM {rest}"
        root = self._folder / f"stage-{len(self.stages)}"
        root.mkdir()
        self.stages[name or str(len(self.stages))] = Image(root, base, self._building)

    def _workdir(self, rest: str) -> None:
        self.image.working_directory = os.path.join(self.image.working_directory, rest)
        self.image.path(rest).mkdir(parents=True, exist_ok=True)

    def _env(self, rest: str) -> None:
        self.image.environment.update(part.split("=", 1) for part in shlex.split(rest))

    def _user(self, rest: str) -> None:
        self.image.user = rest

    def _entrypoint(self, rest: str) -> None:
        self.image.entrypoint = json.loads(rest)

    def _copy(self, rest: str) -> None:
        *sources, target = shlex.split(rest)
        stage = None
        if sources[0].startswith("--from="):
            stage = self.stages[sources.pop(0).removeprefix("--from=")]
        assert not sources[0].startswith("--"), f"nobody has taught this test what {sources[0]} does"
        assert len(sources) == 1 or target.endswith("/"), f"COPY {rest}: several sources need a folder as target"
        for source in sources:
            found = stage.path(source) if stage is not None else self._context / source
            self._copy_one(found, self.image.path(target), into=target.endswith("/"), of_context=stage is None)

    def _copy_one(self, source: Path, target: Path, *, into: bool, of_context: bool) -> None:
        assert source.exists(), f"COPY: there is no {source}"
        if source.is_dir():
            # The folder's content, as Docker does it, whether the target ends in a slash or not.
            skip = self._skip if of_context else None
            shutil.copytree(source, target, symlinks=True, ignore=skip, dirs_exist_ok=True)
            return
        assert not (of_context and self._ignored_path(source)), f"COPY: .dockerignore keeps {source} out"
        target.mkdir(parents=True, exist_ok=True) if into else target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)

    def _skip(self, folder: str, names: list[str]) -> list[str]:
        return [name for name in names if self._ignored_path(Path(folder, name))]

    def _ignored_path(self, path: Path) -> bool:
        """Report whether the path is ignored. The last pattern that matches it or a folder above it decides."""
        inside = path.relative_to(self._context)
        candidates = [str(part) for part in (inside, *inside.parents[:-1])]
        ignored = False
        for pattern, keep in self._ignored:
            if any(pattern.fullmatch(candidate) for candidate in candidates):
                ignored = not keep
        return ignored


def _ignored(file: Path) -> list[tuple[re.Pattern[str], bool]]:
    """Return (pattern, whether it begins with an exclamation mark) for the lines of a .dockerignore."""
    lines = file.read_text().splitlines() if file.exists() else []
    patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return [(_pattern(pattern.lstrip("!").strip("/")), pattern.startswith("!")) for pattern in patterns]


def _pattern(pattern: str) -> re.Pattern[str]:
    expression = re.escape(pattern)
    for written, meant in ((r"\*\*/", "(.*/)?"), (r"\*", "[^/]*"), (r"\?", "[^/]")):
        expression = expression.replace(written, meant)
    return re.compile(expression)


def build(dockerfile: Path, context: Path, folder: Path, **building: str) -> list[Image]:
    """Carry out all lines and return the stages; the last is the image. Raises AssertionError for a line that fails.

    RUN has `building` in its environment.
    """
    state = _Build(context, folder, building)
    text = _CONTINUED.sub(" ", dockerfile.read_text())
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            state.instruction(line)
    return list(state.stages.values())
