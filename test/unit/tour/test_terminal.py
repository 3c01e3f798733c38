"""The tour's picture as lines of text, and what keys do to it."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import signal
import sys
import termios
import threading
import unicodedata
from pathlib import Path

import pytest
from patience import PATIENCE

from clientgo import tour
from clientgo.tour import boxes, terminal
from clientgo.tour.terminal import Screen

RIGHT, LEFT, HOME, END = "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F"


@pytest.fixture(scope="module")
def screen() -> Screen:
    return Screen("queue")


def picture(screen: Screen, width: int = 130, height: int = 40) -> str:
    return "\n".join(screen.lines(width, height))


def test_hops_go_forwards_and_backwards_and_a_picture_is_the_same_either_way(screen):
    screen.press(HOME)
    seen = [picture(screen)]
    for _ in range(20):
        assert screen.press(RIGHT)
        seen.append(picture(screen))
    assert len({*seen}) == 21 and screen.at == 19
    for earlier in reversed(seen[:-1]):
        screen.press(LEFT)
        assert picture(screen) == earlier
    screen.press(LEFT)
    assert screen.at == -1


def test_the_end_is_reached_and_is_the_end(screen):
    screen.press(END)
    assert screen.trace.is_complete and screen.at == len(screen.trace.points) - 1
    before = picture(screen)
    screen.press(RIGHT)
    assert picture(screen) == before


def test_every_station_shows_what_it_holds(screen):
    screen.press(HOME)
    found = set()
    while screen.at < len(screen.trace.points) - 1:
        screen.press("n")
        shown = picture(screen, 200, 60)
        state = screen.trace.state(screen.at)
        for key in state["queue"]["order"]:
            assert f"order: {key.removeprefix('default/')}" in shown or len(state["queue"]["order"]) > 1
        found |= {
            word for word in ("dirty: apple", "processing: apple", "on_add", "worker-0: reconciles") if word in shown
        }
    assert len(found) == 4


def test_the_next_hop_of_the_same_object(screen):
    screen.press(HOME)
    for _ in range(12):
        screen.press("n")
    key, before = screen.trace.points[screen.at].hop.key, screen.at
    screen.press("o")
    assert key and screen.trace.points[screen.at].hop.key == key and screen.at > before


def test_something_breaks_behind_a_hop_and_is_undone(screen):
    screen.press(HOME)
    screen.press("1")
    assert screen.decisions == []  # nothing has happened yet
    for _ in range(20):
        screen.press("n")
    before = picture(screen)
    screen.press("1")
    assert [each.name for each in screen.decisions] == [next(iter(tour.FAULTS))]
    assert "hop 20: cut" in picture(screen)
    screen.press("u")
    assert picture(screen) == before


def test_another_scenario_begins_at_its_beginning():
    screen = Screen("queue")
    screen.press("n")
    for key in ("s", "\x1b[B", "\r"):
        screen.press(key)
    names = list(tour.SCENARIOS)
    assert screen.scenario.name == names[names.index("queue") + 1] and screen.at == -1 and screen.menu is None
    with pytest.raises(ValueError, match="there is no scenario 'none'"):
        Screen("none")


def test_a_recording_goes_forwards_and_backwards_too_and_nothing_breaks_in_it():
    with tour.Recording(Path(__file__).parent / "outage.jsonl") as recording:
        screen = Screen(runs=terminal.recorded(recording))
        screen.press("n")
        before = picture(screen)
        screen.press("1")
        assert picture(screen) == before and "*v1.ConfigMap" in before
        screen.press(END)
        assert "objects: bread @26" in picture(screen) and "apple" not in picture(screen).partition("Indexer")[2]
        while screen.at > 0:
            screen.press("p")
        assert picture(screen) == before


def test_a_recording_to_which_nothing_came_promises_no_hop(tmp_path):
    head = (Path(__file__).parent / "outage.jsonl").read_text().splitlines(keepends=True)[0]
    source = '{"what":"source","t":0.0,"source":0,"name":"main.py:7","type":"*v1.ConfigMap"}\n'
    request = '{"what":"watch","t":0.1,"source":0,"request":0,"options":{"sendInitialEvents":true}}\n'
    path = tmp_path / "empty.jsonl"
    path.write_text(head + source + request)
    with tour.Recording(path) as recording:
        screen = Screen(runs=terminal.recorded(recording))
        for key in (RIGHT, END, HOME, LEFT):
            shown = picture(screen)
            assert "This run has no hop" in shown and "makes the first hop" not in shown
            assert screen.press(key)


def test_keys_that_stand_for_nothing_do_nothing_and_q_ends(screen):
    before = picture(screen)
    for key in ("y", "\x1b", "\x1b[Z", "0", "²", "中", "\x00"):
        assert screen.press(key)
    assert picture(screen) == before
    assert not screen.press("q") and not screen.press("\x03")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60), (40, 10), (1, 1), (10, 3), (130, 40), (20, 100)])
def test_it_fits_terminals_of_all_sizes(screen, width, height):
    screen.press(END)
    lines = screen.lines(width, height)
    assert len(lines) <= height
    for line in lines:
        wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in line)
        assert len(line) + wide <= width
        assert line.isprintable()


@pytest.mark.parametrize(
    ("pressed", "keys"),
    [
        ("n", ["n"]),
        ("\x1b[Cn", ["\x1b[C", "n"]),
        ("\x1b[1~\x1bOF", ["\x1b[1~", "\x1bOF"]),
        ("\x1b", ["\x1b"]),
        ("\x1b[", ["\x1b["]),
        ("\x1b[1;5C中", ["\x1b[1;5C", "中"]),
    ],
)
def test_keys_are_told_apart(pressed, keys):
    found, left = [], pressed
    while left:
        key, left = terminal.first_key(left)
        found.append(key)
    assert found == keys


def test_what_others_wrote_moves_no_cursor():
    shown = boxes.plain("a\x1b[2Jb\nc\x9b7\u202e")
    assert shown.isprintable() and "\x1b" not in shown


def test_without_a_terminal_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert terminal.show() == 1
    assert "--terminal needs a terminal" in capsys.readouterr().err


def test_q_ends_the_tour_and_the_keys_behind_it_are_not_read(monkeypatch):
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 130))
    drawn: list[bytes] = []

    def drain() -> None:
        with contextlib.suppress(OSError):  # the other side is closed
            while data := os.read(ours, 65536):
                if not drawn:
                    os.write(ours, b"nqn")
                drawn.append(data)

    reader = threading.Thread(target=drain, name="reader")
    with open(theirs, "r+b", buffering=0) as raw:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.FileIO(os.dup(theirs), "r")))
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.FileIO(os.dup(theirs), "w")))
        before = termios.tcgetattr(raw)
        reader.start()
        assert terminal.show("queue") == 0
        assert termios.tcgetattr(raw) == before, "the terminal is as it was"
        for stream in (sys.stdin, sys.stdout):
            stream.close()
    reader.join(PATIENCE)
    os.close(ours)
    text = b"".join(drawn).decode()
    assert text.count("q quit") == 2, "at the beginning and after the first n"


def test_keys_come_from_the_terminal_and_a_change_of_its_size_is_an_empty_one(monkeypatch):
    theirs, ours = os.pipe()
    with open(theirs) as source, terminal.resizes() as resized:
        monkeypatch.setattr("sys.stdin", source)
        keys = terminal._keys(resized)
        signal.raise_signal(signal.SIGWINCH)
        assert next(keys) == ""
        os.write(ours, "n\x1b[Cä".encode())
        assert [next(keys) for _ in range(3)] == ["n", "\x1b[C", "ä"]
        os.write(ours, b"q")
        assert next(keys) == "q"
        os.close(ours)
        assert list(keys) == []  # the terminal is gone


def test_many_changes_of_the_size_block_nothing_and_the_handler_goes_with_its_pipe():
    before = signal.getsignal(signal.SIGWINCH)
    with terminal.resizes() as resized:
        assert signal.getsignal(signal.SIGWINCH) is not before
        for _ in range(70_000):  # more than a pipe holds
            signal.getsignal(signal.SIGWINCH)(signal.SIGWINCH, None)
        assert set(os.read(resized, 1 << 20)) == {ord(".")}
    assert signal.getsignal(signal.SIGWINCH) is before
    with pytest.raises(OSError):
        os.fstat(resized)


def test_a_recording_without_requests_cannot_be_shown(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text((Path(__file__).parent / "outage.jsonl").read_text().splitlines(keepends=True)[0])
    with tour.Recording(path) as recording, pytest.raises(tour.RecordingError, match="nothing came to a reflector"):
        terminal.recorded(recording)
