"""A manager against the embedded API server: an operator as tutorials write it, its probes, and what is refused."""

from __future__ import annotations

import json
import queue
import sys
import threading
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context, rest
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.controller_runtime import (
    client,
    controller,
    handler,
    healthz,
    manager,
    predicate,
    reconcile,
    source,
)
from clientgo.controller_runtime.config import Controller
from clientgo.controller_runtime.leaderelection import fake as leaderelection_fake
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.kubernetes import new_for_config
from clientgo.testing import apiserver

WORKLOAD = {
    "selector": {"matchLabels": {"a": "b"}},
    "template": {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
    },
}
UNREACHABLE = rest.Config(host="http://127.0.0.1:1")


def options(**more: Any) -> ctrl.Options:
    defaults: dict[str, Any] = {
        "metrics": MetricsOptions(bind_address="0"),
        "controller": Controller(skip_name_validation=True),
    }
    return ctrl.Options(**(defaults | more))


class Running:
    """A manager in a thread."""

    def __init__(self, mgr: manager.Manager) -> None:
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.thread = threading.Thread(target=mgr.start, args=(self.ctx,), name="manager")
        self.thread.start()

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        self.thread.join()


@pytest.fixture
def config() -> Iterator[rest.Config]:
    with apiserver.Environment() as environment:
        yield environment.config


def test_an_operator_creates_what_its_objects_need_and_brings_it_back(config: rest.Config) -> None:
    """Go: builder: application > watching with projections"""
    created = threading.Semaphore(0)
    mgr = ctrl.new_manager(config, options())

    def do(ctx: context.Context, request: ctrl.Request) -> ctrl.Result | None:
        c = mgr.get_client()
        try:
            owner = c.get(ctx, request, corev1.ConfigMap)
        except Exception as err:
            client.ignore_not_found(err)
            return None
        secret = corev1.Secret(metadata=metav1.ObjectMeta(namespace=request.namespace, name=request.name))
        ctrl.set_controller_reference(owner, secret, mgr.get_scheme())
        try:
            c.create(ctx, secret)
            created.release()
        except Exception as err:
            client.ignore_already_exists(err)
        mgr.get_event_recorder_for("test").event(owner, "Normal", "Seen", "seen")
        return None

    ctrl.new_controller_managed_by(mgr).for_(corev1.ConfigMap).owns(corev1.Secret).complete(do)
    clientset, background = new_for_config(config), context.background()
    with Running(mgr):
        config_maps, secrets = clientset.core_v1().config_maps("default"), clientset.core_v1().secrets("default")
        config_maps.create(background, corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a")))
        assert created.acquire(timeout=PATIENCE)
        secrets.delete(background, "a")
        assert created.acquire(timeout=PATIENCE), "the deletion of what it owns is a request for the owner"
    events = clientset.core_v1().events("default").list(background).items
    assert [event.reason for event in events] == ["Seen"]


def test_probes_metrics_and_stacks_over_http() -> None:
    """Go: manager: manger.Manager > should start serving pprof"""
    mgr: Any = ctrl.new_manager(
        UNREACHABLE, options(health_probe_bind_address="127.0.0.1:0", pprof_bind_address="127.0.0.1:0")
    )
    mgr.add_healthz_check("ping", healthz.ping)
    ports = [mgr._parts.health_probe_listener.getsockname()[1], mgr._parts.pprof_listener.getsockname()[1]]
    with Running(mgr):
        for port, path, part in (
            (ports[0], "/healthz/ping", "ok"),
            (ports[1], "/debug/pprof/", "goroutine"),
            (ports[1], "/debug/pprof/goroutine", "MainThread"),
            (ports[1], "/debug/pprof/cmdline", sys.argv[0]),
        ):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
                assert part in answer.read().decode()
        with pytest.raises(RuntimeError, match="already been created"):
            mgr.add_readyz_check("late", healthz.ping)
        with pytest.raises(RuntimeError, match="manager already started"):
            mgr.start(context.background())


def test_nothing_is_left_of_a_manager_that_stops(config: rest.Config, caplog: pytest.LogCaptureFixture) -> None:
    """No thread, whichever events were emitted, and although a runnable fails late: the fixture of all tests looks.

    Go: manager: manger.Manager > should not leak goroutines
    Go: manager: ExampleManager_add
    """
    mgr = ctrl.new_manager(config, options(graceful_shutdown_timeout=20.0))
    emitted = threading.Event()

    def emit(ctx: context.Context) -> None:
        pod = corev1.Pod(metadata=metav1.ObjectMeta(namespace="default", name="a", uid="u"))
        mgr.get_event_recorder_for("deprecated").event(pod, "Normal", "Old", "old")
        mgr.get_event_recorder("current").eventf(pod, None, "Normal", "New", "acting", "new")
        emitted.set()
        ctx.done().wait()
        raise RuntimeError("late")

    mgr.add(manager.RunnableFunc(emit))
    failures: list[Exception] = []

    def start(ctx: context.Context) -> None:
        try:
            mgr.start(ctx)
        except Exception as err:
            failures.append(err)

    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=start, args=(ctx,), name="manager")
    thread.start()
    assert emitted.wait(PATIENCE)
    clients = new_for_config(config)

    def written(ctx: context.Context) -> bool:
        listed = clients.core_v1().events("default").list(ctx).items
        return {event.reason for event in listed} == {"Old", "New"}

    wait.poll_until_context_timeout(context.background(), 0.05, 20.0, True, written)
    cancel()
    thread.join()
    clients.close()
    assert failures == []
    assert '"error received after stop sequence was engaged" err="RuntimeError: late"' in caplog.text


def test_what_is_wrong_with_the_election_is_said_at_the_start(config: rest.Config) -> None:
    """Go: manager: manger.Manager > Start > with leaderelection enabled > should return an error if leader election"""
    lock = {"leader_election": True, "leader_election_id": "x", "leader_election_namespace": "default"}
    mgr = ctrl.new_manager(config, options(**lock, lease_duration=1.0, renew_deadline=2.0))
    ran = threading.Event()
    mgr.add(manager.RunnableFunc(lambda ctx: ran.set()))
    with pytest.raises(Exception, match="leaseDuration must be greater than renewDeadline"):
        mgr.start(context.background())
    assert not ran.is_set()


@pytest.mark.parametrize("leads", [True, False], ids=["leader", "stand-by"])
def test_a_clean_stop_gives_the_election_up_and_says_so(leads: bool, caplog: pytest.LogCaptureFixture) -> None:
    """In Go too, the callback for a lost lease runs at every end of an election, and errors of a stop are logged."""
    lock = leaderelection_fake.new_resource_lock(None, None, None)
    if not leads:
        record, _ = lock.get(context.background())
        lock.update(context.background(), replace(record, holder_identity="another", lease_duration_seconds=3600))
    mgr = ctrl.new_manager(
        UNREACHABLE,
        options(leader_election=True, leader_election_id="id", leader_election_resource_lock_interface=lock),
    )
    started = threading.Event()

    class Everywhere:
        def start(self, ctx: context.Context) -> None:
            started.set()
            ctx.done().wait()

        def need_leader_election(self) -> bool:
            return False

    mgr.add(Everywhere())
    ended: list[BaseException | None] = []

    def run(ctx: context.Context) -> None:
        try:
            mgr.start(ctx)
            ended.append(None)
        except BaseException as err:
            ended.append(err)

    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=run, args=(ctx,), name="manager")
    with caplog.at_level("INFO", "clientgo"):
        thread.start()
        assert (mgr.elected() if leads else started).wait(PATIENCE)
        # The election of a stand-by begins after what runs everywhere.
        wait.poll_until_context_timeout(
            ctx, 0.01, 60.0, True, lambda _: any(t.name == "manager-election" for t in threading.enumerate())
        )
        cancel()
        thread.join()
    assert ended == [None], "the stop was asked for: it is no error"
    message = '"error received after stop sequence was engaged" err="leader election lost"'
    assert [message for message in caplog.messages if "leader election lost" in message] == [message]


@pytest.mark.parametrize("enable_warmup", [True, False])
def test_warm_controllers_know_the_objects_before_they_lead(config: rest.Config, enable_warmup: bool) -> None:
    """Two managers, one lease: the second one's controller hears of objects, if it may, and reconciles none.

    Go: manager: manger.Manager > should run warmup runnables before leader election is won
    """
    background, clients = context.background(), new_for_config(config)
    lock = {"leader_election": True, "leader_election_id": "x", "leader_election_namespace": "default"}
    lock["leader_election_release_on_cancel"] = True
    first = ctrl.new_manager(config, options(**lock))
    second = ctrl.new_manager(config, options(**lock, retry_period=0.1, renew_deadline=5.0))
    received, reconciled, ready = threading.Event(), threading.Event(), threading.Event()

    def note(obj: object) -> bool:
        received.set()
        return True

    more = controller.Options(enable_warmup=enable_warmup)
    builder = ctrl.new_controller_managed_by(second).for_(corev1.ConfigMap).with_options(more)
    builder.with_event_filter(predicate.new_predicate_funcs(note)).complete(lambda ctx, req: reconciled.set())

    class Everywhere:
        def start(self, ctx: context.Context) -> None:
            ready.set()

        def need_leader_election(self) -> bool:
            return False

    second.add(Everywhere())
    clients.core_v1().config_maps("default").create(background, corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a")))
    with Running(first) as leading:
        assert first.elected().wait(PATIENCE)
        with Running(second):
            assert ready.wait(PATIENCE)
            if enable_warmup:
                assert received.wait(PATIENCE)
            assert not second.elected().is_set()
            assert not reconciled.is_set()
            assert received.is_set() is enable_warmup
            leading.cancel()
            assert reconciled.wait(PATIENCE), "the lease was given up, so that the second leads"
    clients.close()


@pytest.mark.parametrize("enable_warmup", [True, False])
def test_a_controller_of_ones_own_reconciles(config: rest.Config, enable_warmup: bool) -> None:
    """Two kinds are watched, the second one for its owner, and each reconcile has an id.

    Go: controller: controller > controller > should reconcile
    Go: internal/controller: ReconcileIDFromContext function
    Go: handler: ExampleEnqueueRequestForO
    Go: source: ExampleKind
    Go: manager: ExampleManager_start
    """
    requests: queue.SimpleQueue[tuple[ctrl.Request, str]] = queue.SimpleQueue()

    def do(ctx: context.Context, request: ctrl.Request) -> None:
        requests.put((request, controller.reconcile_id_from_context(ctx)))

    mgr = ctrl.new_manager(config, options())
    made = controller.new("foo", mgr, controller.Options(reconciler=do, enable_warmup=enable_warmup))
    cache, scheme, mapper = mgr.get_cache(), mgr.get_scheme(), mgr.get_rest_mapper()
    owner: Any = handler.enqueue_request_for_owner(scheme, mapper, appsv1.Deployment)
    made.watch(source.kind(cache, appsv1.ReplicaSet, owner))
    made.watch(source.kind(cache, appsv1.Deployment, handler.EnqueueRequestForObject()))
    deployment = appsv1.Deployment.from_dict({"metadata": {"name": "web"}, "spec": WORKLOAD})
    clients, background = new_for_config(config), context.background()
    expected = ctrl.Request("default", "web")
    with Running(mgr):
        created = clients.apps_v1().deployments("default").create(background, deployment)
        first, first_id = requests.get(timeout=PATIENCE)
        assert first == expected
        replicas = appsv1.ReplicaSet.from_dict(
            {"metadata": {"name": "web-1", "namespace": "default"}, "spec": WORKLOAD}
        )
        ctrl.set_controller_reference(created, replicas, mgr.get_scheme())
        clients.apps_v1().replica_sets("default").create(background, replicas)
        second, second_id = requests.get(timeout=PATIENCE)
        assert second == expected
    assert uuid.UUID(first_id) != uuid.UUID(second_id)
    assert controller.reconcile_id_from_context(background) == ""
    clients.close()


def test_an_informer_that_is_there_is_a_source(config: rest.Config) -> None:
    """Go: source: Source > Informer"""
    received: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    mgr = ctrl.new_manager(config, options())
    funcs: Any = handler.Funcs(
        create_func=lambda ctx, e, q: received.put(("create", e.object)),
        update_func=lambda ctx, e, q: received.put(("update", (e.object_old, e.object_new))),
        delete_func=lambda ctx, e, q: received.put(("delete", e.object)),
    )
    sets, background = new_for_config(config).apps_v1().replica_sets("default"), context.background()
    replicas = appsv1.ReplicaSet.from_dict({"metadata": {"name": "web"}, "spec": WORKLOAD})
    with Running(mgr):
        informer = mgr.get_cache().get_informer(background, appsv1.ReplicaSet)
        unused: Any = object()
        source.Informer(informer=informer, handler=funcs).start(background, unused)
        created = sets.create(background, replicas)
        name, obj = received.get(timeout=PATIENCE)
        assert (name, type(obj), obj.get_name()) == ("create", appsv1.ReplicaSet, "web")
        changed = created.deep_copy()
        changed.metadata.labels["x"] = "y"
        sets.update(background, changed)
        name, (old, new) = received.get(timeout=PATIENCE)
        assert (name, dict(old.metadata.labels), dict(new.metadata.labels)) == ("update", {}, {"x": "y"})
        sets.delete(background, "web")
        while name != "delete":
            name, obj = received.get(timeout=PATIENCE)
        assert obj.get_name() == "web"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"leader_election": True}, "LeaderElectionID must be configured"),
        ({"leader_election": True, "leader_election_id": "x"}, "unable to find leader election namespace"),
        (
            {"leader_election": True, "leader_election_id": "x", "leader_election_namespace": "ns"}
            | {"leader_election_resource_lock": "endpoints"},
            "endpoints lock is removed",
        ),
        ({"health_probe_bind_address": "no port"}, "missing port in address"),
        ({"health_probe_bind_address": "256.0.0.1:0"}, "error listening on 256.0.0.1:0"),
        ({"pprof_bind_address": "256.0.0.1:0", "health_probe_bind_address": "127.0.0.1:0"}, "error listening on 256"),
    ],
)
def test_what_cannot_work_is_refused_when_the_manager_is_made(changes: dict[str, Any], message: str) -> None:
    """Go: manager: manger.Manager > New"""
    with pytest.raises((ValueError, OSError), match=message):
        ctrl.new_manager(UNREACHABLE, options(**changes))


def test_a_manager_gives_what_its_cluster_has() -> None:
    """Go: cluster: cluster.Cluster

    Go: manager: manger.Manager > should provide a function to get the
    """
    mgr = ctrl.new_manager(UNREACHABLE, options())
    assert mgr.get_config() is UNREACHABLE
    for name in ("http_client", "cache", "scheme", "client", "field_indexer", "rest_mapper", "api_reader"):
        assert getattr(mgr, f"get_{name}")() is not None
    assert mgr.get_cache() is mgr.get_field_indexer()
    assert callable(mgr.get_event_recorder_for("test").annotated_eventf)
    assert not hasattr(mgr.get_event_recorder("test"), "annotated_eventf")
    with pytest.raises(ValueError, match="must specify Config"):
        ctrl.new_manager(None)  # type: ignore[arg-type]


def test_results_and_functions() -> None:
    """Go: reconcile: reconcile > Result

    Go: reconcile: reconcile > Func
    Go: reconcile: ExampleFunc
    """
    assert ctrl.Result().is_zero()
    assert not ctrl.Result(requeue_after=1).is_zero()
    assert not ctrl.Result(requeue=True).is_zero()
    assert not ctrl.Result(priority=0).is_zero()
    seen = []
    func = reconcile.Func(lambda ctx, request: seen.append(request))
    assert func.reconcile(context.background(), ctrl.Request("ns", "n")) is None
    assert seen == [ctrl.Request("ns", "n")]
    for nothing in (int, 7, None):
        with pytest.raises(TypeError, match="a Reconciler has a method reconcile"):
            reconcile.to_function(nothing)  # type: ignore[arg-type]


class Reader:
    def __init__(self, objects: dict[str, Any]) -> None:
        self.objects = objects

    def get(self, ctx: Any, key: Any, obj: Any, *opts: Any) -> Any:
        from clientgo.apimachinery.api import errors
        from clientgo.apimachinery.runtime.schema import GroupResource

        if key.name not in self.objects:
            raise errors.new_not_found(GroupResource("apps", "deployments"), key.name)
        return self.objects[key.name]


def test_object_reconciler_gets_the_object_and_is_spared_those_that_are_gone() -> None:
    """Go: reconcile: reconcile > AsReconciler"""
    deployment = appsv1.Deployment()
    seen: list[appsv1.Deployment] = []

    class ByObject:
        def reconcile(self, ctx: context.Context, obj: appsv1.Deployment) -> ctrl.Result | None:
            seen.append(obj)
            return ctrl.Result(requeue_after=5)

    reader: Any = Reader({"there": deployment})
    rec = reconcile.as_reconciler(reader, ByObject())
    assert rec.reconcile(context.background(), ctrl.Request("ns", "there")) == ctrl.Result(requeue_after=5)
    assert rec.reconcile(context.background(), ctrl.Request("ns", "gone")) == ctrl.Result()
    assert seen == [deployment]
    with pytest.raises(TypeError, match="no annotation"):
        reconcile.as_reconciler(reader, lambda ctx, obj: None)


def test_terminal_errors_are_found_under_others() -> None:
    inner = reconcile.terminal_error(ValueError("bad spec"))
    outer = RuntimeError("while reconciling")
    outer.__cause__ = inner
    assert reconcile.is_terminal_error(outer) and not reconcile.is_terminal_error(ValueError("bad spec"))
    assert str(inner) == "terminal error: bad spec"
    assert str(reconcile.terminal_error(None)) == "nil terminal error"
    assert json.dumps(str(outer))
