"""Helpers of the runners of controller-runtime's golden cases: objects, queues that record their calls, and a mapper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.controller_runtime.controller.priorityqueue import AddOpts
from clientgo.controller_runtime.reconcile import Request

MS = 1e-3

TYPED: dict[str, Any] = {
    "ConfigMap": corev1.ConfigMap,
    "Secret": corev1.Secret,
    "Pod": corev1.Pod,
    "Node": corev1.Node,
    "Deployment": appsv1.Deployment,
    "ReplicaSet": appsv1.ReplicaSet,
}


def to_object(document: dict[str, Any] | None) -> Any:
    """Return the object of a document, typed if a class exists."""
    if document is None:
        return None
    cls = TYPED.get(document["kind"])
    return unstructured.Unstructured.from_dict(document) if cls is None else cls.from_dict(document)


def rest_mapper() -> meta.RESTMapper:
    """Return a mapper of the cases' kinds."""
    apps, core = GroupVersion("apps", "v1"), GroupVersion("", "v1")
    rbac = GroupVersion("rbac.authorization.k8s.io", "v1")
    mapper = meta.new_default_rest_mapper([core, apps, rbac])
    for gv, kinds in ((core, ("ConfigMap", "Secret", "Pod")), (apps, ("Deployment", "ReplicaSet"))):
        for kind in kinds:
            mapper.add(gv.with_kind(kind), meta.REST_SCOPE_NAMESPACE)
            mapper.add(gv.with_kind(f"{kind}List"), meta.REST_SCOPE_NAMESPACE)
    for gv, kinds in ((core, ("Node", "Namespace")), (rbac, ("ClusterRole",))):
        for kind in kinds:
            mapper.add(gv.with_kind(kind), meta.REST_SCOPE_ROOT)
            mapper.add(gv.with_kind(f"{kind}List"), meta.REST_SCOPE_ROOT)
    return mapper


def show(request: Any) -> str:
    """Return a request in the cases' notation."""
    return f"{request.namespace}/{request.name}" if isinstance(request, Request) else str(request)


def show_opts(opts: AddOpts) -> dict[str, Any]:
    """Return the options that are set."""
    shown: dict[str, Any] = {}
    if opts.after:
        shown["after_ms"] = round(opts.after / MS)
    if opts.rate_limited:
        shown["rate_limited"] = True
    if opts.priority is not None:
        shown["priority"] = opts.priority
    return shown


class RecordingQueue:
    """A plain queue that notes what is added, and holds nothing."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def note(self, call: str, **args: Any) -> None:
        self.calls.append({"call": call, **args})

    def take(self) -> list[dict[str, Any]]:
        calls, self.calls = self.calls, []
        return calls

    def add(self, item: Any) -> None:
        self.note("add", request=show(item))

    def add_after(self, item: Any, duration: float) -> None:
        self.note("add_after", request=show(item), after_ms=round(duration / MS))

    def add_rate_limited(self, item: Any) -> None:
        self.note("add_rate_limited", request=show(item))

    def get(self) -> tuple[Any, bool]:
        raise NotImplementedError

    def done(self, item: Any) -> None:
        raise NotImplementedError

    def forget(self, item: Any) -> None:
        raise NotImplementedError

    def num_requeues(self, item: Any) -> int:
        raise NotImplementedError

    def len(self) -> int:
        return 0

    def shut_down(self) -> None:
        pass

    def shut_down_with_drain(self) -> None:
        pass

    def shutting_down(self) -> bool:
        return False


class RecordingPriorityQueue(RecordingQueue):
    """A recording queue with priorities."""

    def add_with_opts(self, o: AddOpts, /, *items: Any) -> None:
        self.note("add_with_opts", opts=show_opts(o), requests=[show(item) for item in items])

    def get_with_priority(self) -> tuple[Any, int, bool]:
        raise NotImplementedError


def recording_queue(kind: str) -> Any:
    return RecordingPriorityQueue() if kind == "priority" else RecordingQueue()


def panics(call: Callable[[], Any]) -> tuple[Any, bool]:
    """Return the call's result, and whether it raised."""
    try:
        return call(), False
    except Exception:
        return None, True


class FakeInformer:
    """An informer whose events the test makes. All handlers get them, at once."""

    def __init__(self, synced: bool = True) -> None:
        self.synced = synced
        self.handlers: list[Any] = []

    def add_event_handler_with_options(self, handler: Any, options: Any) -> FakeInformer:
        self.handlers.append(handler)
        return self

    def has_synced(self) -> bool:
        return self.synced

    def add(self, obj: Any) -> None:
        for handler in self.handlers:
            handler.on_add(obj, False)

    def update(self, old: Any, new: Any) -> None:
        for handler in self.handlers:
            handler.on_update(old, new)

    def delete(self, obj: Any) -> None:
        for handler in self.handlers:
            handler.on_delete(obj)


class FakeCache:
    """A cache with a fake informer for each kind."""

    def __init__(self, synced: bool = True, error: Exception | None = None) -> None:
        self.synced = synced
        self.error = error
        self.informers: dict[str, FakeInformer] = {}

    def get_informer(self, ctx: Any, obj: Any, *opts: Any) -> FakeInformer:
        if self.error is not None:
            raise self.error
        name = obj.__name__ if isinstance(obj, type) else obj.kind
        return self.informers.setdefault(name, FakeInformer(self.synced))

    def wait_for_cache_sync(self, ctx: Any) -> bool:
        if not self.synced:
            ctx.done().wait()
        return self.synced

    def start(self, ctx: Any) -> None:
        ctx.done().wait()
