"""The error that Go's decoder reports for an object with several wrong values. Go: sigs.k8s.io/json, decode.go."""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.kinds import schema


def reported_error(struct: schema.Struct, value: Any, path: str = "", field: str = "") -> schema.DecodeError | None:
    """Return the error that encoding/json reports for a JSON value, or None if the value is right.

    It is the first error of a type that decodes its own JSON, or else the first one, in the order of the document.
    """
    return _first_error(schema.Codec("", struct.decode, struct=struct), value, path, field)


def _first_error(kind: schema.Codec, value: Any, path: str, field: str) -> schema.DecodeError | None:
    saved: list[schema.DecodeError] = []
    try:
        _save_errors(kind, value, path, field, saved)
    except schema.DecodeError as err:
        return err
    return saved[0] if saved else None


def _save_errors(kind: schema.Codec, value: Any, path: str, field: str, saved: list[schema.DecodeError]) -> None:
    """Append the errors of a value. Raises DecodeError for one that ends the decoding."""
    if value is None:
        return
    if kind.struct is not None and isinstance(value, dict):
        for name, item in value.items():
            found = kind.struct.fields.get(name)
            if found is not None:
                below = f"{path}.{name}" if path else name
                of_field = schema.codec(found.type.lstrip("*"), kind.struct.package)
                _save_errors(of_field, item, below, f"{kind.struct.name}.{below}", saved)
    elif kind.items is not None and isinstance(value, kind.items[0]):
        elements: Any = value.values() if isinstance(value, dict) else value
        for item in elements:
            _save_errors(kind.items[1], item, path, field, saved)
    elif kind.chosen is not None:
        inner = kind.chosen(value)
        first = None if inner is None else _first_error(inner, value, path, field)
        if first is not None:
            raise schema.of_field(first, field)
    else:
        try:
            kind.decode(value, schema.Context(), path, field)
        except schema.DecodeError as err:
            if kind.ends_decoding:
                raise
            saved.append(err)
