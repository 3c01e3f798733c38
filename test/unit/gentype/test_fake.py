"""The generic fake clients: actions, results, and the differences from the real ones. Mirrors gentype/fake.go.

The clients are made as Go's generated fakes make theirs (kubernetes/typed/core/v1/fake/fake_configmap.go).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context, testing
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.gentype import fake as fakes
from clientgo.kubernetes import fake as kubernetesfake
from clientgo.kubernetes.scheme import CODECS, SCHEME

CTX = context.background()
VERSION = GroupVersion("", "v1")
RESOURCE, KIND = VERSION.with_resource("configmaps"), VERSION.with_kind("ConfigMap")
FakeConfigMaps = fakes.FakeClientWithListAndApply[corev1.ConfigMap, corev1.ConfigMapList]


def copy_list_meta(dst: corev1.ConfigMapList, src: corev1.ConfigMapList) -> None:
    dst.metadata = src.metadata


def set_items(of: corev1.ConfigMapList, items: list[corev1.ConfigMap]) -> None:
    of.items = fakes.from_pointer_slice(items)


ONE: tuple[Any, ...] = (RESOURCE, KIND, corev1.ConfigMap)
MANY: tuple[Any, ...] = (corev1.ConfigMapList, copy_list_meta, lambda of: fakes.to_pointer_slice(of.items), set_items)


def config_map(name: str, **labels: str) -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="ns", labels=labels), data={"k": "v"})


def clients(*objects: corev1.ConfigMap) -> tuple[testing.Fake, FakeConfigMaps]:
    """Return a recorder over a tracker with these objects, and a client of the namespace `ns`."""
    tracker = testing.new_field_managed_object_tracker(SCHEME, CODECS.universal_deserializer())
    for obj in objects:
        tracker.add(obj)
    fake = testing.Fake()
    fake.add_reactor("*", "*", testing.object_reaction(tracker))
    fake.add_watch_reactor(
        "*", lambda action: (True, tracker.watch(action.get_resource(), action.get_namespace(), action.list_options))
    )
    return fake, fakes.new_fake_client_with_list_and_apply(fake, "ns", *ONE, *MANY)


APPLIED = {"metadata": {"name": "a"}, "data": {"k": "applied"}}
CALLS: dict[str, Callable[[Any], Any]] = {
    "get": lambda c: c.get(CTX, "a", metav1.GetOptions(resource_version="1")),
    "get without options": lambda c: c.get(CTX, "a"),
    "list": lambda c: c.list(CTX, metav1.ListOptions(label_selector="app=x", field_selector="a=b", limit=3)),
    "list without options": lambda c: c.list(CTX),
    "watch": lambda c: c.watch(CTX, metav1.ListOptions(label_selector="app=x")).stop(),
    "create": lambda c: c.create(CTX, config_map("new"), metav1.CreateOptions(field_manager="m")),
    "update": lambda c: c.update(CTX, config_map("a"), metav1.UpdateOptions(field_manager="m")),
    "update_status": lambda c: c.update_status(CTX, config_map("a"), metav1.UpdateOptions(field_manager="m")),
    "delete": lambda c: c.delete(CTX, "a", metav1.DeleteOptions(grace_period_seconds=3)),
    "delete without options": lambda c: c.delete(CTX, "a"),
    "delete_collection": lambda c: c.delete_collection(
        CTX, metav1.DeleteOptions(grace_period_seconds=3), metav1.ListOptions(label_selector="app=x")
    ),
    "patch": lambda c: c.patch(
        CTX, "a", "application/merge-patch+json", b'{"data":{"k":"p"}}', metav1.PatchOptions(field_manager="m")
    ),
    "patch of a subresource": lambda c: c.patch(
        CTX, "a", "application/merge-patch+json", b'{"data":{"k":"p"}}', None, "status"
    ),
    "apply": lambda c: c.apply(CTX, APPLIED, metav1.ApplyOptions(field_manager="m", force=True)),
    "apply_status": lambda c: c.apply_status(CTX, APPLIED, metav1.ApplyOptions(field_manager="m", force=True)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_actions_and_results_are_those_of_the_fake_clientset(call: Callable[[Any], Any]) -> None:
    """The fake clientset has the real typed clients over a fake REST client: another path to the same actions."""
    fake, client = clients(config_map("a", app="x"), config_map("b"))
    clientset = kubernetesfake.new_clientset(config_map("a", app="x"), config_map("b"))
    found, expected = call(client), call(clientset.core_v1().config_maps("ns"))
    assert [vars(action) for action in fake.actions()] == [vars(action) for action in clientset.actions()]
    (action,) = fake.actions()
    assert (action.get_namespace(), action.get_resource()) == ("ns", RESOURCE)
    assert type(found) is type(expected)
    if found is not None:
        assert without_times(found) == without_times(expected)


def without_times(obj: Any) -> str:
    document = json.loads(json.dumps(obj.to_dict()))
    for item in document.get("items", [document]):
        for entry in item["metadata"].get("managedFields", ()):
            entry.pop("time", None)
    # Of a list, the tracker's kind and ours are those of the class.
    return json.dumps([document.get("metadata"), document.get("items"), document.get("data")], sort_keys=True)


def test_a_list_has_the_metadata_and_the_items_that_the_labels_select() -> None:
    fake, client = clients()
    answer = corev1.ConfigMapList(
        metadata=metav1.ListMeta(resource_version="7", continue_="next"),
        items=[config_map("a", app="x"), config_map("b", app="y"), config_map("c", app="x")],
    )
    fake.prepend_reactor("list", "configmaps", lambda action: (True, answer))
    found = client.list(CTX, metav1.ListOptions(label_selector="app=x"))
    assert [item.name for item in found.items] == ["a", "c"]
    assert (found.metadata.resource_version, found.metadata.continue_) == ("7", "next")
    assert len(answer.items) == 3
    with pytest.raises(ValueError, match="invalid selector"):
        client.list(CTX, metav1.ListOptions(label_selector="!!"))


def test_a_watch_sees_changes_and_leaves_the_options_alone() -> None:
    _, client = clients()
    options = metav1.ListOptions()
    watcher = client.watch(CTX, options)
    client.create(CTX, config_map("new"))
    event, _ = watcher.result_chan().receive(PATIENCE)
    assert (event.type, event.object.name) == (watch.EventType.ADDED, "new")
    watcher.stop()
    assert not options.watch


@pytest.mark.parametrize("name", [name for name in CALLS if name != "watch"])
def test_the_error_of_a_reactor_is_raised(name: str) -> None:
    fake, client = clients(config_map("a"))

    def fail(action: testing.Action) -> Any:
        raise errors.new_internal_error(ValueError("broken"))

    fake.prepend_reactor("*", "configmaps", fail)
    with pytest.raises(errors.StatusError, match="broken"):
        CALLS[name](client)
    assert len(fake.actions()) == 1


def test_without_a_reactor_and_for_none_the_result_is_empty() -> None:
    fake = testing.Fake()
    client = fakes.new_fake_client_with_list_and_apply(fake, "ns", *ONE, *MANY)
    for _ in range(2):
        assert client.get(CTX, "a") == corev1.ConfigMap()
        assert client.update(CTX, config_map("a")) == corev1.ConfigMap()
        assert list(client.list(CTX).items) == []
        client.delete(CTX, "a")
        fake.prepend_reactor("*", "*", lambda action: (True, None))


def test_a_result_of_another_class_is_an_error() -> None:
    fake, client = clients()
    fake.prepend_reactor("*", "*", lambda action: (True, corev1.Secret()))
    with pytest.raises(TypeError, match="returned a Secret, not a ConfigMap"):
        client.get(CTX, "a")
    with pytest.raises(TypeError, match="returned a Secret, not a ConfigMapList"):
        client.list(CTX)


@pytest.mark.parametrize("method", ["apply", "apply_status"])
def test_an_apply_needs_an_object_with_a_name(method: str) -> None:
    fake, client = clients()
    with pytest.raises(ValueError, match="^configuration provided to Apply must not be nil$"):
        getattr(client, method)(CTX, None)
    with pytest.raises(ValueError, match=r"^configuration\.Name must be provided to Apply$"):
        getattr(client, method)(CTX, {"data": {"k": "v"}})
    assert fake.actions() == []


def test_an_apply_sends_the_kind_and_only_the_fields_of_the_object() -> None:
    fake, client = clients()
    found = client.apply(CTX, APPLIED, metav1.ApplyOptions(field_manager="m"))
    assert found.data == {"k": "applied"}
    (action,) = fake.actions()
    assert isinstance(action, testing.PatchActionImpl)
    assert json.loads(action.get_patch()) == {"apiVersion": "v1", "kind": "ConfigMap", **APPLIED}
    assert (action.get_name(), action.get_patch_type()) == ("a", "application/apply-patch+yaml")
    with pytest.raises(errors.StatusError, match="conflict"):
        client.apply(CTX, {**APPLIED, "data": {"k": "other"}}, metav1.ApplyOptions(field_manager="other"))


def test_the_functions_of_go_create_the_four_clients() -> None:
    fake = testing.Fake()
    made: dict[Any, fakes.FakeClient[Any]] = {
        fakes.FakeClient: fakes.new_fake_client(fake, "", *ONE),
        fakes.FakeClientWithApply: fakes.new_fake_client_with_apply(fake, "", *ONE),
        fakes.FakeClientWithList: fakes.new_fake_client_with_list(fake, "", *ONE, *MANY),
        fakes.FakeClientWithListAndApply: fakes.new_fake_client_with_list_and_apply(fake, "", *ONE, *MANY),
    }
    for cls, client in made.items():
        assert type(client) is cls
        assert client.fake is fake
        assert (client.namespace(), client.resource(), client.kind()) == ("", RESOURCE, KIND)
        assert hasattr(client, "list") is hasattr(client, "delete_collection") is ("List" in cls.__name__)
        assert hasattr(client, "apply") is hasattr(client, "apply_status") is ("Apply" in cls.__name__)
        assert repr(client) == f"<{cls.__name__} configmaps in 'all namespaces'>"
    assert repr(clients()[1]) == "<FakeClientWithListAndApply configmaps in 'ns'>"


def test_a_call_without_a_context_is_explained() -> None:
    _, client = clients()
    with pytest.raises(TypeError, match="the first argument is a context"):
        client.get("a")


def test_slices_are_copied_and_none_stays_none() -> None:
    items = [config_map("a")]
    for copy in (fakes.to_pointer_slice, fakes.from_pointer_slice):
        found = copy(items)
        assert found == items and found is not items
        assert found[0] is items[0]
        assert copy(None) is None


def test_clients_do_not_import_their_fakes() -> None:
    program = "import sys\nfrom clientgo import gentype\nassert 'clientgo.testing' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
