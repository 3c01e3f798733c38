"""Trackers that report when a controller has processed the whole initial list. Mirrors tools/cache/synctrack."""

from typing import TYPE_CHECKING

from clientgo.tools.cache.synctrack.synctrack import (
    AsyncTracker,
    SingleFileTracker,
    new_async_tracker,
    new_single_file_tracker,
)
from clientgo.utils.later import later

if TYPE_CHECKING:
    from clientgo.tools.cache.synctrack.lazy import Lazy
else:
    __getattr__, __dir__ = later(__name__, {"lazy": ["Lazy"]})

__all__ = ["AsyncTracker", "Lazy", "SingleFileTracker", "new_async_tracker", "new_single_file_tracker"]
