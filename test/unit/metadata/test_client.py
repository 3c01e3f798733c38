"""The metadata client's requests, and responses with whole objects of an old server. Go: metadata/metadata_test.go."""

from __future__ import annotations

import json
from typing import Any

import pytest
from decoding import OVER_JSON

from clientgo import metadata, rest
from clientgo.apimachinery.runtime.error import MissingKindError, MissingVersionError
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.context import background
from clientgo.golang import http
from clientgo.rest.fake import create_http_client
from clientgo.util import watchlist

GVR = GroupVersionResource("group", "v1", "resource")
AT = "https://server/apis/group/v1/namespaces/ns/resource"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "name", "namespace": "ns"}, "spec": {"nodeName": "x"}}


class Server:
    """Responds with one document and keeps the requests."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self.requests: list[http.Request] = []

    def __call__(self, request: http.Request) -> http.Response:
        self.requests.append(request)
        headers = http.Header({"Content-Type": "application/json"})
        document = self._document
        body = http.BytesBody(document if isinstance(document, bytes) else json.dumps(document).encode())
        return http.Response(status_code=200, headers=headers, body=body)

    def client(self) -> metadata.ResourceInterface:
        config = metadata.config_for(rest.Config(host="https://server"))
        http_client = create_http_client(self)
        return metadata.new_for_config_and_client(config, http_client).resource(GVR).namespace("ns")


def accepting(kind: str) -> str:
    form = f"as={kind};g=meta.k8s.io;v=v1"
    if OVER_JSON:
        return f"application/json;{form},application/json"
    return f"application/vnd.kubernetes.protobuf;{form},application/json;{form},application/json"


def test_a_whole_object_is_reduced_to_its_metadata() -> None:
    """Go: TestClient/GET is able to convert a JSON object to PartialObjectMetadata."""
    server = Server(POD)

    found = server.client().get(background(), "name")

    assert found.to_dict() == {"metadata": {"name": "name", "namespace": "ns"}}
    request = server.requests[0]
    assert (request.method, request.url) == ("GET", f"{AT}/name")
    assert request.headers.get("Accept") == accepting("PartialObjectMetadata")


def test_a_deeply_nested_object_is_reduced_to_its_metadata() -> None:
    deep = b"[" * 3000 + b"]" * 3000
    server = Server(json.dumps({**POD, "spec": 0}).encode().replace(b'"spec": 0', b'"spec": ' + deep))
    assert server.client().get(background(), "name").get_name() == "name"


def test_a_list_of_whole_objects_is_reduced_to_their_metadata() -> None:
    """Go: TestClient/LIST is able to convert a JSON object to PartialObjectMetadata."""
    server = Server({"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "253"}, "items": [POD]})

    found = server.client().list(background())

    assert found.get_resource_version() == "253"
    assert [item.to_dict()["metadata"] for item in found.items] == [POD["metadata"]]
    assert all("spec" not in item.to_dict() for item in found.items)
    request = server.requests[0]
    assert (request.method, request.url) == ("GET", AT)
    assert request.headers.get("Accept") == accepting("PartialObjectMetadataList")


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        # Go: TestClient/GET fails if the object is JSON and has no apiVersion
        ({"kind": "Pod", "metadata": {"uid": "123"}}, MissingVersionError, "apiVersion"),
        # Go: TestClient/GET fails if the object is JSON and not clearly metadata
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": {}},
            ValueError,
            "object does not appear to match the ObjectMeta schema",
        ),
    ],
    ids=["no version", "no metadata"],
)
def test_a_response_that_is_no_object_is_an_error(document: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Server(document).client().get(background(), "name")


def test_a_response_without_kind() -> None:
    """Go: TestClient/GET fails if the object is JSON and has no kind."""
    with pytest.raises(MissingKindError):
        Server({"metadata": {"uid": "123"}}).client().get(background(), "name")


@pytest.mark.parametrize("all_of_them", [False, True])
def test_options_to_delete_are_json(all_of_them: bool) -> None:
    """Go: TestClient/Delete fails if DeleteOptions cannot be serialized to JSON.
    Go: TestClient/DeleteCollection fails if DeleteOptions cannot be serialized to JSON.
    """
    server = Server({"apiVersion": "v1", "kind": "Status", "status": "Success", "code": 200})

    if all_of_them:
        server.client().delete_collection(background())
    else:
        server.client().delete(background(), "name")

    request = server.requests[0]
    assert (request.method, request.url) == ("DELETE", AT if all_of_them else f"{AT}/name")
    assert request.headers.get("Content-Type") == "application/json"
    assert isinstance(request.body, bytes)
    assert json.loads(request.body)["kind"] == "DeleteOptions"


def test_the_client_supports_streamed_lists() -> None:
    """Go: TestDoesClientSupportWatchListSemantics."""
    client = metadata.new_for_config(rest.Config(host="https://server"))

    assert not watchlist.does_client_not_support_watch_list_semantics(client)
