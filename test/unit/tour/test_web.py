"""The page's HTTP server by itself: routes, refusals, sizes of queries and bodies, and what each answer carries."""

from __future__ import annotations

import http.client
import json
import os
import stat
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from patience import PATIENCE

from clientgo.tour import web
from clientgo.tour.web import PageServer, Refused, Request, browser_on


def _echo(request: Request, query: dict[str, str]) -> Any:
    return {"method": request.method, "path": request.path, "query": query}


def _read(request: Request, query: dict[str, str]) -> Any:
    return request.read_json()


def _fail(request: Request, query: dict[str, str]) -> Any:
    if query["how"] == "refused":
        raise Refused(418, "no coffee here")
    if query["how"] == "gone":
        raise ConnectionResetError("gone")
    raise {"value": ValueError, "key": KeyError}[query["how"]]("a reason")


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(0, {"/api/echo": _echo, "/api/fail": _fail}, {"/api/read": _read}) as served:
        yield served


def ask(
    server: PageServer, method: str, path: str, body: bytes = b"", **headers: str | None
) -> tuple[int, http.client.HTTPMessage, Any]:
    """Return the status, the headers and the body of an answer. A header that is None is not sent."""
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port, timeout=PATIENCE)
    try:
        connection.putrequest(method, path)
        plain: dict[str, str | None] = {"Authorization": f"Bearer {server.token}"}
        if method == "POST":
            plain |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in (plain | {name.replace("_", "-"): value for name, value in headers.items()}).items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body or None)
        with connection.getresponse() as response:
            content = response.read()
            is_json = response.headers["Content-Type"].startswith("application/json")
            return response.status, response.headers, json.loads(content) if is_json else content
    finally:
        connection.close()


def test_a_route_gets_the_first_value_of_each_parameter(server: PageServer) -> None:
    status, _, answer = ask(server, "GET", "/api/echo?a=1&b=&a=2&c=%C3%BC&d=%ff")
    assert (status, answer["method"], answer["path"]) == (200, "GET", "/api/echo")
    assert {name: value for name, value in answer["query"].items() if value} == {"a": "1", "c": "ü", "d": "\ufffd"}


@pytest.mark.parametrize(("many", "status"), [(20, 200), (21, 400)])
def test_a_query_has_at_most_twenty_parameters(server: PageServer, many: int, status: int) -> None:
    for query in ("&".join(f"a{number}=1" for number in range(many)), "&".join(["a=1"] * many)):
        answer = ask(server, "GET", f"/api/echo?{query}")
        assert answer[0] == status
        if status == 400:
            assert answer[2] == {"error": "the query has more than 20 parameters"}


@pytest.mark.parametrize(
    ("method", "path", "status", "error"),
    [
        ("GET", "/api/fail?how=refused", 418, "no coffee here"),
        ("GET", "/api/fail?how=value", 400, "a reason"),
        ("GET", "/api/fail?how=key", 500, "the tour failed: KeyError: 'a reason'"),
        ("PUT", "/api/echo", 501, "the method PUT is not supported"),
        ("DELETE", "/", 501, "the method DELETE is not supported"),
        ("GET", "/api/read", 404, "there is nothing here"),
        ("POST", "/api/echo", 404, "there is nothing here"),
        ("POST", "/", 404, "there is nothing here"),
        ("POST", "/page/tour.js", 404, "there is nothing here"),
        ("GET", "/page/none.js", 404, "there is no such file"),
        ("GET", "/page/lessons.json", 404, "there is no such file"),
        ("GET", "/api/source?file=a.py&function=f", 404, "no hop happens there"),
    ],
)
def test_a_refusal_has_its_status_and_its_reason(
    server: PageServer, method: str, path: str, status: int, error: str
) -> None:
    found, headers, answer = ask(server, method, path)
    assert (found, answer) == (status, {"error": error})
    assert headers["Connection"] == "close" and "WWW-Authenticate" not in headers and "Set-Cookie" not in headers


def test_a_request_whose_client_has_left_gets_no_answer(server: PageServer) -> None:
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        ask(server, "GET", "/api/fail?how=gone")
    assert ask(server, "GET", "/api/echo")[0] == 200


def test_without_the_token_a_client_is_told_which_scheme_to_use(server: PageServer) -> None:
    status, headers, answer = ask(server, "GET", "/api/echo", Authorization=None)
    assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
    assert answer == {"error": "open the address that the program printed: it contains a token"}


@pytest.mark.parametrize("scheme", ["Bearer {}", "bearer  {} ", "BEARER {}"])
def test_the_scheme_of_a_token_has_any_letter_case(server: PageServer, scheme: str) -> None:
    assert ask(server, "GET", "/api/echo", Authorization=scheme.format(server.token))[0] == 200


@pytest.mark.parametrize(
    ("path", "kind", "is_opening"),
    [
        ("/?token={token}", "text/html", True),
        ("/", "text/html", False),
        ("/page/tour.js", "text/javascript", False),
        ("/page/tour.css", "text/css", False),
        ("/page/icon.svg", "image/svg+xml", False),
        ("/api/echo?token={token}", "application/json", False),
    ],
)
def test_every_answer_has_its_type_and_the_headers_that_keep_others_out(
    server: PageServer, path: str, kind: str, is_opening: bool
) -> None:
    status, headers, content = ask(server, "GET", path.format(token=server.token))
    assert (status, headers["Content-Type"], bool(content)) == (200, f"{kind}; charset=utf-8", True)
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin" and headers["X-Content-Type-Options"] == "nosniff"
    policy = headers["Content-Security-Policy"].split("; ")
    assert policy == ["default-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]
    port = urlsplit(server.url).port
    cookie = f"informer-tour-{port}={server.token}; Path=/; HttpOnly; SameSite=Strict"
    assert headers["Set-Cookie"] == (cookie if is_opening else None)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Origin": "http://LOCALHOST:{port}"}, 200),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "same-origin"}, 200),
        ({"Sec_Fetch_Site": "none"}, 200),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}, 403),
    ],
)
def test_only_our_own_pages_may_ask(server: PageServer, headers: dict[str, str], status: int) -> None:
    port = urlsplit(server.url).port
    answer = ask(server, "GET", "/api/echo", **{name: value.format(port=port) for name, value in headers.items()})
    assert answer[0] == status
    if status == 403:
        assert answer[2] == {"error": "another site's page may ask for nothing here"}


@pytest.mark.parametrize(
    ("path", "mode", "status"),
    [("/?token={token}", "navigate", 200), ("/?token={token}", "no-cors", 403), ("/?token=x", "navigate", 403)],
)
def test_a_link_elsewhere_opens_the_page_with_its_token(server: PageServer, path: str, mode: str, status: int) -> None:
    headers = {"Authorization": None, "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": mode}
    assert ask(server, "GET", path.format(token=server.token), **headers)[0] == status


def body_of(size: int) -> bytes:
    return b'{"a":"' + b"x" * (size - 8) + b'"}'


@pytest.mark.parametrize(
    ("body", "headers", "status", "error"),
    [
        (b"{}", {}, 200, None),
        (b"{}", {"Content-Type": "application/json; charset=utf-8"}, 200, None),
        (body_of(64 * 1024), {}, 200, None),
        (body_of(64 * 1024 + 1), {}, 413, "the body is longer than 65536 bytes"),
        (b"", {"Content-Length": "1" * 10}, 413, "the body is longer than 65536 bytes"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "the body must be application/json"),
        (b"{}", {"Content-Type": None}, 415, "the body must be application/json"),
        (b"", {"Content-Length": None}, 411, "the body needs a Content-Length"),
        (b"{", {}, 400, "the body is no JSON"),
        (b"\xff", {}, 400, "the body is no JSON"),
        (b"[" * 20_000, {}, 400, "the body is no JSON"),
        (b"[]", {}, 400, "the body is no object"),
        (b"null", {}, 400, "the body is no object"),
    ],
)
def test_a_body_is_a_short_object_in_json(
    server: PageServer, body: bytes, headers: dict[str, str | None], status: int, error: str | None
) -> None:
    sent = {name.replace("-", "_"): value for name, value in headers.items()}
    found, _, answer = ask(server, "POST", "/api/read", body, **sent)
    assert found == status
    assert answer == (json.loads(body) if error is None else {"error": error})


def test_a_server_ends_with_its_context() -> None:
    with PageServer(0, {}, {}) as served:
        address = served.address
        assert served.url == f"{address}?token={served.token}"
        assert ask(served, "GET", "/")[0] == 200
    with pytest.raises(ConnectionRefusedError):
        ask(served, "GET", "/")


def test_a_browser_gets_a_file_of_its_user_that_leads_to_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, seen = threading.Event(), []

    def browse(uri: str) -> bool:
        path = Path(unquote(urlsplit(uri).path))
        about = threading.current_thread()
        seen.append((path, path.read_text(), stat.S_IMODE(os.stat(path).st_mode), about.name, about.daemon))
        opened.set()
        return True

    monkeypatch.setattr(webbrowser, "open", browse)
    with browser_on('http://127.0.0.1:1/?token=a&b="c"'):
        assert opened.wait(PATIENCE)
    ((path, text, mode, name, is_daemon),) = seen
    target = "http://127.0.0.1:1/?token=a&amp;b=&quot;c&quot;"
    assert f'content="0; url={target}"' in text and f'<a href="{target}">' in text and "no-referrer" in text
    # The program may end while the browser starts.
    assert (mode, name, is_daemon) == (0o600, "browser", True)
    assert not path.exists() and not path.parent.exists()


def test_a_class_function_is_shown_with_both_docstrings() -> None:
    found = web.sources()[("clientgo/tour/program.py", "Shouter.reconcile")]
    lines = Path(web.__file__).with_name("program.py").read_text().splitlines()
    assert found["lines"][0].strip().startswith("def reconcile") and found["doc"]
    assert lines[found["first"] - 1 :][: len(found["lines"])] == found["lines"]
    assert found["lines"][-1].strip() and found["about"]
    assert (found["file"], found["function"]) == ("clientgo/tour/program.py", "Shouter.reconcile")
