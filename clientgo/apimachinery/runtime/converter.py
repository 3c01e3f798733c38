"""Between typed objects and plain documents. Mirrors runtime/converter.go.

Differs: an object is a document already, so both directions are a copy. A document keeps exactly the fields it has,
where Go adds the zero values of fields without omitempty (`status: {}`), and nothing is checked against the class.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from clientgo.apimachinery.runtime.error import new_strict_decoding_error
from clientgo.apimachinery.runtime.view import JSONObject, ListView, MapView, Struct


class UnstructuredConverter(Protocol):
    """Makes structs into documents and documents into structs."""

    def to_unstructured(self, obj: Struct) -> JSONObject:
        """The content of `obj` as a dict that is free to change. Go: ToUnstructured."""
        ...

    def from_unstructured(self, u: JSONObject, obj: Struct) -> None:
        """Replace the content of `obj` by a copy of `u`. Go: FromUnstructured."""
        ...


class _UnstructuredConverter:
    def to_unstructured(self, obj: Struct) -> JSONObject:
        return obj.to_dict()

    def from_unstructured(self, u: JSONObject, obj: Struct) -> None:
        content = deep_copy_json(u)
        document = obj._writable()
        document.clear()
        document.update(content)

    def from_unstructured_with_validation(self, u: JSONObject, obj: Struct, return_unknown_fields: bool) -> None:
        """The same; asked for unknown fields it raises StrictDecodingError, after filling `obj`, when there are any.

        Go: FromUnstructuredWithValidation.
        """
        self.from_unstructured(u, obj)
        unknown = _unknown_fields(obj, "") if return_unknown_fields else []
        if unknown:
            raise new_strict_decoding_error([ValueError(f'unknown field "{path}"') for path in unknown])


def _unknown_fields(struct: Struct, path: str) -> list[str]:
    """The paths of what the class of `struct` does not declare, at any depth."""
    declared = {info.json: info.attr for info in type(struct)._fields.values()}
    found = []
    for key, raw in struct._document.items():
        below = f"{path}.{key}" if path else key
        if key not in declared:
            found.append(below)
        elif isinstance(raw, (dict, list)):
            found += _unknown_in(getattr(struct, declared[key]), below)
    return found


def _unknown_in(value: Any, path: str) -> list[str]:
    if isinstance(value, Struct):
        return _unknown_fields(value, path)
    if isinstance(value, ListView):
        return [each for index, item in enumerate(value) for each in _unknown_in(item, f"{path}[{index}]")]
    if isinstance(value, MapView):
        return [each for key, item in value.items() for each in _unknown_in(item, f"{path}.{key}")]
    return []


DEFAULT_UNSTRUCTURED_CONVERTER: Final = _UnstructuredConverter()


def deep_copy_json(x: JSONObject) -> JSONObject:
    """A copy of a document. Raises TypeError for what is no JSON, where Go panics. O(size). Go: DeepCopyJSON."""
    copy: JSONObject = deep_copy_json_value(x)
    return copy


def deep_copy_json_value(x: Any) -> Any:
    """A copy of a JSON value. Raises TypeError for what is none, where Go panics. O(size). Go: DeepCopyJSONValue."""
    if isinstance(x, dict):
        return {key: deep_copy_json_value(value) for key, value in x.items()}
    if isinstance(x, list):
        return [deep_copy_json_value(value) for value in x]
    if x is None or isinstance(x, (str, bool, int, float)):
        return x
    raise TypeError(f"cannot deep copy {type(x).__name__}")
