"""Strings of protobuf that are not valid UTF-8: every object that holds one is read, and written back unchanged."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from typing import Any

import protobuf_documents
import protobuf_engines
import protobuf_pods
import pytest
from decoding import is_undecoded
from protobuf_pods import MESSAGE, SERIALIZER

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.serializer import JSONSerializer, protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import ProtobufSerializer
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Kind
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes, put_varint
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.kubernetes.scheme import SCHEME

engine = protobuf_engines.fixture()

assert MESSAGE is not None
JSON = JSONSerializer(SCHEME)
CODEC = ProtobufSerializer(SCHEME, JSON)
# A euro sign without its last byte, as `surrogateescape` decodes it.
CUT = b"\xe2\x82"
TEXT = CUT.decode("utf-8", "surrogateescape")


def cut(text: str) -> str:
    return f"{text}{TEXT}"


POD: dict[str, Any] = {
    "metadata": {
        "name": cut("a"), "namespace": cut("ns"), "uid": cut("u"), "resourceVersion": cut("7"),
        "labels": {cut("app"): cut("shop"), "plain": "p"}, "annotations": {"plain": cut("l" * 200)},
        "finalizers": ["f", cut("g")], "ownerReferences": [{"kind": "Node", "name": cut("n"), "apiVersion": "v1",
        "uid": "u"}], "managedFields": [{"manager": cut("m"), "fieldsV1": {cut("f:k"): {".": [cut("v")]}}}],
    },
    "spec": {"nodeName": cut("n"), "containers": [
        {"name": "c", "args": ["x", cut("y")], "env": [{"name": "E", "value": cut("e")}],
         "resources": {"limits": {cut("example.com/x"): "1"}}, "livenessProbe": {"httpGet": {"port": cut("http")}}},
    ]},
    "status": {"phase": cut("Running"), "containerStatuses": [
        {"name": "c", "ready": True, "restartCount": 0, "image": "i", "imageID": "i",
         "lastState": {"terminated": {"exitCode": 1, "message": cut("no more ")}}},
    ]},
}  # fmt: skip
DATA = protobuf.encode_message(MESSAGE, POD)
READS: list[Callable[[Any], Any]] = [
    lambda pod: pod.get_name(),
    lambda pod: pod.get_namespace(),
    lambda pod: pod.get_resource_version(),
    lambda pod: pod.object_key(),
    lambda pod: pod.metadata.uid,
    lambda pod: pod.metadata.labels[cut("app")],
    lambda pod: pod.metadata.labels.get(cut("app")),
    lambda pod: [key in pod.metadata.labels for key in (cut("app"), cut("no"))],
    lambda pod: pod.metadata.labels.get("\ud800"),
    lambda pod: dict(pod.metadata.labels),
    lambda pod: pod.get_labels(),
    lambda pod: pod.get_annotations()["plain"],
    lambda pod: list(pod.metadata.finalizers),
    lambda pod: pod.metadata.owner_references[0].name,
    lambda pod: pod.metadata.managed_fields[0].manager,
    lambda pod: pod.spec.node_name,
    lambda pod: list(pod.spec.containers[0].args),
    lambda pod: pod.spec.containers[0].env[0].value,
    lambda pod: dict(pod.spec.containers[0].resources.limits),
    lambda pod: pod.spec.containers[0].liveness_probe.http_get.port,
    lambda pod: pod.status.phase,
    lambda pod: pod.status.container_statuses[0].last_termination_state.terminated.message,
    lambda pod: pod.to_dict(),
]


def from_body(data: bytes) -> Any:
    return SERIALIZER.decode(protobuf.wrap(data, "v1", "Pod"), None, corev1.Pod)[0]


def from_list(data: bytes) -> Any:
    items = protobuf.wrap(put_bytes(b"\x12", data), "v1", "PodList")
    return SERIALIZER.decode(items, None, corev1.PodList)[0].extract_items()[0]


def decoded(data: bytes) -> Any:
    """Return the object decoded at once."""
    assert MESSAGE is not None
    return corev1.Pod.from_dict(protobuf.decode_message(MESSAGE, data))


FORMS = {"body": from_body, "event": protobuf_pods.from_event, "list": from_list}


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("is_frozen", [True, False])
@pytest.mark.parametrize("copies", [True, False])
def test_every_read_of_an_undecoded_object_is_that_of_a_decoded_one(make: Any, is_frozen: bool, copies: bool) -> None:
    expected = [read(decoded(DATA)) for read in READS]
    assert expected[0] == "a\udce2\udc82"
    for _ in range(2):  # The second has a layout that is known.
        for read, value in zip(READS, expected, strict=True):
            pod = make(DATA)
            assert is_undecoded(pod)
            if is_frozen:
                pod.freeze()
            if copies:
                pod = pod.deep_copy()
            assert read(pod) == value


@pytest.mark.parametrize("make", [*FORMS.values(), decoded], ids=[*FORMS, "decoded"])
def test_an_object_is_written_back_as_it_came(make: Any) -> None:
    pod = make(DATA)
    for each in (pod, pod.deep_copy(), pickle.loads(pickle.dumps(pod)), corev1.Pod.from_dict(pod.to_dict())):
        assert protobuf.wrap(DATA, "v1", "Pod") == CODEC.encode(each)
    changed = pod.deep_copy()
    changed.metadata.labels["plain"] = "q"
    assert CODEC.encode(changed) == protobuf.wrap(DATA.replace(b"plain\x12\1p", b"plain\x12\1q"), "v1", "Pod")


def texts(chance: random.Random) -> str:
    return "".join(chance.choice(("a", "€", TEXT, "\udc80", "\udcff")) for _ in range(chance.choice((1, 5, 60))))


@pytest.mark.parametrize("seed", range(3))
def test_no_string_of_any_message_loses_a_byte(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Fields, elements, keys and values of maps, quantities, ports, embedded JSON and schemas of all kinds."""
    monkeypatch.setattr(protobuf_documents, "_text", texts)
    text = {Kind.STRING: texts, Kind.QUANTITY: texts, Kind.INTORSTRING: texts, Kind.STRINGS: lambda by: [texts(by)],
            Kind.RAW: lambda by: {texts(by): [texts(by)]}}  # fmt: skip
    for kind, leaf in text.items():
        monkeypatch.setitem(protobuf_documents.LEAVES, kind, leaf)
    escaped = 0
    for message in protobuf_documents.all_messages():
        data = protobuf.encode_message(message, protobuf_documents.document(message, random.Random(seed)))
        document = protobuf.decode_message(message, data)
        assert protobuf.encode_message(message, document) == data, message.name
        escaped += "\\udc" in json.dumps(document)
    assert escaped > 400


def test_keys_of_a_map_are_written_in_the_order_of_their_bytes() -> None:
    """Go sorts by bytes: U+E000 begins with the byte 0xEE, which comes after 0x80 and before 0xFF."""
    config = corev1.ConfigMap.from_dict({"data": dict(zip(("\udcff", "\ue000", "\udc80", ""), "3210", strict=True))})
    found = CODEC.encode(config)
    assert found.index(b"\x12\x010") < found.index(b"\x12\x011") < found.index(b"\x12\x012") < found.index(b"\x12\x013")


def test_a_surrogate_that_stands_for_no_byte_is_written_as_go_reads_it_from_json() -> None:
    config = corev1.ConfigMap.from_dict({"data": {"k": "\ud800 \ud83d\ude00 \udc00 \udcc3"}})
    assert "\ufffd 😀 \ufffd ".encode() + b"\xc3" in CODEC.encode(config)


def test_unknown_fields_and_cut_strings_are_kept_together() -> None:
    unknown = put_bytes(put_varint(30_000 << 3 | 2), CUT)
    data = DATA + put_bytes(b"\x1a", unknown)
    pod = decoded(data)
    assert isinstance(document_of(pod)["status"], UnknownFields)
    again = CODEC.decode(CODEC.encode(pod), None, corev1.Pod)[0]
    assert unknown in CODEC.encode(again) and again.status.phase == cut("Running")


def test_json_has_one_replacement_character_for_each_byte_as_in_go() -> None:
    for pod in (from_body(DATA), decoded(DATA)):
        document = json.loads(JSON.encode(pod))
        assert document["metadata"]["name"] == "a\ufffd\ufffd"
        assert document["metadata"]["labels"] == {"app\ufffd\ufffd": "shop\ufffd\ufffd", "plain": "p"}
        assert document["spec"]["containers"][0]["args"] == ["x", "y\ufffd\ufffd"]
        assert document["metadata"]["managedFields"][0]["fieldsV1"] == {"f:k\ufffd\ufffd": {".": ["v\ufffd\ufffd"]}}


def test_objects_compare_and_print_by_their_bytes() -> None:
    pod, other = from_body(DATA), from_body(DATA.replace(CUT, b"\xe2\x83"))
    assert pod == from_body(DATA) and pod != other and other.get_name() != pod.get_name()
    assert hash(pod.get_name()) == hash(decoded(DATA).get_name())
    assert {pod.object_key(): 1}[decoded(DATA).object_key()] == 1
    for each in (pod, pod.freeze(), pod.metadata, pod.status):
        repr(each).encode()
