"""The sharder, which holds this replica's shards and knows their objects. Not in Go."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from clientgo import context, klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.context import CancelFunc, Context
from clientgo.klog.exceptions import as_operational
from clientgo.tools import leaderelection
from clientgo.tools.leaderelection import resourcelock
from clientgo.tools.leaderelection.resourcelock.interface import require_names
from clientgo.tools.sharding.assignment import assign, shard_of
from clientgo.tools.sharding.informer import ShardedInformers
from clientgo.tools.sharding.membership import SHARD_LABEL, MemberLeasesGetter, Membership
from clientgo.utils.clock.clock import REAL_CLOCK, Clock

__all__ = ["Sharder", "ShardingConfig", "ShardingStatistics", "new_sharder"]


# Each shard has a Lease, which its replica renews every few seconds, and a thread that does so.
_MAX_SHARDS = 10_000


@dataclass(kw_only=True)
class ShardingConfig:
    """Options of a sharder. Durations are seconds, with the same meaning as for leader election."""

    leases: MemberLeasesGetter
    """The client of coordination.k8s.io/v1."""
    namespace: str
    """The namespace of the Leases."""
    name: str
    """Prefix of the Leases' names; equal in all replicas."""
    identity: str
    """The unique name of this replica."""
    shards: int
    """The number of shards, equal in all replicas. It should exceed the number of replicas."""
    on_acquired: Callable[[int], object]
    """Queues all objects of the shard again. Runs in a thread of the sharder, after this replica has acquired the
    shard.
    """
    informers: ShardedInformers | None = None
    """Informers that hold only this replica's shards; None for informers that hold everything."""
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0


class ShardingStatistics(NamedTuple):
    """The distribution of the work, read at one moment."""

    members: int
    """Number of live replicas at the last check, including this one."""
    wanted: tuple[int, ...]
    """The shards that this replica should hold."""
    held: tuple[int, ...]
    """The shards that this replica holds."""
    working: int
    """Number of keys that workers are processing."""


def new_sharder(config: ShardingConfig, clock: Clock | None = None) -> Sharder:
    """Return a sharder. Raises ValueError for an invalid configuration."""
    if config.shards < 1:
        raise as_operational(ValueError(f"shards must be at least 1, got {config.shards}"))
    if config.shards > _MAX_SHARDS:
        raise as_operational(ValueError(f"shards must be at most {_MAX_SHARDS}, got {config.shards}"))
    require_names(config.namespace, config.name)
    if not config.identity:
        raise ValueError("identity must not be empty")
    if config.informers is not None and config.informers.shards != config.shards:
        raise ValueError(f"the informers have {config.informers.shards} shards, the sharder has {config.shards}")
    return Sharder(config, clock or REAL_CLOCK)


@dataclass
class _Candidacy:
    """This replica's candidacy for a shard, or its ownership."""

    elector: leaderelection.LeaderElector
    # Ends the candidacy: a held shard is released.
    withdraw: CancelFunc
    # True if it must end as soon as no key of the shard is in progress; the lease is renewed until then.
    leaving: bool = False


class Sharder:
    """One replica's part of the sharding. Call `run` once, which blocks; all other methods are thread-safe.

    Invariants (`_check` asserts them):
    * a held shard has a candidacy, which is not leaving;
    * every key in progress belongs to a held shard, or to a shard that was held when the work began and is being
      released.
    """

    def __init__(self, config: ShardingConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._membership = Membership(
            config.leases, config.namespace, config.name, config.identity, config.lease_duration, clock
        )
        # Guards all attributes below. Notified when the work on a key has ended; never held while other code runs.
        self._changed = threading.Condition()
        # The shards that this replica is a candidate for or holds.
        self._candidacies: dict[int, _Candidacy] = {}
        self._held: set[int] = set()
        # The shards that this replica should hold: it is a candidate unless another replica still has the Lease.
        self._wanted: set[int] = set()
        self._working: Counter[int] = Counter()
        self._elections = wait.Group()

    def __repr__(self) -> str:
        statistics = self.statistics()
        return f"<Sharder {self._config.identity} has {list(statistics.held)} of {self._config.shards}>"

    def _check(self) -> None:
        with self._changed:
            assert all(not self._candidacies[shard].leaving for shard in self._held), (self._held, self._candidacies)
            assert all(count > 0 for count in self._working.values()), self._working

    def shard_of(self, namespace: str, name: str) -> int | None:
        """Return the shard of an object; None if it is unknown, see `ShardedInformers.shard_of`."""
        if self._config.informers is not None:
            return self._config.informers.shard_of(namespace, name)
        return shard_of(namespace, name, self._config.shards)

    def owns(self, namespace: str, name: str) -> bool:
        """Report whether this replica owns the object now. Blocks only for the lock."""
        shard = self.shard_of(namespace, name)
        with self._changed:
            return self._is_ours(shard)

    @contextlib.contextmanager
    def working_on(self, namespace: str, name: str) -> Iterator[bool]:
        """Do the work on a key inside this context manager: it yields True if this replica owns the object.

        The replica keeps the shard until the block has ended, unless the lease expires first because it cannot be
        renewed: long work must call `owns` again before it writes.
        """
        shard = self.shard_of(namespace, name)
        with self._changed:
            ours = shard if self._is_ours(shard) else None
            if ours is not None:
                self._working[ours] += 1
        try:
            yield ours is not None
        finally:
            if ours is not None:
                self._through(ours)

    def _is_ours(self, shard: int | None) -> TypeGuard[int]:
        return shard in self._held and self._candidacies[shard].elector.holds_lease()

    def _through(self, shard: int) -> None:
        with self._changed:
            self._working[shard] -= 1
            if not self._working[shard]:
                del self._working[shard]
                self._changed.notify_all()

    def statistics(self) -> ShardingStatistics:
        """Return the current distribution of the work."""
        members = self._membership.members()
        with self._changed:
            return ShardingStatistics(
                members=len(members),
                wanted=tuple(sorted(self._wanted)),
                held=tuple(sorted(self._held)),
                working=self._working.total(),
            )

    def run(self, ctx: Context) -> None:
        """Take part until `ctx` is done; then release each shard when the work on its keys has ended. Blocks."""
        try:
            wait.until_with_context(ctx, self._look_around, self._config.retry_period)
        finally:
            with self._changed:
                candidates = list(self._candidacies)
                self._wanted = set()
            for shard in candidates:
                self._withdraw(shard)
            self._elections.wait()
            self._leave(ctx)

    def _leave(self, ctx: Context) -> None:
        leaving, cancel = context.with_timeout(context.without_cancel(ctx), self._config.renew_deadline)
        try:
            self._membership.leave(leaving)
        except Exception as err:
            klog.from_context(ctx).error(err, "Failed to leave; the others will find out", group=self._config.name)
        finally:
            cancel()

    def _look_around(self, ctx: Context) -> None:
        """Renew this replica's Lease, observe the others, and become a candidate for this replica's shards."""
        asking, cancel = context.with_timeout(ctx, self._config.renew_deadline)
        try:
            self._membership.renew(asking)
            members = self._membership.look(asking)
        except Exception as err:
            # Nothing is released here: the electors detect by themselves whether the leases can be renewed.
            if ctx.err() is None:
                klog.from_context(ctx).error(err, "Failed to see the other members", group=self._config.name)
            return
        finally:
            cancel()
        assigned = assign(self._config.shards, members | {self._config.identity})
        wanted = {shard for shard, member in assigned.items() if member == self._config.identity}
        with self._changed:
            candidates = set(self._candidacies)
            self._wanted = wanted
        for shard in sorted(candidates - wanted):
            self._withdraw(shard)
        for shard in sorted(wanted - candidates):
            # An election would ask again only after up to 2.2 retry periods; the next look is earlier, and sees a
            # release or the end of the Lease.
            if not self._membership.is_held_by_another(self._lease_of(shard)):
                self._run_for(ctx, shard)

    def _withdraw(self, shard: int) -> None:
        """Begin no new work on the shard, and release it when the current work has ended."""
        with self._changed:
            candidacy = self._candidacies.get(shard)
            if candidacy is None or candidacy.leaving:
                return
            candidacy.leaving = True
            was_held = shard in self._held
            self._held.discard(shard)
            self._changed.notify_all()
        if not was_held:
            candidacy.withdraw()

    def _run_for(self, ctx: Context, shard: int) -> None:
        """Become a candidate for one shard, until this replica withdraws or has lost the lease."""
        # Not a child of `ctx`: `run` withdraws from all shards.
        election, withdraw = context.with_cancel(context.without_cancel(ctx))
        elector = leaderelection.new_leader_elector(
            leaderelection.LeaderElectionConfig(
                lock=self._lock_of(shard),
                lease_duration=self._config.lease_duration,
                renew_deadline=self._config.renew_deadline,
                retry_period=self._config.retry_period,
                callbacks=leaderelection.LeaderCallbacks(
                    on_started_leading=lambda leading: self._hold(leading, shard, candidacy),
                    on_stopped_leading=lambda: None,
                ),
                release_on_cancel=True,
                name=self._lease_of(shard),
            ),
            self._clock,
        )
        if (observation := self._membership.observation(self._lease_of(shard))) is not None:
            record = resourcelock.lease_spec_to_leader_election_record(observation.lease.spec)
            elector.continue_observation(record, record.to_json(), observation.since)
        candidacy = _Candidacy(elector, withdraw)
        with self._changed:
            self._candidacies[shard] = candidacy

        def run() -> None:
            try:
                elector.run(election)
            finally:
                with self._changed:
                    del self._candidacies[shard]
                withdraw()

        self._elections.start(run, name=f"sharding-{shard}")

    def _lock_of(self, shard: int) -> resourcelock.Interface:
        return resourcelock.new_with_labels(
            resourcelock.LEASES_RESOURCE_LOCK,
            self._config.namespace,
            self._lease_of(shard),
            None,
            self._config.leases,
            resourcelock.ResourceLockConfig(identity=self._config.identity),
            {SHARD_LABEL: self._config.name},
        )

    def _lease_of(self, shard: int) -> str:
        return f"{self._config.name}-shard-{shard}"

    def _hold(self, leading: Context, shard: int, candidacy: _Candidacy) -> None:
        """Hold the shard until this replica withdraws or `leading` is done, and the work on its keys has ended."""
        logger = klog.from_context(leading)
        if not self._start_informers(leading, shard):
            candidacy.withdraw()
            return
        # Before the work on the shard begins, so that the log has no other lines about its objects earlier.
        logger.info("Acquired shard", group=self._config.name, shard=shard)
        with self._changed:
            if not candidacy.leaving:
                self._held.add(shard)
        forget = leading.add_done_callback(self._notify)
        try:
            with utilruntime.handle_crash_with_context(leading, go_on=True):
                self._config.on_acquired(shard)
            with self._changed:
                while not (candidacy.leaving or leading.done().is_set()):
                    self._changed.wait()
        finally:
            forget()
            with self._changed:
                self._held.discard(shard)
                while self._working[shard]:
                    self._changed.wait()
            if self._config.informers is not None:
                self._config.informers.stop(shard)
            logger.info("Gave up shard", group=self._config.name, shard=shard)
            candidacy.withdraw()

    def _start_informers(self, leading: Context, shard: int) -> bool:
        """Start the informers of the shard, if there are any, and report whether they have synced."""
        if self._config.informers is None:
            return True
        try:
            return self._config.informers.start(leading, shard)
        except Exception as err:
            klog.from_context(leading).error(err, "Failed to start the informers of a shard", shard=shard)
            return False

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()
