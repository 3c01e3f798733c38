"""The fields of a protobuf message that no table has: a newer server sent them. No Go file: Go drops them.

Over JSON such a field simply stays in the document. Protobuf gives it a number instead of a name, so that only its
bytes can be kept: beside the document, for the one who writes the object back.
"""

from __future__ import annotations

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
    if isinstance(value, dict):
        return {key: without_unknown_fields(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_unknown_fields(item) for item in value]
    return value


def has_unknown_fields(document: Any) -> bool:
    """Report whether any part of the document has unknown fields, also one that was copied from another object."""
    return UnknownFields.made and _holds_unknown_fields(document)


def _holds_unknown_fields(value: Any) -> bool:
    if isinstance(value, dict):
        return type(value) is UnknownFields or any(map(_holds_unknown_fields, value.values()))
    return isinstance(value, list) and any(map(_holds_unknown_fields, value))


# What the names of no fields begin with.
_MARK: Final = "\0unknown:"


def spell_out(document: dict[str, Any]) -> dict[str, Any]:
    """Return a copy in plain dicts and lists, in which the unknown fields have names of their own.

    Code that compares documents field by field then sees the unknown fields too. See spells_out.
    """
    plain = {key: _spelled_out(item) for key, item in document.items()}
    plain.update((_MARK + name, data.hex()) for name, data in unknown_fields_of(document).items())
    return plain


def _spelled_out(value: Any) -> Any:
    if isinstance(value, dict):
        return spell_out(value)
    return list(map(_spelled_out, value)) if isinstance(value, list) else value


def spells_out(patch: Any) -> bool:
    """Report whether a patch made of `spell_out`'s copies has one of its names, which no server knows."""
    return UnknownFields.made and _has_mark(patch)


def _has_mark(value: Any) -> bool:
    if isinstance(value, dict):
        return any(key.startswith(_MARK) or _has_mark(item) for key, item in value.items())
    if isinstance(value, list):
        return any(map(_has_mark, value))
    return isinstance(value, str) and value.startswith(_MARK)
