"""The texts that the server's objects show in a debugger and in failing tests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.golang.http.server_connection import Connection
from clientgo.golang.http.server_request import Request
from clientgo.testing.apiserver.access.auth import Authenticator
from clientgo.testing.apiserver.access.rbac import Attributes, Authorizer
from clientgo.testing.apiserver.access.tokens import ServiceAccountTokens
from clientgo.testing.apiserver.controllers.objects import Objects
from clientgo.testing.apiserver.kinds import schema, selectors
from clientgo.testing.apiserver.server import Server
from clientgo.testing.apiserver.simulator.autoscalers import Autoscalers
from clientgo.testing.apiserver.simulator.cronjobs import CronJobs
from clientgo.testing.apiserver.simulator.statefulsets import StatefulSets
from clientgo.testing.apiserver.store.persistence import SqliteJournal
from clientgo.testing.apiserver.store.storage import Bucket, Event, Store, Stored
from clientgo.testing.apiserver.store.watch import Pump, Watcher
from clientgo.testing.apiserver.views.documents import Documents
from clientgo.testing.apiserver.webhooks.matching import Matcher
from clientgo.testing.apiserver.wire.negotiation import Form


def made(cls: type, /, **fields: Any) -> Any:
    """Return an object that has these fields only."""
    one: Any = object.__new__(cls)
    for name, value in fields.items():
        setattr(one, name, value)
    return one


SOME = Stored("default/a", {"metadata": {"name": "a"}}, 7)


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (made(Connection, sock=SimpleNamespace(fileno=lambda: 5)), "<Connection 5>"),
        (made(Request, method="GET", path="/api"), "<Request GET /api>"),
        (made(Authenticator, _users={"t": None}), "<Authenticator 1 tokens>"),
        (made(Authorizer), "<Authorizer RBAC>"),
        (made(ServiceAccountTokens), "<ServiceAccountTokens>"),
        (made(Objects, store="S"), "<Objects 'S'>"),
        (schema.kind_struct("v1", "Namespace"), "<Struct io.k8s.api.core.v1.Namespace 5 fields>"),
        (made(selectors.Selection, source=("a=b", "c=d")), "<Selection labels='a=b' fields='c=d'>"),
        (made(Autoscalers), "<Autoscalers>"),
        (made(CronJobs), "<CronJobs>"),
        (made(StatefulSets), "<StatefulSets>"),
        (made(SqliteJournal, path="/tmp/x"), "<SqliteJournal /tmp/x>"),
        (SOME, "<Stored default/a @7>"),
        (made(Event, type="ADDED", new=SOME, rv=8), "<Event ADDED default/a @8>"),
        (made(Bucket, name="/pods", items={"a": 1}, log=[1, 2], compacted=3),
         "<Bucket /pods 1 objects, 2 events after 3>"),
        (made(Store, _rv=4, _buckets={"/pods": 1}), "<Store @4 1 resources>"),
        (made(Watcher, view="V", backlog=9), "<Watcher 'V' backlog 9>"),
        (made(Pump, _watchers={"/pods": {"v": [1, 2], "w": [3]}}), "<Pump 3 watchers>"),
        (made(Documents), "<Documents>"),
        (made(Matcher, _store="S"), "<Matcher 'S'>"),
        (made(Form, media="m", kind="Table", version="v1"), "<Form m Table v1>"),
    ],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_an_object_shows_what_it_is(one: object, text: str) -> None:
    assert repr(one) == text


def test_attributes_show_the_path_or_the_resource() -> None:
    assert repr(Attributes("get", path="/healthz")) == "<Attributes get /healthz>"
    assert repr(
        Attributes("get", resource="pods", subresource="log", namespace="n", name="a")
    ) == "<Attributes get pods/log n/a>"  # fmt: skip


def test_a_server_shows_its_address_and_its_store() -> None:
    server = Server(listen=False)
    assert repr(server) == f"<Server {server.url} {server.store!r}>"
    server.stop()
