"""A living cluster without a cluster: Deployments get ReplicaSets, ReplicaSets and Jobs get Pods, Pods become Ready.

Small controllers and a make-believe kubelet, written with this library's own informers, listers and work queues. They
do what Kubernetes' controllers do as far as a controller under study can see: rolling updates within maxSurge and
maxUnavailable, revisions, status and conditions, rollbacks, graceful deletion, Jobs, disruption budgets.
"""

from __future__ import annotations

from typing import Any

from clientgo import context, informers, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import scheme
from clientgo.kubernetes.typed.core import v1 as typedcorev1
from clientgo.listers.core import v1 as listers
from clientgo.rest import Config
from clientgo.testing.apiserver.server import Server
from clientgo.testing.apiserver.simulator.budgets import Budgets
from clientgo.testing.apiserver.simulator.deployments import REVISION, Deployments
from clientgo.testing.apiserver.simulator.jobs import Jobs
from clientgo.testing.apiserver.simulator.loop import Loop
from clientgo.testing.apiserver.simulator.pods import NODE, Pods
from clientgo.testing.apiserver.simulator.replicasets import ReplicaSets
from clientgo.testing.apiserver.simulator.scheduler import Scheduler
from clientgo.tools import cache, record

__all__ = ["NODE", "REVISION", "Simulator"]


class Simulator:
    """Runs against a server of this process. A context manager; start() and stop() block until done.

    `ready_delay`: seconds from a pod's binding to its being Ready.
    """

    def __init__(self, server: Server, *, ready_delay: float = 1.0) -> None:
        self._ready_delay = ready_delay
        self._times = server.times
        config = Config(host=server.url, bearer_token=server.token, qps=-1, user_agent="kube-controller-manager")
        self._client = kubernetes.new_for_config(config)
        self._factory = informers.new_shared_informer_factory(self._client, 0)
        self._loops: dict[str, Loop] = {}
        self._ctx, self._cancel = context.with_cancel(context.background())
        self._broadcaster: record.EventBroadcaster | None = None

    def __repr__(self) -> str:
        return f"<Simulator {list(self._loops.values())}>"

    def __enter__(self) -> Simulator:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin; returns when the caches have synced."""
        self._broadcaster = record.new_broadcaster(record.with_context(self._ctx))
        self._broadcaster.start_recording_to_sink(typedcorev1.EventSinkImpl(self._client.core_v1().events("")))
        self._make_controllers()
        self._factory.start(self._ctx.done())
        self._factory.wait_for_cache_sync(self._ctx.done())
        for loop in self._loops.values():
            loop.start(self._ctx)

    def stop(self) -> None:
        """End all threads. Idempotent."""
        self._cancel()
        for loop in self._loops.values():
            loop.stop()
        self._factory.shutdown()
        if self._broadcaster is not None:
            self._broadcaster.shutdown()
            self._broadcaster = None
        self._client.close()

    def _make_controllers(self) -> None:
        """One loop for each kind, fed by what changes."""
        client, times, loops = self._client, self._times, self._loops
        pods, nodes = self._factory.core().v1().pods(), self._factory.core().v1().nodes()
        budgets = self._factory.policy().v1().pod_disruption_budgets()

        deployments = Deployments(client, times, self._recorder("deployment-controller"))
        replica_sets = ReplicaSets(client, self._recorder("replicaset-controller"))
        jobs = Jobs(client, times, self._recorder("job-controller"))
        scheduler = Scheduler(client, nodes.lister(), times, self._recorder("default-scheduler"))
        kubelet = Pods(client, pods.lister(), scheduler, times, self._recorder, self._look_again, self._ready_delay)
        guard = Budgets(client, budgets.lister(), times)
        loops["Deployment"] = Loop("deployments", deployments.sync)
        loops["ReplicaSet"] = Loop("replicasets", replica_sets.sync)
        loops["Job"] = Loop("jobs", jobs.sync)
        loops["Pod"] = Loop("pods", kubelet.sync)
        loops["PodDisruptionBudget"] = Loop("budgets", guard.sync)
        kubelet.make_node(self._ctx)

        self._watch(self._factory.apps().v1().deployments().informer(), "Deployment")
        self._watch(self._factory.apps().v1().replica_sets().informer(), "ReplicaSet", "Deployment")
        self._watch(self._factory.batch().v1().jobs().informer(), "Job")
        self._watch(pods.informer(), "Pod", "ReplicaSet", "Job")
        self._watch(budgets.informer(), "PodDisruptionBudget")
        self._each_change(pods.informer(), lambda pod: self._queue_budgets(guard, pod))
        self._each_change(nodes.informer(), lambda node: self._queue_pods(pods.lister()))

    def _recorder(self, component: str) -> record.EventRecorder:
        assert self._broadcaster is not None
        return self._broadcaster.new_recorder(scheme.SCHEME, corev1.EventSource(component=component))

    def _look_again(self, key: str, seconds: float) -> None:
        self._loops["Pod"].queue.add_after(key, seconds)

    def _queue_pods(self, lister: listers.PodLister) -> None:
        """A changed node may take pods now, or drive them away."""
        for pod in lister.list(labels.everything()):
            self._loops["Pod"].enqueue(pod)

    def _queue_budgets(self, guard: Budgets, pod: Any) -> None:
        for key in guard.keys_of(pod):
            self._loops["PodDisruptionBudget"].queue.add(key)

    def _watch(self, informer: cache.SharedIndexInformer, kind: str, *owner_kinds: str) -> None:
        """Queue an object of `kind` when it changes, and the owner that its controller reference names."""

        def changed(obj: Any) -> None:
            self._loops[kind].enqueue(obj)
            owner = metav1.get_controller_of(obj) if owner_kinds else None
            if owner is not None and owner.kind in owner_kinds:
                self._loops[owner.kind].queue.add(f"{obj.get_namespace()}/{owner.name}")

        self._each_change(informer, changed)

    @staticmethod
    def _each_change(informer: cache.SharedIndexInformer, changed: Any) -> None:
        def deleted(obj: Any) -> None:
            changed(obj.obj if isinstance(obj, cache.DeletedFinalStateUnknown) else obj)

        informer.add_event_handler(
            cache.ResourceEventHandlerFuncs(
                add_func=changed, update_func=lambda old, new: changed(new), delete_func=deleted
            )
        )
