"""CBOR in clients, behind feature gates: content types, the fallback after 415, and watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from decoding import protobuf_is_the_default

pytest.importorskip("cbor2")

from clientgo import context, dynamic, features, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.negotiate import NegotiateError
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.runtime.serializer import cbor
from clientgo.apimachinery.runtime.serializer.cbor import direct
from clientgo.apimachinery.watch import EventType
from clientgo.features.testing import set_feature_during_test
from clientgo.golang import http
from clientgo.util import apply

CTX = context.background()
JSON, CBOR, SEQUENCE, APPLY = "application/json", "application/cbor", "application/cbor-seq", "application/apply-patch"
MAPS = GroupVersionResource("", "v1", "configmaps")
OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "é"}}


@contextmanager
def gates(*, allow: bool, prefer: bool = False) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(set_feature_during_test(features.CLIENTS_ALLOW_CBOR, allow))
        stack.enter_context(set_feature_during_test(features.CLIENTS_PREFER_CBOR, prefer))
        yield


class Server(http.RoundTripper):
    """Records requests. Responds in one content type, and 415 to bodies of content types that it does not know."""

    def __init__(self, content_type: str = CBOR, body: bytes | None = None, *, knows_cbor: bool = True) -> None:
        self.sent: list[tuple[str, str, str]] = []
        self.bodies: list[bytes] = []
        self._content_type = content_type
        self._body = cbor.SELF_DESCRIBED + direct.marshal(OBJECT) if body is None else body
        self._knows_cbor = knows_cbor

    def round_trip(self, request: http.Request) -> http.Response:
        content_type = request.headers.get("Content-Type") or ""
        self.sent.append((request.method, content_type, request.headers.get("Accept") or ""))
        self.bodies.append(request.body if isinstance(request.body, bytes) else b"")
        if "cbor" in content_type and not self._knows_cbor:
            headers = http.Header({"Content-Type": "text/plain"})
            return http.Response(status_code=415, headers=headers, body=http.BytesBody(b"unknown format"))
        headers = http.Header({"Content-Type": self._content_type})
        return http.Response(status_code=200, headers=headers, body=http.BytesBody(self._body))

    def types(self) -> list[str]:
        return [content_type for _, content_type, _ in self.sent]


def maps_of(server: Server, **config: str) -> dynamic.ResourceInterface:
    client = dynamic.new_for_config(rest.Config(host="http://h", qps=-1, transport=server, **config))
    return client.resource(MAPS).namespace("default")


def test_dynamic_clients_use_json_unless_a_gate_is_enabled() -> None:
    config = dynamic.config_for(rest.Config(host="http://h", content_type=CBOR, accept_content_types=CBOR))
    assert (config.content_type, config.accept_content_types) == (JSON, JSON)
    assert config.negotiated_serializer is not None
    assert len(config.negotiated_serializer.supported_media_types()) == 1
    for prefer, content_type in ((False, JSON), (True, CBOR)):
        with gates(allow=True, prefer=prefer):
            config = dynamic.config_for(rest.Config(host="http://h"))
        assert config.content_type == content_type
        assert config.accept_content_types == "application/json;q=0.9,application/cbor;q=1"
        assert config.negotiated_serializer is not None
        assert [info.media_type for info in config.negotiated_serializer.supported_media_types()] == [JSON, CBOR]
    with gates(allow=False, prefer=True):
        assert dynamic.config_for(rest.Config(host="http://h")).content_type == JSON


def test_objects_come_and_go_in_cbor() -> None:
    server = Server()
    with gates(allow=True, prefer=True):
        maps = maps_of(server)
        created = maps.create(CTX, Unstructured.from_dict(OBJECT), metav1.CreateOptions())
        assert created.to_dict() == OBJECT
        assert direct.unmarshal(server.bodies[0]) == OBJECT
        maps.delete(CTX, "a", metav1.DeleteOptions(grace_period_seconds=5))
        assert direct.unmarshal(server.bodies[1]) == {
            "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 5,
        }  # fmt: skip
        maps.apply(CTX, "a", Unstructured.from_dict(OBJECT), metav1.ApplyOptions(field_manager="m"))
        assert direct.unmarshal(server.bodies[2]) == OBJECT
    assert server.types() == [CBOR, CBOR, f"{APPLY}+cbor"]
    assert {accept for _, _, accept in server.sent} == {"application/json;q=0.9,application/cbor;q=1"}


def test_bodies_are_json_while_cbor_is_only_allowed() -> None:
    server = Server()
    with gates(allow=True):
        maps = maps_of(server)
        assert maps.create(CTX, Unstructured.from_dict(OBJECT), metav1.CreateOptions()).to_dict() == OBJECT
        maps.apply(CTX, "a", Unstructured.from_dict(OBJECT), metav1.ApplyOptions(field_manager="m"))
    assert server.types() == [JSON, f"{APPLY}+yaml"]


def test_a_client_writes_json_after_a_server_did_not_understand_cbor() -> None:
    """The first request fails, as in Go. An apply patch is always CBOR."""
    server = Server(knows_cbor=False)
    with gates(allow=True, prefer=True):
        maps = maps_of(server)
        with pytest.raises(errors.StatusError) as caught:
            maps.create(CTX, Unstructured.from_dict(OBJECT), metav1.CreateOptions())
        assert errors.is_unsupported_media_type(caught.value)
        for _ in range(2):
            assert maps.create(CTX, Unstructured.from_dict(OBJECT), metav1.CreateOptions()).to_dict() == OBJECT
        with pytest.raises(errors.StatusError):
            maps.apply(CTX, "a", Unstructured.from_dict(OBJECT), metav1.ApplyOptions(field_manager="m"))
        assert maps_of(server) is not maps
    assert server.types() == [CBOR, JSON, JSON, f"{APPLY}+cbor"]


def test_an_apply_patch_that_was_not_understood_counts_too() -> None:
    server = Server(knows_cbor=False)
    with gates(allow=True, prefer=True):
        maps = maps_of(server)
        with pytest.raises(errors.StatusError):
            maps.apply(CTX, "a", Unstructured.from_dict(OBJECT), metav1.ApplyOptions(field_manager="m"))
        maps.update(CTX, Unstructured.from_dict(OBJECT), metav1.UpdateOptions())
    assert server.types() == [f"{APPLY}+cbor", JSON]


def test_only_a_415_to_cbor_changes_the_content_type() -> None:
    client = rest.new_rest_client("http://h", "", rest.ClientContentConfig(negotiator=_NEGOTIATOR), None, None)
    with gates(allow=True, prefer=True):
        assert client.client_content_config()[0].content_type == CBOR
        for other in (JSON, "", "application/cbor-seq", "application/apply-patch+yaml"):
            client.unsupported_media_type(other)
        assert client.client_content_config()[0].content_type == CBOR
    client.unsupported_media_type(CBOR)  # without the gate
    with gates(allow=True, prefer=True):
        assert client.client_content_config()[0].content_type == CBOR
        client.unsupported_media_type(f"{CBOR}; charset=utf-8")
        assert client.client_content_config() == (rest.ClientContentConfig(
            content_type=JSON, negotiator=client.content.negotiator,
        ), True)  # fmt: skip
    assert client.client_content_config()[0].content_type == JSON


class _Negotiator:
    """Knows no media type."""

    def encoder(self, content_type: str, params: dict[str, str]) -> object:
        raise NegotiateError(content_type)

    decoder = encoder

    def stream_decoder(self, content_type: str, params: dict[str, str]) -> object:
        raise NegotiateError(content_type, stream=True)


_NEGOTIATOR: Any = _Negotiator()


@pytest.mark.parametrize(
    ("accept", "scrubbed"),
    [
        ("", ""),
        ("application/json;q=0.9,application/cbor;q=1", "application/json,application/json; q=0.9"),
        ("application/cbor", "application/json"),
        ("application/cbor;a=b;q=0.25, text/plain", "text/plain,application/json; a=b; q=0.25"),
        ("application/yaml, application/json", "application/yaml, application/json"),
    ],
)
def test_a_disabled_gate_replaces_cbor_by_json(accept: str, scrubbed: str) -> None:
    content = rest.ClientContentConfig(accept_content_types=accept, content_type=CBOR, negotiator=_NEGOTIATOR)
    client = rest.new_rest_client("http://h", "", content, None, None)
    assert client.content.accept_content_types == scrubbed
    assert client.content.content_type == JSON
    with gates(allow=True):
        client = rest.new_rest_client("http://h", "", content, None, None)
        assert (client.content.accept_content_types, client.content.content_type) == (accept, CBOR)


def test_a_watch_is_a_sequence_of_items() -> None:
    events = [
        {"type": "ADDED", "object": OBJECT},
        {"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"resourceVersion": "7"}}},
    ]
    body = b"".join(cbor.SELF_DESCRIBED + direct.marshal(event) for event in events)
    with gates(allow=True):
        watch = maps_of(Server(SEQUENCE, body)).watch(CTX, metav1.ListOptions())
        received = list(watch.result_chan())
        watch.stop()
    assert [event.type for event in received] == [EventType.ADDED, EventType.BOOKMARK]
    assert received[0].object.to_dict() == OBJECT
    assert received[1].object.get_resource_version() == "7"


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (b"\xff", 'unable to decode an event from the watch stream: cbor: unexpected "break" code'),
        (direct.marshal({"type": "ADDED"}), "unable to decode watch event: unable to decode to metav1.WatchEvent"),
        (direct.marshal({"type": "X", "object": OBJECT}), "got invalid watch event type: X"),
        (b"\xa2\x40\x00\x40\x00", 'unable to decode watch event: cbor: found duplicate map key ""'),
        (b"\x81" * 40 + b"\x80", "cbor: exceeded max nested level 32"),
    ],
)
def test_malformed_events_end_a_watch_with_an_error(end: bytes, message: str) -> None:
    body = direct.marshal({"type": "ADDED", "object": OBJECT}) + end
    with gates(allow=True):
        watch = maps_of(Server(SEQUENCE, body)).watch(CTX, metav1.ListOptions())
        received = list(watch.result_chan())
        watch.stop()
    assert [event.type for event in received] == [EventType.ADDED, EventType.ERROR]
    assert message in received[1].object.details.causes[0].message


def test_a_watch_that_ends_within_an_event_ends_quietly() -> None:
    data = direct.marshal({"type": "ADDED", "object": OBJECT})
    with gates(allow=True):
        watch = maps_of(Server(SEQUENCE, data + data[:-1])).watch(CTX, metav1.ListOptions())
        assert len(list(watch.result_chan())) == 1
        watch.stop()


def test_one_item_is_no_watch() -> None:
    with gates(allow=True), pytest.raises(NegotiateError) as caught:
        maps_of(Server(CBOR)).watch(CTX, metav1.ListOptions())
    assert str(caught.value) == "no stream serializers registered for application/cbor"


def test_a_status_in_cbor_is_the_error_of_a_request() -> None:
    status = errors.new_not_found(MAPS.group_resource(), "a").status().to_dict()

    class Missing(http.RoundTripper):
        def round_trip(self, request: http.Request) -> http.Response:
            body = cbor.SELF_DESCRIBED + direct.marshal({**status, "kind": "Status", "apiVersion": "v1"})
            headers = http.Header({"Content-Type": CBOR})
            return http.Response(status_code=404, headers=headers, body=http.BytesBody(body))

    with gates(allow=True):
        client = dynamic.new_for_config(rest.Config(host="http://h", qps=-1, transport=Missing()))
        with pytest.raises(errors.StatusError, match='configmaps "a" not found') as caught:
            client.resource(MAPS).namespace("default").get(CTX, "a", metav1.GetOptions())
    assert errors.is_not_found(caught.value)


@protobuf_is_the_default
def test_typed_clients_of_built_in_groups_stay_with_protobuf_and_json() -> None:
    server = Server(JSON, b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}')
    with gates(allow=True, prefer=True):
        client = kubernetes.new_for_config(rest.Config(host="http://h", qps=-1, transport=server))
        maps = client.core_v1().config_maps("default")
        maps.create(CTX, corev1.ConfigMap.from_dict(OBJECT), metav1.CreateOptions())
    assert server.sent == [("POST", JSON, "application/vnd.kubernetes.protobuf,application/json")]


def test_typed_clients_use_cbor_if_their_config_names_it() -> None:
    server = Server()
    with gates(allow=True):
        config = rest.Config(host="http://h", qps=-1, transport=server, content_type=CBOR)
        maps = kubernetes.new_for_config(config).core_v1().config_maps("default")
        created = maps.create(CTX, corev1.ConfigMap.from_dict(OBJECT), metav1.CreateOptions())
    assert created.data == {"k": "é"}
    assert server.sent == [("POST", CBOR, "application/cbor, */*")]
    assert direct.unmarshal(server.bodies[0]) == OBJECT


def test_apply_requests_fail_for_values_without_a_json_form() -> None:
    client = rest.new_rest_client("http://h", "", rest.ClientContentConfig(negotiator=_NEGOTIATOR), None, None)
    message = "failed to marshal apply configuration: cbor: "
    with gates(allow=True, prefer=True), pytest.raises(ValueError, match=message):
        apply.new_request(client, {"a": float("nan")})
