"""The errors of a strategic merge patch's type.

Mirrors k8s.io/apimachinery/pkg/util/strategicpatch/errors.go. Differs: nothing in this package raises them. Go does so
for OpenAPI v2 schemas, which this port does not read. They are for programs that have a LookupPatchMeta of their own.
"""

from __future__ import annotations


class LookupPatchMetaError(ValueError):
    """The error of a field without patch rules. Go: strategicpatch.LookupPatchMetaError."""

    def __init__(self, path: str, err: BaseException) -> None:
        super().__init__(f"LookupPatchMetaError({path}): {err}")
        self.path = path
        self.err = err


class FieldNotFoundError(ValueError):
    """The error of a field that the type does not have. Go: strategicpatch.FieldNotFoundError."""

    def __init__(self, path: str, field: str) -> None:
        super().__init__(f'unable to find api field "{field}" in {path}')
        self.path = path
        self.field = field


class InvalidTypeError(ValueError):
    """The error of a field that has another type than the patch. Go: strategicpatch.InvalidTypeError."""

    def __init__(self, path: str, expected: str, actual: str) -> None:
        super().__init__(f'invalid type for {path}: got "{actual}", expected "{expected}"')
        self.path = path
        self.expected = expected
        self.actual = actual
