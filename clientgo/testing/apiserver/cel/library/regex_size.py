"""A bound on the time that RE2 takes to compile a pattern. Has no Go file: Go's regexp compiles in linear time.

RE2's time grows with the square of the optional parts of a pattern, after it has written out counted repetitions, and
google-re2 holds all threads meanwhile: 1 KB of `\\d{1,1000}` takes minutes. Each Unicode class costs as much as several
optional parts.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_too_large"]

# Parts of one pattern: about a third of a second.
_MAX_PARTS: Final = 5000
_UNICODE_CLASS_PARTS: Final = 12
_COUNTED: Final = re.compile(r"\{([0-9]{1,9})(?:(,)([0-9]{0,9}))?\}")


def is_too_large(pattern: str) -> bool:
    r"""Report whether RE2 would take too long to compile `pattern`. O(len(pattern)); an invalid pattern may pass.

    >>> is_too_large(r"\d{1,1000}" * 100), is_too_large("[a-z]" * 20_000)
    (True, False)
    """
    return _Scanner(pattern).parts() > _MAX_PARTS


class _Scanner:
    """A counter of a pattern's optional parts and Unicode classes, with all repetitions written out."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def parts(self) -> int:
        text, size = self._text, len(self._text)
        # The parts of each open group, and of the expression before a repetition.
        groups, last = [0], 0
        while self._at < size and groups[0] <= _MAX_PARTS:
            char = text[self._at]
            if char == "(":
                groups.append(0)
                last = 0
                self._at += 2 if text.startswith("(?", self._at) else 1
                continue
            if char == ")":
                last = groups.pop() if len(groups) > 1 else 0
                groups[-1] += last
                self._at += 1
                continue
            if char in "*+?{":
                more = self._repeated(last)
                groups[-1] += more
                last += more
                continue
            last = self._atom()
            groups[-1] += last
        return sum(groups)

    def _repeated(self, inner: int) -> int:
        """Consume a repetition and return the parts that it adds to those of its expression."""
        found = _COUNTED.match(self._text, self._at)
        if found is None:
            # A brace that is no repetition is a literal.
            literal = self._text[self._at] == "{"
            self._at += 1
            return 0 if literal else 1
        self._at = found.end()
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else least + 1
        return max(0, most - 1) * inner + max(0, most - least)

    def _atom(self) -> int:
        text = self._text
        if text[self._at] == "[":
            return self._char_class()
        if text.startswith("\\Q", self._at):
            end = text.find("\\E", self._at)
            self._at = len(text) if end < 0 else end + 2
            return 0
        return self._escape() if text[self._at] == "\\" else self._step()

    def _step(self) -> int:
        self._at += 1
        return 0

    def _escape(self) -> int:
        """Consume a backslash and what it escapes, such as `\\p{Greek}` or `\\x{10FFFF}`."""
        kind = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if kind in ("p", "P", "x") and self._text.startswith("{", self._at):
            end = self._text.find("}", self._at)
            self._at = len(self._text) if end < 0 else end + 1
        return _UNICODE_CLASS_PARTS if kind in ("p", "P") else 0

    def _char_class(self) -> int:
        text = self._text
        self._at += 1
        if text.startswith("^", self._at):
            self._at += 1
        parts, first = 0, True
        while self._at < len(text) and (first or text[self._at] != "]"):
            first = False
            if text.startswith("[:", self._at) and (end := text.find(":]", self._at + 2)) >= 0:
                self._at = end + 2
            elif text[self._at] == "\\":
                parts += self._escape()
            else:
                self._at += 1
        self._at += 1
        return parts
