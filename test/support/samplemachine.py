"""The sample-controller as a machine of `clientgo.testing.controllertest`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hypothesis import strategies as st
from processes import ROOT

sys.path.insert(0, str(ROOT / "cmd" / "sample-controller"))

from clientgo import informers, kubernetes, rest
from clientgo.context import Context
from clientgo.testing import controllertest as ct
from controller import new_controller
from pkg.generated.clientset import versioned as clientset
from pkg.generated.informers import externalversions

API_VERSION = "samplecontroller.k8s.io/v1alpha1"


def foo(name: str, replicas: int, deployment: str = "") -> ct.Set:
    """Return the step that sets a Foo, by default with a Deployment of the same name."""
    spec = {"deploymentName": deployment or f"{name}-deployment", "replicas": replicas}
    return ct.Set({"apiVersion": API_VERSION, "kind": "Foo", "metadata": {"name": name}, "spec": spec})


class StrictSampleMachine(ct.ControllerMachine):
    """The controller as its main function runs it, with all checks."""

    crds = (ROOT / "cmd/sample-controller/artifacts/examples/crd.yaml",)

    def start(self, config: rest.Config, ctx: Context) -> None:
        kube, sample = kubernetes.new_for_config(config), clientset.new_for_config(config)
        factories = (
            informers.new_shared_informer_factory(kube, 30.0),
            externalversions.new_shared_informer_factory(sample, 30.0),
        )
        controller = new_controller(
            ctx,
            kube,
            sample,
            factories[0].apps().v1().deployments(),
            factories[1].samplecontroller().v1alpha1().foos(),
        )
        for factory in factories:
            factory.start_with_context(ctx)
        try:
            controller.run(ctx, 2)
        finally:
            for factory in factories:
                factory.shutdown()
            kube.close()
            sample.close()

    def desired(self) -> st.SearchStrategy[ct.Step]:
        replicas = st.sampled_from((1, 2, 3))
        return st.one_of(*(self._foos(name, replicas) for name in ("a", "b")))

    @staticmethod
    def _foos(name: str, replicas: st.SearchStrategy[int]) -> st.SearchStrategy[ct.Step]:
        deployment = st.just(f"{name}-deployment")
        spec = st.fixed_dictionaries({"deploymentName": deployment, "replicas": replicas})
        return ct.objects(API_VERSION, "Foo", names=[name], spec=spec)

    @ct.invariant()
    def no_deployment_has_two_owners(self, cluster: ct.Cluster) -> None:
        for deployment in cluster.list("Deployment"):
            owners = deployment["metadata"].get("ownerReferences", [])
            assert len(owners) == 1, f"{deployment['metadata']['name']} has {len(owners)} owners"

    @ct.eventually()
    def each_foo_has_its_deployment(self, cluster: ct.Cluster) -> None:
        for foo in cluster.list("Foo"):
            owned = {each["metadata"]["name"]: each["spec"]["replicas"] for each in cluster.owned_by(foo, "Deployment")}
            assert owned.get(foo["spec"]["deploymentName"]) == foo["spec"]["replicas"]


class SampleMachine(StrictSampleMachine):
    """The controller without the checks that its Go original violates too.

    * lost update: `syncHandler` updates the Deployment with a new object, without the fields of other writers and
      without a resourceVersion.
    * idle writes: `updateFooStatus` compares nothing before its UpdateStatus, so each resync writes.

    A third defect ends with its fault. With an old cache the controller sees a deleted Foo, or its predecessor of the
    same name. `syncHandler` creates a Deployment with the uid of that Foo as its owner. The garbage collector deletes
    it, and the handler of the deletion queues the Foo with `Add`, without the backoff of `AddRateLimited`. In Go only
    the client's limit of five requests a second slows this loop down; the machine does the same. Some outages last long
    enough for the 250 errors of the check backoff.

    The fourth one needs no fault: a Deployment stays after a change of `deploymentName`. `desired` does not change it.
    """

    skip: Sequence[str] = ("idle writes", "lost update", "backoff")
