"""Options in queries: booleans, durations, deletions, logs and Tables, as apimachinery's conversions read them."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from apiclient import Api
from patience import PATIENCE

from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf.messages import message
from clientgo.apimachinery.runtime.serializer.protobuf.protobuf import wrap
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.access import routing
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.http import Request

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
NAMESPACE = "/api/v1/namespaces/default"
MAPS = f"{NAMESPACE}/configmaps"
OPTIONS: Json = {"kind": "DeleteOptions", "apiVersion": "v1"}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
BAD_TIMEOUT = "invalid timeout specified in the request URL - time: invalid duration"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def delete(api: Api, query: str, body: Any = None, *, collection: bool = False) -> tuple[int, str, bool]:
    """Create and delete an object. Return the code and the message of the deletion, and whether the object is left."""
    api("POST", MAPS, {"metadata": {"name": "gone", "labels": {"of": "deletion"}}}, want=201)
    path = f"{MAPS}?labelSelector=of%3Ddeletion&{query}" if collection else f"{MAPS}/gone?{query}"
    response = api.request("DELETE", path, body)
    is_left = api.request("GET", f"{MAPS}/gone").status_code == 200
    if is_left:
        api("DELETE", f"{MAPS}/gone", want=200)
    return response.status_code, response.json().get("message", ""), is_left


@pytest.mark.parametrize(
    "query",
    ["dryRun=All", "dryRun=bogus", "propagationPolicy=no", "gracePeriodSeconds=x", "uid=x", "resourceVersion=1"],
)
def test_the_body_of_a_deletion_replaces_its_query(api: Api, query: str) -> None:
    assert delete(api, query, OPTIONS) == (200, "", False)
    code, _, is_left = delete(api, query)
    assert is_left, "the query counts without a body"
    assert code == (200 if query == "dryRun=All" else code)


def test_a_collection_is_deleted_at_any_version_with_a_body(api: Api) -> None:
    assert delete(api, "resourceVersion=0", OPTIONS, collection=True) == (200, "", False)
    code, text, is_left = delete(api, "resourceVersion=0", collection=True)
    assert (code, is_left) == (409, True)
    assert "the ResourceVersion in the precondition (0) does not match" in text


@pytest.mark.parametrize(
    ("query", "body", "code", "text"),
    [
        ("dryRun=", None, 422, 'dryRun: Unsupported value: [""]: supported values: "All"'),
        ("dryRun=All&dryRun=", None, 422, 'dryRun: Unsupported value: ["All",""]'),
        ("dryRun=All&dryRun=All", None, 200, ""),
        ("", {**OPTIONS, "dryRun": ["All", "All"]}, 200, ""),
        ("propagationPolicy=", None, 422, 'propagationPolicy: Unsupported value: ""'),
        ("", {**OPTIONS, "propagationPolicy": ""}, 422, 'propagationPolicy: Unsupported value: ""'),
        ("orphanDependents=no&propagationPolicy=Orphan", None, 422, "cannot be both set"),
        ("", {**OPTIONS, "preconditions": {"uid": ""}}, 409, "the UID in the precondition () does not match"),
        ("", {**OPTIONS, "preconditions": {"resourceVersion": ""}}, 409, "the ResourceVersion in the precondition ()"),
        ("", " ", 400, "unexpected end of JSON input"),
    ],
)
def test_options_of_a_deletion_that_keep_the_object(api: Api, query: str, body: Any, code: int, text: str) -> None:
    answer = delete(api, query, body)
    assert (answer[0], answer[2]) == (code, True)
    assert text in answer[1]


@pytest.mark.parametrize(
    ("query", "body"),
    [("uid=", None), ("resourceVersion=", None), ("", "null"), ("", {**OPTIONS, "dryRun": []}), ("", "{}")],
)
def test_options_of_a_deletion_that_are_absent(api: Api, query: str, body: Any) -> None:
    assert delete(api, query, body) == (200, "", False)


def test_an_eviction_takes_only_dry_run_from_its_query(api: Api) -> None:
    pods = f"{NAMESPACE}/pods"
    api("POST", pods, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}, want=201)
    eviction: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    dry = {**eviction, "deleteOptions": {"dryRun": ["All"]}}
    api("POST", f"{pods}/p/eviction?dryRun=All", eviction, want=201)
    api("POST", f"{pods}/p/eviction", dry, want=201)
    other = api("POST", f"{pods}/p/eviction?dryRun=All&dryRun=All", dry, want=500)
    assert other["message"] == "Non-matching dry-run options in request and content: [All All] and [All]"
    api("GET", f"{pods}/p", want=200)
    api("POST", f"{pods}/p/eviction?uid=x&propagationPolicy=bogus", eviction, want=201)
    api("GET", f"{pods}/p", want=404)


@pytest.mark.parametrize("text", ["abc", "1", "1 s", "s", "1x", "-"])
def test_a_timeout_that_is_no_duration_is_refused(api: Api, text: str) -> None:
    for method, path, body in (
        ("GET", MAPS, None),
        ("POST", MAPS, {"metadata": {"name": "late"}}),
        ("GET", "/api", None),
        ("DELETE", f"{MAPS}/none", None),
    ):
        answer = api(method, f"{path}?timeout={text}", body, want=400)
        assert answer["message"].startswith("invalid timeout specified in the request URL - time: ")
    api("GET", f"{MAPS}/late", want=404)


@pytest.mark.parametrize("query", ["timeout=", "timeout=1s", "timeout=-1s", "timeout=1h2m&timeout=x", "Timeout=x"])
def test_other_timeouts_are_accepted(api: Api, query: str) -> None:
    api("GET", f"{MAPS}?{query}", want=200)


def test_requests_without_a_deadline_ignore_the_timeout() -> None:
    for method, path in (("GET", f"{MAPS}?watch=1&timeout=x"), ("GET", f"{NAMESPACE}/pods/p/log?timeout=x")):
        request = Request(method, path, {})
        info = routing.parse(method, request.path, request.flag("watch"))
        routing.check_timeout(request, info)
    with pytest.raises(ApiError, match=BAD_TIMEOUT):
        routing.check_timeout(Request("GET", f"{MAPS}?timeout=x", {}), routing.parse("GET", MAPS, False))


@pytest.mark.parametrize("value", ["none", "object", "All", "1", "Metadata,Object"])
def test_an_unknown_include_object_is_refused(api: Api, value: str) -> None:
    api("POST", MAPS, {"metadata": {"name": "row"}}, want=201)
    try:
        for path in (MAPS, f"{MAPS}/row", f"{MAPS}?watch=1"):
            query = f"{'&' if '?' in path else '?'}includeObject={value}"
            response = api.session.get(f"{api.env.url}{path}{query}", headers={"Accept": TABLE}, timeout=5)
            assert response.status_code == 400
            found = f'includeObject: Invalid value: "{value}": must be \'Metadata\', \'Object\', \'None\', or empty'
            assert response.json()["message"] == f"Unable to convert to Table as requested: {found}"
        api("GET", f"{MAPS}?includeObject={value}", want=200)
    finally:
        api("DELETE", f"{MAPS}/row", want=200)


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        ("sinceSeconds=", 400, 'strconv.ParseInt: parsing "": invalid syntax'),
        ("tailLines=", 400, 'strconv.ParseInt: parsing "": invalid syntax'),
        ("limitBytes=1.5", 400, 'strconv.ParseInt: parsing "1.5": invalid syntax'),
        ("sinceTime=2026-01-01", 400, 'cannot parse "" as "T"'),
        ("sinceTime=yesterday", 400, 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00"'),
        ("sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z", 422, "at most one of `sinceTime` or `sinceSeconds` may be"),
        ("sinceSeconds=5&sinceTime=", 422, "at most one of `sinceTime` or `sinceSeconds` may be"),
        ("tailLines=-1&limitBytes=0", 422, "limitBytes: Invalid value: 0: must be greater than 0"),
    ],
)
def test_options_of_a_log(api: Api, query: str, code: int, text: str) -> None:
    answer = api("GET", f"{NAMESPACE}/pods/none/log?{query}", want=code)
    assert text in answer["message"]


@pytest.mark.parametrize(
    "query", ["sinceTime=", "sinceTime=null", "follow=no", "previous=", "timestamps=0", "limitBytes=1"]
)
def test_options_of_a_log_that_are_valid(api: Api, query: str) -> None:
    api("GET", f"{NAMESPACE}/pods/none/log?{query}", want=404)


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("reason%3Dcut%20%E2%82", ["cut"]),
        ("reason%3Dcut%20%EF%BF%BD%EF%BF%BD", ["shown"]),
        ("reason%3Dcut%20%zz", None),
    ],
)
def test_a_field_selector_compares_bytes_and_a_bad_escape_is_ignored(
    api: Api, selector: str, names: list[str] | None
) -> None:
    found = message("clientgo.api.core.v1", "Event")
    assert found is not None
    for name, text in (("cut", "cut \udce2\udc82"), ("shown", "cut \ufffd\ufffd")):
        event = {"metadata": {"name": name, "namespace": "default"}, "reason": text}
        event["involvedObject"] = {"namespace": "default"}
        body = wrap(protobuf.encode_message(found, event), "v1", "Event")
        api.request("POST", f"{NAMESPACE}/events", body, "application/vnd.kubernetes.protobuf")
    # Not by requests, which repairs escapes.
    connection = http.client.HTTPConnection(urlsplit(api.env.url).netloc, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {api.env.token}"}
    connection.request("GET", f"{NAMESPACE}/events?fieldSelector={selector}", headers=headers)
    listed = json.loads(connection.getresponse().read())["items"]
    connection.close()
    assert [each["metadata"]["name"] for each in listed] == (["cut", "shown"] if names is None else names)
