"""Values of a wrong type: a field rejects them when it is decoded, or an error names them when it is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from decoding import DYNAMIC, TYPED, decoding_at_once, event, outcome

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import NotRegisteredError, Scheme
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.serializer import JSONSerializer
from clientgo.golang.http import BytesBody
from clientgo.golang.json import UnmarshalTypeError
from clientgo.rest.watch import Decoder

HEADERS: list[tuple[Any, str]] = [
    ([], "array into Go struct field Pod.metadata of type v1.ObjectMeta"),
    ({"name": 7}, "number into Go struct field ObjectMeta.metadata.name of type string"),
    ({"namespace": ["a"]}, "array into Go struct field ObjectMeta.metadata.namespace of type string"),
    ({"uid": True}, "bool into Go struct field ObjectMeta.metadata.uid of type types.UID"),
    ({"resourceVersion": {}}, "object into Go struct field ObjectMeta.metadata.resourceVersion of type string"),
    ({"deletionTimestamp": 0}, "number into Go struct field ObjectMeta.metadata.deletionTimestamp of type string"),
    ({"labels": []}, "array into Go struct field ObjectMeta.metadata.labels of type map[string]string"),
    ({"labels": {"a": 1}}, "number into Go struct field ObjectMeta.metadata.labels of type string"),
]


@pytest.fixture(params=["when read", "at once"], autouse=True)
def way(request: pytest.FixtureRequest) -> Any:
    """Run the test with each way of decoding."""
    if request.param == "when read":
        yield
        return
    with decoding_at_once():
        yield


def line(document: Any) -> str:
    return json.dumps({"type": "ADDED", "object": document})


def pod(metadata: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, **more}


@pytest.mark.parametrize(("metadata", "text"), HEADERS)
def test_a_watch_event_with_a_wrong_header_is_a_decode_error(metadata: Any, text: str) -> None:
    with pytest.raises(ValueError, match="unable to decode watch event") as raised:
        event(line(pod(metadata)))
    assert str(raised.value).endswith(f"json: cannot unmarshal {text}")


@pytest.mark.parametrize(("metadata", "text"), HEADERS)
def test_a_list_with_one_wrong_header_is_refused(metadata: Any, text: str) -> None:
    body = {"kind": "PodList", "apiVersion": "v1", "items": [pod({"name": "a"}), pod(metadata)]}
    with pytest.raises(UnmarshalTypeError) as raised:
        TYPED.decode(json.dumps(body).encode(), None, corev1.PodList)
    assert str(raised.value) == "json: cannot unmarshal " + text.replace("metadata", "items.metadata")


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"items": {}}, "object into Go struct field PodList.items of type []v1.Pod"),
        ({"items": [1]}, "number into Go struct field PodList.items of type v1.Pod"),
        ({"metadata": 1}, "number into Go struct field PodList.metadata of type v1.ListMeta"),
        ({"metadata": {"continue": 1}}, "number into Go struct field ListMeta.metadata.continue of type string"),
    ],
)
def test_a_list_that_is_none_is_refused(document: Any, text: str) -> None:
    body = {"kind": "PodList", "apiVersion": "v1", "items": [], **document}
    with pytest.raises(UnmarshalTypeError) as raised:
        TYPED.decode(json.dumps(body).encode(), None, corev1.PodList)
    assert str(raised.value) == f"json: cannot unmarshal {text}"


def test_null_is_absent_in_a_list_and_in_labels_as_in_go() -> None:
    body = {"kind": "PodList", "apiVersion": "v1", "items": [None, pod({"labels": {"a": None}, "name": None})]}
    first, second = TYPED.decode(json.dumps(body).encode(), None, corev1.PodList)[0].extract_items()
    assert (first.metadata.name, second.metadata.name, second.get_labels()) == ("", "", {"a": ""})


def test_an_event_of_an_unknown_kind_is_a_decode_error() -> None:
    for kind, version in (("Strange", "example.com/v1"), ("Pod", "v2"), ("Pod", "example.com/v1")):
        with pytest.raises(ValueError, match=f'no kind "{kind}" is registered for version "{version}"'):
            event(line({"kind": kind, "apiVersion": version, "metadata": {"name": "a"}}), TYPED.expecting(corev1.Pod))
    with pytest.raises(ValueError, match="Object 'Kind' is missing"):
        event(line({"metadata": {"name": "a"}}), TYPED.expecting(corev1.Pod))


def test_an_event_of_another_known_kind_is_of_its_own_class() -> None:
    """Go: the reflector refuses it, which knows what it expects."""
    document = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}}
    assert type(event(line(document), TYPED.expecting(corev1.Pod))) is corev1.ConfigMap


def test_a_class_that_the_scheme_does_not_know_takes_its_own_kind_alone() -> None:
    decoder = Decoder(BytesBody(()), JSONSerializer(Scheme(), strip=True).expecting(corev1.Pod))
    assert type(decoder.decode_line(line(pod({}))).object) is corev1.Pod
    with pytest.raises(ValueError, match='no kind "ConfigMap" is registered'):
        decoder.decode_line(line({"kind": "ConfigMap", "apiVersion": "v1"}))


def test_an_answer_of_an_unknown_kind_is_an_error() -> None:
    """Go: TestBadJSONRejection."""
    data = json.dumps({"kind": "Strange", "apiVersion": "example.com/v1", "metadata": {"name": "a"}}).encode()
    with pytest.raises(NotRegisteredError, match='no kind "Strange"'):
        TYPED.decode(data, None, corev1.Pod)
    scheme = Scheme()
    scheme.add_known_types(GroupVersion("", "v1"), corev1.Pod)
    with pytest.raises(NotRegisteredError, match='no kind "PodList"'):
        JSONSerializer(scheme).decode(b'{"kind":"PodList","apiVersion":"v1"}', None, corev1.Pod)


# --- Found on touch -------------------------------------------------------------------------------------------------

POD = pod(
    {
        "name": "a",
        "namespace": "ns",
        "generation": "x",
        "annotations": {"a": 1},
        "finalizers": [{}],
        "creationTimestamp": "yesterday",
        "ownerReferences": [{"name": 1}, {"controller": "x"}],
        "managedFields": {},
    },
    spec={
        "nodeName": 7,
        "priority": 1.5,
        "hostNetwork": "yes",
        "containers": [
            {
                "name": [],
                "args": ["-v", 4],
                "livenessProbe": {"httpGet": {"port": []}},
                "resources": {"limits": {"cpu": "much"}, "requests": []},
            }
        ],
        "tolerations": {},
        "nodeSelector": {"a": None, "b": 1},
        "securityContext": [],
        "affinity": "none",
    },
    status="Running",
)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda p: p.spec.node_name, "number into Go struct field PodSpec.spec.nodeName of type string"),
        (lambda p: p.spec.priority, "number 1.5 into Go struct field PodSpec.spec.priority of type int32"),
        (lambda p: p.spec.host_network, "string into Go struct field PodSpec.spec.hostNetwork of type bool"),
        (lambda p: p.spec.tolerations, "object into Go struct field PodSpec.spec.tolerations of type []v1.Toleration"),
        (lambda p: p.spec.node_selector["b"], "number into Go struct field PodSpec.spec.nodeSelector of type string"),
        (
            lambda p: p.spec.security_context,
            "array into Go struct field PodSpec.spec.securityContext of type v1.PodSecurityContext",
        ),
        (lambda p: p.spec.affinity, "string into Go struct field PodSpec.spec.affinity of type v1.Affinity"),
        (lambda p: p.status, "string into Go struct field Pod.status of type v1.PodStatus"),
        (
            lambda p: p.spec.containers[0].name,
            "array into Go struct field Container.spec.containers.name of type string",
        ),
        (
            lambda p: list(p.spec.containers[0].args),
            "number into Go struct field Container.spec.containers.args of type string",
        ),
        (
            lambda p: p.spec.containers[0].liveness_probe.http_get.port,
            "array into Go struct field HTTPGetAction.spec.containers.livenessProbe.httpGet.port of type int32",
        ),
        (lambda p: p.metadata.generation, "string into Go struct field ObjectMeta.metadata.generation of type int64"),
        (lambda p: p.get_generation(), "string into Go struct field ObjectMeta.metadata.generation of type int64"),
        (lambda p: p.generation, "string into Go struct field ObjectMeta.metadata.generation of type int64"),
        (
            lambda p: p.metadata.annotations["a"],
            "number into Go struct field ObjectMeta.metadata.annotations of type string",
        ),
        (lambda p: p.get_annotations(), "number into Go struct field ObjectMeta.metadata.annotations of type string"),
        (lambda p: p.get_finalizers(), "object into Go struct field ObjectMeta.metadata.finalizers of type string"),
        (
            lambda p: p.metadata.owner_references[0].name,
            "number into Go struct field OwnerReference.metadata.ownerReferences.name of type string",
        ),
        (
            lambda p: p.get_managed_fields(),
            "object into Go struct field ObjectMeta.metadata.managedFields of type []v1.ManagedFieldsEntry",
        ),
    ],
)
@pytest.mark.parametrize("frozen", [True, False], ids=["read-only", "free"])
def test_a_field_of_a_wrong_type_names_the_object_and_the_field(read: Callable[[Any], Any], text: str, frozen) -> None:
    """Go: TestUnrecognized."""
    obj = event(line(POD))
    with pytest.raises(UnmarshalTypeError) as raised:
        read(obj.freeze() if frozen else obj)
    assert str(raised.value) == f'Pod "ns/a": json: cannot unmarshal {text}'


@pytest.mark.parametrize(
    ("read", "path"),
    [
        (lambda p: p.metadata.creation_timestamp, "metadata.creationTimestamp"),
        (lambda p: p.get_creation_timestamp(), "metadata.creationTimestamp"),
        (lambda p: p.spec.containers[0].resources.limits["cpu"], "spec.containers.resources.limits"),
    ],
)
def test_a_text_that_cannot_be_read_names_the_object_and_the_field(read: Callable[[Any], Any], path: str) -> None:
    with pytest.raises(ValueError, match=f'Pod "ns/a": {path}: '):
        read(event(line(POD)))


def test_bytes_that_are_no_base64_name_the_object_and_the_field() -> None:
    secret = corev1.Secret.from_dict({"metadata": {"name": "s"}, "data": {"a": "!!", "b": "aHVu\ndGVy"}})
    with pytest.raises(ValueError, match='Secret "s": data: '):
        secret.data["a"]
    assert secret.data["b"] == b"hunter"


def test_what_is_well_typed_beside_it_stays_readable_and_the_document_as_it_came() -> None:
    obj = event(line(POD))
    assert obj.object_key() == "ns/a"
    assert obj.spec.node_selector["a"] == ""
    assert obj.to_dict()["spec"] == POD["spec"]
    assert obj.deep_copy() == obj


def test_an_item_of_a_list_is_named_itself() -> None:
    pods = corev1.PodList.from_dict({"items": [{"metadata": {"name": "a"}, "spec": {"nodeName": 1}}]})
    with pytest.raises(UnmarshalTypeError, match=r'^Pod "a": .* PodSpec\.items\.spec\.nodeName of type string$'):
        assert pods.items[0].spec.node_name


def test_a_struct_of_no_object_names_the_field_alone() -> None:
    with pytest.raises(UnmarshalTypeError, match=r"^json: cannot unmarshal number into Go struct field PodSpec\.nodeN"):
        assert corev1.PodSpec.from_dict({"nodeName": 1}).node_name


# --- Unstructured ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metadata", [[], 7, "x", *(metadata for metadata, _ in HEADERS)])
def test_unstructured_objects_take_what_is_wrongly_typed_for_absent_as_in_go(metadata: Any) -> None:
    obj = event(line(pod(metadata)), DYNAMIC)
    assert type(obj) is Unstructured
    assert (obj.get_name(), obj.get_namespace(), obj.get_uid(), obj.get_resource_version()) == ("", "", "", "")
    assert (obj.object_key(), obj.get_labels(), obj.get_deletion_timestamp()) == ("", {}, None)
    assert (repr(obj), obj.to_dict()["metadata"]) == ("Unstructured('')", metadata)
    body = {"kind": "PodList", "apiVersion": "v1", "items": [pod(metadata)], "metadata": metadata}
    listed = DYNAMIC.decode(json.dumps(body).encode(), None, UnstructuredList)[0]
    assert (listed.get_resource_version(), listed.get_continue()) == ("", "")
    assert listed.extract_items()[0].get_name() == ""


def test_unstructured_objects_keep_the_owners_that_are_some() -> None:
    more = {"ownerReferences": [1, {"name": "o"}], "managedFields": 1, "finalizers": [1], "creationTimestamp": "x"}
    obj = event(line(pod({"name": "a", **more})), DYNAMIC)
    assert [owner.name for owner in obj.get_owner_references()] == ["o"]
    assert (obj.get_managed_fields(), obj.get_finalizers(), obj.get_creation_timestamp()) == ([], [], None)
    assert outcome(lambda: metav1.get_controller_of(obj)) == "None"
