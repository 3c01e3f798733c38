"""All verbs on stored resources in one object."""

from __future__ import annotations

from clientgo.testing.apiserver.deleting import Deleter
from clientgo.testing.apiserver.writing import Writer


class Rest(Writer, Deleter):
    """Reads, writes and deletes. Thread-safe: all state is in the store."""
