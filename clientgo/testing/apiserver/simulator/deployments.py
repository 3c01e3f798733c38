"""Deployments: a ReplicaSet per template, rolled over within surge and unavailability, with revisions and status.

Does what Kubernetes' deployment controller does as far as a controller under study can see.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from clientgo import kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.documents import replace_document
from clientgo.context import Context
from clientgo.golang.strconv import atoi_clipped
from clientgo.testing.apiserver.simulator.ownership import adopt_and_release
from clientgo.testing.apiserver.simulator.revisions import hash_text
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record

KIND = appsv1.SCHEME_GROUP_VERSION.with_kind("Deployment")
POD_TEMPLATE_HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
_DESIRED = "deployment.kubernetes.io/desired-replicas"
_MOST = "deployment.kubernetes.io/max-replicas"
# Annotations of a Deployment that are not its ReplicaSets' as well.
_NOT_COPIED = {"kubectl.kubernetes.io/last-applied-configuration", REVISION, _DESIRED, _MOST}
_DEFAULT_HISTORY = 10


class Deployments:
    """A controller that syncs one Deployment at a time; called by one worker thread."""

    def __init__(self, client: kubernetes.Clientset, times: Times, recorder: record.EventRecorder) -> None:
        self._client = client
        self._times = times
        self._recorder = recorder

    def __repr__(self) -> str:
        return "<Deployments>"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Sync one Deployment once. Raises StatusError."""
        apps = self._client.apps_v1()
        deployments, sets = apps.deployments(namespace), apps.replica_sets(namespace)
        deployment = deployments.get(ctx, name)
        if deployment.metadata.deletion_timestamp is not None:
            return
        listed = sets.list(ctx, metav1.ListOptions()).items
        owned = adopt_and_release(ctx, listed, deployment, KIND, sets, deployments)
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
        """Return the ReplicaSet of the current template, with the highest revision."""
        sets = self._client.apps_v1().replica_sets(deployment.metadata.namespace)
        revision = str(max((_revision(rs) for rs in old), default=0) + 1)
        if new is None:
            new = sets.create(ctx, self._replica_set_of(deployment, revision))
        revision = str(max(int(revision), _revision(new)))
        annotations = {**new.metadata.annotations, **_annotations(deployment, revision)}
        if new.metadata.annotations != annotations:
            doc = new.to_dict()
            doc["metadata"]["annotations"] = annotations
            new = sets.update(ctx, appsv1.ReplicaSet.from_dict(doc))
        if deployment.metadata.annotations.get(REVISION) != revision:
            doc = deployment.to_dict()
            doc["metadata"].setdefault("annotations", {})[REVISION] = revision
            client = self._client.apps_v1().deployments(deployment.metadata.namespace)
            # The update queues the Deployment again; this round goes on with the new version.
            replace_document(deployment, client.update(ctx, appsv1.Deployment.from_dict(doc)).to_dict())
        return new

    def _replica_set_of(self, deployment: appsv1.Deployment, revision: str) -> appsv1.ReplicaSet:
        template = deployment.spec.template.to_dict()
        code = _template_hash(template)
        metadata = template.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), POD_TEMPLATE_HASH: code}
        assert deployment.spec.selector is not None  # validation demands one
        selector = deployment.spec.selector.to_dict()
        selector["matchLabels"] = {**(selector.get("matchLabels") or {}), POD_TEMPLATE_HASH: code}
        owner = metav1.new_controller_ref(deployment, KIND)
        return appsv1.ReplicaSet.from_dict(
            {
                "metadata": {
                    "name": f"{deployment.metadata.name}-{code}",
                    "namespace": deployment.metadata.namespace,
                    "labels": metadata["labels"],
                    "annotations": _annotations(deployment, revision),
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
        doc["metadata"].setdefault("annotations", {}).update(_sizes(deployment))
        updated = (
            self._client.apps_v1().replica_sets(rs.metadata.namespace).update(ctx, appsv1.ReplicaSet.from_dict(doc))
        )
        replace_document(rs, updated.to_dict())
        word = "up" if replicas > before else "down"
        message = f"Scaled {word} replica set {rs.metadata.name} from {before} to {replicas}"
        self._recorder.event(deployment, corev1.EVENT_TYPE_NORMAL, "ScalingReplicaSet", message)

    def _roll(
        self, ctx: Context, deployment: appsv1.Deployment, new: appsv1.ReplicaSet, old: list[appsv1.ReplicaSet]
    ) -> None:
        """Move one step towards the new ReplicaSet, within the limits of surge and unavailability."""
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
        """Remove unhealthy replicas of old ReplicaSets at once, healthy ones as the new ones become available.

        The sizes bound both, because a status may not show the result of an earlier round yet.
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
    """Return a condition whose times change only together with its status."""
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


def _revision(rs: appsv1.ReplicaSet) -> int:
    text = rs.metadata.annotations.get(REVISION, "0")
    return atoi_clipped(text) if text.isascii() and text.isdigit() else 0


def _annotations(deployment: appsv1.Deployment, revision: str) -> dict[str, str]:
    """Return the annotations of the current template's ReplicaSet: the Deployment's annotations, and sizes."""
    copied = {name: text for name, text in deployment.metadata.annotations.items() if name not in _NOT_COPIED}
    return {**copied, REVISION: revision, **_sizes(deployment)}


def _sizes(deployment: appsv1.Deployment) -> dict[str, str]:
    wanted = deployment.spec.replicas or 0
    return {_DESIRED: str(wanted), _MOST: str(wanted + _rolling_limits(deployment)[0])}


def _plain_template(template: Json) -> Json:
    """Return a pod template without the label that the controller adds."""
    metadata = dict(template.get("metadata") or {})
    labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name != POD_TEMPLATE_HASH}
    metadata["labels"] = labels
    return {**template, "metadata": metadata}


def _template_hash(template: Json) -> str:
    return hash_text(_plain_template(template))


def _rolling_limits(deployment: appsv1.Deployment) -> tuple[int, int]:
    """Return maxSurge (rounded up) and maxUnavailable (rounded down) in pods. At least one is positive."""
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
    return rounded(atoi_clipped(value.rstrip("%")) * wanted / 100)
