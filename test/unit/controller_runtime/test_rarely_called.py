"""Functions of controller-runtime that nothing in the library calls: programs ported from Go do."""

from __future__ import annotations

import io
from typing import Any

import pytest

from clientgo import context, rest
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.types import NamespacedName
from clientgo.controller_runtime import builder, handler, manager, reconcile, source
from clientgo.controller_runtime.builder.options import ObjectProjection
from clientgo.controller_runtime.client import apiutil, fake
from clientgo.controller_runtime.client.apiutil import apimachinery
from clientgo.controller_runtime.controller import controllerutil
from clientgo.controller_runtime.leaderelection import fake as leaderelection_fake
from clientgo.controller_runtime.log import zap
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.kubernetes.scheme import SCHEME

UNREACHABLE = rest.Config(host="http://127.0.0.1:1")


def new_manager(address: str = "0", **more: Any) -> ctrl.Manager:
    return ctrl.new_manager(UNREACHABLE, ctrl.Options(metrics=MetricsOptions(bind_address=address), **more))


def test_a_console_encoder_writes_columns_and_raw_options_configure_the_sink() -> None:
    out, sinks = io.StringIO(), []
    logger = zap.new(zap.write_to(out), zap.console_encoder(), zap.raw_zap_opts(sinks.append, sinks.append))
    logger.info("hello", a=1)
    assert len(sinks) == 2 and sinks[0] is sinks[1]
    (line,) = out.getvalue().splitlines()
    assert line.split("\t")[1:] == ["INFO", "hello", '{"a": 1}']


def test_a_manager_passes_extra_handlers_to_the_metrics_server_until_it_has_started() -> None:
    mgr = new_manager("127.0.0.1:0")
    mgr.add_metrics_server_extra_handler("/extra", lambda resp, req: resp.write("extra"))
    with pytest.raises(ValueError, match="can't register extra handler by duplicate path"):
        mgr.add_metrics_server_extra_handler("/extra", lambda resp, req: None)

    ctx, cancel = context.with_cancel(context.background())
    started = manager.RunnableFunc(lambda _: cancel())
    mgr = new_manager()
    mgr.add_metrics_server_extra_handler("/extra", lambda resp, req: None)
    mgr.add(started)
    mgr.start(ctx)
    with pytest.raises(RuntimeError, match="metrics endpoint has already been created"):
        mgr.add_metrics_server_extra_handler("/more", lambda resp, req: None)


def test_a_fake_lock_fails_while_it_is_blocked() -> None:
    """Go: fake.ResourceLock"""
    lock, ctx = leaderelection_fake.new_resource_lock(None, None, None), context.background()
    held, _ = lock.get(ctx)
    assert held.holder_identity == lock.identity()
    lock.block_leader_election()
    with pytest.raises(RuntimeError, match="leader election is blocked, cannot update record"):
        lock.update(ctx, held)
    with pytest.raises(RuntimeError, match="leader election is blocked, cannot create new record"):
        lock.create(ctx, held)
    lock.unblock_leader_election()
    lock.update(ctx, held)


def test_a_typed_builder_names_no_kind_and_accepts_sources_metadata_and_a_logger() -> None:
    mgr, logged = new_manager(), []
    nothing: Any = handler.Funcs()

    def log_for(request: Any) -> Any:
        logged.append(request)
        return mgr.get_logger()

    started: list[Any] = []
    made = (
        builder.typed_controller_managed_by(mgr)
        .named("rarely-called")
        .watches_metadata(corev1.Pod, nothing)
        .watches_raw_source(source.Func(lambda ctx, queue: started.append(queue)))
        .with_log_constructor(log_for)
    )
    assert [each.object_projection for each in made._watches_input] == [ObjectProjection.METADATA]
    built = made.build(reconcile.Func(lambda ctx, request: reconcile.Result()))
    assert built.get_logger() is not None and logged == [None], "the controller's own logger"
    with pytest.raises(ValueError, match="For"):
        builder.typed_controller_managed_by(mgr).for_(corev1.Pod).complete(
            reconcile.Func(lambda ctx, request: reconcile.Result())
        )


def test_a_webhook_uses_the_builders_logger() -> None:
    class Defaults:
        def default(self, ctx: Any, obj: appsv1.Deployment) -> None: ...

    mgr = new_manager()

    def log_for(logger: Any, request: Any) -> Any:
        return logger

    builder.webhook_managed_by(mgr, appsv1.Deployment).with_defaulter(Defaults()).with_log_constructor(
        log_for
    ).complete()
    assert mgr.get_webhook_server().webhook_mux().handles("/mutate-apps-v1-deployment")


def test_kinds_can_be_added_to_those_with_protobuf(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = Scheme("test")
    monkeypatch.setattr(apimachinery, "_PROTOBUF_SCHEME", scheme)
    gv = GroupVersion("shop.example.com", "v1")
    apiutil.add_to_protobuf_scheme(lambda each: each.add_known_types(gv, corev1.Pod))
    assert scheme.recognizes(gv.with_kind("Pod"))


def test_a_fake_client_holds_its_first_objects() -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="web", namespace="ns"))
    read = fake.new_fake_client(pod).get(context.background(), NamespacedName("ns", "web"), corev1.Pod)
    assert (read.get_name(), read.get_resource_version()) == ("web", "999")


def test_only_the_controller_can_be_removed_from_the_owners() -> None:
    """Go: controllerutil: Controllerutil > RemoveControllerReference"""
    owner, other = (
        appsv1.Deployment(metadata=metav1.ObjectMeta(name=name, namespace="ns", uid=name)) for name in ("a", "b")
    )
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="web", namespace="ns"))
    with pytest.raises(ValueError, match="does not have a owner reference with controller equals true"):
        controllerutil.remove_controller_reference(owner, pod, SCHEME)
    controllerutil.set_controller_reference(owner, pod, SCHEME)
    with pytest.raises(ValueError, match="does not have an controller reference for"):
        controllerutil.remove_controller_reference(other, pod, SCHEME)
    controllerutil.set_owner_reference(other, pod, SCHEME)
    with pytest.raises(ValueError, match="owner is not the controller reference for"):
        controllerutil.remove_controller_reference(other, pod, SCHEME)
    controllerutil.remove_controller_reference(owner, pod, SCHEME)
    assert [each.name for each in pod.get_owner_references()] == ["b"]


def test_a_request_is_its_own_name() -> None:
    request = reconcile.Request("ns", "web")
    assert request.namespaced_name is request
