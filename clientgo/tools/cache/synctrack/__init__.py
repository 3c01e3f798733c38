"""Trackers that report when a controller has processed the whole initial list. Mirrors tools/cache/synctrack."""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach
from clientgo.tools.cache.synctrack.synctrack import (
    AsyncTracker,
    SingleFileTracker,
    new_async_tracker,
    new_single_file_tracker,
)

if TYPE_CHECKING:
    from clientgo.tools.cache.synctrack.lazy import Lazy
else:
    __getattr__, __dir__ = attach(__name__, {"lazy": ["Lazy"]})

__all__ = ["AsyncTracker", "Lazy", "SingleFileTracker", "new_async_tracker", "new_single_file_tracker"]
