"""A client of OpenAPI v3 documents, one per group version. Mirrors openapi/client.go and openapi/groupversion.go."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import urlsplit

from clientgo import context
from clientgo.rest.client import Interface


class GroupVersion(Protocol):
    """The OpenAPI document of one path."""

    def schema(self, content_type: str = "application/json") -> bytes:
        """Return the document in that format. Blocks; raises StatusError, URLError. Go: Schema."""
        ...

    def server_relative_url(self) -> str:
        """Return the document's URL on the server, with the hash of its content. Go: ServerRelativeURL."""
        ...


class Client(Protocol):
    """A client of a server's OpenAPI documents."""

    def paths(self) -> dict[str, GroupVersion]:
        """Return the documents by path, such as "apis/apps/v1". Blocks; raises StatusError, URLError. Go: Paths."""
        ...


class _GroupVersion:
    """A document that is fetched at every call."""

    def __init__(self, client: Interface, server_relative_url: str) -> None:
        self._client = client
        self._server_relative_url = server_relative_url

    def schema(self, content_type: str = "application/json") -> bytes:
        request = self._client.get().request_uri(self._server_relative_url)
        return request.set_header("Accept", content_type).do(context.background()).raw()

    def server_relative_url(self) -> str:
        return self._server_relative_url

    def __repr__(self) -> str:
        return f"<OpenAPI document {self._server_relative_url}>"


class _Client:
    """A client that sends a request at every call."""

    def __init__(self, client: Interface) -> None:
        self._client = client

    def paths(self) -> dict[str, GroupVersion]:
        index = self._client.get().abs_path("/openapi/v3").do(context.background()).json_object()
        # A request prepends the path of the base URL, which a server behind a proxy may already have included.
        base_path = urlsplit(self._client.get().abs_path("/").url()).path.removesuffix("/")
        return {
            path: _GroupVersion(self._client, document.get("serverRelativeURL", "").removeprefix(base_path))
            for path, document in (index.get("paths") or {}).items()
        }

    def __repr__(self) -> str:
        return f"<OpenAPI v3 client over {self._client!r}>"


def new_client(client: Interface) -> Client:
    """Go: NewClient."""
    return _Client(client)
