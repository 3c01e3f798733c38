"""Times in the bodies of requests: read and written as Go's metav1.Time and metav1.MicroTime."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

EVENT = {
    "involvedObject": {"namespace": "default"},
    "reason": "r",
    "action": "a",
    "reportingComponent": "x.io/y",
    "reportingInstance": "i",
    "type": "Normal",
}
SECONDS = "2006-01-02T15:04:05Z07:00"
MICROS = "2006-01-02T15:04:05.000000Z07:00"


@pytest.fixture
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def created(api: Api, field: str, value: str) -> tuple[int, Any]:
    event = {"metadata": {"generateName": "e-", "namespace": "default"}, **EVENT, field: value}
    response = api.request("POST", "/api/v1/namespaces/default/events", event)
    return response.status_code, response.json()[field if response.ok else "message"]


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("lastTimestamp", "2026-13-01T00:00:00Z", 'parsing time "2026-13-01T00:00:00Z": month out of range'),
        ("lastTimestamp", "2026-02-30T00:00:00Z", 'parsing time "2026-02-30T00:00:00Z": day out of range'),
        ("lastTimestamp", "2026-02-01T24:00:00Z", 'parsing time "2026-02-01T24:00:00Z": hour out of range'),
        ("lastTimestamp", "2026-02-01T23:00:60Z", 'parsing time "2026-02-01T23:00:60Z": second out of range'),
        ("lastTimestamp", "2026-02-01t23:00:00Z", f'as "{SECONDS}": cannot parse "t23:00:00Z" as "T"'),
        ("lastTimestamp", "2026-02-01T23:00:00z", f'as "{SECONDS}": cannot parse "z" as "Z07:00"'),
        ("lastTimestamp", "2026-02-01T23:00:00Zx", 'parsing time "2026-02-01T23:00:00Zx": extra text: "x"'),
        ("lastTimestamp", "9999-12-31T23:59:59-12:00", "year out of range"),
        ("lastTimestamp", "0001-01-01T00:00:00+12:00", "year out of range"),
        ("lastTimestamp", "\u0662026-02-01T23:00:00Z", 'cannot parse "\\xd9\\xa2026-02-01T23:00:00Z" as "2006"'),
        ("eventTime", "2026-02-01T23:00:00.1234567Z", f'as "{MICROS}": cannot parse "7Z" as "Z07:00"'),
        ("eventTime", "2026-13-01T00:00:00.000000Z", "month out of range"),
    ],
)
def test_a_time_that_go_does_not_read_is_refused(api: Api, field: str, value: str, error: str) -> None:
    status, message = created(api, field, value)

    assert status == 400
    assert message.startswith('Event in version "v1" cannot be handled as a Event: parsing time "')
    assert message.endswith(error)


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [
        ("lastTimestamp", "2026-02-28T23:59:59Z", "2026-02-28T23:59:59Z"),
        ("lastTimestamp", "2028-02-29T00:00:00.9Z", "2028-02-29T00:00:00Z"),
        ("lastTimestamp", "2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
        ("lastTimestamp", "2026-01-01T00:00:00+24:00", "2025-12-31T00:00:00Z"),
        ("lastTimestamp", "0900-01-01T00:00:00Z", "0900-01-01T00:00:00Z"),
        ("lastTimestamp", "0001-01-01T00:00:00Z", None),
        ("eventTime", "2026-01-31T00:00:00.000001+01:00", "2026-01-30T23:00:00.000001Z"),
    ],
)
def test_a_time_is_written_in_utc(api: Api, field: str, value: str, written: str | None) -> None:
    assert created(api, field, value) == (201, written)
