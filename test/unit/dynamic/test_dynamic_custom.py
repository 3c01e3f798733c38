"""Every verb of the dynamic client on a custom kind of two versions, with subresources. Go: dynamic/simple_test.go."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest
from patience import PATIENCE

from clientgo import context, dynamic
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.apimachinery.types import PatchType
from clientgo.dynamic import dynamicinformer
from clientgo.testing.apiserver import Environment
from clientgo.tools import cache

# One server serves the whole module, and its connections may outlive a test.
pytestmark = pytest.mark.shared_server

CTX = context.background()
V1 = GroupVersionResource("shop.example.com", "v1", "carts")
V1ALPHA1 = GroupVersionResource("shop.example.com", "v1alpha1", "carts")


def version(name: str, *, storage: bool) -> dict:
    counts = {"type": "object", "properties": {"replicas": {"type": "integer"}, "color": {"type": "string"}}}
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": counts, "status": counts}}},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
    }


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "carts.shop.example.com"},
    "spec": {
        "group": "shop.example.com",
        "names": {"kind": "Cart", "plural": "carts", "singular": "cart", "listKind": "CartList"},
        "scope": "Namespaced",
        "versions": [version("v1", storage=True), version("v1alpha1", storage=False)],
    },
}


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment(crds=[CRD]) as environment:
        yield environment


@pytest.fixture
def client(env: Environment) -> Iterator[dynamic.DynamicClient]:
    made = dynamic.new_for_config(env.config)
    yield made
    made.resource(V1).namespace("default").delete_collection(CTX)
    made.close()


@pytest.fixture
def carts(client: dynamic.DynamicClient) -> dynamic.ResourceInterface:
    return client.resource(V1).namespace("default")


def cart(name: str, api_version: str = "v1", **spec: object) -> Unstructured:
    return Unstructured(
        {"apiVersion": f"shop.example.com/{api_version}", "kind": "Cart", "metadata": {"name": name}, "spec": spec}
    )


def spec(obj: Unstructured) -> dict:
    return dict(obj.unstructured_content()["spec"])


def test_each_version_shows_the_same_object_as_its_own(client, carts):
    carts.create(CTX, cart("one", color="red"))
    alpha = client.resource(V1ALPHA1).namespace("default")
    seen = alpha.get(CTX, "one")
    assert (seen.get_api_version(), seen.get_kind(), spec(seen)) == (
        "shop.example.com/v1alpha1",
        "Cart",
        {"color": "red"},
    )
    seen.unstructured_content()["spec"]["color"] = "blue"
    alpha.update(CTX, seen)
    assert spec(carts.get(CTX, "one")) == {"color": "blue"}
    listed = alpha.list(CTX)
    assert listed.get_api_version() == "shop.example.com/v1alpha1"
    assert [item.get_api_version() for item in listed.extract_items()] == ["shop.example.com/v1alpha1"]


@pytest.mark.parametrize(
    ("patch_type", "patch", "result"),
    [
        (PatchType.JSON, [{"op": "replace", "path": "/spec/color", "value": "blue"}], {"color": "blue", "replicas": 1}),
        (PatchType.MERGE, {"spec": {"color": None}}, {"replicas": 1}),
        (
            PatchType.APPLY_YAML,
            {"apiVersion": "shop.example.com/v1", "kind": "Cart", "metadata": {"name": "x"}, "spec": {"replicas": 1}},
            {"color": "red", "replicas": 1},
        ),
    ],
)
def test_patches(carts, patch_type, patch, result):
    carts.create(CTX, cart("x", color="red", replicas=1))
    patched = carts.patch(
        CTX, "x", patch_type, json.dumps(patch).encode(), metav1.PatchOptions(field_manager="a", force=None)
    )
    assert spec(patched) == result


def test_a_strategic_patch_needs_a_built_in_kind(carts):
    carts.create(CTX, cart("x"))
    with pytest.raises(errors.StatusError) as caught:
        carts.patch(CTX, "x", PatchType.STRATEGIC_MERGE, b"{}")
    assert caught.value.status().code == 415


def test_apply_creates_changes_conflicts_and_forces(carts):
    mine, theirs = metav1.ApplyOptions(field_manager="mine"), metav1.ApplyOptions(field_manager="theirs")
    carts.apply(CTX, "x", cart("x", color="red"), mine)
    carts.apply(CTX, "x", cart("x", color="green"), mine)
    with pytest.raises(errors.StatusError) as caught:
        carts.apply(CTX, "x", cart("x", color="blue"), theirs)
    assert errors.is_conflict(caught.value)
    [cause] = caught.value.status().details.causes
    assert (cause.type, cause.field) == ("FieldManagerConflict", ".spec.color")
    assert 'conflict with "mine"' in str(caught.value)
    theirs.force = True
    taken = carts.apply(CTX, "x", cart("x", color="blue"), theirs)
    assert spec(taken) == {"color": "blue"}
    assert {entry.manager: entry.operation for entry in taken.get_managed_fields()}["theirs"] == "Apply"
    carts.apply(CTX, "x", cart("x", replicas=1), theirs)
    assert spec(carts.get(CTX, "x")) == {"replicas": 1}, "what nobody applies any more is gone"


def test_what_cannot_be_applied(carts):
    with pytest.raises(ValueError, match="name is required"):
        carts.apply(CTX, "", cart("x"))
    with pytest.raises(ValueError, match="invalid resource name"):
        carts.apply(CTX, "..", cart("x"))
    newer = Unstructured(UnknownFields(cart("x").object, {"m": b"x"}))
    with pytest.raises(ValueError, match="has fields that this version does not know"):
        carts.apply(CTX, "x", newer)
    with pytest.raises(errors.StatusError) as caught:
        carts.apply(CTX, "y", cart("x"), metav1.ApplyOptions(field_manager="mine", force=True))
    assert errors.is_bad_request(caught.value), "the name of the object is another one"


def test_status_and_spec_are_written_apart(carts):
    created = carts.create(CTX, cart("x", color="red"))
    both = created.deep_copy()
    both.unstructured_content()["spec"]["color"] = "blue"
    both.unstructured_content()["status"] = {"replicas": 3}
    after_status = carts.update_status(CTX, both)
    assert (spec(after_status), after_status.unstructured_content()["status"]) == ({"color": "red"}, {"replicas": 3})
    both.set_resource_version(after_status.get_resource_version())
    both.unstructured_content()["status"] = {"replicas": 9}
    after_spec = carts.update(CTX, both)
    assert (spec(after_spec), after_spec.unstructured_content()["status"]) == ({"color": "blue"}, {"replicas": 3})
    applied = cart("x")
    applied.unstructured_content()["status"] = {"replicas": 4}
    options = metav1.ApplyOptions(field_manager="status", force=True)
    assert carts.apply_status(CTX, "x", applied, options).unstructured_content()["status"] == {"replicas": 4}
    patch = carts.patch(CTX, "x", PatchType.MERGE, b'{"status":{"replicas":5}}', None, "status")
    assert patch.unstructured_content()["status"] == {"replicas": 5}
    with pytest.raises(ValueError, match="name is required"):
        carts.update_status(CTX, cart(""))


def test_the_scale_of_an_object(carts):
    carts.create(CTX, cart("x", replicas=1))
    scale = carts.get(CTX, "x", None, "scale")
    assert (scale.get_kind(), scale.get_api_version(), spec(scale)) == ("Scale", "autoscaling/v1", {"replicas": 1})
    scale.unstructured_content()["spec"]["replicas"] = 7
    carts.update(CTX, scale, None, "scale")
    carts.patch(CTX, "x", PatchType.MERGE, b'{"spec":{"replicas":8}}', None, "scale")
    assert spec(carts.get(CTX, "x")) == {"replicas": 8}


def test_subresources_that_are_created(client):
    accounts = client.resource(GroupVersionResource("", "v1", "serviceaccounts")).namespace("default")
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "tokens"}}
    accounts.create(CTX, Unstructured(account))
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    with pytest.raises(ValueError, match="name is required"):
        accounts.create(CTX, Unstructured(request), None, "token")
    named = Unstructured({**request, "metadata": {"name": "tokens"}})
    assert accounts.create(CTX, named, None, "token").unstructured_content()["status"]["token"]
    accounts.delete(CTX, "tokens")


def test_options_reach_the_server(carts):
    dry = carts.create(CTX, cart("dry"), metav1.CreateOptions(dry_run=["All"]))
    assert dry.get_uid()
    generated = Unstructured(cart("").unstructured_content())
    generated.set_generate_name("made-")
    assert carts.create(CTX, generated).get_name().startswith("made-")
    with pytest.raises(errors.StatusError, match='unknown field "spec.size"'):
        carts.create(CTX, cart("strict", size=1), metav1.CreateOptions(field_validation="Strict"))
    kept = carts.create(CTX, cart("kept"))
    wrong = metav1.DeleteOptions(preconditions=metav1.Preconditions(uid="another"))
    with pytest.raises(errors.StatusError) as caught:
        carts.delete(CTX, "kept", wrong)
    assert errors.is_conflict(caught.value)
    carts.delete(CTX, "kept", metav1.DeleteOptions(preconditions=metav1.Preconditions(uid=kept.get_uid())))
    assert [item.get_name() for item in carts.list(CTX).extract_items() if item.get_name() in ("dry", "kept")] == []


def test_lists_page_by_page_and_by_selectors(client, carts):
    for number in range(5):
        obj = cart(f"cart-{number}")
        obj.set_labels({"even": str(number % 2 == 0).lower()})
        carts.create(CTX, obj)
    names, token = [], ""
    while True:
        page = carts.list(CTX, metav1.ListOptions(limit=2, continue_=token))
        assert len(page.extract_items()) <= 2
        names += [item.get_name() for item in page.extract_items()]
        token = page.get_continue()
        if not token:
            break
    assert names == [f"cart-{number}" for number in range(5)]
    even = carts.list(CTX, metav1.ListOptions(label_selector="even=true"))
    assert [item.get_name() for item in even.extract_items()] == ["cart-0", "cart-2", "cart-4"]
    one = client.resource(V1).list(CTX, metav1.ListOptions(field_selector="metadata.name=cart-3"))
    assert [item.get_namespace() for item in one.extract_items()] == ["default"], "in all namespaces"
    carts.delete_collection(CTX, None, metav1.ListOptions(label_selector="even=true"))
    assert [item.get_name() for item in carts.list(CTX).extract_items()] == ["cart-1", "cart-3"]


def test_a_watch_sees_what_its_options_select(carts):
    start = carts.list(CTX).get_resource_version()
    options = metav1.ListOptions(label_selector="seen=yes", resource_version=start)
    watcher = carts.watch(CTX, options)
    assert not options.watch, "the caller's options stay as they are"
    try:
        carts.create(CTX, cart("unseen"))
        obj = cart("seen")
        obj.set_labels({"seen": "yes"})
        carts.create(CTX, obj)
        carts.patch(CTX, "seen", PatchType.MERGE, b'{"metadata":{"labels":null}}')
        events = [watcher.result_chan().receive(10)[0] for _ in range(2)]
        assert [(event.type, event.object.get_name()) for event in events] == [("ADDED", "seen"), ("DELETED", "seen")]
        assert {event.object.get_api_version() for event in events} == {"shop.example.com/v1"}
    finally:
        watcher.stop()


def test_a_watch_that_starts_too_late_gets_a_status(carts, env):
    start = carts.create(CTX, cart("first")).get_resource_version()
    end = carts.create(CTX, cart("second")).get_resource_version()
    env.server.store.compact(int(end))
    watcher = carts.watch(CTX, metav1.ListOptions(resource_version=start))
    event, _ = watcher.result_chan().receive(10)
    watcher.stop()
    assert (event.type, event.object.reason) == ("ERROR", "Expired")
    assert isinstance(event.object, metav1.Status)


def test_informers_of_two_versions_side_by_side(client, carts):
    """One factory, a namespace, a selector; both stop without leaving a thread.

    Go: TestFilteredDynamicSharedInformerFactory
    """
    factory = dynamicinformer.new_filtered_dynamic_shared_informer_factory(
        client, 0.0, "default", lambda options: setattr(options, "label_selector", "seen=yes")
    )
    informers = {gvr: factory.for_resource(gvr) for gvr in (V1, V1ALPHA1)}
    added = threading.Semaphore(0)
    for each in informers.values():
        each.informer().add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda obj: added.release()))
    stop = threading.Event()
    before = set(threading.enumerate())
    factory.start(stop)
    factory.start(stop)
    try:
        assert factory.wait_for_cache_sync(stop) == {V1: True, V1ALPHA1: True}
        obj = cart("seen")
        obj.set_labels({"seen": "yes"})
        carts.create(CTX, obj)
        carts.create(CTX, cart("unseen"))
        assert added.acquire(timeout=PATIENCE)
        assert added.acquire(timeout=PATIENCE)
        for gvr, each in informers.items():
            [found] = each.lister().list(labels.everything())
            assert found.get_api_version() == str(gvr.group_version())
            assert found.frozen
    finally:
        stop.set()
        factory.shutdown()
    left = [thread.name for thread in set(threading.enumerate()) - before if not thread.name.startswith("apiserver")]
    assert [name for name in left if "informer" in name or name.startswith("watch ") or "reflector" in name] == []
    factory.for_resource(GroupVersionResource("", "v1", "configmaps"))
    factory.start(stop)
    assert factory.wait_for_cache_sync(stop).keys() == {V1, V1ALPHA1}, "after shutdown nothing starts"
