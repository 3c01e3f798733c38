"""What can be wrong with the type a strategic merge patch is for.

Mirrors k8s.io/apimachinery/pkg/util/strategicpatch/errors.go.
"""

from __future__ import annotations


class LookupPatchMetaError(ValueError):
    """The patch rules of a field cannot be found. Go: strategicpatch.LookupPatchMetaError."""

    def __init__(self, path: str, err: BaseException) -> None:
        super().__init__(f"LookupPatchMetaError({path}): {err}")
        self.path = path
        self.err = err


class FieldNotFoundError(ValueError):
    """The type has no such field. Go: strategicpatch.FieldNotFoundError."""

    def __init__(self, path: str, field: str) -> None:
        super().__init__(f'unable to find api field "{field}" in {path}')
        self.path = path
        self.field = field


class InvalidTypeError(ValueError):
    """The field has another type than the patch. Go: strategicpatch.InvalidTypeError."""

    def __init__(self, path: str, expected: str, actual: str) -> None:
        super().__init__(f'invalid type for {path}: got "{actual}", expected "{expected}"')
        self.path = path
        self.expected = expected
        self.actual = actual
