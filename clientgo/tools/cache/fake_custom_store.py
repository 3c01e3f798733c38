"""A Store made of functions, for tests.

Mirrors tools/cache/fake_custom_store.go.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(kw_only=True, slots=True)
class FakeCustomStore:
    """A Store that calls a function for each operation; an operation without one does nothing. Go: FakeCustomStore."""

    add_func: Callable[[Any], None] | None = None
    update_func: Callable[[Any], None] | None = None
    delete_func: Callable[[Any], None] | None = None
    list_func: Callable[[], builtins.list[Any]] | None = None
    list_keys_func: Callable[[], builtins.list[str]] | None = None
    get_func: Callable[[Any], tuple[Any, bool]] | None = None
    get_by_key_func: Callable[[str], tuple[Any, bool]] | None = None
    replace_func: Callable[[Sequence[Any], str], None] | None = None
    resync_func: Callable[[], None] | None = None

    def add(self, obj: Any) -> None:
        """Call `add_func(obj)`."""
        if self.add_func is not None:
            self.add_func(obj)

    def update(self, obj: Any) -> None:
        """Call `update_func(obj)`."""
        if self.update_func is not None:
            self.update_func(obj)

    def delete(self, obj: Any) -> None:
        """Call `delete_func(obj)`."""
        if self.delete_func is not None:
            self.delete_func(obj)

    def list(self) -> builtins.list[Any]:
        """Return `list_func()`; [] without a function."""
        return [] if self.list_func is None else self.list_func()

    def list_keys(self) -> builtins.list[str]:
        """Return `list_keys_func()`; [] without a function."""
        return [] if self.list_keys_func is None else self.list_keys_func()

    def get(self, obj: Any) -> tuple[Any, bool]:
        """Return `get_func(obj)`; (None, False) without a function."""
        return (None, False) if self.get_func is None else self.get_func(obj)

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """Return `get_by_key_func(key)`; (None, False) without a function."""
        return (None, False) if self.get_by_key_func is None else self.get_by_key_func(key)

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Call `replace_func(objs, resource_version)`."""
        if self.replace_func is not None:
            self.replace_func(objs, resource_version)

    def resync(self) -> None:
        """Call `resync_func()`."""
        if self.resync_func is not None:
            self.resync_func()
