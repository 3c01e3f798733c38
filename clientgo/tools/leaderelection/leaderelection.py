"""Let one of several processes lead. Mirrors client-go/tools/leaderelection/leaderelection.go.

All candidates look at one record (resourcelock). The leader renews it every `retry_period`; the others try to take it,
and succeed when it has not changed for `lease_duration` by their own clock. A leader that has not managed to renew for
`renew_deadline` gives up before that. Since the lease outlasts the deadline, there are never two leaders, as long as a
process that has stopped leading stops working: `on_stopped_leading` usually ends it.

Differs from Go: `run` joins the threads of its callbacks before it returns, and an `on_started_leading` that raises
ends the term, where a Go program would crash.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from clientgo import context, klog
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.apimachinery.util import runtime, wait
from clientgo.context import CancelFunc, Context
from clientgo.tools.leaderelection import metrics
from clientgo.tools.leaderelection import resourcelock as rl
from clientgo.tools.leaderelection.healthzadaptor import HealthzAdaptor
from clientgo.utils.clock.clock import REAL_CLOCK, RESOLUTION, Clock

__all__ = [
    "JITTER_FACTOR",
    "LeaderCallbacks",
    "LeaderElectionConfig",
    "LeaderElector",
    "new_leader_elector",
    "run_or_die",
]

JITTER_FACTOR = 1.2
"""Candidates wait `retry_period` plus a random part of up to this times it, so that they do not all ask at once."""

_NS = 1_000_000_000


@dataclass(slots=True, kw_only=True)
class LeaderCallbacks:
    """What to do when the leader changes (Go: leaderelection.LeaderCallbacks)."""

    on_started_leading: Callable[[Context], object] | None = None
    """Runs in a thread of its own when this process leads; the context is done when it does not any more. Required."""
    on_stopped_leading: Callable[[], object] | None = None
    """Runs at the end of `run`, also when this process never led. Required."""
    on_new_leader: Callable[[str], object] | None = None
    """Runs in a thread of its own with the identity of every leader seen, this process included."""


@dataclass(slots=True, kw_only=True)
class LeaderElectionConfig:
    """How to elect (Go: leaderelection.LeaderElectionConfig). Durations are seconds.

    Core components of Kubernetes use 15, 10 and 2 seconds for the three durations.
    """

    lock: rl.Interface | None = None
    """The record, and who this process is."""
    lease_duration: float = 0.0
    """For how long others leave a leader alone that does not renew."""
    renew_deadline: float = 0.0
    """For how long a leader tries to renew before it gives up."""
    retry_period: float = 0.0
    """The time between two tries."""
    callbacks: LeaderCallbacks
    watch_dog: HealthzAdaptor | None = None
    """The health check that `run_or_die` connects."""
    release_on_cancel: bool = False
    """Whether to give the lock up when `run` is cancelled, so that others need not wait for the lease to end.

    Then everything the lock protects must have stopped when the context is done.
    """
    name: str = ""
    """For metrics and the health check."""
    coordinated: bool = False
    """Whether a controller of the cluster picks the leader and this process only waits to be picked."""


def new_leader_elector(lec: LeaderElectionConfig) -> LeaderElector:
    """An elector for the configuration. Raises ValueError, with Go's text, when it makes no sense.

    Go: leaderelection.NewLeaderElector.
    """
    _validate(lec)
    elector = LeaderElector(lec)
    elector._metrics.off(lec.name)
    return elector


def _validate(lec: LeaderElectionConfig) -> None:
    # The order matters: of several errors the first is reported. Whole nanoseconds, as Go's durations.
    lease, deadline, period = (round(d * _NS) for d in (lec.lease_duration, lec.renew_deadline, lec.retry_period))
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
            raise ValueError(text)


class LeaderElector:
    """Runs one candidate (Go: leaderelection.LeaderElector). Make it with `new_leader_elector`.

    `run` belongs to one thread and is called once; `is_leader`, `get_leader` and `check` may be called from any.

    `_observed_record` is the record as this process last saw or wrote it and `_observed_time` when it saw it change, on
    its own clock. `_observed_raw_record` tells whether it has changed.
    """

    def __init__(self, config: LeaderElectionConfig) -> None:
        assert config.lock is not None
        self._config = config
        self._lock = config.lock
        self._clock: Clock = REAL_CLOCK
        self._metrics = metrics._global_metrics_factory.new_leader_metrics()
        # Guards _observed_record and _observed_time, which `check` reads from other threads.
        self._observed_record_lock = threading.Lock()
        self._observed_record = rl.LeaderElectionRecord()
        self._observed_time = 0.0
        self._observed_raw_record = b""
        self._reported_leader = ""
        self._callback_threads = wait.Group()

    def run(self, ctx: Context) -> None:
        """Wait to become the leader, lead, and return when that is over or `ctx` is done. Blocks.

        `on_stopped_leading` runs in this thread as soon as leading has ended; then `run` joins the threads of the other
        callbacks. To stand for election again make a new elector.

        Go: LeaderElector.Run.
        """
        stopped = self._config.callbacks.on_stopped_leading
        assert stopped is not None
        try:
            with runtime.handle_crash_with_context(ctx):
                try:
                    self._lead_once(ctx)
                finally:
                    stopped()
        finally:
            self._callback_threads.wait()

    def _lead_once(self, ctx: Context) -> None:
        if not self._acquire(ctx):
            return
        leading, cancel = context.with_cancel(ctx)
        try:
            self._callback_threads.start(lambda: self._run_started(leading, cancel), name="leader-election-leading")
            self._renew(leading)
        finally:
            cancel()

    def _run_started(self, leading: Context, cancel: CancelFunc) -> None:
        started = self._config.callbacks.on_started_leading
        assert started is not None
        with runtime.handle_crash_with_context(leading, lambda _ctx, _err: cancel()):
            started(leading)

    def get_leader(self) -> str:
        """The identity of the leader seen last, "" if none. Go: LeaderElector.GetLeader."""
        return self._get_observed_record().holder_identity

    def is_leader(self) -> bool:
        """Whether the leader seen last is this process. It may have lost the lock without knowing it yet.

        Go: LeaderElector.IsLeader.
        """
        return self._get_observed_record().holder_identity == self._lock.identity()

    def _acquire(self, ctx: Context) -> bool:
        """Block until this process leads (True) or `ctx` is done (False)."""
        acquiring, cancel = context.with_cancel(ctx)
        desc = self._lock.describe()
        logger = klog.from_context(ctx)
        logger.info("Attempting to acquire leader lease...", lock=desc)
        succeeded = False

        def attempt(ctx: Context) -> None:
            nonlocal succeeded
            succeeded = self._try(ctx)
            self._maybe_report_transition()
            if not succeeded:
                logger.v(4).info("Failed to acquire lease", lock=desc)
                return
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
        """Block as long as the lock can be renewed, or until `ctx` is done; then release it if so configured."""
        renewing, cancel = context.with_cancel(ctx)
        logger = klog.from_context(ctx)
        config = self._config

        def attempt(ctx: Context) -> bool:
            err = ctx.err()
            if err is not None:
                raise err
            return self._try(ctx)

        def renew_once(ctx: Context) -> None:
            failure: Exception | None = None
            try:
                wait.poll_until_context_timeout(ctx, config.retry_period, config.renew_deadline, True, attempt)
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
            if config.release_on_cancel:
                self._release(logger)
        finally:
            cancel()
            self._lock.record_event("stopped leading")

    def _try(self, ctx: Context) -> bool:
        return self._try_coordinated_renew(ctx) if self._config.coordinated else self._try_acquire_or_renew(ctx)

    def _release(self, logger: klog.Logger) -> bool:
        """Leave the lock to whoever comes first, if this process holds it; False when that failed."""
        desc = self._lock.describe()
        # A context of its own: the one of `run` is done by now.
        ctx, cancel = context.with_timeout(context.background(), self._config.renew_deadline)
        try:
            old_record, _ = self._lock.get(ctx)
            if not self.is_leader():
                return True
            now = from_clock(self._clock.now())
            record = rl.LeaderElectionRecord(
                leader_transitions=old_record.leader_transitions,
                lease_duration_seconds=1,
                renew_time=now,
                acquire_time=now,
            )
            return self._write(ctx, logger, record, "Failed to release lease")
        except Exception as err:
            if errors.is_not_found(err):
                logger.info("lease lock not found", lock=desc)
            else:
                logger.error(err, "error retrieving resource lock", lock=desc)
            return False
        finally:
            cancel()

    def _try_coordinated_renew(self, ctx: Context) -> bool:
        """Renew a lock that the cluster gave to this process; never creates or takes one."""
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
        return self._write(ctx, logger, record, "Failed to update lock")

    def _try_acquire_or_renew(self, ctx: Context) -> bool:
        """Take the lock if nobody holds it, renew it if this process does; whether it holds it then."""
        logger = klog.from_context(ctx)
        desc = self._lock.describe()
        now = self._clock.now()
        record = self._new_record(now)

        # 1. The usual case: a leader with a valid lease writes without looking.
        if self.is_leader() and self._is_lease_valid(now):
            # What follows keeps these two, as in Go, even if somebody else took or deleted the lock meanwhile.
            record = _continuing(record, self._get_observed_record())
            try:
                self._lock.update(ctx, record)
            except Exception as err:
                logger.v(2).info("Failed to update lease optimistically, falling back to slow path", lock=desc, err=err)
            else:
                self._set_observed_record(record)
                return True

        # 2. Read the record, or create it.
        try:
            old_record, old_raw_record = self._lock.get(ctx)
        except Exception as err:
            if errors.is_not_found(err):
                return self._create(ctx, logger, record)
            logger.error(err, "Error retrieving lease lock", lock=desc)
            return False

        # 3. Has it changed, and does somebody else hold it?
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
        return self._write(ctx, logger, record, "Failed to update lease")

    def _new_record(self, now: float) -> rl.LeaderElectionRecord:
        """A record in this process's name, acquired and renewed now."""
        moment = from_clock(now)
        return rl.LeaderElectionRecord(
            holder_identity=self._lock.identity(),
            lease_duration_seconds=int(self._config.lease_duration),
            renew_time=moment,
            acquire_time=moment,
        )

    def _create(self, ctx: Context, logger: klog.Logger, record: rl.LeaderElectionRecord) -> bool:
        try:
            self._lock.create(ctx, record)
        except Exception as err:
            logger.error(err, "Error initially creating lease lock", lock=self._lock.describe())
            return False
        self._set_observed_record(record)
        return True

    def _write(self, ctx: Context, logger: klog.Logger, record: rl.LeaderElectionRecord, failure: str) -> bool:
        try:
            self._lock.update(ctx, record)
        except Exception as err:
            logger.error(err, failure, lock=self._lock.describe())
            return False
        self._set_observed_record(record)
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
            self._callback_threads.start(lambda: report(leader), name="leader-election-new-leader")

    def check(self, max_tolerable_expired_lease: float) -> None:
        """Raise RuntimeError when this process leads by a lease that ended more than that many seconds ago.

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

    def _set_observed_record(self, record: rl.LeaderElectionRecord) -> None:
        with self._observed_record_lock:
            self._observed_record = record
            self._observed_time = self._clock.now()

    def _get_observed_record(self) -> rl.LeaderElectionRecord:
        with self._observed_record_lock:
            return self._observed_record

    def __repr__(self) -> str:
        return f"<LeaderElector {self._lock.identity()} on {self._lock.describe()}, leader {self.get_leader()!r}>"


def _continuing(record: rl.LeaderElectionRecord, held: rl.LeaderElectionRecord) -> rl.LeaderElectionRecord:
    """`record` as the renewal of `held`."""
    return replace(record, acquire_time=held.acquire_time, leader_transitions=held.leader_transitions)


def run_or_die(ctx: Context, lec: LeaderElectionConfig) -> None:
    """Make an elector, connect its health check, and run it; see `LeaderElector.run`.

    Raises ValueError for a bad configuration (Go panics).

    Go: leaderelection.RunOrDie.
    """
    le = new_leader_elector(lec)
    if lec.watch_dog is not None:
        lec.watch_dog.set_leader_election(le)
    le.run(ctx)
