"""The boxes of the terminal's picture: each part of a station's view as text, cut to its room."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.tour import boxes
from clientgo.tour.boxes import cut, fill, picture, plain, wrap
from clientgo.tour.words import Words

EN, ZH = Words("en"), Words("zh")


def notice(method: str, key: str, *, tombstone: bool = False) -> dict[str, Any]:
    return {"method": method, "key": key, "version": "1", "ref": "", "tombstone": tombstone}


def change(kind: str, name: str, version: str) -> dict[str, Any]:
    return {"type": kind, "key": f"default/{name}", "version": version}


HISTORY = [change("ADDED", "gone", "0"), change("MODIFIED", "b", "1"), change("DELETED", "c", "2")]
HISTORY += [change("BOOKMARK", "d", "3"), *(change("ADDED", "e", str(number)) for number in (4, 5, 6))]
SERVER = {"version": "7", "wire": "slow", "history": HISTORY}
SERVER["objects"] = [{"key": "default/a", "version": "5"}, {"key": "x/b", "version": "6", "kind": "Pod"}]
REMOTE = {"version": "7", "wire": "up", "remote": True, "objects": [], "history": []}
REFLECTOR = {"state": "watching", "version": "", "lists": 1, "watches": 2, "bookmarks": 3, "error": ""}
DELTAS = [
    {"type": "Added", "version": "5", "tombstone": False},
    {"type": "Deleted", "version": "6", "tombstone": True},
]
FIFO = {"name": "RealFIFO", "synced": True, "initialLeft": 2, "keys": [{"key": "default/a", "deltas": DELTAS}]}
INDEXER = {
    "objects": [{"key": "default/a", "version": "5"}],
    "indices": {"namespace": {"default": ["default/a", "default/b"], "x": []}},
}
HANDLER = {"name": "pkg.Enqueuer+1", "pending": [], "taken": [], "delivering": None, "calls": 3, "raised": 1}
BUSY = {
    **HANDLER,
    "informer": "*v1.Pod",
    "pending": [notice("on_add", "default/a")],
    "totals": {"pending": 5},
    "taken": [notice("on_delete", "default/b", tombstone=True)],
    "delivering": notice("on_update", "c/d"),
}
LIVE = {**HANDLER, "facts": [["in-call", "2s"]], "paused": True}
QUEUE: dict[str, Any] = {"order": [], "dirty": [], "processing": [], "waiting": [], "failures": {}, "priorities": {}}
FULL = {"order": ["default/a", "b"], "dirty": ["default/a"], "processing": ["x"], "failures": {"default/d": 3}}
FULL |= {"waiting": [{"key": "default/c", "due": 1.5}], "priorities": {}}
WORKERS = {
    "w0": {
        "key": "default/a",
        "doing": "reconciles",
        "error": "",
        "for": "2s",
        "delay": 1.5,
        "line": 7,
        "text": "x = 1",
    },
    "w1": {"key": "", "doing": "waits", "error": "boom", "delay": 0},
}
EVENTS = {"recorded": 1, "written": 2, "dropped": 3, "failed": 4}
EVENT = {"key": "default/a", "reason": "R", "message": "m", "count": 2, "version": "1"}
CANDIDATES = {"one": {"leads": True, "leader": "", "tries": 1}, "two": {"leads": False, "leader": "", "tries": 1}}


@pytest.mark.parametrize(
    ("station", "view", "english"),
    [
        ("queue", {}, []),
        (
            "apiserver",
            {**SERVER, "history": HISTORY[:1]},
            ["@7, wire slow", "objects: a @5, Pod x/b @6", "history: +gone @0"],
        ),
        ("apiserver", REMOTE, ["@7", "came: -"]),
        (
            "apiserver",
            {**REMOTE, "history": HISTORY, "facts": [["heard", "1s"], ["per-second-lines", 5], ["moment", 3]]},
            ["last heard 1s, lines 5, moment 3", "@7", "came: ~b @1, -c @2, ?d @3, +e @4, +e @5, +e @6"],
        ),
        ("reflector", REFLECTOR, ["watching, lastSyncResourceVersion -", "lists 1, watches 2, bookmarks 3"]),
        (
            "reflector",
            {**REFLECTOR, "version": "9", "lines": 4, "error": "refused"},
            ["watching, lastSyncResourceVersion 9", "lists 1, watches 2, lines 4, bookmarks 3", "error: refused"],
        ),
        ("fifo", FIFO, ["HasSynced True, initial left 2", "a: Added @5, Deleted @6 †"]),
        ("fifo", {**FIFO, "length": 1}, ["HasSynced True, initial left 2", "a: Added @5, Deleted @6 †"]),
        ("fifo", {**FIFO, "length": 2, "keys": []}, ["HasSynced True, initial left 2", "+2 more"]),
        ("fifo", {**FIFO, "length": 2}, ["HasSynced True, initial left 2", "a: Added @5, Deleted @6 †", "+1 more"]),
        ("indexer", INDEXER, ["objects: a @5", "index namespace: default -> a b, x -> "]),
        ("indexer", {"kind": "Pod", **INDEXER, "indices": {}}, ["Pod:", "objects: a @5"]),
        ("indexer", {"kind": "Pod"}, ["Pod:"]),
        ("handlers", {"handlers": []}, []),
        ("handlers", {"handlers": [HANDLER]}, ["Enqueuer: 3 calls, 1 raised", "pendingNotifications: -"]),
        (
            "handlers",
            {"handlers": [BUSY]},
            [
                "*v1.Pod Enqueuer: 3 calls, 1 raised",
                "pendingNotifications: on_add a, +4",
                "taken (not in Go): on_delete b †",
                "being called: on_update c/d",
            ],
        ),
        ("handlers", {"handlers": [LIVE]}, ["Enqueuer: in this call for 2s, PAUSED", "pendingNotifications: -"]),
        (
            "handlers",
            {"handlers": [{**LIVE, "paused": False}]},
            ["Enqueuer: in this call for 2s", "pendingNotifications: -"],
        ),
        (
            "handlers",
            {"handlers": [{**BUSY, "totals": {"taken": 4}}]},
            [
                "*v1.Pod Enqueuer: 3 calls, 1 raised",
                "pendingNotifications: on_add a",
                "taken (not in Go): on_delete b †, +3",
                "being called: on_update c/d",
            ],
        ),
        ("queue", QUEUE, ["order: -", "dirty: -", "processing: -", "waitingForQueue: -", "failures: -"]),
        (
            "queue",
            FULL,
            ["order: a, b", "dirty: a", "processing: x", "waitingForQueue: c in 1.5s", "failures: d x3"],
        ),
        (
            "queue",
            {**FULL, "totals": {"order": 5, "dirty": 1, "processing": 3, "waiting": 4, "failures": 6}},
            [
                "order: a, b, +3",
                "dirty: a",
                "processing: x, +2",
                "waitingForQueue: c in 1.5s, +3",
                "failures: d x3, +5",
            ],
        ),
        (
            "workers",
            {"workers": WORKERS},
            ["w0: reconciles a 2s (slowed by 1.5s)", "  line 7: x = 1", "w1: waits boom"],
        ),
        ("events", {**EVENTS, "stored": []}, ["recorded 1, written 2, dropped 3, failed 4"]),
        ("events", {**EVENTS, "stored": [EVENT]}, ["recorded 1, written 2, dropped 3, failed 4", "x2 a R: m"]),
        ("election", {"holder": "", "transitions": 0, "candidates": {}}, ["Lease: -, transitions 0"]),
        (
            "election",
            {"holder": "one", "transitions": 2, "candidates": CANDIDATES},
            ["Lease: one, transitions 2", "one: leads", "two: stands by"],
        ),
    ],
)
def test_a_view_is_these_paragraphs(station: str, view: dict[str, Any], english: list[str]) -> None:
    assert list(boxes._about(station, view, EN)) == english
    # The Chinese box has as many paragraphs, with the same keys and numbers.
    chinese = list(boxes._about(station, view, ZH))
    assert len(chinese) == len(english) and "default/" not in "".join(chinese)


@pytest.mark.parametrize(
    ("station", "view", "chinese"),
    [
        ("apiserver", SERVER, ["@7, 连接 缓慢", "对象：a @5, Pod x/b @6"]),
        ("apiserver", REMOTE, ["@7", "最近收到：-"]),
        ("reflector", {**REFLECTOR, "error": "connection refused"}, ["正在 Watch, lastSyncResourceVersion -"]),
        ("fifo", {**FIFO, "length": 3, "keys": []}, ["HasSynced True, 初始列表剩余 2", "+3 行未显示"]),
        ("handlers", {"handlers": [BUSY]}, ["*v1.Pod Enqueuer：回调次数 3, 异常次数 1"]),
        ("handlers", {"handlers": [LIVE]}, ["Enqueuer：本次回调已执行 2s, 已暂停"]),
        (
            "workers",
            {"workers": WORKERS},
            ["w0：协调中 a 2s (每个 key 多等 1.5s)", "  行 7：x = 1", "w1：等待 key boom"],
        ),
    ],
)
def test_a_view_is_these_paragraphs_in_chinese(station: str, view: dict[str, Any], chinese: list[str]) -> None:
    assert list(boxes._about(station, view, ZH))[: len(chinese)] == chinese


def test_boxes_stand_side_by_side_in_two_rows_of_half_the_height() -> None:
    lines = picture({"fifo": {**FIFO, "keys": [], "name": "RealFIFO"}, "queue": QUEUE}, 62, 11, "queue", words=EN)
    assert len(lines) == 10 and {len(line) for line in lines} <= {62, 59}
    first, second = lines[:5], lines[5:]
    # Three boxes of 20 columns with a space between them, then four of 14.
    assert [part.strip("─ ") for part in (first[0][:20], first[0][21:41], first[0][42:])] == [
        "API server",
        "Reflector",
        "RealFIFO",
    ]
    assert first[1][42:] == " HasSynced True,    " and first[2][42:] == "   initial left 2   "
    assert second[0][15:29] == "═▶ Work queue " and second[1][15:29] == " order: -     "
    assert second[-1][:14] == "─" * 14 and second[-1][15:29] == "═" * 14 and first[-1][42:] == "─" * 20


@pytest.mark.parametrize(("height", "many"), [(0, 0), (5, 0), (6, 6), (7, 6)])
def test_a_picture_needs_six_lines(height: int, many: int) -> None:
    assert len(picture({}, 80, height)) == many


def test_a_box_is_at_least_eight_columns_wide() -> None:
    assert {len(line) for line in picture({}, 1, 8)} == {3 * 8 + 2, 4 * 8 + 3}
    assert {len(line) for line in picture({}, 1, 8, extras=["events", "election"])} == {5 * 8 + 4, 4 * 8 + 3}


@pytest.mark.parametrize(
    ("height", "shown"),
    [
        (14, ["order: -", "dirty: -", "processing: -", "waitingForQueue: -", "failures: -"]),
        (12, ["order: -", "dirty: -", "processing: -", "+2 more"]),
        (10, ["order: -", "dirty: -", "+3 more"]),
        (6, ["+5 more"]),
    ],
)
def test_a_box_that_is_too_small_tells_how_many_lines_are_missing(height: int, shown: list[str]) -> None:
    lines = picture({"queue": QUEUE}, 4 * 40 + 3, height, words=EN)[height // 2 :]
    assert [line[41:81].strip() for line in lines[1:-1]] == [*shown, *[""] * (height // 2 - 2 - len(shown))]


def test_views_of_several_informers_stand_below_each_other() -> None:
    view = {"informers": [{**FIFO, "kind": "a"}, {"kind": "b"}]}
    lines = picture({"fifo": view}, 3 * 40 + 2, 20, words=EN)[:10]
    assert lines[0][82:].strip("─ ") == "RealFIFO"
    assert [line[82:].strip() for line in lines[1:5]] == [
        "a:",
        "HasSynced True, initial left 2",
        "a: Added @5, Deleted @6 †",
        "b:",
    ]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("abc", 0, ""),
        ("中文", 4, "中文"),
        ("中文", 3, "中"),
        ("e\u0301a", 2, "e\u0301a"),
        ("e\u0301a", 1, "e\u0301"),
        ("a\x1bb", 3, "a\ufffdb"),
    ],
)
def test_a_text_is_cut_and_filled_by_columns(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    filled = fill(text, width + 2, "-")
    assert filled.startswith(shown) and (text != shown or filled == f"{shown}--")
    assert plain("a\tb\n") == "a\ufffdb\ufffd" and plain("中 a") == "中 a"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 20, ["one two three"]),
        ("one two three", 7, ["one two", "  three"]),
        ("one two three", 6, ["one", "  two", "  three"]),
        ("abcdefgh", 3, ["abcdefgh"]),
        ("", 5, [""]),
        ("中文字，好", 6, ["中文", "  字，", "  好"]),
        ("a（中）", 4, ["a", "  （中）"]),
        ("中a文", 3, ["中a", "  文"]),
    ],
)
def test_a_text_is_wrapped_at_spaces_and_between_wide_letters(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines
    assert wrap("one two", 4, indent="") == ["one", "two"]
