"""The history of a run as a table, and the program that repeats it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the history."""

    seconds: float
    """Virtual time since the beginning of the run."""
    actor: str
    request: str
    response: str


class History:
    """The requests, watch events and faults of a run, in order."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, seconds: float, actor: str, request: str, response: str = "") -> None:
        """Append a row."""
        self.rows.append(Row(seconds, actor, request, response))

    def table(self, limit: int = 60) -> str:
        """Return the last `limit` rows as aligned text."""
        rows = self.rows[-limit:]
        cells = [("time", "actor", "request", "response")]
        cells += [(f"{row.seconds:.3f}", *row[1:]) for row in rows]
        widths = [max(len(row[column]) for row in cells) for column in range(3)]
        lines = [
            f"{time:>{widths[0]}}  {actor:<{widths[1]}}  {request:<{widths[2]}}  {response}".rstrip()
            for time, actor, request, response in cells
        ]
        if omitted := len(self.rows) - len(rows):
            lines.insert(1, f"... {omitted} earlier rows")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<History {len(self.rows)} rows>"


def program(machine: type, steps: Sequence[object], schedule: int) -> str:
    """Return a program that repeats the run without Hypothesis."""
    seed = f", schedule={schedule}" if schedule else ""
    lines = [
        "from clientgo.testing import controllertest as ct",
        f"from {machine.__module__} import {machine.__qualname__}",
        "",
        f"ct.replay({machine.__qualname__}, [",
        *(f"    ct.{step!r}," for step in steps),
        f"]{seed})",
    ]
    return "\n".join(lines)
