"""The check of a user's own image: a Job runs it once, and compares its version with the version in the specification.

The order of an upgrade, and the rule that no node is downgraded, depend on the version in the specification. With an
image of another version both would be wrong, and a node that has started with newer data directories cannot go back.
The default images need no Job.

A hash of image and version is part of the name of a Job, and a Job never changes. The Job is the record of the check:
it is kept as long as the cluster uses this image and version, so a restarted operator finds the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.controller_runtime.controller import controllerutil
from elasticsearch import label, names, nodespec
from elasticsearch.nodespec import Resources
from elasticsearch.reconciler import get, hash_of
from elasticsearch.state import Refused

CONTAINER = "image-check"
# The image prints `Version: 8.11.0, Build: ...`.
_COMMAND = 'bin/elasticsearch --version | grep -F "Version: $EXPECTED_VERSION,"'
# A node of Kubernetes may fail for a time; an image with another version keeps failing.
_ATTEMPTS = 3


def reconcile_image_checks(
    ctx: Context, c: client.Client, es: Elasticsearch, expected: Sequence[Resources]
) -> list[str]:
    """Return the images whose check has not finished. Empty when every image has passed.

    Raises Refused for an image that has failed, and StatusError.
    """
    wanted = {job.get_name(): job for job in (_job(es, image, expected) for image in _images(es, expected))}
    _delete_others(ctx, c, es, wanted)
    pending, bad = [], []
    for job in wanted.values():
        found = get(ctx, c, job)
        if found is None:
            _create(ctx, c, es, job)
            pending.append(_image_of(job))
        elif _has(found, "Failed"):
            bad.append(_image_of(found))
        elif not _has(found, "Complete"):
            pending.append(_image_of(found))
    if bad:
        raise Refused(f"image {', '.join(bad)} does not hold Elasticsearch {es.spec.version}, or does not run")
    return pending


def _images(es: Elasticsearch, expected: Sequence[Resources]) -> list[str]:
    """Return the images that users have set, in order and without repetitions."""
    used = (nodespec.image_of(each.stateful_set) for each in expected)
    return [image for image in dict.fromkeys(used) if image != nodespec.default_image(es.spec.version)]


def _image_of(job: batchv1.Job) -> str:
    return next((each.image for each in job.spec.template.spec.containers if each.name == CONTAINER), "")


def _has(job: batchv1.Job, condition: str) -> bool:
    return any(each.type == condition and each.status == "True" for each in job.status.conditions)


def _job(es: Elasticsearch, image: str, expected: Sequence[Resources]) -> batchv1.Job:
    name = names.image_check(es.get_name(), hash_of([image, es.spec.version]))
    labels = {label.TYPE: label.TYPE_VALUE, label.IMAGE_CHECK: es.get_name()}
    job = batchv1.Job(metadata=metav1.ObjectMeta(namespace=es.get_namespace(), name=name, labels=labels))
    job.spec.backoff_limit = _ATTEMPTS - 1
    container = corev1.Container(
        name=CONTAINER,
        image=image,
        command=["/bin/bash", "-c", _COMMAND],
        env=[corev1.EnvVar(name="EXPECTED_VERSION", value=es.spec.version)],
    )
    # Without the labels of the cluster, because this pod is not one of its nodes.
    pod = job.spec.template
    pod.metadata.labels = dict(labels)
    pod.spec.containers = [container]
    pod.spec.restart_policy = "Never"
    pod.spec.automount_service_account_token = False
    users = next(each.stateful_set for each in expected if nodespec.image_of(each.stateful_set) == image)
    pod.spec.image_pull_secrets = list(users.spec.template.spec.image_pull_secrets)
    return job


def _create(ctx: Context, c: client.Client, es: Elasticsearch, job: batchv1.Job) -> None:
    controllerutil.set_controller_reference(es, job, c.scheme())
    c.create(ctx, job)
    ctrl.logger_from(ctx).info("Checking the version of an image", image=_image_of(job), job=job.get_name())


def _delete_others(ctx: Context, c: client.Client, es: Elasticsearch, wanted: dict[str, batchv1.Job]) -> None:
    """Delete the Jobs of images that are no longer wanted, with their pods."""
    chosen = client.MatchingLabels({label.IMAGE_CHECK: es.get_name()})
    for job in c.list(ctx, batchv1.JobList, client.InNamespace(es.get_namespace()), chosen).items:
        if job.get_name() in wanted or job.get_deletion_timestamp() is not None:
            continue
        if not metav1.is_controlled_by(job, es):
            continue
        try:
            c.delete(ctx, job, client.PropagationPolicy("Background"), client.Preconditions(uid=job.get_uid()))
        except Exception as err:
            client.ignore_not_found(err)
