"""The fake client's rules. What random calls answer is checked by golden cases; here are the rules one by one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from ctrlcluster import CTX, FORMS, deployment, in_form, kind_in_form, node, pod

from clientgo import context, testing
from clientgo.api.apps import v1 as appsv1
from clientgo.api.authentication import v1 as authenticationv1
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.fields import parse_selector
from clientgo.apimachinery.runtime import ReadOnlyError, Scheme
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.serializer import new_codec_factory
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.watch import EventType
from clientgo.applyconfigurations import new_type_converter
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake, interceptor
from clientgo.golang.json import UnmarshalTypeError
from clientgo.kubernetes.scheme import SCHEME

WHOLE = ["typed", "unstructured"]


def built(*objects: client.Object) -> client.WithWatch:
    return fake.new_client_builder().with_objects(*objects).build()


def config_map(name: str = "cm", **data: str) -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(namespace="ns", name=name), data=data)


def key(obj: client.Object) -> client.ObjectKey:
    return client.object_key_from_object(obj)


def names(found: Any) -> list[str]:
    return sorted(each.get_name() for each in found.items)


def failure(call: Callable[[], Any], is_expected: Callable[[Exception], bool]) -> str:
    """Return the text of the error, which must be of this class."""
    with pytest.raises(Exception) as caught:
        call()
    assert is_expected(caught.value), repr(caught.value)
    return str(caught.value)


def deleted(obj: Any, *finalizers: str) -> Any:
    obj.metadata.deletion_timestamp = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    obj.metadata.finalizers = list(finalizers)
    return obj


# --- Reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_objects_are_read_in_any_form(form: str) -> None:
    """
    Go: client/fake: Fake client > should be able to Get
    Go: client/fake: Fake client > should be able to List
    Go: client/fake: Fake client > should be able to retrieve objects by PartialObjectMetadata
    Go: client/fake: Fake client > should be able to retrieve registered objects that got manipulated as unstructured
    Go: client/fake: Fake client > should set the ResourceVersion to 999 when adding an object to the tracker
    """
    c = built(deployment("ns", "web", tier="front"), deployment("ns", "db"))
    found = c.get(CTX, client.ObjectKey(namespace="ns", name="web"), kind_in_form(appsv1.Deployment, form))
    assert (found.get_labels(), found.get_resource_version()) == ({"tier": "front"}, "999")
    listed = c.list(CTX, kind_in_form(appsv1.DeploymentList, form), client.InNamespace("ns"))
    assert names(listed) == ["db", "web"]
    if form != "typed":
        assert found.kind == "Deployment"
        assert {each.kind for each in listed.items} == {"Deployment"}
    if form == "unstructured":
        found.object["spec"]["replicas"] = 3
        c.update(CTX, found)
        assert c.get(CTX, key(found), appsv1.Deployment).spec.replicas == 3


@pytest.mark.parametrize("kind", ["Deployment", "DeploymentList"])
def test_an_unstructured_list_may_name_its_items(kind: str) -> None:
    c = built(deployment("ns", "web"))
    assert names(c.list(CTX, UnstructuredList({"apiVersion": "apps/v1", "kind": kind}))) == ["web"]


def test_labels_choose() -> None:
    """
    Go: client/fake: Fake client > should support filtering by labels and their values
    Go: client/fake: Fake client > should support filtering by label existence
    """
    c = built(deployment("ns", "web", tier="front"), deployment("ns", "db"))
    assert names(c.list(CTX, appsv1.DeploymentList, client.MatchingLabels(tier="front"))) == ["web"]
    assert names(c.list(CTX, appsv1.DeploymentList, client.MatchingLabels(tier="back"))) == []
    assert names(c.list(CTX, appsv1.DeploymentList, client.HasLabels(["tier"]))) == ["web"]


def test_typed_objects_say_no_kind_and_caller_s_lose_theirs() -> None:
    """
    Go: client/fake: Fake client > should leave typemeta empty on typed get
    Go: client/fake: Fake client > should leave typemeta empty on typed list
    Go: client/fake: Fake client > clears typemeta from structured objects on
    """
    c = built()
    obj = config_map()

    def named() -> corev1.ConfigMap:
        obj.api_version, obj.kind = "v1", "ConfigMap"
        return obj

    for write in (
        lambda: c.create(CTX, named()),
        lambda: c.update(CTX, named()),
        lambda: c.patch(CTX, named(), client.raw_patch(PatchType.MERGE, b"{}")),
    ):
        write()
        assert obj.api_version_and_kind() == ("", "")
    assert c.get(CTX, key(obj), corev1.ConfigMap).api_version_and_kind() == ("", "")
    assert c.get(CTX, key(obj), named()).api_version_and_kind() == ("", "")
    assert [each.kind for each in c.list(CTX, corev1.ConfigMapList).items] == [""]


def widget(name: str = "w", **spec: Any) -> Unstructured:
    return Unstructured({"apiVersion": "custom/v2", "kind": "Image", "metadata": {"name": name}, "spec": spec})


@pytest.mark.parametrize("list_kind", ["Image", "ImageList"])
def test_kinds_that_no_scheme_knows_can_be_used_unstructured(list_kind: str) -> None:
    """
    Go: client/fake: Fake client > should be able to Create an unregistered type using unstructured
    Go: client/fake: Fake client > should be able to Get an unregisted type using unstructured
    Go: client/fake: Fake client > should be able to List an unregistered type using unstructured
    Go: client/fake: Fake client > should be able to Update an unregistered type using unstructured
    Go: client/fake: Fake client > should be able to Patch an unregistered type using unstructured
    Go: client/fake: Fake client > should be able to Delete an unregistered type using unstructured
    """
    scheme = Scheme()
    c = fake.new_client_builder().with_scheme(scheme).build()
    obj = widget(size=1)
    c.create(CTX, obj)
    obj.object["spec"]["size"] = 2
    c.update(CTX, obj)
    before = obj.deep_copy()
    obj.object["spec"]["size"] = 3
    c.patch(CTX, obj, client.merge_from(before))
    assert c.get(CTX, key(obj), widget()).object["spec"] == {"size": 3}
    assert names(c.list(CTX, UnstructuredList({"apiVersion": "custom/v2", "kind": list_kind}))) == ["w"]
    c.delete(CTX, obj)
    failure(lambda: c.get(CTX, key(obj), widget()), apierrors.is_not_found)
    # The user's scheme has learned nothing.
    assert not scheme.recognizes(obj.group_version_kind())


# --- Create ----------------------------------------------------------------------------------------------------------


def test_create_stores_and_starts_at_version_1() -> None:
    """
    Go: client/fake: Fake client > should be able to Create
    Go: client/fake: Fake client > mutating operations return the updated object > create
    """
    c = built()
    obj = config_map(a="1")
    c.create(CTX, obj)
    assert obj.get_resource_version() == "1"
    assert c.get(CTX, key(obj), corev1.ConfigMap) == obj


def test_create_refuses_a_version_a_taken_name_and_no_name_and_leaves_the_object_alone() -> None:
    """
    Go: client/fake: Fake client > should error on create with set resourceVersion
    Go: client/fake: Fake client > should not change the submitted object if Create failed
    Go: client/fake: Fake client > should error on Create with empty Name
    Go: client/fake: Fake client > should error on Update with empty Name
    Go: client/fake: Fake client > should not retry AlreadyExists when Name is set explicitly
    """
    c = built(config_map())
    versioned = config_map("other")
    versioned.metadata.resource_version = "7"
    taken = config_map()
    taken.metadata.generate_name = "cm-"
    for obj, is_expected in (
        (versioned, apierrors.is_bad_request),
        (taken, apierrors.is_already_exists),
        (config_map(""), apierrors.is_invalid),
    ):
        before = obj.to_dict()
        failure(lambda obj=obj: c.create(CTX, obj), is_expected)  # type: ignore[misc]
        assert obj.to_dict() == before
    failure(lambda: c.update(CTX, config_map("")), apierrors.is_invalid)


def test_a_name_is_made_up_and_another_when_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Go: client/fake: Fake client > should be able to Create with GenerateName
    Go: client/fake: Fake client > should retry GenerateName on name collision and succeed
    """
    suffixes = iter(["aaaaa", "aaaaa", "bbbbb"])
    monkeypatch.setattr("clientgo.apimachinery.util.rand.string", lambda n: next(suffixes))
    c = built()
    made = []
    for _ in range(2):
        obj = config_map("")
        obj.metadata.generate_name = "cm-"
        c.create(CTX, obj)
        made.append(obj.get_name())
    assert made == ["cm-aaaaa", "cm-bbbbb"]


def test_a_deletion_timestamp_cannot_be_created_and_needs_finalizers_to_be_built_with() -> None:
    """
    Go: client/fake: Fake client > should ignore deletionTimestamp without finalizer on Create
    Go: client/fake: Fake client > should reject deletionTimestamp without finalizers on Build
    """
    c = built()
    obj = deleted(config_map())
    c.create(CTX, obj)
    assert c.get(CTX, key(obj), corev1.ConfigMap).get_deletion_timestamp() is None
    with pytest.raises(Exception, match="refusing to create obj cm with metadata.deletionTimestamp but no finalizers"):
        built(deleted(config_map()))
    assert built(deleted(config_map(), "f")).get(CTX, key(obj), corev1.ConfigMap).get_deletion_timestamp() is not None


# --- Update ----------------------------------------------------------------------------------------------------------


def test_each_update_counts_the_version_up() -> None:
    """
    Go: client/fake: Fake client > should be able to Update
    Go: client/fake: Fake client > mutating operations return the updated object > update
    """
    c = built(config_map())
    obj = c.get(CTX, key(config_map()), corev1.ConfigMap)
    obj.data = {"a": "1"}
    c.update(CTX, obj)
    assert obj.get_resource_version() == "1000"
    assert c.get(CTX, key(obj), corev1.ConfigMap) == obj


def test_an_update_of_an_old_version_is_a_conflict() -> None:
    """
    Go: client/fake: Fake client > should reject updates with non-matching ResourceVersion
    """
    c = built(config_map())
    old = config_map(a="1")
    old.metadata.resource_version = "998"
    failure(lambda: c.update(CTX, old), apierrors.is_conflict)
    assert old.get_resource_version() == "998"


def test_only_some_kinds_may_be_updated_without_a_version() -> None:
    """
    Go: client/fake: Fake client > should allow updates with non-set ResourceVersion for a resource that allows
    ... unconditional updates
    Go: client/fake: Fake client > should reject updates with non-set ResourceVersion for a resource that doesn't allow
    ... unconditional updates
    Go: client/fake: Fake client > should allow patch when the patch sets RV to 'null'
    """
    c = built(config_map(), widget())
    c.update(CTX, config_map(a="1"))
    assert c.get(CTX, key(config_map()), corev1.ConfigMap).data == {"a": "1"}
    failure(lambda: c.update(CTX, widget(a=1)), apierrors.is_conflict)
    without_version = client.raw_patch(PatchType.MERGE, b'{"metadata": {"resourceVersion": null}, "spec": {"a": 2}}')
    c.patch(CTX, widget(), without_version)
    assert c.get(CTX, key(widget()), widget()).object["spec"] == {"a": 2}


def test_only_some_kinds_may_be_created_by_an_update() -> None:
    """
    Go: client/fake: Fake client > should allow create on update for a resource that allows create on update
    Go: client/fake: Fake client > should reject create on update for a resource that does not allow create on update
    """
    c = built()
    event = corev1.Event(metadata=metav1.ObjectMeta(namespace="ns", name="e"))
    c.update(CTX, event)
    assert c.get(CTX, key(event), corev1.Event).get_resource_version() == event.get_resource_version() == "1"
    failure(lambda: c.update(CTX, config_map()), apierrors.is_not_found)


def test_an_update_cannot_set_a_deletion_timestamp_and_ends_an_object_that_waited_for_finalizers() -> None:
    """
    Go: client/fake: Fake client > should handle finalizers on Update
    Go: client/fake: Fake client > should reject changes to deletionTimestamp on Update
    """
    c = built(config_map("alive"), deleted(config_map("dying"), "f"))
    alive = c.get(CTX, client.ObjectKey(namespace="ns", name="alive"), corev1.ConfigMap)
    with pytest.raises(Exception, match="deletionTimestamp"):
        c.update(CTX, deleted(alive.deep_copy(), "f"))
    dying = c.get(CTX, client.ObjectKey(namespace="ns", name="dying"), corev1.ConfigMap)
    dying.metadata.finalizers = []
    c.update(CTX, dying)
    failure(lambda: c.get(CTX, key(dying), corev1.ConfigMap), apierrors.is_not_found)


# --- Delete ----------------------------------------------------------------------------------------------------------


def test_delete_heeds_the_version_only_as_a_precondition() -> None:
    """
    Go: client/fake: Fake client > should reject Delete with a mismatched ResourceVersion
    Go: client/fake: Fake client > should successfully Delete with a matching ResourceVersion
    Go: client/fake: Fake client > should be able to Delete with no ResourceVersion Precondition
    Go: client/fake: Fake client > should be able to Delete with no opts even if object's ResourceVersion doesn't match
    ... server
    """
    c = built(config_map("a"), config_map("b"), config_map("c"))
    failure(lambda: c.delete(CTX, config_map("a"), client.Preconditions(resource_version="1")), apierrors.is_conflict)
    c.delete(CTX, config_map("a"), client.Preconditions(resource_version="999"))
    c.delete(CTX, config_map("b"))
    outdated = config_map("c")
    outdated.metadata.resource_version = "1"
    c.delete(CTX, outdated)
    assert names(c.list(CTX, corev1.ConfigMapList)) == []
    failure(lambda: c.delete(CTX, outdated), apierrors.is_not_found)


def test_an_object_with_finalizers_waits_for_them() -> None:
    """
    Go: client/fake: Fake client > should handle finalizers deleting a collection
    Go: client/fake: Fake client > should be able to Delete a Collection
    """
    kept = config_map("kept")
    kept.metadata.finalizers = ["f"]
    c = built(kept, config_map("a"), config_map("b"))
    c.delete_all_of(CTX, corev1.ConfigMap, client.InNamespace("ns"))
    (left,) = c.list(CTX, corev1.ConfigMapList).items
    assert left.get_name() == "kept"
    assert left.get_deletion_timestamp() is not None
    c.delete(CTX, left)  # Again: no error.
    assert names(c.list(CTX, corev1.ConfigMapList)) == ["kept"]


def test_delete_all_of_chooses() -> None:
    c = built(deployment("ns", "a", tier="x"), deployment("ns", "b", tier="y"), deployment("other", "c", tier="x"))
    c.delete_all_of(CTX, appsv1.Deployment, client.InNamespace("ns"), client.MatchingLabels(tier="x"))
    assert names(c.list(CTX, appsv1.DeploymentList)) == ["b", "c"]


def test_a_dry_run_changes_nothing() -> None:
    """
    Go: client/fake: Fake client > with the DryRun option
    """
    c = built(config_map())
    c.create(CTX, config_map("other"), client.DRY_RUN_ALL)
    obj = config_map(a="1")
    c.update(CTX, obj, client.DRY_RUN_ALL)
    c.patch(CTX, config_map(), client.raw_patch(PatchType.MERGE, b'{"data": {"a": "1"}}'), client.DRY_RUN_ALL)
    c.delete(CTX, config_map(), client.DRY_RUN_ALL)
    c.delete_all_of(CTX, corev1.ConfigMap, client.InNamespace("ns"), client.DRY_RUN_ALL)
    (left,) = c.list(CTX, corev1.ConfigMapList).items
    assert (left.data, left.get_resource_version()) == ({}, "999")


# --- Patch -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", WHOLE)
def test_a_patch_is_applied_and_answered(form: str) -> None:
    """
    Go: client/fake: Fake client > should be able to Patch
    Go: client/fake: Fake client > mutating operations return the updated object > patch
    """
    c = built(config_map(a="1"))
    obj = in_form(config_map(), form)
    c.patch(CTX, obj, client.raw_patch(PatchType.MERGE, b'{"data": {"b": "2"}}'))
    assert obj.to_dict()["data"] == {"a": "1", "b": "2"}
    assert obj.get_resource_version() == "1000"
    c.patch(CTX, obj, client.raw_patch(PatchType.JSON, b'[{"op": "remove", "path": "/data/a"}]'))
    assert c.get(CTX, key(obj), corev1.ConfigMap).data == {"b": "2"}


def test_a_patch_heeds_deletion_and_finalizers() -> None:
    """
    Go: client/fake: Fake client > should reject changes to deletionTimestamp on Patch
    Go: client/fake: Fake client > should handle finalizers on Patch
    Go: client/fake: Fake client > should remove finalizers of the object on Patch
    """
    finalized = config_map("finalized")
    finalized.metadata.finalizers = ["f"]
    c = built(config_map("alive"), finalized)
    set_deleted = client.raw_patch(PatchType.MERGE, b'{"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}}')
    with pytest.raises(ValueError, match=r"rejected patch, metadata\.deletionTimestamp immutable"):
        c.patch(CTX, config_map("alive"), set_deleted)

    remove = client.raw_patch(PatchType.MERGE, b'{"metadata": {"finalizers": null}}')
    obj = config_map("finalized")
    c.patch(CTX, obj, remove)
    assert c.get(CTX, key(obj), corev1.ConfigMap).get_finalizers() == []
    c.patch(CTX, obj, client.raw_patch(PatchType.MERGE, b'{"metadata": {"finalizers": ["f"]}}'))
    c.delete(CTX, obj)
    c.patch(CTX, obj, remove)
    failure(lambda: c.get(CTX, key(obj), corev1.ConfigMap), apierrors.is_not_found)


# --- Watch -----------------------------------------------------------------------------------------------------------


def test_writes_are_watched() -> None:
    """
    Go: client/fake: Fake client > should be able to watch
    """
    c = built()
    watcher = c.watch(CTX, corev1.ConfigMapList)
    try:
        seen = []
        writer = threading.Thread(
            target=lambda: (c.create(CTX, config_map()), c.delete(CTX, config_map())), name="writer"
        )
        writer.start()
        for event in watcher.result_chan():
            seen.append((event.type, event.object.get_name()))
            if len(seen) == 2:
                break
        writer.join()
        assert seen == [(EventType.ADDED, "cm"), (EventType.DELETED, "cm")]
    finally:
        watcher.stop()


# --- Indexes ---------------------------------------------------------------------------------------------------------


def indexed(*fields: str) -> client.WithWatch:
    values: dict[str, client.IndexerFunc] = {
        "spec.replicas": lambda obj: [str(obj.spec.replicas)],
        "metadata.name": lambda obj: [obj.get_name()],
    }
    builder = fake.new_client_builder().with_objects(
        deployment("ns", "a", replicas=1, tier="x"),
        deployment("ns", "b", replicas=1),
        deployment("ns", "c", replicas=2),
    )
    for field in fields:
        builder.with_index(appsv1.Deployment, field, values[field])
    return builder.build()


@pytest.mark.parametrize("form", WHOLE)
def test_fields_choose_where_they_are_indexed(form: str) -> None:
    """
    Go: client/fake: Fake client > with Indexes > client has just one Index > filtered List using field selector >
    ... returns
    Go: client/fake: Fake client > with Indexes > client has two Indexes > filtered List using field selector
    """
    c = indexed("spec.replicas", "metadata.name")
    kind = kind_in_form(appsv1.DeploymentList, form)

    def listed(*opts: client.ListOption, **fields: str) -> list[str]:
        chosen = client.MatchingFields({name.replace("_", "."): value for name, value in fields.items()})
        return names(c.list(CTX, kind, chosen, *opts))

    if form == "unstructured":  # Its index functions get unstructured objects, as a cache's do.
        builder = fake.new_client_builder().with_objects(deployment("ns", "a"), deployment("ns", "b"))
        builder.with_index(appsv1.Deployment, "metadata.name", lambda obj: [obj.get_name()])
        c = builder.build()
        assert listed(metadata_name="a") == ["a"]
        return
    assert listed(spec_replicas="1") == ["a", "b"]
    assert listed(spec_replicas="9") == []
    assert listed(metadata_name="c") == ["c"]
    assert listed(metadata_name="nobody") == []
    assert listed(spec_replicas="1", metadata_name="b") == ["b"]
    assert listed(client.MatchingLabels(tier="x"), spec_replicas="1") == ["a"]
    assert listed(client.MatchingLabels(tier="z"), spec_replicas="1") == []
    assert listed(client.MatchingLabels(tier="x"), spec_replicas="2") == []


@pytest.mark.parametrize("form", WHOLE)
def test_a_field_without_an_index_is_an_error(form: str) -> None:
    """
    Go: client/fake: Fake client > with Indexes > client has just one Index > filtered List using field selector >
    ... errors
    """
    kind = kind_in_form(appsv1.DeploymentList, form)
    for c, fields in (
        (indexed(), {"metadata.name": "a"}),
        (indexed("metadata.name"), {"spec.paused": "false"}),
        (indexed("metadata.name"), {"metadata.name": "a", "spec.paused": "false"}),
    ):
        with pytest.raises(Exception, match="[Ii]ndex"):
            c.list(CTX, kind, client.MatchingFields(fields))


def test_an_index_can_be_added_later_also_while_others_list() -> None:
    """
    Go: client/fake: Fake client > with Indexes > client has just one Index > filtered List using field selector >
    ... supports adding an index at runtime
    Go: client/fake: Fake client > with Indexes > client has just one Index > filtered List using field selector > Is
    ... not a datarace to add and use indexes in parallel
    """
    c = indexed("spec.replicas")
    errors: list[Exception] = []

    def use() -> None:
        try:
            for _ in range(50):
                assert names(c.list(CTX, appsv1.DeploymentList, client.MatchingFields({"spec.replicas": "2"}))) == ["c"]
        except Exception as err:
            errors.append(err)

    threads = [threading.Thread(target=use, name=f"list-{number}") for number in range(2)]
    for thread in threads:
        thread.start()
    for number in range(20):
        fake.add_index(c, appsv1.Deployment, f"field{number}", lambda obj: [obj.get_name()])
    for thread in threads:
        thread.join()
    assert errors == []
    assert names(c.list(CTX, appsv1.DeploymentList, client.MatchingFields({"field7": "a"}))) == ["a"]


# --- Status ----------------------------------------------------------------------------------------------------------


def with_status(obj: Any, replicas: int, form: str) -> Any:
    if form == "typed":
        obj.status.replicas = replicas
    else:
        obj.object.setdefault("status", {})["replicas"] = replicas
    return obj


def with_spec(obj: Any, replicas: int, form: str) -> Any:
    if form == "typed":
        obj.spec.replicas = replicas
    else:
        obj.object["spec"]["replicas"] = replicas
    return obj


def numbers(c: client.Client, obj: client.Object) -> tuple[Any, Any]:
    document = c.get(CTX, key(obj), obj).to_dict()
    return document["spec"].get("replicas"), (document.get("status") or {}).get("replicas")


def scenario(form: str) -> tuple[client.WithWatch, Any]:
    """Return a client that has an object of a kind with a status, and that object."""
    made = deployment("ns", "web", replicas=1)
    made.status.replicas = 1
    if form != "custom":
        c = built(made)
        return c, c.get(CTX, key(made), kind_in_form(appsv1.Deployment, form))
    own = in_form(made, "unstructured")
    own.set_group_version_kind(widget().group_version_kind())
    c = fake.new_client_builder().with_objects(own).with_status_subresource(own).build()
    return c, c.get(CTX, key(own), own)


STATUS_FORMS = ["typed", "unstructured", "custom"]


@pytest.mark.parametrize("form", STATUS_FORMS)
def test_an_update_or_patch_changes_all_but_the_status(form: str) -> None:
    """
    Go: client/fake: Fake client > should not change the status of
    """
    c, obj = scenario(form)
    c.update(CTX, with_status(with_spec(obj, 2, form), 2, form))
    assert numbers(c, obj) == (2, 1)
    before = obj.deep_copy()
    c.patch(CTX, with_status(with_spec(obj, 3, form), 3, form), client.merge_from(before))
    assert numbers(c, obj) == (3, 1)


@pytest.mark.parametrize("form", STATUS_FORMS)
def test_a_status_update_or_patch_changes_nothing_but_the_status(form: str) -> None:
    """
    Go: client/fake: Fake client > should not change non-status field
    Go: client/fake: Fake client > Should only override status fields of typed objects that have a status subresource on
    ... status update
    """
    c, obj = scenario(form)
    c.status().update(CTX, with_status(with_spec(obj, 2, form), 2, form))
    assert numbers(c, obj) == (1, 2)
    before = obj.deep_copy()
    c.status().patch(CTX, with_status(with_spec(obj, 3, form), 3, form), client.merge_from(before))
    assert numbers(c, obj) == (1, 3)


@pytest.mark.parametrize("form", STATUS_FORMS)
def test_object_and_status_are_updated_in_turns(form: str) -> None:
    """
    Go: client/fake: Fake client > should be able to update an object after updating an object's status
    Go: client/fake: Fake client > should be able to update an object's status after updating an object
    """
    c, obj = scenario(form)
    c.status().update(CTX, with_status(obj, 2, form))
    c.update(CTX, with_spec(obj, 2, form))
    c.status().update(CTX, with_status(obj, 3, form))
    assert numbers(c, obj) == (2, 3)


def test_a_status_update_of_an_old_version_is_a_conflict() -> None:
    """
    Go: client/fake: Fake client > should return a conflict error when an incorrect RV is used on status update
    """
    c, obj = scenario("typed")
    obj.metadata.resource_version = "1"
    failure(lambda: c.status().update(CTX, obj), apierrors.is_conflict)


def test_a_status_update_of_an_old_version_without_a_class_is_no_conflict() -> None:
    """In Go the stored object and the given one share their map from here on."""
    c, obj = scenario("custom")
    c.update(CTX, with_spec(c.get(CTX, key(obj), obj), 5, "custom"))
    old = obj.get_resource_version()
    c.status().update(CTX, with_status(obj, 7, "custom"))
    assert numbers(c, obj) == (5, 7)
    assert obj.get_resource_version() != old


def test_a_kind_without_a_status_has_none_to_write() -> None:
    """
    Go: client/fake: Fake client > should return not found on status update of resources that don't have a status
    ... subresource
    """
    c = built(config_map(), widget())
    for obj in (config_map(), widget()):
        failure(lambda obj=obj: c.status().update(CTX, obj), apierrors.is_not_found)  # type: ignore[misc]


# --- Other subresources ----------------------------------------------------------------------------------------------


def test_a_pod_is_evicted() -> None:
    """
    Go: client/fake: Fake client > should delete a pod through the eviction subresource
    Go: client/fake: Fake client > should return not found when attempting to evict a pod that doesn't exist
    Go: client/fake: Fake client > should return not found when attempting to evict something other than a pod
    Go: client/fake: Fake client > should error when creating an eviction with the wrong type
    Go: client/fake: Fake client > should return an error when using the wrong subresource
    """
    c = built(pod("ns", "p"), config_map())
    evictions = c.sub_resource("eviction")
    failure(lambda: evictions.create(CTX, pod("ns", "p"), corev1.Namespace()), apierrors.is_bad_request)
    failure(lambda: evictions.create(CTX, config_map(), policyv1.Eviction()), apierrors.is_not_found)
    with pytest.raises(Exception, match="eviction-subresource"):
        c.sub_resource("eviction-subresource").create(CTX, pod("ns", "p"), policyv1.Eviction())
    evictions.create(CTX, pod("ns", "p"), policyv1.Eviction())
    assert names(c.list(CTX, corev1.PodList)) == []
    failure(lambda: evictions.create(CTX, pod("ns", "p"), policyv1.Eviction()), apierrors.is_not_found)


def test_a_token_is_made() -> None:
    """
    Go: client/fake: Fake client > should create a ServiceAccount token through the token subresource
    Go: client/fake: Fake client > should return not found when creating a token for a ServiceAccount that doesn't exist
    Go: client/fake: Fake client > should error when creating a token with the wrong subresource type
    Go: client/fake: Fake client > should error when creating a token with the wrong type
    """
    account = corev1.ServiceAccount(metadata=metav1.ObjectMeta(namespace="ns", name="robot"))
    c = built(account, config_map())
    tokens = c.sub_resource("token")
    request = authenticationv1.TokenRequest()
    tokens.create(CTX, account, request)
    assert request.status.token != ""
    assert request.status.expiration_timestamp is not None
    nobody = corev1.ServiceAccount(metadata=metav1.ObjectMeta(namespace="ns", name="nobody"))
    failure(lambda: tokens.create(CTX, nobody, authenticationv1.TokenRequest()), apierrors.is_not_found)
    failure(lambda: tokens.create(CTX, account, corev1.Namespace()), apierrors.is_bad_request)
    failure(lambda: tokens.create(CTX, config_map(), authenticationv1.TokenRequest()), apierrors.is_not_found)


SCALABLE: list[Any] = [
    deployment("ns", "s", replicas=2),
    appsv1.ReplicaSet(metadata=metav1.ObjectMeta(namespace="ns", name="s"), spec=appsv1.ReplicaSetSpec(replicas=2)),
    appsv1.StatefulSet(metadata=metav1.ObjectMeta(namespace="ns", name="s"), spec=appsv1.StatefulSetSpec(replicas=2)),
    corev1.ReplicationController(
        metadata=metav1.ObjectMeta(namespace="ns", name="s"), spec=corev1.ReplicationControllerSpec(replicas=2)
    ),
]


@pytest.mark.parametrize("sample", SCALABLE, ids=lambda sample: type(sample).__name__)
def test_a_scale_is_read_and_written(sample: Any) -> None:
    """
    Go: client/fake: Fake client > should be able to Get scale subresources for resource %T
    Go: client/fake: Fake client > should be able to Update scale subresources for resource %T
    Go: client/fake: Fake client > should be able to change typed objects that have a scale subresource on patch
    """
    made = sample.deep_copy()
    c = built(made)
    scales = c.sub_resource("scale")
    scale = scales.get(CTX, made, autoscalingv1.Scale)
    assert (scale.get_name(), scale.spec.replicas, scale.get_resource_version()) == ("s", 2, "999")
    scale.spec.replicas = 3
    scales.update(CTX, made, client.with_sub_resource_body(scale))
    found = c.get(CTX, key(made), type(made))
    assert (found.spec.replicas, found.get_resource_version()) == (3, "1000")
    found.spec.replicas = 4
    c.patch(CTX, found, client.merge_from(c.get(CTX, key(made), type(made))))
    assert c.get(CTX, key(made), type(made)).spec.replicas == 4


def test_what_cannot_be_scaled_says_so() -> None:
    """
    Go: client/fake: Fake client > disallows scale subresources on unsupported built-in types
    Go: client/fake: Fake client > disallows scale subresources on non-existing objects
    """
    c = built(pod("ns", "p"))
    scales = c.sub_resource("scale")
    body = client.with_sub_resource_body(autoscalingv1.Scale(spec=autoscalingv1.ScaleSpec(replicas=2)))
    for call in (
        lambda: scales.get(CTX, pod("ns", "p"), autoscalingv1.Scale),
        lambda: scales.update(CTX, pod("ns", "p"), body),
    ):
        with pytest.raises(Exception, match=r"unimplemented scale subresource for resource .*Pod"):
            call()
    for call in (
        lambda: scales.get(CTX, deployment("ns", "d"), autoscalingv1.Scale),
        lambda: scales.update(CTX, deployment("ns", "d"), body),
    ):
        assert 'deployments.apps "d" not found' in failure(call, apierrors.is_not_found)


# --- Threads ---------------------------------------------------------------------------------------------------------


def at_once(*calls: Callable[[], Any]) -> list[Exception | None]:
    """Run the calls at the same time, and say how each of them ended."""
    start = threading.Barrier(len(calls))
    ends: list[Exception | None] = [None] * len(calls)

    def run(number: int, call: Callable[[], Any]) -> None:
        start.wait()
        try:
            call()
        except Exception as err:
            ends[number] = err

    threads = [
        threading.Thread(target=run, args=(number, call), name=f"call-{number}") for number, call in enumerate(calls)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends


def test_patches_at_the_same_time_all_end_well() -> None:
    """
    Go: client/fake: Fake client > should allow concurrent patches to a configMap
    Go: client/fake: Fake client > is threadsafe
    """
    c = built(config_map())

    def patching(number: int) -> Callable[[], None]:
        patch = client.raw_patch(PatchType.MERGE, f'{{"data": {{"k{number}": "v"}}}}'.encode())
        return lambda: c.patch(CTX, config_map(), patch)

    assert at_once(*(patching(number) for number in range(10))) == [None] * 10
    found = c.get(CTX, key(config_map()), corev1.ConfigMap)
    assert sorted(found.data) == [f"k{number}" for number in range(10)]
    assert found.get_resource_version() == "1009"


def test_of_patches_that_name_a_version_one_wins() -> None:
    """
    Go: client/fake: Fake client > should not allow concurrent patches to a configMap if the patch contains a
    ... ResourceVersion
    """
    c = built(config_map())
    patch = client.raw_patch(PatchType.MERGE, b'{"metadata": {"resourceVersion": "999"}, "data": {"a": "b"}}')
    ends = at_once(*[lambda: c.patch(CTX, config_map(), patch)] * 10)
    failed = [err for err in ends if err is not None]
    assert len(failed) == 9
    assert all(apierrors.is_conflict(err) for err in failed)


def test_updates_without_a_version_all_end_well() -> None:
    """
    Go: client/fake: Fake client > should allow concurrent updates to an object that allows unconditionalUpdate if the
    ... incoming request has no RV
    Go: client/fake: Fake client > If a create races with an update for an object that allows createOnUpdate, the update
    ... should always succeed
    Go: client/fake: Fake client > If a delete races with an update for an object that allows createOnUpdate, the update
    ... should always succeed
    """

    def event() -> corev1.Event:
        return corev1.Event(metadata=metav1.ObjectMeta(namespace="ns", name="e"))

    c = built(config_map())
    assert at_once(*[lambda: c.update(CTX, config_map(a="1"))] * 10) == [None] * 10
    for _ in range(10):
        c = built()
        creation, update = at_once(partial(c.create, CTX, event()), partial(c.update, CTX, event()))
        assert update is None
        assert creation is None or apierrors.is_already_exists(creation)
        deletion, update = at_once(partial(c.delete, CTX, event()), partial(c.update, CTX, event()))
        assert (deletion, update) == (None, None)


def test_deletions_at_the_same_time_hurt_no_delete_all_of() -> None:
    """
    Go: client/fake: Fake client > If a DeleteAllOf races with a delete, the DeleteAllOf should always succeed
    """
    for _ in range(10):
        c = built(config_map())
        single, every = at_once(
            partial(c.delete, CTX, config_map()),
            partial(c.delete_all_of, CTX, corev1.ConfigMap, client.InNamespace("ns")),
        )
        assert every is None
        assert single is None or apierrors.is_not_found(single)


def test_of_an_update_and_a_scale_of_the_same_version_one_wins() -> None:
    """
    Go: client/fake: Fake client > If an update races with a scale update, only one of them succeeds
    """
    for _ in range(10):
        c = built(deployment("ns", "web"))
        obj = c.get(CTX, client.ObjectKey(namespace="ns", name="web"), appsv1.Deployment)
        scale = c.sub_resource("scale").get(CTX, obj, autoscalingv1.Scale)
        scale.spec.replicas = 5
        obj.metadata.labels = {"a": "b"}
        ends = at_once(
            partial(c.update, CTX, obj),
            partial(c.sub_resource("scale").update, CTX, obj.deep_copy(), client.with_sub_resource_body(scale)),
        )
        failed = [err for err in ends if err is not None]
        assert len(failed) == 1
        assert apierrors.is_conflict(failed[0])


# --- The builder -----------------------------------------------------------------------------------------------------


def test_a_builder_builds_once() -> None:
    """
    Go: client/fake: Fake client builder > should panic when calling build more than once
    Go: client/fake: Fake client builder > panics when an index with the same name and GroupVersionKind is registered
    ... twice
    """
    builder = fake.new_client_builder()
    builder.build()
    with pytest.raises(RuntimeError, match="Build"):
        builder.build()
    builder = fake.new_client_builder().with_index(corev1.Pod, "f", lambda obj: [])
    builder.with_index(appsv1.Deployment, "f", lambda obj: [])
    with pytest.raises(ValueError, match="conflict"):
        builder.with_index(corev1.Pod, "f", lambda obj: [])


def test_a_builder_can_add_an_interceptor() -> None:
    """
    Go: client/fake: Fake client builder > should wrap the fake client with an interceptor when WithInterceptorFuncs is
    ... called
    """
    called: list[Any] = []

    def get(ctx: context.Context, c: client.WithWatch, key: client.ObjectKey, obj: Any, *opts: Any) -> Any:
        called.append(key)
        return obj()

    c = fake.new_client_builder().with_interceptor_funcs(interceptor.Funcs(get=get)).build()
    c.get(CTX, client.ObjectKey(namespace="a", name="b"), corev1.Pod)
    assert called == [client.ObjectKey(namespace="a", name="b")]


def test_objects_can_be_given_as_lists_and_a_tracker_of_one_s_own_used() -> None:
    """
    Go: client/fake: Fake client > should be able to build with given tracker and get resource
    Go: client/fake: Fake client > allows adding an object with invalid managedFields when not using the
    ... FieldManagedObjectTracker
    """
    tracker = testing.new_object_tracker(SCHEME, new_codec_factory(SCHEME).universal_deserializer())
    tracker.add(config_map("tracked"))
    c = fake.new_client_builder().with_object_tracker(tracker).with_objects(unowned()).build()
    assert names(c.list(CTX, corev1.ConfigMapList)) == ["cm", "tracked"]
    c = fake.new_client_builder().with_lists(corev1.ConfigMapList(items=[config_map("a"), config_map("b")])).build()
    assert names(c.list(CTX, corev1.ConfigMapList)) == ["a", "b"]
    c = fake.new_client_builder().with_runtime_objects(config_map("a"), node("n")).build()
    assert names(c.list(CTX, corev1.NodeList)) == ["n"]


def unowned() -> corev1.ConfigMap:
    """Return an object whose managed fields have no apiVersion."""
    obj = config_map()
    entry = metav1.ManagedFieldsEntry(
        manager="me", operation="Update", fields_type="FieldsV1", fields_v1={"f:data": {}}
    )
    obj.metadata.managed_fields = [entry]
    return obj


def test_managed_fields_must_be_valid() -> None:
    """
    Go: client/fake: Fake client > will error out if an object with invalid managedFields is added
    Go: client/fake: Fake client > allows adding an object with managedFields
    """
    with pytest.raises(Exception, match="invalid managedFields"):
        built(unowned())
    obj = unowned()
    obj.metadata.managed_fields[0].api_version = "v1"
    assert built(obj).get(CTX, key(obj), corev1.ConfigMap).get_name() == "cm"


def test_numbers_without_a_schema_keep_their_type() -> None:
    """
    Go: client/fake: Fake client > should Unmarshal the schemaless object with int64 to preserve ints
    Go: client/fake: Fake client > should Unmarshal the schemaless object with float64 to preserve ints
    Go: client/fake: Fake client > works with types that have an embedded struct pointer
    """
    for value in (1, 1.1, 2**53 + 1):
        c = built(widget(key=value))
        obj = c.get(CTX, key(widget()), widget())
        c.update(CTX, obj)
        found = c.get(CTX, key(widget()), widget()).object["spec"]["key"]
        assert (found, type(found)) == (value, type(value))


@pytest.fixture(autouse=True)
def _no_objects_are_shared() -> Iterator[None]:
    """Check that no client changes the samples above, which all tests share."""
    before = [each.to_dict() for each in SCALABLE]
    yield
    assert [each.to_dict() for each in SCALABLE] == before


@pytest.mark.parametrize(("obj", "namespaced"), [(pod("ns", "a"), True), (node("a"), False)])
def test_the_client_reports_whether_a_kind_lives_in_namespaces(obj: client.Object, namespaced: bool) -> None:
    mapper = meta.new_default_rest_mapper([GroupVersion("", "v1")])
    mapper.add(GroupVersion("", "v1").with_kind("Pod"), meta.REST_SCOPE_NAMESPACE)
    mapper.add(GroupVersion("", "v1").with_kind("Node"), meta.REST_SCOPE_ROOT)
    c = fake.new_client_builder().with_rest_mapper(mapper).build()
    assert c.is_object_namespaced(obj) is namespaced


@pytest.mark.parametrize("obj", [corev1.Pod, corev1.Pod()])
def test_only_a_list_can_be_listed(obj: Any) -> None:
    with pytest.raises(TypeError, match="expected a list of objects, or a class of lists, got .*Pod"):
        built().list(CTX, obj)


# --- More rules ------------------------------------------------------------------------------------------------------


def test_a_client_can_be_made_of_objects_alone() -> None:
    """Go: NewFakeClient"""
    c = fake.new_fake_client(config_map("a"), node("n"))
    assert names(c.list(CTX, corev1.ConfigMapList)) == ["a"]
    assert repr(c).startswith("<FakeClient over <VersionedTracker over ")
    assert c.group_version_kind_for(corev1.Pod) == GroupVersion("", "v1").with_kind("Pod")


def test_a_builder_has_the_scheme_and_the_mapper_that_it_is_given() -> None:
    scheme = Scheme("mine")
    corev1.add_to_scheme(scheme)
    mapper = meta.DefaultRESTMapper([GroupVersion("", "v1")])
    c = fake.new_client_builder().with_scheme(scheme).with_rest_mapper(mapper).build()
    assert c.scheme() is scheme
    assert c.rest_mapper() is mapper
    with pytest.raises(Exception, match="(?i)no kind|not registered|scheme"):
        c.group_version_kind_for(appsv1.Deployment)


@pytest.mark.parametrize("text", ["metadata.name!=a", "metadata.name=a,metadata.name!=b"])
def test_a_field_selector_must_be_exact(text: str) -> None:
    selector = client.MatchingFieldsSelector(parse_selector(text))
    with pytest.raises(ValueError, match='is not in one of the two supported forms "key==val" or "key=val"'):
        indexed("metadata.name").list(CTX, appsv1.DeploymentList, selector)


def test_an_index_is_added_once_and_only_to_a_fake_client() -> None:
    c = indexed("metadata.name")
    with pytest.raises(ValueError, match=r"index metadata\.name already exists"):
        fake.add_index(c, appsv1.Deployment, "metadata.name", lambda obj: [obj.get_name()])
    fake.add_index(c, appsv1.Deployment, "spec.paused", lambda obj: [str(obj.spec.paused)])
    with pytest.raises(TypeError, match="add_index can only be used with a fake client"):
        fake.add_index(object(), appsv1.Deployment, "x", lambda obj: [])  # type: ignore[arg-type]


def test_a_builder_refuses_a_tracker_with_type_converters() -> None:
    tracker = testing.new_object_tracker(SCHEME, new_codec_factory(SCHEME).universal_deserializer())
    builder = fake.new_client_builder().with_object_tracker(tracker).with_type_converters(new_type_converter())
    with pytest.raises(ValueError, match="WithObjectTracker and WithTypeConverters are incompatible"):
        builder.build()


def test_a_list_without_a_class_has_its_kind_and_a_typed_one_has_none() -> None:
    c = built(config_map())
    found = c.list(CTX, kind_in_form(corev1.ConfigMapList, "unstructured"))
    assert (found.get_kind(), found.get_api_version()) == ("ConfigMapList", "v1")
    assert c.list(CTX, corev1.ConfigMapList).kind == ""


@pytest.mark.parametrize("name", ["status", "log"])
def test_only_a_scale_can_be_read(name: str) -> None:
    with pytest.raises(ValueError, match=f"fakeSubResourceClient does not support get for {name}"):
        built(deployment("ns", "s")).sub_resource(name).get(CTX, deployment("ns", "s"), autoscalingv1.Scale)


def test_a_scale_is_read_and_written_as_a_scale() -> None:
    made = deployment("ns", "s", replicas=2)
    scales = built(made).sub_resource("scale")
    assert "expected Scale, got ConfigMap" in failure(
        lambda: scales.get(CTX, made, corev1.ConfigMap), apierrors.is_bad_request
    )
    assert "missing SubResourceBody" in failure(lambda: scales.update(CTX, made), apierrors.is_bad_request)
    body = client.with_sub_resource_body(config_map())
    assert "expected Scale, got ConfigMap" in failure(
        lambda: scales.update(CTX, made, body), apierrors.is_bad_request
    )


def test_a_scale_has_one_replica_by_default_and_the_selector_as_text() -> None:
    made = appsv1.Deployment(
        metadata=metav1.ObjectMeta(namespace="ns", name="s"),
        spec=appsv1.DeploymentSpec(selector=metav1.LabelSelector(match_labels={"app": "web"})),
    )
    scale = built(made).sub_resource("scale").get(CTX, made, autoscalingv1.Scale)
    assert (scale.spec.replicas, scale.status.selector) == (1, "app=web")


def test_the_object_of_a_scale_has_the_new_replicas_and_version() -> None:
    made = deployment("ns", "s", replicas=2)
    c = built(made)
    scale = autoscalingv1.Scale(spec=autoscalingv1.ScaleSpec(replicas=7))
    c.sub_resource("scale").update(CTX, made, client.with_sub_resource_body(scale))
    assert (made.spec.replicas, made.get_resource_version()) == (7, "1000")


def test_only_a_status_can_be_applied() -> None:
    with pytest.raises(ValueError, match="only supports Apply for status subresource"):
        built(deployment("ns", "s")).sub_resource("scale").apply(CTX, Unstructured.from_dict({}))


def test_a_token_expires_in_the_far_future() -> None:
    account = corev1.ServiceAccount(metadata=metav1.ObjectMeta(namespace="ns", name="robot"))
    request = authenticationv1.TokenRequest()
    built(account).sub_resource("token").create(CTX, account, request)
    assert request.status.token == "fake-token"
    assert request.status.expiration_timestamp == datetime(6041, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "call",
    [
        lambda c, obj: c.create(CTX, obj),
        lambda c, obj: c.update(CTX, obj),
        lambda c, obj: c.patch(CTX, obj, client.merge_from(config_map())),
        lambda c, obj: c.apply(CTX, obj, client.FieldOwner("me")),
        lambda c, obj: c.sub_resource("scale").update(CTX, obj),
    ],
    ids=["create", "update", "patch", "apply", "scale"],
)
def test_an_object_of_a_cache_cannot_be_written(call: Callable[[Any, Any], Any]) -> None:
    c = built(config_map())
    with pytest.raises(ReadOnlyError):
        call(c, config_map(a="1").freeze())
    stored = c.get(CTX, client.ObjectKey(namespace="ns", name="cm"), corev1.ConfigMap)
    assert not stored.data and stored.get_resource_version() == "999", "the store stays as it was"


def test_a_shared_token_request_is_not_filled_in() -> None:
    account = corev1.ServiceAccount(metadata=metav1.ObjectMeta(namespace="ns", name="robot"))
    with pytest.raises(ReadOnlyError):
        built(account).sub_resource("token").create(CTX, account, authenticationv1.TokenRequest().freeze())


def test_a_tracker_of_a_client_is_written_to_directly() -> None:
    tracker = testing.new_object_tracker(SCHEME, new_codec_factory(SCHEME).universal_deserializer())
    c = fake.new_client_builder().with_object_tracker(tracker).with_objects(config_map(a="1")).build()
    gvr = GroupVersion("", "v1").with_resource("configmaps")
    versioned = c._tracker  # type: ignore[attr-defined]
    changed = c.get(CTX, key(config_map()), corev1.ConfigMap)
    for number, write in enumerate((versioned.update, versioned.patch)):
        changed.data["a"] = f"changed {number}"
        changed.set_resource_version("")
        write(gvr, changed, "ns")
        assert c.get(CTX, key(config_map()), corev1.ConfigMap).data["a"] == f"changed {number}"
    assert repr(versioned).startswith("<VersionedTracker over ")


def test_a_string_from_an_index_function_is_an_error_and_none_is_no_value() -> None:
    builder = fake.new_client_builder().with_objects(deployment("ns", "a"))
    builder.with_index(appsv1.Deployment, "whole", lambda obj: obj.get_name())
    builder.with_index(appsv1.Deployment, "none", lambda obj: None)  # type: ignore[arg-type,return-value]
    c = builder.build()
    with pytest.raises(TypeError, match="returns a string, not a list of strings"):
        c.list(CTX, appsv1.DeploymentList, client.MatchingFields({"whole": "a"}))
    assert c.list(CTX, appsv1.DeploymentList, client.MatchingFields({"none": "a"})).items == []


@pytest.mark.parametrize("verb", ["create", "update", "status"])
def test_the_error_of_a_mistyped_field_names_the_object(verb: str) -> None:
    c = built() if verb == "create" else built(config_map())
    write = c.create if verb == "create" else (c.status() if verb == "status" else c).update
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "ns", "name": "cm", "labels": [1]}}

    with pytest.raises(UnmarshalTypeError, match=r'^ConfigMap "ns/cm": json: cannot unmarshal array into '):
        write(CTX, corev1.ConfigMap.from_dict(document))
