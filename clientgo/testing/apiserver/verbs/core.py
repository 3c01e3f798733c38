"""Parts that all verbs share: their services, retries after conflicts, and responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from clientgo.testing.apiserver.access.rbac import Attributes
from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.kinds.gates import SHARDED_LIST_AND_WATCH, WATCH_LIST, FeatureGates
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.kinds.selectors import Selection
from clientgo.testing.apiserver.store.storage import Changed, Exists, Missing, Store, Stored
from clientgo.testing.apiserver.store.watch import Watches
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import DeleteOptions, ListOptions, WriteOptions
from clientgo.testing.apiserver.views.documents import Documents
from clientgo.testing.apiserver.wire import http
from clientgo.testing.apiserver.wire.errors import FieldError
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times

if TYPE_CHECKING:
    from clientgo.testing.apiserver.streams.runtime import Runtime

_MAX_ATTEMPTS = 50

Hook = Callable[[str, Resource, Stored, Stored | None], None]
Grant = Callable[[User | None, Resource, str, Json, Json | None], None]
Parameters = Callable[[User | None, Resource, Json, Json | None], FieldError | None]


class Webhooks(Protocol):
    """The webhooks of writes. Every method blocks until all have answered, and raises their rejections."""

    def mutate(self, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> Json:
        """Return the object to store; `obj` itself if no webhook changes it."""
        ...

    def validate(self, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> None:
        """Raise ApiError to deny the object that would be stored."""
        ...

    def delete(self, call: Call, old: Json, options: DeleteOptions) -> None:
        """Raise ApiError to deny a delete."""
        ...


class Plugins(Protocol):
    """The admission plugins. Every method raises the ApiError of the first plugin that rejects the request."""

    def admit(self, request: AdmissionRequest) -> None:
        """Change the object."""
        ...

    def validate(self, request: AdmissionRequest) -> None:
        """Look at the complete object."""
        ...

    def charge(self, request: AdmissionRequest) -> None:
        """Count the object that all others have admitted."""
        ...


class Containers:
    """The containers of the server's pods, which the simulator runs; None without it."""

    def __init__(self) -> None:
        self.runtime: Runtime | None = None


class Services(NamedTuple):
    """The parts of the server that verbs use. Thread-safe: all state is in the store."""

    store: Store
    registry: Registry
    pump: Watches
    times: Times
    documents: Documents
    # Before a write: plugins change the object, look at it when it is complete, and count it.
    plugins: Plugins
    # Before each write, after the plugins.
    webhooks: Webhooks
    # After a commit, before the answer goes out: (event type, resource, new, old).
    committed: Hook
    # After the mutating webhooks: (user, resource, namespace, new object, old one). Raises ApiError when the writer may
    # not make it.
    may_grant: Grant
    # After the validation: (user, resource, new object, old one). Returns an error when the writer may not read the
    # parameters of a policy.
    may_read: Parameters
    # Raises ApiError 403 when the user lacks a right that a request needs beside that of its own verb.
    authorize: Callable[[User, Attributes], None]
    # Reports whether the user has a right, and why.
    allowed: Callable[[User, Attributes], tuple[bool, str]]
    # The uid of a new object.
    new_uid: Callable[[], str]
    gates: FeatureGates
    # The containers of pods, for logs and streams.
    containers: Containers


class Verb:
    """The base of what answers requests."""

    def __init__(self, services: Services) -> None:
        self.store = services.store
        self.registry = services.registry
        self.pump = services.pump
        self.times = services.times
        self.documents = services.documents
        self.plugins = services.plugins
        self.webhooks = services.webhooks
        self.committed = services.committed
        self.may_grant = services.may_grant
        self.may_read = services.may_read
        self.authorize = services.authorize
        self.allowed = services.allowed
        self.new_uid = services.new_uid
        self.containers = services.containers
        self._gates = services.gates

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.store!r}>"

    def is_enabled(self, gate: str) -> bool:
        """Report whether a feature gate of the server is on."""
        return self._gates.enabled(gate)

    def retry(self, call: Call, attempt: Callable[[Stored | None], tuple[Stored, bool]]) -> tuple[Stored, bool]:
        """Run `attempt` on the current object until it is not overtaken."""
        for _ in range(_MAX_ATTEMPTS):
            current = self.store.get(call.resource.storage, call.key)
            try:
                return attempt(current)
            except (Changed, Missing, Exists):
                continue
        raise call.conflict()

    def selection(self, call: Call, options: ListOptions, field_selector: str | None = None) -> Selection:
        """Return the selection of a list, watch or deletion of a collection. Raises ApiError if it is malformed."""
        fields = options.field_selector if field_selector is None else field_selector
        # Without its feature gate the parameter is ignored, malformed or not.
        shard = options.shard_selector if self._gates.enabled(SHARDED_LIST_AND_WATCH) else ""
        return Selection(call.resource, options.label_selector, fields, shard)

    def list_options(self, call: Call, *, watch: bool) -> ListOptions:
        """Return the options of a list or watch. Raises ApiError for combinations that are forbidden."""
        return ListOptions(call.request, watch=watch, watch_list=self._gates.enabled(WATCH_LIST))

    def current(self, call: Call) -> Stored:
        """Return the requested object. Raises ApiError 404."""
        stored = self.store.get(call.resource.storage, call.key)
        if stored is None:
            raise call.not_found()
        return stored

    def live(self, resource: Resource, current: Stored) -> Json:
        return resource.from_storage(current.obj) if resource.converted else current.obj

    def respond(self, call: Call, stored: Stored, status: int) -> http.Response:
        return self.documents.one(call.resource, stored, call.form, call.request, status)
