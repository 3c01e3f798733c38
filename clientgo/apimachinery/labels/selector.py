"""Label selectors and the parser of their text form.

Mirrors k8s.io/apimachinery/pkg/labels/selector.go. `matches` accepts any mapping of texts, or an object with the
methods of Go's Labels. Requirements and selectors are immutable, so a copy returns the selector itself. The parser
accepts exactly the texts that Go's does, including unusual ones (`a in ()`, `a in (,b)`, a key named `in`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from clientgo.apimachinery.api.validate import content
from clientgo.apimachinery.labels.labels import Labels, Set
from clientgo.apimachinery.selection.operator import Operator
from clientgo.apimachinery.util.validation import field
from clientgo.golang.strconv import parse_int

_UNARY_OPERATORS: Final = (Operator.EXISTS, Operator.DOES_NOT_EXIST)
_BINARY_OPERATORS: Final = (
    Operator.IN,
    Operator.NOT_IN,
    Operator.EQUALS,
    Operator.DOUBLE_EQUALS,
    Operator.NOT_EQUALS,
    Operator.GREATER_THAN,
    Operator.LESS_THAN,
)
_VALID_REQUIREMENT_OPERATORS: Final = _BINARY_OPERATORS + _UNARY_OPERATORS

LabelsLike: TypeAlias = Mapping[str, str] | Labels
"""The types that `matches` accepts."""


class Requirements(list["Requirement"]):
    """A list of requirements that must all be met. Go: labels.Requirements."""

    def __str__(self) -> str:
        return ", ".join(str(requirement) for requirement in self)


class Selector(Protocol):
    """A filter of objects by their labels. str() returns the text that `parse` reads. Go: labels.Selector."""

    def matches(self, labels: LabelsLike, /) -> bool:
        """Report whether an object with these labels matches."""
        ...

    def empty(self) -> bool:
        """Report whether the selector matches everything."""
        ...

    def __str__(self) -> str: ...

    def add(self, *r: Requirement) -> Selector:
        """Return a new selector with these additional requirements."""
        ...

    def requirements(self) -> tuple[Requirements, bool]:
        """Return the requirements, and whether any object can match."""
        ...

    def deep_copy_selector(self) -> Selector:
        """Return a copy that shares no mutable state."""
        ...

    def requires_exact_match(self, label: str) -> tuple[str, bool]:
        """Return the only value that the label may have, and whether there is such a requirement."""
        ...


def everything() -> Selector:
    """Return a selector that matches every object. Go: labels.Everything."""
    return _SHARED_EVERYTHING_SELECTOR


class _NothingSelector:
    """A selector that matches no object, also after `add`. Go: labels.nothingSelector."""

    __slots__ = ()

    def matches(self, labels: LabelsLike, /) -> bool:
        return False

    def empty(self) -> bool:
        return False

    def __str__(self) -> str:
        return ""

    def __repr__(self) -> str:
        return "<Selector nothing>"

    def add(self, *r: Requirement) -> Selector:
        return self

    def requirements(self) -> tuple[Requirements, bool]:
        return Requirements(), False

    def deep_copy_selector(self) -> Selector:
        return self

    def requires_exact_match(self, label: str) -> tuple[str, bool]:
        return "", False


_SHARED_NOTHING_SELECTOR: Final = _NothingSelector()


def nothing() -> Selector:
    """Return a selector that matches no object. Go: labels.Nothing."""
    return _SHARED_NOTHING_SELECTOR


def matches_nothing(selector: Selector) -> bool:
    """Report whether the selector is the result of `nothing`. Go: labels.MatchesNothing."""
    return selector is _SHARED_NOTHING_SELECTOR


def new_selector() -> Selector:
    """Return a selector without requirements; use `add` to extend it. Go: labels.NewSelector."""
    return _InternalSelector(())


class _InternalSelector:
    """A selector with requirements, sorted by key, that must all be met. Go: labels.internalSelector."""

    __slots__ = ("_requirements",)

    def __init__(self, requirements: Iterable[Requirement]) -> None:
        self._requirements = tuple(requirements)

    def matches(self, labels: LabelsLike, /) -> bool:
        found = _as_mapping(labels)
        # A plain loop, since it runs for every object of a watch and a generator is slower.
        for requirement in self._requirements:  # noqa: SIM110
            if not requirement._test(found):
                return False
        return True

    def empty(self) -> bool:
        return not self._requirements

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self._requirements)

    def __repr__(self) -> str:
        return f"<Selector {self}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _InternalSelector):
            return NotImplemented
        return self._requirements == other._requirements

    def __hash__(self) -> int:
        return hash(self._requirements)

    def add(self, *r: Requirement) -> Selector:
        return _InternalSelector(_by_key((*self._requirements, *r)))

    def requirements(self) -> tuple[Requirements, bool]:
        return Requirements(self._requirements), True

    def deep_copy_selector(self) -> Selector:
        return self

    def requires_exact_match(self, label: str) -> tuple[str, bool]:
        for requirement in self._requirements:
            if requirement._key != label:
                continue
            if requirement._operator in _POSITIVE and len(requirement._values) == 1:
                return requirement._values[0], True
            return "", False
        return "", False


_SHARED_EVERYTHING_SELECTOR: Final = _InternalSelector(())


def _by_key(requirements: Iterable[Requirement]) -> list[Requirement]:
    return sorted(requirements, key=lambda requirement: requirement._key)


class ByKey(list["Requirement"]):
    """A list of requirements with Go's sort methods; `sort()` sorts by key. Go: labels.ByKey."""

    def sort(self, *, key: Callable[[Requirement], Any] | None = None, reverse: bool = False) -> None:
        """Sort the requirements in place, by their keys unless `key` selects another order."""
        super().sort(key=key or (lambda requirement: requirement._key), reverse=reverse)

    def len(self) -> int:
        """Return the number of requirements. Go: ByKey.Len."""
        return len(self)

    def swap(self, i: int, j: int) -> None:
        """Swap two requirements, given by their indices. Go: ByKey.Swap."""
        self[i], self[j] = self[j], self[i]

    def less(self, i: int, j: int) -> bool:
        """Report whether the key of requirement `i` sorts before that of `j`. Go: ByKey.Less."""
        return self[i]._key < self[j]._key


_POSITIVE: Final = frozenset({Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS})
_NEGATIVE: Final = frozenset({Operator.NOT_IN, Operator.NOT_EQUALS})
_ORDERING: Final = frozenset({Operator.GREATER_THAN, Operator.LESS_THAN})


class Requirement:
    """A requirement of one label: key, operator and values. Immutable; use `new_requirement` to make it.

    Go: labels.Requirement.
    """

    __slots__ = ("_key", "_operator", "_test", "_values")

    def __init__(self, key: str, operator: Operator, values: Iterable[str] = ()) -> None:
        """Initialize a requirement without validation; `new_requirement` validates."""
        self._key = key
        self._operator = operator
        self._values = tuple(values)
        # The requirement as a function, chosen once, since it runs for every object of every watch event.
        self._test = _make_test(key, operator, self._values)

    def matches(self, ls: LabelsLike) -> bool:
        """Report whether the labels meet the requirement. Never raises. Go: Requirement.Matches."""
        return self._test(_as_mapping(ls))

    def key(self) -> str:
        """Return the label's key. Go: Requirement.Key."""
        return self._key

    def operator(self) -> Operator:
        """Return the operator. Go: Requirement.Operator."""
        return self._operator

    def values(self) -> set[str]:
        """Return a new set of the values. Go: Requirement.Values."""
        return set(self._values)

    def values_unsorted(self) -> list[str]:
        """Return the values in the order given. Go: Requirement.ValuesUnsorted."""
        return list(self._values)

    def equal(self, x: Requirement) -> bool:
        """Report whether key, operator and the order of the values are equal. Go: Requirement.Equal."""
        return self._key == x._key and self._operator == x._operator and self._values == x._values

    def __eq__(self, other: object) -> bool:
        return self.equal(other) if isinstance(other, Requirement) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._key, self._operator, self._values))

    def __str__(self) -> str:
        if self._operator is Operator.DOES_NOT_EXIST:
            return f"!{self._key}"
        if self._operator is Operator.EXISTS:
            return self._key
        values = ",".join(sorted(self._values))
        if self._operator in (Operator.IN, Operator.NOT_IN):
            return f"{self._key} {self._operator} ({values})"
        return f"{self._key}{_SYMBOLS.get(self._operator, self._operator)}{values}"

    def __repr__(self) -> str:
        return f"<Requirement {self}>"


_SYMBOLS: Final = {Operator.GREATER_THAN: ">", Operator.LESS_THAN: "<"}


class _LabelsAsMapping(dict[str, str]):
    """An adapter from Go-style Labels to the mapping that the requirements' functions expect."""

    def __init__(self, labels: Labels) -> None:
        super().__init__()
        self._labels = labels

    def __contains__(self, key: object) -> bool:
        return self._labels.has(str(key))

    def __getitem__(self, key: str) -> str:
        return self._labels.get(key)


def _as_mapping(labels: LabelsLike) -> Mapping[str, str]:
    if isinstance(labels, (dict, Mapping)):
        return labels
    return _LabelsAsMapping(labels)


def _make_test(key: str, operator: Operator, values: tuple[str, ...]) -> Callable[[Mapping[str, str]], bool]:
    if operator in _POSITIVE:
        if len(values) == 1:
            wanted = values[0]
            return lambda labels: key in labels and labels[key] == wanted
        return lambda labels: key in labels and labels[key] in values
    if operator in _NEGATIVE:
        return lambda labels: key not in labels or labels[key] not in values
    if operator is Operator.EXISTS:
        return lambda labels: key in labels
    if operator is Operator.DOES_NOT_EXIST:
        return lambda labels: key not in labels
    if operator in _ORDERING and len(values) == 1:
        return _make_ordering_test(key, operator, values[0])
    return lambda labels: False


def _make_ordering_test(key: str, operator: Operator, value: str) -> Callable[[Mapping[str, str]], bool]:
    limit = _int_or_none(value)
    if limit is None:
        return lambda labels: False
    greater = operator is Operator.GREATER_THAN

    def test(labels: Mapping[str, str]) -> bool:
        found = _int_or_none(labels[key]) if key in labels else None
        if found is None:
            return False
        return found > limit if greater else found < limit

    return test


def _int_or_none(text: str) -> int | None:
    try:
        return parse_int(text)
    except ValueError:
        return None


def new_requirement(
    key: str, op: Operator | str, vals: Iterable[str] | None = None, *opts: field.PathOption
) -> Requirement:
    """Return a validated requirement.

    Raises an Aggregate of field errors for an invalid combination of key, operator and values.
    Go: labels.NewRequirement.
    """
    values = None if vals is None else list(vals)
    path = field.to_path(*opts)
    errs = field.ErrorList()
    if messages := content.is_label_key(key):
        errs.append(field.invalid(field.child(path, "key"), key, "; ".join(messages)))
    values_path = field.child(path, "values")
    operator = _operator_or_none(op)
    if operator is None:
        known = [str(each) for each in _VALID_REQUIREMENT_OPERATORS]
        errs.append(field.not_supported(field.child(path, "operator"), op, known))
    else:
        errs.extend(_check_values(operator, values, values_path))
    for index, value in enumerate(values or ()):
        if messages := content.is_label_value(value):
            errs.append(field.invalid(values_path.index(index).key(key), value, "; ".join(messages)))
    if aggregate := errs.to_aggregate():
        raise aggregate
    assert operator is not None
    return Requirement(key, operator, values or ())


def _operator_or_none(op: Operator | str) -> Operator | None:
    try:
        return Operator(op)
    except ValueError:
        return None


def _check_values(operator: Operator, values: list[str] | None, path: field.Path) -> field.ErrorList:
    """Return the errors of the values: their number must suit the operator, and gt and lt need integers."""
    errs = field.ErrorList()
    count = len(values or ())
    if operator in (Operator.IN, Operator.NOT_IN):
        if count == 0:
            errs.append(field.invalid(path, values, "for 'in', 'notin' operators, values set can't be empty"))
    elif operator in _UNARY_OPERATORS:
        if count != 0:
            errs.append(field.invalid(path, values, "values set must be empty for exists and does not exist"))
    elif operator in _ORDERING:
        if count != 1:
            errs.append(field.invalid(path, values, "for 'Gt', 'Lt' operators, exactly one value is required"))
        for index, value in enumerate(values or ()):
            if _int_or_none(value) is None:
                rule = "for 'Gt', 'Lt' operators, the value must be an integer"
                errs.append(field.invalid(path.index(index), value, rule))
    elif count != 1:
        errs.append(field.invalid(path, values, "exact-match compatibility requires one single value"))
    return errs


class Token(IntEnum):
    """The kinds of tokens in a selector. Go: labels.Token."""

    ERROR = 0
    END_OF_STRING = 1
    CLOSED_PAR = 2
    COMMA = 3
    DOES_NOT_EXIST = 4
    DOUBLE_EQUALS = 5
    EQUALS = 6
    GREATER_THAN = 7
    IDENTIFIER = 8
    IN = 9
    LESS_THAN = 10
    NOT_EQUALS = 11
    NOT_IN = 12
    OPEN_PAR = 13


_STRING_TO_TOKEN: Final = {
    ")": Token.CLOSED_PAR,
    ",": Token.COMMA,
    "!": Token.DOES_NOT_EXIST,
    "==": Token.DOUBLE_EQUALS,
    "=": Token.EQUALS,
    ">": Token.GREATER_THAN,
    "in": Token.IN,
    "<": Token.LESS_THAN,
    "!=": Token.NOT_EQUALS,
    "notin": Token.NOT_IN,
    "(": Token.OPEN_PAR,
}
_TOKEN_TO_OPERATOR: Final = {
    Token.IN: Operator.IN,
    Token.EQUALS: Operator.EQUALS,
    Token.DOUBLE_EQUALS: Operator.DOUBLE_EQUALS,
    Token.GREATER_THAN: Operator.GREATER_THAN,
    Token.LESS_THAN: Operator.LESS_THAN,
    Token.NOT_IN: Operator.NOT_IN,
    Token.NOT_EQUALS: Operator.NOT_EQUALS,
}


class ScannedItem(NamedTuple):
    """A token and its text. Go: labels.ScannedItem."""

    tok: Token
    literal: str


# Go's byte reader treats NUL as the end of the text, also within a word.
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_WORD: Final = re.compile(r"[^=!(),>< \t\r\n\0]+")
_SYMBOL: Final = re.compile(r"==|!=|[=!(),><]")


class Lexer:
    """A lexer that splits a selector's text into tokens. Not thread-safe. Go: labels.Lexer."""

    __slots__ = ("_pos", "_text")

    def __init__(self, s: str) -> None:
        self._text = s
        self._pos = 0

    def lex(self) -> tuple[Token, str]:
        """Return the next token and its text; END_OF_STRING after the end of the text. Go: Lexer.Lex."""
        text = self._text
        start = self._pos = self._end_of(_BLANKS)
        if start >= len(text) or text[start] == "\0":
            self._pos = min(start + 1, len(text))
            return Token.END_OF_STRING, ""
        if symbol := _SYMBOL.match(text, start):
            self._move_to(symbol.end())
            return _STRING_TO_TOKEN[symbol.group()], symbol.group()
        self._move_to(self._end_of(_WORD))
        word = text[start : self._pos].rstrip("\0")
        return _STRING_TO_TOKEN.get(word, Token.IDENTIFIER), word

    def _move_to(self, end: int) -> None:
        """Continue at `end`. Skips a NUL there, which has ended the token, as Go's reader does."""
        self._pos = end + 1 if self._text[end : end + 1] == "\0" else end

    def _end_of(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._pos)
        return match.end() if match else self._pos


class ParserContext(IntEnum):
    """The interpretation of `in` and `notin`: as operators or as plain words. Go: labels.ParserContext."""

    KEY_AND_OPERATOR = 0
    VALUES = 1


class Parser:
    """A recursive descent parser of one selector. Go: labels.Parser."""

    def __init__(self, l: Lexer, path: field.Path | None = None) -> None:  # noqa: E741 (Go's name)
        self._lexer = l
        self._path = path
        self._items: list[ScannedItem] = []
        self._position = 0

    def _lookahead(self, context: ParserContext = ParserContext.VALUES) -> tuple[Token, str]:
        tok, literal = self._items[self._position]
        if context is ParserContext.VALUES and tok in (Token.IN, Token.NOT_IN):
            tok = Token.IDENTIFIER
        return tok, literal

    def _consume(self, context: ParserContext = ParserContext.VALUES) -> tuple[Token, str]:
        item = self._lookahead(context)
        self._position += 1
        return item

    def _scan(self) -> None:
        while True:
            tok, literal = self._lexer.lex()
            self._items.append(ScannedItem(tok, literal))
            if tok is Token.END_OF_STRING:
                return

    def _parse(self) -> list[Requirement]:
        """Return all requirements in their order. Raises ValueError."""
        self._scan()
        requirements: list[Requirement] = []
        tok, literal = self._lookahead()
        if tok is Token.END_OF_STRING:
            return requirements
        if tok not in _REQUIREMENT_STARTS:
            raise ValueError(f"found '{literal}', expected: !, identifier, or 'end of string'")
        while True:
            try:
                requirements.append(self._parse_requirement())
            except Exception as err:
                # Not `from err`: Go formats with %v, so the causes are not part of the chain.
                raise ValueError(f"unable to parse requirement: {err}") from None
            tok, literal = self._consume()
            if tok is Token.END_OF_STRING:
                return requirements
            if tok is not Token.COMMA:
                raise ValueError(f"found '{literal}', expected: ',' or 'end of string'")
            tok, literal = self._lookahead()
            if tok not in _REQUIREMENT_STARTS:
                raise ValueError(f"found '{literal}', expected: identifier after ','")

    def _parse_requirement(self) -> Requirement:
        key, operator = self._parse_key_and_infer_operator()
        if operator is not None:
            return new_requirement(key, operator, [], field.with_path(self._path))
        operator = self._parse_operator()
        values = self._parse_values() if operator in (Operator.IN, Operator.NOT_IN) else self._parse_exact_value()
        return new_requirement(key, operator, sorted(values), field.with_path(self._path))

    def _parse_key_and_infer_operator(self) -> tuple[str, Operator | None]:
        """Return the key, and the operator if it is known already: for `!key`, or for a key alone."""
        operator = None
        tok, literal = self._consume()
        if tok is Token.DOES_NOT_EXIST:
            operator = Operator.DOES_NOT_EXIST
            tok, literal = self._consume()
        if tok is not Token.IDENTIFIER:
            raise ValueError(f"found '{literal}', expected: identifier")
        _validate_label_key(literal, self._path)
        if operator is None and self._lookahead()[0] in (Token.END_OF_STRING, Token.COMMA):
            operator = Operator.EXISTS
        return literal, operator

    def _parse_operator(self) -> Operator:
        tok, literal = self._consume(ParserContext.KEY_AND_OPERATOR)
        operator = _TOKEN_TO_OPERATOR.get(tok)
        if operator is None:
            raise ValueError(f"found '{literal}', expected: {', '.join(_BINARY_OPERATORS)}")
        return operator

    def _parse_values(self) -> set[str]:
        """Return the values in parentheses."""
        tok, literal = self._consume()
        if tok is not Token.OPEN_PAR:
            raise ValueError(f"found '{literal}' expected: '('")
        tok, literal = self._lookahead()
        if tok is Token.CLOSED_PAR:
            self._consume()
            return {""}
        if tok not in (Token.IDENTIFIER, Token.COMMA):
            raise ValueError(f"found '{literal}', expected: ',', ')' or identifier")
        values = self._parse_identifiers_list()
        if self._consume()[0] is not Token.CLOSED_PAR:
            raise ValueError(f"found '{literal}', expected: ')'")
        return values

    def _parse_identifiers_list(self) -> set[str]:
        """Parse values up to the closing parenthesis, without consuming it. Nothing between two commas means ""."""
        values: set[str] = set()
        while True:
            tok, literal = self._consume()
            following, following_literal = self._lookahead() if tok is not Token.END_OF_STRING else (tok, "")
            if tok is Token.IDENTIFIER:
                values.add(literal)
                if following is Token.CLOSED_PAR:
                    return values
                if following is not Token.COMMA:
                    raise ValueError(f"found '{following_literal}', expected: ',' or ')'")
            elif tok is Token.COMMA:
                if not values or following in (Token.CLOSED_PAR, Token.COMMA):
                    values.add("")
                if following is Token.CLOSED_PAR:
                    return values
            else:
                raise ValueError(f"found '{literal}', expected: ',', or identifier")

    def _parse_exact_value(self) -> set[str]:
        """Parse the value after `=`; a missing value means ""."""
        if self._lookahead()[0] in (Token.END_OF_STRING, Token.COMMA):
            return {""}
        tok, literal = self._consume()
        if tok is not Token.IDENTIFIER:
            raise ValueError(f"found '{literal}', expected: identifier")
        return {literal}


_REQUIREMENT_STARTS: Final = (Token.IDENTIFIER, Token.DOES_NOT_EXIST)


def parse(selector: str, *opts: field.PathOption) -> Selector:
    """Parse a selector such as `app=web,tier in (a,b),!canary,weight>3`. Raises ValueError. Go: labels.Parse.

    >>> parse("tier notin (b, a), app=web")
    <Selector app=web,tier notin (a,b)>
    """
    return _InternalSelector(parse_to_requirements(selector, *opts))


def _validate_label_key(k: str, path: field.Path | None) -> None:
    if messages := content.is_label_key(k):
        raise field.invalid(path, k, "; ".join(messages))


def _validate_label_value(k: str, v: str, path: field.Path | None) -> None:
    if messages := content.is_label_value(v):
        raise field.invalid(field.Path(index=k, parent=path), v, "; ".join(messages))


def selector_from_set(ls: Mapping[str, str] | None) -> Selector:
    """Return a selector for objects with all these labels, without validation. Go: labels.SelectorFromSet."""
    return selector_from_validated_set(ls)


def validated_selector_from_set(ls: Mapping[str, str] | None) -> Selector:
    """Return a selector for objects with all these labels. Raises the error of the first invalid key or value.

    Go: labels.ValidatedSelectorFromSet.
    """
    requirements = [new_requirement(label, Operator.EQUALS, [value]) for label, value in (ls or {}).items()]
    return _InternalSelector(_by_key(requirements))


def selector_from_validated_set(ls: Mapping[str, str] | None) -> Selector:
    """Return a selector for objects with all these labels, which must be valid. Go: labels.SelectorFromValidatedSet."""
    requirements = [Requirement(label, Operator.EQUALS, (value,)) for label, value in (ls or {}).items()]
    return _InternalSelector(_by_key(requirements))


def parse_to_requirements(selector: str, *opts: field.PathOption) -> Requirements:
    """Return the requirements of a selector's text, in order of their keys. Raises ValueError.

    Go: labels.ParseToRequirements.
    """
    return Requirements(_by_key(Parser(Lexer(selector), field.to_path(*opts))._parse()))


class ValidatedSetSelector(Set):
    """A set of labels that is its own selector, which is cheap to create and to match.

    Go: labels.ValidatedSetSelector.
    """

    __slots__ = ()

    def matches(self, labels: LabelsLike, /) -> bool:
        """Report whether `labels` contains all labels of the selector. Go: ValidatedSetSelector.Matches."""
        found = _as_mapping(labels)
        for key, value in self.items():  # noqa: SIM110 (as in _InternalSelector)
            if key not in found or found[key] != value:
                return False
        return True

    def empty(self) -> bool:
        """Report whether the selector matches everything. Go: ValidatedSetSelector.Empty."""
        return not self

    def add(self, *r: Requirement) -> Selector:
        """Return a selector with more requirements. Go: ValidatedSetSelector.Add."""
        return self._to_full_selector().add(*r)

    def requirements(self) -> tuple[Requirements, bool]:
        """Return the requirements, and True since they can be selected. Go: ValidatedSetSelector.Requirements."""
        return self._to_full_selector().requirements()

    def deep_copy_selector(self) -> Selector:
        """Return a copy of the selector. Go: ValidatedSetSelector.DeepCopySelector."""
        return ValidatedSetSelector(self)

    def requires_exact_match(self, label: str) -> tuple[str, bool]:
        """Return the only value that matches for a label, and whether there is one.

        Go: ValidatedSetSelector.RequiresExactMatch.
        """
        return self.lookup(label)

    def _to_full_selector(self) -> Selector:
        return selector_from_validated_set(self)

    def __str__(self) -> str:
        # Sorted by key, not by `key=value` as in Set: the orders differ for keys that continue with `-` or `.`.
        return ",".join(f"{key}={self[key]}" for key in sorted(self))
