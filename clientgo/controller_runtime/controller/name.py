"""Keeps two controllers from having one name. Mirrors pkg/controller/name.go."""

from __future__ import annotations

import threading

__all__ = ["check_name"]

_LOCK = threading.Lock()
# The names of all controllers the process ever made. Guarded by _LOCK.
_USED_NAMES: set[str] = set()


def check_name(name: str) -> None:
    """Take the name. Raises ValueError when it is taken already, by any controller of the process."""
    with _LOCK:
        if name in _USED_NAMES:
            raise ValueError(
                f"controller with name {name} already exists. Controller names must be unique to avoid multiple "
                "controllers reporting the same metric. This validation can be disabled via the SkipNameValidation "
                "option"
            )
        _USED_NAMES.add(name)
