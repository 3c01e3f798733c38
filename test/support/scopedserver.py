"""A small API server below the whole real client: it is listed and watched, and remembers what it was asked for.

A round tripper, in real or in virtual time. It does not stream lists, so that reflectors list and then watch.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from clientgo.apimachinery import fields, labels
from clientgo.golang import http

Document = dict[str, Any]

RESOURCES = {"ConfigMap": "configmaps", "Secret": "secrets", "Pod": "pods", "Node": "nodes", "Widget": "widgets"}


class ScopedServer:
    """Holds objects, and answers lists and watches of those that a namespace and selectors choose."""

    def __init__(self, objects: Iterable[Document], resource_version: int, denies: Iterable[str] = ()) -> None:
        # Guards the rest, and is notified of changes.
        self._changed = threading.Condition()
        self._objects = {(doc["kind"], *_names(doc)): doc for doc in objects}
        self._version = resource_version
        self._denies = set(denies)
        # All changes: (version, before, after).
        self._log: list[tuple[int, Document | None, Document | None]] = []
        self._scopes: set[str] = set()

    def scopes(self) -> list[str]:
        """Return the scopes of all requests."""
        with self._changed:
            return sorted(self._scopes)

    def put(self, doc: Document) -> None:
        """Create or replace an object, at its version."""
        with self._changed:
            key = (doc["kind"], *_names(doc))
            before, self._objects[key] = self._objects.get(key), doc
            self._version = int(doc["metadata"]["resourceVersion"])
            self._log.append((self._version, before, doc))
            self._changed.notify_all()

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Delete an object, at the next version."""
        with self._changed:
            before = self._objects.pop((kind, namespace, name), None)
            if before is None:
                return
            self._version += 1
            self._log.append((self._version, before, None))
            self._changed.notify_all()

    def round_trip(self, request: http.Request) -> http.Response:
        if (done := request.ctx.err()) is not None:
            raise done
        url = urlsplit(request.url)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        scope = _Scope(url.path, query, "PartialObjectMetadata" in (request.headers.get("Accept") or ""))
        with self._changed:
            self._scopes.add(str(scope))
        if scope.resource in self._denies:
            return _failure(403, "Forbidden")
        if query.get("sendInitialEvents") == "true":
            return _failure(422, "Invalid")
        if query.get("watch") == "true":
            return _answer(200, _Watch(self, scope, int(query.get("resourceVersion") or 0), request))
        with self._changed:
            return _answer(200, _bytes(scope.listed(self._objects.values(), self._version)))

    def events_after(self, position: int) -> list[tuple[int, Document | None, Document | None]]:
        return self._log[position:]

    @property
    def changed(self) -> threading.Condition:
        return self._changed


class _Scope:
    """The scope of a request."""

    def __init__(self, path: str, query: dict[str, str], metadata_only: bool) -> None:
        parts = path.strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts[3:]
        self.namespace = parts.pop(0) and parts.pop(0) if parts[0] == "namespaces" else ""
        self.resource = parts[0]
        self._labels, self._fields = query.get("labelSelector", ""), query.get("fieldSelector", "")
        self._metadata_only = metadata_only

    def __str__(self) -> str:
        return (
            f'{self.resource} namespace="{self.namespace}" labels="{self._labels}" fields="{self._fields}" '
            f"metadata_only={str(self._metadata_only).lower()}"
        )

    def chooses(self, doc: Document | None) -> bool:
        if doc is None or RESOURCES[doc["kind"]] != self.resource:
            return False
        namespace, name = _names(doc)
        if self.namespace not in ("", namespace):
            return False
        chosen = labels.parse(self._labels).matches(labels.Set(doc["metadata"].get("labels") or {}))
        about = fields.Set({"metadata.name": name, "metadata.namespace": namespace})
        return chosen and fields.parse_selector(self._fields).matches(about)

    def shown(self, doc: Document) -> Document:
        if not self._metadata_only:
            return doc
        return {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": doc["metadata"]}

    def listed(self, docs: Iterable[Document], version: int) -> Document:
        chosen = [doc for doc in docs if self.chooses(doc)]
        kind, api_version = next(((doc["kind"], doc["apiVersion"]) for doc in chosen), ("", ""))
        if not chosen:
            kind = next(kind for kind, resource in RESOURCES.items() if resource == self.resource)
            api_version = "example.com/v1" if kind == "Widget" else "v1"
        if self._metadata_only:
            kind, api_version = "PartialObjectMetadata", "meta.k8s.io/v1"
        return {
            "apiVersion": api_version,
            "kind": f"{kind}List",
            "metadata": {"resourceVersion": str(version)},
            "items": [self.shown(doc) for doc in chosen],
        }


class _Watch:
    """The body of a watch: an event a line, as changes come."""

    def __init__(self, server: ScopedServer, scope: _Scope, since: int, request: http.Request) -> None:
        self._server = server
        self._scope = scope
        self._since = since
        self._position = 0
        self._lines: deque[bytes] = deque()
        self._over = False
        self._forget = request.ctx.done().add_done_callback(self.abort)

    def read(self) -> bytes:
        return b"".join(iter(self.read_some, b""))

    def read_some(self) -> bytes:
        with self._server.changed:
            while not self._over:
                self._take()
                if self._lines:
                    return self._lines.popleft()
                self._server.changed.wait()
        raise EOFError("the watch was broken off")

    def _take(self) -> None:
        for version, before, after in self._server.events_after(self._position):
            self._position += 1
            event = self._event(version, before, after)
            if version > self._since and event is not None:
                self._lines.append(json.dumps(event).encode() + b"\n")

    def _event(self, version: int, before: Document | None, after: Document | None) -> Document | None:
        was, is_ = self._scope.chooses(before), self._scope.chooses(after)
        if is_:
            assert after is not None
            return {"type": "MODIFIED" if was else "ADDED", "object": self._scope.shown(after)}
        if was:
            assert before is not None
            last = {**before, "metadata": {**before["metadata"], "resourceVersion": str(version)}}
            return {"type": "DELETED", "object": self._scope.shown(last)}
        return None

    def limit_silence(self, seconds: float) -> None: ...

    def abort(self) -> None:
        with self._server.changed:
            self._over = True
            self._server.changed.notify_all()

    def close(self) -> None:
        self._forget()
        self.abort()


def _names(doc: Document) -> tuple[str, str]:
    return doc["metadata"].get("namespace", ""), doc["metadata"]["name"]


def _bytes(doc: Document) -> http.BytesBody:
    return http.BytesBody(json.dumps(doc).encode())


def _failure(code: int, reason: str) -> http.Response:
    about = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": reason}
    return _answer(code, _bytes({**about, "code": code}))


def _answer(code: int, body: Any) -> http.Response:
    headers = http.Header()
    headers["Content-Type"] = "application/json"
    return http.Response(status_code=code, headers=headers, body=body)
