"""A menu in the terminal: where its mark goes, which lines it shows, and what Enter does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clientgo.tour.menus import Menu


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
