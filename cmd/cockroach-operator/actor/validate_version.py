"""The check of an image's version, by a Job that runs the image. Mirrors pkg/actor/validate_version.go."""

from __future__ import annotations

from resources import Cluster, JobBuilder
from resources.builders import JOB_CONTAINER

from actor.actor import Action, NotReadyError, PermanentError, ValidationError
from api.v1alpha1 import ActionType, ClusterConditionType
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.logr import Logger

# The version, and an empty line.
_LINES = 2


class VersionChecker(Action):
    """The actor that checks a cluster's new image, and deletes the Job of the check."""

    def get_action_type(self) -> str:
        return ActionType.VERSION_CHECKER

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        job = self.find(ctx, cluster, cluster.job_name, batchv1.Job)
        if cluster.is_true(ClusterConditionType.VERSION_CHECKED):
            if job is not None:
                self._delete(ctx, job)
            return
        image = cluster.image()
        if not image:
            raise ValidationError(f"crdb version {cluster.spec.cockroach_db_version} not supported")
        if cluster.spec.image is None or not cluster.spec.image.name:
            self._complete(cluster, cluster.spec.cockroach_db_version, image, log)
            return
        if job is None:
            self.reconcile(ctx, cluster, JobBuilder(cluster))
            raise NotReadyError("waiting for the version checker's job")
        if job.metadata.deletion_timestamp is not None or _image_of(job) != image:
            self._delete(ctx, job)
            raise NotReadyError("job changed")
        self._complete(cluster, self._version_of(ctx, job, log), image, log)

    def _version_of(self, ctx: Context, job: batchv1.Job, log: Logger) -> str:
        """Return the version that the newest pod logged.

        Raises NotReadyError, and PermanentError if it ended without one.
        """
        pods = self.reader.list(ctx, corev1.PodList, client.InNamespace(job.get_namespace())).items
        mine = [pod for pod in pods if metav1.is_controlled_by(pod, job)]
        mine = [pod for pod in mine if pod.status.phase in ("Running", "Succeeded")]
        if not mine:
            raise NotReadyError("job pods are not running yet waiting longer")
        newest = max(mine, key=lambda pod: (str(pod.metadata.creation_timestamp), pod.get_name()))
        output = self.database.pod_logs(ctx, job.get_namespace(), newest.get_name(), JOB_CONTAINER, _LINES)
        log.info("Logs of version checker pod", log=output.strip())
        version = output.replace("\n", "").strip()
        if version:
            return version
        if newest.status.phase == "Succeeded":
            raise PermanentError("job completed with version empty-container running but no version was retrieved")
        raise NotReadyError("failed to check the version of the cluster")

    @staticmethod
    def _complete(cluster: Cluster, version: str, image: str, log: Logger) -> None:
        cluster.status.version = version
        cluster.status.crdb_container_image = image
        cluster.set_true(ClusterConditionType.VERSION_CHECKED)
        log.info("completed version checker", calVersion=version, containerImage=image)

    def _delete(self, ctx: Context, job: batchv1.Job) -> None:
        """Delete the Job and its pods, but not a newer Job with the same name."""
        if job.metadata.deletion_timestamp is not None:
            return
        options = (client.PropagationPolicy("Background"), client.Preconditions(uid=job.get_uid()))
        try:
            self.client.delete(ctx, job, *options)
        except errors.StatusError as err:
            client.ignore_not_found(err)


def _image_of(job: batchv1.Job) -> str:
    return next((each.image for each in job.spec.template.spec.containers if each.name == JOB_CONTAINER), "")
