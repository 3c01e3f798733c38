"""Hold the shards that this replica should have, and know which objects are this replica's. No Go counterpart."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from clientgo import context, klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.context import CancelFunc, Context
from clientgo.tools import leaderelection
from clientgo.tools.leaderelection import resourcelock
from clientgo.tools.sharding.assignment import assign, shard_of
from clientgo.tools.sharding.membership import SHARD_LABEL, MemberLeasesGetter, Membership
from clientgo.utils.clock.clock import REAL_CLOCK, Clock

__all__ = ["Sharder", "ShardingConfig", "ShardingStatistics", "new_sharder"]


@dataclass(kw_only=True)
class ShardingConfig:
    """Options of a sharder. Durations are seconds, with the same meaning as for leader election."""

    leases: MemberLeasesGetter
    """The client of coordination.k8s.io/v1."""
    namespace: str
    """Where the Leases are."""
    name: str
    """Prefix of the Leases' names; equal in all replicas."""
    identity: str
    """The name of this replica, which no other has."""
    shards: int
    """Into how many parts the work is cut; the same for all replicas. More than there will be replicas."""
    on_acquired: Callable[[int], object]
    """Queues all objects of the shard again. Runs in a thread of the sharder, once the shard is this replica's."""
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0


class ShardingStatistics(NamedTuple):
    """The distribution of the work, read at one moment."""

    members: int
    """Number of live replicas at the last check, including this one."""
    wanted: tuple[int, ...]
    """The shards this replica should have."""
    held: tuple[int, ...]
    """The shards it has."""
    working: int
    """Number of keys that workers are processing."""


def new_sharder(config: ShardingConfig, clock: Clock | None = None) -> Sharder:
    """Raises ValueError for a configuration that makes no sense."""
    if config.shards < 1:
        raise ValueError(f"shards must be at least 1, got {config.shards}")
    if not config.identity:
        raise ValueError("identity must not be empty")
    return Sharder(config, clock or REAL_CLOCK)


@dataclass
class _Candidacy:
    """The candidacy of this replica for a shard, or its ownership."""

    elector: leaderelection.LeaderElector
    # Ends it: what is held is released.
    withdraw: CancelFunc
    # Whether it is to end as soon as no key of the shard is worked on; the lease is renewed until then.
    leaving: bool = False


class Sharder:
    """One replica's part of the work. `run` blocks and is called once; everything else may be called from any thread.

    Invariants (`_check` asserts them):
      * a shard that is held has a candidacy, which is not leaving;
      * no key is worked on but of a shard that is held, or was when the work on the key began and is being given up.
    """

    def __init__(self, config: ShardingConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._membership = Membership(
            config.leases, config.namespace, config.name, config.identity, config.lease_duration, clock
        )
        # Guards all below. Notified when a key is through; never held while anything else runs.
        self._changed = threading.Condition()
        # The shards that this replica stands for or has.
        self._standing: dict[int, _Candidacy] = {}
        self._held: set[int] = set()
        self._working: Counter[int] = Counter()
        self._elections = wait.Group()

    def __repr__(self) -> str:
        statistics = self.statistics()
        return f"<Sharder {self._config.identity} has {list(statistics.held)} of {self._config.shards}>"

    def _check(self) -> None:
        with self._changed:
            assert all(not self._standing[shard].leaving for shard in self._held), (self._held, self._standing)
            assert all(count > 0 for count in self._working.values()), self._working

    def shard_of(self, namespace: str, name: str) -> int:
        """The shard of an object."""
        return shard_of(namespace, name, self._config.shards)

    def owns(self, namespace: str, name: str) -> bool:
        """Report whether this replica owns the object now. Blocks only for the lock."""
        shard = self.shard_of(namespace, name)
        with self._changed:
            return self._is_ours(shard)

    @contextlib.contextmanager
    def working_on(self, namespace: str, name: str) -> Iterator[bool]:
        """Around the work on one key: True when the object is this replica's, and then it stays so inside `with`.

        The shard is not given up before the block has ended, unless its lease ends first because it cannot be renewed:
        long work asks `owns` again before it writes.
        """
        shard = self.shard_of(namespace, name)
        with self._changed:
            ours = self._is_ours(shard)
            if ours:
                self._working[shard] += 1
        try:
            yield ours
        finally:
            if ours:
                self._through(shard)

    def _is_ours(self, shard: int) -> bool:
        return shard in self._held and self._standing[shard].elector.holds_lease()

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
                wanted=tuple(sorted(shard for shard, one in self._standing.items() if not one.leaving)),
                held=tuple(sorted(self._held)),
                working=self._working.total(),
            )

    def run(self, ctx: Context) -> None:
        """Take part until `ctx` is done; the shards are given back then, each when its keys are through. Blocks."""
        try:
            wait.until_with_context(ctx, self._look_around, self._config.retry_period)
        finally:
            with self._changed:
                standing = list(self._standing)
            for shard in standing:
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
        """Say that this replica lives, see who else does, and stand for the shards that are this replica's."""
        asking, cancel = context.with_timeout(ctx, self._config.renew_deadline)
        try:
            self._membership.renew(asking)
            members = self._membership.look(asking)
        except Exception as err:
            # Nothing is given up: the electors see for themselves whether the leases can be renewed.
            if ctx.err() is None:
                klog.from_context(ctx).error(err, "Failed to see the other members", group=self._config.name)
            return
        finally:
            cancel()
        assigned = assign(self._config.shards, members | {self._config.identity})
        wanted = {shard for shard, member in assigned.items() if member == self._config.identity}
        with self._changed:
            standing = set(self._standing)
        for shard in sorted(standing - wanted):
            self._withdraw(shard)
        for shard in sorted(wanted - standing):
            self._stand(ctx, shard)

    def _withdraw(self, shard: int) -> None:
        """Begin nothing new of the shard, and give it up when what was begun is through."""
        with self._changed:
            candidacy = self._standing.get(shard)
            if candidacy is None or candidacy.leaving:
                return
            candidacy.leaving = True
            was_held = shard in self._held
            self._held.discard(shard)
            self._changed.notify_all()
        if not was_held:
            candidacy.withdraw()

    def _stand(self, ctx: Context, shard: int) -> None:
        """Begin to stand for one shard. It ends when this replica withdraws or has lost the lease."""
        # Not a child of `ctx`: `run` withdraws from all.
        standing, withdraw = context.with_cancel(context.without_cancel(ctx))
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
        if (sighting := self._membership.sighting(self._lease_of(shard))) is not None:
            record = resourcelock.lease_spec_to_leader_election_record(sighting.lease.spec)
            elector.continue_observation(record, record.to_json(), sighting.since)
        candidacy = _Candidacy(elector, withdraw)
        with self._changed:
            self._standing[shard] = candidacy

        def run() -> None:
            try:
                elector.run(standing)
            finally:
                with self._changed:
                    del self._standing[shard]
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
        """Have the shard until this replica leaves it or `leading` is done, and its keys are through."""
        logger = klog.from_context(leading)
        with self._changed:
            if not candidacy.leaving:
                self._held.add(shard)
        logger.info("Acquired shard", group=self._config.name, shard=shard)
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
            logger.info("Gave up shard", group=self._config.name, shard=shard)
            candidacy.withdraw()

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()
