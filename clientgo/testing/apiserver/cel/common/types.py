"""The types that expressions have before they are evaluated. Mirrors cel-go's common/types and checker/types.go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Type:
    """A type as errors print it. Types with equal names and parameters are equal."""

    name: str
    params: tuple[Type, ...] = ()
    # An object type's fields by their CEL names.
    fields: Fields | None = field(default=None, compare=False, repr=False)
    is_param: bool = False
    # Whether it cannot be null, as numbers, strings and lists cannot.
    plain: bool = False

    def __str__(self) -> str:
        if self.name == "type" and not self.params:
            return "type"
        return f"{self.name}({', '.join(map(str, self.params))})" if self.params else self.name


Fields: TypeAlias = "dict[str, Type]"

BOOL = Type("bool", plain=True)
INT = Type("int", plain=True)
UINT = Type("uint", plain=True)
DOUBLE = Type("double", plain=True)
STRING = Type("string", plain=True)
BYTES = Type("bytes", plain=True)
NULL = Type("null")
DYN = Type("dyn")
ERROR = Type("!error!")
TIMESTAMP = Type("google.protobuf.Timestamp")
DURATION = Type("google.protobuf.Duration")
URL = Type("kubernetes.URL")
IP = Type("net.IP")
CIDR = Type("net.CIDR")
QUANTITY = Type("kubernetes.Quantity")
SEMVER = Type("kubernetes.Semver")
FORMAT = Type("kubernetes.NamedFormat")
A = Type("A", is_param=True)
B = Type("B", is_param=True)
K = Type("K", is_param=True)
V = Type("V", is_param=True)


def list_of(item: Type) -> Type:
    return Type("list", (item,), plain=True)


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value), plain=True)


def optional_of(value: Type) -> Type:
    return Type("optional_type", (value,))


def type_of(value: Type) -> Type:
    return Type("type", (value,), plain=True)


def object_type(name: str, fields: Fields) -> Type:
    return Type(name, fields=fields)


LIST_A, LIST_STRING, LIST_DYN = list_of(A), list_of(STRING), list_of(DYN)
MAP_AB, OPTIONAL_A = map_of(A, B), optional_of(A)


def is_dyn(kind: Type) -> bool:
    return kind.name in ("dyn", "!error!")


class Substitutions:
    """The types that one expression assigns to type parameters."""

    __slots__ = ("_known", "_number")

    def __init__(self) -> None:
        self._known: dict[str, Type] = {}
        self._number = 0

    def fresh(self, kinds: tuple[Type, ...]) -> tuple[Type, ...]:
        """Return the types of one overload with their type parameters renamed, so that each call binds its own."""
        self._number += 1
        return tuple(self._renamed(kind, self._number) for kind in kinds)

    def fresh_param(self) -> Type:
        self._number += 1
        return Type(f"_var{self._number}", is_param=True)

    def _renamed(self, kind: Type, number: int) -> Type:
        if kind.is_param:
            return Type(f"{kind.name}#{number}", is_param=True)
        if not kind.params:
            return kind
        return Type(kind.name, tuple(self._renamed(one, number) for one in kind.params), kind.fields, plain=kind.plain)

    def resolve(self, kind: Type, *, dyn: bool = False) -> Type:
        """Replace bound type parameters by their types.

        Unbound parameters become dyn with `dyn=True`; otherwise they stay.
        """
        while kind.is_param and kind.name in self._known:
            kind = self._known[kind.name]
        if kind.is_param:
            return DYN if dyn else kind
        if not kind.params:
            return kind
        params = tuple(self.resolve(one, dyn=dyn) for one in kind.params)
        return kind if params == kind.params else Type(kind.name, params, kind.fields, plain=kind.plain)

    def assign(self, wanted: tuple[Type, ...], given: tuple[Type, ...]) -> bool:
        """Report whether values of the given types fit the wanted ones. Binds type parameters only if they do."""
        before = dict(self._known)
        if all(self._fits(one, other) for one, other in zip(wanted, given)):
            return True
        self._known = before
        return False

    def _fits(self, wanted: Type, given: Type) -> bool:
        wanted, given = self.resolve(wanted), self.resolve(given)
        if wanted.is_param:
            return wanted == given or self._bind(wanted, given)
        if given.is_param:
            return self._bind(given, wanted)
        if is_dyn(wanted) or is_dyn(given):
            return True
        if wanted.name == "null" or given.name == "null":
            return wanted.name == given.name or not (wanted.plain or given.plain)
        if wanted.name != given.name or len(wanted.params) != len(given.params):
            # `type` without a parameter is the type of any type.
            return wanted.name == given.name == "type"
        return all(self._fits(one, other) for one, other in zip(wanted.params, given.params))

    def _bind(self, param: Type, kind: Type) -> bool:
        if _mentions(kind, param):
            return False
        self._known[param.name] = kind
        return True

    def join(self, one: Type, other: Type) -> Type | None:
        """Return the more general of two types, or None if neither accepts the other. Binds type parameters."""
        if not self.assign((one,), (other,)):
            return None
        one, other = self.resolve(one), self.resolve(other)
        return other if _is_general(other) and not _is_general(one) else one


def _mentions(kind: Type, param: Type) -> bool:
    return kind == param or any(_mentions(one, param) for one in kind.params)


def _is_general(kind: Type) -> bool:
    return is_dyn(kind) or any(_is_general(one) for one in kind.params)
