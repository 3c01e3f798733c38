"""The fields of a protobuf message that are missing in the tables: a newer server sent them. No Go file: Go drops them.

In JSON such a field stays in the document. In protobuf it has a number and no name. So only its bytes can be kept,
beside the document, until the object is written back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final

# The names of the messages whose unknown fields their object keeps.
OBJECT_META: Final = "clientgo.apimachinery.apis.meta.v1.ObjectMeta"
LIST_META: Final = "clientgo.apimachinery.apis.meta.v1.ListMeta"


class UnknownFieldsError(ValueError):
    """The format cannot express the fields that a newer server sent."""


def no_json(obj: object) -> UnknownFieldsError:
    """Return the error for an object that would lose fields in JSON, or in a JSON patch."""
    return UnknownFieldsError(
        f"{obj!r} has fields that this version does not know, which only an update in protobuf can write: "
        "to write it otherwise, read it with the content type application/json"
    )


class UnknownFields(dict[str, Any]):
    """The document of a message that had unknown fields, and their bytes; also that of an object that holds such.

    Copies of the object keep the bytes and protobuf writes them; JSON cannot, and refuses the object. They take part in
    equality. `to_dict` gives plain dicts, without them. A patch leaves them alone or is refused, see spell_out.
    """

    __slots__ = ("fields",)

    # True once there was one; until then `has_unknown_fields` need not search.
    made: ClassVar[bool] = False

    def __init__(self, document: dict[str, Any], fields: dict[str, bytes]) -> None:
        """Keep a document and its unknown bytes, by message name: an embedded struct shares the document of its owner.
        """
        super().__init__(document)
        self.fields = fields
        UnknownFields.made = True

    def copy_with(self, document: dict[str, Any]) -> UnknownFields:
        """Return another document with the same unknown bytes."""
        return UnknownFields(document, dict(self.fields))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, dict):
            return NotImplemented
        theirs = other.fields if isinstance(other, UnknownFields) else {}
        return dict.__eq__(self, other) and self.fields == theirs

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # mutable

    def __reduce__(self) -> tuple[Any, ...]:
        return UnknownFields, (dict(self), self.fields)


def unknown_fields_of(document: dict[str, Any]) -> dict[str, bytes]:
    """Return the unknown bytes of the document itself, without those of the objects in it."""
    return document.fields if type(document) is UnknownFields else {}


def without_unknown_fields(value: Any) -> Any:
    """Return a copy in plain dicts and lists."""
    return _copied(value, dict)


def _copied(value: Any, copy: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return a copy in which `copy` has replaced each dict. Not recursive, since JSON may be nested very deep."""
    out: list[Any] = [value]
    # Containers of copies, with the keys or indices of the values that are not copied yet.
    unfinished: list[tuple[Any, Any]] = [(out, 0)]
    while unfinished:
        container, key = unfinished.pop()
        item = container[key]
        if isinstance(item, dict):
            container[key] = copied = copy(item)
            unfinished += [(copied, name) for name, inner in copied.items() if isinstance(inner, (dict, list))]
        elif isinstance(item, list):
            container[key] = items = list(item)
            unfinished += [(items, index) for index, inner in enumerate(items) if isinstance(inner, (dict, list))]
    return out[0]


def _values_in(value: Any) -> Iterator[Any]:
    """Yield a value and everything in it. Not recursive."""
    unfinished = [value]
    while unfinished:
        item = unfinished.pop()
        yield item
        if isinstance(item, dict):
            unfinished += item.values()
        elif isinstance(item, list):
            unfinished += item


def has_unknown_fields(document: Any) -> bool:
    """Report whether any part of the document has unknown fields, also one that was copied from another object."""
    return UnknownFields.made and any(type(part) is UnknownFields for part in _values_in(document))


# A prefix that no name of a field has.
_MARK: Final = "\0unknown:"


def spell_out(document: dict[str, Any]) -> dict[str, Any]:
    """Return a copy in plain dicts and lists, in which the unknown fields have names of their own.

    Code that compares documents field by field then sees the unknown fields too. See spells_out.
    """
    copied: dict[str, Any] = _copied(document, _spelled_out)
    return copied


def _spelled_out(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, **{_MARK + name: data.hex() for name, data in unknown_fields_of(document).items()}}


def spells_out(patch: Any) -> bool:
    """Report whether a patch made of `spell_out`'s copies has one of its names, which no server knows."""
    return UnknownFields.made and any(map(_has_mark, _values_in(patch)))


def _has_mark(value: Any) -> bool:
    if isinstance(value, dict):
        return any(key.startswith(_MARK) for key in value)
    return isinstance(value, str) and value.startswith(_MARK)
