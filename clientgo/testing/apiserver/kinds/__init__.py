"""Kinds: types, defaults, validation, merging, CRDs, and the registry of the served resources.

Pure functions of objects and types; no package below needs a request.

The first access imports `kinds.protobuf`. Its codec is that of the clients; together with their object model it takes
a sixth of a server's start.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clientgo.testing.apiserver.kinds import protobuf

__all__ = ["protobuf"]


def __getattr__(name: str) -> ModuleType:
    if name == "protobuf":
        return import_module(f"{__name__}.protobuf")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
