"""Field selectors and the parser of their text form.

Mirrors k8s.io/apimachinery/pkg/fields/selector.go. Selectors are immutable, so a copy returns the selector itself.
`matches` accepts any mapping of texts; a missing field counts as "".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from clientgo.apimachinery.fields.fields import Fields
from clientgo.apimachinery.fields.requirements import Requirement, Requirements
from clientgo.apimachinery.selection.operator import Operator

FieldsLike: TypeAlias = Mapping[str, str] | Fields
"""The types that `matches` accepts."""

TransformFunc: TypeAlias = Callable[[str, str], tuple[str, str]]
"""A function that returns the (field, value) to use in place of another; ("", "") drops the requirement.

Go: fields.TransformFunc.
"""


class Selector(Protocol):
    """A filter of objects by their fields. str() returns the text that `parse_selector` reads. Go: fields.Selector."""

    def matches(self, fields: FieldsLike, /) -> bool:
        """Report whether an object with these fields matches."""
        ...

    def empty(self) -> bool:
        """Report whether the selector matches everything."""
        ...

    def requires_exact_match(self, field: str) -> tuple[str, bool]:
        """Return the only value that the field may have, and whether there is such a requirement."""
        ...

    def transform(self, fn: TransformFunc) -> Selector:
        """Return a new selector with every requirement transformed by `fn`. Errors of `fn` propagate."""
        ...

    def requirements(self) -> Requirements:
        """Return the requirements."""
        ...

    def __str__(self) -> str: ...

    def deep_copy_selector(self) -> Selector:
        """Return a copy that shares no mutable state."""
        ...


@dataclass(frozen=True, slots=True)
class _NothingSelector:
    """A selector that matches no object. Go: fields.nothingSelector."""

    def matches(self, fields: FieldsLike, /) -> bool:
        return False

    def empty(self) -> bool:
        return False

    def requires_exact_match(self, field: str) -> tuple[str, bool]:
        return "", False

    def transform(self, fn: TransformFunc) -> Selector:
        return self

    def requirements(self) -> Requirements:
        return Requirements()

    def __str__(self) -> str:
        return ""

    def deep_copy_selector(self) -> Selector:
        return self


def nothing() -> Selector:
    """Return a selector that matches no object. Go: fields.Nothing."""
    return _NothingSelector()


def everything() -> Selector:
    """Return a selector that matches every object. Go: fields.Everything."""
    return _AndTerm(())


@dataclass(frozen=True, slots=True)
class _HasTerm:
    """A selector that requires a value of a field. Go: fields.hasTerm."""

    field: str
    value: str

    def matches(self, fields: FieldsLike, /) -> bool:
        return _value_of(fields, self.field) == self.value

    def empty(self) -> bool:
        return False

    def requires_exact_match(self, field: str) -> tuple[str, bool]:
        return (self.value, True) if field == self.field else ("", False)

    def transform(self, fn: TransformFunc) -> Selector:
        field, value = fn(self.field, self.value)
        return _HasTerm(field, value) if field or value else everything()

    def requirements(self) -> Requirements:
        return Requirements([Requirement(operator=Operator.EQUALS, field=self.field, value=self.value)])

    def __str__(self) -> str:
        return f"{self.field}={escape_value(self.value)}"

    def deep_copy_selector(self) -> Selector:
        return self


@dataclass(frozen=True, slots=True)
class _NotHasTerm:
    """A selector that excludes a value of a field. Go: fields.notHasTerm."""

    field: str
    value: str

    def matches(self, fields: FieldsLike, /) -> bool:
        return _value_of(fields, self.field) != self.value

    def empty(self) -> bool:
        return False

    def requires_exact_match(self, field: str) -> tuple[str, bool]:
        return "", False

    def transform(self, fn: TransformFunc) -> Selector:
        field, value = fn(self.field, self.value)
        return _NotHasTerm(field, value) if field or value else everything()

    def requirements(self) -> Requirements:
        return Requirements([Requirement(operator=Operator.NOT_EQUALS, field=self.field, value=self.value)])

    def __str__(self) -> str:
        return f"{self.field}!={escape_value(self.value)}"

    def deep_copy_selector(self) -> Selector:
        return self


@dataclass(frozen=True, slots=True)
class _AndTerm:
    """A selector that matches if all of its selectors match. Go: fields.andTerm."""

    terms: tuple[Selector, ...]

    def matches(self, fields: FieldsLike, /) -> bool:
        return all(term.matches(fields) for term in self.terms)

    def empty(self) -> bool:
        return all(term.empty() for term in self.terms)

    def requires_exact_match(self, field: str) -> tuple[str, bool]:
        for term in self.terms:
            value, found = term.requires_exact_match(field)
            if found:
                return value, True
        return "", False

    def transform(self, fn: TransformFunc) -> Selector:
        transformed = [term.transform(fn) for term in self.terms]
        return _AndTerm(tuple(term for term in transformed if not term.empty()))

    def requirements(self) -> Requirements:
        return Requirements(requirement for term in self.terms for requirement in term.requirements())

    def __str__(self) -> str:
        return ",".join(str(term) for term in self.terms)

    def deep_copy_selector(self) -> Selector:
        return self


def _value_of(fields: FieldsLike, field: str) -> str:
    if isinstance(fields, (dict, Mapping)):
        return fields[field] if field in fields else ""  # noqa: SIM401 (a Set's get has its own default)
    return fields.get(field)


def selector_from_set(ls: Mapping[str, str] | None) -> Selector:
    """Return a selector for objects with all these values; None matches everything. Go: fields.SelectorFromSet."""
    if ls is None:
        return everything()
    items = [_HasTerm(field, value) for field, value in ls.items()]
    return items[0] if len(items) == 1 else _AndTerm(tuple(items))


_ESCAPES: Final = str.maketrans({"\\": r"\\", ",": r"\,", "=": r"\="})


def escape_value(s: str) -> str:
    r"""Escape backslash, comma and equals sign. Go: fields.EscapeValue.

    >>> print(escape_value("a=b,c"))
    a\=b\,c
    """
    return s.translate(_ESCAPES)


class InvalidEscapeSequence(ValueError):
    """Raised for a backslash at the end or before a character that needs no escape.

    Go: fields.InvalidEscapeSequence.
    """

    def __init__(self, sequence: str) -> None:
        super().__init__(sequence)
        self._sequence = sequence

    def __str__(self) -> str:
        return f"invalid field selector: invalid escape sequence: {self._sequence}"


class UnescapedRune(ValueError):
    """Raised for a comma or an equals sign in a value without a backslash. Go: fields.UnescapedRune."""

    def __init__(self, r: str) -> None:
        super().__init__(r)
        self._rune = r

    def __str__(self) -> str:
        # Go prints the character's number.
        return f"invalid field selector: unescaped character in value: {ord(self._rune)}"


def unescape_value(s: str) -> str:
    """Undo escape_value. Raises InvalidEscapeSequence or UnescapedRune. Go: fields.UnescapeValue."""
    value: list[str] = []
    characters = iter(s)
    for char in characters:
        if char in ",=":
            raise UnescapedRune(char)
        if char != "\\":
            value.append(char)
            continue
        escaped = next(characters, "")
        if escaped not in ("\\", ",", "="):
            raise InvalidEscapeSequence(f"\\{escaped}")
        value.append(escaped)
    return "".join(value)


def parse_selector_or_die(s: str) -> Selector:
    """Parse a constant. Raises ValueError (Go panics). Go: fields.ParseSelectorOrDie."""
    return parse_selector(s)


def parse_selector(selector: str) -> Selector:
    r"""Parse a selector such as `metadata.name=a,status.phase!=Running`. Raises ValueError. Go: fields.ParseSelector.

    >>> str(parse_selector(r"b!=x,a==1\,2"))
    'a=1\\,2,b!=x'
    """
    return parse_and_transform_selector(selector, lambda field, value: (field, value))


def parse_and_transform_selector(selector: str, fn: TransformFunc) -> Selector:
    """Parse a selector and transform every requirement with `fn`. Raises ValueError.

    Go: fields.ParseAndTransformSelector.
    """
    items = [_parse_term(selector, part) for part in sorted(_split_terms(selector)) if part]
    if len(items) == 1:
        return items[0].transform(fn)
    return _AndTerm(tuple(items)).transform(fn)


def _parse_term(selector: str, part: str) -> Selector:
    field, operator, escaped = _split_term(part)
    if not operator:
        raise ValueError(f"invalid selector: '{selector}'; can't understand '{part}'")
    value = unescape_value(escaped)
    return _NotHasTerm(field, value) if operator == "!=" else _HasTerm(field, value)


def _split_terms(field_selector: str) -> list[str]:
    """Split at the commas without a backslash before them. Go: fields.splitTerms."""
    terms: list[str] = []
    start = 0
    escaped = False
    for position, char in enumerate(field_selector):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == ",":
            terms.append(field_selector[start:position])
            start = position + 1
    terms.append(field_selector[start:])
    return terms


_TERM_OPERATORS: Final = ("!=", "==", "=")


def _split_term(term: str) -> tuple[str, str, str]:
    """Return field, first operator and value; the operator is "" if there is none. Go: fields.splitTerm."""
    for position in range(len(term)):
        for operator in _TERM_OPERATORS:
            if term.startswith(operator, position):
                return term[:position], operator, term[position + len(operator) :]
    return "", "", ""


def one_term_equal_selector(k: str, v: str) -> Selector:
    """Return a selector that requires the value `v` of the field `k`. Go: fields.OneTermEqualSelector."""
    return _HasTerm(k, v)


def one_term_not_equal_selector(k: str, v: str) -> Selector:
    """Return a selector that excludes the value `v` of the field `k`. Go: fields.OneTermNotEqualSelector."""
    return _NotHasTerm(k, v)


def and_selectors(*selectors: Selector) -> Selector:
    """Return a selector that matches if all the selectors match. Go: fields.AndSelectors."""
    return _AndTerm(selectors)
