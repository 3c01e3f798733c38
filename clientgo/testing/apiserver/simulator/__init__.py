"""A simulated cluster: workloads get Pods, Pods become Ready, claims get volumes, and Services get addresses.

Small controllers and a simulated kubelet, written with this library's own informers, listers and work queues. To other
controllers they behave like Kubernetes' controllers: rolling updates within maxSurge and maxUnavailable, revisions,
status and conditions, rollbacks, graceful deletion, StatefulSets in order, DaemonSets, Jobs and CronJobs, disruption
budgets, autoscaling by given metrics. Annotations make Pods fail (pods.py). Containers are small scripted processes,
for `kubectl logs`, `exec`, `attach`, `cp` and `port-forward` (containers.py, shell.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from clientgo import context, informers, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang.http import RoundTripper
from clientgo.kubernetes import scheme
from clientgo.kubernetes.typed.core import v1 as typedcorev1
from clientgo.rest import Config
from clientgo.testing.apiserver.server import Server
from clientgo.testing.apiserver.simulator.autoscalers import Autoscalers
from clientgo.testing.apiserver.simulator.budgets import Budgets
from clientgo.testing.apiserver.simulator.claims import Claims, claim_names
from clientgo.testing.apiserver.simulator.containers import Containers
from clientgo.testing.apiserver.simulator.cronjobs import CronJobs
from clientgo.testing.apiserver.simulator.daemonsets import DaemonSets
from clientgo.testing.apiserver.simulator.deployments import REVISION, Deployments
from clientgo.testing.apiserver.simulator.endpoints import Endpoints
from clientgo.testing.apiserver.simulator.jobs import Jobs
from clientgo.testing.apiserver.simulator.loop import Loop
from clientgo.testing.apiserver.simulator.nodes import Nodes
from clientgo.testing.apiserver.simulator.ownership import ADOPTING, selects
from clientgo.testing.apiserver.simulator.pods import NODE, Pods
from clientgo.testing.apiserver.simulator.replicasets import ReplicaSets
from clientgo.testing.apiserver.simulator.scheduler import Scheduler
from clientgo.testing.apiserver.simulator.statefulsets import StatefulSets
from clientgo.testing.apiserver.simulator.volumes import Volumes
from clientgo.tools import cache, record

__all__ = ["NODE", "REVISION", "Simulator"]


class Simulator:
    """Runs against a server of this process. A context manager; start() and stop() block until done.

    `ready_delay`: seconds from a pod's binding to its being Ready. `transport`: the way to a server without a port.

    """

    def __init__(
        self, server: Server, *, ready_delay: float = 1.0, transport: RoundTripper | None = None
    ) -> None:
        self._ready_delay = ready_delay
        self._times = server.times
        self._server = server
        self._containers = Containers(server.times)
        config = Config(
            host=server.url,
            bearer_token=server.token,
            qps=-1,
            user_agent="kube-controller-manager",
            transport=transport,
        )
        self._client = kubernetes.new_for_config(config)
        self._factory = informers.new_shared_informer_factory(self._client, 0)
        self._loops: dict[str, Loop] = {}
        self._indexers: dict[str, cache.Indexer] = {}
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
        self._server.run_containers(self._containers)
        for loop in self._loops.values():
            loop.start(self._ctx)

    def stop(self) -> None:
        """End all threads. Idempotent."""
        self._server.run_containers(None)
        self._containers.stop()
        self._cancel()
        for loop in self._loops.values():
            loop.stop()
        self._factory.shutdown()
        if self._broadcaster is not None:
            self._broadcaster.shutdown()
            self._broadcaster = None
        self._client.close()

    def _make_controllers(self) -> None:
        """Create one loop for each kind, with the informers that feed it."""
        client, times, loops = self._client, self._times, self._loops
        pods, nodes = self._factory.core().v1().pods(), self._factory.core().v1().nodes()
        budgets = self._factory.policy().v1().pod_disruption_budgets()

        deployments = Deployments(client, times, self._recorder("deployment-controller"))
        replica_sets = ReplicaSets(client, self._recorder("replicaset-controller"))
        jobs = Jobs(client, times, self._recorder("job-controller"))
        scheduler = Scheduler(client, nodes.lister(), times, self._recorder("default-scheduler"))
        kubelet = Pods(client, pods.lister(), scheduler, times, self._recorder, self._later("Pod"), self._ready_delay)
        guard = Budgets(client, budgets.lister(), times)
        loops["Deployment"] = Loop("deployments", deployments.sync)
        loops["ReplicaSet"] = Loop("replicasets", replica_sets.sync)
        loops["Job"] = Loop("jobs", jobs.sync)
        loops["Pod"] = Loop("pods", kubelet.sync)
        loops["PodDisruptionBudget"] = Loop("budgets", guard.sync)
        loops["Node"] = Loop("nodes", Nodes(client).sync)
        kubelet.make_node(self._ctx)
        self._make_stateful(pods.informer(), nodes.informer())
        self._make_periodic()
        self._make_endpoints()

        self._watch(self._factory.apps().v1().deployments().informer(), "Deployment")
        self._watch(self._factory.apps().v1().replica_sets().informer(), "ReplicaSet", "Deployment")
        self._watch(self._factory.batch().v1().jobs().informer(), "Job", "CronJob")
        self._watch(pods.informer(), "Pod", "ReplicaSet", "Job", "StatefulSet", "DaemonSet")
        self._run_containers(pods.informer())
        self._watch(budgets.informer(), "PodDisruptionBudget")
        self._watch(nodes.informer(), "Node")
        self._each_change(pods.informer(), lambda pod: self._queue("PodDisruptionBudget", guard.keys_of(pod)))
        self._each_change(nodes.informer(), lambda node: self._queue_all("Pod", pods.lister()))

    def _run_containers(self, pods: cache.SharedIndexInformer) -> None:
        """Let the containers follow the changes of their pods."""

        def deleted(obj: Any) -> None:
            pod = obj.obj if isinstance(obj, cache.DeletedFinalStateUnknown) else obj
            self._containers.gone(pod.to_dict())

        pods.add_event_handler(
            cache.ResourceEventHandlerFuncs(
                add_func=lambda pod: self._containers.observe(pod.to_dict()),
                update_func=lambda old, new: self._containers.observe(new.to_dict()),
                delete_func=deleted,
            )
        )

    def _make_stateful(self, pods: cache.SharedIndexInformer, nodes: cache.SharedIndexInformer) -> None:
        """Create the controllers of StatefulSets, DaemonSets and claims."""
        apps, claims = self._factory.apps().v1(), self._factory.core().v1().persistent_volume_claims()
        recorder = self._recorder("statefulset-controller")
        stateful_sets = StatefulSets(self._client, self._times, recorder, self._later("StatefulSet"))
        daemon_sets = DaemonSets(self._client, self._recorder("daemonset-controller"))
        binder = Claims(self._client, self._recorder("persistentvolume-controller"))
        binder.make_storage_class(self._ctx)
        self._loops["StatefulSet"] = Loop("statefulsets", stateful_sets.sync)
        self._loops["DaemonSet"] = Loop("daemonsets", daemon_sets.sync)
        self._loops["PersistentVolumeClaim"] = Loop("claims", binder.sync)
        self._loops["PersistentVolume"] = Loop("volumes", Volumes(self._client).sync)
        pod_lister = self._factory.core().v1().pods().lister()

        def changed_claim(claim: corev1.PersistentVolumeClaim) -> None:
            waiting = pod_lister.pods(claim.get_namespace()).list(labels.everything())
            names = (pod.get_name() for pod in waiting if claim.get_name() in claim_names(pod))
            self._queue("Pod", [f"{claim.get_namespace()}/{name}" for name in names])

        def used_claims(pod: corev1.Pod) -> None:
            self._queue("PersistentVolumeClaim", [f"{pod.get_namespace()}/{name}" for name in claim_names(pod)])

        self._watch(apps.stateful_sets().informer(), "StatefulSet")
        self._watch(apps.daemon_sets().informer(), "DaemonSet")
        self._watch(claims.informer(), "PersistentVolumeClaim")
        self._watch(self._factory.core().v1().persistent_volumes().informer(), "PersistentVolume")
        self._each_change(claims.informer(), changed_claim)
        self._each_change(pods, used_claims)
        self._each_change(nodes, lambda node: self._queue_all("DaemonSet", apps.daemon_sets().lister()))

    def _make_periodic(self) -> None:
        """Create the controllers that act by the clock."""
        recorder = self._recorder("cronjob-controller")
        cron_jobs = CronJobs(self._client, self._times, recorder, self._later("CronJob"))
        name = "HorizontalPodAutoscaler"
        recorder = self._recorder("horizontal-pod-autoscaler")
        autoscalers = Autoscalers(self._client, self._times, recorder, self._later(name))
        self._loops["CronJob"] = Loop("cronjobs", cron_jobs.sync)
        self._loops[name] = Loop("autoscalers", autoscalers.sync)
        self._watch(self._factory.batch().v1().cron_jobs().informer(), "CronJob")
        self._watch(self._factory.autoscaling().v2().horizontal_pod_autoscalers().informer(), name)

    def _make_endpoints(self) -> None:
        services, pods = self._factory.core().v1().services(), self._factory.core().v1().pods()
        endpoints = Endpoints(self._client, services.lister(), pods.lister())
        self._loops["Service"] = Loop("endpoints", endpoints.sync)
        self._watch(services.informer(), "Service")
        self._each_change(pods.informer(), lambda pod: self._queue("Service", endpoints.keys_of(pod)))

    def _recorder(self, component: str) -> record.EventRecorder:
        assert self._broadcaster is not None
        return self._broadcaster.new_recorder(scheme.SCHEME, corev1.EventSource(component=component))

    def _later(self, kind: str) -> Callable[[str, float], None]:
        """Return a function that queues a key of this kind after a number of seconds."""
        return lambda key, seconds: self._loops[kind].queue.add_after(key, seconds)

    def _queue(self, kind: str, keys: Iterable[str]) -> None:
        for key in keys:
            self._loops[kind].queue.add(key)

    def _queue_all(self, kind: str, lister: Any) -> None:
        """Queue all objects of the kind, after a change that can affect each of them.

        An example is a node that accepts pods again.
        """
        for obj in lister.list(labels.everything()):
            self._loops[kind].enqueue(obj)

    def _watch(self, informer: cache.SharedIndexInformer, kind: str, *owner_kinds: str) -> None:
        """Queue an object of `kind` when it changes, and the owner that its controller reference names."""

        self._indexers[kind] = informer.get_indexer()

        def changed(obj: Any) -> None:
            self._loops[kind].enqueue(obj)
            owner = metav1.get_controller_of(obj) if owner_kinds else None
            if owner is not None and owner.kind in owner_kinds:
                self._loops[owner.kind].queue.add(f"{obj.get_namespace()}/{owner.name}")
            elif owner is None:
                for owner_kind in ADOPTING.intersection(owner_kinds):
                    self._queue_adopters(owner_kind, obj)

        self._each_change(informer, changed)

    def _queue_adopters(self, kind: str, orphan: Any) -> None:
        """Queue the objects of a kind whose selector matches an object without a controller."""
        for owner in self._indexers[kind].by_index(cache.NAMESPACE_INDEX, orphan.get_namespace()):
            if selects(owner, orphan):
                self._loops[kind].enqueue(owner)

    @staticmethod
    def _each_change(informer: cache.SharedIndexInformer, changed: Any) -> None:
        def deleted(obj: Any) -> None:
            changed(obj.obj if isinstance(obj, cache.DeletedFinalStateUnknown) else obj)

        informer.add_event_handler(
            cache.ResourceEventHandlerFuncs(
                add_func=changed, update_func=lambda old, new: changed(new), delete_func=deleted
            )
        )
