"""Redirects: the responses that the client follows, and the headers that it keeps. Go: TestClientRedirects."""

from __future__ import annotations

import io

import pytest
from httpscript import Answer, ScriptedServer

from clientgo.golang import http
from clientgo.golang.http.redirect import redirected


def request(method: str = "GET", body: bytes | io.BytesIO | None = None, **headers: str) -> http.Request:
    sent = http.Header({name.replace("_", "-"): value for name, value in headers.items()})
    return http.Request(method=method, url="https://a.example/x/y?q=1", headers=sent, body=body)


def response(code: int, location: str | None = "/z") -> http.Response:
    headers = http.Header() if location is None else http.Header({"Location": location})
    return http.Response(status_code=code, headers=headers)


@pytest.mark.parametrize("code", [301, 302, 303])
@pytest.mark.parametrize(("method", "then"), [("GET", "GET"), ("HEAD", "HEAD"), ("POST", "GET"), ("DELETE", "GET")])
def test_a_request_goes_on_as_one_that_reads(code, method, then):
    sent = request(method, b"{}", Content_Type="application/json", Accept="x")
    again = redirected(sent, response(code))
    assert again is not None
    assert (again.method, again.url, again.body) == (then, "https://a.example/z", None)
    assert dict(again.headers) == {"Accept": "x"}
    assert (sent.method, sent.body, sent.headers["Content-Type"]) == (method, b"{}", "application/json")


@pytest.mark.parametrize("code", [307, 308])
def test_a_request_goes_on_as_it_is(code):
    again = redirected(request("PUT", b"{}", Content_Type="application/json"), response(code))
    assert again is not None
    assert (again.method, again.body, again.headers["Content-Type"]) == ("PUT", b"{}", "application/json")


def test_a_stream_that_has_gone_out_cannot_go_on():
    assert redirected(request("PUT", io.BytesIO(b"{}")), response(307)) is None
    assert redirected(request("PUT", io.BytesIO(b"{}")), response(303)) is not None


@pytest.mark.parametrize(
    ("code", "location"), [(302, None), (302, ""), (200, "/z"), (201, "/z"), (300, "/z"), (304, "/z")]
)
def test_all_else_is_an_answer(code, location):
    assert redirected(request(), response(code, location)) is None


@pytest.mark.parametrize(
    ("location", "url", "keeps"),
    [
        ("z", "https://a.example/x/z", True),
        ("?w", "https://a.example/x/y?w", True),
        ("https://a.example/z", "https://a.example/z", True),
        ("https://a.example:443/z", "https://a.example:443/z", True),
        ("HTTPS://A.example/z", "https://A.example/z", True),
        ("https://a.example./z", "https://a.example./z", False),
        ("https://a.example@b.example/z", "https://a.example@b.example/z", False),
        ("https://a.example\\@b.example/z", "https://a.example%5C@b.example/z", False),
        ("\\\\b.example/z", "https://a.example/x/%5C%5Cb.example/z", True),
        ("http://a.example:443/z", "http://a.example:443/z", False),
        ("//b.example/z", "https://b.example/z", False),
        ("https://a.example:8443/z", "https://a.example:8443/z", False),
        ("http://a.example/z", "http://a.example/z", False),
        ("https://x.a.example/z", "https://x.a.example/z", False),
        ("/\xc3\xbc b", "https://a.example/%C3%BC%20b", True),
    ],
)
def test_credentials_stay_with_the_server_they_are_for(location, url, keeps):
    secrets = {"Authorization": "Bearer t", "Cookie": "c", "Proxy_Authorization": "Basic p"}
    again = redirected(request(**secrets, Accept="x"), response(302, location))
    assert again is not None
    assert again.url == url
    assert set(again.headers) == {"Accept", *(name.replace("_", "-") for name in secrets if keeps)}


def test_a_redirect_to_another_kind_of_server_is_an_error():
    with (
        ScriptedServer(lambda request: Answer(302, b"", {"Location": "ftp://a.example/"})) as server,
        pytest.raises(http.URLError, match='unsupported protocol scheme "ftp"'),
    ):
        http.Client(http.Transport()).do(http.Request(method="GET", url=server.url))


@pytest.mark.parametrize(("size", "connections"), [(2048, [1, 1]), (2049, [1, 2])])
def test_what_little_a_redirect_says_is_read_for_the_connections_sake(size, connections):
    answers = iter([Answer(302, b"x" * size, {"Location": "/z"}), Answer(200, b"{}")])
    transport = http.Transport()
    with ScriptedServer(lambda request: next(answers)) as server:
        assert http.Client(transport).do(http.Request(method="GET", url=server.url)).body.read() == b"{}"
        transport.close_idle_connections()
    assert [request.connection for request in server.requests] == connections
