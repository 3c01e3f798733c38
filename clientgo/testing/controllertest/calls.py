"""API requests of the controller under test, as a history shows them and as faults count them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from clientgo.golang import http

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "GET": "get", "DELETE": "delete"}
# Written beside the controller's work. No controller decides by them.
_BESIDE = ("events", "leases")

REASONS = {
    409: "Conflict",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


@dataclass(frozen=True)
class Call:
    """A request for objects, or for anything else with an empty resource."""

    verb: str
    resource: str
    namespace: str
    name: str
    query: dict[str, list[str]]

    @property
    def is_write(self) -> bool:
        """Report whether the request may change an object."""
        return self.verb in ("create", "update", "patch", "delete")

    @property
    def counts(self) -> bool:
        """Report whether the numbers of fault steps include this request."""
        return bool(self.resource) and self.verb not in ("list", "watch") and not self.is_beside

    @property
    def is_beside(self) -> bool:
        """Report whether the request concerns events or leases."""
        return self.resource.partition("/")[0] in _BESIDE

    def first(self, parameter: str) -> str:
        """Return the first value of a query parameter, or ""."""
        return self.query.get(parameter, [""])[0]

    def __str__(self) -> str:
        return f"{self.verb} {self.resource} {self.namespace}/{self.name}".rstrip("/ ")


def parse(request: http.Request) -> Call:
    """Return the call of a request."""
    parts = urlsplit(request.url)
    query = parse_qs(parts.query, keep_blank_values=True)
    path = [part for part in parts.path.split("/") if part]
    rest = path[2:] if path[:1] == ["api"] else path[3:] if path[:1] == ["apis"] else []
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    if not rest:
        return Call("get", "", "", parts.path, query)
    name = rest[1] if len(rest) > 1 else ""
    verb = _VERBS.get(request.method, request.method.lower())
    if verb == "get" and not name:
        verb = "watch" if query.get("watch", ["0"])[0] in ("1", "true") else "list"
    if verb == "create" and not name:
        name = _name_in(request.body)
    resource = "/".join([rest[0], *rest[2:]])
    return Call(verb, resource, namespace, name, query)


def _name_in(body: Any) -> str:
    """Return the name of the object in a JSON body, or "" for another encoding."""
    if not isinstance(body, bytes) or not body.startswith(b"{"):
        return ""
    metadata = json.loads(body).get("metadata") or {}
    return str(metadata.get("name") or f"{metadata.get('generateName', '')}*")


def failure(code: int, message: str) -> http.Response:
    """Return a response with an error Status."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": REASONS.get(code, "Invalid"),
        "code": code,
    }
    headers = http.Header({"Content-Type": "application/json"})
    if code in (429, 503):
        headers["Retry-After"] = "1"
    return http.Response(status_code=code, headers=headers, body=http.BytesBody(json.dumps(status).encode()))


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the paths and values of all scalars in a JSON value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, (*path, str(number)))
    else:
        yield path, value
