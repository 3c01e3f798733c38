"""Writes of the server's own controllers: repeated after a conflict, given up on a refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from clientgo import klog
from clientgo.testing.apiserver.controllers.objects import Objects
from clientgo.testing.apiserver.server import Server
from clientgo.testing.apiserver.store.storage import Changed, Exists, Missing
from clientgo.testing.apiserver.wire.errors import ApiError

Json = dict[str, Any]
BUCKET, KEY = "/configmaps", "default/a"
REFUSED = ApiError(403, "Forbidden", "not now")


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(listen=False)
    made.start()
    maps = made.registry.find("", "v1", "configmaps")
    assert maps is not None
    made.create(maps, "default", {"metadata": {"name": "a", "finalizers": ["x/one", "x/two"]}})
    yield made
    made.stop()


@pytest.fixture
def objects(server: Server) -> Objects:
    return server.controllers._objects


def finalizers(server: Server) -> list[str] | None:
    stored = server.store.get(BUCKET, KEY)
    return None if stored is None else stored.obj["metadata"].get("finalizers")


def failing(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, *errors: Exception) -> list[int]:
    """Let the first calls of a method raise these errors. Returns a list that has an entry for each call."""
    method, calls, left = getattr(owner, name), [], list(errors)

    def call(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if left:
            raise left.pop(0)
        return method(*args, **options)

    monkeypatch.setattr(owner, name, call, raising=False)
    return calls


def test_a_finalizer_is_removed_and_the_others_stay(server: Server, objects: Objects) -> None:
    objects.remove_finalizer(BUCKET, KEY, "x/one")
    assert finalizers(server) == ["x/two"]
    objects.remove_finalizer(BUCKET, KEY, "x/other")
    assert finalizers(server) == ["x/two"]
    objects.remove_finalizer(BUCKET, KEY, "x/two")
    assert finalizers(server) == [] or finalizers(server) is None


@pytest.mark.parametrize("error", [Changed(KEY), Missing(KEY), Exists(KEY)], ids=lambda one: type(one).__name__)
def test_a_change_is_repeated_after_a_conflict(
    server: Server, objects: Objects, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = failing(monkeypatch, objects._writer, "finish_update", error)
    objects.remove_finalizer(BUCKET, KEY, "x/one")
    assert (finalizers(server), len(calls)) == (["x/two"], 2)


def test_a_change_ends_after_many_conflicts(
    server: Server, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = failing(monkeypatch, objects._writer, "finish_update", *(Changed(KEY) for _ in range(30)))
    objects.remove_finalizer(BUCKET, KEY, "x/one")
    assert (finalizers(server), len(calls)) == (["x/one", "x/two"], 20)


@pytest.mark.parametrize("error", [Changed(KEY), Missing(KEY)], ids=lambda one: type(one).__name__)
def test_a_deletion_is_repeated_after_a_conflict(
    server: Server, objects: Objects, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = failing(monkeypatch, objects._deleter, "delete_object", error)
    objects.delete(BUCKET, KEY, {})
    stored = server.store.get(BUCKET, KEY)
    assert len(calls) == 2 and stored is not None and stored.obj["metadata"]["deletionTimestamp"]


@pytest.mark.parametrize(
    ("verb", "text"), [("delete", "Could not delete"), ("change", "Could not update"), ("create", "Could not create")]
)
@pytest.mark.parametrize("verbosity", [2, 3])
def test_a_refusal_is_logged_and_not_repeated(
    server: Server, objects: Objects, verb: str, text: str, verbosity: int, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    owner, name = {
        "delete": (objects._deleter, "delete_object"),
        "change": (objects._writer, "finish_update"),
        "create": (objects._writer, "create_own"),
    }[verb]
    calls = failing(monkeypatch, owner, name, *(REFUSED for _ in range(5)))
    before = klog.verbosity()
    klog.set_verbosity(verbosity)
    try:
        if verb == "delete":
            objects.delete(BUCKET, KEY, {})
        elif verb == "change":
            objects.change(BUCKET, KEY, lambda obj: {**obj, "data": {"a": "b"}})
        else:
            objects.create("", "v1", "configmaps", "default", {"metadata": {"name": "b"}})
    finally:
        klog.set_verbosity(before)
    assert len(calls) == 1
    assert (text in capfd.readouterr().err + caplog.text) is (verbosity == 3)


def test_what_is_gone_or_not_served_is_left_alone(server: Server, objects: Objects) -> None:
    version = server.store.version
    for bucket, key in (("/nothings", KEY), (BUCKET, "default/other")):
        objects.delete(bucket, key, {})
        objects.change(bucket, key, lambda obj: pytest.fail("there is nothing to change"))
    assert server.store.version == version


def test_all_below_a_prefix_are_deleted_once(server: Server, objects: Objects) -> None:
    maps = objects.resource(BUCKET)
    server.create(maps, "default", {"metadata": {"name": "b"}})
    objects.delete_all(BUCKET, "default/")
    left = server.store.list(BUCKET, "default/")[1]
    assert [stored.key for stored in left] == [KEY] and left[0].obj["metadata"]["deletionTimestamp"]
    version = server.store.version
    objects.delete_all(BUCKET, "default/")
    assert server.store.version == version
