"""Metrics of queue and store: only the owner of a name publishes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from queueobjects import Item, Known, key_of, pop

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.tools import cache
from clientgo.tools.cache import fifo_metrics

PODS = GroupVersionResource("", "v1", "pods")


class Metric:
    def __init__(self) -> None:
        self.values: list[float] = []

    def set(self, value: float) -> None:
        self.values.append(value)

    observe = set


class Provider:
    def __init__(self) -> None:
        self.queued, self.latency, self.version = Metric(), Metric(), Metric()

    def new_queued_item_metric(self, id: cache.InformerNameAndResource) -> Metric:
        return self.queued

    def new_processing_latency_metric(self, id: cache.InformerNameAndResource) -> Metric:
        return self.latency

    def new_store_resource_version_metric(self, id: cache.InformerNameAndResource) -> Metric:
        return self.version


@pytest.fixture
def name() -> Iterator[cache.InformerName]:
    name = cache.new_informer_name("metrics test")
    yield name
    name.release()


def test_a_queue_publishes_its_depth_and_latency(name: cache.InformerName) -> None:
    provider = Provider()
    queue = cache.new_real_fifo_with_options(
        cache.RealFIFOOptions(
            key_function=key_of,
            known_objects=Known(),
            identifier=name.with_resource(PODS),
            metrics_provider=provider,
        )
    )
    queue.add(Item("a"))
    queue.add(Item("b"))
    pop(queue)
    assert provider.queued.values == [1.0, 2.0, 1.0]
    assert len(provider.latency.values) == 1


def test_a_store_publishes_its_version(name: cache.InformerName) -> None:
    provider = Provider()
    identifier = name.with_resource(PODS)
    store: Any = cache.new_store(cache.meta_namespace_key_func, cache.with_store_metrics(identifier, provider))
    store.add(corev1.Pod(metadata=metav1.ObjectMeta(name="a", resource_version="5")))
    store.bookmark("1234567890123456789")  # only what a float holds exactly
    store.bookmark("abc")
    store.bookmark("")
    assert provider.version.values == [5.0, 567890123456789.0, 0.0]


def test_an_informer_without_the_reserved_name_publishes_nothing(name: cache.InformerName) -> None:
    provider = Provider()
    name.with_resource(PODS)
    second = name.with_resource(PODS)
    assert fifo_metrics.new_fifo_metrics(second, provider) is None
    assert fifo_metrics.new_store_metrics(cache.InformerNameAndResource(), provider) is None


def test_only_the_first_global_provider_counts(name: cache.InformerName, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fifo_metrics, "_global_informer_metrics_provider", None)
    first = Provider()
    cache.set_informer_metrics_provider(first)
    cache.set_informer_metrics_provider(Provider())
    metrics = fifo_metrics.new_fifo_metrics(name.with_resource(PODS), None)
    assert metrics is not None
    assert metrics.number_of_queued_item is first.queued
