"""The object tracker answers as Go's does, step by step."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases
from goldenobjects import to_object, to_shorthand
from invariants import check_invariants

from clientgo import testing
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.kubernetes.scheme import CODECS, SCHEME

KIND = GroupVersionKind("", "v1", "ConfigMap")


def error_of(err: Exception) -> dict[str, Any]:
    if isinstance(err, apierrors.StatusError):
        status = err.status()
        return {"message": status.message, "reason": str(status.reason), "code": status.code}
    return {"message": str(err)}


class Case:
    def __init__(self, config: dict[str, Any]) -> None:
        self.gvr = GroupVersionResource(config["group"], config["version"], config["resource"])
        self.tracker = testing.new_object_tracker(SCHEME, CODECS.universal_deserializer())
        self.watches: dict[str, watch.Interface] = {}

    def take(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        tracker, gvr, ns = self.tracker, self.gvr, args.get("namespace", "")
        match op:
            case "add":
                tracker.add(to_object(args["object"]))
            case "create":
                tracker.create(gvr, to_object(args["object"]), ns)
            case "update":
                tracker.update(gvr, to_object(args["object"]), ns)
            case "patch":
                tracker.patch(gvr, to_object(args["patched_object"]), ns)
            case "delete":
                tracker.delete(gvr, ns, args["name"])
            case "get":
                return {"object": to_shorthand(tracker.get(gvr, ns, args["name"]))}
            case "list":
                found: Any = tracker.list(gvr, KIND, ns)
                return {
                    "objects": [to_shorthand(item) for item in found.items],
                    "resource_version": found.get_resource_version(),
                }
            case "watch":
                options = None
                if "options_resource_version" in args:
                    options = metav1.ListOptions(resource_version=args["options_resource_version"])
                self.watches[args["id"]] = tracker.watch(gvr, ns, options)
            case _:
                raise AssertionError(op)
        return {}

    def events(self) -> dict[str, list[dict[str, Any]]]:
        """Return the events of each watch since the last call."""
        received: dict[str, list[dict[str, Any]]] = {}
        for name, watcher in self.watches.items():
            received[name] = []
            while True:
                event, ok, _ = watcher.result_chan().try_receive()
                if not ok:
                    break
                received[name].append({"type": str(event.type), "object": to_shorthand(event.object)})
        return received


@pytest.mark.parametrize("case", cases("testing/object_tracker.jsonl"))
def test_object_tracker(case: dict[str, Any]) -> None:
    run = Case(case["config"])
    for step in case["steps"]:
        expect = step["expect"]
        try:
            got = {"error": None, **run.take(step["op"], step["args"])}
        except Exception as err:
            got = {"error": error_of(err)}
            if "object" in expect:
                got["object"] = None
        if "watch_events" in expect:
            got["watch_events"] = run.events()
        assert got == expect, step
        check_invariants(run.tracker)
