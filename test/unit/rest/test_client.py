"""The REST client's own part: verbs, success and failure, backoff by the environment. Go: rest/client_test.go."""

from __future__ import annotations

import pytest
from httpscript import Answer, ScriptedServer
from roundtrips import Turns, answer, client_of, status_of

from clientgo import context, rest
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.types import PatchType
from clientgo.rest.urlbackoff import NoBackoff, URLBackoff

CTX = context.background()
SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


def test_a_status_can_be_read_whatever_the_clients_version_is():
    """Go: TestSerializer"""
    client, _ = client_of(Turns(answer(200, SUCCESS)), group_version=GroupVersion("apps", "v1beta1"))
    found = client.get().do(CTX).get()
    assert isinstance(found, metav1.Status)
    assert found.status == "Success"


@pytest.mark.parametrize(
    ("code", "created"),
    [
        # Go: TestDoRequestSuccess
        (200, False),
        # Go: TestDoRequestCreated
        (201, True),
        # Go: TestDoRequestNotCreated
        (202, False),
    ],
)
def test_a_success_gives_the_body_and_whether_something_was_created(code, created):
    client, _ = client_of(turns := Turns(answer(code, b"{}")))
    result = client.get().prefix("test").do(CTX)
    assert result.raw() == b"{}"
    assert (result.was_created(), result.status_code()) == (created, code)
    assert [(request.method, request.url) for request in turns.requests] == [("GET", "http://h/api/v1/test")]


def test_an_answer_without_content_is_a_success():
    """Go: TestDoRequestAcceptedNoContentReturned"""
    client, _ = client_of(Turns(answer(204)))
    result = client.get().do(CTX).raise_for_error()
    assert (result.raw(), result.was_created()) == (b"", False)


def test_the_servers_status_is_the_error():
    """Go: TestDoRequestFailed"""
    client, _ = client_of(Turns(answer(404, status_of(404, "NotFound", 'pods "web" not found'))))
    err = client.get().do(CTX).error()
    assert errors.is_not_found(err)
    assert str(err) == 'pods "web" not found'


def test_the_error_of_a_raw_answer_is_made_of_its_code():
    """Its body is not looked at. Go: TestDoRawRequestFailed"""
    client, _ = client_of(Turns(answer(404, status_of(404, "NotFound", 'pods "web" not found'))))
    with pytest.raises(errors.StatusError, match="the server could not find the requested resource") as raised:
        client.get().do(CTX).raw()
    (cause,) = raised.value.status().details.causes
    assert (cause.type, cause.message) == ("UnexpectedServerResponse", "unknown")


def test_a_bad_request_is_an_error_whatever_its_body_says():
    """Go: TestBadRequest"""
    client, _ = client_of(Turns(answer(400, SUCCESS)))
    result = client.get().prefix("test").do(CTX)
    assert errors.is_bad_request(result.error())
    assert not result.was_created()


def test_each_verb_has_its_method():
    """Go: TestHTTPMethods, TestVerbs"""
    client, _ = client_of(turns := Turns(answer()))
    for request in (
        *(client.post(), client.get(), client.put(), client.delete()),
        *(client.patch(PatchType.JSON), client.verb("HEAD")),
    ):
        request.do(CTX).raise_for_error()
    assert [request.method for request in turns.requests] == ["POST", "GET", "PUT", "DELETE", "PATCH", "HEAD"]
    assert turns.requests[4].headers["Content-Type"] == "application/json-patch+json"


def test_requests_go_through_the_configs_proxy():
    """Go: TestHTTPProxy"""
    with ScriptedServer(lambda request: Answer(200, f"proxied {request.target}".encode())) as proxy:
        config = rest.Config(host="http://nowhere.example", group_version=GroupVersion("", "v1"))
        config.proxy = lambda url: proxy.url
        client = rest.rest_client_for(config)
        assert client.get().abs_path("/x").do_raw(CTX) == b"proxied http://nowhere.example/x"
        client.client.close_idle_connections()


@pytest.mark.parametrize(
    ("base", "duration", "wait"),
    [("1", "2", 2.0), ("2", "9", 4.0), ("", "", 0.0), ("1", "", 0.0), ("", "2", 0.0), ("x", "2", 0.0)],
)
def test_the_environment_may_ask_for_a_backoff_in_whole_seconds(monkeypatch, base, duration, wait):
    """Go: TestCreateBackoffManager"""
    monkeypatch.setenv("KUBE_CLIENT_BACKOFF_BASE", base)
    monkeypatch.setenv("KUBE_CLIENT_BACKOFF_DURATION", duration)
    client, _ = client_of(Turns(answer()))
    manager = client.new_backoff_manager()
    assert type(manager) is (URLBackoff if base.isdigit() and duration.isdigit() else NoBackoff)
    for _ in range(2):
        manager.update_backoff_with_context(CTX, "http://h/a", None, 500)
    assert manager.calculate_backoff_with_context(CTX, "http://h/b") == wait


@pytest.mark.parametrize(("body", "read"), [(b"null", {}), (b"{}", {}), (b'{"a":1}', {"a": 1})])
def test_null_is_an_empty_object(body, read):
    client, _ = client_of(Turns(answer(200, body)))
    assert client.get().do(CTX).json_object() == read


@pytest.mark.parametrize("body", [b"[]", b"7", b'"x"'])
def test_what_is_no_object_is_no_empty_one(body):
    client, _ = client_of(Turns(answer(200, body)))
    with pytest.raises(ValueError, match="json: cannot unmarshal"):
        client.get().do(CTX).json_object()
