"""The metrics of leader election. Mirrors pkg/metrics/leaderelection.go.

Difference: it also registers the slow-path counter, which Go omits.
"""

from __future__ import annotations

from clientgo.controller_runtime.metrics.registry import new_counter_vec, new_gauge_vec
from clientgo.tools import leaderelection

__all__ = ["register_leader_election_metrics"]

_BY_NAME = "'name' is the string used to identify the lease. Please make sure to group by name."

_LEADER_GAUGE = new_gauge_vec(
    "leader_election_master_status",
    "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. "
    + _BY_NAME,
    ["name"],
)

_LEADER_SLOWPATH_COUNTER = new_counter_vec(
    "leader_election_slowpath_total",
    "Total number of slow path exercised in renewing leader leases. " + _BY_NAME,
    ["name"],
)


class _LeaderMetric:
    def on(self, name: str) -> None:
        _LEADER_GAUGE.labels(name).set(1.0)

    def off(self, name: str) -> None:
        _LEADER_GAUGE.labels(name).set(0.0)

    def slowpath_exercised(self, name: str) -> None:
        _LEADER_SLOWPATH_COUNTER.labels(name).inc()


class _MetricsProvider:
    def new_leader_metric(self) -> leaderelection.LeaderMetric:
        return _LeaderMetric()


def register_leader_election_metrics() -> None:
    """Report the elections of the process, unless another provider is set already."""
    leaderelection.set_provider(_MetricsProvider())
