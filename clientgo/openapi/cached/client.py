"""A cache of the list of OpenAPI documents. Mirrors openapi/cached/client.go."""

from __future__ import annotations

import threading

from clientgo.openapi.cached.groupversion import CachedGroupVersion
from clientgo.openapi.client import Client
from clientgo.openapi.groupversion import GroupVersion


class _Client:
    """A client that calls another one once and caches its result or error. Thread-safe; other threads wait for the
    first.
    """

    def __init__(self, delegate: Client) -> None:
        self._delegate = delegate
        # Guards the next two attributes; held during the delegate's call.
        self._lock = threading.Lock()
        self._paths: dict[str, GroupVersion] | None = None
        self._err: Exception | None = None

    def paths(self) -> dict[str, GroupVersion]:
        with self._lock:
            if self._paths is None and self._err is None:
                self._read()
            if self._err is not None:
                # Without the stacks of earlier callers, which would accumulate.
                raise self._err.with_traceback(None)
            assert self._paths is not None
            return self._paths

    def _read(self) -> None:
        try:
            found = self._delegate.paths()
        except Exception as err:
            self._err = err
            return
        self._paths = {path: CachedGroupVersion(document) for path, document in found.items()}

    def __repr__(self) -> str:
        return f"<cached {self._delegate!r}>"


def new_client(other: Client) -> Client:
    """Return a client that caches the results of `other`. Go: NewClient."""
    return _Client(other)
