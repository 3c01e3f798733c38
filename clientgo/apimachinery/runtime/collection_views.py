"""Views of JSON arrays and objects whose elements have one type: the values of list and map fields. No Go file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, overload

from clientgo.apimachinery.runtime.source import Part
from clientgo.apimachinery.runtime.view import View, equal_json

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.field_types import FieldType
    from clientgo.apimachinery.runtime.list_source import ListSource

T = TypeVar("T")


class CollectionView(View):
    """A view of a JSON array or object whose elements have one type."""

    __slots__ = ("_item",)
    __hash__ = None  # type: ignore[assignment]

    _item: FieldType

    def __len__(self) -> int:
        return len(self._source)

    def _load(self, raw: Any) -> Any:
        """Return an element's Python value. Raises ValueError when its type is wrong or its text is unreadable."""
        item = self._item
        if type(raw) is not item.plain and not isinstance(raw, Part):
            if raw is None:
                return item.zero
            raw = item.checked(self, "", raw)
        if item.is_scalar:
            return raw
        try:
            return item.load(self, raw)
        except ValueError as err:
            raise self._unreadable("", err) from err

    def _struct_name(self) -> str:
        return "" if self._parent is None else self._parent._struct_name()

    def _name_of(self, part: Any) -> str:
        return ""

    def _declared_type(self, key: str) -> tuple[str, str] | None:
        parent = self._parent
        declared = None if parent is None else parent._declared_type(self._key or parent._name_of(self._source))
        if declared is None:
            return None
        from clientgo.api import facts  # Here: for errors only.

        collection, inner, package = facts.collection_of(*declared)
        return (inner, package) if collection in ("list", "map") else None

    def __repr__(self) -> str:
        return repr(self._plain())

    def _plain(self) -> Any:
        raise NotImplementedError

    def deep_copy(self) -> Any:
        """Return a plain list or dict of independent values."""
        return self._plain()

    def copy(self) -> Any:
        """Return a plain list or dict of independent values, like `deep_copy()`."""
        return self._plain()

    def __copy__(self) -> Any:
        return self._plain()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self._plain()

    def __reduce__(self) -> tuple[Any, ...]:
        plain = self._plain()
        return type(plain), (plain,)


class ListView(CollectionView, MutableSequence[T], Generic[T]):
    """A JSON array seen as a list: equal to a plain list of the same values, and read-only when its object is."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self._load(raw) for raw in self._source[index]]
        raw = self._source[index]
        return raw if type(raw) is self._item.scalar else self._load(raw)

    def __iter__(self) -> Iterator[T]:
        item = self._item
        if item.is_scalar and {*map(type, self._source)} <= {item.scalar}:
            return iter(self._source)
        return map(self._load, self._source)

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
            return equal_json(self._source, other._source)
        if not isinstance(other, (list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other))

    def __add__(self, other: Sequence[T]) -> list[T]:
        return [*self, *other]

    def __radd__(self, other: Sequence[T]) -> list[T]:
        return [*other, *self]

    def sort(self, *, key: Callable[[T], Any] | None = None, reverse: bool = False) -> None:
        """Sort the array in place, like list.sort."""
        self[:] = sorted(self, key=key, reverse=reverse)

    def _plain(self) -> list[Any]:
        return [item.deep_copy() if isinstance(item, View) else item for item in self]


class ObjectsView(ListView[T]):
    """The items of a read-only list that are objects already: handed out as they are, decoded or not."""

    __slots__ = ("_objects",)

    _objects: Sequence[T]

    @property
    def _source(self) -> Any:
        """The documents of all items."""
        return [cast(View, each)._document for each in self._objects]

    def __len__(self) -> int:
        return len(self._objects)

    def __getitem__(self, index: int | slice) -> Any:
        return [*self._objects[index]] if isinstance(index, slice) else self._objects[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._objects)


_O = TypeVar("_O", bound=ObjectsView[Any])


class OwnObjectsView(ObjectsView[T]):
    """The items of a list that may be written to: the same objects each time, until the list itself is decoded.

    Their documents are then the list's, so that a write to one of them is a write to the list at any time.
    """

    __slots__ = ("_pending",)

    _pending: ListSource

    @property
    def _source(self) -> Any:
        """The list's own array, to write to."""
        _ = cast(View, self._parent)._document  # The list is decoded from now on, and perhaps has other items by now.
        return self._pending.item_documents()

    def _is_decoded(self) -> bool:
        return cast(View, self._parent)._source is not self._pending

    def __len__(self) -> int:
        return len(self._source) if self._is_decoded() else super().__len__()

    def __getitem__(self, index: int | slice) -> Any:
        return ListView.__getitem__(self, index) if self._is_decoded() else super().__getitem__(index)

    def __iter__(self) -> Iterator[T]:
        return ListView.__iter__(self) if self._is_decoded() else super().__iter__()


def objects_view(item: FieldType, parent: View, objects: Sequence[Any]) -> ObjectsView[Any]:
    """Return a view of objects as the items of the list that `parent` is."""
    return _objects_view(ObjectsView, item, parent, objects)


def own_objects_view(item: FieldType, parent: View, pending: ListSource, objects: Sequence[Any]) -> ListView[Any]:
    """Return a view of `parent`'s own items; `pending` is its source."""
    view = _objects_view(OwnObjectsView, item, parent, objects)
    view._pending = pending
    return view


def _objects_view(cls: type[_O], item: FieldType, parent: View, objects: Sequence[Any]) -> _O:
    view = object.__new__(cls)
    view._parent = parent
    view._key = None
    view._item = item
    view._objects = objects
    return view


class MapView(CollectionView, MutableMapping[str, T], Generic[T]):
    """A JSON object seen as a dict with values of one type: equal to a plain dict, and read-only when its object is."""

    __slots__ = ()

    def __getitem__(self, key: str) -> T:
        value: T = self._source[key]
        if type(value) is not self._item.scalar:
            value = self._load(value)
        return value

    def get(self, key: str, default: Any = None) -> Any:
        raw = self._source.get(key)
        if type(raw) is self._item.scalar:
            return raw
        return default if raw is None else self._load(raw)

    def __contains__(self, key: object) -> bool:
        return key in self._source

    def __iter__(self) -> Iterator[str]:
        return iter(self._source)

    def __setitem__(self, key: str, value: T) -> None:
        raw = self._item.dump(value)
        self._writable()[key] = raw

    def __delitem__(self, key: str) -> None:
        document = self._writable()
        del document[key]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, MapView):
            return equal_json(self._source, other._source)
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
        return {key: item.deep_copy() if isinstance(item, View) else item for key, item in self.items()}
