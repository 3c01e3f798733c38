"""What the server knows of kinds: types, defaults, validation, merging, CRDs, and the registry of what is served.

Pure functions of objects and type facts; no room below needs a request.

As `kinds.protobuf` that module is imported when it is first asked for: its codec is that of the clients, and with their
object model takes a sixth of a server's start.
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
