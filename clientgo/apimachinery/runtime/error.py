"""The errors of schemes and decoders. Mirrors runtime/error.go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clientgo.apimachinery.runtime.schema import GroupVersionKind


class NotRegisteredError(LookupError):
    """A kind or class the scheme does not know."""


class MissingKindError(ValueError):
    """A document without a kind."""


class MissingVersionError(ValueError):
    """A document without an apiVersion."""


class StrictDecodingError(ValueError):
    """Unknown or duplicate fields, in the order they were met; the decoded object is still usable."""

    def __init__(self, errors: Sequence[Exception]) -> None:
        super().__init__("strict decoding error: " + ", ".join(str(error) for error in errors))
        self._errors = list(errors)

    def errors(self) -> list[Exception]:
        """Return the single errors. Go: Errors."""
        return list(self._errors)


def _type_name(cls: Any) -> str:
    return f"{cls.__module__}.{cls.__qualname__}" if isinstance(cls, type) else str(cls)


def new_not_registered_err_for_kind(scheme_name: str, gvk: GroupVersionKind) -> NotRegisteredError:
    """Return the error for a kind that a scheme does not know. Go: NewNotRegisteredErrForKind."""
    if not gvk.kind:
        return NotRegisteredError(f'kind "" is not registered in scheme {scheme_name!r}')
    if gvk.version == "__internal":
        return NotRegisteredError(
            f'no kind "{gvk.kind}" is registered for the internal version of group "{gvk.group}" '
            f'in scheme "{scheme_name}"'
        )
    return NotRegisteredError(
        f'no kind "{gvk.kind}" is registered for version "{gvk.group_version()}" in scheme "{scheme_name}"'
    )


def new_not_registered_err_for_type(scheme_name: str, cls: type) -> NotRegisteredError:
    """Return the error for a type that a scheme does not know. Go: NewNotRegisteredErrForType."""
    return NotRegisteredError(f'no kind is registered for the type {_type_name(cls)} in scheme "{scheme_name}"')


def new_not_registered_err_for_target(scheme_name: str, cls: type, target: Any) -> NotRegisteredError:
    """Return the error for a type without a version for the target. Go: NewNotRegisteredErrForTarget."""
    return NotRegisteredError(
        f'{_type_name(cls)} is not suitable for converting to "{target}" in scheme "{scheme_name}"'
    )


def new_not_registered_gvk_err_for_target(scheme_name: str, gvk: GroupVersionKind, target: Any) -> NotRegisteredError:
    """Return the error for a kind without a version for the target. Go: NewNotRegisteredGVKErrForTarget."""
    return NotRegisteredError(f'"{gvk}" is not suitable for converting to "{target}" in scheme "{scheme_name}"')


def is_not_registered_error(err: BaseException | None) -> bool:
    """Report whether the error says that a scheme does not know a type. Go: IsNotRegisteredError."""
    return isinstance(err, NotRegisteredError)


def new_missing_kind_err(data: str) -> MissingKindError:
    """Return the error for data without a kind. Go: NewMissingKindErr."""
    return MissingKindError(f"Object 'Kind' is missing in '{data}'")


def is_missing_kind(err: BaseException | None) -> bool:
    """Report whether the error says that a kind is missing. Go: IsMissingKind."""
    return isinstance(err, MissingKindError)


def new_missing_version_err(data: str) -> MissingVersionError:
    """Return the error for data without an apiVersion. Go: NewMissingVersionErr."""
    return MissingVersionError(f"Object 'apiVersion' is missing in '{data}'")


def is_missing_version(err: BaseException | None) -> bool:
    """Report whether the error says that an apiVersion is missing. Go: IsMissingVersion."""
    return isinstance(err, MissingVersionError)


def new_strict_decoding_error(errors: Sequence[Exception]) -> StrictDecodingError:
    """Return one error for all problems of a strict decoding. Go: NewStrictDecodingError."""
    return StrictDecodingError(errors)


def is_strict_decoding_error(err: BaseException | None) -> bool:
    """Report whether the error is that of a strict decoding. Go: IsStrictDecodingError."""
    return isinstance(err, StrictDecodingError)


def as_strict_decoding_error(err: BaseException | None) -> tuple[StrictDecodingError | None, bool]:
    """Return the error as that of a strict decoding, and whether it is one. Go: AsStrictDecodingError."""
    if isinstance(err, StrictDecodingError):
        return err, True
    return None, False
