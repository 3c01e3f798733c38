"""A lesson's lines in a terminal: the introduction, each step, its question and its verdict."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.tour.lessontext import Place, lesson_in, lines_of, stops_at


def words(language: str = "en") -> Any:
    """Return words that are their own keys."""

    class Words:
        def __init__(self) -> None:
            self.language = language

        def __call__(self, key: str) -> str:
            return ": " if key == "colon" else key

    return Words()


def answer(text: str, right: bool = False) -> dict[str, Any]:
    return {"text": text, "right": right, "why": f"why {text}"}


def step(title: str, *answers: dict[str, Any]) -> dict[str, Any]:
    source = {"goFile": "f.go", "line": 3, "goFunction": "F"}
    return {
        "title": title,
        "ask": f"ask {title}?",
        "answers": [*answers],
        "text": [f"**{title}** `one`", f"{title} two"],
        "figures": [["queue.order", "queue.dirty"], []],
        "sources": [[], [source]],
    }


LESSON: dict[str, Any] = {
    "number": 2,
    "title": "T",
    "minutes": 5,
    "intro": ["intro"],
    "steps": [step("S1", answer("no"), answer("yes", True), answer("never")), step("S2")],
}
STATE = {"queue": {"order": ["a", "b"], "dirty": [], "priorities": {}}}
FIRST = ["1/2 S1"]
TEXTS = ["S1 one", "[ queue.order: a, b | queue.dirty: – ]", "S1 two", "Go: f.go:3 F"]


@pytest.mark.parametrize(
    ("place", "lines"),
    [
        (Place(), ["2. T · about-minutes 5 minutes", "intro", "Enter: begin"]),
        (
            Place(-1, is_asked=True),
            ["? ask S1?", "a) no", "b) yes", "c) never", "a–c · Enter: show"],
        ),
        (Place(0), [*FIRST, *TEXTS, "Enter: next-step"]),
        (Place(0, answered=1), [*FIRST, "was-right: yes", *TEXTS, "Enter: next-step"]),
        (Place(0, answered=-1), [*FIRST, "right-answer: yes", *TEXTS, "Enter: next-step"]),
        *(
            (
                Place(0, answered=number),
                [*FIRST, f"your-answer: {text}", f"why {text}", "right-answer: yes", *TEXTS, "Enter: next-step"],
            )
            for number, text in ((0, "no"), (2, "never"))
        ),
        *(
            (
                Place(1, answered=answered),
                ["2/2 S2", *(each.replace("S1", "S2") for each in TEXTS), "finished", "Enter: next-lesson"],
            )
            for answered in (None, 0)
        ),
    ],
)
def test_each_place_of_a_lesson_has_its_lines(place: Place, lines: list[str]) -> None:
    shown = lines_of(LESSON, place, STATE, words(), 78)
    assert [line.strip() for line in shown] == lines


def test_lines_are_wrapped_to_the_width() -> None:
    long = {**LESSON, "intro": ["word " * 40]}
    lines = lines_of(long, Place(), STATE, words(), 30)
    assert max(map(len, lines)) <= 30 and " ".join(lines).count("word") == 40


def test_a_lesson_has_the_words_of_its_language_if_there_are_any() -> None:
    other = {
        "title": "Z",
        "steps": [{"title": "Z1", "answers": [{"text": "z"}] * 3}, {"title": "Z2", "answers": []}],
    }
    lesson = {**LESSON, "zh": other}
    assert lesson_in("en", lesson) is lesson and lesson_in("zh", LESSON) is LESSON
    shown = lesson_in("zh", lesson)
    assert (shown["title"], shown["minutes"]) == ("Z", 5)
    assert [each["title"] for each in shown["steps"]] == ["Z1", "Z2"]
    assert shown["steps"][0]["answers"][1] == {"text": "z", "right": True, "why": "why yes"}
    assert shown["steps"][0]["text"] == LESSON["steps"][0]["text"]
    assert lines_of(lesson, Place(), STATE, words("zh"), 78)[0].startswith("2. Z")
    few = [{**other["steps"][0], "answers": [{"text": "z"}] * 2}, other["steps"][1]]
    for wrong in (other["steps"][:1], few):
        with pytest.raises(ValueError, match="zip"):
            lesson_in("zh", {**LESSON, "zh": {"steps": wrong}})


STOP = {"station": "handlers", "kind": "called", "key": "a", "handler": "h"}


@pytest.mark.parametrize(
    ("stop", "stops"),
    [
        ({}, True),
        ({"key": ""}, True),
        ({"key": "b"}, False),
        ({"station": "queue"}, False),
        ({"kind": "taken"}, False),
        ({"handler": ""}, True),
        ({"handler": "x.h"}, True),
        ({"handler": "other"}, False),
    ],
)
def test_a_step_stops_at_the_hop_that_it_names(stop: dict[str, str], stops: bool) -> None:
    hop = SimpleNamespace(station="handlers", kind="called", key="a", more={"handler": "x.h"})
    assert stops_at({**STOP, **stop}, hop) is stops
    bare = SimpleNamespace(station="handlers", kind="called", key="a", more={})
    assert not stops_at(STOP, bare) and stops_at({**STOP, "handler": ""}, bare)


def test_a_reader_begins_at_the_introduction() -> None:
    assert Place() == Place(step=-1, is_asked=False, answered=None)
