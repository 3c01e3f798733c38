"""Export the tour as files that a browser opens without Python, a server or a network.

The data files, in the form of clientgo.tour.export:

    tour             what `pageserver.about_tour` returns
    sources          the source of every function at which hops happen, a list
    LESSON           {"lesson", "entries", "runs", "offers"}: the lesson, and its runs without a break
    LESSON-breaks    {"entries", "runs"}: runs with a break; the entries continue those of LESSON

A run is {"settings", "decisions", "trace"}; settings are those that differ from the scenario's, the trace is a
reference to an entry. The export has the run of each answer's branch. Of the endless number of runs with breaks it has
those that lessons offer: at the stop of each step, each fault of `offered`. An offer is {"settings", "at", "faults"}.
"""

from __future__ import annotations

import functools
import multiprocessing
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import lessons
import pageserver
from clientgo import tour
from clientgo.tour.export import Pack, write_data, write_page
from clientgo.tour.web import sources

__all__ = ["export", "export_lesson", "offered"]

Json = dict[str, Any]

_EVERYWHERE = ("cut", "worker-hangs", "kill", "gone", "clock-jump")
_MORE: Mapping[str, tuple[str, ...]] = {
    "04-backoff": ("worker-raises",),
    "05-tombstones": ("delete-unseen",),
    "06-handlers": ("handler-blocks", "handler-raises"),
    "07-versions": ("busy", "restart"),
    "12-stale": ("watch-lags",),
    "17-sample-controller": ("writes-fail",),
}


def offered(lesson: lessons.Lesson) -> tuple[str, ...]:
    """Return the faults that a lesson offers at each of its stops."""
    return (*_EVERYWHERE, *_MORE.get(lesson.name, ()))


def export(folder: Path, names: Sequence[str] = (), *, breaks: bool = True, processes: int = 2) -> int:
    """Write the tour's static edition and return its size in bytes. Blocks for minutes; shows progress on a terminal.

    names: the lessons to export; () for all.
    breaks: False leaves out the runs that break, which are most of the work.

    Raises OSError, and ValueError for an unknown lesson.
    """
    known = {lesson.name: lesson for lesson in lessons.all_()}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"there is no lesson {unknown[0]}")
    chosen = [name for name in known if not names or name in names]
    write_page(folder)
    about = pageserver.about_tour()
    about["lessons"] = [each for each in about["lessons"] if each["name"] in chosen]
    scenarios = {known[name].scenario for name in chosen}
    about["scenarios"] = [each for each in about["scenarios"] if each["name"] in scenarios]
    write_data(folder, "tour", about)
    write_data(folder, "sources", [source for _, source in sorted(sources(pageserver.watched()).items())])
    # Each process has a bubble of its own: runs in one process would wait for each other.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        write = functools.partial(export_lesson, folder, breaks=breaks)
        for number, name in enumerate(pool.map(write, chosen), 1):
            _show_progress(f"{number} of {len(chosen)} lessons: {name}")
    _show_progress("")
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def export_lesson(folder: Path, name: str, *, breaks: bool = True) -> str:
    """Write the two data files of a lesson and return its name."""
    lesson = next(each for each in lessons.all_() if each.name == name)
    pack = Pack()
    plain: list[Json] = []
    offers: list[Json] = []
    for settings, at in _stops(lesson):
        if at is None:
            plain.append(_run(pack, lesson, settings, ()))
        elif breaks:
            offers.append({"settings": settings, "at": at, "faults": offered(lesson)})
    branches = list(_branches(lesson))
    for settings, made in branches:
        if not made and settings not in [run["settings"] for run in plain]:
            plain.append(_run(pack, lesson, settings, ()))
    about = pageserver.about_lesson(lesson)
    write_data(folder, name, {"lesson": about, "entries": pack.take(), "runs": plain, "offers": offers})
    broken = [
        _run(pack, lesson, offer["settings"], (tour.Decision(offer["at"], "fault", fault),))
        for offer in offers
        for fault in offer["faults"]
    ]
    for settings, made in branches:
        known = [(run["settings"], run["decisions"]) for run in broken]
        if made and (settings, [decision.to_dict() for decision in made]) not in known:
            broken.append(_run(pack, lesson, settings, made))
    write_data(folder, f"{name}-breaks", {"entries": pack.take(), "runs": broken})
    return name


def _stops(lesson: lessons.Lesson) -> Iterator[tuple[Json, int | None]]:
    """Yield each machine's settings with None, then with the hop of each step at which it stops."""
    seen: dict[str, tour.Trace] = {}
    at, before = -1, None
    for step in lesson.steps:
        settings = dict(step.machine)
        if repr(settings) not in seen:
            seen[repr(settings)] = _trace(lesson, settings, ())
            yield settings, None
        if settings != before:
            at, before = -1, settings
        points = seen[repr(settings)].points
        at = next(number for number in range(at + 1, len(points)) if step.is_at(points[number].hop))
        yield settings, at
    if "{}" not in seen:
        yield {}, None


def _branches(lesson: lessons.Lesson) -> Iterator[tuple[Json, tuple[tour.Decision, ...]]]:
    """Yield the settings and decisions of the run of each wrong answer that has a branch."""
    stops = [at for _, at in _stops(lesson) if at is not None]
    for number, step in enumerate(lesson.steps):
        for answer in step.answers:
            if answer.branch is not None:
                fault = answer.branch.fault
                made = (tour.Decision(stops[number - 1], "fault", fault),) if fault else ()
                yield answer.branch.settings(step.machine), made


def _run(pack: Pack, lesson: lessons.Lesson, settings: Json, decisions: Sequence[tour.Decision]) -> Json:
    trace = _trace(lesson, settings, decisions).to_dict()
    # The page knows these three: it asked for them.
    shared = {name: trace[name] for name in trace if name not in ("scenario", "settings", "decisions")}
    made = [decision.to_dict() for decision in decisions]
    return {"settings": settings, "decisions": made, "trace": pack.add(shared)}


def _trace(lesson: lessons.Lesson, settings: Json, decisions: Sequence[tour.Decision]) -> tour.Trace:
    scenario = lessons.SCENARIOS[lesson.scenario]
    chosen = tour.Settings.of({**scenario.settings.to_dict(), **settings})
    return tour.execute(scenario, chosen, decisions, tour.MAX_HOPS)


def _show_progress(text: str) -> None:
    """Replace the last line on a terminal; silent in a pipe."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
