"""Watches that survive interruptions, and waits for their events. Mirrors k8s.io/client-go/tools/watch."""

from clientgo.tools.watch.informerwatcher import (
    new_indexer_informer_watcher,
    new_indexer_informer_watcher_with_logger,
)
from clientgo.tools.watch.retrywatcher import RetryWatcher, new_retry_watcher, new_retry_watcher_with_context
from clientgo.tools.watch.until import (
    ConditionFunc,
    ErrWatchClosed,
    PreconditionFunc,
    context_with_optional_timeout,
    until,
    until_with_sync,
    until_without_retry,
)
from clientgo.tools.watch.wait_for import NotMetError, wait_for, wait_for_deletion

__all__ = [
    "ConditionFunc",
    "ErrWatchClosed",
    "NotMetError",
    "PreconditionFunc",
    "RetryWatcher",
    "context_with_optional_timeout",
    "new_indexer_informer_watcher",
    "new_indexer_informer_watcher_with_logger",
    "new_retry_watcher",
    "new_retry_watcher_with_context",
    "until",
    "until_with_sync",
    "until_without_retry",
    "wait_for",
    "wait_for_deletion",
]
