"""A living cluster without a cluster: Deployments get ReplicaSets, ReplicaSets get Pods, Pods become Ready.

Three small controllers and a make-believe kubelet, written with this library's own informers, listers and work queues.
They do what Kubernetes' deployment and replicaset controllers do as far as a controller under study can see: rolling
updates within maxSurge and maxUnavailable, revisions, status and conditions, rollbacks, graceful deletion.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Iterable
from typing import Any

from clientgo import context, informers, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.context import Context
from clientgo.kubernetes import scheme
from clientgo.kubernetes.typed.core import v1 as typedcorev1
from clientgo.rest import Config
from clientgo.testing.apiserver.jsonio import dumps_sorted
from clientgo.testing.apiserver.server import Server
from clientgo.tools import cache, record
from clientgo.util import workqueue

Json = dict[str, Any]
Key = str

NODE = "simulated-node"
POD_TEMPLATE_HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SYNC_TIMEOUT = 30.0
_DEFAULT_HISTORY = 10


class Loop:
    """A work queue with one worker thread that syncs keys; a key that fails comes back after a growing delay."""

    def __init__(self, name: str, sync: Callable[[Context, str, str], None]) -> None:
        self._name = name
        self._sync = sync
        limiter: workqueue.TypedRateLimiter[Key] = workqueue.new_typed_item_exponential_failure_rate_limiter(0.005, 5.0)
        self.queue = workqueue.new_typed_rate_limiting_queue(limiter)
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<Loop {self._name} {self.queue.len()} queued>"

    def enqueue(self, obj: Any) -> None:
        self.queue.add(cache.deletion_handling_meta_namespace_key_func(obj))

    def start(self, ctx: Context) -> None:
        self._thread = threading.Thread(target=self._run, args=(ctx,), name=f"simulator-{self._name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.queue.shut_down()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, ctx: Context) -> None:
        while True:
            key, shutdown = self.queue.get()
            if shutdown:
                return
            namespace, _, name = key.rpartition("/")
            try:
                self._sync(ctx, namespace, name)
            except Exception as err:
                if ctx.err() is None and not errors.is_conflict(err) and not errors.is_not_found(err):
                    utilruntime.handle_error_with_context(ctx, err, "Simulation failed", loop=self._name, key=key)
                self.queue.add_rate_limited(key)
            else:
                self.queue.forget(key)
            finally:
                self.queue.done(key)


class Simulator:
    """Runs against a server of this process. A context manager; start() and stop() block until done.

    `ready_delay`: seconds from a pod's binding to its being Ready.
    """

    def __init__(self, server: Server, *, ready_delay: float = 1.0) -> None:
        self._ready_delay = ready_delay
        self._clock = server.clock
        self._times = server.times
        config = Config(host=server.url, bearer_token=server.token, qps=-1, user_agent="kube-controller-manager")
        self._client = kubernetes.new_for_config(config)
        self._factory = informers.new_shared_informer_factory(self._client, 0)
        self._deployments = self._factory.apps().v1().deployments()
        self._replica_sets = self._factory.apps().v1().replica_sets()
        self._pods = self._factory.core().v1().pods()
        self._loops = {
            "Deployment": Loop("deployments", self._sync_deployment),
            "ReplicaSet": Loop("replicasets", self._sync_replica_set),
            "Pod": Loop("pods", self._sync_pod),
        }
        self._ctx, self._cancel = context.with_cancel(context.background())
        self._recorder: record.EventRecorder | None = None
        self._broadcaster: Any = None
        # When the pods that wait for their readiness were bound, by uid. Touched by the pod worker only.
        self._bound: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<Simulator {list(self._loops.values())}>"

    def __enter__(self) -> Simulator:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin; returns when the caches have synced."""
        self._make_node()
        self._broadcaster = record.new_broadcaster(record.with_context(self._ctx))
        self._broadcaster.start_recording_to_sink(typedcorev1.EventSinkImpl(self._client.core_v1().events("")))
        source = corev1.EventSource(component="deployment-controller")
        self._recorder = self._broadcaster.new_recorder(scheme.SCHEME, source)
        self._watch(self._deployments.informer(), "Deployment", "")
        self._watch(self._replica_sets.informer(), "ReplicaSet", "Deployment")
        self._watch(self._pods.informer(), "Pod", "ReplicaSet")
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

    def _watch(self, informer: cache.SharedIndexInformer, kind: str, owner_kind: str) -> None:
        """Queue an object of `kind` when it changes, and the owner that its controller reference names."""

        def changed(obj: Any) -> None:
            self._loops[kind].enqueue(obj)
            if isinstance(obj, cache.DeletedFinalStateUnknown):
                obj = obj.obj
            owner = metav1.get_controller_of(obj) if owner_kind else None
            if owner is not None and owner.kind == owner_kind:
                self._loops[owner_kind].queue.add(f"{obj.get_namespace()}/{owner.name}")

        informer.add_event_handler(
            cache.ResourceEventHandlerFuncs(
                add_func=changed, update_func=lambda old, new: changed(new), delete_func=changed
            )
        )

    def _make_node(self) -> None:
        now = self._times.now_text()
        condition = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "simulated",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        capacity = {"cpu": "64", "memory": "256Gi", "pods": "10000"}
        addresses = [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": NODE}]
        info = {"kubeletVersion": "v1.36.0+simulated", "osImage": "none", "containerRuntimeVersion": "none://0"}
        status = {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [condition],
            "addresses": addresses,
            "nodeInfo": info,
        }
        nodes = self._client.core_v1().nodes()
        metadata = {"name": NODE, "labels": {"kubernetes.io/hostname": NODE}}
        try:
            node = nodes.create(self._ctx, corev1.Node.from_dict({"metadata": metadata}))
        except errors.StatusError as err:
            if not errors.is_already_exists(err):
                raise
            node = nodes.get(self._ctx, NODE)
        nodes.update_status(self._ctx, corev1.Node.from_dict({**node.to_dict(), "status": status}))

    # ---- the kubelet and the scheduler

    def _sync_pod(self, ctx: Context, namespace: str, name: str) -> None:
        try:
            pod = self._pods.lister().pods(namespace).get(name)
        except errors.StatusError:
            return
        if pod.metadata.deletion_timestamp is not None:
            self._bound.pop(pod.metadata.uid, None)
            options = metav1.DeleteOptions(
                grace_period_seconds=0, preconditions=metav1.Preconditions(uid=pod.metadata.uid)
            )
            self._client.core_v1().pods(namespace).delete(ctx, name, options)
        elif not pod.spec.node_name:
            self._bind(ctx, namespace, name)
        elif pod.status.phase in ("", "Pending") and pod.spec.node_name == NODE:
            self._run_pod(ctx, pod)

    def _bind(self, ctx: Context, namespace: str, name: str) -> None:
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace},
            "target": {"kind": "Node", "name": NODE},
        }
        request = self._client.core_v1().rest_client().post().namespace(namespace).resource("pods").name(name)
        request.sub_resource("binding").body(corev1.Binding.from_dict(binding)).do(ctx).error()

    def _run_pod(self, ctx: Context, pod: corev1.Pod) -> None:
        """Ready when its time has come; until then look again."""
        now = self._clock.now()
        bound = self._bound.setdefault(pod.metadata.uid, now)
        left = bound + self._ready_delay - now
        if left > 0:
            self._loops["Pod"].queue.add_after(f"{pod.metadata.namespace}/{pod.metadata.name}", left)
            return
        del self._bound[pod.metadata.uid]
        running = pod.to_dict()
        running["status"] = {**running.get("status", {}), **self._running_status(running)}
        self._client.core_v1().pods(pod.metadata.namespace).update_status(ctx, corev1.Pod.from_dict(running))

    def _running_status(self, pod: Json) -> Json:
        now = self._times.now_text()
        number = int(hashlib.sha256(pod["metadata"]["uid"].encode()).hexdigest()[:4], 16)
        address = f"10.244.{number // 250 % 250}.{number % 250 + 1}"
        conditions = [
            {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        ]
        statuses = [
            {
                "name": container["name"],
                "image": container.get("image", ""),
                "imageID": "",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": now}},
            }
            for container in pod["spec"].get("containers") or ()
        ]
        return {
            "phase": "Running",
            "conditions": conditions,
            "containerStatuses": statuses,
            "hostIP": "10.0.0.1",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "startTime": now,
        }

    # ---- ReplicaSets

    def _owned(self, objects: Iterable[Any], owner: Any) -> list[Any]:
        return [obj for obj in objects if metav1.is_controlled_by(obj, owner)]

    def _sync_replica_set(self, ctx: Context, namespace: str, name: str) -> None:
        """Create or delete pods until there are as many as asked for, then write the status.

        Pods are listed from the server, not from the cache: with one worker that makes expectations unnecessary.
        """
        sets = self._client.apps_v1().replica_sets(namespace)
        replica_set = sets.get(ctx, name)
        if replica_set.metadata.deletion_timestamp is not None:
            return
        pods = self._client.core_v1().pods(namespace)
        active = [
            pod
            for pod in self._owned(pods.list(ctx, metav1.ListOptions()).items, replica_set)
            if pod.metadata.deletion_timestamp is None and pod.status.phase not in ("Succeeded", "Failed")
        ]
        wanted = replica_set.spec.replicas or 0
        for _ in range(wanted - len(active)):
            pods.create(ctx, self._pod_of(replica_set))
        if len(active) > wanted:
            active.sort(key=_is_ready)
            for pod in active[: len(active) - wanted]:
                pods.delete(ctx, pod.metadata.name, metav1.DeleteOptions())
            active = active[len(active) - wanted :]
        ready = sum(map(_is_ready, active))
        status: Json = {"replicas": max(wanted, len(active)) if wanted > len(active) else len(active)}
        if status["replicas"]:
            status["fullyLabeledReplicas"] = status["replicas"]
        if ready:
            status["readyReplicas"] = status["availableReplicas"] = ready
        status["observedGeneration"] = replica_set.metadata.generation
        doc = replica_set.to_dict()
        if doc.get("status") != status:
            sets.update_status(ctx, appsv1.ReplicaSet.from_dict({**doc, "status": status}))

    def _pod_of(self, replica_set: appsv1.ReplicaSet) -> corev1.Pod:
        template = replica_set.spec.template.to_dict()
        metadata = dict(template.get("metadata") or {})
        metadata["generateName"] = f"{replica_set.metadata.name}-"
        owner = metav1.new_controller_ref(replica_set, appsv1.SCHEME_GROUP_VERSION.with_kind("ReplicaSet"))
        metadata["ownerReferences"] = [owner.to_dict()]
        return corev1.Pod.from_dict({"metadata": metadata, "spec": template.get("spec") or {}})

    # ---- Deployments

    def _sync_deployment(self, ctx: Context, namespace: str, name: str) -> None:
        deployments = self._client.apps_v1().deployments(namespace)
        try:
            deployment = deployments.get(ctx, name)
        except errors.StatusError as err:
            if errors.is_not_found(err):
                return
            raise
        if deployment.metadata.deletion_timestamp is not None:
            return
        sets = self._client.apps_v1().replica_sets(namespace)
        owned = self._owned(sets.list(ctx, metav1.ListOptions()).items, deployment)
        template = _plain_template(deployment.spec.template.to_dict())
        new = next((rs for rs in owned if _plain_template(rs.spec.template.to_dict()) == template), None)
        old = [rs for rs in owned if rs is not new]
        if not deployment.spec.paused:
            new = self._new_replica_set(ctx, deployment, new, old)
            self._roll(ctx, deployment, new, old)
            self._forget_old(ctx, deployment, old)
        self._write_status(ctx, deployment, new, old)

    def _new_replica_set(
        self, ctx: Context, deployment: appsv1.Deployment, new: appsv1.ReplicaSet | None, old: list[appsv1.ReplicaSet]
    ) -> appsv1.ReplicaSet:
        """The ReplicaSet of the current template, with the highest revision."""
        sets = self._client.apps_v1().replica_sets(deployment.metadata.namespace)
        revision = str(max((_revision(rs) for rs in old), default=0) + 1)
        if new is None:
            new = sets.create(ctx, self._replica_set_of(deployment, revision))
        elif _revision(new) < int(revision):
            doc = new.to_dict()
            doc["metadata"].setdefault("annotations", {})[REVISION] = revision
            new = sets.update(ctx, appsv1.ReplicaSet.from_dict(doc))
        revision = new.metadata.annotations.get(REVISION, revision)
        if deployment.metadata.annotations.get(REVISION) != revision:
            doc = deployment.to_dict()
            doc["metadata"].setdefault("annotations", {})[REVISION] = revision
            client = self._client.apps_v1().deployments(deployment.metadata.namespace)
            # The update queues the Deployment again; this round goes on with the new version.
            deployment._document.update(client.update(ctx, appsv1.Deployment.from_dict(doc)).to_dict())
        return new

    def _replica_set_of(self, deployment: appsv1.Deployment, revision: str) -> appsv1.ReplicaSet:
        template = deployment.spec.template.to_dict()
        code = _template_hash(template)
        metadata = template.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), POD_TEMPLATE_HASH: code}
        assert deployment.spec.selector is not None  # validation demands one
        selector = deployment.spec.selector.to_dict()
        selector["matchLabels"] = {**(selector.get("matchLabels") or {}), POD_TEMPLATE_HASH: code}
        owner = metav1.new_controller_ref(deployment, appsv1.SCHEME_GROUP_VERSION.with_kind("Deployment"))
        annotations = {
            REVISION: revision,
            "deployment.kubernetes.io/desired-replicas": str(deployment.spec.replicas or 0),
        }
        if "kubernetes.io/change-cause" in deployment.metadata.annotations:
            annotations["kubernetes.io/change-cause"] = deployment.metadata.annotations["kubernetes.io/change-cause"]
        return appsv1.ReplicaSet.from_dict(
            {
                "metadata": {
                    "name": f"{deployment.metadata.name}-{code}",
                    "namespace": deployment.metadata.namespace,
                    "labels": metadata["labels"],
                    "annotations": annotations,
                    "ownerReferences": [owner.to_dict()],
                },
                "spec": {"replicas": 0, "selector": selector, "template": template},
            }
        )

    def _scale(self, ctx: Context, deployment: appsv1.Deployment, rs: appsv1.ReplicaSet, replicas: int) -> None:
        before = rs.spec.replicas or 0
        if before == replicas:
            return
        doc = rs.to_dict()
        doc["spec"]["replicas"] = replicas
        updated = (
            self._client.apps_v1().replica_sets(rs.metadata.namespace).update(ctx, appsv1.ReplicaSet.from_dict(doc))
        )
        rs._document.clear()
        rs._document.update(updated.to_dict())
        word = "up" if replicas > before else "down"
        assert self._recorder is not None
        message = f"Scaled {word} replica set {rs.metadata.name} from {before} to {replicas}"
        self._recorder.event(deployment, corev1.EVENT_TYPE_NORMAL, "ScalingReplicaSet", message)

    def _roll(
        self, ctx: Context, deployment: appsv1.Deployment, new: appsv1.ReplicaSet, old: list[appsv1.ReplicaSet]
    ) -> None:
        """One step towards the new ReplicaSet, within what surge and unavailability allow."""
        wanted = deployment.spec.replicas or 0
        if deployment.spec.strategy.type == "Recreate":
            for rs in old:
                self._scale(ctx, deployment, rs, 0)
            if not any(rs.status.replicas for rs in old):
                self._scale(ctx, deployment, new, wanted)
            return
        surge, unavailable = _rolling_limits(deployment)
        total = sum(rs.spec.replicas or 0 for rs in (new, *old))
        size = new.spec.replicas or 0
        if size > wanted:
            self._scale(ctx, deployment, new, wanted)
        elif size < wanted and total < wanted + surge:
            self._scale(ctx, deployment, new, min(wanted, size + wanted + surge - total))
        self._scale_down_old(ctx, deployment, new, old, wanted - unavailable)

    def _scale_down_old(
        self,
        ctx: Context,
        deployment: appsv1.Deployment,
        new: appsv1.ReplicaSet,
        old: list[appsv1.ReplicaSet],
        least_available: int,
    ) -> None:
        """Unhealthy replicas of old ReplicaSets go at once, healthy ones as the new ones become available.

        The sizes bound both: a status may not show yet what an earlier round has scaled down.
        """
        sizes = sum(rs.spec.replicas or 0 for rs in (new, *old))
        unavailable = max(0, (new.spec.replicas or 0) - new.status.available_replicas)
        most = sizes - unavailable - least_available
        spare = sum(rs.status.available_replicas for rs in (new, *old)) - least_available
        for rs in sorted(old, key=_revision):
            size = rs.spec.replicas or 0
            unhealthy = min(max(0, size - rs.status.available_replicas), max(0, most))
            most -= unhealthy
            healthy = max(0, min(size - unhealthy, spare, most))
            most -= healthy
            spare -= healthy
            self._scale(ctx, deployment, rs, size - unhealthy - healthy)

    def _forget_old(self, ctx: Context, deployment: appsv1.Deployment, old: list[appsv1.ReplicaSet]) -> None:
        limit = deployment.spec.revision_history_limit
        empty = [rs for rs in sorted(old, key=_revision) if not rs.spec.replicas and not rs.status.replicas]
        surplus = len(empty) - (_DEFAULT_HISTORY if limit is None else limit)
        for rs in empty[: max(0, surplus)]:
            sets = self._client.apps_v1().replica_sets(rs.metadata.namespace)
            sets.delete(ctx, rs.metadata.name, metav1.DeleteOptions())

    def _write_status(
        self,
        ctx: Context,
        deployment: appsv1.Deployment,
        new: appsv1.ReplicaSet | None,
        old: list[appsv1.ReplicaSet],
    ) -> None:
        sets = [rs for rs in (new, *old) if rs is not None]
        wanted = deployment.spec.replicas or 0
        total = sum(rs.status.replicas for rs in sets)
        available = sum(rs.status.available_replicas for rs in sets)
        counts = {
            "replicas": total,
            "updatedReplicas": new.status.replicas if new is not None else 0,
            "readyReplicas": sum(rs.status.ready_replicas for rs in sets),
            "availableReplicas": available,
            "unavailableReplicas": max(0, wanted - available),
        }
        doc = deployment.to_dict()
        before = doc.get("status") or {}
        status: Json = {"observedGeneration": deployment.metadata.generation}
        status.update((name, number) for name, number in counts.items() if number)
        least = wanted - _rolling_limits(deployment)[1]
        status["conditions"] = self._conditions(before, new, available >= least, wanted, counts)
        if status != before:
            client = self._client.apps_v1().deployments(deployment.metadata.namespace)
            client.update_status(ctx, appsv1.Deployment.from_dict({**doc, "status": status}))

    def _conditions(
        self, before: Json, new: appsv1.ReplicaSet | None, available: bool, wanted: int, counts: dict[str, int]
    ) -> list[Json]:
        if available:
            first = ("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
        else:
            text = "Deployment does not have minimum availability."
            first = ("Available", "False", "MinimumReplicasUnavailable", text)
        name = new.metadata.name if new is not None else ""
        done = counts["updatedReplicas"] == counts["availableReplicas"] == counts["replicas"] == wanted
        if done:
            second = (
                "Progressing",
                "True",
                "NewReplicaSetAvailable",
                f'ReplicaSet "{name}" has successfully progressed.',
            )
        else:
            second = ("Progressing", "True", "ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.')
        known = {condition.get("type"): condition for condition in before.get("conditions") or ()}
        now = self._times.now_text()
        return [
            _condition(known.get(kind), kind, status, reason, text, now)
            for kind, status, reason, text in (first, second)
        ]


def _condition(before: Json | None, kind: str, status: str, reason: str, message: str, now: str) -> Json:
    """A condition whose times move only when it does."""
    if before is not None and (before.get("status"), before.get("reason"), before.get("message")) == (
        status,
        reason,
        message,
    ):
        return before
    moved = before is None or before.get("status") != status
    transition = now if moved or before is None else before.get("lastTransitionTime", now)
    return {
        "type": kind,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": transition,
        "reason": reason,
        "message": message,
    }


def _is_ready(pod: corev1.Pod) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


def _revision(rs: appsv1.ReplicaSet) -> int:
    text = rs.metadata.annotations.get(REVISION, "0")
    return int(text) if text.isdigit() else 0


def _plain_template(template: Json) -> Json:
    """A pod template without what the controller itself adds."""
    metadata = dict(template.get("metadata") or {})
    labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name != POD_TEMPLATE_HASH}
    metadata["labels"] = labels
    return {**template, "metadata": metadata}


def _template_hash(template: Json) -> str:
    number = int(hashlib.sha256(dumps_sorted(_plain_template(template))).hexdigest()[:12], 16)
    out = ""
    for _ in range(10):
        number, rest = divmod(number, len(_ALPHABET))
        out += _ALPHABET[rest]
    return out


def _rolling_limits(deployment: appsv1.Deployment) -> tuple[int, int]:
    """maxSurge (rounded up) and maxUnavailable (rounded down) in pods; not both are 0."""
    wanted = deployment.spec.replicas or 0
    if deployment.spec.strategy.type == "Recreate":
        return 0, 0
    rolling = (deployment.spec.strategy.to_dict().get("rollingUpdate")) or {}
    surge = _pods(rolling.get("maxSurge", "25%"), wanted, math.ceil)
    unavailable = min(_pods(rolling.get("maxUnavailable", "25%"), wanted, math.floor), wanted)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return surge, unavailable


def _pods(value: int | str, wanted: int, rounded: Callable[[float], int]) -> int:
    if isinstance(value, int):
        return value
    return rounded(int(value.rstrip("%")) * wanted / 100)


__all__ = ["NODE", "Simulator"]
