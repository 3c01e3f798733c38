"""A small operator without known bugs: each Widget has a ConfigMap with its size, and a status.

The broken operators of brokenoperators.py override its methods.
"""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from hypothesis import strategies as st

from clientgo import context, dynamic, rest
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.dynamic import dynamicinformer
from clientgo.testing import controllertest as ct
from clientgo.tools import cache
from clientgo.util import workqueue

Json = dict[str, Any]
WIDGETS = GroupVersionResource("example.com", "v1", "widgets")
MAPS = GroupVersionResource("", "v1", "configmaps")
ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": ANY, "status": ANY}}},
            }
        ],
    },
}


def widget(name: str, size: int) -> ct.Set:
    """Return the step that sets a Widget."""
    about = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}}
    return ct.Set({**about, "spec": {"size": size}})


class Operator:
    """The operator in one process."""

    threads = 1
    namespace = "default"
    # Virtual seconds, less than a machine's `quiet_for`. No event tells of a child that is created and deleted while
    # its watch is broken.
    resync = 20.0

    def __init__(self, config: rest.Config, ctx: context.Context) -> None:
        self.ctx = ctx
        self.client = dynamic.new_for_config(config)
        self.factory = dynamicinformer.new_dynamic_shared_informer_factory(self.client, self.resync)
        self.widgets, self.maps = (self.factory.for_resource(each) for each in (WIDGETS, MAPS))
        limiter: Any = workqueue.new_typed_item_exponential_failure_rate_limiter(0.005, 30.0)
        self.made: set[tuple[str, str]] = set()
        self.queue: Any = workqueue.new_typed_rate_limiting_queue(limiter)

    def run(self) -> None:
        """Run until the context is done and all threads have ended."""
        self.add_handlers()
        self.factory.start(self.ctx.done())
        workers = [threading.Thread(target=self.work, name=f"worker-{n}", daemon=True) for n in range(self.threads)]
        try:
            self.factory.wait_for_cache_sync(self.ctx.done())
            for worker in workers:
                worker.start()
            self.ctx.done().wait()
        finally:
            self.queue.shut_down()
            for worker in workers:
                if worker.ident is not None:
                    worker.join()
            self.factory.shutdown()
            self.client.close()

    # ---- events

    def add_handlers(self) -> None:
        self.widgets.informer().add_event_handler(
            cache.ResourceEventHandlerFuncs(self.widget_added, self.widget_updated, self.widget_deleted)
        )
        self.maps.informer().add_event_handler(
            cache.ResourceEventHandlerFuncs(
                self.child_changed, lambda old, new: self.child_changed(new), self.child_deleted
            )
        )

    def widget_added(self, obj: Any) -> None:
        self.queue.add(obj.get_name())

    def widget_updated(self, old: Any, new: Any) -> None:
        self.queue.add(new.get_name())

    def widget_deleted(self, obj: Any) -> None:
        uid = (obj.obj if isinstance(obj, cache.DeletedFinalStateUnknown) else obj).get_uid()
        self.made = {each for each in list(self.made) if each[0] != uid}
        self.queue.add(cache.deletion_handling_meta_namespace_key_func(obj).partition("/")[2])

    def child_changed(self, obj: Any) -> None:
        owner = metav1.get_controller_of(obj)
        if owner is not None and owner.kind == "Widget":
            self.queue.add(owner.name)

    def child_deleted(self, obj: Any) -> None:
        self.child_changed(obj.obj if isinstance(obj, cache.DeletedFinalStateUnknown) else obj)

    # ---- work

    def work(self) -> None:
        while True:
            name, shutdown = self.queue.get()
            if shutdown:
                return
            try:
                self.sync(name)
            except Exception as err:
                self.failed(name, err)
            else:
                self.queue.forget(name)
            finally:
                self.queue.done(name)

    def failed(self, name: str, err: Exception) -> None:
        utilruntime.handle_error(err)
        self.queue.add_rate_limited(name)

    def sync(self, name: str) -> None:
        """Create or correct the child, then the status."""
        obj = self.cached(self.widgets, name)
        if obj is None or "deletionTimestamp" in obj["metadata"]:
            return
        self.sync_child(obj)
        self.sync_status(obj)

    def sync_child(self, obj: Json) -> None:
        child = self.cached(self.maps, f"{obj['metadata']['name']}-data")
        wanted = self.new_child(obj)
        if child is None:
            self.create(MAPS, wanted)
        elif not owns(obj, child):
            raise RuntimeError(f"{child['metadata']['name']} belongs to another owner")
        elif child["data"] != wanted["data"]:
            self.update(MAPS, {**child, "data": wanted["data"]})

    def sync_status(self, obj: Json) -> None:
        if obj.get("status", {}).get("size") != obj["spec"]["size"]:
            self.update(WIDGETS, {**obj, "status": {"size": obj["spec"]["size"]}}, "status")

    def new_child(self, obj: Json, suffix: str = "data") -> Json:
        metadata = obj["metadata"]
        owner = {"apiVersion": "example.com/v1", "kind": "Widget", "name": metadata["name"], "uid": metadata["uid"]}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": f"{metadata['name']}-{suffix}",
                "namespace": self.namespace,
                "ownerReferences": [{**owner, "controller": True}],
            },
            "data": {"size": str(obj["spec"]["size"])},
        }

    # ---- objects as documents

    def cached(self, informer: Any, name: str) -> Json | None:
        """Return a copy of an object in the cache."""
        found = informer.informer().get_indexer().get_by_key(f"{self.namespace}/{name}")[0]
        return found.deep_copy().object if found is not None else None

    def cached_children(self, obj: Json) -> list[Json]:
        """Return copies of the cached children, by name."""
        found = [each.deep_copy().object for each in self.maps.lister().list(labels.everything())]
        return sorted((each for each in found if owns(obj, each)), key=lambda each: str(each["metadata"]["name"]))

    def live(self, resource: GroupVersionResource, name: str) -> Json | None:
        """Return an object from the server."""
        try:
            return self.at(resource).get(self.ctx, name, metav1.GetOptions()).object
        except errors.StatusError as err:
            if errors.is_not_found(err):
                return None
            raise

    def create(self, resource: GroupVersionResource, obj: Json) -> Json:
        """Create an object. Raises RuntimeError to create it once more for a widget that the server no longer has."""
        metadata = obj["metadata"]
        for owner in metadata.get("ownerReferences", ()):
            made = (owner["uid"], metadata.get("name") or metadata["generateName"])
            if made in self.made:
                self.check_current(owner["name"], owner["uid"])
            self.made.add(made)
        return self.at(resource).create(self.ctx, Unstructured(obj), metav1.CreateOptions()).object  # type: ignore[no-any-return]

    def check_current(self, name: str, uid: str) -> None:
        """Raise RuntimeError for a widget that exists only in the cache, which may be old."""
        found = self.live(WIDGETS, name)
        if found is None or found["metadata"]["uid"] != uid:
            raise RuntimeError(f"the cache shows an old {name}")

    def update(self, resource: GroupVersionResource, obj: Json, *subresources: str) -> None:
        self.at(resource).update(self.ctx, Unstructured(obj), metav1.UpdateOptions(), *subresources)

    def delete(self, resource: GroupVersionResource, name: str, uid: str = "") -> None:
        """Delete an object; one that is gone is not an error."""
        options = metav1.DeleteOptions(preconditions=metav1.Preconditions(uid=uid)) if uid else metav1.DeleteOptions()
        try:
            self.at(resource).delete(self.ctx, name, options)
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise

    def at(self, resource: GroupVersionResource) -> Any:
        return self.client.resource(resource).namespace(self.namespace)


def owns(owner: Json, obj: Json) -> bool:
    """Report whether `obj` names `owner`."""
    return any(each["uid"] == owner["metadata"]["uid"] for each in obj["metadata"].get("ownerReferences", []))


class Widgets(ct.ControllerMachine):
    """The operator as a machine."""

    crds = (CRD,)
    operator: ClassVar[type[Operator]] = Operator

    def start(self, config: rest.Config, ctx: context.Context) -> None:
        self.operator(config, ctx).run()

    def desired(self) -> st.SearchStrategy[ct.Step]:
        return ct.objects("example.com/v1", "Widget", spec=st.fixed_dictionaries({"size": st.integers(1, 3)}))

    @ct.eventually()
    def status_follows_spec(self, cluster: ct.Cluster) -> None:
        for each in cluster.list("Widget"):
            assert each.get("status", {}).get("size") == each["spec"]["size"]
