"""The elasticsearch-operator while nothing changes: what it costs the API server."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from processes import ROOT
from programs import ImportedProgram
from virtualcluster import CTX, Life, Program, VirtualCluster

from clientgo import controller_runtime as ctrl
from clientgo.controller_runtime.config import Controller
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.golang import http

PROGRAM = ImportedProgram("elasticsearch-operator")
with PROGRAM:
    esv1 = PROGRAM.module("api.v1")
    main = PROGRAM.module("main")
    controller = PROGRAM.module("elasticsearch.controller")
    simulated = PROGRAM.module("elasticsearch.simulated")
    certificates = PROGRAM.module("elasticsearch.certificates")

KEY = ctrl.Request("default", "quickstart")
REQUEUE_AFTER = 10.0
CRD = yaml.safe_load((ROOT / "cmd/elasticsearch-operator/config/crd/elasticsearches.yaml").read_text())
SPEC = {
    "version": "8.10.0",
    "nodeSets": [
        {"name": "masters", "count": 3, "config": {"node.roles": ["master"]}},
        {"name": "data", "count": 4, "config": {"node.roles": ["data", "ingest"]}},
    ],
}


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


class _Counting:
    """A round tripper that counts requests; a watch counts once, when it begins."""

    def __init__(self, transport: http.RoundTripper) -> None:
        self._transport = transport
        # Guards the counts.
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def round_trip(self, request: http.Request) -> http.Response:
        url = urlsplit(request.url)
        is_watch = parse_qs(url.query).get("watch") == ["true"]
        with self._lock:
            self._counts[f"{'WATCH' if is_watch else request.method} {url.path}"] += 1
        return self._transport.round_trip(request)

    def take(self) -> Counter[str]:
        """Return the counts since the last call."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        return taken


def operator(cluster: VirtualCluster, requests: list[_Counting]) -> Callable[[Life], None]:
    def run(life: Life) -> None:
        assert life.config.transport is not None
        requests.append(_Counting(life.config.transport))
        life.config.transport = requests[-1]
        options = ctrl.Options(
            scheme=main.new_scheme(),
            metrics=MetricsOptions(bind_address="0"),
            controller=Controller(skip_name_validation=True),
            mapper_provider=lambda config, http_client: cluster.client.rest_mapper(),
        )
        mgr = ctrl.new_manager(life.config, options)
        live = mgr.get_api_reader()
        controller.ReconcileElasticsearch(
            client=mgr.get_client(),
            live=live,
            recorder=mgr.get_event_recorder("elasticsearch-controller"),
            clients=simulated.SimulatedClients(simulated.RunningNodes(live), indices=(("logs", 3, 1),)),
            certificates=certificates.Certificates(mgr.get_client(), maker=lambda hosts: ("a\n", "c\n", "k\n")),
            requeue_after=REQUEUE_AFTER,
        ).setup_with_manager(mgr)
        mgr.start(life.ctx)

    return run


def test_an_idle_operator_lists_the_pods_once_a_reconcile_and_asks_for_nothing_else() -> None:
    requests: list[_Counting] = []
    with VirtualCluster(crds=[CRD], scheme=main.new_scheme()) as cluster:
        wanted = {"metadata": {"name": KEY.name, "namespace": KEY.namespace}, "spec": SPEC}
        cluster.client.create(CTX, esv1.Elasticsearch.from_dict(wanted))

        def status() -> Any:
            return cluster.client.get(CTX, KEY, esv1.Elasticsearch).status

        with Program(cluster, operator(cluster, requests)):
            cluster.until(lambda: status().phase == "Ready" and status().health == "green", seconds=3600.0)
            cluster.bubble.sleep(60.0)
            (counting,) = requests

            counting.take()
            cluster.bubble.sleep(20 * REQUEUE_AFTER)
            asked = counting.take()

    watches = Counter({name: count for name, count in asked.items() if name.startswith("WATCH ")})
    reads = asked - watches
    assert set(reads) == {"GET /api/v1/namespaces/default/pods"}
    assert 18 <= reads.total() <= 22  # one for each reconcile
