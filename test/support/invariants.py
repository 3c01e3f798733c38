"""The invariants of the library's structures.

By convention a structure's class documents its invariants and asserts them in `_check`, which is no part of its API: a
call costs O(size), and only tests make it.
"""

from __future__ import annotations

from typing import Any


def check_invariants(structure: Any) -> None:
    """Assert the structure's invariants. Raises AttributeError if its class declares none."""
    structure._check()
