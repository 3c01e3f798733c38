"""A Store made of single functions, for tests.

Mirrors tools/cache/fake_custom_store.go.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(kw_only=True, slots=True)
class FakeCustomStore:
    """Calls the function given for each operation; an operation without one does nothing. Go: FakeCustomStore."""

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
        """`add_func(obj)`."""
        if self.add_func is not None:
            self.add_func(obj)

    def update(self, obj: Any) -> None:
        """`update_func(obj)`."""
        if self.update_func is not None:
            self.update_func(obj)

    def delete(self, obj: Any) -> None:
        """`delete_func(obj)`."""
        if self.delete_func is not None:
            self.delete_func(obj)

    def list(self) -> builtins.list[Any]:
        """`list_func()`, [] without one."""
        return [] if self.list_func is None else self.list_func()

    def list_keys(self) -> builtins.list[str]:
        """`list_keys_func()`, [] without one."""
        return [] if self.list_keys_func is None else self.list_keys_func()

    def get(self, obj: Any) -> tuple[Any, bool]:
        """`get_func(obj)`, (None, False) without one."""
        return (None, False) if self.get_func is None else self.get_func(obj)

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """`get_by_key_func(key)`, (None, False) without one."""
        return (None, False) if self.get_by_key_func is None else self.get_by_key_func(key)

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """`replace_func(objs, resource_version)`."""
        if self.replace_func is not None:
            self.replace_func(objs, resource_version)

    def resync(self) -> None:
        """`resync_func()`."""
        if self.resync_func is not None:
            self.resync_func()
