"""Leader election. Mirrors k8s.io/client-go/tools/leaderelection."""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach
from clientgo.tools.leaderelection.healthzadaptor import HealthzAdaptor, new_leader_healthz_adaptor
from clientgo.tools.leaderelection.leaderelection import (
    JITTER_FACTOR,
    LeaderCallbacks,
    LeaderElectionConfig,
    LeaderElectionStatistics,
    LeaderElector,
    new_leader_elector,
    run_or_die,
)
from clientgo.tools.leaderelection.metrics import LeaderMetric, MetricsProvider, set_provider

if TYPE_CHECKING:
    from clientgo.tools.leaderelection.leading import (
        LEASE_DURATION,
        RENEW_DEADLINE,
        RETRY_PERIOD,
        lease_lock,
        run_while_leading,
        unique_identity,
    )
    from clientgo.tools.leaderelection.leasecandidate import CacheSyncWaiter, LeaseCandidate, new_candidate
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "leading": [
                "LEASE_DURATION",
                "RENEW_DEADLINE",
                "RETRY_PERIOD",
                "lease_lock",
                "run_while_leading",
                "unique_identity",
            ],
            "leasecandidate": ["CacheSyncWaiter", "LeaseCandidate", "new_candidate"],
        },
    )

__all__ = [
    "JITTER_FACTOR",
    "LEASE_DURATION",
    "RENEW_DEADLINE",
    "RETRY_PERIOD",
    "CacheSyncWaiter",
    "HealthzAdaptor",
    "LeaderCallbacks",
    "LeaderElectionConfig",
    "LeaderElectionStatistics",
    "LeaderElector",
    "LeaderMetric",
    "LeaseCandidate",
    "MetricsProvider",
    "lease_lock",
    "new_candidate",
    "new_leader_elector",
    "new_leader_healthz_adaptor",
    "run_or_die",
    "run_while_leading",
    "set_provider",
    "unique_identity",
]
