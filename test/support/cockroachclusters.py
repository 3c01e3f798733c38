"""The cockroach-operator in virtual time: a cluster of it, what must never happen to that, and when it has arrived."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from programs import ImportedProgram
from virtualcluster import CTX, Life, Program, VirtualCluster, never

from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.controller_runtime.config import Controller
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.testing.apiserver import read_manifests
from clientgo.testing.apiserver.store.storage import Event

PROGRAM = ImportedProgram("cockroach-operator")
with PROGRAM:
    v1alpha1 = PROGRAM.module("api.v1alpha1")
    database = PROGRAM.module("database")
    features = PROGRAM.module("features")
    main = PROGRAM.module("main")
    simulated = PROGRAM.module("simulated")
    PROGRAM.module("actor")

KEY = ctrl.Request("default", "crdb")
IMAGE = "cockroachdb/cockroach:v22.1.3"
NEWER = "cockroachdb/cockroach:v22.2.0"
SCHEME = main.new_scheme()  # all of Kubernetes: making it takes longer than many a life of the operator
CRDS = list(read_manifests(["cmd/cockroach-operator/config/crd"]))


def crdb_cluster(nodes: int = 3, image: str = IMAGE, size: str = "1Gi", **spec: Any) -> Any:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    doc = {"nodes": nodes, "image": {"name": image}, "dataStore": {"pvc": {"spec": claim}}, **spec}
    return v1alpha1.CrdbCluster.from_dict({"metadata": {"namespace": "default", "name": "crdb"}, "spec": doc})


class MortalDatabase:
    """The database as one life of the operator sees it: what changes something there may be the last it does."""

    def __init__(self, life: Life, simulated: Any) -> None:
        self._life = life
        self._simulated = simulated
        self.pod_logs = simulated.pod_logs

    def exec_in_pod(self, ctx: Any, namespace: str, pod: str, container: str, command: Sequence[str]) -> str:
        def do() -> str:
            return self._simulated.exec_in_pod(ctx, namespace, pod, container, command)

        words = [word for word in command if not word.startswith("-")]
        if words[-1] == "status":
            self._life.check()
            return do()
        return self._life.effect(" ".join(words), do)


class Budget:
    """Invariants that each commit is checked against. `broken` has the violations.

    A pod is taken away only when all others are well, and only one at a time; and a node leaves the cluster only when
    the database has let it go. Pods that a test has made ill count from the moment they were.
    """

    def __init__(self, database: Any) -> None:
        self._database = database
        self.pods: dict[str, dict[str, Any]] = {}
        self.sizes: list[int] = []
        self.taken: list[str] = []
        self.broken: list[str] = []
        self.is_on = True

    def look(self, bucket: str, event: Event) -> None:
        obj = event.new.obj
        if bucket == "apps/statefulsets" and event.type != "DELETED":
            self._look_at_set(obj)
        if bucket != "/pods" or not obj["metadata"]["name"].startswith("crdb-") or "vcheck" in obj["metadata"]["name"]:
            return
        name = obj["metadata"]["name"]
        before = self.pods.get(name)
        if event.type == "DELETED":
            self.pods.pop(name, None)
        else:
            self.pods[name] = obj
        goes = event.type == "DELETED" or "deletionTimestamp" in obj["metadata"]
        went = before is not None and "deletionTimestamp" in before["metadata"]
        if goes and before is not None and not went:
            self._taken(name)

    def _look_at_set(self, obj: dict[str, Any]) -> None:
        size = obj["spec"]["replicas"]
        if not self.sizes or self.sizes[-1] != size:
            self.sizes.append(size)
            if size < 3:
                self.broken.append(f"the StatefulSet has {size} replicas")

    def _taken(self, name: str) -> None:
        """Record the deletion of a pod by any writer."""
        if not self.is_on:
            return
        self.taken.append(name)
        ill = [other for other, pod in self.pods.items() if other != name and not is_ready(pod)]
        if ill:
            self.broken.append(f"{name} was taken while {ill} were not ready")
        if int(name.rpartition("-")[2]) >= self.sizes[-1]:
            membership = self._database.membership("default", name)
            if membership != "decommissioned":
                self.broken.append(f"{name} left while it was {membership}")


def is_ready(pod: dict[str, Any]) -> bool:
    """Report whether the document of a pod says that it is ready. An empty document is for a pod that does not exist.
    """
    if "deletionTimestamp" in (pod.get("metadata") or {}):
        return False
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


class World:
    """A virtual cluster with the operator, its database and the budget."""

    def __init__(self, cluster: VirtualCluster, gates: str, dies_after: Callable[[int], bool], delay: Any) -> None:
        self.cluster = cluster
        self.client = cluster.client
        self.gates = features.FeatureGates(gates)
        self.database = simulated.SimulatedDatabase(cluster.client)
        self.budget = Budget(self.database)
        cluster.each_change(self.budget.look)
        self.operator = Program(cluster, self._run, dies_after=dies_after, delay=delay)

    def _run(self, life: Life) -> None:
        options = ctrl.Options(
            scheme=SCHEME,
            metrics=MetricsOptions(bind_address="0"),
            controller=Controller(skip_name_validation=True),
            # It takes a while to find out about all kinds, and they stay the same.
            mapper_provider=lambda config, http_client: self.cluster.client.rest_mapper(),
        )
        mgr = ctrl.new_manager(life.config, options)
        main.new_reconciler(mgr, MortalDatabase(life, self.database), self.gates).setup_with_manager(mgr)
        mgr.start(life.ctx)

    # ---- the user

    def get(self) -> Any:
        return self.client.get(CTX, KEY, v1alpha1.CrdbCluster)

    def change(self, change: Callable[[Any], None]) -> None:
        """Update the CrdbCluster; the operator may write it at the same time."""
        before = self.get()
        after = before.deep_copy()
        change(after)
        self.client.patch(CTX, after, ctrl.client.merge_from(before))

    def stateful_set(self) -> Any:
        return self.client.get(CTX, KEY, appsv1.StatefulSet)

    def annotate(self, pod: str, **annotations: str | None) -> None:
        found = self.client.get(CTX, ctrl.Request("default", pod), corev1.Pod)
        after = found.deep_copy()
        for name, value in annotations.items():
            if value is None:
                after.metadata.annotations.pop(f"simulator/{name}")
            else:
                after.metadata.annotations[f"simulator/{name}"] = value
        self.client.patch(CTX, after, ctrl.client.merge_from(found))

    # ---- what is to be seen

    def has_arrived(self, nodes: int = 3, image: str = IMAGE) -> bool:
        """Report whether the cluster has its wanted state and its status says so."""
        status = self.get().status
        true = {each.type for each in status.conditions if each.status == "True"}
        if status.cluster_status != "Running" or not {"Initialized", "CrdbVersionChecked"} <= true:
            return False
        if status.crdb_container_image != image or sorted(self.budget.pods) != [f"crdb-{n}" for n in range(nodes)]:
            return False
        if not all(
            is_ready(pod) and pod["spec"]["containers"][0]["image"] == image for pod in self.budget.pods.values()
        ):
            return False
        if self.client.list(CTX, batchv1.JobList).items:
            return False
        found = self.client.list(CTX, appsv1.StatefulSetList).items
        rolling = found[0].spec.update_strategy.rolling_update if found else None
        return bool(found) and not (rolling.partition if rolling else 0) and found[0].spec.replicas == nodes

    def until_arrived(self, nodes: int = 3, image: str = IMAGE) -> None:
        try:
            self.cluster.until(lambda: self.has_arrived(nodes, image))
        except AssertionError as err:
            last = "\n".join(self.operator.writes[-20:])
            raise AssertionError(f"has not arrived:\n{self.get().to_dict()['status']}\nlast writes:\n{last}") from err
        assert self.budget.broken == []


@contextlib.contextmanager
def operated(
    *, gates: str = "", dies_after: Callable[[int], bool] = never, delay: Any = lambda: 0.0
) -> Iterator[World]:
    """Run the operator, without a CrdbCluster."""
    with VirtualCluster(crds=CRDS, scheme=SCHEME) as cluster:
        world = World(cluster, gates, dies_after, delay)
        with world.operator:
            yield world
