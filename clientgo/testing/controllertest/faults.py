"""The faults that are active in a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

# The finalizer and the annotation that other clients add.
FINALIZER = "controllertest.clientgo/linger"
TOUCHED = "controllertest.clientgo/touched"


@dataclass
class Armed:
    """A fault that waits for the controller's call of a number."""

    at: int
    name: str
    """One of "before", "kill before", "kill after", "lose", "fail", "pause" and "change leader"."""
    act: Callable[[], object] = lambda: None
    code: int = 0
    seconds: float = 0.0


@dataclass
class Lag:
    """A period in which a resource's watch cache shows no new events."""

    until: float
    version: int
    """The version that lists from the watch cache show."""


@dataclass
class Faults:
    """The state of all faults. Only the running thread of a bubble accesses it, so it has no lock."""

    calls: int = 0
    """Number of the controller's counted calls so far."""
    armed: list[Armed] = field(default_factory=list)
    lags: dict[str, Lag] = field(default_factory=dict)
    outages: dict[str, float] = field(default_factory=dict)
    """Times at which watches and lists of resources work again."""
    rejections: dict[str, float] = field(default_factory=dict)
    """Times at which writes of resources are accepted again."""

    def arm(self, call: int, fault: Armed) -> None:
        """Let `fault` happen at the `call`-th call from now, counted from 1."""
        fault.at = self.calls + call
        self.armed.append(fault)

    def take(self) -> list[Armed]:
        """Count a call and return its faults, which are removed."""
        self.calls += 1
        due = [fault for fault in self.armed if fault.at == self.calls]
        self.armed = [fault for fault in self.armed if fault.at > self.calls]
        return due

    def lag_of(self, resource: str, now: float) -> Lag | None:
        """Return the resource's lag if it has not ended."""
        lag = self.lags.get(resource)
        return lag if lag is not None and lag.until > now else None

    def is_out(self, resource: str, now: float) -> bool:
        """Report whether the resource cannot be listed or watched."""
        return self.outages.get(resource, 0.0) > now

    def hide_changes(self, now: float) -> bool:
        """Report whether the cache of a resource may be old."""
        return any(until > now for until in (*self.outages.values(), *(lag.until for lag in self.lags.values())))

    def is_rejected(self, resource: str, now: float) -> bool:
        """Report whether a webhook rejects writes of the resource."""
        return self.rejections.get(resource, 0.0) > now

    def end(self, now: float) -> float:
        """Disarm all faults, do the steps that still wait, and return the seconds until all periods end."""
        armed, self.armed = self.armed, []
        for fault in armed:
            fault.act()
        ends = [now, *(lag.until for lag in self.lags.values()), *self.outages.values(), *self.rejections.values()]
        return max(ends) - now
