"""Selects events by the object they are about.

Mirrors k8s.io/client-go/tools/events/helper.go.
"""

from __future__ import annotations

from typing import Final

from clientgo.apimachinery import fields
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind

_MAPPING: Final = {
    GroupVersion("events.k8s.io", "v1"): "regarding",
    GroupVersion("events.k8s.io", "v1beta1"): "regarding",
    GroupVersion("", "v1"): "involvedObject",
}


def get_field_selector(
    events_group_version: GroupVersion,
    regarding_group_version_kind: GroupVersionKind,
    regarding_name: str,
    regarding_uid: str,
) -> fields.Selector:
    """Return a selector of events about an object, for a version of the events API. "" matches any value.

    Raises ValueError for a version that has no events. Go: events.GetFieldSelector.
    """
    prefix = _MAPPING.get(events_group_version)
    if prefix is None:
        raise ValueError(f"unknown version {events_group_version}")
    known = {
        "name": regarding_name,
        "kind": regarding_group_version_kind.kind,
        "apiVersion": str(regarding_group_version_kind.group_version()),
        "uid": regarding_uid,
    }
    return fields.Set({f"{prefix}.{name}": value for name, value in known.items() if value}).as_selector()
