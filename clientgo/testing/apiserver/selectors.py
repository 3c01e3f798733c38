"""Label and field selectors for lists, watches and deletes: parsed once per request into a predicate on raw objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clientgo.testing.apiserver import errors

if TYPE_CHECKING:
    from clientgo.testing.apiserver.registry import Resource

Json = dict[str, Any]
Predicate = Callable[[Json], bool]

_TOKEN = re.compile(r"\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)")
_NAME = re.compile(r"^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$")
_PREFIX = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
_SYMBOLS = frozenset(("==", "!=", "=", "!", "(", ")", ",", "<", ">"))


def _quoted(token: str) -> str:
    return f"'{token}'"


class _Tokens:
    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token


def _bad(message: str) -> errors.ApiError:
    return errors.bad_request(message)


def parse_labels(text: str) -> Predicate | None:
    """A predicate on metadata.labels, None when everything matches. Raises ApiError 400 in apimachinery's words."""
    if not text.strip():
        return None
    tokens = _Tokens(text)
    tests: list[Callable[[Json], bool]] = []
    while True:
        tests.append(_requirement(tokens))
        token = tokens.take()
        if token == "":
            break
        if token != ",":
            raise _bad(f"unable to parse requirement: found {_quoted(token)}, expected: ',' or 'end of string'")
        if tokens.peek() == "":
            raise _bad("unable to parse requirement: found '', expected: identifier after ','")
    if len(tests) == 1:
        return tests[0]
    return lambda labels: all(test(labels) for test in tests)


def _key(tokens: _Tokens) -> str:
    token = tokens.take()
    if token == "" or token in _SYMBOLS:
        raise _bad(f"unable to parse requirement: found {_quoted(token)}, expected: identifier")
    check_key(token)
    return token


def check_key(key: str) -> None:
    prefix, slash, name = key.rpartition("/")
    if (slash and not _PREFIX.match(prefix)) or len(name) > 63 or not _NAME.match(name):
        raise _bad(
            f'unable to parse requirement: <nil>: Invalid value: "{key}": name part must consist of alphanumeric '
            "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
            "'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        )


def _requirement(tokens: _Tokens) -> Callable[[Json], bool]:
    if tokens.peek() == "!":
        tokens.take()
        absent = _key(tokens)
        return lambda labels: absent not in labels
    key = _key(tokens)
    operator = tokens.peek()
    if operator in ("", ","):
        return lambda labels: key in labels
    tokens.take()
    if operator in ("=", "=="):
        wanted = _value(tokens)
        return lambda labels: labels.get(key) == wanted
    if operator == "!=":
        unwanted = _value(tokens)
        return lambda labels: labels.get(key) != unwanted
    if operator in ("in", "notin"):
        values = _values(tokens)
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if operator in ("<", ">"):
        return _comparison(key, operator, _value(tokens))
    raise _bad(f"unable to parse requirement: found {_quoted(operator)}, expected: in, notin, =, ==, !=, gt, lt")


def _comparison(key: str, operator: str, value: str) -> Callable[[Json], bool]:
    try:
        limit = int(value)
    except ValueError:
        raise _bad(
            f"unable to parse requirement: values[0][{key}]: Invalid value: \"{value}\": for 'Gt', 'Lt' "
            f"operators, the value must be "
            "an integer"
        ) from None

    def test(labels: Json) -> bool:
        try:
            number = int(labels[key])
        except (KeyError, ValueError):
            return False
        return number > limit if operator == ">" else number < limit

    return test


def _value(tokens: _Tokens) -> str:
    token = tokens.peek()
    if token in ("", ","):
        return ""
    tokens.take()
    if token in _SYMBOLS:
        raise _bad(f"unable to parse requirement: found {_quoted(token)}, expected: identifier")
    _check_value(token)
    return token


def _check_value(value: str) -> None:
    if value and (len(value) > 63 or not _NAME.match(value)):
        raise _bad(
            f'unable to parse requirement: values[0][{value}]: Invalid value: "{value}": a valid label must be '
            f"an empty string or "
            "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
            "character "
            "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        )


def _values(tokens: _Tokens) -> frozenset[str]:
    if tokens.take() != "(":
        raise _bad("unable to parse requirement: found '', expected: '('")
    values: set[str] = set()
    current = ""
    while True:
        token = tokens.take()
        if token == "":
            raise _bad("unable to parse requirement: found '', expected: ',', or ')'")
        if token in (",", ")"):
            values.add(current)
            current = ""
            if token == ")":
                return frozenset(values)
            continue
        if token in _SYMBOLS:
            raise _bad(f"unable to parse requirement: found {_quoted(token)}, expected: ',', ')' or identifier")
        _check_value(token)
        current = token


# ---- fields

_FieldTerm = tuple[str, str, str]  # path, operator, value


def parse_fields(text: str) -> list[_FieldTerm]:
    """The terms of a field selector; values may escape , = and \\ with a backslash."""
    terms = []
    for part in _split_terms(text):
        if not part:
            continue
        match = re.match(r"^((?:[^=!\\]|\\.)*?)(!=|==|=)(.*)$", part, re.S)
        if match is None:
            raise _bad(f"invalid selector: '{text}'; can't understand '{part}'")
        terms.append((match[1], "!=" if match[2] == "!=" else "=", _unescape(match[3])))
    return terms


def _split_terms(text: str) -> list[str]:
    out, current, escaped = [], "", False
    for char in text:
        if char == "," and not escaped:
            out.append(current)
            current = ""
            continue
        current += char
        escaped = char == "\\" and not escaped
    return [*out, current]


def _unescape(value: str) -> str:
    return re.sub(r"\\([\\,=])", r"\1", value)


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


def _pod_ip(obj: Json) -> str:
    return _text(obj.get("status", {}).get("podIP"))


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
        "status.podIPs": _pod_ip,
    },
    "/events": _EVENT,
    "/nodes": {"spec.unschedulable": lambda obj: _text(bool(obj.get("spec", {}).get("unschedulable")))},
    "/namespaces": _dotted("status.phase"),
    "/secrets": _dotted("type"),
    "/services": _dotted("spec.clusterIP", "spec.type"),
    "/replicationcontrollers": {"status.replicas": lambda obj: str(obj.get("status", {}).get("replicas", 0))},
    "apps/replicasets": {"status.replicas": lambda obj: str(obj.get("status", {}).get("replicas", 0))},
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
    """A predicate on the stored object, and the name that metadata.name= asks for, if any."""
    terms = parse_fields(text)
    if not terms:
        return None, None
    known = {**_METADATA, **_FIELDS.get(resource.storage, {}), **_selectable(resource)}
    name: str | None = None
    tests: list[tuple[Callable[[Json], str], bool, str]] = []
    for path, operator, value in terms:
        if resource.group == "events.k8s.io":
            path = _EVENTS_V1_ALIASES.get(path, path)
        getter = known.get(path)
        if getter is None:
            raise _unknown_field(resource, path)
        if path == "metadata.name" and operator == "=":
            name = value
        tests.append((getter, operator == "=", value))
    if len(tests) == 1:
        get, equal, wanted = tests[0]
        return (lambda obj: (get(obj) == wanted) is equal), name
    return (lambda obj: all((get(obj) == value) is equal for get, equal, value in tests)), name


def _unknown_field(resource: Resource, path: str) -> errors.ApiError:
    if resource.custom or resource.storage in _FIELDS:
        return _bad(f"field label not supported: {path}")
    return _bad(f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"')


def _selectable(resource: Resource) -> dict[str, Callable[[Json], str]]:
    out = {}
    for field in resource.crd_version.get("selectableFields") or ():
        path = field["jsonPath"].lstrip(".")
        out[path] = _path(*path.split("."))
    return out


class Selection:
    """What a list or watch selects: label and field predicates together."""

    __slots__ = ("fields", "labels", "name", "source")

    def __init__(self, resource: Resource, label_text: str, field_text: str) -> None:
        self.source = (label_text, field_text)
        self.labels = parse_labels(label_text)
        self.fields, self.name = fields_predicate(resource, field_text)

    @property
    def everything(self) -> bool:
        return self.labels is None and self.fields is None

    def matches(self, obj: Json) -> bool:
        if self.labels is not None and not self.labels(obj["metadata"].get("labels") or {}):
            return False
        return self.fields is None or self.fields(obj)

    def __repr__(self) -> str:
        return f"<Selection labels={self.source[0]!r} fields={self.source[1]!r}>"
