"""Server-side apply with the fake client, and the managed fields that come of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ctrlcluster import CTX, deployment, in_form

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.util.managedfields import DEDUCED_OBJECT, Node, new_deduced_type_converter
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake
from clientgo.controller_runtime.client.fake.typeconverter import multi_type_converter

ME = client.FieldOwner("me")
WHOLE = ["typed", "unstructured"]
CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")


def built(*objects: client.Object, managed: bool = False) -> client.WithWatch:
    builder = fake.new_client_builder().with_objects(*objects)
    return (builder.with_return_managed_fields() if managed else builder).build()


def config_map(**data: str) -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(namespace="ns", name="cm"), data=data)


def widget(spec: Any = None) -> Unstructured:
    document = {"apiVersion": "custom/v1", "kind": "FakeResource", "metadata": {"name": "foo"}}
    return Unstructured({**document, "spec": spec} if spec is not None else document)


def stored(c: client.Client) -> corev1.ConfigMap:
    return c.get(CTX, client.ObjectKey(namespace="ns", name="cm"), corev1.ConfigMap)


def test_empty_values_of_a_known_kind_are_neither_shown_nor_owned() -> None:
    c = built(managed=True)
    empty = {"immutable": None, "data": {}, "binaryData": {}}
    metadata = {"namespace": "ns", "labels": {}, "finalizers": []}
    created = Unstructured({**empty, "apiVersion": "v1", "kind": "ConfigMap", "metadata": {**metadata, "name": "made"}})
    c.create(CTX, created, ME)
    document = c.get(CTX, client.ObjectKey("ns", "made"), in_form(config_map(), "unstructured")).to_dict()
    assert set(document) == {"apiVersion", "kind", "metadata"}
    assert set(document["metadata"]) == {"name", "namespace", "resourceVersion"}
    applied = in_form(config_map(), "unstructured")
    applied.object["data"] = {}
    c.apply(CTX, applied, ME)
    assert "data" not in applied.object
    with pytest.raises(apierrors.StatusError) as raised:
        c.apply(CTX, in_form(config_map(a="2"), "unstructured"), client.FieldOwner("other"))
    # The map that the owner said to be empty.
    assert str(raised.value) == 'Apply failed with 1 conflict: conflict with "me": .data'


def test_a_struct_whose_fields_an_apply_removes_is_empty_and_causes_no_conflict() -> None:
    """In Go a struct is never null."""
    c = built(managed=True)

    def applied(owner: str, container: dict[str, Any]) -> Any:
        pod = {"spec": {"containers": [{"name": "c", **container}]}}
        document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "ns", "name": "p"}, **pod}
        c.apply(CTX, result := Unstructured(document), client.FieldOwner(owner))
        return result.object["spec"]["containers"][0]

    applied("one", {"resources": {"limits": {"cpu": "1"}}})
    assert applied("one", {"image": "i"}).get("resources", {}) == {}
    assert applied("two", {"image": "i"}).get("resources", {}) == {}


@pytest.mark.parametrize("form", WHOLE)
@pytest.mark.parametrize("by_patch", [True, False])
def test_apply_creates_then_replaces_what_its_owner_said(form: str, by_patch: bool) -> None:
    """
    Go: client/fake: Fake client > supports server-side apply of a client-go resource
    Go: client/fake: Fake client > mutating operations return the updated object > Create through Apply
    Go: client/fake: Fake client > mutating operations return the updated object > Update through Apply
    Go: client/fake: Fake client > Doesn't leave stale data when updating an object through SSA
    Go: client/fake: Fake client > sets resourceVersion on SSA create
    """
    c = built()
    for version, data in (("1", {"a": "1"}), ("2", {"b": "2"})):
        obj = in_form(config_map(**data), form)
        if by_patch:
            c.patch(CTX, obj, client.APPLY, ME)
        else:
            c.apply(CTX, obj, ME)
        assert obj.get_resource_version() == version
        assert stored(c).data == obj.to_dict()["data"] == data
    assert len(c.list(CTX, corev1.ConfigMapList).items) == 1


def test_kinds_that_no_scheme_knows_can_be_applied() -> None:
    """
    Go: client/fake: Fake client > supports server-side apply of a custom resource
    """
    c = built()
    c.apply(CTX, widget({"some": "data"}), ME)
    assert c.get(CTX, client.ObjectKey(namespace="", name="foo"), widget()).object["spec"] == {"some": "data"}
    # Also after a list that names its items.
    found = c.list(CTX, UnstructuredList({"apiVersion": "custom/v1", "kind": "FakeResource"}))
    assert len(found.items) == 1
    obj = widget({"other": "data"})
    c.apply(CTX, obj, ME)
    assert c.get(CTX, client.ObjectKey(namespace="", name="foo"), widget()).object["spec"] == {"other": "data"}


@pytest.mark.parametrize("has_subresource", [True, False])
def test_an_apply_creates_a_status_unless_it_is_a_subresource(has_subresource: bool) -> None:
    builder = fake.new_client_builder()
    c = (builder.with_status_subresource(widget()) if has_subresource else builder).build()
    obj = widget({"some": "data"})
    obj.object["status"] = {"ready": True}
    c.apply(CTX, obj, ME)
    found = c.get(CTX, client.ObjectKey(namespace="", name="foo"), widget()).object
    assert found.get("status") == (None if has_subresource else {"ready": True})
    assert found["spec"] == {"some": "data"}


def test_an_apply_says_the_version_it_knows_or_none() -> None:
    """
    Go: client/fake: Fake client > should reject apply with non-matching ResourceVersion
    Go: client/fake: Fake client > ignores a passed resourceVersion on SSA create
    """
    c = built()
    obj = config_map(a="1")
    obj.metadata.resource_version = "1234"
    c.apply(CTX, obj, ME)
    assert obj.get_resource_version() == "1"
    wrong = config_map(a="2")
    wrong.metadata.resource_version = "1234"
    with pytest.raises(apierrors.StatusError) as caught:
        c.apply(CTX, wrong, ME)
    assert apierrors.is_conflict(caught.value)
    right = config_map(a="3")
    right.metadata.resource_version = "1"
    c.apply(CTX, right, ME)
    assert stored(c).data == {"a": "3"}


def test_an_apply_with_a_uid_does_not_create() -> None:
    """
    Go: client/fake: Fake client > returns a conflict when trying to Create an object with UID set through Apply
    """
    obj = config_map()
    obj.metadata.uid = "123"
    with pytest.raises(apierrors.StatusError) as caught:
        built().apply(CTX, obj, ME)
    assert apierrors.is_conflict(caught.value)


@pytest.mark.parametrize("opts", [[], [client.FieldOwner("\x00")]])
def test_an_apply_needs_an_owner_that_can_be_one(opts: list[client.FieldOwner]) -> None:
    """
    Go: client/fake: Fake client > errors when trying to server-side apply an object
    """
    with pytest.raises(apierrors.StatusError) as caught:
        built().apply(CTX, config_map(a="1"), *opts)
    assert apierrors.is_invalid(caught.value)


def test_fields_of_others_are_a_conflict() -> None:
    c = built()
    c.apply(CTX, config_map(a="1"), ME)
    with pytest.raises(apierrors.StatusError, match="conflict") as caught:
        c.apply(CTX, config_map(a="2"), client.FieldOwner("other"))
    assert apierrors.is_conflict(caught.value)
    c.apply(CTX, config_map(a="2"), client.FieldOwner("other"), client.FORCE_OWNERSHIP)
    assert stored(c).data == {"a": "2"}


def test_managed_fields_are_shown_only_where_that_was_asked_for() -> None:
    """
    Go: client/fake: Fake client > returns managedFields if configured to do so
    Go: client/fake: Fake client > clears managedFields from objects in a list
    """
    for managed in (True, False):
        c = built(managed=managed)
        obj = config_map(a="1")
        c.create(CTX, obj, ME)
        (listed,) = c.list(CTX, corev1.ConfigMapList).items
        for each in (obj, stored(c), listed):
            assert bool(each.get_managed_fields()) is managed


def test_every_write_notes_its_owner() -> None:
    """
    Go: client/fake: Fake client > sets the fieldManager
    """
    c = client.with_field_owner(built(managed=True), "me")

    def managers(obj: client.Object) -> set[str]:
        return {entry.manager for entry in obj.get_managed_fields()}

    obj = config_map(method="create")
    c.create(CTX, obj)
    assert managers(obj) == {"me"}
    before = obj.deep_copy()
    obj.data["method"] = "patch"
    c.patch(CTX, obj, client.merge_from(before))
    assert managers(obj) == {"me"}
    obj.data["method"] = "update"
    c.update(CTX, obj)
    assert managers(obj) == {"me"}
    event = corev1.Event(metadata=metav1.ObjectMeta(namespace="ns", name="e"), reason="Created")
    c.update(CTX, event)
    assert managers(event) == {"me"}


def test_an_apply_must_not_contain_managed_fields() -> None:
    """
    Go: client/fake: Fake client > errors out when doing SSA with managedFields set
    """
    c = built(managed=True)
    obj = in_form(config_map(a="1"), "unstructured")
    c.patch(CTX, obj, client.APPLY, ME)
    assert obj.get_managed_fields()
    with pytest.raises(Exception, match="metadata.managedFields must be nil"):
        c.patch(CTX, obj, client.APPLY, ME)


def test_an_apply_may_create_what_is_being_deleted_but_not_change_when() -> None:
    """
    Go: client/fake: Fake client > allows to set deletionTimestamp on an object during SSA create
    Go: client/fake: Fake client > will silently ignore a deletionTimestamp update through SSA
    Go: client/fake: Fake client > should handle finalizers in Apply
    """
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    c = built()
    obj = config_map(a="1")
    obj.metadata.deletion_timestamp = moment
    obj.metadata.finalizers = ["f/b"]
    c.apply(CTX, obj, ME)
    assert obj.get_deletion_timestamp() == moment
    obj.metadata.deletion_timestamp = moment + timedelta(seconds=1)
    c.apply(CTX, obj, ME)
    assert obj.get_deletion_timestamp() == moment
    # Without its last finalizer it is gone.
    last = config_map(a="1")
    c.apply(CTX, last, ME)
    with pytest.raises(apierrors.StatusError) as caught:
        stored(c)
    assert apierrors.is_not_found(caught.value)


# --- Status ----------------------------------------------------------------------------------------------------------


def web(replicas: int, status: int | None = None) -> appsv1.Deployment:
    obj = deployment("ns", "web", replicas=replicas)
    if status is not None:
        obj.status.replicas = status
    return obj


def status_only(status: int) -> appsv1.Deployment:
    meta = metav1.ObjectMeta(namespace="ns", name="web")
    return appsv1.Deployment(metadata=meta, status=appsv1.DeploymentStatus(replicas=status))


def numbers(c: client.Client) -> tuple[int | None, int | None]:
    found = c.get(CTX, client.ObjectKey(namespace="ns", name="web"), appsv1.Deployment)
    return found.spec.replicas, found.status.replicas


@pytest.mark.parametrize("form", WHOLE)
def test_an_apply_leaves_the_status_and_a_status_apply_the_rest(form: str) -> None:
    """
    Go: client/fake: Fake client > should not change the status of objects with status subresource when creating through
    ... apply
    Go: client/fake: Fake client > should not change the status of objects with status subresource when updating through
    ... apply
    Go: client/fake: Fake client > should only change status on status apply
    Go: client/fake: Fake client > should allow SSA apply on status without object has changed issues
    """
    c = built()
    c.apply(CTX, in_form(web(1, status=7), form), ME)
    assert numbers(c) in ((1, None), (1, 0))
    c.status().apply(CTX, in_form(web(9, status=2), form), ME)
    assert numbers(c) == (1, 2)
    c.apply(CTX, in_form(web(3, status=7), form), ME)
    assert numbers(c) == (3, 2)
    for status in (3, 4):
        c.status().apply(CTX, in_form(status_only(status), form), ME)
        assert numbers(c) == (3, status)


def test_a_status_apply_heeds_a_version_and_managed_fields() -> None:
    """
    Go: client/fake: Fake client > should be able to status apply existing objects that have managedFields set
    Go: client/fake: Fake client > should block SSA apply on status when passing the wrong non empty resource version
    Go: client/fake: Fake client > should not be able to manually update the fieldManager through a status update
    """
    made = web(1)
    entry = metav1.ManagedFieldsEntry(
        manager="them", operation="Apply", api_version="apps/v1", fields_type="FieldsV1", fields_v1={"f:spec": {}}
    )
    made.metadata.managed_fields = [entry]
    c = built(made, managed=True)
    c.status().apply(CTX, status_only(2), ME)
    assert numbers(c) == (1, 2)
    wrong = status_only(3)
    wrong.metadata.resource_version = "7"
    with pytest.raises(apierrors.StatusError) as caught:
        c.status().apply(CTX, wrong, ME)
    assert apierrors.is_conflict(caught.value)

    obj = c.get(CTX, client.ObjectKey(namespace="ns", name="web"), appsv1.Deployment)
    before = {each.manager for each in obj.get_managed_fields()}
    obj.metadata.managed_fields = [entry.deep_copy()]
    obj.metadata.managed_fields[0].manager = "forged"
    obj.status.replicas = 4
    c.status().update(CTX, obj)
    obj = c.get(CTX, client.ObjectKey(namespace="ns", name="web"), appsv1.Deployment)
    assert "forged" not in {each.manager for each in obj.get_managed_fields()}
    assert before <= {each.manager for each in obj.get_managed_fields()}


# --- Type converters -------------------------------------------------------------------------------------------------


def knowing(gvk: GroupVersionKind) -> Node:
    return DEDUCED_OBJECT


def refusing(text: str) -> Any:
    def refuse(gvk: GroupVersionKind) -> Node:
        raise ValueError(text)

    return refuse


def never(gvk: GroupVersionKind) -> Node:
    raise AssertionError("not to be asked")


def test_the_first_type_converter_that_knows_a_kind_is_taken() -> None:
    """
    Go: client/fake: multiTypeConverter > ObjectToTyped
    Go: client/fake: multiTypeConverter > TypedToObject
    """
    assert multi_type_converter([knowing, never])(CONFIG_MAP) is DEDUCED_OBJECT
    assert multi_type_converter([refusing("one"), knowing])(CONFIG_MAP) is DEDUCED_OBJECT
    with pytest.raises(ValueError, match=r"failed to convert Object to TypedValue: \[one, two\]"):
        multi_type_converter([refusing("one"), refusing("two")])(CONFIG_MAP)
    with pytest.raises(ValueError, match="failed to convert Object to TypedValue"):
        multi_type_converter([])(CONFIG_MAP)


def test_type_converters_of_one_s_own_are_used() -> None:
    """
    Go: client/fake: Fake client > supports server-side apply using a custom type converter
    """
    asked: list[GroupVersionKind] = []
    deduced = new_deduced_type_converter()

    def noting(gvk: GroupVersionKind) -> Node:
        asked.append(gvk)
        return deduced(gvk)

    c = fake.new_client_builder().with_type_converters(noting).build()
    for data in ({"some": "data"}, {"other": "data"}):
        c.apply(CTX, config_map(**data), ME)
        assert stored(c).data == data
    assert CONFIG_MAP in asked
