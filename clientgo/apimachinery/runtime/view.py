"""Typed views of JSON documents, which represent all API objects. No Go file: Go decodes into structs.

An object keeps its JSON document, and its class declares fields for it. A read takes the field from the document, a
write changes the document, and undeclared fields are still there when the object is written back (Go's typed clients
lose them). This module has the base of all views; `structs` has the classes with fields, `fields` the declaration and
reading of a field, `field_types` the types of fields, `collection_views` lists and maps.

Reading follows Go's zero values: an absent value field reads as "", 0, False, or as an empty struct, list or map; an
absent pointer reads as None. Reading never changes the document. The first write through an empty view attaches it.

Views are cheap and made on every read; identity means nothing (`d.spec is d.spec` is False), equality compares
documents. Assignment copies (`pod.spec = other.spec` shares nothing afterwards), as Go's struct assignment does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from clientgo.apimachinery.runtime.source import JSONObject, Lazy, Part
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields, unknown_fields_of
from clientgo.golang.json import UnmarshalTypeError

__all__ = ["JSONObject", "ReadOnlyError", "UnreadableTextError", "View", "child", "copy_json", "equal_json"]


class ReadOnlyError(TypeError):
    """A write to an object that sits in a shared cache. Take `deep_copy()` and change the copy."""


class UnreadableTextError(ValueError):
    """Raised for a field whose text is no time, quantity, or base64. `text` is Go's error, which names no field."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


def copy_json(value: Any) -> Any:
    """Copy a JSON value. Dicts and lists are copied, immutable values are shared. O(size).

    An OrderedDict, a tuple, a view and the like become a plain dict or list.
    """
    kind = type(value)
    try:
        if kind is dict:
            return {key: item if type(item) in _SCALARS else copy_json(item) for key, item in value.items()}
        if kind is list:
            return [item if type(item) in _SCALARS else copy_json(item) for item in value]
    except RecursionError:
        # JSON may be nested twice as deep as this function can call itself.
        return _copy_deep(value)
    return value if kind in _SCALARS else _copy_unusual(value)


_SCALARS = frozenset((str, int, float, bool, type(None)))


def _copy_deep(value: Any) -> Any:
    """Copy a dict or list of any depth without recursion."""
    out: list[Any] = [value]
    # Containers of copies, with the keys or indices of the values that are not copied yet.
    unfinished: list[tuple[Any, Any]] = [(out, 0)]
    while unfinished:
        container, key = unfinished.pop()
        item = container[key]
        kind = type(item)
        if kind is dict:
            container[key] = copy = dict(item)
            unfinished += [(copy, name) for name, inner in copy.items() if type(inner) not in _SCALARS]
        elif kind is list:
            container[key] = copies = list(item)
            unfinished += [(copies, index) for index, inner in enumerate(copies) if type(inner) not in _SCALARS]
        else:
            container[key] = _copy_unusual(item)
    return out[0]


def _copy_unusual(value: Any) -> Any:
    if isinstance(value, Lazy):
        return copy_json(value.snapshot())
    if isinstance(value, View):
        return copy_json(value._source)
    if type(value) is UnknownFields:
        return value.copy_with(copy_json(dict(value)))
    if isinstance(value, Mapping):
        return copy_json(dict(value.items()))
    return copy_json([*value]) if isinstance(value, (list, tuple)) else value


def equal_json(one: Any, other: Any) -> bool:
    """Report whether two JSON values are equal, at any depth. O(size)."""
    try:
        return bool(one == other)
    except RecursionError:
        return _equal_deep(one, other)


def _equal_deep(one: Any, other: Any) -> bool:
    """Compare two values without recursion."""
    unfinished = [(one, other)]
    while unfinished:
        left, right = unfinished.pop()
        left = left.snapshot() if isinstance(left, Lazy) else left
        right = right.snapshot() if isinstance(right, Lazy) else right
        if left is right:
            continue
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys() or unknown_fields_of(left) != unknown_fields_of(right):
                return False
            unfinished += [(value, right[key]) for key, value in left.items()]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            unfinished += zip(left, right)
        elif left != right:
            return False
    return True


class View:
    """The base of struct, list and map views: the document below, and the way up to the object that owns it.

    A view is either the root of its object, attached (its document is part of the parent's), or detached: a view of an
    absent field, holding an empty document that goes into the parent at the first write.

    Invariants:
      * a root has no parent and no key; only a root has `_frozen`
      * a view that has a key is detached: its document is no part of the parent's
      * the source of a root is its document, or a `Source` if the object is not decoded; below it a source is a part of
        the document, or a `Part` (see `source`)
    """

    __slots__ = ("_key", "_parent", "_source")

    # The document, or the lazy value that is read in its place. All reads of fields use `_source.get`.
    _source: Any
    # The view this one was read from; None at a root. Keeps a way up for `_writable`, used by writes alone.
    _parent: View | None
    # In a detached view the field of the parent's document that it stands for; otherwise None.
    _key: str | None
    # Whether a root, which never has a key, is read-only. Reads do not use it.
    _frozen: bool

    @property
    def _document(self) -> Any:
        """The document in plain dicts and lists, to be read only."""
        return self._snapshot()

    def _snapshot(self) -> Any:
        """Return the document in plain dicts and lists, to be read only; decodes nothing for later."""
        source = self._source
        return source.snapshot() if isinstance(source, Lazy) else source

    def _writable(self) -> Any:
        """Return the document for writing, and attach it to its object. Raises ReadOnlyError when the object is frozen.
        """
        parent = self._parent
        if parent is None:
            if not self._frozen:
                document = self._document
                if self._source is document:
                    return document
            # Frozen, perhaps since the look at `_frozen`: then the document is not the object's.
            raise ReadOnlyError(
                f"{self!r} is shared and read-only (objects from a cache are); call deep_copy() and change the copy"
            )
        holder = parent._writable()
        if self._key is not None:
            self._attach(holder, self._key)
        elif isinstance(self._source, Part):
            self._source = self._source.written
        return self._source

    def _attach(self, holder: JSONObject, key: str) -> None:
        present = holder.get(key)
        if present is not None:  # Another view of the same absent field was written first: join it.
            self._source = present
        else:
            holder[key] = self._source = copy_json(self._source)
        self._key = None

    def _mistyped(self, key: str, value: Any, go_type: str) -> UnmarshalTypeError:
        """Return the error for a field of this view whose value has a wrong type."""
        name = _go_name(self._declared_type(key), go_type)
        return UnmarshalTypeError(value, name, self._struct_name(), self._path(key), within=self._owner_text())

    def _declared_type(self, key: str) -> tuple[str, str] | None:
        """Return the type in Go of a field and the package that uses it; None if they are unknown. O(fields)."""
        return None

    def _unreadable(self, key: str, err: ValueError) -> ValueError:
        """Return the error for a field of this view whose text is unreadable."""
        return UnreadableTextError(": ".join(filter(None, (self._owner_text(), self._path(key), str(err)))), str(err))

    def _struct_name(self) -> str:
        """Return the name of this view's struct, or of the struct whose field this view is."""
        return type(self).__name__

    def _path(self, key: str) -> str:
        """Return the path from the root to `key` in this view. Like Go, it has no list indices and no map keys."""
        names: list[str] = [key]
        view = self
        while view._parent is not None:
            names.append(view._key or view._parent._name_of(view._source))
            view = view._parent
        return ".".join(filter(None, reversed(names)))

    def _name_of(self, part: Any) -> str:
        """Return the field of this view that holds `part` of its document."""
        source = self._source
        if isinstance(source, Lazy):
            found: str | None = source.key_of(part)
            if found is not None:
                return found
        fields = list(self._document.items())
        same = [key for key, value in fields if value is part]
        # A part that this thread has not decoded yet is decoded again.
        return next(iter(same or [key for key, value in fields if value == part]), "")

    def _owner_text(self) -> str:
        """Return the name of the root object for messages, or "" when the root has none."""
        return "" if self._parent is None else self._parent._owner_text()

    def deep_copy(self) -> Any:
        """Return a writable copy that shares nothing with this view. O(size)."""
        raise NotImplementedError


def _go_name(declared: tuple[str, str] | None, go_type: str) -> str:
    """Return the name that Go's errors have for a field's type, whose underlying type is `go_type`."""
    if declared is None or go_type == "[]uint8":
        return go_type
    from clientgo.api import facts  # Here: for errors only.

    is_named = facts.is_text(*declared) if go_type == "string" else go_type.startswith(("[]", "map["))
    return facts.go_name(*declared) if is_named else go_type


# One slot under two names: a cache has many objects, and no view needs both.
View._frozen = vars(View)["_key"]

V = TypeVar("V", bound=View)


def child(cls: type[V], parent: View, document: Any) -> V:
    """Return a view of a part of the parent's document."""
    view = object.__new__(cls)
    view._parent = parent
    view._source = document
    view._key = None
    return view
