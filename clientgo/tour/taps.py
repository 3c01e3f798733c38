"""The code that stands around the hops of the machinery while a tour is attached, and reports what each one did.

Each tap names a hop of the table in [hops.py](../hops.py), which finds the function. The code around a function gets a
`Call` and the function's arguments, calls it, and tells what it did. None of it takes a lock that the machinery may
hold: `contents()` needs none.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

# Importing a module puts its hops into the table.
import clientgo.rest.request
import clientgo.testing.apiserver.controllers.objects
import clientgo.tools.leaderelection
import clientgo.tools.record
import clientgo.util.workqueue.beyond.dropping_priority_queue  # noqa: F401
from clientgo.apimachinery import watch
from clientgo.apimachinery.runtime import Object
from clientgo.golang import callers
from clientgo.tools import cache
from clientgo.tools.cache.event_handler_name import name_for_handler
from clientgo.tour.seam import Around, Call, Tap
from clientgo.tour.secrecy import item_text

__all__ = ["FEW", "TAPS", "arguments_of", "key_of", "queued_at", "version_of", "worker_tap"]

callers.mark_inserted()

_taps: list[Tap] = []


def _tap(name: str) -> Callable[[Around], Around]:
    def register(around: Around) -> Around:
        _taps.append(Tap.at(name, around))
        return around

    return register


def key_of(obj: Any) -> str:
    """Return the key of an object, a tombstone, a delta or an item of a work queue; "" if it has no single key."""
    if isinstance(obj, cache.Delta):
        return key_of(obj.object)
    if isinstance(obj, cache.DeletedFinalStateUnknown):
        return obj.key
    if isinstance(obj, Object):
        return cache.meta_namespace_key_func(obj)
    return str(obj) if isinstance(obj, str | cache.ObjectName) else ""


def version_of(obj: Any) -> str:
    """Return the resourceVersion of an object, a tombstone's object, or a delta's; "" for none."""
    if isinstance(obj, cache.Delta):
        return version_of(obj.object)
    if isinstance(obj, cache.DeletedFinalStateUnknown):
        return version_of(obj.obj)
    version: str = obj.get_resource_version() if isinstance(obj, Object) else getattr(obj, "resource_version", "")
    return version


def _about(obj: Any) -> dict[str, Any]:
    """Return the fields that every hop of an object has."""
    return {"key": key_of(obj), "version": version_of(obj), "object": obj}


# ---- the API server


def _write(kind: str) -> Around:
    def around(call: Call, store: Any, bucket: str, *args: Any, **kwargs: Any) -> None:
        stored = call()
        deleting = "deletionTimestamp" in stored.obj["metadata"]
        more = {"resource": bucket, "deleting": deleting}
        change = "terminating" if deleting and kind == "updated" else kind
        call.emit(change, stored.key, version=str(stored.rv), more=more, object=stored.obj)

    return around


_tap("apiserver.create")(_write("created"))
_tap("apiserver.update")(_write("updated"))
_tap("apiserver.delete")(_write("deleted"))


@_tap("apiserver.collect")
def _collect(call: Call, objects: Any, bucket: str, key: str, options: Any) -> None:
    stored = objects.store.contents(bucket)[0]
    if any(each.key == key for each in stored):
        call.emit("collected", key, more={"resource": bucket})
    call()


@_tap("apiserver.compact")
def _compact(call: Call, store: Any, version: int) -> None:
    call()
    call.emit("compacted", version=str(version))


# ---- the reflector


@_tap("reflector.list_pages")
def _list(call: Call, reflector: Any, ctx: Any, options: Any) -> None:
    call.emit("list", version=options.resource_version or "", more={"resourceVersion": options.resource_version or ""})
    call()


@_tap("reflector.sync_with")
def _listed(call: Call, reflector: Any, ctx: Any, items: Sequence[Any], resource_version: str) -> None:
    call.emit("listed", version=resource_version, more={"objects": len(items)})
    call()


@_tap("reflector.handle_watch")
def _handle_watch(call: Call, reflector: Any, ctx: Any, *args: Any, **kwargs: Any) -> None:
    call.emit("watch", version=reflector.last_sync_resource_version())
    error = ""
    try:
        call()
    except Exception as err:
        # The end of a program is no error of its watch.
        error = "" if ctx.err() is not None else f"{type(err).__name__}: {err}"
        raise
    finally:
        call.emit("ended", version=reflector.last_sync_resource_version(), more={"error": error})


@_tap("reflector.decode")
def _line(call: Call, decoder: Any, *args: Any, **kwargs: Any) -> None:
    event = call()
    if event is None or event.type == watch.EventType.BOOKMARK:
        return
    about = {} if event.type == watch.EventType.ERROR else _about(event.object)
    call.emit("line", more={"type": str(event.type)}, **about)


@_tap("reflector.bookmark")
def _bookmark(call: Call, reflector: Any, ctx: Any, store: Any, obj: Any, resource_version: str) -> None:
    call()
    call.emit("bookmark", version=resource_version)


@_tap("reflector.list_and_watch")
def _list_and_watch(call: Call, reflector: Any, *args: Any, **kwargs: Any) -> None:
    try:
        call()
    except Exception as err:
        call.emit("failed", more={"error": f"{type(err).__name__}: {err}"})
        raise


@_tap("reflector.back_off")
def _back_off(call: Call, reflector: Any, ctx: Any, err: Any) -> None:
    call.emit("backoff", more={"error": f"{type(err).__name__}: {err}"})
    call()


# ---- the FIFO


FEW = 50
"""Number of notifications that a hop describes; of the others it names key, version and time."""


def _types(deltas: Sequence[Any]) -> tuple[str, ...]:
    return tuple(f"{delta.type} @{version_of(delta)}" for delta in deltas)


def _objects_in(delta: Any) -> int:
    return len(getattr(delta.object, "objects", ()))


@_tap("fifo.append")
def _append(call: Call, fifo: Any, delta: Any) -> None:
    call()
    call.emit("queued", more={"type": str(delta.type), "objects": _objects_in(delta)}, **_about(delta))


@_tap("fifo.process")
def _process(call: Call, fifo: Any, trace_name: str, process: Any, deltas: Any, *args: Any, **kwargs: Any) -> None:
    about = _about(deltas[0]) if len(deltas) == 1 else {"key": ""}
    # Every type is named: one may say that the hop is about all objects.
    types = [str(delta.type) for delta in deltas[:FEW]]
    types += dict.fromkeys(str(delta.type) for delta in deltas[FEW:])
    more: dict[str, Any] = {"types": types, "keys": [key_of(delta) for delta in deltas]}
    if len(deltas) > FEW:
        more["count"] = len(deltas)
    call.emit("popped", more=more, **about)
    call()


@_tap("fifo.queue_delta")
def _queue_action(call: Call, fifo: Any, action: Any, internal: Any, obj: Any) -> None:
    key = key_of(obj)
    before = fifo.peek(key)
    call()
    after = fifo.peek(key)
    kind = "queued" if not before else "appended" if len(after) > len(before) else "merged"
    call.emit(kind, more={"type": str(action), "objects": 0}, merged=_types(before), **_about(obj))


@_tap("fifo.pop")
def _pop(call: Call, fifo: Any, process: Any) -> None:
    def processed(deltas: Any, is_in_initial_list: bool) -> None:
        keys = [key_of(delta) for delta in deltas]
        more = {"types": [str(delta.type) for delta in deltas], "keys": keys}
        call.emit("popped", more=more, merged=_types(deltas[:-1]), **_about(deltas[-1]))
        process(deltas, is_in_initial_list)

    call(fifo, processed)


def _resync(call: Call, fifo: Any) -> None:
    call.emit("resync")
    call()


_tap("fifo.resync")(_resync)
_tap("fifo.resync_deltas")(_resync)


# ---- the indexer


@_tap("indexer.update")
def _store(call: Call, store: Any, key: str, obj: Any) -> None:
    old = store.peek(key)
    call()
    call.emit(
        "stored" if old is None else "replaced", key=key, version=version_of(obj), old=version_of(old), object=obj
    )


@_tap("indexer.delete")
def _remove(call: Call, store: Any, key: str) -> None:
    old = store.peek(key)
    call()
    if old is not None:
        call.emit("removed", key=key, old=version_of(old), object=old)


@_tap("indexer.replace")
def _relist(call: Call, store: Any, items: Any, resource_version: str) -> None:
    call()
    call.emit("relisted", version=resource_version, more={"objects": len(items)})


# ---- the handlers


def arguments_of(notification: Any) -> tuple[str, Any, Any]:
    """Return the arguments of a handler's call: (method, new object, old object)."""
    new = getattr(notification, "new_obj", None)
    old = getattr(notification, "old_obj", None)
    if new is None:
        return "on_delete", old, None
    return ("on_add" if old is None else "on_update"), new, old


def _notice(notification: Any) -> dict[str, Any]:
    method, obj, old = arguments_of(notification)
    about = {"method": method, "key": key_of(obj), "version": version_of(obj), "old": version_of(old)}
    return {**about, "queued": queued_at(notification)}


def queued_at(notification: Any) -> float:
    """Return the time at which a notification was queued. It distinguishes notifications of one state of an object."""
    return getattr(notification, "queued_at", 0.0)


def _notices(notifications: Collection[Any]) -> dict[str, Any]:
    """Return the fields that name each of many notifications: the first few in `notifications`, see _notice."""
    described = {"notifications": [_notice(each) for each in itertools.islice(notifications, FEW)]}
    if len(notifications) <= FEW:
        return described
    # A resync of a large cache: lists cost a tenth of a dictionary for each notification.
    others = [*itertools.islice(notifications, FEW, None)]
    objects = [arguments_of(each)[1] for each in others]
    names = {
        "keys": [key_of(each) for each in objects],
        "versions": [version_of(each) for each in objects],
        "queued": [queued_at(each) for each in others],
    }
    return {**described, "others": names, "count": len(notifications)}


@_tap("handlers.buffer")
def _buffer(call: Call, listener: Any, notifications: Sequence[Any]) -> None:
    call()
    if notifications:
        first = _notice(notifications[0])
        more = {"handler": listener.name(), **_notices(notifications)}
        key = first["key"] if len(notifications) == 1 else ""
        call.emit("buffered", key=key, version=first["version"], old=first["old"], more=more)


@_tap("handlers.take")
def _take(call: Call, listener: Any) -> None:
    taken = call()
    if taken:
        more = {"handler": listener.name(), **_notices(taken)}
        call.emit("taken", key=more["notifications"][0]["key"] if len(taken) == 1 else "", more=more)


def _deliver(call: Call, notification: Any, handler: Any) -> None:
    method, obj, old = arguments_of(notification)
    tombstone = isinstance(obj, cache.DeletedFinalStateUnknown)
    more = {
        "handler": name_for_handler(handler),
        "method": method,
        "tombstone": tombstone,
        "queued": queued_at(notification),
    }
    about = {**_about(obj), "old": version_of(old)}
    call.emit("called", more=more, **about)
    try:
        call()
    except Exception as err:
        call.emit("raised", more={**more, "error": f"{type(err).__name__}: {err}"}, **about)
        raise
    call.emit("returned", more=more, **about)


_tap("handlers.add")(_deliver)
_tap("handlers.update")(_deliver)
_tap("handlers.delete")(_deliver)


# ---- the work queue


@_tap("queue.add")
def _add(call: Call, queue: Any, item: Any) -> None:
    dirty, processing = queue.state_of(item) if isinstance(item, Hashable) else (False, False)
    call()
    if dirty:
        call.emit("duplicate", item_text(item), merged=("dirty",))
    elif processing:
        call.emit("marked", item_text(item), merged=("processing",))
    else:
        call.emit("added", item_text(item))


@_tap("queue.get")
def _get(call: Call, queue: Any) -> None:
    item, shutdown = call()
    if not shutdown:
        call.emit("taken", item_text(item))


@_tap("queue.done")
def _done(call: Call, queue: Any, item: Any) -> None:
    again, _ = queue.state_of(item)
    call()
    call.emit("requeued" if again else "done", item_text(item))


@_tap("queue.insert")
def _insert(call: Call, queue: Any, item: Any, ready_at: float) -> None:
    before = queue.due(item)
    call()
    now = queue.due(item)
    if now is not None:
        kind = "sooner" if before is not None and before[0] == now[0] else "waits"
        call.emit(kind, item_text(item), more={"delay": round(now[1], 6)})


@_tap("queue.pop_ready")
def _pop_ready(call: Call, queue: Any, now: float) -> None:
    ready = call()
    for item in ready:
        call.emit("due", item_text(item))


def _when(call: Call, limiter: Any, item: Any) -> None:
    delay = call()
    call.emit("failure", item_text(item), more={"delay": delay, "failures": limiter.num_requeues(item)})


def _forget(call: Call, limiter: Any, item: Any) -> None:
    failures = limiter.num_requeues(item)
    call()
    if failures:
        call.emit("forgotten", item_text(item), more={"failures": failures})


_tap("queue.when_exponential")(_when)
_tap("queue.when_fast_slow")(_when)
_tap("queue.forget_exponential")(_forget)
_tap("queue.forget_fast_slow")(_forget)


# ---- the priority queue, which may replace the work queue


@_tap("queue.add_with_priority")
def _add_with_priority(call: Call, queue: Any, item: Any, due_at: float, priority: int | None) -> None:
    (dirty, processing), due, before = queue.state_of(item), queue.due(item), queue.priority_of(item)
    call()
    fields = {"priority": queue.priority_of(item)}
    now = queue.due(item)
    if now is not None:
        kind = "sooner" if due is not None and due[0] == now[0] else "waits"
        call.emit(kind, item_text(item), more={"delay": round(now[1], 6), **fields})
    elif dirty:
        higher = not processing and fields["priority"] > before
        call.emit("raised" if higher else "duplicate", item_text(item), merged=("dirty",), more=fields)
    elif processing:
        call.emit("marked", item_text(item), merged=("processing",), more=fields)
    elif queue.state_of(item) != (False, False):
        call.emit("added", item_text(item), more=fields)


@_tap("queue.get_with_priority")
def _get_with_priority(call: Call, queue: Any) -> None:
    item, priority, shutdown = call()
    if not shutdown:
        call.emit("taken", item_text(item), more={"priority": priority})


_tap("queue.done_with_priority")(_done)


@_tap("queue.make_due")
def _make_due(call: Call, queue: Any, time: float) -> None:
    due = queue.due_until(time)
    call()
    for item in due:
        call.emit("due", item_text(item))


# ---- events


@_tap("events.generate")
def _record(
    call: Call, recorder: Any, logger: Any, obj: Any, annotations: Any, eventtype: str, reason: str, message: str
) -> None:
    call.emit("recorded", more={"type": eventtype, "reason": reason, "message": message}, **_about(obj))
    call()


def _about_event(event: Any) -> dict[str, Any]:
    regarding = event.involved_object
    more = {"reason": event.reason, "message": event.message, "count": event.count}
    return {"key": "/".join(part for part in (regarding.namespace, regarding.name) if part), "more": more}


@_tap("events.correlate")
def _correlate(call: Call, correlator: Any, event: Any) -> None:
    result = call()
    if result.skip:
        call.emit("dropped", **_about_event(event))
        return
    kind = "counted" if result.event.count > 1 else "new" if result.event.message == event.message else "combined"
    call.emit(kind, **_about_event(result.event))


@_tap("events.write")
def _write_event(call: Call, broadcaster: Any, sink: Any, event: Any, patch: bytes) -> None:
    try:
        written = call()
    except Exception as err:
        about = _about_event(event)
        call.emit("failed", key=about["key"], more={**about["more"], "error": f"{type(err).__name__}: {err}"})
        raise
    call.emit("written", version=written.get_resource_version(), **_about_event(written))


# ---- leader election


@_tap("election.try")
def _try(call: Call, elector: Any, ctx: Any) -> None:
    held = elector.holds_lease()
    succeeded = call()
    leader = elector.get_leader()
    if succeeded:
        kind = "renewed" if held else "acquired"
    else:
        kind = "held" if leader not in ("", elector.identity()) else "failed"
    left = round(elector.statistics().lease_left, 3)
    call.emit(kind, elector.identity(), more={"leader": leader, "lease_left": left})


@_tap("election.lead")
def _lead(call: Call, elector: Any, *args: Any) -> None:
    call.emit("leading", elector.identity(), more={"leader": elector.get_leader()})
    call()
    call.emit("stopped", elector.identity(), more={"leader": elector.get_leader()})


# ---- the workers, which are the program's


def worker_tap(module: str, function: str, go_file: str = "controller.go", go_function: str = "syncHandler") -> Tap:
    """Return the tap of a controller's function that reconciles a key: `module:Class.method`, called with a key."""

    def around(call: Call, controller: Any, *args: Any, **kwargs: Any) -> None:
        key = next((key for key in map(key_of, (*args, *kwargs.values())) if key), "")
        call.emit("reconcile", key)
        try:
            call()
        except Exception as err:
            call.emit("error", key, more={"error": f"{type(err).__name__}: {err}"})
            raise
        call.emit("ok", key)

    return Tap(module, function, "workers", go_file, go_function, around)


TAPS = tuple(_taps)
"""All but the workers'."""
