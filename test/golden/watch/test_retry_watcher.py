"""The retry watcher starts the watches Go's starts, when it starts them, and delivers the same events."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases
from goldenobjects import to_shorthand
from scriptedwatch import Script, ScriptedListerWatcher

from clientgo import context
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang.channel import select
from clientgo.testing import synctest
from clientgo.tools import watch
from clientgo.utils.clock import REAL_CLOCK


def golden_event(event: Any) -> dict[str, Any]:
    if not isinstance(event.object, metav1.Status):
        return {"type": str(event.type), "object": to_shorthand(event.object)}
    status = event.object
    message = "" if status.code == 500 else status.message  # prints a Go value
    return {"type": str(event.type), "status": {"code": status.code, "message": message, "reason": status.reason}}


class Case:
    def __init__(self, b: synctest.Bubble, config: dict[str, Any]) -> None:
        self.b = b
        self.server = ScriptedListerWatcher(b, Script.from_config(config["script"]))
        self.initial_resource_version = config["initial_resource_version"]
        self.watcher: watch.RetryWatcher | None = None

    def run(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        if op == "new":
            return {"error": self.new()}
        assert self.watcher is not None
        if op == "stop":
            self.watcher.stop()
            self.b.wait()
            return {"closed": self.watcher.result_chan().closed}
        events, closed = self.receive(args["run_ms"] / 1000)
        return {
            "events": events,
            "closed": closed,
            "calls": self.server.calls,
            "unused_watch_responses": len(self.server.script.watches),
        }

    def new(self) -> str | None:
        try:
            self.watcher = watch.new_retry_watcher_with_context(
                context.background(), self.initial_resource_version, self.server
            )
        except ValueError as err:
            return str(err)
        return None

    def receive(self, seconds: float) -> tuple[list[Any], bool]:
        assert self.watcher is not None
        over = REAL_CLOCK.after(seconds)
        events: list[Any] = []
        while True:
            chosen = select([over, self.watcher.result_chan()])
            if chosen.case == 0:
                return events, False
            if not chosen.ok:
                return events, True
            events.append(golden_event(chosen.value))

    def end(self) -> None:
        if self.watcher is not None:
            self.watcher.stop()
            self.watcher.done().wait()
        self.server.join()


@pytest.mark.parametrize("case", cases("watch/retry_watcher.jsonl"))
def test_retry_watcher(case):
    """Go: TestRetryWatcher; Go: TestNewRetryWatcher."""
    with synctest.bubble() as b:
        replay = Case(b, case["config"])
        try:
            for number, step in enumerate(case["steps"]):
                assert replay.run(step["op"], step["args"]) == step["expect"], f"step {number}: {step['op']}"
        finally:
            replay.end()
