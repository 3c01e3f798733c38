"""Values as text with their types. Mirrors apimachinery/pkg/util/dump/dump.go, which prints with go-spew.

The layout is go-spew's, and so are the types of plain values: a list of texts is a `[]string`, a list of different
types an `[]interface {}`, an int an `int`, a set a map to `struct {}`. A class has the name of its package, as in Go.
No method such as `__str__` is called.

Differences: Python has no pointers. An API object has the fields of its JSON that are set, under their JSON names, with
the types of JSON. Hence the hash of such an object is stable but differs from Go's. Keys are always in order; Go
sorts them only in `ForHash`. A function and an object without fields have a name in place of an address.
"""

from __future__ import annotations

import enum
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any, Final

from clientgo.apimachinery.runtime import ListView, MapView, Struct
from clientgo.apimachinery.util.sets import Set
from clientgo.golang.strconv import quote
from clientgo.golang.utf8 import encode

__all__ = ["for_hash", "one_line", "pretty"]

_ANY: Final = "interface {}"
_INDENT: Final = "  "
_PLAIN: Final = {bool: "bool", int: "int", float: "float64", complex: "complex128", str: "string", bytes: "[]uint8"}
_CONTAINERS: Final = (list, tuple, set, frozenset, dict, Set, ListView, MapView)


def pretty(a: Any) -> str:
    """Return a value on several lines, with the types and lengths of everything in it.

    >>> print(pretty({"one": [1, 2]}), end="")
    (map[string][]int) (len=1) {
      (string) (len=3) "one": ([]int) (len=2) {
        (int) 1,
        (int) 2
      }
    }

    Raises RecursionError for values nested deeper than Python's stack. Go: dump.Pretty.
    """
    return _Pretty().text(a, 0) + "\n"


def for_hash(a: Any) -> str:
    """Return a value on one line. Equal values have equal texts.

    >>> for_hash({"b": "x", "a": "y"})
    '(map[string]string)map[a:y b:x]'

    Raises RecursionError for values nested deeper than Python's stack. Go: dump.ForHash.
    """
    return _Line().text(a, _ANY)


def one_line(a: Any) -> str:
    """Return a value on one line.

    Raises RecursionError for values nested deeper than Python's stack. Go: dump.OneLine.
    """
    return _Line().text(a, _ANY)


class _Fields:
    """The fields of an object, in their order."""

    def __init__(self, items: Iterable[tuple[str, Any]]) -> None:
        self.items = list(items)


class _Empty:
    """The value of each member of a set."""

    def __init__(self, name: str) -> None:
        self.name = name


_EMPTY: Final = _Empty("struct {}")
_EMPTY_OF_SETS: Final = _Empty("sets.Empty")


class _Dump:
    """One call: the containers around the current value, in which a cycle ends, and the types known so far."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        # By identity. The list keeps values alive that exist only during the call, so that no identity is reused.
        self._types: dict[int, str] = {}
        self._kept: list[Any] = []

    def _enter(self, value: Any) -> bool:
        if id(value) in self._open:
            return False
        self._open.add(id(value))
        return True

    def _leave(self, value: Any) -> None:
        self._open.discard(id(value))

    def _type_of(self, value: Any) -> str:
        """Return the name of the Go type."""
        kind = type(value)
        if value is None:
            return _ANY
        if kind in _PLAIN:
            return _PLAIN[kind]
        if isinstance(value, _Empty):
            return value.name
        if kind not in _CONTAINERS:
            return "[]uint8" if kind in (bytearray, memoryview) else _class_name(kind)
        if id(value) not in self._types:
            # A value that contains itself has any type there.
            self._types[id(value)] = _ANY
            self._kept.append(value)
            self._types[id(value)] = self._container_type(value)
        return self._types[id(value)]

    def _container_type(self, value: Any) -> str:
        if isinstance(value, Mapping):
            return f"map[{self._common(value)}]{self._common(value.values())}"
        if isinstance(value, Sequence):
            return f"[]{self._common(value)}"
        if isinstance(value, Set):
            return f"sets.Set[{self._common(value)}]"
        return f"map[{self._common(value)}]struct {{}}"

    def _common(self, values: Iterable[Any]) -> str:
        """Return the type of all values if they have one, or that of any value."""
        kinds = {self._type_of(value) for value in values}
        return kinds.pop() if len(kinds) == 1 else _ANY


def _class_name(kind: type) -> str:
    module = sys.modules.get(kind.__module__)
    package = getattr(module, "__package__", None) or kind.__module__
    return f"{package.rpartition('.')[2].strip('_')}.{kind.__qualname__.rpartition('.')[2]}"


class _Pretty(_Dump):
    def text(self, value: Any, depth: int) -> str:
        """Return a value with its type; the lines after the first are indented."""
        name = self._type_of(value)
        if value is None:
            return f"({name}) <nil>"
        plain = _underlying(value)
        if isinstance(plain, str):
            return f"({name}) {_length(encode(plain))}{quote(plain)}"
        pad = _INDENT * depth
        if isinstance(plain, bytes):
            lines = "".join(f"{pad}{_INDENT}{line}\n" for line in _hex_dump(plain))
            return f"({name}) {_length(plain)}{{\n{lines}{pad}}}"
        if not isinstance(plain, list | dict | _Fields):
            return f"({name}) {_scalar(plain)}"
        if not self._enter(value):
            return f"({name}) <already shown>"
        pairs = [f"{pad}{_INDENT}{each}" for each in self._content(plain, depth + 1)]
        self._leave(value)
        length = "" if isinstance(plain, _Fields) else _length(pairs)
        return f"({name}) {length}{{\n" + ",\n".join(pairs) + "\n" * bool(pairs) + f"{pad}}}"

    def _content(self, plain: Any, depth: int) -> list[str]:
        if isinstance(plain, list):
            return [self.text(each, depth) for each in plain]
        if isinstance(plain, _Fields):
            return [f"{key}: {self.text(each, depth)}" for key, each in plain.items]
        return [f"{self.text(key, depth)}: {self.text(each, depth)}" for key, each in _sorted_items(plain)]


class _Line(_Dump):
    def text(self, value: Any, known: str) -> str:
        """Return a value, with its type unless the container's type contains it."""
        prefix = f"({self._type_of(value)})" if known == _ANY else ""
        if value is None:
            return f"{prefix}<nil>"
        plain = _underlying(value)
        if isinstance(plain, bytes):
            return f"{prefix}[{' '.join(map(str, plain))}]"
        if not isinstance(plain, list | dict | _Fields):
            return prefix + (plain if isinstance(plain, str) else _scalar(plain))
        if not self._enter(value):
            return f"{prefix}<shown>"
        if isinstance(plain, list):
            element = self._common(plain)
            shown = f"[{' '.join(self.text(each, element) for each in plain)}]"
        elif isinstance(plain, _Fields):
            shown = "{" + " ".join(f"{key}:{self.text(each, _ANY)}" for key, each in plain.items) + "}"
        else:
            of_key, of_value = self._common(plain), self._common(plain.values())
            pairs = (f"{self.text(key, of_key)}:{self.text(each, of_value)}" for key, each in _sorted_items(plain))
            shown = f"map[{' '.join(pairs)}]"
        self._leave(value)
        return prefix + shown


def _underlying(value: Any) -> Any:
    """Return a plain value, list or dict, or the fields of an object."""
    if isinstance(value, enum.Enum) and not isinstance(value, int | float | complex | str | bytes):
        return _underlying(value.value)
    # The value itself, in place of what a subclass makes of it.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(memoryview(value))
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__pos__(value)
    if isinstance(value, float):
        return float.__pos__(value)
    if isinstance(value, complex):
        return complex.__pos__(value)
    if isinstance(value, Struct):
        return _Fields(value.to_dict().items())
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _Fields(zip(value._fields, value, strict=True))
    if isinstance(value, list | tuple | ListView):
        return list(value)
    if isinstance(value, set | frozenset):
        return dict.fromkeys(value, _EMPTY_OF_SETS if isinstance(value, Set) else _EMPTY)
    return _fields_of(value)


def _fields_of(value: Any) -> Any:
    """Return the fields of an object. A type that is built in, such as a time, is its own text."""
    if isinstance(value, _Empty):
        return _Fields(())
    if is_dataclass(value) and not isinstance(value, type):
        return _Fields((each.name, getattr(value, each.name)) for each in fields(value))
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    slots = [name for base in type(value).__mro__ for name in _slots(base)]
    if slots or hasattr(value, "__dict__"):
        shown = [(name, getattr(value, name)) for name in slots if hasattr(value, name)]
        return _Fields([*shown, *getattr(value, "__dict__", {}).items()])
    return repr(value) if _has_text(type(value)) else type(value).__qualname__


def _has_text(kind: type) -> bool:
    """Report whether `repr` shows more than an address."""
    return next(base for base in kind.__mro__ if "__repr__" in vars(base)) is not object


def _slots(kind: type) -> list[str]:
    names = vars(kind).get("__slots__", ())
    return [name for name in ([names] if isinstance(names, str) else names) if name not in ("__dict__", "__weakref__")]


def _sorted_items(items: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Return the items in the order of go-spew: by number or by bytes, or by their texts if the keys differ."""
    keys = {key: _underlying(key) for key in items}
    kinds = {type(key) for key in items}
    plain_kinds = {type(plain) for plain in keys.values()}
    if len(kinds) == 1 and plain_kinds <= {int, float, bool}:
        return sorted(items.items(), key=lambda item: keys[item[0]])
    if len(kinds) == 1 and plain_kinds == {str}:
        return sorted(items.items(), key=lambda item: encode(keys[item[0]]))
    return sorted(items.items(), key=lambda item: encode(_Line().text(item[0], _ANY)))


def _length(content: bytes | list[str]) -> str:
    return f"(len={len(content)}) " if content else ""


def _hex_dump(data: bytes) -> Iterable[str]:
    """Yield the lines of `hexdump -C`. Go: hex.Dump."""
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        left, right = (" ".join(f"{byte:02x}" for byte in half) for half in (row[:8], row[8:]))
        shown = "".join(chr(byte) if 32 <= byte <= 126 else "." for byte in row)
        yield f"{at:08x}  {left:<23}  {right:<23}  |{shown}|"


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, complex):
        return f"({_float(value.real)}{'+' if value.imag >= 0 else ''}{_float(value.imag)}i)"
    return str(value)


def _float(value: float) -> str:
    """Return the shortest text that reads as the number. Go: strconv.FormatFloat with 'g' and -1."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + int(exponent) if value else 1
    minus = "-" if sign else ""
    if point - 1 < -4 or point - 1 >= 6:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        return f"{minus}{text[0]}{fraction}e{point - 1:+03d}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    whole, fraction = text[:point].ljust(point, "0"), text[point:]
    return f"{minus}{whole}.{fraction}" if fraction else minus + whole
