"""The object tracker and the simple reactors. More cases, compared with Go, stand under test/golden/testing."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from invariants import check_invariants
from patience import PATIENCE

from clientgo import testing
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime, watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.kubernetes.scheme import CODECS, SCHEME
from clientgo.util import watchlist

RESOURCE = GroupVersionResource("", "test_version", "test_kind")
CONFIG_MAPS = GroupVersionResource("", "v1", "configmaps")


def arbitrary(name: str = "test_name", namespace: str = "test_namespace") -> Unstructured:
    return Unstructured.from_dict(
        {
            "kind": "test_kind",
            "apiVersion": "test_version",
            "metadata": {"name": name, "namespace": namespace, "uid": "test_uid"},
            "data": name,
        }
    )


def new_tracker(**options: bool) -> testing.ObjectTracker:
    return testing.new_object_tracker(SCHEME, CODECS.universal_deserializer(), **options)


def events(watcher: watch.Interface) -> list[tuple[str, str]]:
    """Return (type, name) of each event since the last call."""
    received = []
    while True:
        event, ok, _ = watcher.result_chan().try_receive()
        if not ok:
            return received
        received.append((str(event.type), event.object.get_name()))


def test_watch_of_a_namespace_sees_what_is_created() -> None:
    """Go: TestWatchCallNonNamespace"""
    tracker = new_tracker()
    watcher = tracker.watch(RESOURCE, "test_namespace")
    tracker.create(RESOURCE, arbitrary(), "test_namespace")
    event, _ = watcher.result_chan().receive(timeout=PATIENCE)
    assert event.object == arbitrary()


def test_watch_of_all_namespaces_sees_each() -> None:
    """Go: TestWatchCallAllNamespace"""
    tracker = new_tracker()
    one, everything = tracker.watch(RESOURCE, "test_namespace"), tracker.watch(RESOURCE, "")
    tracker.create(RESOURCE, arbitrary(), "test_namespace")
    tracker.update(RESOURCE, arbitrary(), "test_namespace")
    tracker.delete(RESOURCE, "test_namespace", "test_name")
    expected = [("ADDED", "test_name"), ("MODIFIED", "test_name"), ("DELETED", "test_name")]
    assert events(one) == events(everything) == expected


def test_every_watch_gets_the_events_of_its_namespace() -> None:
    """Go: TestWatchCallMultipleInvocation

    Go: TestWatchCallMultipleInvocation/foo
    Go: TestWatchCallMultipleInvocation/bar
    Go: TestWatchCallMultipleInvocation/baz
    """
    tracker = new_tracker()
    watches = {id: tracker.watch(RESOURCE, ns) for id, ns in (("all1", ""), ("all2", ""), ("ns1", "ns"), ("ns2", "ns"))}
    cases = [("foo", "ns"), ("bar", "ns"), ("baz", "")]
    for name, ns in cases:
        tracker.create(RESOURCE, arbitrary(name, ns), ns)
    for name, ns in cases[1:]:
        tracker.update(RESOURCE, arbitrary(name, ns), ns)
    for name, ns in cases:
        tracker.delete(RESOURCE, ns, name)

    everything = [
        *(("ADDED", name) for name, _ in cases),
        *(("MODIFIED", name) for name, _ in cases[1:]),
        *(("DELETED", name) for name, _ in cases),
    ]
    of_ns = [event for event in everything if event[1] != "baz"]
    assert {id: events(watcher) for id, watcher in watches.items()} == {
        "all1": everything,
        "all2": everything,
        "ns1": of_ns,
        "ns2": of_ns,
    }


def test_adding_after_a_watch_was_stopped_does_no_harm() -> None:
    """Go: TestWatchAddAfterStop"""
    tracker = new_tracker()
    watcher = tracker.watch(RESOURCE, "test_namespace")
    watcher.stop()
    tracker.create(RESOURCE, arbitrary(), "test_namespace")
    assert events(watcher) == []


def test_patching_a_missing_object_is_not_found() -> None:
    """Go: TestPatchWithMissingObject"""
    nodes = GroupVersionResource("", "v1", "nodes")
    reaction = testing.object_reaction(new_tracker())
    action = testing.new_root_patch_subresource_action(nodes, "node-1", PatchType.STRATEGIC_MERGE, b"{}")
    with pytest.raises(apierrors.StatusError) as raised:
        reaction(action)
    assert str(raised.value) == 'nodes "node-1" not found'
    assert apierrors.is_not_found(raised.value)


@pytest.mark.parametrize(
    ("patch_type", "patch"),
    [
        (PatchType.JSON, [{"op": "add", "path": "/data/b", "value": "2"}, {"op": "remove", "path": "/data/a"}]),
        (PatchType.MERGE, {"data": {"a": None, "b": "2"}}),
        (PatchType.STRATEGIC_MERGE, {"data": {"a": None, "b": "2"}}),
    ],
)
def test_patches(patch_type: PatchType, patch: Any) -> None:
    tracker = new_tracker()
    tracker.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm", namespace="ns"), data={"a": "1"}))
    action = testing.new_patch_action(CONFIG_MAPS, "ns", "cm", patch_type, json.dumps(patch).encode())
    handled, patched = testing.object_reaction(tracker)(action)
    assert handled
    assert isinstance(patched, corev1.ConfigMap)
    assert patched.data == {"b": "2"}
    assert tracker.get(CONFIG_MAPS, "ns", "cm") == patched


def test_unknown_patch_type_is_refused() -> None:
    tracker = new_tracker()
    tracker.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm", namespace="ns")))
    action = testing.new_patch_action(CONFIG_MAPS, "ns", "cm", PatchType("x"), b"{}")
    with pytest.raises(ValueError, match="PatchType x is not supported"):
        testing.object_reaction(tracker)(action)


def test_reactions_of_an_object_life() -> None:
    react = testing.object_reaction(new_tracker())
    cm = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm"), data={"a": "1"})
    _, created = react(testing.new_create_action(CONFIG_MAPS, "ns", cm))
    assert isinstance(created, corev1.ConfigMap)
    assert created.metadata.namespace == "ns"
    assert cm.metadata.namespace == ""

    created.data["a"] = "2"
    react(testing.new_update_action(CONFIG_MAPS, "ns", created))
    _, got = react(testing.new_get_action(CONFIG_MAPS, "ns", "cm"))
    assert got == created

    kind = GroupVersionKind("", "v1", "ConfigMap")
    _, found = react(testing.new_list_action(CONFIG_MAPS, kind, "", metav1.ListOptions()))
    assert isinstance(found, corev1.ConfigMapList)
    assert list(found.items) == [created]

    react(testing.new_delete_action(CONFIG_MAPS, "ns", "cm"))
    with pytest.raises(apierrors.StatusError):
        react(testing.new_get_action(CONFIG_MAPS, "ns", "cm"))

    watch_action = testing.new_watch_action(CONFIG_MAPS, "ns", metav1.ListOptions())
    assert react(watch_action) == (False, None)


def test_creating_a_subresource_of_another_kind_keeps_the_object() -> None:
    tracker = new_tracker()
    pods = GroupVersionResource("", "v1", "pods")
    tracker.add(corev1.Pod(metadata=metav1.ObjectMeta(name="p", namespace="ns")))
    binding = corev1.Binding(metadata=metav1.ObjectMeta(name="p", namespace="ns"))
    react = testing.object_reaction(tracker)
    _, answer = react(testing.new_create_subresource_action(pods, "p", "binding", "ns", binding))
    assert answer == binding
    assert isinstance(tracker.get(pods, "ns", "p"), corev1.Pod)
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="p", namespace="ns", labels={"a": "b"}))
    _, answer = react(testing.new_create_subresource_action(pods, "p", "resize", "ns", pod))
    assert tracker.get(pods, "ns", "p") == pod == answer


def test_lists_are_added_item_by_item() -> None:
    tracker = new_tracker()
    maps = [corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="ns")) for name in "ab"]
    tracker.add(corev1.ConfigMapList(items=maps))
    tracker.add(
        metav1.List.from_dict(
            {"items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}}]}
        )
    )
    for name in "abc":
        assert tracker.get(CONFIG_MAPS, "ns", name).get_name() == name  # type: ignore[attr-defined]


def test_watch_takes_any_number_of_events() -> None:
    tracker = new_tracker()
    watcher = tracker.watch(CONFIG_MAPS, "")
    for number in range(300):
        tracker.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name=f"cm-{number}")))
    assert len(events(watcher)) == 300


def test_objects_are_copied_in_and_out() -> None:
    tracker = new_tracker()
    watcher = tracker.watch(CONFIG_MAPS, "ns")
    cm = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm", namespace="ns"))
    tracker.add(cm)
    cm.data["in"] = "changed"
    got: Any = tracker.get(CONFIG_MAPS, "ns", "cm")
    got.data["out"] = "changed"
    event, _ = watcher.result_chan().receive(timeout=PATIENCE)
    event.object.data["watch"] = "changed"
    stored: Any = tracker.get(CONFIG_MAPS, "ns", "cm")
    assert stored.data == {}


# ---- history


def history_since(tracker: testing.ObjectTracker, version: str, ns: str = "") -> list[tuple[str, str]]:
    return events(tracker.watch(CONFIG_MAPS, ns, metav1.ListOptions(resource_version=version)))


def config_map(name: str, ns: str = "ns") -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace=ns))


def test_with_history_a_watch_gets_exactly_what_happened_since_its_version() -> None:
    tracker = new_tracker(history=True)
    tracker.add(config_map("a"))
    tracker.add(config_map("b"))
    listed = tracker.list(CONFIG_MAPS, GroupVersionKind("", "v1", "ConfigMap"), "ns")
    version = listed.get_resource_version()  # type: ignore[attr-defined]

    tracker.update(CONFIG_MAPS, config_map("a"), "ns")
    tracker.delete(CONFIG_MAPS, "ns", "b")
    tracker.add(config_map("c", "other"))

    assert history_since(tracker, version) == [("MODIFIED", "a"), ("DELETED", "b"), ("ADDED", "c")]
    assert history_since(tracker, version, "ns") == [("MODIFIED", "a"), ("DELETED", "b")]
    assert history_since(tracker, "") == [("ADDED", "a"), ("ADDED", "c")]
    assert history_since(tracker, "0") == [("ADDED", "a"), ("ADDED", "c")]
    check_invariants(tracker)


def test_with_history_objects_carry_their_version() -> None:
    tracker = new_tracker(history=True)
    watcher = tracker.watch(CONFIG_MAPS, "ns")
    tracker.add(config_map("a"))
    tracker.update(CONFIG_MAPS, config_map("a"), "ns")
    tracker.delete(CONFIG_MAPS, "ns", "a")
    versions = [watcher.result_chan().receive(timeout=PATIENCE)[0].object.get_resource_version() for _ in range(3)]
    assert versions == ["2", "3", "4"]
    assert history_since(tracker, "3") == [("DELETED", "a")]


def test_without_history_deletions_between_list_and_watch_are_lost_as_in_go() -> None:
    tracker = new_tracker()
    tracker.add(config_map("a"))
    tracker.add(config_map("b"))
    tracker.update(CONFIG_MAPS, config_map("a"), "ns")
    tracker.delete(CONFIG_MAPS, "ns", "b")
    assert history_since(tracker, "3") == [("ADDED", "a")]


# ---- server-side apply


def managed_tracker(scheme: runtime.Scheme | None = None) -> testing.ObjectTracker:
    if scheme is None:
        scheme = runtime.Scheme()
        scheme.add_known_types(GroupVersion("", "v1"), corev1.ConfigMap)
    return testing.new_field_managed_object_tracker(scheme, CODECS.universal_deserializer())


def apply(tracker: testing.ObjectTracker, document: dict[str, Any], manager: str, force: bool | None = None) -> Any:
    options = metav1.PatchOptions(field_manager=manager, force=force)
    resource = GroupVersionResource("", "v1", "configMaps")
    patch = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", **document}).encode()
    action = testing.new_patch_action_with_options(resource, "default", "cm-1", PatchType.APPLY, patch, options)
    handled, result = testing.object_reaction(tracker)(action)
    assert handled
    return result


def test_apply_creates_a_missing_object() -> None:
    """Go: TestApplyCreate"""
    cm = apply(managed_tracker(), {"metadata": {"name": "cm-1"}, "data": {"k": "v"}}, "test-manager")
    assert isinstance(cm, corev1.ConfigMap)
    assert cm.data == {"k": "v"}
    (entry,) = cm.metadata.managed_fields
    assert (entry.manager, entry.operation) == ("test-manager", "Apply")


def test_applied_object_is_named_after_the_action() -> None:
    """Go: TestApplyNoMeta"""
    cm = apply(managed_tracker(), {"data": {"k": "v"}}, "test-manager")
    assert cm.metadata.name == "cm-1"
    assert cm.data == {"k": "v"}


def test_an_object_keeps_its_empty_values_which_have_no_owner() -> None:
    tracker = managed_tracker()
    written = corev1.ConfigMap.from_dict({"metadata": {"name": "cm-1", "labels": {}}, "data": {}})
    resource = GroupVersionResource("", "v1", "configMaps")
    tracker.create(resource, written, "default", metav1.CreateOptions(field_manager="a"))
    found = tracker.get(resource, "default", "cm-1").to_dict()
    assert (found["data"], found["metadata"]) == ({}, {"name": "cm-1", "namespace": "default", "labels": {}})
    cm = apply(tracker, {"metadata": {"name": "cm-1"}, "data": {"k": "v"}}, "b")
    assert [entry.manager for entry in cm.metadata.managed_fields] == ["b"]


def test_an_apply_must_not_contain_managed_fields() -> None:
    tracker = managed_tracker()
    document = {"metadata": {"name": "cm-1", "managedFields": []}, "data": {"k": "v"}}
    with pytest.raises(apierrors.StatusError, match="metadata.managedFields must be nil") as raised:
        apply(tracker, document, "test-manager")
    assert apierrors.is_bad_request(raised.value)


def test_apply_respects_owners_of_fields() -> None:
    """Go: TestApplyUpdateMultipleFieldManagers"""
    tracker = managed_tracker()
    react = testing.object_reaction(tracker)
    resource = GroupVersionResource("", "v1", "configMaps")
    initial = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm-1"), data={"k0": "v0"})
    react(testing.new_create_action(resource, "default", initial))

    def data(values: dict[str, str]) -> dict[str, Any]:
        return {"metadata": {"name": "cm-1"}, "data": values}

    assert apply(tracker, data({"k1": "v1"}), "test-manager-1").data == {"k0": "v0", "k1": "v1"}

    with pytest.raises(apierrors.StatusError) as raised:
        apply(tracker, data({"k1": "xyz"}), "test-manager-2")
    assert str(raised.value) == 'Apply failed with 1 conflict: conflict with "test-manager-1": .data.k1'
    assert apierrors.is_conflict(raised.value)

    assert apply(tracker, data({"k2": "v2"}), "test-manager-2").data == {"k0": "v0", "k1": "v1", "k2": "v2"}
    assert apply(tracker, data({"k1": "v101"}), "test-manager-1").data == {"k0": "v0", "k1": "v101", "k2": "v2"}
    # What the manager owned and no longer asks for goes away.
    assert apply(tracker, data({"k1": "v202"}), "test-manager-2", force=True).data == {"k0": "v0", "k1": "v202"}

    replaced = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm-1"), data={"k99": "v99"})
    options = metav1.UpdateOptions(field_manager="test-manager-1")
    _, updated = react(testing.new_update_action_with_options(resource, "default", replaced, options))
    assert isinstance(updated, corev1.ConfigMap)
    assert updated.data == {"k99": "v99"}


def test_kinds_registered_later_become_known() -> None:
    """Go: TestManagedFieldsObjectTrackerReloadsScheme"""
    scheme = runtime.Scheme()
    tracker = managed_tracker(scheme)
    scheme.add_known_types(GroupVersion("", "v1"), corev1.ConfigMap)
    cm = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm"), data={"key": "value"})
    tracker.create(CONFIG_MAPS, cm, "default", metav1.CreateOptions(field_manager="test-manager"))
    assert tracker.get(CONFIG_MAPS, "default", "cm").get_name() == "cm"  # type: ignore[attr-defined]
    assert cm.api_version == ""


def test_apply_of_unstructured_objects() -> None:
    """Go: TestManagedFielsdObjectTrackerWithUnstructured"""
    scheme = runtime.Scheme()
    scheme.add_known_type_with_name(GroupVersionKind("", "v1", "ConfigMap"), Unstructured)
    tracker = managed_tracker(scheme)
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "test-cm", "namespace": "default"},
        "data": {"key": "value"},
    }
    for data in ({"key": "value"}, {"key": "value", "another-key": "another-value"}):
        document["data"] = data
        configuration = Unstructured.from_dict(document).deep_copy()
        tracker.apply(CONFIG_MAPS, configuration, "default", metav1.PatchOptions(field_manager="test-manager"))
        got = tracker.get(CONFIG_MAPS, "default", "test-cm")
        assert isinstance(got, Unstructured)
        found = got.to_dict()
        assert found["metadata"].pop("managedFields")
        assert found == document


def test_plain_tracker_applies_as_a_strategic_merge() -> None:
    tracker = new_tracker()
    tracker.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm-1", namespace="default"), data={"a": "1"}))
    configuration = Unstructured.from_dict({"metadata": {"name": "cm-1"}, "data": {"b": "2"}})
    tracker.apply(CONFIG_MAPS, configuration, "default")
    merged: Any = tracker.get(CONFIG_MAPS, "default", "cm-1")
    assert merged.data == {"a": "1", "b": "2"}


# ---- looking up


def test_get_needs_the_exact_namespace() -> None:
    """Go: TestGetWithExactMatch"""
    for name, namespace, wrong in (("node", "", "ns"), ("pod", "default", "")):
        tracker = new_tracker()
        obj = Unstructured.from_dict(
            {"apiVersion": "v1", "kind": name, "metadata": {"name": name, "namespace": namespace}}
        )
        tracker.add(obj)
        gvr = GroupVersionResource("", "v1", f"{name}s")
        assert tracker.get(gvr, namespace, name) == obj
        with pytest.raises(apierrors.StatusError) as raised:
            tracker.get(gvr, wrong, name)
        assert str(raised.value) == str(apierrors.new_not_found(gvr.group_resource(), name))


@pytest.mark.parametrize(
    ("pattern", "resource", "subresource", "covers"),
    [
        ("*", "", "", True),
        ("serviceaccounts", "", "", False),
        ("serviceaccounts", "serviceaccounts", "", True),
        ("serviceaccounts/token", "", "", False),
        ("serviceaccounts/token", "serviceaccounts", "", False),
        ("serviceaccounts/token", "", "token", False),
        ("serviceaccounts/token", "serviceaccounts", "token", True),
    ],
)
def test_reactors_cover_resources(pattern: str, resource: str, subresource: str, covers: bool) -> None:
    """Go: Test_resourceCovers/#0-#6"""
    action = testing.ActionImpl(verb="get", resource=GroupVersionResource("", "", resource), subresource=subresource)
    assert testing.SimpleReactor("*", pattern, lambda action: (True, None)).handles(action) == covers
    assert testing.SimpleReactor("list", pattern, lambda action: (True, None)).handles(action) is False
    assert testing.SimpleWatchReactor(pattern, lambda action: (True, None)).handles(action) == covers
    assert testing.SimpleProxyReactor(pattern, lambda action: (True, None)).handles(action) == covers


def test_trackers_say_that_they_cannot_stream_lists() -> None:
    """Go: TestDoesClientSupportWatchListSemantics"""
    assert watchlist.does_client_not_support_watch_list_semantics(new_tracker())
    assert watchlist.does_client_not_support_watch_list_semantics(managed_tracker())


def test_the_fakes_load_no_server() -> None:
    code = "import sys, clientgo.testing.fixture; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = out.stdout.split()
    assert "clientgo.testing.fixture" in loaded
    assert [name for name in loaded if name.startswith(("clientgo.testing.apiserver", "http.server"))] == []
