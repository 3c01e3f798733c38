"""The defaults, limits and periods of the cache: the behaviour of a program that sets none of them."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import logging
import os
import random
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from queueobjects import Item, key_of
from recordingstore import RecordingStore
from scriptedwatch import Script, ScriptedListerWatcher

from clientgo import context, features, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.features.testing import set_feature_during_test
from clientgo.golang.channel import Signal
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import mutation_cache, reflector, shared_informer
from clientgo.tools.cache import testing as framework
from clientgo.tools.cache.beyond.outage import OutageReporter
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock import testing as clocktesting

BACKGROUND = context.background()


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


# An option that Go does not have, with the default that Go's informers use.
NOT_ZERO = {("SharedIndexInformerOptions", "emit_delta_type_replaced"): True}


@pytest.mark.parametrize(
    "options",
    [
        cache.Config,
        cache.DeltaFIFOOptions,
        cache.HandlerOptions,
        cache.InformerOptions,
        cache.RealFIFOOptions,
        cache.ReflectorOptions,
        cache.SharedIndexInformerOptions,
    ],
)
def test_an_option_that_is_not_set_has_the_zero_value_of_go(options: Any) -> None:
    checked = 0
    for field in dataclasses.fields(options):
        if field.default is not dataclasses.MISSING and not isinstance(field.default, cache.Overflow):
            expected = NOT_ZERO.get((options.__name__, field.name), False)
            assert bool(field.default) is expected, field.name
            checked += 1
    assert checked > 1


def verbosities(module: ModuleType) -> dict[str, int]:
    """Return the verbosity of each message that the module logs with `info`."""
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Attribute(attr="v"), [ast.Constant(int(level))]), "info"), args):
                pass
            case ast.Call(ast.Attribute(attr="info"), args):
                level = 0
            case _:
                continue
        if args and isinstance(args[0], ast.Constant):
            found[str(args[0].value)] = level
    return found


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (
            reflector,
            {
                "Starting reflector": 3,
                "Stopping reflector": 3,
                "Listing and watching": 3,
                "Caches populated": 2,
                "Forcing resync": 4,
                "Watch failed - backing off": 4,
                "Watch returned 429 - backing off": 2,
                "Retrying watch after internal error": 2,
                "Warning: watch ended with error": 0,
                "watch-list failed - backing off": 2,
                "Exiting watch because received the bookmark that marks the end of initial events stream": 4,
                "Watch close": 4,
                "Watch closed": 4,
                "Watch closed with unexpected EOF": 1,
                "Warning: event bookmark expired": 0,
            },
        ),
        (mutation_cache, {"Unable to calculate an index entry for mutation cache entry": 4}),
        (shared_informer, {"Waiting for caches to sync": 0, "Caches are synced": 0, "Waiting": 0, "Done waiting": 0}),
    ],
    ids=["reflector", "mutation_cache", "shared_informer"],
)
def test_a_message_of_go_has_its_verbosity(module: ModuleType, expected: dict[str, int]) -> None:
    """An operator who knows client-go finds a message at the same -v. The figures are from Go's source."""
    found = verbosities(module)
    assert {message: found.get(message) for message in expected} == expected


# ---- the reflector


@pytest.mark.parametrize(("end", "expected"), [(min, 300), (max, 600)], ids=["shortest", "longest"])
def test_a_watch_lasts_from_five_to_ten_minutes(
    end: Callable[[float, float], float], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", end)
    asked: list[int | None] = []

    def open_watch(options: metav1.ListOptions) -> Any:
        asked.append(options.timeout_seconds)
        raise RuntimeError("no watch")

    lw = cache.ListWatch(list_func=lambda _: corev1.PodList(), watch_func=open_watch)
    made = cache.new_reflector(lw, corev1.Pod(), RecordingStore(), 0.0)
    with pytest.raises(RuntimeError, match="no watch"):
        made.list_and_watch_with_context(BACKGROUND)
    assert asked == [expected]


@pytest.mark.parametrize(("healthy", "starts_again"), [(119.0, False), (121.0, True)])
def test_the_pauses_start_again_two_minutes_after_they_began(
    healthy: float, starts_again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server refuses three connections, is up for a while, and refuses again."""
    monkeypatch.setattr(random, "random", lambda: 0.0)
    refused = {"error": "connection_refused"}
    listed = {"items": [{"name": "a", "rv": "1"}], "resource_version": "1"}
    pauses = 4 / 3 + 8 / 3 + 16 / 3
    serves = {"events": [{"type": "CLOSE", "delay_ms": round((healthy - pauses) * 1000)}]}
    with synctest.bubble() as bubble:
        watches = deque([refused, refused, refused, serves, refused, {"events": []}])
        server = ScriptedListerWatcher(bubble, Script(deque([listed]), watches))
        made = cache.new_reflector(server, corev1.ConfigMap(), RecordingStore(), 0.0)
        ctx, cancel = context.with_cancel(BACKGROUND)
        thread = threading.Thread(target=made.run_with_context, args=(ctx,), name="reflector")
        thread.start()
        bubble.sleep(300.0)
        cancel()
        thread.join()
        server.join()
        times = [call["at_ms"] / 1000 for call in server.calls if call["call"] == "watch"]
    assert times[:4] == pytest.approx([0.0, 4 / 3, 4.0, pauses], abs=0.01)
    assert times[5] - times[4] == pytest.approx(4 / 3 if starts_again else 32 / 3, abs=0.01)


@pytest.mark.parametrize(("seconds", "is_logged"), [(9.9, False), (10.1, True)])
def test_a_list_of_ten_seconds_is_slow(seconds: float, is_logged: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="clientgo")
    with synctest.bubble():

        def listed(_: metav1.ListOptions) -> corev1.PodList:
            REAL_CLOCK.sleep(seconds)
            return corev1.PodList()

        def open_watch(_: metav1.ListOptions) -> Any:
            raise RuntimeError("no watch")

        lw = cache.ListWatch(list_func=listed, watch_func=open_watch)
        made = cache.new_reflector(lw, corev1.Pod(), RecordingStore(), 0.0)
        with pytest.raises(RuntimeError, match="no watch"):
            made.list_and_watch_with_context(BACKGROUND)
    assert ("Reflector ListAndWatch" in caplog.text) is is_logged


def test_a_stop_waits_a_fifth_of_a_second_for_a_list_that_goes_on() -> None:
    with synctest.bubble() as bubble:
        may_end = Signal()

        def listed(_: metav1.ListOptions) -> corev1.PodList:
            may_end.wait()
            return corev1.PodList()

        made = cache.new_reflector(cache.ListWatch(list_func=listed), corev1.Pod(), RecordingStore(), 0.0)
        ctx, cancel = context.with_cancel(BACKGROUND)
        bubble.after_func(5.0, cancel)
        made.run_with_context(ctx)
        assert bubble.elapsed == pytest.approx(5.2)
        may_end.set()


def test_an_outage_is_reported_at_once_and_then_ever_more_rarely(caplog: pytest.LogCaptureFixture) -> None:
    """After a minute, at twice the time, and at least once an hour."""
    caplog.set_level(logging.INFO, logger="clientgo")
    clock = clocktesting.new_fake_clock(1000.0)
    reporter = OutageReporter(clock, "asker", "*v1.Pod")
    reported, lines = [], 0
    for second in range(4 * 3600):
        reporter.refused(klog.background(), ConnectionRefusedError("refused"))
        if len(caplog.records) > lines:
            reported.append(second)
            lines = len(caplog.records)
        clock.step(1.0)
    assert reported == [0, 60, 120, 240, 480, 960, 1920, 3840, 3840 + 3600, 3840 + 2 * 3600]


# ---- the controller and the queues


def test_a_process_loop_that_ended_is_restarted_after_a_second() -> None:
    """Go: wait.UntilWithContext(ctx, c.processLoop, time.Second)"""

    class Broken(cache.RealFIFO):
        """A queue whose consumer calls sys.exit."""

        def pop(self, process: Any) -> Any:
            popped.append(bubble.elapsed)
            raise SystemExit if len(popped) < 3 else cache.ErrFIFOClosed

    popped: list[float] = []
    with synctest.bubble() as bubble:
        queue = Broken(cache.RealFIFOOptions(atomic_events=True))
        source = ScriptedListerWatcher(bubble, Script(deque(), deque()))
        config = cache.Config(queue=queue, lister_watcher=source, process=lambda deltas, initial: None)
        controller = cache.new(config)
        ctx, cancel = context.with_cancel(BACKGROUND)
        thread = threading.Thread(target=controller.run_with_context, args=(ctx,), name="controller")
        thread.start()
        bubble.sleep(2.5)
        cancel()
        thread.join()
        source.join()
    assert popped == pytest.approx([0.0, 1.0, 2.0])


def test_a_batch_has_at_most_a_thousand_deltas() -> None:
    queue = cache.new_real_fifo_with_options(cache.RealFIFOOptions(key_function=key_of, atomic_events=True))
    for number in range(1002):
        queue.add(Item(f"item-{number}"))
    sizes: list[int] = []
    queue.pop_batch(lambda batch, initial: sizes.append(len(batch)), lambda deltas, initial: None)
    queue.pop_batch(lambda batch, initial: sizes.append(len(batch)), lambda deltas, initial: None)
    assert sizes == [1000, 2]


@pytest.mark.parametrize(("failures", "ending"), [(10, "bad 9]"), (11, "bad 9 and 1 more]")])
def test_an_error_about_many_operations_names_ten(failures: int, ending: str) -> None:
    err = cache.TransactionError([], failures, [ValueError(f"bad {number}") for number in range(failures)])
    assert str(err).endswith(ending)


# ---- shared informers


def test_a_wait_polls_ten_times_a_second() -> None:
    polled: list[float] = []
    with synctest.bubble() as bubble:

        def has_synced() -> bool:
            polled.append(bubble.elapsed)
            return len(polled) == 4

        assert cache.wait_for_cache_sync(threading.Event(), has_synced)
    assert polled == pytest.approx([0.0, 0.1, 0.2, 0.3])


def run_slow_handler(bubble: synctest.Bubble, objects: int, seconds: float) -> None:
    """Run an informer whose handler takes so many seconds for the first of the objects, and none for the others."""
    source = framework.new_fake_controller_source()
    for number in range(objects):
        source.add(corev1.Pod(metadata=metav1.ObjectMeta(name=f"p{number}", namespace="default")))
    takes = iter([seconds])
    informer = cache.new_shared_index_informer(source, corev1.Pod(), 0.0, {})
    informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda _: REAL_CLOCK.sleep(next(takes, 0.0))))
    ctx, cancel = context.with_cancel(BACKGROUND)
    bubble.after_func(seconds + 1.0, cancel)
    informer.run_with_context(ctx)
    source.shutdown()


@pytest.mark.parametrize(
    ("objects", "seconds", "is_logged"), [(1026, 0.11, True), (1025, 0.11, False), (1026, 0.09, False)]
)
def test_a_handler_that_takes_a_tenth_of_a_second_is_logged_while_more_than_1024_notifications_wait(
    objects: int, seconds: float, is_logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="clientgo")
    with synctest.bubble() as bubble:
        run_slow_handler(bubble, objects, seconds)
    assert ("processorListener handler" in caplog.text) is is_logged


@pytest.mark.parametrize(("writes", "is_known"), [(100, True), (101, False)])
def test_a_mutation_cache_keeps_a_hundred_writes(writes: int, is_known: bool) -> None:
    below = cache.new_indexer(cache.meta_namespace_key_func, {})
    made = cache.new_integer_resource_version_mutation_cache(klog.background(), below, below, 60.0, True)
    for number in range(writes):
        made.mutation(corev1.Pod(metadata=metav1.ObjectMeta(name=f"p{number}", resource_version="1")))
    _, exists = made.get_by_key("p0")
    assert exists is is_known


@pytest.mark.parametrize(("value", "is_on"), [(None, False), ("", False), ("false", False), ("true", True)])
def test_the_environment_switches_the_mutation_detector_on(value: str | None, is_on: bool) -> None:
    """Go: KUBE_CACHE_MUTATION_DETECTOR"""
    env = {name: text for name, text in os.environ.items() if name != "KUBE_CACHE_MUTATION_DETECTOR"}
    if value is not None:
        env["KUBE_CACHE_MUTATION_DETECTOR"] = value
    code = "from clientgo.tools.cache import mutation_detector as m; print(m.mutation_detection_enabled)"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(is_on)
