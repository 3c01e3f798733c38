"""The boxes, menus and words of the terminal's picture: each part of a station's view as text, cut to its room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clientgo.tour import boxes
from clientgo.tour.boxes import cut, fill, picture, plain, wrap
from clientgo.tour.menus import Menu
from clientgo.tour.past import Link
from clientgo.tour.pastmenu import Place, chain_items, change_items, keys_in
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


# ---- menus


class Pressed:
    """Actions of a menu that note their numbers."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def item(self, number: int) -> Callable[[], object]:
        return lambda: self.seen.append(number)


UP, DOWN = "\x1b[A", "\x1b[B"


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        ([], 1),
        ([UP], 0),
        ([UP, "\x1bOA", "p"], 0),
        ([DOWN], 2),
        ([DOWN, "\x1bOB", "n"], 2),
        (["p", "n", "n"], 2),
    ],
)
def test_keys_move_the_mark_within_a_menu(keys: list[str], chosen: int) -> None:
    pressed = Pressed()
    menu = Menu("title", [(str(number), pressed.item(number)) for number in range(3)], "foot", chosen=1)
    assert all(menu.press(key) for key in keys) and menu.chosen == chosen
    assert menu.press("\r") is False and pressed.seen == [chosen]


@pytest.mark.parametrize("key", ["\x1b", "q", "x", "1"])
def test_any_other_key_closes_a_menu_without_an_action(key: str) -> None:
    pressed = Pressed()
    assert Menu("title", [("a", pressed.item(0))], "foot").press(key) is False and pressed.seen == []


@pytest.mark.parametrize(("given", "chosen"), [(-3, 0), (0, 0), (2, 2), (3, 2), (99, 2)])
def test_the_mark_is_in_the_menu(given: int, chosen: int) -> None:
    assert Menu("t", [("a", None)] * 3, "f", chosen=given).chosen == chosen
    empty = Menu("t", [], "f", chosen=given)
    assert empty.chosen == 0 and empty.press(DOWN) and empty.chosen == 0 and empty.press("\n") is False
    assert Menu("t", [("a", None)] * 3, "f").chosen == 0 and Menu("t", [("a", None)], "f").press("\r") is False


@pytest.mark.parametrize(
    ("chosen", "height", "body"),
    [
        (0, 9, ["▶ a", "  b", "  c", "  d", "", ""]),
        (2, 7, ["  a", "  b", "▶ c", "  d"]),
        (3, 6, ["  b", "  c", "▶ d"]),
        (1, 6, ["  a", "▶ b", "  c"]),
        (2, 5, ["  b", "▶ c"]),
        (2, 4, ["▶ c"]),
    ],
)
def test_a_menu_shows_the_items_around_the_mark(chosen: int, height: int, body: list[str]) -> None:
    lines = Menu("title", [(letter, None) for letter in "abcd"], "foot", chosen=chosen).lines(20, height)
    assert lines == ["title", "", *body, "foot"]
    assert Menu("title", [("a", None)], "foot").lines(20, 2) == ["title", ""]


def test_a_long_item_is_wrapped_below_its_mark() -> None:
    items = [("one two three", None), ("four five", None)]
    assert Menu("t", items, "f").lines(10, 7) == ["t", "", "▶ one two", "  three", "  four", "  five", "f"]
    assert Menu("t", items, "f", chosen=1).lines(1, 9)[2:-1] == ["  one", "  two", "  three", "▶ four", "  five", ""]


# ---- the past in menus


def hop(station: str, kind: str, key: str, version: str, time: float = 1.25) -> dict[str, Any]:
    return {"station": station, "kind": kind, "key": key, "version": version, "time": time, "thread": "t"}


HOPS = [
    hop("queue", "added", "default/a", ""),
    hop("indexer", "stored", "default/a", "7"),
    hop("fifo", "popped", "x", "8"),
]


def test_a_chain_has_an_item_for_each_hop_that_leads_there() -> None:
    gone: list[int] = []
    links = [Link(0, "default/a"), Link(1, "default/a"), Link(2, "default/b")]
    queue, indexer, fifo = (EN.kind(each["station"], each["kind"]) for each in HOPS)
    names = [EN(each["station"]) for each in HOPS]
    items = chain_items(EN, HOPS, links, gone.append)
    assert [text for text, _ in items] == [
        f"{EN('hop')} 1  {names[0]}: {queue}  a  [t]",
        f"{EN('hop')} 2  {names[1]}: {indexer}  a @7  [t]",
        f"{EN('hop')} 3  {names[2]}: {fifo}  b  [t]",
    ]
    for _, action in items:
        assert action is not None
        action()
    assert gone == [0, 1, 2]
    live = chain_items(EN, HOPS, links[:1], None)
    assert live == [(f"+1.25s  {names[0]}: {queue}  a  [t]", None)]
    assert chain_items(EN, HOPS, [], gone.append) == [(EN("not-recorded"), None)]


def test_the_last_changes_have_the_latest_first_and_equal_ones_by_name() -> None:
    gone: list[int] = []
    hops = [*HOPS, hop("reflector", "watch", "", "")]
    kinds = [EN.kind(each["station"], each["kind"]) for each in hops]
    items = change_items(EN, hops, {"b": 0, "c": 1, "a": 0, "d": 3}, gone.append)
    assert [text for text, _ in items] == [
        f"d  {EN('hop')} 4  {kinds[3]}",
        f"c  {EN('hop')} 2  {kinds[1]}  a",
        f"a  {EN('hop')} 1  {kinds[0]}  a",
        f"b  {EN('hop')} 1  {kinds[0]}  a",
    ]
    assert items[0][1] is not None
    items[0][1]()
    assert gone == [3]
    assert change_items(EN, hops, {"b": 2}, None) == [(f"b  +1.25s  {kinds[2]}  x", None)]
    assert change_items(EN, hops, {}, gone.append) == [(EN("never-changed"), None)]


def test_the_keys_of_a_state_are_found_in_every_place() -> None:
    state: dict[str, Any] = {
        "queue": {**FULL, "order": ["q"], "dirty": ["r"]},
        "workers": {"workers": WORKERS},
        "handlers": {"handlers": [{**BUSY, "delivering": {**notice("on_update", "c/d"), "queued": 2.5}}, HANDLER]},
        "fifo": {"informers": [{"kind": "x", "keys": [{"key": "f"}, {"key": ""}]}, {"kind": "y"}]},
        "indexer": {"objects": [{"key": "i", "version": "3"}]},
        "apiserver": {"objects": [{"key": "s", "version": "4"}]},
    }
    name = HANDLER["name"]
    assert list(keys_in(state)) == [
        Place("queue.order", "q"),
        Place("queue.dirty", "r"),
        Place("queue.processing", "x"),
        Place("queue.waiting", "default/c"),
        Place("queue.failures", "default/d"),
        Place("workers", "default/a"),
        Place("handlers.pending", "default/a", str(name), "1"),
        Place("handlers.taken", "default/b", str(name), "1"),
        Place("handlers.delivering", "c/d", str(name), "1", 2.5),
        Place("fifo.deltas", "f"),
        Place("indexer.objects", "i", "", "3"),
        Place("apiserver.objects", "s", "", "4"),
    ]
    assert list(keys_in({})) == [] and Place("a", "b") == ("a", "b", "", "", None)


# ---- words


def test_words_fall_back_to_english_and_to_the_name() -> None:
    assert Words().language == Words("fr").language == "en" and ZH.language == "zh"
    assert ZH("colon") == "：" and EN("colon") == ": " and ZH("no such word") == EN("no such word") == "no such word"
    assert EN.label("objects") == "objects" and EN.label("a", "b") == "b" and ZH.label("objects", "b") == "对象"


def test_an_error_is_translated_where_a_pattern_knows_it() -> None:
    text = "dial tcp: connection refused"
    assert EN.error(text) == text and "连接被拒绝" in ZH.error(text)
    assert ZH.error("quite unknown") == "quite unknown"


def test_kinds_faults_and_facts_have_words_in_both_languages() -> None:
    for words, ascii_only in ((EN, True), (ZH, False)):
        for text in (words.kind("queue", "added"), words.fault("cut"), words.about("error")):
            assert text and text.isascii() is ascii_only
    assert EN.fault("cut") == "cut the connection" and EN.about("other") == ZH.about("other") == "other"
