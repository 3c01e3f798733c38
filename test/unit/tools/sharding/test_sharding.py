"""Replicas that share the work: who should have what, who has it, and that no two ever have the same."""

from __future__ import annotations

import logging
import random
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from fakeleases import FakeLeases
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_invariants

from clientgo import context
from clientgo.api.coordination import v1 as coordinationv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime.controller.priorityqueue.priorityqueue import PriorityQueue
from clientgo.testing import synctest
from clientgo.tools import leaderelection, sharding
from clientgo.tools.sharding import Sharder, ShardingConfig, assign, shard_of
from clientgo.tools.sharding.membership import MEMBER_LABEL, SHARD_LABEL
from clientgo.util import workqueue
from clientgo.utils.clock.testing import FakeClock

SHARDS = 6
LEASE, DEADLINE, PERIOD = 15.0, 10.0, 2.0
# A member is noticed within a period, and a free lease is asked for with a jitter of up to 1.2 periods.
SOON = 5 * PERIOD

MEMBERS = st.sets(st.text(min_size=1, max_size=4), min_size=1, max_size=8)


@given(shards=st.integers(1, 40), members=MEMBERS)
def test_every_shard_goes_to_a_member_and_the_shares_are_even(shards: int, members: set[str]) -> None:
    assigned = assign(shards, members)
    sizes = Counter(assigned.values())
    assert assigned.keys() == set(range(shards))
    assert sizes.keys() <= members
    assert max(sizes.values()) - min(sizes[member] for member in members) <= 1
    assert assign(shards, sorted(members, reverse=True)) == assigned


def test_without_members_no_shard_has_an_owner() -> None:
    assert assign(3, []) == {}


def test_a_member_that_leaves_moves_about_its_own_shards_only() -> None:
    members = [f"replica-{number}" for number in range(10)]
    before, after = assign(100, members), assign(100, members[1:])
    moved = [shard for shard in before if before[shard] != after[shard]]
    assert len(moved) < 30  # of a hundred; its own are ten


def test_the_shard_of_a_key_never_changes() -> None:
    # Replicas of different versions must agree.
    assert [shard_of("default", f"foo-{number}", 8) for number in range(6)] == [5, 3, 3, 7, 2, 0]
    counts = Counter(shard_of("default", f"foo-{number}", 4) for number in range(4000))
    assert min(counts.values()) > 900


class Server:
    """Leases, and a way to cut a replica off from them."""

    def __init__(self) -> None:
        self.leases_of_all = FakeLeases()
        self.cut_off: set[str] = set()

    def client(self, identity: str) -> Any:
        return _Client(self, identity)


class _Client:
    def __init__(self, server: Server, identity: str) -> None:
        self._server = server
        self._identity = identity

    def leases(self, namespace: str) -> Any:
        return self

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        def call(ctx: Context, *args: Any) -> Any:
            if self._identity in self._server.cut_off:
                raise ConnectionError("no route to host")
            return getattr(self._server.leases_of_all, verb)(ctx, *args)

        return call


class Replica:
    def __init__(self, server: Server, identity: str, on_acquired: Callable[[int], None] | None = None) -> None:
        self.acquired: list[int] = []
        self.sharder: Sharder = sharding.new_sharder(
            ShardingConfig(
                leases=server.client(identity),
                namespace="default",
                name="test",
                identity=identity,
                shards=SHARDS,
                on_acquired=on_acquired or self.acquired.append,
                lease_duration=LEASE,
                renew_deadline=DEADLINE,
                retry_period=PERIOD,
            )
        )
        ctx, self.stop = context.with_cancel(context.background())
        self.thread = threading.Thread(target=self.sharder.run, args=(ctx,), name=f"replica-{identity}")
        self.thread.start()

    def held(self) -> tuple[int, ...]:
        check_invariants(self.sharder)
        return self.sharder.statistics().held

    def end(self) -> None:
        self.stop()
        self.thread.join()


def keys_of(shard: int) -> tuple[str, str]:
    return next(("ns", name) for name in map(str, range(1000)) if shard_of("ns", name, SHARDS) == shard)


def members(server: Server) -> list[str]:
    options = metav1.ListOptions(label_selector="sharding.clientgo/member-of=test")
    return sorted(one.spec.holder_identity for one in server.leases_of_all.list(context.background(), options).items)


def held(replicas: list[Replica]) -> list[int]:
    return sorted(shard for replica in replicas for shard in replica.held())


def sizes(replicas: list[Replica]) -> list[int]:
    return sorted(len(replica.held()) for replica in replicas)


def test_replicas_share_evenly_and_hand_over_when_one_comes_or_goes() -> None:
    with synctest.bubble() as b:
        server = Server()
        first = Replica(server, "a")
        b.sleep(SOON)
        assert held([first]) == list(range(SHARDS))

        replicas = [first, Replica(server, "b"), Replica(server, "c")]
        b.sleep(2 * SOON)
        assert held(replicas) == list(range(SHARDS))
        assert sizes(replicas) == [2, 2, 2]
        assert all(replica.acquired[-2:] for replica in replicas)

        replicas.pop().end()
        b.sleep(2 * SOON)
        assert held(replicas) == list(range(SHARDS))
        assert sizes(replicas) == [3, 3]
        for replica in replicas:
            replica.end()
            assert replica.held() == ()


class StatusByLease:
    """A provider and the metric of leader election: 1 for each Lease that an elector holds, 0 for one it gave up."""

    def __init__(self) -> None:
        self.status: dict[str, int] = {}

    def new_leader_metric(self) -> StatusByLease:
        return self

    def on(self, name: str) -> None:
        self.status[name] = 1

    def off(self, name: str) -> None:
        self.status[name] = 0

    def slowpath_exercised(self, name: str) -> None: ...


def test_the_metric_of_leader_election_shows_the_shards_of_a_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    factory = leaderelection.metrics._LeaderMetricsFactory()
    monkeypatch.setattr(leaderelection.metrics, "_global_metrics_factory", factory)
    metric = StatusByLease()
    leaderelection.set_provider(metric)
    with synctest.bubble() as b:
        replica = Replica(Server(), "a")
        b.sleep(SOON)
        assert metric.status == {f"test-shard-{shard}": 1 for shard in range(SHARDS)}
        replica.end()
        assert metric.status == {f"test-shard-{shard}": 0 for shard in range(SHARDS)}


def test_the_shards_of_a_replica_that_is_cut_off_come_to_the_others() -> None:
    with synctest.bubble() as b:
        server = Server()
        replicas = [Replica(server, name) for name in "abc"]
        b.sleep(4 * SOON)
        assert sizes(replicas) == [2, 2, 2]

        server.cut_off.add("c")
        b.sleep(LEASE)  # by now it may not write any more
        assert replicas[2].held() == ()
        b.sleep(LEASE + 2 * SOON)
        assert held(replicas[:2]) == list(range(SHARDS))

        server.cut_off.clear()
        b.sleep(LEASE + 4 * SOON)
        assert sizes(replicas) == [2, 2, 2]
        for replica in replicas:
            replica.end()


@pytest.mark.parametrize("seed", range(8))
def test_the_shards_of_a_crashed_replica_are_taken_over_after_one_lease_and_two_periods(seed: int) -> None:
    """The others do not begin to count when they find the member dead, so it is as fast as plain leader election."""
    chance = random.Random(seed)
    with synctest.bubble(max_steps=5_000_000) as b:
        server = Server()
        replicas = []
        for name in "abc"[: chance.choice([2, 3])]:
            replicas.append(Replica(server, name))
            b.sleep(chance.uniform(0.0, 2 * PERIOD))
        b.sleep(4 * SOON + chance.uniform(0.0, 3 * PERIOD))
        assert held(replicas) == list(range(SHARDS))

        crashed, *others = replicas
        left_behind = set(crashed.held())
        assert left_behind
        server.cut_off.add("a")
        crashed_at = b.elapsed
        while not left_behind <= set(held(others)):
            assert b.elapsed - crashed_at < 3 * LEASE
            b.sleep(0.1)
        taken = b.elapsed - crashed_at
        assert LEASE - DEADLINE < taken <= LEASE + 2 * PERIOD + 0.2
        assert crashed.held() == ()
        for replica in replicas:
            replica.end()


def lease_of(name: str, label: str, holder: str) -> coordinationv1.Lease:
    metadata = metav1.ObjectMeta(name=name, namespace="default", labels={label: "test"})
    return coordinationv1.Lease(metadata=metadata, spec=coordinationv1.LeaseSpec(holder_identity=holder))


def renew(server: Server, member: str, shards: list[int]) -> None:
    leases = [lease_of(f"test-shard-{shard}", SHARD_LABEL, member) for shard in shards]
    for lease in (*leases, lease_of(f"test-member-{member}", MEMBER_LABEL, member)):
        lease.spec.lease_duration_seconds = int(LEASE)
        server.leases_of_all.put(lease)


@pytest.mark.parametrize("seed", range(8))
def test_replicas_that_crash_at_once_are_replaced_as_fast_as_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first that is found dead leaves a shard of the second to the survivor, whose election must not wait."""
    monkeypatch.setattr("random.random", random.Random(seed).random)
    shares = {name: [shard for shard, owner in assign(SHARDS, "abc").items() if owner == name] for name in "ab"}
    assert any(assign(SHARDS, "bc")[shard] == "c" for shard in shares["b"])
    with synctest.bubble() as b:
        server = Server()
        for name, shards in shares.items():
            renew(server, name, shards)
        # Looks at 0, 2, 4 ... seconds.
        survivor = Replica(server, "c")
        b.sleep(PERIOD + 1)
        renew(server, "b", shares["b"])
        # The changes have been seen at 0 and at 4 seconds: 16 and 20 are the first looks that find both dead.
        b.sleep(LEASE + 2)
        assert survivor.sharder.statistics().members == 1
        b.sleep(0.1)
        assert survivor.held() == tuple(range(SHARDS))
        survivor.end()


def test_a_member_lives_as_long_as_its_lease_or_that_of_one_of_its_shards_changes() -> None:
    leases, clock = FakeLeases(), FakeClock(100.0)
    membership = sharding.Membership(leases, "default", "test", "me", LEASE, clock)
    leases.put(lease_of("test-member-other", MEMBER_LABEL, "other"))
    leases.put(lease_of("test-shard-0", SHARD_LABEL, "other"))
    leases.put(lease_of("test-shard-1", SHARD_LABEL, "a member that has left"))
    assert membership.look(context.background()) == {"other"}

    for _ in range(4):
        clock.step(LEASE - 1.0)
        leases.put(lease_of("test-shard-0", SHARD_LABEL, "other"))
        assert membership.look(context.background()) == {"other"}
    observation = membership.observation("test-shard-0")
    assert observation is not None
    assert observation.since == clock.now()

    clock.step(LEASE - 1.0)
    assert membership.look(context.background()) == {"other"}
    clock.step(1.0)
    assert membership.look(context.background()) == set()
    assert membership.observation("test-shard-0") == observation
    assert membership.observation("test-shard-2") is None


def test_a_shard_is_not_given_up_while_one_of_its_keys_is_worked_on() -> None:
    with synctest.bubble() as b:
        server = Server()
        first = Replica(server, "a")
        b.sleep(SOON)
        moving = next(shard for shard, member in assign(SHARDS, ["a", "b"]).items() if member == "b")
        with first.sharder.working_on(*keys_of(moving)) as ours:
            assert ours
            second = Replica(server, "b")
            b.sleep(4 * SOON)
            assert not first.sharder.owns(*keys_of(moving))  # nothing new is begun
            assert not second.sharder.owns(*keys_of(moving))
            with first.sharder.working_on(*keys_of(moving)) as again:
                assert not again
            assert len(second.held()) == SHARDS / 2 - 1
        b.sleep(SOON)
        assert second.sharder.owns(*keys_of(moving))
        first.end()
        second.end()


def test_a_shard_that_is_acquired_is_announced_and_an_announcement_that_fails_costs_nothing() -> None:
    with synctest.bubble() as b:
        server = Server()

        def fail(shard: int) -> None:
            raise RuntimeError("the cache is not there")

        replica = Replica(server, "a", on_acquired=fail)
        b.sleep(SOON)
        assert held([replica]) == list(range(SHARDS))
        replica.end()


def test_the_log_has_the_beginning_of_a_shard_before_the_work_and_the_end_after_it() -> None:
    replica: Replica
    owned: list[tuple[str, bool]] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            event, _, rest = record.getMessage().partition(" shard")
            if rest.endswith("shard=0"):
                owned.append((event.strip('"'), replica.sharder.owns(*keys_of(0))))

    handler = Handler()
    logging.getLogger("clientgo").addHandler(handler)
    try:
        with synctest.bubble() as b:
            replica = Replica(Server(), "a")
            b.sleep(SOON)
            replica.end()
    finally:
        logging.getLogger("clientgo").removeHandler(handler)

    assert owned == [("Acquired", False), ("Gave up", False)]


def test_a_member_that_never_came_back_is_forgotten() -> None:
    with synctest.bubble() as b:
        server = Server()
        gone, stays = Replica(server, "gone"), Replica(server, "stays")
        b.sleep(SOON)
        server.cut_off.add("gone")
        gone.end()
        assert members(server) == ["gone", "stays"]
        b.sleep(11 * LEASE)
        assert members(server) == ["stays"]
        stays.end()
        assert members(server) == []


def test_a_replica_that_stops_finishes_what_it_has_begun() -> None:
    with synctest.bubble() as b:
        server = Server()
        first, second = Replica(server, "a"), Replica(server, "b")
        b.sleep(2 * SOON)
        shard = first.held()[0]
        with first.sharder.working_on(*keys_of(shard)) as ours:
            assert ours
            first.stop()
            b.sleep(3 * LEASE)
            assert shard not in second.held()
        first.thread.join()
        b.sleep(2 * SOON)
        assert held([second]) == list(range(SHARDS))
        second.end()


def test_at_every_moment_a_key_is_worked_on_by_one_replica_at_most() -> None:
    """Replicas come, go and are cut off, while each works on every key that it may, all the time."""
    working: Counter[tuple[str, str]] = Counter()
    most: list[int] = []
    guard = threading.Lock()

    def work(replica: Replica, stop: threading.Event) -> None:
        keys = [keys_of(shard) for shard in range(SHARDS)]
        while not stop.is_set():
            for key in keys:
                with replica.sharder.working_on(*key) as ours:
                    if not ours:
                        continue
                    with guard:
                        working[key] += 1
                        most.append(working[key])
                    stop.wait(0.3)
                    with guard:
                        working[key] -= 1
            stop.wait(0.1)

    with synctest.bubble(max_steps=5_000_000) as b:
        server = Server()
        stop = threading.Event()
        replicas: list[Replica] = []
        workers: list[threading.Thread] = []

        def add(name: str) -> None:
            replicas.append(Replica(server, name))
            workers.append(threading.Thread(target=work, args=(replicas[-1], stop), name=f"worker-{name}"))
            workers[-1].start()

        for name in "abc":
            add(name)
            b.sleep(7.0)
        server.cut_off.add("a")
        b.sleep(40.0)
        replicas[1].stop()
        server.cut_off.clear()
        b.sleep(30.0)
        add("d")
        b.sleep(30.0)
        assert held(replicas) == list(range(SHARDS))
        stop.set()
        for worker in workers:
            worker.join()
        for replica in replicas:
            replica.end()
    assert len(most) > 100
    assert set(most) == {1}


@pytest.mark.parametrize(
    ("change", "text"),
    [({"shards": 0}, "shards must be at least 1, got 0"), ({"identity": ""}, "identity must not be empty")],
)
def test_a_configuration_that_makes_no_sense_is_refused(change: dict[str, Any], text: str) -> None:
    settings: dict[str, Any] = {"namespace": "n", "name": "x", "identity": "i", "shards": 1, "on_acquired": print}
    with pytest.raises(ValueError, match=text):
        sharding.new_sharder(ShardingConfig(leases=FakeLeases(), **{**settings, **change}))


def test_a_sharder_lists_its_shards() -> None:
    with synctest.bubble() as b:
        replica = Replica(Server(), "a")
        b.sleep(SOON)
        assert repr(replica.sharder) == "<Sharder a has [0, 1, 2, 3, 4, 5] of 6>"
        with replica.sharder.working_on(*keys_of(0)):
            assert replica.sharder.statistics().working == 1
        assert replica.sharder.statistics().members == 1
        replica.end()




def name_of(item: tuple[str, str]) -> tuple[str, str]:
    return item


def test_a_sharded_queue_takes_and_gives_only_what_is_ours() -> None:
    with synctest.bubble() as b:
        server = Server()
        first = Replica(server, "a")
        inner: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        queue = sharding.ShardedQueue(inner, first.sharder, name_of)
        queue.add(keys_of(0))
        assert queue.len() == 0  # nothing is ours yet
        b.sleep(SOON)
        moving = next(shard for shard, member in assign(SHARDS, ["a", "b"]).items() if member == "b")
        staying = next(shard for shard, member in assign(SHARDS, ["a", "b"]).items() if member == "a")
        for shard in (moving, staying):
            queue.add(keys_of(shard))
        queue.add_after(keys_of(moving), 10 * SOON)
        assert queue.get() == (keys_of(moving), False)
        check_invariants(queue)
        second = Replica(server, "b")
        b.sleep(3 * SOON)
        assert not second.sharder.owns(*keys_of(moving))  # it is still out
        queue.done(keys_of(moving))
        b.sleep(SOON)
        assert second.sharder.owns(*keys_of(moving))
        assert queue.get() == (keys_of(staying), False)
        queue.done(keys_of(staying))
        # What comes due for another is dropped, and does not stop a worker that waits for more.
        got: list[Any] = []
        worker = threading.Thread(target=lambda: got.append(queue.get()), name="worker")
        worker.start()
        b.sleep(10 * SOON)
        assert got == []
        assert inner.len() == 0
        queue.shut_down()
        worker.join()
        assert got[0][1]
        first.end()
        second.end()


def test_a_sharded_priority_queue_keeps_priorities_and_gives_only_what_is_ours() -> None:
    with synctest.bubble() as b:
        server = Server()
        first = Replica(server, "a")
        inner: workqueue.PriorityQueue[tuple[str, str]] = workqueue.new_priority_queue()
        queue = sharding.ShardedPriorityQueue(inner, first.sharder, name_of)
        assert isinstance(queue, PriorityQueue)  # to controller-runtime
        low, high = workqueue.AddOpts(priority=workqueue.LOW_PRIORITY), workqueue.AddOpts(priority=7)
        queue.add_with_opts(low, *map(keys_of, range(SHARDS)))
        assert queue.len() == 0  # nothing is ours yet
        b.sleep(SOON)
        assigned = assign(SHARDS, ["a", "b"])
        moving = [keys_of(shard) for shard, member in assigned.items() if member == "b"]
        staying, urgent, *_ = (keys_of(shard) for shard, member in assigned.items() if member == "a")
        queue.add_with_opts(low, *moving[1:], staying)
        queue.add_with_opts(high, urgent, moving[0])
        assert queue.get_with_priority() == (urgent, 7, False)
        queue.done(urgent)
        assert queue.get_with_priority() == (moving[0], 7, False)
        check_invariants(queue)

        second = Replica(server, "b")
        b.sleep(3 * SOON)
        assert not second.sharder.owns(*moving[0])  # it is still out
        queue.done(moving[0])
        b.sleep(SOON)
        assert second.sharder.owns(*moving[0])
        queue.add_with_opts(high, *moving)
        # What has become another's meanwhile is dropped.
        assert queue.get_with_priority() == (staying, workqueue.LOW_PRIORITY, False)
        queue.done(staying)
        assert queue.len() == 0
        queue.shut_down()
        assert queue.get_with_priority()[2]
        first.end()
        second.end()
