"""The state that objects in protobuf share, and the state that each of them has."""

from __future__ import annotations

from typing import Any

import protobuf_engines
import pytest
from decoding import is_undecoded
from protobuf_pods import SERIALIZER, frame, from_event

from clientgo import klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes
from clientgo.tools import cache
from clientgo.tools.cache.controller import process_deltas, process_deltas_in_batch

engine = protobuf_engines.fixture()

SPEC = put_bytes(b"\x12", put_bytes(b"R", b"node")) + put_bytes(b"\x1a", put_bytes(b"\n", b"Running"))


def versioned(version: str, name: str = "n", size: int = 200) -> bytes:
    """Return a Pod with a name, that version, and a label of `size` bytes, in this order."""
    metadata = put_bytes(b"\n", name.encode()) + put_bytes(b"2", version.encode()) + b"8\1"
    return put_bytes(b"\n", metadata + put_bytes(b"Z", put_bytes(b"\n", b"l") + put_bytes(b"\x12", b"v" * size))) + SPEC


@pytest.mark.parametrize("size", [1, 200])
def test_objects_of_the_same_size_have_each_its_own_version(size: int) -> None:
    versions = {"7": "n", "8": "n", "": "n", "77": "n", "9": "nn", "\u00e9": "n", "1.": "o"}
    pods = [from_event(versioned(version, name, size)) for version, name in versions.items()]
    assert [pod.get_resource_version() for pod in pods] == [*versions]
    assert [pod.metadata.resource_version for pod in pods] == [*versions]
    renamed = [pod.deep_copy() for pod in pods]
    for pod in renamed:
        pod.set_group_version_kind(GroupVersionKind("shop", "v2", "Crate"))
    assert [pod.deep_copy().get_resource_version() for pod in renamed] == [*versions]
    assert [pod.to_dict()["metadata"].get("resourceVersion", "") for pod in renamed] == [*versions]


def test_objects_of_a_kind_share_their_kind() -> None:
    one, other, third = (from_event(versioned(version)) for version in ("71", "72", "73"))
    assert one._source.common is other._source.common
    kept = third._source.common
    for each in range(2):
        third.set_group_version_kind(GroupVersionKind("shop", "v2", f"Crate{each}"))
        third.set_group_version_kind(GroupVersionKind("", "", ""))
    assert third._source.common is kept and one.get_resource_version() == "71"


def test_the_metadata_may_begin_anywhere() -> None:
    metadata, status = versioned("71").removesuffix(SPEC), put_bytes(b"\x1a", put_bytes(b"\n", b"Running"))
    for pod in (from_event(metadata + status), from_event(status + metadata)):
        assert (pod.get_resource_version(), pod.object_key(), pod.status.phase) == ("71", "n", "Running")


def test_a_version_is_found_where_the_same_bytes_come_earlier() -> None:
    """The name holds what looks like the field of the version."""
    pod = from_event(versioned("71", "a2\x0271"))
    assert [each.get_resource_version() for each in (pod, pod.deep_copy(), pod.freeze())] == ["71"] * 3


def test_an_object_without_managed_fields_has_its_version() -> None:
    managed = put_bytes(b"\n", b"kubelet")
    metadata = versioned("71").removesuffix(SPEC)[3:] + put_bytes(b"\x8a\x01", managed)
    pod = from_event(put_bytes(b"\n", metadata) + SPEC)
    assert pod.metadata.managed_fields[0].manager == "kubelet"
    less = pod.without_managed_fields()
    assert less is not pod and (less.get_resource_version(), less.deep_copy().get_resource_version()) == ("71", "71")


def test_an_event_says_the_same_of_its_object_as_one_of_the_same_size_in_every_byte() -> None:
    event = frame(versioned("71"))
    for _ in range(2):
        plain = SERIALIZER.decode_event(event)[1]
    other = SERIALIZER.decode_event(event.removesuffix(b"\x1a\0\x22\0") + b"\x1a\0\x1a\0")[1]
    assert (is_undecoded(plain), is_undecoded(other), plain == other) == (True, False, True)


@pytest.mark.parametrize("process", [process_deltas, process_deltas_in_batch])
def test_what_is_cached_under_a_key_has_that_key_and_none_of_its_own(process: Any) -> None:
    store = cache.new_indexer(cache.meta_namespace_key_func, {})
    for version, change in (("71", "ADDED"), ("72", "UPDATED"), ("73", "SYNC")):
        deltas = cache.Deltas([cache.Delta(cache.DeltaType[change], from_event(versioned(version, "pod-a")))])
        process(klog.background(), lambda notifications: None, store, deltas, False, cache.meta_namespace_key_func)
        [obj], [key] = store.list(), store.list_keys()
        assert (key, obj.get_resource_version(), obj.frozen) == ("pod-a", version, True)
        assert obj.object_key() is key


def test_an_object_does_not_take_the_key_of_another() -> None:
    pod, other = from_event(versioned("71", "pod-a")), from_event(versioned("71", "pod-b"))
    assert pod.freeze(other).object_key() == "pod-a" and pod.frozen
    free = corev1.Pod.from_dict({"metadata": {"name": "pod-b"}})
    for before in (free, None, "pod-b", corev1.PodList()):
        assert other.freeze(before).object_key() == "pod-b"
    assert free.freeze(other).object_key() == "pod-b" and free.frozen
