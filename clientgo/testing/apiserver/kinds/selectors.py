"""Label and field selectors for lists, watches and deletes: parsed once per request into a predicate on raw objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.apimachinery import fields, labels, selection
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json

Predicate = Callable[[Json], bool]


def parse_labels(text: str) -> Predicate | None:
    """Return a predicate on the labels of an object, or None if the selector is empty.

    Raises ApiError 400 with apimachinery's text if the selector is invalid.
    """
    try:
        selector = labels.parse(text)
    except ValueError as err:
        raise errors.bad_request(str(err)) from None
    return None if selector.empty() else selector.matches


def selector_text(selector: Any) -> str:
    """Return a LabelSelector as metav1.FormatLabelSelector prints it."""
    if not selector:
        return "<none>"
    parts = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for term in selector.get("matchExpressions") or ():
        key, operator, values = term.get("key"), term.get("operator"), ",".join(sorted(term.get("values") or ()))
        texts = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": f"{key}"}
        parts.append((key, texts.get(operator, f"!{key}")))
    return ",".join(text for _, text in sorted(parts)) or "<none>"


# ---- fields


def parse_fields(text: str) -> list[fields.Requirement]:
    """Return the terms of a field selector.

    Values may escape `,`, `=` and `\\` with a backslash. Raises ApiError 400.
    """
    try:
        return fields.parse_selector(text).requirements()
    except ValueError as err:
        raise errors.bad_request(str(err)) from None


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _path(*names: str) -> Callable[[Json], str]:
    def get(obj: Json) -> str:
        value: Any = obj
        for name in names:
            if not isinstance(value, dict):
                return ""
            value = value.get(name)
        return _text(value)

    return get


def _dotted(*paths: str) -> dict[str, Callable[[Json], str]]:
    return {path: _path(*path.split(".")) for path in paths}


_METADATA = _dotted("metadata.name", "metadata.namespace")
_EVENT = _dotted(
    "reason",
    "reportingComponent",
    "type",
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
)
_EVENT["source"] = lambda obj: obj.get("source", {}).get("component", "") or obj.get("reportingComponent", "")


# By storage name. Kinds not listed take only name and namespace.
_FIELDS: dict[str, dict[str, Callable[[Json], str]]] = {
    "/pods": {
        **_dotted(
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ),
        "spec.hostNetwork": lambda obj: _text(bool(obj.get("spec", {}).get("hostNetwork"))),
        # Known, but of no object.
        "status.podIPs": lambda obj: "",
    },
    "/events": _EVENT,
    "/nodes": {"spec.unschedulable": lambda obj: _text(bool(obj.get("spec", {}).get("unschedulable")))},
    "/namespaces": _dotted("status.phase"),
    "/secrets": _dotted("type"),
    "/services": _dotted("spec.clusterIP", "spec.type"),
    "/replicationcontrollers": {"status.replicas": lambda obj: str(obj.get("status", {}).get("replicas", 0))},
    "batch/jobs": {"status.successful": lambda obj: str(obj.get("status", {}).get("succeeded", 0))},
    "certificates.k8s.io/certificatesigningrequests": _dotted("spec.signerName"),
}
# Events seen as events.k8s.io/v1 name the same fields differently.
_EVENTS_V1_ALIASES = {
    "regarding.kind": "involvedObject.kind",
    "regarding.namespace": "involvedObject.namespace",
    "regarding.name": "involvedObject.name",
    "regarding.uid": "involvedObject.uid",
    "regarding.apiVersion": "involvedObject.apiVersion",
    "regarding.resourceVersion": "involvedObject.resourceVersion",
    "regarding.fieldPath": "involvedObject.fieldPath",
    "reportingController": "reportingComponent",
}


def fields_predicate(resource: Resource, text: str) -> tuple[Predicate | None, str | None]:
    """Return a predicate on stored objects, and the name that the object must have; each is None if anything matches.

    Raises ApiError 400 if the selector is invalid or the resource does not support one of its fields.
    """
    terms = parse_fields(text)
    if not terms:
        return None, None
    known = {**_METADATA, **_FIELDS.get(resource.storage, {}), **_selectable(resource)}
    name: str | None = None
    tests: list[tuple[Callable[[Json], str], bool, str]] = []
    for term in terms:
        path, value = term.field, term.value
        equal = term.operator is not selection.Operator.NOT_EQUALS
        if resource.group == "events.k8s.io":
            path = _EVENTS_V1_ALIASES.get(path, path)
        getter = known.get(path)
        if getter is None:
            raise _unknown_field(resource, path)
        if path == "metadata.name" and equal:
            name = value
        tests.append((getter, equal, value))
    if len(tests) == 1:
        get, equal, wanted = tests[0]
        return (lambda obj: (get(obj) == wanted) is equal), name
    return (lambda obj: all((get(obj) == value) is equal for get, equal, value in tests)), name


def _unknown_field(resource: Resource, path: str) -> errors.ApiError:
    if resource.custom or resource.storage in _FIELDS:
        return errors.bad_request(f"field label not supported: {path}")
    return errors.bad_request(f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"')


def _selectable(resource: Resource) -> dict[str, Callable[[Json], str]]:
    out = {}
    for field in resource.crd_version.get("selectableFields") or ():
        path = field["jsonPath"].lstrip(".")
        out[path] = _path(*path.split("."))
    return out


class Selection:
    """The label, field and shard selectors of a list or watch together. Raises ApiError for a malformed one.

    Mirrors apiserver's storage/selection_predicate.go.
    """

    __slots__ = ("_shard", "fields", "labels", "name", "shard_info", "source")

    def __init__(self, resource: Resource, label_text: str, field_text: str, shard_text: str = "") -> None:
        self.labels = parse_labels(label_text)
        self.fields, self.name = fields_predicate(resource, field_text)
        self._shard: Predicate | None = None
        # The shardInfo of a list.
        self.shard_info: Json | None = None
        if shard_text:
            # Imported here, because few requests need it and its parser imports CEL.
            from clientgo.testing.apiserver.kinds import shards

            shard = shards.parse_shard(shard_text)
            self._shard = shards.shard_predicate(shard)
            self.shard_info = {"selector": str(shard)}
            shard_text = str(shard)
        self.source = (label_text, field_text, shard_text)

    @property
    def empty(self) -> bool:
        """Report whether there is no label and no field selector. Go: SelectionPredicate.Empty."""
        return self.labels is None and self.fields is None

    @property
    def everything(self) -> bool:
        """Report whether every object matches."""
        return self.empty and self._shard is None

    def matches(self, obj: Json) -> bool:
        """Report whether a stored object matches all selectors."""
        if self._shard is not None and not self._shard(obj):
            return False
        if self.labels is not None and not self.labels(obj["metadata"].get("labels") or {}):
            return False
        return self.fields is None or self.fields(obj)

    def __repr__(self) -> str:
        return f"<Selection labels={self.source[0]!r} fields={self.source[1]!r}>"
