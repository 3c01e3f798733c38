"""The dynamic fake: objects in, objects out, and what was asked is recorded."""

from __future__ import annotations

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.dynamic.fake import new_simple_dynamic_client, new_simple_dynamic_client_with_custom_list_kinds
from clientgo.kubernetes.scheme import SCHEME

CTX = context.background()
PODS = GroupVersionResource("", "v1", "pods")
FOOS = GroupVersionResource("example.com", "v1", "foos")


def foo(name: str, **labels: str) -> Unstructured:
    metadata = {"name": name, "namespace": "ns", "labels": labels}
    return Unstructured({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": metadata})


def test_typed_objects_come_out_as_unstructured():
    """Go: TestListWithTypedFixtures"""
    client = new_simple_dynamic_client(SCHEME, corev1.Pod(metadata=metav1.ObjectMeta(name="a", namespace="ns")))
    pods = client.resource(PODS).namespace("ns")
    assert pods.get(CTX, "a").get_kind() == "Pod"
    assert [item.get_name() for item in pods.list(CTX).extract_items()] == ["a"]
    pods.delete(CTX, "a")
    with pytest.raises(errors.StatusError) as caught:
        pods.get(CTX, "a")
    assert errors.is_not_found(caught.value)
    assert [action.get_verb() for action in client.actions()] == ["get", "list", "delete", "get"]


def test_custom_resources():
    """Go: TestGet, TestList"""
    client = new_simple_dynamic_client_with_custom_list_kinds(SCHEME, {FOOS: "FooList"}, foo("one", a="x"), foo("two"))
    foos = client.resource(FOOS).namespace("ns")
    watcher = foos.watch(CTX)
    foos.create(CTX, foo("three", a="x"))
    listed = foos.list(CTX, metav1.ListOptions(label_selector="a=x"))
    assert sorted(item.get_name() for item in listed.extract_items()) == ["one", "three"]
    patched = foos.patch(CTX, "two", PatchType.MERGE, b'{"spec":{"n":1}}')
    assert patched.unstructured_content()["spec"] == {"n": 1}
    changed = foos.get(CTX, "two")
    changed.set_labels({"b": "y"})
    foos.update(CTX, changed)
    names = [watcher.result_chan().receive(5)[0] for _ in range(5)]
    assert [(str(event.type), event.object.get_name()) for event in names if event.type != "ADDED"] == [
        ("MODIFIED", "two"),
        ("MODIFIED", "two"),
    ]
    watcher.stop()


def test_the_kinds_of_the_objects_can_be_listed_without_being_registered():
    """Go: TestListWithNoScheme"""
    client = new_simple_dynamic_client(SCHEME, foo("one"), foo("two"))
    listed = client.resource(FOOS).namespace("ns").list(CTX)
    assert (listed.get_kind(), [item.get_name() for item in listed.extract_items()]) == ("FooList", ["one", "two"])


def test_unstructured_objects_of_a_kind_the_scheme_knows_are_listed_as_such():
    """Go: TestListWithUnstructuredObjectsAndTypedScheme"""
    pod = Unstructured({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "ns"}})
    listed = new_simple_dynamic_client(SCHEME, pod).resource(PODS).namespace("ns").list(CTX)
    assert (listed.get_kind(), listed.get_api_version()) == ("PodList", "v1")
    assert [type(item) for item in listed.extract_items()] == [Unstructured]


@pytest.mark.parametrize(
    ("patch_type", "patch", "spec"),
    [
        # Go: TestPatch/jsonpatch works with empty patch
        (PatchType.JSON, b"[]", {"foo": "bar", "old": 1}),
        # Go: TestPatch/jsonpatch works with simple change patch
        (PatchType.JSON, b'[{"op":"replace","path":"/spec/foo","value":"foobar"}]', {"foo": "foobar", "old": 1}),
        # Go: TestPatch/jsonpatch works with simple addition
        (PatchType.JSON, b'[{"op":"add","path":"/spec/new","value":"x"}]', {"foo": "bar", "old": 1, "new": "x"}),
        # Go: TestPatch/jsonpatch works with simple deletion
        (PatchType.JSON, b'[{"op":"remove","path":"/spec/old"}]', {"foo": "bar"}),
        # Go: TestPatch/merge patch works with simple replacement
        (PatchType.MERGE, b'{"spec":{"foo":"baz"}}', {"foo": "baz", "old": 1}),
        # Go: TestPatch/jsonpatch fails with merge type
        (PatchType.STRATEGIC_MERGE, b"[]", None),
        # Go: TestPatch/strategic merge patch fails with JSONPatch
        (PatchType.STRATEGIC_MERGE, b'[{"op":"add","path":"/spec/new","value":"x"}]', None),
        (PatchType.JSON, b"{}", None),
        (PatchType.MERGE, b"[]", None),
        (PatchType.JSON, b'[{"op":"remove","path":"/spec/none"}]', None),
    ],
)
def test_a_patch_is_applied_as_a_server_does_or_refused_and_nothing_changes(patch_type, patch, spec):
    before = foo("one")
    before.unstructured_content()["spec"] = {"foo": "bar", "old": 1}
    foos = new_simple_dynamic_client(SCHEME, before).resource(FOOS).namespace("ns")
    if spec is not None:
        assert foos.patch(CTX, "one", patch_type, patch).unstructured_content()["spec"] == spec
    else:
        with pytest.raises(Exception, match=r"\S"):
            foos.patch(CTX, "one", patch_type, patch)
    assert foos.get(CTX, "one").unstructured_content()["spec"] == (spec or {"foo": "bar", "old": 1})


def test_a_list_stands_for_its_items():
    """Go: Test_ListKind"""
    pods = [corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="ns")) for name in ("a", "b")]
    client = new_simple_dynamic_client(SCHEME, corev1.PodList(items=pods))
    assert [item.get_name() for item in client.resource(PODS).list(CTX).extract_items()] == ["a", "b"]


def test_apply_passes_its_options_on():
    client = new_simple_dynamic_client(SCHEME, foo("one"))
    options = metav1.ApplyOptions(field_manager="me", force=True, dry_run=["All"])
    client.prepend_reactor("patch", "foos", lambda action: (True, foo("one")))
    client.resource(FOOS).namespace("ns").apply(CTX, "one", foo("one"), options)
    [action] = client.actions()
    assert action.patch_options.to_dict() == {"fieldManager": "me", "force": True, "dryRun": ["All"]}


def test_a_page_says_that_there_is_more():
    page = UnstructuredList.from_dict(
        {
            "apiVersion": "example.com/v1",
            "kind": "FooList",
            "metadata": {"resourceVersion": "7", "continue": "next", "remainingItemCount": 3},
            "items": [foo("one").to_dict()],
        }
    )
    client = new_simple_dynamic_client(SCHEME, foo("one"))
    client.prepend_reactor("list", "foos", lambda action: (True, page))
    listed = client.resource(FOOS).list(CTX)
    assert (listed.get_resource_version(), listed.get_continue()) == ("7", "next")
    assert listed.get_remaining_item_count() == 3


def test_a_resource_without_a_list_kind_cannot_be_listed():
    client = new_simple_dynamic_client(SCHEME)
    with pytest.raises(ValueError, match="you must register resource to list kind"):
        client.resource(FOOS).list(CTX)
    with pytest.raises(ValueError, match="must end in List"):
        new_simple_dynamic_client_with_custom_list_kinds(SCHEME, {FOOS: "Foos"})


def test_a_watch_is_asked_for_as_one_and_the_options_given_stay_as_they_are():
    client, seen = new_simple_dynamic_client(SCHEME), []

    def react(action):
        seen.append(action.list_options)
        return False, None

    client.prepend_watch_reactor("*", react)
    options = metav1.ListOptions(label_selector="a=b")
    for given in (options, None):
        client.resource(PODS).namespace("ns").watch(CTX, given).stop()
    assert [(each.watch, each.label_selector) for each in seen] == [(True, "a=b"), (True, "")]
    assert options == metav1.ListOptions(label_selector="a=b")


def test_the_fake_says_that_it_cannot_stream_lists():
    """Go: TestDoesClientSupportWatchListSemantics"""
    assert new_simple_dynamic_client(SCHEME).is_watch_list_semantics_un_supported()


def test_a_list_of_nothing_says_its_kind_and_a_version():
    """Go: TestListWithNoFixturesAndTypedScheme"""
    found = new_simple_dynamic_client(SCHEME).resource(PODS).namespace("ns").list(CTX)
    assert (found.get_api_version(), found.get_kind(), found.items) == ("v1", "PodList", [])
    assert (found.get_resource_version(), found.get_continue()) == ("1", "")
