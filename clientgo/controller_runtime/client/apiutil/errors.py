"""The error of a mapper that cannot ask the server. Mirrors pkg/client/apiutil/errors.go."""

from __future__ import annotations

from collections.abc import Mapping

from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.util.errors import is_error
from clientgo.klog.exceptions import operational_error


@operational_error
class ErrResourceDiscoveryFailed(Exception):
    """The resources of some versions cannot be found out. Go: apiutil.ErrResourceDiscoveryFailed.

    Tests such as meta.is_no_match_error take it for each of the errors it holds, and a version that the server does not
    have for a NoResourceMatchError.
    """

    def __init__(self, errors: Mapping[GroupVersion, Exception]) -> None:
        super().__init__(errors)
        self.by_version = dict(errors)

    def __str__(self) -> str:
        """Go: Error."""
        complaints = sorted(f"{version}: {err}" for version, err in self.by_version.items())
        return f"unable to retrieve the complete list of server APIs: {', '.join(complaints)}"

    def is_(self, target: object) -> bool:
        """Whether one of the errors is `target` (see util.errors.is_error)."""
        return any(is_error(err, target) for err in self.unwrap())

    def unwrap(self) -> list[Exception]:
        """The single errors. Go: Unwrap."""
        return [
            meta.NoResourceMatchError(version.with_resource("")) if apierrors.is_not_found(err) else err
            for version, err in self.by_version.items()
        ]
