"""The row of a Pod in a Table, as pkg/printers/internalversion's printPod makes it.

The status of a pod comes from its containers: first the init containers in their order, then the others from the last
to the first, and at the end from its deletion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clientgo.apimachinery.util.duration import human_duration
from clientgo.testing.apiserver.views.printers import age
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times

_COMPLETED = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def row_conditions(obj: Json) -> list[Json]:
    """Return the conditions of a Table's row: for a pod that has ended, that it is completed."""
    phase = (obj.get("status") or {}).get("phase", "")
    text = _COMPLETED.get(phase)
    return [{"type": "Completed", "status": "True", "reason": phase, "message": text}] if text else []


def pod(obj: Json, times: Times) -> list[Any]:
    """Return the cells of a pod."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    seen = _look(spec, status)
    reason = seen.reason
    if obj["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif status.get("phase") not in _COMPLETED:
            reason = "Terminating"
    restarts = str(seen.restarts)
    if seen.restarts and seen.last_restart:
        restarts = f"{seen.restarts} ({human_duration(times.since(seen.last_restart))} ago)"
    addresses = status.get("podIPs") or [{}]
    return [
        obj["metadata"]["name"],
        f"{seen.ready}/{len(spec.get('containers') or ()) + len(_sidecars(spec))}",
        reason,
        restarts,
        age(obj, times),
        addresses[0].get("ip") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        _gates(spec, status),
    ]


@dataclass
class _Seen:
    """The facts from the containers' statuses."""

    reason: str
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""

    def count(self, container: Json) -> None:
        self.restarts += container.get("restartCount", 0)
        finished = ((container.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or ""
        self.last_restart = max(self.last_restart, finished)


def _look(spec: Json, status: Json) -> _Seen:
    seen = _Seen(status.get("reason") or status.get("phase", ""))
    conditions = status.get("conditions") or []
    if any(c.get("type") == "PodScheduled" and c.get("reason") == "SchedulingGated" for c in conditions):
        seen.reason = "SchedulingGated"
    of_sidecars = _Seen("")
    initializing = _look_at_init(spec, status, seen, of_sidecars)
    if not initializing or _holds(conditions, "Initialized"):
        seen.restarts, seen.last_restart = of_sidecars.restarts, of_sidecars.last_restart
        _look_at_others(status, seen)
    return seen


def _sidecars(spec: Json) -> set[str]:
    """Init containers that keep running beside the others."""
    return {c.get("name", "") for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always"}


def _look_at_init(spec: Json, status: Json, seen: _Seen, of_sidecars: _Seen) -> bool:
    """Report whether the pod is still initializing. The first unfinished init container gives the reason."""
    sidecars = _sidecars(spec)
    for i, container in enumerate(status.get("initContainerStatuses") or ()):
        seen.count(container)
        is_sidecar = container.get("name", "") in sidecars
        if is_sidecar:
            of_sidecars.count(container)
        state = container.get("state") or {}
        terminated, waiting = state.get("terminated"), state.get("waiting") or {}
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if is_sidecar and container.get("started"):
            seen.ready += bool(container.get("ready"))
            continue
        if terminated is not None:
            seen.reason = f"Init:{_end(terminated)}"
        elif waiting.get("reason", "") not in ("", "PodInitializing"):
            seen.reason = f"Init:{waiting['reason']}"
        else:
            seen.reason = f"Init:{i}/{len(spec.get('initContainers') or ())}"
        return True
    return False


def _look_at_others(status: Json, seen: _Seen) -> None:
    running = False
    for container in reversed(status.get("containerStatuses") or []):
        seen.count(container)
        state = container.get("state") or {}
        waiting, terminated = state.get("waiting") or {}, state.get("terminated")
        if waiting.get("reason"):
            seen.reason = waiting["reason"]
        elif terminated is not None:
            seen.reason = _end(terminated)
        elif container.get("ready") and state.get("running") is not None:
            running = True
            seen.ready += 1
    if seen.reason == "Completed" and running:
        seen.reason = "Running" if _holds(status.get("conditions") or [], "Ready") else "NotReady"


def _end(terminated: Json) -> str:
    """Return the reason of a container's end."""
    if terminated.get("reason"):
        return str(terminated["reason"])
    signal = terminated.get("signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{terminated.get('exitCode', 0)}"


def _holds(conditions: list[Json], kind: str) -> bool:
    return any(c.get("type") == kind and c.get("status") == "True" for c in conditions)


def _gates(spec: Json, status: Json) -> str:
    gates = spec.get("readinessGates") or []
    passed = sum(_holds(status.get("conditions") or [], gate.get("conditionType", "")) for gate in gates)
    return f"{passed}/{len(gates)}" if gates else "<none>"
