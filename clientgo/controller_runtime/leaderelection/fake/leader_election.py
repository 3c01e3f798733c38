"""A lock in memory, for tests. Mirrors pkg/leaderelection/fake/leader_election.go."""

from __future__ import annotations

import socket
import threading
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from clientgo import rest
from clientgo.context import Context
from clientgo.controller_runtime.leaderelection.leader_election import Options
from clientgo.controller_runtime.recorder.recorder import Provider
from clientgo.tools.leaderelection import resourcelock
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["ControllableResourceLockInterface", "new_resource_lock"]


class ControllableResourceLockInterface(resourcelock.Interface, Protocol):
    """A lock that can be made to fail. Go: fake.ControllableResourceLockInterface."""

    def block_leader_election(self) -> None:
        """Make every write fail from now on."""
        ...

    def unblock_leader_election(self) -> None:
        """Make writes succeed again."""
        ...


def new_resource_lock(
    config: rest.Config | None, recorder_provider: Provider | None, options: Options | None
) -> ControllableResourceLockInterface:
    """Return a lock that this process already holds, with a duration of one second. Go: fake.NewResourceLock."""
    return _ResourceLock()


class _ResourceLock:
    def __init__(self) -> None:
        self._id = f"{socket.gethostname()}_{uuid.uuid4()}"
        now = datetime.fromtimestamp(REAL_CLOCK.now(), UTC)
        self._lock = threading.Lock()
        self._blocked = False
        self._record = resourcelock.LeaderElectionRecord(
            holder_identity=self._id,
            lease_duration_seconds=1,
            acquire_time=now,
            renew_time=now + timedelta(seconds=1),
            leader_transitions=1,
        )

    def get(self, ctx: Context) -> tuple[resourcelock.LeaderElectionRecord, bytes]:
        with self._lock:
            return self._record, self._record.to_json()

    def create(self, ctx: Context, ler: resourcelock.LeaderElectionRecord) -> None:
        self._write(ler, "leader election is blocked, cannot create new record")

    def update(self, ctx: Context, ler: resourcelock.LeaderElectionRecord) -> None:
        self._write(ler, "leader election is blocked, cannot update record")

    def _write(self, ler: resourcelock.LeaderElectionRecord, refusal: str) -> None:
        with self._lock:
            if self._blocked:
                raise RuntimeError(refusal)
            self._record = replace(ler)

    def record_event(self, s: str) -> None:
        pass

    def identity(self) -> str:
        return self._id

    def describe(self) -> str:
        return self._id

    def block_leader_election(self) -> None:
        with self._lock:
            self._blocked = True

    def unblock_leader_election(self) -> None:
        with self._lock:
            self._blocked = False
