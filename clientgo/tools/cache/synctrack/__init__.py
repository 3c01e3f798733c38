"""Help controllers to tell whether they have processed everything the first list brought. Go: tools/cache/synctrack."""

from clientgo.tools.cache.synctrack.lazy import Lazy
from clientgo.tools.cache.synctrack.synctrack import (
    AsyncTracker,
    SingleFileTracker,
    new_async_tracker,
    new_single_file_tracker,
)

__all__ = ["AsyncTracker", "Lazy", "SingleFileTracker", "new_async_tracker", "new_single_file_tracker"]
