"""Conversions between texts, query parameters and values.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/conversion.go without the conversions between a pointer and its value, or a
value and its copy, which are plain assignments in Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clientgo.apimachinery import fields, labels
from clientgo.apimachinery.apis.meta.v1.time import Time
from clientgo.apimachinery.apis.meta.v1.types import DeleteOptions, LabelSelector, Preconditions
from clientgo.apimachinery.runtime.conversion import (
    convert_slice_string_to_bool,
    convert_slice_string_to_pointer_int64,
)
from clientgo.golang.strconv import parse_uint


def convert_slice_string_to_v1_time(values: Sequence[str]) -> Time | None:
    """Return the first value as a time. Raises ValueError. Go: Convert_Slice_string_To_v1_Time."""
    if not values or values[0] in ("", "null"):
        return None
    return Time.unmarshal_query_parameter(values[0])


def convert_slice_string_to_pointer_v1_time(values: Sequence[str]) -> Time | None:
    """Return the first value as a time, or None. Raises ValueError. Go: Convert_Slice_string_To_Pointer_v1_Time."""
    return convert_slice_string_to_v1_time(values)


def convert_string_to_labels_selector(text: str) -> labels.Selector:
    """Parse the text of a label selector. Go: Convert_string_To_labels_Selector."""
    return labels.parse(text)


def convert_string_to_fields_selector(text: str) -> fields.Selector:
    """Parse the text of a field selector. Go: Convert_string_To_fields_Selector."""
    return fields.parse_selector(text)


def convert_labels_selector_to_string(selector: labels.Selector | None) -> str:
    """Return the text of a label selector, which is "" for None. Go: Convert_labels_Selector_To_string."""
    return "" if selector is None else str(selector)


def convert_fields_selector_to_string(selector: fields.Selector | None) -> str:
    """Return the text of a field selector, which is "" for None. Go: Convert_fields_Selector_To_string."""
    return "" if selector is None else str(selector)


def convert_map_string_to_string_to_v1_label_selector(labels: Mapping[str, str]) -> LabelSelector:
    """Return a LabelSelector that requires these labels. Go: Convert_Map_string_To_string_To_v1_LabelSelector."""
    return LabelSelector(match_labels=dict(labels))


def convert_v1_label_selector_to_map_string_to_string(selector: LabelSelector) -> dict[str, str]:
    """Return the labels that the selector requires. Raises ValueError for any other requirement.

    Go: Convert_v1_LabelSelector_To_Map_string_To_string.
    """
    from clientgo.apimachinery.apis.meta.v1.helpers import label_selector_as_map

    return label_selector_as_map(selector)


def convert_slice_string_to_slice_int32(values: Sequence[str]) -> list[int]:
    """Parse comma-separated ports in each text. Raises ValueError. Go: Convert_Slice_string_To_Slice_int32."""
    try:
        return [parse_uint(number, 16) for value in values for number in value.split(",")]
    except ValueError as err:
        raise ValueError(f"cannot convert to []int32: {err}") from None


def convert_slice_string_to_pointer_v1_deletion_propagation(values: Sequence[str]) -> str | None:
    """Return the first value of a query parameter as a deletion propagation.

    Go: Convert_Slice_string_To_Pointer_v1_DeletionPropagation.
    """
    return values[0] if values else None


def convert_slice_string_to_v1_include_object_policy(values: Sequence[str]) -> str:
    """Return the first value of a query parameter as an include-object policy.

    Go: Convert_Slice_string_To_v1_IncludeObjectPolicy.
    """
    return values[0] if values else ""


def convert_slice_string_to_v1_resource_version_match(values: Sequence[str]) -> str:
    """Return the first value of a query parameter as a resource version match.

    Go: Convert_Slice_string_To_v1_ResourceVersionMatch.
    """
    return values[0] if values else ""


def convert_url_values_to_v1_delete_options(values: Mapping[str, Sequence[str]]) -> DeleteOptions:
    """Return the delete options in query parameters. Raises ValueError. Go: Convert_url_Values_To_v1_DeleteOptions."""

    def first(name: str) -> str:
        return next(iter(values.get(name) or ()), "")

    def flag(name: str) -> bool | None:
        return convert_slice_string_to_bool(values[name]) if values.get(name) else None

    uid, version = first("uid"), first("resourceVersion")
    return DeleteOptions(
        grace_period_seconds=convert_slice_string_to_pointer_int64(values.get("gracePeriodSeconds") or ()),
        orphan_dependents=flag("orphanDependents"),
        propagation_policy=first("propagationPolicy") or None,
        dry_run=list(values.get("dryRun") or ()),
        ignore_store_read_error_with_cluster_breaking_potential=flag(
            "ignoreStoreReadErrorWithClusterBreakingPotential"
        ),
        preconditions=Preconditions(uid=uid or None, resource_version=version or None) if uid or version else None,
    )
