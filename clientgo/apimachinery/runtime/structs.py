"""Struct: the base of every API type, declared fields over one JSON dict. No Go file: it is what Go's `struct` is."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast, dataclass_transform

from clientgo.apimachinery.runtime.field_types import FieldType, has_empty
from clientgo.apimachinery.runtime.fields import EMPTY, FieldInfo, FieldProperty, field, make_getter
from clientgo.apimachinery.runtime.source import JSONObject
from clientgo.apimachinery.runtime.unknown_fields import has_unknown_fields, without_unknown_fields
from clientgo.apimachinery.runtime.view import View, copy_json, equal_json

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.custom_resource import Schema


class StructMeta(type):
    """A metaclass that gives every struct empty slots, so that assigning to a misspelt field raises an error."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> StructMeta:
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
class Struct(View, metaclass=StructMeta):
    """Base of every API type: declared fields over one JSON dict.

    Subclasses declare fields with `field(...)` and add nothing else to the instance. Not thread-safe for writing, as in
    Go; concurrent reads are safe.
    """

    __hash__ = None  # type: ignore[assignment]  # mutable, compared by content

    # What its schema says beyond the fields, wherever it is used.
    SCHEMA: ClassVar[Schema | None] = None

    _fields: ClassVar[dict[str, FieldInfo]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        fields: dict[str, FieldInfo] = {}
        for base in reversed(cls.__mro__[1:]):
            fields.update(base.__dict__.get("_fields", {}))
        for attr, declared in list(vars(cls).items()):
            if not isinstance(declared, FieldInfo):
                continue
            if attr in _TAKEN or callable(getattr(super(cls, cls), attr, None)) or attr.startswith("__"):
                remedy = f"call it {attr.strip('_')}_, and keep the JSON name {declared.json!r}"
                raise TypeError(f"{cls.__name__}.{attr}: every struct has an attribute of that name; {remedy}")
            info = declared if declared.attr == attr else dataclasses.replace(declared, attr=attr)
            fields[attr] = info
            if info.default is EMPTY and not has_empty(info.type):
                raise TypeError(f"{cls.__name__}.{attr}: a {info.type} is never EMPTY; its default is its zero value")
            setattr(cls, attr, FieldProperty(cls, info))
        cls._fields = fields

    def _declared_type(self, key: str) -> tuple[str, str] | None:
        from clientgo.api import facts  # Here: for errors only.

        return facts.declared_type(type(self).__module__, type(self).__name__, key)

    @classmethod
    def _make_getter(cls, info: FieldInfo, kind: FieldType) -> Callable[[Any], Any]:
        """Make the function that reads the field."""
        return make_getter(info, kind)

    def __init__(self, **fields: Any) -> None:
        """Build a new object from field values; None leaves a field absent. Raises TypeError for an unknown field."""
        self._source = {}
        self._parent = None
        self._frozen = False
        for attr, value in fields.items():
            if attr not in self._fields:
                raise self._unknown(attr)
            if value is not None:
                setattr(self, attr, value)

    @classmethod
    def _unknown(cls, attr: str) -> TypeError:
        """Return the error for a wrong field name; it suggests the field with this JSON name or a similar name."""
        import difflib  # Here, not above: it is for mistakes alone.

        by_json = [info.attr for info in cls._fields.values() if info.json == attr]
        meant = by_json or difflib.get_close_matches(attr, cls._fields, n=1)
        hint = f"; did you mean {meant[0]!r}?" if meant else ""
        return TypeError(f"{cls.__name__} has no field {attr!r}{hint}")

    @classmethod
    def from_dict(cls, document: JSONObject) -> Self:
        """Lay a view over `document` without copying it: the view owns the dict from here on."""
        self = object.__new__(cls)
        self._source = document
        self._parent = None
        self._frozen = False
        return self

    def to_dict(self) -> JSONObject:
        """Return a copy of the document that the caller may change."""
        copied = copy_json(self._source)
        return cast(JSONObject, without_unknown_fields(copied) if has_unknown_fields(copied) else copied)

    def deep_copy(self) -> Self:
        """Return a writable copy that shares nothing with this object, even when this object is read-only. O(size).

        Go: DeepCopy.
        """
        return self.from_dict(copy_json(self._source))

    def __copy__(self) -> Self:
        return self.deep_copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.deep_copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_dict, (copy_json(self._source),))

    def __replace__(self, **fields: Any) -> Self:
        """Return a copy with some fields changed; None removes a field. Python 3.13 and later call it in
        `copy.replace`.
        """
        copied = self.deep_copy()
        for attr, value in fields.items():
            if attr not in self._fields:
                raise self._unknown(attr)
            setattr(copied, attr, value)
        return copied

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        return type(self) is type(other) and equal_json(self._snapshot(), other._snapshot())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._repr_parts())})"

    def _repr_parts(self) -> Iterator[str]:
        document, declared = self._snapshot(), {info.json for info in self._fields.values()}
        for attr, info in self._fields.items():
            if document.get(info.json) is not None:
                yield f"{attr}={getattr(self, attr)!r}"
        unknown = [key for key in document if key not in declared]
        if unknown:
            yield f"...{', '.join(unknown)}"


# A field of such a name would replace a method, or it could not be given to the constructor.
_TAKEN = frozenset(dir(Struct)) | {"self"}
