"""A handler's backlog: its size, its warning, and its optional limit. Beyond Go."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo import context, features
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.features.testing import set_feature_during_test
from clientgo.golang.channel import Signal
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import testing as framework
from clientgo.tools.cache.beyond.backlog import Backlog, check_handler, merge, stamp
from clientgo.tools.cache.notifications import (
    AddNotification,
    DeleteNotification,
    Notification,
    UpdateNotification,
)
from clientgo.tools.cache.synctrack import SingleFileTracker
from clientgo.utils.clock import testing as clocktesting


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


def pod(name: str, rv: str = "") -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="default", resource_version=rv))


class Handler:
    """A handler that records its notifications, and can be blocked."""

    def __init__(self, hangs: bool = False) -> None:
        self.may_go_on = Signal()
        if not hangs:
            self.may_go_on.set()
        self.notified: list[str] = []

    def _note(self, call: str) -> None:
        self.may_go_on.wait()
        self.notified.append(call)

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self._note(f"add {obj.get_name()}")

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._note(f"update {new_obj.get_name()} {old_obj.get_resource_version()}->{new_obj.get_resource_version()}")

    def on_delete(self, obj: Any) -> None:
        self._note(f"delete {obj.get_name()}")


class World:
    def __init__(self, bubble: synctest.Bubble, **options: Any) -> None:
        self.bubble = bubble
        self.source = framework.new_fake_controller_source()
        self.informer = cache.new_shared_index_informer_with_options(
            self.source, corev1.Pod(), cache.SharedIndexInformerOptions(**options)
        )
        self.handlers: list[Handler] = []


@contextmanager
def world(**options: Any) -> Iterator[World]:
    with synctest.bubble() as bubble:
        made = World(bubble, **options)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=made.informer.run_with_context, args=(ctx,), name="informer")
        thread.start()
        bubble.wait()
        try:
            yield made
        finally:
            for handler in made.handlers:
                handler.may_go_on.set()
            cancel()
            thread.join()
            made.source.shutdown()


def add(w: World, hangs: bool = True, **options: Any) -> tuple[Handler, cache.ResourceEventHandlerRegistration]:
    handler = Handler(hangs)
    w.handlers.append(handler)
    return handler, w.informer.add_event_handler_with_options(handler, cache.HandlerOptions(**options))


def test_a_registration_shows_its_handlers_backlog() -> None:
    with world() as w:
        handler, registration = add(w)
        assert registration.statistics() == cache.HandlerStatistics(
            handler=f"{__name__}.Handler", pending=0, oldest_age=0.0, failed=0, merged=0, closed=False
        )
        w.source.add(pod("a"))
        w.bubble.sleep(5.0)
        for _ in range(3):
            w.source.modify(pod("a"))
        w.bubble.sleep(2.0)
        statistics = registration.statistics()
        assert (statistics.pending, round(statistics.oldest_age, 3)) == (4, 7.0)
        handler.may_go_on.set()
        w.bubble.wait()
        statistics = registration.statistics()
        assert (statistics.pending, statistics.oldest_age) == (0, 0.0)
        w.informer.remove_event_handler(registration)
        assert registration.statistics().closed


def test_what_a_handler_raised_is_counted() -> None:
    with world() as w:

        def fail(obj: Any) -> None:
            raise ValueError("no")

        registration = w.informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=fail))
        for name in "abc":
            w.source.add(pod(name))
        w.bubble.wait()
        assert registration.statistics().failed == 3


def test_a_late_handler_has_a_backlog_too() -> None:
    with world() as w:
        for name in "abc":
            w.source.add(pod(name))
        w.bubble.wait()
        _, registration = add(w)
        w.bubble.sleep(3.0)
        statistics = registration.statistics()
        assert (statistics.pending, round(statistics.oldest_age, 3)) == (3, 3.0)


class Waiting(Backlog):
    """A backlog whose handler has not taken the notifications yet."""

    def queue(self, notifications: list[Notification]) -> None:
        self._pending.extend(notifications)


def test_the_age_is_that_of_the_first_notification_that_waits() -> None:
    clock = clocktesting.new_fake_clock(1000.0)
    backlog = Waiting("handler", clock, SingleFileTracker("handler"), 0, cache.Overflow.MERGE, None)
    assert (backlog.statistics().pending, backlog.statistics().oldest_age) == (0, 0.0)
    first, second = AddNotification(pod("a"), False), AddNotification(pod("b"), False)
    stamp([first], 990.0)
    stamp([second], 995.0)
    backlog.queue([first, second])
    assert (backlog.statistics().pending, backlog.statistics().oldest_age) == (2, 10.0)


@pytest.mark.parametrize(("waiting", "seconds", "warns"), [(1001, 10.1, True), (1000, 10.1, False), (1001, 9.9, False)])
def test_more_than_a_thousand_notifications_for_more_than_ten_seconds_are_a_backlog(
    waiting: int, seconds: float, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="clientgo")
    with world() as w:
        add(w)
        w.source.add(pod("first"))
        w.bubble.wait()  # the handler hangs with it
        for number in range(waiting - 1):
            w.source.add(pod(f"p{number}"))
        w.bubble.sleep(seconds)
        assert "falls behind" not in caplog.text
        w.source.add(pod("last"))
        w.bubble.wait()
        assert ("falls behind" in caplog.text) is warns


def test_a_backlog_is_reported_again_after_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="clientgo")
    with world() as w:
        add(w)
        for number in range(1001):
            w.source.add(pod(f"p{number}"))
        for seconds, reports in ((10.5, 1), (59.9, 1), (0.2, 2)):
            w.bubble.sleep(seconds)
            w.source.modify(pod("p0"))
            w.bubble.wait()
            assert caplog.text.count("falls behind") == reports


def test_a_warning_comes_once_a_minute_while_a_handler_is_far_behind(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="clientgo")
    with world() as w:
        add(w)
        add(w, hangs=False)
        for number in range(1002):
            w.source.add(pod(f"p{number}"))
        w.bubble.sleep(9.0)
        w.source.add(pod("later"))
        w.bubble.wait()
        assert "falls behind" not in caplog.text, "a burst is no backlog"
        for _ in range(150):
            w.bubble.sleep(1.0)
            w.source.modify(pod("later"))
        w.bubble.wait()
    assert caplog.text.count("a handler falls behind") == 3
    assert re.search(rf'handler="{__name__}.Handler" pendingNotifications=100\d oldest="1[01]s"', caplog.text)


def test_notifications_about_one_object_are_merged_beyond_the_bound() -> None:
    with world() as w:
        handler, registration = add(w, max_pending=10)
        exact, _ = add(w, hangs=False)
        w.source.add(pod("first"))
        w.bubble.wait()
        w.source.add(pod("kept"))
        w.source.add(pod("gone"))
        for _ in range(100):
            w.source.modify(pod("kept"))
            w.source.modify(pod("first"))
            w.bubble.wait()
            assert registration.statistics().pending <= 12
        w.source.delete(pod("gone"))
        for _ in range(20):
            w.source.modify(pod("kept"))
        w.bubble.wait()
        assert registration.statistics().merged > 200
        handler.may_go_on.set()
        w.bubble.wait()
        assert len(exact.notified) == 224
        assert handler.notified[0] == "add first"
        assert {notified.split()[1] for notified in handler.notified} == {"first", "kept"}
        assert "add gone" not in handler.notified
        assert "delete gone" not in handler.notified
        assert handler.notified[-1].endswith("->224")


def test_a_merged_initial_addition_counts_as_delivered() -> None:
    """Or the registration would never have synced."""
    with world() as w:
        for name in ("a", "b", "c"):
            w.source.add(pod(name))
        w.bubble.wait()
        handler, registration = add(w, max_pending=2)
        w.bubble.wait()
        for name in ("b", "c"):
            w.source.delete(pod(name))
        for _ in range(5):
            w.source.modify(pod("a"))
        w.bubble.wait()
        assert not registration.has_synced()
        handler.may_go_on.set()
        w.bubble.wait()
        assert registration.has_synced()


def test_a_handler_may_be_removed_beyond_the_bound(caplog: pytest.LogCaptureFixture) -> None:
    with world() as w:
        handler, registration = add(w, max_pending=3, overflow=cache.Overflow.REMOVE)
        other, _ = add(w, hangs=False)
        for number in range(10):
            w.source.add(pod(f"p{number}"))
            w.bubble.wait()
        assert registration.statistics().closed
        assert registration.statistics().pending <= 1
        handler.may_go_on.set()
        w.bubble.wait()
        assert handler.notified == ["add p0"]
        assert len(other.notified) == 10
    assert "Removing a handler that fell too far behind" in caplog.text


class Gauge:
    def __init__(self) -> None:
        self.value = -1.0

    def set(self, value: float) -> None:
        self.value = value


class Provider:
    """Metrics of informers and of handlers."""

    def __init__(self) -> None:
        self.gauges: dict[str, Gauge] = {}

    def _gauge(self, name: str) -> Gauge:
        return self.gauges.setdefault(name, Gauge())

    def new_queued_item_metric(self, id: cache.InformerNameAndResource) -> Any:
        return Gauge()

    def new_processing_latency_metric(self, id: cache.InformerNameAndResource) -> Any:
        class Ignore:
            def observe(self, value: float) -> None:
                pass

        return Ignore()

    def new_store_resource_version_metric(self, id: cache.InformerNameAndResource) -> Any:
        return Gauge()

    def new_pending_notifications_metric(self, id: cache.InformerNameAndResource, handler: str) -> Any:
        return self._gauge(f"pending {handler}")

    def new_oldest_notification_metric(self, id: cache.InformerNameAndResource, handler: str) -> Any:
        return self._gauge(f"oldest {handler}")


def test_a_metric_follows_the_backlog() -> None:
    provider = Provider()
    name = cache.new_informer_name("backlog-test")
    identifier = name.with_resource(GroupVersionResource("", "v1", "pods"))
    try:
        with world(identifier=identifier, informer_metrics_provider=provider) as w:
            handler, _ = add(w)
            w.source.add(pod("a"))
            w.source.add(pod("b"))
            w.bubble.wait()
            started = w.bubble.elapsed
            pending, oldest = (provider.gauges[f"{name} {__name__}.Handler"] for name in ("pending", "oldest"))
            assert pending.value == 2
            assert oldest.value > started
            handler.may_go_on.set()
            w.bubble.wait()
            assert (pending.value, oldest.value) == (0, 0)
    finally:
        name.release()


# --- merging --------------------------------------------------------------------------------------------------------


@st.composite
def histories(draw: st.DrawFn) -> list[Notification]:
    """Draw the notifications of an informer about a few objects."""
    known: dict[str, int] = {}
    notified: list[Notification] = []
    for version, name in enumerate(draw(st.lists(st.sampled_from("abc"), max_size=30)), 1):
        if name not in known:
            notified.append(AddNotification(pod(name, str(version)), draw(st.booleans())))
        elif draw(st.booleans()):
            notified.append(UpdateNotification(pod(name, str(known[name])), pod(name, str(version))))
        else:
            old = pod(name, str(known.pop(name)))
            unseen = draw(st.booleans())
            state = cache.DeletedFinalStateUnknown(f"default/{name}", old) if unseen else old
            notified.append(DeleteNotification(state))
            continue
        known[name] = version
    stamp(notified, 0.0)
    return notified


def replay(notified: list[Notification], known: dict[str, str]) -> dict[str, str]:
    """Return the objects after these notifications. Asserts that each notification fits the objects before it."""
    known = dict(known)
    for notification in notified:
        if isinstance(notification, DeleteNotification):
            obj = getattr(notification.old_obj, "obj", notification.old_obj)
            assert known.pop(obj.get_name()) is not None
            continue
        obj = notification.new_obj
        if isinstance(notification, AddNotification):
            assert obj.get_name() not in known
        else:
            assert known[obj.get_name()] == notification.old_obj.get_resource_version()
        known[obj.get_name()] = obj.get_resource_version()
    return known


def test_a_merged_addition_is_as_initial_and_has_waited_as_long_as_the_first() -> None:
    notified: list[Notification] = [
        AddNotification(pod("a", "1"), True),
        UpdateNotification(pod("a", "1"), pod("a", "2")),
    ]
    stamp(notified[:1], 1.0)
    stamp(notified[1:], 2.0)
    (merged,) = merge(notified)
    assert isinstance(merged, AddNotification)
    assert (merged.is_in_initial_list, merged.queued_at) == (True, 1.0)


def test_an_undelivered_deletion_and_a_new_object_merge_into_an_update() -> None:
    notified: list[Notification] = [
        DeleteNotification(cache.DeletedFinalStateUnknown("default/a", pod("a", "1"))),
        AddNotification(pod("a", "2"), False),
    ]
    stamp(notified, 0.0)
    (merged,) = merge(notified)
    assert isinstance(merged, UpdateNotification)
    assert (merged.old_obj, merged.new_obj) == (pod("a", "1"), pod("a", "2"))


@given(notified=histories(), delivered=st.integers(0, 30))
def test_merged_notifications_lead_to_the_same_knowledge(notified: list[Notification], delivered: int) -> None:
    before = replay(notified[:delivered], {})
    merged = [*merge(notified[delivered:])]
    assert replay(merged, before) == replay(notified[delivered:], before)
    assert len(merged) <= 3
    assert all(notification.queued_at == 0.0 for notification in merged)


def test_what_has_no_key_is_not_merged() -> None:
    notified: list[Notification] = [AddNotification("a", False), AddNotification("a", False)]
    assert len(merge(notified)) == 2


def test_a_tombstone_without_a_state_and_a_new_object_are_an_addition() -> None:
    notified: list[Notification] = [
        DeleteNotification(cache.DeletedFinalStateUnknown("default/a", None)),
        AddNotification(pod("a", "7"), False),
    ]
    stamp(notified, 3.0)
    (merged,) = merge(notified)
    assert isinstance(merged, AddNotification)


@pytest.mark.parametrize("missing", ["on_add", "on_update", "on_delete"])
def test_a_handler_without_one_of_its_methods_is_refused(missing: str) -> None:
    methods = {name: staticmethod(lambda *_: None) for name in ("on_add", "on_update", "on_delete")}
    check_handler(type("Whole", (), dict(methods))())
    del methods[missing]
    with pytest.raises(TypeError, match="a handler is an object with on_add, on_update and on_delete"):
        check_handler(type("Part", (), dict(methods))())
