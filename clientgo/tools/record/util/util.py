"""Helpers for event recorders.

Mirrors k8s.io/client-go/tools/record/util/util.go.
"""

from __future__ import annotations

import uuid

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api.errors import StatusError
from clientgo.apimachinery.util import validation


def validate_event_type(eventtype: str) -> bool:
    """Report whether `eventtype` is "Normal" or "Warning". Go: util.ValidateEventType."""
    return eventtype in (corev1.EVENT_TYPE_NORMAL, corev1.EVENT_TYPE_WARNING)


def is_key_not_found_error(err: BaseException | None) -> bool:
    """Report whether the server responded with 404. Does not examine the error's causes.

    Go: util.IsKeyNotFoundError.
    """
    return isinstance(err, StatusError) and err.status().code == 404


def generate_event_name(ref_name: str, unix_nano: int) -> str:
    """Return the object's name with the time in hex, or a random name if that is not a valid name.

    Go: util.GenerateEventName.

    >>> generate_event_name("web", 1577836800000000000)
    'web.15e59a35b98a0000'
    """
    name = f"{ref_name}.{unix_nano:x}"
    return str(uuid.uuid4()) if validation.is_dns1123_subdomain(name) else name
