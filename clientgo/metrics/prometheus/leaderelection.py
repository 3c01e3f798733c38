"""The metrics of leader election. Mirrors component-base/metrics/prometheus/clientgo/leaderelection/metrics.go."""

from __future__ import annotations

from clientgo.metrics import instruments
from clientgo.metrics.legacyregistry import must_register
from clientgo.tools import leaderelection

__all__ = ["register"]

_BY_NAME = "'name' is the string used to identify the lease. Please make sure to group by name."

_LEADER_GAUGE = must_register(
    instruments.gauge_vec(
        "leader_election_master_status",
        "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. "
        + _BY_NAME,
        ["name"],
    )
)
_LEADER_SLOWPATH_COUNTER = must_register(
    instruments.counter_vec(
        "leader_election_slowpath_total",
        "Total number of slow path exercised in renewing leader leases. " + _BY_NAME,
        ["name"],
    )
)


class _LeaderAdapter:
    def on(self, name: str) -> None:
        _LEADER_GAUGE.labels(name).set(1.0)

    def off(self, name: str) -> None:
        _LEADER_GAUGE.labels(name).set(0.0)

    def slowpath_exercised(self, name: str) -> None:
        _LEADER_SLOWPATH_COUNTER.labels(name).inc()


class _MetricsProvider:
    def new_leader_metric(self) -> leaderelection.LeaderMetric:
        return _LeaderAdapter()


def register() -> None:
    """Report the elections of the process, unless another provider is set already."""
    leaderelection.set_provider(_MetricsProvider())
