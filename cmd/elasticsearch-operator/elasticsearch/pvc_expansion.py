"""Expansion of volumes. A StatefulSet's claim templates never change, so the operator recreates it around its pods.

Each step detects from the cluster's state whether it is the next one, so the operator may be killed at any time:

1. `check_claims` rejects changes other than growth, and growth that the storage class does not allow.
2. `handle_volume_expansion` increases the request of each claim that is too small. If the StatefulSet's templates are
   too small, it writes the expected StatefulSet into an annotation of the cluster.
3. `recreate_stateful_sets` follows that annotation. If the old StatefulSet exists, it deletes it and keeps the pods. If
   none exists, it creates the new one. Once this controls the pods, it removes the annotation.

With such an annotation the operator changes nothing else of the nodes, because pods without a StatefulSet would be
miscounted. While there is no StatefulSet, the cluster itself owns the pods and claims, so that its deletion
includes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.api.storage import v1 as storagev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.api.resource import Quantity, parse_quantity
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import DEFAULT_UNSTRUCTURED_CONVERTER
from clientgo.apimachinery.types import NamespacedName
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.controller_runtime.controller import controllerutil
from elasticsearch import label, names, sset, voting
from elasticsearch.expectations import Expectations
from elasticsearch.reconciler import get
from elasticsearch.state import Refused, State

T = TypeVar("T", bound=client.Object)

ONLY_GROWTH = (
    "volume claim templates can only have their storage requests increased, if the storage class allows volume "
    "expansion; any other change is forbidden"
)
_IS_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def storage_of(claim: corev1.PersistentVolumeClaim) -> Quantity:
    """Return the requested storage."""
    found = claim.spec.resources.requests.get("storage")
    return parse_quantity("0") if found is None else found


# ---- what can be asked for


def check_claims(
    ctx: Context, reader: client.Reader, expected: sset.StatefulSets, actual: sset.StatefulSets
) -> None:
    """Raise Refused when an existing StatefulSet would need a change of its volumes that is not allowed.

    Also raises StatusError.
    """
    for name, wanted in expected.items():
        if name in actual:
            _check_set(ctx, reader, wanted, actual[name])


def _check_set(
    ctx: Context, reader: client.Reader, wanted: appsv1.StatefulSet, found: appsv1.StatefulSet
) -> None:
    name = found.get_name()
    before, after = _templates(found), _templates(wanted)
    if _but_storage(before.values()) != _but_storage(after.values()):
        raise Refused(f"StatefulSet {name}: {ONLY_GROWTH}")
    for claim_name, claim in after.items():
        old, new = storage_of(before[claim_name]), storage_of(claim)
        if new < old:
            text = f"an attempt was made to decrease that of claim {claim_name} from {old} to {new}"
            raise Refused(f"StatefulSet {name}: decreasing storage size is not supported: {text}")
        if old < new:
            _check_class(ctx, reader, claim, name)


def _templates(stateful_set: appsv1.StatefulSet) -> dict[str, corev1.PersistentVolumeClaim]:
    return {claim.get_name(): claim for claim in stateful_set.spec.volume_claim_templates}


def _but_storage(claims: Iterable[corev1.PersistentVolumeClaim]) -> list[dict[str, Any]]:
    """Return the immutable parts of the claims in the server's spelling, without the server's additions."""
    return sorted(map(_fixed_part, claims), key=lambda each: str(each["name"]))


def _fixed_part(claim: corev1.PersistentVolumeClaim) -> dict[str, Any]:
    spec: dict[str, Any] = {"volumeMode": "Filesystem", **(claim.to_dict().get("spec") or {})}
    resources = claim.spec.resources
    spec["resources"] = {
        "limits": {name: str(quantity) for name, quantity in resources.limits.items()},
        "requests": {name: str(quantity) for name, quantity in resources.requests.items() if name != "storage"},
    }
    return {
        "name": claim.get_name(),
        "labels": dict(claim.get_labels()),
        "annotations": dict(claim.get_annotations()),
        "spec": spec,
    }


def _check_class(
    ctx: Context, reader: client.Reader, claim: corev1.PersistentVolumeClaim, stateful_set: str
) -> None:
    found = _class_of(ctx, reader, claim, stateful_set)
    if not found.allow_volume_expansion:
        text = f"claim {claim.get_name()} (storage class {found.get_name()}) does not support volume expansion"
        raise Refused(f"StatefulSet {stateful_set}: {text}")


def _class_of(
    ctx: Context, reader: client.Reader, claim: corev1.PersistentVolumeClaim, stateful_set: str
) -> storagev1.StorageClass:
    """Return the claim's storage class, or else the youngest default class."""
    if name := claim.spec.storage_class_name:
        try:
            return reader.get(ctx, NamespacedName("", name), storagev1.StorageClass)
        except errors.StatusError as err:
            client.ignore_not_found(err)
            raise Refused(f"StatefulSet {stateful_set}: cannot retrieve storage class: {err}") from err
    classes = reader.list(ctx, storagev1.StorageClassList).items
    defaults = [each for each in classes if any(each.get_annotations().get(key) == "true" for key in _IS_DEFAULT)]
    if not defaults:
        raise Refused(f"StatefulSet {stateful_set}: no default storage class found")
    return max(defaults, key=lambda each: str(each.metadata.creation_timestamp))


# ---- claims first


def handle_volume_expansion(
    ctx: Context,
    c: client.Client,
    es: Elasticsearch,
    wanted: appsv1.StatefulSet,
    found: appsv1.StatefulSet,
    state: State,
) -> bool:
    """Enlarge the claims of a StatefulSet, and report whether it must be recreated. Raises StatusError.

    Call `check_claims` first.
    """
    templates = _templates(wanted)
    for claim in _claims(ctx, c, found):
        template = templates.get(claim.get_name().removesuffix(f"-{found.get_name()}-{_ordinal(claim)}"))
        if template is not None and storage_of(claim) < storage_of(template):
            _grow(ctx, c, claim, storage_of(template))
    before = _templates(found)
    grown = [name for name, claim in templates.items() if storage_of(before[name]) < storage_of(claim)]
    if not grown:
        return False
    ctrl.logger_from(ctx).info(
        "Preparing StatefulSet re-creation to account for PVC resize", statefulset_name=found.get_name()
    )
    voting.annotate(ctx, c, es, {names.RECREATE + found.get_name(): _plan(wanted, found)})
    sizes = ", ".join(f"{name} from {storage_of(before[name])} to {storage_of(templates[name])}" for name in grown)
    note = f"Expanding the volumes of StatefulSet {found.get_name()}: {sizes}"
    state.add_event(corev1.EVENT_TYPE_NORMAL, "VolumeExpansion", "Resize", note)
    return True


def _claims(
    ctx: Context, reader: client.Reader, stateful_set: appsv1.StatefulSet
) -> list[corev1.PersistentVolumeClaim]:
    """Return the claims of its pods in the cache, by the labels of its selector."""
    chosen = client.MatchingLabels({label.STATEFUL_SET_NAME: stateful_set.get_name()})
    namespace = client.InNamespace(stateful_set.get_namespace())
    found = reader.list(ctx, corev1.PersistentVolumeClaimList, namespace, chosen).items
    return sorted(
        (claim for claim in found if claim.get_deletion_timestamp() is None), key=lambda claim: claim.get_name()
    )


def _ordinal(claim: corev1.PersistentVolumeClaim) -> str:
    return claim.get_name().rpartition("-")[2]


def _grow(ctx: Context, c: client.Client, claim: corev1.PersistentVolumeClaim, size: Quantity) -> None:
    """Request more storage for a claim.

    Some volumes only grow when their pods restart. The user knows which, and must restart these pods.
    """
    ctrl.logger_from(ctx).info(
        "Resizing PVC storage requests. Depending on the volume provisioner, Pods may need to be manually deleted "
        "for the filesystem to be resized.",
        pvc_name=claim.get_name(),
        old_value=str(storage_of(claim)),
        new_value=str(size),
    )

    def change(grown: corev1.PersistentVolumeClaim) -> None:
        grown.spec.resources.requests["storage"] = size

    _patch(ctx, c, claim, change)


def _patch(ctx: Context, c: client.Client, obj: T, change: Callable[[T], None]) -> None:
    """Patch a cached object. Raises StatusError, Conflict, if the server has a newer version."""
    changed = obj.deep_copy()
    change(changed)
    c.patch(ctx, changed, client.merge_from_with_options(obj, client.MergeFromWithOptimisticLock()))


# ---- then the StatefulSet


def _plan(wanted: appsv1.StatefulSet, found: appsv1.StatefulSet) -> str:
    """Return the existing StatefulSet with the wanted claims, and with its uid to distinguish it from later ones."""
    changed = appsv1.StatefulSet(
        metadata=metav1.ObjectMeta(
            namespace=found.get_namespace(),
            name=found.get_name(),
            uid=found.get_uid(),
            labels=dict(found.get_labels()),
            annotations=dict(found.get_annotations()),
            owner_references=found.get_owner_references(),
        ),
        spec=found.spec.deep_copy(),
    )
    changed.spec.volume_claim_templates = [claim.deep_copy() for claim in wanted.spec.volume_claim_templates]
    # Raises ValueError if JSON cannot hold a field of a newer server: the new StatefulSet would lack this field.
    text = Unstructured(DEFAULT_UNSTRUCTURED_CONVERTER.to_unstructured(changed)).marshal_json()
    return json.dumps(json.loads(text), sort_keys=True)


def _plans(es: Elasticsearch) -> dict[str, appsv1.StatefulSet]:
    """Return the recreations in progress, by annotation. Raises Refused for an annotation not written by the operator.
    """
    found = {}
    for annotation, text in sorted(es.get_annotations().items()):
        if not annotation.startswith(names.RECREATE):
            continue
        name = annotation.removeprefix(names.RECREATE)
        try:
            plan = appsv1.StatefulSet.from_dict(json.loads(text))
            fits = (plan.get_namespace(), plan.get_name()) == (es.get_namespace(), name) and bool(plan.get_uid())
        except (ValueError, TypeError, AttributeError, RecursionError):
            plan, fits = None, False
        if plan is None or not fits:
            raise Refused(f"annotation {annotation} is no StatefulSet {name} to be created again")
        found[annotation] = plan
    return found


def recreate_stateful_sets(
    ctx: Context, c: client.Client, es: Elasticsearch, expectations: Expectations
) -> list[str]:
    """Run the next step of each StatefulSet's recreation, and return the names of the unfinished ones.

    Raises Refused, StatusError.
    """
    unfinished = []
    for annotation, plan in _plans(es).items():
        found = get(ctx, c, plan)
        if found is None:
            _create(ctx, c, plan, expectations)
        elif found.get_uid() == plan.get_uid():
            _delete(ctx, c, es, found)
        elif _has_taken_over(ctx, c, found):
            _leave_to(ctx, c, es, found)
            voting.annotate(ctx, c, es, {annotation: None})
            continue
        unfinished.append(plan.get_name())
    return unfinished


def _delete(ctx: Context, c: client.Client, es: Elasticsearch, found: appsv1.StatefulSet) -> None:
    if found.get_deletion_timestamp() is not None:
        return
    for obj in _owned(ctx, c, found):
        if not controllerutil.has_owner_reference(obj.get_owner_references(), es, c.scheme()):
            _patch(ctx, c, obj, lambda changed: controllerutil.set_owner_reference(es, changed, c.scheme()))
    ctrl.logger_from(ctx).info(
        "Deleting StatefulSet to account for resized PVCs, it will be recreated automatically",
        statefulset_name=found.get_name(),
    )
    try:
        # The uid protects a new StatefulSet that the cache does not have yet.
        c.delete(ctx, found, client.PropagationPolicy("Orphan"), client.Preconditions(uid=found.get_uid()))
    except errors.StatusError as err:
        if not errors.is_conflict(err):
            client.ignore_not_found(err)


def _create(ctx: Context, c: client.Client, plan: appsv1.StatefulSet, expectations: Expectations) -> None:
    ctrl.logger_from(ctx).info(
        "Re-creating StatefulSet to account for resized PVCs", statefulset_name=plan.get_name()
    )
    made = plan.deep_copy()
    made.set_uid("")
    c.create(ctx, made)
    expectations.generations.expect_generation(made)


def _has_taken_over(ctx: Context, reader: client.Reader, found: appsv1.StatefulSet) -> bool:
    """Report whether its controller has observed it and it controls the pods."""
    if found.status.observed_generation != found.get_generation():
        return False
    return all(metav1.is_controlled_by(pod, found) for pod in _pods(ctx, reader, found))


def _leave_to(ctx: Context, c: client.Client, es: Elasticsearch, found: appsv1.StatefulSet) -> None:
    """Remove the cluster from the owners of pods and claims, so that only the StatefulSet owns them again."""
    for obj in _owned(ctx, c, found):
        if controllerutil.has_owner_reference(obj.get_owner_references(), es, c.scheme()):
            _patch(ctx, c, obj, lambda changed: controllerutil.remove_owner_reference(es, changed, c.scheme()))


def _owned(ctx: Context, reader: client.Reader, stateful_set: appsv1.StatefulSet) -> list[client.Object]:
    return [*_pods(ctx, reader, stateful_set), *_claims(ctx, reader, stateful_set)]


def _pods(ctx: Context, reader: client.Reader, stateful_set: appsv1.StatefulSet) -> list[corev1.Pod]:
    chosen = client.MatchingLabels({label.STATEFUL_SET_NAME: stateful_set.get_name()})
    found = reader.list(ctx, corev1.PodList, client.InNamespace(stateful_set.get_namespace()), chosen).items
    return sorted(found, key=lambda pod: pod.get_name())
