"""Reading, deleting and watching: typed, unstructured and metadata-only objects, against a server."""

from __future__ import annotations

from typing import Any

import pytest
from ctrlcluster import CTX, FORMS, Cluster, deployment, in_form, kind_in_form, node, pod

from clientgo import context
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import fields, labels, watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import Scheme
from clientgo.controller_runtime import client

pytestmark = pytest.mark.shared_server


def key(obj: Any) -> client.ObjectKey:
    return client.object_key_from_object(obj)


def names(found: Any) -> list[str]:
    return sorted(each.get_name() for each in found.items)


# --- Get -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_get_gives_the_object_in_the_form_that_was_asked_for(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Get > with structured objects > should fetch an existing object for a go struct
    Go: client: Client > Get > with structured objects > should fetch an existing non-namespace object for a go struct
    Go: client: Client > Get > with unstructured objects > should fetch an existing object
    Go: client: Client > Get > with unstructured objects > should fetch an existing non-namespace object
    Go: client: Client > Get > with metadata objects > should fetch an existing object for a go struct
    Go: client: Client > Get > with metadata objects > should fetch an existing non-namespace object for a go struct
    Go: client: ExampleClient_get
    """
    for made in (deployment(ns, "web", a="b"), node(cluster.new_name(), a="b")):
        cluster.client.create(CTX, made)
        example = kind_in_form(type(made), form)
        found = cluster.client.get(CTX, key(made), example)
        assert type(found) is (type(made) if form == "typed" else type(example))
        assert found.to_dict() == in_form(made, form).to_dict()


@pytest.mark.parametrize("form", FORMS)
def test_getting_what_does_not_exist_fails(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Get > with structured objects > should fail if the object does not exist
    Go: client: Client > Get > with unstructured objects > should fail if the object does not exist
    Go: client: Client > Get > with metadata objects > should fail if the object does not exist
    """
    with pytest.raises(apierrors.StatusError, match='deployments.apps "nowhere" not found') as caught:
        cluster.client.get(CTX, client.ObjectKey(namespace=ns, name="nowhere"), kind_in_form(appsv1.Deployment, form))
    assert apierrors.is_not_found(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_an_example_is_neither_changed_nor_mixed_into_the_answer(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Get > with structured objects > should not retain any data in the obj variable that is not on
    ... the server
    Go: client: Client > Get > with unstructured objects > should not retain any data in the obj variable that is not on
    ... the server
    Go: client: Client > Get > with metadata objects > should not retain any data in the obj variable that is not on the
    ... server
    """
    cluster.client.create(CTX, deployment(ns, "web"))
    example = in_form(deployment(ns, "web", replicas=9, old="label"), form)
    before = example.to_dict()
    found = cluster.client.get(CTX, key(example), example)
    assert found.get_labels() == {}
    assert example.to_dict() == before
    assert found is not example


def test_what_is_read_from_a_server_may_be_changed(cluster: Cluster, ns: str) -> None:
    cluster.client.create(CTX, deployment(ns, "web"))
    found = cluster.client.get(CTX, client.ObjectKey(namespace=ns, name="web"), appsv1.Deployment)
    found.spec.replicas = 4
    cluster.client.update(CTX, found)
    listed = cluster.client.list(CTX, appsv1.DeploymentList, client.InNamespace(ns))
    listed.items[0].spec.replicas = 5
    cluster.client.update(CTX, listed.items[0])
    found = cluster.client.get(CTX, client.ObjectKey(namespace=ns, name="web"), appsv1.Deployment)
    assert found.spec.replicas == 5


# --- List ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def namespaces(cluster: Cluster) -> tuple[str, str]:
    """Return two namespaces with two deployments each."""
    first, second = cluster.new_namespace(), cluster.new_namespace()
    for namespace in (first, second):
        cluster.client.create(CTX, deployment(namespace, f"{namespace}-a", tier="front", of=first))
        cluster.client.create(CTX, deployment(namespace, f"{namespace}-b", tier="back", of=first))
    return first, second


@pytest.mark.parametrize("form", FORMS)
def test_list_gives_what_the_options_choose(cluster: Cluster, namespaces: tuple[str, str], form: str) -> None:
    """
    Go: client: Client > List > with structured objects > should fetch collection of objects
    Go: client: Client > List > with structured objects > should fetch unstructured collection of objects
    Go: client: Client > List > with structured objects > should return an empty list if there are no matching objects
    Go: client: Client > List > with structured objects > should filter results by
    Go: client: Client > List > with unstructured objects > should fetch collection of objects
    Go: client: Client > List > with unstructured objects > should return an empty list if there are no matching objects
    Go: client: Client > List > with unstructured objects > should filter results by
    Go: client: Client > List > with metadata objects > should fetch collection of objects
    Go: client: Client > List > with metadata objects > should return an empty list if there are no matching objects
    Go: client: Client > List > with metadata objects > should filter results by
    Go: client: ExampleClient_list
    """
    first, second = namespaces
    kind = kind_in_form(appsv1.DeploymentList, form)
    of = client.MatchingLabels(of=first)

    def listed(*opts: client.ListOption) -> list[str]:
        found = cluster.client.list(CTX, kind, *opts)
        assert type(found) is (appsv1.DeploymentList if form == "typed" else type(kind))
        return names(found)

    assert listed(of) == sorted(f"{each}-{name}" for each in namespaces for name in "ab")
    assert listed(client.InNamespace(second)) == [f"{second}-a", f"{second}-b"]
    assert listed(of, client.MatchingLabels(tier="back")) == sorted([f"{first}-b", f"{second}-b"])
    assert listed(of, client.HasLabels(["nothing-has-it"])) == []
    assert listed(client.MatchingLabelsSelector(labels.parse(f"of={first},tier!=back"))) == sorted(
        [f"{first}-a", f"{second}-a"]
    )
    by_name = client.MatchingFields({"metadata.name": f"{first}-a"})
    assert listed(by_name) == [f"{first}-a"]
    assert listed(client.MatchingFieldsSelector(fields.parse_selector(f"metadata.namespace={second}"))) == [
        f"{second}-a",
        f"{second}-b",
    ]
    assert listed(client.InNamespace(second), client.MatchingLabels(tier="front")) == [f"{second}-a"]
    assert listed(client.InNamespace(second), by_name) == []
    assert listed(client.InNamespace("no-such-namespace")) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_list_can_be_read_in_parts(cluster: Cluster, namespaces: tuple[str, str], form: str) -> None:
    """
    Go: client: Client > List > with structured objects > should filter results using limit and continue options
    Go: client: Client > List > with metadata objects > should filter results using limit and continue options
    """
    kind = kind_in_form(appsv1.DeploymentList, form)
    of = client.MatchingLabels(of=namespaces[0])
    found: list[str] = []
    go_on = ""
    for left in (3, 2, 1, 0):
        part = cluster.client.list(CTX, kind, of, client.Limit(1), client.Continue(go_on))
        assert len(names(part)) == 1
        found += names(part)
        go_on = meta.list_accessor(part).get_continue()
        assert go_on or left == 0
    assert sorted(found) == sorted(f"{each}-{name}" for each in namespaces for name in "ab")
    if go_on:  # Objects without the label follow, of other tests: the server does not look whether one of them matches.
        rest = cluster.client.list(CTX, kind, of, client.Limit(1), client.Continue(go_on))
        assert names(rest) == []
        assert meta.list_accessor(rest).get_continue() == ""


@pytest.mark.parametrize("kind", ["DeploymentList", "Deployment"])
def test_the_items_of_an_unstructured_list_can_be_named_too(
    cluster: Cluster, namespaces: tuple[str, str], kind: str
) -> None:
    """
    Go: client: Client > List > with structured objects > should fetch unstructured collection of objects when setting a
    ... non-list kind
    Go: client: Client > List > with structured objects > should fetch unstructured collection of objects, even if
    ... scheme is empty
    """
    c = cluster.new_client(scheme=Scheme())
    example = UnstructuredList({"apiVersion": "apps/v1", "kind": kind})
    found = c.list(CTX, example, client.MatchingLabels(of=namespaces[0]))
    assert len(found.items) == 4
    assert {(item.api_version, item.kind) for item in found.items} == {("apps/v1", "Deployment")}


def test_items_listed_as_metadata_say_what_they_are(cluster: Cluster, namespaces: tuple[str, str]) -> None:
    found = cluster.client.list(CTX, kind_in_form(appsv1.DeploymentList, "metadata"), client.InNamespace(namespaces[0]))
    assert {(item.api_version, item.kind) for item in found.items} == {("apps/v1", "Deployment")}
    assert (found.api_version, found.kind) == ("apps/v1", "DeploymentList")


# --- Delete ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_delete_needs_no_more_than_the_name(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Delete > with structured objects > should delete an existing object from a go struct
    Go: client: Client > Delete > with structured objects > should delete an existing object non-namespace object from a
    ... go struct
    Go: client: Client > Delete > with unstructured objects > should delete an existing object from a go struct
    Go: client: Client > Delete > with unstructured objects > should delete an existing object non-namespace object from
    ... a go struct
    Go: client: Client > Delete > with metadata objects > should delete an existing object from a go struct
    Go: client: Client > Delete > with metadata objects > should delete an existing object non-namespace object from a
    ... go struct
    Go: client: ExampleClient_delete
    """
    for made in (deployment(ns, "web"), node(cluster.new_name())):
        cluster.client.create(CTX, made)
        named = in_form(
            type(made)(metadata=metav1.ObjectMeta(name=made.get_name(), namespace=made.get_namespace())), form
        )
        cluster.client.delete(CTX, named)
        with pytest.raises(apierrors.StatusError) as caught:
            cluster.client.get(CTX, key(made), type(made))
        assert apierrors.is_not_found(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_preconditions_keep_another_object_of_the_name_from_being_deleted(cluster: Cluster, ns: str, form: str) -> None:
    made = deployment(ns, "web")
    cluster.client.create(CTX, made)
    with pytest.raises(apierrors.StatusError) as caught:
        cluster.client.delete(CTX, in_form(made, form), client.Preconditions(uid="another"))
    assert apierrors.is_conflict(caught.value)
    cluster.client.delete(CTX, in_form(made, form), client.Preconditions(uid=made.get_uid()))


@pytest.mark.parametrize("form", FORMS)
def test_delete_all_of_deletes_what_the_options_choose(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Delete > with structured objects > should delete a collection of objects
    Go: client: Client > Delete > with unstructured objects > should delete a collection of object
    Go: client: Client > Delete > with metadata objects > should delete a collection of object
    Go: client: ExampleClient_deleteAllOf
    """
    other = cluster.new_namespace()
    for namespace in (ns, other):
        for name, tier in (("a", "front"), ("b", "front"), ("c", "back")):
            cluster.client.create(CTX, deployment(namespace, name, tier=tier))
    kind = kind_in_form(appsv1.Deployment, form)
    cluster.client.delete_all_of(CTX, kind, client.InNamespace(ns), client.MatchingLabels(tier="front"))

    def left(namespace: str) -> list[str]:
        return names(cluster.client.list(CTX, appsv1.DeploymentList, client.InNamespace(namespace)))

    assert (left(ns), left(other)) == (["c"], ["a", "b", "c"])
    cluster.client.delete_all_of(CTX, kind, client.InNamespace(ns), client.DRY_RUN_ALL)
    assert left(ns) == ["c"]


# --- Watch -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_watch_reports_the_objects_that_its_options_select(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: ClientWithWatch > NewWithWatch
    """
    c = cluster.watching_client()
    ctx, cancel = context.with_timeout(CTX, 20)
    watcher = c.watch(ctx, kind_in_form(corev1.PodList, form), client.InNamespace(ns), client.MatchingLabels(app="web"))
    try:
        c.create(CTX, pod(ns, "not-chosen"))
        made = pod(ns, "chosen", app="web")
        c.create(CTX, made)
        c.delete(CTX, made)
        seen = []
        for event in watcher.result_chan():
            seen.append((event.type, event.object.get_name()))
            expected = {"typed": corev1.Pod, "unstructured": Unstructured, "metadata": metav1.PartialObjectMetadata}
            assert type(event.object) is expected[form]
            if event.type == watch.EventType.DELETED:
                break
        assert seen[0] == (watch.EventType.ADDED, "chosen")
        assert {name for _, name in seen} == {"chosen"}
    finally:
        watcher.stop()
        cancel()


# --- Reading from a cache --------------------------------------------------------------------------------------------


class NotCachedError(Exception):
    pass


class RecordingReader:
    """Stands for a cache."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def get(self, ctx: Any, key: client.ObjectKey, obj: Any, *opts: Any) -> Any:
        self.called.append("get")
        raise NotCachedError

    def list(self, ctx: Any, obj: Any, *opts: Any) -> Any:
        self.called.append("list")
        raise NotCachedError


@pytest.mark.parametrize(
    ("form", "cache_unstructured", "disable_for", "cached"),
    [
        ("typed", False, [], True),
        ("typed", False, [corev1.Pod], True),
        ("typed", False, [appsv1.Deployment], False),
        ("typed", False, [kind_in_form(appsv1.Deployment, "unstructured")], False),
        ("metadata", False, [], True),
        ("metadata", False, [appsv1.Deployment], False),
        ("unstructured", False, [], False),
        ("unstructured", True, [], True),
        ("unstructured", True, [appsv1.Deployment], False),
    ],
)
def test_reads_go_to_the_cache_where_the_options_say_so(
    cluster: Cluster, ns: str, form: str, cache_unstructured: bool, disable_for: list[Any], cached: bool
) -> None:
    """
    Go: client: Client > New > should use the provided reader cache if provided, on get and list
    Go: client: Client > New > should propagate ErrResourceNotCached errors
    Go: client: Client > New > should not use the provided reader cache if provided, on get and list for uncached GVKs
    Go: client: ClientWithCache
    """
    reader = RecordingReader()
    options = client.CacheOptions(reader=reader, unstructured=cache_unstructured, disable_for=disable_for)
    c = cluster.new_client(cache=options)
    made = deployment(ns, "web")
    c.create(CTX, made)  # Writes never go there.

    def read() -> tuple[str, list[str]]:
        found = c.get(CTX, key(made), kind_in_form(appsv1.Deployment, form))
        return found.get_name(), names(c.list(CTX, kind_in_form(appsv1.DeploymentList, form), client.InNamespace(ns)))

    if not cached:
        assert read() == ("web", ["web"])
        assert reader.called == []
        return
    with pytest.raises(NotCachedError):
        c.get(CTX, key(made), kind_in_form(appsv1.Deployment, form))
    with pytest.raises(NotCachedError):
        c.list(CTX, kind_in_form(appsv1.DeploymentList, form))
    assert reader.called == ["get", "list"]
