"""A Grafana dashboard of the metrics that clientgo serves. No Go file: Kubernetes has none in its repositories.

    clientgo dashboard > clientgo.json    # then in Grafana: Dashboards, New, Import

The dashboard asks for its Prometheus data source when it is imported. It works with the metrics of
`clientgo.metrics.prometheus` and with those of a controller_runtime manager; a panel whose metrics are not served is
empty.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["Panel", "Row", "dashboard", "main"]

_WIDTH, _HEIGHT = 8, 7
_SOURCE = {"type": "prometheus", "uid": "${source}"}


class Panel(NamedTuple):
    """A diagram: its title, a question that it answers, its unit in Grafana's terms, the legend and the expression."""

    title: str
    description: str
    unit: str
    legend: str
    expression: str


class Row(NamedTuple):
    """Panels with a common title."""

    title: str
    panels: tuple[Panel, ...]


def _rate(metric: str, by: str) -> str:
    return f"sum by ({by}) (rate({metric}{{{_JOB}}}[$__rate_interval]))"


def _p99(metric: str, by: str) -> str:
    return f"histogram_quantile(0.99, {_rate(f'{metric}_bucket', f'le, {by}')})"


_JOB = 'job=~"$job", instance=~"$instance"'
_INFORMER = "{{name}} {{resource}}"

ROWS: tuple[Row, ...] = (
    Row(
        "Work queues",
        (
            Panel(
                "Depth",
                "Keys that wait for a worker. A depth that grows means too few workers, or a slow reconcile.",
                "short",
                "{{name}}",
                f"max by (name) (workqueue_depth{{{_JOB}}})",
            ),
            Panel("Adds", "Keys added per second.", "ops", "{{name}}", _rate("workqueue_adds_total", "name")),
            Panel(
                "Retries",
                "Keys added again after a failure, per second. At a rate near that of the adds, nothing succeeds.",
                "ops",
                "{{name}}",
                _rate("workqueue_retries_total", "name"),
            ),
            Panel(
                "Wait for a worker, 99th percentile",
                "How long a key waits in the queue.",
                "s",
                "{{name}}",
                _p99("workqueue_queue_duration_seconds", "name"),
            ),
            Panel(
                "Work, 99th percentile",
                "How long a worker needs for a key.",
                "s",
                "{{name}}",
                _p99("workqueue_work_duration_seconds", "name"),
            ),
            Panel(
                "Longest running worker",
                "The age of the oldest unfinished work. If it climbs by a second each second, a worker hangs.",
                "s",
                "{{name}}",
                f"max by (name) (workqueue_longest_running_processor_seconds{{{_JOB}}})",
            ),
        ),
    ),
    Row(
        "Informers",
        (
            Panel(
                "Queued changes",
                "Changes that arrived and are not in the cache yet.",
                "short",
                _INFORMER,
                f"max by (name, resource) (informer_queued_items{{{_JOB}}})",
            ),
            Panel(
                "Pending notifications",
                "Notifications that wait for a handler. A number that grows means a handler that blocks.",
                "short",
                _INFORMER,
                f"max by (name, resource) (informer_pending_notifications{{{_JOB}}})",
            ),
            Panel(
                "Processing, 99th percentile",
                "How long a batch of changes takes from the queue into the cache.",
                "s",
                _INFORMER,
                _p99("informer_processing_latency_seconds", "name, resource"),
            ),
        ),
    ),
    Row(
        "Requests to the API server",
        (
            Panel(
                "Requests by code",
                "Requests per second. 409 is a conflict, 429 a server that asks to wait, 403 a missing permission.",
                "reqps",
                "{{code}} {{method}}",
                _rate("rest_client_requests_total", "code, method"),
            ),
            Panel(
                "Latency, 99th percentile",
                "How long a request takes until its answer.",
                "s",
                "{{verb}}",
                _p99("rest_client_request_duration_seconds", "verb"),
            ),
            Panel(
                "Delay by the client's own rate limit, 99th percentile",
                "A delay of seconds means that qps and burst of the client's configuration are too low.",
                "s",
                "{{verb}}",
                _p99("rest_client_rate_limiter_duration_seconds", "verb"),
            ),
        ),
    ),
    Row(
        "Leader election and reconcilers",
        (
            Panel(
                "Leaders",
                "1 for the replica that leads. More than one line at 1 means two leaders.",
                "short",
                "{{name}} {{instance}}",
                f"max by (name, instance) (leader_election_master_status{{{_JOB}}})",
            ),
            Panel(
                "Reconciles by result",
                "Reconciles per second of a controller_runtime manager.",
                "ops",
                "{{controller}} {{result}}",
                _rate("controller_runtime_reconcile_total", "controller, result"),
            ),
            Panel(
                "Reconcile, 99th percentile",
                "How long a reconcile takes.",
                "s",
                "{{controller}}",
                _p99("controller_runtime_reconcile_time_seconds", "controller"),
            ),
            Panel(
                "Memory",
                "Resident memory of the process.",
                "bytes",
                "{{instance}}",
                f"process_resident_memory_bytes{{{_JOB}}}",
            ),
            Panel(
                "CPU",
                "Cores that the process uses.",
                "short",
                "{{instance}}",
                f"rate(process_cpu_seconds_total{{{_JOB}}}[$__rate_interval])",
            ),
        ),
    ),
)


def dashboard(title: str = "clientgo") -> dict[str, Any]:
    """Return the dashboard as Grafana's import reads it, as data for JSON."""
    return {
        "title": title,
        "uid": None,
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "tags": ["clientgo", "kubernetes"],
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": _variables()},
        "panels": list(_panels()),
    }


def _variables() -> list[dict[str, Any]]:
    """Return the choices at the top of the page: the data source, the jobs and their instances."""
    source = {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"}
    labels = (("job", "up"), ("instance", 'up{job=~"$job"}'))
    return [source, *(_label_variable(label, series) for label, series in labels)]


def _label_variable(label: str, series: str) -> dict[str, Any]:
    return {
        "name": label,
        "label": label.capitalize(),
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": f"label_values({series}, {label})", "refId": label},
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }


def _panels() -> Iterable[dict[str, Any]]:
    number, top = 0, 0
    for row in ROWS:
        number += 1
        place = {"x": 0, "y": top, "w": 24, "h": 1}
        yield {"id": number, "type": "row", "title": row.title, "collapsed": False, "gridPos": place, "panels": []}
        top += 1
        for index, panel in enumerate(row.panels):
            number += 1
            column, line = index % 3, index // 3
            place = {"x": column * _WIDTH, "y": top + line * _HEIGHT, "w": _WIDTH, "h": _HEIGHT}
            yield _diagram(number, panel, place)
        top += (len(row.panels) + 2) // 3 * _HEIGHT


def _diagram(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.description,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": "A", "datasource": _SOURCE, "expr": panel.expression, "legendFormat": panel.legend},
        ],
    }


def main(arguments: list[str]) -> int:
    """Print the dashboard as JSON."""
    description = "Print a Grafana dashboard of clientgo's metrics, for Grafana's import."
    parser = argparse.ArgumentParser("clientgo dashboard", description=description)
    parser.add_argument("--title", default="clientgo", help="the dashboard's title (default clientgo)")
    print(json.dumps(dashboard(parser.parse_args(arguments).title), indent=2))
    return 0
