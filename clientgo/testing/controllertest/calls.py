"""API requests of the controller under test, as a history shows them and as faults count them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from clientgo.golang import http
from clientgo.testing.apiserver.access import routing
from clientgo.testing.apiserver.wire.errors import ApiError

# Written beside the controller's work. No controller decides by them.
_BESIDE = ("events", "leases")

REASONS = {
    403: "Forbidden",
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
        if not self.resource:
            return f"{self.verb} {self.name}"
        return f"{self.verb} {self.resource} {self.namespace}/{self.name}".rstrip("/ ")


def parse(request: http.Request) -> Call:
    """Return the call of a request."""
    parts = urlsplit(request.url)
    query = parse_qs(parts.query, keep_blank_values=True)
    info = routing.parse(request.method, parts.path, query.get("watch", ["0"])[0] in ("1", "true"))
    if info is None:
        return Call("get", "", "", parts.path, query)
    name = _name_in(request.body) if info.verb == "create" and not info.name else info.name
    # The deletion of a collection counts like that of an object.
    verb = "delete" if info.verb == "deletecollection" else info.verb
    resource = "/".join(part for part in (info.resource, info.subresource, *info.extra) if part)
    return Call(verb, resource, info.namespace, name, query)


def _name_in(body: Any) -> str:
    """Return the name of the object in a JSON body, or "" for another encoding."""
    if not isinstance(body, bytes) or not body.startswith(b"{"):
        return ""
    metadata = json.loads(body).get("metadata") or {}
    return str(metadata.get("name") or f"{metadata.get('generateName', '')}*")


def failure(code: int, message: str) -> http.Response:
    """Return a response with an error Status."""
    status = ApiError(code, REASONS.get(code, "Invalid"), message).status()
    headers = http.Header({"Content-Type": "application/json"})
    if code in (429, 503):
        headers["Retry-After"] = "1"
    return http.Response(status_code=code, headers=headers, body=http.BytesBody(json.dumps(status).encode()))
