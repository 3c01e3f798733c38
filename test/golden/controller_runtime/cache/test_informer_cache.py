"""A cache against a small server (golden controller_runtime/cache/informer_cache.jsonl)."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from cacheoptions import options_of
from goldenfile import cases
from goldenruntime import Document, dense, error_of, example, list_example, shown
from scopedserver import ScopedServer

from clientgo import context, rest
from clientgo.apimachinery import fields
from clientgo.apimachinery.api import meta
from clientgo.controller_runtime import cache, client
from clientgo.golang import http
from clientgo.testing import synctest


class RecordingHandler:
    """A handler that records its calls."""

    def __init__(self, name: str, notified: list[str]) -> None:
        self._name = name
        self._notified = notified

    def _note(self, method: str, obj: Any) -> None:
        self._notified.append(f"{self._name} {method} {_shorthand(obj)}")

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self._note("add_initial" if is_in_initial_list else "add", obj)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._note("update", new_obj)

    def on_delete(self, obj: Any) -> None:
        self._note("delete", obj)


def _shorthand(obj: Any) -> str:
    return f"{obj.get_namespace()}/{obj.get_name()}@{obj.get_resource_version()}"


def _with_mark(obj: Any) -> str:
    mark = obj.get_annotations().get("transformed-by")
    return f"{_shorthand(obj)} transformed-by={mark}" if mark else _shorthand(obj)


class Scenario:
    """One case at work: a method for each step."""

    def __init__(self, bubble: synctest.Bubble, config: Document) -> None:
        self._bubble = bubble
        self._server = ScopedServer(
            config["server_objects"], config["server_resource_version"], config.get("server_denies", ())
        )
        self._options = options_of(config)
        self._options.http_client = http.Client(self._server)
        self._cache: cache.Cache
        self._ctx, self._cancel = context.with_cancel(context.background())
        self._thread: threading.Thread | None = None
        self._notified: list[str] = []

    def close(self) -> None:
        self._cancel()
        if self._thread is not None:
            self._thread.join()

    def step(self, op: str, args: Document) -> Document:
        outcome: Document = {}
        try:
            outcome = getattr(self, op)(**args)
        except Exception as err:
            outcome = {"error": _error(err)}
        self._bubble.wait()
        notified = sorted(self._notified)
        self._notified.clear()
        if op == "new":
            return outcome
        return {**outcome, "events_sorted": notified, "server_scopes": self._server.scopes()}

    def new(self) -> Document:
        self._cache = cache.new(rest.Config(host="http://small"), self._options)
        return {"error": None}

    def start(self) -> Document:
        self._thread = threading.Thread(target=self._cache.start, args=(self._ctx,), name="cache")
        self._thread.start()
        return {}

    def _within(self, timeout_ms: int) -> context.Context:
        ctx, _ = context.with_timeout(self._ctx, timeout_ms / 1000)
        return ctx

    def wait_for_cache_sync(self, timeout_ms: int) -> Document:
        return {"value": self._cache.wait_for_cache_sync(self._within(timeout_ms))}

    def server_put(self, object: Document) -> Document:
        self._server.put(object)
        self._bubble.sleep(1)
        return {}

    def server_delete(self, kind: str, namespace: str, name: str) -> Document:
        self._server.delete(kind, namespace, name)
        self._bubble.sleep(1)
        return {}

    def get(self, *, apiVersion: str, kind: str, as_: str, name: str, namespace: str, timeout_ms: int) -> Document:
        key = client.ObjectKey(namespace, name)
        found = self._cache.get(self._within(timeout_ms), key, example(apiVersion, kind, as_))
        assert found.frozen
        return {"error": None, "object": shown(found)}

    def list(self, *, apiVersion: str, kind: str, as_: str, timeout_ms: int, **given: Any) -> Document:
        opts: list[Any] = []
        if "in_namespace" in given:
            opts.append(client.InNamespace(given["in_namespace"]))
        if "matching_labels" in given:
            opts.append(client.MatchingLabels(given["matching_labels"]))
        if "matching_fields" in given:
            opts.append(client.MatchingFields(given["matching_fields"]))
        if "field_selector" in given:
            opts.append(client.MatchingFieldsSelector(fields.parse_selector(given["field_selector"])))
        if "limit" in given:
            opts.append(client.Limit(given["limit"]))
        if "continue" in given:
            opts.append(client.Continue(given["continue"]))
        listed = self._cache.list(self._within(timeout_ms), list_example(apiVersion, kind, as_), *opts)
        items = meta.extract_list(listed)
        assert listed.frozen and all(item.frozen for item in items)
        outcome: Document = {"error": None, "continue": listed.get_continue()}
        if "limit" in given:
            return {**outcome, "count": len(items)}
        return {**outcome, "items_sorted": sorted(_with_mark(item) for item in items)}

    def get_informer_and_add_handler(self, *, apiVersion: str, kind: str, as_: str, handler: str) -> Document:
        ctx, kind_of_object = self._within(2000), example(apiVersion, kind, as_)
        informer = self._cache.get_informer(ctx, kind_of_object, cache.block_until_synced(False))
        informer.add_event_handler(RecordingHandler(handler, self._notified))
        return {"error": None}

    def index_field(self, *, apiVersion: str, kind: str, as_: str, field: str, value: str) -> Document:
        assert value == "label app"

        def label_app(obj: Any) -> list[str]:
            found = obj.get_labels().get("app")
            return [] if found is None else [found]

        self._cache.index_field(self._within(2000), example(apiVersion, kind, as_), field, label_app)
        return {"error": None}

    def remove_informer(self, *, apiVersion: str, kind: str, as_: str) -> Document:
        self._cache.remove_informer(self._ctx, example(apiVersion, kind, as_))
        return {"error": None}


def _error(err: Exception) -> Document:
    shown_error = error_of(err) or {}
    if isinstance(err, cache.ErrResourceNotCached | cache.ErrCacheNotStarted):
        shown_error["is"] = type(err).__name__
    if shown_error["message"].startswith("indexer conflict"):
        shown_error["message"] = "indexer conflict"
    return shown_error


def _expected(expect: Document) -> Document:
    wanted = dict(expect)
    if "object" in wanted:
        wanted["object"] = dense(wanted["object"])
    if wanted.get("error"):
        # Go's name of a type.
        message = re.sub(r"\*\w+\.(\w+) Informer", r"\1 Informer", wanted["error"]["message"])
        wanted["error"] = {**wanted["error"], "message": message}
    return wanted


@pytest.mark.parametrize("case", cases("controller_runtime/cache/informer_cache.jsonl"))
def test_what_the_cache_gives_and_asks_for_is_what_go_does(case: dict[str, Any]) -> None:
    with synctest.bubble() as bubble:
        scenario = Scenario(bubble, case["config"])
        try:
            for number, step in enumerate(case["steps"]):
                args = {("as_" if name == "as" else name): value for name, value in step["args"].items()}
                got = scenario.step(step["op"], args)
                assert got == _expected(step["expect"]), (number, step)
        finally:
            scenario.close()
