"""The end state of a run, in a form that two runs can be compared by."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from clientgo.testing.controllertest.faults import FINALIZER, TOUCHED

if TYPE_CHECKING:
    from clientgo.testing.controllertest.world import World

Json = dict[str, Any]
State = dict[str, list[str]]
"""The normalized objects as JSON, by resource, namespace and name, or the prefix of a generated name."""

# Fields that count or identify writes, so that they depend on the course of a run.
_OF_THE_COURSE = ("uid", "resourceVersion", "generation", "managedFields", "observedGeneration", "creationTimestamp")
# Fields that the server or the scheduler chooses from a pool, unless they are "None".
_ASSIGNED = ("clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort", "volumeName", "nodeName", "podIP", "podIPs")
# A time in RFC 3339's form.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def end_state(world: World) -> State:
    """Return the objects that the user and the controllers made, without uids, versions and times."""
    state: State = {}
    uids = {stored.obj["metadata"]["uid"]: stored.key for _, stored in world.server.store.walk()}
    for (bucket, key), actor in sorted(world.made_by.items()):
        stored = world.server.store.get(bucket, key)
        if stored is None or actor == "server":
            continue
        obj = world.machine.normalize(json.loads(json.dumps(stored.obj)))
        prefix = obj["metadata"].get("generateName")
        namespace, _, name = key.rpartition("/")
        text = json.dumps(_normal(obj, uids), sort_keys=True)
        if prefix:
            text = text.replace(name, f"{prefix}*")
        shown = f"{prefix}*" if prefix else obj["metadata"]["name"]
        state.setdefault(f"{bucket.strip('/')} {namespace}/{shown}", []).append(text)
    return {key: sorted(texts) for key, texts in state.items()}


def _normal(value: Any, uids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        out = {key: _normal(item, uids) for key, item in value.items() if key not in _OF_THE_COURSE}
        out.pop(TOUCHED, None)
        for key in _ASSIGNED:
            if key in out and out[key] not in ("None", ["None"]):
                out[key] = "<assigned>"
        if out.get("annotations") == {}:
            del out["annotations"]
        if "uid" in value and "kind" in value:  # a reference to an object
            out["uid"] = uids.get(value["uid"], "of an object that is gone")
        return out
    if isinstance(value, list):
        return [_normal(item, uids) for item in value if item != FINALIZER]
    return "<time>" if isinstance(value, str) and _TIME.fullmatch(value) else value


def difference(expected: State, found: State) -> str:
    """Return a description of the first difference, or ""."""
    for key in sorted({*expected, *found}):
        left, right = expected.get(key, []), found.get(key, [])
        if left == right:
            continue
        if not right:
            return f"{key} is missing"
        if not left:
            return f"{key} exists"
        if len(left) != len(right):
            return f"{key} exists {len(right)} times instead of {len(left)}"
        for before, after in zip(left, right, strict=True):
            if before != after:
                return f"{key}: {_first_change(json.loads(before), json.loads(after))}"
    return ""


def _first_change(before: Any, after: Any, path: str = "") -> str:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                return _first_change(before.get(key), after.get(key), f"{path}.{key}")
    return f"{path.removeprefix('.')} is {json.dumps(after)}, not {json.dumps(before)}"
