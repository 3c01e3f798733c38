"""What a protobuf message had in fields that no table knows: it came from a newer server. No Go file: Go drops it.

Over JSON such a field simply stays in the document. Protobuf gives it a number instead of a name, so that only its
bytes can be kept: beside the document, for the one who writes the object back.
"""

from __future__ import annotations

from typing import Any, ClassVar


class UnknownFieldsError(ValueError):
    """What was to be written cannot say the fields that a newer server sent."""


class UnknownFields(dict[str, Any]):
    """The document of a message that had unknown fields, and their bytes; also that of an object that holds such.

    Copies of the object keep the bytes and protobuf writes them; JSON cannot, and refuses the object. They take part in
    equality. `to_dict` gives plain dicts, without them.
    """

    __slots__ = ("fields",)

    # Whether there ever was one: if not, nobody has to look for them.
    made: ClassVar[bool] = False

    def __init__(self, document: dict[str, Any], fields: dict[str, bytes]) -> None:
        """`fields` are the bytes by the message's name: those of an embedded struct stand in the same document."""
        super().__init__(document)
        self.fields = fields
        UnknownFields.made = True

    def copy_with(self, document: dict[str, Any]) -> UnknownFields:
        """Another document with the same bytes."""
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


def without_unknown_fields(value: Any) -> Any:
    """A copy in plain dicts and lists."""
    if isinstance(value, dict):
        return {key: without_unknown_fields(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_unknown_fields(item) for item in value]
    return value


def has_unknown_fields(document: Any) -> bool:
    """Whether there are such fields in any part of the document: also in one that was copied from another object."""
    return UnknownFields.made and _holds_unknown_fields(document)


def _holds_unknown_fields(value: Any) -> bool:
    if isinstance(value, dict):
        return type(value) is UnknownFields or any(map(_holds_unknown_fields, value.values()))
    return isinstance(value, list) and any(map(_holds_unknown_fields, value))
