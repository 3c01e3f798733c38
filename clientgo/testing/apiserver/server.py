"""The API server as a whole: makes the parts, authenticates, authorizes, and owns the threads.

with Server(tokens={"secret": admin_user()}) as server:
    print(server.url)
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from clientgo import klog, lazy_loader
from clientgo.testing.apiserver.access import escalation, impersonation, rbac, routing
from clientgo.testing.apiserver.access.auth import Authenticator
from clientgo.testing.apiserver.access.rbac import Attributes, Authorizer
from clientgo.testing.apiserver.access.tokens import ServiceAccountTokens
from clientgo.testing.apiserver.access.users import AUTHENTICATED, MASTERS, User
from clientgo.testing.apiserver.admission import priority
from clientgo.testing.apiserver.admission.chain import UNDONE_BY_CONTROLLERS, Chain
from clientgo.testing.apiserver.controllers.definitions import Establisher
from clientgo.testing.apiserver.controllers.manager import Controllers
from clientgo.testing.apiserver.controllers.objects import Objects
from clientgo.testing.apiserver.kinds.gates import CBOR_SERVING_AND_STORAGE, FeatureGates
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.policies.chain import AdmissionChain
from clientgo.testing.apiserver.store.local_watch import LocalPump
from clientgo.testing.apiserver.store.storage import DEFAULT_HISTORY, Contents, Store, Stored, Unwritten
from clientgo.testing.apiserver.store.watch import Pump, Watches
from clientgo.testing.apiserver.verbs.core import Containers, Services
from clientgo.testing.apiserver.verbs.deleting import Deleter
from clientgo.testing.apiserver.verbs.dispatch import Dispatcher
from clientgo.testing.apiserver.verbs.reading import Reader
from clientgo.testing.apiserver.verbs.writing import Writer
from clientgo.testing.apiserver.views.documents import NO_CACHE, Documents, render
from clientgo.testing.apiserver.views.index import Index
from clientgo.testing.apiserver.webhooks.matching import GROUP as ADMISSION_GROUP
from clientgo.testing.apiserver.wire import errors, http, negotiation
from clientgo.testing.apiserver.wire.certificates import Identity
from clientgo.testing.apiserver.wire.errors import ApiError, FieldError, PlainError
from clientgo.testing.apiserver.wire.http import HttpServer, Request, Response
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.negotiation import Form
from clientgo.testing.apiserver.wire.signing import make_certificates
from clientgo.testing.apiserver.wire.times import Times
from clientgo.testing.apiserver.wire.warnings import warning_headers
from clientgo.testing.apiserver.wire.webhooks import WebhookClients
from clientgo.utils.clock import REAL_CLOCK, Clock

if TYPE_CHECKING:
    from clientgo.testing.apiserver.store.persistence import SqliteJournal
    from clientgo.testing.apiserver.streams.runtime import Runtime

T = TypeVar("T")

# The packages that most requests need. They come with the first request, so that a server starts fast.
_import_shared_packages = lazy_loader.importer(
    "clientgo.apimachinery.runtime",
    "clientgo.apimachinery.apis.meta.v1",
    "clientgo.apimachinery.runtime.serializer.protobuf",
    "clientgo.testing.apiserver.kinds.protobuf",
    "clientgo.testing.apiserver.views.table",
    "clientgo.apimachinery.util.strategicpatch",
)

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


def admin_user(name: str = "kubernetes-admin") -> User:
    """Return a user with all permissions."""
    return User(name, "", (MASTERS, AUTHENTICATED))


def _random_uid() -> str:
    """Return a random UUID of version 4, several times faster than uuid.uuid4."""
    text = os.urandom(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{_VARIANTS[text[16]]}{text[17:20]}-{text[20:]}"


# Of the digit that says which kind of UUID it is, two bits are given.
_VARIANTS = {digit: "89ab"[int(digit, 16) % 4] for digit in "0123456789abcdef"}


def _make_uncached(name: str, make: Callable[[], str]) -> str:
    return make()


def _journal(folder: str) -> SqliteJournal:
    from clientgo.testing.apiserver.store.persistence import SqliteJournal  # Here: it brings SQLite.

    return SqliteJournal(folder)


class Server:
    """One API server on one port. start() returns when it serves requests; stop() leaves no thread and no socket.

    `token` is a random token of an administrator. With `listen=False` the server has no port and no socket, and serves
    only the clients of local.LocalTransport, also in virtual time.
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
        enable_admission_plugins: Iterable[str] = (),
        disable_admission_plugins: Iterable[str] = (),
        feature_gates: Mapping[str, bool] | None = None,
        listen: bool = True,
        new_uid: Callable[[], str] = _random_uid,
        contents: Contents | None = None,
    ) -> None:
        """Initialize a server and bind its port at once.

        Of the admission plugins that kube-apiserver enables by default, UNDONE_BY_CONTROLLERS are disabled here.
        `new_uid` returns the uid of each new object; a test whose runs must be identical can number the objects.
        `contents` has the objects to start with: `store.all_contents()` of another server. It needs no `data_dir`.

        Raises OSError if the port is taken or `data_dir` is unusable, ValueError for an unknown admission plugin or
        feature gate.
        """
        self._gates = FeatureGates(feature_gates or {})
        if self._gates.enabled(CBOR_SERVING_AND_STORAGE):
            # Fails now, and not at the first request, if the extra `cbor` is missing.
            import_module("clientgo.testing.apiserver.wire.cborio")
        # First, because nothing else has to be closed yet when the port is taken.
        self._http = HttpServer(host, port, self.handle, self._tls_context, self.admit) if listen else None
        self.clock = clock
        self.times = Times(clock)
        # Guards making the certificate.
        self._lock = threading.Lock()
        self._identity: Identity | None = None
        self._given_tls = tls
        self._containers = Containers()
        self._new_uid = new_uid
        self._host = host
        self._running = False
        self._stopped = False
        with contextlib.ExitStack() as undo:
            if self._http is not None:
                undo.callback(self._http.stop)
            journal = _journal(data_dir) if data_dir else None
            if journal is not None:
                undo.callback(journal.close)
            pump = self._assemble(journal, tokens or {}, history, contents)
            undo.callback(pump.stop)
            enabled = set(enable_admission_plugins)
            disabled = {*disable_admission_plugins, *(set(UNDONE_BY_CONTROLLERS) - enabled)}
            admission = Chain(self.store, enabled=enabled, disabled=disabled)
            self._connect(pump, admission, journal is not None or contents is not None, collect_garbage)
            undo.pop_all()

    def _assemble(
        self, journal: SqliteJournal | None, tokens: dict[str, User], history: int, contents: Contents | None
    ) -> Watches:
        """Create the store, the authenticator, the authorizer and the pump of the watches."""
        clock = self.clock
        self._remember = journal.remember if journal is not None else _make_uncached
        self.token = self._remember("token", lambda: secrets.token_urlsafe(32))
        known = {self.token: admin_user(), **tokens}
        start = contents.version if contents is not None else 0
        if journal is not None:
            start = journal.version
        self.store = store = Store(clock, history=history, journal=journal, start=start)
        if journal is not None:
            journal.load_into(store)
        elif contents is not None:
            store.load_all(contents)
        key = self._remember("signing-key", lambda: secrets.token_hex(32))
        accounts = ServiceAccountTokens(key.encode(), Times(clock), self._lookup, self._new_uid)
        self._authenticator = Authenticator(known, accounts)
        self._authorizer = Authorizer(store)
        self._pump: Watches = LocalPump(store, clock) if self._http is None else Pump(store, clock)
        return self._pump

    def _connect(self, pump: Watches, admission: Chain, is_restart: bool, collect_garbage: bool) -> None:
        """Create the verbs and controllers, and connect them."""
        store, times = self.store, self.times
        self.registry = registry = Registry()
        self._webhooks = WebhookClients()
        establisher = Establisher(store, registry, pump, times, self._webhooks)
        may_grant = functools.partial(escalation.check, self._authorizer)
        services = Services(
            store=store,
            registry=registry,
            pump=pump,
            times=times,
            documents=Documents(times),
            plugins=admission,
            webhooks=AdmissionChain(self._webhooks, store, registry, self._authorizer),
            committed=establisher.committed,
            may_grant=may_grant,
            may_read=self._may_read,
            authorize=self._authorizer.check,
            allowed=self._authorizer.allowed,
            new_uid=self._new_uid,
            gates=self._gates,
            containers=self._containers,
        )
        reader = Reader(services)
        self._writer, deleter = Writer(services), Deleter(services, reader)
        self._index = Index(registry, store, self._authority, self._gates)
        self._resources = Dispatcher(services, reader, self._writer, deleter, self._authenticator, self._authorizer)
        self._objects = Objects(services, self._writer, deleter)
        self.controllers = Controllers(self._objects, self.clock, collect_garbage=collect_garbage)
        if is_restart:
            establisher.serve_all()
        store.subscribe(pump.offer)
        store.subscribe(self.controllers.offer)

    def __repr__(self) -> str:
        return f"<Server {self.url} {self.store!r}>"

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def http(self) -> HttpServer:
        """Raises ValueError when the server does not listen."""
        if self._http is None:
            raise ValueError("the server does not listen")
        return self._http

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
        if self._http is None:
            return "apiserver.local"
        host, port = self._http.address
        if host in ("0.0.0.0", "::"):
            host = "127.0.0.1"
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def ca_certificate(self) -> str:
        """The certificate of the authority that signed the server's, in PEM; empty when one was given."""
        return "" if self._given_tls is not None else self._own_identity().authority

    def _own_identity(self) -> Identity:
        with self._lock:
            if self._identity is None:
                hosts = ["localhost", "kubernetes.default.svc", "127.0.0.1", "::1"]
                if self._host not in (*hosts, "0.0.0.0", "::", ""):
                    hosts.append(self._host)
                made = functools.partial(make_certificates, hosts, self.clock.now())
                self._identity = Identity(self._remember("serving-certificates", lambda: "".join(made())))
            return self._identity

    def _tls_context(self) -> ssl.SSLContext:
        return self._given_tls or self._own_identity().context

    def start(self) -> None:
        """Start the server. Returns when it serves requests."""
        if self._running:
            return
        self._running = True
        self._bootstrap()
        self._pump.start(self._http)
        self.controllers.start()
        if self._http is not None:
            self._http.start()

    def stop(self) -> None:
        """Stop the server, also if it was not started. Blocks until all threads have ended. Idempotent."""
        if self._stopped:
            return
        self._stopped = True
        # First, because everything else may be waiting for one.
        self._webhooks.stop()
        self.controllers.stop()
        self._pump.stop()
        if self._http is not None:
            self._http.stop()
        self.store.close()

    def _bootstrap(self) -> None:
        """Create the objects of a new cluster."""
        for name in _NAMESPACES:
            if self.store.get("/namespaces", name) is None:
                self._objects.create("", "v1", "namespaces", "", {"metadata": {"name": name}})
        for plural, obj in rbac.bootstrap_objects():
            if self.store.get(f"rbac.authorization.k8s.io/{plural}", obj["metadata"]["name"]) is None:
                self._objects.create("rbac.authorization.k8s.io", "v1", plural, "", obj)
        for obj in priority.bootstrap_objects():
            if self.store.get(priority.CLASSES, obj["metadata"]["name"]) is None:
                self._objects.create("scheduling.k8s.io", "v1", "priorityclasses", "", obj)
        if self.store.get("/services", "default/kubernetes") is None:
            labels = {"component": "apiserver", "provider": "kubernetes"}
            ports = [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}]
            service = {
                "metadata": {"name": "kubernetes", "labels": labels},
                "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.1", "ports": ports},
            }
            self._objects.create("", "v1", "services", "default", service)

    def run_containers(self, runtime: Runtime | None) -> None:
        """Serve the logs and streams of pods with these containers; None to refuse them again."""
        self._containers.runtime = runtime

    def create(self, resource: Resource, namespace: str, obj: Json) -> Stored:
        """Create an object without a request. Raises ApiError."""
        return self._writer.create_own(resource, namespace, obj)

    def _may_read(self, user: User | None, resource: Resource, obj: Json, old: Json | None) -> FieldError | None:
        """Return an error if a policy or binding refers to parameters that its writer may not read."""
        if resource.group != ADMISSION_GROUP:
            return None
        from clientgo.testing.apiserver.access import parameters  # Here, not above: few servers need it.

        return parameters.check(self._authorizer.allowed, self.store, self.registry, user, resource, obj, old)

    def _lookup(self, storage: str, key: str) -> Json | None:
        stored = self.store.get(storage, key)
        return stored.obj if stored is not None else None

    # ---- requests

    def admit(self, request: Request) -> Response | None:
        """Authenticate and authorize a request whose body was not read. Returns the response if it is refused."""
        return self._guarded(request, self._admit)

    def handle(self, request: Request, too_large: bool) -> Response:
        """Answer one request; never raises. Admits it first unless `admit` has."""
        response = self._guarded(request, functools.partial(self._answer, too_large))
        if request.warnings:
            response.headers["Warning"] = warning_headers(request.warnings)
        return response

    def _admit(self, request: Request) -> None:
        request.speaks_cbor = self._gates.enabled(CBOR_SERVING_AND_STORAGE)
        user = self._authenticator.authenticate(request)
        user = request.user = impersonation.impersonated(self._authorizer, request, user)
        info = request.info = routing.parse(request.method, request.path, request.flag("watch"))
        if info is None:
            self._authorizer.check(user, Attributes(request.method.lower(), path=request.path))
        else:
            self._authorizer.check(user, routing.attributes(request, info))

    def _answer(self, too_large: bool, request: Request) -> Response:
        if request.user is None:
            self._admit(request)
        if too_large:
            raise errors.too_large(f"limit is {http.MAX_BODY}")
        routing.check_timeout(request, request.info)
        if request.info is None:
            return self._index.handle(request)
        return self._resources.handle(request, request.info, request.user)

    def _guarded(self, request: Request, act: Callable[[Request], T]) -> T | Response:
        """Call a function. Returns its result, or the response for its error."""
        _import_shared_packages()
        try:
            return act(request)
        except ApiError as err:
            form = Form(pretty=True) if err.pretty else self._form_of_errors(request)
            return render(err.status(), form, err.code, err.headers)
        except PlainError as err:
            headers = {"Cache-Control": NO_CACHE, "X-Content-Type-Options": "nosniff"}
            return Response(err.code, err.text.encode(), "text/plain; charset=utf-8", headers)
        except Unwritten as err:
            klog.error_s(err, "Could not write", method=request.method, path=request.path)
            text = "Internal error occurred: the change could not be written to disk"
            status = ApiError(500, "InternalError", text, {"causes": [{"message": text}]}).status()
            return render(status, self._form_of_errors(request), 500)
        except Exception as err:
            klog.error_s(err, "Request failed", method=request.method, path=request.path)
            text = "Internal Server Error"
            status = ApiError(500, "InternalError", text, {"causes": [{"message": type(err).__name__}]}).status()
            return render(status, self._form_of_errors(request), 500)

    def _form_of_errors(self, request: Request) -> Form | None:
        """Return the form of a Status for an error. Returns None, the plain form, for an unauthenticated request."""
        if request.user is None:
            return None
        media = negotiation.of_errors(request)
        if media == negotiation.YAML:
            return Form(media)
        if media in (negotiation.PROTOBUF, negotiation.CBOR):
            return Form(media)
        return Form(pretty=negotiation.pretty(request))
