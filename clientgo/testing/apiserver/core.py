"""What all verbs share: the store and its friends, retrying lost races, answering."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from clientgo.testing.apiserver import http
from clientgo.testing.apiserver.call import Call
from clientgo.testing.apiserver.documents import Documents
from clientgo.testing.apiserver.registry import Registry, Resource
from clientgo.testing.apiserver.storage import Changed, Exists, Missing, Store, Stored
from clientgo.testing.apiserver.times import Times
from clientgo.testing.apiserver.watch import Pump

Json = dict[str, Any]

_MAX_ATTEMPTS = 50

Hook = Callable[[str, Resource, Stored, Stored | None], None]
Grant = Callable[[Call, Json, Json | None], None]


class Core:
    """The base of the verbs. Thread-safe: all state is in the store."""

    def __init__(self, store: Store, registry: Registry, pump: Pump, times: Times) -> None:
        self.store = store
        self.registry = registry
        self.pump = pump
        self.times = times
        self.documents = Documents(times)
        # Called after a commit, before the answer goes out: (event type, resource, new, old).
        self.after_commit: Hook | None = None
        # Called before a write with (call, new object, old one); raises ApiError when the writer may not make it.
        self.check_grant: Grant | None = None
        self._addresses = itertools.count(10)
        self._ports = itertools.count(30000)

    def __repr__(self) -> str:
        return f"<Rest {self.store!r}>"

    def retry(
        self, call: Call, attempt: Callable[[Stored | None], tuple[Stored, bool]], options: Any
    ) -> tuple[Stored, bool]:
        """Run `attempt` on the current object until it is not overtaken."""
        for _ in range(_MAX_ATTEMPTS):
            current = self.store.get(call.resource.storage, call.key)
            try:
                return attempt(current)
            except (Changed, Missing, Exists):
                continue
        raise call.conflict()

    def committed(self, kind: str, resource: Resource, new: Stored, old: Stored | None) -> None:
        if self.after_commit is not None:
            self.after_commit(kind, resource, new, old)

    def live(self, resource: Resource, current: Stored) -> Json:
        return resource.from_storage(current.obj) if resource.converted else current.obj

    def respond(self, call: Call, stored: Stored, status: int) -> http.Response:
        return self.documents.one(call.resource, stored, call.form, call.request, status)
