"""Reads OpenAPI v3 documents, one for each group version. Mirrors openapi/client.go and openapi/groupversion.go."""

from __future__ import annotations

import json

from clientgo import context
from clientgo.rest.client import Interface


class GroupVersion:
    """The document of one path, read when it is asked for."""

    def __init__(self, client: Interface, server_relative_url: str) -> None:
        self._client = client
        self._server_relative_url = server_relative_url

    def schema(self, content_type: str = "application/json") -> bytes:
        """The document in that format. Blocks; raises StatusError, URLError (Go: Schema)."""
        request = self._client.get().request_uri(self._server_relative_url)
        return request.set_header("Accept", content_type).do(context.background()).raw()

    def server_relative_url(self) -> str:
        """Where the document is, with the hash of its content (Go: ServerRelativeURL)."""
        return self._server_relative_url


class Client:
    """Lists the documents a server has."""

    def __init__(self, client: Interface) -> None:
        self._client = client

    def paths(self) -> dict[str, GroupVersion]:
        """The documents by path, such as "apis/apps/v1". Blocks; raises StatusError, URLError (Go: Paths)."""
        body = self._client.get().abs_path("/openapi/v3").do(context.background()).raw()
        paths = json.loads(body).get("paths") or {}
        return {path: GroupVersion(self._client, item["serverRelativeURL"]) for path, item in paths.items()}


def new_client(client: Interface) -> Client:
    """Go: NewClient."""
    return Client(client)
