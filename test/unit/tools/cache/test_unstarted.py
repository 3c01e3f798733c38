"""A wait for informers that were never started costs one log line, which states the remedy. Beyond Go."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from clientgo import context, features, informers
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.dynamic import dynamicinformer
from clientgo.dynamic.fake import new_simple_dynamic_client
from clientgo.features.testing import set_feature_during_test
from clientgo.golang.channel import Signal
from clientgo.kubernetes import fake
from clientgo.kubernetes.scheme import SCHEME
from clientgo.listers.core.v1 import new_pod_lister
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import testing as framework

PODS, NODES = GroupVersionResource("", "v1", "pods"), GroupVersionResource("", "v1", "nodes")

Warnings = Callable[[], list[str]]


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Warnings:
    """Return the warnings logged so far."""
    caplog.set_level(logging.INFO)
    return lambda: [each.getMessage() for each in caplog.records if "Warning" in each.getMessage()]


def typed_factory(*objects: corev1.Pod) -> Any:
    return informers.new_shared_informer_factory(fake.new_simple_clientset(*objects), 0.0)


def dynamic_factory(*objects: corev1.Pod) -> Any:
    return dynamicinformer.new_dynamic_shared_informer_factory(new_simple_dynamic_client(SCHEME, *objects), 0.0)


class Running:
    """A factory whose informers can be started, and end with the block."""

    def __init__(self, factory: Any) -> None:
        self.factory = factory
        self._ctx, self.cancel = context.with_cancel(context.background())

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        self.factory.shutdown()

    def request(self, gvr: GroupVersionResource) -> cache.SharedIndexInformer:
        informer: cache.SharedIndexInformer = self.factory.for_resource(gvr).informer()
        return informer

    def start(self) -> None:
        self.factory.start(self._ctx.done())

    def wait(self) -> Any:
        return self.factory.wait_for_cache_sync(self._ctx.done())


factories = pytest.mark.parametrize("new_factory", [typed_factory, dynamic_factory])


@factories
def test_a_wait_of_a_factory_that_was_not_started_is_reported_once(
    new_factory: Callable[[], Any], warnings: Warnings
) -> None:
    with synctest.bubble(), Running(new_factory()) as running:
        running.request(PODS)
        assert running.wait() == {}
        running.wait()

    (line,) = warnings()
    assert "was not started: request all informers, then start the factory, then wait" in line
    assert "od" in line.partition("informers=")[2]


@factories
def test_informers_requested_after_the_start_are_reported_once(
    new_factory: Callable[[], Any], warnings: Warnings
) -> None:
    with synctest.bubble() as bubble, Running(new_factory()) as running:
        running.request(PODS)
        running.start()
        running.request(NODES)
        running.wait()
        bubble.sleep(9.7)  # the wait may have polled
        assert warnings() == []
        bubble.sleep(0.4)
        assert len(warnings()) == 1
        running.request(GroupVersionResource("apps", "v1", "deployments"))
        bubble.sleep(60.0)

    (line,) = warnings()
    assert "requested after the start of their factory: start the factory again" in line
    assert "ode" in line.partition("informers=")[2]
    assert "od" in line.partition("informers=")[2]


@factories
def test_each_informer_requested_after_the_start_is_looked_at(
    new_factory: Callable[[], Any], warnings: Warnings
) -> None:
    with synctest.bubble() as bubble, Running(new_factory()) as running:
        running.start()
        running.request(PODS)
        running.start()
        bubble.sleep(60.0)
        assert warnings() == []
        running.request(NODES)
        bubble.sleep(60.0)

    (line,) = warnings()
    assert "ode" in line.partition("informers=")[2]


@factories
def test_the_order_of_request_start_and_wait_is_not_reported_when_all_run(
    new_factory: Callable[[], Any], warnings: Warnings
) -> None:
    with synctest.bubble() as bubble, Running(new_factory()) as running:
        running.request(PODS)
        running.start()
        running.wait()
        running.request(NODES)
        bubble.sleep(5.0)
        running.start()
        assert len(running.wait()) == 2
        bubble.sleep(60.0)

    assert warnings() == []


@factories
def test_a_factory_that_is_gone_or_shut_down_is_not_reported(
    new_factory: Callable[[], Any], warnings: Warnings
) -> None:
    with synctest.bubble() as bubble:
        with Running(new_factory()) as running:
            running.start()
            running.request(PODS)
        with Running(new_factory()) as gone:
            gone.start()
            gone.request(PODS)
        del gone
        bubble.sleep(60.0)
        running.wait()

    assert warnings() == []


@factories
def test_a_shutdown_that_waits_for_informers_that_run_is_reported_once(
    new_factory: Callable[[], Any], warnings: Warnings
) -> None:
    with synctest.bubble() as bubble, Running(new_factory()) as running:
        running.request(PODS)
        running.start()
        shutdown = threading.Thread(target=running.factory.shutdown)
        shutdown.start()
        bubble.sleep(9.0)
        assert warnings() == []
        bubble.sleep(3600.0)
        running.cancel()
        shutdown.join()

    (line,) = warnings()
    assert "first cancel the context, or set the stop channel, that they were started with" in line
    assert "od" in line.partition("informers=")[2]


@factories
def test_a_shutdown_that_waits_for_a_handler_reports_the_handler(
    new_factory: Callable[[corev1.Pod], Any], warnings: Warnings
) -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="a", namespace="ns"))
    with synctest.bubble() as bubble, Running(new_factory(pod)) as running:
        may_return = Signal()
        informer = running.request(PODS)
        informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda _: may_return.wait()))
        running.start()
        running.wait()
        bubble.sleep(1.0)
        running.cancel()
        shutdown = threading.Thread(target=running.factory.shutdown)
        shutdown.start()
        bubble.sleep(3600.0)
        may_return.set()
        shutdown.join()

    (line,) = warnings()
    assert "the informer cannot stop before its event handler returns" in line


@contextmanager
def new_informer() -> Iterator[cache.SharedIndexInformer]:
    source = framework.new_fake_controller_source()
    yield cache.new_shared_index_informer(source, corev1.Pod(), 0.0, {})
    source.shutdown()


def has_synced(informer: cache.SharedIndexInformer) -> object:
    return informer.has_synced


def handler_has_synced(informer: cache.SharedIndexInformer) -> object:
    return informer.add_event_handler(cache.ResourceEventHandlerFuncs()).has_synced


def checker(informer: cache.SharedIndexInformer) -> object:
    return informer.has_synced_checker()


def handler_checker(informer: cache.SharedIndexInformer) -> object:
    return informer.add_event_handler(cache.ResourceEventHandlerFuncs()).has_synced_checker()


def controller_has_synced(informer: cache.SharedIndexInformer) -> object:
    return informer.get_controller().has_synced


def synced_of_a_controller_that_was_not_run(informer: cache.SharedIndexInformer) -> object:
    return cache.new_informer(cache.ListWatch(), corev1.Pod(), 0.0, cache.ResourceEventHandlerFuncs())[1].has_synced


@pytest.mark.parametrize(
    "waited_for",
    [
        synced_of_a_controller_that_was_not_run,
        has_synced,
        handler_has_synced,
        controller_has_synced,
        checker,
        handler_checker,
    ],
)
def test_a_wait_for_an_informer_that_was_not_started_is_reported_once(
    waited_for: Callable[[cache.SharedIndexInformer], Any], warnings: Warnings
) -> None:
    with synctest.bubble() as bubble, new_informer() as informer:
        ctx, cancel = context.with_timeout(context.background(), 60.0)
        waited = waited_for(informer)
        if hasattr(waited, "done"):
            wait = threading.Thread(target=cache.wait_for, args=(ctx, "", waited))
        else:
            wait = threading.Thread(target=cache.wait_for_cache_sync, args=(ctx.done(), waited))
        wait.start()
        bubble.sleep(9.9)
        assert warnings() == []
        bubble.sleep(0.2)
        assert len(warnings()) == 1
        wait.join()
        cancel()

    (line,) = warnings()
    assert 'start their factory after requesting them, or call run_with_context of each in a thread" ' in line
    assert 'informers=["*v1.Pod"]' in line


def test_a_wait_for_an_informer_that_starts_meanwhile_is_not_reported(warnings: Warnings) -> None:
    with synctest.bubble() as bubble, new_informer() as informer:
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,))
        bubble.after_func(9.0, thread.start)
        assert cache.wait_for(ctx, "", informer.has_synced_checker())
        bubble.sleep(60.0)
        cancel()
        thread.join()

    assert warnings() == []


def test_a_wait_for_two_informers_of_which_one_runs_reports_the_other(warnings: Warnings) -> None:
    with synctest.bubble() as bubble, new_informer() as running, new_informer() as other:
        ctx, cancel = context.with_timeout(context.background(), 60.0)
        run = threading.Thread(target=running.run_with_context, args=(ctx,))
        run.start()
        bubble.wait()
        assert running.has_started()
        waited_for = (running.has_synced, other.has_synced)
        wait = threading.Thread(target=cache.wait_for_cache_sync, args=(ctx.done(), *waited_for))
        wait.start()
        bubble.sleep(10.1)
        assert len(warnings()) == 1
        wait.join()
        cancel()
        run.join()


Informer = tuple[cache.Store, cache.Controller]
HANDLER = cache.ResourceEventHandlerFuncs()
INDEXERS: cache.Indexers = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}


def plain(source: Any) -> Informer:
    return cache.new_informer(source, corev1.Pod(), 0.0, HANDLER)


def indexed(source: Any) -> Informer:
    return cache.new_indexer_informer(source, corev1.Pod(), 0.0, HANDLER, INDEXERS)


def transforming(source: Any) -> Informer:
    return cache.new_transforming_informer(source, corev1.Pod(), 0.0, HANDLER, lambda pod: pod)


def transforming_and_indexed(source: Any) -> Informer:
    return cache.new_transforming_indexer_informer(source, corev1.Pod(), 0.0, HANDLER, INDEXERS, lambda pod: pod)


def with_options(source: Any) -> Informer:
    return cache.new_informer_with_options(
        cache.InformerOptions(lister_watcher=source, object_type=corev1.Pod(), handler=HANDLER)
    )


@contextmanager
def run(controller: cache.Controller) -> Iterator[None]:
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=controller.run_with_context, args=(ctx,), name="controller")
    thread.start()
    try:
        yield
    finally:
        cancel()
        thread.join()


@pytest.mark.parametrize("new", [plain, indexed, transforming, transforming_and_indexed, with_options])
@pytest.mark.parametrize(
    "read",
    [
        lambda store: store.list(),
        lambda store: store.list_keys(),
        lambda store: store.get_by_key("ns/a"),
        lambda store: store.get(corev1.Pod(metadata=metav1.ObjectMeta(name="a", namespace="ns"))),
    ],
    ids=["list", "list_keys", "get_by_key", "get"],
)
def test_a_store_read_before_its_controller_runs_is_reported_once(
    new: Callable[[Any], Informer], read: Callable[[cache.Store], object], warnings: Warnings
) -> None:
    with synctest.bubble() as bubble:
        source = framework.new_fake_controller_source()
        store, controller = new(source)
        read(store)
        read(store)
        with run(controller):
            bubble.wait()
            read(store)
        source.shutdown()

    (line,) = warnings()
    assert "a store was read whose informer was not started, so that it is empty" in line
    assert "call the controller's run_with_context in a thread, then wait for the caches to sync, then read" in line
    assert 'type="*v1.Pod"' in line


def test_a_store_that_was_filled_by_hand_or_is_read_while_and_after_its_controller_runs_is_not_reported(
    warnings: Warnings,
) -> None:
    with synctest.bubble() as bubble:
        source = framework.new_fake_controller_source()
        filled, _ = plain(source)
        filled.add(corev1.Pod(metadata=metav1.ObjectMeta(name="a", namespace="ns")))
        assert filled.list_keys() == ["ns/a"]
        store, controller = indexed(source)
        with run(controller):
            bubble.wait()
            assert store.list() == []
        assert store.list() == []
        source.shutdown()

    assert warnings() == []


def test_a_lister_of_an_informer_with_one_handler_is_reported_while_the_cache_syncs_but_not_in_the_handler(
    warnings: Warnings,
) -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="a", namespace="ns"))
    listed = []

    class Slow(framework.FakeControllerSource):
        def list(self, options: metav1.ListOptions) -> Any:
            may_list.wait()
            return super().list(options)

    with synctest.bubble() as bubble:
        may_list = Signal()
        source = Slow()
        source.add(pod)
        handler = cache.ResourceEventHandlerFuncs(add_func=lambda _: listed.extend(lister.list(labels.everything())))
        store, controller = cache.new_indexer_informer(source, corev1.Pod(), 0.0, handler, INDEXERS)
        lister = new_pod_lister(store)
        with run(controller):
            bubble.wait()
            may_list.set()
            bubble.wait()
            assert warnings() == [] and len(listed) == 1
        may_list = Signal()
        store, controller = cache.new_indexer_informer(source, corev1.Pod(), 0.0, HANDLER, INDEXERS)
        with run(controller):
            bubble.wait()
            assert new_pod_lister(store).list(labels.everything()) == []
            may_list.set()
        source.shutdown()

    (line,) = warnings()
    assert "a lister was read before its cache had synced" in line


def test_a_lister_of_a_controller_that_stopped_before_its_cache_synced_is_not_reported(warnings: Warnings) -> None:
    class Silent(framework.FakeControllerSource):
        def list(self, options: metav1.ListOptions) -> Any:
            may_list.wait()
            return super().list(options)

    with synctest.bubble() as bubble:
        may_list, source = Signal(), Silent()
        store, controller = indexed(source)
        with run(controller):
            bubble.wait()
        assert not controller.has_synced()
        assert new_pod_lister(store).list(labels.everything()) == []
        may_list.set()
        bubble.wait()
        source.shutdown()

    assert warnings() == []
