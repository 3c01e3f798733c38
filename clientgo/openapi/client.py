"""A client of OpenAPI v3 documents, one per group version. Mirrors client-go's openapi/client.go."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import urlsplit

from clientgo import context
from clientgo.openapi.groupversion import GroupVersion, new_group_version
from clientgo.rest.client import Interface


class Client(Protocol):
    """A client of a server's OpenAPI documents."""

    def paths(self) -> dict[str, GroupVersion]:
        """Return the documents by path, such as "apis/apps/v1". Blocks; raises StatusError, URLError. Go: Paths."""
        ...


class _Client:
    """A client that sends a request at every call."""

    def __init__(self, client: Interface) -> None:
        self._client = client

    def paths(self) -> dict[str, GroupVersion]:
        index = self._client.get().abs_path("/openapi/v3").do(context.background()).json_object()
        # A request prepends the path of the base URL, which a server behind a proxy may already have included.
        base_path = urlsplit(self._client.get().abs_path("/").url()).path.removesuffix("/")
        return {
            path: new_group_version(self._client, document.get("serverRelativeURL", "").removeprefix(base_path))
            for path, document in (index.get("paths") or {}).items()
        }

    def __repr__(self) -> str:
        return f"<OpenAPI v3 client over {self._client!r}>"


def new_client(client: Interface) -> Client:
    """Return a client of the OpenAPI v3 documents. Go: NewClient."""
    return _Client(client)
