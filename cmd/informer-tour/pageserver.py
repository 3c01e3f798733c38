"""The page's requests next to its files (see clientgo.tour.web): scenarios, lessons, runs.

No request changes anything: the server computes an answer, and keeps only the last runs, which are the same each time.

    GET  /api/tour             scenarios, faults, kinds of hops, lessons
    GET  /api/lesson?name=     one lesson
    POST /api/run              {"scenario", "settings", "decisions", "limit"}: a run, see Trace.to_dict
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import chinese
import lessons
from clientgo import tour
from clientgo.tour import web
from clientgo.tour.seam import Tap
from clientgo.tour.settings import CHOICES
from clientgo.tour.viewschema import SCHEMA
from clientgo.tour.web import Refused, Request, Route

Json = dict[str, Any]


class PageServer(web.PageServer):
    """The server; a context manager. Raises OSError when the port is taken."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port, _GET, _POST, watched=watched())


def about_tour() -> Json:
    """Return what the page reads first: scenarios, faults, kinds of hops, lessons."""
    return {
        "scenarios": [
            {
                "name": scenario.name,
                "title": scenario.title,
                "settings": scenario.settings.to_dict(),
                "switches": list(scenario.program.switches),
            }
            for scenario in lessons.SCENARIOS.values()
        ],
        "choices": {name: list(words) for name, words in CHOICES.items()},
        "faults": {name: fault.title for name, fault in tour.FAULTS.items()},
        "places": {name: fault.place for name, fault in tour.FAULTS.items()},
        "views": SCHEMA,
        "kinds": {station: dict(kinds) for station, kinds in tour.KINDS.items()},
        "lessons": [
            {**lesson.about(), "zh": {"title": chinese.words_of(lesson).get("title", "")}} for lesson in lessons.all_()
        ],
        "maxHops": tour.MAX_HOPS,
    }


def about_lesson(lesson: lessons.Lesson) -> Json:
    """Return a lesson with its Chinese words, as the page reads it."""
    return {**lesson.to_dict(), "zh": chinese.words_of(lesson)}


def watched() -> set[Tap]:
    """Return the scenarios' own functions at which hops happen."""
    return {scenario.program.worker for scenario in lessons.SCENARIOS.values()}


def _tour(request: Request, query: dict[str, str]) -> Json:
    return about_tour()


def _lesson(request: Request, query: dict[str, str]) -> Json:
    for lesson in lessons.all_():
        if lesson.name == query.get("name"):
            return about_lesson(lesson)
    raise Refused(404, "there is no such lesson")


def _run(request: Request, query: dict[str, str]) -> Json:
    asked = request.read_json()
    scenario = lessons.SCENARIOS.get(str(asked.get("scenario")))
    if scenario is None:
        raise Refused(404, "there is no such scenario")
    settings, decisions, limit = asked.get("settings", {}), asked.get("decisions", []), asked.get("limit", 250)
    if not isinstance(settings, dict) or not isinstance(decisions, list) or type(limit) is not int:
        raise Refused(400, "settings is an object, decisions a list, limit a number")
    if len(decisions) > 100:
        raise Refused(400, "a run has at most 100 decisions: undo some")
    made = [tour.Decision.of(each) for each in decisions]
    chosen = tour.Settings.of({**scenario.settings.to_dict(), **settings})
    return _trace(scenario.name, chosen, tuple(made), limit)


@functools.lru_cache(maxsize=16)
def _trace(scenario: str, settings: tour.Settings, decisions: tuple[tour.Decision, ...], limit: int) -> Json:
    """Return a run as JSON. Callers must not change it: the next request for the same run gets the same object."""
    return tour.execute(lessons.SCENARIOS[scenario], settings, decisions, limit).to_dict()


_GET: Mapping[str, Route] = {"/api/tour": _tour, "/api/lesson": _lesson}
_POST: Mapping[str, Route] = {"/api/run": _run}
