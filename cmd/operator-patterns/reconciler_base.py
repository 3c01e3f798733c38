"""The end of each reconciliation of any kind: status, events and retries.

The guides' ReconcilerBase in a current form: events are of events.k8s.io/v1, the status also has a condition, and a
Result has no `requeue`, only `requeue_after`.
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

# Seconds before the first retry.
FIRST_RETRY = 1.0
# The longest delay in seconds. The guides chose it so that at least one event has not expired.
LONGEST_RETRY = 6 * 3600.0
# The longest messages of an event and of a condition.
_LONGEST_REASON = 1024


class ReconcilerBase:
    """The part of a reconciler that reports results to users and returns the time of the next retry."""

    def __init__(
        self, client: client.Client, recorder: events.EventRecorder, clock: PassiveClock = REAL_CLOCK
    ) -> None:
        self.client = client
        self.recorder = recorder
        self._clock = clock

    def manage_success(self, ctx: Context, obj: client.Object) -> ctrl.Result:
        """Report success in the status. Writes nothing if the status reports it already.

        The guides always write `lastUpdate`. Then each start of the operator writes to all objects.
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

        The controller also retries errors that `reconcile` raises. But users do not see these, and a restart loses the
        controller's count of failures, while the status keeps it.
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
        """Return the seconds until the next retry: twice the time since the last attempt, within limits.

        The limits are FIRST_RETRY and LONGEST_RETRY. `before` is the status of the previous cycle. If it records no
        failure, or a failure of another generation, this failure counts as the first, so a user's correction is tried
        soon. (In the guides the first delay is two seconds, and a correction may wait for hours.)
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
        """Write only the status, through its subresource, and report whether that succeeded.

        Uses an update, not a patch: its conflict shows that the cache is behind. Then the time of the last attempt is
        unknown.
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
    """Report whether the error means that the cache was behind. The user cannot correct this, but a retry can.

    Only the server's own error counts, not an exception that was raised from it.
    """
    if not isinstance(err, errors.StatusError):
        return False
    return errors.is_conflict(err) or errors.is_already_exists(err) or errors.is_not_found(err)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 3]}..."
