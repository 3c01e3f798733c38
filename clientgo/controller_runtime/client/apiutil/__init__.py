"""Kinds, their resources and their clients. Mirrors pkg/client/apiutil."""

from clientgo.controller_runtime.client.apiutil.apimachinery import (
    Example,
    add_to_protobuf_scheme,
    gvk_for_object,
    is_gvk_namespaced,
    is_object_namespaced,
    rest_client_for_gvk,
)
from clientgo.controller_runtime.client.apiutil.errors import ErrResourceDiscoveryFailed
from clientgo.controller_runtime.client.apiutil.restmapper import new_dynamic_rest_mapper

__all__ = [
    "ErrResourceDiscoveryFailed",
    "Example",
    "add_to_protobuf_scheme",
    "gvk_for_object",
    "is_gvk_namespaced",
    "is_object_namespaced",
    "new_dynamic_rest_mapper",
    "rest_client_for_gvk",
]
