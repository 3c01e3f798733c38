"""The tour in a terminal: a run hop by hop, forwards and backwards, with its lesson, by keys.

It uses ANSI sequences and the standard library, so it runs in every terminal. `Screen.lines` returns the screen as
text of a given size; `show` draws it and follows keys until `q`. Eighty columns and 24 lines are enough.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from clientgo.tour import past
from clientgo.tour.boxes import cut, fill, picture
from clientgo.tour.lessontext import LETTERS, Place, lesson_in, lines_of, stops_at
from clientgo.tour.menus import Item, Menu
from clientgo.tour.pastmenu import Place as KeyPlace
from clientgo.tour.pastmenu import chain_items, change_items, keys_in
from clientgo.tour.recording import Recording
from clientgo.tour.replay import replay, scenario_of
from clientgo.tour.scenario import SCENARIOS, Scenario
from clientgo.tour.script import FAULTS
from clientgo.tour.settings import Settings
from clientgo.tour.stepping import Decision, Trace, execute
from clientgo.tour.words import Words

__all__ = [
    "LESSONS",
    "MENU_FOOT",
    "Lines",
    "Runs",
    "Screen",
    "draw",
    "first_key",
    "full_screen",
    "is_terminal",
    "language_of",
    "recorded",
    "resizes",
    "scripted",
    "show",
]

Json = Mapping[str, Any]

# Stations that only some machines have.
_EXTRAS = ("election", "events")
_HELP = {
    "en": "→← hops  Enter lesson  x break  w why  c changes  z 中文  ? help  q quit",
    "zh": "→← 走一步  Enter 课程  x 故障  w 为什么  c 变化  z English  ? 帮助  q 退出",
}
_KEYS_HELP = {
    "en": (
        ("→ n", "next hop"),
        ("← p", "one hop back"),
        ("o", "next hop of this object"),
        ("Home End", "to the beginning, to the end"),
        ("Enter", "next step of the lesson; the next hop without a lesson"),
        ("a b c d", "answer the open question"),
        ("Backspace", "previous step of the lesson"),
        ("↑ ↓", "scroll the lesson"),
        ("l", "hide or show the lesson"),
        ("s", "choose a scenario"),
        ("x, 1-9", "break something behind this hop"),
        ("u", "undo all decisions"),
        ("w", "why is this key here?"),
        ("c", "when did this last change?"),
        ("z", "中文"),
        ("q", "quit"),
    ),
    "zh": (
        ("→ n", "下一步"),
        ("← p", "后退一步"),
        ("o", "该对象的下一步"),
        ("Home End", "到开头、到结尾"),
        ("Enter", "课程的下一步；没有课程时走一步"),
        ("a b c d", "回答问题"),
        ("Backspace", "课程的上一步"),
        ("↑ ↓", "滚动课程"),
        ("l", "隐藏或显示课程"),
        ("s", "选择场景"),
        ("x、1-9", "在这一步之后制造故障"),
        ("u", "撤销全部操作"),
        ("w", "这个 key 为什么在这里？"),
        ("c", "上一次变化是什么时候？"),
        ("z", "English"),
        ("q", "退出"),
    ),
}
MENU_FOOT = {"en": "↑ ↓ choose  Enter go  Esc close", "zh": "↑ ↓ 选择  Enter 确定  Esc 关闭"}
"""The last line of a menu, by language."""

_BOLD, _DIM, _MARK, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[7m", "\x1b[0m"


@dataclass(frozen=True)
class Runs:
    """The scenarios of a screen, and how they are run."""

    scenarios: Mapping[str, Scenario]
    execute: Callable[[Scenario, Json, Sequence[Decision], int], Trace]
    """Runs a scenario with settings that differ from its own."""
    faults: Sequence[str]
    """The faults that a user may cause."""
    lessons: Mapping[str, Json] = field(default_factory=dict)
    """By scenario, its lesson as JSON, see lessontext.py."""


def scripted(scenarios: Mapping[str, Scenario], lessons: Mapping[str, Json] | None = None) -> Runs:
    """Return the runs of scenarios, in which every fault may happen."""

    def run(scenario: Scenario, machine: Json, decisions: Sequence[Decision], limit: int) -> Trace:
        settings = Settings.of({**scenario.settings.to_dict(), **machine}) if machine else None
        return execute(scenario, settings, decisions, limit)

    return Runs(scenarios, run, tuple(FAULTS), lessons or {})


LESSONS = scripted(SCENARIOS)
"""The runs of the lessons' scenarios."""


def recorded(recording: Recording) -> Runs:
    """Return the sources of a recording. Raises RecordingError when it has none."""
    recording.check_for_sources()
    sources = {scenario_of(source).name: source for source in recording.sources.values() if source.entries}

    def run(scenario: Scenario, machine: Json, decisions: Sequence[Decision], limit: int) -> Trace:
        return replay(recording, sources[scenario.name], None, decisions, limit)

    return Runs({name: scenario_of(source) for name, source in sources.items()}, run, ())


def language_of(environment: Mapping[str, str]) -> str:
    """Return the language of a user with this environment: "zh" for a Chinese locale, else "en"."""
    locale = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    return "zh" if locale.lower().startswith("zh") else "en"


class Screen:
    """A run, the hop that is shown and the reader's place in the lesson. Not thread-safe."""

    def __init__(self, scenario: str = "", runs: Runs = LESSONS, *, language: str = "en") -> None:
        """Open a scenario, the first one by default. Raises ValueError for an unknown scenario."""
        self._runs = runs
        name = scenario or next(iter(runs.scenarios))
        if name not in runs.scenarios:
            raise ValueError(f"there is no scenario {name!r}: {', '.join(runs.scenarios)}")
        self.words = Words(language)
        self.menu: Menu | None = None
        self._shows_lesson = True
        self._open(name)

    def _open(self, name: str) -> None:
        self.scenario = self._runs.scenarios[name]
        self.lesson = self._runs.lessons.get(name)
        self.place = Place()
        self._stops: dict[int, int] = {}
        self._scroll = 0
        self._machine: Json = {}
        self.decisions: list[Decision] = []
        self.message = ""
        self.at = -1
        self._run(250)

    def _run(self, limit: int) -> None:
        self.trace = self._runs.execute(self.scenario, self._machine, self.decisions, limit)
        self.at = min(self.at, len(self.trace.points) - 1)

    def _reach(self, number: int) -> bool:
        if number >= len(self.trace.points) and not self.trace.is_complete:
            self._run(2 * len(self.trace.points))
        return number < len(self.trace.points)

    # ---- keys

    def press(self, key: str) -> bool:
        """Follow a key and report whether the screen stays open. Unknown keys do nothing."""
        if key in ("\x03", "\x04"):
            return False
        self.message = ""
        if self.menu is not None:
            menu, self.menu = self.menu, None
            if menu.press(key):
                self.menu = menu
            return True
        if key == "q":
            return False
        answers = self._open_answers()
        if key in LETTERS[: len(answers)]:
            self._lesson_next(LETTERS.index(key))
        elif key.isascii() and key.isdigit() and key != "0":
            self._break(int(key) - 1)
        elif (act := self._KEYS.get(key)) is not None:
            act(self)
        return True

    def _go(self, number: int) -> None:
        while number >= len(self.trace.points) and self._reach(number):
            pass
        self.at = max(-1, min(number, len(self.trace.points) - 1))

    def _next(self) -> None:
        if self._reach(self.at + 1):
            self.at += 1

    def _back(self) -> None:
        self.at = max(-1, self.at - 1)

    def _home(self) -> None:
        self.at = -1

    def _end(self) -> None:
        while self._reach(len(self.trace.points)):
            pass
        self.at = len(self.trace.points) - 1

    def _same(self) -> None:
        key = self.trace.points[self.at].hop.key if self.at >= 0 else ""
        number = self.at + 1
        while self._reach(number):
            if not key or self.trace.points[number].hop.key == key:
                self.at = number
                return
            number += 1

    def _break(self, number: int) -> None:
        if self.at < 0 or number >= len(self._runs.faults):
            return
        before = [each for each in self.decisions if each.at <= self.at]
        self.decisions = [*before, Decision(self.at, "fault", self._runs.faults[number])]
        self._run(max(250, 2 * self.at))

    def _undo(self) -> None:
        self.decisions = []
        self._run(max(250, self.at + 1))

    def _other_language(self) -> None:
        self.words = Words("en" if self.words.language == "zh" else "zh")
        self._scroll = 0

    # ---- the lesson

    def _open_answers(self) -> Sequence[Json]:
        if self.lesson is None or not self._shows_lesson or not self.place.is_asked:
            return ()
        answers: Sequence[Json] = self.lesson["steps"][self.place.step + 1]["answers"]
        return answers

    def _enter(self) -> None:
        if self.lesson is None or not self._shows_lesson:
            self._next()
        else:
            self._lesson_next(-1)

    def _lesson_next(self, answered: int) -> None:
        """Go to the lesson's next step; first ask its question. Behind the last step, open the next lesson."""
        assert self.lesson is not None  # both callers have checked it
        self._scroll = 0
        number, steps = self.place.step + 1, self.lesson["steps"]
        if number == len(steps):
            self._open_lesson(self.lesson["number"] + 1)
            return
        step = steps[number]
        if step["ask"] and not self.place.is_asked:
            self.place = Place(self.place.step, True)
            return
        after = -1 if self._turn_to_machine(number) else self._stops.get(number - 1, -1)
        found = self._find_stop(step["stop"], after)
        if found < 0:
            self.message = self.words("lost" if self.decisions else "notfound")
            if self.decisions:
                self._undo()
            return
        self._stops[number] = self.at = found
        self.place = Place(number, False, answered if self.place.is_asked else None)

    def _find_stop(self, stop: Json, after: int) -> int:
        number = after + 1
        while self._reach(number):
            if stops_at(stop, self.trace.points[number].hop):
                return number
            number += 1
        return -1

    def _turn_to_machine(self, number: int) -> bool:
        """Run with the settings that a step needs, and report whether they are others than before."""
        assert self.lesson is not None
        wanted = self.lesson["steps"][number]["machine"] if number >= 0 else {}
        if wanted == self._machine:
            return False
        self._machine, self.decisions, self.at = wanted, [], -1
        self._run(250)
        return True

    def _lesson_back(self) -> None:
        if self.lesson is None or self.place.step < 0:
            return
        self._scroll = 0
        step = self.place.step if self.place.is_asked else self.place.step - 1
        self.place = Place(step)
        self._turn_to_machine(step)
        self._go(self._stops.get(step, -1))

    def _open_lesson(self, number: int) -> None:
        for name, lesson in self._runs.lessons.items():
            if lesson["number"] == number:
                self._open(name)
                return
        self.message = self.words("all-done")

    def _scroll_up(self) -> None:
        self._scroll = max(0, self._scroll - 1)

    def _scroll_down(self) -> None:
        self._scroll += 1

    def _hide_lesson(self) -> None:
        self._shows_lesson = not self._shows_lesson

    # ---- menus

    def _open_menu(self, title: str, items: Sequence[Item], chosen: int = 0) -> None:
        self.menu = Menu(title, items, MENU_FOOT[self.words.language], chosen=chosen)

    def _title_of(self, name: str) -> str:
        lesson = self._runs.lessons.get(name)
        if lesson is None:
            return self._runs.scenarios[name].title
        return f"{lesson['number']}. {lesson_in(self.words.language, lesson)['title']}"

    def _choose_scenario(self) -> None:
        names = list(self._runs.scenarios)
        items: list[Item] = [(self._title_of(name), lambda name=name: self._open(name)) for name in names]  # type: ignore[misc]
        self._open_menu(self.words("scenario"), items, names.index(self.scenario.name))

    def _choose_fault(self) -> None:
        items: list[Item] = [
            (f"{number + 1}. {self.words.fault(name)}", lambda number=number: self._break(number))  # type: ignore[misc]
            for number, name in enumerate(self._runs.faults)
        ]
        self._open_menu(self.words("break"), items)

    def _help(self) -> None:
        items: list[Item] = [(f"{fill(keys, 10)}{about}", None) for keys, about in _KEYS_HELP[self.words.language]]
        self._open_menu(self.words("help-keys"), items)

    def _hops(self) -> list[Json]:
        return [point.hop.to_dict() for point in self.trace.points]

    def _why(self) -> None:
        """Let the user choose a key and a place; then show the hops that brought it there."""
        locations = list(dict.fromkeys(keys_in(self.trace.state(self.at))))
        items: list[Item] = [
            (f"{place}  {key.removeprefix('default/')}{'  ' + handler if handler else ''}", self._chain_of(each))
            for each in locations
            for place, key, handler, *_ in [each]
        ]
        here = self.trace.points[self.at].hop.key if self.at >= 0 else ""
        chosen = next((number for number, each in enumerate(locations) if each[1] == here), 0)
        self._open_menu(self.words("why-here-none"), items or [(self.words("nothing"), None)], chosen)

    def _chain_of(self, asked: KeyPlace) -> Callable[[], None]:
        place, key, handler, version, queued = asked

        def show() -> None:
            hops = self._hops()
            links = past.chain(hops, self.at, place, key, handler=handler, version=version, queued=queued)
            title = f"{self.words('why-here')}{self.words('colon')}{key.removeprefix('default/')} · {place}"
            self._open_menu(title, chain_items(self.words, hops, links, self._go), len(links) - 1)

        return show

    def _changes(self) -> None:
        states: list[Json] = []
        for point in self.trace.points[: self.at + 1]:
            states.append({**(states[-1] if states else {}), **point.changed})
        changes: dict[str, int] = {}
        for part, _ in past.fields(states[-1]) if states else ():
            if (change := past.last_change(states, self.at, part)) is not None:
                changes[part] = change.at
        self._open_menu(self.words("last-changed"), change_items(self.words, self._hops(), changes, self._go))

    _KEYS: ClassVar[Mapping[str, Callable[[Screen], None]]] = {
        **dict.fromkeys(("n", "\x1b[C", " "), _next),
        **dict.fromkeys(("p", "\x1b[D"), _back),
        **dict.fromkeys(("\x1b[H", "\x1b[1~", "\x1bOH", "g"), _home),
        **dict.fromkeys(("\x1b[F", "\x1b[4~", "\x1bOF", "G"), _end),
        **dict.fromkeys(("\r", "\n"), _enter),
        **dict.fromkeys(("\x7f", "\b"), _lesson_back),
        **dict.fromkeys(("\x1b[A", "\x1bOA"), _scroll_up),
        **dict.fromkeys(("\x1b[B", "\x1bOB"), _scroll_down),
        "l": _hide_lesson,
        "o": _same,
        "s": _choose_scenario,
        "x": _choose_fault,
        "u": _undo,
        "w": _why,
        "c": _changes,
        "z": _other_language,
        "?": _help,
    }

    # ---- output

    def lines(self, width: int, height: int) -> list[str]:
        """Return the screen: at most `height` lines of at most `width` columns, without colours."""
        if self.menu is not None:
            return [cut(line, width) for line in self.menu.lines(width, height)]
        state = self.trace.state(self.at)
        head, foot = self._head(), [self._foot(), _HELP[self.words.language]]
        room = max(0, height - len(head) - len(foot))
        lesson = self._lesson_lines(state, width, room // 2)
        room -= len(lesson)
        here = self.trace.points[self.at].hop.station if self.at >= 0 else ""
        extras = [name for name in _EXTRAS if any(point.changed.get(name) for point in self.trace.points)]
        body = picture(state, width, room, here, extras, self.words)
        body += [""] * (room - len(body))
        return [cut(line, width) for line in [*head, *body, *lesson, *foot]][:height]

    def _head(self) -> list[str]:
        words, colon = self.words, self.words("colon")
        total = f"{self.at + 1}/{len(self.trace.points)}{'' if self.trace.is_complete else '+'}"
        title = f"{words('title')}{colon}{self._title_of(self.scenario.name)}  [{total}]"
        if self.trace.is_complete and not self.trace.points:
            return [title, words("no-hops"), ""]
        if self.at < 0:
            return [title, words("start-what") if not self.lesson else words("start"), ""]
        hop = self.trace.points[self.at].hop
        more = ", ".join(
            f"{words.about(name)}{colon}{words.error(value) if isinstance(value, str) else value}"
            for name, value in hop.more.items()
            if isinstance(value, str | float) and name != "queued"
        )
        merged = f" {words('merged')} {', '.join(hop.merged)}" if hop.merged else ""
        version = f" @{hop.version}" if hop.version else ""
        return [
            title,
            f"{hop.station}.{hop.kind}{colon}{words.kind(hop.station, hop.kind)}{merged}",
            f"{hop.key}{version}  +{hop.time:.3f}s  {words('thread')} {hop.thread}  {hop.code.go_function}  {more}",
        ]

    def _foot(self) -> str:
        if self.message:
            return self.message
        return "  ".join(f"⚡ {self.words('hop')} {each.at + 1}: {each.name}" for each in self.decisions)

    def _lesson_lines(self, state: Mapping[str, Any], width: int, most: int) -> list[str]:
        if self.lesson is None or not self._shows_lesson or most < 3:
            return []
        lines = lines_of(self.lesson, self.place, state, self.words, width - 2)
        self._scroll = max(0, min(self._scroll, len(lines) - most + 1))
        shown = lines[self._scroll : self._scroll + most - 1]
        rest = len(lines) - self._scroll - len(shown)
        arrows = f"{'↑' if self._scroll else ''}{'↓' if rest else ''}"
        return ["─" * max(0, width - 4) + f" {arrows}", *(f"│ {line}" for line in shown)]


# ---- the terminal


def show(scenario: str = "", runs: Runs = LESSONS) -> int:
    """Draw and follow keys until `q` or Ctrl-C, and return an exit code. Blocks. Call it in the main thread."""
    if not is_terminal():
        return 1
    screen = Screen(scenario, runs, language=language_of(os.environ))
    with full_screen(), resizes() as resized:
        draw(screen)
        for key in _keys(resized):
            if key and not screen.press(key):
                break
            draw(screen)
    return 0


def is_terminal() -> bool:
    """Report whether input and output are a terminal; if not, print an error."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return True
    sys.stderr.write("--terminal needs a terminal for input and output\n")
    return False


class Lines(Protocol):
    """A screen that can be drawn."""

    def lines(self, width: int, height: int) -> list[str]:
        """Return at most `height` lines of at most `width` columns, without colours."""
        ...


def draw(screen: Lines) -> None:
    """Draw the whole screen again."""
    size = os.get_terminal_size(sys.stdout.fileno())
    lines = screen.lines(size.columns, size.lines)
    shown = [f"{_BOLD}{lines[0]}{_PLAIN}", *lines[1:]] if lines else []
    marked = [line.replace("▶", f"{_MARK}▶{_PLAIN}") for line in shown]
    sys.stdout.write("\x1b[H" + "\x1b[K\r\n".join(marked) + "\x1b[K\x1b[J")
    sys.stdout.flush()


def _keys(resized: int) -> Iterator[str]:
    """Yield each key as it is pressed, and "" when the terminal's size has changed."""
    source = sys.stdin.fileno()
    left = ""
    while True:
        ready, _, _ = select.select([source, resized], [], [])
        if resized in ready:
            os.read(resized, 1024)
            yield ""
        if source in ready:
            data = os.read(source, 1024)
            if not data:
                return
            left += data.decode(errors="replace")
            while left:
                key, left = first_key(left)
                yield key


def first_key(text: str) -> tuple[str, str]:
    """Return the first key of a text, and the rest of the text."""
    if text[:2] not in ("\x1b[", "\x1bO"):
        return text[0], text[1:]
    end = next((at for at in range(2, len(text)) if text[at].isalpha() or text[at] == "~"), len(text) - 1)
    return text[: end + 1], text[end + 1 :]


@contextmanager
def full_screen() -> Iterator[None]:
    """Read the terminal key by key and draw on a second screen; restore both at the end."""
    source = sys.stdin.fileno()
    before = termios.tcgetattr(source)
    tty.setraw(source)
    sys.stdout.write("\x1b[?1049h\x1b[?25l\x1b[2J")
    try:
        yield
    finally:
        sys.stdout.write("\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(source, termios.TCSADRAIN, before)


@contextmanager
def resizes() -> Iterator[int]:
    """Yield a file that can be read when the terminal's size has changed."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def report(number: int, frame: object) -> None:
        with contextlib.suppress(BlockingIOError):  # full: the reader will look anyway
            os.write(writing, b".")

    before = signal.signal(signal.SIGWINCH, report)
    try:
        yield reading
    finally:
        signal.signal(signal.SIGWINCH, before)
        os.close(reading)
        os.close(writing)
