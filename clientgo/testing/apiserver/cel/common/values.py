"""Values of expressions in Python: bool, int, float, str, bytes, list, dict, None, and the classes here.

Mirrors cel-go's common/types. Differs in maps: the keys 1 and 1u are the same in a Python dict. They are equal in CEL.
"""

from __future__ import annotations

import ipaddress
import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import SplitResult

from clientgo.apimachinery.api.resource import Quantity

NANOS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MIN_TIME, _MAX_TIME = -62135596800, 253402300799


class EvalError(Exception):
    """An error of an expression's evaluation. It is a value in CEL: operators can ignore it."""


class CostExceeded(Exception):
    """An evaluation above its cost limit. Unlike an EvalError, no expression can ignore it."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Uint(int):
    """A CEL uint. The standard library's arithmetic does not mix it with int."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A duration in nanoseconds, within 64 bits."""

    nanos: int

    def __str__(self) -> str:
        whole, rest = divmod(abs(self.nanos), NANOS)
        sign = "-" if self.nanos < 0 else ""
        return f"{sign}{whole}{_fraction(rest)}s"


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A time in nanoseconds since 1970, in the years 1 to 9999."""

    nanos: int

    def __str__(self) -> str:
        seconds, rest = divmod(self.nanos, NANOS)
        # isoformat pads years; strftime does not everywhere.
        return (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat() + f"{_fraction(rest)}Z"

    @property
    def moment(self) -> datetime:
        """The time in UTC, cut to microseconds."""
        return _EPOCH + timedelta(microseconds=self.nanos // 1000)


def _fraction(nanos: int) -> str:
    return f".{nanos:09d}".rstrip("0") if nanos else ""


def timestamp(nanos: int) -> Timestamp:
    """Return a Timestamp from nanoseconds since 1970. Raises EvalError outside of the years 1 to 9999."""
    if not _MIN_TIME * NANOS <= nanos < (_MAX_TIME + 1) * NANOS:
        raise EvalError("timestamp overflow")
    return Timestamp(nanos)


def duration(nanos: int) -> Duration:
    """Return a Duration from nanoseconds. Raises EvalError if a signed 64-bit integer cannot hold them."""
    if not -(1 << 63) <= nanos < 1 << 63:
        raise EvalError("duration overflow")
    return Duration(nanos)


@dataclass(frozen=True, slots=True)
class Optional:
    """A value or none. `present` distinguishes none from the value null."""

    present: bool
    value: Any = None


NONE = Optional(False)


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: the result of type(x), or a type's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Url:
    text: str
    parts: SplitResult


@dataclass(frozen=True, slots=True)
class Cidr:
    """An address with a prefix length, and the network that contains it."""

    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    prefix: int

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        return ipaddress.ip_network((self.address, self.prefix), strict=False)


@dataclass(frozen=True, slots=True)
class Semver:
    major: int
    minor: int
    patch: int
    # Numbers come before words, as the rules of precedence want it.
    pre: tuple[tuple[bool, int, str], ...] = ()
    build: str = ""

    @property
    def order(self) -> tuple[Any, ...]:
        return (self.major, self.minor, self.patch, not self.pre, self.pre)


@dataclass(frozen=True, slots=True)
class Format:
    """A named format, as `format.named` returns it."""

    name: str
    validate: Any
    regex_size: int


class TypedList(list[Any]):
    """A list with its x-kubernetes-list-type, which determines equality and concatenation: map, set or atomic."""

    __slots__ = ("keys", "kind")

    def __init__(self, items: list[Any], kind: str, keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.kind = kind
        self.keys = keys


class ObjectValue(dict[str, Any]):
    """An object with declared fields. Its keys are the fields' names as CEL spells them."""

    __slots__ = ("type_name",)

    def __init__(self, fields: dict[str, Any], type_name: str) -> None:
        super().__init__(fields)
        self.type_name = type_name


def type_name(value: Any) -> str:
    """Return the CEL name of a value's type, as `type(x)` and error messages print it."""
    if isinstance(value, ObjectValue):
        return value.type_name
    for kind, name in _NAMES:
        if isinstance(value, kind):
            return name
    return "null_type" if value is None else getattr(value, "cel_type", type(value).__name__)


_NAMES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "bool"),
    (Uint, "uint"),
    (int, "int"),
    (float, "double"),
    (str, "string"),
    (bytes, "bytes"),
    (list, "list"),
    (dict, "map"),
    (Timestamp, "google.protobuf.Timestamp"),
    (Duration, "google.protobuf.Duration"),
    (Optional, "optional_type"),
    (TypeValue, "type"),
    (Url, "kubernetes.URL"),
    ((ipaddress.IPv4Address, ipaddress.IPv6Address), "net.IP"),
    (Cidr, "net.CIDR"),
    (Quantity, "kubernetes.Quantity"),
    (Semver, "kubernetes.Semver"),
    (Format, "kubernetes.NamedFormat"),
)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(one: Any, other: Any) -> bool:
    """Report whether two values are equal by CEL's `==`.

    Numbers of different types can be equal, a bool and a number never are, and lists and maps are compared by their
    items. Raises EvalError if a value does not have the type that its schema declares.
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return isinstance(one, bool) and isinstance(other, bool) and one == other
    if is_number(one) or is_number(other):
        return is_number(one) and is_number(other) and bool(one == other)
    if isinstance(one, list) and isinstance(other, list):
        return _lists_equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(key in other and equal(value, other[key]) for key, value in one.items())
    if isinstance(one, Optional) and isinstance(other, Optional):
        return one.present == other.present and (not one.present or equal(one.value, other.value))
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return one.cmp(other) == 0
    if isinstance(one, Semver) and isinstance(other, Semver):
        return one.order == other.order
    if isinstance(one, Invalid) or isinstance(other, Invalid):
        raise EvalError((one if isinstance(one, Invalid) else other).why)
    return type(one) is type(other) and bool(one == other)


def _lists_equal(one: list[Any], other: list[Any]) -> bool:
    if len(one) != len(other):
        return False
    kind = one if isinstance(one, TypedList) else other if isinstance(other, TypedList) else None
    if kind is not None and kind.kind == "map":
        mine = {map_key(item, kind.keys): item for item in one}
        theirs = {map_key(item, kind.keys): item for item in other}
        return mine.keys() == theirs.keys() and all(equal(item, theirs[key]) for key, item in mine.items())
    if kind is not None and kind.kind == "set":
        return {frozen(item) for item in one} == {frozen(item) for item in other}
    return all(equal(item, its) for item, its in zip(one, other))


def map_key(item: Any, keys: tuple[str, ...]) -> Any:
    """Return the identity of a keyed list's item: the values of its keys."""
    return tuple(frozen(item.get(key)) for key in keys) if isinstance(item, dict) else frozen(item)


def frozen(value: Any) -> Any:
    """Return a hashable form of a value; equal values have equal forms."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return ("list", *(frozen(item) for item in value))
    if isinstance(value, dict):
        return ("map", frozenset((key, frozen(item)) for key, item in value.items()))
    return value


@dataclass(frozen=True, slots=True)
class BoolKey:
    """A bool as the key of a map. In Python, True and 1 would be the same key."""

    value: bool


def key_of(value: Any) -> Any:
    """Return the form of a value that serves as a dict's key. Raises EvalError if CEL allows no such key."""
    if isinstance(value, bool):
        return BoolKey(value)
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else value
    if isinstance(value, int | str):
        return value
    raise EvalError(f"unsupported key type: {type_name(value)}")


def from_key(key: Any) -> Any:
    return key.value if isinstance(key, BoolKey) else key


@dataclass(frozen=True, slots=True)
class Invalid:
    """A value that does not have its declared type. An expression that reads it raises an EvalError with `why`."""

    why: str


def size(value: Any) -> int:
    """Return the size that the cost of evaluation counts: the length, or 1 for a value without length."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if isinstance(value, Optional) and value.present:
        return size(value.value)
    if isinstance(value, ipaddress.IPv4Address | ipaddress.IPv6Address):
        return value.max_prefixlen // 8
    if isinstance(value, Cidr):
        return (value.prefix + 7) // 8
    return len(value.text) if isinstance(value, Url) else 1
