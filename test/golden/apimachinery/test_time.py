"""Time, MicroTime and Duration as JSON (golden/apimachinery/time.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import duration, micro_time, time
from clientgo.apimachinery.runtime import timestamps


def run(op: str, args: dict[str, Any]) -> dict[str, Any]:
    match op:
        case "time_marshal":
            return {
                "error": None,
                "micro_error": None,
                "time": time.unix(args["unix_seconds"], args["nanos"]).marshal_json(),
                "micro_time": micro_time.unix_micro(args["unix_seconds"], args["nanos"]).marshal_json(),
            }
        case "time_unmarshal":
            return unmarshal(time.Time, args["json"])
        case "micro_time_unmarshal":
            return unmarshal(micro_time.MicroTime, args["json"])
        case "duration_marshal":
            return {"json": duration.Duration(args["ns"]).marshal_json()}
        case "duration_unmarshal":
            try:
                return {"error": None, "ns": duration.Duration.unmarshal_json(args["json"]).nanoseconds}
            except ValueError as err:
                return {"error": str(err), "ns": 0}
    raise AssertionError(f"unknown operation {op}")


def unmarshal(cls: type[time.Time], text: str) -> dict[str, Any]:
    try:
        moment = cls.unmarshal_json(text)
    except ValueError as err:
        return {"error": str(err)}
    if moment.is_zero():
        return {"error": None, "is_zero": True}
    # Fields of objects are read by another, quicker parser: it must agree, to the microsecond.
    assert timestamps.parse_time(text.strip('"')) == moment
    return {"error": None, "is_zero": False, "unix_nano": moment.unix_nano()}


@pytest.mark.parametrize("case", cases("apimachinery/time.jsonl"))
def test_times_and_durations_have_go_text_forms(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        assert run(step["op"], step["args"]) == step["expect"], step


def test_durations_of_this_library_are_seconds() -> None:
    assert metav1.parse_duration("1m30s") == 90.0
    assert metav1.format_duration(0.1) == "100ms"
