"""The mutation cache at its edges: what it remembers, and for how long."""

from __future__ import annotations

import pytest

from clientgo import klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.utils.clock import testing as clocktesting

TTL = 60.0


def pod(version: str, name: str = "a", **labels: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, resource_version=version, labels=labels))


def layered() -> tuple[cache.MutationCache, cache.Indexer, clocktesting.FakeClock]:
    """Return a mutation cache, the indexer below it, and the clock it reads."""
    clock = clocktesting.new_fake_clock(1000.0)
    below = cache.new_indexer(cache.meta_namespace_key_func, {})
    logger = klog.background()
    made = cache.new_integer_resource_version_mutation_cache(logger, below, below, TTL, False, clock=clock)
    return made, below, clock


@pytest.mark.parametrize(("version", "renewed"), [("4", False), ("5", True), ("6", True)])
def test_a_write_that_is_reported_again_is_remembered_anew_unless_it_is_older(version: str, renewed: bool) -> None:
    mutations, below, clock = layered()
    below.add(pod("1", at="before"))

    def written() -> str:
        found, _ = mutations.get_by_key("a")
        return str(found.metadata.labels["at"])

    mutations.mutation(pod("5", at="first"))
    clock.step(TTL - 1.0)
    mutations.mutation(pod(version, at="second"))
    assert written() == ("second" if renewed else "first")
    clock.step(TTL - 1.0)
    assert written() == ("second" if renewed else "before")


@pytest.mark.parametrize(("stored", "newer"), [("4", "written"), ("5", "stored"), ("6", "stored")])
def test_the_newer_one_of_what_is_stored_and_what_was_written_is_given(stored: str, newer: str) -> None:
    mutations, below, _ = layered()
    mutations.mutation(pod("5", by="written"))
    below.add(pod(stored, by="stored"))
    found, _ = mutations.get_by_key("a")
    assert found.metadata.labels["by"] == newer


def test_what_was_written_and_is_not_stored_is_given_only_where_that_is_asked_for() -> None:
    """Go: includeAdds."""
    mutations, below, clock = layered()
    mutations.mutation(pod("5"))
    assert mutations.get_by_key("a") == (None, False)
    lenient = cache.new_integer_resource_version_mutation_cache(klog.background(), below, below, TTL, True, clock=clock)
    lenient.mutation(pod("5"))
    assert lenient.get_by_key("a") == (pod("5"), True)
    assert lenient.get_by_key("b") == (None, False)
