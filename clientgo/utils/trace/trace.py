"""Traces: log lines that show the steps of an operation that took too long.

Mirrors k8s.io/utils/trace/trace.go. A trace collects steps and nested traces; `log_if_long` at its end writes them as
one line each, at verbosity 2, when all of it took longer than a threshold.

Differs from Go in that a trace may be made after the fact, with `start_time`: hot paths then only read a clock.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from clientgo import klog
from clientgo.context import Context, with_value
from clientgo.golang.strconv import quote
from clientgo.utils.clock import Clock, RealClock


@dataclass(frozen=True, slots=True)
class Field:
    """A detail of the operation, such as one of its inputs. Go: Field."""

    key: str
    value: Any

    def __str__(self) -> str:
        return f"{self.key}:{self.value}"


@dataclass(frozen=True, slots=True)
class _Step:
    """A step that ended at `end_time`."""

    message: str
    end_time: float
    fields: tuple[Field, ...]


@dataclass(eq=False)
class Trace:
    """An operation under observation. Go: Trace. Made by `new` or `Trace.nest`; one thread uses it."""

    name: str
    fields: tuple[Field, ...] = ()
    clock: Clock = field(default_factory=RealClock)
    start_time: float = -1.0
    parent: Trace | None = None

    def __post_init__(self) -> None:
        if self.start_time < 0:
            self.start_time = self.clock.now()
        self._threshold: float | None = None
        self._end_time: float | None = None
        self._items: list[_Step | Trace] = []

    def step(self, message: str, *fields: Field) -> None:
        """Note the end of a step."""
        self._items.append(_Step(message, self.clock.now(), fields))

    def nest(self, message: str, *fields: Field) -> Trace:
        """Return a trace for a part of this operation; it is logged with this one."""
        nested = Trace(message, fields, self.clock, parent=self)
        self._items.append(nested)
        return nested

    def log(self) -> None:
        """End the trace, and log it with its steps and nested traces unless it is nested itself."""
        self._end_time = self.clock.now()
        if self.parent is None and klog.v(2).enabled():
            self._log_trace()

    def log_if_long(self, threshold: float) -> None:
        """Log the trace if it took at least `threshold` seconds, with the steps that took more than their share."""
        self._threshold = threshold
        self.log()

    def total_time(self) -> float:
        """Return the seconds since the trace was made."""
        return self.clock.since(self.start_time)

    def _took_long(self) -> bool:
        if self._end_time is None:
            return False
        return not self._threshold or self._end_time - self.start_time >= self._threshold

    def _log_trace(self) -> None:
        if not self._took_long():
            for item in self._items:
                if isinstance(item, Trace):
                    item._log_trace()
            return
        assert self._end_time is not None
        number = random.getrandbits(31)
        total = self._end_time - self.start_time
        started = datetime.fromtimestamp(self.start_time, UTC).strftime("%d-%b-%Y %H:%M:%S.%f")[:-3]
        head = f"Trace[{number}]: {quote(self.name)} {_join(self.fields)}({started}) (total time: {_millis(total)}):"
        lines = self._lines(f"\nTrace[{number}]: ", self._step_threshold())
        end = f"\nTrace[{number}]: [{total:.6f}s] [{total:.6f}s] END\n"
        klog.info(head + "".join(lines) + end)

    def _lines(self, prefix: str, step_threshold: float | None) -> list[str]:
        lines = []
        last = self.start_time
        for item in self._items:
            if isinstance(item, Trace):
                lines.append(item._nested_line(prefix, step_threshold))
                last = item.start_time if item._end_time is None else item._end_time
                continue
            took = item.end_time - last
            if not step_threshold or took >= step_threshold or klog.v(4).enabled():
                lines.append(f"{prefix}---{_summary(item.message, took, item.end_time, item.fields)}")
            last = item.end_time
        return lines

    def _nested_line(self, prefix: str, step_threshold: float | None) -> str:
        if self._took_long() or klog.v(4).enabled():
            own = self._step_threshold()
            lines = self._lines(prefix + " ", step_threshold if own is None else own)
            took = (self.clock.now() if self._end_time is None else self._end_time) - self.start_time
            return f"{prefix}[{_summary(self.name, took, self.start_time, self.fields)}{''.join(lines)}]"
        nested = [item for item in self._items if isinstance(item, Trace)]
        return "".join(item._nested_line(prefix, step_threshold) for item in nested)

    def _step_threshold(self) -> float | None:
        """Return the share of the threshold of each step; nested traces with a threshold of their own count for that.
        """
        if self._threshold is None:
            return None
        left, parts = self._threshold, len(self._items) + 1
        for item in self._items:
            if isinstance(item, Trace) and item._threshold is not None:
                left -= item._threshold
                parts -= 1
        # So little left would let every step be logged.
        if left < self._threshold / 4:
            left, parts = self._threshold / 4, len(self._items) + 1
        return left / parts

    def __repr__(self) -> str:
        state = "running" if self._end_time is None else f"took {self._end_time - self.start_time:.3f}s"
        return f"<Trace {self.name!r} {len(self._items)} steps, {state}>"


def new(name: str, *fields: Field, clock: Clock | None = None, start_time: float = -1.0) -> Trace:
    """Return a trace of the operation `name`, begun now unless `start_time` says otherwise. Go: New."""
    return Trace(name, fields, clock or RealClock(), start_time)


_CONTEXT_TRACE_KEY = object()


def from_context(ctx: Context) -> Trace | None:
    """Return the trace that `context_with_trace` put there, None without one. Go: FromContext."""
    found = ctx.value(_CONTEXT_TRACE_KEY)
    return found if isinstance(found, Trace) else None


def context_with_trace(ctx: Context, trace: Trace) -> Context:
    """Return a context that carries `trace`. Go: ContextWithTrace."""
    return with_value(ctx, _CONTEXT_TRACE_KEY, trace)


def _join(fields: tuple[Field, ...]) -> str:
    return ",".join(map(str, fields)) + " " if fields else ""


def _millis(seconds: float) -> str:
    return f"{int(seconds * 1000)}ms"


def _summary(name: str, took: float, at: float, fields: tuple[Field, ...]) -> str:
    clock_time = datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S.%f")[:-3]
    return f"{quote(name)} {_join(fields)}{_millis(took)} ({clock_time})"
