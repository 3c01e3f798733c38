"""Requests of server-side apply. Mirrors client-go's util/apply/apply.go. Without CBOR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clientgo import rest
from clientgo.apimachinery.runtime.documents import json_document_of
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util.json import marshal

__all__ = ["new_request"]


def new_request(client: rest.Interface, apply_configuration: Struct | Mapping[str, Any]) -> rest.Request:
    """Create a request that applies an object or a document; the field manager will own its fields.

    The caller sets the resource, the name and the options. Raises ValueError for values that JSON cannot represent.
    Go: apply.NewRequest.
    """
    try:
        body = marshal(_document(apply_configuration)).encode()
    except (TypeError, ValueError) as err:
        raise ValueError(f"failed to marshal apply configuration: {err}") from err
    return client.patch(PatchType.APPLY_YAML).body(body)


def _document(apply_configuration: Struct | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(apply_configuration, Mapping):
        return dict(apply_configuration)
    return json_document_of(apply_configuration)
