"""Comparison of resource versions.

Mirrors k8s.io/apimachinery/pkg/util/resourceversion/resourceversion.go.
"""

from __future__ import annotations

import re
from typing import Final

_WELL_FORMED: Final = re.compile("[1-9][0-9]*")


class InvalidResourceVersion(ValueError):
    """Raised for a text that is not a positive decimal integer in canonical form.

    Go: resourceversion.InvalidResourceVersion.
    """

    def __init__(self, rv: str) -> None:
        super().__init__(rv)
        self._rv = rv

    def __str__(self) -> str:
        return f"resource version is not well formed: {self._rv}"


def compare_resource_version(a: str, b: str) -> int:
    """Return -1, 0 or 1 if `a` is older than, the same as or newer than `b`, for objects of the same resource.

    Raises InvalidResourceVersion, also for "0", which live objects never have. The texts may have any length. Go:
    resourceversion.CompareResourceVersion.

    >>> compare_resource_version("9", "10")
    -1
    """
    for rv in (a, b):
        if not _WELL_FORMED.fullmatch(rv):
            raise InvalidResourceVersion(rv)
    # Canonical integers: the longer one is larger, and those of equal length compare like their texts.
    left, right = (len(a), a), (len(b), b)
    return (left > right) - (left < right)
