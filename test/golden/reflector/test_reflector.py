"""The reflector against scripted servers: every call, store operation and error that Go's made and reported."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any

import pytest
from goldenfile import cases
from goldenobjects import sort_objects, to_shorthand
from recordingstore import RecordingStore
from scriptedwatch import Script, ScriptedListerWatcher

from clientgo import context, features
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import wait
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache


@pytest.mark.parametrize("case", [*cases("reflector/scenarios.jsonl"), *cases("reflector/random.jsonl")])
def test_reflector(case: dict[str, Any]) -> None:
    with ExitStack() as gates:
        for name, value in case["config"]["feature_gates"].items():
            gates.enter_context(set_feature_during_test(features.Feature(name), value))
        for step in case["steps"]:
            assert run(case["config"], step["args"]["run_ms"]) == step["expect"]


def run(config: dict[str, Any], run_ms: int) -> dict[str, Any]:
    with synctest.bubble() as bubble:
        server = ScriptedListerWatcher(bubble, Script.from_config(config["script"]))
        store = RecordingStore()
        errors: list[dict[str, Any]] = []
        reflector = cache.new_reflector_with_options(server, corev1.ConfigMap(), store, options(config))
        reflector.max_internal_error_retry_duration = config.get("max_internal_error_retry_ms", 0) / 1000
        reflector.watch_list_page_size = config.get("watch_list_page_size", 0)

        def on_error(_: context.Context, __: cache.Reflector, err: BaseException) -> None:
            errors.append({"at_ms": server.now_ms(), "error": str(err)})

        reflector.watch_error_handler = on_error
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=reflector.run_with_context, args=(ctx,), name="reflector")
        thread.start()
        bubble.sleep(run_ms / 1000)
        bubble.wait()
        outcome = {
            "calls": list(server.calls),
            "errors": list(errors),
            "last_sync_resource_version": reflector.last_sync_resource_version(),
            "store": sort_objects([to_shorthand(obj) for obj in store.objects.values()]),
            "store_ops": list(store.ops),
            "unused_list_responses": len(server.script.lists),
            "unused_watch_responses": len(server.script.watches),
        }
        cancel()
        thread.join()
        server.join()
        return outcome


def options(config: dict[str, Any]) -> cache.ReflectorOptions:
    backoff = config["backoff"]
    return cache.ReflectorOptions(
        name="golden",
        resync_period=config.get("resync_ms", 0) / 1000,
        backoff=wait.Backoff(
            duration=backoff["duration_ms"] / 1000,
            cap=backoff["cap_ms"] / 1000,
            factor=backoff["factor"],
            jitter=backoff["jitter"],
            steps=backoff["steps"],
        ),
    )
