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

[mutant_list.py](mutant_list.py) documents the list and [mutant_runs.py](mutant_runs.py) runs the tests. A bug that no
test had noticed belongs into the list.

Results are kept in .mutants, which no commit has. A result is old once the bug, its file or its tests have changed.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import queue
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import random_bugs
import reach
from mutant_list import LIST, ROOT, BrokenListError, Mutant, describe, problems, read_list, read_modules
from mutant_runs import CAUGHT, HANGS, NO_BUG, SURVIVED, Results, Tree
from random_bugs import Bug


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
            modules = read_modules(folder, area, root)
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
                _print_description(mutant.file, mutant.bug)
        total: Counter[str] = Counter()
        print(f"\n{'area':24} {'bugs':>5} {'caught':>7} {'survived':>9} {'no bug':>7} {'of the bugs':>12}")
        for area, counts in sorted(self._by_area.items()):
            _print_figures(area, counts)
            total += counts
        _print_figures("all", total)
        return len(self._survivors)


def _print_description(file: str, bug: Bug) -> None:
    try:
        print("\n".join(describe(file, str(bug.number), bug.new)))
    except BrokenListError as err:  # a default of an argument, for example
        print(err)


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
    """Run each bug against the tests that reach its statement; how many survived.

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
        # Copied first: the bugs name lines, and a pull or an edit may change these while the tests run with probes.
        with Tree.copy(folder / "0") as tree:
            reached, seconds, outside = _reached(mutants, folder / "probes", results.path_of_reached(mutants))
            for key, mutant in waiting.items():
                reaching = seconds.keys() if key in outside else reached.get(key, set())
                tests = tuple(reach.in_order(reaching, seconds, mutant.file, _MOST_SECONDS))
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
