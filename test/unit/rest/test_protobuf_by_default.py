"""Typed clients of built-in groups use protobuf by default, with the same results as with JSON."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from decoding import is_undecoded, protobuf_is_the_default
from programs import ImportedProgram

import clientgo.api
from clientgo import context, dynamic, informers, kubernetes, metadata, rest
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import DEFAULT_UNSTRUCTURED_CONVERTER
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes, put_varint
from clientgo.apimachinery.types import PatchType
from clientgo.codegen.clients import GroupVersion
from clientgo.golang import http
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.local import LocalTransport

pytestmark = protobuf_is_the_default

JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
BOTH = f"{PROTOBUF},{JSON}"
CTX = context.background()
DEPLOYMENTS = appsv1.SCHEME_GROUP_VERSION.with_resource("deployments")


class Recorder:
    """Passes requests on, changed by `change`, and remembers what was sent and what came back."""

    def __init__(self, server: Server, change: Callable[[http.Request], None] = lambda request: None) -> None:
        self._inner = LocalTransport(server)
        self._change = change
        self.sent: list[tuple[str, str, str]] = []
        self.got: list[str] = []

    def round_trip(self, request: http.Request) -> http.Response:
        headers = request.headers
        self.sent.append((request.method, headers.get("Accept") or "", headers.get("Content-Type") or ""))
        self._change(request)
        response: http.Response = self._inner.round_trip(request)
        self.got.append((response.headers.get("Content-Type") or "").partition(";")[0])
        return response


def ask_for_json(request: http.Request) -> None:
    """Make the request ask for JSON, like a client of a server without protobuf."""
    if PROTOBUF in (request.headers.get("Accept") or ""):
        request.headers["Accept"] = JSON


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(listen=False) as running:
        yield running


def config_of(server: Server, transport: Any, **content: str) -> rest.Config:
    return rest.Config(host=server.url, bearer_token=server.token, qps=-1, transport=transport, **content)


def client_of(server: Server, transport: Any, **content: str) -> kubernetes.Clientset:
    return kubernetes.new_for_config(config_of(server, transport, **content))


def config_map(name: str = "", **labels: str) -> corev1.ConfigMap:
    meta = metav1.ObjectMeta(name=name, labels=labels) if name else metav1.ObjectMeta(generate_name="g-")
    return corev1.ConfigMap(metadata=meta)


def deployment() -> appsv1.Deployment:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    return appsv1.Deployment.from_dict({"metadata": {"generateName": "web-"}, "spec": spec})


def test_every_method_asks_for_protobuf_and_writes_json(server: Server) -> None:
    recorder = Recorder(server)
    deployments = client_of(server, recorder).apps_v1().deployments("default")
    made = deployments.create(CTX, deployment())
    deployments.update(CTX, made)
    deployments.update_status(CTX, deployments.get(CTX, made.name))
    deployments.patch(CTX, made.name, PatchType.MERGE, b"{}")
    deployments.apply(CTX, {"metadata": {"name": made.name}}, metav1.ApplyOptions(field_manager="m"))
    deployments.get_scale(CTX, made.name)
    deployments.list(CTX)
    deployments.watch(CTX).stop()
    deployments.delete(CTX, made.name)
    deployments.delete_collection(CTX)

    assert recorder.sent == [
        ("POST", BOTH, JSON),
        ("PUT", BOTH, JSON),
        ("GET", BOTH, ""),
        ("PUT", BOTH, JSON),
        ("PATCH", BOTH, PatchType.MERGE),
        ("PATCH", BOTH, PatchType.APPLY_YAML),
        ("GET", BOTH, ""),
        ("GET", BOTH, ""),
        ("GET", BOTH, ""),
        ("DELETE", BOTH, JSON),
        ("DELETE", BOTH, JSON),
    ]
    assert set(recorder.got) == {PROTOBUF}


@pytest.mark.parametrize(
    ("content", "accepted", "written"),
    [
        ({"content_type": JSON}, f"{JSON}, */*", JSON),
        ({"content_type": PROTOBUF}, f"{PROTOBUF}, */*", PROTOBUF),
        ({"accept_content_types": JSON}, JSON, JSON),
        ({"accept_content_types": PROTOBUF}, PROTOBUF, JSON),
        ({"content_type": JSON, "accept_content_types": BOTH}, BOTH, JSON),
    ],
)
def test_what_the_config_says_holds(server: Server, content: dict[str, str], accepted: str, written: str) -> None:
    recorder = Recorder(server)
    client_of(server, recorder, **content).core_v1().config_maps("default").create(CTX, config_map())

    assert recorder.sent == [("POST", accepted, written)]


def test_requests_of_ones_own_and_other_clients_ask_for_json(server: Server) -> None:
    recorder = Recorder(server)
    config = config_of(server, recorder)
    client = kubernetes.new_for_config(config)
    client.core_v1().rest_client().get().abs_path("/api/v1/namespaces/default").do(CTX).raise_for_error()
    client.discovery().server_version()
    dynamic.new_for_config(config).resource(DEPLOYMENTS).namespace("default").list(CTX, metav1.ListOptions())

    assert not any(PROTOBUF in accepted for _, accepted, _ in recorder.sent)
    assert set(recorder.got) == {JSON}


def test_the_metadata_client_asks_for_protobuf_whatever_the_config_says(server: Server) -> None:
    for content in ({}, {"content_type": JSON}, {"accept_content_types": JSON}):
        recorder = Recorder(server)
        client = metadata.new_for_config(config_of(server, recorder, **content))
        client.resource(DEPLOYMENTS).namespace("default").list(CTX, metav1.ListOptions())
        form = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        assert recorder.sent == [("GET", f"{PROTOBUF};{form},{JSON};{form},{JSON}", "")]
        assert recorder.got == [PROTOBUF]


def test_a_request_asks_for_protobuf_on_demand(server: Server) -> None:
    recorder = Recorder(server)
    rest_client = client_of(server, recorder).core_v1().rest_client()
    for prefers in (True, False):
        request = rest_client.get().use_protobuf_as_default_if_preferred(prefers)
        request.resource("namespaces").name("default").do(CTX).into(corev1.Namespace)

    assert recorder.sent == [("GET", BOTH, ""), ("GET", f"{JSON}, */*", "")]
    assert recorder.got == [PROTOBUF, JSON]


@pytest.fixture(params=[None, ask_for_json], ids=["protobuf", "a server without it"])
def client(request: pytest.FixtureRequest, server: Server) -> Iterator[kubernetes.Clientset]:
    recorder = Recorder(server, *filter(None, [request.param]))
    made = client_of(server, recorder)
    yield made
    assert set(recorder.got) == {PROTOBUF if request.param is None else JSON}


def test_an_informer_follows_and_its_objects_are_the_same(client: kubernetes.Clientset, server: Server) -> None:
    maps = client.core_v1().config_maps("default")
    first = maps.create(CTX, config_map())
    ctx, cancel = context.with_cancel(CTX)
    factory = informers.new_shared_informer_factory(client, 0.0)
    informer = factory.core().v1().config_maps().informer()
    try:
        factory.start(ctx.done())
        factory.wait_for_cache_sync(ctx.done())
        cached = informer.get_indexer().get_by_key(f"default/{first.name}")[0]
    finally:
        cancel()
        factory.shutdown()
    as_json = client_of(server, Recorder(server), content_type=JSON).core_v1().config_maps("default")
    assert cached == first == as_json.get(CTX, first.name)
    assert cached.to_dict() == as_json.get(CTX, first.name).to_dict()


def test_lists_come_in_chunks(client: kubernetes.Clientset) -> None:
    maps = client.core_v1().config_maps("default")
    for number in range(3):
        maps.create(CTX, config_map(f"chunk-{number}", chunk=str(id(client))))
    selected = metav1.ListOptions(label_selector=f"chunk={id(client)}", limit=2)
    first = maps.list(CTX, selected)
    selected.continue_ = first.metadata.continue_
    second = maps.list(CTX, selected)
    for number in range(3):
        maps.delete(CTX, f"chunk-{number}")

    assert [item.name for item in (*first.items, *second.items)] == ["chunk-0", "chunk-1", "chunk-2"]
    assert [len(first.items), second.metadata.continue_] == [2, ""]


def test_failures_are_those_of_json(client: kubernetes.Clientset, server: Server) -> None:
    as_json = client_of(server, Recorder(server), content_type=JSON)

    def failures(asked: kubernetes.Clientset) -> Iterator[metav1.Status]:
        maps = asked.core_v1().config_maps("default")
        invalid = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="No Name"))
        for request in (
            lambda: maps.get(CTX, "missing"),
            lambda: maps.create(CTX, invalid),
            lambda: maps.list(CTX, metav1.ListOptions(label_selector="=")),
            lambda: maps.watch(CTX, metav1.ListOptions(resource_version="x")),
        ):
            with pytest.raises(errors.StatusError) as failed:
                request()
            yield failed.value.status()

    found = list(failures(client))
    assert found == list(failures(as_json))
    assert [status.code for status in found] == [404, 422, 400, 500]
    assert found[1].details.causes[0].field == "metadata.name"


def test_what_is_read_stays_its_message_until_it_is_changed(server: Server) -> None:
    maps = client_of(server, Recorder(server)).core_v1().config_maps("default")
    name = maps.create(CTX, config_map()).name
    found = maps.get(CTX, name)
    assert found.name == name and is_undecoded(found)
    found.data["k"] = "v"
    assert maps.update(CTX, found).data == {"k": "v"}


# ---- a server that is newer than this library

UNKNOWN = put_bytes(put_varint(30_000 << 3 | 2), b"new")


class Newer:
    """A server whose Deployments have an unknown field in the containers of their template."""

    def __init__(self) -> None:
        self.written: list[http.Request] = []

    def round_trip(self, request: http.Request) -> http.Response:
        if request.method != "GET":
            self.written.append(request)
        container = put_bytes(b"\n", b"c") + UNKNOWN
        template = put_bytes(b"\x12", put_bytes(b"\x12", container))
        metadata = put_bytes(b"\n", put_bytes(b"\n", b"web") + put_bytes(b"\x1a", b"default"))
        body = protobuf.wrap(metadata + put_bytes(b"\x12", put_bytes(b"\x1a", template)), "apps/v1", "Deployment")
        return http.Response(
            status_code=200, headers=http.Header({"Content-Type": PROTOBUF}), body=http.BytesBody(body)
        )


def test_an_update_keeps_fields_of_a_newer_server(server: Server) -> None:
    newer = Newer()
    deployments = client_of(server, newer).apps_v1().deployments("default")
    found = deployments.get(CTX, "web")
    found.spec.replicas = 3
    deployments.update(CTX, found)

    assert newer.written[0].headers["Content-Type"] == PROTOBUF
    assert UNKNOWN in newer.written[0].body


def test_a_copy_of_a_part_keeps_fields_of_a_newer_server(server: Server) -> None:
    """A controller copies a Deployment's template like this for its ReplicaSets."""
    newer = Newer()
    apps = client_of(server, newer).apps_v1()
    made = appsv1.ReplicaSet(metadata=metav1.ObjectMeta(name="web-1"))
    made.spec.template = apps.deployments("default").get(CTX, "web").spec.template
    apps.replica_sets("default").create(CTX, made)

    assert newer.written[0].headers["Content-Type"] == PROTOBUF
    assert UNKNOWN in newer.written[0].body


def test_what_would_lose_fields_of_a_newer_server_is_refused(server: Server) -> None:
    newer = Newer()
    deployments = client_of(server, newer).apps_v1().deployments("default")
    found = deployments.get(CTX, "web")
    with pytest.raises(ValueError, match="has fields that this version does not know, which no apply can say"):
        deployments.apply(CTX, found, metav1.ApplyOptions(field_manager="m"))
    part = {"spec": DEFAULT_UNSTRUCTURED_CONVERTER.to_unstructured(found.spec)}
    with pytest.raises(ValueError, match="has fields that this version does not know, which no apply can say"):
        deployments.apply(CTX, {"metadata": {"name": "web"}, **part}, metav1.ApplyOptions(field_manager="m"))
    over_json = client_of(server, newer, content_type=JSON).apps_v1().replica_sets("default")
    made = appsv1.ReplicaSet(metadata=metav1.ObjectMeta(name="web-1"))
    made.spec.template = found.spec.template
    with pytest.raises(ValueError, match="has fields that this version does not know, which only protobuf can write"):
        over_json.create(CTX, made)

    assert newer.written == []


# ---- who prefers it


def api_packages() -> list[str]:
    found = pkgutil.walk_packages(clientgo.api.__path__, "clientgo.api.")
    return sorted(module.name for module in found if module.ispkg and module.name.count(".") == 3)


@pytest.mark.parametrize("package", api_packages())
def test_every_kind_that_has_a_client_has_messages(package: str) -> None:
    for kind in GroupVersion(package).kinds():
        assert protobuf.message_of(kind.cls) is not None
        assert kind.list_cls is None or protobuf.message_of(kind.list_cls) is not None


def test_generated_clients_of_other_groups_do_not_prefer_it(server: Server) -> None:
    with ImportedProgram("sample-controller"):
        versioned = importlib.import_module("pkg.generated.clientset.versioned")
        recorder = Recorder(server)
        foos = versioned.new_for_config(config_of(server, recorder)).samplecontroller_v1alpha1().foos("default")
        with pytest.raises(errors.StatusError):
            foos.get(CTX, "a")
    assert recorder.sent == [("GET", f"{JSON}, */*", "")]


class _NoProtobuf:
    """A server that accepts bodies in JSON only, as one behind a gateway that inspects them."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def round_trip(self, request: http.Request) -> http.Response:
        content_type = request.headers.get("Content-Type") or ""
        self.sent.append((request.method, content_type))
        accepted = content_type in ("", JSON)
        kind = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}'
        body = kind if accepted else b"unsupported media type"
        headers = http.Header({"Content-Type": JSON if accepted else "text/plain"})
        return http.Response(status_code=200 if accepted else 415, headers=headers, body=http.BytesBody(body))


def test_a_rejected_content_type_is_an_error_and_not_sent_again() -> None:
    """Go falls back to JSON only after a 415 to CBOR, which this client does not send; see rest/client.py."""
    transport = _NoProtobuf()
    config = rest.Config(host="http://h", qps=-1, transport=transport, content_type=PROTOBUF)
    maps = kubernetes.new_for_config(config).core_v1().config_maps("default")
    for _ in range(2):
        with pytest.raises(errors.StatusError) as caught:
            maps.create(CTX, config_map("c"), metav1.CreateOptions())
        assert caught.value.status().code == 415
        assert errors.is_unsupported_media_type(caught.value)
    assert transport.sent == [("POST", PROTOBUF)] * 2
    assert maps.get(CTX, "c", metav1.GetOptions()).metadata.name == "c"


def test_a_client_sends_json_unless_its_config_says_otherwise() -> None:
    """So a server that accepts no protobuf needs no fallback."""
    transport = _NoProtobuf()
    config = rest.Config(host="http://h", qps=-1, transport=transport)
    kubernetes.new_for_config(config).core_v1().config_maps("default").create(
        CTX, config_map("c"), metav1.CreateOptions()
    )
    assert transport.sent == [("POST", JSON)]
