"""The switches of a run's machine; they compare the machine of older texts with today's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["CHOICES", "Settings"]

CHOICES: Mapping[str, tuple[str, ...]] = {
    "fifo": ("RealFIFO", "DeltaFIFO"),
    "replace": ("Replaced", "Sync"),
    "queue": ("workqueue", "PriorityQueue"),
    "limiter": ("exponential", "fast-slow", "default"),
}
"""A setting's possible words, by its name."""

_LIMITS: Mapping[str, tuple[float, float]] = {
    "handlers": (1, 2),
    "workers": (1, 4),
    "replicas": (1, 2),
    "resync": (0.0, 3600.0),
    "base_delay": (0.001, 1000.0),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The configuration of a machine."""

    fifo: str = "RealFIFO"
    """Or DeltaFIFO."""
    replace: str = "Replaced"
    """The type of a DeltaFIFO's deltas from a list: Replaced, or Sync as in old versions."""
    watch_list: bool = False
    """True for a streaming list: the watch delivers the first objects."""
    resync: float = 0.0
    """Seconds between resyncs; 0 for none."""
    handlers: int = 1
    """1 or 2; the second is a bystander that faults block or make raise."""
    workers: int = 1
    queue: str = "workqueue"
    """Or PriorityQueue, in which the objects of the first list come last."""
    limiter: str = "exponential"
    """Or fast-slow; or default, like a controller's: exponential, and at most ten a second in the long run."""
    base_delay: float = 1.0
    """Seconds that a key waits after its first failure. Exponential: each later failure doubles them. Fast-slow: equal
    after the first three failures, then ten times as long."""
    replicas: int = 1
    """1 or 2; two replicas elect a leader."""
    events: bool = False
    """True when the controller records events."""
    words: bool = False
    """True when the cache also has an index of the words in each object's text."""
    last: str = ""
    """Beginning of the names of threads that run only when no other can; "" for none."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """Return the settings of a JSON object. Raises ValueError that names the invalid setting."""
        known = {each.name: type(each.default) for each in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in given.items():
            kind = known.get(name)
            if kind is None:
                raise ValueError(f"there is no setting {name!r}")
            if kind is float and type(value) is int:
                value = float(value)
            if type(value) is not kind:
                raise ValueError(f"the setting {name!r} is no {kind.__name__}: {value!r}")
            values[name] = value
        settings = cls(**values)
        settings.check()
        return settings

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def check(self) -> None:
        """Raise ValueError for an impossible value."""
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"{name} is {' or '.join(choices)}, not {value!r}")
        if len(self.last) > 100:
            raise ValueError("last is the beginning of a thread's name, at most 100 characters")
        for name, (lowest, highest) in _LIMITS.items():
            value = getattr(self, name)
            if not lowest <= value <= highest:
                raise ValueError(f"{name} is between {lowest} and {highest}, not {value}")
