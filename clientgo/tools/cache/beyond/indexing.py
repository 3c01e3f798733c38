"""Index functions that raise. Has no Go file: there the program ends.

An object that cannot be indexed is not stored. The object that had its key stays, in the store and in all indexes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clientgo import klog
from clientgo.golang.functions import describe_function
from clientgo.golang.stop import is_crash
from clientgo.golang.strconv import quote

if TYPE_CHECKING:
    from clientgo.tools.cache.index import IndexFunc
    from clientgo.tools.cache.thread_safe_store import _StoreIndex


class IndexingError(RuntimeError):
    """An index function raised for the object `key`, which was not stored. Beyond Go, where it ends the program."""

    def __init__(self, key: str, index_name: str, err: Exception) -> None:
        why = klog.cause_text(err)
        super().__init__(f"unable to calculate an index entry for key {quote(key)} on index {quote(index_name)}: {why}")
        self.key = key
        self.index_name = index_name


def checked_values(values: Sequence[str], index_func: IndexFunc) -> Sequence[str]:
    """Return the values of an index function as a sequence of strings. Raises TypeError for anything else."""
    kind = type(values)
    if (kind is list or kind is tuple) and len(values) == 1 and type(values[0]) is str:
        return values  # the usual case
    if isinstance(values, str):
        raise TypeError(f"the index function returns a string, not a list of strings: {describe_function(index_func)}")
    if not isinstance(values, Iterable):
        got = f"{values!r}, not a list of strings"
        raise TypeError(f"the index function returns {got}: {describe_function(index_func)}")
    values = tuple(values)  # it may be a generator
    for value in values:
        if not isinstance(value, str):
            got = f"{value!r} among the values, which is not a string"
            raise TypeError(f"the index function returns {got}: {describe_function(index_func)}")
    return values


def values_with_key(index: _StoreIndex, name: str, key: str) -> list[str]:
    """Return the values of the index `name` under which `key` stands. O(values).

    For an object whose index function raises now, and did not when the object was stored.
    """
    return [value for value, keys in index.indices.get(name, {}).items() if key in keys]


def rebuilt(
    old: _StoreIndex, old_items: Mapping[str, Any], items: dict[str, Any]
) -> tuple[_StoreIndex, dict[int, IndexingError]]:
    """Return the indexes of `items`, which replace `old_items`, and the errors by position in `items`.

    Changes `items`: an object that cannot be indexed is replaced by the old object with its key, or removed.
    """
    if not old.indexers:
        return old, {}
    index = type(old)(old.indexers, {})
    try:
        _index_all(index, items)
        return index, {}
    except BaseException as err:
        if not is_crash(err):
            raise
        # Start again, one object after the other.
        index = type(old)(old.indexers, {})
    failures: dict[int, IndexingError] = {}
    for i, (key, obj) in enumerate(items.items()):
        try:
            index.update_indices(None, obj, key)
        except IndexingError as err:
            failures[i] = err
    for failure in failures.values():
        key = failure.key
        if key in old_items:
            items[key] = old_items[key]
            _copy_key(index, key, items[key], old)
        else:
            del items[key]
    return index, failures


def _index_all(index: _StoreIndex, items: Mapping[str, Any]) -> None:
    """Index `items` in an empty index. Raises for the first object that cannot be indexed, without naming it."""
    for name, index_func in index.indexers.items():
        table = index.indices[name] = {}
        for key, obj in items.items():
            values = index_func(obj) or ()
            if isinstance(values, str):
                raise TypeError
            for value in values:
                table.setdefault(value, {})[key] = None
        if not all(isinstance(value, str) for value in table):
            raise TypeError


def _copy_key(index: _StoreIndex, key: str, obj: Any, old: _StoreIndex) -> None:
    """Index `obj` under the values that it has in `old`."""
    for name, index_func in index.indexers.items():
        try:
            values = index_func(obj) or ()
        except BaseException as err:
            if not is_crash(err):
                raise
            values = values_with_key(old, name, key)
        index.update_single_index(name, (), values, key)


__all__ = ["IndexingError", "checked_values", "rebuilt", "values_with_key"]
