"""Informers that hold only a replica's shards: nothing is lost and nothing overlaps while shards move."""

from __future__ import annotations

import os
import random
import threading

import pytest
from shardedcluster import LEASE, PERIOD, Cluster, Replica

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import synctest
from clientgo.testing.apiserver import Server
from clientgo.tools import cache
from clientgo.tools.sharding import ShardBy, ShardedInformers
from clientgo.utils.clock import REAL_CLOCK

NAMESPACES = ["alpha", "beta", "blue", "mail", "search", "shop"]
QUIET = 2 * LEASE + 10 * PERIOD


def new_cluster(by: ShardBy, shards: int = 4) -> Cluster:
    server = Server(listen=False, clock=REAL_CLOCK, feature_gates={"ShardedListAndWatch": True})
    server.start()
    cluster = Cluster(server, shards, by)
    for namespace in NAMESPACES:
        made = corev1.Namespace(metadata=metav1.ObjectMeta(name=namespace))
        cluster.client.core_v1().namespaces().create(context.background(), made)
    return cluster


def end(cluster: Cluster) -> None:
    """Stop all replicas and the server."""
    for replica in cluster.replicas:
        replica.network.is_cut = False
        if not replica.has_ended:
            replica.end()
    cluster.server.stop()


@pytest.mark.parametrize("by", [ShardBy.NAMESPACE, ShardBy.UID])
def test_each_replica_caches_its_own_shards_and_reconciles_them(by: ShardBy) -> None:
    with synctest.bubble(max_steps=50_000_000) as b:
        cluster = new_cluster(by)
        for namespace in NAMESPACES:
            for number in range(4):
                cluster.put(namespace, f"item-{number}", "1")
        for identity in "ab":
            cluster.join(identity)
        b.sleep(QUIET)
        assert cluster.problems() == []
        assert all(0 < len(replica.informer.get_store().list_keys()) < 24 for replica in cluster.replicas)
        cluster.put("alpha", "item-0", "2")
        cluster.remove("shop", "item-1")
        b.sleep(QUIET)
        assert cluster.problems() == []
        assert [cluster.reconciled[each] for each in cluster.reconciled if each.startswith("shop/item-1")] == [""]
        end(cluster)


def test_long_work_that_asks_again_loses_the_object_before_another_replica_gets_it() -> None:
    with synctest.bubble(max_steps=50_000_000) as b:
        cluster = new_cluster(ShardBy.NAMESPACE)
        cluster.put("shop", "item-0", "1")
        for identity in "ab":
            cluster.join(identity)
        b.sleep(QUIET)
        (owner,) = (each for each in cluster.replicas if each.sharder.owns("shop", "item-0"))
        (other,) = (each for each in cluster.replicas if each is not owner)
        with owner.sharder.working_on("shop", "item-0") as is_ours:
            assert is_ours
            owner.network.is_cut = True
            owned = [0.0, 0.0]
            for step in range(250):
                b.sleep(0.1)
                both = [each.sharder.owns("shop", "item-0") for each in (owner, other)]
                assert both != [True, True]
                owned = [step if is_owned else last for is_owned, last in zip(both, owned, strict=True)]
        assert 0 < owned[0] < owned[1] == 249
        end(cluster)


def test_an_object_that_a_replica_keeps_is_not_listed_again_when_shards_move() -> None:
    with synctest.bubble(max_steps=50_000_000) as b:
        cluster = new_cluster(ShardBy.UID)
        for number in range(20):
            cluster.put("shop", f"item-{number}", "1")
        first = cluster.join("a")
        b.sleep(QUIET)
        before = {id(each) for each in first.informer.get_store().list()}
        cluster.join("b")
        b.sleep(QUIET)
        after = {id(each) for each in first.informer.get_store().list()}
        assert cluster.problems() == []
        assert 0 < len(after) < len(before)
        assert after <= before
        end(cluster)


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("by", [ShardBy.NAMESPACE, ShardBy.UID])
@pytest.mark.parametrize("seed", range(int(os.environ.get("SHARDING_STORMS", "1"))))
def test_nothing_is_lost_or_worked_on_twice_in_a_storm(by: ShardBy, seed: int) -> None:
    storm(by, seed)


def storm(by: ShardBy, seed: int) -> None:
    """Let replicas join, leave and lose their network, and the gate change, while objects change.

    controllertest does not replace this: the number of its processes is fixed, and none loses only its network.
    """
    chance = random.Random(seed)
    random.seed(seed)  # The jitter of the library: a storm that fails must fail again.
    with synctest.bubble(max_steps=200_000_000) as b:
        cluster = new_cluster(by)
        cluster.join("first")
        for step in range(chance.randint(10, 30)):
            act(cluster, chance, step)
            b.sleep(chance.choice([0.01, 0.3, 1.0, 4.0, 20.0]))
        for replica in cluster.replicas:
            replica.network.is_cut = False
        if not cluster.live():
            cluster.join("last")
        settle(b, cluster)
        end(cluster)


def settle(b: synctest.Bubble, cluster: Cluster) -> None:
    """Wait until the cluster has no problem, at most `3 * QUIET`, and check that it stays so."""
    for _ in range(5):
        b.sleep(QUIET / 2)
        if not cluster.problems():
            break
    b.sleep(QUIET / 2)
    assert cluster.problems() == []


def act(cluster: Cluster, chance: random.Random, step: int) -> None:
    """Do one thing at random."""
    live: list[Replica] = cluster.live()
    deed = chance.choices(["put", "remove", "join", "leave", "cut", "heal", "gate"], [12, 4, 3, 2, 2, 2, 1])[0]
    namespace, name = chance.choice(NAMESPACES), f"item-{chance.randrange(4)}"
    if deed == "put":
        cluster.put(namespace, name, str(step))
    elif deed == "remove":
        cluster.remove(namespace, name)
    elif deed == "join" and len(live) < 4:
        cluster.join(f"replica-{step}")
    elif deed == "leave" and len(live) > 1:
        chance.choice(live).end()
    elif deed == "cut" and live:
        chance.choice(live).network.is_cut = True
    elif deed == "heal":
        for replica in cluster.replicas:
            replica.network.is_cut = False
    elif deed == "gate":
        cluster.gate = not cluster.gate


def test_informers_reject_what_no_server_selects_by() -> None:
    with pytest.raises(ValueError, match="cannot select by namespace and name"):
        ShardedInformers(3, ShardBy.NAME)
    informers = ShardedInformers(3, ShardBy.UID)
    informer = informers.informer(cache.ListWatch(), object)
    assert informers.shard_of("default", "unknown") is None
    with pytest.raises(RuntimeError, match="read-only"):
        informer.get_store().add(object())
    with pytest.raises(LookupError, match="Index with name nope does not exist"):
        informer.get_indexer().by_index("nope", "x")


@pytest.mark.parametrize("cancelled", [False, True], ids=["synced", "cancelled"])
def test_a_shard_is_not_owned_before_all_its_informers_have_synced(cancelled: bool) -> None:
    """The cache of a slow kind would lack objects that a worker expects there."""
    with synctest.bubble() as b:

        def list_slowly(ctx: context.Context, options: metav1.ListOptions) -> corev1.ConfigMapList:
            context.sleep(ctx, 30.0)
            return corev1.ConfigMapList(metadata=metav1.ListMeta(resource_version="1"))

        def list_at_once(ctx: context.Context, options: metav1.ListOptions) -> corev1.ConfigMapList:
            return corev1.ConfigMapList(metadata=metav1.ListMeta(resource_version="1"))

        informers = ShardedInformers(2, ShardBy.UID)
        ctx, cancel = context.with_cancel(context.background())
        starting, give_up = context.with_cancel(ctx)
        threads = []
        for lister in (list_at_once, list_slowly):
            source = cache.ListWatch(list_with_context_func=lister, watch_func_with_context=quiet_watch)
            informer = informers.informer(cache.to_list_watcher_with_watch_list_semantics(source, NoStreams()), None)
            run = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer")
            threads.append(run)
        results: list[bool] = []
        owner = threading.Thread(target=lambda: results.append(informers.start(starting, 1)), name="owner")
        for thread in [*threads, owner]:
            thread.start()
        b.sleep(29.0)
        assert results == []
        if cancelled:
            give_up()
        b.sleep(2.0)
        assert results == [not cancelled]
        assert informers.started() == (set() if cancelled else {1})
        cancel()
        for thread in [*threads, owner]:
            thread.join()


class NoStreams:
    """A client that cannot stream lists."""

    def is_watch_list_semantics_un_supported(self) -> bool:
        return True


def quiet_watch(ctx: context.Context, options: metav1.ListOptions) -> watch.Interface:
    """Return a watch without events that ends with the context."""
    quiet = watch.new_fake()
    ctx.add_done_callback(quiet.stop)
    return quiet
