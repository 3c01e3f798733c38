"""The resource request that a method and a path mean. Mirrors apiserver's RequestInfo."""

from __future__ import annotations

import contextlib

from clientgo.apimachinery import fields
from clientgo.testing.apiserver.access.rbac import Attributes
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.http import Request

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "GET": "get", "HEAD": "get", "DELETE": "delete"}
# Verbs whose field selector may name a single object. As in Go, the deletion of a collection has no name.
_COLLECTION_VERBS = ("list", "watch")
_NAMESPACE_SUBRESOURCES = ("status", "finalize")


# Requests without a deadline. Go: BasicLongRunningRequestCheck.
_LONG_RUNNING_VERBS = ("watch", "proxy")
_LONG_RUNNING_SUBRESOURCES = ("attach", "exec", "proxy", "log", "portforward")


class RequestInfo:
    """A resource request. `group_known` fields are as in the path; nothing here says that they exist."""

    __slots__ = ("extra", "group", "name", "namespace", "only_name", "resource", "subresource", "verb", "version")

    def __init__(self, group: str, version: str) -> None:
        self.group = group
        self.version = version
        self.verb = ""
        self.namespace = ""
        self.resource = ""
        self.name = ""
        self.subresource = ""
        # The one name that the field selector of a collection asks for.
        self.only_name = ""
        # What follows a proxy subresource, or too many segments.
        self.extra: list[str] = []

    def __repr__(self) -> str:
        return f"<RequestInfo {self.verb} {self.resource}/{self.subresource} {self.namespace}/{self.name}>"

    def attributes(self) -> Attributes:
        namespace = self.namespace
        if self.resource == "namespaces" and self.name:
            namespace = self.name
        return Attributes(
            self.verb,
            group=self.group,
            version=self.version,
            resource=self.resource,
            subresource=self.subresource,
            namespace=namespace,
            name=self.name or self.only_name,
        )


def parse(method: str, path: str, watch: bool) -> RequestInfo | None:
    """Return the resource request of this path, or None for other paths, such as discovery and health."""
    parts = [part for part in path.split("/") if part]
    if len(parts) >= 3 and parts[0] == "api":
        info, rest = RequestInfo("", parts[1]), parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        info, rest = RequestInfo(parts[1], parts[2]), parts[3:]
    else:
        return None
    # The old path of a watch, under watch/. Its verb is `watch` for every method, though only GET is served there.
    watches = rest[0] == "watch" and len(rest) > 1
    if watches:
        rest = rest[1:]
    if rest[0] == "namespaces":
        rest = _namespaced(info, rest)
    info.resource = rest[0]
    if len(rest) > 1:
        info.name = rest[1]
    if len(rest) > 2:
        info.subresource = rest[2]
    info.extra = rest[3:]
    # An unknown method has no verb, also when it is named after one.
    info.verb = "watch" if watches else _VERBS.get(method, "")
    if not info.name:
        if info.verb == "get":
            info.verb = "watch" if watch else "list"
        elif info.verb == "delete":
            info.verb = "deletecollection"
    return info


def _namespaced(info: RequestInfo, rest: list[str]) -> list[str]:
    """Parse a path below namespaces, which is both a scope and, in the core group, a resource."""
    if len(rest) <= 2 or rest[2] in _NAMESPACE_SUBRESOURCES:
        return rest
    info.namespace = rest[1]
    return rest[2:]


def attributes(request: Request, info: RequestInfo) -> Attributes:
    """Return the attributes to authorize.

    A collection selected by one name has that name, so that resourceNames apply.
    """
    if info.verb in _COLLECTION_VERBS and not info.name and (text := request.param("fieldSelector")):
        from clientgo.apimachinery.api.validate import content  # Here, not above: few requests need it.

        with contextlib.suppress(ValueError):
            name = fields.parse_selector(text).requires_exact_match("metadata.name")[0]
            info.only_name = "" if content.is_path_segment_name(name) else name
    return info.attributes()


def check_timeout(request: Request, info: RequestInfo | None) -> None:
    """Raise ApiError 400 for a `timeout` in the query that is not a duration. Requests here have no deadline.

    Go: parseTimeout.
    """
    text = request.param("timeout")
    if not text or (info is not None and _is_long_running(info)):
        return
    from clientgo.golang.duration import parse_duration  # Here, not above: few requests need it.

    try:
        parse_duration(text)
    except ValueError as err:
        raise errors.bad_request(f"invalid timeout specified in the request URL - {err}") from None


def _is_long_running(info: RequestInfo) -> bool:
    return info.verb in _LONG_RUNNING_VERBS or info.subresource in _LONG_RUNNING_SUBRESOURCES
