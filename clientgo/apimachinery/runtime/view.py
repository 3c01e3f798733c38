"""Typed views over JSON documents: the one way API objects are represented here.

Go decodes JSON into structs; the port keeps the JSON document and lays a class of declared fields over it. A read looks
the field up in the document, a write changes the document, and what the class does not declare is simply still there
when the object is written back (Go's typed clients lose it). Mirrors no single Go file; the field declarations say what
Go's struct tags say.

Reading follows Go's zero values: an absent value field reads as "", 0, False, or as an empty struct, list or map; an
absent pointer reads as None. Reading never changes the document. The first write through an empty view attaches it.

Views are cheap and made on every read; identity means nothing (`d.spec is d.spec` is False), equality compares
documents. Assignment copies (`pod.spec = other.spec` shares nothing afterwards), as Go's struct assignment does.
"""

from __future__ import annotations

import base64
import difflib
import inspect
import sys
import typing  # noqa: F401 (named in the hints below)
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, dataclass_transform, overload

from clientgo.apimachinery.runtime import timestamps

T = TypeVar("T")

JSONObject = dict[str, Any]


class ReadOnlyError(TypeError):
    """A write to an object that sits in a shared cache. Take `deep_copy()` and change the copy."""


def copy_json(value: Any) -> Any:
    """Copy a JSON value: dicts and lists anew, everything else shared, since it cannot change. O(size)."""
    kind = type(value)
    if kind is dict:
        return {key: copy_json(item) if type(item) in _CONTAINERS else item for key, item in value.items()}
    if kind is list:
        return [copy_json(item) if type(item) in _CONTAINERS else item for item in value]
    return value


_CONTAINERS = (dict, list)


class _View:
    """What struct, list and map views share: the document below, and the way up to the object that owns it.

    A view is either the root of its object, attached (its document is part of the parent's), or detached: a view of an
    absent field, holding an empty document that goes into the parent at the first write.
    """

    __slots__ = ("_document", "_frozen", "_parent", "_pending")

    # Not set in an object that is still undecoded; reading it decodes (see Object).
    _document: Any
    # The view this one was read from; None at a root. Keeps a way up for `_writable`, used by writes alone.
    _parent: _View | None
    # What is still to be done about the document: in a detached view the field (str) of the parent's document that it
    # would fill, in an undecoded root what there is instead of it (Undecoded). Otherwise None.
    _pending: Any
    # Set on roots alone; no read ever looks at it.
    _frozen: bool

    def _writable(self) -> Any:
        """The document, ready to be changed: attached to its object, which must not be frozen."""
        parent = self._parent
        if parent is None:
            if self._frozen:
                raise ReadOnlyError(
                    f"{self!r} is shared and read-only (objects from a cache are); call deep_copy() and change the copy"
                )
            return self._document
        holder = parent._writable()
        if self._pending is not None:
            self._attach(holder, self._pending)
        return self._document

    def _attach(self, holder: JSONObject, key: str) -> None:
        present = holder.get(key)
        if present is None:
            holder[key] = self._document
        else:  # Another view of the same absent field was written first: join it.
            self._document = present
        self._pending = None


# --- Field types -----------------------------------------------------------------------------------------------------


class _Type:
    """How one Go type is read from and written to JSON. The base: JSON's own scalars, which need no conversion."""

    is_scalar = True
    # Whether an absent one reads as something that is made at each read: the default EMPTY.
    has_empty = False
    # What `load` gives, as an expression in this module: structs that refer to each other cannot be named at once.
    hint = "typing.Any"

    def load(self, parent: _View, raw: Any) -> Any:
        """The Python value of a present, non-null JSON value."""
        return raw

    def dump(self, value: Any) -> Any:
        """The JSON value to store; never shares a container with `value`."""
        return value


class _String(_Type):
    hint = "str"

    def dump(self, value: Any) -> Any:
        if not isinstance(value, str):
            raise TypeError(f"expected str, got {type(value).__name__}")
        return str(value)


class _Integer(_Type):
    hint = "int"

    def dump(self, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"expected int, got {type(value).__name__}")
        return value


class _Boolean(_Type):
    hint = "bool"

    def dump(self, value: Any) -> Any:
        if not isinstance(value, bool):
            raise TypeError(f"expected bool, got {type(value).__name__}")
        return value


class _IntOrString(_Type):
    hint = "int | str"

    def dump(self, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise TypeError(f"expected int or str, got {type(value).__name__}")
        return value


class _Raw(_Type):
    """runtime.RawExtension and the like: any JSON value, as it is. Reading gives a copy: it is no view."""

    is_scalar = False

    def load(self, parent: _View, raw: Any) -> Any:
        return copy_json(raw)

    def dump(self, value: Any) -> Any:
        return copy_json(value._document if isinstance(value, _View) else value)


class _Converted(_Type):
    """A JSON string that Python has a better type for; `accepts` are the types `dumps` can write."""

    is_scalar = False

    def __init__(self, loads: Callable[[Any], Any], dumps: Callable[[Any], Any], *accepts: type) -> None:
        self._loads = loads
        self._dumps = dumps
        self._accepts = accepts
        self.hint = accepts[0].__name__

    def load(self, parent: _View, raw: Any) -> Any:
        return self._loads(raw)

    def dump(self, value: Any) -> Any:
        if not isinstance(value, self._accepts):
            raise TypeError(f"expected {self._accepts[0].__name__}, got {type(value).__name__}")
        return self._dumps(value)


class _StructType(_Type):
    """A declared struct, named relative to the module of the class that uses it; looked up when first needed."""

    is_scalar = False
    has_empty = True

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

    def load(self, parent: _View, raw: Any) -> Any:
        return _child(self._class or self.resolve(), parent, raw)

    def dump(self, value: Any) -> Any:
        if not isinstance(value, self.resolve()):
            hint = f"; {self._name}.from_dict makes one of it" if isinstance(value, dict) else ""
            raise TypeError(f"expected {self._name}, got {type(value).__name__}{hint}")
        return copy_json(value._document)


class _ListType(_Type):
    is_scalar = False
    has_empty = True

    def __init__(self, item: _Type) -> None:
        self.item = item
        self.hint = f"typing.List[{item.hint}]"

    def load(self, parent: _View, raw: Any) -> Any:
        return _collection(ListView, self.item, parent, raw)

    def dump(self, value: Any) -> Any:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise TypeError(f"expected a list, got {type(value).__name__}")
        return [self.item.dump(item) for item in value]


class _MapType(_Type):
    is_scalar = False
    has_empty = True

    def __init__(self, item: _Type) -> None:
        self.item = item
        self.hint = f"typing.Dict[str, {item.hint}]"

    def load(self, parent: _View, raw: Any) -> Any:
        return _collection(MapView, self.item, parent, raw)

    def dump(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise TypeError(f"expected a mapping, got {type(value).__name__}")
        return {str(key): self.item.dump(item) for key, item in value.items()}


class _Quantity(_Type):
    """A Quantity; text and numbers are taken for one when written."""

    is_scalar = False
    has_empty = True
    hint = "sys.modules['clientgo.apimachinery.api.resource'].Quantity"

    def load(self, parent: _View, raw: Any) -> Any:
        from clientgo.apimachinery.api.resource import parse_quantity

        return parse_quantity(str(raw))

    def dump(self, value: Any) -> str:
        from clientgo.apimachinery.api.resource import Quantity, parse_quantity

        if isinstance(value, Quantity):
            return str(value)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise TypeError(f"expected Quantity, got {type(value).__name__}")
        return str(parse_quantity(str(value)))


def _load_duration(raw: str) -> float:
    from clientgo.apimachinery.apis.meta.v1.duration import parse_duration

    return parse_duration(raw)


def _dump_duration(value: float) -> str:
    from clientgo.apimachinery.apis.meta.v1.duration import format_duration

    return format_duration(value)


_NAMED_TYPES: dict[str, _Type] = {
    "string": _String(),
    "bool": _Boolean(),
    "int": _Integer(),
    "int32": _Integer(),
    "int64": _Integer(),
    "float64": _Type(),
    "intorstring": _IntOrString(),
    "raw": _Raw(),
    "bytes": _Converted(base64.b64decode, lambda value: base64.b64encode(value).decode("ascii"), bytes, bytearray),
    "time": _Converted(timestamps.parse_time, timestamps.format_time, datetime),
    "microtime": _Converted(timestamps.parse_time, timestamps.format_micro_time, datetime),
    "quantity": _Quantity(),
    "duration": _Converted(_load_duration, _dump_duration, float, int),
}


# The other names of the same in Go programs.
_NAMED_TYPES |= {
    **dict.fromkeys(("int8", "int16", "uint8", "uint16", "uint32", "uint64"), _NAMED_TYPES["int64"]),
    "float32": _NAMED_TYPES["float64"],
    "[]byte": _NAMED_TYPES["bytes"],
    "intstr.IntOrString": _NAMED_TYPES["intorstring"],
    "metav1.Duration": _NAMED_TYPES["duration"],
    "metav1.MicroTime": _NAMED_TYPES["microtime"],
    "metav1.Time": _NAMED_TYPES["time"],
    "resource.Quantity": _NAMED_TYPES["quantity"],
    "runtime.RawExtension": _NAMED_TYPES["raw"],
}


def _parse_type(text: str, module: str) -> _Type:
    """Read the type notation of `field`."""
    if text.startswith("*"):
        return _parse_type(text[1:], module)
    if text in _NAMED_TYPES:
        return _NAMED_TYPES[text]
    if text.startswith("[]"):
        return _ListType(_parse_type(text[2:], module))
    if text.startswith("map[string]"):
        return _MapType(_parse_type(text[len("map[string]") :], module))
    return _StructType(text, module)


# --- Field declarations ----------------------------------------------------------------------------------------------


class _Empty:
    """The default of a struct, list or map field: an empty view, made at each read."""

    def __repr__(self) -> str:
        return "EMPTY"


EMPTY: Any = _Empty()


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """What a Go struct field and its tags say; `Struct._fields` has one for each attribute."""

    attr: str
    json: str
    type: str
    default: Any
    omitempty: bool
    patch_strategy: str
    patch_merge_key: str

    @property
    def is_pointer(self) -> bool:
        """Whether absent reads as None rather than as a zero value."""
        return self.default is None

    @property
    def is_list(self) -> bool:
        return self.type.lstrip("*").startswith("[]")

    @property
    def is_map(self) -> bool:
        return self.type.lstrip("*").startswith("map[")


@dataclass(frozen=True, slots=True)
class _Declared:
    """A field as the class body states it, before the class turns it into a property."""

    json: str
    type: str
    default: Any
    omitempty: bool
    patch_strategy: str
    patch_merge_key: str


def field(
    json: str,
    type: str,
    *,
    default: Any,
    omitempty: bool = False,
    patch_strategy: str = "",
    patch_merge_key: str = "",
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
    value that is written leaves no field; the patch arguments are those of strategic merge patches.
    """
    return _Declared(json, type, default, omitempty, patch_strategy, patch_merge_key)


def _make_property(info: FieldInfo, kind: _Type) -> property:
    getter = _make_getter(info, kind)
    # From here notebooks know what may follow `pod.spec.`: they do not call properties to find out.
    getter.__annotations__ = {"return": kind.hint}
    return property(getter, _make_setter(info, kind), doc=f"{info.json}: {info.type}")


def _make_getter(info: FieldInfo, kind: _Type) -> Callable[[Any], Any]:
    """A reader specialised to the field: these few closures are the hot path of every controller."""
    key, default = info.json, info.default
    if kind.is_scalar:

        def get_scalar(self: _View) -> Any:
            value = self._document.get(key)
            return default if value is None else value

        return get_scalar

    load = kind.load
    if default is not EMPTY:

        def get_converted(self: _View) -> Any:
            value = self._document.get(key)
            return default if value is None else load(self, value)

        return get_converted

    if isinstance(kind, _StructType):
        resolve, new = kind.resolve, object.__new__
        found: list[type[Struct]] = []

        def get_struct(self: _View) -> Any:
            if not found:
                found.append(resolve())
            child = new(found[0])
            child._parent = self
            document = self._document.get(key)
            if document is None:
                child._document, child._pending = {}, key
            else:
                child._document, child._pending = document, None
            return child

        return get_struct

    if isinstance(kind, _Quantity):  # Go's zero value of one is a real quantity.

        def get_quantity(self: _View) -> Any:
            value = self._document.get(key)
            return load(self, "0" if value is None else value)

        return get_quantity

    def get_collection(self: _View) -> Any:
        value = self._document.get(key)
        if value is not None:
            return load(self, value)
        child = load(self, [] if info.is_list else {})
        child._pending = key
        return child

    return get_collection


def _make_setter(info: FieldInfo, kind: _Type) -> Callable[[Any, Any], None]:
    key = info.json
    # A zero value is left out where Go's encoder would leave it out; a pointer to zero is a value.
    drop_zero = info.omitempty and not info.is_pointer

    def set_field(self: _View, value: Any) -> None:
        try:
            raw = None if value is None else kind.dump(value)
        except (TypeError, ValueError) as err:
            # Not type(err): the errors of quantities and the like take no text.
            refused = TypeError if isinstance(err, TypeError) else ValueError
            raise refused(f"{type(self).__name__}.{info.attr}: {err}") from err
        document = self._writable()
        if raw is None or (drop_zero and raw in ("", 0, False, [], {}) and not isinstance(kind, _StructType)):
            document.pop(key, None)
        else:
            document[key] = raw

    return set_field


# --- Structs ---------------------------------------------------------------------------------------------------------


class _StructMeta(type):
    """Gives every struct empty slots, so that assigning to a misspelt field is an error and not a new attribute."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> _StructMeta:
        namespace.setdefault("__slots__", ())
        return super().__new__(mcs, name, bases, namespace, **kwargs)

    @property
    def __signature__(cls: Any) -> inspect.Signature:
        """The fields as keyword arguments, for help(), notebooks and completion in a shell."""
        if cls.__init__ is not Struct.__init__:
            raise AttributeError("__signature__")  # The class's own __init__ says it.
        types: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            types |= vars(base).get("__annotations__", {})
        parameters = [
            inspect.Parameter(attr, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=types[attr])
            for attr in cls._fields
        ]
        return inspect.Signature(parameters)


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Struct(_View, metaclass=_StructMeta):
    """Base of every API type: declared fields over one JSON dict.

    Subclasses declare fields with `field(...)` and add nothing else to the instance. Not thread-safe for writing, as in
    Go; concurrent reads are safe.
    """

    __hash__ = None  # type: ignore[assignment]  # mutable, compared by content

    _fields: ClassVar[dict[str, FieldInfo]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        fields: dict[str, FieldInfo] = {}
        for base in reversed(cls.__mro__[1:]):
            fields.update(base.__dict__.get("_fields", {}))
        for attr, declared in list(vars(cls).items()):
            if not isinstance(declared, _Declared):
                continue
            info = FieldInfo(
                attr,
                declared.json,
                declared.type,
                declared.default,
                declared.omitempty,
                declared.patch_strategy,
                declared.patch_merge_key,
            )
            fields[attr] = info
            kind = _parse_type(declared.type, cls.__module__)
            if info.default is EMPTY and not kind.has_empty:
                raise TypeError(f"{cls.__name__}.{attr}: a {info.type} is never EMPTY; its default is its zero value")
            setattr(cls, attr, _make_property(info, kind))
        cls._fields = fields

    def __init__(self, **fields: Any) -> None:
        """Build a new object from field values; None leaves a field absent. Raises TypeError for an unknown field."""
        self._document = {}
        self._parent = None
        self._pending = None
        self._frozen = False
        for attr, value in fields.items():
            if attr not in self._fields:
                raise self._unknown(attr)
            if value is not None:
                setattr(self, attr, value)

    @classmethod
    def _unknown(cls, attr: str) -> TypeError:
        """The error for a field that is not there; it names the one that has this JSON name, or a similar one."""
        by_json = [info.attr for info in cls._fields.values() if info.json == attr]
        meant = by_json or difflib.get_close_matches(attr, cls._fields, n=1)
        hint = f"; did you mean {meant[0]!r}?" if meant else ""
        return TypeError(f"{cls.__name__} has no field {attr!r}{hint}")

    @classmethod
    def from_dict(cls, document: JSONObject) -> Self:
        """Lay a view over `document` without copying it: the view owns the dict from here on."""
        self = object.__new__(cls)
        self._document = document
        self._parent = None
        self._pending = None
        self._frozen = False
        return self

    def to_dict(self) -> JSONObject:
        """A copy of the document, free to change."""
        return cast(JSONObject, copy_json(self._document))

    def deep_copy(self) -> Self:
        """A copy that shares nothing and may be written to, also when this one is read-only. O(size). Go: DeepCopy."""
        return self.from_dict(copy_json(self._document))

    def __copy__(self) -> Self:
        return self.deep_copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.deep_copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_dict, (self.to_dict(),))

    def __replace__(self, **fields: Any) -> Self:
        """A copy with some fields changed; None removes one. Called by copy.replace, which Python has since 3.13."""
        copied = self.deep_copy()
        for attr, value in fields.items():
            if attr not in self._fields:
                raise self._unknown(attr)
            setattr(copied, attr, value)
        return copied

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        return type(self) is type(other) and bool(self._document == other._document)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._repr_parts())})"

    def _repr_parts(self) -> Iterator[str]:
        declared = {info.json for info in self._fields.values()}
        for attr, info in self._fields.items():
            if self._document.get(info.json) is not None:
                yield f"{attr}={getattr(self, attr)!r}"
        unknown = [key for key in self._document if key not in declared]
        if unknown:
            yield f"...{', '.join(unknown)}"


def _child(cls: type[Struct], parent: _View, document: JSONObject) -> Struct:
    child = object.__new__(cls)
    child._parent = parent
    child._document = document
    child._pending = None
    return child


# --- Lists and maps --------------------------------------------------------------------------------------------------

_C = TypeVar("_C", bound="_Collection")


class _Collection(_View):
    """A view of a JSON array or object whose elements have one type."""

    __slots__ = ("_item",)
    __hash__ = None  # type: ignore[assignment]

    _item: _Type

    def __len__(self) -> int:
        return len(self._document)

    def __repr__(self) -> str:
        return repr(self._plain())

    def _plain(self) -> Any:
        raise NotImplementedError

    def deep_copy(self) -> Any:
        """A plain list or dict of independent values."""
        return self._plain()

    def copy(self) -> Any:
        """`deep_copy()`: a plain list or dict."""
        return self._plain()

    def __copy__(self) -> Any:
        return self._plain()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self._plain()

    def __reduce__(self) -> tuple[Any, ...]:
        plain = self._plain()
        return type(plain), (plain,)


def _collection(cls: type[_C], item: _Type, parent: _View, document: Any) -> _C:
    view = object.__new__(cls)
    view._document = document
    view._parent = parent
    view._pending = None
    view._item = item
    return view


class ListView(_Collection, MutableSequence[T], Generic[T]):
    """A JSON array seen as a list: equal to a plain list of the same values, and read-only when its object is."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self._load(raw) for raw in self._document[index]]
        return self._load(self._document[index])

    def _load(self, raw: Any) -> Any:
        item = self._item
        return raw if item.is_scalar or raw is None else item.load(self, raw)

    def __iter__(self) -> Iterator[T]:
        if self._item.is_scalar:
            return iter(self._document)
        return map(self._load, self._document)

    def __setitem__(self, index: int | slice, value: Any) -> None:
        if isinstance(index, slice):
            raw: Any = [self._item.dump(item) for item in value]
        else:
            raw = self._item.dump(value)
        self._writable()[index] = raw

    def __delitem__(self, index: int | slice) -> None:
        del self._writable()[index]

    def insert(self, index: int, value: T) -> None:
        raw = self._item.dump(value)
        self._writable().insert(index, raw)

    def __contains__(self, value: object) -> bool:
        return any(item == value for item in self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ListView):
            return bool(self._document == other._document)
        if not isinstance(other, (list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other))

    def __add__(self, other: Sequence[T]) -> list[T]:
        return [*self, *other]

    def __radd__(self, other: Sequence[T]) -> list[T]:
        return [*other, *self]

    def sort(self, *, key: Callable[[T], Any] | None = None, reverse: bool = False) -> None:
        """As list.sort."""
        self[:] = sorted(self, key=key, reverse=reverse)

    def _plain(self) -> list[Any]:
        return [item.deep_copy() if isinstance(item, (Struct, _Collection)) else item for item in self]


class MapView(_Collection, MutableMapping[str, T], Generic[T]):
    """A JSON object seen as a dict with values of one type: equal to a plain dict, and read-only when its object is."""

    __slots__ = ()

    def __getitem__(self, key: str) -> T:
        raw = self._document[key]
        item = self._item
        return cast(T, raw if item.is_scalar or raw is None else item.load(self, raw))

    def get(self, key: str, default: Any = None) -> Any:
        raw = self._document.get(key)
        if raw is None:
            return default
        return raw if self._item.is_scalar else self._item.load(self, raw)

    def __contains__(self, key: object) -> bool:
        return key in self._document

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __setitem__(self, key: str, value: T) -> None:
        raw = self._item.dump(value)
        self._writable()[key] = raw

    def __delitem__(self, key: str) -> None:
        document = self._writable()
        del document[key]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, MapView):
            return bool(self._document == other._document)
        if not isinstance(other, Mapping):
            return NotImplemented
        return dict(self.items()) == dict(other.items())

    def __or__(self, other: Mapping[str, T]) -> dict[str, T]:
        return {**self, **other}

    def __ror__(self, other: Mapping[str, T]) -> dict[str, T]:
        return {**other, **self}

    def __ior__(self, other: Mapping[str, T]) -> Self:
        self.update(other)
        return self

    def _plain(self) -> dict[str, Any]:
        return {
            key: item.deep_copy() if isinstance(item, (Struct, _Collection)) else item for key, item in self.items()
        }
