"""Between informer and handler: predicates are asked first, tombstones are opened, and what is no object is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.controller_runtime import event, handler, predicate, reconcile, source
from clientgo.controller_runtime.internal.source.event_handler import new_event_handler
from clientgo.golang.channel import Channel
from clientgo.tools import cache
from clientgo.tools.cache.event_handler_name import name_for_handler

POD, OTHER = corev1.Pod(), corev1.Pod(kind="Pod")


class Recorder:
    """A handler that records its calls."""

    def __init__(self, *predicates: predicate.Predicate) -> None:
        self.events: list[tuple[str, Any]] = []
        self.contexts: list[context.Context] = []
        funcs = handler.Funcs(
            create_func=self.note("create"), update_func=self.note("update"), delete_func=self.note("delete")
        )
        queue: Any = object()
        self.handler = new_event_handler(context.background(), queue, funcs, predicates)

    def note(self, name: str) -> Any:
        def noted(ctx: context.Context, evt: Any, q: Any) -> None:
            assert ctx.err() is None
            self.contexts.append(ctx)
            self.events.append((name, evt))

        return noted


def test_events_reach_the_handler_with_their_objects() -> None:
    """Go: internal/source: Internal > EventHandler"""
    notified = Recorder()
    notified.handler.on_add(POD, True)
    notified.handler.on_update(POD, OTHER)
    notified.handler.on_delete(POD)
    notified.handler.on_delete(cache.DeletedFinalStateUnknown("ns/pod", OTHER))
    names = [name for name, _ in notified.events]
    create, update, delete, tombstone = (evt for _, evt in notified.events)
    assert names == ["create", "update", "delete", "delete"]
    assert create.object is POD and create.is_in_initial_list
    assert (update.object_old, update.object_new) == (POD, OTHER)
    assert delete.object is POD and not delete.delete_state_unknown
    assert tombstone.object is OTHER and tombstone.delete_state_unknown
    # What a handler starts with its context ends with the event.
    assert all(ctx.err() is not None for ctx in notified.contexts)


def pods_of(ctx: context.Context, obj: Any) -> list[reconcile.Request]:
    return []


class MyHandler(handler.Funcs):
    pass


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (handler.Funcs(create_func=lambda ctx, evt, q: None), __name__),
        (handler.Funcs(), "clientgo.controller_runtime.handler.eventhandler.TypedFuncs"),
        (MyHandler(), f"{__name__}.MyHandler"),
        (handler.enqueue_requests_from_map_func(pods_of), f"{__name__}.pods_of"),
        (handler.EnqueueRequestForObject(), "clientgo.controller_runtime.handler.enqueue.TypedEnqueueRequestForObject"),
    ],
)
def test_logs_name_the_handler_of_the_program(given: Any, name: str) -> None:
    queue: Any = object()
    assert name_for_handler(new_event_handler(context.background(), queue, given, ())) == name


@pytest.mark.parametrize("refuses", ["create", "update", "delete"])
def test_one_predicate_that_refuses_is_enough(refuses: str) -> None:
    yes: predicate.Predicate = predicate.Funcs()
    no: predicate.Predicate = predicate.Funcs(**{f"{refuses}_func": lambda e: False})  # type: ignore[arg-type]
    notified = Recorder(yes, no)
    notified.handler.on_add(POD, False)
    notified.handler.on_update(POD, OTHER)
    notified.handler.on_delete(POD)
    assert [name for name, _ in notified.events] == [name for name in ("create", "update", "delete") if name != refuses]


def test_what_is_no_object_is_dropped() -> None:
    notified = Recorder()
    notified.handler.on_add("nonsense", False)
    notified.handler.on_update("nonsense", POD)
    notified.handler.on_update(POD, None)
    notified.handler.on_delete(7)
    notified.handler.on_delete(cache.DeletedFinalStateUnknown("ns/pod", None))
    assert notified.events == []


def test_a_map_function_that_returns_a_string_is_an_error() -> None:
    """Its letters are no requests."""
    mapped: Any = handler.enqueue_requests_from_map_func(lambda ctx, obj: "default/web")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="returns a string, not a list of requests"):
        mapped.create(context.background(), event.CreateEvent(POD), object())


class OnlyCreations:
    """A part with one method of four, which is not enough for the objects of a kind."""

    def create(self, *args: Any) -> bool:
        return True


class Informer:
    def add_event_handler_with_options(self, *args: Any) -> None:
        raise AssertionError("the handler was added")


_WRONG = [lambda *args: True, OnlyCreations(), OnlyCreations, predicate.Funcs]


@pytest.mark.parametrize("wrong", _WRONG, ids=["function", "part", "class", "alias"])
@pytest.mark.parametrize("place", ["handler", "predicate"])
@pytest.mark.parametrize("kind", ["kind", "informer", "channel"])
def test_a_source_rejects_a_part_without_a_method(kind: str, place: str, wrong: Any) -> None:
    """Each event would fail."""
    handles = wrong if place == "handler" else handler.EnqueueRequestForObject()
    predicates = [wrong] if place == "predicate" else []
    made: Any
    if kind == "kind":
        made = source.kind(Informer(), corev1.Pod, handles, *predicates)  # type: ignore[arg-type]
    elif kind == "informer":
        made = source.Informer(Informer(), handles, predicates)  # type: ignore[arg-type]
    else:
        made = source.channel(Channel(1), handles, source.with_predicates(*predicates))
    with pytest.raises(TypeError, match="has no method (update|generic|create): a (handler|predicate) is"):
        made.start(context.background(), object())
