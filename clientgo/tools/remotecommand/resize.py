"""The size of a terminal. Mirrors tools/remotecommand/resize.go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["TerminalSize", "TerminalSizeQueue"]


@dataclass(frozen=True)
class TerminalSize:
    """The columns and rows of a terminal. Go: remotecommand.TerminalSize."""

    width: int = 0
    height: int = 0


class TerminalSizeQueue(Protocol):
    """The sizes of a terminal, as it changes. Go: remotecommand.TerminalSizeQueue."""

    def next(self) -> TerminalSize | None:
        """Block until the size has changed and return it; None at the end. Go: Next."""
        ...
