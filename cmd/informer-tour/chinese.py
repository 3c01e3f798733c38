"""The lessons' Chinese words: a file for each lesson in lessons/zh, of the same name.

    # Title

    An introduction.

    ## Title of a step
    ask: A question, where the English step asks one.

    A paragraph.

Scenario, stops, machines and checks are those of the English lesson: a step, question or paragraph stands at the place
of its English counterpart, and the check of that one holds for both.
"""

from __future__ import annotations

import functools
import re
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

    Raises ValueError, with the file's name, unless steps, questions and paragraphs match the English ones.
    """
    head, *rest = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    title, _, intro = head.partition("\n")
    if not title.startswith("# "):
        raise ValueError(f"zh/{path.name} does not begin with a title")
    words = {
        "title": title.removeprefix("# ").strip(),
        "intro": _paragraphs(intro),
        "steps": [_step(text) for text in rest],
    }
    _compare(f"zh/{path.name}", words, lesson)
    return words


def _step(text: str) -> dict[str, Any]:
    title, _, body = text.partition("\n")
    question = re.match(r"ask: (.*)\n", body)
    return {
        "title": title.strip(),
        "ask": question[1].strip() if question else "",
        "text": _paragraphs(body[question.end() :] if question else body),
    }


def _paragraphs(text: str) -> list[str]:
    # A line break within a paragraph is no space between Chinese characters.
    return ["".join(block.split("\n")) for block in re.split(r"\n\s*\n", text.strip()) if block]


def _compare(file: str, words: dict[str, Any], lesson: lessons.Lesson) -> None:
    """Raise ValueError at the first place where the two languages differ in structure."""
    if len(words["intro"]) != len(lesson.intro):
        raise ValueError(f"{file}: the introduction has {len(words['intro'])} paragraphs, not {len(lesson.intro)}")
    if len(words["steps"]) != len(lesson.steps):
        raise ValueError(f"{file} has {len(words['steps'])} steps, not {len(lesson.steps)}")
    for chinese, english in zip(words["steps"], lesson.steps, strict=True):
        if bool(chinese["ask"]) != bool(english.ask):
            raise ValueError(f"{file}: the step {chinese['title']!r} must have a question if {english.title!r} has one")
        if len(chinese["text"]) != len(english.paragraphs):
            raise ValueError(
                f"{file}: the step {chinese['title']!r} has {len(chinese['text'])} paragraphs, "
                f"but {english.title!r} has {len(english.paragraphs)}"
            )
