"""The code around each watched function: the hop that it emits, before or after the call, with all of its fields."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang import callers
from clientgo.tools import cache
from clientgo.tour import taps

AROUND = {tap.hop: tap.around for tap in taps.TAPS}
CALLED = ("called the function",)


class Call:
    """A recorder of the call and of the hops, in their order."""

    def __init__(self, result: Any = None, error: Exception | None = None, changes: Any = None) -> None:
        self.log: list[Any] = []
        self.arguments: tuple[Any, ...] = ()
        self._result, self._error, self._changes = result, error, changes

    def __call__(self, *instead: Any) -> Any:
        self.log.append(CALLED)
        self.arguments = instead
        if self._changes is not None:
            self._changes()
        if self._error is not None:
            raise self._error
        return self._result

    def emit(self, kind: str, key: str = "", **about: Any) -> None:
        self.log.append((kind, key, about))


def log_of(hop: str, *args: Any, **about: Any) -> list[Any]:
    """Return what the code around a function did with these arguments; `about`: the function's own behaviour."""
    call = Call(**about)
    AROUND[hop](call, *args)
    return call.log


def config_map(name: str, version: str) -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default", resource_version=version))


APPLE = config_map("apple", "7")
OLDER = config_map("apple", "5")
TOMBSTONE = cache.DeletedFinalStateUnknown("default/apple", APPLE)
ABOUT_APPLE = {"version": "7", "object": APPLE}


@pytest.mark.parametrize(
    ("given", "key", "version"),
    [
        (APPLE, "default/apple", "7"),
        (TOMBSTONE, "default/apple", "7"),
        (cache.Delta(cache.DeltaType.DELETED, TOMBSTONE), "default/apple", "7"),
        (cache.DeletedFinalStateUnknown("default/lost", None), "default/lost", ""),
        (SimpleNamespace(resource_version="9"), "", "9"),
        ("a/b", "a/b", ""),
        (cache.ObjectName("a", "b"), "a/b", ""),
        (3, "", ""),
    ],
)
def test_the_key_and_the_version_of_every_kind_of_value(given: Any, key: str, version: str) -> None:
    assert (taps.key_of(given), taps.version_of(given)) == (key, version)


# ---- the API server and the reflector


@pytest.mark.parametrize(
    ("hop", "deleting", "kind"),
    [
        ("create", False, "created"),
        ("create", True, "created"),
        ("update", False, "updated"),
        ("update", True, "terminating"),
        ("delete", False, "deleted"),
        ("delete", True, "deleted"),
    ],
)
def test_a_write_is_described_by_what_was_stored(hop: str, deleting: bool, kind: str) -> None:
    obj = {"metadata": {"deletionTimestamp": "now"} if deleting else {}}
    stored = SimpleNamespace(key="default/apple", rv=12, obj=obj)
    more = {"resource": "configmaps", "deleting": deleting}
    hops = log_of(f"apiserver.{hop}", object(), "configmaps", result=stored)
    assert hops == [CALLED, (kind, "default/apple", {"version": "12", "more": more, "object": obj})]


@pytest.mark.parametrize(("key", "is_there"), [("default/apple", True), ("default/bread", False)])
def test_only_an_object_that_is_there_is_collected(key: str, is_there: bool) -> None:
    store = SimpleNamespace(contents=lambda bucket: ([SimpleNamespace(key="default/apple")], [], 0))
    hops = log_of("apiserver.collect", SimpleNamespace(store=store), "pods", key, None)
    assert hops == [*([("collected", key, {"more": {"resource": "pods"}})] if is_there else []), CALLED]


def test_requests_and_answers_of_a_reflector_are_told_before_or_after_the_call() -> None:
    about = {"resourceVersion": "3"}
    options = SimpleNamespace(resource_version="3")
    assert log_of("apiserver.compact", None, 4) == [CALLED, ("compacted", "", {"version": "4"})]
    assert log_of("reflector.list_pages", None, None, options) == [
        ("list", "", {"version": "3", "more": about}),
        CALLED,
    ]
    options.resource_version = None
    first = {"version": "", "more": {"resourceVersion": ""}}
    assert log_of("reflector.list_pages", None, None, options) == [("list", "", first), CALLED]
    listed = {"version": "8", "more": {"objects": 2}}
    assert log_of("reflector.sync_with", None, None, [APPLE, OLDER], "8") == [("listed", "", listed), CALLED]
    assert log_of("reflector.bookmark", None, None, None, None, "9") == [CALLED, ("bookmark", "", {"version": "9"})]
    error = {"more": {"error": "OSError: gone"}}
    assert log_of("reflector.back_off", None, None, OSError("gone")) == [("backoff", "", error), CALLED]


@pytest.mark.parametrize(
    ("event", "hops"),
    [
        (None, []),
        (watch.Event(watch.EventType.BOOKMARK, APPLE), []),
        (
            watch.Event(watch.EventType.ERROR, metav1.Status(message="gone")),
            [("line", "", {"more": {"type": "ERROR"}})],
        ),
        (
            watch.Event(watch.EventType.MODIFIED, APPLE),
            [("line", "default/apple", {"more": {"type": "MODIFIED"}, **ABOUT_APPLE})],
        ),
    ],
)
def test_a_line_of_a_watch_is_a_hop_unless_it_is_a_bookmark(event: Any, hops: list[Any]) -> None:
    assert log_of("reflector.decode", None, result=event) == [CALLED, *hops]


@pytest.mark.parametrize(("is_over", "shown"), [(False, "OSError: gone"), (True, "")])
def test_a_watch_ends_with_its_error_but_for_the_end_of_the_program(is_over: bool, shown: str) -> None:
    reflector = SimpleNamespace(last_sync_resource_version=lambda: "6")
    ctx = SimpleNamespace(err=lambda: OSError("done") if is_over else None)
    begin, good = ("watch", "", {"version": "6"}), ("ended", "", {"version": "6", "more": {"error": ""}})
    assert log_of("reflector.handle_watch", reflector, ctx) == [begin, CALLED, good]
    call = Call(error=OSError("gone"))
    with pytest.raises(OSError, match="gone"):
        AROUND["reflector.handle_watch"](call, reflector, ctx)
    assert call.log == [begin, CALLED, ("ended", "", {"version": "6", "more": {"error": shown}})]


# ---- the FIFO and the indexer


def delta(kind: cache.DeltaType, obj: Any = APPLE) -> cache.Delta:
    return cache.Delta(kind, obj)


ADDED, SYNC = delta(cache.DeltaType.ADDED, OLDER), delta(cache.DeltaType.SYNC)
ALL = cache.Delta(cache.DeltaType.REPLACED_ALL, SimpleNamespace(objects=[APPLE, OLDER], resource_version="9"))


@pytest.mark.parametrize(("queued", "key", "version", "objects"), [(SYNC, "default/apple", "7", 0), (ALL, "", "9", 2)])
def test_an_appended_delta_names_the_number_of_its_objects(queued: Any, key: str, version: str, objects: int) -> None:
    more = {"type": str(queued.type), "objects": objects}
    hop = ("queued", key, {"more": more, "version": version, "object": queued})
    assert log_of("fifo.append", None, queued) == [CALLED, hop]


@pytest.mark.parametrize(("others", "count"), [(0, None), (1, None), (49, None), (50, 51), (70, 71)])
def test_a_popped_batch_names_every_key_and_type(others: int, count: int | None) -> None:
    deltas = [ADDED, *[SYNC] * others]
    ((kind, key, about), called) = log_of("fifo.process", None, "", None, deltas)
    assert (kind, called) == ("popped", CALLED)
    more = about["more"]
    assert more["keys"] == ["default/apple"] * (others + 1) and more.get("count") == count
    # Of those behind the first FEW each type is named once.
    assert more["types"] == ["Added", *["Sync"] * min(others, taps.FEW if count else taps.FEW - 1)]
    assert (key, about.get("version"), about.get("object")) == (
        ("", None, None) if others else ("default/apple", "5", ADDED)
    )


@pytest.mark.parametrize(
    ("before", "after", "kind", "merged"),
    [
        ((), (SYNC,), "queued", ()),
        ((ADDED,), (ADDED, SYNC), "appended", ("Added @5",)),
        ((ADDED, SYNC), (ADDED, SYNC), "merged", ("Added @5", "Sync @7")),
    ],
)
def test_a_delta_of_a_known_key_is_appended_or_merged(before: Any, after: Any, kind: str, merged: Any) -> None:
    held = [before]
    fifo = SimpleNamespace(peek=lambda key: held[0] if key == "default/apple" else None)
    hops = log_of("fifo.queue_delta", fifo, "Sync", "Sync", APPLE, changes=lambda: held.__setitem__(0, after))
    more = {"type": "Sync", "objects": 0}
    assert hops == [CALLED, (kind, "default/apple", {"more": more, "merged": merged, **ABOUT_APPLE})]


def test_a_pop_is_a_hop_before_the_deltas_are_processed() -> None:
    call, fifo = Call(), object()
    AROUND["fifo.pop"](call, fifo, lambda deltas, is_initial: call.log.append((deltas, is_initial)))
    (same, processed) = call.arguments
    processed([ADDED, SYNC], True)
    more = {"types": ["Added", "Sync"], "keys": ["default/apple"] * 2}
    about = {"more": more, "merged": ("Added @5",), "version": "7", "object": SYNC}
    assert same is fifo
    assert call.log == [CALLED, ("popped", "default/apple", about), ([ADDED, SYNC], True)]
    for name in ("fifo.resync", "fifo.resync_deltas"):
        assert log_of(name, fifo) == [("resync", "", {}), CALLED]


def test_the_indexer_names_the_state_before() -> None:
    held: dict[str, Any] = {}
    store = SimpleNamespace(peek=held.get)
    stored = log_of("indexer.update", store, "default/apple", APPLE, changes=lambda: held.update({"default/apple": 0}))
    assert stored == [CALLED, ("stored", "default/apple", {"version": "7", "old": "", "object": APPLE})]
    assert log_of("indexer.delete", store, "default/none") == [CALLED]
    held["default/apple"] = OLDER
    replaced = ("replaced", "default/apple", {"version": "7", "old": "5", "object": APPLE})
    assert log_of("indexer.update", store, "default/apple", APPLE) == [CALLED, replaced]
    removed = ("removed", "default/apple", {"old": "5", "object": OLDER})
    assert log_of("indexer.delete", store, "default/apple", changes=held.clear) == [CALLED, removed]
    relisted = ("relisted", "", {"version": "9", "more": {"objects": 2}})
    assert log_of("indexer.replace", store, [APPLE, OLDER], "9") == [CALLED, relisted]


# ---- the handlers


def notice(new: Any = None, old: Any = None, at: float = 1.5) -> Any:
    return SimpleNamespace(new_obj=new, old_obj=old, queued_at=at)


LISTENER = SimpleNamespace(name=lambda: "the handler")


@pytest.mark.parametrize(
    ("given", "method", "version", "old"),
    [
        (notice(APPLE), "on_add", "7", ""),
        (notice(APPLE, OLDER), "on_update", "7", "5"),
        (SimpleNamespace(old_obj=OLDER, queued_at=1.5), "on_delete", "5", ""),
        (SimpleNamespace(old_obj=TOMBSTONE, queued_at=1.5), "on_delete", "7", ""),
    ],
)
def test_a_notification_is_called_and_returns_or_raises(given: Any, method: str, version: str, old: str) -> None:
    _, obj, _ = taps.arguments_of(given)
    handler = cache.ResourceEventHandlerFuncs()
    about = {"version": version, "object": obj, "old": old}
    for hop in ("add", "update", "delete"):
        call = Call(error=OSError("gone"))
        with pytest.raises(OSError, match="gone"):
            AROUND[f"handlers.{hop}"](call, given, handler)
        log = log_of(f"handlers.{hop}", given, handler)
        more = log[0][2]["more"]
        assert (more["method"], more["tombstone"], more["queued"]) == (method, obj is TOMBSTONE, 1.5)
        hops = [(kind, "default/apple", {"more": more, **about}) for kind in ("called", "returned")]
        assert log == [hops[0], CALLED, hops[1]] and more["handler"]
        raised = ("raised", "default/apple", {"more": {**more, "error": "OSError: gone"}, **about})
        assert call.log == [hops[0], CALLED, raised]


@pytest.mark.parametrize("count", [0, 1, 2, 50, 51, 60])
def test_many_notifications_are_described_first_and_then_named(count: int) -> None:
    given = [notice(config_map(f"n-{number}", str(number)), at=float(number)) for number in range(count)]
    buffered, taken = log_of("handlers.buffer", LISTENER, given), log_of("handlers.take", LISTENER, result=given)
    assert buffered[0] == taken[0] == CALLED and len(buffered) == len(taken) == (2 if count else 1)
    if not count:
        return
    (kind, key, about), other = buffered[1], taken[1]
    assert (kind, other[0]) == ("buffered", "taken")
    assert key == other[1] == ("default/n-0" if count == 1 else "")
    assert (about["version"], about["old"]) == ("0", "")
    assert about["more"] == other[2]["more"] and about["more"]["handler"] == "the handler"
    shown = about["more"]["notifications"]
    assert [each["queued"] for each in shown] == [float(number) for number in range(min(count, 50))]
    assert shown[0] == {"method": "on_add", "key": "default/n-0", "version": "0", "old": "", "queued": 0.0}
    rest = range(50, count)
    named = {
        "keys": [f"default/n-{number}" for number in rest],
        "versions": [str(number) for number in rest],
        "queued": [float(number) for number in rest],
    }
    assert about["more"].get("others") == (named if rest else None)
    assert about["more"].get("count") == (count if rest else None)
    assert taps.queued_at(object()) == 0.0


# ---- the work queues


@pytest.mark.parametrize(
    ("state", "kind", "about"),
    [
        ((False, False), "added", {}),
        ((True, False), "duplicate", {"merged": ("dirty",)}),
        ((True, True), "duplicate", {"merged": ("dirty",)}),
        ((False, True), "marked", {"merged": ("processing",)}),
    ],
)
def test_an_added_item_is_new_or_known(state: Any, kind: str, about: Any) -> None:
    held = [state]
    queue = SimpleNamespace(state_of=lambda item: held[0])
    hops = log_of("queue.add", queue, "a", changes=lambda: held.__setitem__(0, (True, True)))
    assert hops == [CALLED, (kind, "a", about)]


@pytest.mark.parametrize("name", ["queue.done", "queue.done_with_priority"])
def test_an_item_that_was_marked_comes_again_when_it_is_done(name: str) -> None:
    for again, kind in ((True, "requeued"), (False, "done")):
        held = [again]
        queue = SimpleNamespace(state_of=lambda item, held=held: (held[0], not held[0]))
        hops = log_of(name, queue, "a", changes=lambda held=held: held.__setitem__(0, not held[0]))
        assert hops == [CALLED, (kind, "a", {})]


def test_an_item_is_taken_unless_the_queue_is_shut_down() -> None:
    assert log_of("queue.get", None, result=("a", False)) == [CALLED, ("taken", "a", {})]
    assert log_of("queue.get", None, result=("", True)) == [CALLED]
    taken = ("taken", "a", {"more": {"priority": 3}})
    assert log_of("queue.get_with_priority", None, result=("a", 3, False)) == [CALLED, taken]
    assert log_of("queue.get_with_priority", None, result=("", 0, True)) == [CALLED]


@pytest.mark.parametrize(
    ("before", "now", "hops"),
    [
        (None, None, []),
        ((8.0, 2.0), None, []),
        (None, (8.0, 2.00000049), [("waits", "a", {"more": {"delay": 2.0}})]),
        ((9.0, 3.0), (8.0, 2.0000005001), [("waits", "a", {"more": {"delay": 2.000001}})]),
        ((8.0, 2.0), (8.0, 1.5), [("sooner", "a", {"more": {"delay": 1.5}})]),
    ],
)
def test_an_inserted_item_waits_or_waits_already(before: Any, now: Any, hops: list[Any]) -> None:
    held = [before]
    queue = SimpleNamespace(due=lambda item: held[0])
    assert log_of("queue.insert", queue, "a", 1.0, changes=lambda: held.__setitem__(0, now)) == [CALLED, *hops]


def test_ready_items_and_failures_are_counted() -> None:
    due: Any = [("due", "a", {}), ("due", "b", {})]
    assert log_of("queue.pop_ready", None, 1.0, result=["a", "b"]) == [CALLED, *due]
    ready = ["a", "b"]
    assert log_of("queue.make_due", SimpleNamespace(due_until=lambda time: list(ready)), 1.0, changes=ready.clear) == [
        CALLED,
        *due,
    ]
    failures = [2]
    limiter = SimpleNamespace(num_requeues=lambda item: failures[0])
    for name in ("exponential", "fast_slow"):
        failures[0] = 2
        failure = ("failure", "a", {"more": {"delay": 0.5, "failures": 2}})
        assert log_of(f"queue.when_{name}", limiter, "a", result=0.5) == [CALLED, failure]
        forgotten = ("forgotten", "a", {"more": {"failures": 2}})
        hops = log_of(f"queue.forget_{name}", limiter, "a", changes=lambda: failures.__setitem__(0, 0))
        assert hops == [CALLED, forgotten]
        assert log_of(f"queue.forget_{name}", limiter, "a") == [CALLED]


DIRTY, BUSY, BOTH, NEITHER = (True, False), (False, True), (True, True), (False, False)


def prioritized(priority: int, merged: str = "", delay: float | None = None) -> dict[str, Any]:
    more = {"priority": priority} if delay is None else {"delay": delay, "priority": priority}
    return {"more": more, **({"merged": (merged,)} if merged else {})}


@pytest.mark.parametrize(
    ("state", "due", "priorities", "now", "after", "hop"),
    [
        (NEITHER, None, (0, 5), None, DIRTY, ("added", prioritized(5))),
        (NEITHER, None, (0, 5), None, BUSY, ("added", prioritized(5))),
        (NEITHER, None, (0, 5), None, NEITHER, None),
        (DIRTY, None, (1, 1), None, DIRTY, ("duplicate", prioritized(1, "dirty"))),
        (DIRTY, None, (1, 2), None, DIRTY, ("raised", prioritized(2, "dirty"))),
        (BOTH, None, (1, 2), None, BOTH, ("duplicate", prioritized(2, "dirty"))),
        (BUSY, None, (0, 2), None, BOTH, ("marked", prioritized(2, "processing"))),
        (NEITHER, None, (0, 2), (9.0, 2.0000004), NEITHER, ("waits", prioritized(2, delay=2.0))),
        (NEITHER, (9.5, 3.0), (0, 2), (9.0, 2.5), NEITHER, ("waits", prioritized(2, delay=2.5))),
        (NEITHER, (9.0, 3.0), (0, 2), (9.0, 2.5), NEITHER, ("sooner", prioritized(2, delay=2.5))),
    ],
)
def test_an_item_with_a_priority_is_added_raised_or_waits(
    state: Any, due: Any, priorities: Any, now: Any, after: Any, hop: Any
) -> None:
    held: list[Any] = [state, due, priorities[0]]
    queue = SimpleNamespace(state_of=lambda item: held[0], due=lambda item: held[1], priority_of=lambda item: held[2])

    def change() -> None:
        held[:] = [after, now, priorities[1]]

    hops = log_of("queue.add_with_priority", queue, "a", 0.0, None, changes=change)
    assert hops == [CALLED, *([(hop[0], "a", hop[1])] if hop else [])]


# ---- events, leader election and workers


def event(message: str = "m", count: int = 1, namespace: str = "default") -> Any:
    regarding = SimpleNamespace(namespace=namespace, name="apple")
    return SimpleNamespace(
        involved_object=regarding, reason="r", message=message, count=count, get_resource_version=lambda: "11"
    )


@pytest.mark.parametrize(
    ("result", "kind", "about"),
    [
        (SimpleNamespace(skip=True), "dropped", ("m", 1)),
        (SimpleNamespace(skip=False, event=event()), "new", ("m", 1)),
        (SimpleNamespace(skip=False, event=event(count=2)), "counted", ("m", 2)),
        (SimpleNamespace(skip=False, event=event("(combined)")), "combined", ("(combined)", 1)),
    ],
)
def test_an_event_is_new_counted_combined_or_dropped(result: Any, kind: str, about: Any) -> None:
    more = {"reason": "r", "message": about[0], "count": about[1]}
    hops = log_of("events.correlate", None, event(), result=result)
    assert hops == [CALLED, (kind, "default/apple", {"more": more})]


def test_an_event_is_recorded_before_and_written_after_the_call() -> None:
    more: dict[str, Any] = {"type": "Normal", "reason": "r", "message": "m"}
    recorded = ("recorded", "default/apple", {"more": more, **ABOUT_APPLE})
    assert log_of("events.generate", None, None, APPLE, None, "Normal", "r", "m") == [recorded, CALLED]
    more = {"reason": "r", "message": "m", "count": 1}
    written = ("written", "apple", {"version": "11", "more": more})
    assert log_of("events.write", None, None, event(), b"", result=event(namespace="")) == [CALLED, written]
    call = Call(error=OSError("gone"))
    with pytest.raises(OSError, match="gone"):
        AROUND["events.write"](call, None, None, event(), b"")
    assert call.log == [CALLED, ("failed", "default/apple", {"more": {**more, "error": "OSError: gone"}})]


@pytest.mark.parametrize(
    ("held", "succeeded", "leader", "kind"),
    [
        (True, True, "me", "renewed"),
        (False, True, "me", "acquired"),
        (False, False, "other", "held"),
        (False, False, "", "failed"),
        (True, False, "me", "failed"),
    ],
)
def test_a_try_for_the_lease_is_named_by_its_result(held: bool, succeeded: bool, leader: str, kind: str) -> None:
    holds = [held]
    elector = SimpleNamespace(
        holds_lease=lambda: holds[0],
        get_leader=lambda: leader,
        identity=lambda: "me",
        statistics=lambda: SimpleNamespace(lease_left=1.23456),
    )
    hops = log_of("election.try", elector, None, result=succeeded, changes=lambda: holds.__setitem__(0, True))
    assert hops == [CALLED, (kind, "me", {"more": {"leader": leader, "lease_left": 1.235}})]
    more = {"more": {"leader": leader}}
    assert log_of("election.lead", elector) == [("leading", "me", more), CALLED, ("stopped", "me", more)]


def test_a_worker_reconciles_the_first_argument_with_a_key() -> None:
    tap = taps.worker_tap("module", "Class.method")
    assert (tap.module, tap.function, tap.station) == ("module", "Class.method", "workers")
    assert (tap.go_file, tap.go_function, tap.hop) == ("controller.go", "syncHandler", "")
    call = Call()
    tap.around(call, None, 3, "a/b", key="c/d")
    assert call.log == [("reconcile", "a/b", {}), CALLED, ("ok", "a/b", {})]
    failing = Call(error=OSError("gone"))
    with pytest.raises(OSError, match="gone"):
        tap.around(failing, None, key="c/d")
    error = ("error", "c/d", {"more": {"error": "OSError: gone"}})
    assert failing.log == [("reconcile", "c/d", {}), CALLED, error]
    none = Call()
    tap.around(none, None)
    assert none.log == [("reconcile", "", {}), CALLED, ("ok", "", {})]


def test_its_frames_are_no_part_of_the_programs_output() -> None:
    assert callers.is_inserted(taps.__file__)
