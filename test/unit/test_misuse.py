"""Mistakes that Go's compiler would reject raise an error at the call, not later in a background thread."""

from __future__ import annotations

import re
import threading
from functools import partial
from typing import Any

import pytest

from clientgo import context, dynamic, informers, rest
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.util import wait
from clientgo.controller_runtime import cache as crcache
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake as crfake
from clientgo.controller_runtime.client import interceptor
from clientgo.dynamic import dynamicinformer
from clientgo.dynamic.fake import new_simple_dynamic_client
from clientgo.kubernetes import fake
from clientgo.kubernetes.scheme import SCHEME
from clientgo.listers.core.v1 import new_pod_lister
from clientgo.tools import cache

PODS = GroupVersionResource("", "v1", "pods")


def pod(name: str, node: str = "") -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="ns"), spec=corev1.PodSpec(node_name=node))


def informer() -> cache.SharedIndexInformer:
    return cache.new_shared_index_informer(cache.ListWatch(), corev1.Pod(), 0.0, {})


def test_a_context_is_no_stop_channel_and_a_stop_channel_no_context() -> None:
    ctx, _ = context.with_cancel(context.background())
    factory = informers.new_shared_informer_factory(fake.new_clientset(), 0.0)
    factory.core().v1().pods().informer()
    refused = re.escape("expected a stop channel, as a threading.Event or ctx.done(), got <Context")

    with pytest.raises(TypeError, match=refused):
        factory.start(ctx)  # type: ignore[arg-type]
    dynamic_factory = dynamicinformer.new_dynamic_shared_informer_factory(new_simple_dynamic_client(SCHEME), 0.0)
    dynamic_factory.for_resource(corev1.SCHEME_GROUP_VERSION.with_resource("pods"))
    with pytest.raises(TypeError, match=refused):
        dynamic_factory.start(ctx)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=refused):
        informer().run(ctx)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=refused):
        cache.wait_for_cache_sync(ctx, lambda: False)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=refused):
        wait.until(lambda: None, 1.0, ctx)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a context, got <Signal open"):
        factory.start_with_context(ctx.done())  # type: ignore[arg-type]


@pytest.mark.parametrize("handler", [lambda obj: None, cache.ResourceEventHandlerFuncs, object()])
def test_what_is_no_handler_is_refused(handler: Any) -> None:
    with pytest.raises(TypeError, match="a handler is an object with on_add, on_update and on_delete"):
        informer().add_event_handler(handler)


def test_a_has_synced_that_fails_is_not_taken_for_a_cache_that_has_not_synced() -> None:
    with pytest.raises(TypeError, match="'bool' object is not callable"):
        cache.wait_for_cache_sync(threading.Event(), informer().has_synced())  # type: ignore[arg-type]


def test_a_call_without_its_context_raises_a_helpful_error() -> None:
    """Programs for client-go before v0.18 call it like this."""
    pods: Any = fake.new_clientset().core_v1().pods("ns")
    dynamic_pods: Any = dynamic.new_for_config(rest.Config(host="http://127.0.0.1:1")).resource(PODS).namespace("ns")

    for call in (
        lambda: pods.get("a", metav1.GetOptions()),
        lambda: pods.list(metav1.ListOptions()),
        lambda: pods.watch(metav1.ListOptions()),
        lambda: pods.create(pod("a"), metav1.CreateOptions()),
        lambda: pods.update(pod("a"), pod("a")),
        lambda: pods.delete("a", metav1.DeleteOptions()),
        lambda: pods.patch("a", "application/merge-patch+json", "a", b"{}"),
        lambda: pods.get("a"),
        lambda: pods.create(pod("a")),
        lambda: pods.update(obj=pod("a")),
        lambda: pods.delete("a"),
        lambda: pods.apply(pod("a")),
        lambda: pods.list(),
        lambda: pods.evict_v1(policyv1.Eviction()),
        lambda: fake.new_clientset().apps_v1().deployments("ns").get_scale("a"),
        lambda: fake.new_clientset().apps_v1().deployments("ns").apply_scale("a", {}),
        lambda: dynamic_pods.get("a"),
        lambda: dynamic_pods.create(Unstructured()),
        lambda: dynamic_pods.list(),
    ):
        with pytest.raises(TypeError, match="the first argument is a context, such as context.background"):
            call()
    with pytest.raises(TypeError, match="expected options of the package metav1, such as metav1.ListOptions; got {"):
        pods.list(context.background(), {"label_selector": "app=web"})


def test_the_error_of_a_call_without_context_shows_what_came_in_its_place() -> None:
    pods: Any = fake.new_clientset().core_v1().pods("ns")
    advice = r"the first argument is a context, such as context.background\(\)"
    with pytest.raises(TypeError, match=f"get: {advice}; got 'a'$"):
        pods.get("a")
    with pytest.raises(TypeError, match=f"get: {advice}; got None$"):
        pods.get(name="a")
    with pytest.raises(TypeError, match=f"get: {advice}; got 'b'$"):
        pods.get(ctx="b", name="a")
    with pytest.raises(TypeError, match=f"list: {advice}$"):
        pods.list()


def test_a_controllers_client_without_context_raises_a_helpful_error() -> None:
    """Also of clients around it, of its status writer and of the cache that it reads from."""
    plain: Any = crfake.new_client_builder().build()
    mapper = plain.rest_mapper()
    real: Any = client.new(rest.Config(host="http://127.0.0.1:1"), client.Options(scheme=SCHEME, mapper=mapper))
    clients: list[Any] = [
        plain,
        real,
        interceptor.new_client(plain, interceptor.Funcs()),
        client.new_dry_run_client(plain),
        client.with_field_owner(plain, "me"),
        client.with_field_validation(plain, client.FieldValidation("Strict")),
        client.new_namespaced_client(plain, "ns"),
    ]
    reader: Any = crcache.new(rest.Config(host="http://127.0.0.1:1"), crcache.Options(scheme=SCHEME, mapper=mapper))
    calls = [partial(reader.get, "ns/a", pod("a")), partial(reader.list, corev1.PodList)]
    for each in clients:
        for one in (each, each.status(), each.sub_resource("eviction")):
            for method in ("get", "list", "create", "update", "patch", "apply", "delete", "delete_all_of"):
                call = getattr(one, method, None)
                calls += [partial(call, pod("a")), partial(call, pod("a"), pod("a"))] if call else []

    assert len(calls) > 200
    for without in calls:
        with pytest.raises(TypeError, match="the first argument is a context, such as context.background"):
            without()


def test_a_selector_in_text_is_no_selector_yet() -> None:
    lister = new_pod_lister(informer().get_indexer())

    for method in (lister.list, lister.pods("ns").list):
        with pytest.raises(TypeError, match="expected a selector, got 'app=web'; labels.parse makes one of it"):
            method("app=web")  # type: ignore[arg-type]


def test_an_index_function_returns_a_list_or_nothing() -> None:
    def by_node(obj: runtime.Object) -> Any:
        assert isinstance(obj, corev1.Pod)
        return [obj.spec.node_name] if obj.spec.node_name else None

    indexer = cache.new_indexer(cache.meta_namespace_key_func, {"node": by_node})
    for obj in (pod("a"), pod("b", "node-1"), pod("b"), pod("c", "node-2")):
        indexer.add(obj)
    assert indexer.list_index_func_values("node") == ["node-2"]
    assert indexer.index("node", pod("x")) == []

    indexer = cache.new_indexer(cache.meta_namespace_key_func, {"node": lambda obj: obj.spec.node_name})
    for returned in ("a string", "7"):
        message = f'on index "node": the index function returns {returned}, not a list.*at test_misuse.py:[0-9]+$'
        with pytest.raises(RuntimeError, match=message):
            indexer.add(pod("a", "node-1"))
        indexer = cache.new_indexer(cache.meta_namespace_key_func, {"node": lambda obj: 7})  # type: ignore
