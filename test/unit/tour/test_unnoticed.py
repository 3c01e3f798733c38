"""A program prints the same, line for line, whether or not a tour and a recorder are attached."""

from __future__ import annotations

import logging
import re
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from clientgo import context, klog, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import naming
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang import callers
from clientgo.klog.output import LOGGER
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour.taps import worker_tap
from clientgo.util import workqueue


class Handler:
    """Logs who calls it, and raises."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        klog.background().with_call_depth(1).info("called by", who=utilruntime.get_caller())
        self._queue.add(obj.get_name())
        raise ValueError(obj.get_name())

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        # Which a queue cannot take, the second although its type has a hash.
        for item in ([new_obj.get_name()], (new_obj.get_name(), [])):
            for refuse in (self._queue.add, self._queue.add_rate_limited, self._queue.forget, self._queue.done):
                try:
                    refuse(item)
                except TypeError as err:
                    utilruntime.handle_error(err)

    def on_delete(self, obj: Any) -> None:
        klog.background().v(2).info("deleted", key=cache.deletion_handling_meta_namespace_key_func(obj))


class Controller:
    """A worker that logs what goes wrong, in all the ways that there are."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    def work(self) -> None:
        while True:
            key, shutdown = self._queue.get()
            if shutdown:
                return
            try:
                self.reconcile(key)
            except Exception as err:
                utilruntime.handle_error_with_logger(klog.background(), err, "cannot reconcile", key=key)
                if self._queue.num_requeues(key) < 2:
                    self._queue.add_rate_limited(key)
            self._queue.done(key)

    def reconcile(self, key: str) -> None:
        klog.background().with_call_depth(1).info("reconcile for", who=utilruntime.get_caller())
        klog.background().info("named after", where=naming.get_name_from_callsite(__name__, default="none"))
        with utilruntime.handle_crash():
            raise LookupError(key) from self._cause(key)

    def _cause(self, key: str) -> Exception:
        try:
            raise KeyError(f"no {key}")
        except KeyError as err:
            return err


class Lines(logging.Handler):
    """A handler that records each printed line with its place and thread."""

    def __init__(self) -> None:
        super().__init__(1)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        place = f"{record.pathname}:{record.lineno} {record.funcName} {record.threadName}"
        message = re.sub(r"0x[0-9a-f]+", "0x", record.getMessage())
        self.lines.append(f"{record.levelname} {place} {message}")


def config_map(name: str, text: str = "") -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default"), data={"text": text})


WORKER = worker_tap(__name__, "Controller.reconcile")


@contextmanager
def attached(how: str, folder: Path) -> Iterator[tour.Live | None]:
    with ExitStack() as stack:
        live = None
        if how in ("live", "both"):
            live = stack.enter_context(tour.Live([WORKER]))
            tour.LiveView(live)
        if how in ("record", "both"):
            stack.enter_context(tour.record(folder / "r", taps=[WORKER]))
        if how == "seam":
            stack.enter_context(tour.Seam((*tour.TAPS, WORKER), lambda hop: None, lines=True))
        yield live


def lines_of(how: str, folder: Path) -> list[str]:
    """Return the program's output while a tour is attached."""
    printed = Lines()
    LOGGER.addHandler(printed)
    level = LOGGER.level
    LOGGER.setLevel(1)
    try:
        with synctest.bubble() as bubble, attached(how, folder) as live:
            source = new_fake_controller_source()
            source.add(config_map("first"))
            informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 30.0, {})
            queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
            informer.add_event_handler(Handler(queue))
            ctx, cancel = context.with_cancel(context.background())
            threads = [
                threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True),
                threading.Thread(target=Controller(queue).work, name="worker", daemon=True),
            ]
            for thread in threads:
                thread.start()
                bubble.sleep(1.0)
            source.modify(config_map("first", "changed"))
            bubble.sleep(1.0)
            if live is not None:  # whose probes of handlers come with the first pause
                live.pause("nobody")
            source.add(config_map("second"))
            source.reset_watch()
            bubble.sleep(40.0)
            source.delete(config_map("first"))
            bubble.sleep(2.0)
            cancel()
            queue.shut_down()
            for thread in threads:
                thread.join()
            source.shutdown()
    finally:
        LOGGER.removeHandler(printed)
        LOGGER.setLevel(level)
    return printed.lines


@pytest.mark.parametrize("how", ["live", "record", "both", "seam"])
def test_a_program_prints_the_same_with_a_tour_attached(tmp_path: Path, how: str) -> None:
    lines_of("nothing", tmp_path)  # after which no line comes that is printed once in a process
    without = lines_of("nothing", tmp_path)
    with_tour = lines_of(how, tmp_path)
    # The tour adds one pair of lines on purpose: a user must find in the log why a handler does not run.
    pauses = [line for line in with_tour if "The tour pauses a handler" in line or "The tour ends the pause" in line]
    assert len(pauses) == (2 if how in ("live", "both") else 0)
    assert sorted(line for line in with_tour if line not in pauses) == sorted(without)
    text = "\n".join(without)
    # The program prints names from all sources: of reflectors, callers, tracebacks, places in the code.
    for part in ("Starting reflector", "called by", "Observed a panic", "named after", "Traceback", "KeyError"):
        assert part in text
    assert "clientgo/tour" not in text and "informer tour" not in text


def raised_for(*actions: Callable[[], object]) -> list[str]:
    """Return the tracebacks that Python prints for what the actions raise."""
    printed = []
    for action in actions:
        try:
            action()
        except Exception:
            printed.append(traceback.format_exc())
    return printed


def tracebacks_of(how: str, folder: Path) -> list[str]:
    with attached(how, folder):
        queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        store = cache.new_store(lambda obj: obj.no_such_key)
        printed = raised_for(
            lambda: queue.add({}),
            lambda: queue.add(),
            lambda: queue.add_after([1], 1.0),
            lambda: queue.add_rate_limited({2}),
            lambda: store.add("first"),
            lambda: store.replace(["second"], "1"),
            lambda: Controller(queue).reconcile("third"),
        )
        queue.shut_down()
        return printed


@pytest.mark.parametrize("how", ["live", "record", "both", "seam"])
def test_python_prints_the_same_traceback_with_a_tour_attached(tmp_path: Path, how: str) -> None:
    without = tracebacks_of("nothing", tmp_path)
    assert len(without) == 7 and all("in " in text for text in without)
    assert tracebacks_of(how, tmp_path) == without


def test_a_recording_names_a_reflector_after_the_program(tmp_path: Path) -> None:
    lines_of("both", tmp_path)
    with tour.Recording(tmp_path / "r") as recording:
        (source,) = recording.sources.values()
    assert "tour/live.py" not in source.name and "tour/recorder.py" not in source.name
    assert source.name in "\n".join(lines_of("nothing", tmp_path))


def test_a_traceback_has_no_inserted_frames_in_causes_and_groups() -> None:
    code = compile("def inserted(fn):\n    fn()\n", "<informer tour>", "exec")
    scope: dict[str, Any] = {}
    exec(code, scope)

    def fail() -> None:
        raise KeyError("deep")

    def wrap() -> None:
        try:
            scope["inserted"](fail)
        except KeyError as err:
            raise ExceptionGroup("many", [err]) from err

    with pytest.raises(ExceptionGroup) as caught:
        scope["inserted"](wrap)
    text = callers.format_exception(caught.value)
    assert text.count("in fail") >= 2 and "in wrap" in text and "informer tour" not in text


def test_a_caller_is_found_beyond_the_end_of_the_stack() -> None:
    assert callers.caller(0) is not None
    assert callers.caller(100_000) is None
