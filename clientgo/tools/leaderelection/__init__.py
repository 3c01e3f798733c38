"""Leader election. Mirrors k8s.io/client-go/tools/leaderelection."""

from typing import TYPE_CHECKING

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
from clientgo.utils.later import later

if TYPE_CHECKING:
    from clientgo.tools.leaderelection.leasecandidate import CacheSyncWaiter, LeaseCandidate, new_candidate
else:
    __getattr__, __dir__ = later(__name__, {"leasecandidate": ["CacheSyncWaiter", "LeaseCandidate", "new_candidate"]})

__all__ = [
    "JITTER_FACTOR",
    "CacheSyncWaiter",
    "HealthzAdaptor",
    "LeaderCallbacks",
    "LeaderElectionConfig",
    "LeaderElectionStatistics",
    "LeaderElector",
    "LeaderMetric",
    "LeaseCandidate",
    "MetricsProvider",
    "new_candidate",
    "new_leader_elector",
    "new_leader_healthz_adaptor",
    "run_or_die",
    "set_provider",
]
