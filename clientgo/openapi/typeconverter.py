"""The merge semantics of a server's kinds, from its OpenAPI documents. Mirrors client-go's openapi/typeconverter.go."""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util import managedfields
from clientgo.apimachinery.util.json import unmarshal
from clientgo.openapi.client import Client

__all__ = ["new_type_converter"]


def new_type_converter(client: Client, preserve_unknown_fields: bool) -> managedfields.TypeConverter:
    """Return the converter for all kinds that the server describes. Go: openapi.NewTypeConverter.

    Blocks: requests each document once. The converter raises KeyError for an unknown kind. It accepts unknown fields
    of all types with `preserve_unknown_fields`. Raises ValueError if a document is missing or is not JSON.
    """
    schemas: dict[str, Any] = {}
    try:
        paths = client.paths()
    except Exception as err:
        raise ValueError(f"failed to list paths: {err}") from err
    for document in paths.values():
        try:
            text = document.schema()
        except Exception as err:
            raise ValueError(f"failed to download schema: {err}") from err
        try:
            schemas.update((unmarshal(text).get("components") or {}).get("schemas") or {})
        except (ValueError, AttributeError) as err:
            raise ValueError(f"failed to parse schema: {err}") from err
    return managedfields.new_type_converter(schemas, preserve_unknown_fields)
