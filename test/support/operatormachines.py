"""The programs under cmd/, apart from sample-controller, as machines of `clientgo.testing.controllertest`.

Each machine's `program` is entered while the machine runs: the programs have modules of the same names.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st
from processes import ROOT
from programs import ImportedProgram

from clientgo import controller_runtime as ctrl
from clientgo import kubernetes, rest
from clientgo.apimachinery.runtime import Scheme
from clientgo.context import Context
from clientgo.controller_runtime import cache
from clientgo.controller_runtime import config as ctrlconfig
from clientgo.controller_runtime.metrics import server as metricsserver
from clientgo.testing import controllertest as ct

NETWORK_CONTROLLER = ImportedProgram("network-controller")
with NETWORK_CONTROLLER:
    network_main = NETWORK_CONTROLLER.module("main")
    network_controller = NETWORK_CONTROLLER.module("controller")
    neutron = NETWORK_CONTROLLER.module("neutron")
    network_clientset = NETWORK_CONTROLLER.module("pkg.client.clientset.versioned")
    network_informers = NETWORK_CONTROLLER.module("pkg.client.informers.externalversions")

POD_CONTROLLER = ImportedProgram("pod-controller")
with POD_CONTROLLER:
    pod_main = POD_CONTROLLER.module("main")

GUESTBOOK_OPERATOR = ImportedProgram("guestbook-operator")
with GUESTBOOK_OPERATOR:
    guestbook_main = GUESTBOOK_OPERATOR.module("main")
    guestbook_controller = GUESTBOOK_OPERATOR.module("controller")


RESYNC_PERIOD = 40.0  # virtual seconds: less than `quiet_for`


def new_manager(config: rest.Config, scheme: Scheme) -> ctrl.Manager:
    options = ctrl.Options(
        scheme=scheme,
        # A manager resyncs after ten hours. Until then a part that is created and deleted while its watch is broken
        # stays absent, here and in Go, if the history is gone afterwards: no event tells of it.
        cache=cache.Options(sync_period=RESYNC_PERIOD),
        metrics=metricsserver.Options(bind_address="0"),
        # Each life of an operator is a manager in this process.
        controller=ctrlconfig.Controller(skip_name_validation=True),
    )
    return ctrl.new_manager(config, options)


class ProgramMachine(ct.ControllerMachine):
    """A machine of one program."""

    program: ClassVar[ImportedProgram]


class Networks(ProgramMachine):
    """network-controller: each Network has a network in Neutron, which outlives the controller."""

    program = NETWORK_CONTROLLER
    crds = (ROOT / "cmd/network-controller/crd/network.yaml",)

    def new_outside(self) -> Any:
        return neutron.MemoryNeutron()

    def start(self, config: rest.Config, ctx: Context) -> None:
        kube, networks = kubernetes.new_for_config(config), network_clientset.new_for_config(config)
        factory = network_informers.new_shared_informer_factory(networks, network_main.RESYNC_PERIOD)
        informer = factory.samplecrd().v1().networks()
        controller = network_controller.new_controller(kube, networks, informer, self.outside)
        factory.start(ctx.done())
        try:
            controller.run(network_main.WORKERS, ctx.done())
        finally:
            factory.shutdown()
            kube.close()
            networks.close()

    def desired(self) -> st.SearchStrategy[ct.Step]:
        gateway = st.sampled_from(("10.0.0.1", "10.0.0.2"))
        spec = st.fixed_dictionaries({"cidr": st.just("10.0.0.0/8"), "gateway": gateway})
        return ct.objects("samplecrd.k8s.io/v1", "Network", spec=spec)

    @ct.eventually()
    def neutron_has_the_networks(self, cluster: ct.Cluster) -> None:
        wanted = {
            (each["metadata"]["namespace"], each["metadata"]["name"]): each["spec"]["gateway"]
            for each in cluster.list("Network")
        }
        assert {key: network.gateway for key, network in self.outside.list().items()} == wanted


class Pods(ProgramMachine):
    """pod-controller: it prints the events of Pods, and writes nothing to the cluster."""

    program = POD_CONTROLLER

    def new_outside(self) -> Any:
        return []

    def start(self, config: rest.Config, ctx: Context) -> None:
        client = kubernetes.new_for_config(config)
        controller = pod_main.new_pod_controller(client)
        # Its output is the result: the last line about each Pod.
        controller.sync_to_stdout = lambda key: self.outside.append((key, self.version(controller, key)))
        try:
            controller.run(ctx, 1)
        finally:
            client.close()

    @staticmethod
    def version(controller: Any, key: str) -> str:
        """Return the version of the cached Pod, or "" for one that does not exist anymore."""
        pod, exists = controller.indexer.get_by_key(key)
        return pod.get_resource_version() if exists else ""

    def desired(self) -> st.SearchStrategy[ct.Step]:
        image = st.sampled_from(("web:1", "web:2"))
        spec = image.map(lambda each: {"containers": [{"name": "web", "image": each}]})
        return ct.objects("v1", "Pod", names=("a", "b", "mypod"), spec=spec)

    @ct.eventually()
    def the_last_line_about_each_pod_is_true(self, cluster: ct.Cluster) -> None:
        printed = {key: version for key, version in self.outside if version}
        printed |= {key: "" for key, version in dict(self.outside).items() if not version}
        exist = {f"default/{each['metadata']['name']}" for each in cluster.list("Pod")}
        for each in cluster.list("Pod"):
            key = f"default/{each['metadata']['name']}"
            assert printed.get(key) == each["metadata"]["resourceVersion"], f"{key}: {self.outside}"
        # The deletion of a Pod that a dead controller printed stays unknown to the next one.
        self.outside[:] = [line for line in self.outside if line[0] in exist]


class Guestbooks(ProgramMachine):
    """guestbook-operator: each Guestbook has a Deployment, a Service and an entry in a directory outside."""

    program = GUESTBOOK_OPERATOR
    crds = (ROOT / "cmd/guestbook-operator/config/crd/guestbooks.yaml",)

    def new_outside(self) -> Any:
        return MemoryDirectory()

    def start(self, config: rest.Config, ctx: Context) -> None:
        mgr = new_manager(config, guestbook_main.new_scheme())
        reconciler = guestbook_controller.GuestbookReconciler(
            client=mgr.get_client(),
            scheme=mgr.get_scheme(),
            recorder=mgr.get_event_recorder("guestbook-controller"),
            directory=self.outside,
        )
        reconciler.setup_with_manager(mgr)
        mgr.start(ctx)

    def desired(self) -> st.SearchStrategy[ct.Step]:
        spec = st.fixed_dictionaries(
            {"size": st.integers(1, 2), "image": st.just("guestbook:1.0"), "port": st.sampled_from((80, 8080))}
        )
        return ct.objects("webapp.example.com/v1", "Guestbook", spec=spec)

    @ct.eventually()
    def deployment_service_and_entry_follow(self, cluster: ct.Cluster) -> None:
        wanted = {}
        for each in cluster.list("Guestbook"):
            name, spec = each["metadata"]["name"], each["spec"]
            deployments, services = (cluster.owned_by(each, kind) for kind in ("Deployment", "Service"))
            assert [found["spec"]["replicas"] for found in deployments] == [spec["size"]]
            assert [found["spec"]["ports"][0]["port"] for found in services] == [spec["port"]]
            wanted[f"default/{name}"] = f"http://{name}.default:{spec['port']}"
        assert self.outside.entries() == wanted


class MemoryDirectory:
    """The directory of guestbooks without a file."""

    def __init__(self) -> None:
        self._entries: dict[str, str] = {}

    def entries(self) -> dict[str, str]:
        return dict(self._entries)

    def register(self, name: str, address: str) -> bool:
        changes = self._entries.get(name) != address
        self._entries[name] = address
        return changes

    def unregister(self, name: str) -> bool:
        return self._entries.pop(name, None) is not None
