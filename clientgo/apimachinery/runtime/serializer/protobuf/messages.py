"""The messages of the built-in kinds, from the tables in their packages. Go's generated code has them as functions.

A table (`generated_pb.py`, beside the types) is a text, with a paragraph for each message: its name, and a line for
each field, in the order of the numbers:

    4 terminationGracePeriodSeconds? *int

describes field 4. Its name in JSON is terminationGracePeriodSeconds, JSON omits it when it is empty (`?`, omitempty),
and it is a pointer (`*`). The name `-` marks an embedded struct: a message on the wire, while in JSON its fields are
among the others. A type is `[]T`, `map:T` (the keys are strings), a scalar (string, bool, int, double, bytes), a type
with its own form (see `decoding`), or a message. A message of another package has its import name: corev1.PodSpec.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Final

from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.serializer.protobuf import wire


class Kind:
    """The type of a field or of its elements. Plain numbers, since they are compared for every field that is read."""

    STRING = 0
    MESSAGE = 1
    BOOL = 2
    INT = 3
    DOUBLE = 4
    BYTES = 5
    TIME = 6
    MICROTIME = 7
    DURATION = 8
    QUANTITY = 9
    INTORSTRING = 10
    # Any JSON: runtime.RawExtension, metav1.FieldsV1, apiextensions' JSON.
    RAW = 11
    # A list of strings that has a type of its own.
    STRINGS = 12
    # apiextensions' JSONSchemaPropsOrArray, OrBool and OrStringArray.
    SCHEMAORARRAY = 13
    SCHEMAORBOOL = 14
    SCHEMAORSTRINGS = 15


class Shape:
    """The number of a field's values: one, or those of a list or a map."""

    ONE = 0
    LIST = 1
    MAP = 2


_KINDS: Final[dict[str, int]] = {name.lower(): kind for name, kind in vars(Kind).items() if type(kind) is int}
del _KINDS["message"]
_WIRE_TYPES: Final = {Kind.BOOL: wire.VARINT, Kind.INT: wire.VARINT, Kind.DOUBLE: wire.FIXED64}
# What JSON has for an empty one, of those that are no pointers.
_ZEROS: Final[dict[int, Any]] = {
    Kind.STRING: "",
    Kind.BOOL: False,
    Kind.INT: 0,
    Kind.DOUBLE: 0,
    Kind.DURATION: "0s",
    Kind.QUANTITY: "0",
    Kind.INTORSTRING: 0,
}
# Structs, which omitempty does not leave out.
_NEVER_EMPTY: Final = frozenset(
    (Kind.MESSAGE, Kind.TIME, Kind.MICROTIME, Kind.DURATION, Kind.QUANTITY, Kind.INTORSTRING, Kind.RAW)
)
# Kinds that Go does not write when they are nil. Of all other kinds it also writes zero values.
_NILABLE: Final = frozenset((Kind.BYTES, Kind.STRINGS))


class Field:
    """One field of a message."""

    __slots__ = (
        "_message",
        "_package",
        "_type",
        "always",
        "drops_zero",
        "is_shown",
        "json",
        "key",
        "kind",
        "number",
        "shape",
        "tag",
        "zero",
    )

    def __init__(self, line: str, package: str) -> None:
        number, name, notation = line.split(" ")
        kind = notation.lstrip("*")
        self.number = int(number)
        # "" for an embedded struct.
        self.json = name.rstrip("?").removeprefix("-")
        self.shape = Shape.ONE
        if kind.startswith("[]"):
            self.shape, kind = Shape.LIST, kind[2:]
        elif kind.startswith("map:"):
            self.shape, kind = Shape.MAP, kind[4:]
        self.kind = _KINDS.get(kind, Kind.MESSAGE)
        one = self.shape is Shape.ONE
        value = one and not notation.startswith("*")
        self._package = package
        self._type = "JSONSchemaProps" if self.kind >= Kind.SCHEMAORARRAY else kind
        self._message: Message | None = None
        # Number and wire type, as they stand before the value.
        self.key = self.number << 3 | (_WIRE_TYPES.get(self.kind, wire.BYTES) if one or self._is_scalar else wire.BYTES)
        self.tag = wire.put_varint(self.key)
        # Whether Go writes it when it is empty.
        self.always = value and self.kind not in _NILABLE
        self.zero = _ZEROS.get(self.kind) if value else None
        omitted = name.endswith("?")
        # Whether a zero value is left out of JSON.
        self.drops_zero = omitted and value
        # Whether JSON has it in any case. Of all times this one alone is left out when it is zero.
        never_empty = value and self.kind in _NEVER_EMPTY and self.json != "creationTimestamp"
        self.is_shown = bool(self.json) and (not omitted or never_empty)

    @property
    def _is_scalar(self) -> bool:
        return self.shape is Shape.LIST and self.kind in _WIRE_TYPES

    @property
    def message(self) -> Message:
        """The message of the field or of its elements."""
        if self._message is None:
            self._message = _resolve(self._type, self._package)
        return self._message

    def __repr__(self) -> str:
        return f"<Field {self.number} {self.json} of shape {self.shape}, kind {self.kind}>"


class Message:
    """A message: its fields in the order of their numbers."""

    __slots__ = ("by_key", "by_name", "fields", "name", "names", "numbers", "readers", "shown")

    def __init__(self, name: str, lines: list[str], package: str) -> None:
        self.name = f"{package}.{name}"
        self.fields = [Field(line, package) for line in lines]
        self.by_key = {field.key: field for field in self.fields}
        self.numbers = {field.number: field for field in self.fields}
        # The names that the JSON object may have; the fields that it always has.
        self.names: frozenset[str] = frozenset(field.json for field in self.fields if field.json)
        self.shown = [field for field in self.fields if field.is_shown]
        # By name in JSON, the functions that read a field of a parsed message (see `upb`). Only grows.
        self.readers: dict[str, Any] = {}
        # By the name in JSON; for a field of an embedded struct, the struct.
        self.by_name = {field.json: field for field in self.fields if field.json}
        for field in self.fields:
            if not field.json:
                self.names |= field.message.names
                self.shown += field.message.shown
                self.by_name |= dict.fromkeys(field.message.names, field)

    def field_in_one_piece(self, key: int) -> Field | None:
        """Return the field of a packed list of numbers, whose key differs from the key in the table.

        Returns None for a field that is not in the table. Raises WireError for a field that has any other wrong wire
        type.
        """
        number, wire_type = key >> 3, key & 7
        if number == 0:
            raise wire.WireError(f"proto: illegal tag {number} (wire type {wire_type})")
        field = self.numbers.get(number)
        if field is None or (
            wire_type == wire.BYTES and field.key & 7 == wire.VARINT and field.shape == Shape.LIST
        ):
            return field
        raise wire.WireError(f"proto: wrong wireType = {wire_type} for field {field.json or self.name}")

    @property
    def short_name(self) -> str:
        """The name without the package."""
        return self.name.rpartition(".")[2]

    @property
    def is_kind(self) -> bool:
        """True if JSON has its apiVersion and kind, such as those of the claims in a StatefulSet."""
        package, _, name = self.name.rpartition(".")
        cls = getattr(importlib.import_module(package), name, None)
        return isinstance(cls, type) and issubclass(cls, Object)

    def __repr__(self) -> str:
        return f"<Message {self.name}>"


@cache
def _table(package: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the lines of each message, and the packages by their import names. Raises ImportError."""
    module: Any = importlib.import_module(f"{package}.generated_pb")
    paragraphs = (paragraph.splitlines() for paragraph in module.MESSAGES.strip().split("\n\n"))
    return {lines[0]: lines[1:] for lines in paragraphs}, module.PACKAGES


def names_in(package: str) -> list[str]:
    """Return the names of all messages in a package. Raises ImportError for a package without messages."""
    return [*_table(package)[0]]


def message(package: str, name: str) -> Message | None:
    """Return the message of a type in a package such as "clientgo.api.core.v1", or None when the type has none."""
    try:
        known = name in _table(package)[0]
    except ModuleNotFoundError as err:
        if err.name == f"{package}.generated_pb":
            return None
        raise
    return _message(package, name) if known else None


# Only of known names: bodies of requests have others too.
@cache
def _message(package: str, name: str) -> Message:
    return Message(name, _table(package)[0][name], package)


def _resolve(name: str, package: str) -> Message:
    owner, _, local = name.rpartition(".")
    found = message(_table(package)[1][owner] if owner else package, local)
    if found is None:
        raise LookupError(f"{package}: no message {name}")
    return found


@cache
def message_of(cls: type) -> Message | None:
    """Return the message of a class of API objects, or None when the class has none, like custom resources."""
    package = cls.__module__.rpartition(".")[0]
    return message(package, cls.__name__) if package else None
