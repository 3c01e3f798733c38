"""Schemas of CRDs nested deeper than other messages: served and read in protobuf, and an error that names the limit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import protobuf_engines
import pytest

from clientgo import context, rest
from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer import CodecFactory
from clientgo.apimachinery.runtime.serializer.protobuf import decoding, encoding
from clientgo.apimachinery.runtime.serializer.protobuf.encoding import EncodeError, encode_message
from clientgo.apimachinery.runtime.serializer.protobuf.messages import message_of
from clientgo.apimachinery.runtime.serializer.protobuf.protobuf import ProtobufSerializer, wrap
from clientgo.apimachinery.runtime.serializer.protobuf.wire import WireError
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.kinds import protobuf
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.testing.apiserver.wire.http import Request

JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KIND = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
CTX = context.background()
engine = protobuf_engines.fixture()

Json = dict[str, Any]
SHAPES: dict[str, Callable[[Json], Json]] = {
    "properties": lambda inner: {"type": "object", "properties": {"a": inner}},
    "items": lambda inner: {"type": "array", "items": inner},
    "maps": lambda inner: {"type": "object", "additionalProperties": inner},
}
# As deep as a body of JSON may be for this server.
DEEPEST = {"properties": 95, "items": 190, "maps": 190}


def definition(shape: str, levels: int) -> Json:
    schema: Json = {"type": "string"}
    for _ in range(levels):
        schema = SHAPES[shape](schema)
    version = {"name": "v1", "served": True, "storage": True}
    version["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}
    names = {"plural": f"{shape}s", "singular": shape, "kind": shape.capitalize(), "listKind": f"{shape}List"}
    spec = {"group": "deep.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"apiVersion": KIND[0], "kind": KIND[1], "metadata": {"name": f"{shape}s.deep.example.com"}, "spec": spec}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(listen=False) as running:
        yield running


def ask(server: Server, method: str, path: str, body: Json | None = None, accept: str = JSON) -> tuple[int, bytes]:
    headers = {"authorization": f"Bearer {server.token}", "content-type": JSON, "accept": accept}
    request = Request(method, path, headers)
    request.body = b"" if body is None else json.dumps(body).encode()
    response = server.handle(request, False)
    return response.status, response.body


def client_of(server: Server) -> rest.RESTClient:
    scheme = Scheme()
    apiextensionsv1.add_to_scheme(scheme)
    config = rest.Config(host=server.url, bearer_token=server.token, qps=-1)
    config.transport = LocalTransport(server)
    config.content_type = PROTOBUF
    config.api_path, config.group_version = "/apis", apiextensionsv1.SCHEME_GROUP_VERSION
    config.negotiated_serializer = CodecFactory(scheme)
    return rest.rest_client_for(config)


def schema_of(found: apiextensionsv1.CustomResourceDefinition) -> Json:
    schema: Json = found.to_dict()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


@pytest.mark.parametrize("shape", SHAPES)
def test_the_deepest_schema_is_served_and_read_in_protobuf(server: Server, shape: str) -> None:
    made = definition(shape, DEEPEST[shape])
    assert ask(server, "POST", DEFINITIONS, made)[0] == 201
    name = made["metadata"]["name"]
    try:
        status, body = ask(server, "GET", f"{DEFINITIONS}/{name}", accept=PROTOBUF)
        assert (status, body[:4]) == (200, b"k8s\0")
        assert ask(server, "GET", DEFINITIONS, accept=PROTOBUF)[0] == 200
        client = client_of(server)
        get = client.get().resource("customresourcedefinitions").name(name)
        one = get.do(CTX).into(apiextensionsv1.CustomResourceDefinition)
        every = client.get().resource("customresourcedefinitions").do(CTX)
        items = every.into(apiextensionsv1.CustomResourceDefinitionList).items
        # A deleted definition of the case before may still be ending.
        listed = [each for each in items if each.metadata.name == name]
        wanted = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        assert [schema_of(each) for each in (one, *listed)] == [wanted] * 2
        assert one.deep_copy() == one
        watch = client.get().resource("customresourcedefinitions").param("watch", "1").param("timeoutSeconds", "-1")
        assert [schema_of(event.object) for event in watch.watch(CTX).result_chan()] == [wanted]
    finally:
        assert ask(server, "DELETE", f"{DEFINITIONS}/{name}")[0] == 200


def too_deep() -> bytes:
    """Return the message of a definition that a real server may have and this decoder does not read."""
    message = message_of(apiextensionsv1.CustomResourceDefinition)
    assert message is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "MAX_DEPTH", 10_000)
        return encode_message(message, definition("properties", 250))


LIMIT = f"nested deeper than {decoding.MAX_DEPTH} messages"


def test_a_list_with_a_schema_beyond_the_limit_is_read_and_only_that_schema_is_an_error() -> None:
    scheme = Scheme()
    apiextensionsv1.add_to_scheme(scheme)
    info = CodecFactory(scheme).serializer_info(PROTOBUF)
    assert info is not None
    deep, flat = (wrap(each, *KIND) for each in (too_deep(), protobuf.encode_message(*KIND, definition("items", 1))))
    resource = protobuf.encode_list(_resource(), {"resourceVersion": "7"}, [deep, flat])
    found, _ = info.serializer.decode(resource, None, apiextensionsv1.CustomResourceDefinitionList)
    assert isinstance(found, apiextensionsv1.CustomResourceDefinitionList)
    first, second = found.items
    assert [each.metadata.name for each in found.items] == ["propertiess.deep.example.com", "itemss.deep.example.com"]
    assert first.spec.names.kind == "Properties"
    assert schema_of(second)["type"] == "object"
    with pytest.raises(WireError, match=f'^CustomResourceDefinition "propertiess.deep.example.com": .*{LIMIT}'):
        schema_of(first)
    # An informer copies objects and writes them again without reading the schema.
    assert info.serializer.encode(second.deep_copy()) == flat


def _resource() -> Any:
    from clientgo.testing.apiserver.kinds.registry import Registry

    found = Registry().find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    assert found is not None
    return found


def test_writing_beyond_the_limit_names_it() -> None:
    with pytest.raises(EncodeError, match=LIMIT):
        protobuf.encode_message(*KIND, definition("properties", 250))


def test_a_deep_stack_of_the_caller_is_an_error_too() -> None:
    message = message_of(apiextensionsv1.CustomResourceDefinition)
    assert message is not None
    document = definition("properties", 95)
    data = encode_message(message, document)

    def deeper(frames: int, call: Callable[[], object]) -> object:
        return call() if not frames else deeper(frames - 1, call)

    with pytest.raises(WireError, match=LIMIT):
        deeper(850, lambda: decoding.decode_message(message, data))
    with pytest.raises(EncodeError, match=LIMIT):
        deeper(850, lambda: encode_message(message, document))


def test_the_event_of_an_object_beyond_the_limit_ends_only_its_watch() -> None:
    scheme = Scheme()
    apiextensionsv1.add_to_scheme(scheme)
    info = CodecFactory(scheme).serializer_info(PROTOBUF)
    assert info is not None
    event = protobuf.watch_event("ADDED", wrap(too_deep(), *KIND))[4:]
    assert isinstance(info.serializer, ProtobufSerializer)
    with pytest.raises(WireError, match=LIMIT):
        info.serializer.decode_event(event)
