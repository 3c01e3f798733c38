"""The fake metadata client, its lister and informers. Go: metadata/fake/simple_test.go,
metadata/metadatalister/lister_test.go, metadata/metadatainformer/informer_test.go.
"""

from __future__ import annotations

import queue
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.metadata import fake, metadatainformer, metadatalister
from clientgo.tools import cache
from clientgo.util import watchlist

CTX = context.background()
THE_KINDS = GroupVersionResource("group", "version", "thekinds")
TEST_KINDS = GroupVersionResource("testgroup", "testversion", "testkinds")
DEPLOYMENTS = GroupVersionResource("extensions", "v1beta1", "deployments")


def partial(api_version: str, kind: str, namespace: str, name: str, **annotations: str) -> metav1.PartialObjectMetadata:
    meta = metav1.ObjectMeta(namespace=namespace, name=name, annotations=annotations)
    return metav1.PartialObjectMetadata(api_version=api_version, kind=kind, metadata=meta)


def the_kind(namespace: str, name: str) -> metav1.PartialObjectMetadata:
    return partial("group/version", "TheKind", namespace, name)


def new_client(*objects: metav1.PartialObjectMetadata) -> fake.FakeMetadataClient:
    scheme = fake.new_test_scheme()
    metav1.add_meta_to_scheme(scheme)
    return fake.new_simple_metadata_client(scheme, *objects)


def test_the_fake_does_not_support_streamed_lists() -> None:
    """Go: TestDoesClientSupportWatchListSemantics."""
    assert watchlist.does_client_not_support_watch_list_semantics(new_client())


def test_a_list_has_the_objects_of_its_group_alone_in_order() -> None:
    """Go: TestList."""
    client = new_client(
        the_kind("ns-foo", "name-foo"),
        partial("group2/version", "TheKind", "ns-foo", "name2-foo"),
        the_kind("ns-foo", "name-bar"),
        the_kind("ns-foo", "name-baz"),
        partial("group2/version", "TheKind", "ns-foo", "name2-baz"),
    )

    listed = client.resource(THE_KINDS).list(CTX)

    expected = [the_kind("ns-foo", name).to_dict() for name in ("name-bar", "name-baz", "name-foo")]
    assert [item.to_dict() for item in listed.items] == expected


FOO = {"foo": "bar"}


@pytest.mark.parametrize(
    ("before", "patch_type", "patch", "after"),
    [
        pytest.param(FOO, PatchType.STRATEGIC_MERGE, b"[]", None, id="jsonpatch fails with merge type"),
        pytest.param(FOO, PatchType.JSON, b"[]", FOO, id="jsonpatch works with empty patch"),
        pytest.param(
            FOO,
            PatchType.JSON,
            b'[{"op": "replace", "path": "/metadata/annotations/foo", "value": "foobar"}]',
            {"foo": "foobar"},
            id="jsonpatch works with simple change patch",
        ),
        pytest.param(
            FOO,
            PatchType.JSON,
            b'[{"op": "add", "path": "/metadata/annotations/newvalue", "value": "dummy"}]',
            {"foo": "bar", "newvalue": "dummy"},
            id="jsonpatch works with simple addition",
        ),
        pytest.param(
            {"foo": "bar", "toremove": "x"},
            PatchType.JSON,
            b'[{"op": "remove", "path": "/metadata/annotations/toremove"}]',
            FOO,
            id="jsonpatch works with simple deletion",
        ),
        pytest.param(
            FOO,
            PatchType.STRATEGIC_MERGE,
            b'[{"op": "add", "path": "/metadata/annotations/newvalue", "value": "dummy"}]',
            None,
            id="strategic merge patch fails with JSONPatch",
        ),
        pytest.param(
            FOO,
            PatchType.MERGE,
            b'{ "metadata": {"annotations": { "foo": "baz" } } }',
            {"foo": "baz"},
            id="merge patch works with simple replacement",
        ),
    ],
)
def test_patches_of_metadata(before: Any, patch_type: PatchType, patch: bytes, after: Any) -> None:
    """Go: TestPatch."""
    client = new_client(partial("testgroup/testversion", "TestKind", "testns", "testname", **before))
    resource = client.resource(TEST_KINDS).namespace("testns")

    if after is None:
        with pytest.raises(Exception, match="invalid JSON document"):
            resource.patch(CTX, "testname", patch_type, patch)
    else:
        assert dict(resource.patch(CTX, "testname", patch_type, patch).get_annotations()) == after


def new_lister(*objects: metav1.PartialObjectMetadata) -> metadatalister.Lister:
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {})
    for obj in objects:
        indexer.add(obj)
    return metadatalister.new(indexer, GroupVersionResource("group", "version", "TheKinds"))


@pytest.mark.parametrize(
    ("name", "is_found"),
    [
        pytest.param(
            "name-foo1", True, id="scenario 1: gets name-foo1 resource from the indexer from ns-foo namespace"
        ),
        pytest.param(
            "name-foo-non-existing",
            False,
            id="scenario 2: gets name-foo-non-existing resource from the indexer from ns-foo namespace",
        ),
    ],
)
def test_the_lister_of_a_namespace_gets_an_object(name: str, is_found: bool) -> None:
    """Go: TestNamespaceGetMethod."""
    lister = new_lister(the_kind("ns-foo", "name-foo"), the_kind("ns-foo", "name-foo1"), the_kind("ns-bar", "name-bar"))

    if is_found:
        assert lister.namespace("ns-foo").get(name).to_dict() == the_kind("ns-foo", name).to_dict()
    else:
        with pytest.raises(errors.StatusError) as missing:
            lister.namespace("ns-foo").get(name)
        assert errors.is_not_found(missing.value)


@pytest.mark.parametrize(
    ("namespace", "name", "is_found"),
    [
        pytest.param("", "name-foo1", True, id="scenario 1: gets name-foo1 resource from the indexer"),
        pytest.param(
            "ns-foo",
            "name-foo",
            False,
            id="scenario 2: doesn't get name-foo resource from the indexer from ns-foo namespace",
        ),
    ],
)
def test_the_lister_gets_objects_without_namespace_alone(namespace: str, name: str, is_found: bool) -> None:
    """Go: TestListerGetMethod."""
    lister = new_lister(the_kind("ns-foo", "name-x"), the_kind(namespace, name), the_kind("ns-bar", "name-bar"))

    if is_found:
        assert lister.get(name).to_dict() == the_kind(namespace, name).to_dict()
    else:
        with pytest.raises(errors.StatusError) as missing:
            lister.get(name)
        assert errors.is_not_found(missing.value)


def test_the_lister_lists_all_and_those_of_a_namespace() -> None:
    """Go: TestNamespaceListMethod, TestListerListMethod."""
    lister = new_lister(the_kind("ns-foo", "name-foo"), the_kind("ns-foo", "name-foo1"), the_kind("ns-bar", "name-bar"))

    everything = labels.everything()

    inside = sorted(each.get_name() for each in lister.namespace("ns-foo").list(everything))
    assert inside == ["name-foo", "name-foo1"]
    assert sorted(each.get_name() for each in lister.list(everything)) == ["name-bar", "name-foo", "name-foo1"]


def existing(**annotations: str) -> metav1.PartialObjectMetadata:
    return partial("extensions/v1beta1", "Deployment", "ns-foo", "name-foo", **annotations)


@pytest.mark.parametrize(
    ("change", "event"),
    [
        pytest.param("create", "add", id="scenario 1: test if adding an object triggers AddFunc"),
        pytest.param("update", "update", id="scenario 2: tests if updating an object triggers UpdateFunc"),
        pytest.param("delete", "delete", id="scenario 3: test if deleting an object triggers DeleteFunc"),
    ],
)
def test_a_change_notifies_the_handler_of_an_informer(change: str, event: str) -> None:
    """Go: TestMetadataSharedInformerFactory, TestUnSupportWatchListSemantics."""
    client = new_client(*([] if change == "create" else [existing()]))
    resource: Any = client.resource(DEPLOYMENTS).namespace("ns-foo")
    received: queue.Queue[tuple[str, Any]] = queue.Queue()
    factory = metadatainformer.new_shared_informer_factory(client, 0.0)
    informer = factory.for_resource(DEPLOYMENTS).informer()
    informer.add_event_handler(
        cache.ResourceEventHandlerFuncs(
            add_func=lambda obj: received.put(("add", obj)),
            update_func=lambda old, new: received.put(("update", new)),
            delete_func=lambda obj: received.put(("delete", obj)),
        )
    )
    ctx, cancel = context.with_cancel(CTX)
    try:
        factory.start(ctx.done())
        assert factory.wait_for_cache_sync(ctx.done())[DEPLOYMENTS]
        wanted = existing(test="updatedName")
        if change == "create":
            resource.create_fake(wanted)
        elif change == "update":
            resource.update_fake(wanted)
        else:
            wanted = existing()
            resource.delete(CTX, "name-foo")
        found = received.get(timeout=PATIENCE)
        while found[0] != event:
            found = received.get(timeout=PATIENCE)
    finally:
        cancel()
        factory.shutdown()

    assert found[1].get_annotations() == wanted.get_annotations()
    assert found[1].get_name() == "name-foo"
