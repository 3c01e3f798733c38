"""The tour's Chinese words: as much of them as of the English ones, and written as Chinese texts are."""

from __future__ import annotations

import dataclasses
import json
import re
import urllib.request
from typing import Any
from urllib.parse import urljoin

import pytest
import samplecontroller  # noqa: F401  # makes the sample-controller's packages importable
from chinesetexts import HAN, problems
from patience import PATIENCE
from programs import ImportedProgram

from clientgo import tour
from clientgo.tour import web
from clientgo.tour.script import Step

PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    chinese: Any = PROGRAM.module("chinese")
    lessons: Any = PROGRAM.module("lessons")
    pageserver: Any = PROGRAM.module("pageserver")
LESSONS = lessons.all_()
PAGE = web.PAGE
BREAKING = [Step(1, "create", "bread", "some bread")]
CHANGES = [Step(3, "update", "bread", "dark bread"), Step(4, "update", "apple", "red"), Step(9, "delete", "bread")]


def texts_of(words: dict[str, Any]) -> list[str]:
    """Return all texts of a lesson."""
    answers = [text for step in words["steps"] for each in step["answers"] for text in (each["text"], each["why"])]
    steps = [text for step in words["steps"] for text in (step["title"], step["ask"], *step["text"])]
    steps = [text for text in (*steps, *answers) if text]
    return [words["title"], *words["intro"], *steps]


def page_words() -> dict[str, str]:
    """Return the page's Chinese words by name."""
    text = (PAGE / "words.js").read_text(encoding="utf-8")
    found = re.findall(
        r'([\w.-]+)"?: "((?:[^"\\]|\\.)*)"', text[text.index("  zh: {") : text.index("export const GLOSSARY")]
    )
    glossary = text[text.index("export const GLOSSARY") :]
    return dict(found) | dict(re.findall(r'\["([^"]*)", "[^"]*", "([^"]*)"\]', glossary))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_the_same_steps_questions_and_paragraphs_in_both_languages(lesson):
    words, english = chinese.words_of(lesson), lesson.to_dict()
    assert len(words["intro"]) == len(english["intro"])

    def shape(steps: list[dict[str, Any]]) -> list[tuple[bool, int, int, list[bool]]]:
        return [
            (
                bool(step["ask"]),
                len(step["text"]),
                len(step["answers"]),
                [bool(each["why"]) for each in step["answers"]],
            )
            for step in steps
        ]

    assert shape(words["steps"]) == shape(english["steps"])
    for text in texts_of(words):
        assert re.search(rf"[{HAN}]", text)


def test_every_lesson_is_there_in_both_languages():
    assert {path.stem for path in chinese.FOLDER.glob("*.md")} == {lesson.name for lesson in LESSONS}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_chinese_lesson_has_no_english_sentence_and_the_punctuation_of_chinese(lesson):
    assert [found for text in texts_of(chinese.words_of(lesson)) for found in problems(text)] == []


def test_the_pages_chinese_words_have_no_english_sentence_and_the_punctuation_of_chinese():
    assert len(page_words()) > 250
    assert [found for text in page_words().values() for found in problems(text)] == []


def described(constant: str) -> dict[str, str]:
    """Return the Chinese descriptions of functions.js by name."""
    text = (PAGE / "functions.js").read_text(encoding="utf-8")
    part = text[text.index(f"export const {constant} = {{") :]
    return dict(re.findall(r'^  "?([\w.]+)"?: "(.*)",$', part[: part.index("\n};")], re.MULTILINE))


def test_every_function_at_which_hops_happen_is_described_in_chinese_with_its_class():
    workers = {scenario.program.worker.function for scenario in lessons.SCENARIOS.values()}
    functions = {function for _, function in web.sources()} | workers
    assert set(described("FUNCTIONS")) == functions
    assert set(described("CLASSES")) == {function.rpartition(".")[0] for function in functions}
    texts = [*described("FUNCTIONS").values(), *described("CLASSES").values()]
    assert [found for text in texts for found in problems(text)] == []


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("scenario", lessons.SCENARIOS.values(), ids=lambda scenario: scenario.name)
def test_all_that_a_hop_says_has_a_chinese_name(scenario):
    fields = {name for point in tour.execute(scenario).points for name in point.hop.more}
    # These are not shown as text.
    names = fields - {"resource", "deleting", "notifications", "keys"}
    assert {name for name in names if f"more.{name}" not in page_words()} == set()


def errors_of(trace: tour.Trace) -> set[str]:
    """Return the errors of a run's hops."""
    return {point.hop.more["error"] for point in trace.points if point.hop.more.get("error")}


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("fault", tour.FAULTS)
def test_every_error_that_a_fault_leads_to_is_said_in_chinese(fault):
    text = (PAGE / "errors.js").read_text(encoding="utf-8")
    known = re.findall(r'^  \[/(.*)/, "(.*)"\],$', text, re.MULTILINE)
    assert known and [found for _, words in known for found in problems(words)] == []
    scenario = dataclasses.replace(tour.SCENARIOS["handlers"], steps=[*BREAKING, Step(2.5, fault), *CHANGES])
    trace = tour.execute(scenario, limit=1000)
    unknown = [error for error in errors_of(trace) if not any(re.search(pattern, error) for pattern, _ in known)]
    assert unknown == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("它不会再次 List。", False),
        ("先 list and watch，再处理 `the object has been modified`。", False),
        ("The worker looks once.", True),
        ("缓存里有 the newer state of it。", True),
        ("缓存,队列", True),
        ("缓存：队列 (dirty)", False),
        ("缓存(dirty)", True),
        ("完成.", True),
    ],
)
def test_english_sentences_and_punctuation_are_found(text, found):
    assert bool(problems(text)) == found


@pytest.mark.parametrize("literal", ["机器", "站点", "忘掉", "墙上时钟", "事件种类"])
def test_the_page_says_nothing_word_for_word_from_english(literal):
    everything = [
        *page_words().values(),
        *(text for lesson in LESSONS for text in texts_of(chinese.words_of(lesson))),
    ]
    assert [text for text in everything if literal in text] == []


@pytest.mark.parametrize(
    ("term", "gloss"),
    [
        ("协调", "调谐"),
        ("墓碑", "DeletedFinalStateUnknown|没有看到"),
        ("水平触发", "状态"),
        ("索引器", "索引的|缓存"),
        ("退避", "等待"),
    ],
)
def test_a_term_is_explained_where_a_lesson_uses_it_first(term, gloss):
    for lesson in LESSONS:
        words = chinese.words_of(lesson)
        # A title is too short for it.
        texts = [*words["intro"], *(text for step in words["steps"] for text in (step["ask"], *step["text"]))]
        first = next((text for text in texts if term in text), None)
        assert first is None or re.search(gloss, first), f"{lesson.name}: {first}"


SMALL = "# 标题\n\n引言。\n\n## 第一步\nask: 会怎样？\nright: 这样。\nwrong: 那样。\nwhy: 不是那样。\n\n答案。\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("引言。", "does not begin with a title"),
        (SMALL.replace("引言。", "引言。\n\n又一段。"), "the introduction has 2 paragraphs, not 1"),
        (SMALL + "\n## 第二步\n\n又一步。\n", "has 2 steps, not 1"),
        (SMALL.replace("ask: 会怎样？\n", ""), "must have a question if"),
        (SMALL.replace("why: 不是那样。\n", ""), "has a wrong answer without a reason"),
        (SMALL.replace("wrong: 那样。\nwhy: 不是那样。\n", ""), "needs two to four answers"),
        (SMALL.replace("right: 这样。\n", "").replace("\n\n答案", "\nright: 这样。\n\n答案"), "in the order of 'B'"),
        (SMALL.replace("right: ", "stop: queue added\nright: "), "a field that only English steps have: stop"),
        (SMALL + "\n又一段。\n", "has 2 paragraphs, not 1"),
    ],
)
def test_a_chinese_lesson_that_differs_from_the_english_one_is_refused(tmp_path, text, problem):
    english = tmp_path / "lesson.md"
    english.write_text(
        "# A\nscenario: queue\n\nIntroduction.\n\n## B\nstop: queue added\nask: C?\nright: D\nwrong: E\nwhy: F\n\nG.\n"
    )
    lesson = lessons.read(english)
    path = tmp_path / "chinese.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"zh/chinese\.md.*{problem}"):
        chinese.read(path, lesson)
    path.write_text(SMALL, encoding="utf-8")
    assert chinese.read(path, lesson)["steps"] == [
        {
            "title": "第一步",
            "ask": "会怎样？",
            "answers": [{"text": "这样。", "why": ""}, {"text": "那样。", "why": "不是那样。"}],
            "text": ["答案。"],
        }
    ]


def test_the_server_sends_a_lesson_in_both_languages():
    with pageserver.PageServer() as server:

        def get(path: str) -> Any:
            request = urllib.request.Request(
                urljoin(server.url, path), headers={"Authorization": f"Bearer {server.token}"}
            )
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                return json.load(response)

        answer, about = get(f"/api/lesson?name={LESSONS[0].name}"), get("/api/tour")
    assert answer["title"] == LESSONS[0].title and answer["zh"]["title"] == "List 与 Watch：先列举，再监听"
    titles = {each["name"]: each["zh"]["title"] for each in about["lessons"]}
    assert titles[LESSONS[0].name] == answer["zh"]["title"]
