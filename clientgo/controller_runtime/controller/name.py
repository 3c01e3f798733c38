"""A registry that keeps controller names unique. Mirrors pkg/controller/name.go."""

from __future__ import annotations

import threading

__all__ = ["check_name"]

_LOCK = threading.Lock()
# The names of all controllers that the process has made. Guarded by _LOCK.
_USED_NAMES: set[str] = set()


def check_name(name: str) -> None:
    """Reserve the name. Raises ValueError if any controller of the process has it."""
    with _LOCK:
        if name in _USED_NAMES:
            raise ValueError(
                f"controller with name {name} already exists. Controller names must be unique to avoid multiple "
                "controllers reporting the same metric. This validation can be disabled via the SkipNameValidation "
                "option"
            )
        _USED_NAMES.add(name)
