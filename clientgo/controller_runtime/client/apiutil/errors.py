"""The error of a mapper whose discovery failed. Mirrors pkg/client/apiutil/errors.go."""

from __future__ import annotations

from collections.abc import Mapping

from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.util.errors import is_error
from clientgo.klog.exceptions import operational_error


@operational_error
class ErrResourceDiscoveryFailed(Exception):
    """Raised when discovery of some versions failed. Go: apiutil.ErrResourceDiscoveryFailed.

    Tests such as meta.is_no_match_error match each of the errors that it contains. A version that the server does not
    have counts as a NoResourceMatchError.
    """

    def __init__(self, errors: Mapping[GroupVersion, Exception]) -> None:
        super().__init__(errors)
        self.by_version = dict(errors)

    def __str__(self) -> str:
        """Go: Error."""
        complaints = sorted(f"{version}: {err}" for version, err in self.by_version.items())
        return f"unable to retrieve the complete list of server APIs: {', '.join(complaints)}"

    def is_(self, target: object) -> bool:
        """Report whether one of the errors matches `target` (see util.errors.is_error)."""
        return any(is_error(err, target) for err in self.unwrap())

    def unwrap(self) -> list[Exception]:
        """Return the errors as a list. Go: Unwrap."""
        return [
            meta.NoResourceMatchError(version.with_resource("")) if apierrors.is_not_found(err) else err
            for version, err in self.by_version.items()
        ]
