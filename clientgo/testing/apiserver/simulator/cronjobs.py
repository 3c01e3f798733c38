"""CronJobs: a Job whenever one is due.

Does what Kubernetes' cronjob controller does: schedules and time zones, the deadline for a late start, the policies for
a Job that is still running, suspension, and how many finished Jobs are kept.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo import kubernetes
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.testing.apiserver.simulator.schedules import Schedule
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record
from clientgo.utils.clock import RESOLUTION

KIND = batchv1.SCHEME_GROUP_VERSION.with_kind("CronJob")
_SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
# So many missed times are gone through to find the last one; whole intervals are skipped after that.
_MANY = 100


class CronJobs:
    """A controller that syncs one CronJob at a time, in one worker thread.

    `look_again(key, seconds)` queues one for later.
    """

    def __init__(
        self,
        client: kubernetes.Clientset,
        times: Times,
        recorder: record.EventRecorder,
        look_again: Callable[[str, float], None],
    ) -> None:
        self._client = client
        self._times = times
        self._recorder = recorder
        self._look_again = look_again

    def __repr__(self) -> str:
        return "<CronJobs>"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Start the Job that is due, if one is, and come back when the next is. Raises StatusError."""
        cron_job = self._client.batch_v1().cron_jobs(namespace).get(ctx, name)
        if cron_job.metadata.deletion_timestamp is not None:
            return
        jobs = self._client.batch_v1().jobs(namespace).list(ctx, metav1.ListOptions()).items
        mine = [job for job in jobs if metav1.is_controlled_by(job, cron_job)]
        self._forget_old(ctx, cron_job, mine)
        status = self._status(cron_job, mine)
        if not cron_job.spec.suspend:
            self._run_due(ctx, cron_job, mine, status)
        document = cron_job.to_dict()
        if status != (document.get("status") or {}):
            client = self._client.batch_v1().cron_jobs(namespace)
            client.update_status(ctx, batchv1.CronJob.from_dict({**document, "status": status}))

    def _run_due(self, ctx: Context, cron_job: batchv1.CronJob, jobs: list[batchv1.Job], status: Json) -> None:
        schedule = Schedule(cron_job.spec.schedule, cron_job.spec.time_zone)
        now = self._times.clock.now()
        # The queue may be early by this time. Without it, a due time in the future would be queued again at once.
        due, following = _last_due(schedule, self._earliest(cron_job, status, now), now + RESOLUTION)
        if following is not None:
            key = f"{cron_job.get_namespace()}/{cron_job.get_name()}"
            self._look_again(key, following - now)
        if due is None:
            return
        deadline = cron_job.spec.starting_deadline_seconds
        if deadline is not None and due + deadline < now:
            text = f"Missed scheduled time to start a job: {self._times.text(due)}"
            self._event(cron_job, corev1.EVENT_TYPE_WARNING, "MissSchedule", text)
            return
        running = [job for job in jobs if not _finished(job)]
        if running and cron_job.spec.concurrency_policy == "Forbid":
            text = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._event(cron_job, corev1.EVENT_TYPE_NORMAL, "JobAlreadyActive", text)
            return
        if cron_job.spec.concurrency_policy == "Replace":
            for job in running:
                self._delete(ctx, cron_job, job)
            status.pop("active", None)
        self._create(ctx, cron_job, due, status)

    def _earliest(self, cron_job: batchv1.CronJob, status: Json, now: float) -> float:
        """Return the earliest moment at which a run may have been missed."""
        last = status.get("lastScheduleTime") or cron_job.to_dict()["metadata"].get("creationTimestamp")
        earliest = now - self._times.since(last)
        deadline = cron_job.spec.starting_deadline_seconds
        return earliest if deadline is None else max(earliest, now - deadline)

    def _create(self, ctx: Context, cron_job: batchv1.CronJob, due: float, status: Json) -> None:
        job = _job_of(cron_job, due, self._times.text(due))
        try:
            created = self._client.batch_v1().jobs(cron_job.get_namespace()).create(ctx, job, metav1.CreateOptions())
        except errors.StatusError as err:
            if not errors.is_already_exists(err):
                text = f"Error creating job: {err}"
                self._event(cron_job, corev1.EVENT_TYPE_WARNING, "FailedCreate", text)
                raise
            return
        self._event(cron_job, corev1.EVENT_TYPE_NORMAL, "SuccessfulCreate", f"Created job {created.get_name()}")
        status["active"] = [*(status.get("active") or ()), _reference(created)]
        status["lastScheduleTime"] = self._times.text(due)

    def _status(self, cron_job: batchv1.CronJob, jobs: list[batchv1.Job]) -> Json:
        status: Json = dict(cron_job.to_dict().get("status") or {})
        active = [_reference(job) for job in jobs if not _finished(job)]
        known = {reference["uid"] for reference in status.get("active") or ()}
        for job in jobs:
            outcome = _finished(job)
            if outcome and job.metadata.uid in known:
                text = f"Saw completed job: {job.get_name()}, condition: {outcome}"
                self._event(cron_job, corev1.EVENT_TYPE_NORMAL, "SawCompletedJob", text)
            finished = (job.to_dict().get("status") or {}).get("completionTime")
            if outcome == "Complete" and finished and finished > status.get("lastSuccessfulTime", ""):
                status["lastSuccessfulTime"] = finished
        if active:
            status["active"] = active
        else:
            status.pop("active", None)
        return status

    def _forget_old(self, ctx: Context, cron_job: batchv1.CronJob, jobs: list[batchv1.Job]) -> None:
        """Delete the oldest finished Jobs beyond the limits."""
        spec = cron_job.spec
        for outcome, limit in (
            ("Complete", spec.successful_jobs_history_limit),
            ("Failed", spec.failed_jobs_history_limit),
        ):
            finished = [job for job in jobs if _finished(job) == outcome]
            finished.sort(key=lambda job: (job.to_dict()["metadata"].get("creationTimestamp", ""), job.get_name()))
            surplus = 0 if limit is None else len(finished) - limit
            for job in finished[: max(0, surplus)]:
                self._delete(ctx, cron_job, job)
                jobs.remove(job)

    def _delete(self, ctx: Context, cron_job: batchv1.CronJob, job: batchv1.Job) -> None:
        options = metav1.DeleteOptions(propagation_policy="Background")
        self._client.batch_v1().jobs(job.get_namespace()).delete(ctx, job.get_name(), options)
        self._event(cron_job, corev1.EVENT_TYPE_NORMAL, "SuccessfulDelete", f"Deleted job {job.get_name()}")

    def _event(self, cron_job: batchv1.CronJob, type: str, reason: str, message: str) -> None:
        self._recorder.event(cron_job, type, reason, message)


def _last_due(schedule: Schedule, earliest: float, now: float) -> tuple[float | None, float | None]:
    """Return the last due time from `earliest` to `now`, and the next due time.

    Either is None if there is no such time.
    """
    due: float | None = None
    following, longest = schedule.next(earliest), 1.0
    for _ in range(_MANY):
        if following is None or following > now:
            return due, following
        longest = max(longest, following - due) if due is not None else longest
        due, following = following, schedule.next(following)
    if due is not None:
        # Far too many were missed to count them. Whole intervals are skipped, so that `@every` keeps its phase, and one
        # of the longest is left, so that there is a due time in it.
        following = schedule.next(due + max(0.0, (now - due) // longest - 1.0) * longest)
    while following is not None and following <= now:
        due, following = following, schedule.next(following)
    return due, following


def _finished(job: batchv1.Job) -> str:
    """Return the condition that ended the Job, or "" while it runs."""
    ends = ("Complete", "Failed")
    return next((one.type for one in job.status.conditions if one.type in ends and one.status == "True"), "")


def _reference(job: batchv1.Job) -> Json:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "namespace": job.get_namespace(),
        "name": job.get_name(),
        "uid": job.metadata.uid,
        "resourceVersion": job.get_resource_version(),
    }


def _job_of(cron_job: batchv1.CronJob, due: float, due_text: str) -> batchv1.Job:
    """Return the Job for one due time, named after its minute, so that two controllers would create the same one."""
    template = cron_job.spec.job_template.to_dict()
    metadata = dict(template.get("metadata") or {})
    metadata["name"] = f"{cron_job.get_name()}-{int(due) // 60}"
    metadata["namespace"] = cron_job.get_namespace()
    metadata["annotations"] = {**(metadata.get("annotations") or {}), _SCHEDULED_AT: due_text}
    metadata["ownerReferences"] = [metav1.new_controller_ref(cron_job, KIND).to_dict()]
    return batchv1.Job.from_dict({"metadata": metadata, "spec": template.get("spec") or {}})
