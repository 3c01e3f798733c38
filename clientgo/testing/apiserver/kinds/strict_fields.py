"""The unknown and repeated fields of a JSON text, in Go's order. Go: sigs.k8s.io/json, UnmarshalStrict."""

from __future__ import annotations

import json
from typing import Any

from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.kinds import schema


class _Pairs(list[tuple[str, Any]]):
    """The members of an object, repeated ones too."""


def strict_problems(text: bytes, struct: schema.Struct | None) -> list[str]:
    """Return the problems of a JSON text for a struct, in the order of the text, each once.

    Without a struct all fields are known. Returns an empty list for a text that is no JSON.
    """
    try:
        value = json.loads(text.decode(errors="replace"), object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return []
    found: dict[str, None] = {}
    kind = None if struct is None else schema.Codec("", struct.decode, struct=struct)
    _walk(value, kind, "", found)
    return list(found)


def _walk(value: Any, kind: schema.Codec | None, path: str, found: dict[str, None]) -> None:
    """Add the problems of a value. A type that decodes its own JSON reports none."""
    if isinstance(value, _Pairs):
        _walk_object(value, kind, path, found)
    elif isinstance(value, list) and (kind is None or (kind.items is not None and kind.items[0] is list)):
        element = None if kind is None or kind.items is None else kind.items[1]
        for index, item in enumerate(value):
            _walk(item, element, f"{path}[{index}]", found)


def _walk_object(pairs: _Pairs, kind: schema.Codec | None, path: str, found: dict[str, None]) -> None:
    struct = None if kind is None else kind.struct
    element = None if kind is None or kind.items is None else kind.items[1]
    if kind is not None and struct is None and (kind.items is None or kind.items[0] is not dict):
        return
    seen: set[str] = set()
    for name, item in pairs:
        below = f"{path}.{name}" if path else name
        if struct is not None:
            field = struct.fields.get(name)
            if field is None:
                found[f"unknown field {quote(below)}"] = None
                continue
            element = schema.codec(field.type.lstrip("*"), struct.package)
        if name in seen:
            found[f"duplicate field {quote(below)}"] = None
        seen.add(name)
        _walk(item, element, below, found)
