"""OpenAPI documents from files. Mirrors client-go's openapi/openapitest/fileclient.go.

The embedded API server (`clientgo.testing.apiserver`) serves documents of all groups; this package contains no files.
"""

from __future__ import annotations

from pathlib import Path

from clientgo.openapi.client import Client
from clientgo.openapi.groupversion import GroupVersion

__all__ = ["new_file_client"]

_JSON = "application/json"
_SUFFIX = "_openapi.json"


class _FileGroupVersion:
    def __init__(self, path: Path) -> None:
        self._path = path

    def schema(self, content_type: str = _JSON) -> bytes:
        if content_type != _JSON:
            raise ValueError("openapitest only supports 'application/json' contentType")
        return self._path.read_bytes()

    def server_relative_url(self) -> str:
        return self._path.name

    def __repr__(self) -> str:
        return f"<OpenAPI document {self._path}>"


class _FileClient:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def paths(self) -> dict[str, GroupVersion]:
        return {
            path.name.removesuffix(_SUFFIX).replace("__", "/"): _FileGroupVersion(path)
            for path in sorted(self._folder.iterdir())
        }

    def __repr__(self) -> str:
        return f"<OpenAPI client of {self._folder}>"


def new_file_client(path: str) -> Client:
    """Return a client for the files of a folder, such as Kubernetes' api/openapi-spec/v3. Go: NewFileClient.

    The file apis__apps__v1_openapi.json contains the document apis/apps/v1. `paths` and `schema` raise OSError.
    """
    return _FileClient(Path(path))
