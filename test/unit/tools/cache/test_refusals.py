"""An index or transform function that raises for one object affects no other, and the object is retried. Beyond Go."""

from __future__ import annotations

import logging
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from clientgo import context, features, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import testing as framework
from clientgo.tools.cache.beyond.refusals import Untransformed
from clientgo.tools.cache.controller import process_deltas, process_deltas_in_batch
from clientgo.tools.cache.notifications import notify_each
from clientgo.utils.clock import testing as clocktesting

# Longer than the first pause between two passes of the reflector.
PAUSE = 3.0


@pytest.fixture(
    autouse=True,
    params=[(True, True, True), (True, True, False), (True, False, False), (False, False, False)],
    ids=["atomic", "atomic, one by one", "single", "DeltaFIFO"],
)
def queue(request: pytest.FixtureRequest) -> Iterator[None]:
    in_order, atomic, batches = request.param
    with (
        set_feature_during_test(features.WATCH_LIST_CLIENT, False),
        set_feature_during_test(features.IN_ORDER_INFORMERS, in_order),
        set_feature_during_test(features.ATOMIC_FIFO, atomic),
        set_feature_during_test(features.UNLOCK_WHILE_PROCESSING_FIFO, atomic),
        set_feature_during_test(features.IN_ORDER_INFORMERS_BATCH_PROCESS, batches),
    ):
        yield


def pod(name: str, **labels: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="default", labels=labels))


WORDLESS = "wordless"


class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def by_team(obj: Any) -> list[str]:
    if obj.metadata.labels.get("team") == WORDLESS:
        raise Wordless
    return [obj.metadata.labels["team"]]


def with_team(obj: Any) -> Any:
    """Return a transform function that fails where the index function does."""
    by_team(obj)
    return obj


@pytest.fixture(params=["index", "transform"])
def failing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Select the function that fails."""
    monkeypatch.setattr(World, "failing", request.param)
    return str(request.param)


class Listener:
    def __init__(self) -> None:
        self.notified: list[str] = []
        self.deleted: list[Any] = []

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self.notified.append(f"add {obj.get_name()}")

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self.notified.append(f"update {new_obj.get_name()}")

    def on_delete(self, obj: Any) -> None:
        self.deleted.append(obj)
        self.notified.append(f"delete {getattr(obj, 'obj', obj).get_name()}")

    def take(self) -> list[str]:
        notified, self.notified = self.notified, []
        return sorted(notified)


class Source(framework.FakeControllerSource):
    """A source that counts the lists."""

    lists = 0

    def list(self, options: metav1.ListOptions) -> Any:
        self.lists += 1
        return super().list(options)


class World:
    """An informer by the label `team`, which a source feeds; for one handler, or shared."""

    failing = "index"

    def __init__(self, bubble: synctest.Bubble, shared: bool) -> None:
        self.bubble = bubble
        self.source = Source()
        self.listener = Listener()
        self.store: cache.Store
        self.informer: cache.SharedInformer | cache.Controller
        indexers = {"team": by_team} if self.failing == "index" else {}
        transform = with_team if self.failing == "transform" else None
        if shared:
            informer = cache.new_shared_index_informer(self.source, corev1.Pod(), 0.0, indexers)
            informer.add_event_handler(self.listener)
            if transform is not None:
                informer.set_transform(transform)
            self.store, self.informer = informer.get_store(), informer
        else:
            self.store, self.informer = cache.new_transforming_indexer_informer(
                self.source, corev1.Pod(), 0.0, self.listener, indexers, transform
            )

    def names(self) -> list[str]:
        return sorted(obj.get_name() for obj in self.store.list())

    def team_of(self, name: str) -> str:
        found, _ = self.store.get_by_key(f"default/{name}")
        return str(found.metadata.labels["team"])


@contextmanager
def world(shared: bool, *objs: corev1.Pod) -> Iterator[World]:
    with synctest.bubble() as bubble:
        made = World(bubble, shared)
        for obj in objs:
            made.source.add(obj)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=made.informer.run_with_context, args=(ctx,), name="informer")
        thread.start()
        bubble.sleep(0.1)  # errors are reported no faster than one a millisecond
        try:
            yield made
        finally:
            cancel()
            thread.join()
            made.source.shutdown()


_BOTH = pytest.mark.parametrize("shared", [True, False], ids=["shared", "one handler"])


def both(test: Callable[..., None]) -> Callable[..., None]:
    """Run the test with both informers and both functions that may fail."""
    return cast(Callable[..., None], _BOTH(pytest.mark.usefixtures("failing")(test)))


@both
def test_the_initial_list_is_notified_without_a_rejected_object_and_does_not_sync(
    shared: bool, failing: str, caplog: pytest.LogCaptureFixture
) -> None:
    with world(shared, pod("a", team="x"), pod("bad"), pod("c", team="y")) as w:
        assert w.listener.take() == ["add a", "add c"]
        assert w.names() == ["a", "c"]
        assert not w.informer.has_synced()
        assert not cache.is_done(w.informer.has_synced_checker())
        ((key, refusal),) = w.informer.refused().items()
        assert (key, refusal.obj.get_name()) == ("default/bad", "bad")
        assert isinstance(refusal.err, cache.IndexingError if failing == "index" else cache.TransformingError)
        w.bubble.sleep(600.0)
        assert not w.informer.has_synced()
        assert w.informer.refused()[key].since == refusal.since
        assert 5 <= w.source.lists <= 10, "less and less often"
        w.listener.take()
        w.source.add(pod("d", team="x"))
        w.bubble.sleep(0.1)
        assert w.listener.take() == ["add d"], "the watch goes on"

        w.source.modify(pod("bad", team="z"))
        w.bubble.sleep(1.0)
        assert w.informer.refused() == {}
        assert w.informer.has_synced()
        assert cache.is_done(w.informer.has_synced_checker())
        assert w.names() == ["a", "bad", "c", "d"]
    messages = {
        "index": "unable to calculate an index entry for key \"default/bad\" on index \"team\": KeyError: 'team'",
        "transform": "unable to transform the object with key \"default/bad\": KeyError: 'team'",
    }
    assert messages[failing].replace('"', '\\"') in caplog.text


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if "Warning" in each.getMessage()]


@both
def test_an_object_that_keeps_the_cache_from_syncing_is_reported_once(
    shared: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with world(shared, pod("a", team="x"), pod("bad"), pod("worse")) as w:
        w.bubble.sleep(9.8)
        assert warnings(caplog) == []
        w.bubble.sleep(0.2)
        assert len(warnings(caplog)) == 1
        w.bubble.sleep(600.0)
        assert not w.informer.has_synced()
        (line,) = warnings(caplog)
    assert "it rejects an object of the initial list: mend the index or transform function that fails for it" in line
    assert 'type="*v1.Pod" object="default/bad" rejectedObjects=2' in line
    assert "KeyError" in line


@_BOTH
def test_an_object_for_which_transform_returns_none_is_named(
    shared: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transform function without a return statement."""
    monkeypatch.setattr(World, "failing", "transform")
    monkeypatch.setattr(sys.modules[__name__], "with_team", lambda obj: None)
    caplog.set_level(logging.INFO)
    with world(shared, pod("a", team="x")) as w:
        ((key, refusal),) = w.informer.refused().items()
        assert (key, refusal.obj.get_name()) == ("default/a", "a")
        w.bubble.sleep(10.0)
        (line,) = warnings(caplog)
    assert 'object="default/a" rejectedObjects=1' in line
    assert "the transform function returned None: return the object: " in line and " at test_refusals.py:" in line


@both
def test_an_object_that_is_rejected_after_another_one_has_ten_seconds_of_its_own(
    shared: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with world(shared, pod("bad")) as w:
        w.bubble.sleep(5.0)
        w.source.add(pod("worse"))
        w.bubble.sleep(1.0)
        w.source.modify(pod("bad", team="x"))
        w.bubble.sleep(8.0)
        assert [*w.informer.refused()] == ["default/worse"]
        assert warnings(caplog) == []
        w.bubble.sleep(10.0)
        (line,) = warnings(caplog)
    assert 'object="default/worse" rejectedObjects=1' in line


@both
def test_an_object_that_is_rejected_for_less_than_ten_seconds_is_not_reported(
    shared: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with world(shared, pod("bad")) as w:
        w.bubble.sleep(5.0)
        w.source.modify(pod("bad", team="x"))
        w.source.add(pod("worse"))
        w.bubble.sleep(6.0)
        w.source.modify(pod("worse", team="x"))
        w.bubble.sleep(60.0)
        assert w.informer.has_synced()
        w.source.modify(pod("bad"))
        w.bubble.sleep(60.0)
        assert [*w.informer.refused()] == ["default/bad"], "rejected after the sync"
    assert warnings(caplog) == []


class Drained(BaseException):
    """No Exception, like asyncio's CancelledError."""


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("crash", [SystemExit(3), Drained("dry"), GeneratorExit()], ids=["exit", "own", "generator"])
@_BOTH
def test_a_function_that_raises_no_exception_loses_one_object_and_reports_it(
    shared: bool, failing: str, crash: BaseException, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A panic ends a Go program. Here the batch would be lost, with a cache that reports to be complete."""

    def by_name(obj: Any) -> list[str]:
        if obj.metadata.labels.get("team") is None:
            raise crash
        return [obj.metadata.labels["team"]]

    monkeypatch.setattr(sys.modules[__name__], "by_team", by_name)
    caplog.set_level(logging.INFO)
    with world(shared, pod("a", team="x"), pod("bad"), pod("c", team="y")) as w:
        assert w.listener.take() == ["add a", "add c"]
        assert w.names() == ["a", "c"]
        assert not w.informer.has_synced()
        assert [*w.informer.refused()] == ["default/bad"]
        w.source.modify(pod("a"))
        w.bubble.sleep(10.0)
        assert w.team_of("a") == "x", "the indexed state stays"
        (line,) = warnings(caplog)
        w.source.modify(pod("a", team="z"))
        w.source.modify(pod("bad", team="z"))
        w.bubble.sleep(1.0)
        assert w.informer.has_synced()
        assert w.names() == ["a", "bad", "c"]
    assert "mend the index or transform function that fails for it" in line
    first = caplog.messages[0].splitlines()[0]
    assert re.search(r'at="test_refusals.py:\d+ in by_name"', first), first
    assert f"the {failing} function {_RAISED[type(crash)]}" in first
    assert 'default/bad' in first


_RAISED = {
    SystemExit: "called sys.exit(3): raise an exception instead",
    Drained: "raised Drained: dry",
    GeneratorExit: "raised GeneratorExit",
}


def test_a_process_function_that_calls_sys_exit_costs_a_relist_and_no_object(caplog: pytest.LogCaptureFixture) -> None:
    processed: list[str] = []
    calls = 0

    def process(deltas: Any, is_in_initial_list: bool) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise SystemExit(2)
        objs = [obj for delta in deltas for obj in getattr(delta.object, "objects", [delta.object])]
        processed.extend(obj.get_name() for obj in objs)

    with synctest.bubble() as bubble:
        source = Source()
        source.add(pod("a"))
        queue = cache.RealFIFO(cache.RealFIFOOptions(atomic_events=True))
        config = cache.Config(queue=queue, lister_watcher=source, process=process)
        controller = cache.new(config)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=controller.run_with_context, args=(ctx,), name="controller")
        thread.start()
        bubble.sleep(PAUSE)
        cancel()
        thread.join()
        source.shutdown()
    assert processed == ["a"]
    first = caplog.messages[0].splitlines()[0]
    assert "the process function called sys.exit(2): raise an exception instead" in first
    assert re.search(r'at="test_refusals.py:\d+ in process"', first), first


@both
def test_the_first_line_in_the_log_shows_where_the_users_function_failed(
    shared: bool, failing: str, caplog: pytest.LogCaptureFixture
) -> None:
    with world(shared, pod("bad")):
        pass
    first = caplog.messages[0].splitlines()[0]
    assert re.search(r'at="test_refusals.py:\d+ in by_team" cause="KeyError: \'team\'"', first), first


@pytest.mark.parametrize("process", [process_deltas, process_deltas_in_batch])
def test_an_error_names_ten_of_a_thousand_objects(process: Callable[..., None]) -> None:
    store = cache.new_indexer(cache.meta_namespace_key_func, {"team": by_team})
    deltas = [cache.Delta(cache.DeltaType.ADDED, pod(f"bad-{i:03}")) for i in range(1000)]
    notify = notify_each(klog.background(), Listener())
    with pytest.raises(cache.ProcessError) as raised:
        process(klog.background(), notify, store, deltas, True, cache.meta_namespace_key_func)
    text = str(raised.value)
    assert len(raised.value.failures) == 1000
    assert "and 990 more" in text and "default/bad-009" in text and "default/bad-010" not in text
    assert raised.value.keys == [f"default/bad-{i:03}" for i in range(10)]


@both
def test_an_error_without_a_text_costs_no_other_object(shared: bool) -> None:
    with world(shared, pod("a", team="x"), pod("bad", team=WORDLESS)) as w:
        assert w.listener.take() == ["add a"]
        assert [*w.informer.refused()] == ["default/bad"]


@both
def test_an_update_of_it_costs_no_other(shared: bool) -> None:
    with world(shared, pod("a", team="x"), pod("b", team="x")) as w:
        assert w.informer.has_synced()
        w.listener.take()
        for changed in (pod("a", team="y"), pod("b"), pod("c", team="y"), pod("a", team="z")):
            w.source.modify(changed)
        w.bubble.sleep(0.1)
        assert w.listener.take() in (["add c", "update a", "update a"], ["add c", "update a"])
        assert [w.team_of(name) for name in w.names()] == ["z", "x", "y"]
        assert w.informer.refused().keys() == {"default/b"}
        assert w.informer.has_synced(), "what has synced once has synced"
        w.bubble.sleep(PAUSE)
        assert w.source.lists == 2
        assert w.team_of("b") == "x"
        w.source.modify(pod("b", team="new"))
        w.bubble.sleep(0.1)
        assert w.informer.refused() == {}
        assert w.team_of("b") == "new"


@both
def test_it_is_made_up_for_when_it_is_deleted(shared: bool) -> None:
    with world(shared, pod("a", team="x"), pod("bad")) as w:
        assert not w.informer.has_synced()
        w.source.delete(pod("bad"))
        w.bubble.sleep(0.1)
        assert w.informer.refused() == {}
        assert w.informer.has_synced()


@both
def test_it_is_made_up_for_by_a_list_without_it(shared: bool) -> None:
    with world(shared, pod("a", team="x"), pod("bad")) as w:
        w.source.delete_drop_watch(pod("bad"))
        w.bubble.sleep(PAUSE)
        assert w.informer.refused() == {}
        assert w.informer.has_synced()
        assert w.names() == ["a"]


@both
def test_the_health_check_fails_while_it_is_lacking(shared: bool) -> None:
    with world(shared, pod("bad"), pod("worse")) as w:
        since = min(refusal.since for refusal in w.informer.refused().values())
        w.bubble.sleep(40.0)
        assert w.informer.refused().keys() == {"default/bad", "default/worse"}
        clock = clocktesting.new_fake_clock(since)
        check = cache.StalenessCheck(60.0, clock)
        check.add("pods", w.informer)
        clock.step(60.0)
        check.check()
        clock.step(1.0)
        message = r"not taken into the cache: pods default/bad( and 1 more)? \(for 1m1s: unable to .*: 'team'\)"
        with pytest.raises(cache.StaleError, match=message):
            check.check()


@both
def test_a_deletion_comes_through_whatever_state_comes_with_it(shared: bool) -> None:
    with world(shared, pod("a", team="x"), pod("b", team="x")) as w:
        w.listener.take()
        w.source.delete(pod("a"))
        w.bubble.sleep(0.1)
        assert w.listener.take() == ["delete a"]
        assert w.names() == ["b"]
        assert w.informer.refused() == {}


def test_handlers_do_not_get_objects_that_fail_to_transform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(World, "failing", "transform")
    with world(True, pod("a", team="x")) as w:
        w.source.modify(pod("a"))
        w.source.delete(pod("a"))
        w.bubble.sleep(0.1)
        (tombstone,) = w.listener.deleted
        assert isinstance(tombstone, cache.DeletedFinalStateUnknown)
        assert (tombstone.key, tombstone.obj.get_labels()) == ("default/a", {"team": "x"})
        w.bubble.sleep(PAUSE)
        assert w.informer.refused() == {}


def test_a_process_function_of_ones_own_may_refuse_too() -> None:
    with synctest.bubble() as bubble:
        source = Source()
        source.add(pod("a"))
        failures = [cache.Failure("default/a", pod("a"), ValueError("not yet"))]

        def process(obj: Any, is_in_initial_list: bool) -> None:
            if failures:
                raise cache.ProcessError("cannot", [failures.pop()])

        fifo = cache.new_real_fifo_with_options(cache.RealFIFOOptions(atomic_events=True))
        controller = cache.new(cache.Config(queue=fifo, lister_watcher=source, process=process))
        stop = threading.Event()
        thread = threading.Thread(target=controller.run, args=(stop,))
        thread.start()
        bubble.wait()
        assert fifo.has_synced()
        assert not controller.has_synced()
        assert controller.refused()["default/a"].err.args == ("not yet",)
        bubble.sleep(PAUSE)
        assert controller.has_synced()
        assert controller.refused() == {}
        stop.set()
        thread.join()
        source.shutdown()


def test_an_object_without_a_key_costs_no_other_of_its_list() -> None:
    store = cache.new_store(cache.meta_namespace_key_func)
    listener = Listener()
    info = cache.ReplacedAllInfo("7", [pod("a"), "no object", pod("b")])
    deltas = cache.Deltas((cache.Delta(cache.DeltaType.REPLACED_ALL, info),))
    notify = notify_each(klog.background(), listener)
    with pytest.raises(cache.ProcessError, match="object has no meta") as raised:
        process_deltas(klog.background(), notify, store, deltas, True, cache.meta_namespace_key_func)
    assert [(failure.key, failure.obj) for failure in raised.value.failures] == [("", "no object")]
    assert listener.take() == ["add a", "add b"]


def test_a_batch_says_of_each_why_it_is_refused() -> None:
    key_func = cache.deletion_handling_meta_namespace_key_func
    store = cache.new_indexer(key_func, {"team": by_team})
    store.add(pod("d", team="x"))
    listener = Listener()
    objs = [Untransformed(pod("a"), ValueError("no")), pod("b"), pod("c", team="x")]
    deltas = [cache.Delta(cache.DeltaType.ADDED, obj) for obj in objs]
    # Of an object that was queued when a list came without it.
    tombstone = cache.DeletedFinalStateUnknown("default/d", Untransformed(pod("d"), ValueError("no")))
    deltas.append(cache.Delta(cache.DeltaType.DELETED, tombstone))
    notify = notify_each(klog.background(), listener)
    with pytest.raises(cache.ProcessError) as raised:
        process_deltas_in_batch(klog.background(), notify, store, deltas, False, key_func)
    assert [(failure.key, type(failure.obj), type(failure.err)) for failure in raised.value.failures] == [
        ("default/a", corev1.Pod, cache.TransformingError),
        ("default/b", corev1.Pod, cache.IndexingError),
    ]
    assert listener.take() == ["add c", "delete d"]
    assert listener.deleted[0].obj.get_labels() == {"team": "x"}
    assert store.list_keys() == ["default/c"]


def test_a_reflector_that_cannot_store_all_of_a_list_logs_it_and_stores_the_rest(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It lists again later, since the object may be repaired without an event."""
    with synctest.bubble() as bubble:
        source = framework.new_fake_controller_source()
        source.add(pod("good", team="a"))
        source.add(pod("bad"))
        store = cache.new_indexer(cache.meta_namespace_key_func, {"team": by_team})
        reflector = cache.new_reflector_with_options(source, corev1.Pod(), store, cache.ReflectorOptions(name="r"))
        ctx, cancel = context.with_cancel(context.background())
        run = threading.Thread(target=reflector.run_with_context, args=(ctx,), name="reflector")
        run.start()
        bubble.sleep(0.5)
        assert store.list_keys() == ["default/good"]
        assert caplog.text.count("Unable to store all of a list") == 1
        bubble.sleep(PAUSE)
        assert caplog.text.count("Unable to store all of a list") > 1
        cancel()
        run.join()
        source.shutdown()
