"""A server of OpenAPI v3 documents from files. Mirrors util/testing/fake_openapi_handler.go.

Differences: a document is the decoded JSON, since there is no spec3.OpenAPI; the server sends the bytes of the file,
not the document in another format.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote, urlencode

from clientgo.golang.http.server import Request, ResponseWriter, Server, error, listen, not_found

__all__ = ["FakeOpenAPIServer", "new_fake_openapi_v3_server"]

_ROOT: Final = "/openapi/v3"


@dataclass(kw_only=True)
class FakeOpenAPIServer:
    """A running server of the documents; a context manager. Thread-safe. Go: testing.FakeOpenAPIServer."""

    http_server: Server
    url: str
    """The address of the server. Go: HttpServer.URL."""
    served_documents: dict[str, dict[str, Any]]
    """The documents by the group version's path, such as "apis/apps/v1"."""
    request_counters: dict[str, int]
    """The number of requests by path. Read it when no request is being served."""
    _thread: threading.Thread = field(repr=False)

    def close(self) -> None:
        """End the server. Blocks until its requests have been served and its threads have ended. Idempotent.

        Go: HttpServer.Close.
        """
        self.http_server.shutdown()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def new_fake_openapi_v3_server(specs_path: str) -> FakeOpenAPIServer:
    """Start a server for the files below `specs_path` on a free port. Raises OSError, ValueError.

    The file apis/apps/v1.json contains the document of apps/v1. Go: NewFakeOpenAPIV3Server.
    """
    folder = Path(specs_path)
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*.json"))
        if path.is_file()
    }
    documents = {name: json.loads(content) for name, content in files.items()}
    handler = _Handler(files)
    listener = listen("127.0.0.1:0")
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = Server(handler, name="fake-openapi")
    thread = threading.Thread(target=server.serve, args=(listener,), name="fake-openapi-server", daemon=True)
    thread.start()
    return FakeOpenAPIServer(
        http_server=server, url=url, served_documents=documents, request_counters=handler.counts, _thread=thread
    )


class _Handler:
    """A handler of the root document and of one document for each group version. Go: handler3.OpenAPIService."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self._hashes = {name: hashlib.sha512(content).hexdigest().upper() for name, content in files.items()}
        # Guards the next attribute.
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()

    def serve_http(self, response: ResponseWriter, request: Request) -> None:
        with self._lock:
            self.counts[request.path] += 1
        if request.path == _ROOT:
            paths = {name: {"serverRelativeURL": self._url(name)} for name in self._files}
            _respond(response, json.dumps({"paths": paths}).encode())
            return
        name = request.path.removeprefix(f"{_ROOT}/")
        if name == request.path or name not in self._files:
            not_found(response, request)
            return
        hashes = request.query().get("hash", [])
        if hashes and hashes[0] != self._hashes[name]:
            response.header()["Location"] = self._url(name)
            error(response, "", 301)
            return
        response.header()["Etag"] = f'"{self._hashes[name]}"'
        _respond(response, self._files[name])

    def _url(self, name: str) -> str:
        return f"{_ROOT}/{quote(name)}?{urlencode({'hash': self._hashes[name]})}"


def _respond(response: ResponseWriter, body: bytes) -> None:
    response.header()["Content-Type"] = "application/json"
    response.write(body)
