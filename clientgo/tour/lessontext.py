"""A lesson in a terminal: where its reader is, and the lines of a step, a question, a verdict.

A lesson is JSON as the page gets it, with the Chinese words under "zh". There is no Go counterpart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clientgo.tour.boxes import wrap
from clientgo.tour.figures import figure
from clientgo.tour.words import Words

__all__ = ["LETTERS", "Place", "lesson_in", "lines_of", "stops_at"]

Json = Mapping[str, Any]

LETTERS = "abcd"


@dataclass(frozen=True)
class Place:
    """The reader's place in a lesson."""

    step: int = -1
    """-1 for the introduction."""
    is_asked: bool = False
    """True while the next step's question is open."""
    answered: int | None = None
    """The answer to this step's question: its index, -1 for a reader who asked for it, None without a question."""


def lesson_in(language: str, lesson: Json) -> Json:
    """Return the lesson with the words of a language, if it has them."""
    words = lesson.get(language)
    if not words:
        return lesson
    steps = []
    for step, other in zip(lesson["steps"], words["steps"], strict=True):
        answers = [{**each, **more} for each, more in zip(step["answers"], other["answers"], strict=True)]
        steps.append({**step, **other, "answers": answers})
    return {**lesson, **words, "steps": steps}


def stops_at(stop: Json, hop: Any) -> bool:
    """Report whether a step with this stop stops at the hop."""
    return (
        (stop["station"], stop["kind"]) == (hop.station, hop.kind)
        and stop["key"] in ("", hop.key)
        and str(hop.more.get("handler", "")).endswith(stop["handler"])
    )


def lines_of(lesson: Json, place: Place, state: Mapping[str, Any], words: Words, width: int) -> list[str]:
    """Return the visible text, in lines of at most `width` columns."""
    lesson = lesson_in(words.language, lesson)
    steps, colon = lesson["steps"], words("colon")
    texts: list[str] = []
    if place.is_asked:
        step = steps[place.step + 1]
        texts.append(f"? {step['ask']}")
        texts += [f"{letter}) {each['text']}" for letter, each in zip(LETTERS, step["answers"], strict=False)]
        texts.append(f"a–{LETTERS[len(step['answers']) - 1]} · Enter{colon}{words('show')}")
    elif place.step < 0:
        texts.append(
            f"{lesson['number']}. {lesson['title']} · {words('about-minutes')} {lesson['minutes']} {words('minutes')}"
        )
        texts += lesson["intro"]
        texts.append(f"Enter{colon}{words('begin')}")
    else:
        step = steps[place.step]
        texts.append(f"{place.step + 1}/{len(steps)} {step['title']}")
        texts += _verdict(step, place.answered, words)
        for text, parts, sources in zip(step["text"], step["figures"], step["sources"], strict=True):
            texts.append(text)
            shown = (f"{part}{colon}{', '.join(figure(state, part)) or '–'}" for part in parts)
            if parts:
                texts.append(f"[ {' | '.join(shown)} ]")
            texts += [f"Go{colon}{each['goFile']}:{each['line']} {each['goFunction']}" for each in sources]
        is_last = place.step == len(steps) - 1
        texts.append(words("finished") if is_last else f"Enter{colon}{words('next-step')}")
        if is_last:
            texts.append(f"Enter{colon}{words('next-lesson')}")
    return [line for text in texts for line in wrap(_plain(text), width, indent="")]


def _verdict(step: Json, answered: int | None, words: Words) -> list[str]:
    if answered is None or not step["answers"]:
        return []
    colon = words("colon")
    right = next(each for each in step["answers"] if each["right"])
    if answered >= 0 and step["answers"][answered]["right"]:
        return [f"{words('was-right')}{colon}{right['text']}"]
    lines = [f"{words('right-answer')}{colon}{right['text']}"]
    if answered >= 0:
        chosen = step["answers"][answered]
        lines = [f"{words('your-answer')}{colon}{chosen['text']}", chosen["why"], *lines]
    return lines


def _plain(text: str) -> str:
    return text.replace("**", "").replace("`", "")
