"""The lessons: texts with a script for the tour.

    # Title
    scenario: queue

    What one should know before.

    ## Title of a step
    machine: {"fifo": "DeltaFIFO"}
    stop: queue duplicate default/apple
    ask: What the reader is asked before the tour goes there.

    What there is to see. <!-- queue["order"] == ["default/apple"] -->

A machine is one for this step and those that follow, up to the next machine: the run begins anew with it, and the step
stops at the first such hop of that. {} is the scenario's own. Other steps stop at the next hop of that station and kind
and, if they are given, of that key ("*" for any) and of a handler whose name ends so. A comment behind a paragraph
holds what must be true there for the paragraph to be true: Python, with `hop` and every station's view by its name.
Readers do not see it; a test evaluates it.

The lesson's Chinese words are in lessons/zh; a change here needs one there (see chinese.py).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sample

from clientgo import tour
from clientgo.tour.scenario import Scenario

SCENARIOS: Mapping[str, Scenario] = {**tour.SCENARIOS, sample.SCENARIO.name: sample.SCENARIO}
"""What there is to see, by name: the lessons' own controller, and the sample-controller."""

FOLDER = Path(__file__).resolve().parent / "lessons"

_CHECK = re.compile(r"\s*<!--(.*?)-->", re.DOTALL)


@dataclass(frozen=True)
class Paragraph:
    """A few sentences, and what must be so for them to be true; "" for what speaks of nothing one can look at here."""

    text: str
    check: str


@dataclass(frozen=True)
class Step:
    title: str
    machine: Mapping[str, Any]
    """What is other than in the scenario's settings."""
    station: str
    kind: str
    key: str
    handler: str
    ask: str
    paragraphs: tuple[Paragraph, ...]

    def is_at(self, hop: tour.Hop) -> bool:
        """Whether it stops there."""
        return (
            (self.station, self.kind) == (hop.station, hop.kind)
            and self.key in ("", hop.key)
            and str(hop.more.get("handler", "")).endswith(self.handler)
        )


@dataclass(frozen=True, eq=False)
class Lesson:
    name: str
    title: str
    scenario: str
    intro: tuple[Paragraph, ...]
    steps: tuple[Step, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON, for the page."""
        return {
            "name": self.name,
            "title": self.title,
            "scenario": self.scenario,
            "intro": [paragraph.text for paragraph in self.intro],
            "steps": [
                {
                    "title": step.title,
                    "machine": dict(step.machine),
                    "stop": {
                        "station": step.station,
                        "kind": step.kind,
                        "key": step.key,
                        "handler": step.handler,
                    },
                    "ask": step.ask,
                    "text": [paragraph.text for paragraph in step.paragraphs],
                }
                for step in self.steps
            ],
        }


@functools.cache
def all_() -> tuple[Lesson, ...]:
    """Every lesson, in the order of their files' names. Raises ValueError for one that cannot be read."""
    return tuple(read(path) for path in sorted(FOLDER.glob("*.md")))


def read(path: Path) -> Lesson:
    """A lesson from its file. Raises ValueError that names the file."""
    head, *rest = re.split(r"^## ", path.read_text(), flags=re.MULTILINE)
    title, _, intro = head.partition("\n")
    if not title.startswith("# "):
        raise ValueError(f"{path.name} does not begin with a title")
    fields, intro = _fields(intro)
    if fields.get("scenario") not in SCENARIOS:
        raise ValueError(f"{path.name} names no scenario")
    steps: list[Step] = []
    for text in rest:
        steps.append(_step(path.name, fields["scenario"], text, steps[-1].machine if steps else {}))
    return Lesson(path.stem, title.removeprefix("# ").strip(), fields["scenario"], _paragraphs(intro), tuple(steps))


def _step(file: str, scenario: str, text: str, machine: Mapping[str, Any]) -> Step:
    title, _, body = text.partition("\n")
    fields, body = _fields(body)
    station, kind, key, handler = (*fields.get("stop", "").split(), "", "", "", "")[:4]
    if kind not in tour.KINDS.get(station, {}):
        raise ValueError(f"{file}: the step {title!r} stops nowhere")
    key = "" if key == "*" else key
    try:
        machine = json.loads(fields.get("machine", "null")) or ({} if "machine" in fields else machine)
        tour.Settings.of({**SCENARIOS[scenario].settings.to_dict(), **machine})
    except (TypeError, ValueError) as err:
        raise ValueError(f"{file}: the step {title!r} has no machine: {err}") from None
    return Step(title.strip(), machine, station, kind, key, handler, fields.get("ask", ""), _paragraphs(body))


def _fields(text: str) -> tuple[dict[str, str], str]:
    """The lines `name: value` at the beginning, and the rest."""
    fields = {}
    lines = text.strip("\n").split("\n")
    while lines and (found := re.fullmatch(r"(scenario|machine|stop|ask): (.*)", lines[0])):
        fields[found[1]] = found[2].strip()
        lines.pop(0)
    return fields, "\n".join(lines)


def _paragraphs(text: str) -> tuple[Paragraph, ...]:
    found = []
    for block in re.split(r"\n\s*\n", text.strip()):
        check = _CHECK.search(block)
        words = " ".join(_CHECK.sub("", block).split())
        if words:
            found.append(Paragraph(words, " ".join(check[1].split()) if check else ""))
    return tuple(found)
