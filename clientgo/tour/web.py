"""The page's HTTP server: its files, and answers in JSON. It serves only the user that started it.

The server listens on 127.0.0.1 and answers only requests whose Host names it so, against DNS rebinding. It refuses
requests that another site's page sends. Other users of the machine can reach the port, so every request must carry the
server's token, a new one for each server. `PageServer.url` contains it as `?token=`. The page sets it as a cookie for
what it loads and asks next; other clients send `Authorization: Bearer TOKEN`.

    GET  /?token=              the page, and its files under /page/
    GET  /api/source?file=&function=   a function's source, of a file in which hops happen

and the routes that the subclass adds.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hmac
import html
import importlib
import json
import secrets
import shutil
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from clientgo.golang import utf8
from clientgo.golang.http.server_connection import ConnectionServer, RequestBodyTooLarge
from clientgo.golang.http.server_request import Request as HTTPRequest
from clientgo.golang.http.server_request import Response
from clientgo.tour.picture import Json
from clientgo.tour.seam import Tap, relative_path
from clientgo.tour.taps import TAPS

__all__ = ["PAGE", "PageServer", "Refused", "Request", "Route", "browser_on", "sources"]

PAGE = Path(__file__).resolve().parent / "page"
"""The folder of the page's files."""

_LIBRARY = Path(__file__).resolve().parents[2]
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_MAX_BODY = 64 * 1024
_MAX_LENGTH_DIGITS = 9
_MAX_PARAMETERS = 20

Route = Callable[["Request", dict[str, str]], Any]
"""Returns the answer to a request, given its query, as JSON. Raises Refused, or ValueError for an invalid query."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Refused(Exception):
    """A refused request, with the HTTP status and the reason."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


class PageServer:
    """The server; a context manager. Raises OSError when the port is taken.

    watched: functions of programs whose source is shown.
    """

    def __init__(
        self, port: int, get: Mapping[str, Route], post: Mapping[str, Route], *, watched: Iterable[Tap] = ()
    ) -> None:
        self._watched = dict(_place_of(tap) for tap in watched)
        self._routes = {"GET": {"/api/source": self._source, **get}, "POST": post}
        listener = socket.create_server(("127.0.0.1", port), backlog=64)
        self._http = ConnectionServer(listener, self._answer, "informer-tour")
        self._port = self._http.address[1]
        self._token = secrets.token_urlsafe(32)

    @property
    def url(self) -> str:
        """The page's address with the server's token. Every user who knows it can see and command the program."""
        return f"{self.address}?token={self.token}"

    @property
    def address(self) -> str:
        """The page's address without the token."""
        return f"http://127.0.0.1:{self._port}/"

    @property
    def token(self) -> str:
        """The secret that every request must carry."""
        return self._token

    def __enter__(self) -> Self:
        self._http.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.stop()

    def _answer(self, received: HTTPRequest) -> Response:
        request = Request(received)
        cookie = ""
        try:
            query = request.query
            is_opening = request.method == "GET" and request.path == "/" and self._is_token(query.get("token", ""))
            self._check_origin(request, is_opening=is_opening)
            if not is_opening and not self._has_token(request, query):
                raise Refused(401, "open the address that the program printed: it contains a token")
            if is_opening:
                cookie = f"{self._cookie_name()}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            return _response(200, *self._find(request, query), cookie)
        except Refused as err:
            return _refusal(err.code, str(err))
        except ValueError as err:
            return _refusal(400, str(err))
        except OSError:
            raise  # the client has disconnected
        except Exception as err:
            # An error of the tour, which the page shows as such: without a response the program would look dead.
            return _refusal(500, f"the tour failed: {type(err).__name__}: {err}")

    def _find(self, request: Request, query: dict[str, str]) -> tuple[str, bytes]:
        """Return the content type and the content of a path. Raises Refused."""
        path = request.path
        routes = self._routes.get(request.method)
        if routes is None:
            raise Refused(501, f"the method {request.method} is not supported")
        if (route := routes.get(path)) is not None:
            return _as_json(route(request, query))
        if request.method == "GET" and path == "/":
            return _file("index.html")
        if request.method == "GET" and path.startswith("/page/"):
            return _file(path.removeprefix("/page/"))
        raise Refused(404, "there is nothing here")

    def _check_origin(self, request: Request, *, is_opening: bool) -> None:
        """Refuse requests for another host name than ours, and requests that another site's page sends.

        is_opening: the request opens the page with the right token, so it may come from a link or a file.
        """
        ours = {f"127.0.0.1:{self._port}", f"localhost:{self._port}"}
        if request.header("host").lower() not in ours:
            raise Refused(421, "this server is 127.0.0.1 alone")
        origins = request.header_values("origin")
        if any(origin.lower() not in {f"http://{host}" for host in ours} for origin in origins):
            raise Refused(403, "another site's page may ask for nothing here")
        is_navigation = is_opening and request.header("sec-fetch-mode") == "navigate"
        if request.header("sec-fetch-site", "none") not in ("none", "same-origin") and not is_navigation:
            raise Refused(403, "another site's page may ask for nothing here")

    def _has_token(self, request: Request, query: Mapping[str, str]) -> bool:
        """Report whether the request carries the server's token: in its URL, a header or a cookie."""
        scheme, _, bearer = request.header("authorization").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(bearer.strip()):
            return True
        if self._is_token(query.get("token", "")):
            return True
        cookies = ";".join(request.header_values("cookie")).split(";")
        pairs = (cookie.strip().partition("=") for cookie in cookies)
        return any(self._is_token(value) for name, _, value in pairs if name == self._cookie_name())

    def _is_token(self, given: str) -> bool:
        # In constant time: the time of a refusal says nothing about the token.
        return hmac.compare_digest(given.encode(errors="replace"), self._token.encode())

    def _cookie_name(self) -> str:
        # A browser sends the cookies of one port to all of them: each server has a name of its own.
        return f"informer-tour-{self._port}"

    def _source(self, request: Request, query: dict[str, str]) -> Json:
        place = query.get("file", ""), query.get("function", "")
        found = _sources().get(place)
        if found is None and place in self._watched:
            found = _function(self._watched[place], *place)
        if found is None:
            raise Refused(404, "no hop happens there")
        return found


class Request:
    """A request for the page or its data."""

    def __init__(self, received: HTTPRequest) -> None:
        self.method = received.method
        self.path = received.path
        self.header, self.header_values = received.header, received.header_values
        self._received = received

    @property
    def query(self) -> dict[str, str]:
        """The first value of each parameter. Raises ValueError for more than 20 parameters."""
        if sum(map(len, self._received.params.values())) > _MAX_PARAMETERS:
            raise ValueError(f"the query has more than {_MAX_PARAMETERS} parameters")
        given = self._received.params.items()
        return {utf8.to_valid(name): utf8.to_valid(values[0]) for name, values in given if values[0]}

    def read_json(self) -> Json:
        """Return the request's body. Raises Refused."""
        if self._received.media_type() != "application/json":  # another site's page cannot send it without permission
            raise Refused(415, "the body must be application/json")
        length = self.header("content-length")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "the body needs a Content-Length")
        try:
            if len(length) > _MAX_LENGTH_DIGITS:
                raise RequestBodyTooLarge(_MAX_BODY)
            value = json.loads(self._received.connection.read_body(self._received, _MAX_BODY))
        except RequestBodyTooLarge:
            raise Refused(413, f"the body is longer than {_MAX_BODY} bytes") from None
        except (ValueError, RecursionError):
            raise Refused(400, "the body is no JSON") from None
        if not isinstance(value, dict):
            raise Refused(400, "the body is no object")
        return value


def _response(code: int, kind: str, body: bytes, cookie: str = "") -> Response:
    response = Response(code, body, f"{kind}; charset=utf-8", _HEADERS)
    if cookie:
        response.headers["Set-Cookie"] = cookie
    if code == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _refusal(code: int, why: str) -> Response:
    response = _response(code, *_as_json({"error": why}))
    # The rest of the connection may be an unread body, not a request.
    response.close = True
    return response


@contextlib.contextmanager
def browser_on(url: str) -> Iterator[None]:
    """Open a browser on the page, in the background.

    The browser gets the name of a file that only this user can read and that leads to the URL: the arguments of a
    process, and so a token in them, are visible to every user of the machine. The file is removed at the end.
    """
    folder = Path(tempfile.mkdtemp(prefix="informer-tour-"))
    try:
        file = folder / "open.html"
        target = html.escape(url, quote=True)
        file.touch(0o600)
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">The informer tour</a>'
        )
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), name="browser", daemon=True).start()
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# The values were made for JSON and contain no circles; the check would take a fifth of the time.
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def _as_json(value: Any) -> tuple[str, bytes]:
    return "application/json", _encode(value).encode()


def _file(name: str) -> tuple[str, bytes]:
    """Return a file of the page. Only names of existing files are accepted, so no name leads elsewhere."""
    known = {path.name: path for path in PAGE.iterdir() if path.suffix in _TYPES}
    path = known.get(name)
    if path is None:
        raise Refused(404, "there is no such file")
    return _TYPES[path.suffix], path.read_bytes()


def _place_of(tap: Tap) -> tuple[tuple[str, str], Path]:
    """Return the file and function as hops name them, and the file's path."""
    path = Path(str(importlib.import_module(tap.module).__file__)).resolve()
    return (relative_path(str(path)), tap.function), path


def sources(watched: Iterable[Tap] = ()) -> dict[tuple[str, str], Json]:
    """Return the source of every function at which hops happen, by file and function.

    watched: functions of programs, whose source is included.
    """
    theirs = {place: _function(path, *place) for place, path in map(_place_of, watched)}
    return {**_sources(), **theirs}


@functools.cache
def _sources() -> dict[tuple[str, str], Json]:
    """Return the source of every function at which hops happen, and of no other."""
    files = {(_path_of(tap.module), tap.function) for tap in TAPS}
    files |= {("clientgo/tour/program.py", "Shouter.reconcile"), ("clientgo/tour/replay.py", "Looker.reconcile")}
    files |= {("clientgo/tour/playback.py", "Playback.event")}
    # Sorted, so that each file is parsed only once.
    return {(file, function): _function(_LIBRARY / file, file, function) for file, function in sorted(files)}


def _path_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


# CPython counts the depth of a syntax tree for all threads together: two that parse at once may fail (gh-106905).
_parsing = threading.Lock()


@functools.lru_cache(maxsize=1)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _function(path: Path, file: str, function: str) -> Json:
    text = path.read_text(encoding="utf-8")
    with _parsing:
        node: Any = _parsed(text)
    owner: Any = None
    for name in function.split("."):
        owner, node = node, next(each for each in node.body if getattr(each, "name", None) == name)
    doc = ast.get_docstring(node) or ""
    about = ast.get_docstring(owner) if isinstance(owner, ast.ClassDef) else ""
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return {"file": file, "function": function, "first": node.lineno, "lines": lines, "doc": doc, "about": about or ""}
