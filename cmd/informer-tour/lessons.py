"""The lessons: texts with a script for the tour.

    # Title
    scenario: queue

    An introduction.

    ## Title of a step
    machine: {"fifo": "DeltaFIFO"}
    stop: queue duplicate default/apple
    ask: A question before the tour goes there.
    right: An answer.
    wrong: Another answer.
    why: The reason why that answer is wrong.
    run: {"machine": {"fifo": "RealFIFO"}, "stop": "fifo queued", "check": "len(fifo.keys) == 2"}

    What there is to see. <!-- queue["order"] == ["default/apple"] --> <!-- figure: queue.order queue.dirty -->

The settings in `machine` hold for this step and those that follow, up to the next `machine`: the run begins again with
them, and the step stops at the run's first such hop. {} stands for the scenario's own settings. Other steps stop at the
next hop of that station and kind and, if they are given, of that key ("*" for any) and of a handler whose name ends so.

A question has two to four answers, exactly one of them right; each wrong one has its reason. If the answers have places
(`right@queue.dirty: ...`), the user may also click the place in the picture: a station, or a part of it (PLACES).

A wrong answer may have a run in which it is right, the answer's branch: `machine` has the settings that differ from the
step's, `fault` names a fault that happens where the question is asked. The run stops at the first hop like `stop`,
behind the fault, or at hop number `times` of these. `check` is what makes the answer right there; a test evaluates it.

Comments behind a paragraph are not shown as text:
    a check, in Python: what must be true at the hop for the paragraph to be true, with `hop` and every station's view
    by its name; a test evaluates it
    go: the functions in Go's source that support the paragraph, see claims.py
    figure: parts of stations, drawn next to the paragraph as they are at the hop

The lesson's Chinese words are in lessons/zh; a change here needs one there (see chinese.py).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import claims
import sample

from clientgo import tour
from clientgo.tour.figures import PARTS
from clientgo.tour.scenario import Scenario

SCENARIOS: Mapping[str, Scenario] = {**tour.SCENARIOS, sample.SCENARIO.name: sample.SCENARIO}
"""The scenarios by name: those of the lessons' own controller, and the sample-controller."""

FOLDER = Path(__file__).resolve().parent / "lessons"

PLACES = frozenset({*tour.STATIONS, *PARTS})
"""Places in the picture that an answer may name."""

_COMMENT = re.compile(r"\s*<!--(.*?)-->", re.DOTALL)
_ANSWER = re.compile(r"(right|wrong)(?:@(\S+))?")
_FIELD = re.compile(r"(scenario|machine|stop|ask|why|run|(?:right|wrong)(?:@\S+)?): (.*)")
# A reader's words per minute, and the seconds that a step takes beside its text.
_WORDS_PER_MINUTE = 160
_SECONDS_PER_STEP = 8


@dataclass(frozen=True)
class Paragraph:
    """A few sentences, with what supports and illustrates them."""

    text: str
    check: str
    """A condition that holds at the step's hop; "" for sentences about nothing there."""
    sources: tuple[claims.Claim, ...] = ()
    figure: tuple[str, ...] = ()
    """Parts of stations."""


@dataclass(frozen=True)
class Branch:
    """A run in which a wrong answer is right."""

    machine: Mapping[str, Any]
    """The settings that differ from the step's."""
    fault: str
    """A fault that happens where the question is asked; "" for none."""
    station: str
    kind: str
    key: str
    times: int
    """The number of the hop among those of its station, kind and key, from 1."""
    check: str
    """The condition that makes the answer right, at the hop."""

    def hop_in(self, points: Sequence[tour.Point], at: int) -> int:
        """Return the number of the branch's hop in its run, whose fault happened behind hop `at`; -1 for none."""
        found = [
            number
            for number, point in enumerate(points)
            if number > (at if self.fault else -1)
            and (point.hop.station, point.hop.kind) == (self.station, self.kind)
            and self.key in ("", point.hop.key)
        ]
        return found[self.times - 1] if len(found) >= self.times else -1

    def settings(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of the branch of a step with these settings, as they differ from the scenario's."""
        return {**step, **self.machine}

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, for the page."""
        stop = {"station": self.station, "kind": self.kind, "key": self.key, "handler": ""}
        return {"machine": dict(self.machine), "fault": self.fault, "stop": stop, "times": self.times}


@dataclass(frozen=True)
class Answer:
    """One of a question's answers."""

    text: str
    is_right: bool
    why: str
    """The reason why the answer is wrong; "" for the right answer."""
    place: str = ""
    branch: Branch | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, for the page."""
        branch = None if self.branch is None else self.branch.to_dict()
        return {"text": self.text, "right": self.is_right, "why": self.why, "place": self.place, "branch": branch}


@dataclass(frozen=True)
class Step:
    """A place in the run, a question before it and a text after it."""

    title: str
    machine: Mapping[str, Any]
    """The settings that differ from the scenario's."""
    station: str
    kind: str
    key: str
    handler: str
    ask: str
    answers: tuple[Answer, ...]
    paragraphs: tuple[Paragraph, ...]

    def is_at(self, hop: tour.Hop) -> bool:
        """Report whether the step stops at this hop."""
        return (
            (self.station, self.kind) == (hop.station, hop.kind)
            and self.key in ("", hop.key)
            and str(hop.more.get("handler", "")).endswith(self.handler)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "title": self.title,
            "machine": dict(self.machine),
            "stop": {"station": self.station, "kind": self.kind, "key": self.key, "handler": self.handler},
            "ask": self.ask,
            "answers": [each.to_dict() for each in self.answers],
            "text": [each.text for each in self.paragraphs],
            **_beside(self.paragraphs),
        }


@dataclass(frozen=True, eq=False)
class Lesson:
    """A lesson of one scenario."""

    name: str
    title: str
    scenario: str
    intro: tuple[Paragraph, ...]
    steps: tuple[Step, ...]
    number: int = 0
    """Its place among the lessons, from 1."""

    @property
    def minutes(self) -> int:
        """Minutes that the lesson takes, at least one."""
        texts = [each.text for each in self.intro]
        for step in self.steps:
            texts += [step.title, step.ask, *(answer.text for answer in step.answers)]
            texts += [each.text for each in step.paragraphs]
        words = sum(len(text.split()) for text in texts)
        return max(1, round(words / _WORDS_PER_MINUTE + len(self.steps) * _SECONDS_PER_STEP / 60))

    def about(self) -> dict[str, Any]:
        """Return what a list of lessons shows of it, as JSON."""
        return {
            "name": self.name,
            "number": self.number,
            "title": self.title,
            "scenario": self.scenario,
            "minutes": self.minutes,
            "steps": len(self.steps),
            "questions": sum(bool(step.answers) for step in self.steps),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, for the page."""
        intro = _beside(self.intro)
        return {
            **self.about(),
            "intro": [paragraph.text for paragraph in self.intro],
            "introSources": intro["sources"],
            "steps": [step.to_dict() for step in self.steps],
        }


def _beside(paragraphs: Sequence[Paragraph]) -> dict[str, Any]:
    """Return the sources and figures of paragraphs, a list with an entry for each."""
    return {
        "sources": [[each.to_dict() for each in paragraph.sources] for paragraph in paragraphs],
        "figures": [list(paragraph.figure) for paragraph in paragraphs],
    }


@functools.cache
def all_() -> tuple[Lesson, ...]:
    """Return every lesson, in the order of the files' names. Raises ValueError for one that cannot be read."""
    read_ones = map(read, sorted(FOLDER.glob("*.md")))
    return tuple(replace(lesson, number=number) for number, lesson in enumerate(read_ones, 1))


def read(path: Path) -> Lesson:
    """Read a lesson from its file. Raises ValueError that names the file."""
    head, *rest = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    title, _, intro = head.partition("\n")
    if not title.startswith("# "):
        raise ValueError(f"{path.name} does not begin with a title")
    fields, intro = split_fields(intro)
    scenario = dict(fields).get("scenario", "")
    if scenario not in SCENARIOS:
        raise ValueError(f"{path.name} names no scenario")
    steps: list[Step] = []
    for text in rest:
        steps.append(_step(path.name, scenario, text, steps[-1].machine if steps else {}, len(steps)))
    return Lesson(path.stem, title.removeprefix("# ").strip(), scenario, _paragraphs(path.name, intro), tuple(steps))


def _step(file: str, scenario: str, text: str, before: Mapping[str, Any], number: int) -> Step:
    """Read step `number` of a lesson; `before` is the machine of the step before it."""
    machine = before
    title, _, body = text.partition("\n")
    title = title.strip()
    pairs, body = split_fields(body)
    fields = dict(pairs)
    station, kind, key, handler = (*fields.get("stop", "").split(), "", "", "", "")[:4]
    if kind not in tour.KINDS.get(station, {}):
        raise ValueError(f"{file}: the step {title!r} stops nowhere")
    try:
        machine = json.loads(fields.get("machine", "null")) or ({} if "machine" in fields else machine)
        tour.Settings.of({**SCENARIOS[scenario].settings.to_dict(), **machine})
    except (TypeError, ValueError) as err:
        raise ValueError(f"{file}: the step {title!r} has no machine: {err}") from None
    try:
        answers = answers_in(pairs)
    except ValueError as err:
        raise ValueError(f"{file}: the step {title!r} {err}") from None
    if (number == 0 or machine != before) and any(each.branch and each.branch.fault for each in answers):
        raise ValueError(f"{file}: the step {title!r} has a run with a fault before its run's first stop")
    paragraphs = _paragraphs(file, body)
    ask = fields.get("ask", "")
    return Step(title, machine, station, kind, "" if key == "*" else key, handler, ask, answers, paragraphs)


def answers_in(fields: Sequence[tuple[str, str]]) -> tuple[Answer, ...]:
    """Return the answers of a step with these fields. Raises ValueError that says what they lack."""
    answers: list[Answer] = []
    for name, value in fields:
        if found := _ANSWER.fullmatch(name):
            answers.append(Answer(value, found[1] == "right", "", found[2] or ""))
        elif name == "why" and answers and not answers[-1].is_right:
            answers[-1] = replace(answers[-1], why=value)
        elif name == "why":
            raise ValueError("has a reason behind no wrong answer")
        elif name == "run" and answers and not answers[-1].is_right:
            answers[-1] = replace(answers[-1], branch=_branch(value))
        elif name == "run":
            raise ValueError("has a run behind no wrong answer")
    if not any(name == "ask" for name, _ in fields):
        if answers:
            raise ValueError("has answers without a question")
        return ()
    if not 2 <= len(answers) <= 4 or sum(each.is_right for each in answers) != 1:
        raise ValueError("needs two to four answers, exactly one of them right")
    if any(not each.is_right and not each.why for each in answers):
        raise ValueError("has a wrong answer without a reason")
    places = [each.place for each in answers if each.place]
    if len(set(places)) < len(places) or not set(places) <= PLACES:
        raise ValueError("has answers in unknown places, or two in one place")
    return tuple(answers)


def _branch(text: str) -> Branch:
    """Read an answer's branch. Raises ValueError that says what it lacks."""
    try:
        given = json.loads(text)
    except ValueError:
        raise ValueError("has a run that is no JSON") from None
    if unknown := set(given) - {"machine", "fault", "stop", "times", "check"}:
        raise ValueError(f"has a run with an unknown field: {min(unknown)}")
    station, kind, key = (*given.get("stop", "").split(), "", "", "")[:3]
    machine, fault = given.get("machine", {}), given.get("fault", "")
    if kind not in tour.KINDS.get(station, {}):
        raise ValueError("has a run that stops nowhere")
    if bool(machine) == bool(fault) or (fault and fault not in tour.FAULTS):
        raise ValueError("has a run that needs either a machine or a known fault")
    if not given.get("check"):
        raise ValueError("has a run without a check")
    tour.Settings.of(machine)
    return Branch(machine, fault, station, kind, key, given.get("times", 1), given["check"])


def split_fields(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the lines `name: value` at the beginning of a text, and the rest."""
    fields = []
    lines = text.strip("\n").split("\n")
    while lines and (found := _FIELD.fullmatch(lines[0])):
        fields.append((found[1], found[2].strip()))
        lines.pop(0)
    return fields, "\n".join(lines)


def _paragraphs(file: str, text: str) -> tuple[Paragraph, ...]:
    blocks = (block for block in re.split(r"\n\s*\n", text.strip()) if _COMMENT.sub("", block).strip())
    return tuple(_paragraph(file, block) for block in blocks)


def _paragraph(file: str, block: str) -> Paragraph:
    words = " ".join(_COMMENT.sub("", block).split())
    comments = [" ".join(found.split()) for found in _COMMENT.findall(block)]
    checks = [each for each in comments if not each.startswith(("go:", "figure:"))]
    figure = tuple(part for each in comments if each.startswith("figure:") for part in each[7:].split())
    if unknown := [part for part in figure if part not in PARTS]:
        raise ValueError(f"{file}: there is no part {unknown[0]!r} to draw")
    try:
        sources = tuple(claim for each in comments if each.startswith("go:") for claim in claims.read(each[3:]))
    except ValueError as err:
        raise ValueError(f"{file}: {err}") from None
    return Paragraph(words, checks[0] if checks else "", sources, figure)
