"""The controllers under cmd/ side by side: their conflicts in the log, and their requests while nothing changes."""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import operatormachines
import pytest
from databasemachines import CrdbClusters, Elasticsearches
from operatormachines import Guestbooks, Networks, Pods, ProgramMachine
from processes import ROOT
from programs import ImportedProgram
from samplemachine import StrictSampleMachine
from virtualcluster import CTX, Life, Program, VirtualCluster

from clientgo import rest
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.golang import http
from clientgo.testing import controllertest as ct

pytestmark = pytest.mark.takes_turns(6)
Json = dict[str, Any]

OPERATOR_PATTERNS = ImportedProgram("operator-patterns")
with OPERATOR_PATTERNS:
    patterns_main = OPERATOR_PATTERNS.module("main")
    patterns_zone = OPERATOR_PATTERNS.module("zone")


class Sites(ProgramMachine):
    """operator-patterns, as its main function makes it."""

    program = OPERATOR_PATTERNS
    crds = tuple(sorted((ROOT / "cmd/operator-patterns/config/crd").glob("*.yaml")))
    folder: ClassVar[Path]

    def start(self, config: rest.Config, ctx: Context) -> None:
        flags = patterns_main.parse_flags(patterns_main.zap.Options(), [f"-zone={self.folder}"])
        patterns_main.new_manager(config, patterns_zone.Zone(self.folder), flags).start(ctx)


def one(api_version: str, kind: str, spec: Json) -> Json:
    metadata = {"name": "quiet", "namespace": "default"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
MASTERS = {"name": "masters", "count": 3, "config": {"node.roles": ["master", "data", "ingest"]}}
# A program and an object of it; the second spec changes what the first one made.
PROGRAMS: dict[str, tuple[type[ct.ControllerMachine], Json, Json]] = {
    "pod-controller": (
        Pods,
        one("v1", "Pod", {"containers": [{"name": "web", "image": "web:1"}]}),
        {"containers": [{"name": "web", "image": "web:2"}]},
    ),
    "network-controller": (
        Networks,
        one("samplecrd.k8s.io/v1", "Network", {"cidr": "10.0.0.0/8", "gateway": "10.0.0.1"}),
        {"gateway": "10.0.0.2"},
    ),
    "sample-controller": (
        StrictSampleMachine,
        one("samplecontroller.k8s.io/v1alpha1", "Foo", {"deploymentName": "quiet", "replicas": 1}),
        {"replicas": 2},
    ),
    "guestbook-operator": (
        Guestbooks,
        one("webapp.example.com/v1", "Guestbook", {"size": 1, "image": "guestbook:1.0", "port": 80}),
        {"size": 2, "port": 8080},
    ),
    "operator-patterns": (
        Sites,
        one("patterns.example.com/v1alpha1", "Site", {"page": "one"}),
        {"page": "two", "host": "other.example.com"},
    ),
    "cockroach-operator": (
        CrdbClusters,
        one(
            "crdb.cockroachlabs.com/v1alpha1",
            "CrdbCluster",
            {"nodes": 3, "image": {"name": "cockroachdb/cockroach:v22.1.3"}, "dataStore": {"pvc": {"spec": CLAIM}}},
        ),
        {"nodes": 4},
    ),
    "elasticsearch-operator": (
        Elasticsearches,
        one("elasticsearch.k8s.elastic.co/v1", "Elasticsearch", {"version": "8.11.0", "nodeSets": [MASTERS]}),
        {"nodeSets": [MASTERS, {"name": "more", "count": 1, "config": {"node.roles": ["data"]}}]},
    ),
}


@pytest.fixture(params=PROGRAMS)
def name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the name of a program that can run in this process."""

    def several_in_one_process(*args: Any) -> Any:
        options = manager_options(*args)
        options.controller.skip_name_validation = True
        return options

    manager_options = patterns_main.manager_options
    monkeypatch.setattr(patterns_main, "manager_options", several_in_one_process)
    # A manager's own default.
    monkeypatch.setattr(operatormachines, "RESYNC_PERIOD", 36_000.0)
    monkeypatch.setattr(Sites, "folder", tmp_path, raising=False)
    with getattr(PROGRAMS[request.param][0], "program", nullcontext()):
        yield request.param


class Tap:
    """A round tripper that counts requests, and refuses the first write of each kind to each address if asked to.

    A watch counts once, when it begins. Events and Leases are never refused, and Leases do not count.
    """

    def __init__(self, transport: http.RoundTripper, *, refuses: bool) -> None:
        self._transport = transport
        self._refuses = refuses
        # Guards the next two.
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self.refused: set[str] = set()

    def round_trip(self, request: http.Request) -> http.Response:
        url = urlsplit(request.url)
        parts = url.path.split("/")
        if "events" in parts or "leases" in parts:
            with self._lock:
                self._counts[f"{request.method} events"] += "events" in parts
            return self._transport.round_trip(request)
        is_watch = parse_qs(url.query).get("watch") == ["true"]
        call = f"{'WATCH' if is_watch else request.method} {url.path}"
        with self._lock:
            self._counts[call] += 1
            is_apply = "apply-patch" in request.headers.get("Content-Type", "")
            if self._refuses and request.method != "GET" and not is_apply and call not in self.refused:
                self.refused.add(call)
                return refusal(url.path, "AlreadyExists" if request.method == "POST" else "Conflict")
        return self._transport.round_trip(request)

    def take(self) -> Counter[str]:
        """Return the counts since the last call."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        return taken


# Of an update that comes too late, and of a creation.
LATE = (
    "the object has been modified; please apply your changes to the latest version and try again",
    "quiet already exists, which the cache does not show",
)


def refusal(name: str, reason: str) -> http.Response:
    message = f"Operation cannot be fulfilled on {name}: {LATE[reason == 'AlreadyExists']}"
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": 409}
    body = http.BytesBody(json.dumps({**status, "message": message}).encode())
    return http.Response(status_code=409, headers=http.Header({"Content-Type": "application/json"}), body=body)


@contextmanager
def operated(name: str, *, refuses: bool = False) -> Iterator[tuple[VirtualCluster, Tap]]:
    """Run a program in a cluster that has an object of it."""
    machine, obj, _ = PROGRAMS[name]
    living, taps = machine(), list[Tap]()
    living.outside = living.new_outside()

    def run(life: Life) -> None:
        assert life.config.transport is not None
        taps.append(Tap(life.config.transport, refuses=refuses))
        life.config.transport = taps[-1]
        living.start(life.config, life.ctx)

    with VirtualCluster(crds=list(machine.definitions())) as cluster:
        cluster.client.create(CTX, Unstructured(obj))
        with Program(cluster, run):
            cluster.bubble.sleep(600.0)
            (tap,) = taps
            yield cluster, tap


def change(cluster: VirtualCluster, name: str) -> None:
    """Merge the second spec into the program's object."""
    _, obj, spec = PROGRAMS[name]
    patch = client.raw_patch(PatchType.MERGE, json.dumps({"spec": spec}).encode())
    cluster.client.patch(CTX, Unstructured(obj), patch)


def test_a_late_write_is_one_line_and_an_error_only_where_go_logs_one(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), operated(name, refuses=True) as (cluster, tap):
        change(cluster, name)
        cluster.bubble.sleep(600.0)
        cluster.client.delete(CTX, Unstructured(PROGRAMS[name][1]))
        cluster.bubble.sleep(600.0)
    lines = [record for record in caplog.records if any(text in record.getMessage() for text in LATE)]
    assert len(lines) == len(tap.refused)
    # Two programs write nothing but events.
    assert bool(lines) == (name not in ("pod-controller", "network-controller"))
    for record in lines:
        assert "\n" not in record.getMessage()
        assert record.levelno == (logging.ERROR if name == "sample-controller" else logging.INFO)


# Requests in ten minutes in which nothing changes, beside watches that begin anew. Each has its reason in the original.
IDLE = {
    # Informers resync every 30 seconds, and each sync writes the status and emits an event. The recorder's spam filter
    # lets one event pass in five minutes.
    "sample-controller": {
        "PUT /apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/quiet/status": 20,
        "PATCH events": 2,
    },
    # ECK observes each cluster every ten seconds. Deletions of pods are decided by what the server has, not the cache.
    "elasticsearch-operator": {"GET /api/v1/namespaces/default/pods": 60},
}


def test_an_idle_program_asks_for_nothing_but_its_watches(name: str) -> None:
    with operated(name) as (cluster, tap):
        change(cluster, name)
        cluster.bubble.sleep(1200.0)
        tap.take()
        cluster.bubble.sleep(600.0)
        asked = tap.take()
    found = {call: count for call, count in asked.items() if not call.startswith("WATCH ")}
    assert found == IDLE.get(name, {})
