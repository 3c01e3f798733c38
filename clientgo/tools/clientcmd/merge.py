"""The merge of two configs. Mirrors tools/clientcmd/merge.go.

Values that are set in the source replace those in the target: texts, numbers, lists and references as a whole. Dicts
are united, and the source's entries take precedence. Structs that Go holds by value are merged field by field.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TypeVar

from clientgo.rest.config import ImpersonationConfig
from clientgo.tools.clientcmd.api import Preferences

T = TypeVar("T")

# The classes of fields that are structs, not pointers, in Go.
_BY_VALUE = (Preferences, ImpersonationConfig)


def merge(dst: T, src: T | None) -> None:
    """Merge `src` into `dst`. Raises TypeError if they are not of the same dataclass."""
    if src is None:
        return
    if type(dst) is not type(src):
        raise TypeError(f"cannot merge mismatched types ({type(dst).__name__}, {type(src).__name__})")
    for each in fields(dst):  # type: ignore[arg-type]
        value = getattr(src, each.name)
        if isinstance(value, _BY_VALUE):
            merge(getattr(dst, each.name), value)
        elif isinstance(value, dict):
            getattr(dst, each.name).update(value)
        elif value:
            setattr(dst, each.name, value)
