"""A fake REST client records requests and answers them."""

from __future__ import annotations

import pytest

from clientgo.api.core import v1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.types import PatchType
from clientgo.context import background
from clientgo.golang import http
from clientgo.kubernetes import scheme
from clientgo.rest.fake import RESTClient, create_http_client

POD = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}'
V1 = GroupVersion("", "v1")


def answer(body: bytes = POD, status_code: int = 200) -> http.Response:
    headers = http.Header({"Content-Type": "application/json"})
    return http.Response(status_code=status_code, headers=headers, body=http.BytesBody(body))


def fake(**fields: object) -> RESTClient:
    client = RESTClient(negotiated_serializer=scheme.CODECS, group_version=V1, versioned_api_path="/api/v1")
    for name, value in fields.items():
        setattr(client, name, value)
    return client


def test_the_response_answers_and_the_request_is_recorded() -> None:
    client = fake(resp=answer())

    pod = client.get().namespace("default").resource("pods").name("web").do(background()).into(v1.Pod)

    assert pod.metadata.name == "web"
    assert client.req is not None
    assert (client.req.method, client.req.url) == ("GET", "https://localhost/api/v1/namespaces/default/pods/web")


def test_the_client_answers_in_place_of_the_response() -> None:
    seen: list[http.Request] = []

    def respond(request: http.Request) -> http.Response:
        seen.append(request)
        return answer()

    client = fake(client=create_http_client(respond))

    client.post().resource("pods").body(POD).do(background()).into(v1.Pod)

    assert [request.method for request in seen] == ["POST"]
    assert client.req is not None and client.req.method == "POST"


def test_the_error_is_raised_and_the_request_not_recorded() -> None:
    client = fake(err=OSError("broken"), resp=answer())

    with pytest.raises(Exception, match="broken"):
        client.delete().resource("pods").do(background()).raw()

    assert client.req is None


def test_each_verb_begins_its_request() -> None:
    client = fake(resp=answer())

    client.patch(PatchType.MERGE).resource("pods").name("web").body(b"{}").do(background()).raw()

    assert client.req is not None
    assert (client.req.method, client.req.headers.get("Content-Type")) == ("PATCH", "application/merge-patch+json")
    client.put().resource("pods").name("web").body(POD).do(background()).raw()
    assert client.req.method == "PUT"
    assert client.api_version() == V1
    assert client.get_rate_limiter() is None
    client.close()


def test_a_fake_without_an_answer_says_so() -> None:
    with pytest.raises(Exception, match="the fake has no response"):
        fake().get().resource("pods").do(background()).raw()
