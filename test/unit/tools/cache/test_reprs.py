"""The texts of the cache's objects show their state, so that the output of a failed test is readable."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from clientgo import context, features, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import mutation_detector
from clientgo.tools.cache import testing as framework
from clientgo.tools.cache.beyond.relist import RelistRequests
from clientgo.tools.cache.retry_with_deadline import new_retry_with_deadline
from clientgo.tools.cache.synctrack import AsyncTracker, SingleFileTracker
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock import testing as clocktesting

KEY = cache.meta_namespace_key_func
POD = corev1.Pod(metadata=metav1.ObjectMeta(name="a", namespace="ns", resource_version="7"))
STORAGE = "<ThreadSafeStore 1 objects, indexes: none, resourceVersion '7'>"


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


@pytest.fixture
def store() -> cache.Store:
    store = cache.new_store(KEY)
    store.add(POD)
    return store


@pytest.fixture
def source() -> Iterator[framework.FakeControllerSource]:
    source = framework.new_fake_controller_source()
    source.add(POD)
    yield source
    source.shutdown()


def test_stores(store: cache.Store) -> None:
    assert repr(store) == f"<Store over {STORAGE}>"
    mutations = cache.new_integer_resource_version_mutation_cache(
        klog.background(), store, cache.new_indexer(KEY, {}), 60.0, True
    )
    mutations.mutation(POD)
    assert repr(mutations) == f"<MutationCache <LRUExpireCache 1/100> over {store!r}>"
    assert repr(cache.new_ttl_store(KEY, 60.0)).startswith("<ExpirationCache TTLPolicy(ttl=60.0")
    assert repr(cache.new_undelta_store(lambda objects: None, KEY)).startswith("<UndeltaStore over <Store over ")


@pytest.mark.parametrize(
    ("queue", "text"),
    [
        (cache.new_heap(KEY, lambda a, b: False), "<Heap 1 objects, {}>"),
        (cache.new_fifo(KEY), "<FIFO 1 objects, initial 0 left, {}>"),
        (
            cache.new_real_fifo_with_options(cache.RealFIFOOptions(name="pods", atomic_events=True)),
            "<pods 1 deltas, atomic events, initial 0 left, {}>",
        ),
        (
            cache.new_delta_fifo_with_options(cache.DeltaFIFOOptions(known_objects=cache.new_store(KEY))),
            "<DeltaFIFO 1 keys, 1 deltas, initial 0 left, {}>",
        ),
    ],
    ids=["heap", "fifo", "real", "delta"],
)
def test_queues(queue: cache.Queue, text: str) -> None:
    queue.add(POD)
    assert repr(queue) == text.format("open")
    queue.close()
    assert repr(queue) == text.format("closed")


def test_deltas() -> None:
    assert repr(cache.Deltas()) == "Deltas([])"


def test_a_fake_source(source: framework.FakeControllerSource) -> None:
    assert repr(source) == "<FakeControllerSource 1 objects at 1, 1 changes>"


def test_an_informer_from_its_start_to_its_end() -> None:
    with synctest.bubble() as bubble:
        source = framework.new_fake_controller_source()
        source.add(POD)
        informer = cache.new_shared_index_informer(source, corev1.Pod(), 0.0, {})
        slow = cache.ResourceEventHandlerFuncs(add_func=lambda _: REAL_CLOCK.sleep(1.0))
        registration = informer.add_event_handler(slow)
        assert repr(informer) == (
            "<SharedIndexInformer *v1.Pod not started, not synced, <Processor 1 listeners, not started>>"
        )
        handler = f"{__name__}.test_an_informer_from_its_start_to_its_end"
        assert repr(registration) == f"<Listener {handler!r} 0 pending, not synced, open>"
        source.add(corev1.Pod(metadata=metav1.ObjectMeta(name="b", namespace="ns")))
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer")
        thread.start()
        bubble.sleep(0.5)
        assert repr(registration) == f"<Listener {handler!r} 1 pending, not synced, open>"
        bubble.sleep(2.0)
        assert repr(informer) == "<SharedIndexInformer *v1.Pod running, synced, <Processor 1 listeners, started>>"
        assert repr(registration) == f"<Listener {handler!r} 0 pending, synced, open>"
        cancel()
        thread.join()
        assert repr(informer).startswith("<SharedIndexInformer *v1.Pod stopped, synced, ")
        assert repr(registration) == f"<Listener {handler!r} 0 pending, synced, closed>"
        source.shutdown()


def test_a_controller_and_its_reflector(source: framework.FakeControllerSource, store: cache.Store) -> None:
    _, controller = cache.new_informer(source, corev1.Pod(), 0.0, cache.ResourceEventHandlerFuncs())
    assert repr(controller).startswith("<Controller of <RealFIFO *v1.Pod 0 deltas, atomic events")
    assert repr(controller).endswith(", None>")
    reflector = cache.new_named_reflector("mine", source, corev1.Pod(), store, 0.0)
    assert repr(reflector) == "<Reflector 'mine' of *v1.Pod at '', no contact yet>"


def test_relist_requests() -> None:
    clock = clocktesting.new_fake_clock(1000.0)
    requests = RelistRequests(clock)
    assert repr(requests) == "<RelistRequests: none>"
    requests.request()
    assert repr(requests) == "<RelistRequests: waiting>"
    clock.step(3600.0)
    assert repr(requests) == "<RelistRequests: due>"
    requests.clear()
    assert repr(requests) == "<RelistRequests: none>"


def test_a_limit_of_retries() -> None:
    limit = new_retry_with_deadline(5.0, 60.0, lambda err: True, clocktesting.new_fake_clock(1000.0))
    assert repr(limit) == "<RetryWithDeadline 5.0s, no error>"
    limit.after(ValueError())
    assert repr(limit) == "<RetryWithDeadline 5.0s, errors since 1000.000>"


def test_trackers() -> None:
    single = SingleFileTracker("single")
    single.start(2)
    assert repr(single) == "<SingleFileTracker 'single' 2 waiting>"
    several: AsyncTracker[str] = AsyncTracker("several")
    several.start("key")
    assert repr(several) == "<AsyncTracker 'several' 1 waiting>"
    for tracker in (single, several):
        tracker.upstream_has_synced()
    single.finished(2)
    several.finished("key")
    assert repr(single) == "<SingleFileTracker 'single' synced>"
    assert repr(several) == "<AsyncTracker 'several' synced>"


def test_identities() -> None:
    name = cache.new_informer_name("test-reprs")
    assert repr(name) == "<InformerName 'test-reprs', 0 resources>"
    pods = name.with_resource(GroupVersionResource("", "v1", "pods"))
    assert repr(name) == "<InformerName 'test-reprs', 1 resources>"
    assert repr(pods) == "<InformerNameAndResource 'test-reprs' /v1, Resource=pods, reserved True>"
    name.release()
    assert repr(name) == "<InformerName 'test-reprs', released>"
    assert repr(pods) == "<InformerNameAndResource 'test-reprs' /v1, Resource=pods, reserved False>"


def test_a_mutation_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation_detector, "mutation_detection_enabled", True)
    detector = cache.new_cache_mutation_detector("test")
    detector.add_object(POD)
    assert repr(detector) == "<MutationDetector 'test' 1 objects>"
