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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import parse_qs, urlsplit

from clientgo.tour.picture import Json
from clientgo.tour.seam import Tap, relative_path
from clientgo.tour.taps import TAPS

__all__ = ["PAGE", "PageServer", "Refused", "Request", "Route", "browser_on", "sources"]

PAGE = Path(__file__).resolve().parent / "page"
"""The folder of the page's files."""

_LIBRARY = Path(__file__).resolve().parents[2]
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_MAX_BODY = 64 * 1024
# Seconds that a client may take to send its request.
_PATIENCE = 30.0

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
        self._http = _Server(("127.0.0.1", port), {"GET": {"/api/source": self._source, **get}, "POST": post})
        self._thread = threading.Thread(target=self._http.serve_forever, name="informer-tour", daemon=True)

    @property
    def url(self) -> str:
        """The page's address with the server's token. Every user who knows it can see and command the program."""
        return f"{self.address}?token={self.token}"

    @property
    def address(self) -> str:
        """The page's address without the token."""
        return f"http://127.0.0.1:{self._http.server_port}/"

    @property
    def token(self) -> str:
        """The secret that every request must carry."""
        return self._http.token

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _source(self, request: Request, query: dict[str, str]) -> Json:
        place = query.get("file", ""), query.get("function", "")
        found = _sources().get(place)
        if found is None and place in self._watched:
            found = _function(self._watched[place], *place)
        if found is None:
            raise Refused(404, "no hop happens there")
        return found


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Room for a burst of connections.
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], routes: Mapping[str, Mapping[str, Route]]) -> None:
        self.routes = routes
        self.token = secrets.token_urlsafe(32)
        self._lock = threading.Lock()
        self._open: dict[threading.Thread, Any] = {}
        super().__init__(address, Request)

    def process_request(self, request: Any, client_address: Any) -> None:
        def serve() -> None:
            try:
                self.process_request_thread(request, client_address)
            finally:
                with self._lock:
                    self._open.pop(thread, None)

        thread = threading.Thread(target=serve, name="informer-tour request", daemon=True)
        with self._lock:
            self._open[thread] = request
        thread.start()

    def server_close(self) -> None:
        super().server_close()
        with self._lock:
            left = dict(self._open)
        for thread, request in left.items():
            with contextlib.suppress(OSError):  # it has gone by itself
                request.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits for a slow client; close does not
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class Request(BaseHTTPRequestHandler):
    """One request."""

    # A live page asks ten times a second and keeps its connection. In a busy program a new connection would wait for
    # the interpreter several times.
    protocol_version = "HTTP/1.1"
    wbufsize = 256 * 1024
    server_version = "informer-tour"
    sys_version = ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self._cookie = ""
        try:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query, max_num_fields=20).items()}
            is_opening = self.command == "GET" and parts.path == "/" and self._is_token(query.get("token", ""))
            self._check_origin(is_opening=is_opening)
            if not is_opening and not self._has_token(query):
                raise Refused(401, "open the address that the program printed: it contains a token")
            if is_opening:
                self._cookie = f"{self._cookie_name()}={self._token()}; Path=/; HttpOnly; SameSite=Strict"
            self._send(200, *self._find(parts.path, query))
        except Refused as err:
            self._refuse(err.code, str(err))
        except ValueError as err:
            self._refuse(400, str(err))
        except OSError:
            raise  # the client has gone
        except Exception as err:
            # An error of the tour, which the page shows as such: without an answer the program would look dead.
            self._refuse(500, f"the tour failed: {type(err).__name__}: {err}")

    def _refuse(self, code: int, why: str) -> None:
        # The rest of the connection may be an unread body, not a request.
        self.close_connection = True
        self._send(code, *_as_json({"error": why}))

    def _find(self, path: str, query: dict[str, str]) -> tuple[str, bytes]:
        """Return the content type and the content of a path. Raises Refused."""
        route = cast(_Server, self.server).routes[self.command].get(path)
        if route is not None:
            return _as_json(route(self, query))
        if self.command == "GET" and path == "/":
            return _file("index.html")
        if self.command == "GET" and path.startswith("/page/"):
            return _file(path.removeprefix("/page/"))
        raise Refused(404, "there is nothing here")

    def _check_origin(self, *, is_opening: bool) -> None:
        """Refuse requests for another host name than ours, and requests that another site's page sends.

        is_opening: the request opens the page with the right token, so it may come from a link or a file.
        """
        port = cast(_Server, self.server).server_port
        ours = {f"127.0.0.1:{port}", f"localhost:{port}"}
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0].lower() not in ours:
            raise Refused(421, "this server is 127.0.0.1 alone")
        origin = self.headers.get("Origin")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in ours}:
            raise Refused(403, "another site's page may ask for nothing here")
        is_navigation = is_opening and self.headers.get("Sec-Fetch-Mode") == "navigate"
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and not is_navigation:
            raise Refused(403, "another site's page may ask for nothing here")

    def _has_token(self, query: Mapping[str, str]) -> bool:
        """Report whether the request carries the server's token: in its URL, a header or a cookie."""
        scheme, _, bearer = (self.headers.get("Authorization") or "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(bearer.strip()):
            return True
        if self._is_token(query.get("token", "")):
            return True
        cookies = ";".join(self.headers.get_all("Cookie") or []).split(";")
        pairs = (cookie.strip().partition("=") for cookie in cookies)
        return any(self._is_token(value) for name, _, value in pairs if name == self._cookie_name())

    def _token(self) -> str:
        return cast(_Server, self.server).token

    def _is_token(self, given: str) -> bool:
        # In constant time: the time of a refusal says nothing about the token.
        return hmac.compare_digest(given.encode(errors="replace"), self._token().encode())

    def _cookie_name(self) -> str:
        # A browser sends the cookies of one port to all of them: each server has a name of its own.
        return f"informer-tour-{cast(_Server, self.server).server_port}"

    def read_json(self) -> Json:
        """Return the request's body. Raises Refused."""
        if self.headers.get_content_type() != "application/json":  # which another site's page cannot send unasked
            raise Refused(415, "the body must be application/json")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "the body's length must be told")
        if len(length) > 9 or int(length) > _MAX_BODY:
            raise Refused(413, f"the body is longer than {_MAX_BODY} bytes")
        try:
            value = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Refused(400, "the body is no JSON") from None
        if not isinstance(value, dict):
            raise Refused(400, "the body is no object")
        return value

    def _send(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if self._cookie:
            self.send_header("Set-Cookie", self._cookie)
        if code == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the page asks for many files."""


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
    return {(file, function): _function(_LIBRARY / file, file, function) for file, function in files}


def _path_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _function(path: Path, file: str, function: str) -> Json:
    text = path.read_text()
    node: Any = ast.parse(text)
    owner: Any = None
    for name in function.split("."):
        owner, node = node, next(each for each in node.body if getattr(each, "name", None) == name)
    doc = ast.get_docstring(node) or ""
    about = ast.get_docstring(owner) if isinstance(owner, ast.ClassDef) else ""
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return {"file": file, "function": function, "first": node.lineno, "lines": lines, "doc": doc, "about": about or ""}
