"""The API server as a whole: authenticates, authorizes, routes, and owns the parts and their threads.

with Server(tokens={"secret": admin_user()}) as server:
    print(server.url)
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import secrets
import ssl
import threading
from collections.abc import Callable
from typing import Any

from clientgo import klog
from clientgo.apimachinery import fields
from clientgo.testing.apiserver import (
    crd,
    decoding,
    errors,
    escalation,
    eviction,
    http,
    negotiation,
    openapi,
    openapi_pb,
    rbac,
    routing,
    subresources,
    warnings,
)
from clientgo.testing.apiserver.auth import AUTHENTICATED, MASTERS, Authenticator, User
from clientgo.testing.apiserver.call import Call, warning_header
from clientgo.testing.apiserver.certificates import Identity, self_signed
from clientgo.testing.apiserver.controllers import Controllers, internal_request
from clientgo.testing.apiserver.documents import NO_CACHE, render
from clientgo.testing.apiserver.errors import ApiError, PlainError
from clientgo.testing.apiserver.http import HttpServer, Request, Response
from clientgo.testing.apiserver.jsonio import dumps, dumps_pretty
from clientgo.testing.apiserver.negotiation import Form
from clientgo.testing.apiserver.options import WriteOptions
from clientgo.testing.apiserver.persistence import SqliteJournal
from clientgo.testing.apiserver.rbac import Attributes, Authorizer
from clientgo.testing.apiserver.registry import Registry, Resource
from clientgo.testing.apiserver.rest import Rest
from clientgo.testing.apiserver.routing import RequestInfo
from clientgo.testing.apiserver.storage import DEFAULT_HISTORY, Event, Store, Stored
from clientgo.testing.apiserver.times import Times
from clientgo.testing.apiserver.watch import Pump
from clientgo.utils.clock import REAL_CLOCK, Clock

Json = dict[str, Any]

_VERSION: Json = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.0+clientgo",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "python",
    "compiler": "cpython",
    "platform": "linux/amd64",
}
_HEALTH = ("/healthz", "/livez", "/readyz")
_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_STREAMS = ("log", "exec", "attach", "portforward", "proxy")
_COLLECTION_VERBS = ("list", "watch", "deletecollection")
_REVIEW_GROUPS = ("authorization.k8s.io", "authentication.k8s.io")


def admin_user(name: str = "kubernetes-admin") -> User:
    """A user who may do everything."""
    return User(name, "", (MASTERS, AUTHENTICATED))


def _make_anew(name: str, make: Callable[[], str]) -> str:
    return make()


class Server:
    """One API server on one port. start() returns when it answers; stop() leaves no thread and no socket.

    Without tokens a random one for an administrator is made; see `token`.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tokens: dict[str, User] | None = None,
        data_dir: str | None = None,
        history: int = DEFAULT_HISTORY,
        collect_garbage: bool = True,
        tls: ssl.SSLContext | None = None,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        """Binds the port at once; raises OSError when it is taken, or when `data_dir` cannot be used."""
        # First, because nothing else has to be closed yet when the port is taken.
        self._http = HttpServer(host, port, self.handle, self._tls_context)
        self.clock = clock
        self.times = Times(clock)
        journal = self._open_journal(data_dir) if data_dir else None
        self._remember = journal.remember if journal is not None else _make_anew
        self.token = self._remember("token", lambda: secrets.token_urlsafe(32))
        known = {self.token: admin_user(), **(tokens or {})}
        start = journal.version if journal is not None else 0
        self.store = Store(clock, history=history, journal=journal, start=start)
        self.registry = Registry()
        self.pump = Pump(self.store, clock)
        self.rest = Rest(self.store, self.registry, self.pump, self.times)
        self.rest.after_commit = self._after_commit
        key = self._remember("signing-key", lambda: secrets.token_hex(32))
        self.authenticator = Authenticator(known, clock.now, key.encode())
        self.authorizer = Authorizer(self.store)
        self.rest.check_grant = functools.partial(escalation.check, self.authorizer)
        self.controllers = Controllers(self, collect_garbage=collect_garbage)
        if journal is not None:
            journal.load_into(self.store)
            for group in {s.obj["spec"]["group"] for s in self.store.list(crd.STORAGE)[1]}:
                self.controllers.serve_group(group)
        self.store.on_event = self._on_event
        # Guards making the certificate.
        self._lock = threading.Lock()
        self._identity: Identity | None = None
        self._given_tls = tls
        self._host = host
        self._cached: dict[str, tuple[int, bytes, str]] = {}
        self._running = False
        self._stopped = False
        self._paths: dict[str, Callable[[Request], Response]] = {
            "/": self._root,
            "/version": lambda request: render(_VERSION, Form(pretty=True)),
            "/api": self._api,
            "/apis": self._apis,
            "/openapi/v2": self._openapi_v2,
            "/openapi/v3": lambda request: render(openapi.v3_index(self.registry), None),
            "/metrics": self._metrics,
            "/debug/compact": self._compact,
        }

    def __repr__(self) -> str:
        return f"<Server {self.url} {self.store!r}>"

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The plain http URL."""
        return f"http://{self._authority}"

    @property
    def tls_url(self) -> str:
        """The https URL of the same port; clients of a kubeconfig send their token only there."""
        return f"https://{self._authority}"

    @property
    def _authority(self) -> str:
        host, port = self._http.address
        if host in ("0.0.0.0", "::"):
            host = "127.0.0.1"
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def ca_certificate(self) -> str:
        """The self-signed certificate in PEM, empty when one was given."""
        return "" if self._given_tls is not None else self._own_identity().certificate

    def _open_journal(self, data_dir: str) -> SqliteJournal:
        try:
            return SqliteJournal(data_dir)
        except OSError:
            self._http.stop()
            raise

    def _own_identity(self) -> Identity:
        with self._lock:
            if self._identity is None:
                hosts = ["localhost", "kubernetes.default.svc", "127.0.0.1", "::1"]
                if self._host not in (*hosts, "0.0.0.0", "::", ""):
                    hosts.append(self._host)
                made = functools.partial(self_signed, hosts, self.clock.now())
                self._identity = Identity(self._remember("certificate", lambda: "".join(made())))
            return self._identity

    def _tls_context(self) -> ssl.SSLContext:
        return self._given_tls or self._own_identity().context

    def start(self) -> None:
        """Begin to serve; returns when requests are answered."""
        if self._running:
            return
        self._running = True
        self._bootstrap()
        self.pump.start(self._http)
        self.controllers.start()
        self._http.start()

    def stop(self) -> None:
        """Close everything, started or not; blocks until all threads have ended. Idempotent."""
        if self._stopped:
            return
        self._stopped = True
        self.controllers.stop()
        self.pump.stop()
        self._http.stop()
        self.store.close()

    # ---- from the store

    def _on_event(self, bucket: str, event: Event) -> None:
        self.pump.offer(bucket, event)
        self.controllers.offer(bucket, event)

    def _after_commit(self, kind: str, resource: Resource, new: Stored, old: Stored | None) -> None:
        if resource.storage != crd.STORAGE:
            return
        if kind == "DELETED":
            self.controllers.serve_group(new.obj["spec"]["group"])
            return
        changed = old is None or old.obj["spec"] != new.obj["spec"] or not crd.is_established(new.obj)
        if changed and not new.obj["metadata"].get("deletionTimestamp"):
            self.controllers.establish(new)

    def _bootstrap(self) -> None:
        """What a cluster has before anybody does anything."""
        for name in _NAMESPACES:
            if self.store.get("/namespaces", name) is None:
                self.create_object("", "v1", "namespaces", "", {"metadata": {"name": name}})
        for plural, obj in rbac.bootstrap_objects():
            if self.store.get(f"rbac.authorization.k8s.io/{plural}", obj["metadata"]["name"]) is None:
                self.create_object("rbac.authorization.k8s.io", "v1", plural, "", obj)
        if self.store.get("/services", "default/kubernetes") is None:
            labels = {"component": "apiserver", "provider": "kubernetes"}
            ports = [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}]
            service = {
                "metadata": {"name": "kubernetes", "labels": labels},
                "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.1", "ports": ports},
            }
            self.create_object("", "v1", "services", "default", service)

    def create_object(self, group: str, version: str, plural: str, namespace: str, obj: Json) -> Stored | None:
        """Store an object on the server's own behalf; None when it was there or could not be."""
        resource = self.registry.find(group, version, plural)
        assert resource is not None
        try:
            return self.create(resource, namespace, obj)
        except ApiError as err:
            klog.v(3).info("Could not create", resource=plural, err=str(err))
            return None

    def create(self, resource: Resource, namespace: str, obj: Json) -> Stored:
        """Create an object without a request. Raises ApiError."""
        request = internal_request("POST", "kube-apiserver")
        call = Call(request, resource, namespace, "", "", Form())
        options = WriteOptions(request, "CreateOptions")
        return self.rest.create_object(call, decoding.decode(call, obj, options), options)

    # ---- requests

    def handle(self, request: Request, too_large: bool) -> Response:
        """Answer one request; never raises."""
        response = self._answer(request, too_large)
        if request.warnings:
            response.headers["Warning"] = warning_header(request.warnings)
        return response

    def _answer(self, request: Request, too_large: bool) -> Response:
        form: Form | None = None
        try:
            if too_large:
                raise errors.too_large(http.MAX_BODY)
            user = request.user = self._impersonated(request, self.authenticator.authenticate(request))
            form = Form(pretty=negotiation.pretty(request))
            return self._route(request, user)
        except ApiError as err:
            form = Form(pretty=True) if err.pretty else form
            return render(err.status(), form, err.code, err.headers)
        except PlainError as err:
            headers = {"Cache-Control": NO_CACHE, "X-Content-Type-Options": "nosniff"}
            return Response(err.code, err.text.encode(), "text/plain; charset=utf-8", headers)
        except Exception as err:
            klog.error_s(err, "Request failed", method=request.method, path=request.path)
            text = "Internal Server Error"
            status = ApiError(500, "InternalError", text, {"causes": [{"message": type(err).__name__}]}).status()
            return render(status, form, 500)

    def _impersonated(self, request: Request, user: User) -> User:
        """The user that the request acts as; who may not impersonate gets a 403."""
        name = request.header("impersonate-user")
        groups = tuple(g.strip() for g in request.header("impersonate-group").split(",") if g.strip())
        if not name and not groups:
            return user
        self.authorizer.check(user, Attributes("impersonate", resource="users", name=name))
        for group in groups:
            self.authorizer.check(user, Attributes("impersonate", resource="groups", name=group))
        return User(name, request.header("impersonate-uid"), (*groups, AUTHENTICATED))

    def _route(self, request: Request, user: User) -> Response:
        watch = request.param("watch") not in ("", "0", "false")
        info = routing.parse(request.method, request.path, watch)
        if info is None:
            self.authorizer.check(user, Attributes(request.method.lower(), path=request.path))
            return self._non_resource(request)
        self.authorizer.check(user, self._attributes(request, info))
        return self._resource(request, info, user)

    @staticmethod
    def _attributes(request: Request, info: RequestInfo) -> Attributes:
        """What is asked for; a collection narrowed to one name counts as that name, so that resourceNames fit."""
        if info.verb in _COLLECTION_VERBS and not info.name and (text := request.param("fieldSelector")):
            with contextlib.suppress(ValueError):
                info.only_name = fields.parse_selector(text).requires_exact_match("metadata.name")[0]
        return info.attributes()

    def _resource(self, request: Request, info: RequestInfo, user: User) -> Response:
        resource = self.registry.find(info.group, info.version, info.resource)
        if resource is None:
            if self.registry.is_builtin(info.group):
                raise errors.resource_not_found()
            raise errors.page_not_found()
        if bool(info.namespace) and not resource.namespaced:
            raise errors.resource_not_found()
        form = negotiation.choose(request)
        call = Call(request, resource, info.namespace, info.name, info.subresource, form)
        if resource.namespaced and not info.namespace and info.name:
            raise errors.resource_not_found()
        call.warnings += warnings.of_resource(resource)
        if info.group in _REVIEW_GROUPS:
            if info.verb != "create":
                raise errors.method_not_allowed()
            return subresources.review(self, call, user)
        if info.subresource:
            return self._subresource(call, info)
        return self._verb(call, info)

    def _verb(self, call: Call, info: RequestInfo) -> Response:
        resource, verb = call.resource, info.verb
        if resource.custom and verb == "update" and not info.name:
            raise errors.bad_request("name must be provided")
        if resource.plural == "bindings" and resource.group == "" and verb == "create":
            return subresources.binding(self, call)
        if resource.plural == "componentstatuses" and resource.group == "":
            return render({"kind": "ComponentStatusList", "apiVersion": "v1", "metadata": {}, "items": []}, call.form)
        if verb not in resource.verbs:
            raise errors.method_not_allowed()
        named = bool(info.name)
        if verb == "create":
            if (named and not resource.custom) or (resource.namespaced and not call.namespace):
                raise errors.method_not_allowed()
            if resource.custom:
                self._check_not_terminating(resource)
            return self.rest.create(call)
        if verb in ("update", "patch") and not named:
            raise errors.method_not_allowed()
        verbs: dict[str, Callable[[Call], Response]] = {
            "get": self.rest.get,
            "list": self.rest.list_objects,
            "watch": self.rest.watch,
            "update": self.rest.update,
            "patch": self.rest.patch,
            "delete": self.rest.delete,
            "deletecollection": self.rest.delete_collection,
        }
        return verbs[verb](call)

    def _check_not_terminating(self, resource: Resource) -> None:
        stored = self.store.get(crd.STORAGE, f"{resource.plural}.{resource.group}")
        if stored is not None and crd.is_terminating(stored.obj):
            text = "create not allowed while custom resource definition is terminating"
            details = {"group": resource.group, "kind": resource.plural}
            raise ApiError(405, "MethodNotAllowed", text, details)

    def _subresource(self, call: Call, info: RequestInfo) -> Response:
        resource, name = call.resource, info.subresource
        known = resource.subresources.get(name)
        if known is None:
            if resource.custom:
                raise call.not_found()
            raise errors.resource_not_found()
        if name in _STREAMS:
            return subresources.pod_streams(self, call)
        if info.verb not in known.verbs:
            raise errors.method_not_allowed()
        if name == "scale":
            return subresources.scale(self, call)
        if name == "binding":
            return subresources.binding(self, call)
        if name == "eviction":
            return eviction.evict(self, call)
        if name == "token":
            return subresources.token(self, call)
        verbs: dict[str, Callable[[Call], Response]] = {
            "get": self.rest.get,
            "update": self.rest.update,
            "patch": self.rest.patch,
        }
        return verbs[info.verb](call)

    # ---- everything that is no resource

    def _non_resource(self, request: Request) -> Response:
        path = request.path
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
        group = self.registry.group(name)
        rest = parts[1:] if parts[0] == "api" else parts[2:]
        if group is None:
            raise errors.page_not_found()
        if not rest:
            return render(
                {"kind": "APIGroup", "apiVersion": "v1", **group.document()}, negotiation.choose(request, objects=False)
            )
        if len(rest) > 1 or rest[0] not in group.resources:
            if self.registry.is_builtin(name):
                raise errors.resource_not_found()
            raise errors.page_not_found()
        return render(self.registry.resource_list(group, rest[0]), negotiation.choose(request, objects=False))

    def _api(self, request: Request) -> Response:
        form = negotiation.choose(request, objects=False)
        if form.kind == "Discovery":
            return self._aggregated(request, form, True)
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": self.url.partition("://")[2]}]
        return render({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}, form)

    def _apis(self, request: Request) -> Response:
        form = negotiation.choose(request, objects=False)
        if form.kind == "Discovery":
            return self._aggregated(request, form, False)
        return render(self.registry.group_list(), form)

    def _cache(self, key: str, make: Callable[[], Any], encode: Callable[[Any], bytes] = dumps) -> tuple[bytes, str]:
        """Bytes and hash of a document that changes only with the registry."""
        generation = self.registry.generation
        known = self._cached.get(key)
        if known is None or known[0] != generation:
            body = encode(make())
            known = (generation, body, hashlib.sha512(body).hexdigest().upper())
            self._cached[key] = known
        return known[1], known[2]

    def _aggregated(self, request: Request, form: Form, core: bool) -> Response:
        body, digest = self._cache(
            f"aggregated {core} {form.version}", lambda: self.registry.aggregated(core, form.version)
        )
        media = f"application/json;g=apidiscovery.k8s.io;v={form.version};as=APIGroupDiscoveryList"
        headers = {"Cache-Control": "public", "ETag": f'"{digest}"', "Vary": "Accept"}
        if request.header("if-none-match") == f'"{digest}"':
            return Response(304, b"", "", headers)
        return Response(200, body, media, headers)

    def _openapi_v2(self, request: Request) -> Response:
        accept = request.header("accept", "application/json")
        if any(media in accept for media in openapi_pb.MEDIA_TYPES):
            body, digest = self._cache("v2 protobuf", lambda: openapi.v2_document(self.registry), openapi_pb.encode)
            media = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
        elif "json" in accept or "*/*" in accept:
            body, digest = self._cache("v2", lambda: openapi.v2_document(self.registry))
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
            document = openapi.v3_document(self.registry, group, version)
            if document is None:
                raise errors.page_not_found()
            return document

        body, digest = self._cache(f"v3 {group}/{version}", make)
        return Response(200, body, "application/json", {"Cache-Control": NO_CACHE, "ETag": f'"{digest}"'})

    def _root(self, request: Request) -> Response:
        paths = ["/.well-known/openid-configuration", "/api", "/api/v1", "/apis", "/apis/"]
        for group in self.registry.groups():
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
        for bucket in self.store.buckets():
            group, _, plural = bucket.partition("/")
            name = errors.resource_text(group, plural)
            lines.append(f'apiserver_storage_objects{{resource="{name}"}} {self.store.count(bucket)}')
        return Response(200, ("\n".join(lines) + "\n").encode(), "text/plain; version=0.0.4; charset=utf-8")

    def _compact(self, request: Request) -> Response:
        """POST /debug/compact?resourceVersion=N: discard the history, as etcd's compaction does."""
        if request.method != "POST":
            raise errors.method_not_allowed()
        text = request.param("resourceVersion")
        if not text.isascii() or not text.isdigit():
            raise errors.bad_request(f'resourceVersion: Invalid value: "{text}"')
        self.store.compact(int(text))
        return render({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}, Form())
