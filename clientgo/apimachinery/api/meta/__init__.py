"""Metadata of any object, lists, conditions, and RESTMappers (k8s.io/apimachinery/pkg/api/meta)."""

from typing import TYPE_CHECKING

from clientgo.apimachinery.api.meta.meta import (
    ErrNotCommon,
    ErrNotList,
    ErrNotObject,
    ResourceAccessor,
    accessor,
    as_partial_object_metadata,
    common_accessor,
    list_accessor,
    new_accessor,
    type_accessor,
)
from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.apimachinery.api.meta.conditions import (
        find_status_condition,
        is_status_condition_false,
        is_status_condition_present_and_equal,
        is_status_condition_true,
        remove_status_condition,
        set_status_condition,
    )
    from clientgo.apimachinery.api.meta.errors import (
        AmbiguousKindError,
        AmbiguousResourceError,
        NoKindMatchError,
        NoResourceMatchError,
        is_ambiguous_error,
        is_no_match_error,
    )
    from clientgo.apimachinery.api.meta.firsthit_restmapper import FirstHitRESTMapper
    from clientgo.apimachinery.api.meta.help import (
        each_list_item,
        each_list_item_with_alloc,
        extract_list,
        extract_list_with_alloc,
        get_items_ptr,
        is_list_type,
        len_list,
        new_list,
        set_list,
    )
    from clientgo.apimachinery.api.meta.interfaces import (
        List,
        ListMetaAccessor,
        MetadataAccessor,
        ResettableRESTMapper,
        RESTMapper,
        RESTMapping,
        RESTScope,
        RESTScopeName,
        Type,
    )
    from clientgo.apimachinery.api.meta.lazy import new_lazy_rest_mapper_loader
    from clientgo.apimachinery.api.meta.multirestmapper import MultiRESTMapper
    from clientgo.apimachinery.api.meta.priority import (
        ANY_GROUP,
        ANY_KIND,
        ANY_RESOURCE,
        ANY_VERSION,
        PriorityRESTMapper,
    )
    from clientgo.apimachinery.api.meta.restmapper import (
        REST_SCOPE_NAMESPACE,
        REST_SCOPE_ROOT,
        DefaultRESTMapper,
        maybe_reset_rest_mapper,
        new_default_rest_mapper,
        unsafe_guess_kind_to_resource,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "conditions": [
                "find_status_condition", "is_status_condition_false", "is_status_condition_present_and_equal",
                "is_status_condition_true", "remove_status_condition", "set_status_condition",
            ],
            "errors": [
                "AmbiguousKindError", "AmbiguousResourceError", "NoKindMatchError", "NoResourceMatchError",
                "is_ambiguous_error", "is_no_match_error",
            ],
            "firsthit_restmapper": ["FirstHitRESTMapper"],
            "help": [
                "each_list_item", "each_list_item_with_alloc", "extract_list", "extract_list_with_alloc",
                "get_items_ptr", "is_list_type", "len_list", "new_list", "set_list",
            ],
            "interfaces": [
                "List", "ListMetaAccessor", "MetadataAccessor", "ResettableRESTMapper", "RESTMapper", "RESTMapping",
                "RESTScope", "RESTScopeName", "Type",
            ],
            "lazy": ["new_lazy_rest_mapper_loader"],
            "multirestmapper": ["MultiRESTMapper"],
            "priority": ["ANY_GROUP", "ANY_KIND", "ANY_RESOURCE", "ANY_VERSION", "PriorityRESTMapper"],
            "restmapper": [
                "REST_SCOPE_NAMESPACE", "REST_SCOPE_ROOT", "DefaultRESTMapper", "maybe_reset_rest_mapper",
                "new_default_rest_mapper", "unsafe_guess_kind_to_resource",
            ],
        },
    )

__all__ = [
    "ANY_GROUP",
    "ANY_KIND",
    "ANY_RESOURCE",
    "ANY_VERSION",
    "REST_SCOPE_NAMESPACE",
    "REST_SCOPE_ROOT",
    "AmbiguousKindError",
    "AmbiguousResourceError",
    "DefaultRESTMapper",
    "ErrNotCommon",
    "ErrNotList",
    "ErrNotObject",
    "FirstHitRESTMapper",
    "List",
    "ListMetaAccessor",
    "MetadataAccessor",
    "MultiRESTMapper",
    "NoKindMatchError",
    "NoResourceMatchError",
    "PriorityRESTMapper",
    "RESTMapper",
    "RESTMapping",
    "RESTScope",
    "RESTScopeName",
    "ResettableRESTMapper",
    "ResourceAccessor",
    "Type",
    "accessor",
    "as_partial_object_metadata",
    "common_accessor",
    "each_list_item",
    "each_list_item_with_alloc",
    "extract_list",
    "extract_list_with_alloc",
    "find_status_condition",
    "get_items_ptr",
    "is_ambiguous_error",
    "is_list_type",
    "is_no_match_error",
    "is_status_condition_false",
    "is_status_condition_present_and_equal",
    "is_status_condition_true",
    "len_list",
    "list_accessor",
    "maybe_reset_rest_mapper",
    "new_accessor",
    "new_default_rest_mapper",
    "new_lazy_rest_mapper_loader",
    "new_list",
    "remove_status_condition",
    "set_list",
    "set_status_condition",
    "type_accessor",
    "unsafe_guess_kind_to_resource",
]
