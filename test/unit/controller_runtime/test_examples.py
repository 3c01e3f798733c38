"""The examples of Go's documentation, as one would write them here, at work."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from certificates import Authority
from patience import PATIENCE

from clientgo import context, rest
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import schema
from clientgo.context import Context
from clientgo.controller_runtime import (
    builder,
    cache,
    certwatcher,
    client,
    controller,
    event,
    handler,
    predicate,
    reconcile,
    source,
)
from clientgo.controller_runtime.controller import controllerutil
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.golang.channel import Channel
from clientgo.testing import apiserver
from clientgo.util import workqueue

pytestmark = pytest.mark.shared_server

CTX = context.background()


@pytest.fixture(scope="module")
def config() -> Iterator[rest.Config]:
    with apiserver.Environment() as environment:
        yield environment.config


def options(**more: Any) -> ctrl.Options:
    return ctrl.Options(metrics=MetricsOptions(bind_address="0"), **more)


class Running:
    """A manager at work, until the end of the `with`."""

    def __init__(self, mgr: ctrl.Manager) -> None:
        self.mgr = mgr
        self.ctx, self._cancel = context.with_cancel(CTX)
        self._thread = threading.Thread(target=self._run, name="manager")
        self._failure: Exception | None = None

    def _run(self) -> None:
        try:
            self.mgr.start(self.ctx)
        except Exception as err:
            self._failure = err

    def __enter__(self) -> Running:
        self._thread.start()
        assert self.mgr.elected().wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._cancel()
        self._thread.join()
        assert self._failure is None


class Seen:
    """A reconciler that tells what it is called for."""

    def __init__(self) -> None:
        self.requests: SimpleQueue[ctrl.Request] = SimpleQueue()

    def reconcile(self, ctx: Context, request: ctrl.Request) -> None:
        self.requests.put(request)

    def until(self, *wanted: ctrl.Request) -> None:
        left = {*wanted}
        while left:
            left.discard(self.requests.get(timeout=PATIENCE))


def pod(namespace: str, name: str, labels: dict[str, str] | None = None) -> corev1.Pod:
    spec = corev1.PodSpec(containers=[corev1.Container(name="c", image="i")])
    return corev1.Pod(metadata=metav1.ObjectMeta(namespace=namespace, name=name, labels=labels or {}), spec=spec)


def in_namespace(mgr: ctrl.Manager, name: str) -> str:
    mgr.get_client().create(CTX, corev1.Namespace(metadata=metav1.ObjectMeta(name=name)))
    return name


class ReplicaSetReconciler:
    """Reconciler that writes the number of a ReplicaSet's Pods into a label."""

    def __init__(self, c: client.Client, pods: type[Any] | Any) -> None:
        self.client = c
        self.pods = pods
        self.counted: SimpleQueue[tuple[str, int]] = SimpleQueue()

    def reconcile(self, ctx: Context, request: ctrl.Request) -> None:
        try:
            found = self.client.get(ctx, request, appsv1.ReplicaSet)
        except Exception as err:
            client.ignore_not_found(err)
            return
        labels = dict(found.spec.template.metadata.labels)
        of_mine = client.InNamespace(request.namespace), client.MatchingLabels(labels)
        count = len(self.client.list(ctx, self.pods, *of_mine).items)
        changed = found.deep_copy()
        changed.metadata.labels["pod-count"] = str(count)
        self.client.update(ctx, changed)
        self.counted.put((request.namespace, count))


def pod_metadata() -> metav1.PartialObjectMetadataList:
    found = metav1.PartialObjectMetadataList()
    found.set_group_version_kind(schema.GroupVersionKind("", "v1", "PodList"))
    return found


@pytest.mark.parametrize("only_metadata", [False, True], ids=["whole Pods", "metadata only"])
def test_a_builder(config: rest.Config, only_metadata: bool) -> None:
    """Go: builder: ExampleBuilder
    Go: builder: ExampleBuilder_metadata_only
    """
    mgr = ctrl.new_manager(config, options())
    pods: Any = pod_metadata() if only_metadata else corev1.PodList
    reconciler = ReplicaSetReconciler(mgr.get_client(), pods)
    owned = [builder.ONLY_METADATA] if only_metadata else []
    made = ctrl.new_controller_managed_by(mgr).named(f"replicas-{only_metadata}".lower())
    made.for_(appsv1.ReplicaSet).owns(corev1.Pod, *owned).complete(reconciler)
    namespace = in_namespace(mgr, f"builder-{only_metadata}".lower())
    with Running(mgr):
        labels = {"app": namespace}
        replicas = appsv1.ReplicaSet(
            metadata=metav1.ObjectMeta(namespace=namespace, name="rs", labels={"kept": "yes"}),
            spec=appsv1.ReplicaSetSpec(
                replicas=0,
                selector=metav1.LabelSelector(match_labels=labels),
                template=corev1.PodTemplateSpec(metadata=metav1.ObjectMeta(labels=labels), spec=pod("", "").spec),
            ),
        )
        mgr.get_client().create(CTX, replicas)
        owned_pod = pod(namespace, "mine", labels)
        controllerutil.set_controller_reference(replicas, owned_pod, mgr.get_scheme())
        mgr.get_client().create(CTX, owned_pod)
        # The other example's objects are still there.
        while reconciler.counted.get(timeout=PATIENCE) != (namespace, 1):
            pass
        found = mgr.get_api_reader().get(CTX, client.object_key_from_object(replicas), appsv1.ReplicaSet)
        assert found.metadata.labels == {"kept": "yes", "pod-count": "1"}


def test_controllers_with_sources_and_handlers_of_ones_own(config: rest.Config) -> None:
    """Go: controller: ExampleNew
    Go: controller: ExampleController
    Go: controller: ExampleController_unstructured
    Go: handler: ExampleEnqueueRequestsFromMapFunc
    Go: handler: ExampleFuncs
    Go: source: ExampleChannel
    """
    mgr = ctrl.new_manager(config, options())
    namespace = in_namespace(mgr, "sources")
    typed, untyped, mapped, notified = Seen(), Seen(), Seen(), Seen()

    of_pods = controller.new("pods", mgr, controller.Options(reconciler=typed))
    of_pods.watch(source.kind(mgr.get_cache(), corev1.Pod, handler.EnqueueRequestForObject()))

    example = Unstructured()
    example.set_group_version_kind(schema.GroupVersionKind("", "v1", "Pod"))
    unstructured = controller.new("unstructured-pods", mgr, controller.Options(reconciler=untyped))
    unstructured.watch(source.kind(mgr.get_cache(), example, handler.EnqueueRequestForObject()))

    def two(ctx: Context, obj: corev1.Pod) -> list[reconcile.Request]:
        return [reconcile.Request(obj.get_namespace(), f"{obj.get_name()}-{number}") for number in (1, 2)]

    mapping = controller.new("mapped-pods", mgr, controller.Options(reconciler=mapped))
    mapping.watch(source.kind(mgr.get_cache(), corev1.Pod, handler.enqueue_requests_from_map_func(two)))

    def created(
        ctx: Context,
        e: event.TypedCreateEvent[corev1.Pod],
        q: workqueue.TypedRateLimitingInterface[reconcile.Request],
    ) -> None:
        q.add(reconcile.Request(e.object.get_namespace(), f"created {e.object.get_name()}"))

    events: Channel[event.GenericEvent] = Channel()
    telling = controller.new("notified", mgr, controller.Options(reconciler=notified))
    telling.watch(source.kind(mgr.get_cache(), corev1.Pod, handler.Funcs(create_func=created)))
    telling.watch(source.channel(events, handler.EnqueueRequestForObject()))

    with Running(mgr):
        mgr.get_client().create(CTX, pod(namespace, "a"))
        typed.until(reconcile.Request(namespace, "a"))
        untyped.until(reconcile.Request(namespace, "a"))
        mapped.until(reconcile.Request(namespace, "a-1"), reconcile.Request(namespace, "a-2"))
        events.send(event.GenericEvent(object=pod("elsewhere", "b")))
        notified.until(reconcile.Request(namespace, "created a"), reconcile.Request("elsewhere", "b"))


def test_a_controller_that_no_manager_runs(config: rest.Config) -> None:
    """Go: controller: ExampleNewUnmanaged"""
    mgr = ctrl.new_manager(config, options())
    namespace = in_namespace(mgr, "unmanaged")
    seen = Seen()
    unmanaged = controller.new_unmanaged("unmanaged", controller.Options(reconciler=seen))
    unmanaged.watch(source.kind(mgr.get_cache(), corev1.Pod, handler.EnqueueRequestForObject()))
    with Running(mgr):
        ctx, cancel = context.with_cancel(CTX)
        running = threading.Thread(target=unmanaged.start, args=(ctx,), name="unmanaged")
        running.start()
        mgr.get_client().create(CTX, pod(namespace, "a"))
        seen.until(reconcile.Request(namespace, "a"))
        cancel()
        running.join()


def test_managers(config: rest.Config) -> None:
    """Go: manager: ExampleNew
    Go: manager: ExampleNew_limitToNamespaces
    """
    everywhere = ctrl.new_manager(config, options())

    def limited(config: rest.Config, opts: cache.Options) -> cache.Cache:
        opts.default_namespaces = {"one": cache.Config(), "two": cache.Config()}
        return cache.new(config, opts)

    mgr = ctrl.new_manager(config, options(new_cache=limited))
    for namespace in ("one", "two", "three"):
        in_namespace(mgr, namespace)
        mgr.get_client().create(CTX, pod(namespace, "a"))
    with Running(mgr), Running(everywhere):
        for each, wanted in ((mgr, {"one", "two"}), (everywhere, {"one", "two", "three"})):
            found = {one.get_namespace() for one in each.get_client().list(CTX, corev1.PodList).items}
            assert wanted <= found and (each is everywhere or wanted == found)
        with pytest.raises(Exception, match="unknown namespace for the cache"):
            mgr.get_client().get(CTX, client.ObjectKey("three", "a"), corev1.Pod)


def test_a_predicate_of_functions() -> None:
    """Go: predicate: ExampleFuncs"""
    changed = predicate.Funcs(
        update_func=lambda e: e.object_old.get_generation() != e.object_new.get_generation(),
    )
    old, new = pod("ns", "a"), pod("ns", "a")
    assert not changed.update(event.UpdateEvent(object_old=old, object_new=new))
    new.set_generation(2)
    assert changed.update(event.UpdateEvent(object_old=old, object_new=new))
    assert changed.create(event.CreateEvent(object=new)) and changed.delete(event.DeleteEvent(object=new))


def test_a_server_of_ones_own_with_certificates_that_change(tmp_path: Path) -> None:
    """Go: certwatcher: Example"""
    authority = Authority(tmp_path)
    pair = authority.issue("server", "IP:127.0.0.1", common_name="server")
    watcher = certwatcher.new(pair.cert, pair.key)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    watcher.register_callback(lambda _: tls.load_cert_chain(watcher.cert_path, watcher.key_path))
    ctx, cancel = context.with_cancel(CTX)
    watching = threading.Thread(target=watcher.start, args=(ctx,), name="watching")
    watching.start()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(PATIENCE)
    answers: list[bytes] = []

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, tls.wrap_socket(connection, server_side=True) as secure:
            answers.append(secure.recv(100))

    serving = threading.Thread(target=serve, name="serving")
    serving.start()
    with (
        socket.create_connection(listener.getsockname()[:2], timeout=PATIENCE) as connection,
        authority.trust().wrap_socket(connection, server_hostname="127.0.0.1") as secure,
    ):
        secure.sendall(b"hello")
    serving.join()
    cancel()
    watching.join()
    listener.close()
    assert answers == [b"hello"]
