"""A health check that fails when a leader cannot renew. Mirrors client-go/tools/leaderelection/healthzadaptor.go."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clientgo.tools.leaderelection.leaderelection import LeaderElector

__all__ = ["HealthzAdaptor", "new_leader_healthz_adaptor"]


class HealthzAdaptor:
    """Healthy unless its elector leads by a lease that ran out too long ago. Go: HealthzAdaptor. Thread-safe.

    Without an elector it is healthy. A process that fails this check should be restarted: the candidate that took over
    may be working beside it.
    """

    def __init__(self, timeout: float) -> None:
        """`timeout`: for how many seconds after its end a lease is tolerated."""
        # Guards _le.
        self._pointer_lock = threading.Lock()
        self._le: LeaderElector | None = None
        self._timeout = timeout

    def name(self) -> str:
        """The name of the check. Go: HealthzAdaptor.Name."""
        return "leaderElection"

    def check(self, req: object = None) -> None:
        """Raise when the process is not healthy. `req`, the HTTP request, is not used. Go: HealthzAdaptor.Check."""
        with self._pointer_lock:
            le = self._le
        if le is not None:
            le.check(self._timeout)

    def set_leader_election(self, le: LeaderElector) -> None:
        """The elector to watch from now on. Go: HealthzAdaptor.SetLeaderElection."""
        with self._pointer_lock:
            self._le = le


def new_leader_healthz_adaptor(timeout: float) -> HealthzAdaptor:
    """Go: leaderelection.NewLeaderHealthzAdaptor."""
    return HealthzAdaptor(timeout)
