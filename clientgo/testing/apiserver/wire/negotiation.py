"""In which form an answer goes out: JSON, YAML, protobuf or CBOR; the object itself, a Table, or metadata only."""

from __future__ import annotations

from collections.abc import Callable

from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.http import Request
from clientgo.utils.shortcache import short_cache

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
CBOR = "application/cbor"
CBOR_SEQUENCE = "application/cbor-seq"
_META = ("meta.k8s.io",)
_PARTIAL = ("PartialObjectMetadata", "PartialObjectMetadataList")

# The media types that the routes of go-restful declare. A list may be a watch.
OBJECTS = (JSON, YAML, PROTOBUF)
_STREAMS = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
LISTS = (*OBJECTS, *_STREAMS)


class Form:
    """The chosen form. kind is "", "Table", "PartialObjectMetadata", of lists too with `of_list`, or "Discovery"."""

    __slots__ = ("kind", "media", "of_list", "pretty", "version")

    def __init__(
        self, media: str = JSON, kind: str = "", version: str = "v1", pretty: bool = False, *, of_list: bool = False
    ) -> None:
        self.media = media
        self.kind = kind
        self.version = version
        self.pretty = pretty
        self.of_list = of_list

    def __repr__(self) -> str:
        return f"<Form {self.media} {self.kind} {self.version}>"


# A client sends the same text with every request.
@short_cache(maxsize=256, longest=1024)
def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    """Return the clauses of an Accept header, the best first. Callers must not change the result."""
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


# Go: strconv.ParseBool.
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


def pretty(request: Request) -> bool:
    """Report whether to indent the answer: by ?pretty=, else for browsers and curl."""
    if value := request.param("pretty"):
        return value in _TRUE
    agent = request.header("user-agent")
    return agent.startswith(("curl", "Wget", "Mozilla/5.0"))


def include_object(request: Request) -> str:
    """Return the option includeObject of a Table, "" if it is absent. Raises ApiError 400. Go: optionsForTransform."""
    value = request.param("includeObject")
    if value in ("", "None", "Metadata", "Object"):
        return value
    found = errors.field_invalid("includeObject", value, "must be 'Metadata', 'Object', 'None', or empty")
    raise errors.bad_request(f"Unable to convert to Table as requested: {found}")


def of_errors(request: Request) -> str:
    """Return the media type of the first clause in which a Status can be sent."""
    accept = request.header("accept")
    if not accept:
        return JSON
    for media, params in _clauses(accept):
        if (media in (PROTOBUF, YAML) or (media == CBOR and request.speaks_cbor)) and not params.get("as"):
            return media
        if media in ("*/*", "application/*", JSON):
            return JSON
    return JSON


def check_route(request: Request, produced: tuple[str, ...]) -> None:
    """Raise ApiError 406 if the client accepts none of the route's media types. Ignores parameters."""
    accept = request.header("accept")
    if not accept:
        return
    if request.speaks_cbor and produced in (OBJECTS, LISTS):
        produced = (*OBJECTS, CBOR) if produced == OBJECTS else (*OBJECTS, CBOR, *_STREAMS, CBOR_SEQUENCE)
    kinds = [clause.partition(";")[0].strip() for clause in accept.split(",")]
    if any(kind == "*/*" or kind in produced for kind in kinds):
        return
    text = f"406: Not Acceptable\n\nAvailable representations: {', '.join(produced)}"
    raise errors.ApiError(406, "NotAcceptable", text, {}, pretty=True)


def choose(
    request: Request,
    *,
    objects: bool = True,
    supports_protobuf: Callable[[], bool] | None = None,
    stream: bool = False,
) -> Form:
    """Return the form of the first acceptable clause in the Accept header. Raises ApiError 406 if there is none.

    With `objects`, the client may ask for a Table, in JSON only, or for PartialObjectMetadata. `supports_protobuf`
    reports whether the resource's objects have protobuf messages; None means that no response is protobuf. With
    `stream`, the response is a watch, which has no form in YAML.
    """
    accept = request.header("accept")
    is_pretty = pretty(request)
    if not accept:
        return Form(pretty=is_pretty)
    for media, params in _clauses(accept):
        if media in ("*/*", "application/*", JSON):
            form = _json_form(params, is_pretty, objects=objects)
            if form is not None:
                return form
        elif media == PROTOBUF:
            form = _protobuf_form(params, supports_protobuf)
            if form is not None:
                return form
        elif media == CBOR and request.speaks_cbor:
            form = _json_form(params, False, objects=objects)
            if form is not None and form.kind != "Discovery":
                form.media = CBOR
                return form
        elif media in (YAML, "application/x-yaml", "text/yaml") and not params.get("as") and not stream:
            return Form(YAML)
    accepted = list(_STREAMS if stream else OBJECTS)
    if request.speaks_cbor:
        accepted.append(CBOR_SEQUENCE if stream else CBOR)
    raise errors.ApiError(
        406, "NotAcceptable", f"only the following media types are accepted: {', '.join(accepted)}"
    )


def _protobuf_form(params: dict[str, str], supports_protobuf: Callable[[], bool] | None) -> Form | None:
    """Return the form of a protobuf clause, or None.

    Metadata of custom resources are messages too; v1beta1 is unsupported.
    """
    kind = params.get("as", "")
    if supports_protobuf is None:
        return None
    if kind in _PARTIAL and params.get("g") in _META and params.get("v") == "v1":
        return Form(PROTOBUF, "PartialObjectMetadata", of_list=kind == _PARTIAL[1])
    return Form(PROTOBUF) if not kind and supports_protobuf() else None


def _json_form(params: dict[str, str], is_pretty: bool, *, objects: bool) -> Form | None:
    """Return the form of a JSON clause by its parameters, or None for unknown ones."""
    kind, version = params.get("as", ""), params.get("v", "")
    if not kind:
        return Form(JSON, pretty=is_pretty)
    if objects and params.get("g") in _META and version in ("v1", "v1beta1"):
        if kind == "Table":
            return Form(JSON, "Table", version, is_pretty)
        if kind in _PARTIAL:
            return Form(JSON, "PartialObjectMetadata", version, is_pretty, of_list=kind == _PARTIAL[1])
    if not objects and kind == "APIGroupDiscoveryList" and version in ("v2", "v2beta1"):
        return Form(JSON, "Discovery", version, is_pretty)
    return None
