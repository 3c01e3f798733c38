"""The log lines about what the live tour's users ask for: their place is in the tour, whichever thread logs them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from clientgo import tour
from clientgo.testing import synctest
from clientgo.tour import controllog
from clientgo.tour import live as live_module


def test_the_place_of_each_line_is_that_of_the_log_call(caplog):
    caplog.set_level("INFO")
    with synctest.bubble() as bubble, tour.Live() as live:
        for _ in range(2):  # ended by the user, and then by the tour's own thread
            live.connected()
            live.pause("a handler")
            live.slow("a worker", 2.0)
            if not caplog.text.count("ends the pause"):
                live.go_on("a handler")
                live.slow("a worker", 0.0)
        bubble.sleep(live_module.ABSENCE + 1.0)
        assert live.requested() == (frozenset(), {})
    lines = [record for record in caplog.records if "The tour" in record.getMessage()]
    assert len(lines) == 8
    source = Path(controllog.__file__).read_text().splitlines()
    for line in lines:
        assert line.pathname == controllog.__file__
        assert "logger.info(" in source[line.lineno - 1] and line.getMessage().split('"')[1] in source[line.lineno - 1]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ((), ("a", "b"), ["pauses a handler: a", "pauses a handler: b"]),
        (("a", "b"), ("b", "c"), ["pauses a handler: c", "ends the pause of a handler: a"]),
        (("a",), ("a",), []),
        ({}, {"w": 1.0}, ["slows down a worker: w 1.0"]),
        ({"w": 1.0}, {"w": 1.0, "v": 0.5}, ["slows down a worker: v 0.5"]),
        ({"w": 1.0}, {"w": 2.0}, ["slows down a worker: w 2.0"]),
        ({"w": 1.0, "v": 1.0}, {"v": 1.0}, ["ends the delay of a worker: w"]),
    ],
)
def test_each_change_is_a_line(monkeypatch, before, after, lines):
    logged: list[str] = []

    def info(text, *, handler="", thread="", seconds="", reason):
        assert reason == "why"
        logged.append(f"{text.removeprefix('The tour ')}: {handler}{thread} {seconds}".rstrip())

    monkeypatch.setattr(controllog.klog, "background", lambda: SimpleNamespace(info=info))
    asked = [(frozenset(), each) if isinstance(each, dict) else (frozenset(each), {}) for each in (before, after)]
    controllog.log_changes(*asked, "why")
    assert logged == lines
