"""A list without an end, and without an error, costs one log line. Beyond Go."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clientgo import context, features
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache

Lines = Callable[[], list[str]]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Lines:
    caplog.set_level(logging.INFO)
    return lambda: [each.getMessage() for each in caplog.records if "is not complete" in each.getMessage()]


@pytest.fixture(params=[False, True], ids=["list", "watch list"])
def streams(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Return True if the initial objects come in a watch."""
    with set_feature_during_test(features.WATCH_LIST_CLIENT, request.param):
        yield request.param


def pod(name: str, version: int, **annotations: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, resource_version=str(version), annotations=annotations))


class Server:
    """A server that sends pages, or bookmarks, every second until `complete` is set."""

    def __init__(self) -> None:
        self.complete = False
        self.watches: list[watch.FakeWatcher] = []

    def list(self, ctx: context.Context, options: metav1.ListOptions) -> corev1.PodList:
        context.sleep(ctx, 1.0)
        if ended := ctx.err():
            raise ended
        token = "" if self.complete else str(int(options.continue_ or "0") + 1)
        return corev1.PodList(metadata=metav1.ListMeta(resource_version="1", continue_=token), items=[])

    def watch(self, ctx: context.Context, options: metav1.ListOptions) -> watch.Interface:
        watcher = watch.new_fake()
        self.watches.append(watcher)
        if options.send_initial_events:
            threading.Thread(target=self._send_bookmarks, args=(ctx, watcher), name="bookmarks").start()
        return watcher

    def _send_bookmarks(self, ctx: context.Context, watcher: watch.FakeWatcher) -> None:
        for version in itertools.count(1):
            context.sleep(ctx, 1.0)
            if ctx.err() is not None:
                return
            annotations = {metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true"} if self.complete else {}
            watcher.action(watch.EventType.BOOKMARK, pod("", version, **annotations))
            if self.complete:
                return


def run(test: Callable[[synctest.Bubble, Server, Any], None]) -> None:
    with synctest.bubble() as bubble:
        server = Server()
        source = cache.ListWatch(list_with_context_func=server.list, watch_func_with_context=server.watch)
        informer = cache.new_shared_index_informer(source, corev1.Pod(), 0.0, {})
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer")
        thread.start()
        try:
            test(bubble, server, informer)
        finally:
            cancel()
            thread.join()


def test_a_list_without_an_end_is_reported_once_after_half_a_minute(streams: bool, lines: Lines) -> None:
    def test(bubble: synctest.Bubble, server: Server, informer: Any) -> None:
        bubble.sleep(29.5)
        assert lines() == []
        bubble.sleep(1000.0)
        [line] = lines()
        assert 'type="*v1.Pod" running="30s"' in line
        assert not informer.has_synced()

    run(test)


def test_a_list_that_ends_in_time_is_not_reported(streams: bool, lines: Lines) -> None:
    def test(bubble: synctest.Bubble, server: Server, informer: Any) -> None:
        bubble.sleep(10.0)
        server.complete = True
        bubble.sleep(1000.0)
        assert informer.has_synced()
        assert lines() == []

    run(test)
