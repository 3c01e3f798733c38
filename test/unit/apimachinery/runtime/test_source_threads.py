"""Interleavings of reads, a write and a freeze of one object, in each of its states."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from decoding import TYPED, event, is_undecoded
from protobuf_pods import MESSAGE

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime import ReadOnlyError, object, source, text_source, view
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import message_source, parts, upb
from clientgo.testing import synctest

assert MESSAGE is not None
DOCUMENT = {
    "metadata": {"name": "a", "namespace": "ns", "labels": {"app": "old"}},
    "spec": {"nodeName": "old", "containers": [{"name": "c", "image": "old"}]},
}
DATA = protobuf.encode_message(MESSAGE, DOCUMENT)
MODULES = [source, object, view, parts, text_source]


def from_document() -> Any:
    return corev1.Pod.from_dict(json.loads(json.dumps(DOCUMENT)))


def from_message() -> Any:
    found = message_source.message_source(MESSAGE, DATA)
    assert found is not None
    return corev1.Pod.from_source(found)


def from_text() -> Any:
    return event(json.dumps({"type": "ADDED", "object": {"kind": "Pod", "apiVersion": "v1", **DOCUMENT}}), TYPED)


def walked() -> Any:
    return mock.patch.object(upb, "LOOKUP", upb.Lookup(is_wanted=False))


def as_loaded() -> Any:
    upb.LOOKUP.engine()  # Not inside a bubble: to load it may take long.
    return mock.patch.object(upb, "LOOKUP", upb.LOOKUP)


STATES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "document": (from_document, as_loaded),
    "text": (from_text, as_loaded),
    "message, upb": (from_message, as_loaded),
    "message, walk": (from_message, walked),
}
states = pytest.mark.parametrize("state", STATES)


class Reader:
    """A thread that reads, and keeps the views that it read from."""

    def __init__(self, obj: Any, *, backwards: bool) -> None:
        self.seen: list[str] = []
        self.views: list[Any] = []
        self._obj = obj
        self._backwards = backwards

    def read(self) -> None:
        steps = [self._labels, self._node, self._image]
        for step in reversed(steps) if self._backwards else steps:
            step()

    def _labels(self) -> None:
        labels = self._obj.metadata.labels
        self.views.append(lambda: labels["app"])
        self.seen.append(labels["app"])

    def _node(self) -> None:
        spec = self._obj.spec
        self.views.append(lambda: spec.node_name)
        self.seen.append(spec.node_name)

    def _image(self) -> None:
        [container] = self._obj.spec.containers
        self.views.append(lambda: container.image)
        self.seen.append(container.image)


def scenario(make: Callable[[], Any], freezes: bool) -> None:
    with mock.patch.object(source, "_LOCK", threading.Lock()):
        obj = make()
        readers = [Reader(obj, backwards=False), Reader(obj, backwards=True)]
        written: list[str] = []

        def write() -> None:
            try:
                obj.spec.node_name = "new"
                written.append("node")
                obj.metadata.labels["app"] = "new"
                written.append("app")
                obj.spec.containers[0].image = "new"
                written.append("image")
            except ReadOnlyError:
                pass

        threads = [threading.Thread(target=reader.read, name=f"reader {at}") for at, reader in enumerate(readers)]
        threads.append(threading.Thread(target=write, name="writer"))
        if freezes:
            threads.append(threading.Thread(target=obj.freeze, name="freezer"))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        expected = {name: "new" if name in written else "old" for name in ("node", "app", "image")}
        now = {"node": obj.spec.node_name, "app": obj.get_labels()["app"], "image": obj.spec.containers[0].image}
        assert now == expected
        assert obj.frozen == freezes and (freezes or written == ["node", "app", "image"])
        for reader in readers:
            assert len(reader.seen) == 3 and {*reader.seen} <= {"old", "new"}
            assert sorted(view() for view in reader.views) == sorted(expected.values())


@states
@pytest.mark.parametrize("freezes", [False, True], ids=["free", "frozen meanwhile"])
def test_every_view_follows_a_write_and_no_write_is_lost(state: str, freezes: bool) -> None:
    make, engine = STATES[state]
    if state == "text" and not text_source.AVAILABLE:
        pytest.skip("msgspec is not installed, or switched off")
    with engine():
        for seed in range(40):
            synctest.run(
                lambda: scenario(make, freezes), schedule=synctest.RandomSchedule(seed), preempt_in=MODULES
            )


@states
def test_threads_that_decode_an_object_end_with_one_document(state: str) -> None:
    make, engine = STATES[state]

    def scenario() -> None:
        with mock.patch.object(source, "_LOCK", threading.Lock()):
            obj = make()
            found: list[Any] = []
            threads = [
                threading.Thread(target=lambda: found.append(document_of(obj)), name=f"decoder {at}") for at in range(3)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert {id(document) for document in found} == {id(document_of(obj))}

    with engine():
        for seed in range(20):
            synctest.run(scenario, schedule=synctest.RandomSchedule(seed), preempt_in=[source, object])


@states
def test_readers_of_a_frozen_object_never_decode_it_for_good(state: str) -> None:
    make, engine = STATES[state]
    with engine():
        obj = make().freeze()
        undecoded = is_undecoded(obj)
        document = None if undecoded else document_of(obj)

        def scenario() -> None:
            readers = [Reader(obj, backwards=False), Reader(obj, backwards=True)]
            threads = [threading.Thread(target=reader.read, name=f"reader {at}") for at, reader in enumerate(readers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [reader.seen for reader in readers] == [["old"] * 3] * 2

        for seed in range(20):
            synctest.run(scenario, schedule=synctest.RandomSchedule(seed), preempt_in=MODULES)
        assert is_undecoded(obj) == undecoded
        assert undecoded or document_of(obj) is document
