"""Shows a recording on the tour's page: runs of replay.py, from any moment, and what the program itself did then.

GET  /api/tour                       the recording, its sources, switches, kinds of hops
POST /api/run                        {"scenario", "settings", "decisions", "limit", "start"}: see Trace.to_dict
GET  /api/recorded?time=             the recorded hops up to a moment
"""

from __future__ import annotations

import math
from typing import Any

from clientgo.tour.hop import KINDS
from clientgo.tour.picture import Json
from clientgo.tour.recording import Recording, RecordingError
from clientgo.tour.replay import SWITCHES, replay, scenario_of
from clientgo.tour.settings import CHOICES, Settings
from clientgo.tour.stepping import MAX_HOPS, Decision
from clientgo.tour.viewschema import SCHEMA
from clientgo.tour.web import PageServer, Refused, Request

__all__ = ["ReplayPage"]


class ReplayPage(PageServer):
    """The page of a recording, which stays open; a context manager.

    Raises OSError when the port is taken, and RecordingError when nothing came to a reflector.
    """

    def __init__(self, recording: Recording, port: int = 0) -> None:
        recording.check_for_sources()
        self._recording = recording
        get = {"/api/tour": self._tour, "/api/recorded": self._recorded}
        super().__init__(port, get, {"/api/run": self._run})

    def _tour(self, request: Request, query: dict[str, str]) -> Json:
        sources = [source for _, source in sorted(self._recording.sources.items()) if source.entries]
        settings = Settings().to_dict()
        return {
            "replay": self._recording.to_dict(),
            "scenarios": [
                {"name": scenario.name, "title": scenario.title, "settings": settings}
                for scenario in map(scenario_of, sources)
            ],
            "choices": {name: list(words) for name, words in CHOICES.items()},
            "switches": list(SWITCHES),
            "faults": {},
            "views": SCHEMA,
            "kinds": {station: dict(kinds) for station, kinds in KINDS.items()},
            "lessons": [],
            "maxHops": MAX_HOPS,
        }

    def _recorded(self, request: Request, query: dict[str, str]) -> Json:
        return {"hops": self._recording.hops_until(_moment(query.get("time", "0")))}

    def _run(self, request: Request, query: dict[str, str]) -> Json:
        body = request.read_json()
        sources = {scenario_of(source).name: source for source in self._recording.sources.values() if source.entries}
        source = sources.get(str(body.get("scenario")))
        if source is None:
            raise Refused(404, "there is no such source")
        settings, decisions, limit = body.get("settings", {}), body.get("decisions", []), body.get("limit", 250)
        if not isinstance(settings, dict) or not isinstance(decisions, list) or type(limit) is not int:
            raise Refused(400, "settings is an object, decisions a list, limit a number")
        if len(decisions) > 100:
            raise Refused(400, "a run has at most 100 decisions: undo some")
        made = [Decision.of(each) for each in decisions]
        start = _moment(body.get("start", 0))
        try:
            return replay(self._recording, source, Settings.of(settings), made, limit, start=start).to_dict()
        except RecordingError as err:
            raise Refused(422, str(err)) from None


def _moment(given: Any) -> float:
    try:
        moment = float(given)
    except (TypeError, ValueError):
        raise Refused(400, "a moment is a number of seconds") from None
    if math.isnan(moment):
        raise Refused(400, "a moment is a number of seconds")
    return moment
