"""Conversion between the versions of a kind that share storage: events and HorizontalPodAutoscalers."""

from __future__ import annotations

from clientgo.testing.apiserver.wire.jsonio import Json

# events.k8s.io/v1 name, core/v1 name, in the order events.k8s.io prints them.
_EVENT_FIELDS = (
    ("eventTime", "eventTime"),
    ("series", "series"),
    ("reportingController", "reportingComponent"),
    ("reportingInstance", "reportingInstance"),
    ("action", "action"),
    ("reason", "reason"),
    ("regarding", "involvedObject"),
    ("related", "related"),
    ("note", "message"),
    ("type", "type"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
)
_EVENT_OMITEMPTY = {
    "series",
    "reportingController",
    "reportingInstance",
    "action",
    "reason",
    "related",
    "note",
    "type",
    "deprecatedCount",
}


def event_from_core(obj: Json) -> Json:
    """Convert a core/v1 Event to events.k8s.io/v1."""
    out: Json = {"kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": obj["metadata"]}
    for theirs, ours in _EVENT_FIELDS:
        value = obj.get(ours)
        if not value and theirs in _EVENT_OMITEMPTY:
            continue
        out[theirs] = value if value is not None or theirs not in ("regarding", "deprecatedSource") else {}
    return out


_CORE_ORDER = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "series",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)
_CORE_ZERO: Json = {
    "involvedObject": {},
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "eventTime": None,
    "reportingComponent": "",
    "reportingInstance": "",
}


def event_to_core(obj: Json) -> Json:
    """Convert an events.k8s.io/v1 Event to core/v1, the stored version."""
    theirs = {ours: name for name, ours in _EVENT_FIELDS}
    out: Json = {"kind": "Event", "apiVersion": "v1", "metadata": obj["metadata"]}
    for ours in _CORE_ORDER:
        value = obj.get(theirs[ours])
        if value is None or (not value and ours not in _CORE_ZERO):
            if ours in _CORE_ZERO:
                out[ours] = _CORE_ZERO[ours]
            continue
        out[ours] = value
    return out


def hpa_v1_from_v2(obj: Json) -> Json:
    """Convert an autoscaling/v2 HorizontalPodAutoscaler to autoscaling/v1.

    Of the metrics, only the CPU utilization target has a field in v1; the others are dropped.
    """
    spec = dict(obj.get("spec") or {})
    out_spec: Json = {"scaleTargetRef": spec.get("scaleTargetRef", {"kind": "", "name": ""})}
    if spec.get("minReplicas") is not None:
        out_spec["minReplicas"] = spec["minReplicas"]
    out_spec["maxReplicas"] = spec.get("maxReplicas", 0)
    for metric in spec.get("metrics") or ():
        resource = metric.get("resource") or {}
        target = resource.get("target") or {}
        if resource.get("name") == "cpu" and target.get("averageUtilization") is not None:
            out_spec["targetCPUUtilizationPercentage"] = target["averageUtilization"]
    status = obj.get("status") or {}
    out_status = {
        name: status[name] for name in ("observedGeneration", "lastScaleTime") if status.get(name) is not None
    }
    out_status["currentReplicas"] = status.get("currentReplicas", 0)
    out_status["desiredReplicas"] = status.get("desiredReplicas", 0)
    return {
        "kind": "HorizontalPodAutoscaler",
        "apiVersion": "autoscaling/v1",
        "metadata": obj["metadata"],
        "spec": out_spec,
        "status": out_status,
    }


def hpa_v1_to_v2(obj: Json) -> Json:
    spec = dict(obj.get("spec") or {})
    out_spec: Json = {"scaleTargetRef": spec.get("scaleTargetRef", {"kind": "", "name": ""})}
    if spec.get("minReplicas") is not None:
        out_spec["minReplicas"] = spec["minReplicas"]
    out_spec["maxReplicas"] = spec.get("maxReplicas", 0)
    utilization = spec.get("targetCPUUtilizationPercentage")
    if utilization is not None:
        target = {"type": "Utilization", "averageUtilization": utilization}
        out_spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    status = obj.get("status") or {}
    out_status: Json = {
        name: status[name]
        for name in ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
        if status.get(name) is not None
    }
    out_status.setdefault("desiredReplicas", 0)
    out_status["currentMetrics"] = None
    return {
        "kind": "HorizontalPodAutoscaler",
        "apiVersion": "autoscaling/v2",
        "metadata": obj["metadata"],
        "spec": out_spec,
        "status": out_status,
    }
