"""The server without a port: its clients in virtual time, late watches, and programs killed between their writes."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from virtualcluster import CTX, Killed, Life, Program, VirtualCluster, every, up_to

from clientgo import context, informers, kubernetes, rest
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import reconcile
from clientgo.controller_runtime.config import Controller
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.testing import synctest
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.local import LocalTransport

LIST = metav1.ListOptions()


def config_of(server: Server, **options: Any) -> rest.Config:
    transport = LocalTransport(server, **options)
    return rest.Config(host=server.url, bearer_token=server.token, qps=-1, transport=transport)


def config_map(name: str, **data: str) -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default"), data=data)


def test_a_server_that_does_not_listen_has_no_http_server() -> None:
    with Server(listen=False) as server, pytest.raises(ValueError, match="does not listen"):
        server.http.start()


def test_a_server_starts_and_stops_once_however_often_it_is_asked() -> None:
    server = Server(listen=False)
    server.start()
    threads = threading.active_count()
    server.start()
    assert threading.active_count() == threads
    client = kubernetes.new_for_config(config_of(server))
    client.core_v1().config_maps("default").create(CTX, config_map("a"))
    client.close()
    for _ in range(2):
        server.stop()


def test_who_numbers_the_uids_gets_the_same_ones_in_every_run() -> None:
    def run() -> list[str]:
        numbers = iter(range(1000))
        with Server(listen=False, new_uid=lambda: f"uid-{next(numbers)}") as server:
            config = rest.Config(host=server.url, bearer_token=server.token, transport=LocalTransport(server))
            client = kubernetes.new_for_config(config)
            made = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a"))
            uid = client.core_v1().config_maps("default").create(CTX, made, metav1.CreateOptions()).metadata.uid
            client.close()
            return [uid, *(str(stored.obj["metadata"]["uid"]) for _, stored in server.store.walk())]

    first = synctest.run(run)
    assert first[0].startswith("uid-") and len(first[1:]) == len({*first[1:]})
    assert synctest.run(run) == first


def test_a_watch_ends_when_its_time_is_over_its_request_or_the_server() -> None:
    with synctest.bubble() as bubble, Server(listen=False) as server:
        maps = kubernetes.new_for_config(config_of(server)).core_v1().config_maps("default")
        version = maps.list(CTX, LIST).metadata.resource_version

        timed = maps.watch(CTX, metav1.ListOptions(resource_version=version, timeout_seconds=90))
        maps.create(CTX, config_map("a"), metav1.CreateOptions())
        maps.delete(CTX, "a", metav1.DeleteOptions())
        assert [timed.result_chan().receive()[0].type for _ in range(2)] == ["ADDED", "DELETED"]
        assert timed.result_chan().receive() == (None, False)
        assert bubble.elapsed == 90.0

        ctx, cancel = context.with_cancel(CTX)
        cancelled = maps.watch(ctx, metav1.ListOptions(resource_version=version))
        assert [cancelled.result_chan().receive()[0].type for _ in range(2)] == ["ADDED", "DELETED"]
        cancel()
        assert not cancelled.result_chan().receive()[1]

        last = maps.watch(CTX, metav1.ListOptions(resource_version=version))
        server.stop()
        assert [last.result_chan().receive()[1] for _ in range(3)] == [True, True, False]


def test_bookmarks_come_each_minute() -> None:
    with synctest.bubble() as bubble, Server(listen=False) as server:
        client = kubernetes.new_for_config(config_of(server)).core_v1()
        version = client.config_maps("default").list(CTX, LIST).metadata.resource_version
        options = metav1.ListOptions(resource_version=version, allow_watch_bookmarks=True, timeout_seconds=150)
        watch = client.config_maps("default").watch(CTX, options)
        secret = corev1.Secret(metadata=metav1.ObjectMeta(name="s", namespace="default"))
        client.secrets("default").create(CTX, secret, metav1.CreateOptions())
        for at in (60.0, 120.0):
            event, _ = watch.result_chan().receive()
            assert (event.type, bubble.elapsed) == ("BOOKMARK", at)
            assert event.object.metadata.resource_version == str(server.store.version)
        assert not watch.result_chan().receive()[1]


def test_a_late_watch_shows_everything_in_order_after_its_delay() -> None:
    delays = iter([5.0, 1.0, 9.0])
    with synctest.bubble() as bubble, Server(listen=False) as server:
        maps = kubernetes.new_for_config(config_of(server)).core_v1().config_maps("default")
        late = kubernetes.new_for_config(config_of(server, delay=lambda: next(delays)))
        version = maps.list(CTX, LIST).metadata.resource_version
        watch = late.core_v1().config_maps("default").watch(CTX, metav1.ListOptions(resource_version=version))
        for name in "abc":
            maps.create(CTX, config_map(name), metav1.CreateOptions())
        seen = []
        for _ in "abc":
            event, _ = watch.result_chan().receive()
            seen.append((event.object.metadata.name, bubble.elapsed))
        assert seen == [("a", 5.0), ("b", 5.0), ("c", 9.0)]
        watch.stop()


def test_an_informer_follows_the_server_in_virtual_time() -> None:
    with synctest.bubble() as bubble, Server(listen=False) as server:
        client = kubernetes.new_for_config(config_of(server))
        factory = informers.new_shared_informer_factory(client, 0)
        lister = factory.core().v1().config_maps().lister()
        factory.core().v1().config_maps().informer()
        stop = threading.Event()
        factory.start(stop)
        factory.wait_for_cache_sync(stop)
        client.core_v1().config_maps("default").create(CTX, config_map("a"), metav1.CreateOptions())
        bubble.sleep(3600.0)  # several watches long
        assert lister.config_maps("default").get("a").metadata.name == "a"
        client.core_v1().config_maps("default").delete(CTX, "a", metav1.DeleteOptions())
        bubble.wait()
        with pytest.raises(errors.StatusError):
            lister.config_maps("default").get("a")
        stop.set()
        factory.shutdown()


def count_to_three(life: Life) -> None:
    """Run a stateless controller whose work takes three writes to the API and one elsewhere."""
    options = ctrl.Options(metrics=MetricsOptions(bind_address="0"), controller=Controller(skip_name_validation=True))
    mgr = ctrl.new_manager(life.config, options)
    client = mgr.get_client()

    def keep(ctx: context.Context, found: corev1.ConfigMap) -> None:
        changed = found.deep_copy()
        if len(changed.data) < 3:
            changed.data[f"step-{len(changed.data)}"] = "done"
            client.update(ctx, changed)
        elif "outside" not in OUTSIDE:
            life.effect("outside", lambda: OUTSIDE.append("outside"))

    ctrl.new_controller_managed_by(mgr).for_(corev1.ConfigMap).complete(reconcile.as_reconciler(client, keep))
    mgr.start(life.ctx)


OUTSIDE: list[str] = []


@pytest.mark.parametrize("offset", range(4))
def test_a_program_lives_again_after_each_of_its_deaths(offset: int) -> None:
    OUTSIDE.clear()
    with VirtualCluster() as cluster:
        program = Program(cluster, count_to_three, dies_after=every(4, offset))
        cluster.client.create(CTX, config_map("a"))
        with program:
            cluster.until(lambda: OUTSIDE)
            cluster.bubble.sleep(60.0)
        mine = [write for write in program.writes if write.endswith("/default/configmaps/a")]
        assert mine == ["PUT /api/v1/namespaces/default/configmaps/a"] * 3
        assert program.writes[-1] == "outside"
        assert len(OUTSIDE) == 1
        assert program.deaths == [program.writes[offset]]


def test_a_dead_program_reads_and_writes_nothing_more() -> None:
    raised: list[BaseException] = []

    def run(life: Life) -> None:
        maps = kubernetes.new_for_config(life.config).core_v1().config_maps("default")
        if life.number:
            life.ctx.done().wait()
            return
        for attempt in (
            lambda: maps.create(CTX, config_map("b"), metav1.CreateOptions()),
            lambda: maps.create(CTX, config_map("c"), metav1.CreateOptions()),
            lambda: maps.list(CTX, LIST),
            lambda: life.effect("outside", raised.clear),
        ):
            try:
                attempt()
            except Exception as err:
                raised.append(err)

    with VirtualCluster() as cluster, Program(cluster, run, dies_after=every(1)) as program:
        cluster.until(lambda: len(raised) == 4)
        names = [one.metadata.name for one in cluster.client.list(CTX, corev1.ConfigMapList).items]
        assert "b" in names and "c" not in names
        assert program.deaths == ["POST /api/v1/namespaces/default/configmaps"]
        assert "the process is dead" in str(raised[-1])


def test_a_cache_that_lags_shows_what_was_before_the_write() -> None:
    seen: list[tuple[bool, float]] = []

    def run(life: Life) -> None:
        mgr = ctrl.new_manager(life.config, ctrl.Options(metrics=MetricsOptions(bind_address="0")))

        def look(ctx: context.Context) -> None:
            client = mgr.get_client()
            client.list(ctx, corev1.SecretList)
            secret = corev1.Secret(metadata=metav1.ObjectMeta(name="s", namespace="default"))
            client.create(ctx, secret)
            begin = cluster.bubble.elapsed
            while not seen or not seen[-1][0]:
                items = client.list(ctx, corev1.SecretList).items
                seen.append((bool(items), cluster.bubble.elapsed - begin))
                context.sleep(ctx, 0.5)
            ctx.done().wait()

        mgr.add(ctrl.manager.RunnableFunc(look))
        mgr.start(life.ctx)

    with VirtualCluster() as cluster, Program(cluster, run, delay=up_to(4.0, seed=1)):
        cluster.until(lambda: seen and seen[-1][0])
    assert seen[0] == (False, 0.0)
    assert 0.0 < seen[-1][1] <= 4.5


def test_stateful_sets_live_in_virtual_time_and_each_commit_is_seen() -> None:
    seen: list[str] = []

    def look(bucket: str, event: Any) -> None:
        if bucket == "/pods":
            seen.append(event.type)

    doc = {
        "serviceName": "db",
        "replicas": 2,
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db", "image": "x:1"}]}},
    }
    with VirtualCluster(ready_delay=30.0) as cluster:
        cluster.each_change(look)
        begin = cluster.bubble.elapsed
        made = appsv1.StatefulSet.from_dict({"metadata": {"name": "db", "namespace": "default"}, "spec": doc})
        cluster.client.create(CTX, made)

        def is_ready() -> bool:
            found = cluster.client.get(CTX, ctrl.Request("default", "db"), appsv1.StatefulSet)
            return found.status.ready_replicas == 2

        cluster.until(is_ready)
        assert 60.0 <= cluster.bubble.elapsed - begin < 70.0
    assert seen.count("ADDED") == 2


def test_killed_is_what_a_connection_error_is() -> None:
    assert issubclass(Killed, OSError)
