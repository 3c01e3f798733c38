"""OpenAPI v3 documents by group version. Mirrors client-go's openapi3/root.go.

Difference from Go: there is no class for a document (spec3.OpenAPI), so `gv_spec` returns the parsed JSON, as
`gv_spec_as_map` does.
"""

from __future__ import annotations

from typing import Any, Protocol

from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.util.json import unmarshal
from clientgo.openapi.client import Client

__all__ = ["GroupVersionNotFoundError", "Root", "new_root"]


class GroupVersionNotFoundError(LookupError):
    """The server has no OpenAPI v3 document for the group version. Go: openapi3.GroupVersionNotFoundError."""

    def __init__(self, gv: GroupVersion) -> None:
        super().__init__(gv)
        self.gv = gv

    def __str__(self) -> str:
        return f"GroupVersion ({self.gv}) not found as OpenAPI V3 path"


class Root(Protocol):
    """The list of a server's OpenAPI v3 documents. Its methods block and send a request at each call.

    They raise StatusError, URLError; ValueError for a document that is not a JSON object. Go: openapi3.Root.
    """

    def group_versions(self) -> list[GroupVersion]:
        """Return the group versions with a document, sorted by their text. Go: GroupVersions."""
        ...

    def gv_spec(self, gv: GroupVersion) -> dict[str, Any]:
        """Return a group version's document. Raises GroupVersionNotFoundError. Go: GVSpec."""
        ...

    def gv_spec_as_map(self, gv: GroupVersion) -> dict[str, Any]:
        """Return a group version's document. Raises GroupVersionNotFoundError. Go: GVSpecAsMap."""
        ...


class _Root:
    """See Root. Go: root."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def group_versions(self) -> list[GroupVersion]:
        found = (path_to_group_version(path) for path in self._client.paths())
        return sorted((gv for gv in found if gv is not None), key=str)

    def gv_spec(self, gv: GroupVersion) -> dict[str, Any]:
        return self.gv_spec_as_map(gv)

    def gv_spec_as_map(self, gv: GroupVersion) -> dict[str, Any]:
        found = self._client.paths().get(gv_to_api_path(gv))
        if found is None:
            raise GroupVersionNotFoundError(gv)
        document = unmarshal(found.schema("application/json"))
        if not isinstance(document, dict):
            raise ValueError(f"the OpenAPI document of {gv} is {type(document).__name__}, not a JSON object")
        return document

    def __repr__(self) -> str:
        return f"<OpenAPI v3 root over {self._client!r}>"


def new_root(client: Client) -> Root:
    """Return the documents of an OpenAPI client. Go: openapi3.NewRoot."""
    return _Root(client)


def gv_to_api_path(gv: GroupVersion) -> str:
    """Return the path of a group version, such as "apis/apps/v1". Go: gvToAPIPath."""
    return f"apis/{gv.group}/{gv.version}" if gv.group else f"api/{gv.version}"


def path_to_group_version(path: str) -> GroupVersion | None:
    """Return the group version of a path, or None if it is not the path of one. Go: pathToGroupVersion."""
    prefix, *parts = path.split("/")
    if prefix == "apis" and len(parts) >= 2:
        return GroupVersion(parts[0], parts[1])
    if prefix == "api" and parts:
        return GroupVersion("", parts[0])
    return None
