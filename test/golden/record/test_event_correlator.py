"""The event correlator: aggregation, counting, spam filter (golden/record/event_correlator.jsonl)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from goldenfile import cases

from clientgo.api.core import v1 as corev1
from clientgo.tools import record
from clientgo.utils.clock.testing import FakePassiveClock

# What Go writes even when it is empty; a document here need not have it.
ALWAYS_WRITTEN = {
    "metadata": {},
    "involvedObject": {},
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "eventTime": None,
    "reportingComponent": "",
    "reportingInstance": "",
}


class Replay:
    def __init__(self, config: dict[str, Any]) -> None:
        self.clock = FakePassiveClock(seconds(config["start"]))
        options = {"lru_cache_size", "burst_size", "qps", "max_events", "max_interval_in_seconds"}
        chosen = {name: value for name, value in config.items() if name in options}
        assert set(config) <= options | {"start"}
        self.correlator = record.new_event_correlator_with_options(record.CorrelatorOptions(clock=self.clock, **chosen))

    def run(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        match op:
            case "event_correlate":
                return self.correlate(corev1.Event.from_dict(args["event"]))
            case "update_state":
                self.correlator.update_state(corev1.Event.from_dict(args["event"]))
                return {}
            case "advance":
                self.clock.set_time(self.clock.now() + args["seconds"])
                return {"now": f"{datetime.fromtimestamp(self.clock.now(), UTC):%Y-%m-%dT%H:%M:%SZ}"}
        raise AssertionError(f"unknown operation {op}")

    def correlate(self, event: corev1.Event) -> dict[str, Any]:
        before = json.dumps(event.to_dict())
        result = self.correlator.event_correlate(event)
        assert json.dumps(event.to_dict()) == before, "the event given was changed"
        patch = None if result.patch is None else result.patch.decode()
        answer: dict[str, Any] = {"error": None, "event": None, "patch": patch, "skip": result.skip}
        if result.event is not None:
            answer["event"] = {**ALWAYS_WRITTEN, **result.event.to_dict()}
        return answer


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize("case", cases("record/event_correlator.jsonl"))
def test_events_are_combined_counted_and_dropped_as_in_go(case: dict[str, Any]) -> None:
    replay = Replay(case["config"])
    for number, step in enumerate(case["steps"]):
        assert replay.run(step["op"], step["args"]) == step["expect"], (number, step["op"])
