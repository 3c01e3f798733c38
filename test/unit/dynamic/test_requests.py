"""The dynamic client's requests, byte for byte, and its results. Go: dynamic/golden_test.go."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from httpscript import Answer, serving

from clientgo import context, dynamic, rest
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.dynamic import ResourceInterface

CTX = context.background()
FLIPS = GroupVersionResource("flops", "v1alpha1", "flips")
AT = "/apis/flops/v1alpha1/namespaces/mops/flips"
NAMED = Unstructured({"metadata": {"name": "mips"}})
BODY = b'{"metadata":{"name":"mips"}}'
DELETION = b'{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}\n'


@pytest.mark.parametrize(
    ("do", "line", "content_type", "body"),
    [
        (
            lambda flips: flips.create(CTX, NAMED, metav1.CreateOptions(field_validation="warn"), "fin"),
            f"POST {AT}/mips/fin?fieldValidation=warn",
            "application/json",
            BODY + b"\n",
        ),
        (
            lambda flips: flips.update(CTX, NAMED, metav1.UpdateOptions(field_validation="warn"), "fin"),
            f"PUT {AT}/mips/fin?fieldValidation=warn",
            "application/json",
            BODY + b"\n",
        ),
        (
            lambda flips: flips.update_status(CTX, NAMED, metav1.UpdateOptions(field_validation="warn")),
            f"PUT {AT}/mips/status?fieldValidation=warn",
            "application/json",
            BODY + b"\n",
        ),
        (
            lambda flips: flips.delete(CTX, "mips", metav1.DeleteOptions(dry_run=["All"]), "fin"),
            f"DELETE {AT}/mips/fin",
            "application/json",
            DELETION,
        ),
        (
            lambda flips: flips.delete_collection(
                CTX, metav1.DeleteOptions(dry_run=["All"]), metav1.ListOptions(resource_version="42")
            ),
            f"DELETE {AT}?resourceVersion=42",
            "application/json",
            DELETION,
        ),
        (
            lambda flips: flips.get(CTX, "mips", metav1.GetOptions(resource_version="42"), "fin"),
            f"GET {AT}/mips/fin?resourceVersion=42",
            None,
            b"",
        ),
        (
            lambda flips: flips.list(CTX, metav1.ListOptions(resource_version="42")),
            f"GET {AT}?resourceVersion=42",
            None,
            b"",
        ),
        (
            lambda flips: flips.watch(CTX, metav1.ListOptions(resource_version="42")).stop(),
            f"GET {AT}?resourceVersion=42&watch=true",
            None,
            b"",
        ),
        (
            lambda flips: flips.patch(
                CTX, "mips", PatchType.STRATEGIC_MERGE, b'{"a":"b"}\n', metav1.PatchOptions(field_manager="baz"), "fin"
            ),
            f"PATCH {AT}/mips/fin?fieldManager=baz",
            "application/strategic-merge-patch+json",
            b'{"a":"b"}\n',
        ),
        (
            lambda flips: flips.apply(CTX, "mips", NAMED, metav1.ApplyOptions(force=True), "fin"),
            f"PATCH {AT}/mips/fin?force=true",
            "application/apply-patch+yaml",
            BODY,
        ),
        (
            lambda flips: flips.apply_status(CTX, "mips", NAMED, metav1.ApplyOptions(force=True)),
            f"PATCH {AT}/mips/status?force=true",
            "application/apply-patch+yaml",
            BODY,
        ),
    ],
)
def test_requests(do: Callable[[ResourceInterface], object], line: str, content_type: str | None, body: bytes) -> None:
    """
    Go: TestGoldenRequest
    Go: TestList, TestGet, TestDelete, TestDeleteCollection, TestCreate, TestUpdate, TestWatch, TestPatch
    """
    answer = Answer(200, b'{"apiVersion":"flops/v1alpha1","kind":"Flip","items":[]}')
    with serving(lambda request: answer) as server:
        client = dynamic.new_for_config(rest.Config(host=server.url, user_agent="test"))
        do(client.resource(FLIPS).namespace("mops"))
        client.close()
        [request] = server.requests
    assert (f"{request.method} {request.target}", request.body) == (line, body)
    headers = {name.lower(): value for name, value in request.headers.items() if name.lower() != "host"}
    expected = {"accept": "application/json", "accept-encoding": "gzip", "user-agent": "test"}
    if content_type is not None:
        expected |= {"content-type": content_type, "content-length": str(len(body))}
    assert headers == expected


ACCOUNT = {"metadata": {"name": "foobar", "namespace": "default", "resourceVersion": "207"}}
KIND = {"kind": "ServiceAccount", "apiVersion": "v1"}
OBJECT = {**KIND, **ACCOUNT}


@pytest.mark.parametrize(
    "do",
    [
        lambda accounts: accounts.create(CTX, Unstructured()),
        lambda accounts: accounts.update(CTX, NAMED),
        lambda accounts: accounts.update_status(CTX, NAMED),
        lambda accounts: accounts.get(CTX, "name"),
        lambda accounts: accounts.patch(CTX, "name", PatchType.MERGE, b"{}"),
        lambda accounts: accounts.apply(CTX, "name", NAMED),
    ],
)
def test_objects_come_as_the_server_sent_them(do: Callable[[ResourceInterface], Unstructured]) -> None:
    """Go: TestGoldenResponse"""
    assert answered(OBJECT, do).unstructured_content() == OBJECT


def test_an_answer_that_is_a_status_is_an_object_like_others() -> None:
    """Servers respond to an Eviction with a Status, for example."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    answer = answered(status, lambda accounts: accounts.create(CTX, NAMED, None, "eviction"))
    assert answer.unstructured_content() == status


def test_an_answer_without_a_kind_is_shown() -> None:
    with pytest.raises(ValueError, match=r"""^Object 'Kind' is missing in '{"metadata":{"name":"é"}}'"""):
        answered({"metadata": {"name": "é"}}, lambda accounts: accounts.get(CTX, "name"))


def test_the_items_of_a_list_get_the_kind_of_the_list() -> None:
    metadata = {"resourceVersion": "222"}
    page = {"kind": "ServiceAccountList", "apiVersion": "v1", "metadata": metadata, "items": [ACCOUNT]}
    listed = answered(page, lambda accounts: accounts.list(CTX))
    assert listed.unstructured_content() == {**page, "items": [OBJECT]}


def test_the_events_of_a_watch_bookmarks_among_them() -> None:
    bookmark = {**KIND, "metadata": {"resourceVersion": "964", "annotations": {"k8s.io/initial-events-end": "true"}}}
    sent = [{"type": "ADDED", "object": OBJECT}, {"type": "BOOKMARK", "object": bookmark}]
    lines = [json.dumps(event).encode() + b"\n" for event in sent]

    def watched(accounts: ResourceInterface) -> list[dict[str, Any]]:
        watcher = accounts.watch(CTX)
        events = [{"type": str(event.type), "object": event.object.to_dict()} for event in watcher.result_chan()]
        watcher.stop()
        return events

    assert answered(lines, watched) == sent


def answered(document: Any, do: Callable[[ResourceInterface], Any]) -> Any:
    """Return the client's result for a response, which is a document or a stream of lines."""

    def answer(request: object) -> Answer:
        return Answer(chunks=document) if isinstance(document, list) else Answer(200, json.dumps(document).encode())

    with serving(answer) as server:
        client = dynamic.new_for_config(rest.Config(host=server.url))
        try:
            return do(client.resource(GroupVersionResource("", "v1", "serviceaccounts")))
        finally:
            client.close()


def named(name: str) -> Unstructured:
    return Unstructured({"metadata": {"name": name}})


ON_NAMES: dict[str, Callable[[ResourceInterface, str], object]] = {
    "create": lambda client, name: client.create(CTX, named(name), None, "status"),
    "update": lambda client, name: client.update(CTX, named(name)),
    "update_status": lambda client, name: client.update_status(CTX, named(name)),
    "delete": lambda client, name: client.delete(CTX, name),
    "get": lambda client, name: client.get(CTX, name),
    "patch": lambda client, name: client.patch(CTX, name, PatchType.MERGE, b"{}"),
    "apply": lambda client, name: client.apply(CTX, name, named(name)),
    "apply_status": lambda client, name: client.apply_status(CTX, name, named(name)),
}
ON_COLLECTIONS: dict[str, Callable[[ResourceInterface, str], object]] = {
    "list": lambda client, _: client.list(CTX),
    "watch": lambda client, _: client.watch(CTX),
    "delete_collection": lambda client, _: client.delete_collection(CTX),
}


@pytest.fixture
def nowhere() -> dynamic.NamespaceableResourceInterface:
    """Return a client that raises another error when it sends a request."""
    return dynamic.new_for_config(rest.Config(host="http://127.0.0.1:1")).resource(FLIPS)


@pytest.mark.parametrize("do", [*ON_NAMES.values(), *ON_COLLECTIONS.values()])
def test_a_namespace_that_is_no_segment_is_not_sent(do, nowhere):
    with pytest.raises(ValueError, match=r'^invalid namespace "bad/namespace": \[may not contain \'/\'\]$'):
        do(nowhere.namespace("bad/namespace"), "name")


@pytest.mark.parametrize("do", ON_NAMES.values(), ids=ON_NAMES)
def test_a_name_that_is_no_segment_is_not_sent(do, nowhere):
    with pytest.raises(ValueError, match=r'^invalid resource name "bad%name": \[may not contain \'%\'\]$'):
        do(nowhere, "bad%name")
    with pytest.raises(ValueError, match=r"^name is required$"):
        do(nowhere.namespace("bad/namespace"), "")


def test_closing_a_client_closes_its_connections():
    class Closing:
        closed = 0

        def close(self) -> None:
            self.closed += 1

    under: Any = Closing()
    dynamic.new(under).close()
    assert under.closed == 1
