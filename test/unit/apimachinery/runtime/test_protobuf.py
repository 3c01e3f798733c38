"""Kubernetes' protobuf: the envelope, what Go writes, what no table knows, and bytes that are no message."""

from __future__ import annotations

import copy
import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clientgo.api.admissionregistration import v1 as admissionv1
from clientgo.api.apps import v1 as appsv1
from clientgo.api.authorization import v1 as authorizationv1
from clientgo.api.core import v1 as corev1
from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.serializer import JSONSerializer, protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import ProtobufSerializer, WireError, messages
from clientgo.apimachinery.runtime.serializer.protobuf.decoding import MAX_DEPTH, leaf
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Kind
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes, put_varint
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.kubernetes.scheme import SCHEME

DATA = Path(__file__).parent / "data"
JSON = JSONSerializer(SCHEME)
CODEC = ProtobufSerializer(SCHEME, JSON)


def sized(number: int, *parts: bytes) -> bytes:
    return put_bytes(put_varint(number << 3 | 2), b"".join(parts))


def message(cls: type) -> protobuf.Message:
    found = protobuf.message_of(cls)
    assert found is not None
    return found


def test_an_object_stands_in_an_envelope() -> None:
    config = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a"), data={"b": "2", "a": "1"})
    data = CODEC.encode(config)
    envelope = protobuf.read_envelope(data)
    assert (envelope.api_version, envelope.kind) == ("v1", "ConfigMap")
    # Every field of the metadata that is no pointer in Go, and the map in the order of its keys.
    metadata = sized(1, *(sized(n, b"a" if n == 1 else b"") for n in range(1, 7)), b"\x38\0", sized(8))
    entries = sized(2, sized(1, b"a"), sized(2, b"1")), sized(2, sized(1, b"b"), sized(2, b"2"))
    assert data[envelope.begin : envelope.end] == b"".join((metadata, *entries))
    assert data.startswith(b"k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12")
    assert data.endswith(b"\x1a\0\x22\0")


def test_an_object_comes_back_as_it_was() -> None:
    deployment = appsv1.Deployment.from_dict(
        {
            "metadata": {"name": "web", "creationTimestamp": "2026-01-02T03:04:05Z"},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {}, "spec": {"containers": [{"name": "c", "resources": {}}]}},
                "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
            },
            "status": {},
        }
    )
    back, gvk = CODEC.decode(CODEC.encode(deployment), None, appsv1.Deployment)
    assert (gvk.group, gvk.version, gvk.kind) == ("apps", "v1", "Deployment")
    assert back.to_dict() == {"kind": "Deployment", "apiVersion": "apps/v1", **deployment.to_dict()}
    assert CODEC.stripping().decode(CODEC.encode(deployment))[0] == deployment


def test_a_pod_is_written_as_kube_apiserver_writes_it() -> None:
    """The bytes are those of a stand-in that was compared with a real server."""
    document, data = json.loads((DATA / "pod.json").read_text()), (DATA / "pod.protobuf").read_bytes()
    assert CODEC.encode(corev1.Pod.from_dict(document)) == data
    assert CODEC.stripping().decode(data)[0].to_dict() == document


def test_kinds_in_an_object_lose_what_says_their_kind() -> None:
    """No message has it, and in JSON a server fills it in for a StatefulSet."""
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}
    wanted = appsv1.StatefulSet.from_dict({"spec": {"volumeClaimTemplates": [claim]}})
    back = CODEC.stripping().decode(CODEC.encode(wanted))[0]
    assert isinstance(back, appsv1.StatefulSet)
    assert back.spec.volume_claim_templates[0].to_dict().keys() & {"apiVersion", "kind"} == set()
    assert back.spec.volume_claim_templates[0].name == "data"


@pytest.mark.parametrize(
    ("null", "zero"),
    [
        ({"containers": [None, {"name": "c"}]}, {"containers": [{}, {"name": "c"}]}),
        ({"containers": [{"args": ["a", None]}]}, {"containers": [{"args": ["a", ""]}]}),
        ({"nodeSelector": {"a": None}}, {"nodeSelector": {"a": ""}}),
        ({"overhead": {"cpu": None}}, {"overhead": {"cpu": "0"}}),
        ({"securityContext": {"supplementalGroups": [None, 1]}}, {"securityContext": {"supplementalGroups": [0, 1]}}),
    ],
)
def test_an_element_that_is_null_is_the_zero_of_its_type(null: Any, zero: Any) -> None:
    assert protobuf.encode_message(message(corev1.PodSpec), null) == protobuf.encode_message(
        message(corev1.PodSpec), zero
    )


def test_half_of_a_surrogate_pair_is_written_as_go_reads_it() -> None:
    config = corev1.ConfigMap(data={"\ud800": "\udc00 ä"}, metadata=metav1.ObjectMeta(name="\ud800"))
    back = CODEC.decode(CODEC.encode(config))[0]
    assert isinstance(back, corev1.ConfigMap)
    assert (back.data, back.name) == ({"\ufffd": "\ufffd ä"}, "\ufffd")


@pytest.mark.parametrize("into", [None, corev1.PodList, corev1.PodList()], ids=["none", "class", "object"])
def test_a_list_without_items_has_an_empty_list_of_them(into: Any) -> None:
    empty = corev1.PodList.from_dict({"metadata": {"resourceVersion": "5"}, "items": []})
    assert CODEC.stripping().decode(CODEC.encode(empty), None, into)[0].to_dict() == empty.to_dict()


def test_options_are_written_in_the_version_of_the_client() -> None:
    written = CODEC.writing(GroupVersion("apps", "v1")).encode(metav1.DeleteOptions(grace_period_seconds=0))
    assert protobuf.read_envelope(written).api_version == "apps/v1"


def test_what_has_no_message_is_refused() -> None:
    obj = Unstructured.from_dict({"apiVersion": "shop.example.com/v1", "kind": "Order"})
    with pytest.raises(ValueError, match="does not implement the protobuf marshalling interface"):
        CODEC.encode(obj)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"containers": [{"nmae": "x"}]}, r"spec\.containers\[0\]\.nmae: protobuf has no such field"),
        ({"nodeSelector": {"a": 5}}, r"spec\.nodeSelector\[a\]: expected a string, got 5"),
        ({"priority": "high"}, r'spec\.priority: expected an integer, got "high"'),
        ({"hostNetwork": 1}, r"spec\.hostNetwork: expected a boolean, got 1"),
        ({"priority": 2**64}, r"spec\.priority: 18446744073709551616 is no int64"),
        ({"containers": {}}, r"spec\.containers: expected a list, got {}"),
        ([], r"spec: expected an object, got \[\]"),
        ({"securityContext": {"kind": "Strict"}}, r"spec\.securityContext\.kind: protobuf has no such field"),
    ],
)
def test_what_a_message_cannot_say_is_refused_by_its_path(spec: Any, path: str) -> None:
    with pytest.raises(protobuf.EncodeError, match=path):
        CODEC.encode(corev1.Pod.from_dict({"spec": spec}))


# ---- what comes from a newer server

UNKNOWN = sized(30_000, b"new")


def newer_pod() -> corev1.Pod:
    """Return a pod with an unknown field in the pod, its metadata, an embedded struct and an element of a list."""
    metadata = sized(1, sized(1, b"web"), UNKNOWN)
    volume = sized(1, sized(1, b"v"), sized(2, sized(2, sized(1, b"Memory")), UNKNOWN))
    container = sized(2, sized(1, b"c"), UNKNOWN)
    data = protobuf.wrap(b"".join((metadata, sized(2, volume, container), UNKNOWN)), "v1", "Pod")
    obj = CODEC.stripping().decode(data)[0]
    assert isinstance(obj, corev1.Pod)
    return obj


@pytest.mark.parametrize(
    ("copied", "left"),
    [
        (lambda pod: pod, 4),
        (lambda pod: pod.deep_copy(), 4),
        (copy.deepcopy, 4),
        (lambda pod: pickle.loads(pickle.dumps(pod)), 4),
        # Those of the pod itself and of its metadata stay behind.
        (lambda pod: corev1.Pod(metadata=pod.metadata, spec=pod.spec), 2),
    ],
)
def test_unknown_fields_survive_copies_and_changes(copied: Any, left: int) -> None:
    pod = copied(newer_pod())
    pod.metadata.labels["app"] = "web"
    pod.spec.containers[0].image = "nginx"
    assert (pod.name, pod.spec.volumes[0].empty_dir.medium) == ("web", "Memory")
    assert CODEC.encode(pod).count(UNKNOWN) == left


def test_the_object_of_unknown_fields_is_no_json() -> None:
    with pytest.raises(ValueError, match=r"fields that this version does not know.*application/vnd\.kubernetes\.prot"):
        JSON.encode(newer_pod())


def test_unknown_fields_deep_inside_make_the_object_no_json() -> None:
    data = sized(2, sized(2, sized(1, b"c"), UNKNOWN))
    obj = CODEC.decode(protobuf.wrap(data, "v1", "Pod"))[0]
    with pytest.raises(ValueError, match="fields that this version does not know"):
        JSON.encode(obj)
    # No program gets dicts that compare otherwise than dicts.
    assert type(obj.to_dict()["spec"]["containers"][0]) is dict


NEWER = sized(30_001, b"newer")


@pytest.mark.parametrize(
    "status",
    [
        sized(3, UNKNOWN, NEWER),
        sized(3, UNKNOWN, sized(1, b"Running"), NEWER),
        sized(3, sized(1, b"Running")) + sized(3, UNKNOWN, NEWER),
        sized(3, UNKNOWN) + sized(3, NEWER),
    ],
)
def test_all_unknown_fields_of_a_message_survive_also_if_it_comes_in_parts(status: bytes) -> None:
    pod = CODEC.decode(protobuf.wrap(sized(1, sized(1, b"a")) + status, "v1", "Pod"))[0]
    written = CODEC.encode(pod)
    assert (written.count(UNKNOWN), written.count(NEWER)) == (1, 1)


@pytest.mark.parametrize("into", [None, corev1.PodList])
@pytest.mark.parametrize("metadata", [b"", sized(1, UNKNOWN)], ids=["a list that is known", "a list with a new field"])
@pytest.mark.parametrize("parts", [1, 2])
def test_a_list_has_items_with_unknown_fields_however_it_is_decoded(into: Any, metadata: bytes, parts: int) -> None:
    item = sized(1, sized(1, b"a")) * parts + UNKNOWN
    listed = CODEC.decode(protobuf.wrap(metadata + sized(2, item) * 2, "v1", "PodList"), None, into)[0]
    assert [pod.name for pod in listed.items] == ["a", "a"]
    assert CODEC.encode(listed).count(UNKNOWN) == 2 + (metadata != b"")
    assert [CODEC.encode(pod).count(UNKNOWN) for pod in listed.extract_items()] == [1, 1]


def newer_list(into: Any) -> Any:
    body = sized(2, sized(1, sized(1, b"a")), UNKNOWN)
    return CODEC.decode(protobuf.wrap(body, "v1", "PodList"), None, into)[0]


def with_a_part_of_another() -> corev1.Pod:
    pod = corev1.Pod.from_dict({"spec": {"containers": []}})
    pod.spec.containers = newer_pod().spec.containers
    return pod


@pytest.mark.parametrize(
    "make",
    [
        newer_pod,
        lambda: newer_pod().freeze(),
        lambda: newer_pod().spec,
        lambda: newer_pod().freeze().spec,
        lambda: newer_pod().deep_copy().spec.containers[0],
        lambda: newer_list(corev1.PodList),
        lambda: newer_list(corev1.PodList).freeze(),
        lambda: newer_list(None),
        lambda: newer_list(corev1.PodList).items[0],
        with_a_part_of_another,
    ],
)
def test_a_program_gets_plain_dicts_of_what_has_unknown_fields(make: Any) -> None:
    def plain(value: Any) -> bool:
        if isinstance(value, dict):
            return type(value) is dict and all(map(plain, value.values()))
        return all(map(plain, value)) if isinstance(value, list) else True

    document = make().to_dict()
    assert plain(document)
    assert document == json.loads(json.dumps(document))


def test_a_null_that_protobuf_has_no_field_for_is_left_out() -> None:
    empty = CODEC.encode(corev1.ConfigMap.from_dict({}))
    assert CODEC.encode(corev1.ConfigMap.from_dict({"news": None, "metadata": {"news": None}})) == empty
    with pytest.raises(protobuf.EncodeError, match="news: protobuf has no such field"):
        CODEC.encode(corev1.ConfigMap.from_dict({"news": 1}))


def test_unknown_fields_take_part_in_equality_and_not_in_dicts() -> None:
    pod, other = newer_pod(), newer_pod()
    assert pod == other
    other.spec.containers[0] = corev1.Container(name="c")
    assert pod != other
    assert type(pod.to_dict()) is dict
    assert type(pod.to_dict()["spec"]["containers"][0]) is dict
    plain, unknown = {"a": 1}, UnknownFields({"a": 1}, {"m": b"x"})
    assert unknown != plain and plain != unknown and unknown == copy.deepcopy(unknown)


# ---- bytes that are no message


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x0a", "unexpected EOF"),
        (b"\x0a\x05ab", "unexpected EOF"),
        (b"\x0a\x03\x0a\x05a", "unexpected EOF"),  # longer than what is around it
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "unexpected EOF"),
        (b"\x0a" + b"\xff" * 9 + b"\x02", "integer overflow"),
        (b"\xff" * 20, "integer overflow"),
        (b"\x00\x00", "illegal tag 0"),
        (b"\x08\x01", "wrong wireType = 0 for field metadata"),
        (b"\x0b", "illegal wireType 3"),
        (b"\x0f", "illegal wireType 7"),
        (b"\x0a\x04\x42\x02\x08\x80", "unexpected EOF"),
        (sized(1, sized(8, b"\x08" + put_varint(2**62))), "time out of range"),
        (sized(1, sized(17, sized(7, sized(1, b"{")))), "fieldsV1: not JSON"),
        (sized(1, sized(17, sized(7, sized(1, b"[" * 200_000)))), "fieldsV1: not JSON"),
    ],
)
def test_what_is_no_message_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        protobuf.decode_message(message(corev1.Pod), body)


TIME, QUANTITY = b"\x09" + b"1" * 8, b"\x08\x01"


@pytest.mark.parametrize(
    ("kind", "path", "value", "wire_type"),
    [
        (corev1.Pod, "metadata.creationTimestamp", TIME, 1),
        (corev1.Pod, "metadata.creationTimestamp", sized(2, b"ab"), 2),
        (corev1.Event, "eventTime", TIME, 1),
        (corev1.PersistentVolumeClaim, "spec.resources.requests", sized(1, b"cpu") + sized(2, QUANTITY), 0),
        (corev1.Service, "spec.ports.targetPort", sized(1, b"a"), 2),
        (corev1.Service, "spec.ports.targetPort", b"\x10" + b"\x01" + b"\x18\x01", 0),
        (appsv1.ControllerRevision, "data", b"\x08\x01", 0),
        (apiextensionsv1.CustomResourceDefinition, "spec.versions.schema.openAPIV3Schema.items", b"\x08\x01", 0),
        (
            apiextensionsv1.CustomResourceDefinition,
            "spec.versions.schema.openAPIV3Schema.additionalItems",
            sized(1, b"a"),
            2,
        ),
    ],
)
def test_a_value_with_a_form_of_its_own_is_refused_in_another_wire_type(
    kind: type, path: str, value: bytes, wire_type: int
) -> None:
    """Such a time was 1970, and such a quantity 0."""
    within, numbers = message(kind), []
    for name in path.split("."):
        field = within.by_name[name]
        numbers.append(field.number)
        within = field.message if name != path.rpartition(".")[2] else within
    body = value
    for number in reversed(numbers):
        body = sized(number, body)
    with pytest.raises(WireError, match=f"^{path}: proto: wrong wireType = {wire_type} for field"):
        protobuf.decode_message(message(kind), body)


def nested(kind: type, path: str, key: Callable[[int], bytes], *values: bytes) -> bytes:
    """Return nested messages along the path, the last with one field that repeats the values."""
    within, numbers = message(kind), []
    *parents, last = path.split(".")
    for name in parents:
        numbers.append(within.by_name[name].number)
        within = within.by_name[name].message
    body = b"".join(key(within.by_name[last].number) + value for value in values)
    for number in reversed(numbers):
        body = sized(number, body)
    return body


@pytest.mark.parametrize(
    ("kind", "path", "wire_type", "value", "zero"),
    [
        (corev1.Pod, "spec.hostNetwork", 0, b"\x01", b"\x00"),
        (corev1.Pod, "spec.nodeName", 2, b"\x01a", b"\x00"),
        (admissionv1.ValidatingWebhookConfiguration, "webhooks.clientConfig.caBundle", 2, b"\x01a", b"\x00"),
    ],
)
def test_the_last_value_of_a_field_wins_also_when_it_is_the_zero_that_json_leaves_out(
    kind: type, path: str, wire_type: int, value: bytes, zero: bytes
) -> None:
    parent, _, last = path.rpartition(".")

    def decoded(*values: bytes) -> Any:
        body = nested(kind, path, lambda number: put_varint(number << 3 | wire_type), *values)
        found: Any = protobuf.decode_message(message(kind), body)
        for name in parent.split("."):
            found = found[name]
            found = found[0] if isinstance(found, list) else found
        return found

    assert last in decoded(value)
    assert last in decoded(zero, value)
    assert last not in decoded(value, zero)


def test_a_double_may_be_the_last_field_of_a_message() -> None:
    kind, path = apiextensionsv1.CustomResourceDefinition, "spec.versions.schema.openAPIV3Schema.maximum"
    body = nested(kind, path, lambda number: put_varint(number << 3 | 1), struct.pack("<d", 1.5))
    found: Any = protobuf.decode_message(message(kind), body)

    assert found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["maximum"] == 1.5
    with pytest.raises(WireError, match="unexpected EOF"):
        protobuf.decode_message(
            message(kind), nested(kind, path, lambda number: put_varint(number << 3 | 1), struct.pack("<d", 1.5)[:7])
        )


WRAPPERS: dict[str, Callable[[bytes], bytes]] = {
    "not": lambda schema: schema,
    "allOf": lambda schema: schema,
    "items": lambda schema: sized(1, schema),
    "items, a list": lambda schema: sized(2, schema),
    "additionalItems": lambda schema: b"\x08\x01" + sized(2, schema),
}
"""The ways in which a schema contains another one, as bytes around the inner schema."""


@pytest.mark.parametrize("way", WRAPPERS)
def test_schemas_are_read_to_the_same_depth_in_each_way(way: str) -> None:
    schema = message(apiextensionsv1.JSONSchemaProps)
    number = schema.by_name[way.partition(",")[0]].number

    def body(depth: int) -> bytes:
        inner = b""
        for _ in range(depth):
            inner = sized(number, WRAPPERS[way](inner))
        return inner

    protobuf.decode_message(schema, body(MAX_DEPTH))
    with pytest.raises(WireError, match="nested deeper than 200 messages"):
        protobuf.decode_message(schema, body(MAX_DEPTH + 1))


def test_a_schema_that_is_read_on_its_own_has_the_whole_depth() -> None:
    """Lazy objects read a field when a program asks for it."""
    schema = message(apiextensionsv1.JSONSchemaProps)
    field = schema.by_name["items"]

    def body(depth: int) -> bytes:
        inner = b""
        for level in range(depth):
            inner = sized(1, sized(field.number, inner) if level else inner)
        return inner

    deep = body(MAX_DEPTH)
    assert leaf(field, deep, 0, len(deep)) is not None
    deeper = body(MAX_DEPTH + 1)
    with pytest.raises(WireError, match="nested deeper than 200 messages"):
        leaf(field, deeper, 0, len(deeper))


def test_each_part_of_a_message_is_a_message_or_refused() -> None:
    """A connection may end after any byte."""
    pod = corev1.Pod.from_dict(
        {
            "metadata": {"name": "web", "labels": {"a": "b"}, "creationTimestamp": "2026-01-02T03:04:05Z"},
            "spec": {
                "containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}, "ports": [{"containerPort": 80}]}],
                "tolerations": [{"key": "k", "tolerationSeconds": 300}],
            },
            "status": {"containerStatuses": [{"name": "c", "restartCount": 700, "ready": True}]},
        }
    )
    body = protobuf.encode_message(message(corev1.Pod), pod.to_dict())
    complete = 0
    for end in range(len(body)):
        try:
            protobuf.decode_message(message(corev1.Pod), body[:end])
            complete += 1
        except WireError as err:
            assert "EOF" in str(err)
    assert complete == 3, "nothing, the metadata, and the spec too"


@pytest.mark.parametrize("value", ["text", {"a": "b"}, 5, True])
def test_the_lists_of_a_map_are_written_from_lists_only(value: Any) -> None:
    """A text would become the list of its characters."""
    review = message(authorizationv1.SubjectAccessReview)
    with pytest.raises(protobuf.EncodeError, match="expected a list, got"):
        protobuf.encode_message(review, {"spec": {"extra": {"scopes": value}}})


def test_messages_without_end_are_refused() -> None:
    schema = message(apiextensionsv1.JSONSchemaProps)
    (inner,) = (field.number for field in schema.fields if field.json == "not")
    body = b""
    for _ in range(5000):
        body = sized(inner, body)
    with pytest.raises(WireError, match="nested deeper than 200 messages"):
        protobuf.decode_message(schema, body)
    document: dict[str, Any] = {}
    for _ in range(5000):
        document = {"not": document}
    with pytest.raises(protobuf.EncodeError, match="nested deeper than 200 messages"):
        protobuf.encode_message(schema, document)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"k8s", b"k8s\0\x0a\x05", protobuf.wrap(b"", "v1", "Pod")[:-2] + b"\x22\x01x"]
)
def test_what_is_no_envelope_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        protobuf.read_envelope(body)


@pytest.mark.parametrize(
    ("kind", "body", "named"),
    [
        (corev1.Pod, sized(1, sized(1, b"b"), sized(3, b"n")) + sized(3, b"\x0a\x05a"),
         'Pod "n/b": status.phase: unexpected EOF'),
        (metav1.Status, b"\x12\x02\xff", "Status: status: unexpected EOF"),
    ],
)  # fmt: skip
def test_what_is_decoded_where_it_arrives_is_refused_by_its_name(kind: Any, body: bytes, named: str) -> None:
    with pytest.raises(WireError, match=f"^{named}$"):
        CODEC.decode(protobuf.wrap(body, "v1", kind.__name__))


def test_packed_numbers_are_read_too() -> None:
    context = message(corev1.PodSecurityContext)
    (groups,) = (field for field in context.fields if field.json == "supplementalGroups")
    packed = sized(groups.number, put_varint(1), put_varint(300))
    assert protobuf.decode_message(context, packed)["supplementalGroups"] == [1, 300]


def test_an_empty_list_that_go_always_writes_is_null_after_protobuf() -> None:
    """Protobuf does not distinguish an empty list from a missing one, and Go decodes both as null."""
    spec = message(corev1.PodSpec)
    assert protobuf.decode_message(spec, protobuf.encode_message(spec, {"containers": []})) == {"containers": None}


def every_message() -> list[protobuf.Message]:
    """Return the messages of all built-in kinds and those in them."""
    found: dict[str, protobuf.Message] = {}
    # Programs that other tests import add their kinds to the same scheme, and their modules may be gone.
    ours = [cls for cls in SCHEME.all_known_types().values() if cls.__module__.startswith("clientgo.")]
    waiting = [made for cls in ours if (made := protobuf.message_of(cls)) is not None]
    while waiting:
        each = waiting.pop()
        if each.name not in found:
            found[each.name] = each
            waiting += [field.message for field in each.fields if field.kind == Kind.MESSAGE]
    return list(found.values())


@pytest.mark.parametrize("wire_type", [0, 1, 5])
def test_a_text_in_another_wire_type_is_refused_by_the_name_of_the_field(wire_type: int) -> None:
    """Also one whose value has the size of a fixed number."""
    body = put_varint(1 << 3 | wire_type) + b"\x01" * 8
    with pytest.raises(WireError, match=f"^proto: wrong wireType = {wire_type} for field name$"):
        protobuf.decode_message(message(corev1.Container), body)


@pytest.mark.parametrize(
    ("kind", "path", "value", "expected"),
    [
        (corev1.Event, "firstTimestamp", b"\x08\x01", "1970-01-01T00:00:01Z"),
        (corev1.Event, "eventTime", b"\x08\x01\x10\xe8\x07", "1970-01-01T00:00:01.000001Z"),
        (metav1.ObjectMeta, "creationTimestamp", b"\x08\x00", "1970-01-01T00:00:00Z"),
        (appsv1.RollingUpdateDeployment, "maxSurge", b"\x08\x00\x10\x05", 5),
        (appsv1.RollingUpdateDeployment, "maxSurge", b"\x08\x01" + sized(3, b"25%"), "25%"),
        (appsv1.ControllerRevision, "data", sized(1, '{"a":"ä"}'.encode()), {"a": "ä"}),
    ],
)
def test_a_field_that_a_form_of_its_own_does_not_have_is_ignored(
    kind: type, path: str, value: bytes, expected: Any
) -> None:
    """Wherever it stands, like in Go's generated code; a newer server may send one."""
    number = message(kind).by_name[path].number
    for body in (value, value + UNKNOWN, UNKNOWN + value, b"\x50\x07" + value):
        assert protobuf.decode_message(message(kind), sized(number, body))[path] == expected


@pytest.mark.parametrize(
    ("kind", "document", "value"),
    [
        (corev1.Event, {"firstTimestamp": "1970-01-01T00:00:01Z"}, b"\x08\x01\x10\x00"),
        (corev1.Event, {"eventTime": "1970-01-01T00:00:01.000002Z"}, b"\x08\x01\x10\xd0\x0f"),
        (corev1.Event, {"firstTimestamp": "0001-01-01T00:00:00Z"}, b""),
        (appsv1.ControllerRevision, {"data": {"a": "ä"}}, sized(1, '{"a":"ä"}'.encode())),
        (appsv1.RollingUpdateDeployment, {"maxSurge": 5}, b"\x08\x00\x10\x05\x1a\x00"),
        (appsv1.RollingUpdateDeployment, {"maxSurge": "25%"}, b"\x08\x01\x10\x00" + sized(3, b"25%")),
    ],
)
def test_a_value_with_a_form_of_its_own_is_written_as_go_writes_it(
    kind: type, document: dict[str, Any], value: bytes
) -> None:
    ((name, _),) = document.items()
    number = message(kind).by_name[name].number
    assert sized(number, value) in protobuf.encode_message(message(kind), document)


def test_what_is_nested_to_the_limit_is_written_and_read_and_one_deeper_is_refused() -> None:
    schema = message(apiextensionsv1.JSONSchemaProps)

    def document(depth: int) -> dict[str, Any]:
        inner: dict[str, Any] = {}
        for _ in range(depth):
            inner = {"not": inner}
        return inner

    written = protobuf.encode_message(schema, document(MAX_DEPTH))
    assert protobuf.decode_message(schema, written) == document(MAX_DEPTH)
    with pytest.raises(protobuf.EncodeError, match="nested deeper than 200 messages"):
        protobuf.encode_message(schema, document(MAX_DEPTH + 1))


def test_a_message_without_fields_has_what_json_always_has() -> None:
    """Go's zero values of the fields that omitempty does not leave out."""
    pod = protobuf.decode_message(message(corev1.Pod), b"")
    assert pod == {"metadata": {}, "spec": {"containers": None}, "status": {}}
    assert protobuf.decode_message(message(corev1.ContainerStatus), b"") == {
        "name": "", "state": {}, "lastState": {}, "ready": False, "restartCount": 0, "image": "", "imageID": ""
    }  # fmt: skip
    assert protobuf.decode_message(message(metav1.ObjectMeta), b"") == {}
    port = {"port": 0, "targetPort": 0}
    assert protobuf.decode_message(message(corev1.ServicePort), b"") == port
    assert protobuf.decode_message(message(corev1.HTTPGetAction), b"") == {"port": 0}


def test_fields_of_an_embedded_struct_stand_among_those_around_it() -> None:
    source = message(corev1.EphemeralContainer)
    data = protobuf.encode_message(source, {"name": "debug", "image": "i", "targetContainerName": "c"})
    found = protobuf.decode_message(source, data)
    assert (found["name"], found["image"], found["targetContainerName"]) == ("debug", "i", "c")
    assert {"name", "image", "resources", "targetContainerName"} <= source.by_name.keys()
    assert not any("" in each.by_name for each in every_message())


def test_a_package_whose_tables_cannot_be_imported_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package without tables has no messages; one whose tables lack a module is broken."""
    for name, text in (("plain_types", None), ("broken_types", "import no_such_module_at_all")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        if text is not None:
            (tmp_path / name / "generated_pb.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert messages.message("plain_types", "X") is None
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        messages.message("broken_types", "X")


def test_a_serializer_names_itself_and_its_version() -> None:
    assert CODEC.identifier() == "protobuf:"
    assert CODEC.writing(GroupVersion("apps", "v1")).identifier() == "protobuf:apps/v1"


def test_an_object_without_metadata_of_an_object_is_decoded_into_its_class() -> None:
    status = metav1.Status.from_dict({"status": "Failure", "message": "no", "code": 404})
    data = CODEC.encode(status)
    found, gvk = CODEC.stripping().decode(data, None, metav1.Status)
    assert isinstance(found, metav1.Status)
    assert (found.message, found.code, gvk.kind) == ("no", 404, "Status")


def test_an_error_shows_the_beginning_of_a_long_value() -> None:
    with pytest.raises(protobuf.EncodeError) as caught:
        protobuf.encode_message(message(corev1.PodSpec), {"hostNetwork": "x" * 100})
    assert str(caught.value) == 'hostNetwork: expected a boolean, got "' + "x" * 63
