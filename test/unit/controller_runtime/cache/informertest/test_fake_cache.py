"""A cache whose events a test makes."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.error import NotRegisteredError
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.controller_runtime import cache
from clientgo.controller_runtime.cache import informertest
from clientgo.controller_runtime.controller import controllertest
from clientgo.tools import cache as toolscache

CTX = context.background()
POD = GroupVersionKind("", "v1", "Pod")


def test_a_kind_has_one_informer_that_has_synced() -> None:
    fakes = informertest.FakeInformers()
    assert isinstance(fakes, cache.Cache)
    informer = fakes.get_informer(CTX, corev1.Pod)
    assert fakes.fake_informer_for(CTX, corev1.Pod()) is informer
    assert fakes.get_informer_for_kind(CTX, POD) is informer
    assert fakes.fake_informer_for_kind(CTX, POD) is informer
    assert informer.has_synced()
    assert toolscache.is_done(informer.has_synced_checker())
    fakes.remove_informer(CTX, corev1.Pod)
    assert fakes.get_informer(CTX, corev1.Pod) is not informer
    with pytest.raises(NotRegisteredError):
        fakes.get_informer_for_kind(CTX, GroupVersionKind("", "v1", "Unheard"))


def test_handlers_hear_what_the_test_says_until_they_are_removed() -> None:
    notified: list[Any] = []
    informer = controllertest.new_fake_informer()
    registration = informer.add_event_handler(
        toolscache.ResourceEventHandlerFuncs(
            add_func=lambda obj: notified.append(("add", obj)),
            update_func=lambda old, new: notified.append(("update", old, new)),
            delete_func=lambda obj: notified.append(("delete", obj)),
        )
    )
    informer.add(1)
    informer.update(1, 2)
    informer.delete(2)
    informer.remove_event_handler(registration)
    informer.add(3)
    assert notified == [("add", 1), ("update", 1, 2), ("delete", 2)]


def test_an_informer_syncs_when_the_test_says_so() -> None:
    informer = controllertest.new_fake_informer()
    registration = informer.add_event_handler(toolscache.ResourceEventHandlerFuncs())
    assert not informer.has_synced()
    assert not registration.has_synced()
    informer.synced()
    assert registration.has_synced()
    assert toolscache.is_done(registration.has_synced_checker())
    informer.run_with_context(CTX)
    assert informer.run_count == 1


def test_errors_and_whether_it_synced_are_the_test_s() -> None:
    fakes = informertest.FakeInformers(error=RuntimeError("no"), synced=False)
    for call in (lambda: fakes.get_informer(CTX, corev1.Pod), lambda: fakes.start(CTX)):
        with pytest.raises(RuntimeError, match="no"):
            call()
    assert not fakes.wait_for_cache_sync(CTX)


def test_it_holds_nothing() -> None:
    fakes = informertest.FakeInformers()
    assert fakes.list(CTX, corev1.PodList).items == []
    assert fakes.get(CTX, None, corev1.Pod) == corev1.Pod()  # type: ignore[arg-type]
