"""Objects of a newer server: no write loses the fields that this version does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from decoding import protobuf_is_the_default
from newerserver import JSON, PROTOBUF, Document, NewerServer, message_for, new_field

from clientgo import context
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import equality, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import DEFAULT_UNSTRUCTURED_CONVERTER
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.controller_runtime import client
from clientgo.controller_runtime.controller import controllerutil
from clientgo.controller_runtime.controller.controllerutil import OperationResult
from clientgo.controller_runtime.webhook import admission
from clientgo.kubernetes.scheme import SCHEME

pytestmark = protobuf_is_the_default

CTX = context.background()
KEY = client.ObjectKey("ns", "web")
REFUSED = r'Deployment.*"?ns/web.*has fields that this version does not know.*application/json'


def new(cls: type) -> Document:
    return new_field(message_for(cls), cls.__name__)


def newer_deployment() -> Document:
    container = {"name": "c", "image": "i", "ports": [{"containerPort": 80, **new(corev1.ContainerPort)}]}
    volume = {"name": "v", "emptyDir": {}, **new(corev1.Volume)}
    pod_spec = {"containers": [{**container, **new(corev1.Container)}], "volumes": [volume], **new(corev1.PodSpec)}
    template = {"metadata": {"labels": {"a": "b"}, **new(metav1.ObjectMeta)}, "spec": pod_spec}
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1", **new(metav1.OwnerReference)}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template, **new(appsv1.DeploymentSpec)}
    condition = {"type": "Available", "status": "True", **new(appsv1.DeploymentCondition)}
    metadata: Document = {"name": "web", "namespace": "ns", "resourceVersion": "5", "ownerReferences": [owner]}
    status = {"conditions": [condition], **new(appsv1.DeploymentStatus)}
    metadata["managedFields"] = [{"manager": "m", "fieldsV1": {}, **new(metav1.ManagedFieldsEntry)}]
    return {"metadata": {**metadata, **new(metav1.ObjectMeta)}, "spec": spec, "status": status}


def newer_server() -> NewerServer:
    return NewerServer(appsv1.Deployment, newer_deployment())


def read(server: NewerServer) -> Any:
    found = server.client().get(CTX, KEY, appsv1.Deployment)
    assert server.sent[-1][1].startswith(PROTOBUF)
    return found


def scale(found: Any) -> None:
    found.spec.replicas = 3


def label(found: Any) -> None:
    found.set_labels({"tier": "front"})


def set_image(found: Any) -> None:
    found.spec.template.spec.containers[0].image = "other"


def add_volume(found: Any) -> None:
    found.spec.template.spec.volumes.append(corev1.Volume(name="w"))


def set_condition(found: Any) -> None:
    found.status.conditions[0].status = "False"


def renew_template(found: Any) -> None:
    """Replace the template. Over JSON the patch would remove the unknown fields."""
    found.spec.template = corev1.PodTemplateSpec()


def repeat_container(found: Any) -> None:
    copied = found.spec.template.spec.containers[0].deep_copy()
    copied.name = "d"
    found.spec.template.spec.containers.append(copied)


def set_port(found: Any) -> None:
    found.spec.template.spec.containers[0].ports[0].name = "http"


def remove_volumes(found: Any) -> None:
    found.spec.template.spec.volumes = []


def as_over_json(change: Callable[[Any], None]) -> Document:
    """Return the object after an update by a client that reads JSON."""
    server = newer_server()
    c = server.client(content_type=JSON)
    found = c.get(CTX, KEY, appsv1.Deployment)
    change(found)
    c.update(CTX, found)
    return server.states[-1]


@pytest.mark.parametrize("change", [scale, label, set_image, add_volume, renew_template, repeat_container])
def test_an_update_goes_out_with_them(change: Callable[[Any], None]) -> None:
    server = newer_server()
    found = read(server)
    change(found)
    server.client().update(CTX, found)
    assert server.sent[-1][2] == PROTOBUF
    assert server.states[-1] == as_over_json(change)


def test_a_status_update_goes_out_with_them() -> None:
    server = newer_server()
    found = read(server)
    set_condition(found)
    server.client().status().update(CTX, found)
    condition = server.states[-1]["status"]["conditions"][0]
    assert condition["status"] == "False"
    assert new(appsv1.DeploymentCondition).items() <= condition.items()


def test_an_object_made_of_parts_goes_out_with_them() -> None:
    server = newer_server()
    copied = read(server)
    copied.set_resource_version("")
    server.client().create(CTX, copied)
    assert server.created[0]["spec"] == server.states[0]["spec"]


@pytest.mark.parametrize(
    "content", [{"content_type": JSON, "accept_content_types": f"{PROTOBUF},{JSON}"}, {"accept_content_types": JSON}]
)
def test_an_update_is_refused_where_protobuf_is_not_wanted(content: dict[str, str]) -> None:
    server = newer_server()
    found = read(server)
    with pytest.raises(ValueError, match="has fields that this version does not know"):
        server.client(**content).update(CTX, found)
    assert server.writes == 0


@pytest.mark.parametrize("change", [scale, label, remove_volumes])
def test_a_merge_patch_leaves_them_alone(change: Callable[[Any], None]) -> None:
    server = newer_server()
    found = read(server)
    patch = client.merge_from(found.deep_copy())
    change(found)
    server.client().patch(CTX, found, patch)
    assert server.states[-1] == as_over_json(change)
    # And so is what has come back.
    server.client().update(CTX, found)
    assert server.states[-1] == as_over_json(change)


@pytest.mark.parametrize("change", [scale, label, set_image, set_port, add_volume, remove_volumes])
def test_a_strategic_merge_patch_goes_into_lists(change: Callable[[Any], None]) -> None:
    server = newer_server()
    found = read(server)
    patch = client.strategic_merge_from(found.deep_copy())
    change(found)
    server.client().patch(CTX, found, patch)
    assert server.states[-1] == as_over_json(change)


def change_volume(found: Any) -> None:
    """Change the volume. A volume has exactly one kind, so that the patch names all remaining fields."""
    found.spec.template.spec.volumes[0].empty_dir.medium = "Memory"


@pytest.mark.parametrize(
    ("patch_from", "change"),
    [
        *((client.merge_from, change) for change in (set_image, add_volume, renew_template, repeat_container)),
        *((client.strategic_merge_from, change) for change in (renew_template, repeat_container, change_volume)),
    ],
)
def test_a_patch_that_would_lose_them_is_refused(
    patch_from: Callable[[Any], client.Patch], change: Callable[[Any], None]
) -> None:
    server = newer_server()
    found = read(server)
    patch = patch_from(found.deep_copy())
    change(found)
    with pytest.raises(ValueError, match=REFUSED):
        server.client().patch(CTX, found, patch)
    assert server.writes == 0


@pytest.mark.parametrize("patch", [client.MERGE, client.APPLY])
def test_the_whole_object_is_no_patch(patch: client.Patch) -> None:
    server = newer_server()
    found = read(server)
    with pytest.raises(ValueError, match=REFUSED):
        server.client().patch(CTX, found, patch)
    assert server.writes == 0


def test_an_apply_of_what_was_read_is_refused() -> None:
    server = newer_server()
    found = read(server)
    with pytest.raises(ValueError, match=REFUSED):
        server.client().apply(CTX, found, client.FieldOwner("m"))
    with pytest.raises(ValueError, match=REFUSED):
        server.client().status().apply(CTX, found, client.FieldOwner("m"))
    assert server.writes == 0


# ---- what controllers do


def wanted() -> appsv1.Deployment:
    return appsv1.Deployment(metadata=metav1.ObjectMeta(name="web", namespace="ns"))


@pytest.mark.parametrize("change", [scale, label, set_image, add_volume])
def test_create_or_update_keeps_them(change: Callable[[Any], None]) -> None:
    server = newer_server()
    obj = wanted()
    done = controllerutil.create_or_update(CTX, server.client(), obj, lambda: change(obj))
    assert done == OperationResult.UPDATED
    assert server.states[-1] == as_over_json(change)


def renew_port(found: Any) -> None:
    """Replace the port with an equal one, so that only the unknown fields differ."""
    found.spec.template.spec.containers[0].ports = [corev1.ContainerPort(container_port=80)]


@pytest.mark.parametrize(
    ("change", "expected"), [(lambda obj: None, OperationResult.NONE), (renew_port, OperationResult.UPDATED)]
)
def test_create_or_update_sees_whether_they_have_changed(
    change: Callable[[Any], None], expected: OperationResult
) -> None:
    server = newer_server()
    obj = wanted()
    assert controllerutil.create_or_update(CTX, server.client(), obj, lambda: change(obj)) == expected
    assert server.writes == (expected == OperationResult.UPDATED)


def test_create_or_patch_keeps_them_in_both_patches() -> None:
    server = newer_server()
    obj = wanted()

    def change() -> None:
        scale(obj)
        obj.status.ready_replicas = 2

    assert controllerutil.create_or_patch(CTX, server.client(), obj, change) == OperationResult.UPDATED_STATUS
    changed = as_over_json(scale)
    changed["status"]["readyReplicas"] = 2
    assert server.states[-1] == changed
    assert obj.to_dict()["status"]["readyReplicas"] == 2


@pytest.mark.parametrize("change", [set_image, set_condition, renew_port])
def test_create_or_patch_refuses_what_would_lose_them(change: Callable[[Any], None]) -> None:
    server = newer_server()
    obj = wanted()
    with pytest.raises(ValueError, match=REFUSED):
        controllerutil.create_or_patch(CTX, server.client(), obj, lambda: change(obj))
    assert server.writes == 0


def test_owners_keep_theirs() -> None:
    server = newer_server()
    found = read(server)
    owner = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="own", namespace="ns", uid="2"))
    controllerutil.set_controller_reference(owner, found, SCHEME)
    found.set_managed_fields(found.get_managed_fields())
    server.client().update(CTX, found)
    written = server.states[-1]["metadata"]
    assert new(metav1.OwnerReference).items() <= written["ownerReferences"][0].items()
    assert written["ownerReferences"][1]["name"] == "own"
    assert written["managedFields"] == server.states[0]["metadata"]["managedFields"]


def test_a_condition_keeps_its_own() -> None:
    condition = metav1.Condition.from_dict(UnknownFields({"type": "Ready", "status": "True"}, {"m": b"x"}))
    conditions: list[metav1.Condition] = []
    meta.set_status_condition(conditions, condition)
    condition.last_transition_time = conditions[0].last_transition_time
    assert conditions == [condition]


class CopiesContainers:
    """Defaults pods by what it has read."""

    def default(self, ctx: context.Context, obj: corev1.Pod) -> None:
        obj.spec = read(newer_server()).spec.template.spec


def test_a_webhook_says_that_it_cannot_write_them() -> None:
    webhook = admission.with_defaulter(SCHEME, corev1.Pod, CopiesContainers())
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    response = webhook.handle(CTX, admission.Request.from_dict({"uid": "u", "operation": "CREATE", "object": pod}))
    assert (response.allowed, response.result.code) == (False, 500)
    assert "has fields that this version does not know" in response.result.message
    assert not response.patch and not response.patches


# ---- conversions


def test_an_unstructured_object_made_of_it_can_be_read_and_not_be_written() -> None:
    server = newer_server()
    found = read(server)
    converted = Unstructured()
    SCHEME.convert(found, converted)
    assert converted.object["spec"]["replicas"] == 1
    with pytest.raises(ValueError, match="has fields that this version does not know"):
        converted.marshal_json()
    with pytest.raises(ValueError, match="has fields that this version does not know"):
        server.client().update(CTX, converted)
    with pytest.raises(ValueError, match="has fields that this version does not know"):
        server.client().apply(CTX, client.apply_configuration_from_unstructured(converted), client.FieldOwner("m"))
    assert server.writes == 0


def test_an_object_that_was_unstructured_meanwhile_has_them_still() -> None:
    server = newer_server()
    found = read(server)
    document = DEFAULT_UNSTRUCTURED_CONVERTER.to_unstructured(found)
    again = appsv1.Deployment()
    DEFAULT_UNSTRUCTURED_CONVERTER.from_unstructured(document, again)
    assert again == found
    server.client().update(CTX, again)
    assert server.states[-1] == server.states[0]


def test_a_copy_by_the_scheme_has_them() -> None:
    found = read(newer_server())
    copied = appsv1.Deployment()
    SCHEME.convert(found, copied)
    assert copied == found


def test_items_of_a_list_have_them() -> None:
    found = read(newer_server())
    listed = appsv1.DeploymentList()
    meta.set_list(listed, [found])
    assert meta.extract_list(listed) == [found]


def test_its_metadata_keep_their_own() -> None:
    found = read(newer_server())
    partial = meta.as_partial_object_metadata(found)
    patch = client.merge_from(partial.deep_copy())
    partial.set_labels({"a": "b"})
    assert patch.data(partial) == b'{"metadata":{"labels":{"a":"b"}}}'
    partial.set_owner_references(partial.get_owner_references() * 2)
    with pytest.raises(ValueError, match="has fields that this version does not know"):
        patch.data(partial)
    partial.set_owner_references(None)
    partial.set_managed_fields(None)
    with pytest.raises(ValueError, match="has fields that this version does not know"):
        client.MERGE.data(partial)


def read_metadata(server: NewerServer) -> metav1.PartialObjectMetadata:
    example = metav1.PartialObjectMetadata(api_version="apps/v1", kind="Deployment")
    found = server.client().get(CTX, KEY, example)
    assert server.sent[-1][1].startswith(PROTOBUF)
    return found


def test_a_patch_of_metadata_alone_leaves_them() -> None:
    server = newer_server()
    found = read_metadata(server)
    patch = client.merge_from(found.deep_copy())
    label(found)
    server.client().patch(CTX, found, patch)
    assert server.states[-1] == as_over_json(label)
    assert found.get_labels() == {"tier": "front"}


def test_a_patch_of_metadata_that_would_lose_them_is_refused() -> None:
    server = newer_server()
    found = read_metadata(server)
    patch = client.merge_from(found.deep_copy())
    controllerutil.set_owner_reference(
        corev1.ConfigMap(metadata=metav1.ObjectMeta(name="own", namespace="ns", uid="2")), found, SCHEME
    )
    with pytest.raises(ValueError, match="has fields that this version does not know"):
        server.client().patch(CTX, found, patch)
    assert server.writes == 0


def test_what_differs_in_them_alone_does_not_mean_the_same() -> None:
    found = read(newer_server())
    other = found.deep_copy()
    assert equality.SEMANTIC.deep_equal(found, other)
    renew_port(other)
    assert not equality.SEMANTIC.deep_equal(found, other)
