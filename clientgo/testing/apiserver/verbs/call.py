"""One request on one resource, with what it collects on the way."""

from __future__ import annotations

from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.negotiation import Form


class Call:
    """One request on one resource, with what it collects on the way."""

    __slots__ = (
        "admitted",
        "duplicates",
        "form",
        "name",
        "namespace",
        "request",
        "resource",
        "subresource",
        "warnings",
    )

    def __init__(
        self, request: http.Request, resource: Resource, namespace: str, name: str, subresource: str, form: Form
    ) -> None:
        self.request = request
        self.resource = resource
        self.namespace = namespace
        self.name = name
        self.subresource = subresource
        self.form = form
        self.warnings = request.warnings
        # Whether admission has nothing to ask any more: the write is part of one that was asked about.
        self.admitted = False
        # Keys that a YAML body has twice in one map, as its reader tells it.
        self.duplicates: list[str] = []

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def prefix(self) -> str:
        return f"{self.namespace}/" if self.namespace else ""

    def not_found(self) -> ApiError:
        return errors.not_found(self.resource.group, self.resource.plural, self.name)

    def conflict(self, why: str = errors.MODIFIED) -> ApiError:
        return errors.conflict(self.resource.group, self.resource.plural, self.name, why)

    def __repr__(self) -> str:
        return f"<Call {self.request.method} {self.resource.plural} {self.key}>"


def internal_call(
    method: str, manager: str, resource: Resource, namespace: str = "", name: str = "", subresource: str = ""
) -> Call:
    """Return a call of the server's own component, with `manager` as its field manager."""
    request = http.Request(method, "/", {"user-agent": manager}, None)
    return Call(request, resource, namespace, name, subresource, Form())
