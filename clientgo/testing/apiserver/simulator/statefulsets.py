"""StatefulSets: pods with names that stay, started and ended in order, each with claims of its own.

Does what Kubernetes' statefulset controller does as far as a controller under study can see: ordered and parallel
management, rolling updates with a partition from the highest ordinal down, OnDelete, claims from templates and their
retention, revisions, status.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from clientgo import kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.testing.apiserver.simulator.ownership import adopt_and_release
from clientgo.testing.apiserver.simulator.pods import is_ready, ready_for
from clientgo.testing.apiserver.simulator.revisions import REVISION_HASH, Revisions, template_of
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record
from clientgo.utils.clock import RESOLUTION

KIND = appsv1.SCHEME_GROUP_VERSION.with_kind("StatefulSet")
POD_KIND = corev1.SCHEME_GROUP_VERSION.with_kind("Pod")
POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
_ORDINAL = re.compile(r"-(0|[1-9][0-9]*)$")


@dataclass
class _Round:
    """The state of one sync."""

    set: appsv1.StatefulSet
    # The revision before the last change of the template, and the revision of the present template.
    current: appsv1.ControllerRevision
    update: appsv1.ControllerRevision
    pods: dict[int, corev1.Pod]
    # Whether pods were created or deleted since `pods` were listed.
    acted: bool = False

    @property
    def start(self) -> int:
        ordinals = self.set.spec.ordinals
        return ordinals.start if ordinals is not None else 0

    @property
    def wanted(self) -> range:
        """The ordinals that there should be."""
        replicas = self.set.spec.replicas
        return range(self.start, self.start + (1 if replicas is None else replicas))

    @property
    def in_order(self) -> bool:
        return self.set.spec.pod_management_policy != "Parallel"

    @property
    def partition(self) -> int:
        """Ordinals below it keep the current revision."""
        rolling = self.set.spec.update_strategy.rolling_update
        return rolling.partition or 0 if rolling is not None else 0

    def revision_for(self, ordinal: int) -> appsv1.ControllerRevision:
        """Return the revision of a pod that is created now."""
        strategy = self.set.spec.update_strategy
        if strategy.type == "OnDelete":
            return self.update
        if strategy.rolling_update is None:
            return self.current if ordinal < self.start + self.set.status.current_replicas else self.update
        return self.current if ordinal < self.start + self.partition else self.update


class StatefulSets:
    """A controller that syncs one StatefulSet at a time; called by one worker thread."""

    def __init__(
        self,
        client: kubernetes.Clientset,
        times: Times,
        recorder: record.EventRecorder,
        look_again: Callable[[str, float], None],
    ) -> None:
        """Initialize the controller.

        `look_again(key, seconds)` queues a set for the time at which a ready pod becomes available.
        """
        self._client = client
        self._times = times
        self._recorder = recorder
        self._look_again = look_again
        self._revisions = Revisions(client, KIND)

    def __repr__(self) -> str:
        return "<StatefulSets>"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Move one step towards the set's specification, then update its status. Raises StatusError.

        Pods are listed from the server, not from the cache: with one worker that makes expectations unnecessary.
        """
        found = self._client.apps_v1().stateful_sets(namespace).get(ctx, name)
        known = self._revisions.of(ctx, found)
        update = self._revisions.current(ctx, found, known)
        by_name = {one.get_name(): one for one in [*known, update]}
        current = by_name.get(found.status.current_revision, update)
        round = _Round(found, current, update, self._pods_of(ctx, found))
        if found.metadata.deletion_timestamp is None:
            self._act(ctx, round)
        if round.acted:
            round.pods = self._pods_of(ctx, found)
        self._write_status(ctx, round)
        in_use = {f"{name}-{_hash(pod)}" for pod in round.pods.values()} | {current.get_name(), update.get_name()}
        self._revisions.forget_old(ctx, found, known, in_use)

    def _pods_of(self, ctx: Context, stateful_set: appsv1.StatefulSet) -> dict[int, corev1.Pod]:
        """Return the set's pods by ordinal. Pods with other names are not its pods, although its selector matches."""
        namespace, name = stateful_set.get_namespace(), stateful_set.get_name()
        pods, sets = self._client.core_v1().pods(namespace), self._client.apps_v1().stateful_sets(namespace)
        members = [pod for pod in pods.list(ctx, metav1.ListOptions()).items if _parent(pod) == name]
        claimed = adopt_and_release(ctx, members, stateful_set, KIND, pods, sets)
        return {int(pod.get_name().rpartition("-")[2]): pod for pod in claimed}

    def _act(self, ctx: Context, round: _Round) -> None:
        self._keep_claims_owned(ctx, round)
        if self._start(ctx, round) and self._delete_surplus(ctx, round):
            self._roll(ctx, round)

    def _start(self, ctx: Context, round: _Round) -> bool:
        """Create missing pods, the lowest ordinal first. Return False if the next pod must wait."""
        complete = True
        for ordinal in round.wanted:
            pod = round.pods.get(ordinal)
            if pod is not None and pod.status.phase in ("Succeeded", "Failed"):
                self._delete(ctx, round, pod)
                return False
            if pod is None:
                self._create(ctx, round, ordinal)
            waits = pod is None or pod.metadata.deletion_timestamp is not None or not self._is_available(round, pod)
            if waits and round.in_order:
                return False
            complete = complete and pod is not None
        return complete

    def _delete_surplus(self, ctx: Context, round: _Round) -> bool:
        """Delete surplus pods, the highest ordinal first. Return False if there is or was one."""
        surplus = sorted((ordinal for ordinal in round.pods if ordinal not in round.wanted), reverse=True)
        for ordinal in surplus:
            pod = round.pods[ordinal]
            if pod.metadata.deletion_timestamp is None:
                self._delete(ctx, round, pod)
            if round.in_order:
                return False
        return not surplus

    def _roll(self, ctx: Context, round: _Round) -> None:
        """Delete one pod of an older revision, the highest ordinal first, once all above it are healthy."""
        if round.set.spec.update_strategy.type == "OnDelete":
            return
        for ordinal in sorted(round.pods, reverse=True):
            if ordinal < round.start + round.partition:
                return
            pod = round.pods[ordinal]
            if pod.metadata.deletion_timestamp is not None:
                return
            if _hash(pod) != _code(round.update):
                self._delete(ctx, round, pod)
                return
            if not self._is_available(round, pod):
                return

    def _is_available(self, round: _Round, pod: corev1.Pod) -> bool:
        if not is_ready(pod):
            return False
        least = round.set.spec.min_ready_seconds
        left = least - ready_for(pod, self._times) if least else 0.0
        if left > RESOLUTION:
            self._look_again(f"{round.set.get_namespace()}/{round.set.get_name()}", left)
        return left <= RESOLUTION

    def _create(self, ctx: Context, round: _Round, ordinal: int) -> None:
        namespace, name = round.set.get_namespace(), f"{round.set.get_name()}-{ordinal}"
        round.acted = True
        for claim in _claims_of(round, ordinal):
            self._create_claim(ctx, round, name, claim)
        self._client.core_v1().pods(namespace).create(ctx, _pod_of(round, ordinal), metav1.CreateOptions())
        self._event(round, "SuccessfulCreate", f"create Pod {name} in StatefulSet {round.set.get_name()} successful")

    def _create_claim(self, ctx: Context, round: _Round, pod: str, claim: corev1.PersistentVolumeClaim) -> None:
        if _goes_with_set(round):
            # Immediately: the set may be deleted before the next sync of its claims.
            claim.metadata.owner_references = [metav1.new_controller_ref(round.set, KIND)]
        try:
            self._client.core_v1().persistent_volume_claims(round.set.get_namespace()).create(ctx, claim)
        except errors.StatusError as err:
            if errors.is_already_exists(err):
                return
            raise
        text = f"create Claim {claim.get_name()} Pod {pod} in StatefulSet {round.set.get_name()} success"
        self._event(round, "SuccessfulCreate", text)

    def _delete(self, ctx: Context, round: _Round, pod: corev1.Pod) -> None:
        round.acted = True
        self._client.core_v1().pods(pod.get_namespace()).delete(ctx, pod.get_name(), metav1.DeleteOptions())
        text = f"delete Pod {pod.get_name()} in StatefulSet {round.set.get_name()} successful"
        self._event(round, "SuccessfulDelete", text)

    def _keep_claims_owned(self, ctx: Context, round: _Round) -> None:
        """Let the collector take the claims that the retention policy gives up, with the set or with a pod."""
        if not round.pods or not round.set.spec.volume_claim_templates:
            return
        policy = round.set.spec.persistent_volume_claim_retention_policy
        with_set = _goes_with_set(round)
        with_pod = policy is not None and policy.when_scaled == "Delete"
        client = self._client.core_v1().persistent_volume_claims(round.set.get_namespace())
        claims = {claim.get_name(): claim for claim in client.list(ctx, metav1.ListOptions()).items}
        for ordinal, pod in round.pods.items():
            owners: list[Json] = []
            if ordinal not in round.wanted and with_pod:
                owners.append(metav1.new_controller_ref(pod, POD_KIND).to_dict())
            elif with_set:
                owners.append(metav1.new_controller_ref(round.set, KIND).to_dict())
            for name in (claim.get_name() for claim in _claims_of(round, ordinal)):
                ours = {round.set.metadata.uid, pod.metadata.uid}
                changed = _with_owners(claims[name], ours, owners) if name in claims else None
                if changed is not None:
                    client.update(ctx, changed, metav1.UpdateOptions())

    def _event(self, round: _Round, reason: str, message: str) -> None:
        self._recorder.event(round.set, corev1.EVENT_TYPE_NORMAL, reason, message)

    def _write_status(self, ctx: Context, round: _Round) -> None:
        document = round.set.to_dict()
        status = self._status(round)
        if status != (document.get("status") or {}):
            client = self._client.apps_v1().stateful_sets(round.set.get_namespace())
            client.update_status(ctx, appsv1.StatefulSet.from_dict({**document, "status": status}))

    def _status(self, round: _Round) -> Json:
        remaining = [pod for pod in round.pods.values() if pod.metadata.deletion_timestamp is None]
        ready = [pod for pod in remaining if is_ready(pod)]
        current, update = _code(round.current), _code(round.update)
        counts = {
            "readyReplicas": len(ready),
            "currentReplicas": sum(_hash(pod) == current for pod in remaining),
            "updatedReplicas": sum(_hash(pod) == update for pod in remaining),
        }
        name = round.current.get_name()
        is_rolling = round.set.spec.update_strategy.type != "OnDelete"
        size = len(round.wanted)
        if is_rolling and not round.partition and counts["updatedReplicas"] == len(ready) == len(round.pods) == size:
            name = round.update.get_name()
            counts["currentReplicas"] = counts["updatedReplicas"]
        return {
            "observedGeneration": round.set.metadata.generation,
            "replicas": len(round.pods),
            **{key: count for key, count in counts.items() if count},
            "currentRevision": name,
            "updateRevision": round.update.get_name(),
            "collisionCount": 0,
            "availableReplicas": sum(self._is_available(round, pod) for pod in ready),
        }


def _parent(pod: corev1.Pod) -> str | None:
    """Return the name of the set to which a pod of this name belongs, or None."""
    ordinal = _ORDINAL.search(pod.get_name())
    return pod.get_name()[: ordinal.start()] if ordinal is not None else None


def _hash(pod: corev1.Pod) -> str:
    """Return the revision hash of the pod's template."""
    return pod.metadata.labels.get(REVISION_HASH, "").rpartition("-")[2]


def _code(revision: appsv1.ControllerRevision) -> str:
    return revision.get_name().rpartition("-")[2]


def _with_owners(
    claim: corev1.PersistentVolumeClaim, ours: set[str], owners: list[Json]
) -> corev1.PersistentVolumeClaim | None:
    """Return the claim with `owners` in place of those with our uids, or None if it has them already."""
    document = claim.to_dict()
    before = document["metadata"].get("ownerReferences") or []
    after = [owner for owner in before if owner.get("uid") not in ours] + owners
    if after == before:
        return None
    document["metadata"]["ownerReferences"] = after
    return corev1.PersistentVolumeClaim.from_dict(document)


def _goes_with_set(round: _Round) -> bool:
    """Report whether claims are deleted with the set."""
    policy = round.set.spec.persistent_volume_claim_retention_policy
    return policy is not None and policy.when_deleted == "Delete"


def _claims_of(round: _Round, ordinal: int) -> list[corev1.PersistentVolumeClaim]:
    """Return the claims of one pod, from the set's templates."""
    selector = round.set.spec.selector
    labels = dict(selector.match_labels) if selector is not None else {}
    claims = []
    for template in round.set.spec.volume_claim_templates:
        document = template.to_dict()
        document.pop("status", None)
        metadata = dict(document.get("metadata") or {})
        name = f"{metadata.get('name', '')}-{round.set.get_name()}-{ordinal}"
        metadata |= {"name": name, "namespace": round.set.get_namespace()}
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
        claims.append(corev1.PersistentVolumeClaim.from_dict({**document, "metadata": metadata}))
    return claims


def _pod_of(round: _Round, ordinal: int) -> corev1.Pod:
    """Return the pod of an ordinal, which determines its name, host name, labels and volumes."""
    revision = round.revision_for(ordinal)
    template = template_of(revision)
    name = f"{round.set.get_name()}-{ordinal}"
    metadata = dict(template.get("metadata") or {})
    metadata |= {"name": name, "namespace": round.set.get_namespace()}
    own = {POD_NAME: name, POD_INDEX: str(ordinal), REVISION_HASH: revision.get_name()}
    metadata["labels"] = {**(metadata.get("labels") or {}), **own}
    metadata["ownerReferences"] = [metav1.new_controller_ref(round.set, KIND).to_dict()]
    spec = dict(template.get("spec") or {})
    spec |= {"hostname": name, "subdomain": round.set.spec.service_name}
    claimed = {claim.metadata.name: f"{claim.metadata.name}-{name}" for claim in round.set.spec.volume_claim_templates}
    others = [volume for volume in spec.get("volumes") or () if volume.get("name") not in claimed]
    own_volumes = [{"name": key, "persistentVolumeClaim": {"claimName": claim}} for key, claim in claimed.items()]
    if others or own_volumes:
        spec["volumes"] = [*own_volumes, *others]
    return corev1.Pod.from_dict({"metadata": metadata, "spec": spec})
