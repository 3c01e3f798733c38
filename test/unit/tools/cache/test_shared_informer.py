"""Shared informers, with either queue. Go: shared_informer_test.go, processor_listener_test.go."""

from __future__ import annotations

import logging
import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import pytest
from invariants import check_invariants
from patience import PATIENCE
from threadtools import eventually, in_thread

from clientgo import context, features, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.features.testing import set_feature_during_test
from clientgo.golang.channel import Signal
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import controller as controller_module
from clientgo.tools.cache import mutation_detector
from clientgo.tools.cache import shared_informer as shared_informer_module
from clientgo.tools.cache import testing as framework
from clientgo.tools.cache.notifications import UpdateNotification
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock import testing as clocktesting


@pytest.fixture(autouse=True, params=[True, False], ids=["RealFIFO", "DeltaFIFO"])
def in_order(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Run each test with both queues, which the feature gate selects."""
    with (
        set_feature_during_test(features.WATCH_LIST_CLIENT, False),
        set_feature_during_test(features.IN_ORDER_INFORMERS, request.param),
    ):
        yield request.param


def pod(name: str, **labels: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="default", labels=labels))


class Listener:
    """A handler that records the names of its notifications, fails, or hangs."""

    def __init__(self, name: str = "listener") -> None:
        self.name = name
        self.notified: list[str] = []

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self.notified.append(f"add {obj.get_name()}")

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self.notified.append(f"update {new_obj.get_name()}")

    def on_delete(self, obj: Any) -> None:
        obj = obj.obj if isinstance(obj, cache.DeletedFinalStateUnknown) else obj
        self.notified.append(f"delete {obj.get_name()}")

    def take(self) -> list[str]:
        notified, self.notified = self.notified, []
        return sorted(notified)


class World:
    """A bubble with a fake source and an informer in front of it."""

    def __init__(self, bubble: synctest.Bubble, resync_period: float = 0.0, **options: Any) -> None:
        self.bubble = bubble
        self.source = framework.new_fake_controller_source()
        self.informer: Any = cache.new_shared_index_informer_with_options(
            self.source,
            corev1.Pod(),
            cache.SharedIndexInformerOptions(resync_period=resync_period, **options),
        )
        self.ctx, self.cancel = context.with_cancel(context.background())
        self._thread = threading.Thread(
            target=self.informer.run_with_context, args=(self.ctx,), name="informer", daemon=True
        )
        self._started = False

    def start(self) -> None:
        self._started = True
        self._thread.start()
        self.bubble.wait()

    def stop(self) -> None:
        self.cancel()
        if self._started:
            self._thread.join()


@pytest.fixture
def detectors(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Enable the mutation detection, and return the list of the informers' detectors."""
    monkeypatch.setattr(mutation_detector, "mutation_detection_enabled", True)
    made: list[Any] = []

    def make(name: str) -> Any:
        made.append(mutation_detector.new_cache_mutation_detector(name))
        return made[-1]

    monkeypatch.setattr(shared_informer_module, "new_cache_mutation_detector", make)
    return made


@contextmanager
def world(resync_period: float = 0.0, **options: Any) -> Iterator[World]:
    with synctest.bubble() as bubble:
        made = World(bubble, resync_period, **options)
        try:
            yield made
            check_invariants(made.informer._processor)
        finally:
            made.stop()
            check_invariants(made.informer._processor)
            made.source.shutdown()


def test_indexers_may_be_added_before_and_while_it_runs() -> None:
    """Go: TestIndexer"""
    with world() as w:
        w.source.add(pod("a", color="red"))
        w.informer.add_indexers({"color": lambda obj: [obj.get_labels().get("color", "")]})
        w.start()
        w.informer.add_indexers({"name": lambda obj: [obj.get_name()]})
        w.source.add(pod("b", color="blue"))
        w.bubble.wait()
        indexer = w.informer.get_indexer()
        assert [obj.get_name() for obj in indexer.by_index("color", "red")] == ["a"]
        assert [obj.get_name() for obj in indexer.by_index("color", "blue")] == ["b"]
        assert [obj.get_name() for obj in indexer.by_index("name", "a")] == ["a"]
        with pytest.raises(ValueError, match="name"):
            w.informer.add_indexers({"name": lambda obj: []})


@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_each_listener_is_resynced_at_its_own_period(delay: float) -> None:
    """
    Go: TestListenerResyncPeriods
    Go: TestListenerResyncPeriodsDelayed
    """
    with world(1.0) as w:
        w.source.add(pod("pod1"))
        w.source.add(pod("pod2"))
        listeners = [Listener("never"), Listener("every 2 s"), Listener("every 3 s")]
        for listener, period in zip(listeners, (0.0, 2.0, 3.0)):
            w.informer.add_event_handler_with_resync_period(listener, period)
        run = w.informer._processor.run

        def run_late(ctx: context.Context) -> None:
            REAL_CLOCK.sleep(delay)
            run(ctx)

        w.informer._processor.run = run_late
        w.start()
        w.bubble.sleep(delay)
        assert [listener.take() for listener in listeners] == [["add pod1", "add pod2"]] * 3
        w.bubble.sleep(2.0 - delay)
        updates = ["update pod1", "update pod2"]
        assert [listener.take() for listener in listeners] == [[], updates, []]
        w.bubble.sleep(1.0)
        assert [listener.take() for listener in listeners] == [[], [], updates]


def test_a_shorter_period_before_the_start_lowers_the_check_period() -> None:
    """Go: TestResyncCheckPeriod"""
    clock = clocktesting.new_fake_clock(1000.0)
    informer: Any = cache.new_shared_index_informer_with_options(
        cache.ListWatch(), corev1.Pod(), cache.SharedIndexInformerOptions(resync_period=12 * 3600.0, clock=clock)
    )
    registrations: list[Any] = []
    expected: list[float] = []
    for period, check in ((0.0, 12 * 3600.0), (60.0, 60.0), (55.0, 55.0), (5.0, 5.0)):
        registrations.append(informer.add_event_handler_with_resync_period(Listener(), period))
        expected.append(period)
        assert informer._resync_check_period == check
        listeners = [informer._processor.get_listener(registration) for registration in registrations]
        assert [listener and listener._resync_period for listener in listeners] == expected


@pytest.mark.parametrize(
    ("period", "asked", "started", "resyncs", "text"),
    [
        (30.0, 0.5, False, 120, "resync period is too small"),
        (30.0, 10.0, True, 4, "smaller than resync check period and the informer has already started"),
        (0.0, 10.0, True, 0, "doesn't support resyncing"),
        (30.0, 60.0, True, 2, ""),
    ],
)
def test_a_period_that_cannot_be_is_changed_with_a_warning(
    period: float, asked: float, started: bool, resyncs: int, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with world(period) as w:
        w.source.add(pod("a"))
        if started:
            w.start()
        listener = Listener()
        w.informer.add_event_handler_with_resync_period(listener, asked)
        if not started:
            w.start()
        w.bubble.sleep(120.5)
        assert listener.take() == ["add a"] + ["update a"] * resyncs
    warnings = [record.getMessage() for record in caplog.records if "Warning" in record.getMessage()]
    assert [text in warning for warning in warnings] == [True] * bool(text)


def test_a_handler_may_come_while_the_informer_starts() -> None:
    """Go: TestSharedInformerInitializationRace"""
    for seed in range(10):

        def scenario() -> None:
            bubble = synctest.current()
            assert bubble is not None
            w = World(bubble)
            w.source.add(pod("a"))
            listener = Listener()
            adder = threading.Thread(target=w.informer.add_event_handler, args=(listener,), name="adder")
            adder.start()
            w.start()
            adder.join()
            bubble.wait()
            assert listener.take() == ["add a"]
            w.stop()
            w.source.shutdown()

        synctest.run(scenario, schedule=synctest.RandomSchedule(seed))


def test_changes_missed_while_the_watch_was_down_are_made_up_for() -> None:
    """Go: TestSharedInformerWatchDisruption"""
    with world(1.0) as w:
        for name in ("pod1", "pod2"):
            w.source.add(pod(name))
        without, with_resync = Listener("without"), Listener("with")
        w.informer.add_event_handler_with_resync_period(without, 0.0)
        w.informer.add_event_handler_with_resync_period(with_resync, 1.0)
        w.start()
        assert without.take() == with_resync.take() == ["add pod1", "add pod2"]
        w.source.add_drop_watch(pod("pod3"))
        w.source.modify_drop_watch(pod("pod1"))
        w.source.delete_drop_watch(pod("pod2"))
        w.source.reset_watch()
        w.bubble.sleep(10.0)
        changes = {"add pod3", "update pod1", "delete pod2"}
        notified = without.take()
        assert set(notified) == changes and notified.count("delete pod2") == notified.count("add pod3") == 1
        assert set(with_resync.take()) == changes | {"update pod3"}


def test_the_watch_error_handler_gets_the_list_error() -> None:
    """Go: TestSharedInformerErrorHandling"""
    with world() as w:
        w.source.list_error = RuntimeError("no list")
        errors: list[str] = []
        w.informer.set_watch_error_handler(lambda _, err: errors.append(str(err)))
        w.start()
        assert errors == ["failed to list *v1.Pod: no list"]
        with pytest.raises(RuntimeError, match="informer has already started"):
            w.informer.set_watch_error_handler(lambda *_: None)


def test_settings_may_race_with_the_start() -> None:
    """Go: TestSharedInformerStartRace"""
    for seed in range(10):

        def scenario() -> None:
            bubble = synctest.current()
            assert bubble is not None
            w = World(bubble)

            def configure() -> None:
                while True:
                    try:
                        w.informer.set_transform(lambda obj: obj)
                        w.informer.set_watch_error_handler(lambda *_: None)
                    except RuntimeError:
                        return

            configurer = threading.Thread(target=configure, name="configurer")
            configurer.start()
            w.start()
            configurer.join()
            w.stop()
            w.source.shutdown()

        synctest.run(scenario, schedule=synctest.RandomSchedule(seed))


def test_listeners_and_store_see_what_the_transform_made() -> None:
    """Go: TestSharedInformerTransformer"""
    with world() as w:
        w.source.add(pod("pod1"))
        listener = Listener()

        def transform(obj: Any) -> Any:
            obj.set_name(f"transformed-{obj.get_name()}")
            return obj

        w.informer.set_transform(transform)
        w.informer.add_event_handler(listener)
        w.start()
        assert listener.take() == ["add transformed-pod1"]
        assert w.informer.get_store().list_keys() == ["default/transformed-pod1"]


def count(informer: Any) -> int:
    return len(informer.parts().handlers)


def test_handlers_are_removed_one_by_one() -> None:
    """Go: TestSharedInformerRemoveHandler"""
    with world() as w:
        first, second = (w.informer.add_event_handler(Listener()) for _ in range(2))
        assert count(w.informer) == 2
        w.informer.remove_event_handler(second)
        assert count(w.informer) == 1
        w.informer.remove_event_handler(first)
        assert count(w.informer) == 0


def test_run_waits_for_a_removed_handler_that_is_still_at_work() -> None:
    order: list[str] = []
    with world() as w:

        def slow(obj: object) -> None:
            time.sleep(30.0)
            order.append("handled")

        registration = w.informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=slow))
        w.source.add(pod("a"))
        w.start()
        w.informer.remove_event_handler(registration)
        w.stop()
        order.append("stopped")
    assert order == ["handled", "stopped"]


def test_a_foreign_registration_cannot_be_removed() -> None:
    """Go: TestSharedInformerRemoveForeignHandler"""
    with world() as w:
        other = cache.new_shared_index_informer(w.source, corev1.Pod(), 0.0, {})
        foreign = other.add_event_handler(Listener())
        w.informer.add_event_handler(Listener())
        w.informer.remove_event_handler(foreign)
        assert count(w.informer) == 1
        assert w.informer._processor.get_listener(foreign) is None
        with pytest.raises(TypeError, match="invalid key type"):
            w.informer.remove_event_handler("no registration")
        assert w.informer._processor.get_listener("none") is None
        assert w.informer._processor.get_listener(["not hashable"]) is None


def test_one_handler_may_be_registered_twice() -> None:
    """Go: TestSharedInformerMultipleRegistration"""
    with world() as w:
        listener = Listener()
        first, second = (w.informer.add_event_handler(listener) for _ in range(2))
        w.start()
        w.source.add(pod("a"))
        w.bubble.wait()
        assert listener.take() == ["add a"] * 2
        w.informer.remove_event_handler(first)
        w.source.add(pod("b"))
        w.bubble.wait()
        assert listener.take() == ["add b"]
        w.informer.remove_event_handler(second)
        assert count(w.informer) == 0


def test_removing_twice_is_harmless() -> None:
    """Go: TestRemovingRemovedSharedInformer"""
    with world() as w:
        registration = w.informer.add_event_handler(Listener())
        for _ in range(2):
            w.informer.remove_event_handler(registration)
        w.start()
        registration = w.informer.add_event_handler(Listener())
        for _ in range(2):
            w.informer.remove_event_handler(registration)


@pytest.mark.parametrize("seed", range(3))
def test_handlers_may_come_and_go_while_events_flow(seed: int) -> None:
    """Go: TestSharedInformerHandlerAbuse"""

    def scenario() -> None:
        bubble = synctest.current()
        assert bubble is not None
        w = World(bubble)
        w.start()

        def come_and_go(number: int) -> None:
            choose = random.Random(number)
            mine: list[Any] = []
            for _ in range(10):
                if mine and choose.random() < 0.5:
                    w.informer.remove_event_handler(mine.pop(choose.randrange(len(mine))))
                else:
                    mine.append(w.informer.add_event_handler(Listener()))

        threads = [threading.Thread(target=come_and_go, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for number in range(20):
            w.source.add(pod(f"p{number}"))
        for thread in threads:
            thread.join()
        bubble.wait()
        late = Listener()
        w.informer.add_event_handler(late)
        bubble.wait()
        assert late.take() == sorted(f"add p{number}" for number in range(20))
        w.stop()
        w.source.shutdown()

    synctest.run(scenario, schedule=synctest.RandomSchedule(seed))


def test_it_reports_whether_it_was_started_and_stopped() -> None:
    """Go: TestStateSharedInformer"""
    with world() as w:
        informer = w.informer
        assert (informer.has_started(), informer.is_stopped()) == (False, False)
        w.start()
        assert (informer.has_started(), informer.is_stopped()) == (True, False)
        w.stop()
        assert (informer.has_started(), informer.is_stopped()) == (True, True)


def test_a_stopped_informer_takes_no_handlers_and_gives_them_back() -> None:
    """
    Go: TestAddOnStoppedSharedInformer
    Go: TestRemoveOnStoppedSharedInformer
    """
    with world() as w:
        registration = w.informer.add_event_handler(Listener())
        w.start()
        w.stop()
        with pytest.raises(RuntimeError, match=r"was not added to shared informer because it has stopped already$"):
            w.informer.add_event_handler(Listener())
        w.informer.remove_event_handler(registration)


@pytest.mark.parametrize("handler", [cache.ResourceEventHandlerFuncs, print, None, object()])
def test_what_is_no_handler_is_refused_at_once(handler: Any) -> None:
    """Also the class instead of an object of it, which has the methods too."""
    with world() as w:
        with pytest.raises(TypeError, match="a handler is an object with on_add, on_update and on_delete"):
            w.informer.add_event_handler(handler)
        w.start()
        w.stop()


def test_a_removed_handler_hears_no_more() -> None:
    """Go: TestRemoveWhileActive"""
    with world() as w:
        listener = Listener()
        registration = w.informer.add_event_handler(listener)
        w.start()
        w.source.add(pod("pod1"))
        w.bubble.wait()
        w.informer.remove_event_handler(registration)
        w.source.add(pod("pod2"))
        w.bubble.wait()
        assert listener.take() == ["add pod1"]


def test_a_late_handler_hears_of_everything_once_and_then_has_synced() -> None:
    """Go: TestAddWhileActive"""
    with world() as w:
        w.source.add(pod("pod1"))
        first = Listener()
        handle = w.informer.add_event_handler(first)
        assert not handle.has_synced()
        w.start()
        assert handle.has_synced()
        w.source.add(pod("pod2"))
        w.bubble.wait()

        release = Signal()
        late = Listener()
        on_add = late.on_add

        def slow_add(obj: Any, is_in_initial_list: bool) -> None:
            assert is_in_initial_list == (obj.get_name() != "pod3")
            release.wait()
            on_add(obj, is_in_initial_list)

        late.on_add = slow_add  # type: ignore[method-assign]
        late_handle = w.informer.add_event_handler(late)
        w.source.add(pod("pod3"))
        w.bubble.wait()
        assert not late_handle.has_synced() and not cache.is_done(late_handle.has_synced_checker())
        release.set()
        w.bubble.wait()
        assert late_handle.has_synced() and cache.is_done(late_handle.has_synced_checker())
        assert late.take() == first.take() == ["add pod1", "add pod2", "add pod3"]
        name = late_handle.has_synced_checker().name()
        assert name.startswith("SharedIndexInformer *v1.Pod + event handler ")


def test_every_thread_ends() -> None:
    """
    Go: TestShutdown
    Go: TestShutdown/no-context
    Go: TestShutdown/no-context-later
    Go: TestShutdown/no-run
    """
    # A bubble fails if a thread outlives it.
    with world() as w:
        w.informer.add_event_handler(Listener())
        stop = threading.Event()
        thread = threading.Thread(target=w.informer.run, args=(stop,))
        thread.start()
        w.bubble.wait()
        stop.set()
        thread.join()
        w.bubble.sleep(2.0)
    with world() as w:
        w.start()
        w.informer.remove_event_handler(w.informer.add_event_handler(Listener()))
        w.stop()
    with world() as w:
        w.informer.add_event_handler(Listener())


def test_a_handler_that_raises_is_logged_and_never_synced(caplog: pytest.LogCaptureFixture) -> None:
    """
    Go: TestEventPanics
    Go: TestEventPanics/simple
    """
    with world() as w:
        w.source.add(pod("a"))

        def fail(obj: Any) -> None:
            raise ValueError("fake panic")

        handle = w.informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=fail))
        w.start()
        w.bubble.sleep(5.0)
        assert w.informer.has_synced()
        assert not handle.has_synced()
    assert caplog.text.count('"Observed a panic" panic="fake panic"') == 1


def test_a_handler_that_raises_hears_the_next_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """In Go it rests for a second, since a panic is rare; here an exception is nothing special.

    Go: TestEventPanics/many
    """
    with world() as w:
        at: dict[str, list[float]] = {"one": [], "two": []}

        def failing(name: str) -> cache.ResourceEventHandler:
            def fail(obj: Any) -> None:
                at[name].append(w.bubble.elapsed)
                raise ValueError(f"fake panic of {name}")

            return cache.ResourceEventHandlerFuncs(add_func=fail)

        for name in at:
            logger = klog.background().with_name(f"logger-{name}")
            w.informer.add_event_handler_with_options(failing(name), cache.HandlerOptions(logger=logger))
        for number in range(3):
            w.source.add(pod(f"p{number}"))
        w.start()
        w.bubble.sleep(10.0)
        assert [[round(seconds) for seconds in seen] for seen in at.values()] == [[0, 0, 0]] * 2
    for name in at:
        assert len(re.findall(f'panic="fake panic of {name}".* logger="logger-{name}"', caplog.text)) == 3 or (
            len(re.findall(f'logger="logger-{name}".*panic="fake panic of {name}"', caplog.text)) == 3
        )


def test_a_handler_that_calls_sys_exit_is_logged_and_receives_the_next(caplog: pytest.LogCaptureFixture) -> None:
    with world() as w:
        seen: list[str] = []

        def fail(obj: Any) -> None:
            seen.append(obj.metadata.name)
            raise SystemExit(1)

        w.informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=fail))
        for name in ("a", "b"):
            w.source.add(pod(name))
        w.start()
        w.bubble.sleep(1.0)
        assert seen == ["a", "b"]
    assert caplog.text.count('"Observed a panic"') == caplog.text.count("remedy=") == 2


def test_a_transform_that_calls_sys_exit_is_logged_and_its_object_is_listed_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with world() as w:
        calls: list[str] = []

        def transform(obj: Any) -> Any:
            calls.append(obj.metadata.name)
            if len(calls) == 1:
                raise SystemExit(1)
            return obj

        w.informer.set_transform(transform)
        w.source.add(pod("a"))
        w.start()
        w.bubble.sleep(60.0)
        assert w.informer.has_synced()
        assert calls == ["a", "a"]
    (line,) = [line for line in caplog.text.splitlines() if " at=" in line]
    assert "the transform function called sys.exit(1): raise an exception instead" in line and '"default/a' in line


_CALLED = {
    "add": 'object="default/web" event="add" handler=',
    "update": 'object="default/web" event="update" handler=',
    "delete": 'object="default/web" event="delete" handler=',
    "filter": 'object="default/web" event="add" handler=',
    "list": 'type="*v1.Pod" reflector=',
}


@pytest.mark.parametrize("failure", [SystemExit(1), ValueError("bad")], ids=["exit", "error"])
@pytest.mark.parametrize("function", [*_CALLED, "transform", "index"])
def test_the_first_line_about_a_function_that_fails_names_the_object(
    function: str, failure: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*args: Any) -> Any:
        raise failure

    funcs = cache.ResourceEventHandlerFuncs
    with world() as w:
        if function == "filter":
            w.informer.add_event_handler(cache.FilteringResourceEventHandler(filter_func=fail, handler=funcs()))
        elif function == "transform":
            w.informer.set_transform(fail)
        elif function == "index":
            w.informer.add_indexers({"by": fail})
        elif function == "list":
            w.source.list = w.source.watch = fail  # type: ignore[method-assign]
        else:
            w.informer.add_event_handler(funcs(**{f"{function}_func": fail}))
        web = pod("web")
        w.source.add(web)
        w.start()
        w.bubble.sleep(1.0)
        w.source.modify(web)
        w.bubble.sleep(1.0)
        w.source.delete(web)
        w.bubble.sleep(1.0)
    line = next(line for line in caplog.text.splitlines() if " at=" in line)
    if function in ("add", "update", "delete", "filter") or (isinstance(failure, SystemExit) and function == "list"):
        assert '"Observed a panic"' in line and _CALLED[function] in line
    else:
        assert "default/web" in line or 'type="*v1.Pod"' in line


# --- Beyond Go's tests ----------------------------------------------------------------------------------------------


def test_a_blocked_handler_delays_no_other() -> None:
    """Ten thousand events pass a handler that hangs in its first one."""
    with world() as w:
        release = Signal()
        blocked = cache.ResourceEventHandlerFuncs(add_func=lambda obj: release.wait())
        listener = Listener()
        w.informer.add_event_handler(blocked)
        handle = w.informer.add_event_handler(listener)
        for number in range(5_000):
            w.source.add(pod(f"a{number}"))
        w.start()
        for number in range(50):
            for other in range(100):
                w.source.add(pod(f"b{number}-{other}"))
            w.bubble.wait()
        assert handle.has_synced()
        assert len(listener.notified) == 10_000
        assert len(w.informer.get_store().list()) == 10_000
        assert w.informer.last_sync_resource_version() == "10000"
        release.set()


def test_a_handler_may_add_and_remove_handlers_and_stop_the_informer() -> None:
    with world() as w:
        w.source.add(pod("a"))
        late = Listener()
        done: list[bool] = []

        def on_add(obj: Any) -> None:
            w.informer.add_event_handler(late)
            w.informer.remove_event_handler(registration)
            w.cancel()
            done.append(True)

        registration = w.informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=on_add))
        w.start()
        assert done == [True]


def test_cached_objects_are_read_only() -> None:
    with world() as w:
        w.source.add(pod("a"))
        seen: list[Any] = []
        w.informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=seen.append))
        w.start()
        (cached,) = w.informer.get_store().list()
        assert seen == [cached]
        with pytest.raises(runtime.ReadOnlyError):
            seen[0].set_labels({"a": "b"})


def test_running_twice_does_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with world() as w:
        w.start()
        w.informer.run_with_context(w.ctx)
    assert "run more than once is not allowed" in caplog.text


def test_the_controller_it_shows_only_answers() -> None:
    with world() as w:
        shown = w.informer.get_controller()
        shown.run(threading.Event())
        shown.run_with_context(context.background())
        assert (shown.has_synced(), shown.last_sync_resource_version(), shown.last_contact()) == (False, "", None)
        w.source.add(pod("a"))
        w.start()
        assert (shown.has_synced(), shown.last_sync_resource_version()) == (True, "1")
        assert shown.has_synced_checker().done().is_set()
        assert shown.last_contact() is not None and shown.last_contact() == w.informer.last_contact()
        with set_feature_during_test(features.INFORMER_RESOURCE_VERSION, False):
            assert shown.last_sync_resource_version() == ""
        assert repr(w.informer).startswith("<SharedIndexInformer *v1.Pod running, synced")


def test_the_mutation_detector_watches_when_it_is_on(detectors: list[Any]) -> None:
    with world() as w:
        w.source.add(pod("a"))
        w.informer.add_event_handler(Listener())
        w.start()
        [detector] = detectors
        detector.compare_objects()
        (cached,) = w.informer.get_store().list()
        metadata = document_of(cached)["metadata"]
        metadata["name"] = "changed behind everybody's back"
        with pytest.raises(Exception, match="modified"):
            detector.compare_objects()
        metadata["name"] = "a"


def test_the_mutation_detector_watches_what_was_added_and_what_was_updated_once_each(
    detectors: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with world() as w:
        w.source.add(pod("a"))
        w.start()
        [detector] = detectors
        # The objects in the order in which they come.
        watched: list[Any] = []
        monkeypatch.setattr(detector, "add_object", watched.append)
        w.source.modify(pod("a", new="yes"))
        w.bubble.wait()
        assert watched == w.informer.get_store().list()
        w.source.delete(pod("a"))
        w.bubble.wait()
        assert len(watched) == 1


def test_the_queue_is_chosen_by_the_gate_or_for_one_informer(in_order: bool) -> None:
    for option, expected in ((None, in_order), (True, True), (False, False)):
        with world(in_order=option) as w:
            w.start()
            queue: Any = w.informer.parts().fifo
            assert isinstance(queue, cache.RealFIFO) is expected
            assert queue.name() == ("RealFIFO *v1.Pod" if expected else "DeltaFIFO *v1.Pod")


def test_a_run_that_ctrl_c_ends_before_the_first_list_ends_with_all_its_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a main thread that runs the informer itself: its stop channel will never be set."""

    def list_until_stopped(ctx: context.Context, options: metav1.ListOptions) -> runtime.Object:
        ctx.done().wait()
        raise context.Canceled

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(controller_module._Controller, "_process_loop", interrupted)
    before = set(threading.enumerate())
    source = cache.ListWatch(list_with_context_func=list_until_stopped)
    informer = cache.new_shared_index_informer(source, corev1.Pod(), 0.0, {})

    running = in_thread(lambda: informer.run(threading.Event()))

    with pytest.raises(KeyboardInterrupt):
        running.result(timeout=PATIENCE)
    assert not informer.has_synced()
    assert informer.is_stopped()
    eventually(lambda: set(threading.enumerate()) <= before)


def test_a_slow_handler_with_a_backlog_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="clientgo")
    with world() as w:
        for number in range(1100):
            w.source.add(pod(f"p{number}"))
        slow = iter([0.2])
        handler = cache.ResourceEventHandlerFuncs(add_func=lambda obj: REAL_CLOCK.sleep(next(slow, 0.0)))
        w.informer.add_event_handler(handler)
        w.start()
        w.bubble.sleep(1.0)
    assert "processorListener handler" in caplog.text


def test_an_unrecognised_object_counts_as_changed() -> None:
    update = UpdateNotification
    assert not update("a", "a").is_sync()
    assert update(pod("a"), pod("a")).is_sync()


def test_an_informer_has_no_resync_period_unless_it_is_given_one() -> None:
    options = cache.SharedIndexInformerOptions()
    assert options.resync_period == 0.0


class NoThread:
    """The end of a system's threads: those with a name that begins with `prefix` do not start."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, prefix: str) -> None:
        self.failures: list[str] = []
        start = threading.Thread.start

        def start_others(thread: threading.Thread) -> None:
            if thread.name.startswith(prefix):
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_others)
        monkeypatch.setattr(threading, "excepthook", lambda failed: self.failures.append(str(failed.exc_value)))


Source: TypeAlias = framework.FakeControllerSource


@pytest.fixture
def source() -> Iterator[Source]:
    made = framework.FakeControllerSource()
    made.add(pod("a"))
    yield made
    made.shutdown()


def test_an_informer_ends_if_a_handler_gets_no_thread(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    system = NoThread(monkeypatch, "handler ")
    informer = cache.new_shared_informer(source, corev1.Pod, 0.0)
    registration = informer.add_event_handler(Listener())

    informer.run_with_context(context.background())

    assert system.failures == ["can't start new thread"]
    assert (informer.is_stopped(), registration.has_synced()) == (True, False)
    with pytest.raises(RuntimeError, match="has stopped already"):
        informer.add_event_handler(Listener("late"))


def test_a_handler_that_gets_no_thread_is_not_added(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    informer = cache.new_shared_informer(source, corev1.Pod, 0.0)
    ctx, cancel = context.with_cancel(context.background())
    running = in_thread(lambda: informer.run_with_context(ctx))
    eventually(informer.has_synced)
    with monkeypatch.context() as patched:
        NoThread(patched, "handler ")
        with pytest.raises(RuntimeError, match="can't start new thread"):
            informer.add_event_handler(Listener("late"))
    check_invariants(informer._processor)
    cancel()
    running.result()


@pytest.mark.parametrize("prefix", ["informer *v1.Pod processor", "informer *v1.Pod synced", "reflector "])
def test_a_run_that_gets_no_thread_leaves_none(
    source: Source, monkeypatch: pytest.MonkeyPatch, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    NoThread(monkeypatch, prefix)
    before = set(threading.enumerate())
    informer = cache.new_shared_informer(source, corev1.Pod, 0.0)
    informer.add_event_handler(Listener())

    informer.run_with_context(context.background())

    assert "can't start new thread" in caplog.text
    eventually(lambda: set(threading.enumerate()) <= before)
