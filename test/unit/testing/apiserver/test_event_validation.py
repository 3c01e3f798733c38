"""Validation of events of events.k8s.io, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.kinds.validation import events

Json = dict[str, Any]
VALID: Json = {
    "metadata": {"name": "e", "namespace": "default"},
    "eventTime": "2024-01-02T03:04:05.000006Z",
    "reportingComponent": "example.com/c",
    "reportingInstance": "c-0",
    "action": "Act",
    "reason": "Because",
    "type": "Normal",
    "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
}


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        ({}, []),
        ({"type": "Warning"}, []),
        ({"type": "Odd"}, ['type: Invalid value: "": has invalid value: Odd']),
        ({"type": ""}, ['type: Invalid value: "": has invalid value: ']),
        ({"eventTime": None}, ["eventTime: Required value"]),
    ],
)
def test_a_new_event_needs_a_time_and_one_of_two_types(change: Json, errors: list[str]) -> None:
    found = events.event({**VALID, **change}, "events.k8s.io")

    assert list(map(str, found)) == errors


def test_an_event_of_the_core_group_needs_neither() -> None:
    core = {key: value for key, value in VALID.items() if key not in ("type", "eventTime")}
    core["involvedObject"] = core.pop("regarding")

    assert events.event(core, "") == []
