"""The HTTP server of the metrics."""

from __future__ import annotations

import subprocess
import sys
import threading
import urllib.request

import pytest
from patience import PATIENCE
from processes import environment
from prometheus_client import Counter

from clientgo.golang.http import server as http
from clientgo.metrics import legacyregistry, prometheus


def get(server: prometheus.MetricsServer, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"http://{server.address}{path}", timeout=PATIENCE) as answer:
        text: str = answer.read().decode()
    return text


def test_a_metric_of_the_user_is_served() -> None:
    counter = Counter("cakes_total", "Cakes baked.", registry=legacyregistry.REGISTRY)
    try:
        counter.inc(3)
        with prometheus.serve("127.0.0.1:0") as server:
            text = get(server)
        assert "cakes_total 3.0" in text
        assert "_created" not in text
    finally:
        legacyregistry.REGISTRY.unregister(counter)


def test_two_metrics_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="workqueue_depth"):
        Counter("workqueue_depth", "", registry=legacyregistry.REGISTRY)


def test_stop_is_idempotent_and_ends_the_thread() -> None:
    server = prometheus.serve("127.0.0.1:0")
    assert [thread.name for thread in threading.enumerate()].count("metrics-server") == 1
    server.stop()
    server.stop()
    assert "metrics-server" not in [thread.name for thread in threading.enumerate()]


def test_a_port_in_use_is_one_clear_error_and_leaves_no_thread() -> None:
    with prometheus.serve("127.0.0.1:0") as server:
        with pytest.raises(http.ListenError, match=f"listen tcp {server.address}: bind: address already in use"):
            prometheus.serve(server.address)
        assert [thread.name for thread in threading.enumerate()].count("metrics-server") == 1


def test_the_path_of_the_metrics_is_taken() -> None:
    with pytest.raises(ValueError, match="overriding builtin /metrics endpoint is not allowed"):
        prometheus.serve("127.0.0.1:0", {"/metrics": lambda resp, req: None})


def test_without_prometheus_client_the_import_names_the_extra() -> None:
    hidden = "import importlib.util as u; f = u.find_spec; "
    hidden += "u.find_spec = lambda n: n != 'prometheus_client' and f(n) or None; "
    done = subprocess.run(
        [sys.executable, "-c", hidden + "import clientgo.metrics.prometheus"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.endswith("clientgo.metrics.prometheus needs prometheus-client: pip install 'clientgo[metrics]'")
