"""Managing status and errors: what every reconcile ends with, for any kind.

The guides' ReconcilerBase, brought up to date: an event is of events.k8s.io/v1, the status has a condition too, and a
Result has no `requeue` beside its `requeue_after`.
"""

from __future__ import annotations

from datetime import datetime

from api.v1alpha1 import FAILURE, READY, SUCCESS, ReconcileStatus, ReconcileStatusAware
from clientgo import controller_runtime as ctrl
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.tools import events
from clientgo.utils.clock import REAL_CLOCK, PassiveClock

# Seconds until the second try.
FIRST_RETRY = 1.0
# Seconds between tries at most. The guides chose it so that there always is an event that has not expired.
LONGEST_RETRY = 6 * 3600.0
# What an event and a condition have room for.
_LONGEST_REASON = 1024


class ReconcilerBase:
    """Tells users how the last reconcile went, and the controller when to try again."""

    def __init__(
        self, client: client.Client, recorder: events.EventRecorder, clock: PassiveClock = REAL_CLOCK
    ) -> None:
        self.client = client
        self.recorder = recorder
        self._clock = clock

    def manage_success(self, ctx: Context, obj: client.Object) -> ctrl.Result:
        """Report success in the status. Writes nothing if the status reports it already.

        The guides write `lastUpdate` each time: then an operator that starts writes to every object there is.
        """
        if not isinstance(obj, ReconcileStatusAware):
            ctrl.logger_from(ctx).info("The object is not ReconcileStatusAware, its status is not set")
            return ctrl.Result()
        status = obj.get_reconcile_status()
        if status.status == SUCCESS and status.observed_generation == obj.get_generation():
            return ctrl.Result()
        self._set_status(obj, status, SUCCESS, "")
        return ctrl.Result() if self._write_status(ctx, obj) else ctrl.Result(requeue_after=FIRST_RETRY)

    def manage_error(self, ctx: Context, obj: client.Object, issue: Exception) -> ctrl.Result:
        """Report the error in an event and in the status, and retry with growing delays.

        An error that is raised from `reconcile` is tried again too, but its user never hears of it, and the operator
        has forgotten how often it failed when it starts again. The status has not.
        """
        reason = _shortened(str(issue))
        ctrl.logger_from(ctx).error(issue, "Unable to reconcile")
        self.recorder.eventf(obj, None, corev1.EVENT_TYPE_WARNING, "ProcessingError", "Reconcile", "%s", reason)
        if not isinstance(obj, ReconcileStatusAware):
            ctrl.logger_from(ctx).info("The object is not ReconcileStatusAware, its status is not set")
            return ctrl.Result(requeue_after=FIRST_RETRY)
        status = obj.get_reconcile_status()
        retry = self.retry_interval(status, obj.get_generation())
        self._set_status(obj, status, FAILURE, reason)
        return ctrl.Result(requeue_after=retry if self._write_status(ctx, obj) else FIRST_RETRY)

    def retry_interval(self, before: ReconcileStatus, generation: int) -> float:
        """Return the seconds until the next try after a failure: twice the time since the last one, within limits.

        The limits are FIRST_RETRY and LONGEST_RETRY. `before` is the status of the previous cycle. If it records no
        failure, or
        a failure of another generation, this failure counts as the first, so that a user's correction is tried soon.
        (The
        guides begin with two seconds, and continue from hours after a user's correction.)
        """
        if before.status != FAILURE or before.observed_generation != generation or before.last_update is None:
            return FIRST_RETRY
        since = (self._now() - before.last_update).total_seconds()
        return min(max(2 * since, FIRST_RETRY), LONGEST_RETRY)

    def _set_status(self, obj: client.Object, status: ReconcileStatus, outcome: str, reason: str) -> None:
        status.status = outcome
        status.reason = reason
        status.last_update = self._now()
        status.observed_generation = obj.get_generation()
        condition = metav1.Condition(
            type=READY,
            status="True" if outcome == SUCCESS else "False",
            observed_generation=obj.get_generation(),
            last_transition_time=status.last_update,
            reason="ReconcileSuccess" if outcome == SUCCESS else "ReconcileError",
            message=reason,
        )
        meta.set_status_condition(status.conditions, condition)

    def _write_status(self, ctx: Context, obj: client.Object) -> bool:
        """Write the status alone, through its own path; whether that went well.

        An update and not a patch, since its conflict tells that the cache is behind: the time of the last try is not
        known then.
        """
        try:
            self.client.status().update(ctx, obj)
        except Exception as err:
            if is_stale(err):
                ctrl.logger_from(ctx).info("The cache is behind, the status is written later", err=err)
            else:
                ctrl.logger_from(ctx).error(err, "Unable to update the status")
            return False
        return True

    def _now(self) -> datetime:
        """Return the time in whole seconds, the precision of the stored status."""
        return from_clock(self._clock.now()).replace(microsecond=0)


def is_stale(err: Exception) -> bool:
    """Report whether the error means that the cache was behind. The user cannot fix this, and a retry does.

    Only the server's own error counts, not an exception that was raised from it.
    """
    if not isinstance(err, errors.StatusError):
        return False
    return errors.is_conflict(err) or errors.is_already_exists(err) or errors.is_not_found(err)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 3]}..."
