"""Declaration, reading and writing of a struct's fields. No Go file: Go has struct tags instead of declarations."""

from __future__ import annotations

import sys  # noqa: F401 (named in the hints of getters, with the next two)
import typing  # noqa: F401
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime  # noqa: F401
from typing import TYPE_CHECKING, Any

from clientgo.apimachinery.runtime.collection_views import objects_view, own_objects_view
from clientgo.apimachinery.runtime.field_types import FieldType, IntegerType, ListType, StructType, parse_type
from clientgo.apimachinery.runtime.list_source import ListSource
from clientgo.apimachinery.runtime.source import Part
from clientgo.apimachinery.runtime.view import View

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.custom_resource import Schema
    from clientgo.apimachinery.runtime.structs import Struct

_Getter = Callable[[Any], Any]


class _Empty:
    """The default of a struct, list or map field: an empty view, made at each read."""

    def __repr__(self) -> str:
        return "EMPTY"


EMPTY: Any = _Empty()


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """The declaration of a field, as in a Go struct and its tags. `Struct._fields` has one for each attribute."""

    # The attribute; "" until Python names it, in the class that the field is declared in.
    attr: str
    json: str
    type: str
    default: Any
    omitempty: bool
    patch_strategy: str
    patch_merge_key: str
    # What its schema in a CustomResourceDefinition says beyond the type.
    schema: Schema | None = None
    # Whether an object without the field is valid. None: if `omitempty`.
    optional: bool | None = None
    # Further facts for readers: the class of its known values, and the value that the server sets if there is none.
    doc: str = ""

    def __set_name__(self, owner: object, name: str) -> None:
        if not self.attr:
            object.__setattr__(self, "attr", name)

    @property
    def is_pointer(self) -> bool:
        """True if an absent field reads as None, not as a zero value."""
        return self.default is None

    @property
    def is_list(self) -> bool:
        return self.type.lstrip("*").startswith("[]")

    @property
    def is_map(self) -> bool:
        return self.type.lstrip("*").startswith("map[")

    def describe(self) -> str:
        """Return the name in JSON, the type in Go's notation, the unit, whether the field is required, and its default.

        `help()` of a struct shows this text for each field, and generated types have it below the field for editors.
        """
        unit = _unit(self.json, self.type.lstrip("*"))
        # "raw" says no more than its unit.
        facts = [text for text in (self.type if self.type != "raw" else "", unit) if text]
        required = self.schema.required if self.schema is not None else False
        optional = self.omitempty if self.optional is None else self.optional
        facts.append("optional" if optional and not required else "required")
        if self.doc:
            facts.append(self.doc)
        if self.schema is not None:
            facts += self.schema.facts()
        return f"{self.json}: {', '.join(facts)}."


_UNITS = {
    "time": "RFC 3339 in JSON",
    "microtime": "RFC 3339 with microseconds in JSON",
    "duration": "seconds, in JSON such as 1h30m",
    "quantity": "such as 500m or 1Gi",
    "intorstring": "a number or a text",
    "bytes": "Base64 in JSON",
    "raw": "any JSON",
}


def _unit(json: str, type: str) -> str:
    """Return the unit of a number or the format of a text, "" for a plain one."""
    if not type.startswith("int") or type == "intorstring":
        return _UNITS.get(type, "")
    for ending, unit in (("Milliseconds", "milliseconds"), ("Seconds", "seconds"), ("Bytes", "bytes")):
        if json.endswith(ending) or json == ending.lower():
            return unit
    return "percent" if json.endswith(("Percent", "Percentage")) else ""


def field(
    json: str,
    type: str,
    *,
    default: Any,
    omitempty: bool = False,
    patch_strategy: str = "",
    patch_merge_key: str = "",
    schema: Schema | None = None,
    optional: bool | None = None,
    doc: str = "",
) -> Any:
    """Declare a field of a Struct: its name in JSON, and its type in Go's notation.

        replicas: int | None = field("replicas", "*int32", default=None)
        containers: MutableSequence[Container] = field("containers", "[]Container", default=EMPTY)
        labels: MutableMapping[str, str] = field("labels", "map[string]string", default=EMPTY)
        due: datetime | None = field("due", "metav1.Time", default=None)

    A type is one of Go's own (string, bool, int32, float64, []byte ...), metav1.Time, MicroTime or Duration,
    resource.Quantity, intstr.IntOrString, runtime.RawExtension (any JSON), or a Struct as the module of the class names
    it: Container, metav1.Condition; of these, pointers, lists and maps. `default` is what an absent field reads as:
    Go's zero value, None for a pointer and a time, EMPTY for a struct, list, map or Quantity. With `omitempty` a zero
    value that is written leaves no field; the patch arguments are those of strategic merge patches; `schema` is for
    the CustomResourceDefinition alone; `optional` (if it differs from `omitempty`) and `doc` are for readers.
    """
    return FieldInfo("", json, type, default, omitempty, patch_strategy, patch_merge_key, schema, optional, doc)


class FieldProperty(property):
    """A property that replaces itself by a plain one when the field is first read or written.

    A group has hundreds of structs and a program touches a few: their readers and writers are half of what it costs to
    import the group.
    """

    def __init__(self, owner: type[Struct], info: FieldInfo) -> None:
        super().__init__()
        self._owner = owner
        self._info = info

    def _settle(self) -> property:
        """Make the plain property, put it into the class and return it."""
        owner, info = self._owner, self._info
        kind = parse_type(info.type, owner.__module__)
        getter = owner._make_getter(info, kind)
        # From here notebooks know what may follow `pod.spec.`: they do not call properties to find out.
        getter.__annotations__ = {"return": kind.hint}
        settled = property(getter, _make_setter(info, kind), doc=info.describe())
        setattr(owner, info.attr, settled)
        return settled

    @property
    def fget(self) -> _Getter | None:  # type: ignore[override]  # It is read-only there too.
        return self._settle().fget

    @property
    def fset(self) -> Callable[[Any, Any], None] | None:  # type: ignore[override]
        return self._settle().fset

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._settle().__get__(instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        self._settle().__set__(instance, value)


def make_getter(info: FieldInfo, kind: FieldType) -> _Getter:
    """Return a getter specialised to the field: these few closures are the hot path of every controller.

    The getter raises UnmarshalTypeError for a value of a type that the field does not take, also for an integer out of
    the type's range, and ValueError for unreadable text. Go rejects such an object when it decodes it.
    """
    key, default, plain = info.json, info.default, kind.plain
    if isinstance(kind, IntegerType):
        lowest, highest = kind.lowest_small, kind.highest_small

        def get_integer(self: View) -> Any:
            value = self._source.get(key)
            # Two comparisons, which CPython 3.11 specializes, instead of a chain, which it does not.
            if type(value) is int and value <= highest and value >= lowest:
                return value
            return default if value is None else kind.checked(self, key, value)

        return get_integer

    if kind.is_scalar:

        def get_scalar(self: View) -> Any:
            value = self._source.get(key)
            if type(value) is plain:
                return value
            return default if value is None else kind.checked(self, key, value)

        return get_scalar

    if isinstance(kind, StructType) and default is EMPTY:
        return _make_struct_getter(info, kind)

    load = kind.load

    def get_converted(self: View) -> Any:
        value = self._source.get(key)
        if value is None:
            return kind.empty(self, key) if default is EMPTY else default
        if type(value) is not plain and not isinstance(value, Part):
            value = kind.checked(self, key, value)
        try:
            return load(self, value)
        except ValueError as err:
            raise self._unreadable(key, err) from err

    return get_converted


def _make_struct_getter(info: FieldInfo, kind: StructType) -> _Getter:
    key = info.json
    resolve, new = kind.resolve, object.__new__
    cls: type[View] | None = None

    def get_struct(self: View) -> Any:
        nonlocal cls
        if cls is None:
            cls = resolve()
        # `child`, written out.
        view = new(cls)
        view._parent = self
        document = self._source.get(key)
        if type(document) is dict or isinstance(document, Part):
            view._source, view._key = document, None
        elif document is None:
            view._source, view._key = {}, key
        else:
            view._source, view._key = kind.checked(self, key, document), None
        return view

    return get_struct


def make_items_getter(info: FieldInfo, kind: ListType) -> _Getter:
    """Make a reader of the items of a list that decodes only the items that are read."""
    get_decoded = make_getter(info, kind)

    def get_items(self: Any) -> Any:
        source = self._source
        if not isinstance(source, ListSource):
            return get_decoded(self)
        if self.frozen:
            objects = source.read_only_items()
            return get_decoded(self) if objects is None else objects_view(kind.item, self, objects)
        objects = source.own_items()
        return get_decoded(self) if objects is None else own_objects_view(kind.item, self, source, objects)

    return get_items


def _make_setter(info: FieldInfo, kind: FieldType) -> Callable[[Any, Any], None]:
    key = info.json
    # A zero value is left out where Go's encoder would leave it out; a pointer to zero is a value.
    drop_zero = info.omitempty and not info.is_pointer

    def set_field(self: View, value: Any) -> None:
        try:
            raw = None if value is None else kind.dump(value)
        except (TypeError, ValueError) as err:
            # Not type(err): the errors of quantities and the like take no text.
            refused = TypeError if isinstance(err, TypeError) else ValueError
            raise refused(f"{type(self).__name__}.{info.attr}: {err}") from err
        document = self._writable()
        if raw is None or (drop_zero and raw in ("", 0, False, [], {}) and not isinstance(kind, StructType)):
            document.pop(key, None)
        else:
            document[key] = raw

    return set_field
