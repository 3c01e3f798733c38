"""Put bugs of one line into a copy of this tree, one at a time, and see whether the tests of their area notice.

    hack/mutants                 all areas; what an earlier run has found out is not done again
    hack/mutants cache rest      these areas only
    hack/mutants --again cache   also what is known
    hack/mutants --check         only whether every bug can still be put in: its line is there, and the result compiles

    hack/mutants --random 7 --count 20 cache                       20 bugs drawn at random from the modules of an area
    hack/mutants --random 7 clientgo/tour/hop.py:test/unit/tour    from a file or folder, for the tests named after it

A draw depends on its seed and the sources alone ([random_bugs.py](random_bugs.py) has the kinds of bugs). The tests of
an area's module are those that the list names for it, then those of the area's other modules; the first failure or a
hang ends a run. What survives is either a test that is missing, or no bug: then it goes into the list with its reason.

    hack/mutants --describe FILE OLD NEW        print how the list describes a change of a line; OLD may be its number

hack/mutants.d has a file for each area. A line that is not indented names a file and, after a colon, the tests that
have to notice its bugs. Below it stand the functions of the file, and below each of these its bugs, each described by
what it changes ([described_bugs.py](described_bugs.py)):

    clientgo/tools/cache/heap.py: test/unit/tools/cache/test_heap.py
        Heap.close
            drop self._cond.notify_all()
        Heap.list_keys
            n < 3 -> n <= 3
            = reason                    this is no bug, and why

A description without exactly one place in the file is an error. A bug that no test had noticed belongs into the
list.

Results are kept in .mutants, which no commit has. A result is old once the bug, its file or its tests have changed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import described_bugs
import random_bugs
import reach
from described_bugs import BrokenDescriptionError, Description
from random_bugs import Bug

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "hack" / "mutants.d"
RESULTS = ROOT / ".mutants" / "results.jsonl"

# How far functions and edits are indented in the list.
_FUNCTION, _EDIT = 4, 8

CAUGHT, HANGS, SURVIVED, NO_BUG = "caught", "hangs", "survived", "no bug"

# Tests that take longer than this much of what they take without a bug hang because of it.
_SLOWER = 10
_LEAST_SECONDS = 30.0
# So does a single test that takes longer than this much of what all of them take.
_ONE_SLOWER = 2


class BrokenListError(Exception):
    """The list does not fit the sources, or cannot be read."""


@dataclass(frozen=True)
class Mutant:
    """A bug of one line, in a file."""

    area: str
    file: str
    tests: tuple[str, ...]
    bug: Description | Bug
    no_bug: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.bug}"

    def applied(self, source: str) -> str:
        """Return the source with the bug in it. Raises BrokenListError without exactly one place for it."""
        try:
            return self.bug.put_in(source)
        except BrokenDescriptionError as err:
            raise BrokenListError(f"{self.file}: {err}") from err


def read_list(folder: Path = LIST, areas: Sequence[str] = ()) -> list[Mutant]:
    """Return all bugs, in the order of the files. Raises BrokenListError for what it cannot read."""
    paths = {path.stem: path for path in sorted(folder.glob("*.txt"))}
    unknown = set(areas) - set(paths)
    if unknown:
        raise BrokenListError(f"no area {', '.join(sorted(unknown))} in {folder}; there are {', '.join(paths)}")
    mutants = [mutant for area in areas or paths for mutant in _read_area(paths[area])]
    twice = [mutant for mutant, n in Counter(mutants).items() if n > 1]
    if twice:
        raise BrokenListError(f"in the list twice: {twice[0]}")
    return mutants


def read_modules(folder: Path, area: str) -> dict[str, tuple[str, ...]]:
    """Return the modules of an area, with their tests in the order in which they run: their own, then the area's
    others.
    """
    modules: dict[str, list[str]] = {}
    for line in (folder / f"{area}.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line[0].isspace() and not line.startswith("#"):
            file, _, rest = line.partition(":")
            modules.setdefault(file, []).extend(rest.split())
    every = sorted({test for tests in modules.values() for test in tests})
    return {file: tuple(dict.fromkeys([*tests, *every])) for file, tests in modules.items()}


def draw(seed: int, count: int, areas: Sequence[str], folder: Path = LIST, root: Path = ROOT) -> list[Mutant]:
    """Draw so many bugs of each area, which is one of the list or `PATH:TEST...`; those the list excuses are marked.

    Raises BrokenListError for an area that is neither.
    """
    excused = [mutant for mutant in read_list(folder) if mutant.no_bug]
    drawn = []
    for area in areas:
        modules = _modules_at(area, root) if ":" in area else None
        if modules is None:
            read_list(folder, [area])
            modules = read_modules(folder, area)
        sources = {file: (root / file).read_text(encoding="utf-8") for file in modules}
        reasons = {
            (each.file, _program(each.applied(sources[each.file]))): each.no_bug
            for each in excused
            if each.file in sources
        }
        for file, bug in random_bugs.draw(sources, seed, count):
            reason = reasons.get((file, _program(bug.put_in(sources[file]))), "")
            drawn.append(Mutant(area.partition(":")[0], file, modules[file], bug, reason))
    return drawn


def _program(source: str) -> bytes:
    return hashlib.sha256(ast.dump(ast.parse(source)).encode()).digest()


def _modules_at(area: str, root: Path) -> dict[str, tuple[str, ...]]:
    """Return the Python files of `PATH:TEST...`."""
    name, _, rest = area.partition(":")
    path = root / name
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    if not files or not rest.split():
        raise BrokenListError(f"{area}: needs a file or folder, a colon and its tests")
    return {str(file.relative_to(root)): tuple(rest.split()) for file in files}


def _read_area(path: Path) -> Iterator[Mutant]:
    file, function = "", ""
    tests: tuple[str, ...] = ()
    edits: dict[str, str] = {}
    last = ""

    def described() -> Iterator[Mutant]:
        for edit, reason in edits.items():
            yield Mutant(path.stem, file, tests, Description(function, edit, tuple(edits)), reason)
        edits.clear()

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        where, depth = f"{path.name}:{number}", len(line) - len(line.lstrip())
        if not text or text.startswith("#"):
            continue
        if depth == 0:
            yield from described()
            file, _, rest = text.partition(":")
            tests, function = tuple(rest.split()), ""
        elif depth == _FUNCTION and " " not in text:
            yield from described()
            function = text
        elif depth != _EDIT or not file or not tests or not function:
            raise BrokenListError(f"{where}: needs a file, its tests and a function, each on a line above: {line!r}")
        elif text.startswith("= "):
            if not edits or edits[last]:
                raise BrokenListError(f"{where}: a reason without a bug: {text!r}")
            edits[last] = text[2:]
        elif text in edits:
            raise BrokenListError(f"{where}: in the list twice: {text}")
        else:
            last, edits[text] = text, ""
    yield from described()


def problems(mutants: Iterable[Mutant], root: Path = ROOT) -> Iterator[str]:
    """Yield the bugs that cannot be applied or do not compile, and the tests that do not exist."""
    sources: dict[str, str] = {}
    for mutant in mutants:
        yield from (f"no test {test}" for test in mutant.tests if not (root / test.partition("::")[0]).exists())
        try:
            if mutant.file not in sources:
                sources[mutant.file] = (root / mutant.file).read_text(encoding="utf-8")
            _compile(mutant, sources[mutant.file])
        except (BrokenListError, OSError, SyntaxError) as err:
            yield f"hack/mutants.d/{mutant.area}.txt: {err}"


def _compile(mutant: Mutant, source: str) -> None:
    """Compile the mutated statement. Raises SyntaxError if the bug is not valid Python, and BrokenListError like
    `applied`.
    """
    lines = mutant.applied(source).splitlines(keepends=True)
    before = source.splitlines(keepends=True)
    number = next(n for n in range(len(lines)) if lines[n] != before[n])
    outermost = [n for n, line in enumerate(lines) if line[0] not in " \t\n)]}"]
    begin = max((n for n in outermost if n <= number), default=0)
    end = min((n for n in outermost if n > number), default=len(lines))
    try:
        # The function or class around it, which is quicker than the whole file.
        compile("".join(lines[begin:end]), mutant.file, "exec", dont_inherit=True)
    except SyntaxError:
        compile("".join(lines), mutant.file, "exec", dont_inherit=True)


def describe(file: str, old: str, new: str, root: Path = ROOT) -> Iterator[str]:
    """Yield the lines of the list for the change of a line, given by its text or number; one change for each such line.

    Raises BrokenListError if there is no such line, or no description of the change.
    """
    source = (root / file).read_text(encoding="utf-8")
    lines = source.splitlines()
    numbers = [int(old)] if old.isdecimal() else [n for n, line in enumerate(lines, 1) if line.strip() == old.strip()]
    if not numbers:
        raise BrokenListError(f"{file} has no line {old!r}")
    for number in numbers:
        found = described_bugs.describe(source, Bug(number, lines[number - 1].strip(), new.strip()).put_in(source))
        if found is None:
            raise BrokenListError(f"{file}:{number}: no description says: {old}  ->  {new}")
        yield f"line {number}:\n{' ' * _FUNCTION}{found.function}\n{' ' * _EDIT}{found.edit}"


# ---- running


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
        # 2: a file of tests cannot be imported; 4: nor can it if single tests are named.
        if code not in (-1, 0, 1, 2) and not (code == 4 and mutated and "::" in tests[0]):
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


class Progress:
    """Printer of each bug's result, and of the totals."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._lock = threading.Lock()
        self._by_area: dict[str, Counter[str]] = defaultdict(Counter)
        self._survivors: list[Mutant] = []

    def tell(self, mutant: Mutant, result: str, seconds: float | None, more: str = "") -> None:
        """Print a result. `seconds` is None for a result of an earlier run."""
        with self._lock:
            self._done += 1
            self._by_area[mutant.area][CAUGHT if result == HANGS else result] += 1
            if result == SURVIVED:
                self._survivors.append(mutant)
            if seconds is not None:
                more = f" ({more})" if more else ""
                print(f"[{self._done}/{self._total}] {result} {seconds:.1f}s{more} {mutant.area}: {mutant}", flush=True)

    def finish(self) -> int:
        """Print the figure for each area and what survived; how many did."""
        for mutant in self._survivors:
            print(f"survived: {mutant.area}: {mutant}")
            if isinstance(mutant.bug, Bug):
                print("\n".join(describe(mutant.file, str(mutant.bug.number), mutant.bug.new)))
        total: Counter[str] = Counter()
        print(f"\n{'area':24} {'bugs':>5} {'caught':>7} {'survived':>9} {'no bug':>7} {'of the bugs':>12}")
        for area, counts in sorted(self._by_area.items()):
            _print_figures(area, counts)
            total += counts
        _print_figures("all", total)
        return len(self._survivors)


def _print_figures(area: str, counts: Counter[str]) -> None:
    bugs = counts[CAUGHT] + counts[SURVIVED]
    share = f"{counts[CAUGHT] / bugs:.1%}" if bugs else "-"
    print(f"{area:24} {bugs:>5} {counts[CAUGHT]:>7} {counts[SURVIVED]:>9} {counts[NO_BUG]:>7} {share:>12}")


def run_all(mutants: list[Mutant], results: Results, again: bool, jobs: int, folder: Path) -> int:
    """Run them in copies of the tree below `folder`; how many survived. Raises the first error of a worker."""
    progress = Progress(len(mutants))
    # Those with the same tests go to the same worker, which has to know how these do without a bug.
    groups: dict[tuple[str, ...], list[Mutant]] = {}
    for mutant in mutants:
        known = NO_BUG if mutant.no_bug else "" if again else results.known(mutant)
        if known:
            progress.tell(mutant, known, None)
        else:
            groups.setdefault(mutant.tests, []).append(mutant)
    waiting: queue.SimpleQueue[list[Mutant]] = queue.SimpleQueue()
    for group in groups.values():
        waiting.put(group)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            with Tree.copy(folder / str(number)) as tree:
                while not errors:
                    for mutant in waiting.get_nowait():
                        result, seconds = tree.run(mutant)
                        results.add(mutant, result)
                        progress.tell(mutant, result, seconds)
        except queue.Empty:
            return
        except BaseException as err:
            errors.append(err)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(min(jobs, waiting.qsize()))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    survived = progress.finish()
    if errors:
        raise errors[0]
    return survived


# A test that takes longer than so many seconds is left out of a draw.
_SLOW_TEST = 20
# So many seconds of tests run at most against a drawn bug, as measured without the bug.
_MOST_SECONDS = 60.0


def run_drawn(mutants: list[Mutant], results: Results, again: bool, folder: Path) -> int:
    """Run each bug against the tests that reach its function; how many survived.

    One run of all tests with probes finds these tests. Slow tests and tests that fail without a bug take no part.
    """
    progress = Progress(len(mutants))
    waiting: dict[int, Mutant] = {}
    for key, mutant in enumerate(mutants):
        known = NO_BUG if mutant.no_bug else "" if again else results.known(mutant)
        if known:
            progress.tell(mutant, known, None)
        else:
            waiting[key] = mutant
    for mutant in waiting.values():
        print(f"drawn: {mutant}", flush=True)
    if waiting:
        reached, seconds, outside = _reached(mutants, folder / "probes", results.path_of_reached(mutants))
        with Tree.copy(folder / "0") as tree:
            for key, mutant in waiting.items():
                reaching = seconds.keys() if key in outside else reached.get(key, set())
                tests = tuple(reach.in_order(reaching, seconds, Path(mutant.file).stem, _MOST_SECONDS))
                tree.seconds[tuple(sorted(tests))] = _SLOW_TEST
                result, took = tree.run(mutant, tests) if tests else (SURVIVED, 0.0)
                results.add(mutant, result)
                progress.tell(mutant, result, took, f"{len(tests)} of {len(reaching)} tests that reach it")
    return progress.finish()


def _reached(
    mutants: list[Mutant], folder: Path, known: Path
) -> tuple[dict[int, set[str]], dict[str, float], set[int]]:
    """Return the tests that reach each bug, the seconds of each test, and the bugs outside of functions.

    Keeps what the run of the tests found in the file `known`.
    """
    with Tree.copy(folder) as tree:
        places = {key: (each.file, each.bug.number) for key, each in enumerate(mutants) if isinstance(each.bug, Bug)}
        outside = reach.prepare(folder, places)
        if known.exists():
            return (*reach.read(known), outside)
        tests = sorted({test for mutant in mutants for test in mutant.tests})
        args = ["-q", "-p", "no:cacheprovider", "-p", reach.PROBES, f"--timeout={_SLOW_TEST}", *tests]
        print(f"looking which of the tests reach {len(mutants)} bugs", flush=True)
        started = time.monotonic()
        with tempfile.NamedTemporaryFile() as output:
            code = tree.pytests.run(args, mutants[0].file, output.name, 7200.0)
            text = Path(output.name).read_text(errors="replace")[-4000:]
        if code not in (0, 1):
            raise RuntimeError(f"pytest ends with {code}:\n{text}")
        known.parent.mkdir(exist_ok=True)
        shutil.copy(folder / "reached.txt", known)
        found, seconds = reach.read(known)
        print(f"{len(seconds)} tests passed in {time.monotonic() - started:.0f} s", flush=True)
        print("\n".join(line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))), flush=True)
        return found, seconds, outside


def main() -> int:
    parser = argparse.ArgumentParser(
        "hack/mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("areas", nargs="*", help="the areas to run, all by default")
    parser.add_argument("--again", action="store_true", help="also run what an earlier run has found out")
    parser.add_argument("--check", action="store_true", help="only look whether all bugs can be put in")
    parser.add_argument("--describe", nargs=3, metavar=("FILE", "OLD", "NEW"), help="only describe a change of a line")
    parser.add_argument("--random", type=int, metavar="SEED", help="draw bugs from the areas' modules instead")
    parser.add_argument("--count", type=int, default=20, help="how many to draw from each area (default: 20)")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (default: one)")
    options = parser.parse_args()
    try:
        if options.describe:
            print("\n".join(describe(*options.describe)))
            return 0
        if options.random is None:
            mutants = read_list(areas=options.areas)
        else:
            areas = options.areas or sorted(path.stem for path in LIST.glob("*.txt"))
            mutants = draw(options.random, options.count, areas)
        wrong = list(problems(mutants))
        if wrong or options.check:
            print("\n".join(wrong) or f"{len(mutants)} bugs of one line can be put in")
            return 1 if wrong else 0
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            if options.random is None:
                survived = run_all(mutants, Results(), options.again, options.jobs, Path(folder))
            else:
                survived = run_drawn(mutants, Results(), options.again, Path(folder))
    except (BrokenListError, RuntimeError) as err:
        print(err, file=sys.stderr)
        return 2
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
