"""A lock for leader election in memory, which records what is done with it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.context import Context
from clientgo.tools.leaderelection.resourcelock import LeaderElectionRecord

_LEASES = GroupResource("coordination.k8s.io", "leases")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SharedRecord:
    """The record all candidates see, with a version that every write raises."""

    def __init__(self) -> None:
        self.record: LeaderElectionRecord | None = None
        self.version = 0

    def write(self, record: LeaderElectionRecord | None) -> None:
        self.version += 1
        self.record = record


class RecordingLock:
    """One candidate's view of the record; refuses to write over a version it has not seen.

    `ops` lists the calls; `fail` maps an operation to how many of its next calls fail; `before` runs in each call.
    """

    def __init__(self, identity: str, shared: SharedRecord, to_golden: Callable[[LeaderElectionRecord], Any]) -> None:
        self.ops: list[dict[str, Any]] = []
        self.fail: dict[str, int] = {}
        self.before: Callable[[str, Context], None] = lambda op, ctx: None
        self._identity = identity
        self._shared = shared
        self._seen = 0
        self._to_golden = to_golden

    def get(self, ctx: Context) -> tuple[LeaderElectionRecord, bytes]:
        entry = self._enter("get", ctx)
        record = self._shared.record
        if record is None:
            entry["error"] = "not_found"
            raise errors.new_not_found(_LEASES, "lock")
        self._seen = self._shared.version
        entry["record"] = self._to_golden(record)
        return record, record.to_json()

    def create(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        entry = self._enter("create", ctx, ler)
        if self._shared.record is not None:
            entry["error"] = "already_exists"
            raise errors.new_already_exists(_LEASES, "lock")
        self._write(ler)

    def update(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        entry = self._enter("update", ctx, ler)
        if self._seen != self._shared.version:
            entry["error"] = "conflict"
            raise errors.new_conflict(_LEASES, "lock", "conflict")
        self._write(ler)

    def record_event(self, s: str) -> None:
        self.ops.append({"lock": self._identity, "op": "record_event", "text": s})

    def identity(self) -> str:
        return self._identity

    def describe(self) -> str:
        return "ns/lock"

    def taken_ops(self) -> list[dict[str, Any]]:
        """Return the calls since the last call of this method."""
        ops, self.ops = self.ops, []
        return ops

    def _enter(self, op: str, ctx: Context, ler: LeaderElectionRecord | None = None) -> dict[str, Any]:
        entry: dict[str, Any] = {"lock": self._identity, "op": op, "error": None}
        if ler is not None:
            entry["record"] = self._to_golden(ler)
        self.ops.append(entry)
        self.before(op, ctx)
        if self.fail.get(op, 0) > 0:
            self.fail[op] -= 1
            entry["error"] = "injected"
            raise RuntimeError("injected")
        return entry

    def _write(self, ler: LeaderElectionRecord) -> None:
        self._shared.write(ler)
        self._seen = self._shared.version


def to_ms(moment: datetime | None, start: float) -> int | None:
    """Return the milliseconds from `start`, in seconds since 1970, to the moment."""
    if moment is None:
        return None
    return round((moment - _EPOCH - timedelta(seconds=start)) / timedelta(milliseconds=1))


def from_ms(ms: int, start: float) -> datetime:
    """Return the moment so many milliseconds after `start`."""
    return _EPOCH + timedelta(seconds=start, milliseconds=ms)
