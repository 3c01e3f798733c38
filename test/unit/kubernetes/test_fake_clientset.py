"""The fake clientset: typed clients over an object tracker."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context, informers, testing
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.version import Info
from clientgo.kubernetes import fake
from clientgo.tools import cache

CTX = context.background()


def pod(name: str, **labels: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="ns", labels=labels))


def asked(client: fake.Clientset) -> list[str]:
    """Return the recorded actions in short: "get pods/status ns"."""
    found = []
    for action in client.actions():
        resource = action.get_resource().resource
        if action.get_subresource():
            resource += f"/{action.get_subresource()}"
        found.append(f"{action.get_verb()} {resource} {action.get_namespace()}".strip())
    return found


def test_life_of_an_object() -> None:
    client = fake.new_simple_clientset()
    pods = client.core_v1().pods("ns")

    created = pods.create(CTX, pod("a", app="x"))
    assert isinstance(created, corev1.Pod)
    created.spec.node_name = "node"
    updated = pods.update(CTX, created)
    assert updated.spec.node_name == "node"
    assert pods.get(CTX, "a") == updated
    updated.status.phase = "Running"
    assert pods.update_status(CTX, updated).status.phase == "Running"
    assert [item.metadata.name for item in pods.list(CTX).items] == ["a"]
    pods.delete(CTX, "a")
    with pytest.raises(apierrors.StatusError) as raised:
        pods.get(CTX, "a")
    assert apierrors.is_not_found(raised.value)

    assert asked(client) == [
        "create pods ns",
        "update pods ns",
        "get pods ns",
        "update pods/status ns",
        "list pods ns",
        "delete pods ns",
        "get pods ns",
    ]


def test_objects_given_at_the_start_are_there() -> None:
    node = corev1.Node(metadata=metav1.ObjectMeta(name="n"))
    deployment = appsv1.Deployment(metadata=metav1.ObjectMeta(name="d", namespace="ns"))
    client = fake.new_simple_clientset(node, deployment, pod("p"))
    assert client.core_v1().nodes().get(CTX, "n") == node
    assert client.apps_v1().deployments("ns").get(CTX, "d") == deployment
    assert [item.metadata.name for item in client.core_v1().pods("").list(CTX).items] == ["p"]
    assert client.actions() != []
    client.clear_actions()
    assert client.actions() == []


def test_lists_are_selected_by_label() -> None:
    client = fake.new_simple_clientset(pod("a", app="x"), pod("b", app="y"))
    options = metav1.ListOptions(label_selector="app=y")
    found = client.core_v1().pods("ns").list(CTX, options)
    assert [item.metadata.name for item in found.items] == ["b"]
    assert found.metadata.resource_version == "3"
    (action,) = client.actions()
    assert isinstance(action, testing.ListActionImpl)
    assert str(action.list_restrictions.labels) == "app=y"


@pytest.mark.parametrize("patch_type", [PatchType.MERGE, PatchType.STRATEGIC_MERGE])
def test_patch(patch_type: PatchType) -> None:
    client = fake.new_simple_clientset(pod("a"))
    patch = json.dumps({"metadata": {"labels": {"app": "x"}}}).encode()
    patched = client.core_v1().pods("ns").patch(CTX, "a", patch_type, patch)
    assert patched.metadata.labels == {"app": "x"}
    (action,) = client.actions()
    assert isinstance(action, testing.PatchActionImpl)
    assert (action.patch_type, action.patch) == (patch_type, patch)


def test_apply_with_field_owners() -> None:
    client = fake.new_clientset()
    config_maps = client.core_v1().config_maps("ns")
    document = {"metadata": {"name": "cm"}, "data": {"a": "1"}}
    applied = config_maps.apply(CTX, document, metav1.ApplyOptions(field_manager="me"))
    assert applied.data == {"a": "1"}
    other = {"metadata": {"name": "cm"}, "data": {"a": "2"}}
    with pytest.raises(apierrors.StatusError) as raised:
        config_maps.apply(CTX, other, metav1.ApplyOptions(field_manager="you"))
    assert apierrors.is_conflict(raised.value)
    forced = config_maps.apply(CTX, other, metav1.ApplyOptions(field_manager="you", force=True))
    assert forced.data == {"a": "2"}


def test_reactors_answer_first() -> None:
    client = fake.new_simple_clientset(pod("a"))

    def fail(action: testing.Action) -> tuple[bool, Any]:
        raise apierrors.new_internal_error("the test says so")

    client.prepend_reactor("update", "pods", fail)
    pods = client.core_v1().pods("ns")
    with pytest.raises(apierrors.StatusError, match="the test says so"):
        pods.update(CTX, pod("a"))
    assert pods.get(CTX, "a") == pod("a")

    client.prepend_reactor("get", "*", lambda action: (True, None))
    assert pods.get(CTX, "a") == corev1.Pod()


def test_watch() -> None:
    client = fake.new_simple_clientset()
    pods = client.core_v1().pods("ns")
    watcher = pods.watch(CTX, metav1.ListOptions())
    pods.create(CTX, pod("a"))
    event, ok = watcher.result_chan().receive(timeout=PATIENCE)
    assert ok
    assert (event.type, event.object) == ("ADDED", pod("a"))
    watcher.stop()
    (action, _) = client.actions()
    assert isinstance(action, testing.WatchActionImpl)


def test_errors_of_the_request_itself_are_raised() -> None:
    pods = fake.new_simple_clientset().core_v1().pods("ns")
    with pytest.raises(ValueError, match="resource name may not be empty"):
        pods.get(CTX, "")


def test_delete_options_and_delete_collection_are_recorded() -> None:
    client = fake.new_simple_clientset(pod("a"))
    pods = client.core_v1().pods("ns")
    pods.delete_collection(CTX, list_opts=metav1.ListOptions(label_selector="a=b"))
    pods.delete(CTX, "a", metav1.DeleteOptions(grace_period_seconds=5))
    collection, single = client.actions()
    assert isinstance(collection, testing.DeleteCollectionActionImpl)
    assert str(collection.list_restrictions.labels) == "a=b"
    assert isinstance(single, testing.DeleteActionImpl)
    assert single.delete_options.grace_period_seconds == 5


def test_logs() -> None:
    client = fake.new_simple_clientset(pod("a")).core_v1().pods("ns").get_client()
    request = client.get().namespace("ns").resource("pods").name("a").sub_resource("log")
    assert request.do_raw(CTX) == b"fake logs"
    assert request.stream(CTX).read() == b"fake logs"


@pytest.mark.parametrize("history", [False, True])
def test_informers_follow_a_fake_clientset(history: bool) -> None:
    """Go: TestListAndWatch."""
    client = fake.new_simple_clientset(pod("before"), history=history)
    factory = informers.new_shared_informer_factory(client, 0.0)
    informer = factory.core().v1().pods().informer()
    seen: list[str] = []
    changed = threading.Event()

    def note(kind: str, obj: Any) -> None:
        seen.append(f"{kind} {obj.metadata.name}")
        changed.set()

    informer.add_event_handler(
        cache.ResourceEventHandlerFuncs(
            add_func=lambda obj: note("add", obj),
            update_func=lambda old, new: note("update", new),
            delete_func=lambda obj: note("delete", obj),
        )
    )
    ctx, cancel = context.with_cancel(CTX)
    factory.start(ctx.done())
    try:
        assert cache.wait_for_cache_sync(ctx.done(), informer.has_synced)
        pods = client.core_v1().pods("ns")
        pods.create(CTX, pod("after"))
        pods.update(CTX, pod("after", app="x"))
        pods.delete(CTX, "before")
        while len(seen) < 4:
            assert changed.wait(PATIENCE), seen
            changed.clear()
        assert seen == ["add before", "add after", "update after", "delete before"]
        assert list(informer.get_store().list_keys()) == ["ns/after"]
    finally:
        cancel()
        factory.shutdown()


def test_discovery_answers_from_resources() -> None:
    client = fake.new_simple_clientset()
    client.resources = [
        metav1.APIResourceList(group_version="v1", api_resources=[metav1.APIResource(name="pods", kind="Pod")]),
        metav1.APIResourceList(group_version="apps/v1"),
        metav1.APIResourceList(group_version="apps/v1beta1"),
    ]
    discovery = client.discovery()
    assert [item.name for item in discovery.server_resources_for_group_version("v1").api_resources] == ["pods"]
    with pytest.raises(apierrors.StatusError) as raised:
        discovery.server_resources_for_group_version("v2")
    assert str(raised.value) == 'the server could not find the requested resource, GroupVersion "v2" not found'
    groups, resources = discovery.server_groups_and_resources()
    assert [(group.name, group.preferred_version.version, len(group.versions)) for group in groups] == [
        ("", "v1", 1),
        ("apps", "v1", 2),
    ]
    assert len(resources) == 3
    assert discovery.server_version().major == "0"
    discovery.faked_server_version = Info(major="1", minor="36")
    assert client.discovery().server_version().minor == "36"


def test_fakes_say_that_they_cannot_stream_lists() -> None:
    """Go: TestDoesClientSupportWatchListSemantics."""
    assert fake.new_simple_clientset().is_watch_list_semantics_un_supported()
