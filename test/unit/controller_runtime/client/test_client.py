"""The client against a server: typed, unstructured and metadata-only objects."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from ctrlcluster import (
    CTX,
    FORMS,
    WIDGETS,
    Cluster,
    deployment,
    in_form,
    kind_in_form,
    new_cluster,
    node,
    pod,
)

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api.meta import NoKindMatchError
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import ReadOnlyError, Scheme
from clientgo.apimachinery.runtime.error import NotRegisteredError
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.kubernetes import scheme as clientgoscheme
from clientgo.kubernetes.scheme import SCHEME

pytestmark = pytest.mark.shared_server

WHOLE = ["typed", "unstructured"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with new_cluster(crds=[WIDGETS]) as cluster:
        yield cluster


def key(obj: Any) -> client.ObjectKey:
    return client.object_key_from_object(obj)


def stored(cluster: Cluster, obj: Any) -> Any:
    """Return the server's object, typed."""
    kind = obj.kind or type(obj).__name__
    cls = {"Deployment": appsv1.Deployment, "Node": corev1.Node, "Pod": corev1.Pod}[kind]
    return cluster.client.get(CTX, key(obj), cls)


def exists(cluster: Cluster, obj: Any) -> bool:
    try:
        stored(cluster, obj)
    except apierrors.StatusError as err:
        assert apierrors.is_not_found(err)
        return False
    return True


@pytest.mark.parametrize("add", [clientgoscheme.add_to_scheme, corev1.add_to_scheme], ids=["all groups", "one group"])
def test_a_client_with_a_scheme_of_ones_own_reads_the_servers_errors(cluster: Cluster, ns: str, add: Any) -> None:
    """They are Status objects, which every group version brings along."""
    scheme = Scheme()
    add(scheme)
    c = cluster.new_client(scheme=scheme)
    with pytest.raises(apierrors.StatusError, match='configmaps "nope" not found'):
        c.get(CTX, client.ObjectKey(ns, "nope"), corev1.ConfigMap)
    bad = corev1.ConfigMap(metadata=metav1.ObjectMeta(namespace=ns, name="No Name"))
    with pytest.raises(apierrors.StatusError, match="No Name") as caught:
        c.create(CTX, bad)
    details = caught.value.status().details
    assert details is not None and [cause.field for cause in details.causes] == ["metadata.name"]


class Unknown(appsv1.Deployment):
    """No scheme knows it."""


class Unserved(appsv1.Deployment):
    """A scheme knows it, the server does not."""


def scheme_of_unserved() -> Scheme:
    scheme = Scheme()
    scheme.add_known_types(GroupVersion("apps", "v1"), Unserved)
    return scheme


def failing_calls(c: client.Client, obj: Any) -> list[Any]:
    """Return all calls of a client for one kind."""
    patch = client.raw_patch(PatchType.MERGE, b"{}")
    return [
        lambda: c.create(CTX, obj),
        lambda: c.update(CTX, obj),
        lambda: c.patch(CTX, obj, patch),
        lambda: c.delete(CTX, obj),
        lambda: c.delete_all_of(CTX, obj, client.InNamespace("default")),
        lambda: c.get(CTX, key(obj), obj),
        lambda: c.status().update(CTX, obj),
        lambda: c.status().patch(CTX, obj, patch),
    ]


# --- Making a client -------------------------------------------------------------------------------------------------


def test_a_client_has_what_it_was_given_and_makes_the_rest(cluster: Cluster) -> None:
    """
    Go: client: Client > New > should return a new Client
    Go: client: Client > New > should use the provided Scheme if provided
    Go: client: Client > New > should default the Scheme if not provided
    Go: client: Client > New > should use the provided Mapper if provided
    Go: client: Client > New > should create a Mapper if not provided
    Go: client: ExampleNew
    """
    assert cluster.client.scheme() is SCHEME
    mapping = cluster.client.rest_mapper().rest_mapping(GroupVersion("apps", "v1").with_kind("Deployment").group_kind())
    assert mapping.resource.resource == "deployments"

    scheme, mapper = Scheme(), cluster.client.rest_mapper()
    made = cluster.new_client(scheme=scheme, mapper=mapper)
    assert made.scheme() is scheme
    assert made.rest_mapper() is mapper


def test_a_config_that_is_none_is_refused() -> None:
    """
    Go: client: Client > New > should fail if the config is nil
    """
    with pytest.raises((AttributeError, TypeError, ValueError)):
        client.new(None)  # type: ignore[arg-type]


def test_the_users_config_is_not_changed(cluster: Cluster) -> None:
    config = cluster.environment.config
    cluster.new_client(config)
    assert config.user_agent == ""
    assert config.warning_handler_with_context is None


class RecordingHandler:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def handle_warning_header_with_context(self, ctx: Context, code: int, agent: str, message: str) -> None:
        self.texts.append(message)


def invalid_widget(namespace: str) -> Unstructured:
    return Unstructured(
        {
            "apiVersion": "example.com/v1",
            "kind": "Widget",
            "metadata": {"name": "w", "namespace": namespace},
            "unheardOf": 1,
        }
    )


def test_warnings_go_to_the_handler_of_the_config(cluster: Cluster, ns: str) -> None:
    """
    Go: client: Client > WarningHandler > should log warnings with config.WarningHandler, if one is defined
    Go: client: Client > New > with the FieldValidation option > should log warnings with FieldValidation equal to Warn
    Go: client: ExampleNew_suppress_warnings
    """
    config = cluster.environment.config
    handler = RecordingHandler()
    config.warning_handler_with_context = handler
    c = cluster.new_client(config, field_validation=metav1.FIELD_VALIDATION_WARN)
    c.create(CTX, invalid_widget(ns))
    assert handler.texts == ['unknown field "unheardOf"']


def test_warnings_are_logged_without_a_handler(cluster: Cluster, ns: str, caplog: pytest.LogCaptureFixture) -> None:
    c = cluster.new_client(field_validation=metav1.FIELD_VALIDATION_WARN)
    with caplog.at_level(logging.INFO):
        c.create(CTX, invalid_widget(ns))
    assert "unheardOf" in caplog.text


def test_unknown_fields_are_refused_where_validation_is_strict(cluster: Cluster, ns: str) -> None:
    """
    Go: client: Client > New > with the FieldValidation option > should fail write operation if FieldValidation equals
    ... Strict
    Go: client: ClientWithFieldValidation > should return errors for invalid fields when using strict validation
    Go: client: TestWithStrictFieldValidation
    """
    strict = cluster.new_client(field_validation=metav1.FIELD_VALIDATION_STRICT)
    with pytest.raises(apierrors.StatusError, match='unknown field "unheardOf"'):
        strict.create(CTX, invalid_widget(ns))
    # A call may say otherwise.
    strict.create(CTX, invalid_widget(ns), client.FieldValidation(metav1.FIELD_VALIDATION_IGNORE))
    wrapped = client.with_field_validation(cluster.client, client.FieldValidation(metav1.FIELD_VALIDATION_STRICT))
    widget = invalid_widget(ns)
    with pytest.raises(apierrors.StatusError, match='unknown field "unheardOf"'):
        wrapped.patch(CTX, widget, client.raw_patch(PatchType.MERGE, b'{"unheardOf": 2}'))


def managers(obj: Any) -> set[str]:
    return {entry.manager for entry in obj.metadata.managed_fields}


@pytest.mark.parametrize("by_option", [True, False])
def test_a_client_can_have_an_owner_for_what_it_writes(cluster: Cluster, ns: str, by_option: bool) -> None:
    """
    Go: client: Client > New > should use the provided FieldOwner if provided
    Go: client: TestWithFieldOwner
    """
    c = cluster.new_client(field_owner="me") if by_option else client.with_field_owner(cluster.client, "me")
    obj = deployment(ns, "web")
    c.create(CTX, obj)
    assert managers(obj) == {"me"}
    obj.spec.replicas = 2
    c.update(CTX, obj, client.FieldOwner("other"))
    assert managers(obj) == {"me", "other"}
    c.status().patch(CTX, obj, client.raw_patch(PatchType.MERGE, b'{"status": {"replicas": 2}}'))
    assert [entry.manager for entry in obj.metadata.managed_fields if entry.subresource] == ["me"]


# --- Create ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", WHOLE)
def test_create_fills_the_object_with_what_the_server_made_of_it(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Create > with structured objects > should create a new object from a go struct
    Go: client: Client > Create > with structured objects > should create a new object non-namespace object from a go
    ... struct
    Go: client: Client > Create > with unstructured objects > should create a new object from a go struct
    Go: client: Client > Create > with unstructured objects > should create a new non-namespace object
    Go: client: ExampleClient_create
    """
    for made in (deployment(ns, "web"), node(cluster.new_name())):
        obj = in_form(made, form)
        cluster.client.create(CTX, obj)
        there = stored(cluster, made)
        assert obj.get_uid() == there.get_uid() != ""
        assert obj.get_resource_version() == there.get_resource_version()
        assert in_form(there, form).to_dict() == obj.to_dict()


@pytest.mark.parametrize("form", WHOLE)
def test_creating_what_exists_fails_and_leaves_the_object_alone(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Create > with structured objects > should fail if the object already exists
    Go: client: Client > Create > with unstructured objects > should fail if the object already exists
    """
    cluster.client.create(CTX, deployment(ns, "web"))
    obj = in_form(deployment(ns, "web", replicas=3), form)
    before = obj.to_dict()
    with pytest.raises(apierrors.StatusError) as caught:
        cluster.client.create(CTX, obj)
    assert apierrors.is_already_exists(caught.value)
    assert obj.to_dict() == before


@pytest.mark.parametrize("form", WHOLE)
def test_what_the_server_finds_invalid_is_an_error(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Create > with structured objects > should fail if the object does not pass server-side
    ... validation
    Go: client: Client > Create > with unstructured objects > should fail if the object does not pass server-side
    ... validation
    Go: client: Client > Update > with structured objects > should fail if the object does not pass server-side
    ... validation
    """
    bad = pod(ns, "p")
    bad.spec.containers = []
    obj = in_form(bad, form)
    with pytest.raises(apierrors.StatusError, match=r"spec\.containers: Required value") as caught:
        cluster.client.create(CTX, obj)
    assert apierrors.is_invalid(caught.value)

    good = in_form(pod(ns, "good"), form)
    cluster.client.create(CTX, good)
    broken = in_form(pod(ns, "good"), form)
    broken.set_resource_version(good.get_resource_version())
    broken.set_labels({"k": "not a label value!"})
    with pytest.raises(apierrors.StatusError) as caught:
        cluster.client.update(CTX, broken)
    assert apierrors.is_invalid(caught.value)


@pytest.mark.parametrize("form", WHOLE)
@pytest.mark.parametrize("by_option", [True, False])
def test_a_dry_run_creates_nothing(cluster: Cluster, ns: str, form: str, by_option: bool) -> None:
    """
    Go: client: Client > Create > with structured objects > with the DryRun option
    Go: client: Client > Create > with the DryRun option > should not create a new object from a go struct
    """
    obj = in_form(deployment(ns, "web"), form)
    if by_option:
        cluster.client.create(CTX, obj, client.DRY_RUN_ALL)
    else:
        cluster.new_client(dry_run=True).create(CTX, obj)
    assert obj.get_uid() != ""
    assert not exists(cluster, deployment(ns, "web"))


def test_metadata_alone_can_be_neither_created_updated_nor_applied(cluster: Cluster, ns: str) -> None:
    """
    Go: client: Client > Create > with metadata objects > should fail with an error
    Go: client: Client > Update > with metadata objects > should fail with an error
    Go: client: Client > StatusClient > with metadata objects > should fail to update with an error
    """
    obj = in_form(deployment(ns, "web"), "metadata")
    with pytest.raises(TypeError, match="cannot create using only metadata"):
        cluster.client.create(CTX, obj)
    with pytest.raises(TypeError, match="cannot update using only metadata -- did you mean to patch"):
        cluster.client.update(CTX, obj)
    with pytest.raises(TypeError, match="cannot apply using only metadata"):
        cluster.client.apply(CTX, obj)
    with pytest.raises(TypeError, match="cannot update status using only metadata -- did you mean to patch"):
        cluster.client.status().update(CTX, obj)
    with pytest.raises(TypeError, match="can not get subresource using only metadata"):
        cluster.client.sub_resource("scale").get(CTX, obj, obj)


# --- Kinds that are not there ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(8))
def test_a_class_that_the_scheme_does_not_know_is_an_error(cluster: Cluster, number: int) -> None:
    """
    Go: client: Client > Create > with structured objects > should fail if the object cannot be mapped to a GVK
    Go: client: Client > Update > with structured objects > should fail if the object cannot be mapped to a GVK
    Go: client: Client > Delete > with structured objects > should fail if the object cannot be mapped to a GVK
    Go: client: Client > Get > with structured objects > should fail if the object cannot be mapped to a GVK
    Go: client: Client > List > with structured objects > should fail if the object cannot be mapped to a GVK
    Go: client: Client > List > with metadata objects > should fail if the object cannot be mapped to a GVK
    Go: client: Client > StatusClient > with structured objects > should fail if the object cannot be mapped to a GVK
    """
    c = cluster.new_client(scheme=Scheme())
    obj = Unknown(metadata=metav1.ObjectMeta(namespace="default", name="u"))
    with pytest.raises(NotRegisteredError):
        failing_calls(c, obj)[number]()
    with pytest.raises(NotRegisteredError):
        c.list(CTX, appsv1.DeploymentList)


@pytest.mark.parametrize("number", range(8))
def test_a_kind_that_the_server_does_not_have_is_an_error(cluster: Cluster, number: int) -> None:
    """
    Go: client: Client > Create > with structured objects > should fail if the GVK cannot be mapped to a Resource
    Go: client: Client > Update > with structured objects > should fail if the GVK cannot be mapped to a Resource
    Go: client: Client > Delete > with structured objects > should fail if the GVK cannot be mapped to a Resource
    Go: client: Client > Get > with structured objects > should fail if the GVK cannot be mapped to a Resource
    Go: client: Client > Get > with metadata objects > should fail if the GVK cannot be mapped to a Resource
    Go: client: Client > List > with structured objects > should fail if the GVK cannot be mapped to a Resource
    Go: client: Client > List > with metadata objects > should fail if the GVK cannot be mapped to a Resource
    Go: client: Client > StatusClient > with structured objects > should fail if the GVK cannot be mapped to a Resource
    Go: client: Client > StatusClient > with unstructured objects > should fail if the GVK cannot be mapped to a
    ... Resource
    """
    c = cluster.new_client(scheme=scheme_of_unserved())
    obj = Unserved(metadata=metav1.ObjectMeta(namespace="default", name="u"))
    with pytest.raises(NoKindMatchError):
        failing_calls(c, obj)[number]()
    gvk = GroupVersion("apps", "v1").with_kind("UnservedList")
    for example in (UnstructuredList(), metav1.PartialObjectMetadataList()):
        example.set_group_version_kind(gvk)
        with pytest.raises(NoKindMatchError):
            c.list(CTX, example)
    head = metav1.PartialObjectMetadata(metadata=metav1.ObjectMeta(namespace="default", name="u"))
    head.set_group_version_kind(GroupVersion("apps", "v1").with_kind("Unserved"))
    with pytest.raises(NoKindMatchError):
        c.get(CTX, key(head), head)
    with pytest.raises(NoKindMatchError):
        c.status().update(CTX, Unstructured({**head.to_dict()}))


# --- Update ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", WHOLE)
def test_update_writes_and_fills_the_object(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Update > with structured objects > should update an existing object from a go struct
    Go: client: Client > Update > with structured objects > should update an existing object non-namespace object from a
    ... go struct
    Go: client: Client > Update > with unstructured objects > should update an existing object from a go struct
    Go: client: Client > Update > with unstructured objects > should update an existing object non-namespace object from
    ... a go struct
    Go: client: ExampleClient_update
    """
    for made in (deployment(ns, "web"), node(cluster.new_name())):
        obj = in_form(made, form)
        cluster.client.create(CTX, obj)
        version = obj.get_resource_version()
        obj.set_annotations({"changed": "yes"})
        cluster.client.update(CTX, obj)
        there = stored(cluster, made)
        assert there.get_annotations() == {"changed": "yes"}
        assert obj.get_resource_version() == there.get_resource_version() != version


@pytest.mark.parametrize("form", WHOLE)
def test_writes_keep_the_kind_an_object_says(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Update > with structured objects > should update and preserve type information
    Go: client: Client > Update > with unstructured objects > should update and preserve type information
    Go: client: Client > StatusClient > with structured objects > should update status and preserve type information
    Go: client: Client > StatusClient > with structured objects > should patch status and preserve type information
    Go: client: Client > StatusClient > with unstructured objects > should update status and preserve type information
    Go: client: Client > StatusClient > with unstructured objects > should patch status and preserve type information
    """
    gvk = GroupVersion("apps", "v1").with_kind("Deployment")
    obj = in_form(deployment(ns, "web"), form)
    obj.set_group_version_kind(gvk)
    c = cluster.client
    patch = client.raw_patch(PatchType.MERGE, b'{"metadata": {"annotations": {"a": "b"}}}')
    for write in (
        lambda: c.create(CTX, obj),
        lambda: c.update(CTX, obj),
        lambda: c.patch(CTX, obj, patch),
        lambda: c.status().update(CTX, obj),
        lambda: c.status().patch(CTX, obj, patch),
    ):
        write()
        assert obj.group_version_kind() == gvk


@pytest.mark.parametrize("form", FORMS)
def test_writing_what_does_not_exist_fails(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Update > with structured objects > should fail if the object does not exist
    Go: client: Client > Update > with unstructured objects > should fail if the object does not exist
    Go: client: Client > Delete > with structured objects > should fail if the object does not exist
    Go: client: Client > Delete > with unstructured objects > should fail if the object does not exist
    Go: client: Client > Delete > with metadata objects > should fail if the object does not exist
    Go: client: Client > StatusClient > with structured objects > should fail if the object does not exist
    Go: client: Client > StatusClient > with unstructured objects > should fail if the object does not exist
    """
    c = cluster.client
    obj = in_form(deployment(ns, "nowhere"), form)
    patch = client.raw_patch(PatchType.MERGE, b"{}")
    calls: list[Any] = [
        lambda: c.delete(CTX, obj),
        lambda: c.patch(CTX, obj, patch),
        lambda: c.status().patch(CTX, obj, patch),
    ]
    if form != "metadata":
        calls += [lambda: c.update(CTX, obj), lambda: c.status().update(CTX, obj)]
    for call in calls:
        before = obj.to_dict()
        with pytest.raises(apierrors.StatusError) as caught:
            call()
        assert apierrors.is_not_found(caught.value)
        assert obj.to_dict() == before


def test_an_update_of_an_old_version_is_a_conflict_and_changes_neither(cluster: Cluster, ns: str) -> None:
    obj = deployment(ns, "web")
    cluster.client.create(CTX, obj)
    old = obj.deep_copy()
    obj.spec.replicas = 2
    cluster.client.update(CTX, obj)
    old.spec.replicas = 7
    with pytest.raises(apierrors.StatusError) as caught:
        cluster.client.update(CTX, old)
    assert apierrors.is_conflict(caught.value)
    assert old.spec.replicas == 7
    assert stored(cluster, obj).spec.replicas == 2


def test_an_object_without_a_name_is_refused(cluster: Cluster, ns: str) -> None:
    """
    Go: client: Client > Update > with structured objects > should fail if the object doesn't have meta
    Go: client: Client > Delete > with structured objects > should fail if the object doesn't have meta
    Go: client: Client > Get > with structured objects > should fail if the object doesn't have meta
    Go: client: Client > Get > with metadata objects > should fail if the object doesn't have meta
    Go: client: Client > List > with structured objects > should fail if the object doesn't have meta
    Go: client: Client > List > with unstructured objects > should fail if the object doesn't have meta
    Go: client: Client > List > with metadata objects > should fail if the object doesn't have meta

    Every object here has metadata, by its class; Go's tests use a type without. What is not an object is no kind.
    """
    for call in (
        lambda: cluster.client.update(CTX, deployment(ns, "")),
        lambda: cluster.client.delete(CTX, deployment(ns, "")),
        lambda: cluster.client.get(CTX, client.ObjectKey(namespace=ns, name=""), appsv1.Deployment),
    ):
        with pytest.raises(ValueError, match="resource name may not be empty"):
            call()
    for example in (UnstructuredList(), metav1.PartialObjectMetadataList()):
        with pytest.raises((ValueError, NoKindMatchError), match="[Kk]ind"):
            cluster.client.list(CTX, example)


@pytest.mark.parametrize("form", FORMS)
def test_a_read_only_object_is_refused_before_anything_is_sent(cluster: Cluster, ns: str, form: str) -> None:
    """A cache returns read-only objects, since a write could not update the cached object."""
    c = cluster.client
    obj = in_form(deployment(ns, "web"), form)
    cluster.client.create(CTX, deployment(ns, "web"))
    version = stored(cluster, deployment(ns, "web")).get_resource_version()
    obj.freeze()
    patch = client.raw_patch(PatchType.MERGE, b'{"metadata": {"annotations": {"a": "b"}}}')
    calls: list[Any] = [lambda: c.patch(CTX, obj, patch), lambda: c.status().patch(CTX, obj, patch)]
    if form != "metadata":
        calls += [
            lambda: c.create(CTX, obj),
            lambda: c.update(CTX, obj),
            lambda: c.apply(CTX, obj, client.FieldOwner("me")),
            lambda: c.status().update(CTX, obj),
        ]
    for call in calls:
        with pytest.raises(ReadOnlyError, match=r"call deep_copy\(\) and change the copy"):
            call()
    assert stored(cluster, deployment(ns, "web")).get_resource_version() == version
    c.delete(CTX, obj)  # Which writes nothing into it.
    assert not exists(cluster, deployment(ns, "web"))


# --- Patch and apply -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", ["merge", "lock", "strategic", "raw"])
def test_a_patch_changes_what_it_says_and_fills_the_object(cluster: Cluster, ns: str, form: str, how: str) -> None:
    """
    Go: client: Client > Patch > Metadata Client > should merge patch with options
    Go: client: ExampleClient_patch
    """
    cluster.client.create(CTX, deployment(ns, "web"))
    obj = cluster.client.get(CTX, client.ObjectKey(namespace=ns, name="web"), kind_in_form(appsv1.Deployment, form))
    before = obj.deep_copy()
    obj.set_annotations({"a": "b"})
    match how:
        case "merge":
            patch = client.merge_from(before)
        case "lock":
            patch = client.merge_from_with_options(before, client.MergeFromWithOptimisticLock())
        case "strategic" if form == "typed":
            patch = client.strategic_merge_from(before)
        case _:
            patch = client.raw_patch(PatchType.STRATEGIC_MERGE, b'{"metadata": {"annotations": {"a": "b"}}}')
    cluster.client.patch(CTX, obj, patch, client.FieldOwner("me"))
    there = stored(cluster, deployment(ns, "web"))
    assert there.get_annotations() == {"a": "b"}
    assert "me" in managers(there)
    assert obj.get_resource_version() == there.get_resource_version() != before.get_resource_version()


@pytest.mark.parametrize("form", FORMS)
def test_an_optimistic_lock_patch_fails_after_another_write(cluster: Cluster, ns: str, form: str) -> None:
    obj = deployment(ns, "web")
    cluster.client.create(CTX, obj)
    mine = cluster.client.get(CTX, key(obj), kind_in_form(appsv1.Deployment, form))
    obj.spec.replicas = 2
    cluster.client.update(CTX, obj)
    before = mine.deep_copy()
    mine.set_annotations({"a": "b"})
    with pytest.raises(apierrors.StatusError) as caught:
        cluster.client.patch(CTX, mine, client.merge_from_with_options(before, client.MergeFromWithOptimisticLock()))
    assert apierrors.is_conflict(caught.value)
    assert mine.get_annotations() == {"a": "b"}
    cluster.client.patch(CTX, mine, client.merge_from(before))
    assert stored(cluster, obj).get_annotations() == {"a": "b"}


@pytest.mark.parametrize("form", WHOLE)
def test_apply_creates_and_updates_and_owns_what_it_says(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > Apply > Unstructured Client > should create and update a configMap using SSA
    Go: client: Client > Apply > Structured Client > should create and update a configMap using SSA
    Go: client: ExampleClient_apply
    """

    def config_map(**data: str) -> Any:
        return in_form(corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm", namespace=ns), data=data), form)

    def data() -> Any:
        return cluster.client.get(CTX, client.ObjectKey(namespace=ns, name="cm"), corev1.ConfigMap).data

    obj = config_map(a="1", b="2")
    cluster.client.apply(CTX, obj, client.FieldOwner("me"))
    assert obj.get_uid() != ""
    assert data() == {"a": "1", "b": "2"}
    cluster.client.apply(CTX, config_map(a="3"), client.FieldOwner("me"))
    assert data() == {"a": "3"}
    with pytest.raises(apierrors.StatusError, match="conflict"):
        cluster.client.apply(CTX, config_map(a="4"), client.FieldOwner("other"))
    cluster.client.apply(CTX, config_map(a="4"), client.FieldOwner("other"), client.FORCE_OWNERSHIP)
    assert data() == {"a": "4"}


def test_what_was_created_otherwise_can_be_applied_later(cluster: Cluster, ns: str) -> None:
    """
    Go: client: Client > Apply > Structured Client > should create a secret without SSA and later create update a secret
    ... using SSA
    """
    meta = metav1.ObjectMeta(name="s", namespace=ns)
    cluster.client.create(CTX, corev1.Secret(metadata=meta.deep_copy(), data={"a": b"1"}))
    applied = corev1.Secret(metadata=meta.deep_copy(), data={"b": b"2"})
    cluster.client.apply(CTX, applied, client.FieldOwner("me"))
    found = cluster.client.get(CTX, client.ObjectKey(namespace=ns, name="s"), corev1.Secret)
    assert found.data == {"a": b"1", "b": b"2"}


def test_why_an_apply_was_refused_can_be_asked(cluster: Cluster) -> None:
    """
    Go: client: Client > Apply > Structured Client > should propagate a typed error
    """
    obj = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm", namespace="no-such-namespace"), data={"a": "1"})
    with pytest.raises(apierrors.StatusError) as caught:
        cluster.client.apply(CTX, obj, client.FieldOwner("me"))
    assert apierrors.is_not_found(caught.value)


# --- Subresources ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", WHOLE)
def test_the_status_is_written_by_its_own_client_alone(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > StatusClient > with structured objects > should update status of an existing object
    Go: client: Client > StatusClient > with structured objects > should not update spec of an existing object
    Go: client: Client > StatusClient > with unstructured objects > should update status of an existing object
    Go: client: Client > StatusClient > with unstructured objects > should not update spec of an existing object
    """
    made = deployment(ns, "web")
    cluster.client.create(CTX, made)
    made.spec.replicas = 5
    made.status.replicas = 3
    obj = in_form(made, form)
    cluster.client.status().update(CTX, obj)
    there = stored(cluster, made)
    assert (there.spec.replicas, there.status.replicas) == (1, 3)
    # The answer says what there is.
    assert in_form(there, form).to_dict() == obj.to_dict()

    there.spec.replicas, there.status.replicas = 5, 4
    obj = in_form(there, form)
    cluster.client.update(CTX, obj)
    there = stored(cluster, made)
    assert (there.spec.replicas, there.status.replicas) == (5, 3)


@pytest.mark.parametrize("form", WHOLE)
def test_the_status_of_an_object_without_namespace_can_be_written(cluster: Cluster, form: str) -> None:
    """
    Go: client: Client > StatusClient > with structured objects > should update an existing object non-namespace object
    Go: client: Client > StatusClient > with unstructured objects > should update an existing object non-namespace
    ... object
    """
    made = node(cluster.new_name())
    cluster.client.create(CTX, made)
    made.status.phase = "Running"
    obj = in_form(made, form)
    cluster.client.status().update(CTX, obj)
    assert stored(cluster, made).status.phase == "Running"


@pytest.mark.parametrize("form", FORMS)
def test_the_status_can_be_patched(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > StatusClient > with metadata objects > should patch status and preserve type information
    Go: client: ExampleClient_patchStatus
    """
    made = deployment(ns, "web")
    cluster.client.create(CTX, made)
    obj = in_form(made, form)
    cluster.client.status().patch(CTX, obj, client.raw_patch(PatchType.MERGE, b'{"status": {"replicas": 3}}'))
    there = stored(cluster, made)
    assert there.status.replicas == 3
    assert obj.get_resource_version() == there.get_resource_version()
    if form != "typed":
        assert obj.kind == "Deployment"


@pytest.mark.parametrize("form", WHOLE)
def test_the_status_can_be_applied(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > StatusClient > with structured objects > should apply status
    Go: client: Client > StatusClient > with unstructured objects > should apply status and preserve type information
    """
    cluster.client.create(CTX, deployment(ns, "web"))
    applied = appsv1.Deployment(
        metadata=metav1.ObjectMeta(name="web", namespace=ns), status=appsv1.DeploymentStatus(replicas=3)
    )
    cluster.client.status().apply(CTX, in_form(applied, form), client.FieldOwner("me"), client.FORCE_OWNERSHIP)
    assert stored(cluster, applied).status.replicas == 3


@pytest.mark.parametrize("form", WHOLE)
def test_a_kind_without_a_status_has_none_to_write(cluster: Cluster, ns: str, form: str) -> None:
    """
    Go: client: Client > StatusClient > with structured objects > should fail if an API does not implement Status
    ... subresource
    Go: client: Client > StatusClient > with unstructured objects > should fail if an API does not implement Status
    ... subresource
    """
    made = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="cm", namespace=ns))
    cluster.client.create(CTX, made)
    with pytest.raises(apierrors.StatusError) as caught:
        cluster.client.status().update(CTX, in_form(made, form))
    assert apierrors.is_not_found(caught.value)
