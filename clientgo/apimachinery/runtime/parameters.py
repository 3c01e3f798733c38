"""Option objects as query parameters.

Mirrors runtime/codec.go (parameterCodec) and conversion/queryparams/convert.go.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.runtime.fields import FieldInfo
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.runtime.timestamps import format_time


class _ParameterCodec:
    """A codec that writes the fields of any option struct as query parameters. All versions share one form."""

    def encode_parameters(self, obj: Object, to: GroupVersion) -> dict[str, list[str]]:
        """Return the set fields by their JSON names. Omits zero values of optional fields. Raises ValueError."""
        return convert_to_parameters(obj)

    def decode_parameters(self, parameters: dict[str, list[str]], version: GroupVersion, into: Object) -> None:
        """Set the fields of `into`; parameters it does not declare are ignored. Raises ValueError for a bad value."""
        for info in type(into)._fields.values():
            values = parameters.get(info.json)
            if values:
                setattr(into, info.attr, values if info.is_list else _parse(info.type.lstrip("*"), values[0]))


# Go embeds TypeMeta, which is never a parameter.
_TYPE_META = frozenset({"kind", "apiVersion"})
_NUMBERS = frozenset({"int", "int32", "int64", "uint32", "uint64", "float32", "float64"})
_ZERO_TEXTS = {"bool": "false", "string": ""}


def convert_to_parameters(obj: Struct) -> dict[str, list[str]]:
    """Return the fields of `obj` as query parameters.

    The fields of nested structs are parameters as well, maps and lists of structs are not. Zero values of optional
    fields are omitted, in lists too. Raises ValueError for an invalid time. Go: queryparams.Convert.
    """
    parameters: dict[str, list[str]] = {}
    _add_fields(parameters, obj)
    return parameters


def _add_fields(parameters: dict[str, list[str]], obj: Struct) -> None:
    document = obj._document
    for info in type(obj)._fields.values():
        name = info.json
        value = document.get(name)
        if name in _TYPE_META or (value is None and info.omitempty):
            continue
        if isinstance(value, list):
            texts = [
                _text(item) for item in value if (item or not info.omitempty) and not isinstance(item, dict | list)
            ]
            if texts:
                parameters.setdefault(name, []).extend(texts)
        elif isinstance(value, dict):
            if not info.is_map and isinstance(nested := getattr(obj, info.attr), Struct):
                _add_fields(parameters, nested)
        elif info.type.lstrip("*") == "time":
            moment = getattr(obj, info.attr)
            parameters.setdefault(name, []).append(format_time(moment) if moment is not None else "")
        elif value is not None:
            if value or info.is_pointer or not info.omitempty:
                parameters.setdefault(name, []).append(_text(value))
        elif not info.is_list and not info.is_map:
            _add_absent(parameters, info)


def _add_absent(parameters: dict[str, list[str]], info: FieldInfo) -> None:
    """Add the zero value of a field that is always written."""
    if info.is_pointer:
        parameters.setdefault(info.json, []).append("")
    elif info.type in _ZERO_TEXTS or info.type in _NUMBERS:
        parameters.setdefault(info.json, []).append(_ZERO_TEXTS.get(info.type, "0"))


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _parse(go_type: str, text: str) -> Any:
    if go_type == "bool":
        return text.lower() not in ("", "0", "false") if text else True
    if go_type in ("int", "int32", "int64"):
        return int(text)
    return text


PARAMETER_CODEC = _ParameterCodec()


def new_parameter_codec(scheme: object) -> _ParameterCodec:
    """Return the parameter codec. It ignores the scheme, since documents need no conversion. Go: NewParameterCodec."""
    return PARAMETER_CODEC
