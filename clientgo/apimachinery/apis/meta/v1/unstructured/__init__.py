"""Objects without declared fields (k8s.io/apimachinery/pkg/apis/meta/v1/unstructured)."""

from clientgo.apimachinery.apis.meta.v1.unstructured.helpers import (
    nested_bool,
    nested_field_copy,
    nested_field_no_copy,
    nested_float64,
    nested_int64,
    nested_map,
    nested_null_coercing_string_map,
    nested_number_as_float64,
    nested_slice,
    nested_string,
    nested_string_map,
    nested_string_slice,
    remove_nested_field,
    set_nested_field,
    set_nested_map,
    set_nested_slice,
    set_nested_string_map,
    set_nested_string_slice,
)
from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured import Unstructured
from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured_list import UnstructuredList

__all__ = [
    "Unstructured",
    "UnstructuredList",
    "nested_bool",
    "nested_field_copy",
    "nested_field_no_copy",
    "nested_float64",
    "nested_int64",
    "nested_map",
    "nested_null_coercing_string_map",
    "nested_number_as_float64",
    "nested_slice",
    "nested_string",
    "nested_string_map",
    "nested_string_slice",
    "remove_nested_field",
    "set_nested_field",
    "set_nested_map",
    "set_nested_slice",
    "set_nested_string_map",
    "set_nested_string_slice",
]
