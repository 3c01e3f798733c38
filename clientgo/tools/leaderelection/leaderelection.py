"""Leader election among several processes. Mirrors client-go/tools/leaderelection/leaderelection.go.

All candidates read one record (resourcelock). The leader renews it every `retry_period`. The others acquire it when it
has not changed for `lease_duration` by their own clocks. A leader that fails to renew for `renew_deadline` stops before
the lease ends, and cancels its work's context.

Two processes work at the same time only if one of them ignores that its context is done, or is paused (by the kernel,
a debugger or a laptop's lid): it resumes in the middle of its work. Call `holds_lease` immediately before a write; to
exclude the time between check and write too, let the server check the resource version of the written object.
`is_leader` is no such check: as in Go, it ignores the time since the last seen record.

Differs from Go:
  * The work's context is cancelled before the lock is released, and the release waits for the work until the lease
    ends. After that the lock is not released and the lease expires. Go releases first and then cancels.
  * A leader that reads another holder in the record stops at once. Go continues until `renew_deadline` has passed.
  * A lease ends `lease_duration`, in whole seconds, after the start of its last request; in Go after the answer. A late
    answer does not make a leader. No renewal and no release takes longer than the rest of the lease.
  * With `release_on_cancel`, a lock is released even if the end of `run` interrupted its last write. In Go it is not.
  * `run` joins its callbacks' threads before returning. An `on_started_leading` that raises ends the term (Go crashes).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from clientgo import context, klog
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.apimachinery.util import runtime, wait
from clientgo.context import CancelFunc, Context
from clientgo.golang.time import require_seconds
from clientgo.hops import hop
from clientgo.klog.exceptions import as_operational, operational_error
from clientgo.tools.leaderelection import metrics
from clientgo.tools.leaderelection import resourcelock as rl
from clientgo.tools.leaderelection.healthzadaptor import HealthzAdaptor
from clientgo.tools.leaderelection.slow_callbacks import CallbackThreads
from clientgo.utils.clock.clock import REAL_CLOCK, RESOLUTION, Clock

__all__ = [
    "JITTER_FACTOR",
    "LeaderCallbacks",
    "LeaderElectionConfig",
    "LeaderElectionStatistics",
    "LeaderElector",
    "new_leader_elector",
    "run_or_die",
]

JITTER_FACTOR = 1.2
"""Factor of the random part of the wait between two attempts, so that candidates do not all send requests at once."""

_NS = 1_000_000_000


@dataclass(slots=True, kw_only=True)
class LeaderCallbacks:
    """Functions that the elector calls when the leader changes. Go: leaderelection.LeaderCallbacks."""

    on_started_leading: Callable[[Context], object] | None = None
    """Called in a thread when this process becomes the leader. Its context is done when the term ends. Required."""
    on_stopped_leading: Callable[[], object] | None = None
    """Called at the end of `run`, even if this process never led. Required."""
    on_new_leader: Callable[[str], object] | None = None
    """Called in a separate thread with the identity of every new leader, including this process."""


@dataclass(slots=True, kw_only=True)
class LeaderElectionConfig:
    """Options of an election. Kubernetes' components use 15, 10 and 2 seconds. Go: leaderelection.LeaderElectionConfig.
    """

    lock: rl.Interface | None = None
    """The lock, which holds the record and this process' identity."""
    lease_duration: float = 0.0
    """Seconds that other candidates wait after the last renewal before they acquire the lock."""
    renew_deadline: float = 0.0
    """Seconds for which a leader tries to renew before it stops leading."""
    retry_period: float = 0.0
    """Seconds between two attempts."""
    callbacks: LeaderCallbacks
    watch_dog: HealthzAdaptor | None = None
    """The health check that `run_or_die` connects to the elector."""
    release_on_cancel: bool = False
    """True to release the lock when `run` is cancelled, so that other candidates need not wait for the lease to end.

    Then `on_started_leading` must return soon after its context is done, and only when all protected work has stopped:
    the release waits for it.
    """
    name: str = ""
    """Name of the election in metrics and in the health check."""
    coordinated: bool = False
    """True if a controller of the cluster selects the leader, and this process waits to be selected."""


class LeaderElectionStatistics(NamedTuple):
    """Counts and state of an elector, read at one moment. Beyond Go."""

    terms: int
    """Number of times this process became the leader; at most one per `run`."""
    writes: int
    """Number of writes of the record: to acquire, to renew, to release."""
    failed_tries: int
    """Number of failed attempts to acquire or renew, because of another holder or an error."""
    leader: str
    """Identity of the leader seen last; "" if there was none."""
    lease_left: float
    """Seconds until this process' lease ends; 0.0 if it has none."""


def new_leader_elector(lec: LeaderElectionConfig, clock: Clock | None = None) -> LeaderElector:
    """Return an elector. Raises ValueError, with Go's text, for an invalid configuration.

    Go: leaderelection.NewLeaderElector.
    """
    _validate(lec)
    elector = LeaderElector(lec, clock)
    elector._metrics.off(lec.name)
    return elector


def _validate(lec: LeaderElectionConfig) -> None:
    # The first of several errors is reported, so the order of the checks matters. Whole nanoseconds, as in Go.
    names = ("lease_duration", "renew_deadline", "retry_period")
    lease, deadline, period = (round(require_seconds(getattr(lec, name), name) * _NS) for name in names)
    checks = [
        (lease <= deadline, "leaseDuration must be greater than renewDeadline"),
        (deadline <= int(JITTER_FACTOR * period), "renewDeadline must be greater than retryPeriod*JitterFactor"),
        (lease < 1, "leaseDuration must be greater than zero"),
        (deadline < 1, "renewDeadline must be greater than zero"),
        (period < 1, "retryPeriod must be greater than zero"),
        (lec.callbacks.on_started_leading is None, "OnStartedLeading callback must not be nil"),
        (lec.callbacks.on_stopped_leading is None, "OnStoppedLeading callback must not be nil"),
        (lec.lock is None, "Lock must not be nil."),
        (lec.lock is not None and lec.lock.identity() == "", "Lock identity is empty"),
    ]
    for wrong, text in checks:
        if wrong:
            raise as_operational(ValueError(text))  # the text names the setting


class LeaderElector:
    """The elector of one candidate; `new_leader_elector` creates it. Go: leaderelection.LeaderElector.

    `run` is called once, by one thread. Any thread may call `holds_lease`, `is_leader`, `get_leader`, `check` and
    `statistics`.

    `_observed_record` is the record that this process last read or wrote, and `_observed_time` the time on its clock
    when the record changed. `_observed_raw_record` shows whether the record has changed. `_renewed_at` is the start of
    the last write that put this process into the record; None if the record has another holder or none since then.
    """

    def __init__(self, config: LeaderElectionConfig, clock: Clock | None = None) -> None:
        assert config.lock is not None
        self._config = config
        self._lock = config.lock
        self._clock: Clock = clock or REAL_CLOCK
        # Written to the record, in whole seconds. Go rounds down; then other candidates would start too early.
        self._lease_seconds = math.ceil(config.lease_duration)
        self._metrics = metrics._global_metrics_factory.new_leader_metrics()
        # Guards _observed_record, _observed_time, _renewed_at and the counts, which other threads read.
        self._observed_record_lock = threading.Lock()
        self._observed_record = rl.LeaderElectionRecord()
        self._observed_time = 0.0
        self._renewed_at: float | None = None
        self._terms = self._writes = self._failed_tries = 0
        self._observed_raw_record = b""
        self._reported_leader = ""
        # True if the last write was cancelled before its answer; the server may have executed it.
        self._unanswered = False
        self._callback_threads = CallbackThreads(self._clock, config.callbacks)

    def continue_observation(self, record: rl.LeaderElectionRecord, raw_record: bytes, seen: float) -> None:
        """Count another holder's lease from `seen`, a time on this elector's clock. Call it before `run`. Beyond Go."""
        if record.holder_identity != self._lock.identity():
            self._set_observed_record(record, seen)
            self._observed_raw_record = raw_record

    def run(self, ctx: Context) -> None:
        """Wait to become the leader, lead, and return when the term is over or `ctx` is done. Blocks.

        Calls `on_stopped_leading` in this thread as soon as the term is over, then joins the threads of the other
        callbacks. Logs those that still run ten seconds later. An elector runs once. Go: LeaderElector.Run.
        """
        stopped = self._config.callbacks.on_stopped_leading
        assert stopped is not None
        try:
            with runtime.handle_crash_with_context(ctx, go_on=True):
                try:
                    self._lead_once(ctx)
                finally:
                    self._callback_threads.expect_end(ctx, self._lock)
                    self._callback_threads.call(stopped)
        finally:
            self._callback_threads.wait()

    def _lead_once(self, ctx: Context) -> None:
        if not self._acquire(ctx):
            if self._config.release_on_cancel and self._unanswered:
                self._release_unanswered(klog.from_context(ctx))
            return
        leading, cancel = context.with_cancel(ctx)
        working, work_ended = context.with_cancel(context.background())

        def work() -> None:
            try:
                self._run_started(leading, cancel)
            finally:
                work_ended()

        try:
            self._callback_threads.start(work, name="leader-election-leading")
            self._renew(leading)
        finally:
            cancel()
            self._callback_threads.expect_end(ctx, self._lock)
        try:
            if self._config.release_on_cancel:
                self._release_after(working, klog.from_context(ctx))
        finally:
            self._metrics.off(self._config.name)  # Go leaves it on after a term that the context ended
            self._lock.record_event("stopped leading")

    @hop("election.lead", go="(*LeaderElector).Run")
    def _run_started(self, leading: Context, cancel: CancelFunc) -> None:
        started = self._config.callbacks.on_started_leading
        assert started is not None
        with runtime.handle_crash_with_context(leading, lambda _ctx, _err: cancel(), go_on=True):
            self._callback_threads.call(started, leading)

    def _release_after(self, working: Context, logger: klog.Logger) -> None:
        """Release the lock when the work has ended, unless the lease ends first."""
        if (left := self._lease_left()) == 0.0:
            return  # Other candidates may have acquired the lock by now.
        if not working.done().is_set() and context.sleep(working, left, self._clock):
            logger.error(None, "Lease is not released, since the work has not ended", lock=self._lock.describe())
        else:
            self._release(logger)

    def identity(self) -> str:
        """Return this process' identity in the record. Beyond Go."""
        return self._lock.identity()

    def get_leader(self) -> str:
        """Return the identity of the leader seen last, "" if none. Go: LeaderElector.GetLeader."""
        return self._get_observed_record().holder_identity

    def is_leader(self) -> bool:
        """Report whether the leader seen last is this process. It may have lost the lock since.

        Use `holds_lease` to protect a write from a second leader. Go: LeaderElector.IsLeader.
        """
        return self._get_observed_record().holder_identity == self._lock.identity()

    def holds_lease(self, margin: float = 0.0) -> bool:
        """Report whether this process is the only leader, now and for `margin` more seconds. Beyond Go.

        Call it immediately before each write that needs this guarantee, with a margin of at least the write's timeout.
        Never blocks and sends no request. The lease is measured from the start of the renewing request, by the wall
        clock and by the monotonic clock; the later one counts. So a pause or a sleep of the computer is noticed.
        """
        return self._lease_left() > margin + RESOLUTION

    def _lease_left(self) -> float:
        """Return the seconds until another candidate may acquire the lock; 0.0 if this process does not hold it."""
        now = self._clock.now()
        with self._observed_record_lock:
            renewed_at = self._renewed_at
        if renewed_at is None:
            return 0.0
        # The monotonic clock stops while the computer sleeps, and the wall clock may be set back. Use the later one.
        elapsed = max(now - renewed_at, float(now) - float(renewed_at))
        return max(0.0, self._lease_seconds - elapsed)

    def statistics(self) -> LeaderElectionStatistics:
        """Return this elector's counts and state."""
        lease_left = self._lease_left()
        with self._observed_record_lock:
            leader = self._observed_record.holder_identity
            return LeaderElectionStatistics(self._terms, self._writes, self._failed_tries, leader, lease_left)

    def _acquire(self, ctx: Context) -> bool:
        """Block until this process leads (return True) or `ctx` is done (return False)."""
        acquiring, cancel = context.with_cancel(ctx)
        desc = self._lock.describe()
        logger = klog.from_context(ctx)
        logger.info("Attempting to acquire leader lease...", lock=desc)
        succeeded = False

        def attempt(ctx: Context) -> None:
            nonlocal succeeded
            # The answer may arrive after the end of the lease that it confirms.
            succeeded = self._try(ctx) and self.holds_lease()
            self._maybe_report_transition()
            if not succeeded:
                logger.v(4).info("Failed to acquire lease", lock=desc)
                return
            with self._observed_record_lock:
                self._terms += 1
            self._lock.record_event("became leader")
            self._metrics.on(self._config.name)
            logger.info("Successfully acquired lease", lock=desc)
            cancel()

        try:
            wait.jitter_until_with_context(acquiring, attempt, self._config.retry_period, JITTER_FACTOR, True)
        finally:
            cancel()
        return succeeded

    def _renew(self, ctx: Context) -> None:
        """Block while the lock can be renewed and `ctx` is not done."""
        renewing, cancel = context.with_cancel(ctx)
        logger = klog.from_context(ctx)
        config = self._config

        def attempt(ctx: Context) -> bool:
            err = ctx.err()
            if err is not None:
                raise err
            if self._try(ctx):
                return True
            if (holder := self.get_leader()) not in ("", self._lock.identity()):
                raise _LostError(f"lease is held by {holder}")
            return False

        def renew_once(ctx: Context) -> None:
            failure: Exception | None = None
            # After a pause beyond the end of its lease, a process reads the record once, to find a new holder.
            timeout = min(config.renew_deadline, self._lease_left() or config.retry_period)
            try:
                wait.poll_until_context_timeout(ctx, config.retry_period, timeout, True, attempt)
            except Exception as err:
                failure = err
            self._maybe_report_transition()
            desc = self._lock.describe()
            if failure is None:
                logger.v(5).info("Successfully renewed lease", lock=desc)
                return
            self._metrics.off(config.name)
            logger.info("Failed to renew lease", lock=desc, err=failure)
            cancel()

        try:
            wait.until_with_context(renewing, renew_once, config.retry_period)
        finally:
            cancel()

    @hop("election.try", go="(*LeaderElector).tryAcquireOrRenew")
    def _try(self, ctx: Context) -> bool:
        succeeded = (self._try_coordinated_renew if self._config.coordinated else self._try_acquire_or_renew)(ctx)
        if not succeeded:
            with self._observed_record_lock:
                self._failed_tries += 1
        return succeeded

    def _release(self, logger: klog.Logger) -> bool:
        """Release the lock if this process holds it; return False if the release failed."""
        desc = self._lock.describe()
        # Use a new context: the context of `run` is done by now.
        timeout = min(self._config.renew_deadline, self._lease_left() or self._config.renew_deadline)
        ctx, cancel = context.with_timeout(context.background(), timeout)
        try:
            old_record, _ = self._lock.get(ctx)
            if not self.is_leader():
                return True
            return self._give_back(ctx, logger, old_record)
        except Exception as err:
            if errors.is_not_found(err):
                logger.info("lease lock not found", lock=desc)
            else:
                logger.error(err, "error retrieving resource lock", lock=desc)
            return False
        finally:
            cancel()

    def _give_back(self, ctx: Context, logger: klog.Logger, held: rl.LeaderElectionRecord) -> bool:
        """Write an empty holder. Raises the errors of reading the lock again."""
        for tries_left in (1, 0):
            now = self._clock.now()
            record = rl.LeaderElectionRecord(
                leader_transitions=held.leader_transitions,
                lease_duration_seconds=1,
                renew_time=from_clock(now),
                acquire_time=from_clock(now),
            )
            try:
                self._lock.update(ctx, record)
            except Exception as err:
                if not (tries_left and errors.is_conflict(err)):
                    logger.error(err, "Failed to release lease", lock=self._lock.describe())
                    return False
            else:
                self._set_written_record(record, now)
                return True
            # A renewal that was cancelled at the end of the term may have succeeded. If another candidate holds the
            # lock, keep it.
            held, _ = self._lock.get(ctx)
            if held.holder_identity != self._lock.identity():
                break
        return False

    def _release_unanswered(self, logger: klog.Logger) -> None:
        """Release a lock that was acquired by a write whose answer was not awaited, because `run` ended."""
        ctx, cancel = context.with_timeout(context.background(), self._config.renew_deadline)
        try:
            self._observe(*self._lock.get(ctx))
        except Exception as err:
            logger.error(err, "Error retrieving lease lock", lock=self._lock.describe())
            return
        finally:
            cancel()
        if self.is_leader():
            self._release(logger)

    def _try_coordinated_renew(self, ctx: Context) -> bool:
        """Renew a lock that the cluster assigned to this process. Never creates or acquires one."""
        logger = klog.from_context(ctx)
        desc = self._lock.describe()
        now = self._clock.now()
        try:
            old_record, old_raw_record = self._lock.get(ctx)
        except Exception as err:
            if errors.is_not_found(err):
                logger.info("Lease lock not found", lock=desc, err=err)
            else:
                logger.error(err, "Error retrieving lease lock", lock=desc)
            return False
        self._observe(old_record, old_raw_record)

        with self._observed_record_lock:
            observed_time = self._observed_time
        if now - observed_time - old_record.lease_duration_seconds > RESOLUTION:
            logger.info("Lease has expired", lock=desc)
            return False
        if not self.is_leader():
            logger.v(6).info("Lease is held and has not yet expired", lock=desc, holder=old_record.holder_identity)
            return False
        if old_record.preferred_holder != "":
            logger.v(4).info("Lease is marked as 'end of term'", lock=desc)
            return False
        self._metrics.slowpath_exercised(self._config.name)
        record = replace(_continuing(self._new_record(now), old_record), strategy=old_record.strategy)
        return self._write(ctx, logger, record, now, "Failed to update lock")

    def _try_acquire_or_renew(self, ctx: Context) -> bool:
        """Acquire the lock if it has no holder, or renew it if this process holds it.

        Report whether this process holds it.
        """
        logger = klog.from_context(ctx)
        desc = self._lock.describe()
        now = self._clock.now()
        record = self._new_record(now)

        # 1. The usual case: a leader with a valid lease writes without reading.
        if self.is_leader() and self._is_lease_valid(now):
            # As in Go, the two fields are kept even if another client acquired or deleted the lock meanwhile.
            record = _continuing(record, self._get_observed_record())
            try:
                self._lock.update(ctx, record)
            except Exception as err:
                logger.v(2).info("Failed to update lease optimistically, falling back to slow path", lock=desc, err=err)
            else:
                self._set_written_record(record, now)
                return True

        # 2. Read the record, or create it.
        try:
            old_record, old_raw_record = self._lock.get(ctx)
        except Exception as err:
            if errors.is_not_found(err):
                return self._create(ctx, logger, record, now)
            logger.error(err, "Error retrieving lease lock", lock=desc)
            return False

        # 3. Has the record changed, and does another candidate hold the lock?
        self._observe(old_record, old_raw_record)
        if old_record.holder_identity and self._is_lease_valid(now) and not self.is_leader():
            logger.v(4).info("Lease is held by and has not yet expired", lock=desc, holder=old_record.holder_identity)
            return False

        # 4. Write it.
        if self.is_leader():
            record = _continuing(record, old_record)
            self._metrics.slowpath_exercised(self._config.name)
        else:
            record = replace(record, leader_transitions=old_record.leader_transitions + 1)
        return self._write(ctx, logger, record, now, "Failed to update lease")

    def _new_record(self, now: float) -> rl.LeaderElectionRecord:
        """Return a record with this process as holder, acquired and renewed now."""
        moment = from_clock(now)
        return rl.LeaderElectionRecord(
            holder_identity=self._lock.identity(),
            lease_duration_seconds=self._lease_seconds,
            renew_time=moment,
            acquire_time=moment,
        )

    def _create(self, ctx: Context, logger: klog.Logger, record: rl.LeaderElectionRecord, now: float) -> bool:
        try:
            self._lock.create(ctx, record)
        except Exception as err:
            self._unanswered = ctx.err() is not None
            logger.error(err, "Error initially creating lease lock", lock=self._lock.describe())
            return False
        self._set_written_record(record, now)
        return True

    def _write(
        self, ctx: Context, logger: klog.Logger, record: rl.LeaderElectionRecord, now: float, failure: str
    ) -> bool:
        try:
            self._lock.update(ctx, record)
        except Exception as err:
            self._unanswered = ctx.err() is not None
            logger.error(err, failure, lock=self._lock.describe())
            return False
        self._set_written_record(record, now)
        return True

    def _observe(self, record: rl.LeaderElectionRecord, raw_record: bytes) -> None:
        if raw_record != self._observed_raw_record:
            self._set_observed_record(record)
            self._observed_raw_record = raw_record

    def _maybe_report_transition(self) -> None:
        leader = self._observed_record.holder_identity
        if leader == self._reported_leader:
            return
        self._reported_leader = leader
        report = self._config.callbacks.on_new_leader
        if report is not None:
            threads = self._callback_threads
            threads.start(lambda: threads.call(report, leader), name="leader-election-new-leader")

    def check(self, max_tolerable_expired_lease: float) -> None:
        """Raise RuntimeError if this process leads with a lease that expired more than that many seconds ago.

        Go: LeaderElector.Check.
        """
        with self._observed_record_lock:
            last_observation = self._observed_time
            leads = self._observed_record.holder_identity == self._lock.identity()
        if not leads:
            return
        overdue = self._clock.since(last_observation) - self._config.lease_duration - max_tolerable_expired_lease
        if overdue > RESOLUTION:
            raise RuntimeError(f"failed election to renew leadership on lease {self._config.name}")

    def _is_lease_valid(self, now: float) -> bool:
        with self._observed_record_lock:
            end = self._observed_time + self._observed_record.lease_duration_seconds
        return end - now > RESOLUTION

    def _set_observed_record(self, record: rl.LeaderElectionRecord, seen: float | None = None) -> None:
        with self._observed_record_lock:
            self._observed_record = record
            self._observed_time = self._clock.now() if seen is None else seen
            if record.holder_identity != self._lock.identity():
                self._renewed_at = None

    def _set_written_record(self, record: rl.LeaderElectionRecord, began: float) -> None:
        """Store this process' own record, which a request that started at `began` wrote."""
        self._unanswered = False
        self._set_observed_record(record)
        with self._observed_record_lock:
            self._writes += 1
            if record.holder_identity == self._lock.identity():
                self._renewed_at = began

    def _get_observed_record(self) -> rl.LeaderElectionRecord:
        with self._observed_record_lock:
            return self._observed_record

    def __repr__(self) -> str:
        return f"<LeaderElector {self._lock.identity()} on {self._lock.describe()}, leader {self.get_leader()!r}>"


@operational_error
class _LostError(Exception):
    """Raised if another candidate holds the lock."""


def _continuing(record: rl.LeaderElectionRecord, held: rl.LeaderElectionRecord) -> rl.LeaderElectionRecord:
    """Return `record` as a renewal of `held`."""
    return replace(record, acquire_time=held.acquire_time, leader_transitions=held.leader_transitions)


def run_or_die(ctx: Context, lec: LeaderElectionConfig) -> None:
    """Create an elector, connect its health check, and run it. Raises ValueError (Go panics). Go: RunOrDie."""
    le = new_leader_elector(lec)
    if lec.watch_dog is not None:
        lec.watch_dog.set_leader_election(le)
    le.run(ctx)
