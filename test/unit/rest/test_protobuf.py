"""Clients whose config asks for protobuf: the same as over JSON, with the embedded API server at the other end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from decoding import protobuf_is_the_default

from clientgo import context, informers, kubernetes, rest
from clientgo.api.apps import v1 as appsv1
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes, put_varint
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.apimachinery.watch import EventType
from clientgo.golang import http
from clientgo.kubernetes.scheme import CODECS
from clientgo.rest.watch import Decoder, FrameDecoder
from clientgo.rest.watch.decoder import MAX_EVENT
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.kinds.protobuf import watch_event
from clientgo.testing.apiserver.local import LocalTransport

JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
CTX = context.background()
CREATE, UPDATE, GET, LIST = metav1.CreateOptions(), metav1.UpdateOptions(), metav1.GetOptions(), metav1.ListOptions()


class Recorder:
    """Passes requests on, and remembers what was sent and what came back."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.sent: list[tuple[str, str]] = []
        self.got: list[str] = []

    def round_trip(self, request: http.Request) -> http.Response:
        self.sent.append((request.headers.get("Content-Type") or "", request.headers.get("Accept") or ""))
        response: http.Response = self._inner.round_trip(request)
        self.got.append(response.headers.get("Content-Type") or "")
        return response


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(listen=False) as running:
        yield running


def client_of(server: Server, media: str, transport: Any = None) -> kubernetes.Clientset:
    config = rest.Config(host=server.url, bearer_token=server.token, qps=-1)
    config.transport = transport or LocalTransport(server)
    config.content_type = media
    config.accept_content_types = f"{media},{JSON}" if media else ""
    return kubernetes.new_for_config(config)


@pytest.fixture(params=[JSON, PROTOBUF, ""], ids=["json", "protobuf", "default"])
def client(request: pytest.FixtureRequest, server: Server) -> Iterator[kubernetes.Clientset]:
    made = client_of(server, request.param)
    yield made
    made.close()


def test_objects_are_created_read_changed_listed_and_deleted(client: kubernetes.Clientset) -> None:
    maps = client.core_v1().config_maps("default")
    made = maps.create(
        CTX, corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a"), binary_data={"b": b"\0\xff"}), CREATE
    )
    assert made.to_dict().keys() == {"metadata", "binaryData"}
    made = made.deep_copy()
    made.data["n"] = "€"
    assert maps.update(CTX, made, UPDATE).data == {"n": "€"}
    patched = maps.patch(CTX, "a", PatchType.MERGE, b'{"data":{"p":"1"}}', metav1.PatchOptions())
    assert patched.data == {"n": "€", "p": "1"}
    listed = maps.list(CTX, metav1.ListOptions(field_selector="metadata.name=a"))
    assert [(item.name, item.binary_data["b"]) for item in listed.items] == [("a", b"\0\xff")]
    maps.delete(CTX, "a", metav1.DeleteOptions(grace_period_seconds=0))
    with pytest.raises(errors.StatusError) as failed:
        maps.get(CTX, "a", GET)
    assert errors.is_not_found(failed.value)


def test_subresources_work(client: kubernetes.Clientset) -> None:
    deployments = client.apps_v1().deployments("default")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    wanted = appsv1.Deployment.from_dict({"metadata": {"generateName": "web-"}, "spec": spec})
    name = deployments.create(CTX, wanted, CREATE).name
    scale = deployments.get_scale(CTX, name, GET)
    assert isinstance(scale, autoscalingv1.Scale) and scale.spec.replicas == 1
    scale.spec.replicas = 3
    deployments.update_scale(CTX, name, scale, UPDATE)
    assert deployments.get(CTX, name, GET).spec.replicas == 3


def test_discovery_is_json_whatever_the_config_says(client: kubernetes.Clientset) -> None:
    assert "v1" in {group.preferred_version.version for group in client.discovery().server_groups().groups}
    assert client.discovery().server_version().git_version


def test_informers_follow(client: kubernetes.Clientset) -> None:
    maps = client.core_v1().config_maps("default")
    first = maps.create(CTX, corev1.ConfigMap(metadata=metav1.ObjectMeta(generate_name="i-")), CREATE)
    factory = informers.new_shared_informer_factory(client, 0)
    informer = factory.core().v1().config_maps().informer()
    ctx, cancel = context.with_cancel(CTX)
    try:
        factory.start(ctx.done())
        factory.wait_for_cache_sync(ctx.done())
        assert informer.get_indexer().get_by_key(f"default/{first.name}")[0] == first
    finally:
        cancel()
        factory.shutdown()


def test_a_watch_brings_events_and_ends_with_stop(client: kubernetes.Clientset) -> None:
    maps = client.core_v1().config_maps("default")
    version = maps.list(CTX, LIST).metadata.resource_version
    made = maps.create(CTX, corev1.ConfigMap(metadata=metav1.ObjectMeta(generate_name="w-")), CREATE)
    maps.delete(CTX, made.name, metav1.DeleteOptions())
    watch = maps.watch(CTX, metav1.ListOptions(resource_version=version))
    events = [watch.result_chan().receive()[0] for _ in range(2)]
    watch.stop()
    assert [(event.type, event.object.name) for event in events] == [
        (EventType.ADDED, made.name),
        (EventType.DELETED, made.name),
    ]
    assert events[0].object == made


def test_bodies_are_protobuf_both_ways(server: Server) -> None:
    recorder = Recorder(LocalTransport(server))
    client = client_of(server, PROTOBUF, recorder)
    maps = client.core_v1().config_maps("default")
    maps.create(CTX, corev1.ConfigMap(metadata=metav1.ObjectMeta(generate_name="r-")), CREATE)
    maps.list(CTX, LIST)
    maps.watch(CTX, LIST).stop()
    client.close()
    assert recorder.sent[0] == (PROTOBUF, f"{PROTOBUF},{JSON}")
    assert recorder.got == [PROTOBUF, PROTOBUF, f"{PROTOBUF};stream=watch"]


def test_codecs_offer_only_json_by_default() -> None:
    assert [info.media_type for info in CODECS.supported_media_types()] == [JSON]


# ---- a server that is newer than this library

UNKNOWN = put_bytes(put_varint(30_000 << 3 | 2), b"new")


class Newer:
    """A server whose config maps have an unknown field."""

    def __init__(self) -> None:
        self.written: list[http.Request] = []

    def round_trip(self, request: http.Request) -> http.Response:
        if request.method != "GET":
            self.written.append(request)
        config = {"metadata": {"name": "a", "namespace": "default"}, "data": {"k": "v"}}
        message = protobuf.message_of(corev1.ConfigMap)
        assert message is not None
        body = protobuf.wrap(protobuf.encode_message(message, config) + UNKNOWN, "v1", "ConfigMap")
        headers = http.Header({"Content-Type": PROTOBUF})
        return http.Response(status_code=200, headers=headers, body=http.BytesBody(body))


def test_a_field_of_a_newer_server_is_written_back(server: Server) -> None:
    newer = Newer()
    maps = client_of(server, PROTOBUF, newer).core_v1().config_maps("default")
    config = maps.get(CTX, "a", GET).deep_copy()
    config.data["k"] = "changed"
    maps.update(CTX, config, UPDATE)
    assert UNKNOWN in newer.written[0].body and b"changed" in newer.written[0].body


def test_a_field_of_a_newer_server_is_not_lost_over_json(server: Server) -> None:
    newer = Newer()
    config = rest.Config(host=server.url, transport=newer, accept_content_types=PROTOBUF, content_type=JSON)
    maps = kubernetes.new_for_config(config).core_v1().config_maps("default")
    with pytest.raises(ValueError, match="has fields that this version does not know"):
        maps.update(CTX, maps.get(CTX, "a", GET), UPDATE)
    assert newer.written == []


# ---- frames


def event_frame(name: str, kind: str = "ADDED") -> bytes:
    codec = CODECS.serializer_info(PROTOBUF)
    assert codec is not None
    return watch_event(kind, codec.serializer.encode(corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name))))


def decoder_of(*pieces: bytes) -> Decoder:
    info = CODECS.serializer_info(PROTOBUF)
    assert info is not None
    return FrameDecoder(http.BytesBody(pieces), info.serializer)


@pytest.mark.parametrize("size", [1, 3, 7, 64, 10_000])
def test_frames_may_come_in_any_pieces(size: int) -> None:
    """Go: TestRead, TestReadLarge, TestDecoder."""
    stream = b"".join(event_frame(f"m{number}") for number in range(20))
    decoder = decoder_of(*(stream[at : at + size] for at in range(0, len(stream), size)))
    assert [decoder.decode().object.name for _ in range(20)] == [f"m{number}" for number in range(20)]
    with pytest.raises(EOFError):
        decoder.decode()


@pytest.mark.parametrize("left", [1, 4, 5, 30])
def test_a_stream_that_ends_within_a_frame_says_so(left: int) -> None:
    """Go: TestReadInvalidFrame."""
    decoder = decoder_of(event_frame("a"), event_frame("b")[:left])
    assert decoder.decode().object.name == "a"
    with pytest.raises(ErrUnexpectedEOF):
        decoder.decode()


def test_events_before_a_frame_that_is_too_large_are_delivered() -> None:
    """However they arrive, and at once: nothing more has to come."""
    frames = [event_frame("a") + event_frame("b") + (MAX_EVENT + 1).to_bytes(4, "big")]
    for pieces in (frames, [*frames, event_frame("c")], [event_frame("a"), event_frame("b"), b"\xff" * 4]):
        decoder = decoder_of(*pieces)
        assert [decoder.decode().object.name for _ in range(2)] == ["a", "b"]
        for _ in range(2):
            with pytest.raises(ValueError, match="longer than maximum allowed size"):
                decoder.decode()


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ((MAX_EVENT + 1).to_bytes(4, "big"), "longer than maximum allowed size"),
        (b"\xff\xff\xff\xff", "longer than maximum allowed size"),
        (b"\0\0\0\0", "unable to decode watch event"),
        (b"\0\0\0\x03\x0a\x05a", "unable to decode watch event: unexpected EOF"),
        (event_frame("a", "NEWS"), "got invalid watch event type: NEWS"),
        (watch_event("ADDED", b"{}"), "does not appear to be a protobuf message"),
        (watch_event("ADDED", protobuf.wrap(b"", "v9", "Nothing")), "unable to decode watch event"),
    ],
)
def test_what_is_no_frame_is_said_with_the_last_version(frame: bytes, reason: str) -> None:
    """Go: TestDecoder: one frame may be too large."""
    with pytest.raises(ValueError, match=reason):
        decoder_of(frame).decode()


# A euro sign without its last byte, as it is decoded, and as JSON has it.
CUT, SHOWN = "no more \udce2\udc82", "no more \ufffd\ufffd"


def pod_with_cut_message(server: Server, name: str) -> corev1.Pod:
    """Create a Pod whose termination message ends inside a character, as a kubelet writes it."""
    pods = client_of(server, PROTOBUF).core_v1().pods("default")
    spec = {"containers": [{"name": "c", "image": "i", "args": [CUT]}]}
    metadata = {"name": name, "annotations": {"a": CUT}}
    pod = pods.create(CTX, corev1.Pod.from_dict({"metadata": metadata, "spec": spec}), CREATE)
    terminated = {"terminated": {"exitCode": 1, "message": CUT}}
    status = {"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": terminated}
    made = corev1.Pod.from_dict({**pod.to_dict(), "status": {"containerStatuses": [status]}})
    return pods.update_status(CTX, made, UPDATE)


def texts_of(pod: corev1.Pod) -> list[str]:
    (container,), (status,) = pod.spec.containers, pod.status.container_statuses
    return [pod.metadata.annotations["a"], container.args[0], status.state.terminated.message]


@protobuf_is_the_default
def test_a_message_that_is_cut_inside_a_character_is_read_by_every_client(server: Server) -> None:
    name = pod_with_cut_message(server, "cut-read").name
    only = metav1.ListOptions(field_selector=f"metadata.name={name}")
    for media, text in ((PROTOBUF, CUT), ("", CUT), (JSON, SHOWN)):
        pods = client_of(server, media).core_v1().pods("default")
        assert texts_of(pods.get(CTX, name, GET)) == [text] * 3
        assert [texts_of(pod) for pod in pods.list(CTX, only).items] == [[text] * 3]
        watch = pods.watch(CTX, only)
        assert texts_of(watch.result_chan().receive(10)[0].object) == [text] * 3
        watch.stop()


@protobuf_is_the_default
@pytest.mark.parametrize("media", [PROTOBUF, ""])
def test_an_update_keeps_the_bytes_of_every_string_it_does_not_change(server: Server, media: str) -> None:
    name = pod_with_cut_message(server, f"cut-update-{len(media)}").name
    recorder = Recorder(LocalTransport(server))
    pods = client_of(server, media, recorder).core_v1().pods("default")
    pod = pods.get(CTX, name, GET).deep_copy()
    pod.metadata.labels["l"] = "1"
    assert texts_of(pods.update(CTX, pod, UPDATE)) == [CUT] * 3
    pods.update_status(CTX, pods.get(CTX, name, GET), UPDATE)
    assert texts_of(pods.get(CTX, name, GET)) == [CUT] * 3
    assert [sent for sent, _ in recorder.sent if sent] == [PROTOBUF, PROTOBUF]


@protobuf_is_the_default
@pytest.mark.parametrize("patch_type", [PatchType.MERGE, PatchType.STRATEGIC_MERGE, PatchType.JSON])
def test_a_patch_keeps_the_bytes_of_every_string_it_does_not_name(server: Server, patch_type: PatchType) -> None:
    name = pod_with_cut_message(server, f"cut-patch-{len(patch_type)}").name
    pods = client_of(server, "").core_v1().pods("default")
    patch = b'{"metadata":{"labels":{"l":"1"}}}'
    if patch_type == PatchType.JSON:
        patch = b'[{"op":"add","path":"/metadata/labels","value":{"l":"1"}}]'
    found = pods.patch(CTX, name, patch_type, patch, metav1.PatchOptions())
    assert (texts_of(found), found.metadata.labels) == ([CUT] * 3, {"l": "1"})


def test_a_name_that_is_not_utf8_is_escaped_in_the_url_as_in_go(server: Server) -> None:
    request = client_of(server, "").core_v1().rest_client().get().resource("pods").name("a\udcc3").param("p", "\udcc3")
    assert request.url().endswith("/api/v1/pods/a%C3?p=%C3")


def test_an_object_without_a_message_goes_out_in_json_as_in_go(server: Server) -> None:
    """A custom resource has no other form: its text has a replacement character for each byte."""

    class Other(corev1.ConfigMap):
        pass

    bodies: list[bytes] = []

    class Refusing:
        def round_trip(self, request: http.Request) -> http.Response:
            bodies.append(request.body or b"")
            raise OSError("nothing is sent")

    client = client_of(server, "", Refusing()).core_v1().rest_client()
    done = client.post().use_protobuf_as_default().resource("configmaps").body(Other(data={"a": CUT})).do(CTX)
    assert "nothing is sent" in str(done.error())
    assert SHOWN.encode() in bodies[0]
