"""Between typed objects and plain documents. Mirrors runtime/converter.go.

Differs: an object is a document already, so both directions are a copy. A document keeps exactly the fields it has,
where Go adds the zero values of fields without omitempty (`status: {}`), and nothing is checked against the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from clientgo.apimachinery.runtime.collection_views import CollectionView, ListView, MapView
from clientgo.apimachinery.runtime.documents import copied_document_of, refill
from clientgo.apimachinery.runtime.error import new_strict_decoding_error
from clientgo.apimachinery.runtime.field_types import FieldType, go_name, parse_type
from clientgo.apimachinery.runtime.fields import EMPTY, FieldInfo
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.runtime.timestamps import check_micro_time
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.apimachinery.runtime.view import JSONObject, UnreadableTextError, View
from clientgo.apimachinery.util.json import marshal, unmarshal
from clientgo.golang.json import UnmarshalTypeError, without_literals


class UnstructuredConverter(Protocol):
    """Makes structs into documents and documents into structs."""

    def to_unstructured(self, obj: Struct) -> JSONObject:
        """Return the content of `obj` as a dict that the caller may change. Go: ToUnstructured."""
        ...

    def from_unstructured(self, u: JSONObject, obj: Struct) -> None:
        """Replace the content of `obj` by a copy of `u`. Go: FromUnstructured."""
        ...


class _UnstructuredConverter:
    def to_unstructured(self, obj: Struct) -> JSONObject:
        return copied_document_of(obj)

    def from_unstructured(self, u: JSONObject, obj: Struct) -> None:
        refill(obj, deep_copy_json(u))

    def from_unstructured_with_validation(self, u: JSONObject, obj: Struct, return_unknown_fields: bool) -> None:
        """Replace the content of `obj` by a copy of `u`; then raise StrictDecodingError for unknown fields, on request.

        Go: FromUnstructuredWithValidation.
        """
        self.from_unstructured(u, obj)
        unknown = _unknown_fields(obj, "") if return_unknown_fields else []
        if unknown:
            raise new_strict_decoding_error([ValueError(f'unknown field "{path}"') for path in unknown])


_S = TypeVar("_S", bound=Struct)


def decode_as_go(cls: type[_S], document: Any) -> _S:
    """Return an object of `cls` as Go's decoder makes it: checked, without unknown fields and nulls, and with its
    times, quantities and bytes in the form that Go writes.

    For code that imitates a Go program. Takes over `document`. Raises json.UnmarshalTypeError with Go's text for a
    value of a wrong type, and ValueError for a text that is unreadable, such as a time or a quantity. Among several
    errors Go reports the first one in the order of the document, or that of a type that reads its own JSON. Such types
    are times and quantities, for instance.
    """
    if not isinstance(document, dict):
        raise UnmarshalTypeError(document, go_name(cls))
    obj = cls.from_dict(document)
    saved: list[UnmarshalTypeError | UnreadableTextError] = []
    try:
        _decode_as_go(obj, saved)
    except (UnmarshalTypeError, UnreadableTextError) as err:
        saved.insert(0, err)
    if saved:
        saved[0].args = (saved[0].text,)  # Go does not name the object.
        raise saved[0] from None
    drop_unknown_fields(obj)
    return obj


def decode_written_as_go(cls: type[_S], document: Any) -> _S:
    """Return an object of `cls` as Go decodes it from the JSON that it wrote of a map.

    There, keys are sorted, and 1e3 is the integer 1000. Otherwise like `decode_as_go`.
    """
    return decode_as_go(cls, unmarshal(marshal(document)))


def _decode_as_go(value: Any, saved: list[UnmarshalTypeError | UnreadableTextError]) -> None:
    """Read a value in the order of its document. Save its errors, but raise one that ends the decoding."""
    reads: list[tuple[Callable[[], FieldType], Callable[[], Any]]] = []
    if isinstance(value, Struct):
        declared = {info.json: info for info in type(value)._fields.values()}
        for key, raw in list(value._document.items()):
            info = declared.get(key)
            if info is not None and raw is not None:
                reads.append((partial(parse_type, info.type, type(value).__module__), partial(_read, value, info)))
            elif key in ("apiVersion", "kind") and not isinstance(raw, str | None):
                saved.append(value._mistyped(key, raw, "string"))
    elif isinstance(value, (ListView, MapView)):
        keys: Iterable[Any] = range(len(value)) if isinstance(value, ListView) else list(value)
        reads += [(partial(getattr, value, "_item"), partial(_read_element, value, key)) for key in keys]
    for kind, read in reads:
        try:
            found = read()
        except (UnmarshalTypeError, UnreadableTextError) as err:
            if kind().ends_decoding:
                raise
            saved.append(err)
        else:
            _decode_as_go(found, saved)


def _read(struct: Struct, info: FieldInfo) -> Any:
    """Return a field's value after the checks that Go makes. Raises UnmarshalTypeError or UnreadableTextError."""
    value = getattr(struct, info.attr)
    _check_range(struct, info, value)
    _check_micro_time(struct, parse_type(info.type, type(struct).__module__), info.json, struct._document[info.json])
    return value


def _read_element(view: ListView[Any] | MapView[Any], key: Any) -> Any:
    """Return an element's value after the checks that Go makes. Raises UnmarshalTypeError or UnreadableTextError."""
    value = view[key]
    _check_micro_time(view, view._item, "", view._document[key])
    return value


def check_fields(obj: Struct) -> None:
    """Read every field that the classes of `obj` declare, at any depth.

    So errors are found now, not at a later read. Raises json.UnmarshalTypeError for a wrong type.
    """
    for key in ("apiVersion", "kind"):
        name = obj._document.get(key)
        if name is not None and not isinstance(name, str):
            raise obj._mistyped(key, name, "string")
    _visit(obj, _check_range)


_INT_BITS: Final = {"int32": 32, "int64": 64, "int": 64}


def _visit(value: Any, check: Callable[[Struct, FieldInfo, Any], None]) -> None:
    """Read the declared fields of a value at any depth, and call `check` with each struct, field and read value."""
    if isinstance(value, Struct):
        document = value._document
        for info in type(value)._fields.values():
            if info.json in document:
                found = getattr(value, info.attr)
                _visit(found, check)
                check(value, info, found)
    elif isinstance(value, ListView):
        for each in value:
            _visit(each, check)
    elif isinstance(value, MapView):
        for each in value.values():
            _visit(each, check)


def _check_micro_time(view: View, kind: FieldType, key: str, raw: Any) -> None:
    if kind is _MICRO_TIME and isinstance(raw, str):
        try:
            check_micro_time(raw)
        except ValueError as err:
            raise view._unreadable(key, err) from err


_MICRO_TIME: Final = parse_type("microtime", "")


def _check_range(struct: Struct, info: FieldInfo, value: Any) -> None:
    bits = _INT_BITS.get(info.type.lstrip("*"))
    if bits and isinstance(value, int) and not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise struct._mistyped(info.json, value, info.type.lstrip("*"))


def first_unknown_field(obj: Any) -> int | None:
    """Return the position in its map of the unknown field that Go's decoder of CBOR reports; None if there is none.

    An unknown field of an object comes before those of its fields. No Go identifier.
    """
    if isinstance(obj, Struct):
        declared = {info.json: info for info in type(obj)._fields.values()}
        inner = None
        for index, key in enumerate(obj._document):
            info = declared.get(key)
            if info is not None and inner is None:
                inner = first_unknown_field(getattr(obj, info.attr))
            elif info is None and key not in ("apiVersion", "kind"):
                return index
        return inner
    items = obj.values() if isinstance(obj, MapView) else obj if isinstance(obj, ListView) else ()
    return next((found for each in items if (found := first_unknown_field(each)) is not None), None)


def _unknown_fields(struct: Struct, path: str) -> list[str]:
    """Return the paths of all fields, at any depth, that the struct's class does not declare."""
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


def drop_unknown_fields(obj: Struct) -> None:
    """Remove, at any depth, what a Go struct does not write again: undeclared fields, nulls, and empty values of fields
    with omitempty. Give scalars the form in which Go writes them: a time has whole seconds, for instance.

    For code that imitates a Go program that decodes into structs. Objects keep such fields otherwise.
    """
    _drop_unknown(obj, obj._writable())


def _drop_unknown(value: Any, raw: Any) -> None:
    """Delete from `raw` the fields that the class of `value` does not declare. Both hold the same value."""
    if isinstance(value, Struct):
        declared = {info.json: info for info in type(value)._fields.values()}
        if not declared:
            return  # FieldsV1, which is any JSON.
        for key in [key for key, item in raw.items() if key not in declared or _is_omitted(declared[key], item)]:
            del raw[key]
        for key, item in list(raw.items()):
            if isinstance(item, (dict, list)):
                below = getattr(value, declared[key].attr)
                if isinstance(below, (dict, list)):
                    raw[key] = without_literals(below)  # Any JSON.
                else:
                    _drop_unknown(below, item)
            else:
                raw[key] = parse_type(declared[key].type, type(value).__module__).written(item)
                if raw[key] is None:
                    del raw[key]
    elif isinstance(value, (ListView, MapView)):
        keys: Any = range(len(raw)) if isinstance(raw, list) else raw
        for key in keys:
            if raw[key] is None:
                # Go's decoder makes a null element the zero value of its type.
                raw[key] = value._item.written_null()
            elif isinstance(raw[key], (dict, list)):
                _drop_unknown(value[key], raw[key])
            else:
                raw[key] = value._item.written(raw[key])


def _is_omitted(info: FieldInfo, value: Any) -> bool:
    """Report whether Go's encoder omits this value of a field that was decoded into a struct."""
    if value is None:
        return True
    if value or not info.omitempty or info.is_pointer:
        return False
    return info.is_list or info.is_map or (not isinstance(value, dict) and info.type not in _SCALAR_STRUCTS)


def drop_empty_values(obj: Struct) -> None:
    """Remove, at any depth, the empty values that Go's encoder omits, and make a null {} where Go has a struct.

    Keeps other nulls and undeclared fields.
    """
    _drop_empty(obj, obj._writable())


def _drop_empty(value: Any, raw: Any) -> None:
    if isinstance(value, Struct):
        for info in type(value)._fields.values():
            item = raw.get(info.json)
            if item is None:
                if info.json in raw and _is_struct(info):
                    raw[info.json] = {}
                continue
            if _is_omitted(info, item):
                del raw[info.json]
            elif isinstance(item, (dict, list)):
                _drop_empty(getattr(value, info.attr), item)
    elif isinstance(value, (ListView, MapView)):
        keys: Any = range(len(raw)) if isinstance(raw, list) else raw
        for key in keys:
            if isinstance(raw[key], (dict, list)):
                _drop_empty(value[key], raw[key])


def to_go_document(obj: Struct, *, nulls: bool = False) -> JSONObject:
    """Return the document that Go's encoder writes: without unknown fields, with the zero values that Go writes.

    Go writes null for an absent list or map without omitempty and for an absent time; this function does so only with
    `nulls`. For code that imitates a Go program; `to_dict` returns the document as it is.
    """
    if not type(obj)._fields:
        return obj.to_dict()  # FieldsV1, which is any JSON.
    document: JSONObject = {}
    raw = obj._document
    for info in type(obj)._fields.values():
        value = raw.get(info.json)
        if _is_struct(info):
            document[info.json] = to_go_document(getattr(obj, info.attr), nulls=nulls)
        elif info.is_pointer:
            if value is not None or not info.omitempty or (nulls and _is_null_when_absent(info)):
                document[info.json] = _go_value(obj, info, value, nulls)
        elif value:
            document[info.json] = _go_value(obj, info, value, nulls)
        elif not _is_nil_when_absent(info) and (not info.omitempty or info.type in _SCALAR_STRUCTS):
            document[info.json] = _scalar_zero(info)
        elif not info.omitempty and nulls:
            document[info.json] = value
    return raw.copy_with(document) if type(raw) is UnknownFields else document


def drop_zero_values(obj: Struct, before: Any) -> None:
    """Remove, at any depth, the zero values that `to_go_document` adds, unless the document `before` has the field.

    Such a field reads the same when it is absent. The elements of both lists correspond by their positions.
    """
    _drop_zero_values(obj, obj._writable(), before)


def _drop_zero_values(value: Any, raw: Any, before: Any) -> None:
    if isinstance(value, Struct):
        known = before if isinstance(before, dict) else {}
        for info in type(value)._fields.values():
            if info.json not in raw:
                continue
            found = raw[info.json]
            if isinstance(found, (dict, list)):
                _drop_zero_values(getattr(value, info.attr), found, known.get(info.json))
            if info.json not in known and not info.is_pointer:
                zero = {} if _is_struct(info) else None if _is_nil_when_absent(info) else _scalar_zero(info)
                if type(found) is type(zero) and found == zero:
                    del raw[info.json]
    elif isinstance(value, ListView):
        known_items = before if isinstance(before, list) else []
        for index, (each, item) in enumerate(zip(value, raw)):
            _drop_zero_values(each, item, known_items[index] if index < len(known_items) else None)
    elif isinstance(value, MapView):
        known = before if isinstance(before, dict) else {}
        for key, each in value.items():
            _drop_zero_values(each, raw[key], known.get(key))


def _is_struct(info: FieldInfo) -> bool:
    """Report whether the field is a struct and no pointer; Go's omitempty does not omit it."""
    return info.default is EMPTY and not (info.is_list or info.is_map) and info.type not in _TEXT_TYPES


def _is_null_when_absent(info: FieldInfo) -> bool:
    """Report whether the field is a struct that Go writes as null. Only creationTimestamp has omitzero."""
    return info.type in ("time", "microtime", "raw") and info.json != "creationTimestamp"


def _is_nil_when_absent(info: FieldInfo) -> bool:
    """Report whether the field is a list, a map or bytes."""
    return info.is_list or info.is_map or info.type == "bytes"


def _scalar_zero(info: FieldInfo) -> Any:
    return "0" if info.type in _TEXT_TYPES else info.default


# Written as text; absent they are zero, not an empty struct.
_TEXT_TYPES: Final = ("resource.Quantity", "quantity")
# Structs that JSON writes as a scalar. Go's omitempty does not omit them.
_SCALAR_STRUCTS: Final = (*_TEXT_TYPES, "intstr.IntOrString", "intorstring")


def _go_value(obj: Struct, info: FieldInfo, value: Any, nulls: bool) -> Any:
    """Return a field's value in the form that Go's encoder writes."""
    if isinstance(value, (dict, list)):
        return _go_json(getattr(obj, info.attr), value, nulls)
    return parse_type(info.type, type(obj).__module__).written(value)


def _go_json(value: Any, raw: Any, nulls: bool) -> Any:
    """Return `raw` in the form that Go's encoder writes. `value` holds the same value as an object."""
    if isinstance(value, Struct):
        return to_go_document(value, nulls=nulls)
    if isinstance(value, ListView):
        return [_go_item(value, each, item, nulls) for each, item in zip(value, raw)]
    if isinstance(value, MapView):
        return {key: _go_item(value, each, raw[key], nulls) for key, each in value.items()}
    return deep_copy_json_value(raw)


def _go_item(of: CollectionView, item: Any, raw: Any, nulls: bool) -> Any:
    return _go_json(item, raw, nulls) if isinstance(raw, (dict, list)) else of._item.written(raw)


DEFAULT_UNSTRUCTURED_CONVERTER: Final = _UnstructuredConverter()


def deep_copy_json(x: JSONObject) -> JSONObject:
    """Return a copy of a document. Raises TypeError for non-JSON values, where Go panics. O(size). Go: DeepCopyJSON."""
    copy: JSONObject = deep_copy_json_value(x)
    return copy


def deep_copy_json_value(x: Any) -> Any:
    """Return a copy of a JSON value. Raises TypeError for other values, where Go panics. O(size).

    Go: DeepCopyJSONValue.
    """
    if isinstance(x, dict):
        copied = {key: deep_copy_json_value(value) for key, value in x.items()}
        return x.copy_with(copied) if type(x) is UnknownFields else copied
    if isinstance(x, list):
        return [deep_copy_json_value(value) for value in x]
    if x is None or isinstance(x, (str, bool, int, float)):
        return x
    raise TypeError(f"cannot deep copy {type(x).__name__}")
