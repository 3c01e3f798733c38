"""Metrics of a program without a manager: what a scrape shows of its queue, informer, client and election."""

from __future__ import annotations

import subprocess
import sys
from typing import TypeAlias

import metered
import pytest
from patience import PATIENCE
from processes import environment
from prometheus_client.parser import text_string_to_metric_families

Samples: TypeAlias = dict[str, list[tuple[dict[str, str], float]]]
"""Pairs of labels and value, by name."""

# The names of component-base v0.36, and the two of the handlers' backlogs.
NAMES = """
informer_queued_items informer_processing_latency_seconds informer_store_resource_version
informer_pending_notifications informer_oldest_notification_timestamp_seconds
leader_election_master_status
rest_client_request_duration_seconds rest_client_request_size_bytes rest_client_response_size_bytes
rest_client_requests rest_client_exec_plugin_ttl_seconds
workqueue_depth workqueue_adds workqueue_queue_duration_seconds workqueue_work_duration_seconds
workqueue_unfinished_work_seconds workqueue_longest_running_processor_seconds workqueue_retries
process_cpu_seconds python_info
"""
INFORMER = {"name": "metered", "group": "", "version": "v1", "resource": "configmaps"}


@pytest.fixture(scope="module")
def lines() -> list[str]:
    done = subprocess.run(
        [sys.executable, metered.__file__], capture_output=True, text=True, timeout=PATIENCE, env=environment()
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def samples(lines: list[str]) -> Samples:
    found: Samples = {}
    for family in text_string_to_metric_families("\n".join(lines[1:])):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_another_handler_is_served_beside_the_metrics(lines: list[str]) -> None:
    assert lines[0] == "ok"


def test_all_families_are_served(lines: list[str]) -> None:
    families = {family.name for family in text_string_to_metric_families("\n".join(lines[1:]))}
    assert set(NAMES.split()) - families == set()


def test_the_queue_counts_its_work(samples: Samples) -> None:
    name = {"name": "keys"}
    [(labels, added)] = samples["workqueue_adds_total"]
    assert labels == name
    assert added >= 1.0
    assert samples["workqueue_retries_total"] == [(name, 1.0)]
    assert samples["workqueue_unfinished_work_seconds"] == [(name, 0.0)]
    [(_, observed)] = samples["workqueue_work_duration_seconds_count"]
    assert observed >= 1.0


def test_the_buckets_of_the_queue_are_powers_of_ten(samples: Samples) -> None:
    bounds = [labels["le"] for labels, _ in samples["workqueue_queue_duration_seconds_bucket"]]
    assert [float(bound) for bound in bounds[:-1]] == pytest.approx([1e-8 * 10**power for power in range(10)])
    assert bounds[-1] == "+Inf"


def test_the_informer_reports_its_queue_its_store_and_its_handler(samples: Samples) -> None:
    assert samples["informer_queued_items"] == [(INFORMER, 0.0)]
    [(labels, version)] = samples["informer_store_resource_version"]
    assert labels == INFORMER
    assert version > 0
    [(labels, pending)] = samples["informer_pending_notifications"]
    assert labels == {**INFORMER, "handler": "__main__.work"}
    assert pending == 0
    [(_, processed)] = samples["informer_processing_latency_seconds_count"]
    assert processed >= 1


def test_requests_are_counted_by_code_method_and_host(samples: Samples) -> None:
    counted = {(labels["method"], labels["code"]) for labels, _ in samples["rest_client_requests_total"]}
    assert {("GET", "404"), ("POST", "201")} <= counted
    [(labels, count)] = [
        (labels, value)
        for labels, value in samples["rest_client_request_duration_seconds_count"]
        if labels["verb"] == "POST"
    ]
    assert labels["host"].startswith("127.0.0.1:")
    assert count == 2.0
    sizes = {labels["verb"]: value for labels, value in samples["rest_client_request_size_bytes_sum"]}
    assert sizes["POST"] > sizes["GET"] == 0.0
    assert samples["rest_client_exec_plugin_ttl_seconds"] == [({}, float("inf"))]


def test_the_leader_is_named_after_its_lock(samples: Samples) -> None:
    assert samples["leader_election_master_status"] == [({"name": "default/metered"}, 1.0)]
