"""Run tests against a one-line bug in a copy of this tree, and keep the results."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mutant_list import ROOT, Mutant

RESULTS = ROOT / ".mutants" / "results.jsonl"

CAUGHT, HANGS, SURVIVED, NO_BUG = "caught", "hangs", "survived", "no bug"

# Tests that take longer than this much of what they take without a bug hang because of it.
_SLOWER = 10
_LEAST_SECONDS = 30.0
# So does a single test that takes longer than this much of what all of them take.
_ONE_SLOWER = 2


@dataclass
class Tree:
    """A copy of this tree, for one thread; nothing is ever written to the user's own."""

    root: Path
    pytests: Pytests = field(init=False)
    # How long each selection of tests takes without a bug.
    seconds: dict[tuple[str, ...], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pytests = Pytests(self.root)

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *_: object) -> None:
        self.pytests.close()

    @classmethod
    def copy(cls, folder: Path) -> Tree:
        """Return a copy of the files that Git tracks, and of untracked files that it does not ignore."""
        done = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in filter(None, done.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        return cls(folder)

    def run(self, mutant: Mutant, tests: tuple[str, ...] = ()) -> tuple[str, float]:
        """Run the bug's tests, or others, and return the result and how long it took.

        Raises RuntimeError when the tests fail without the bug.
        """
        tests = tests or mutant.tests
        usual = self._usual(tests)
        path = self.root / mutant.file
        before, times = path.read_bytes(), path.stat()
        path.write_text(mutant.applied(before.decode()), encoding="utf-8")
        # Python compiles a module again only if its size or its time, in whole seconds, differs.
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 10_000_000_000))
        started = time.monotonic()
        try:
            result, _ = self._test(mutant.file, tests, max(_LEAST_SECONDS, usual * _SLOWER), usual)
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return result, time.monotonic() - started

    def _usual(self, tests: tuple[str, ...]) -> float:
        known = tuple(sorted(tests))  # in any order
        if known not in self.seconds:
            started = time.monotonic()
            result, output = self._test("", tests, 1800.0, 900.0)
            if result != SURVIVED:
                raise RuntimeError(f"{' '.join(tests)} fails without a bug in it:\n{output}")
            self.seconds[known] = time.monotonic() - started
        return self.seconds[known]

    def _test(self, mutated: str, tests: tuple[str, ...], timeout: float, usual: float) -> tuple[str, str]:
        """Return the result for a bug that is in the tree, and the output of the tests."""
        limit = max(_LEAST_SECONDS, usual * _ONE_SLOWER)
        args = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", f"--timeout={limit}", *tests]
        with tempfile.NamedTemporaryFile() as output:
            code = self.pytests.run(args, mutated, output.name, timeout)
            text = Path(output.name).read_text(errors="replace")[-4000:]
        # 2: a file of tests cannot be imported; 4: the same for single tests; 3: its import exits the process.
        is_unimportable = mutated and (code == 3 or (code == 4 and "::" in tests[0]))
        if code not in (-1, 0, 1, 2) and not is_unimportable:
            raise RuntimeError(f"pytest ends with {code} for {' '.join(tests)}:\n{text}")
        return {0: SURVIVED, -1: HANGS}.get(code, CAUGHT), text


# What nearly every test imports. A run that mutates none of it is forked from a process that has it already.
_PRELOADED = ("requests", "urllib3", "yaml", "hypothesis", "clientgo.api.core.v1", "clientgo.api.apps.v1")

# Forks a pytest for each line on stdin: prints its process id, and when it has ended, its exit code.
_FORKING = """
import importlib, json, os, sys
import pytest
for name in json.loads(sys.argv[1]):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
print(json.dumps(sorted(sys.modules)), flush=True)
for line in sys.stdin:
    args, output = json.loads(line)
    child = os.fork()
    if not child:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (1, 2):
            os.dup2(os.open(output, os.O_WRONLY), number)
        sys.argv = ["pytest", *args]
        code = int(pytest.main(args))
        sys.stdout.flush()
        os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Pytests:
    """Runs pytest in a folder, many times."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._loaded: set[str] = set()

    def run(self, args: list[str], mutated: str, output: str, timeout: float) -> int:
        """Return the exit code, or -1 after a timeout. A timeout kills the process with all of its children."""
        if self._process is None:
            self._process, self._loaded = self._begin(_PRELOADED)
        if mutated.removesuffix(".py").removesuffix("/__init__").replace("/", ".") not in self._loaded:
            return self._ask(self._process, args, output, timeout)
        process, _ = self._begin(())
        try:
            return self._ask(process, args, output, timeout)
        finally:
            _end(process)

    def close(self) -> None:
        """End the process that has the modules."""
        if self._process is not None:
            _end(self._process)

    def _begin(self, preloaded: tuple[str, ...]) -> tuple[subprocess.Popen[str], set[str]]:
        # What is compiled from a mutated file must not be left behind.
        more = {"PYTHONPATH": str(self._folder), "HYPOTHESIS_PROFILE": "ci", "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.Popen(
            [sys.executable, "-c", _FORKING, json.dumps(preloaded)],
            cwd=self._folder,
            env={**os.environ, **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        return process, set(json.loads(process.stdout.readline()))

    def _ask(self, process: subprocess.Popen[str], args: list[str], output: str, timeout: float) -> int:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps([args, output]) + "\n")
        process.stdin.flush()
        child = int(process.stdout.readline())
        killed = threading.Event()

        def kill() -> None:
            killed.set()
            _kill_session(child)

        timer = threading.Timer(timeout, kill)
        timer.start()
        code = int(process.stdout.readline())
        timer.cancel()
        _kill_session(child)  # what it has left running
        return -1 if killed.is_set() else code


def _kill_session(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _end(process: subprocess.Popen[str]) -> None:
    process.communicate()


class Results:
    """Results by bug, source and tests. Each is written at once, so that an interrupted run loses nothing."""

    def __init__(self, path: Path = RESULTS, root: Path = ROOT) -> None:
        self._path = path
        self._root = root
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self._known[entry["key"]] = entry["result"]

    def known(self, mutant: Mutant) -> str:
        """Return the result, or "" if there is none or it is out of date."""
        return self._known.get(self._key(mutant), "")

    def add(self, mutant: Mutant, result: str) -> None:
        key = self._key(mutant)
        with self._lock:
            self._known[key] = result
            self._path.parent.mkdir(exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "result": result, "mutant": str(mutant)}) + "\n")

    def path_of_reached(self, mutants: Iterable[Mutant]) -> Path:
        """Return the file for the tests that reach these bugs; another one once a bug, its file or a test changed."""
        key = hashlib.sha256("".join(map(self._key, mutants)).encode()).hexdigest()[:24]
        return self._path.with_name(f"reached-{key}.txt")

    def _key(self, mutant: Mutant) -> str:
        parts = [str(mutant.bug), self._digest(mutant.file), *map(self._digest, mutant.tests)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]

    def _digest(self, name: str) -> str:
        if name not in self._digests:
            path = self._root / name.partition("::")[0]
            files = [path] if path.is_file() else sorted(path.rglob("*.py"))
            text = b"".join(each.read_bytes() for each in files)
            self._digests[name] = f"{name} {hashlib.sha256(text).hexdigest()}"
        return self._digests[name]
