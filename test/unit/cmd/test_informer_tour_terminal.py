"""The terminal edition with the lessons: every lesson in both languages, all faults, menus, in eighty columns."""

from __future__ import annotations

import dataclasses
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import chinesetexts
import pytest
import samplecontroller  # noqa: F401  # makes the sample-controller's packages importable
from programs import ImportedProgram

from clientgo import tour
from clientgo.tour import boxes, terminal
from clientgo.tour.boxes import wrap
from clientgo.tour.lessontext import LETTERS
from clientgo.tour.words import Words


def kept(runs: terminal.Runs) -> terminal.Runs:
    """Return runs that are computed once and kept: most tests ask for the same, and a run is the same each time."""
    known: dict[str, tour.Trace] = {}

    def execute(scenario: Any, machine: Any, decisions: Any, limit: int) -> tour.Trace:
        key = repr((scenario.name, machine, decisions, limit))
        if key not in known:
            known[key] = runs.execute(scenario, machine, decisions, limit)
        return known[key]

    return dataclasses.replace(runs, execute=execute)


PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    lessons: Any = PROGRAM.module("lessons")
    pageserver: Any = PROGRAM.module("pageserver")
LESSONS = {lesson.scenario: pageserver.about_lesson(lesson) for lesson in lessons.all_()}
RUNS = kept(terminal.scripted(lessons.SCENARIOS, LESSONS))
ENTER, DOWN, BACKSPACE, ESCAPE = "\r", "\x1b[B", "\x7f", "\x1b"


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def shown(screen: terminal.Screen, width: int = 80, height: int = 24) -> str:
    """Return the screen, and check that it fits."""
    lines = screen.lines(width, height)
    assert len(lines) <= height and all(columns(line) <= width for line in lines)
    return "\n".join(lines)


def all_of(screen: terminal.Screen) -> str:
    """Return all lines of the lesson, which need more room than a small terminal has."""
    return shown(screen, 200, 120)


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("scenario", LESSONS)
def test_a_lesson_is_read_to_its_end_with_right_and_wrong_answers(scenario, language):
    screen = terminal.Screen(scenario, RUNS, language=language)
    lesson = terminal.lesson_in(language, LESSONS[scenario])
    assert f"{lesson['number']}. {lesson['title']}" in shown(screen)
    given = 0
    for number, step in enumerate(lesson["steps"]):
        screen.press(ENTER)
        if step["answers"]:
            assert screen.place.is_asked and f"{LETTERS[0]}) " in shown(screen)
            right = bool(given % 2)
            chosen = next(at for at, each in enumerate(step["answers"]) if each["right"] == right)
            screen.press(LETTERS[chosen])
            given += 1
            text = "".join(all_of(screen).split())
            words = screen.words("was-right" if right else "your-answer")
            assert words.replace(" ", "") in text
            why = step["answers"][chosen]["why"].replace("`", "").replace("**", "")
            assert "".join(why.split()).replace("│", "") in text.replace("│", "")
        assert screen.place.step == number
        assert f"{number + 1}/{len(lesson['steps'])} {step['title'].replace('`', '')}" in all_of(screen)
        shown(screen)
        for each in step["text"]:
            assert "".join(each.replace("`", "").replace("**", "").split()) in "".join(
                all_of(screen).replace("│", "").split()
            )
    assert given >= 2
    screen.press(ENTER)
    following = next((name for name, each in LESSONS.items() if each["number"] == lesson["number"] + 1), None)
    assert screen.scenario.name == (following or scenario)


# Identifiers of Go and Kubernetes, and terms that Chinese texts do not translate.
IDENTIFIERS = {
    *("API", "Server", "FIFO", "Indexer", "Reflector", "Worker", "Event", "Leader", "Lease", "Delta", "List", "Watch"),
    *(
        "Bookmark",
        "Go",
        "HasSynced",
        "True",
        "False",
        "lastSyncResourceVersion",
        "pendingNotifications",
        "dirty",
        "key",
    ),
    *("processing", "waitingForQueue"),
    # Names of errors, which stand in parentheses or behind a number.
    *("Conflict", "Gone", "InternalError", "connection", "refused", "reset"),
}
# Fields of a view that hold words of the tour itself, not of the program.
OURS = {"doing", "state", "wire", "error"}


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z]{2,}", text))


def values_in(view: Any, name: str = "") -> Iterator[str]:
    """Yield the texts of a view that come from the program: keys, names, its source, and the messages of Events."""
    if isinstance(view, dict):
        for each, value in view.items():
            if name in ("indices", "index", "failures", "workers", "candidates"):
                yield each
            yield from values_in(value, "index" if name == "indices" else each)
    elif isinstance(view, list):
        for value in view:
            yield from values_in(value, name)
    elif isinstance(view, str) and name not in OURS:
        yield view


def english_words(state: Any) -> set[str]:
    """Return the words in the boxes of the Chinese terminal that are neither the program's nor identifiers."""
    drawn = "\n".join(boxes.picture(state, 1200, 40, extras=("election", "events"), words=Words("zh")))
    return words_of(drawn) - words_of(" ".join(values_in(state))) - IDENTIFIERS


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("scenario", LESSONS)
def test_the_chinese_terminal_has_no_english_words_but_identifiers(scenario):
    screen = terminal.Screen(scenario, RUNS, language="zh")
    screen.press("\x1b[F")
    found: set[str] = set()
    seen: set[str] = set()
    for at in range(len(screen.trace.points)):
        state = screen.trace.state(at)
        if (text := repr(state)) in seen:
            continue
        seen.add(text)
        found |= english_words(state)
    assert len(seen) > 20 and found == set()


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("scenario", LESSONS)
def test_the_chinese_terminal_has_no_english_sentences(scenario):
    screen = terminal.Screen(scenario, RUNS, language="zh")
    found: list[str] = []
    for step in LESSONS[scenario]["steps"]:
        screen.press(ENTER)
        if step["answers"]:
            found += chinesetexts.english(all_of(screen))
            screen.press("a")
        found += chinesetexts.english(all_of(screen))
        screen.press("n")
        found += [each for line in screen.lines(400, 24)[:3] for each in chinesetexts.english(line)]
        screen.press("p")
    for key in ("?", "s", "x", "w", "c"):
        screen.press(key)
        found += chinesetexts.english(all_of(screen).replace("a b c d", "").replace("\n", " | "))
        screen.press(ESCAPE)
    # Lessons have identifiers and texts of programs in backquotes, which the terminal leaves out.
    quoted = " ".join(re.findall(r"`([^`]*)`", json.dumps(LESSONS[scenario]["zh"])))
    assert [each for each in found if each not in quoted] == []


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("scenario", ["queue", "list-and-watch", "handlers"])
def test_every_fault_is_shown_in_chinese(scenario):
    for fault in range(min(9, len(tour.FAULTS))):
        screen = terminal.Screen(scenario, RUNS, language="zh")
        for key in (*"nnnnnnnn", str(fault + 1), "\x1b[F"):
            screen.press(key)
        found: set[str] = set()
        for at in range(8, len(screen.trace.points), 3):
            found |= english_words(screen.trace.state(at))
            screen.at = at
            assert chinesetexts.english(" | ".join(screen.lines(400, 6)[:3])) == []
        assert found == set(), tour.FAULTS[screen.decisions[0].name]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_lesson_loses_no_letter_at_any_width(language):
    """Its lines are broken where the terminal ends, and not cut there."""
    screen = terminal.Screen("queue", RUNS, language=language)
    screen.press(ENTER)

    def text(width: int) -> str:
        return "".join(line for line in shown(screen, width, 200).splitlines() if line.startswith("│ "))

    def letters(width: int) -> str:
        return "".join(text(width).replace("│", "").split())

    widest = letters(200)
    assert len(widest) > 100
    for width in range(60, 100):
        assert letters(width) == widest


def test_the_keys_of_a_lesson_lead_back():
    screen = terminal.Screen("queue", RUNS)
    seen = []
    for _ in range(4):
        seen.append((screen.place.step, screen.at))
        screen.press(ENTER)
        if screen.place.is_asked:
            screen.press("a")
    for step, at in reversed(seen):
        screen.press(BACKSPACE)
        assert (screen.place.step, screen.at, screen.place.is_asked) == (step, at, False)
    screen.press(BACKSPACE)
    assert screen.place.step == -1


def test_a_lesson_with_other_settings_runs_with_them_and_back():
    screen = terminal.Screen("fifos", RUNS)
    steps = LESSONS["fifos"]["steps"]
    changing = next(at for at, step in enumerate(steps) if step["machine"])
    while screen.place.step < changing:
        screen.press(ENTER)
    assert screen.trace.settings.replace == "Replaced"
    screen.press(BACKSPACE)
    assert screen.trace.settings.replace == "Sync"


def test_a_figure_and_the_functions_in_gos_source_stand_below_a_paragraph():
    screen = terminal.Screen("queue", RUNS)
    screen.press(ENTER)
    text = all_of(screen)
    assert "[ queue.order: apple | queue.dirty: apple | queue.processing: – ]" in text
    assert "Go: util/workqueue/queue.go:" in text and "(*Typed).Add" in text


def test_a_long_text_scrolls():
    screen = terminal.Screen("list-and-watch", RUNS)
    first = shown(screen)
    assert "↓" in first
    for _ in range(200):
        screen.press(DOWN)
    last = shown(screen)
    assert "Enter: Begin" in last and "↑" in last and "Enter: Begin" not in first
    screen.press("\x1b[A")
    assert shown(screen) != last


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_fault_is_in_the_menu_and_happens_from_there(language):
    screen = terminal.Screen("handlers", RUNS, language=language)
    for number, fault in enumerate(tour.FAULTS):
        for _ in range(2):
            screen.press("n")
        screen.press("x")
        text = shown(screen)
        assert Words(language).fault(next(iter(tour.FAULTS)))[:20] in text
        for _ in range(number):
            screen.press(DOWN)
        shown(screen)
        screen.press(ENTER)
        assert [each.name for each in screen.decisions][-1:] == [fault] and screen.menu is None
        screen.press("u")
        assert screen.decisions == []


def test_decisions_that_lead_away_from_a_lesson_are_undone_with_a_message():
    screen = terminal.Screen("queue", RUNS)
    screen.press(ENTER)
    screen.press("x")
    kill = list(tour.FAULTS).index("kill")
    for key in (*[DOWN] * kill, ENTER):
        screen.press(key)
    before = screen.place
    screen.press(ENTER)
    screen.press(ENTER)
    if screen.place.step == before.step:
        assert screen.decisions == [] and screen.words("lost")[:30] in shown(screen)
        screen.press(ENTER)
    assert screen.place.step == before.step + 1


def test_a_key_is_asked_why_it_is_here_and_the_chain_leads_to_its_hops():
    screen = terminal.Screen("queue", RUNS)
    for _ in range(18):
        screen.press("n")
    screen.press("w")
    assert "▶ queue.processing  apple" in shown(screen)
    screen.press(ENTER)
    text = shown(screen)
    assert "hop 1  API server: an object was created  apple @23" in text and "▶ hop 17" in text
    screen.press("\x1b[A")
    screen.press(ENTER)
    assert screen.menu is None and screen.at == 11


def test_the_last_changes_are_listed_and_lead_to_their_hops():
    screen = terminal.Screen("queue", RUNS)
    screen.press("c")
    assert screen.words("never-changed") in shown(screen)
    screen.press(ESCAPE)
    for _ in range(18):
        screen.press("n")
    screen.press("c")
    lines = screen.lines(80, 40)
    assert any("queue.processing  hop 17" in line for line in lines)
    at = next(number for number, (text, _) in enumerate(screen.menu.items) if text.startswith("reflector.lists"))
    for key in (*[DOWN] * at, ENTER):
        screen.press(key)
    assert screen.at == 2


def test_help_names_every_key_in_both_languages_and_the_language_can_be_changed():
    screen = terminal.Screen("queue", RUNS)
    screen.press("?")
    assert "why is this key here?" in shown(screen)
    screen.press(ESCAPE)
    screen.press("z")
    assert "工作队列的三个集合" in shown(screen) and screen.words.language == "zh"
    screen.press("?")
    assert "上一次变化是什么时候" in shown(screen)
    assert len(terminal._KEYS_HELP["en"]) == len(terminal._KEYS_HELP["zh"])


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_TW"}, "zh"),
        ({}, "en"),
    ],
)
def test_the_language_is_the_environments(environment, language):
    assert terminal.language_of(environment) == language


def test_every_hop_and_fault_has_words_in_both_languages():
    for station, kinds in tour.KINDS.items():
        for kind in kinds:
            assert any("\u4e00" <= letter <= "\u9fff" for letter in Words("zh").kind(station, kind)), (station, kind)
            assert Words("en").kind(station, kind) == kinds[kind]
    assert Words("fr").language == "en" and Words("zh")("no such word") == "no such word"


@pytest.mark.parametrize(
    ("text", "filled"),
    [("", "...."), ("abc", "abc."), ("abcde", "abcd"), ("中a", "中a."), ("a中文", "a中."), ("e\u0301x", "e\u0301x..")],
)
def test_a_text_is_filled_or_cut_to_a_number_of_columns(text, filled):
    assert boxes.fill(text, 4, ".") == filled


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("工作队列里放的是 key。", 8, ["工作队列", "里放的是", "key。"]),
        ("中文，中文", 6, ["中文，", "中文"]),
        ("（中文）中文", 6, ["（中", "文）中", "文"]),
        ("", 5, [""]),
    ],
)
def test_lines_break_at_spaces_and_between_wide_characters(text, width, lines):
    assert wrap(text, width, indent="") == lines
