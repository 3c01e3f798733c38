"""Watches over real sockets: order for many, the slow one dropped, connections that go on, resources that go away."""

from __future__ import annotations

import contextlib
import itertools
import json
import select
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from patience import PATIENCE

from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.store import watch as watching
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.store.view import View
from clientgo.utils.clock.testing import FakeClock

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = {"Content-Type": "application/merge-patch+json"}


class Stream:
    """A watch on a raw socket, so that a test decides how fast it reads."""

    def __init__(self, env: Environment, path: str, *, receive_buffer: int = 0) -> None:
        self.sock = socket.socket()
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(("127.0.0.1", int(env.url.rpartition(":")[2])))
        head = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {env.token}\r\n\r\n"
        self.sock.sendall(head.encode())
        self.file = self.sock.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass

    def events(self) -> Iterator[Any]:
        """Return the events until the last chunk."""
        rest = b""
        while size := int(self.file.readline() or b"0", 16):
            rest += self.file.read(size)
            self.file.readline()
            *lines, rest = rest.split(b"\n")
            yield from map(json.loads, lines)
        self.file.readline()

    def close(self) -> None:
        self.file.close()
        self.sock.close()


@pytest.fixture
def env() -> Iterator[Environment]:
    with Environment() as environment:
        yield environment


@pytest.fixture
def session(env: Environment) -> Iterator[requests.Session]:
    with requests.Session() as client:
        client.headers["Authorization"] = f"Bearer {env.token}"
        yield client


def version(env: Environment, session: requests.Session) -> str:
    return str(session.get(env.url + CONFIG_MAPS, timeout=PATIENCE).json()["metadata"]["resourceVersion"])


def test_every_watcher_gets_every_event_in_order(env: Environment, session: requests.Session) -> None:
    watchers, writes = 60, 100
    start = version(env, session)
    streams = [Stream(env, f"{CONFIG_MAPS}?watch=1&resourceVersion={start}") for _ in range(watchers)]
    for i in range(writes):
        session.post(
            env.url + CONFIG_MAPS, json={"metadata": {"name": f"c{i:03d}"}}, timeout=PATIENCE
        ).raise_for_status()
    expected = [f"c{i:03d}" for i in range(writes)]
    for stream in streams:
        events = stream.events()
        assert [next(events)["object"]["metadata"]["name"] for _ in range(writes)] == expected
        stream.close()


def test_watchers_of_many_objects_miss_nothing(
    env: Environment, session: requests.Session, capsys: pytest.CaptureFixture[str]
) -> None:
    """The smaller sister of test/bench/apiserver: some begin at a version, some with the whole state, some late."""
    objects, writes, watchers = 1000, 600, 40
    for i in range(objects):
        env.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"o{i:04d}"}, "data": {"n": ""}})
    start = version(env, session)
    streams = [Stream(env, f"{CONFIG_MAPS}?watch=1&resourceVersion={start}") for _ in range(watchers)]
    states = [Stream(env, f"{CONFIG_MAPS}?watch=1") for _ in range(4)]
    begin = time.monotonic()
    for i in range(writes):
        path = f"{env.url}{CONFIG_MAPS}/o{i * 37 % objects:04d}"
        session.patch(path, json={"data": {"n": str(i)}}, headers=MERGE, timeout=PATIENCE).raise_for_status()
        if i == writes // 2:
            streams.append(Stream(env, f"{CONFIG_MAPS}?watch=1&resourceVersion={start}"))
    wanted = [str(i) for i in range(writes)]
    for stream in streams:
        events = stream.events()
        assert [next(events)["object"]["data"]["n"] for _ in range(writes)] == wanted
        stream.close()
    took = time.monotonic() - begin
    for stream in states:
        events = stream.events()
        first = [next(events) for _ in range(objects)]
        assert [event["object"]["metadata"]["name"] for event in first] == [f"o{i:04d}" for i in range(objects)]
        assert [next(events)["object"]["data"]["n"] for _ in range(writes)] == wanted
        stream.close()
    with capsys.disabled():
        sys.stdout.write(
            f"\n  {len(streams)} watchers on {objects} objects: {writes * len(streams) / took:,.0f} events a second\n"
        )


def test_a_connection_goes_on_after_its_watch() -> None:
    clock = FakeClock(1_700_000_000.0)
    with Environment(clock=clock) as env:
        stream = Stream(env, f"{CONFIG_MAPS}?watch=1&timeoutSeconds=600")
        clock.step(601)
        # Whatever happens next makes the server look at its clock.
        env.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})
        assert [event["object"]["metadata"]["name"] for event in stream.events()] == []
        stream.sock.sendall(f"GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {env.token}\r\n\r\n".encode())
        assert stream.file.readline() == b"HTTP/1.1 200 OK\r\n"
        stream.close()


def test_a_version_older_than_the_history_has_expired() -> None:
    with Environment(history=20) as env, requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {env.token}"
        start = version(env, session)
        for i in range(100):
            env.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{i}"}})
        stream = Stream(env, f"{CONFIG_MAPS}?watch=1&resourceVersion={start}")
        (event,) = stream.events()
        assert (stream.status, event["type"], event["object"]["reason"]) == (200, "ERROR", "Expired")
        stream.close()


def test_a_slow_watcher_is_dropped_and_holds_nobody(
    env: Environment, session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MAX_BACKLOG", 2_000_000)  # ten events or so
    start = version(env, session)
    slow = Stream(env, f"{CONFIG_MAPS}?watch=1&resourceVersion={start}", receive_buffer=4096)
    fast = Stream(env, f"{CONFIG_MAPS}?watch=1&resourceVersion={start}")
    writes = 60
    # The next write waits for the reader, so no busy machine makes a slow watcher of it.
    seen = fast.events()
    for i in range(writes):
        body = {"metadata": {"name": f"c{i:03d}"}, "data": {"k": "x" * 200_000}}
        session.post(env.url + CONFIG_MAPS, json=body, timeout=PATIENCE).raise_for_status()
        assert next(seen)["object"]["metadata"]["name"] == f"c{i:03d}"
    # The stream of the slow one breaks off, perhaps in the middle of a chunk.
    got = []
    with contextlib.suppress(ValueError, OSError):
        got.extend(slow.events())
    assert len(got) < writes
    slow.close()
    fast.close()


def test_watches_end_when_their_crd_goes(env: Environment, session: requests.Session) -> None:
    schema = {"openAPIV3Schema": {"type": "object"}}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Foo", "plural": "foos"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    definitions = f"{env.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    session.post(definitions, json=crd, timeout=PATIENCE).raise_for_status()
    foo = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}}
    session.post(
        f"{env.url}/apis/example.com/v1/namespaces/default/foos", json=foo, timeout=PATIENCE
    ).raise_for_status()
    stream = Stream(env, "/apis/example.com/v1/foos?watch=1")
    session.delete(f"{definitions}/foos.example.com", timeout=PATIENCE).raise_for_status()
    assert [event["type"] for event in stream.events()] == ["ADDED", "DELETED"]
    stream.close()


def test_a_watch_through_another_version_is_converted(env: Environment, session: requests.Session) -> None:
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    stream = Stream(env, f"{path}?watch=1")
    involved = {"kind": "Pod", "namespace": "default", "name": "p"}
    event = {"metadata": {"name": "e"}, "involvedObject": involved, "message": "hello"}
    session.post(f"{env.url}/api/v1/namespaces/default/events", json=event, timeout=PATIENCE).raise_for_status()
    seen = next(stream.events())["object"]
    assert (seen["apiVersion"], seen["note"], seen["regarding"]["name"]) == ("events.k8s.io/v1", "hello", "p")
    stream.close()


def test_other_watchers_get_events_during_a_long_initial_state(
    env: Environment, session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(10):
        env.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"o{i}"}})
    other = Stream(env, f"{CONFIG_MAPS}?watch=1&resourceVersion={version(env, session)}")
    initial = View.initial
    arrived: list[bool] = []

    def observed(view: View, item: Stored) -> bytes:
        if item.name == "o2":
            env.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "live"}})
        elif item.name == "o9":
            arrived.append(bool(select.select([other.sock], [], [], 0.0)[0]))
        return initial(view, item)

    monkeypatch.setattr(View, "initial", observed)
    monkeypatch.setattr(watching, "_PIECE", 1)
    long = Stream(env, f"{CONFIG_MAPS}?watch=1")
    names = [event["object"]["metadata"]["name"] for event in itertools.islice(long.events(), 11)]
    assert arrived == [True]
    assert next(other.events())["object"]["metadata"]["name"] == "live"
    assert sorted(names) == sorted([*(f"o{i}" for i in range(10)), "live"])
    long.close()
    other.close()


def test_objects_that_a_selector_passes_over_are_an_empty_piece() -> None:
    passed = watching._MOST_PASSED_OVER
    head, *pieces = watching._first_pieces("application/json", False, True, iter([b"", *[b""] * passed, b"a", b"b"]))
    assert head == b""
    assert len(pieces) == 1 and pieces[0].endswith(b"\r\n\r\nab")
