#!/usr/bin/env python3
"""Measure one process with 50 informers of 100,000 Pods, with 1,000 changes per second.

    python test/bench/scale/bench_scale.py [--pods 100000] [--rate 1000] [--seconds 30] [--hour] [client ...]

Each client is a process with the informers of a factory for 50 resources against a server of its own
(cluster_server.py), which has Pods of 3.5 KB, in protobuf 1.8 KB, and nothing else. The handler reads a label, an
image, the phase and a condition of each Pod that changes. "installed" is how the library comes, with protobuf; "json"
asks for that and decodes it with the standard library, "json-fast" with msgspec. Figures:

* sync: from the start of the factory to the last Pod in the cache, seconds and seconds of CPU;
* MB: what the process has more than before it, and of that the bytes for each Pod;
* at the pace: how much of a core the changes take, and how late they reach the handler, in milliseconds;
* with --hour: the changes of an hour, as fast as they come: how many a second, and the MB that each sixth of it adds.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import itertools
import json
import os
import statistics
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "wire"))

import cluster_server
from clients import JSON, read

from clientgo import context, informers, kubernetes, rest
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.tools import cache

CLIENTS = ("installed", "json", "json-fast")
PATIENCE = 1800.0
HOUR = 3600
PARTS = 6
# Group and version, and the resources of it with their kinds.
RESOURCES = {
    "/v1": "pods Pod, configmaps ConfigMap, endpoints Endpoints, events Event, limitranges LimitRange, "
    "namespaces Namespace, nodes Node, persistentvolumeclaims PersistentVolumeClaim, "
    "persistentvolumes PersistentVolume, podtemplates PodTemplate, replicationcontrollers ReplicationController, "
    "resourcequotas ResourceQuota, secrets Secret, serviceaccounts ServiceAccount, services Service",
    "apps/v1": "controllerrevisions ControllerRevision, daemonsets DaemonSet, deployments Deployment, "
    "replicasets ReplicaSet, statefulsets StatefulSet",
    "batch/v1": "cronjobs CronJob, jobs Job",
    "autoscaling/v1": "horizontalpodautoscalers HorizontalPodAutoscaler",
    "autoscaling/v2": "horizontalpodautoscalers HorizontalPodAutoscaler",
    "policy/v1": "poddisruptionbudgets PodDisruptionBudget",
    "networking.k8s.io/v1": "ingressclasses IngressClass, ingresses Ingress, networkpolicies NetworkPolicy, "
    "ipaddresses IPAddress, servicecidrs ServiceCIDR",
    "rbac.authorization.k8s.io/v1": "clusterroles ClusterRole, clusterrolebindings ClusterRoleBinding, roles Role, "
    "rolebindings RoleBinding",
    "storage.k8s.io/v1": "csidrivers CSIDriver, csinodes CSINode, csistoragecapacities CSIStorageCapacity, "
    "storageclasses StorageClass, volumeattachments VolumeAttachment",
    "coordination.k8s.io/v1": "leases Lease",
    "discovery.k8s.io/v1": "endpointslices EndpointSlice",
    "node.k8s.io/v1": "runtimeclasses RuntimeClass",
    "scheduling.k8s.io/v1": "priorityclasses PriorityClass",
    "certificates.k8s.io/v1": "certificatesigningrequests CertificateSigningRequest",
    "admissionregistration.k8s.io/v1": "mutatingwebhookconfigurations MutatingWebhookConfiguration, "
    "validatingwebhookconfigurations ValidatingWebhookConfiguration, "
    "validatingadmissionpolicies ValidatingAdmissionPolicy, "
    "validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding",
    "flowcontrol.apiserver.k8s.io/v1": "flowschemas FlowSchema, "
    "prioritylevelconfigurations PriorityLevelConfiguration",
}


def resources() -> dict[GroupVersionResource, str]:
    """Return the resources, and their kinds."""
    found = {}
    for group_version, names in RESOURCES.items():
        group, _, version = group_version.rpartition("/")
        for resource, kind in (each.split() for each in names.split(", ")):
            found[GroupVersionResource(group.strip("/"), version, resource)] = kind
    assert len(found) == 50, len(found)
    return found


def path_of(resource: GroupVersionResource) -> str:
    start = f"/apis/{resource.group}" if resource.group else "/api"
    return f"{start}/{resource.version}/{resource.resource}"


def memory() -> float:
    """Return the process's memory in MB, after a garbage collection."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Counter:
    """The handler: reads each change and counts it."""

    def __init__(self) -> None:
        # Guards the counts. Notified after the last expected change.
        self._changed = threading.Condition()
        self._count = 0
        self._wanted = 0
        self.late: list[float] = []
        self.is_timed = False

    def updated(self, old: Any, new: Any) -> None:
        if self.is_timed:
            self.late.append(cluster_server.seconds_since(new.metadata.labels["revision"]))
        read(new)
        with self._changed:
            self._count += 1
            if self._count == self._wanted:
                self._changed.notify_all()

    def after(self, count: int, url: str, rate: float) -> float:
        """Let so many changes go, wait until the last one was handled; the seconds it took."""
        with self._changed:
            self._wanted = self._count + count
        started = perf_counter()
        urllib.request.urlopen(f"{url}/go?rate={rate}&count={count}").read()
        with self._changed:
            assert self._changed.wait_for(lambda: self._count >= self._wanted, PATIENCE), f"{self._count} changes seen"
        return perf_counter() - started


def carry(url: str, options: argparse.Namespace, content_type: str) -> dict[str, Any]:
    """Run the client and return its figures."""
    clientset = kubernetes.new_for_config(rest.Config(host=url, qps=-1, content_type=content_type))
    factory = informers.new_shared_informer_factory(clientset, 0.0)
    counter = Counter()
    for resource in resources():
        informer = factory.for_resource(resource).informer()
        if resource.resource == "pods":
            pods = informer
            handle = pods.add_event_handler(cache.ResourceEventHandlerFuncs(update_func=counter.updated))
    ctx, cancel = context.with_cancel(context.background())
    empty, started, cpu = memory(), perf_counter(), process_time()
    factory.start_with_context(ctx)
    assert all(factory.wait_for_cache_sync(ctx.done()).values())
    assert cache.wait_for(ctx, "", handle.has_synced_checker())
    figures: dict[str, Any] = {"sync s": perf_counter() - started, "CPU s": process_time() - cpu}
    assert len(pods.get_indexer().list_keys()) == options.pods
    full = memory()
    figures |= {"MB": full - empty, "bytes a Pod": (full - empty) * 2**20 / options.pods}

    counter.is_timed, cpu = True, process_time()
    took = counter.after(int(options.rate * options.seconds), url, options.rate)
    counter.is_timed = False
    figures["% of a core"] = 100 * (process_time() - cpu) / took
    late = statistics.quantiles(counter.late, n=100)
    figures |= {"late ms": late[49] * 1e3, "99th": late[98] * 1e3}
    counter.late.clear()
    if options.hour:
        figures |= an_hour(counter, url, options.rate)
    cancel()
    factory.shutdown()
    return figures


def an_hour(counter: Counter, url: str, rate: float) -> dict[str, Any]:
    count = int(rate * HOUR / PARTS)
    marks, took = [memory()], 0.0
    for _ in range(PARTS):
        took += counter.after(count, url, 0)
        marks.append(memory())
    growth = [round(after - before, 1) for before, after in itertools.pairwise(marks)]
    return {"changes/s": count * PARTS / took, "MB more": growth}


def measured(client: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run one client in its own process, against its own server."""
    kinds = {path_of(each): (str(each.group_version()), kind) for each, kind in resources().items()}
    with cluster_server.serving(kinds, options.pods, protobuf=client == "installed") as ready:
        env = os.environ | {"CLIENTGO_LAZY_DECODING": str(client == "json-fast").lower()}
        command = [sys.executable, __file__, "--url", f"http://127.0.0.1:{ready['port']}", *sys.argv[1:], client]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE, env=env)
    if ran.returncode != 0:
        raise SystemExit(f"{client} failed:\n{ran.stderr}")
    return {"on the wire": ready["bytes per pod"], **json.loads(ran.stdout.splitlines()[-1])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--hour", action="store_true", help="also the changes of an hour")
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("clients", nargs="*", choices=[*CLIENTS, []])
    options = parser.parse_args()
    if options.url:  # This is one of the clients.
        client = options.clients[-1]
        print(json.dumps(carry(options.url, options, "" if client == "installed" else JSON)), flush=True)
        return
    for client in options.clients or CLIENTS:
        if client == "json-fast" and importlib.util.find_spec("msgspec") is None:
            print("json-fast: left out, the msgspec package is not installed")
            continue
        figures = measured(client, options)
        print(client, flush=True)
        for name, value in figures.items():
            print(f"    {name:14} {value if type(value) is not float else format(value, ',.1f')}", flush=True)


if __name__ == "__main__":
    main()
