"""The keys of a tour in a terminal, on small runs that are known hop by hop: where each leads, and how far is run."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from clientgo import tour
from clientgo.tour import terminal
from clientgo.tour.hop import Code, Hop
from clientgo.tour.lessontext import Place
from clientgo.tour.stepping import Decision, Point, Trace
from clientgo.tour.terminal import Runs, Screen

RIGHT, LEFT, HOME, END, UP, DOWN = "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[A", "\x1b[B"
ENTER, BACKSPACE, ESCAPE = "\r", "\x7f", "\x1b"
CODE = Code("file.py", "f", "file.go", "Function", 1, (), "file.py:1")


def point(number: int, key: str = "", kind: str = "added", **about: Any) -> Point:
    hop = Hop(number=number, station="queue", kind=kind, key=key, time=0.5, thread="main", code=CODE, **about)
    return Point(hop, {}, (), ())


class Program:
    """Runs of `length` hops. An execution returns `limit` of them and keeps its arguments."""

    def __init__(self, length: int, keys: str = "", faults: Sequence[str] = (), lessons: Any = None) -> None:
        self.length = length
        self.keys = keys
        self.asked: list[Any] = []
        scenarios: Any = {name: SimpleNamespace(name=name, title=f"title of {name}") for name in ("one", "two")}
        self.runs = Runs(scenarios, self.execute, faults, lessons or {})

    def execute(self, scenario: Any, machine: Any, decisions: Sequence[Decision], limit: int) -> Trace:
        self.asked.append((scenario.name, dict(machine), [(each.at, each.name) for each in decisions], limit))
        count = min(limit, self.length)
        keys = self.keys or "a"
        points = [point(number, keys[number % len(keys)].strip()) for number in range(count)]
        settings: Any = None
        return Trace(scenario, settings, tuple(decisions), points, is_complete=limit >= self.length)

    def screen(self, scenario: str = "", **options: Any) -> Screen:
        return Screen(scenario, self.runs, **options)


def ats(screen: Screen, *keys: str) -> list[int]:
    """Return where the screen is after each key."""
    found = []
    for key in keys:
        assert screen.press(key)
        found.append(screen.at)
    return found


def test_keys_go_hop_by_hop_and_to_both_ends() -> None:
    screen = Program(4).screen()
    assert screen.at == -1 and screen.place == Place() and screen.menu is None and screen.message == ""
    assert ats(screen, LEFT, RIGHT, "n", " ", ENTER, RIGHT, LEFT, "p") == [-1, 0, 1, 2, 3, 3, 2, 1]
    for home, end in ((HOME, END), ("\x1b[1~", "\x1b[4~"), ("\x1bOH", "\x1bOF"), ("g", "G")):
        assert ats(screen, home, end) == [-1, 3]
    for key in ("q", "\x03", "\x04"):
        assert not screen.press(key)


def test_a_run_is_executed_as_far_as_a_key_needs() -> None:
    program = Program(700)
    screen = program.screen()
    assert [each[3] for each in program.asked] == [250]
    screen._go(249)
    assert len(program.asked) == 1 and screen.at == 249
    assert ats(screen, RIGHT) == [250] and [each[3] for each in program.asked] == [250, 500]
    screen._go(2000)
    assert screen.at == 699 and [each[3] for each in program.asked] == [250, 500, 1000]
    screen._go(-5)
    assert screen.at == -1
    other = Program(700)
    assert ats(other.screen(), END) == [699] and [each[3] for each in other.asked] == [250, 500, 1000]
    exact = Program(250)
    assert ats(exact.screen(), END, RIGHT) == [249, 249] and len(exact.asked) == 1


@pytest.mark.parametrize(
    ("keys", "begin", "ends"),
    [("ab", 0, [2, 4, 4]), ("abc", 2, [5, 5]), ("a ", 1, [2, 4]), ("a", -1, [0, 1, 2]), ("ab", -1, [0, 2, 4])],
)
def test_the_next_hop_of_an_object_is_found_or_the_place_stays(keys: str, begin: int, ends: list[int]) -> None:
    screen = Program(6, keys).screen()
    screen._go(begin)
    assert ats(screen, *"o" * len(ends)) == ends


# ---- what breaks


def test_a_digit_breaks_something_behind_a_hop_and_drops_later_decisions() -> None:
    program = Program(900, faults=("cut", "kill"))
    screen = program.screen()
    ats(screen, "1", "0")
    assert screen.decisions == [] and len(program.asked) == 1
    screen._go(10)
    ats(screen, "3")
    assert len(program.asked) == 1
    ats(screen, "1", RIGHT, "2")
    assert program.asked[1:] == [("one", {}, [(10, "cut")], 250), ("one", {}, [(10, "cut"), (11, "kill")], 250)]
    assert screen.lines(200, 40)[-2] == "⚡ hop 11: cut  ⚡ hop 12: kill"
    screen._go(11)
    ats(screen, "1")
    assert program.asked[-1][2] == [(10, "cut"), (11, "kill"), (11, "cut")]
    ats(screen, LEFT, "2")
    assert program.asked[-1][2] == [(10, "cut"), (10, "kill")]
    screen._go(300)
    ats(screen, "1")
    assert program.asked[-1][3] == 600
    screen._go(400)
    ats(screen, "u")
    assert program.asked[-1] == ("one", {}, [], 401) and screen.at == 400 and screen.decisions == []
    screen._go(100)
    ats(screen, "u")
    assert program.asked[-1][3] == 250
    screen._go(0)
    ats(screen, "1")
    assert program.asked[-1][2] == [(0, "cut")]


def test_the_menu_of_faults_breaks_the_chosen_one() -> None:
    program = Program(5, faults=("cut", "kill"))
    screen = program.screen()
    ats(screen, RIGHT, "x")
    assert screen.menu is not None and [text[:3] for text, _ in screen.menu.items] == ["1. ", "2. "]
    ats(screen, DOWN, ENTER)
    assert screen.menu is None and program.asked[-1][2] == [(0, "kill")]
    ats(screen, "x", "q")  # in a menu no key ends the tour
    ats(screen, ESCAPE)
    assert screen.menu is None


def test_a_shorter_run_ends_the_place() -> None:
    program = Program(20, faults=("cut",))
    screen = program.screen()
    screen._go(15)
    program.length = 12
    ats(screen, "1")
    assert screen.at == 11


# ---- lessons


def step(
    title: str, key: str = "a", ask: str = "", machine: Any = None, *, zh: bool = False, text: str = "a text"
) -> Any:
    answers = [{"text": "good", "right": True, "why": ""}, {"text": "bad", "right": False, "why": "since"}]
    words = {"title": title, "ask": ask, "text": [text], "answers": answers if ask else []}
    if zh:
        return words
    stop = {"station": "queue", "kind": "added", "key": key, "handler": ""}
    return {**words, "stop": stop, "machine": machine or {}, "figures": [[]], "sources": [[]]}


def lesson(number: int, *steps: Any) -> Any:
    return {"number": number, "title": f"lesson {number}", "minutes": 3, "intro": ["intro"], "steps": list(steps)}


def test_a_lesson_leads_from_stop_to_stop_and_back_and_on_to_the_next_one() -> None:
    first = lesson(1, step("s0", "b"), step("s1", "b", ask="which?"), step("s2", "c"))
    program = Program(9, "abc", lessons={"one": first, "two": lesson(2, step("t0", "a"))})
    screen = program.screen()
    assert ats(screen, BACKSPACE) == [-1] and screen.place.step == -1
    assert ats(screen, ENTER) == [1] and screen.place == Place(0)
    assert ats(screen, ENTER) == [1] and screen.place == Place(0, True)
    assert ats(screen, BACKSPACE) == [1] and screen.place == Place(0)
    assert ats(screen, ENTER, "b") == [1, 4] and screen.place == Place(1, False, 1)
    assert ats(screen, ENTER) == [5] and screen.place == Place(2)
    screen._scroll = 2
    assert ats(screen, BACKSPACE) == [4] and screen.place == Place(1) and screen._scroll == 0
    assert ats(screen, "\b", "\b", "\b") == [1, -1, -1] and screen.place == Place(-1)
    assert ats(screen, ENTER, ENTER, ENTER) == [1, 1, 4] and screen.place == Place(1, False, -1)
    screen._scroll = 2
    assert ats(screen, ENTER) == [5] and screen._scroll == 0
    assert ats(screen, ENTER) == [-1] and screen.scenario.name == "two" and screen.place == Place()
    assert screen.message == "", "only behind the last lesson all is done"
    assert ats(screen, ENTER, ENTER) == [0, 0]
    assert screen.message and screen.scenario.name == "two" and screen.lines(80, 24)[-2] == screen.message
    ats(screen, "y")
    assert screen.message == ""


def test_only_the_letters_of_an_open_question_answer() -> None:
    first = lesson(1, step("s0", "b", ask="which?"))
    screen = Program(3, "abc", lessons={"one": first}).screen()
    assert ats(screen, "a") == [-1] and not screen.place.is_asked
    assert ats(screen, ENTER, "c", "d") == [-1, -1, -1] and screen.place == Place(-1, True)
    ats(screen, "l")
    assert ats(screen, "a") == [-1] and screen.place.is_asked, "the lesson is hidden"
    assert ats(screen, ENTER) == [0] and ats(screen, "l", "a") == [0, 1]
    assert screen.place == Place(0, False, 0)


def test_a_stop_that_is_not_found_is_said_and_decisions_are_undone() -> None:
    first = lesson(1, step("s0", "a"), step("s1", "none"))
    program = Program(6, "ab", faults=("cut",), lessons={"one": first})
    screen = program.screen()
    ats(screen, ENTER)
    assert ats(screen, ENTER) == [0] and screen.place == Place(0)
    assert screen.message == screen.words("notfound")
    ats(screen, "1")
    assert ats(screen, ENTER) == [0] and screen.message == screen.words("lost") and screen.decisions == []


def test_a_step_with_another_machine_runs_from_the_beginning_with_it() -> None:
    first = lesson(1, step("s0", "b"), step("s1", "b", machine={"workers": 2}), step("s2", "b", machine={"workers": 2}))
    program = Program(9, "ab", faults=("cut",), lessons={"one": first})
    screen = program.screen()
    ats(screen, ENTER, "1")
    assert ats(screen, ENTER) == [1]
    assert program.asked[-1] == ("one", {"workers": 2}, [], 250) and screen.decisions == []
    count = len(program.asked)
    assert ats(screen, ENTER) == [3] and ats(screen, BACKSPACE) == [1] and len(program.asked) == count
    assert ats(screen, BACKSPACE) == [1] and program.asked[-1] == ("one", {}, [], 250) and screen.place == Place(0)
    ats(screen, BACKSPACE)
    assert len(program.asked) == count + 1
    begins = lesson(1, step("s0", "b", machine={"workers": 2}))
    program = Program(9, "ab", lessons={"one": begins})
    screen = program.screen()
    ats(screen, ENTER)
    assert program.asked[-1][1] == {"workers": 2}
    assert ats(screen, BACKSPACE) == [-1] and program.asked[-1][1] == {}


def test_a_long_lesson_scrolls_within_its_lines_and_can_be_hidden() -> None:
    text = " ".join(f"word-{number}" for number in range(60))
    screen = Program(3, lessons={"one": lesson(1, step("s0", text=text))}).screen()
    ats(screen, ENTER)

    def shown() -> list[str]:
        return [line for line in screen.lines(40, 24) if line.startswith("│")]

    def arrows() -> str:
        return next(line for line in screen.lines(40, 24) if line.startswith("─" * 36)).rpartition(" ")[2]

    first = shown()
    assert arrows() == "↓" and ats(screen, UP) and shown() == first
    ats(screen, DOWN)
    assert shown()[:-1] == first[1:] and arrows() == "↑↓"
    ats(screen, *[DOWN] * 40)
    last = shown()
    assert arrows() == "↑" and len(last) == len(first)
    ats(screen, UP)
    assert shown()[1:] == last[:-1]
    ats(screen, "z")
    assert screen._scroll == 0 and screen.words.language == "zh"
    ats(screen, "z", "l")
    assert shown() == [] and screen.words.language == "en"
    ats(screen, "l")
    assert shown() == first
    assert all(len(line) <= 40 for line in first) and any(len(line) > 32 for line in first)


# ---- what is shown


@pytest.mark.parametrize("is_complete", [True, False])
def test_the_head_names_the_place_and_the_hop(is_complete: bool) -> None:
    program = Program(3 if is_complete else 251)
    screen = program.screen()
    total = "3" if is_complete else "250+"
    assert screen.lines(200, 24)[0] == f"The informer tour: title of one  [0/{total}]"
    assert screen.lines(200, 24)[1] == screen.words("start-what")
    more = {"error": "OSError: gone", "delay": 1.5, "queued": 2.0, "list": [1]}
    screen.trace.points[0] = point(0, "default/apple", version="7", merged=("dirty", "x"), more=more)
    ats(screen, RIGHT)
    head = screen.lines(300, 24)[:3]
    words = screen.words
    assert head[0].endswith(f"[1/{total}]")
    assert head[1] == f"queue.added: {words.kind('queue', 'added')} {words('merged')} dirty, x"
    about = ", ".join([f"{words.about('error')}: OSError: gone", f"{words.about('delay')}: 1.5"])
    assert head[2] == f"default/apple @7  +0.500s  {words('thread')} main  Function  {about}"
    with_lesson = Program(3, lessons={"one": lesson(7, step("s0"))}).screen()
    assert with_lesson.lines(200, 24)[:2] == ["The informer tour: 7. lesson 7  [0/3]", with_lesson.words("start")]
    assert Program(0).screen().lines(200, 24)[1] == screen.words("no-hops")


def test_the_menu_of_scenarios_begins_at_the_present_one() -> None:
    program = Program(3, lessons={"two": lesson(4, step("s0"))})
    screen = program.screen("two")
    ats(screen, RIGHT, "s")
    assert screen.menu is not None and [text for text, _ in screen.menu.items] == ["title of one", "4. lesson 4"]
    ats(screen, UP, ENTER)
    assert screen.scenario.name == "one" and screen.at == -1 and screen.menu is None
    ats(screen, "s", ENTER)
    assert screen.scenario.name == "one"
    with pytest.raises(ValueError, match="no scenario 'three': one, two"):
        program.screen("three")


def test_the_last_changes_and_the_ways_of_keys_lead_to_their_hops() -> None:
    screen = Program(5).screen()
    views = [{"queue": {"order": list("abcde")[:number], "dirty": [], "processing": [], "waiting": [], "failures": {}}}
             for number in (1, 2, 2, 2, 3)]  # fmt: skip
    for number, (view, key) in enumerate(zip(views, "abbbc", strict=True)):
        changed: Any = view if number in (0, 1, 4) else {}
        hop = point(number, key, "added" if number in (0, 1, 4) else "done").hop
        screen.trace.points[number] = Point(hop, changed, (), ())
    ats(screen, "c")
    assert screen.menu is not None and not any("queue.order" in text for text, _ in screen.menu.items)
    ats(screen, ESCAPE)
    screen._go(3)
    ats(screen, "c")
    (chosen,) = [number for number, (text, _) in enumerate(screen.menu.items) if text.startswith("queue.order")]
    assert ats(screen, *[DOWN] * chosen, ENTER)[-1] == 1
    screen._go(3)
    ats(screen, "w")
    assert [text.split()[:2] for text, _ in screen.menu.items] == [["queue.order", "a"], ["queue.order", "b"]]
    assert screen.menu.chosen == 1, "the key of the shown hop"
    ats(screen, ENTER)
    assert screen.menu is not None and len(screen.menu.items) == 1
    assert ats(screen, ENTER) == [1]
    screen._go(0)
    ats(screen, "w")
    assert screen.menu.chosen == 0 and len(screen.menu.items) == 1
    ats(screen, ESCAPE, HOME, "w")
    assert [text for text, _ in screen.menu.items] == [screen.words("nothing")]


def test_stations_that_only_some_machines_have_are_shown_where_they_have_views() -> None:
    screen = Program(2).screen()
    assert "Election" not in "".join(screen.lines(130, 40))
    assert "▶ Work queue" not in "".join(screen.lines(130, 40)), "no hop has happened"
    view = {"candidates": {"one": {"leads": True, "leader": "one", "tries": 3}}, "holder": "one", "transitions": 0}
    screen.trace.points[1] = Point(point(1).hop, {"election": view}, (), ())
    assert "Election" in "".join(screen.lines(130, 40)), "before the hop too: the boxes stay where they are"
    ats(screen, RIGHT)
    assert "▶ Work queue" in "".join(screen.lines(130, 40))


def test_scripted_runs_have_the_machines_settings_only_if_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(terminal, "execute", lambda *args: asked.append(args))
    scenario: Any = SimpleNamespace(settings=tour.Settings(workers=3, resync=7.0))
    runs = terminal.scripted({"one": scenario})
    runs.execute(scenario, {}, [], 5)
    runs.execute(scenario, {"workers": 2}, [], 6)
    assert asked == [(scenario, None, [], 5), (scenario, tour.Settings(workers=2, resync=7.0), [], 6)]
    assert runs.faults == tuple(tour.FAULTS) and runs.lessons == {}


def test_the_menu_of_keys_begins_at_the_key_of_the_first_hop_too() -> None:
    screen = Program(2, "ab").screen()
    view: Any = {"queue": {"order": ["z", "a", "b"], "dirty": [], "processing": [], "waiting": [], "failures": {}}}
    for number, key in enumerate("ab"):
        screen.trace.points[number] = Point(point(number, key).hop, view, (), ())
    for at, chosen in ((0, 1), (1, 2)):
        screen._go(at)
        ats(screen, "w")
        assert screen.menu is not None and screen.menu.chosen == chosen
        ats(screen, ESCAPE)


def test_the_menus_of_help_and_of_faults_begin_at_their_first_item() -> None:
    screen = Program(2, faults=("cut", "gone")).screen()
    for key in ("?", "x", "c"):
        ats(screen, key)
        assert screen.menu is not None and screen.menu.chosen == 0
        ats(screen, ESCAPE)


@pytest.mark.parametrize("height", [5, 6, 7])
def test_a_low_terminal_has_the_head_and_the_line_of_keys(height: int) -> None:
    screen = Program(3).screen()
    ats(screen, RIGHT)
    lines = screen.lines(200, height)
    assert len(lines) == height and lines[0].endswith("[1/3]") and lines[-1] == terminal._HELP["en"]
