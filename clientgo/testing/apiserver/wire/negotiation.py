"""In which form an answer goes out: JSON, YAML or protobuf; the object itself, a Table, or metadata only."""

from __future__ import annotations

from collections.abc import Callable

from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.http import Request

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_META = ("meta.k8s.io",)
_PARTIAL = ("PartialObjectMetadata", "PartialObjectMetadataList")

REPRESENTATIONS = (JSON, YAML, PROTOBUF, f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")


class Form:
    """The chosen form. kind is "", "Table", "PartialObjectMetadata" or "Discovery"."""

    __slots__ = ("kind", "media", "pretty", "version")

    def __init__(self, media: str = JSON, kind: str = "", version: str = "v1", pretty: bool = False) -> None:
        self.media = media
        self.kind = kind
        self.version = version
        self.pretty = pretty

    def __repr__(self) -> str:
        return f"<Form {self.media} {self.kind} {self.version}>"


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    out = []
    for clause in accept.split(","):
        media, *params = clause.split(";")
        values = {}
        for param in params:
            name, _, value = param.partition("=")
            values[name.strip()] = value.strip()
        out.append((media.strip().lower(), values))
    out.sort(key=lambda item: -_quality(item[1]))
    return out


def _quality(params: dict[str, str]) -> float:
    try:
        return float(params.get("q", "1"))
    except ValueError:
        return 0.0


def pretty(request: Request) -> bool:
    """?pretty=..., else what people's browsers and curl get."""
    value = request.params.get("pretty")
    if value is not None:
        return value[0] not in ("false", "0")
    agent = request.headers.get("user-agent", "")
    return agent.startswith(("curl", "Wget", "Mozilla/5.0"))


def prefers_protobuf(request: Request) -> bool:
    """Whether the first clause that a built-in resource can meet is protobuf."""
    for media, params in _clauses(request.headers.get("accept", "")):
        if media == PROTOBUF and not params.get("as"):
            return True
        if media in ("*/*", "application/*", JSON, YAML):
            return False
    return False


def choose(request: Request, *, objects: bool = True, speaks_protobuf: Callable[[], bool] | None = None) -> Form:
    """The first acceptable clause. Raises ApiError 406.

    `objects`: Table and PartialObjectMetadata are possible, both in JSON alone. `speaks_protobuf` says
    whether the resource has messages, None for no.
    """
    accept = request.headers.get("accept", "")
    neat = pretty(request)
    if not accept:
        return Form(pretty=neat)
    for media, params in _clauses(accept):
        if media in ("*/*", "application/*", JSON):
            kind = params.get("as", "")
            if not kind:
                return Form(JSON, pretty=neat)
            if objects and params.get("g") in _META and params.get("v") in ("v1", "v1beta1"):
                if kind == "Table":
                    return Form(JSON, "Table", params["v"], neat)
                if kind in _PARTIAL:
                    return Form(JSON, "PartialObjectMetadata", params["v"], neat)
            if not objects and kind == "APIGroupDiscoveryList" and params.get("v") in ("v2", "v2beta1"):
                return Form(JSON, "Discovery", params["v"], neat)
        elif media == PROTOBUF and not params.get("as") and speaks_protobuf is not None and speaks_protobuf():
            return Form(PROTOBUF)
        elif media in (YAML, "application/x-yaml", "text/yaml") and not params.get("as"):
            return Form(YAML)
    raise errors.ApiError(
        406,
        "NotAcceptable",
        f"406: Not Acceptable\n\nAvailable representations: {', '.join(REPRESENTATIONS)}",
        {},
        pretty=True,
    )
