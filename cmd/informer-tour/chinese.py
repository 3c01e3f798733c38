"""The lessons' Chinese words: a file for each lesson in lessons/zh, of the same name.

    # Title

    An introduction.

    ## Title of a step
    ask: A question, where the English step asks one.
    right: An answer.
    wrong: Another answer.
    why: The reason why that answer is wrong.

    A paragraph.

Scenario, stops, settings, checks, places, figures and links are those of the English lesson: a step, question, answer
or paragraph stands at the place of its English counterpart.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lessons

__all__ = ["FOLDER", "read", "words_of"]

FOLDER = lessons.FOLDER / "zh"


@functools.cache
def words_of(lesson: lessons.Lesson) -> dict[str, Any]:
    """Return the lesson's Chinese words as JSON, or {} if it has none. Raises ValueError as `read` does."""
    path = FOLDER / f"{lesson.name}.md"
    return read(path, lesson) if path.exists() else {}


def read(path: Path, lesson: lessons.Lesson) -> dict[str, Any]:
    """Read the Chinese words of `lesson`.

    Raises ValueError, with the file's name, unless steps, questions, answers and paragraphs match the English ones.
    """
    file = f"zh/{path.name}"
    head, *rest = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    title, _, intro = head.partition("\n")
    if not title.startswith("# "):
        raise ValueError(f"{file} does not begin with a title")
    _compare_length(f"{file}: the introduction", "paragraphs", _paragraphs(intro), lesson.intro)
    _compare_length(file, "steps", rest, lesson.steps)
    return {
        "title": title.removeprefix("# ").strip(),
        "intro": _paragraphs(intro),
        "steps": [_step(file, text, english) for text, english in zip(rest, lesson.steps, strict=True)],
    }


def _step(file: str, text: str, english: lessons.Step) -> dict[str, Any]:
    """Read a step. Raises ValueError if it differs in structure from the English one."""
    title, _, body = text.partition("\n")
    title = title.strip()
    pairs, body = lessons.split_fields(body)
    fields = dict(pairs)
    where = f"{file}: the step {title!r}"
    if unknown := set(fields) - {"ask", "right", "wrong", "why"}:
        raise ValueError(f"{where} has a field that only English steps have: {min(unknown)}")
    if bool(fields.get("ask")) != bool(english.ask):
        raise ValueError(f"{where} must have a question if {english.title!r} has one")
    try:
        answers = lessons.answers_in(pairs)
    except ValueError as err:
        raise ValueError(f"{where} {err}") from None
    if [each.is_right for each in answers] != [each.is_right for each in english.answers]:
        raise ValueError(f"{where} must have right and wrong answers in the order of {english.title!r}")
    paragraphs = _paragraphs(body)
    _compare_length(where, "paragraphs", paragraphs, english.paragraphs)
    return {
        "title": title,
        "ask": fields.get("ask", ""),
        "answers": [{"text": each.text, "why": each.why} for each in answers],
        "text": paragraphs,
    }


def _paragraphs(text: str) -> list[str]:
    # A line break within a paragraph is no space between Chinese characters.
    return ["".join(block.split("\n")) for block in re.split(r"\n\s*\n", text.strip()) if block]


def _compare_length(where: str, what: str, chinese: Sequence[object], english: Sequence[object]) -> None:
    if len(chinese) != len(english):
        raise ValueError(f"{where} has {len(chinese)} {what}, not {len(english)} as in English")
