"""Watch events that Go's decoder rejects, and ours reads late. Beyond Go.

Objects are decoded when they are read, so the reflector checks what Go's decoder would have checked. No event after a
malformed one can be trusted: the error ends the watch and leads to a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Object

_NO_KIND = "", ""


class MalformedEventError(Exception):
    """A watch event that cannot be part of its watch."""


def new_kind_check(expected_type: type | None) -> Callable[[Any], None] | None:
    """Return a function that raises MalformedEventError for an object of another kind than the class's.

    Returns None for classes that serve many kinds. An object made by a program may lack apiVersion and kind.
    """
    if expected_type is None or not issubclass(expected_type, Object):
        return None
    if issubclass(expected_type, metav1.PartialObjectMetadata) or expected_type.GROUP_VERSION_KIND is None:
        return None
    expected = expected_type.GROUP_VERSION_KIND.to_api_version_and_kind()

    def check(obj: Any) -> None:
        kind = obj.api_version_and_kind()
        if kind != expected and kind != _NO_KIND and any(part and part != own for part, own in zip(kind, expected)):
            raise MalformedEventError(
                f"unexpected object in the watch stream: expected {' '.join(expected)}, got {' '.join(kind)}"
            )

    return check


__all__ = ["MalformedEventError", "new_kind_check"]
