"""A list in a terminal from which keys choose: help, faults, scenarios, the hops of a chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clientgo.tour.boxes import wrap

__all__ = ["Item", "Menu"]

Item = tuple[str, Callable[[], object] | None]
"""A line, and what Enter does there; None for a line that only informs."""


class Menu:
    """A title and items with one marked item. Not thread-safe."""

    def __init__(self, title: str, items: Sequence[Item], foot: str, *, chosen: int = 0) -> None:
        self.title = title
        self.items = list(items)
        self.foot = foot
        self.chosen = max(0, min(chosen, len(self.items) - 1))

    def press(self, key: str) -> bool:
        """Follow a key and report whether the menu stays open. Enter closes it and then calls the item's action."""
        if key in ("\x1b[A", "\x1bOA", "p"):
            self.chosen = max(0, self.chosen - 1)
        elif key in ("\x1b[B", "\x1bOB", "n"):
            self.chosen = max(0, min(len(self.items) - 1, self.chosen + 1))
        elif key in ("\r", "\n"):
            action = self.items[self.chosen][1] if self.items else None
            if action is not None:
                action()
            return False
        else:
            return False
        return True

    def lines(self, width: int, height: int) -> list[str]:
        """Return the menu as lines of at most `height`, with the marked item among them."""
        room = max(1, height - 3)
        shown: list[str] = []
        first_of_chosen = 0
        for number, (text, _) in enumerate(self.items):
            if number == self.chosen:
                first_of_chosen = len(shown)
            mark = "▶ " if number == self.chosen else "  "
            lines = wrap(text, max(4, width - 2), indent="")
            shown += [mark + lines[0], *(f"  {line}" for line in lines[1:])]
        top = max(0, min(first_of_chosen - room // 2, len(shown) - room))
        body = shown[top : top + room]
        body += [""] * (room - len(body))
        return [self.title, "", *body, self.foot][:height]
