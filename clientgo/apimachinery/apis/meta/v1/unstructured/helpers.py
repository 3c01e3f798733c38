"""Access to nested fields of JSON objects, and the serializer of objects without classes.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/helpers.go. Readers return (value, found). They raise
TypeError if the value, or an object on the path, has the wrong type. They return copies, except `nested_field_no_copy`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from clientgo.apimachinery.runtime.documents import replace_document
from clientgo.apimachinery.runtime.error import is_not_registered_error, new_missing_kind_err
from clientgo.apimachinery.runtime.interfaces import Codec, Decoder, Encoder
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.serializer.json import marshal_unstructured, parse_json
from clientgo.apimachinery.runtime.types import Unknown
from clientgo.apimachinery.runtime.view import JSONObject, copy_json
from clientgo.apimachinery.util.json import encode
from clientgo.golang.fmt import sprintf

T = TypeVar("T")

_MISSING: Final = object()


def nested_field_copy(obj: Mapping[str, Any], *fields: str) -> tuple[Any, bool]:
    """Return a copy of the value at the path. Go: NestedFieldCopy.

    >>> nested_field_copy({"spec": {"replicas": 2}}, "spec", "replicas")
    (2, True)
    """
    value, found = nested_field_no_copy(obj, *fields)
    return copy_json(value), found


def nested_field_no_copy(obj: Mapping[str, Any], *fields: str) -> tuple[Any, bool]:
    """Return the value at the path without a copy: do not change it. Go: NestedFieldNoCopy."""
    value: Any = obj
    for position, field in enumerate(fields):
        if value is None:
            return None, False
        if not isinstance(value, Mapping):
            raise TypeError(
                f"{_path(fields[: position + 1])} accessor error: {_typed_value(value)}, "
                "expected map[string]interface{}"
            )
        value = value.get(field, _MISSING)
        if value is _MISSING:
            return None, False
    return value, True


def _path(fields: Sequence[str]) -> str:
    return f".{'.'.join(fields)}"


def _kind(value: Any) -> str:
    names = {bool: "bool", int: "int64", float: "float64", str: "string"}
    names |= {list: "[]interface {}", dict: "map[string]interface {}"}
    return "<nil>" if value is None else names.get(type(value), type(value).__name__)


def _typed_value(value: Any) -> str:
    """Return a value and its type as error messages show them."""
    return f"{sprintf('%v', value)} is of the type {_kind(value)}"


def _typed(obj: Mapping[str, Any], fields: Sequence[str], cls: type[T], zero: T, wanted: str) -> tuple[T, bool]:
    value, found = nested_field_no_copy(obj, *fields)
    if not found:
        return zero, False
    if not isinstance(value, cls) or (isinstance(value, bool) and cls is not bool):
        raise TypeError(f"{_path(fields)} accessor error: {_typed_value(value)}, expected {wanted}")
    return value, True


def nested_string(obj: Mapping[str, Any], *fields: str) -> tuple[str, bool]:
    """Return the string at a path of field names. Go: NestedString."""
    return _typed(obj, fields, str, "", "string")


def nested_bool(obj: Mapping[str, Any], *fields: str) -> tuple[bool, bool]:
    """Return the boolean at a path of field names. Go: NestedBool."""
    return _typed(obj, fields, bool, False, "bool")


def nested_float64(obj: Mapping[str, Any], *fields: str) -> tuple[float, bool]:
    """Return the float at a path of field names. Go: NestedFloat64."""
    return _typed(obj, fields, float, 0.0, "float64")


def nested_int64(obj: Mapping[str, Any], *fields: str) -> tuple[int, bool]:
    """Return the integer at a path of field names. Go: NestedInt64."""
    return _typed(obj, fields, int, 0, "int64")


def nested_number_as_float64(obj: Mapping[str, Any], *fields: str) -> tuple[float, bool]:
    """Return the number at the path. Raises ValueError for an integer that no float equals.

    Go: NestedNumberAsFloat64.
    """
    value, found = nested_field_no_copy(obj, *fields)
    if not found:
        return 0.0, False
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{_path(fields)} accessor error: {_typed_value(value)}, expected float64 or int64")
    if isinstance(value, float) or int(float(value)) == value:
        return float(value), True
    raise ValueError(f"{_path(fields)} accessor error: int64 value {value} cannot be losslessly converted to float64")


def nested_string_slice(obj: Mapping[str, Any], *fields: str) -> tuple[list[str], bool]:
    """Return a copy of the list of strings at a path of field names. Go: NestedStringSlice."""
    values, found = _typed(obj, fields, list, [], "[]interface{}")
    for value in values:
        if not isinstance(value, str):
            raise TypeError(
                f"{_path(fields)} accessor error: contains non-string key in the slice: "
                f"{_typed_value(value)}, expected string"
            )
    return list(values), found


def nested_slice(obj: Mapping[str, Any], *fields: str) -> tuple[list[Any], bool]:
    """Return a deep copy of the list at a path of field names. Go: NestedSlice."""
    values, found = _typed(obj, fields, list, [], "[]interface{}")
    return copy_json(values), found


def nested_string_map(obj: Mapping[str, Any], *fields: str) -> tuple[dict[str, str], bool]:
    """Return a copy of the dict of strings at a path of field names. Go: NestedStringMap."""
    values, found = _typed(obj, fields, dict, {}, "map[string]interface{}")
    return _texts(values, fields), found


def _texts(values: Mapping[str, Any], fields: Sequence[str]) -> dict[str, str]:
    for key, value in values.items():
        if not isinstance(value, str):
            raise TypeError(
                f"{_path(fields)} accessor error: contains non-string value in the map under key {json.dumps(key)}: "
                f"{_typed_value(value)}, expected string"
            )
    return dict(values)


def nested_null_coercing_string_map(obj: Mapping[str, Any], *fields: str) -> tuple[dict[str, str], bool]:
    """Return the map at the path; null values become "", and a null map becomes empty.

    Go: NestedNullCoercingStringMap.
    """
    found = nested_field_no_copy(obj, *fields)
    if found == (None, True):
        return {}, True
    values, there = _typed(obj, fields, dict, {}, "map[string]interface{}")
    return _texts({key: "" if value is None else value for key, value in values.items()}, fields), there


def nested_map(obj: Mapping[str, Any], *fields: str) -> tuple[JSONObject, bool]:
    """Return a deep copy of the dict at a path of field names. Go: NestedMap."""
    values, found = _typed(obj, fields, dict, {}, "map[string]interface{}")
    return copy_json(values), found


def set_nested_field(obj: JSONObject, value: Any, *fields: str) -> None:
    """Set a copy of the value at the path, and create missing objects on it. Raises TypeError. Go: SetNestedField."""
    holder = obj
    for position, field in enumerate(fields[:-1]):
        inner = holder.get(field, _MISSING)
        if inner is _MISSING:
            inner = holder[field] = {}
        if not isinstance(inner, dict):
            raise TypeError(
                f"value cannot be set because {_path(fields[: position + 1])} is not a map[string]interface{{}}"
            )
        holder = inner
    holder[fields[-1]] = copy_json(value)


def set_nested_string_slice(obj: JSONObject, value: Sequence[str], *fields: str) -> None:
    """Set the list of strings at a path of field names. Go: SetNestedStringSlice."""
    set_nested_field(obj, list(value), *fields)


def set_nested_slice(obj: JSONObject, value: Sequence[Any], *fields: str) -> None:
    """Set the list at a path of field names. Go: SetNestedSlice."""
    set_nested_field(obj, list(value), *fields)


def set_nested_string_map(obj: JSONObject, value: Mapping[str, str], *fields: str) -> None:
    """Set the dict of strings at a path of field names. Go: SetNestedStringMap."""
    set_nested_field(obj, dict(value), *fields)


def set_nested_map(obj: JSONObject, value: Mapping[str, Any], *fields: str) -> None:
    """Set the dict at a path of field names. Go: SetNestedMap."""
    set_nested_field(obj, dict(value), *fields)


def remove_nested_field(obj: JSONObject, *fields: str) -> None:
    """Remove the value at the path, if it exists. Go: RemoveNestedField."""
    holder: Any = obj
    for field in fields[:-1]:
        holder = holder.get(field)
        if not isinstance(holder, dict):
            return
    holder.pop(fields[-1], None)


def _check_items(items: Any) -> None:
    if not isinstance(items, list | None):
        kind = {dict: "object", str: "string", bool: "bool"}.get(type(items), "number")
        raise ValueError(
            f"json: cannot unmarshal {kind} into Go struct field decodeList.items of type []json.RawMessage"
        )


class _UnstructuredJSONScheme:
    """The serializer for Unstructured, or UnstructuredList if there are items; it encodes any object. Thread-safe."""

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        """Decode a JSON object; `defaults` has no effect.

        Raises ValueError for data that is no JSON object, and the missing-kind error for an object without a kind.
        """
        document = parse_json(data)
        if not isinstance(document, dict):
            raise ValueError(f"json: cannot unmarshal {_kind(document)} into an object")
        obj = self.decode_document(document, into)
        return obj, obj.group_version_kind()

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured import Unstructured
        from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured_list import UnstructuredList

        if not document.get("kind"):
            raise new_missing_kind_err(encode(document)[:1024])
        if into is None:
            into = UnstructuredList if "items" in document else Unstructured
        if into is UnstructuredList or isinstance(into, UnstructuredList):
            _check_items(document.get("items"))
        if isinstance(into, type):
            return into.from_dict(document)
        replace_document(into, document)
        return into

    def expecting(self, cls: type[Object]) -> Decoder:
        """Return this decoder, since the expected class has no effect."""
        return self

    def encode(self, obj: Object) -> bytes:
        """Return the document as JSON with a newline at the end."""
        if isinstance(obj, Unknown):
            return obj.raw
        return marshal_unstructured(obj)

    def identifier(self) -> str:
        return "unstructuredJSON"


UNSTRUCTURED_JSON_SCHEME: Final[Codec] = _UnstructuredJSONScheme()


class _JSONFallbackEncoder:
    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def encode(self, obj: Object) -> bytes:
        from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured import UnstructuredContent

        try:
            return self._encoder.encode(obj)
        except Exception as err:
            if is_not_registered_error(err) and isinstance(obj, UnstructuredContent):
                return UNSTRUCTURED_JSON_SCHEME.encode(obj)
            raise

    def identifier(self) -> str:
        result = {"base": self._encoder.identifier(), "name": "fallback"}
        return json.dumps(result, separators=(",", ":"))


def new_json_fallback_encoder(encoder: Encoder) -> Encoder:
    """Return an encoder that writes unstructured objects that `encoder` does not know as plain JSON.

    Go: NewJSONFallbackEncoder.
    """
    return _JSONFallbackEncoder(encoder)
