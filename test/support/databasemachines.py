"""The operators of databases as machines of `clientgo.testing.controllertest`: CrdbClusters and Elasticsearches.

The simulator runs their StatefulSets. The databases in the pods are those that the programs simulate: they outlive each
life of the operator.
"""

from __future__ import annotations

from typing import Any

from cockroachclusters import IMAGE, NEWER, features, simulated
from cockroachclusters import PROGRAM as COCKROACH_OPERATOR
from cockroachclusters import main as cockroach_main
from hypothesis import strategies as st
from operatormachines import ProgramMachine, new_manager
from processes import ROOT
from programs import ImportedProgram

from clientgo import rest
from clientgo.context import Context
from clientgo.testing import controllertest as ct

ELASTICSEARCH_OPERATOR = ImportedProgram("elasticsearch-operator")
with ELASTICSEARCH_OPERATOR:
    elasticsearch_main = ELASTICSEARCH_OPERATOR.module("main")
    elasticsearch_controller = ELASTICSEARCH_OPERATOR.module("elasticsearch.controller")
    elasticsearch_simulated = ELASTICSEARCH_OPERATOR.module("elasticsearch.simulated")

CRDB_SCHEME = cockroach_main.new_scheme()
ELASTIC_SCHEME = elasticsearch_main.new_scheme()
Json = dict[str, Any]


class Pods:
    """A reader that a simulated database keeps while operators come and go: it asks by the client of the living one."""

    def __init__(self) -> None:
        self.current: Any = None

    def get(self, *args: Any, **options: Any) -> Any:
        return self.current.get(*args, **options)

    def list(self, *args: Any, **options: Any) -> Any:
        return self.current.list(*args, **options)


class CrdbClusters(ProgramMachine):
    """cockroach-operator: a CrdbCluster is a StatefulSet whose nodes the database admits and lets go.

    It prunes volumes: without AutoPrunePVC, as by default, a node that comes back after its decommissioning gets the
    volume of the old one, which the database does not admit. The Go original has this defect too.
    """

    program = COCKROACH_OPERATOR
    crds = (ROOT / "cmd/cockroach-operator/config/crd/crdbclusters.yaml",)
    workloads = True
    # Volumes stay when their StatefulSet goes.
    keeps = ("persistentvolumeclaims",)
    max_rounds = 2
    gates = "AutoPrunePVC=true"

    def new_outside(self) -> Any:
        pods = Pods()
        return pods, simulated.SimulatedDatabase(pods)

    def start(self, config: rest.Config, ctx: Context) -> None:
        mgr = new_manager(config, CRDB_SCHEME)
        pods, database = self.outside
        pods.current = mgr.get_api_reader()
        cockroach_main.new_reconciler(mgr, database, features.FeatureGates(self.gates)).setup_with_manager(mgr)
        mgr.start(ctx)

    def desired(self) -> st.SearchStrategy[ct.Step]:
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        spec = st.fixed_dictionaries(
            {
                "nodes": st.sampled_from((3, 4)),
                "image": st.sampled_from((IMAGE, NEWER)).map(lambda name: {"name": name}),
                "dataStore": st.just({"pvc": {"spec": claim}}),
            }
        )
        return ct.objects("crdb.cockroachlabs.com/v1alpha1", "CrdbCluster", names=("a",), spec=spec)

    def normalize(self, obj: Json) -> Json:
        if obj["kind"] == "CrdbCluster":  # the latest result of each action that was ever necessary
            obj.get("status", {}).pop("operatorActions", None)
        return obj

    @ct.invariant()
    def no_set_has_fewer_than_three_nodes(self, cluster: ct.Cluster) -> None:
        for each in cluster.list("StatefulSet"):
            assert each["spec"]["replicas"] >= 3, f"{each['spec']['replicas']} replicas"

    @ct.eventually()
    def the_nodes_follow(self, cluster: ct.Cluster) -> None:
        _, database = self.outside
        volumes = {one["metadata"]["name"]: one["metadata"]["uid"] for one in cluster.list("PersistentVolumeClaim")}
        for each in cluster.list("CrdbCluster"):
            owned = cluster.owned_by(each, "StatefulSet")
            assert len(owned) == 1, f"{len(owned)} StatefulSets"
            found = owned[0]
            assert found["spec"]["replicas"] == each["spec"]["nodes"]
            assert found["status"].get("readyReplicas") == each["spec"]["nodes"]
            (container,) = found["spec"]["template"]["spec"]["containers"]
            assert container["image"] == each["spec"]["image"]["name"]
            for number in range(each["spec"]["nodes"]):
                # A node joins when the operator asks for the first time after its start.
                volume = volumes[f"datadir-a-{number}"]
                assert database.membership("default", f"a-{number}", volume) in ("", simulated.ACTIVE)


class Elasticsearches(ProgramMachine):
    """elasticsearch-operator: a StatefulSet for each set of nodes, and a cluster that keeps its data and its votes.

    While the cache has a deleted Elasticsearch whose name was taken by another one, the operator creates parts with the
    old uid as their owner. The garbage collector deletes them, and each deletion leads to the next attempt. The Go
    original has this defect too: its reconciler sets the controller reference from the cached object, and the events of
    owned objects queue it without a delay. `latency` slows the loop to client-go's limit of five requests a second.
    """

    program = ELASTICSEARCH_OPERATOR
    crds = (ROOT / "cmd/elasticsearch-operator/config/crd/elasticsearches.yaml",)
    workloads = True
    keeps = ("persistentvolumeclaims",)
    max_rounds = 2
    latency = 0.2

    def new_outside(self) -> Any:
        pods = Pods()
        nodes = elasticsearch_simulated.RunningNodes(pods)
        pace = elasticsearch_simulated.Pace().times(10.0)
        return pods, elasticsearch_simulated.SimulatedClients(nodes, indices=(("logs", 2, 0),), pace=pace)

    def start(self, config: rest.Config, ctx: Context) -> None:
        mgr = new_manager(config, ELASTIC_SCHEME)
        pods, clients = self.outside
        live = mgr.get_api_reader()
        pods.current = live
        elasticsearch_controller.ReconcileElasticsearch(
            client=mgr.get_client(),
            live=live,
            recorder=mgr.get_event_recorder("elasticsearch-controller"),
            clients=clients,
        ).setup_with_manager(mgr)
        mgr.start(ctx)

    def desired(self) -> st.SearchStrategy[ct.Step]:
        # Another rack restarts the nodes of the set one after the other. A downgrade would be refused.
        def data(count: int, rack: str) -> Json:
            config = {"node.roles": ["data", "ingest"], "node.attr.rack": rack}
            return {"name": "data", "count": count, "config": config}

        masters = {"name": "masters", "count": 3, "config": {"node.roles": ["master"]}}
        sets = st.builds(data, st.sampled_from((1, 2)), st.sampled_from(("r1", "r2")))
        spec = sets.map(lambda each: {"version": "8.11.0", "nodeSets": [masters, each]})
        return ct.objects("elasticsearch.k8s.elastic.co/v1", "Elasticsearch", names=("a",), spec=spec)

    def normalize(self, obj: Json) -> Json:
        if obj["kind"] == "StatefulSet":  # with OnDelete its revisions depend on the earlier ones
            del obj["status"]
        for name in ("cluster-uuid", "certificate-rotate-at"):
            obj["metadata"].get("annotations", {}).pop(f"elasticsearch.k8s.elastic.co/{name}", None)
        if obj["kind"] == "Secret":  # passwords and certificates are random
            obj["data"] = sorted(obj.get("data") or {})
        # The hash includes the uid of the owner.
        obj["metadata"].get("labels", {}).pop("common.k8s.elastic.co/template-hash", None)
        return obj

    @ct.eventually()
    def the_nodes_follow(self, cluster: ct.Cluster) -> None:
        for each in cluster.list("Elasticsearch"):
            wanted = {f"a-es-{nodes['name']}": nodes["count"] for nodes in each["spec"]["nodeSets"]}
            found = {one["metadata"]["name"]: one for one in cluster.owned_by(each, "StatefulSet")}
            assert {name: one["status"].get("readyReplicas") for name, one in found.items()} == wanted
