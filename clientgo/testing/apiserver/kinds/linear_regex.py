"""A matcher for a part of RE2's syntax, in time linear in the text.

It matches the patterns of CRDs if google-re2 is not installed. A pattern becomes a nondeterministic automaton, which
reads the text once, with all its states at the same time. So it never backtracks, whatever the pattern and the text
are.

Supported are literals, `.`, classes, `\\d \\s \\w`, groups, alternatives, repetitions, `^` and `$`. Everything else
raises Unsupported: flags, word boundaries, Unicode and POSIX classes, and syntax that RE2 may read differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

Ranges = tuple[tuple[int, int], ...]
# A part of a pattern: appends its instructions to the program, each with the numbers of its successors.
_Part = Callable[["_Program"], None]

_MAX_REPEAT: Final = 1000
_MAX_DEPTH: Final = 50
_MAX_PROGRAM: Final = 3000
# Members of all state sets in one pattern's table: about 20 MB.
_MAX_KEPT: Final = 200_000
# Instructions visited in one search, except by steps that the table has: about two seconds' worth.
_MAX_VISITS: Final = 5_000_000
_LAST: Final = 0x10FFFF

_DIGIT: Final[Ranges] = ((48, 57),)
_SPACE: Final[Ranges] = ((9, 10), (12, 13), (32, 32))
_WORD: Final[Ranges] = ((48, 57), (65, 90), (95, 95), (97, 122))
_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
_ANY_BUT_NEWLINE: Final[Ranges] = ((0, 9), (11, _LAST))
_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ")


class Unsupported(ValueError):
    """The error of a pattern that is invalid or that this matcher does not support. The message names the part."""


class TooMuchWork(Exception):
    """The error of a search that visited too many states."""


class _Instruction(NamedTuple):
    kind: str
    """char, split, begin, end or match."""
    ranges: Ranges = ()
    next: tuple[int, ...] = ()


class _Program:
    """The instructions of a pattern, in the order of its parts."""

    def __init__(self) -> None:
        self.code: list[_Instruction] = []

    def add(self, kind: str, ranges: Ranges = (), following: tuple[int, ...] | None = None) -> int:
        """Append an instruction, which leads to the one after it unless `following` says otherwise."""
        at = len(self.code)
        if at >= _MAX_PROGRAM:
            raise Unsupported("a repetition of this size")
        self.code.append(_Instruction(kind, ranges, (at + 1,) if following is None else following))
        return at


class Pattern:
    """A compiled pattern. Thread-safe: threads may only repeat each other's work on the shared table of steps."""

    __slots__ = ("_code", "_kept", "_steps")

    def __init__(self, pattern: str) -> None:
        """Raise Unsupported for patterns outside the supported syntax."""
        program = _Program()
        _Parser(pattern).parse()(program)
        program.add("match", following=())
        self._code = program.code
        # state -> character -> state; a state is the set of instructions that wait for a character or the end.
        self._steps: dict[frozenset[int], dict[str, frozenset[int]]] = {}
        self._kept = 0

    def search(self, text: str) -> bool:
        """Report whether the pattern matches anywhere in the text. Raises TooMuchWork.

        >>> Pattern("^(a+)+$").search("a" * 100_000 + "!")
        False
        """
        work = _Work()
        state = self._closure([0], work, begin=True, end=not text)
        for char in text:
            if _MATCHED in state:
                return True
            following = self._steps.get(state, _NONE).get(char)
            state = self._step(state, char, work) if following is None else following
        return _MATCHED in state or _MATCHED in self._closure(list(state), work, begin=not text, end=True)

    def _step(self, state: frozenset[int], char: str, work: _Work) -> frozenset[int]:
        point = ord(char)
        after = [0]
        for at in state:
            instruction = self._code[at]
            work.visit()
            if instruction.kind == "char" and any(low <= point <= high for low, high in instruction.ranges):
                after += instruction.next
        following = self._closure(after, work)
        if self._kept >= _MAX_KEPT:
            self._steps, self._kept = {}, 0
        self._kept += 1 + len(following)
        self._steps.setdefault(state, {})[char] = following
        return following

    def _closure(self, todo: list[int], work: _Work, *, begin: bool = False, end: bool = False) -> frozenset[int]:
        """Return the instructions that wait for a character or the end, and that need no character to be reached.

        Returns only _MATCHED if the pattern has matched.
        """
        seen: set[int] = set()
        waiting: set[int] = set()
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            work.visit()
            kind, _, following = self._code[at]
            if kind == "match":
                return frozenset((_MATCHED,))
            if kind == "char" or (kind == "end" and not end):
                waiting.add(at)
            elif kind != "begin" or begin:
                todo += following
        return frozenset(waiting)

    def __repr__(self) -> str:
        return f"<Pattern of {len(self._code)} instructions>"


_MATCHED: Final = -1
_NONE: Final[dict[str, frozenset[int]]] = {}


class _Work:
    """The number of states that one search may still visit."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _MAX_VISITS

    def visit(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooMuchWork


def _sequence(parts: list[_Part]) -> _Part:
    def emit(program: _Program) -> None:
        if not parts:
            # Each part has an instruction, so that the limit on the program bounds repetitions of nothing as well.
            program.add("split")
        for part in parts:
            part(program)

    return emit


def _alternatives(parts: list[_Part]) -> _Part:
    def emit(program: _Program) -> None:
        split = program.add("split")
        starts, ends = [], []
        for part in parts:
            starts.append(len(program.code))
            part(program)
            ends.append(program.add("split"))
        program.code[split] = _Instruction("split", (), tuple(starts))
        for end in ends:
            program.code[end] = _Instruction("split", (), (len(program.code),))

    return emit if len(parts) > 1 else parts[0]


def _repeated(part: _Part, least: int, most: int | None) -> _Part:
    def emit(program: _Program) -> None:
        for _ in range(least):
            part(program)
        if most is None:
            split = program.add("split")
            part(program)
            back = program.add("split", following=(split,))
            program.code[split] = _Instruction("split", (), (split + 1, back + 1))
            return
        splits = [program.add("split")]
        for _ in range(most - least):
            splits.append(program.add("split"))
            part(program)
        for split in splits:
            program.code[split] = _Instruction("split", (), (split + 1, len(program.code)))

    return emit


def _one(kind: str, ranges: Ranges = ()) -> _Part:
    def emit(program: _Program) -> None:
        program.add(kind, ranges)

    return emit


def _complement(ranges: Ranges) -> Ranges:
    out, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            out.append((start, low - 1))
        start = max(start, high + 1)
    if start <= _LAST:
        out.append((start, _LAST))
    return tuple(out)


class _Parser:
    """A parser by recursive descent, one method for each level of the syntax."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._depth = 0

    def parse(self) -> _Part:
        part = self._alternation()
        if self._at < len(self._text):
            raise Unsupported(f"`{self._text[self._at]}` here")
        return part

    def _peek(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        if not self._peek(text):
            return False
        self._at += len(text)
        return True

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise Unsupported("an end within an expression")
        self._at += 1
        return self._text[self._at - 1]

    def _alternation(self) -> _Part:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unsupported("nesting of this depth")
        parts = [self._concatenation()]
        while self._take("|"):
            parts.append(self._concatenation())
        self._depth -= 1
        return _alternatives(parts)

    def _concatenation(self) -> _Part:
        parts: list[_Part] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            part = self._atom()
            bounds = self._bounds()
            if bounds is not None:
                part = _repeated(part, *bounds)
                self._take("?")  # Lazy: the same matches, as only their existence counts.
                if self._at < len(self._text) and self._text[self._at] in "*+?{":
                    raise Unsupported("a repetition of a repetition")
            parts.append(part)
        return _sequence(parts)

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return bounds
        return self._braces() if self._take("{") else None

    def _braces(self) -> tuple[int, int | None]:
        least = self._number()
        most: int | None = least
        if self._take(","):
            most = None if self._peek("}") else self._number()
        if not self._take("}") or (most is not None and most < least):
            raise Unsupported("a brace that is no repetition")
        return least, most

    def _number(self) -> int:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] in "0123456789":
            self._at += 1
        digits = self._text[start : self._at]
        if not 0 < len(digits) <= len(str(_MAX_REPEAT)) or int(digits) > _MAX_REPEAT:
            raise Unsupported("a brace that is no repetition")
        return int(digits)

    def _atom(self) -> _Part:
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return _one("char", self._char_class())
        if char == "\\":
            return self._escaped()
        if char in "*+?{":
            raise Unsupported(f"`{char}` without an expression before it")
        if char in "^$":
            return _one("begin" if char == "^" else "end")
        point = ord(char)
        return _one("char", _ANY_BUT_NEWLINE if char == "." else ((point, point),))

    def _group(self) -> _Part:
        if self._take("?") and not self._take(":"):
            raise Unsupported("a group with flags or a name")
        part = self._alternation()
        if not self._take(")"):
            raise Unsupported("a group that is not closed")
        return part

    def _escaped(self) -> _Part:
        if self._take("A"):
            return _one("begin")
        if self._take("z"):
            return _one("end")
        return _one("char", self._escape())

    def _escape(self) -> Ranges:
        char = self._next()
        for sign, ranges in (("d", _DIGIT), ("s", _SPACE), ("w", _WORD)):
            if char == sign:
                return ranges
            if char == sign.upper():
                return _complement(ranges)
        if char in _CONTROLS:
            return ((_CONTROLS[char], _CONTROLS[char]),)
        if char not in _PUNCTUATION or char == " ":
            raise Unsupported(f"`\\{char}`")
        return ((ord(char), ord(char)),)

    def _char_class(self) -> Ranges:
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self._peek("]"):
            first = False
            if self._peek("[:"):
                raise Unsupported("a POSIX class")
            item = self._class_item()
            if self._peek("-") and not self._peek("-]"):
                self._at += 1
                last = self._class_item()
                if len(item) != 1 or len(last) != 1 or item[0][0] != item[0][1] or last[0][0] != last[0][1]:
                    raise Unsupported("a range of classes")
                if last[0][0] < item[0][0]:
                    raise Unsupported("a range without characters")
                item = ((item[0][0], last[0][0]),)
            ranges += item
        self._at += 1
        return _complement(tuple(ranges)) if negated else tuple(ranges)

    def _class_item(self) -> Ranges:
        char = self._next()
        return self._escape() if char == "\\" else ((ord(char), ord(char)),)
