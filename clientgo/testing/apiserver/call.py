"""One request on one resource, with what it collects on the way."""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver import errors, http
from clientgo.testing.apiserver.errors import ApiError
from clientgo.testing.apiserver.negotiation import Form
from clientgo.testing.apiserver.registry import Resource

Json = dict[str, Any]


class Call:
    """One request on one resource, with what it collects on the way."""

    __slots__ = ("body", "form", "name", "namespace", "request", "resource", "subresource", "warnings")

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


def warning_header(texts: list[str]) -> str:
    """Several warnings go out as one header each; see http.head."""
    values = []
    for text in dict.fromkeys(texts):
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        values.append(f'299 - "{escaped}"')
    return "\r\nWarning: ".join(values)
