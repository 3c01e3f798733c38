"""The interface between `new_store`'s key functions and the ThreadSafeStore. Go uses ThreadSafeStore."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from clientgo.tools.cache.beyond.records import StoreContents
from clientgo.tools.cache.store import Transaction
from clientgo.tools.cache.thread_safe_store import ThreadSafeStoreWithTransaction


class CacheStorage(ThreadSafeStoreWithTransaction, Protocol):
    """A ThreadSafeStore that reads and writes whole batches and shows its contents. Beyond Go."""

    def apply(self, keys: Sequence[str], txns: Sequence[Transaction], /) -> None:
        """Apply `txns` like `transaction`; `keys` has the key of each object."""
        ...

    def get_all(self, keys: Iterable[str], /) -> builtins.list[Any]:
        """Return the object under each of `keys`, None for none, under one acquisition of the lock."""
        ...

    def size(self) -> int:
        """Return the number of objects. Takes no lock."""
        ...

    def contents(self, most: int = sys.maxsize, /) -> StoreContents:
        """Return at most `most` objects, values of each index, and keys under each value. O(most).

        Takes no lock, so that a debugger can inspect a store that is stuck.
        """
        ...
