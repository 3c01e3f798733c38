"""wait.Backoff gives the delays that Go's gives."""

from __future__ import annotations

import pytest
from goldenfile import cases

from clientgo.apimachinery.util.wait import Backoff

NS = 1_000_000_000


@pytest.mark.parametrize("case", cases("apimachinery/backoff.jsonl"))
def test_backoff(case):
    """Go: TestBackoff_Step."""
    config = case["config"]
    assert config["jitter"] == 0, "a case with jitter has no fixed answer"
    backoff = Backoff(
        duration=config["duration_ns"] / NS,
        factor=config["factor"],
        steps=config["steps"],
        cap=config["cap_ns"] / NS,
    )
    delay_func = backoff.delay_func()
    for step in case["steps"]:
        expect = step["expect"]
        if step["op"] == "delay_func":
            assert delay_func() * NS == pytest.approx(expect["delay_ns"], rel=1e-15)
            continue
        assert backoff.step() * NS == pytest.approx(expect["delay_ns"], rel=1e-15)
        assert backoff.duration * NS == pytest.approx(expect["duration_ns"], rel=1e-15)
        assert backoff.steps == expect["steps"]
