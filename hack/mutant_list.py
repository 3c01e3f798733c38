"""Read hack/mutants.d, the list of one-line bugs; [mutants.py](mutants.py) documents its format.

hack/mutants.d has a file for each area. A line that is not indented names a file and, after a colon, the tests that
have to notice its bugs. Below it stand the functions of the file, and below each of these its bugs, each described by
an edit ([described_bugs.py](described_bugs.py)):

    clientgo/tools/cache/heap.py: test/unit/tools/cache/test_heap.py
        Heap.close
            drop self._cond.notify_all()
        Heap.list_keys
            n < 3 -> n <= 3
            = reason                    the edit is no bug, and why

A description without exactly one place in the file is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import described_bugs
from described_bugs import BrokenDescriptionError, Description
from random_bugs import Bug

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "hack" / "mutants.d"

# How far functions and edits are indented in the list.
_FUNCTION, _EDIT = 4, 8


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


def read_modules(folder: Path, area: str, root: Path = ROOT) -> dict[str, tuple[str, ...]]:
    """Return the modules of an area, with their tests in the order in which they run.

    These are the tests that the list names for the module, then the folder of test/unit that mirrors the module's
    package, then the area's other tests.
    """
    modules: dict[str, list[str]] = {}
    for line in (folder / f"{area}.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line[0].isspace() and not line.startswith("#"):
            file, _, rest = line.partition(":")
            modules.setdefault(file, []).extend(rest.split())
    for file, tests in modules.items():
        tests += _mirrored(Path(file), root)
    every = sorted({test for tests in modules.values() for test in tests})
    return {file: tuple(dict.fromkeys([*tests, *every])) for file, tests in modules.items()}


def _mirrored(file: Path, root: Path) -> list[str]:
    """Return the folder of unit tests for the package of a module, or else for the nearest package around it."""
    for package in file.parents:
        folder = Path("test/unit", *package.parts[1:])
        if len(package.parts) > 1 and (root / folder).is_dir():
            return [str(folder)]
    return []


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
            if not file.endswith(".py") or " " in file or not tests:
                raise BrokenListError(f"{where}: needs a file, a colon and its tests: {line!r}")
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
