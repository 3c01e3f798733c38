"""The fake client (golden controller_runtime/client_fake/random.jsonl and apply.jsonl)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from fakeclientcase import FakeClientCase, beyond_go, comparable, from_patch_library, same_second, without_text
from goldenfile import cases

from clientgo.testing import synctest


def play(case: dict[str, Any]) -> None:
    config = case["config"]
    start = datetime.fromisoformat(config["clock_start"]).timestamp()
    with synctest.bubble(start=start) as bubble:
        at_work = FakeClientCase(bubble, config)
        try:
            for number, step in enumerate(case["steps"]):
                outcome = at_work.step(step["op"], step["args"])
                if beyond_go(step):
                    assert outcome["error"] is None, (number, step)
                    continue
                got, expect = comparable(outcome), comparable(step["expect"])
                if from_patch_library(step):
                    got, expect = without_text(got), without_text(expect)
                assert same_second(got, expect) == expect, (number, step)
        finally:
            at_work.close()


@pytest.mark.parametrize("case", cases("controller_runtime/client_fake/random.jsonl"))
def test_random_calls_end_as_in_go(case: dict[str, Any]) -> None:
    play(case)


@pytest.mark.parametrize("case", cases("controller_runtime/client_fake/apply.jsonl"))
def test_server_side_apply_ends_as_in_go(case: dict[str, Any]) -> None:
    play(case)
