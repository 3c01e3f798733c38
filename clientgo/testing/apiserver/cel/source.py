"""Errors with their positions in the source, in cel-go's layout. Mirrors cel-go's common/error.go and errors.go."""

from __future__ import annotations

_MAX_SHOWN = 100
_MAX_SNIPPET = 16384


class CompileError(ValueError):
    """An invalid expression. str() lists all issues, each with its source line and a mark below the position."""

    def __init__(self, text: str, message: str = "") -> None:
        super().__init__(text)
        self.message = message or text.removeprefix("ERROR: <input>:-1:0: ")
        """The first issue alone."""


class Issues:
    """The errors of one expression."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def __repr__(self) -> str:
        return f"<Issues {self._found!r}>"

    def add(self, pos: int, message: str) -> None:
        """Add an issue at an offset of the source, or without a position if `pos` is -1.

        Repeated issues are ignored.
        """
        if (pos, message) not in self._found:
            self._found.append((pos, message))

    def check(self) -> None:
        """Raise CompileError if there are issues."""
        if self._found:
            raise CompileError(self.text(), min(self._found, key=lambda issue: issue[0])[1])

    def text(self) -> str:
        found = sorted(self._found, key=lambda issue: issue[0])
        shown = "\n".join(self._shown(pos, message) for pos, message in found[:_MAX_SHOWN])
        more = len(found) - _MAX_SHOWN
        return f"{shown}\n{more} more errors were truncated" if more > 0 else shown

    def _shown(self, pos: int, message: str) -> str:
        if pos < 0:
            return f"ERROR: <input>:-1:0: {message}"
        line = self._source.count("\n", 0, pos) + 1
        start = self._source.rfind("\n", 0, pos) + 1
        text = self._source[start:].partition("\n")[0]
        head = f"ERROR: <input>:{line}:{pos - start + 1}: {message}"
        if len(text) > _MAX_SNIPPET:
            return head
        before = "".join("." if ord(char) < 128 else "．" for char in text[: pos - start])
        wide = ord(text[pos - start : pos - start + 1] or "^") >= 128
        return f"{head}\n | {text.replace(chr(9), ' ')}\n | {before}{'＾' if wide else '^'}"
