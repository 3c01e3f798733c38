"""The OpenAPI v3 document of one group version. Mirrors client-go's openapi/groupversion.go."""

from __future__ import annotations

from typing import Protocol

from clientgo import context
from clientgo.rest.client import Interface

__all__ = ["CONTENT_TYPE_OPENAPI_V3_PB", "GroupVersion", "new_group_version"]

CONTENT_TYPE_OPENAPI_V3_PB = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
"""The content type of documents in protobuf; this library does not parse them."""


class GroupVersion(Protocol):
    """The OpenAPI document of one path."""

    def schema(self, content_type: str = "application/json") -> bytes:
        """Return the document in that format. Blocks; raises StatusError, URLError. Go: Schema."""
        ...

    def server_relative_url(self) -> str:
        """Return the document's URL on the server, with the hash of its content. Go: ServerRelativeURL."""
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


def new_group_version(client: Interface, server_relative_url: str) -> GroupVersion:
    """Return the document at a URL of the server, fetched at each call of `schema`. Go: newGroupVersion."""
    return _GroupVersion(client, server_relative_url)
