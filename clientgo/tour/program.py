"""The controller of the lessons: it keeps each ConfigMap's `shout` at the upper case of its `text`.

As small as one can be that has all the parts: an informer, a handler that puts keys on a work queue, workers that read
the cache and write to the API. In the manner of client-go's workqueue example; cmd/sample-controller is the next one.
"""

from __future__ import annotations

import threading
from typing import Any

from clientgo import context, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.tools import cache, record
from clientgo.util import workqueue

__all__ = ["Enqueuer", "Queue", "Shouter"]

Queue = workqueue.TypedRateLimitingInterface[str]


class Enqueuer:
    """The handler: whatever happens to an object, its key goes on the queue."""

    def __init__(self, queue: Queue, program: str = "shouter") -> None:
        self._queue = queue
        self._program = program

    def handler_name(self) -> str:
        """Return its name in the program, after which its thread is named."""
        return f"{self._program}.Enqueuer"

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        # In a priority queue initial objects come after new ones.
        workqueue.add_event(self._queue, cache.meta_namespace_key_func(obj), is_in_initial_list)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._queue.add(cache.meta_namespace_key_func(new_obj))

    def on_delete(self, obj: Any) -> None:
        # A deletion that was missed comes as a tombstone, whose key only this function knows.
        self._queue.add(cache.deletion_handling_meta_namespace_key_func(obj))


class Shouter:
    """The controller: the queue's workers and their function."""

    def __init__(
        self,
        client: kubernetes.Interface,
        indexer: cache.KeyGetter,
        queue: Queue,
        recorder: record.EventRecorder | None = None,
    ) -> None:
        self._client = client
        self._indexer = indexer
        self._queue = queue
        self._recorder = recorder

    def run(self, ctx: context.Context, workers: int) -> None:
        """Let so many workers work until `ctx` is done. Blocks; they have ended then."""
        threads = [
            threading.Thread(target=self._work, args=(ctx,), name=f"worker-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in threads:
            thread.start()
        ctx.done().wait()
        self._queue.shut_down()
        for thread in threads:
            thread.join()

    def _work(self, ctx: context.Context) -> None:
        while self._process_next_item(ctx):
            pass

    def _process_next_item(self, ctx: context.Context) -> bool:
        key, shutdown = self._queue.get()
        if shutdown:
            return False
        try:
            self.reconcile(ctx, key)
        except Exception as err:
            utilruntime.handle_error_with_context(ctx, err, "Error syncing; requeuing for later retry", key=key)
            self._queue.add_rate_limited(key)
        else:
            self._queue.forget(key)
        finally:
            self._queue.done(key)
        return True

    def reconcile(self, ctx: context.Context, key: str) -> None:
        """Compare the actual state with the desired state, and make them equal. May block for an API call."""
        obj, exists = self._indexer.get_by_key(key)
        if not exists:
            return  # deleted since it was queued: there is nothing to keep in order
        config_map: corev1.ConfigMap = obj
        wanted = config_map.data.get("text", "").upper()
        if config_map.data.get("shout", "") == wanted:
            return
        # Cached objects are shared and read-only: change a copy.
        changed = config_map.deep_copy()
        changed.data["shout"] = wanted
        namespace = config_map.get_namespace()
        self._client.core_v1().config_maps(namespace).update(ctx, changed, metav1.UpdateOptions())
        if self._recorder is not None:
            self._recorder.event(config_map, corev1.EVENT_TYPE_NORMAL, "Shouted", f"Wrote {wanted}")
