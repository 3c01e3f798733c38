"""Requests of server-side apply. Mirrors client-go's util/apply/apply.go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clientgo import features, rest
from clientgo.apimachinery.runtime.documents import json_document_of
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util.json import marshal

__all__ = ["new_request"]


def new_request(client: rest.Interface, apply_configuration: Struct | Mapping[str, Any]) -> rest.Request:
    """Create a request that applies an object or a document; the field manager will own its fields.

    The body is CBOR if the feature gates ClientsAllowCBOR and ClientsPreferCBOR are enabled, otherwise JSON. The caller
    sets the resource, the name and the options. Raises ValueError for values that JSON cannot represent. Go:
    apply.NewRequest.
    """
    gates = features.feature_gates()
    is_cbor = gates.enabled(features.CLIENTS_ALLOW_CBOR) and gates.enabled(features.CLIENTS_PREFER_CBOR)
    try:
        body = _marshaled(_document(apply_configuration), is_cbor)
    except (TypeError, ValueError) as err:
        raise ValueError(f"failed to marshal apply configuration: {err}") from err
    return client.patch(PatchType.APPLY_CBOR if is_cbor else PatchType.APPLY_YAML).body(body)


def _marshaled(document: dict[str, Any], is_cbor: bool) -> bytes:
    if not is_cbor:
        return marshal(document).encode()
    from clientgo.apimachinery.runtime.serializer.cbor import direct  # Imported here: it needs the extra `cbor`.

    return direct.marshal(document)


def _document(apply_configuration: Struct | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(apply_configuration, Mapping):
        return dict(apply_configuration)
    return json_document_of(apply_configuration)
