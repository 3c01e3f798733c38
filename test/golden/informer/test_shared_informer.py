"""Shared informers against a server in memory: what every handler was told after every step, as Go's were."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import groupby
from typing import Any

import pytest
from goldenfile import cases
from goldenobjects import to_config_map, to_shorthand, transformer
from memoryserver import MemoryServer

from clientgo import context, features
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.watch import EventType
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache

_CHANGES = {"server_add": EventType.ADDED, "server_modify": EventType.MODIFIED, "server_delete": EventType.DELETED}


class RecordingHandler:
    """A handler that records its calls."""

    def __init__(self) -> None:
        self.notified: list[dict[str, Any]] = []

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self.notified.append({"type": "add", "object": to_shorthand(obj), "is_in_initial_list": is_in_initial_list})

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self.notified.append({"type": "update", "old": to_shorthand(old_obj), "new": to_shorthand(new_obj)})

    def on_delete(self, obj: Any) -> None:
        self.notified.append({"type": "delete", "object": to_shorthand(obj)})

    def take(self) -> list[dict[str, Any]]:
        """Return the calls since the last one of this method."""
        notified, self.notified = self.notified, []
        return notified


class Scenario:
    """One golden case at work; each step's method does it and returns what it adds to the expectation."""

    def __init__(self, bubble: synctest.Bubble, config: dict[str, Any], in_order: bool) -> None:
        self._bubble = bubble
        self._server = MemoryServer()
        options = cache.SharedIndexInformerOptions(
            resync_period=config["default_resync_ms"] / 1000,
            indexers={cache.NAMESPACE_INDEX: cache.meta_namespace_index_func},
            in_order=in_order,
        )
        self._informer = cache.new_shared_index_informer_with_options(self._server, corev1.ConfigMap(), options)
        if config["transform"] is not None:
            transform = transformer(config["transform"])
            assert transform is not None
            self._informer.set_transform(transform)
        self._ctx, self._cancel = context.with_cancel(context.background())
        self._thread = threading.Thread(target=self._informer.run_with_context, args=(self._ctx,), name="informer")
        self._handlers: dict[str, RecordingHandler] = {}
        self._registrations: dict[str, cache.ResourceEventHandlerRegistration] = {}

    def step(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        """Do one step and wait until everything that it set off is over; what there is to see then."""
        outcome: dict[str, Any]
        if op in _CHANGES:
            self._server.change(_CHANGES[op], to_config_map(args["object"]))
            outcome = {}
        else:
            outcome = getattr(self, op)(**args)
        self._bubble.wait()
        return outcome | self._observe(op)

    def observe(self) -> dict[str, Any]:
        return {}

    def add_handler(self, id: str, resync_ms: int | None = None) -> dict[str, Any]:
        handler = self._handlers[id] = RecordingHandler()
        if resync_ms is None:
            self._registrations[id] = self._informer.add_event_handler(handler)
        else:
            period = resync_ms / 1000
            self._registrations[id] = self._informer.add_event_handler_with_resync_period(handler, period)
        return {"error": False}

    def remove_handler(self, id: str) -> dict[str, Any]:
        self._informer.remove_event_handler(self._registrations.pop(id))
        return {"error": None}

    def start(self) -> dict[str, Any]:
        self._thread.start()
        return {}

    def advance(self, ms: int) -> dict[str, Any]:
        self._bubble.sleep(ms / 1000)
        return {}

    def close_watch(self) -> dict[str, Any]:
        self._bubble.sleep(2.0)
        self._server.close_watches()
        self._bubble.sleep(120.0)
        return {}

    def expire_and_relist(self, changes: list[dict[str, Any]], mode: str) -> dict[str, Any]:
        for change in changes:
            self._server.change(EventType(change["type"]), to_config_map(change["object"]), notify=False)
        self._server.expire()
        self._bubble.sleep(2.0)
        self._server.close_watches(expired=mode == "error_event")
        self._bubble.sleep(120.0)
        return {}

    def stop(self) -> dict[str, Any]:
        self._cancel()
        self._thread.join()
        return {
            "add_handler_after_stop_fails": _error(lambda: self._informer.add_event_handler(RecordingHandler()))
            is not None,
            "add_indexers_error": _error(lambda: self._informer.add_indexers({"other": lambda _: []})),
            "is_stopped": self._informer.is_stopped(),
            "set_transform_error": _error(lambda: self._informer.set_transform(lambda obj: obj)),
        }

    def _observe(self, op: str) -> dict[str, Any]:
        seen: dict[str, Any] = {
            "has_synced": self._informer.has_synced(),
            "last_sync_resource_version": self._informer.last_sync_resource_version(),
            "notifications": {id: list(_sort_unordered(handler.take(), op)) for id, handler in self._handlers.items()},
            "store_keys": sorted(self._informer.get_store().list_keys()),
        }
        if op != "stop":
            seen["handler_has_synced"] = {id: handle.has_synced() for id, handle in self._registrations.items()}
        return seen


def _error(call: Any) -> str | None:
    try:
        call()
    except Exception as err:
        return str(err)
    return None


def _sort_unordered(notified: list[dict[str, Any]], op: str) -> Iterable[dict[str, Any]]:
    """Sort runs of notifications by key, as in the golden files, if Go sends them in the order of a map."""

    def kind(notification: dict[str, Any]) -> str | None:
        if notification["type"] == "add":
            return "add" if op == "add_handler" else None
        if notification["type"] == "delete":
            return "tombstone" if "tombstone" in notification["object"] else None
        return "sync" if notification["old"].get("rv") == notification["new"].get("rv") else None

    for run_kind, run in groupby(notified, kind):
        if run_kind is None:
            yield from run
        else:
            yield from sorted(run, key=_key)


def _key(notification: dict[str, Any]) -> str:
    obj = notification.get("object") or notification["new"]
    if "tombstone" in obj:
        return str(obj["tombstone"])
    return f"{obj['ns']}/{obj['name']}" if obj.get("ns") else str(obj["name"])


def _replay(case: dict[str, Any], in_order: bool = True) -> None:
    with ExitStack() as gates:
        for name, value in case["config"]["feature_gates"].items():
            gates.enter_context(set_feature_during_test(features.Feature(name), value))
        with synctest.bubble() as bubble:
            scenario = Scenario(bubble, case["config"], in_order)
            for number, step in enumerate(case["steps"]):
                seen, expected = scenario.step(step["op"], step["args"]), step["expect"]
                if not in_order:
                    seen, expected = _by_object(seen), _by_object(expected)
                assert seen == expected, f"step {number}: {step['op']} {step['args']}"


def _by_object(outcome: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome with what each handler was told about each object together, in order."""
    notified = {id: sorted(notifications, key=_key) for id, notifications in outcome["notifications"].items()}
    return outcome | {"notifications": notified}


@pytest.mark.parametrize("case", cases("informer/shared_informer_default.jsonl"))
def test_shared_informer_default(case: dict[str, Any]) -> None:
    _replay(case)


@pytest.mark.parametrize("case", cases("informer/shared_informer_no_atomic.jsonl"))
def test_shared_informer_no_atomic(case: dict[str, Any]) -> None:
    _replay(case)


@pytest.mark.parametrize("case", cases("informer/shared_informer_default.jsonl"))
def test_shared_informer_with_delta_fifo(case: dict[str, Any]) -> None:
    """The old queue tells the same of each object; only the order between objects differs (deletions come last)."""
    _replay(case, in_order=False)
