"""The way of other packages to the document below an object. No Go file: in Go there is a struct instead.

Programs have fields and accessors, and `to_dict` and `from_dict`. The packages that read, write and compare whole
objects (serializers, apis/meta/v1, event correlation) work on the document itself, without a copy: with these
functions, and with `Object.from_source` and `ListObject.of_items`, which make objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields, has_unknown_fields, no_json
from clientgo.apimachinery.runtime.view import JSONObject, View, copy_json

__all__ = [
    "copied_document_of",
    "document_of",
    "free_document_of",
    "json_document_of",
    "keep_zero_values",
    "refill",
    "replace_document",
    "writable_document_of",
]


def document_of(obj: Struct) -> JSONObject:
    """Return the document, to be read only. Decodes an object that is not decoded yet, otherwise O(1)."""
    document: JSONObject = obj._document
    return document


def writable_document_of(obj: Struct) -> JSONObject:
    """Return the object's own document, which the caller may change. Raises ReadOnlyError when the object is frozen."""
    document: JSONObject = obj._writable()
    return document


def free_document_of(obj: Struct) -> JSONObject:
    """Return a document that the caller may change: the object's own, or a copy when the object is frozen."""
    root: View = obj
    while root._parent is not None:
        root = root._parent
    document: JSONObject = copy_json(document_of(obj)) if root._frozen else document_of(obj)
    return document


def copied_document_of(obj: Struct) -> JSONObject:
    """Return a copy of the document that the caller may change, with the unknown fields that `to_dict` omits. O(size).
    """
    # An undecoded object stays so: its copy is decoded.
    document: JSONObject = obj.deep_copy()._document
    return document


def json_document_of(obj: Struct) -> JSONObject:
    """Return a copy of the document to write as JSON. Raises UnknownFieldsError if JSON would lose fields."""
    document = copied_document_of(obj)
    if has_unknown_fields(document):
        raise no_json(obj)
    return document


def refill(obj: Struct, document: JSONObject) -> None:
    """Replace the content of the document in place, so that other references to the dict see the change."""
    own = obj._writable()
    if isinstance(own, UnknownFields) or isinstance(document, UnknownFields):
        replace_document(obj, document)
        return
    own.clear()
    own.update(document)


def replace_document(obj: Struct, document: JSONObject) -> None:
    """Let the object be what `document` says, which it owns from here on (in Go: `*obj = other`).

    Raises ReadOnlyError for an object that is frozen.
    """
    own = writable_document_of(obj)
    if obj._parent is None:
        obj._source = document
        return
    # Its document is a part of another object's document, and must stay there.
    if own is not document:
        own.clear()
        own.update(document)


def keep_zero_values(obj: Struct, attrs: Iterable[str]) -> None:
    """Write an empty or zero value into the document for each of the fields that the document lacks.

    Assigning such a value to a field with omitempty removes the field. Raises TypeError for an unknown field.
    """
    document = writable_document_of(obj)
    for attr in attrs:
        info = obj._fields.get(attr)
        if info is None:
            raise obj._unknown(attr)
        if info.json not in document:
            document[info.json] = _zero_value(getattr(obj, attr))


def _zero_value(value: Any) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    return [] if isinstance(value, Sequence) else {}
