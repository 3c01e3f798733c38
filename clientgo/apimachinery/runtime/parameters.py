"""Option objects as query parameters.

Mirrors runtime/codec.go (parameterCodec) and conversion/queryparams/convert.go.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.structs import Struct


class _ParameterCodec:
    """A codec that writes the fields of any option struct as query parameters. All versions share one form."""

    def encode_parameters(self, obj: Object, to: GroupVersion) -> dict[str, list[str]]:
        """Return the set fields by their JSON names. Omits zero values of optional fields."""
        return convert_to_parameters(obj)

    def decode_parameters(self, parameters: dict[str, list[str]], version: GroupVersion, into: Object) -> None:
        """Set the fields of `into`; parameters it does not declare are ignored. Raises ValueError for a bad value."""
        for info in type(into)._fields.values():
            values = parameters.get(info.json)
            if values:
                setattr(into, info.attr, values if info.is_list else _parse(info.type.lstrip("*"), values[0]))


def convert_to_parameters(obj: Struct) -> dict[str, list[str]]:
    """Return the fields of `obj` as query parameters. Go: queryparams.Convert."""
    pointers = {info.json for info in type(obj)._fields.values() if info.is_pointer}
    parameters: dict[str, list[str]] = {}
    for name, value in obj._document.items():
        if value is None or isinstance(value, dict):
            continue
        if isinstance(value, list):
            parameters[name] = [_text(item) for item in value]
        elif value or name in pointers:
            parameters[name] = [_text(value)]
    return parameters


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
