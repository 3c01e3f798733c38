"""The types a field may have: how each is read from JSON and written to it. No Go file: encoding/json does it there."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

from clientgo.apimachinery.api.resource import ErrFormatWrong, Quantity, parse_quantity
from clientgo.apimachinery.runtime import timestamps
from clientgo.apimachinery.runtime.collection_views import ListView, MapView
from clientgo.apimachinery.runtime.source import Part
from clientgo.apimachinery.runtime.view import View, copy_json
from clientgo.golang.duration import format_duration, parse_duration
from clientgo.golang.json import without_literals

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.structs import Struct


_new = object.__new__


class FieldType:
    """One Go type, read from JSON and written to it. The base class serves JSON's scalars, which need no conversion."""

    is_scalar = True
    # Whether an absent one reads as something that is made at each read: the default EMPTY.
    has_empty = False
    # The types of valid JSON values; and all types that it may have.
    plain: type = object
    accepted: tuple[type, ...] = (object,)
    # What null is among the elements of a list or map.
    zero: Any = None
    # What Go calls the type in errors.
    go_type = "interface {}"
    # What Go calls it as the element of a list or map; "" if it is `go_type`.
    element_type = ""
    # Whether Go's type decodes its own JSON. Then its error ends the decoding of the object.
    ends_decoding = False
    # What `load` gives, as an expression in this module: structs that refer to each other cannot be named at once.
    hint = "typing.Any"

    # `plain` for scalars, None for all else.
    scalar: type | None

    def __new__(cls, *args: Any, **options: Any) -> Self:
        # As attributes of the instance the interpreter finds them in no time.
        self = super().__new__(cls)
        self.plain = cls.plain
        self.scalar = cls.plain if cls.is_scalar else None
        return self

    def checked(self, parent: View, key: str, raw: Any) -> Any:
        """Return `raw`, which is not of the plain type, if the field accepts it. Raises UnmarshalTypeError otherwise.
        """
        if isinstance(raw, Part):  # Of bytes that can say nothing else.
            return raw
        if isinstance(raw, bool):
            fits = bool in self.accepted or object in self.accepted
        else:
            fits = isinstance(raw, self.accepted)
        if not fits:
            raise parent._mistyped(key, raw, self.go_type)
        return raw

    def load(self, parent: View, raw: Any) -> Any:
        """Return the Python value of a non-null JSON value of the right type. Raises ValueError for unreadable text."""
        return raw

    def empty(self, parent: View, key: str) -> Any:
        """Return the value of an absent field, for types with the default EMPTY."""
        raise NotImplementedError

    def dump(self, value: Any) -> Any:
        """Return the JSON value to store. It shares no container with `value`."""
        return value

    def written(self, raw: Any) -> Any:
        """Return a valid scalar of JSON as Go writes it again: 0.5 of a quantity is 500m, for instance."""
        return raw

    def written_null(self) -> Any:
        """Return the value of JSON that Go writes for a null among the elements of a list or map."""
        return self.zero


class _String(FieldType):
    plain, accepted, go_type, zero = str, (str,), "string", ""
    hint = "str"

    def dump(self, value: Any) -> Any:
        if not isinstance(value, str):
            raise TypeError(f"expected str, got {type(value).__name__}")
        return str(value)


class _Float(FieldType):
    plain, accepted, go_type, zero = float, (float, int), "float64", 0.0

    def written(self, raw: Any) -> Any:
        return without_literals(raw)


class _Unchecked:
    """No value has this type, so collections pass each of their integers to `checked`."""


# The largest integer of one digit in CPython.
_ONE_DIGIT = 2**30 - 1


class IntegerType(FieldType):
    """An integer of Go, with its range. Readers of single fields compare the range themselves (see make_getter)."""

    plain = _Unchecked
    accepted: tuple[type, ...] = (int,)
    zero: Any = 0
    hint = "int"

    def __init__(self, go_type: str) -> None:
        self.go_type = go_type
        bits = int(go_type.lstrip("uint") or 64)
        self.lowest: int = 0 if go_type[0] == "u" else -(2 ** (bits - 1))
        self.highest: int = self.lowest + 2**bits - 1
        # The part of the range that CPython compares fastest, almost all values. `checked` accepts the others.
        self.lowest_small: int = max(self.lowest, -_ONE_DIGIT)
        self.highest_small: int = min(self.highest, _ONE_DIGIT)

    def checked(self, parent: View, key: str, raw: Any) -> Any:
        value = super().checked(parent, key, raw)
        if isinstance(value, int) and not self.lowest <= value <= self.highest:
            raise parent._mistyped(key, raw, self.go_type)
        return value

    def dump(self, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"expected int, got {type(value).__name__}")
        if not self.lowest <= value <= self.highest:
            raise ValueError(f"{value} is out of the range of {self.go_type}")
        return value


class _Boolean(FieldType):
    plain, accepted, go_type, zero = bool, (bool,), "bool", False
    hint = "bool"

    def dump(self, value: Any) -> Any:
        if not isinstance(value, bool):
            raise TypeError(f"expected bool, got {type(value).__name__}")
        return value


class _IntOrString(IntegerType):
    accepted, ends_decoding = (int, str), True
    element_type = "intstr.IntOrString"
    hint = "int | str"

    def dump(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"expected int or str, got {type(value).__name__}")
        return super().dump(value)


class _Raw(FieldType):
    """A field of any JSON value, such as runtime.RawExtension. A read returns a copy, not a view."""

    is_scalar = False
    element_type = "runtime.RawExtension"

    def load(self, parent: View, raw: Any) -> Any:
        return copy_json(raw)

    def dump(self, value: Any) -> Any:
        return copy_json(value)

    def written(self, raw: Any) -> Any:
        return without_literals(raw)


class _Converted(FieldType):
    """A JSON string that Python has a better type for; `accepts` are the types `dumps` can write."""

    is_scalar = False
    plain, accepted = str, (str,)

    def __init__(
        self,
        loads: Callable[[Any], Any],
        dumps: Callable[[Any], Any],
        *accepts: type,
        go_type: str = "string",
        element_type: str = "",
    ) -> None:
        self.go_type = go_type
        self.element_type = element_type
        self.ends_decoding = go_type == "string"
        self._loads = loads
        self._dumps = dumps
        self._accepts = accepts
        self.hint = accepts[0].__name__

    def load(self, parent: View, raw: Any) -> Any:
        return self._loads(raw)

    def written(self, raw: Any) -> Any:
        return None if raw is None else self._dumps(self._loads(raw))

    def dump(self, value: Any) -> Any:
        if not isinstance(value, self._accepts):
            raise TypeError(f"expected {self._accepts[0].__name__}, got {type(value).__name__}")
        return self._dumps(value)


class _Time(_Converted):
    """A time; Go writes its zero time as null."""

    def written(self, raw: Any) -> Any:
        text = super().written(raw)
        return None if text in ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z") else text


class StructType(FieldType):
    """A declared struct, named relative to the module of the class that uses it; looked up when first needed."""

    is_scalar = False
    has_empty = True
    plain, accepted = dict, (dict,)

    def __init__(self, name: str, module: str) -> None:
        self._name = name
        self._module = module
        self._class: type[Struct] | None = None
        self.hint = f"sys.modules[{module!r}].{name}"

    def resolve(self) -> type[Struct]:
        if self._class is None:
            found: Any = sys.modules[self._module]
            for part in self._name.split("."):
                found = getattr(found, part, None)
            if not isinstance(found, type):
                raise TypeError(f"a field in {self._module} is of type {self._name!r}, and there is no such type")
            self._class = found
        return self._class

    @property
    def go_type(self) -> str:  # type: ignore[override]
        return go_name(self.resolve())

    def written_null(self) -> Any:
        return {}

    def load(self, parent: View, raw: Any) -> Any:
        # `child`, written out.
        view = _new(self._class or self.resolve())
        view._parent = parent
        view._source = raw
        view._key = None
        return view

    def empty(self, parent: View, key: str) -> Any:
        view = self.load(parent, {})
        view._key = key
        return view

    def dump(self, value: Any) -> Any:
        if not isinstance(value, self.resolve()):
            hint = f"; {self._name}.from_dict makes one of it" if isinstance(value, dict) else ""
            raise TypeError(f"expected {self._name}, got {type(value).__name__}{hint}")
        return copy_json(value._source)


class _CollectionType(FieldType):
    """A list or a map, whose elements are of one type."""

    is_scalar = False
    has_empty = True
    item: FieldType
    # Of what class its views are.
    view: ClassVar[type[View]]

    def load(self, parent: View, raw: Any) -> Any:
        # `child`, written out, and what the elements are.
        view: Any = self.view()
        view._parent = parent
        view._source = raw
        view._key = None
        view._item = self.item
        return view

    def empty(self, parent: View, key: str) -> Any:
        view = self.load(parent, self.plain())
        view._key = key
        return view


class ListType(_CollectionType):
    plain, accepted, view = list, (list,), ListView

    def __init__(self, item: FieldType) -> None:
        self.item = item
        self.hint = f"typing.List[{item.hint}]"

    @property
    def go_type(self) -> str:  # type: ignore[override]
        return f"[]{self.item.element_type or self.item.go_type}"

    def dump(self, value: Any) -> Any:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise TypeError(f"expected a list, got {type(value).__name__}")
        return [self.item.dump(item) for item in value]


class _MapType(_CollectionType):
    plain, accepted, view = dict, (dict,), MapView

    def __init__(self, item: FieldType) -> None:
        self.item = item
        self.hint = f"typing.Dict[str, {item.hint}]"

    @property
    def go_type(self) -> str:  # type: ignore[override]
        return f"map[string]{self.item.element_type or self.item.go_type}"

    def dump(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise TypeError(f"expected a mapping, got {type(value).__name__}")
        return {str(key): self.item.dump(item) for key, item in value.items()}


class _Quantity(FieldType):
    """A Quantity; text and numbers are taken for one when written."""

    is_scalar = False
    has_empty = ends_decoding = True
    plain, accepted, go_type = str, (str, int, float), "string"
    element_type = "resource.Quantity"
    hint = "sys.modules['clientgo.apimachinery.api.resource'].Quantity"

    def checked(self, parent: View, key: str, raw: Any) -> Any:
        if isinstance(raw, (bool, dict, list)):
            # Go reads every JSON value as a text.
            raise parent._unreadable(key, ErrFormatWrong())
        return super().checked(parent, key, raw)

    def load(self, parent: View, raw: Any) -> Any:
        # Go removes white space around quantities in JSON, and only there.
        return parse_quantity(str(raw).strip())

    def written(self, raw: Any) -> Any:
        return None if raw is None else str(parse_quantity(str(raw).strip()))

    @property
    def zero(self) -> Quantity:
        return parse_quantity("0")

    def written_null(self) -> Any:
        return "0"

    def empty(self, parent: View, key: str) -> Any:
        return parse_quantity("0")

    def dump(self, value: Any) -> str:
        if isinstance(value, Quantity):
            return str(value)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise TypeError(f"expected Quantity, got {type(value).__name__}")
        return str(parse_quantity(str(value)))


def _load_bytes(raw: str) -> bytes:
    try:
        return base64.b64decode(raw.replace("\n", "").replace("\r", ""), validate=True)
    except ValueError:
        from clientgo.golang.base64 import decode_string  # Here: few texts are wrong.

        return decode_string(raw)


_NAMED_TYPES: dict[str, FieldType] = {
    "string": _String(),
    "bool": _Boolean(),
    **{
        name: IntegerType(name)
        for name in ("int", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
    },
    "float64": _Float(),
    "intorstring": _IntOrString("int32"),
    "raw": _Raw(),
    "bytes": _Converted(
        _load_bytes, lambda value: base64.b64encode(value).decode("ascii"), bytes, bytearray, go_type="[]uint8"
    ),
    "time": _Time(timestamps.parse_time, timestamps.format_time, datetime, element_type="v1.Time"),
    "microtime": _Time(
        timestamps.parse_micro_time, timestamps.format_micro_time, datetime, element_type="v1.MicroTime"
    ),
    "quantity": _Quantity(),
    "duration": _Converted(parse_duration, format_duration, float, int, element_type="v1.Duration"),
}


# The other names of the same in Go programs.
_NAMED_TYPES |= {
    "float32": _NAMED_TYPES["float64"],
    "[]byte": _NAMED_TYPES["bytes"],
    "intstr.IntOrString": _NAMED_TYPES["intorstring"],
    "metav1.Duration": _NAMED_TYPES["duration"],
    "metav1.MicroTime": _NAMED_TYPES["microtime"],
    "metav1.Time": _NAMED_TYPES["time"],
    "resource.Quantity": _NAMED_TYPES["quantity"],
    "runtime.RawExtension": _NAMED_TYPES["raw"],
}


def go_name(cls: type) -> str:
    """Return Go's name of a class's struct, such as v1.Pod for clientgo.api.core.v1.types.Pod."""
    return f"{cls.__module__.removesuffix('.types').rpartition('.')[2]}.{cls.__name__}"


def has_empty(text: str) -> bool:
    """Report whether the type may have the default EMPTY."""
    return _NAMED_TYPES.get(text.lstrip("*"), StructType).has_empty


def parse_type(text: str, module: str) -> FieldType:
    """Read the type notation of `field`."""
    if text.startswith("*"):
        return parse_type(text[1:], module)
    if text in _NAMED_TYPES:
        return _NAMED_TYPES[text]
    if text.startswith("[]"):
        return ListType(parse_type(text[2:], module))
    if text.startswith("map[string]"):
        return _MapType(parse_type(text[len("map[string]") :], module))
    return StructType(text, module)
