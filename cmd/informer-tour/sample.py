"""The sample-controller in the stepping tour: cmd/sample-controller itself, not a copy, in virtual time.

The program is built as in its main.py: two informers from two factories, the generated clientset, its own work queue
and event recorder. The script has the kubectl commands of the walkthrough in its README.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

from clientgo import informers as kubeinformers
from clientgo.api.apps import v1 as appsv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context, background
from clientgo.golang import http
from clientgo.kubernetes.typed.apps.v1 import DeploymentInterface
from clientgo.testing.apiserver import Server, read_manifests
from clientgo.tools import cache
from clientgo.tour.machine import Machine, Program
from clientgo.tour.replica import NAMESPACE, OrdinaryList, Process, Trouble
from clientgo.tour.replica import new_queue as tours_queue
from clientgo.tour.scenario import Scenario
from clientgo.tour.script import Step
from clientgo.tour.settings import Settings
from clientgo.tour.taps import worker_tap

SAMPLE = Path(__file__).resolve().parents[1] / "sample-controller"
# Behind this program, since both have a module `main`, and before the folder of the user, who may have a `controller`.
sys.path.insert(1, str(SAMPLE))

from controller import new_controller, new_queue  # noqa: E402
from pkg.apis.samplecontroller import v1alpha1 as samplev1alpha1  # noqa: E402
from pkg.generated.clientset import versioned as clientset  # noqa: E402
from pkg.generated.clientset.versioned.typed.samplecontroller.v1alpha1 import FooInterface  # noqa: E402
from pkg.generated.informers import externalversions as informers  # noqa: E402
from pkg.generated.informers.externalversions.samplecontroller.v1alpha1 import FooInformer  # noqa: E402
from pkg.generated.listers.samplecontroller.v1alpha1 import FooLister, new_foo_lister  # noqa: E402

__all__ = ["SCENARIO"]

_OWN = Settings(limiter="default", base_delay=0.005, resync=30.0, workers=2, watch_list=True, events=True)
"""The sample-controller's own settings: those of its main.py and its new_queue."""


class _TroubledFoos(FooInformer):
    """The informer of Foos with a lister that faults can break."""

    def __init__(self, foos: FooInformer, trouble: Trouble) -> None:
        self._foos = foos
        self._trouble = trouble

    def informer(self) -> cache.SharedIndexInformer:
        return self._foos.informer()

    def lister(self) -> FooLister:
        return new_foo_lister(cast(cache.Indexer, self._trouble))  # the controller only gets


class _Replica(Process):
    """One sample-controller, built as in its main.py."""

    def __init__(self, server: Server, transport: http.RoundTripper, name: str, settings: Settings) -> None:
        super().__init__(name, server, transport, settings, lease="sample-controller")
        self._example_client = clientset.new_for_config(self.config)
        self._kube_factory = kubeinformers.new_shared_informer_factory(self.client, settings.resync)
        self._example_factory = informers.new_shared_informer_factory(self._example_client, settings.resync)
        self._choose_the_machine(settings)
        foos = self._example_factory.samplecontroller().v1alpha1().foos()
        deployments = self._kube_factory.apps().v1().deployments()
        self.informers = [foos.informer(), deployments.informer()]
        self.trouble = Trouble(foos.informer().get_indexer())
        self._controller = new_controller(
            self.ctx,
            self.client,
            self._example_client,
            deployments,
            _TroubledFoos(foos, self.trouble),
            _queue(settings),
        )
        self.queue = self._controller.workqueue
        if settings.handlers > 1:
            foos.informer().add_event_handler(self.bystander)

    def _choose_the_machine(self, settings: Settings) -> None:
        """Register informers with the settings' FIFO in the factories, unless it is the sample-controller's own."""
        if (settings.fifo, settings.replace, settings.watch_list) == (_OWN.fifo, _OWN.replace, _OWN.watch_list):
            return
        foos = self._example_client.samplecontroller_v1alpha1().foos("")
        deployments = self.client.apps_v1().deployments("")
        self._example_factory.informer_for(
            samplev1alpha1.Foo, lambda _, resync: _informer(foos, samplev1alpha1.Foo(), resync, settings)
        )
        self._kube_factory.informer_for(
            appsv1.Deployment, lambda _, resync: _informer(deployments, appsv1.Deployment(), resync, settings)
        )

    def run(self, ctx: Context) -> None:
        self._kube_factory.start(ctx.done())
        self._example_factory.start(ctx.done())
        try:
            self._controller.run(ctx, self.settings.workers)
        except RuntimeError:
            if not ctx.done().is_set():  # else it stopped before its caches had synced
                raise
        finally:
            self._kube_factory.shutdown()
            self._example_factory.shutdown()

    def close(self) -> None:
        self._example_client.close()
        super().close()


def _informer(
    client: FooInterface | DeploymentInterface, example: Any, resync: float, settings: Settings
) -> cache.SharedIndexInformer:
    lw = cache.ListWatch(list_with_context_func=client.list, watch_func_with_context=client.watch)
    return cache.new_shared_index_informer_with_options(
        lw if settings.watch_list else OrdinaryList(lw),
        example,
        cache.SharedIndexInformerOptions(
            resync_period=resync,
            indexers={cache.NAMESPACE_INDEX: cache.meta_namespace_index_func},
            in_order=settings.fifo == "RealFIFO",
            emit_delta_type_replaced=settings.replace == "Replaced",
        ),
    )


def _queue(settings: Settings) -> Any:
    """Return the controller's own queue, or one of the settings."""
    own = (settings.queue, settings.limiter, settings.base_delay) == (_OWN.queue, _OWN.limiter, _OWN.base_delay)
    return new_queue() if own else tours_queue(settings)


# ---- the user's commands


def _foos(machine: Machine) -> FooInterface:
    return clientset.new_for_config(machine.outside_config).samplecontroller_v1alpha1().foos(NAMESPACE)


def _deployments(machine: Machine) -> DeploymentInterface:
    return machine.outside.apps_v1().deployments(NAMESPACE)


def _create(machine: Machine, step: Step) -> None:
    """Create the Foo of artifacts/examples/example-foo.yaml; its Deployment has a name of its own."""
    spec = samplev1alpha1.FooSpec(deployment_name=step.name.replace("foo", "nginx"), replicas=1)
    foo = samplev1alpha1.Foo(metadata=metav1.ObjectMeta(name=step.name), spec=spec)
    _foos(machine).create(background(), foo, metav1.CreateOptions())


def _scale(machine: Machine, step: Step) -> None:
    """Set the replicas in the Foo."""
    foo = _foos(machine).get(background(), step.name, metav1.GetOptions())
    foo.spec.replicas = int(step.text)
    _foos(machine).update(background(), foo, metav1.UpdateOptions())


def _delete(machine: Machine, step: Step) -> None:
    _foos(machine).delete(background(), step.name, metav1.DeleteOptions())


def _intervene(machine: Machine, step: Step) -> None:
    """Change the Deployment's replicas against the Foo's."""
    deployment = _deployments(machine).get(background(), step.name, metav1.GetOptions())
    deployment.spec.replicas = int(step.text)
    _deployments(machine).update(background(), deployment, metav1.UpdateOptions())


def _delete_deployment(machine: Machine, step: Step) -> None:
    _deployments(machine).delete(background(), step.name, metav1.DeleteOptions())


def _become_available(machine: Machine, step: Step) -> None:
    """Write the status that Kubernetes' own Deployment controller writes when the pods run."""
    deployment = _deployments(machine).get(background(), step.name, metav1.GetOptions())
    status, replicas = deployment.status, deployment.spec.replicas or 0
    status.replicas = status.updated_replicas = status.ready_replicas = status.available_replicas = replicas
    _deployments(machine).update_status(background(), deployment, metav1.UpdateOptions())


def _apply_crd(server: Server) -> None:
    for definition in read_manifests([SAMPLE / "artifacts" / "examples" / "crd.yaml"]):
        resource = server.registry.by_kind(definition["apiVersion"], definition["kind"])
        assert resource is not None  # every server has definitions
        server.create(resource, "", definition)


_PROGRAM = Program(
    worker=worker_tap("controller", "Controller.sync_handler", "controller.go", "(*Controller).syncHandler"),
    resources=("samplecontroller.k8s.io/foos", "apps/deployments"),
    new_replica=_Replica,
    verbs={
        "create": _create,
        "scale": _scale,
        "meddle": _intervene,
        "delete": _delete,
        "delete-deployment": _delete_deployment,
        "become-available": _become_available,
    },
    prepare=_apply_crd,
    switches=(
        "fifo",
        "replace",
        "queue",
        "limiter",
        "watch_list",
        "resync",
        "handlers",
        "workers",
        "replicas",
        "base_delay",
        "last",
    ),
)

SCENARIO = Scenario(
    name="sample-controller",
    title="The sample-controller, hop by hop",
    steps=[
        Step(2, "create", "example-foo"),
        Step(6, "become-available", "example-nginx"),
        Step(10, "scale", "example-foo", "2"),
        Step(14, "meddle", "example-nginx", "5"),
        Step(18, "delete-deployment", "example-nginx"),
        Step(22, "delete", "example-foo"),
    ],
    settings=_OWN,
    after=12.0,
    program=_PROGRAM,
)
"""The kubectl commands of the sample-controller's README."""
