"""Handlers queue what Go's queue, with the same calls."""

from __future__ import annotations

from typing import Any

import pytest
from ctrlgolden import panics, recording_queue, rest_mapper, to_object
from goldenfile import cases

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.api.rbac import v1 as rbacv1
from clientgo.apimachinery import runtime
from clientgo.controller_runtime import event, handler
from clientgo.controller_runtime.controller.priorityqueue import AddOpts, PriorityQueue
from clientgo.controller_runtime.reconcile import Request
from clientgo.kubernetes.scheme import SCHEME

OWNERS: dict[str, Any] = {
    "ReplicaSet": appsv1.ReplicaSet,
    "Secret": corev1.Secret,
    "ConfigMap": corev1.ConfigMap,
    "Deployment": appsv1.Deployment,
    "Pod": corev1.Pod,
    "Node": corev1.Node,
    "ClusterRole": rbacv1.ClusterRole,
}


def build(config: dict[str, Any]) -> Any:
    match config["handler"]:
        case "for_object":
            return handler.EnqueueRequestForObject()
        case "for_owner":
            options = [handler.only_controller_owner()] if config["only_controller_owner"] else []
            return handler.enqueue_request_for_owner(SCHEME, rest_mapper(), OWNERS[config["owner_kind"]], *options)
        case "map_func":
            return handler.enqueue_requests_from_map_func(MAP_FUNCS[config["map_func"]])
        case "funcs":
            return funcs(config)
        case "low_priority_wrap":
            return handler.with_low_priority_when_unchanged(funcs(config))
        case kind:
            raise AssertionError(kind)


def name_and_app_label(ctx: Any, obj: Any) -> list[Request]:
    if obj is None:
        return []
    return [Request(obj.get_namespace(), obj.get_name()), Request("apps", obj.get_labels().get("app", ""))]


def owners(ctx: Any, obj: Any) -> list[Request]:
    if obj is None:
        return []
    return [Request(obj.get_namespace(), ref.name) for ref in obj.get_owner_references()]


MAP_FUNCS: dict[str, Any] = {
    "name_and_app_label": name_and_app_label,
    "constant_twice": lambda ctx, obj: [Request("c", "same"), Request("c", "same"), Request("c", "other")],
    "owners": owners,
    "nothing": lambda ctx, obj: [],
}


def funcs(config: dict[str, Any]) -> handler.Funcs:
    def of(kind: str) -> Any:
        if config["missing"] == kind:
            return None

        def handle(ctx: Any, evt: Any, q: Any) -> None:
            obj = evt.object_new if kind == "update" else evt.object
            queue(q, config["call"], Request(kind, "nil" if obj is None else obj.get_name()))

        return handle

    return handler.Funcs(
        create_func=of("create"), update_func=of("update"), delete_func=of("delete"), generic_func=of("generic")
    )


def queue(q: Any, call: str, request: Request) -> None:
    match call:
        case "add":
            q.add(request)
        case "add_after":
            q.add_after(request, 3.0)
        case "add_rate_limited":
            q.add_rate_limited(request)
        case _ if not isinstance(q, PriorityQueue):
            q.add(request)
        case "add_with_opts":
            q.add_with_opts(AddOpts(after=1.0), request)
        case "add_with_opts_priority":
            q.add_with_opts(AddOpts(priority=7), request)
        case _:
            raise AssertionError(call)


def to_event(op: str, args: dict[str, Any]) -> Any:
    match op:
        case "create":
            return event.CreateEvent(to_object(args["object"]), args["is_in_initial_list"])
        case "update":
            return event.UpdateEvent(to_object(args["old"]), to_object(args["new"]))
        case "delete":
            return event.DeleteEvent(to_object(args["object"]), args["delete_state_unknown"])
        case _:
            return event.GenericEvent(to_object(args["object"]))


@pytest.mark.parametrize("case", cases("controller_runtime/handler/handlers.jsonl"))
def test_handlers(case: dict[str, Any]) -> None:
    """Every handler, with objects missing on either side, on a plain and on a priority queue.

    Go: handler: Eventhandler > EnqueueRequestForObject
    Go: handler: Eventhandler > EnqueueRequestsFromMapFunc
    Go: handler: Eventhandler > EnqueueRequestForOwner
    Go: handler: Eventhandler > Funcs
    Go: handler: Eventhandler > WithLowPriorityWhenUnchanged
    """
    config = case["config"]
    if config["handler"] == "for_owner_constructor":
        check_constructor(case)
        return
    built = build(config)
    q = recording_queue(config["queue"])
    for step in case["steps"]:
        evt = to_event(step["op"], step["args"])
        _, raised = panics(lambda op=step["op"], evt=evt: getattr(built, op)(None, evt, q))
        got, expected = q.take(), step["expect"]["queue_calls"]
        if config["handler"] == "for_owner":
            got.sort(key=str)
            expected = sorted(expected, key=str)
        assert raised == bool(step["expect"]["panic"]), step
        assert got == expected, step


def check_constructor(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        assert step["args"]["owner_type"] == "unregistered"
        scheme = runtime.new_scheme()
        _, raised = panics(lambda scheme=scheme: handler.enqueue_request_for_owner(scheme, rest_mapper(), corev1.Pod))
        assert raised == step["expect"]["panic"]
