"""The paths that are no resources: discovery, OpenAPI, health, version, metrics."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from clientgo.testing.apiserver.kinds.gates import FeatureGates
from clientgo.testing.apiserver.kinds.registry import Registry, release
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.views import openapi, openapi_pb
from clientgo.testing.apiserver.views.documents import NO_CACHE, render
from clientgo.testing.apiserver.wire import errors, negotiation
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.http import Request, Response
from clientgo.testing.apiserver.wire.jsonio import Json, dumps, dumps_pretty
from clientgo.testing.apiserver.wire.negotiation import Form

_HEALTH = ("/healthz", "/livez", "/readyz")


def _version() -> Json:
    """Return the document of /version."""
    major, minor, _ = release().split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": f"v{release()}+clientgo",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "python",
        "compiler": "cpython",
        "platform": "linux/amd64",
    }


class Index:
    """Thread-safe; documents that change only with the registry are made once."""

    def __init__(self, registry: Registry, store: Store, authority: str, gates: FeatureGates) -> None:
        self._registry = registry
        self._gates = gates
        self._store = store
        # Host and port in the documents for clients.
        self._authority = authority
        self._cached: dict[str, tuple[int, bytes, str]] = {}
        self._paths: dict[str, Callable[[Request], Response]] = {
            "/": self._root,
            "/version": self._version,
            "/api": self._api,
            "/apis": self._apis,
            "/openapi/v2": self._openapi_v2,
            "/openapi/v3": lambda request: render(openapi.v3_index(self._registry), None),
            "/metrics": self._metrics,
            "/debug/compact": self._compact,
        }

    def __repr__(self) -> str:
        return f"<Index {self._registry!r}>"

    def handle(self, request: Request) -> Response:
        """Answer a request that is allowed. Raises ApiError and PlainError."""
        path = request.path
        if path.startswith("//"):
            raise errors.page_not_found()
        known = self._paths.get(path) or self._paths.get(path.rstrip("/") or "/")
        if known is not None:
            if request.method not in ("GET", "HEAD") and path != "/debug/compact":
                raise errors.method_not_allowed()
            return known(request)
        if path.startswith(_HEALTH):
            return self._health(request)
        if path.startswith("/openapi/v3/"):
            return self._openapi_v3(request)
        parts = [part for part in path.split("/") if part]
        if parts and parts[0] in ("api", "apis"):
            return self._discovery(request, parts)
        raise errors.page_not_found()

    def _discovery(self, request: Request, parts: list[str]) -> Response:
        name = "" if parts[0] == "api" else parts[1]
        group = self._registry.group(name)
        rest = parts[1:] if parts[0] == "api" else parts[2:]
        if group is None:
            raise errors.page_not_found()
        if request.method != "GET":
            raise errors.method_not_allowed()
        negotiation.check_route(request, negotiation.OBJECTS)
        if not rest:
            return render(
                {"kind": "APIGroup", "apiVersion": "v1", **group.document()}, negotiation.choose(request, objects=False)
            )
        if len(rest) > 1 or rest[0] not in group.resources:
            if self._registry.is_builtin(name):
                raise errors.resource_not_found()
            raise errors.page_not_found()
        return render(self._registry.resource_list(group, rest[0]), negotiation.choose(request, objects=False))

    @staticmethod
    def _version(request: Request) -> Response:
        negotiation.check_route(request, (negotiation.JSON,))
        return render(_version(), Form(pretty=True))

    def _api(self, request: Request) -> Response:
        form = negotiation.choose(request, objects=False)
        if form.kind == "Discovery":
            return self._aggregated(request, form, True)
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": self._authority}]
        return render({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}, form)

    def _apis(self, request: Request) -> Response:
        form = negotiation.choose(request, objects=False)
        if form.kind == "Discovery":
            return self._aggregated(request, form, False)
        return render(self._registry.group_list(), form)

    def _cache(self, key: str, make: Callable[[], Any], encode: Callable[[Any], bytes] = dumps) -> tuple[bytes, str]:
        """Return the bytes and the hash of a document that changes only with the registry."""
        generation = self._registry.generation
        known = self._cached.get(key)
        if known is None or known[0] != generation:
            body = encode(make())
            known = (generation, body, hashlib.sha512(body).hexdigest().upper())
            self._cached[key] = known
        return known[1], known[2]

    def _aggregated(self, request: Request, form: Form, core: bool) -> Response:
        body, digest = self._cache(
            f"aggregated {core} {form.version}", lambda: self._registry.aggregated(core, form.version)
        )
        media = f"application/json;g=apidiscovery.k8s.io;v={form.version};as=APIGroupDiscoveryList"
        headers = {"Cache-Control": "public", "ETag": f'"{digest}"', "Vary": "Accept"}
        if request.header("if-none-match") == f'"{digest}"':
            return Response(304, b"", "", headers)
        return Response(200, body, media, headers)

    def _openapi_v2(self, request: Request) -> Response:
        accept = request.header("accept", "application/json")
        if any(media in accept for media in openapi_pb.MEDIA_TYPES):
            body, digest = self._cache("v2 protobuf", lambda: openapi.v2_document(self._registry), openapi_pb.encode)
            media = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
        elif "json" in accept or "*/*" in accept:
            body, digest = self._cache("v2", lambda: openapi.v2_document(self._registry))
            media = "application/json"
        else:
            raise ApiError(406, "NotAcceptable", "only the following media types are accepted: application/json", {})
        headers = {"Cache-Control": NO_CACHE, "ETag": f'"{digest}"', "Vary": "Accept"}
        if request.header("if-none-match") == f'"{digest}"':
            return Response(304, b"", "", headers)
        return Response(200, body, media, headers)

    def _openapi_v3(self, request: Request) -> Response:
        parts = request.path.removeprefix("/openapi/v3/").split("/")
        if parts[0] == "api" and len(parts) == 2:
            group, version = "", parts[1]
        elif parts[0] == "apis" and len(parts) == 3:
            group, version = parts[1], parts[2]
        else:
            raise errors.page_not_found()

        def make() -> Any:
            document = openapi.v3_document(self._registry, group, version)
            if document is None:
                raise errors.page_not_found()
            return document

        body, digest = self._cache(f"v3 {group}/{version}", make)
        return Response(200, body, "application/json", {"Cache-Control": NO_CACHE, "ETag": f'"{digest}"'})

    def _root(self, request: Request) -> Response:
        paths = ["/.well-known/openid-configuration", "/api", "/api/v1", "/apis", "/apis/"]
        for group in self._registry.groups():
            if group.name:
                paths += [f"/apis/{group.name}", *(f"/apis/{group.name}/{version}" for version in group.versions)]
        paths += ["/debug/compact", *_HEALTH, "/metrics", "/openapi/v2", "/openapi/v3", "/version"]
        return Response(200, dumps_pretty({"paths": sorted(paths)}), "application/json", {"Cache-Control": NO_CACHE})

    @staticmethod
    def _health(request: Request) -> Response:
        head, _, rest = request.path.strip("/").partition("/")
        if f"/{head}" not in _HEALTH or rest not in ("", "ping", "etcd", "log"):
            raise errors.page_not_found()
        text = "ok"
        if "verbose" in request.params and not rest:
            checks = ("ping", "log", "etcd", "informer-sync") if head == "readyz" else ("ping", "log", "etcd")
            text = "".join(f"[+]{check} ok\n" for check in checks) + f"{head} check passed\n"
        headers = {"Cache-Control": NO_CACHE, "X-Content-Type-Options": "nosniff"}
        return Response(200, text.encode(), "text/plain; charset=utf-8", headers)

    def _metrics(self, request: Request) -> Response:
        lines = ["# TYPE apiserver_storage_objects gauge"]
        for bucket in self._store.buckets():
            group, _, plural = bucket.partition("/")
            name = errors.resource_text(group, plural)
            lines.append(f'apiserver_storage_objects{{resource="{name}"}} {self._store.count(bucket)}')
        lines += self._gates.metrics()
        return Response(200, ("\n".join(lines) + "\n").encode(), "text/plain; version=0.0.4; charset=utf-8")

    def _compact(self, request: Request) -> Response:
        """Handle POST /debug/compact?resourceVersion=N: discard the history, as etcd's compaction does."""
        if request.method != "POST":
            raise errors.method_not_allowed()
        text = request.param("resourceVersion")
        if not text.isascii() or not text.isdigit():
            raise errors.bad_request(f'resourceVersion: Invalid value: "{text}"')
        self._store.compact(int(text))
        return render({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}, Form())
