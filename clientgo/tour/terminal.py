"""The tour's picture in a terminal: a run, hop by hop, forwards and backwards, by keys.

Plain ANSI sequences and the standard library: no terminal lacks what it needs. `Screen.lines` is what is shown, as text
of a given size; `show` draws it and follows keys until `q`.
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
from dataclasses import dataclass
from typing import ClassVar, Protocol

from clientgo.tour.boxes import cut, picture
from clientgo.tour.hop import KINDS
from clientgo.tour.recording import Recording
from clientgo.tour.replay import replay, scenario_of
from clientgo.tour.scenario import SCENARIOS, Scenario
from clientgo.tour.script import FAULTS
from clientgo.tour.stepping import Decision, Trace, execute

__all__ = [
    "LESSONS",
    "Lines",
    "Runs",
    "Screen",
    "draw",
    "first_key",
    "full_screen",
    "is_terminal",
    "recorded",
    "resizes",
    "scripted",
    "show",
]

# Stations that only some machines have.
_EXTRAS = ("election", "events")
_HELP = "→ n next  ← p back  o same object  Home End  s scenario  1-9 break it  u undo  q quit"

_BOLD, _DIM, _MARK, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[7m", "\x1b[0m"


@dataclass(frozen=True)
class Runs:
    """What there is to see."""

    scenarios: Mapping[str, Scenario]
    execute: Callable[[Scenario, Sequence[Decision], int], Trace]
    faults: Sequence[str]
    """What may break."""


def scripted(scenarios: Mapping[str, Scenario]) -> Runs:
    """Scenarios, in which everything may break."""
    return Runs(scenarios, lambda scenario, decisions, limit: execute(scenario, None, decisions, limit), tuple(FAULTS))


LESSONS = scripted(SCENARIOS)
"""The runs of the lessons."""


def recorded(recording: Recording) -> Runs:
    """The sources of a recording. Raises RecordingError when it has none."""
    recording.check_for_sources()
    sources = {scenario_of(source).name: source for source in recording.sources.values() if source.entries}

    def run(scenario: Scenario, decisions: Sequence[Decision], limit: int) -> Trace:
        return replay(recording, sources[scenario.name], None, decisions, limit)

    return Runs({name: scenario_of(source) for name, source in sources.items()}, run, ())


class Screen:
    """A run and where in it one is. Not thread-safe."""

    def __init__(self, scenario: str = "", runs: Runs = LESSONS) -> None:
        """Raises ValueError for a scenario that there is not."""
        self._runs = runs
        name = scenario or next(iter(runs.scenarios))
        if name not in runs.scenarios:
            raise ValueError(f"there is no scenario {name!r}: {', '.join(runs.scenarios)}")
        self._open(name)

    def _open(self, name: str) -> None:
        self.scenario = self._runs.scenarios[name]
        self.decisions: list[Decision] = []
        self.at = -1
        self._run(250)

    def _run(self, limit: int) -> None:
        self.trace = self._runs.execute(self.scenario, self.decisions, limit)
        self.at = min(self.at, len(self.trace.points) - 1)

    def _reach(self, number: int) -> bool:
        if number >= len(self.trace.points) and not self.trace.is_complete:
            self._run(2 * len(self.trace.points))
        return number < len(self.trace.points)

    # ---- keys

    def press(self, key: str) -> bool:
        """Do what a key stands for; False for the one that ends it all. Keys that stand for nothing do nothing."""
        if key in ("q", "\x03", "\x04"):
            return False
        if key.isascii() and key.isdigit() and key != "0":
            self._break(int(key) - 1)
            return True
        act = self._KEYS.get(key)
        if act is not None:
            act(self)
        return True

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

    def _another(self) -> None:
        names = list(self._runs.scenarios)
        self._open(names[(names.index(self.scenario.name) + 1) % len(names)])

    def _break(self, number: int) -> None:
        if self.at < 0 or number >= len(self._runs.faults):
            return
        before = [each for each in self.decisions if each.at <= self.at]
        self.decisions = [*before, Decision(self.at, "fault", self._runs.faults[number])]
        self._run(max(250, 2 * self.at))

    def _undo(self) -> None:
        self.decisions = []
        self._run(max(250, self.at + 1))

    _KEYS: ClassVar[Mapping[str, Callable[[Screen], None]]] = {
        **dict.fromkeys(("n", "\x1b[C", " ", "\r", "\n"), _next),
        **dict.fromkeys(("p", "\x1b[D"), _back),
        **dict.fromkeys(("\x1b[H", "\x1b[1~", "\x1bOH", "g"), _home),
        **dict.fromkeys(("\x1b[F", "\x1b[4~", "\x1bOF", "G"), _end),
        "o": _same,
        "s": _another,
        "u": _undo,
    }

    # ---- what is shown

    def lines(self, width: int, height: int) -> list[str]:
        """What is shown, each line at most so wide; without colours."""
        state = self.trace.state(self.at)
        here = self.trace.points[self.at].hop if self.at >= 0 else None
        total = f"{self.at + 1}/{len(self.trace.points)}{'' if self.trace.is_complete else '+'}"
        head = [f"The informer tour: {self.scenario.title}  [{total}]"]
        if here is None:
            head += ["Before the first hop: everything is at rest.", ""]
        else:
            more = ", ".join(f"{name}: {value}" for name, value in here.more.items() if isinstance(value, str | float))
            merged = f" together with {', '.join(here.merged)}" if here.merged else ""
            version = f" @{here.version}" if here.version else ""
            head += [
                f"{here.station}.{here.kind}: {KINDS[here.station][here.kind]}{merged}",
                f"{here.key}{version}  +{here.time:.3f}s  thread {here.thread}  {here.code.go_function}  {more}",
            ]
        decided = "  ".join(f"hop {each.at + 1}: {each.name}" for each in self.decisions)
        breakable = "1-9: " + ", ".join(self._runs.faults[:9]) if self._runs.faults else ""
        foot = [decided or breakable, _HELP]
        room = max(0, height - len(head) - len(foot))
        extras = [name for name in _EXTRAS if any(point.changed.get(name) for point in self.trace.points)]
        body = picture(state, width, room, here.station if here else "", extras)
        body += [""] * (room - len(body))
        return [cut(line, width) for line in [*head, *body, *foot]][:height]


# ---- the terminal


def show(scenario: str = "", runs: Runs = LESSONS) -> int:
    """Draw and follow keys until `q` or Ctrl-C; the result is an exit code. Blocks. In the main thread."""
    if not is_terminal():
        return 1
    screen = Screen(scenario, runs)
    with full_screen(), resizes() as resized:
        draw(screen)
        for key in _keys(resized):
            if key and not screen.press(key):
                break
            draw(screen)
    return 0


def is_terminal() -> bool:
    """Whether there is one for input and output; says so if not."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return True
    sys.stderr.write("--terminal needs a terminal for input and output\n")
    return False


class Lines(Protocol):
    """What can be drawn."""

    def lines(self, width: int, height: int) -> list[str]:
        """Each at most so wide, at most so many; without colours."""
        ...


def draw(screen: Lines) -> None:
    """Draw all of it anew."""
    size = os.get_terminal_size(sys.stdout.fileno())
    lines = screen.lines(size.columns, size.lines)
    shown = [f"{_BOLD}{lines[0]}{_PLAIN}", *lines[1:]] if lines else []
    marked = [line.replace("▶", f"{_MARK}▶{_PLAIN}") for line in shown]
    sys.stdout.write("\x1b[H" + "\x1b[K\r\n".join(marked) + "\x1b[K\x1b[J")
    sys.stdout.flush()


def _keys(resized: int) -> Iterator[str]:
    """Each key as it is pressed; "" when the terminal has another size."""
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
    """The first key, and what follows."""
    if text[:2] not in ("\x1b[", "\x1bO"):
        return text[0], text[1:]
    end = next((at for at in range(2, len(text)) if text[at].isalpha() or text[at] == "~"), len(text) - 1)
    return text[: end + 1], text[end + 1 :]


@contextmanager
def full_screen() -> Iterator[None]:
    """The terminal is ours, key by key; afterwards it is as before."""
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
    """A file that can be read when the terminal has got another size."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def tell(number: int, frame: object) -> None:
        with contextlib.suppress(BlockingIOError):  # full: the reader will look anyway
            os.write(writing, b".")

    before = signal.signal(signal.SIGWINCH, tell)
    try:
        yield reading
    finally:
        signal.signal(signal.SIGWINCH, before)
        os.close(reading)
        os.close(writing)
