"""Where hops happen: the functions of the machinery that a tour watches, and what each tells of them.

Each entry names a function as a reader of its file sees it; a test finds all of them. What stands around a function
gets a `Call` and the function's arguments, calls it, and tells what it did. None of it takes a lock that the machinery
may hold: `contents()` needs none.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence, Sized
from typing import Any

from clientgo.apimachinery import watch
from clientgo.apimachinery.runtime import Object
from clientgo.golang import callers
from clientgo.tools import cache
from clientgo.tools.cache.event_handler_name import name_for_handler
from clientgo.tour.seam import Around, Call, Tap
from clientgo.tour.secrecy import item_text

__all__ = ["TAPS", "key_of", "told", "version_of", "worker_tap"]

callers.mark_inserted()

_taps: list[Tap] = []


def _tap(module: str, function: str, station: str, go_file: str, go_function: str) -> Callable[[Around], Around]:
    def register(around: Around) -> Around:
        _taps.append(Tap(module, function, station, go_file, go_function, around))
        return around

    return register


def key_of(obj: Any) -> str:
    """The key of an object, a tombstone, a delta or an item of a work queue; "" if it is about no single one."""
    if isinstance(obj, cache.Delta):
        return key_of(obj.object)
    if isinstance(obj, cache.DeletedFinalStateUnknown):
        return obj.key
    if isinstance(obj, Object):
        return cache.meta_namespace_key_func(obj)
    return str(obj) if isinstance(obj, str | cache.ObjectName) else ""


def version_of(obj: Any) -> str:
    """The resourceVersion of an object, a tombstone's object, or a delta's; "" for none."""
    if isinstance(obj, cache.Delta):
        return version_of(obj.object)
    if isinstance(obj, cache.DeletedFinalStateUnknown):
        return version_of(obj.obj)
    version: str = obj.get_resource_version() if isinstance(obj, Object) else getattr(obj, "resource_version", "")
    return version


def _about(obj: Any) -> dict[str, Any]:
    """The fields that every hop of an object has."""
    return {"key": key_of(obj), "version": version_of(obj), "object": obj}


# ---- the API server

_STORE = "clientgo.testing.apiserver.store.storage"
_REGISTRY = "apiserver/pkg/registry/generic/registry/store.go"


def _write(kind: str) -> Around:
    def around(call: Call, store: Any, bucket: str, *args: Any, **kwargs: Any) -> None:
        stored = call()
        deleting = "deletionTimestamp" in stored.obj["metadata"]
        more = {"resource": bucket, "deleting": deleting}
        told = "terminating" if deleting and kind == "updated" else kind
        call.tell(told, stored.key, version=str(stored.rv), more=more, object=stored.obj)

    return around


_tap(_STORE, "Store.create", "apiserver", _REGISTRY, "(*Store).Create")(_write("created"))
_tap(_STORE, "Store.update", "apiserver", _REGISTRY, "(*Store).Update")(_write("updated"))
_tap(_STORE, "Store.delete", "apiserver", _REGISTRY, "(*Store).Delete")(_write("deleted"))


@_tap(
    "clientgo.testing.apiserver.controllers.objects",
    "Objects.delete",
    "apiserver",
    "pkg/controller/garbagecollector/garbagecollector.go",
    "(*GarbageCollector).attemptToDeleteItem",
)
def _collect(call: Call, objects: Any, bucket: str, key: str, options: Any) -> None:
    stored = objects.store.contents(bucket)[0]
    if any(each.key == key for each in stored):
        call.tell("collected", key, more={"resource": bucket})
    call()


@_tap(_STORE, "Store.compact", "apiserver", "etcd's compaction", "")
def _compact(call: Call, store: Any, version: int) -> None:
    call()
    call.tell("compacted", version=str(version))


# ---- the reflector

_REFLECTOR = "clientgo.tools.cache.reflector"
_REFLECTOR_GO = "tools/cache/reflector.go"


@_tap(_REFLECTOR, "Reflector._list_pages", "reflector", _REFLECTOR_GO, "(*Reflector).list")
def _list(call: Call, reflector: Any, ctx: Any, options: Any) -> None:
    call.tell("list", version=options.resource_version or "", more={"resourceVersion": options.resource_version or ""})
    call()


@_tap(_REFLECTOR, "Reflector._sync_with", "reflector", _REFLECTOR_GO, "(*Reflector).syncWith")
def _listed(call: Call, reflector: Any, ctx: Any, items: Sequence[Any], resource_version: str) -> None:
    call.tell("listed", version=resource_version, more={"objects": len(items)})
    call()


@_tap(_REFLECTOR, "Reflector._follow", "reflector", _REFLECTOR_GO, "(*Reflector).watch")
def _follow(call: Call, reflector: Any, *args: Any, **kwargs: Any) -> None:
    version = reflector.last_sync_resource_version()
    call.tell("watch", version=version)
    failure = call()
    error = "" if failure is None else f"{type(failure).__name__}: {failure}"
    call.tell("ended", version=reflector.last_sync_resource_version(), more={"error": error})


@_tap("clientgo.rest.watch.decoder", "Decoder.decode_line", "reflector", "rest/watch/decoder.go", "(*Decoder).Decode")
def _line(call: Call, decoder: Any, *args: Any, **kwargs: Any) -> None:
    event = call()
    if event is None or event.type == watch.EventType.BOOKMARK:
        return
    about = {} if event.type == watch.EventType.ERROR else _about(event.object)
    call.tell("line", more={"type": str(event.type)}, **about)


@_tap(_REFLECTOR, "_EventApplier._apply_bookmark", "reflector", _REFLECTOR_GO, "handleAnyWatch")
def _bookmark(call: Call, applier: Any, obj: Any, accessor: Any, resource_version: str) -> None:
    call()
    call.tell("bookmark", version=resource_version)


@_tap(
    _REFLECTOR,
    "Reflector.list_and_watch_with_context",
    "reflector",
    _REFLECTOR_GO,
    "(*Reflector).ListAndWatchWithContext",
)
def _list_and_watch(call: Call, reflector: Any, *args: Any, **kwargs: Any) -> None:
    try:
        call()
    except Exception as err:
        call.tell("failed", more={"error": f"{type(err).__name__}: {err}"})
        raise


@_tap(_REFLECTOR, "Reflector._back_off", "reflector", _REFLECTOR_GO, "(*Reflector).watch")
def _back_off(call: Call, reflector: Any, ctx: Any, err: Any) -> None:
    call.tell("backoff", more={"error": f"{type(err).__name__}: {err}"})
    call()


# ---- the FIFO

_REAL = "clientgo.tools.cache.the_real_fifo"
_REAL_GO = "tools/cache/the_real_fifo.go"
_DELTA = "clientgo.tools.cache.delta_fifo"
_DELTA_GO = "tools/cache/delta_fifo.go"
_SHARED = "clientgo.tools.cache.shared_informer"


# Of how many a hop tells that is about many.
_FEW = 50


def _more_than(few: Sized, all_: Sized) -> dict[str, int]:
    """How many there are, if a hop does not tell of each."""
    return {"count": len(all_)} if len(all_) > len(few) else {}


def _types(deltas: Sequence[Any]) -> tuple[str, ...]:
    return tuple(f"{delta.type} @{version_of(delta)}" for delta in deltas)


def _objects_in(delta: Any) -> int:
    return len(getattr(delta.object, "objects", ()))


@_tap(_REAL, "RealFIFO._append_locked", "fifo", _REAL_GO, "(*RealFIFO).addToItems_locked")
def _append(call: Call, fifo: Any, delta: Any) -> None:
    call()
    call.tell("queued", more={"type": str(delta.type), "objects": _objects_in(delta)}, **_about(delta))


@_tap(_REAL, "RealFIFO._process_locked", "fifo", _REAL_GO, "(*RealFIFO).PopBatch")
def _process(call: Call, fifo: Any, what: str, process: Any, deltas: Any, *args: Any, **kwargs: Any) -> None:
    about = _about(deltas[0]) if len(deltas) == 1 else {"key": ""}
    first = deltas[:_FEW]
    more = {"types": [str(delta.type) for delta in first], "keys": [key_of(delta) for delta in first]}
    call.tell("popped", more={**more, **_more_than(first, deltas)}, **about)
    call()


@_tap(_DELTA, "DeltaFIFO._queue_action_internal_locked", "fifo", _DELTA_GO, "(*DeltaFIFO).queueActionInternalLocked")
def _queue_action(call: Call, fifo: Any, action: Any, internal: Any, obj: Any) -> None:
    key = key_of(obj)
    before = fifo.peek(key)
    call()
    after = fifo.peek(key)
    kind = "queued" if not before else "appended" if len(after) > len(before) else "merged"
    call.tell(kind, more={"type": str(action), "objects": 0}, merged=_types(before), **_about(obj))


@_tap(_DELTA, "DeltaFIFO.pop", "fifo", _DELTA_GO, "(*DeltaFIFO).Pop")
def _pop(call: Call, fifo: Any, process: Any) -> None:
    def processed(deltas: Any, is_in_initial_list: bool) -> None:
        keys = [key_of(delta) for delta in deltas]
        more = {"types": [str(delta.type) for delta in deltas], "keys": keys}
        call.tell("popped", more=more, merged=_types(deltas[:-1]), **_about(deltas[-1]))
        process(deltas, is_in_initial_list)

    call(fifo, processed)


def _resync(call: Call, fifo: Any) -> None:
    call.tell("resync")
    call()


_tap(_REAL, "RealFIFO.resync", "fifo", _REAL_GO, "(*RealFIFO).Resync")(_resync)
_tap(_DELTA, "DeltaFIFO.resync", "fifo", _DELTA_GO, "(*DeltaFIFO).Resync")(_resync)


# ---- the indexer

_STORE_MODULE = "clientgo.tools.cache.thread_safe_store"
_STORE_GO = "tools/cache/thread_safe_store.go"


@_tap(_STORE_MODULE, "_ThreadSafeMap._update_locked", "indexer", _STORE_GO, "(*threadSafeMap).updateLocked")
def _store(call: Call, store: Any, key: str, obj: Any) -> None:
    old = store.peek(key)
    call()
    call.tell(
        "stored" if old is None else "replaced", key=key, version=version_of(obj), old=version_of(old), object=obj
    )


@_tap(_STORE_MODULE, "_ThreadSafeMap._delete_locked", "indexer", _STORE_GO, "(*threadSafeMap).deleteLocked")
def _remove(call: Call, store: Any, key: str) -> None:
    old = store.peek(key)
    call()
    if old is not None:
        call.tell("removed", key=key, old=version_of(old), object=old)


@_tap(_STORE_MODULE, "_ThreadSafeMap.replace", "indexer", _STORE_GO, "(*threadSafeMap).Replace")
def _relist(call: Call, store: Any, items: Any, resource_version: str) -> None:
    call()
    call.tell("relisted", version=resource_version, more={"objects": len(items)})


# ---- the handlers

_NOTIFICATIONS = "clientgo.tools.cache.notifications"
_SHARED_GO = "tools/cache/shared_informer.go"


def told(notification: Any) -> tuple[str, Any, Any]:
    """What a handler is called with: (method, new object, old object)."""
    new = getattr(notification, "new_obj", None)
    old = getattr(notification, "old_obj", None)
    if new is None:
        return "on_delete", old, None
    return ("on_add" if old is None else "on_update"), new, old


def _notice(notification: Any) -> dict[str, Any]:
    method, obj, old = told(notification)
    return {"method": method, "key": key_of(obj), "version": version_of(obj), "old": version_of(old)}


@_tap(_SHARED, "_ProcessorListener.add", "handlers", _SHARED_GO, "(*processorListener).add")
def _buffer(call: Call, listener: Any, notifications: Sequence[Any]) -> None:
    call()
    if notifications:
        first = _notice(notifications[0])
        few = [_notice(each) for each in notifications[:_FEW]]
        more = {"handler": listener.name(), "notifications": few, **_more_than(few, notifications)}
        key = first["key"] if len(notifications) == 1 else ""
        call.tell("buffered", key=key, version=first["version"], old=first["old"], more=more)


@_tap(_SHARED, "_ProcessorListener._take_pending", "handlers", _SHARED_GO, "(*processorListener).pop")
def _take(call: Call, listener: Any) -> None:
    taken = call()
    if taken:
        few = [_notice(each) for each in itertools.islice(taken, _FEW)]
        more = {"handler": listener.name(), "notifications": few, **_more_than(few, taken)}
        call.tell("taken", key=more["notifications"][0]["key"] if len(taken) == 1 else "", more=more)


def _deliver(call: Call, notification: Any, handler: Any) -> None:
    method, obj, old = told(notification)
    tombstone = isinstance(obj, cache.DeletedFinalStateUnknown)
    more = {"handler": name_for_handler(handler), "method": method, "tombstone": tombstone}
    about = {**_about(obj), "old": version_of(old)}
    call.tell("called", more=more, **about)
    try:
        call()
    except Exception as err:
        call.tell("raised", more={**more, "error": f"{type(err).__name__}: {err}"}, **about)
        raise
    call.tell("returned", more=more, **about)


for _name in ("AddNotification", "UpdateNotification", "DeleteNotification"):
    _tap(_NOTIFICATIONS, f"{_name}.deliver", "handlers", _SHARED_GO, "(*processorListener).run")(_deliver)


# ---- the work queue

_QUEUE = "clientgo.util.workqueue.queue"
_QUEUE_GO = "util/workqueue/queue.go"
_DELAYING = "clientgo.util.workqueue.delaying_queue"
_DELAYING_GO = "util/workqueue/delaying_queue.go"
_LIMITERS = "clientgo.util.workqueue.default_rate_limiters"
_LIMITERS_GO = "util/workqueue/default_rate_limiters.go"


@_tap(_QUEUE, "Typed.add", "queue", _QUEUE_GO, "(*Typed).Add")
def _add(call: Call, queue: Any, item: Any) -> None:
    dirty, processing = queue.whereabouts(item) if isinstance(item, Hashable) else (False, False)
    call()
    if dirty:
        call.tell("duplicate", item_text(item), merged=("dirty",))
    elif processing:
        call.tell("marked", item_text(item), merged=("processing",))
    else:
        call.tell("added", item_text(item))


@_tap(_QUEUE, "Typed.get", "queue", _QUEUE_GO, "(*Typed).Get")
def _get(call: Call, queue: Any) -> None:
    item, shutdown = call()
    if not shutdown:
        call.tell("taken", item_text(item))


@_tap(_QUEUE, "Typed.done", "queue", _QUEUE_GO, "(*Typed).Done")
def _done(call: Call, queue: Any, item: Any) -> None:
    again, _ = queue.whereabouts(item)
    call()
    call.tell("requeued" if again else "done", item_text(item))


@_tap(_DELAYING, "_DelayingType._insert", "queue", _DELAYING_GO, "(*delayingType).AddAfter")
def _insert(call: Call, queue: Any, item: Any, ready_at: float) -> None:
    before = queue.due(item)
    call()
    now = queue.due(item)
    if now is not None:
        kind = "sooner" if before is not None and before[0] == now[0] else "waits"
        call.tell(kind, item_text(item), more={"delay": round(now[1], 6)})


@_tap(_DELAYING, "_DelayingType._pop_ready", "queue", _DELAYING_GO, "(*delayingType).waitingLoop")
def _pop_ready(call: Call, queue: Any, now: float) -> None:
    ready = call()
    for item in ready:
        call.tell("due", item_text(item))


def _when(call: Call, limiter: Any, item: Any) -> None:
    delay = call()
    call.tell("failure", item_text(item), more={"delay": delay, "failures": limiter.num_requeues(item)})


def _forget(call: Call, limiter: Any, item: Any) -> None:
    failures = limiter.num_requeues(item)
    call()
    if failures:
        call.tell("forgotten", item_text(item), more={"failures": failures})


for _name in ("ItemExponentialFailureRateLimiter", "ItemFastSlowRateLimiter"):
    _tap(_LIMITERS, f"Typed{_name}.when", "queue", _LIMITERS_GO, f"(*Typed{_name}).When")(_when)
    _tap(_LIMITERS, f"Typed{_name}.forget", "queue", _LIMITERS_GO, f"(*Typed{_name}).Forget")(_forget)


# ---- the priority queue, which may stand in the work queue's place

_PRIORITY = "clientgo.util.workqueue.priority_queue"
_PRIORITY_GO = "controller-runtime: pkg/controller/priorityqueue/priorityqueue.go"


@_tap(_PRIORITY, "PriorityQueue._add", "queue", _PRIORITY_GO, "(*priorityqueue).lockedAddWithOpts")
def _add_with_priority(call: Call, queue: Any, item: Any, due_at: float, priority: int | None) -> None:
    (dirty, processing), due, before = queue.whereabouts(item), queue.due(item), queue.priority_of(item)
    call()
    told = {"priority": queue.priority_of(item)}
    now = queue.due(item)
    if now is not None:
        kind = "sooner" if due is not None and due[0] == now[0] else "waits"
        call.tell(kind, item_text(item), more={"delay": round(now[1], 6), **told})
    elif dirty:
        higher = not processing and told["priority"] > before
        call.tell("raised" if higher else "duplicate", item_text(item), merged=("dirty",), more=told)
    elif processing:
        call.tell("marked", item_text(item), merged=("processing",), more=told)
    elif queue.whereabouts(item) != (False, False):
        call.tell("added", item_text(item), more=told)


@_tap(_PRIORITY, "PriorityQueue.get_with_priority", "queue", _PRIORITY_GO, "(*priorityqueue).GetWithPriority")
def _get_with_priority(call: Call, queue: Any) -> None:
    item, priority, shutdown = call()
    if not shutdown:
        call.tell("taken", item_text(item), more={"priority": priority})


_tap(_PRIORITY, "PriorityQueue.done", "queue", _PRIORITY_GO, "(*priorityqueue).Done")(_done)


@_tap(_PRIORITY, "PriorityQueue._make_due_until", "queue", _PRIORITY_GO, "(*priorityqueue).handleReadyItems")
def _make_due(call: Call, queue: Any, time: float) -> None:
    due = queue.due_until(time)
    call()
    for item in due:
        call.tell("due", item_text(item))


# ---- events

_EVENT = "clientgo.tools.record.event"
_EVENT_GO = "tools/record/event.go"


@_tap(_EVENT, "_RecorderImpl.generate_event", "events", _EVENT_GO, "(*recorderImpl).generateEvent")
def _record(
    call: Call, recorder: Any, logger: Any, obj: Any, annotations: Any, eventtype: str, reason: str, message: str
) -> None:
    call.tell("recorded", more={"type": eventtype, "reason": reason, "message": message}, **_about(obj))
    call()


def _about_event(event: Any) -> dict[str, Any]:
    regarding = event.involved_object
    more = {"reason": event.reason, "message": event.message, "count": event.count}
    return {"key": "/".join(part for part in (regarding.namespace, regarding.name) if part), "more": more}


@_tap(
    "clientgo.tools.record.events_cache",
    "EventCorrelator.event_correlate",
    "events",
    "tools/record/events_cache.go",
    "(*EventCorrelator).EventCorrelate",
)
def _correlate(call: Call, correlator: Any, event: Any) -> None:
    result = call()
    if result.skip:
        call.tell("dropped", **_about_event(event))
        return
    kind = "counted" if result.event.count > 1 else "new" if result.event.message == event.message else "combined"
    call.tell(kind, **_about_event(result.event))


@_tap(_EVENT, "EventBroadcasterImpl._write", "events", _EVENT_GO, "recordEvent")
def _write_event(call: Call, broadcaster: Any, sink: Any, event: Any, patch: bytes) -> None:
    try:
        written = call()
    except Exception as err:
        about = _about_event(event)
        call.tell("failed", key=about["key"], more={**about["more"], "error": f"{type(err).__name__}: {err}"})
        raise
    call.tell("written", version=written.get_resource_version(), **_about_event(written))


# ---- leader election

_ELECTION = "clientgo.tools.leaderelection.leaderelection"
_ELECTION_GO = "tools/leaderelection/leaderelection.go"


@_tap(_ELECTION, "LeaderElector._try", "election", _ELECTION_GO, "(*LeaderElector).tryAcquireOrRenew")
def _try(call: Call, elector: Any, ctx: Any) -> None:
    held = elector.holds_lease()
    succeeded = call()
    leader = elector.get_leader()
    if succeeded:
        kind = "renewed" if held else "acquired"
    else:
        kind = "held" if leader not in ("", elector.identity()) else "failed"
    left = round(elector.statistics().lease_left, 3)
    call.tell(kind, elector.identity(), more={"leader": leader, "lease_left": left})


@_tap(_ELECTION, "LeaderElector._run_started", "election", _ELECTION_GO, "(*LeaderElector).Run")
def _lead(call: Call, elector: Any, *args: Any) -> None:
    call.tell("leading", elector.identity(), more={"leader": elector.get_leader()})
    call()
    call.tell("stopped", elector.identity(), more={"leader": elector.get_leader()})


# ---- the workers, which are the program's


def worker_tap(module: str, function: str, go_file: str = "controller.go", go_function: str = "syncHandler") -> Tap:
    """The tap of a controller's own function that brings one key in order: `module:Class.method`, called with a key."""

    def around(call: Call, controller: Any, *args: Any, **kwargs: Any) -> None:
        key = next((key for key in map(key_of, (*args, *kwargs.values())) if key), "")
        call.tell("reconcile", key)
        try:
            call()
        except Exception as err:
            call.tell("error", key, more={"error": f"{type(err).__name__}: {err}"})
            raise
        call.tell("ok", key)

    return Tap(module, function, "workers", go_file, go_function, around)


TAPS = tuple(_taps)
"""All but the workers'."""
