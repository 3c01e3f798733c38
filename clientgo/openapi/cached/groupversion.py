"""A cache of an OpenAPI document in each format. Mirrors openapi/cached/groupversion.go."""

from __future__ import annotations

import threading

from clientgo.openapi.groupversion import GroupVersion


class CachedGroupVersion:
    """A cache of a document by format, including errors. Thread-safe; other threads wait for the first."""

    def __init__(self, delegate: GroupVersion) -> None:
        self._delegate = delegate
        # Guards _documents; held during the delegate's call.
        self._lock = threading.Lock()
        self._documents: dict[str, bytes | Exception] = {}

    def schema(self, content_type: str = "application/json") -> bytes:
        with self._lock:
            if content_type not in self._documents:
                self._documents[content_type] = self._read(content_type)
            document = self._documents[content_type]
        if isinstance(document, Exception):
            # Without the stacks of earlier callers, which would accumulate.
            raise document.with_traceback(None)
        return document

    def _read(self, content_type: str) -> bytes | Exception:
        try:
            return self._delegate.schema(content_type)
        except Exception as err:
            return err

    def server_relative_url(self) -> str:
        return self._delegate.server_relative_url()

    def __repr__(self) -> str:
        return f"<cached {self._delegate!r}, {len(self._documents)} formats read>"
