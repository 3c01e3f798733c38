"""The README's recipe for a queue of one's own runs as it stands, and prints what they say it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from patience import PATIENCE
from simple_queue import MarksTheItemAsProcessedTooLate, SimpleQueue, SimpleRateLimitingQueue

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine import (
    QueueMachine,
    QueueMismatch,
    QueueRace,
    QueueSession,
    RateLimitingQueueMachine,
    RateLimitingQueueSession,
    exponential,
    interleave,
)

ROOT = Path(__file__).parents[3]
LIBRARY_PAGE = (ROOT / "clientgo" / "README.md").read_text()
LONG_README = (ROOT / "test" / "property" / "README.md").read_text()

FORGETS = """
from simple_queue import SimpleQueue

class MyQueue(SimpleQueue):
    def add(self, item):
        if item not in self.processing:
            super().add(item)
"""


def recipe(text: str) -> str:
    return next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "MyQueue" in block)


def failure_of(tmp_path: Path, my_queue: str, text: str, test: str) -> str:
    """Return pytest's lines that start with E for a failing test of the recipe."""
    (tmp_path / "test_my_queue.py").write_text(my_queue + recipe(text))
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}/test/support:{ROOT}"}
    # One seed, since Hypothesis shrinks a few of the failures that it may draw to another script of the same length.
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", str(tmp_path), "-k", test]
    command.append("--hypothesis-seed=0")
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = [line.removeprefix("E").strip() for line in done.stdout.splitlines() if line.startswith("E ")]
    return "\n".join(line.rpartition("QueueMismatch: ")[2].rpartition("QueueRace: ")[2] for line in lines)


def dedented(sample: str) -> str:
    return "\n".join(line.strip() for line in sample.strip().splitlines())


def sample(text: str, first_line: str) -> str:
    """Return the block of a README that begins with the line, indented or fenced, up to its end."""
    indent = re.search(rf"^( *){re.escape(first_line)}$", text, re.MULTILINE)
    assert indent, first_line
    block = text[indent.start() :]
    end = re.search(r"\n```" if not indent[1] else r"\n\n(?! )", block)
    assert end
    return dedented(block[: end.start()])


@pytest.mark.parametrize("text", [LIBRARY_PAGE, LONG_README], ids=["clientgo/README.md", "test/property/README.md"])
def test_the_script_in_the_readme_is_what_is_printed(tmp_path: Path, text: str) -> None:
    printed = failure_of(tmp_path, FORGETS, text, "TestMyQueue")

    assert sample(LONG_README, "q.done('a'): len() is 0, expected 1") in printed
    assert "Draw " not in printed


def test_the_story_in_the_readme_is_what_is_printed() -> None:
    story = sample(LONG_README, "'a' is in two hands at once")
    shown: list[str] = []
    for seed in range(2000):
        try:
            interleave(MarksTheItemAsProcessedTooLate, synctest.RandomSchedule(seed), items="a", rounds=1)
        except QueueRace as err:
            shown.append(dedented(str(err)))
        if story in shown:
            return
    raise AssertionError(f"{story}\nis none of\n" + "\n\n".join(shown))


def test_the_story_of_a_race_ends_where_the_race_shows() -> None:
    with pytest.raises(QueueRace, match="in two hands at once") as caught:
        for seed in range(1000):
            interleave(MarksTheItemAsProcessedTooLate, synctest.RandomSchedule(seed))

    assert re.fullmatch(r"worker-\d gets '(.)' while worker-\d holds it", str(caught.value).splitlines()[-1])
    assert "->" not in str(caught.value)
    assert "replay with schedule=Schedule(" in caught.value.__notes__[0]


def test_the_log_describes_a_successful_run() -> None:
    lines: list[str] = []

    one: dict[str, Any] = {"workers": 1, "producers": 1, "items": "a", "rounds": 1, "work": 0.0, "delay": 0.0}
    interleave(SimpleQueue, **one, drain_after=None, shutdown="with drain", preempt_in=[], log=lines.append)

    assert lines == [
        "producer-0 adds 'a'",
        "worker-0 gets 'a'",
        "worker-0 adds 'a'",
        "worker-0 is done with 'a'",
        "worker-0 gets 'a'",
        "worker-0 is done with 'a'",
        "MainThread calls shut_down_with_drain",
        "MainThread returns from shut_down_with_drain",
        "worker-0 gets the shutdown",
    ]


class NeverSleeps(SimpleQueue):
    def get(self) -> tuple[str | None, bool]:
        while True:
            with self.lock:
                if self.queue or (self.down and not self.processing):
                    return self.take()
                self.changed.notify_all()


def test_a_search_that_found_a_livelock_repeats_it_in_a_tenth_of_the_operations() -> None:
    """Every run that only shrinks the schedule would otherwise take a second."""
    schedule = synctest.Schedule()
    operations = []
    for _ in range(2):
        with pytest.raises(QueueRace, match=r"no end after \d+ operations") as caught:
            interleave(NeverSleeps, schedule, workers=1, producers=1, items="a", rounds=1)
        operations.append(int(re.findall(r"\d+", str(caught.value))[0]))

    assert operations == [60_000, 6_000]


class WithOtherDelays(SimpleRateLimitingQueue):
    def delay(self, failures: int) -> float:
        return exponential(failures, base=0.005, limit=1000.0)


FEW = settings(max_examples=15, database=None, derandomize=True, phases=[Phase.generate])


def test_the_delays_of_a_rate_limiting_queue_can_be_said() -> None:
    run_state_machine_as_test(RateLimitingQueueMachine.of(WithOtherDelays, base=0.005, limit=1000.0), settings=FEW)

    with pytest.raises(QueueMismatch):
        run_state_machine_as_test(RateLimitingQueueMachine.of(WithOtherDelays), settings=FEW)


def test_a_script_says_the_delays_too() -> None:
    with pytest.raises(QueueMismatch) as caught:
        run_state_machine_as_test(
            RateLimitingQueueMachine.of(SimpleRateLimitingQueue, base=0.5, limit=2.0), settings=FEW
        )

    assert "with RateLimitingQueueSession(SimpleRateLimitingQueue, base=0.5, limit=2.0) as q:" in str(caught.value)


class WithAnInvariant(SimpleQueue):
    def _check(self) -> None:
        with self.lock:
            assert len(self.queue) < 2


def test_an_invariant_that_fails_shows_its_assert() -> None:
    with pytest.raises(QueueMismatch) as caught:
        run_state_machine_as_test(QueueMachine.of(WithAnInvariant), settings=FEW)

    assert "an invariant of the queue is broken: assert len(self.queue) < 2" in str(caught.value)


class WithoutLen(SimpleQueue):
    """Its author counts with `len(queue)`, as Python does elsewhere."""

    len = None  # type: ignore[assignment]


def raises(_: object) -> SimpleQueue:
    raise RuntimeError("no queue today")


def test_a_missing_method_and_an_error_of_the_constructor_are_named_and_leave_no_bubble_open() -> None:
    recipes = [
        lambda new: run_state_machine_as_test(QueueMachine.of(new), settings=settings(max_examples=1, database=None)),
        lambda new: interleave(new, synctest.Schedule()),
        lambda new: QueueSession(new).__enter__(),
    ]
    missing = r"returned <.*WithoutLen .*: an .* is required; it has no len"
    for run in recipes:
        with pytest.raises((TypeError, QueueRace), match=missing):
            run(lambda _: WithoutLen())
        with pytest.raises((RuntimeError, QueueRace), match="no queue today"):
            run(raises)
        with synctest.bubble():
            pass
    with pytest.raises(TypeError, match="it has no add_rate_limited, forget, num_requeues"):
        RateLimitingQueueSession(lambda _: DelayingOnly()).__enter__()


class DelayingOnly(SimpleQueue):
    def add_after(self, item: Any, delay: float) -> None:
        raise NotImplementedError
