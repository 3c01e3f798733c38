"""A health check that fails if a leader cannot renew its lease.

Mirrors client-go/tools/leaderelection/healthzadaptor.go.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clientgo.tools.leaderelection.leaderelection import LeaderElector

__all__ = ["HealthzAdaptor", "new_leader_healthz_adaptor"]


class HealthzAdaptor:
    """A health check that fails if its elector leads with a lease that expired too long ago. Thread-safe.

    It succeeds without an elector. Restart a process that fails this check: another candidate may lead at the same
    time. Go: HealthzAdaptor.
    """

    def __init__(self, timeout: float) -> None:
        """Tolerate an expired lease for `timeout` seconds."""
        # Guards _le.
        self._pointer_lock = threading.Lock()
        self._le: LeaderElector | None = None
        self._timeout = timeout

    def name(self) -> str:
        """Return the name of the check. Go: HealthzAdaptor.Name."""
        return "leaderElection"

    def check(self, req: object = None) -> None:
        """Raise an error if the process is not healthy. Ignores `req`, the HTTP request. Go: HealthzAdaptor.Check."""
        with self._pointer_lock:
            le = self._le
        if le is not None:
            le.check(self._timeout)

    def set_leader_election(self, le: LeaderElector) -> None:
        """Set the elector to check. Go: HealthzAdaptor.SetLeaderElection."""
        with self._pointer_lock:
            self._le = le


def new_leader_healthz_adaptor(timeout: float) -> HealthzAdaptor:
    """Return a health check without an elector. Go: leaderelection.NewLeaderHealthzAdaptor."""
    return HealthzAdaptor(timeout)
