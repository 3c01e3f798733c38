"""Errors of a document's fields, and lists of them.

Mirrors k8s.io/apimachinery/pkg/util/validation/field/errors.go, without the marks for Kubernetes' generated
("declarative") validation, which only kube-apiserver reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

from clientgo.apimachinery.util import json as utiljson
from clientgo.apimachinery.util.errors import AggregateError, Matcher, new_aggregate
from clientgo.apimachinery.util.validation.field.path import Path, text
from clientgo.golang.strconv import quote


class ErrorType(str):
    """Machine-readable kind of a field error; a Status cause carries it as its reason. Go: field.ErrorType."""

    __slots__ = ()

    NOT_FOUND: ClassVar[ErrorType]
    REQUIRED: ClassVar[ErrorType]
    DUPLICATE: ClassVar[ErrorType]
    INVALID: ClassVar[ErrorType]
    NOT_SUPPORTED: ClassVar[ErrorType]
    FORBIDDEN: ClassVar[ErrorType]
    TOO_LONG: ClassVar[ErrorType]
    TOO_MANY: ClassVar[ErrorType]
    TOO_FEW: ClassVar[ErrorType]
    INTERNAL: ClassVar[ErrorType]
    TYPE_INVALID: ClassVar[ErrorType]
    TOO_SHORT: ClassVar[ErrorType]

    def words(self) -> str:
        """Return the text for messages, for example "Required value". Go: ErrorType.String."""
        return _WORDS.get(self) or f"<unknown error {quote(str(self))}>"


ErrorType.NOT_FOUND = ErrorType("FieldValueNotFound")
ErrorType.REQUIRED = ErrorType("FieldValueRequired")
ErrorType.DUPLICATE = ErrorType("FieldValueDuplicate")
ErrorType.INVALID = ErrorType("FieldValueInvalid")
ErrorType.NOT_SUPPORTED = ErrorType("FieldValueNotSupported")
ErrorType.FORBIDDEN = ErrorType("FieldValueForbidden")
ErrorType.TOO_LONG = ErrorType("FieldValueTooLong")
ErrorType.TOO_MANY = ErrorType("FieldValueTooMany")
ErrorType.TOO_FEW = ErrorType("FieldValueTooFew")
ErrorType.INTERNAL = ErrorType("InternalError")
ErrorType.TYPE_INVALID = ErrorType("FieldValueTypeInvalid")
ErrorType.TOO_SHORT = ErrorType("FieldValueTooShort")

_WORDS: Final[dict[str, str]] = {
    ErrorType.NOT_FOUND: "Not found",
    ErrorType.REQUIRED: "Required value",
    ErrorType.DUPLICATE: "Duplicate value",
    ErrorType.INVALID: "Invalid value",
    ErrorType.NOT_SUPPORTED: "Unsupported value",
    ErrorType.FORBIDDEN: "Forbidden",
    ErrorType.TOO_LONG: "Too long",
    ErrorType.TOO_MANY: "Too many",
    ErrorType.TOO_FEW: "Too few",
    ErrorType.INTERNAL: "Internal error",
    ErrorType.TYPE_INVALID: "Invalid value",
    ErrorType.TOO_SHORT: "Too short",
}
_WITHOUT_VALUE: Final = frozenset(
    {ErrorType.REQUIRED, ErrorType.FORBIDDEN, ErrorType.TOO_LONG, ErrorType.TOO_SHORT, ErrorType.INTERNAL}
)


class OmitValueType:
    """A placeholder for a value that a message omits. Go: field.OmitValueType."""

    def __repr__(self) -> str:
        return "<omitted>"


_OMIT_VALUE: Final = OmitValueType()


class Error(Exception):
    """An error of one field. Go: field.Error."""

    def __init__(self, type: ErrorType, field: str, bad_value: Any, detail: str = "", origin: str = "") -> None:
        super().__init__(type, field, bad_value, detail)
        self.type = type
        self.field = field
        self.bad_value = bad_value
        self.detail = detail
        self.origin = origin

    def __str__(self) -> str:
        return f"{self.field}: {self.error_body()}"

    def error_body(self) -> str:
        """Return the message without the field's path. Go: Error.ErrorBody."""
        body = self.type.words()
        if self.type not in _WITHOUT_VALUE and self.bad_value is not _OMIT_VALUE:
            body = f"{body}: {_value_text(self.bad_value)}"
        return f"{body}: {self.detail}" if self.detail else body

    def with_origin(self, o: str) -> Error:
        """Set the rule that the value violates, and return this error. Go: Error.WithOrigin."""
        self.origin = o
        return self


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    try:
        return utiljson.marshal(value)
    except (TypeError, ValueError):
        return str(value)


def type_invalid(field: Path | None, value: Any, detail: str) -> Error:
    """Return an error: the value has the wrong type. Go: field.TypeInvalid."""
    return Error(ErrorType.TYPE_INVALID, text(field), value, detail)


def not_found(field: Path | None, value: Any) -> Error:
    """Return an error: the value refers to a missing object. Go: field.NotFound."""
    return Error(ErrorType.NOT_FOUND, text(field), value)


def required(field: Path | None, detail: str) -> Error:
    """Return an error: a required value is missing. Go: field.Required."""
    return Error(ErrorType.REQUIRED, text(field), "", detail)


def duplicate(field: Path | None, value: Any) -> Error:
    """Return an error: the value must be unique. Go: field.Duplicate."""
    return Error(ErrorType.DUPLICATE, text(field), value)


def invalid(field: Path | None, value: Any, detail: str) -> Error:
    """Return an error: the value violates a rule. Go: field.Invalid."""
    return Error(ErrorType.INVALID, text(field), value, detail)


def not_supported(field: Path | None, value: Any, valid_values: Sequence[str]) -> Error:
    """Return an error: the value is not in the list of supported ones. Go: field.NotSupported."""
    detail = f"supported values: {', '.join(quote(str(valid)) for valid in valid_values)}" if valid_values else ""
    return Error(ErrorType.NOT_SUPPORTED, text(field), value, detail)


def forbidden(field: Path | None, detail: str) -> Error:
    """Return an error: the field is not allowed here. Go: field.Forbidden."""
    return Error(ErrorType.FORBIDDEN, text(field), "", detail)


def too_long(field: Path | None, value: Any, max_length: int) -> Error:
    """Return an error: the value has more than `max_length` bytes; a negative number is an unnamed limit.

    Go: field.TooLong.
    """
    return Error(ErrorType.TOO_LONG, text(field), "<value omitted>", _too_long_text(max_length, "byte"))


def too_long_characters(field: Path | None, value: str, max_length: int) -> Error:
    """Return an error: the value has more than `max_length` characters. Go: field.TooLongCharacters."""
    return Error(ErrorType.TOO_LONG, text(field), "<value omitted>", _too_long_text(max_length, "character"))


def too_long_max_length(field: Path | None, value: Any, max_length: int) -> Error:
    """Return an error as `too_long` does, under its old name. Go: field.TooLongMaxLength."""
    return too_long(field, "", max_length)


def _too_long_text(max_length: int, unit: str) -> str:
    if max_length < 0:
        return "value is too long"
    return f"may not be more than {_counted(max_length, unit)}"


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def too_many(field: Path | None, actual_quantity: int, max_quantity: int) -> Error:
    """Return an error: the list has more than `max_quantity` items. Go: field.TooMany."""
    detail = f"must have at most {_counted(max_quantity, 'item')}" if max_quantity >= 0 else "has too many items"
    actual = actual_quantity if actual_quantity >= 0 else _OMIT_VALUE
    return Error(ErrorType.TOO_MANY, text(field), actual, detail)


def internal_error(field: Path | None, err: BaseException) -> Error:
    """Return an error: the validation itself failed. Go: field.InternalError."""
    return Error(ErrorType.INTERNAL, text(field), err, str(err))


def too_short(field: Path | None, value: str, min_length: int) -> Error:
    """Return an error: the value has fewer than `min_length` characters. Go: field.TooShort."""
    detail = f"must be at least {_counted(min_length, 'character')}" if min_length >= 0 else "value is too short"
    return Error(ErrorType.TOO_SHORT, text(field), value, detail)


def too_few(field: Path | None, actual_quantity: int, min_quantity: int) -> Error:
    """Return an error: the list has fewer than `min_quantity` items. Go: field.TooFew."""
    detail = f"must have at least {_counted(min_quantity, 'item')}" if min_quantity >= 0 else "has too few items"
    return Error(ErrorType.TOO_FEW, text(field), actual_quantity, detail)


class ErrorList(list[Error]):
    """The errors of a document. Go: field.ErrorList."""

    def __init__(self, errors: Iterable[Error] = ()) -> None:
        super().__init__(errors)

    def with_origin(self, origin: str) -> ErrorList:
        """Set the violated rule of each error, and return this list. Go: ErrorList.WithOrigin."""
        for err in self:
            err.origin = origin
        return self

    def prefix_detail(self, prefix: str) -> ErrorList:
        """Prepend `prefix` to each detail, and return this list. Go: ErrorList.PrefixDetail."""
        for err in self:
            err.detail = prefix + err.detail
        return self

    def to_aggregate(self) -> AggregateError | None:
        """Return an exception with each message once, or None for an empty list. Go: ErrorList.ToAggregate."""
        return new_aggregate(self._unique())

    def filter(self, *fns: Matcher) -> ErrorList:
        """Return the errors that no matcher accepts, with each message once. Go: ErrorList.Filter."""
        return ErrorList(err for err in self._unique() if not any(fn(err) for fn in fns))

    def _unique(self) -> list[Error]:
        """Return the first error of each message."""
        unique: dict[str, Error] = {}
        for err in self:
            unique.setdefault(str(err), err)
        return list(unique.values())


def new_error_type_matcher(t: ErrorType) -> Matcher:
    """Return a matcher for errors of one type. Go: field.NewErrorTypeMatcher."""

    def matcher(err: BaseException) -> bool:
        return isinstance(err, Error) and err.type == t

    return matcher
