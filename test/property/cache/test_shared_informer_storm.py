"""The whole shared informer in front of a server that does everything to it except lying.

After the storm the store equals the server, and so does what each handler can rebuild from its notifications alone.

unit/testing/controllertest/test_informers.py searches with the embedded server, behind the whole client. What only this
file has: handlers that come and go during an outage, both queues, any error as the answer to any call, and bookmarks
at any moment. Changes, outages and compactions are in both, since a handler that joins is of interest during these.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from stormyserver import ReplayingHandler, StormyServer

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.testing import synctest
from clientgo.tools import cache

Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]

NAMES = st.sampled_from("abcd")
CALL_ERRORS = st.sampled_from(
    ("connection_refused", "too_many_requests", "internal", "expired", "too_large_rv_cause", "unexpected_eof")
)
EVENT_ERRORS = st.sampled_from(("expired", "internal"))
PAUSES = st.sampled_from((0.0, 0.1, 1.0, 5.0, 40.0))
# Longer than the longest pause of the reflector's backoff, and than its pauses within one pass.
CALM = 300.0


class Storm:
    """A server, an informer in front of it, and the handlers of that. Opens a bubble."""

    def __init__(
        self,
        in_order: bool,
        streams_lists: bool,
        resync_period: float,
        schedule: synctest.Schedule | synctest.RandomSchedule | None = None,
    ) -> None:
        self.bubble = synctest.bubble(schedule)
        self.bubble.__enter__()
        self.server = StormyServer(streams_lists)
        options = cache.SharedIndexInformerOptions(in_order=in_order, resync_period=resync_period)
        self.informer = cache.new_shared_index_informer_with_options(self.server, corev1.ConfigMap, options)
        self.handlers: list[tuple[ReplayingHandler, cache.ResourceEventHandlerRegistration]] = []
        self.removed: list[ReplayingHandler] = []
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.thread = threading.Thread(target=self.informer.run_with_context, args=(self.ctx,), name="informer")

    def add_handler(self, seconds_per_call: float = 0.0, resync_period: float = 0.0) -> None:
        handler = ReplayingHandler(seconds_per_call)
        options = cache.HandlerOptions(resync_period=resync_period)
        self.handlers.append((handler, self.informer.add_event_handler_with_options(handler, options)))

    def remove_handler(self, which: int) -> None:
        handler, registration = self.handlers.pop(which % len(self.handlers))
        self.informer.remove_event_handler(registration)
        self.removed.append(handler)

    def check(self) -> None:
        """Let the storm pass and compare everybody with the server."""
        self.server.calm_down()
        self.bubble.sleep(CALM)
        expected = self.server.versions()
        store = {obj.metadata.name: obj.metadata.resource_version for obj in self.informer.get_store().list()}
        assert store == expected
        assert self.informer.has_synced()
        for handler, registration in self.handlers:
            assert handler.problems == []
            assert handler.versions() == expected
            assert registration.has_synced()
        for handler in self.removed:
            assert handler.problems == []

    def end(self, check: bool) -> None:
        try:
            if check:
                self.check()
            calls = [handler.calls for handler in self.removed]
            self.server.write("last")
            self.bubble.wait()
            assert calls == [handler.calls for handler in self.removed], "a removed handler was called"
            self.cancel()
            self.thread.join()
        except BaseException as err:
            self.bubble.__exit__(type(err), err, err.__traceback__)
            raise
        self.bubble.__exit__(None, None, None)


class StormMachine(RuleBasedStateMachine):
    """One rule for all operations, since Hypothesis leaves some rules out of most runs."""

    # As often as they weigh.
    operations = (
        *("write",) * 5,
        *("delete",) * 3,
        *("outage",) * 3,
        *("fail", "end_watches", "sleep") * 2,
        *("forget_history", "send_bookmark", "add_handler", "remove_handler", "check"),
    )

    @initialize(in_order=st.booleans(), streams_lists=st.booleans(), resync_period=st.sampled_from((0.0, 30.0)))
    def start(self, in_order: bool, streams_lists: bool, resync_period: float) -> None:
        self.storm = Storm(in_order, streams_lists, resync_period)
        self.server = self.storm.server
        self.storm.add_handler(resync_period=resync_period)
        self.storm.thread.start()

    def teardown(self) -> None:
        if hasattr(self, "storm"):
            self.storm.end(check=True)

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        getattr(self, data.draw(st.sampled_from(self.operations)))(data.draw)

    def write(self, draw: Draw) -> None:
        for name in draw(st.lists(NAMES, min_size=1, max_size=4)):
            self.server.write(name)

    def delete(self, draw: Draw) -> None:
        for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
            self.server.delete(name)

    def end_watches(self, draw: Draw) -> None:
        error = draw(st.none() | EVENT_ERRORS)
        if error is None:
            self.server.close_watches()
        else:
            self.server.break_watches(error)

    def outage(self, draw: Draw) -> None:
        """Make changes that no watch sees. If no later watch sees them either, only a new list contains them."""
        self.storm.bubble.wait()
        self.end_watches(draw)
        self.delete(draw)
        self.write(draw)
        if draw(st.booleans()):
            self.server.forget_history()

    def forget_history(self, draw: Draw) -> None:
        self.server.forget_history()

    def send_bookmark(self, draw: Draw) -> None:
        self.server.send_bookmark()

    def fail(self, draw: Draw) -> None:
        self.server.fail(draw(st.lists(CALL_ERRORS, max_size=3)), draw(st.lists(CALL_ERRORS, max_size=3)))

    def sleep(self, draw: Draw) -> None:
        self.storm.bubble.sleep(draw(PAUSES))

    def add_handler(self, draw: Draw) -> None:
        if len(self.storm.handlers) < 4:
            self.storm.add_handler(draw(st.sampled_from((0.0, 0.3))), draw(st.sampled_from((0.0, 60.0))))

    def remove_handler(self, draw: Draw) -> None:
        if len(self.storm.handlers) > 1:
            self.storm.remove_handler(draw(st.integers(0, 3)))

    def check(self, draw: Draw) -> None:
        self.storm.check()


TestStorm = StormMachine.TestCase
TestStorm.settings = settings(max_examples=settings().max_examples // 2 or 1)


@pytest.mark.parametrize("in_order", [True, False], ids=["RealFIFO", "DeltaFIFO"])
@given(
    schedule=synctest.schedules() | st.builds(synctest.RandomSchedule, st.integers(0, 2**32)),
    streams_lists=st.booleans(),
)
def test_handlers_that_come_and_go_miss_nothing_under_any_interleaving(
    in_order: bool, schedule: synctest.Schedule | synctest.RandomSchedule, streams_lists: bool
) -> None:
    """Writers, broken watches, and handlers added and removed, all at once."""
    storm = Storm(in_order, streams_lists, 0.0, schedule)
    server = storm.server

    def start(name: str, *actions: Callable[[], None]) -> threading.Thread:
        def act() -> None:
            for action in actions:
                action()

        thread = threading.Thread(target=act, name=name)
        thread.start()
        return thread

    storm.add_handler()
    storm.thread.start()
    threads = [
        start("writer", *(lambda name=name: server.write(name) for name in "abcab")),
        start("deleter", *(lambda name=name: server.delete(name) for name in "acba")),
        start("breaker", server.close_watches, server.forget_history, lambda: server.break_watches("expired")),
        start("joiner", storm.add_handler, storm.add_handler, lambda: storm.remove_handler(1), storm.add_handler),
    ]
    for thread in threads:
        thread.join()
    storm.end(check=True)
