"""Check the types of an operator's code with mypy --strict: inferred types, and code that mypy must reject.

No test runs this. `hack/lint` checks it with the library. mypy must reject each line with `type: ignore`. If it accepts
the line one day, it reports the comment as unused.
"""

from __future__ import annotations

from typing import assert_type

from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime import builder, client, controller, event, handler, predicate, reconcile, source


class RequestReconciler:
    def reconcile(self, ctx: Context, request: ctrl.Request) -> ctrl.Result | None:
        return ctrl.Result(requeue_after=1.5)


class PodReconciler:
    def reconcile(self, ctx: Context, obj: corev1.Pod) -> None: ...


class OfTexts:
    def reconcile(self, ctx: Context, request: str) -> None: ...


class AsInGo:
    def reconcile(self, ctx: Context, request: ctrl.Request) -> tuple[ctrl.Result, None]:
        return ctrl.Result(), None


def requests_of_pod(ctx: Context, pod: corev1.Pod) -> list[reconcile.Request]:
    return [reconcile.Request(pod.metadata.namespace, pod.spec.node_name)]


def requests_of_any(ctx: Context, obj: client.Object) -> list[reconcile.Request]:
    return [reconcile.Request(obj.get_namespace(), obj.get_name())]


def is_running(pod: corev1.Pod) -> bool:
    return pod.status.phase == "Running"


def is_marked(obj: metav1.PartialObjectMetadata) -> bool:
    return "marked" in obj.metadata.labels


POD_PREDICATE = predicate.new_typed_predicate_funcs(is_running)
METADATA_PREDICATE = predicate.new_typed_predicate_funcs(is_marked)


def clients(c: client.Client, ctx: Context, key: client.ObjectKey) -> None:
    assert_type(c.get(ctx, key, corev1.Pod), corev1.Pod)
    assert_type(c.get(ctx, key, corev1.Pod(), client.GetOptions()), corev1.Pod)
    assert_type(c.list(ctx, corev1.PodList, client.InNamespace("ns")).items[0], corev1.Pod)
    assert_type(c.get(ctx, ctrl.Request("ns", "a"), appsv1.Deployment).spec.replicas, int | None)
    c.list(ctx, corev1.Pod)  # type: ignore[type-var]
    c.get(ctx, key, corev1.PodList)  # type: ignore[type-var]
    c.get(ctx, "ns/a", corev1.Pod)  # type: ignore[arg-type]
    c.create(ctx, corev1.Pod)  # type: ignore[arg-type]
    c.list(ctx, corev1.PodList, client.FieldOwner("me"))  # type: ignore[arg-type]


def kinds(mgr: ctrl.Manager) -> None:
    b = ctrl.new_controller_managed_by(mgr)
    b.for_(corev1.Pod, builder.with_predicates(POD_PREDICATE))
    b.for_(corev1.Pod, builder.with_predicates(predicate.GenerationChangedPredicate()))
    b.for_(corev1.Pod, builder.ONLY_METADATA, builder.with_predicates(METADATA_PREDICATE))
    b.for_(corev1.Pod()).owns(corev1.Secret, builder.MATCH_EVERY_OWNER, builder.with_predicates(predicate.Funcs()))
    b.for_(corev1.Secret, builder.with_predicates(POD_PREDICATE))  # type: ignore[arg-type, misc]
    b.owns(corev1.Secret, builder.with_predicates(POD_PREDICATE))  # type: ignore[arg-type, misc]
    b.for_(corev1.PodList)  # type: ignore[type-var]
    b.for_(corev1.Pod, builder.MATCH_EVERY_OWNER)  # type: ignore[arg-type]
    b.with_options(controller.Options(max_concurrent_reconciles=2, reconciliation_timeout=30.0))
    b.with_event_filter(predicate.LabelChangedPredicate())


def handlers(mgr: ctrl.Manager) -> None:
    b = ctrl.new_controller_managed_by(mgr)
    of_pods = handler.typed_enqueue_requests_from_map_func(requests_of_pod)
    of_any = handler.enqueue_requests_from_map_func(requests_of_any)
    b.watches(corev1.Pod, of_pods).watches(corev1.Pod, of_any).watches(corev1.Secret, of_any)
    b.watches(corev1.Pod, handler.EnqueueRequestForObject(), builder.with_predicates(POD_PREDICATE))
    b.watches(corev1.Secret, of_pods)  # type: ignore[misc]
    b.watches(corev1.Secret, of_any, builder.with_predicates(POD_PREDICATE))  # type: ignore[arg-type, misc]
    handler.enqueue_requests_from_map_func(requests_of_pod)  # type: ignore[arg-type]
    source.kind(mgr.get_cache(), corev1.Pod, of_pods, POD_PREDICATE)
    source.kind(mgr.get_cache(), corev1.Secret, of_any, POD_PREDICATE)  # type: ignore[misc]
    source.kind(mgr.get_cache(), corev1.Secret, of_pods)  # type: ignore[misc]


def reconcilers(mgr: ctrl.Manager, c: client.Client) -> None:
    b = ctrl.new_controller_managed_by(mgr)
    b.complete(RequestReconciler())
    b.complete(lambda ctx, request: None)
    b.complete(reconcile.as_reconciler(c, PodReconciler()))
    b.complete(reconcile.as_reconciler(c, PodReconciler(), corev1.Pod))
    b.complete(OfTexts())  # type: ignore[arg-type]
    b.complete(AsInGo())  # type: ignore[arg-type]
    b.complete(PodReconciler())  # type: ignore[arg-type]
    reconcile.as_reconciler(c, PodReconciler(), corev1.Secret)  # type: ignore[arg-type]


def events(e: event.TypedUpdateEvent[corev1.Pod], any_event: event.CreateEvent) -> None:
    assert_type(e.object_old, corev1.Pod)
    assert_type(any_event.object, client.Object)
