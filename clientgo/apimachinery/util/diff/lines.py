"""Differences between texts, line by line, in bounded time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# difflib takes quadratic time for lists whose lines differ all over.
_MOST_LINES: Final = 1000
_CONTEXT: Final = 3


def unified(before: Sequence[str], after: Sequence[str], name_before: str = "", name_after: str = "") -> list[str]:
    """Return the lines of a unified diff, with three lines around each change; [] for equal texts.

    The first two lines name the texts. Of long texts it compares 1000 lines from the first change on, and the last line
    reports how many lines are left out.
    """
    import difflib  # Here, not above: few programs need it.

    if before == after:
        return []
    start, left_out = 0, 0
    if len(before) + len(after) > 2 * _MOST_LINES:
        same = (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
        start = max(next(same, min(len(before), len(after))) - _CONTEXT, 0)
        left_out = max(len(before), len(after)) - start - _MOST_LINES
    end = start + _MOST_LINES if left_out > 0 else None
    lines = difflib.unified_diff(before[start:end], after[start:end], name_before, name_after, n=_CONTEXT, lineterm="")
    return [*lines, *([f"... ({left_out} more lines are not compared)"] if left_out > 0 else [])]
