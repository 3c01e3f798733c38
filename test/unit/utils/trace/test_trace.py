"""Traces log what took too long, and only that."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from clientgo import context, klog
from clientgo.utils import trace
from clientgo.utils.clock import testing as clocktesting


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the list of the log lines at verbosity 2."""
    logged: list[str] = []
    monkeypatch.setattr(klog, "info", lambda *args: logged.append("".join(map(str, args))))
    before = klog.verbosity()
    klog.set_verbosity(2)
    yield logged
    klog.set_verbosity(before)


def test_an_operation_that_took_long_is_logged_with_its_long_steps(lines: list[str]) -> None:
    clock = clocktesting.new_fake_clock(0.0)
    operation = trace.new("Frobnicate", trace.Field("ID", 7), clock=clock)
    operation.step("quick")
    clock.step(3.0)
    operation.step("slow", trace.Field("why", "lunch"))
    operation.log_if_long(1.0)
    [line] = lines
    assert re.match(
        r'Trace\[\d+\]: "Frobnicate" ID:7 \(01-Jan-1970 00:00:00.000\) \(total time: 3000ms\):\n'
        r'Trace\[\d+\]: ---"slow" why:lunch 3000ms \(00:00:03.000\)\n'
        r"Trace\[\d+\]: \[3.000000s\] \[3.000000s\] END\n$",
        line,
    ), line


def test_a_quick_operation_is_not_logged(lines: list[str]) -> None:
    clock = clocktesting.new_fake_clock(0.0)
    operation = trace.new("Frobnicate", clock=clock)
    clock.step(0.5)
    operation.log_if_long(1.0)
    assert lines == []


def test_a_nested_trace_is_logged_with_its_parent(lines: list[str]) -> None:
    clock = clocktesting.new_fake_clock(0.0)
    outer = trace.new("outer", clock=clock)
    inner = outer.nest("inner")
    clock.step(2.0)
    inner.log_if_long(1.0)
    assert lines == []
    outer.log_if_long(1.0)
    assert len(lines) == 1
    assert '["inner" 2000ms (00:00:00.000)]' in lines[0]


def test_a_long_part_of_a_quick_operation_is_logged_alone(lines: list[str]) -> None:
    clock = clocktesting.new_fake_clock(0.0)
    outer = trace.new("outer", clock=clock)
    inner = outer.nest("inner")
    clock.step(2.0)
    inner.log_if_long(1.0)
    outer.log_if_long(10.0)
    assert [line.split('"')[1] for line in lines] == ["inner"]


def test_a_trace_may_be_made_after_the_fact(lines: list[str]) -> None:
    clock = clocktesting.new_fake_clock(100.0)
    trace.new("late", clock=clock, start_time=95.0).log_if_long(1.0)
    assert "(total time: 5000ms)" in lines[0]


def test_a_context_carries_a_trace() -> None:
    operation = trace.new("any")
    assert trace.from_context(context.background()) is None
    assert trace.from_context(trace.context_with_trace(context.background(), operation)) is operation
