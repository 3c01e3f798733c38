"""Validation of events, in their stored (core) form; events.k8s.io asks for more than the core API."""

from __future__ import annotations

from clientgo.apimachinery.util.validation import is_qualified_name
from clientgo.golang import utf8
from clientgo.testing.apiserver.kinds.validation.fields import immutable, named
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid, field_required
from clientgo.testing.apiserver.wire.jsonio import Json

_MAX_WORD, _MAX_MESSAGE = 128, 1024
# Fields that events.k8s.io has renamed and does not allow to be set, with their zero values.
_OLD: Json = {"firstTimestamp": None, "lastTimestamp": None, "count": 0, "source": {}}
_FIXED = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type", "eventTime",
    "action", "related", "reportingComponent", "reportingInstance",
)  # fmt: skip


def event(obj: Json, group: str) -> list[FieldError]:
    """Validate a new event. `group` is the API group of the request."""
    errors = _common(obj, group)
    if not group:
        return errors
    errors += _series(obj.get("series"))
    if obj.get("eventTime") is None:
        errors.append(field_required("eventTime"))
    kind = obj.get("type", "")
    if kind not in ("Normal", "Warning"):
        errors.append(field_invalid("type", "", f"has invalid value: {kind}"))
    return errors + [
        field_invalid(name, "", "needs to be unset") for name, zero in _OLD.items() if obj.get(name, zero) != zero
    ]


def event_update(obj: Json, old: Json, group: str) -> list[FieldError]:
    errors = _common(obj, group)
    if not group:
        return errors
    if obj.get("series") != old.get("series"):
        errors += _series(obj.get("series"))
    for name in _FIXED:
        shown = "reportingController" if name == "reportingComponent" else name
        text = name not in ("involvedObject", "source", "related")
        errors += immutable(obj.get(name, "" if text else None), old.get(name, "" if text else None), shown)
    return errors


def _common(obj: Json, group: str) -> list[FieldError]:
    errors = []
    namespace = (obj.get("metadata") or {}).get("namespace", "")
    theirs = (obj.get("involvedObject") or {}).get("namespace", "")
    if theirs != namespace and not (theirs == "" and namespace == "default"):
        errors.append(field_invalid("involvedObject.namespace", theirs, "does not match event.namespace"))
    if not group and obj.get("eventTime") is None:
        return errors
    controller = obj.get("reportingComponent", "")
    name = "reportingController" if group else "reportingComponent"
    if not controller:
        errors.append(field_required(name))
    errors += named(controller, name, is_qualified_name)
    for word in ("reportingInstance", "action", "reason"):
        value = obj.get(word, "")
        if not value:
            errors.append(field_required(word))
        if len(utf8.encode(value)) > _MAX_WORD:
            errors.append(field_invalid(word, "", f"can have at most {_MAX_WORD} characters"))
    if len(utf8.encode(obj.get("message", ""))) > _MAX_MESSAGE:
        errors.append(field_invalid("message", "", f"can have at most {_MAX_MESSAGE} characters"))
    return errors


def _series(series: Json | None) -> list[FieldError]:
    if series is None:
        return []
    errors = []
    if series.get("count", 0) < 2:
        errors.append(field_invalid("series.count", "", "should be at least 2"))
    if series.get("lastObservedTime") is None:
        errors.append(field_required("series.lastObservedTime"))
    return errors
