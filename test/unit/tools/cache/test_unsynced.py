"""A lister that is read before its cache has synced costs one log line, which states the remedy. Beyond Go."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from clientgo import context, features, informers
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.dynamic import dynamicinformer, dynamiclister
from clientgo.dynamic.fake import new_simple_dynamic_client
from clientgo.features.testing import set_feature_during_test
from clientgo.golang.channel import Signal
from clientgo.kubernetes import fake
from clientgo.kubernetes.scheme import SCHEME
from clientgo.listers.core.v1 import new_pod_lister
from clientgo.metadata import metadatainformer, metadatalister
from clientgo.metadata.fake import new_simple_metadata_client
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import testing as framework

Warnings = Callable[[], list[str]]
PODS = GroupVersionResource("", "v1", "pods")


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Warnings:
    """Return the warnings logged so far."""
    caplog.set_level(logging.INFO)
    return lambda: [each.getMessage() for each in caplog.records if "Warning" in each.getMessage()]


def pod(name: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="ns"))


class Source(framework.FakeControllerSource):
    """Answers no list before it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_list = Signal()

    def list(self, options: metav1.ListOptions) -> Any:
        self.may_list.wait()
        return super().list(options)


class World:
    """An informer of one pod."""

    def __init__(self, bubble: synctest.Bubble) -> None:
        self.bubble = bubble
        self.source = Source()
        self.source.add(pod("a"))
        self.informer = cache.new_shared_index_informer(
            self.source, corev1.Pod(), 0.0, {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
        )
        self.lister = new_pod_lister(self.informer.get_indexer())
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.thread = threading.Thread(target=self.informer.run_with_context, args=(self.ctx,), name="informer")

    def start(self) -> None:
        self.thread.start()
        self.bubble.wait()

    def sync(self) -> None:
        self.source.may_list.set()
        assert cache.wait_for(self.ctx, "", self.informer.has_synced_checker())

    def end(self) -> None:
        self.cancel()
        self.source.may_list.set()
        if self.thread.ident is not None:
            self.thread.join()
        self.source.shutdown()


@contextmanager
def world() -> Iterator[World]:
    with synctest.bubble() as bubble:
        made = World(bubble)
        try:
            yield made
        finally:
            made.end()


def listed(indexer: cache.Indexer) -> object:
    return new_pod_lister(indexer).list(labels.everything())


def listed_in_namespace(indexer: cache.Indexer) -> object:
    return new_pod_lister(indexer).pods("ns").list(labels.everything())


def got(indexer: cache.Indexer) -> object:
    return new_pod_lister(indexer).pods("ns").get("a")


def got_generic(indexer: cache.Indexer) -> object:
    return cache.new_generic_lister(indexer, PODS.group_resource()).by_namespace("ns").get("a")


def got_dynamic(indexer: cache.Indexer) -> object:
    return dynamiclister.new(indexer, PODS).namespace("ns").get("a")


def got_metadata(indexer: cache.Indexer) -> object:
    return metadatalister.new(indexer, PODS).namespace("ns").get("a")


@pytest.mark.parametrize("read", [listed, listed_in_namespace, got, got_generic, got_dynamic, got_metadata])
def test_a_lister_read_before_the_sync_is_reported_once(
    read: Callable[[cache.Indexer], object], warnings: Warnings
) -> None:
    with world() as w:
        w.start()
        for _ in range(2):
            try:
                assert read(w.informer.get_indexer()) == []
            except errors.StatusError as err:
                assert errors.is_not_found(err)

    (line,) = warnings()
    assert "first wait for the caches to sync, then read listers and start workers" in line
    assert 'type="*v1.Pod"' in line


def test_a_lister_of_an_informer_that_was_not_started_is_reported_once(warnings: Warnings) -> None:
    with world() as w:
        assert w.lister.list(labels.everything()) == []
        assert w.lister.list(labels.everything()) == []

    (line,) = warnings()
    assert "a lister was read whose informer was not started" in line
    assert "start the factory after requesting the informers and listers, then wait for the caches to sync" in line


def read_key(store: cache.Indexer) -> object:
    return store.get_by_key("ns/a")


def read_object(store: cache.Indexer) -> object:
    return store.get(pod("a"))


def read_index(store: cache.Indexer) -> object:
    return store.by_index(cache.NAMESPACE_INDEX, "ns")


def read_index_of_object(store: cache.Indexer) -> object:
    return store.index(cache.NAMESPACE_INDEX, pod("a"))


def read_index_keys(store: cache.Indexer) -> object:
    return store.index_keys(cache.NAMESPACE_INDEX, "ns")


def read_index_values(store: cache.Indexer) -> object:
    return store.list_index_func_values(cache.NAMESPACE_INDEX)


def read_all(store: cache.Indexer) -> object:
    return store.list()


def read_keys(store: cache.Indexer) -> object:
    return store.list_keys()


STORE_READS = [
    *(read_key, read_object, read_index, read_index_of_object, read_index_keys, read_index_values, read_all, read_keys)
]


@pytest.mark.parametrize("read", STORE_READS)
@pytest.mark.parametrize("way", ["get_store", "get_indexer"])
def test_a_store_read_before_the_start_is_reported_once(
    way: str, read: Callable[[cache.Indexer], object], warnings: Warnings
) -> None:
    with world() as w:
        for _ in range(2):
            assert read(getattr(w.informer, way)()) in ([], (None, False))

    (line,) = warnings()
    assert "a store was read whose informer was not started, so that it is empty: start the factory" in line
    assert 'type="*v1.Pod"' in line


@pytest.mark.parametrize("first", ["lister", "store"])
def test_a_lister_and_its_store_are_reported_together_before_the_start(first: str, warnings: Warnings) -> None:
    with world() as w:
        if first == "store":
            assert w.informer.get_store().list() == []
        assert w.lister.list(labels.everything()) == []
        assert w.informer.get_store().list() == []
        (line,) = warnings()
        assert f"a {first} was read whose informer was not started" in line


@pytest.mark.parametrize("read", STORE_READS)
def test_a_store_read_after_the_start_is_not_reported(
    read: Callable[[cache.Indexer], object], warnings: Warnings
) -> None:
    """Debuggers and health checks read stores while they sync."""
    with world() as w:
        w.start()
        read(w.informer.get_indexer())
        w.sync()
        read(w.informer.get_indexer())

    assert warnings() == []


def test_a_store_filled_by_hand_is_not_reported(warnings: Warnings) -> None:
    with world() as w:
        store = w.informer.get_indexer()
        store.add(pod("b"))
        assert store.get_by_key("ns/a") == (None, False)
        assert [each.metadata.name for each in store.list()] == ["b"]
        store.delete(pod("b"))
        w.informer.add_indexers({"name": lambda obj: [obj.metadata.name]})
        assert warnings() == []
        assert store.list() == []
        assert len(warnings()) == 1


def test_a_store_of_an_informer_that_was_not_started_may_be_read_in_a_handler(warnings: Warnings) -> None:
    with world() as w:
        other = World(w.bubble)
        seen: list[int] = []
        w.informer.add_event_handler(
            cache.ResourceEventHandlerFuncs(add_func=lambda obj: seen.append(len(other.informer.get_store().list())))
        )
        w.start()
        w.sync()
        w.bubble.wait()
        other.end()

    assert seen == [0]
    assert warnings() == []


def test_the_store_of_a_started_informer_reads_its_storage_directly(warnings: Warnings) -> None:
    """Reads of a running informer's store pay nothing for the report, and its parts are the same before the start."""
    with world() as w:
        store: Any = w.informer.get_store()
        before = (repr(store), store.components(), store.size())
        assert store._cache_storage is not store.components()[0]
        w.start()
        assert (repr(store), store.components(), store.size()) == before
        assert store._cache_storage is store.components()[0]
    assert warnings() == []


def test_a_lister_read_after_the_sync_is_not_reported(warnings: Warnings) -> None:
    with world() as w:
        w.start()
        w.sync()
        assert len(w.lister.list(labels.everything())) == 1
        with pytest.raises(errors.StatusError):
            w.lister.pods("ns").get("b")

    with pytest.raises(errors.StatusError):
        w.lister.pods("ns").get("b")
    assert warnings() == []


def test_a_lister_read_in_a_handler_is_not_reported(warnings: Warnings) -> None:
    """An informer's handlers hear of the initial list before it has synced, and those of another one even earlier."""
    seen: list[int] = []
    with world() as w:
        other = World(w.bubble)

        def read(obj: Any) -> None:
            seen.append(len(w.lister.list(labels.everything())))
            seen.append(len(other.lister.list(labels.everything())))

        w.informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=read))
        other.start()
        w.start()
        w.sync()
        w.bubble.wait()
        other.end()

    assert seen == [1, 0]
    assert warnings() == []


def test_a_lister_of_an_indexer_filled_by_hand_is_not_reported(warnings: Warnings) -> None:
    with world() as w:
        w.informer.get_indexer().add(pod("b"))
        assert len(w.lister.list(labels.everything())) == 1
        with pytest.raises(errors.StatusError):
            w.lister.pods("ns").get("a")

    indexer = cache.new_indexer(cache.meta_namespace_key_func, {})
    indexer.add(Unstructured({"metadata": {"name": "a"}}))
    assert len(dynamiclister.new(indexer, PODS).list(labels.everything())) == 1
    assert warnings() == []


def test_a_lister_read_after_a_stop_without_sync_is_not_reported(warnings: Warnings) -> None:
    with world() as w:
        w.start()

    assert not w.informer.has_synced()
    w.lister.list(labels.everything())
    assert warnings() == []


@pytest.mark.parametrize("kind", ["typed", "dynamic", "metadata"])
def test_a_lister_read_right_after_the_start_of_its_factory_is_told_to_wait(kind: str, warnings: Warnings) -> None:
    """The thread of the informer may not have begun, but the factory was started: only the wait is missing."""
    with synctest.bubble():
        ctx, cancel = context.with_cancel(context.background())
        if kind == "typed":
            factory: Any = informers.new_shared_informer_factory(fake.new_clientset(pod("a")), 0.0)
            informer = factory.core().v1().pods()
            start = partial(factory.start_with_context, ctx)
        else:
            factory = (
                dynamicinformer.new_dynamic_shared_informer_factory(new_simple_dynamic_client(SCHEME, pod("a")), 0.0)
                if kind == "dynamic"
                else metadatainformer.new_shared_informer_factory(new_simple_metadata_client(SCHEME), 0.0)
            )
            informer = factory.for_resource(PODS)
            start = partial(factory.start, ctx.done())
        lister = informer.lister()
        start()
        assert lister.list(labels.everything()) == []
        cancel()
        factory.shutdown()

    (line,) = warnings()
    assert "first wait for the caches to sync, then read listers and start workers" in line
