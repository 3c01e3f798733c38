"""A watch that an informer feeds. Mirrors client-go/tools/watch/informerwatcher.go."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from clientgo import klog
from clientgo.apimachinery.util import wait
from clientgo.apimachinery.watch import Event, EventType, Interface, ProxyWatcher
from clientgo.golang.channel import Channel, Done, Send, Signal, select
from clientgo.tools import cache

__all__ = ["new_indexer_informer_watcher", "new_indexer_informer_watcher_with_logger"]


class _EventProcessor:
    """An unbounded buffer of events in front of a channel.

    One thread calls `run`; the other methods are thread-safe and do not block.

    Invariant: events are sent in the order in which they were pushed, and none after `stop`.
    """

    def __init__(self, out: Channel[Event]) -> None:
        self._out = out
        # Guards _buff; notified when it has events, and at the end.
        self._cond = threading.Condition()
        self._buff: list[Event] = []
        self._done = Signal()

    def run(self) -> None:
        """Send events until stopped. Blocks."""
        while not self._done.is_set():
            self._write_batch(self._take_batch())

    def _take_batch(self) -> Sequence[Event]:
        with self._cond:
            while not self._buff and not self._done.is_set():
                self._cond.wait()
            batch, self._buff = self._buff, []
            return batch

    def _write_batch(self, events: Sequence[Event]) -> None:
        for event in events:
            if select([self._done, Send(self._out, event)]).case == 0:
                return

    def push(self, event: Event) -> None:
        with self._cond:
            self._buff.append(event)
            self._cond.notify()

    def stop(self) -> None:
        self._done.set()
        with self._cond:
            self._cond.notify_all()

    def __repr__(self) -> str:
        return f"<_EventProcessor {len(self._buff)} waiting, {'stopped' if self._done.is_set() else 'open'}>"


def new_indexer_informer_watcher(
    lw: cache.ListerWatcher, obj_type: object
) -> tuple[cache.Indexer, cache.Controller, Interface, Done]:
    """Return an informer that emits watch events, with the background logger. Go: watch.NewIndexerInformerWatcher."""
    return new_indexer_informer_watcher_with_logger(klog.background(), lw, obj_type)


def new_indexer_informer_watcher_with_logger(
    logger: klog.Logger, lw: cache.ListerWatcher, obj_type: object
) -> tuple[cache.Indexer, cache.Controller, Interface, Done]:
    """Start an informer; return its store, the informer, a watch of its notifications, and the channel of its end.

    Stopping the watch stops the informer. As in Go, the result channel is never closed. The event for a missed deletion
    contains the last known object, whose deletionTimestamp may be unset. Go: watch.NewIndexerInformerWatcherWithLogger.
    """
    events: Channel[Event] = Channel()
    watcher = ProxyWatcher(events)
    processor = _EventProcessor(events)

    def deleted(obj: Any) -> None:
        if isinstance(obj, cache.DeletedFinalStateUnknown):
            obj = obj.obj
        processor.push(Event(EventType.DELETED, obj))

    handler = cache.ResourceEventHandlerFuncs(
        add_func=lambda obj: processor.push(Event(EventType.ADDED, obj)),
        update_func=lambda _old, new: processor.push(Event(EventType.MODIFIED, new)),
        delete_func=deleted,
    )
    indexer, informer = cache.new_indexer_informer(lw, obj_type, 0.0, handler, {})
    ended = Signal()

    def run() -> None:
        sender = threading.Thread(target=processor.run, name="informer-watcher-events", daemon=True)
        sender.start()
        try:
            ctx = wait.context_for_channel(watcher.stop_chan())
            informer.run_with_context(klog.new_context(ctx, logger))
        finally:
            processor.stop()
            sender.join()
            ended.set()

    threading.Thread(target=run, name="informer-watcher", daemon=True).start()
    return indexer, informer, watcher, ended
