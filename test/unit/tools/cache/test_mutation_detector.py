"""The detector finds changes of cached objects."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from patience import PATIENCE
from queueobjects import in_threads, join

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang.channel import Signal
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import mutation_detector
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock import testing as clocktesting


def pod() -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name="a", labels={"check": "foo"}))


def new(monkeypatch: pytest.MonkeyPatch, clock: clocktesting.FakeClock) -> Any:
    monkeypatch.setattr(mutation_detector, "mutation_detection_enabled", True)
    return cache.new_cache_mutation_detector("test", clock=clock)


@contextlib.contextmanager
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a detector that looks every second, in a bubble."""
    monkeypatch.setattr(mutation_detector, "mutation_detection_enabled", True)
    detector: Any = cache.new_cache_mutation_detector("test")
    stop = Signal()
    thread = threading.Thread(target=detector.run, args=(stop,))
    thread.start()
    yield detector
    stop.set()
    thread.join()


def test_a_change_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Go: TestMutationDetector"""
    clock = clocktesting.new_fake_clock(1000.0)
    detector = new(monkeypatch, clock)
    stop, failed = Signal(), Signal()
    messages: list[str] = []

    def fail(message: str) -> None:
        messages.append(message)
        failed.set()

    detector._failure_func = fail
    obj = pod()
    detector.add_object(obj)
    detector.compare_objects()
    assert messages == []

    obj.metadata.labels["change"] = "true"
    runner = in_threads([lambda: detector.run(stop)])
    assert failed.wait(PATIENCE)
    stop.set()
    join(runner)
    assert messages[0] == "cache test modified"


def test_it_looks_every_second_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also at what was added, and what was changed, after it had begun."""
    monkeypatch.setattr(mutation_detector, "mutation_detection_enabled", True)
    with synctest.bubble() as bubble:
        detector: Any = cache.new_cache_mutation_detector("test")
        noticed: list[float] = []
        began = REAL_CLOCK.now()
        detector._failure_func = lambda message: noticed.append(round(REAL_CLOCK.since(began), 6))
        stop = Signal()
        thread = threading.Thread(target=detector.run, args=(stop,))
        thread.start()
        bubble.sleep(1.5)
        obj = pod()
        detector.add_object(obj)
        bubble.sleep(2.0)
        assert noticed == []
        obj.metadata.labels["change"] = "true"
        bubble.sleep(2.0)
        assert noticed == [4.0, 5.0]
        stop.set()
        thread.join()
        assert REAL_CLOCK.since(began) == pytest.approx(5.5), "a stop does not wait for the next look"
        bubble.sleep(5.0)
        assert noticed == [4.0, 5.0]


def test_the_run_ends_with_an_error_when_an_object_was_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Go panics here, so the run must end."""
    detector = new(monkeypatch, clocktesting.new_fake_clock(1000.0))
    obj = pod()
    detector.add_object(obj)
    obj.metadata.name = "b"
    with pytest.raises(RuntimeError, match="cache test modified"):
        detector.run(Signal())


def test_the_run_forgets_objects_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []
    with synctest.bubble() as bubble, running(monkeypatch) as detector:
        detector.add_object(pod())
        for seconds in (119.5, 3.0, 119.0, 3.0):
            bubble.sleep(seconds)
            kept.append(repr(detector))
    assert kept == [f"<MutationDetector 'test' {count} objects>" for count in (1, 1, 1, 0)]


def test_without_a_failure_function_it_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    detector = new(monkeypatch, clocktesting.new_fake_clock(1000.0))
    obj = pod()
    detector.add_object(obj)
    detector.add_object(cache.DeletedFinalStateUnknown("a", obj))
    detector.add_object("no API object")
    assert repr(detector) == "<MutationDetector 'test' 1 objects>"
    obj.metadata.name = "b"
    with pytest.raises(RuntimeError, match="cache test modified"):
        detector.compare_objects()


@pytest.mark.parametrize(("age", "noticed"), [(119.5, True), (122.5, True), (241.5, True), (244.5, False)])
def test_a_change_is_noticed_until_the_object_is_forgotten(
    age: float, noticed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with synctest.bubble() as bubble:
        obj = pod()
        with running(monkeypatch) as detector:
            detector.add_object(obj)
            bubble.sleep(age)
        obj.metadata.name = "b"
        with pytest.raises(RuntimeError, match="cache test modified") if noticed else contextlib.nullcontext():
            detector.compare_objects()


def test_switched_off_it_does_nothing() -> None:
    detector = cache.new_cache_mutation_detector("test")
    obj = pod()
    detector.add_object(obj)
    obj.metadata.name = "b"
    detector.run(Signal())  # returns at once


def test_the_log_shows_what_was_changed(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    detector = new(monkeypatch, clocktesting.new_fake_clock(1000.0))
    detector._failure_func = lambda message: None
    obj = pod()
    detector.add_object(obj)
    obj.metadata.labels["change"] = "me"
    detector.compare_objects()
    assert "CACHE test[0] ALTERED!" in caplog.text
    assert "--- cached" in caplog.text and "+++ now" in caplog.text
    assert '"change": "me"' in caplog.text
