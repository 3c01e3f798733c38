"""The client gives the right result, or exception, for every exchange recorded with a real API server.

A server replays the recorded bytes; the client sends the recorded request, and must send it as it was recorded.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from httpscript import Answer, Received, ScriptedServer

from clientgo import context, discovery, rest
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import CONTENT_TYPE_PROTOBUF
from clientgo.apimachinery.runtime.schema import GroupVersion, from_api_version_and_kind
from clientgo.apimachinery.runtime.serializer import JSONSerializer, protobuf
from clientgo.dynamic.scheme import BasicNegotiatedSerializer
from clientgo.kubernetes.scheme import CODECS, SCHEME
from clientgo.testing.apiserver.kinds.protobuf import watch_event

FOLDER = Path(__file__).parent / "transcripts"
JSON = JSONSerializer(SCHEME)


def read(name: str) -> Any:
    with gzip.open(FOLDER / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def recorded() -> list[Any]:
    params = []
    for name in read("index"):
        transcript = read(name)
        for number, exchange in enumerate(transcript.get("exchanges", ())):
            params.append(pytest.param(exchange, id=f"{name}-{number}"))
    return params


def answer(exchange: dict[str, Any]) -> Answer:
    headers = {
        name: value for name, value in exchange["response_headers"].items() if name in ("Content-Type", "Warning")
    }
    if "stream" in exchange:
        lines = [(entry["line"] + "\n").encode() for entry in exchange["stream"]]
        return Answer(exchange["status"], headers=headers, chunks=lines)
    return Answer(exchange["status"], exchange["raw_response"].encode(), headers)


def body(exchange: dict[str, Any]) -> bytes | None:
    recorded_body = exchange["request_body"]
    if recorded_body is None or isinstance(recorded_body, str):
        return None if recorded_body is None else recorded_body.encode()
    return json.dumps(recorded_body).encode()


def request_for(client: rest.RESTClient, exchange: dict[str, Any]) -> rest.Request:
    request = client.verb(exchange["method"]).request_uri(exchange["path"]).max_retries(0)
    for name, value in exchange["request_headers"].items():
        request.set_header(name, value)
    return request.body(body(exchange))


def client_for(server: ScriptedServer) -> rest.RESTClient:
    config = rest.Config(host=server.url, negotiated_serializer=BasicNegotiatedSerializer(), qps=-1)
    return rest.unversioned_rest_client_for(config)


def check_failure(exchange: dict[str, Any], result: rest.Result) -> None:
    err = result.error()
    assert isinstance(err, errors.StatusError)
    if "response_json" in exchange:
        expected = metav1.Status.from_dict(dict(exchange["response_json"]))
        assert err.status() == expected
        assert str(err) == expected.message
    else:
        assert err.status().code == exchange["status"]
        assert exchange["response_text"].strip() in err.status().details.causes[0].message
    path = exchange["path"].split("?")[0]
    assert any(
        exchange["method"] in note and path in note and str(exchange["status"]) in note for note in err.__notes__
    )
    assert "Bearer" not in str(err) + "".join(err.__notes__)
    with pytest.raises(errors.StatusError):
        result.raw()


@pytest.mark.parametrize("exchange", recorded())
def test_exchange(exchange):
    seen: list[Received] = []

    def respond(request: Received) -> Answer:
        seen.append(request)
        return answer(exchange)

    ctx = context.background()
    with ScriptedServer(respond) as server:
        request = request_for(client_for(server), exchange)
        if "stream" in exchange:
            watcher = request.watch(ctx)
            events = [(str(event.type), event.object.to_dict()) for event in watcher.result_chan()]
            expected = [json.loads(entry["line"]) for entry in exchange["stream"]]
            assert events == [(entry["type"], entry["object"]) for entry in expected]
        else:
            result = request.do(ctx)
            if exchange["status"] >= 400:
                check_failure(exchange, result)
            else:
                assert result.raw() == exchange["raw_response"].encode()
                assert json.loads(result.raw()) == exchange["response_json"]
                assert result.was_created() == (exchange["status"] == 201)
        assert len(seen) == 1
        assert seen[0].method == exchange["method"]
        assert seen[0].body == (body(exchange) or b"")
        assert sorted(seen[0].target.partition("?")[2].replace("%20", "+").split("&")) == sorted(
            exchange["path"].partition("?")[2].replace("%20", "+").split("&")
        )


def encoded(document: dict[str, Any]) -> bytes | None:
    """Return the object as protobuf; None for a kind that has no message."""
    serializer = CODECS.serializer_info(CONTENT_TYPE_PROTOBUF).serializer
    gvk = from_api_version_and_kind(document["apiVersion"], document["kind"])
    if not SCHEME.recognizes(gvk) or protobuf.message_of(SCHEME.class_for(gvk)) is None:
        return None
    return serializer.encode(JSON.decode_document(document))


def answer_in_protobuf(exchange: dict[str, Any]) -> Answer | None:
    """Return the server's response to a client that asks for protobuf, or None if it is always JSON."""
    headers = {"Content-Type": CONTENT_TYPE_PROTOBUF}
    if "stream" in exchange:
        events = [json.loads(entry["line"]) for entry in exchange["stream"]]
        objects = [encoded(event["object"]) for event in events]
        frames = [watch_event(event["type"], data) for event, data in zip(events, objects, strict=True) if data]
        headers["Content-Type"] += ";stream=watch"
        return Answer(exchange["status"], headers=headers, chunks=frames) if all(objects) else None
    document = exchange.get("response_json") or {}
    data = encoded(document) if "kind" in document else None
    return None if data is None else Answer(exchange["status"], data, headers)


def recorded_with_protobuf() -> list[Any]:
    return [param for param in recorded() if answer_in_protobuf(param.values[0]) is not None]


def typed_client_for(server: ScriptedServer) -> rest.RESTClient:
    serializer = CODECS.without_conversion()
    return rest.unversioned_rest_client_for(rest.Config(host=server.url, negotiated_serializer=serializer, qps=-1))


@pytest.mark.parametrize("exchange", recorded_with_protobuf())
def test_the_outcome_is_the_same_in_protobuf(exchange):
    """The object, events or exception are the same if the recorded response is sent in the other encoding."""
    ctx = context.background()
    outcomes = []
    for given in (answer(exchange), answer_in_protobuf(exchange)):
        with ScriptedServer(lambda request, given=given: given) as server:
            request = request_for(typed_client_for(server), exchange)
            if "stream" in exchange:
                events = [(event.type, event.object) for event in request.watch(ctx).result_chan()]
                outcomes.append((events, [obj.to_dict() for _, obj in events]))
                continue
            result = request.do(ctx)
            if exchange["status"] >= 400:
                err = result.error()
                outcomes.append((type(err), str(err), err.__notes__, err.status().to_dict()))
            else:
                outcomes.append((result.get(), result.get().to_dict(), result.was_created()))
    assert outcomes[0] == outcomes[1]


def test_most_exchanges_have_protobuf() -> None:
    assert len(recorded_with_protobuf()) > 50


def exchanges_as_server(*names: str) -> Any:
    by_path = {exchange["path"]: exchange for name in names for exchange in read(name)["exchanges"]}

    def respond(request: Received) -> Answer:
        exchange = by_path.get(request.target.partition("?")[0])
        return (
            answer(exchange)
            if exchange is not None
            else Answer(404, b"404 page not found", {"Content-Type": "text/plain"})
        )

    return respond


def test_discovery_reads_the_aggregated_form():
    """The core group as a 1.36 server shows it, kinds and short names included."""
    transcript = read("discovery_api_v1_aggregated")["exchanges"][0]

    def respond(request: Received) -> Answer:
        assert "as=APIGroupDiscoveryList" in request.headers["Accept"]
        if request.target.startswith("/api?"):
            return answer(transcript)
        empty = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": []}
        return Answer(200, json.dumps(empty).encode(), {"Content-Type": transcript["response_headers"]["Content-Type"]})

    with ScriptedServer(respond) as server:
        client = discovery.new_discovery_client_for_config(rest.Config(host=server.url))
        groups, lists = client.server_groups_and_resources()
        assert len(server.requests) == 2
    assert [group.name for group in groups] == [""]
    assert groups[0].preferred_version.version == "v1"
    by_name = {resource.name: resource for listed in lists for resource in listed.api_resources}
    assert by_name["pods"].kind == "Pod"
    assert list(by_name["pods"].short_names) == ["po"]
    assert by_name["pods/status"].namespaced
    assert discovery.group_version_resources(lists) >= {GroupVersion("", "v1").with_resource("configmaps")}


def test_discovery_reads_one_group_version():
    with ScriptedServer(exchanges_as_server("discovery_apps_v1", "version")) as server:
        client = discovery.new_discovery_client_for_config(rest.Config(host=server.url))
        listed = client.server_resources_for_group_version("apps/v1")
        assert {resource.name for resource in listed.api_resources} >= {"deployments", "deployments/scale"}
        assert client.server_version().minor == read("version")["exchanges"][0]["response_json"]["minor"]
        assert not discovery.is_resource_enabled(client, GroupVersion("nope.example.com", "v1").with_resource("foos"))
