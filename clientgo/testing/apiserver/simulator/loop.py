"""The work loop that all simulated controllers share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.context import Context
from clientgo.tools import cache
from clientgo.util import workqueue

Key = str


class Loop:
    """A work queue with one worker thread that syncs keys; a key that fails comes back after a growing delay."""

    def __init__(self, name: str, sync: Callable[[Context, str, str], None]) -> None:
        self._name = name
        self._sync = sync
        limiter: workqueue.TypedRateLimiter[Key] = workqueue.new_typed_item_exponential_failure_rate_limiter(0.005, 5.0)
        self.queue = workqueue.new_typed_rate_limiting_queue(limiter)
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<Loop {self._name} {self.queue.len()} queued>"

    def enqueue(self, obj: Any) -> None:
        self.queue.add(cache.deletion_handling_meta_namespace_key_func(obj))

    def start(self, ctx: Context) -> None:
        self._thread = threading.Thread(target=self._run, args=(ctx,), name=f"simulator-{self._name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.queue.shut_down()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, ctx: Context) -> None:
        while True:
            key, shutdown = self.queue.get()
            if shutdown:
                return
            namespace, _, name = key.rpartition("/")
            try:
                self._sync(ctx, namespace, name)
            except Exception as err:
                self._failed(ctx, key, err)
            else:
                self.queue.forget(key)
            finally:
                self.queue.done(key)

    def _failed(self, ctx: Context, key: Key, err: Exception) -> None:
        if errors.is_not_found(err):
            # Deleted in the meantime. If it is created again, that event queues it.
            self.queue.forget(key)
            return
        if ctx.err() is None and not errors.is_conflict(err):
            utilruntime.handle_error_with_context(ctx, err, "Simulation failed", loop=self._name, key=key)
        self.queue.add_rate_limited(key)
