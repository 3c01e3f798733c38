"""meta/v1: the types and helpers that all API groups share. Mirrors k8s.io/apimachinery/pkg/apis/meta/v1."""

from typing import TYPE_CHECKING

from clientgo.apimachinery.apis.meta.v1 import types
from clientgo.apimachinery.apis.meta.v1.controller_ref import (
    get_controller_of,
    get_controller_of_no_copy,
    is_controlled_by,
    new_controller_ref,
)
from clientgo.apimachinery.apis.meta.v1.meta import (
    Common,
    ListInterface,
    ListMetaAccessor,
    Object,
    ObjectMetaAccessor,
    ShardedListInterface,
    Type,
)
from clientgo.apimachinery.apis.meta.v1.register import (
    PARAMETER_CODEC,
    SCHEME_GROUP_VERSION,
    UNVERSIONED,
    add_meta_to_scheme,
    add_to_group_version,
    kind,
    resource,
)
from clientgo.apimachinery.apis.meta.v1.time import Time, date, new_time, now, unix
from clientgo.apimachinery.apis.meta.v1.types import *
from clientgo.apimachinery.apis.meta.v1.watch import (
    InternalEvent,
    convert_v1_internal_event_to_v1_watch_event,
    convert_v1_watch_event_to_v1_internal_event,
    convert_v1_watch_event_to_watch_event,
    convert_watch_event_to_v1_watch_event,
)
from clientgo.golang.duration import format_duration, parse_duration
from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.apimachinery.apis.meta.v1.conversion import (
        convert_fields_selector_to_string,
        convert_labels_selector_to_string,
        convert_map_string_to_string_to_v1_label_selector,
        convert_slice_string_to_pointer_v1_deletion_propagation,
        convert_slice_string_to_pointer_v1_time,
        convert_slice_string_to_slice_int32,
        convert_slice_string_to_v1_include_object_policy,
        convert_slice_string_to_v1_resource_version_match,
        convert_slice_string_to_v1_time,
        convert_string_to_fields_selector,
        convert_string_to_labels_selector,
        convert_url_values_to_v1_delete_options,
        convert_v1_label_selector_to_map_string_to_string,
    )
    from clientgo.apimachinery.apis.meta.v1.duration import Duration
    from clientgo.apimachinery.apis.meta.v1.helpers import (
        extract_group_versions,
        format_label_selector,
        has_annotation,
        has_label,
        has_object_meta_system_field_values,
        label_selector_as_map,
        label_selector_as_selector,
        new_delete_options,
        new_precondition_delete_options,
        new_rv_deletion_precondition,
        new_uid_preconditions,
        parse_to_label_selector,
        reset_object_meta_for_status,
        set_as_label_selector,
        set_meta_data_annotation,
        set_meta_data_label,
        single_object,
    )
    from clientgo.apimachinery.apis.meta.v1.labels import (
        add_label_to_selector,
        clone_selector_and_add_label,
        selector_has_label,
    )
    from clientgo.apimachinery.apis.meta.v1.micro_time import (
        MicroTime,
        date_micro,
        new_micro_time,
        now_micro,
        unix_micro,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "conversion": [
                "convert_fields_selector_to_string", "convert_labels_selector_to_string",
                "convert_map_string_to_string_to_v1_label_selector",
                "convert_slice_string_to_pointer_v1_deletion_propagation", "convert_slice_string_to_pointer_v1_time",
                "convert_slice_string_to_slice_int32", "convert_slice_string_to_v1_include_object_policy",
                "convert_slice_string_to_v1_resource_version_match", "convert_slice_string_to_v1_time",
                "convert_string_to_fields_selector", "convert_string_to_labels_selector",
                "convert_url_values_to_v1_delete_options", "convert_v1_label_selector_to_map_string_to_string",
            ],
            "duration": ["Duration"],
            "helpers": [
                "extract_group_versions", "format_label_selector", "has_annotation", "has_label",
                "has_object_meta_system_field_values", "label_selector_as_map", "label_selector_as_selector",
                "new_delete_options", "new_precondition_delete_options", "new_rv_deletion_precondition",
                "new_uid_preconditions", "parse_to_label_selector", "reset_object_meta_for_status",
                "set_as_label_selector", "set_meta_data_annotation", "set_meta_data_label", "single_object",
            ],
            "labels": [
                "add_label_to_selector", "clone_selector_and_add_label", "selector_has_label",
            ],
            "micro_time": ["MicroTime", "date_micro", "new_micro_time", "now_micro", "unix_micro"],
        },
    )

__all__ = [
    "PARAMETER_CODEC",
    "SCHEME_GROUP_VERSION",
    "UNVERSIONED",
    "Common",
    "Duration",
    "InternalEvent",
    "ListInterface",
    "ListMetaAccessor",
    "MicroTime",
    "Object",
    "ObjectMetaAccessor",
    "ShardedListInterface",
    "Time",
    "Type",
    "add_label_to_selector",
    "add_meta_to_scheme",
    "add_to_group_version",
    "clone_selector_and_add_label",
    "convert_fields_selector_to_string",
    "convert_labels_selector_to_string",
    "convert_map_string_to_string_to_v1_label_selector",
    "convert_slice_string_to_pointer_v1_deletion_propagation",
    "convert_slice_string_to_pointer_v1_time",
    "convert_slice_string_to_slice_int32",
    "convert_slice_string_to_v1_include_object_policy",
    "convert_slice_string_to_v1_resource_version_match",
    "convert_slice_string_to_v1_time",
    "convert_string_to_fields_selector",
    "convert_string_to_labels_selector",
    "convert_url_values_to_v1_delete_options",
    "convert_v1_internal_event_to_v1_watch_event",
    "convert_v1_label_selector_to_map_string_to_string",
    "convert_v1_watch_event_to_v1_internal_event",
    "convert_v1_watch_event_to_watch_event",
    "convert_watch_event_to_v1_watch_event",
    "date",
    "date_micro",
    "extract_group_versions",
    "format_duration",
    "format_label_selector",
    "get_controller_of",
    "get_controller_of_no_copy",
    "has_annotation",
    "has_label",
    "has_object_meta_system_field_values",
    "is_controlled_by",
    "kind",
    "label_selector_as_map",
    "label_selector_as_selector",
    "new_controller_ref",
    "new_delete_options",
    "new_micro_time",
    "new_precondition_delete_options",
    "new_rv_deletion_precondition",
    "new_time",
    "new_uid_preconditions",
    "now",
    "now_micro",
    "parse_duration",
    "parse_to_label_selector",
    "reset_object_meta_for_status",
    "resource",
    "selector_has_label",
    "set_as_label_selector",
    "set_meta_data_annotation",
    "set_meta_data_label",
    "single_object",
    "unix",
    "unix_micro",
]
__all__ += types.__all__
