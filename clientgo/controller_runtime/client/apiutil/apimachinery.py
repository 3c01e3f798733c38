"""Kinds of objects and clients of kinds. Mirrors pkg/client/apiutil/apimachinery.go.

Functions that only need an object's kind also accept its class. Clients ask for protobuf responses if the kind is built
in and its class in the scheme has a message. Difference: request bodies are always JSON (see rest.request).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

from clientgo import dynamic, rest
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import CONTENT_TYPE_PROTOBUF, Object, Scheme
from clientgo.apimachinery.runtime.error import new_missing_kind_err, new_missing_version_err
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.serializer import CodecFactory
from clientgo.golang.http import Client as HTTPClient
from clientgo.kubernetes import scheme as clientgoscheme

# An object or a class that identifies a kind.
Example: TypeAlias = Object | type[Object]

# The kinds that can be written as protobuf.
_PROTOBUF_SCHEME = Scheme("kinds with protobuf")
_PROTOBUF_SCHEME_LOCK = threading.Lock()
clientgoscheme.add_to_scheme(_PROTOBUF_SCHEME)


def add_to_protobuf_scheme(add_to_scheme: Callable[[Scheme], None]) -> None:
    """Add kinds that support protobuf; built-in ones are included by default. Go: apiutil.AddToProtobufScheme."""
    with _PROTOBUF_SCHEME_LOCK:
        add_to_scheme(_PROTOBUF_SCHEME)


def is_object_namespaced(obj: Example, scheme: Scheme, restmapper: meta.RESTMapper) -> bool:
    """Report whether the kind is namespaced. Raises the errors of gvk_for_object and is_gvk_namespaced.

    Go: apiutil.IsObjectNamespaced.
    """
    return is_gvk_namespaced(gvk_for_object(obj, scheme), restmapper)


def is_gvk_namespaced(gvk: GroupVersionKind, restmapper: meta.RESTMapper) -> bool:
    """Report whether the kind is namespaced. May ask the server. Go: apiutil.IsGVKNamespaced.

    Raises RuntimeError with the mapper's error as its cause (meta.is_no_match_error examines it).
    """
    # The version is needed: for a group alone the mapper would not look for versions that a CRD has added since.
    try:
        scope = restmapper.rest_mapping(gvk.group_kind(), gvk.version).scope.name()
    except Exception as err:
        raise RuntimeError(f"failed to get restmapping: {err}") from err
    if not scope:
        raise ValueError("scope cannot be identified, empty scope returned")
    return scope != meta.RESTScopeName.ROOT


def gvk_for_object(obj: Example, scheme: Scheme) -> GroupVersionKind:
    """Return the single kind of an object, or of a class. Go: apiutil.GVKForObject.

    Unstructured and PartialObjectMetadata objects name their kind themselves. Raises the missing-kind, missing-version
    or not-registered error, and ValueError for a class that represents several kinds unless the object names one.
    """
    example = obj() if isinstance(obj, type) else obj
    if isinstance(example, (metav1.PartialObjectMetadata, metav1.PartialObjectMetadataList)):
        return _own_kind(example)
    kinds, unversioned = scheme.object_kinds(example)
    name = type(example).__name__
    if unversioned:
        raise ValueError(f"cannot create group-version-kind for unversioned type {name}")
    if len(kinds) == 1:
        return kinds[0]
    if not kinds:
        raise ValueError(f"no GroupVersionKind associated with type {name}, was the type registered with the Scheme?")
    return _choose(example, kinds)


def _own_kind(example: Object) -> GroupVersionKind:
    gvk = example.group_version_kind()
    if not gvk.kind:
        raise new_missing_kind_err("unstructured object has no kind")
    if not gvk.version:
        raise new_missing_version_err("unstructured object has no version")
    return gvk


def _choose(example: Object, kinds: list[GroupVersionKind]) -> GroupVersionKind:
    own = example.group_version_kind()
    if own in kinds:
        return own
    several = (
        f"multiple GroupVersionKinds associated with type {type(example).__name__} within the Scheme, this can happen "
        "when a type is registered for multiple GVKs at the same time"
    )
    listed = ", ".join(f'"{kind}"' for kind in kinds)
    if not own.empty():
        raise ValueError(
            f"{several}: the object's supplied GroupVersionKind \"{own}\" was not found in the Scheme's list; "
            f"refusing to guess at one: [{listed}]"
        )
    raise ValueError(
        f"{several}: callers can either fix their type registration to only register it once, or specify the "
        f"GroupVersionKind to use for object passed in; refusing to guess at one: [{listed}]"
    )


def rest_client_for_gvk(
    gvk: GroupVersionKind,
    force_disable_proto_buf: bool,
    is_unstructured: bool,
    base_config: rest.Config,
    codecs: CodecFactory,
    http_client: HTTPClient | None,
) -> rest.Interface:
    """Return a client of the kind's group and version, over shared connections. Go: apiutil.RESTClientForGVK."""
    if http_client is None:
        raise ValueError("http_client must not be None, consider using rest.http_client_for(c) to create a client")
    config = _create_rest_config(gvk, force_disable_proto_buf, is_unstructured, base_config, codecs)
    return rest.rest_client_for_config_and_client(config, http_client)


def _create_rest_config(
    gvk: GroupVersionKind,
    force_disable_proto_buf: bool,
    is_unstructured: bool,
    base_config: rest.Config,
    codecs: CodecFactory,
) -> rest.Config:
    config = rest.copy_config(base_config)
    config.group_version = gvk.group_version()
    config.api_path = "/apis" if gvk.group else "/api"
    config.user_agent = config.user_agent or rest.default_kubernetes_user_agent()
    if not config.content_type and not force_disable_proto_buf and _supports_protobuf(gvk, codecs):
        config.accept_content_types = config.accept_content_types or f"{CONTENT_TYPE_PROTOBUF}, */*"
    if is_unstructured:
        return dynamic.config_for(config)
    config.negotiated_serializer = codecs.without_conversion()
    return config


def _supports_protobuf(gvk: GroupVersionKind, codecs: CodecFactory) -> bool:
    return _PROTOBUF_SCHEME.recognizes(gvk) and codecs.supports_protobuf(gvk)
