"""The informer factory: one informer a class, started once, stopped together."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from clientgo import context, informers
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels, watch
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.informers.core.v1.pod import new_filtered_pod_informer


class StubClientset:
    """A clientset with two pods in every namespace, which remembers what it was asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.lists: list[tuple[str, metav1.ListOptions]] = []
        self._namespace = ""

    def is_watch_list_semantics_un_supported(self) -> bool:
        return True

    def core_v1(self) -> StubClientset:
        return self

    def apps_v1(self) -> StubClientset:
        return self

    def pods(self, namespace: str) -> Any:
        return _Resource(self, namespace, corev1.Pod, corev1.PodList)

    def deployments(self, namespace: str) -> Any:
        return _Resource(self, namespace, appsv1.Deployment, appsv1.DeploymentList)

    def record(self, namespace: str, opts: metav1.ListOptions) -> None:
        with self._lock:
            self.lists.append((namespace, opts.deep_copy()))


class _Resource:
    def __init__(self, clientset: StubClientset, namespace: str, cls: Any, list_cls: Any) -> None:
        self._clientset, self._namespace, self._cls, self._list_cls = clientset, namespace, cls, list_cls

    def list(self, ctx: context.Context, opts: metav1.ListOptions) -> Any:
        self._clientset.record(self._namespace, opts)
        items = [self._cls(metadata=metav1.ObjectMeta(name=name, namespace="ns", uid=name)) for name in ("a", "b")]
        return self._list_cls(metadata=metav1.ListMeta(resource_version="5"), items=items)

    def watch(self, ctx: context.Context, opts: metav1.ListOptions) -> watch.Interface:
        return watch.new_fake()


class Running:
    """A factory that is stopped and joined in the end."""

    def __init__(self, *options: Any, resync: float = 0.0) -> None:
        self.client = StubClientset()
        self.factory = informers.new_shared_informer_factory_with_options(self.client, resync, *options)  # type: ignore[arg-type]
        self.ctx, self.cancel = context.with_cancel(context.background())

    def __enter__(self) -> Running:
        return self

    def sync(self) -> dict[type, bool]:
        self.factory.start_with_context(self.ctx)
        return self.factory.wait_for_cache_sync_with_context(self.ctx).synced

    def __exit__(self, *_: object) -> None:
        self.cancel()
        self.factory.shutdown()


def test_all_requests_for_a_class_return_the_same_informer() -> None:
    with Running() as running:
        pods = running.factory.core().v1().pods()

        assert pods.informer() is running.factory.core().v1().pods().informer()
        assert running.sync() == {corev1.Pod: True}
        assert len(running.client.lists) == 1


def test_starting_again_starts_only_what_is_new() -> None:
    with Running() as running:
        running.factory.core().v1().pods().informer()
        assert running.sync() == {corev1.Pod: True}

        running.factory.apps().v1().deployments().informer()

        assert running.sync() == {corev1.Pod: True, appsv1.Deployment: True}
        assert len(running.client.lists) == 2


def test_listers_read_the_cache_and_say_not_found_as_the_server_does() -> None:
    with Running() as running:
        pods = running.factory.core().v1().pods()
        lister = pods.lister()
        running.sync()

        assert lister.pods("ns").get("a").metadata.name == "a"
        assert sorted(pod.metadata.name for pod in lister.list(labels.everything())) == ["a", "b"]
        assert lister.pods("other").list(labels.everything()) == []
        with pytest.raises(errors.StatusError, match='pods "missing" not found') as caught:
            lister.pods("ns").get("missing")
        assert errors.is_not_found(caught.value)


def test_a_generic_informer_is_found_by_resource() -> None:
    with Running() as running:
        generic = running.factory.for_resource(GroupVersionResource("", "v1", "pods"))
        running.sync()

        assert generic.informer() is running.factory.core().v1().pods().informer()
        assert generic.lister().by_namespace("ns").get("b").get_name() == "b"
        with pytest.raises(ValueError, match="no informer found for"):
            running.factory.for_resource(GroupVersionResource("", "v1", "nonsense"))


def test_options_narrow_what_is_listed_and_change_what_is_cached() -> None:
    def select(options: metav1.ListOptions) -> None:
        options.label_selector = "app=web"

    def strip(pod: Any) -> Any:
        pod.metadata.uid = ""
        return pod

    options = (
        informers.with_namespace("ns"),
        informers.with_tweak_list_options(select),
        informers.with_transform(strip),
    )
    with Running(*options) as running:
        lister = running.factory.core().v1().pods().lister()
        running.sync()

        ((namespace, listed),) = running.client.lists
        assert (namespace, listed.label_selector) == ("ns", "app=web")
        assert lister.pods("ns").get("a").metadata.uid == ""


def test_nothing_starts_after_shutdown() -> None:
    running = Running()
    running.factory.core().v1().pods().informer()
    running.factory.shutdown()

    running.factory.start_with_context(running.ctx)

    assert running.factory.wait_for_cache_sync_with_context(running.ctx).synced == {}
    assert running.client.lists == []
    running.cancel()


def test_a_wait_that_is_cut_short_says_what_has_not_synced() -> None:
    with Running() as running:
        running.factory.core().v1().pods().informer()
        stuck = threading.Event()
        running.client.record = lambda *_: stuck.wait()  # type: ignore[method-assign]
        running.factory.start_with_context(running.ctx)
        running.cancel()

        result = running.factory.wait_for_cache_sync_with_context(running.ctx)

        stuck.set()
        assert result.synced == {corev1.Pod: False}
        assert "Pod" in str(result.as_error())


def test_an_informer_of_its_own_takes_the_same_options() -> None:
    client = StubClientset()
    seen: list[metav1.ListOptions] = []
    informer = new_filtered_pod_informer(client, "ns", 0.0, {}, seen.append)  # type: ignore[arg-type]
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer")
    thread.start()

    while not informer.has_synced():
        informer.has_synced_checker().done().wait(1)

    assert sorted(informer.get_store().list_keys()) == ["ns/a", "ns/b"]
    assert seen
    cancel()
    thread.join()
