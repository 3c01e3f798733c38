"""The runs that the tour's static edition has: the lessons' own ones, their breaks, and those of wrong answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import samplecontroller  # noqa: F401  # makes the sample-controller's packages importable
from programs import ImportedProgram

PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    exporting: Any = PROGRAM.module("exporting")
    lessons: Any = PROGRAM.module("lessons")
BRANCHED = [lesson for lesson in lessons.all_() if any(a.branch for step in lesson.steps for a in step.answers)]


@pytest.mark.takes_turns(4)
@pytest.mark.parametrize("breaks", [True, False])
@pytest.mark.parametrize("lesson", BRANCHED, ids=lambda lesson: lesson.name)
def test_every_answers_run_is_exported_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lesson, breaks):
    written: dict[str, Any] = {}

    def run(pack: Any, lesson: Any, settings: Any, decisions: Any) -> Any:
        return {"settings": settings, "decisions": [each.to_dict() for each in decisions]}

    monkeypatch.setattr(exporting, "_run", run)
    monkeypatch.setattr(exporting, "write_data", lambda folder, name, value: written.setdefault(name, value))
    exporting.export_lesson(tmp_path, lesson.name, breaks=breaks)
    plain, broken = written[lesson.name]["runs"], written[f"{lesson.name}-breaks"]["runs"]
    for runs in (plain, broken):
        assert len({repr(each) for each in runs}) == len(runs)
    stops = [at for _, at in exporting._stops(lesson) if at is not None]
    for number, step in enumerate(lesson.steps):
        for branch in (answer.branch for answer in step.answers if answer.branch):
            settings = {**step.machine, **branch.machine}
            if not branch.fault:
                assert {"settings": settings, "decisions": []} in plain
                continue
            decision = {"at": stops[number - 1], "kind": "fault", "name": branch.fault}
            assert {"settings": settings, "decisions": [decision]} in broken
