"""The errors of a strategic merge patch's type.

Mirrors k8s.io/apimachinery/pkg/util/strategicpatch/errors.go.
"""

from __future__ import annotations


class LookupPatchMetaError(ValueError):
    """Raised if a field has no patch rules. Go: strategicpatch.LookupPatchMetaError."""

    def __init__(self, path: str, err: BaseException) -> None:
        super().__init__(f"LookupPatchMetaError({path}): {err}")
        self.path = path
        self.err = err


class FieldNotFoundError(ValueError):
    """Raised if the type does not have the field. Go: strategicpatch.FieldNotFoundError."""

    def __init__(self, path: str, field: str) -> None:
        super().__init__(f'unable to find api field "{field}" in {path}')
        self.path = path
        self.field = field


class InvalidTypeError(ValueError):
    """Raised if the field has another type than the patch. Go: strategicpatch.InvalidTypeError."""

    def __init__(self, path: str, expected: str, actual: str) -> None:
        super().__init__(f'invalid type for {path}: got "{actual}", expected "{expected}"')
        self.path = path
        self.expected = expected
        self.actual = actual
