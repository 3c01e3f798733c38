"""The field of an object that a shard selector hashes. Mirrors k8s.io/apimachinery/pkg/sharding/accessor.go."""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.api import meta
from clientgo.golang.strconv import quote


def resolve_field_value(obj: Any, field_path: str) -> str:
    """Return the value of `object.metadata.uid` or `object.metadata.namespace` of the object.

    The path begins with "object", as in CEL; a field selector's path does not. Raises ValueError for another path, and
    for an object without object metadata, such as a list or a Status. Go: sharding.ResolveFieldValue.
    """
    try:
        accessor = meta.accessor(obj)
    except meta.ErrNotObject as err:
        raise ValueError(f"failed to access object metadata: {err}") from err
    match field_path:
        case "object.metadata.uid":
            return str(accessor.get_uid())
        case "object.metadata.namespace":
            return str(accessor.get_namespace())
    raise ValueError(f"unsupported field path: {quote(field_path)}")
