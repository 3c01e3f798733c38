"""The Job controller: creates pods until enough have succeeded, and keeps the status. Simulated pods always succeed.

Behaves like Kubernetes' job controller, but pods have no indices and no finalizers. A pod that an annotation makes fail
is replaced immediately, up to the Job's backoffLimit.
"""

from __future__ import annotations

from clientgo import kubernetes
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.testing.apiserver.simulator.ownership import adopt_and_release
from clientgo.testing.apiserver.simulator.pods import is_ready, pod_of
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record

KIND = batchv1.SCHEME_GROUP_VERSION.with_kind("Job")
_DEFAULT_BACKOFF_LIMIT = 6
_TOO_OFTEN, _TOO_OFTEN_TEXT = "BackoffLimitExceeded", "Job has reached the specified backoff limit"


class Jobs:
    """A controller that syncs one Job at a time; called by one worker thread."""

    def __init__(self, client: kubernetes.Clientset, times: Times, recorder: record.EventRecorder) -> None:
        self._client = client
        self._times = times
        self._recorder = recorder

    def __repr__(self) -> str:
        return "<Jobs>"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Create missing pods, or delete the active pods of a suspended or failed Job, then write the status.

        Raises StatusError.
        """
        jobs = self._client.batch_v1().jobs(namespace)
        job = jobs.get(ctx, name)
        if job.metadata.deletion_timestamp is not None or _is_finished(job):
            return
        pods = self._client.core_v1().pods(namespace)
        mine = adopt_and_release(ctx, pods.list(ctx, metav1.ListOptions()).items, job, KIND, pods, jobs)
        succeeded = sum(pod.status.phase == "Succeeded" for pod in mine)
        failed = sum(pod.status.phase == "Failed" for pod in mine)
        active = [pod for pod in mine if pod.status.phase not in ("Succeeded", "Failed")]
        has_failed = _is_too_often(job, failed)
        if job.spec.suspend or has_failed:
            for pod in active:
                pods.delete(ctx, pod.metadata.name, metav1.DeleteOptions())
        else:
            for _ in range(_missing(job, succeeded, len(active))):
                active.append(pods.create(ctx, _pod_of(job)))
                self._event(job, "SuccessfulCreate", f"Created pod: {active[-1].metadata.name}")
        doc = job.to_dict()
        status = self._status(job, active, succeeded, failed)
        if status != (doc.get("status") or {}):
            jobs.update_status(ctx, batchv1.Job.from_dict({**doc, "status": status}))
            if status.get("completionTime"):
                self._event(job, "Completed", "Job completed")
            elif has_failed:
                self._recorder.event(job, corev1.EVENT_TYPE_WARNING, _TOO_OFTEN, _TOO_OFTEN_TEXT)

    def _event(self, job: batchv1.Job, reason: str, message: str) -> None:
        self._recorder.event(job, corev1.EVENT_TYPE_NORMAL, reason, message)

    def _status(self, job: batchv1.Job, active: list[corev1.Pod], succeeded: int, failed: int) -> Json:
        now = self._times.now_text()
        before = job.to_dict().get("status") or {}
        known = {condition["type"]: condition for condition in before.get("conditions") or ()}
        has_failed = _is_too_often(job, failed)
        if has_failed:
            active = []
        counts = {
            "active": len(active),
            "ready": sum(map(is_ready, active)),
            "succeeded": succeeded,
            "failed": failed,
        }
        status: Json = {name: count for name, count in counts.items() if count or name == "ready"}
        status["uncountedTerminatedPods"] = {}
        if job.spec.suspend or "Suspended" in known:
            known["Suspended"] = _suspension(known.get("Suspended"), bool(job.spec.suspend), now)
        if not job.spec.suspend:
            status["startTime"] = before.get("startTime") or now
        if has_failed:
            for kind in ("FailureTarget", "Failed"):
                known[kind] = _condition(kind, "True", _TOO_OFTEN, _TOO_OFTEN_TEXT, now)
        elif _is_enough(job, succeeded) and not active:
            status["completionTime"] = now
            text = "Reached expected number of succeeded pods"
            for kind in ("SuccessCriteriaMet", "Complete"):
                known[kind] = _condition(kind, "True", "CompletionsReached", text, now)
        if known:
            status["conditions"] = list(known.values())
        return status


def _is_finished(job: batchv1.Job) -> bool:
    return any(condition.type in ("Complete", "Failed") for condition in job.status.conditions)


def _is_too_often(job: batchv1.Job, failed: int) -> bool:
    limit = job.spec.backoff_limit
    return failed > (_DEFAULT_BACKOFF_LIMIT if limit is None else limit)


def _is_enough(job: batchv1.Job, succeeded: int) -> bool:
    """Report whether enough pods succeeded. Without a number of completions, one success is enough."""
    wanted = job.spec.completions
    return succeeded >= (1 if wanted is None else wanted)


def _missing(job: batchv1.Job, succeeded: int, active: int) -> int:
    """Return the number of pods to create now."""
    parallelism = 1 if job.spec.parallelism is None else job.spec.parallelism
    if job.spec.completions is None:
        return 0 if succeeded else max(0, parallelism - active)
    return max(0, min(parallelism, job.spec.completions - succeeded) - active)


def _suspension(before: Json | None, suspended: bool, now: str) -> Json:
    status, reason = ("True", "JobSuspended") if suspended else ("False", "JobResumed")
    if before is not None and before["status"] == status:
        return before
    return _condition("Suspended", status, reason, "Job suspended" if suspended else "Job resumed", now)


def _condition(kind: str, status: str, reason: str, message: str, now: str) -> Json:
    times = {"lastProbeTime": now, "lastTransitionTime": now}
    return {"type": kind, "status": status, **times, "reason": reason, "message": message}


def _pod_of(job: batchv1.Job) -> corev1.Pod:
    return pod_of(job.spec.template, job, KIND)
