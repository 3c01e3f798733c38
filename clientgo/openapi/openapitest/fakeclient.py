"""OpenAPI documents from a dict. Mirrors client-go's openapi/openapitest/fakeclient.go."""

from __future__ import annotations

from dataclasses import dataclass, field

from clientgo.openapi.groupversion import GroupVersion

__all__ = ["FakeClient", "FakeGroupVersion", "new_fake_client"]

_JSON = "application/json"


@dataclass(kw_only=True)
class FakeGroupVersion:
    """A document that the test sets; implements openapi.GroupVersion. Go: openapitest.FakeGroupVersion."""

    gv_spec: bytes = b""
    """The document as JSON."""
    forced_err: Exception | None = None
    """Raised by `schema`."""

    def schema(self, content_type: str = _JSON) -> bytes:
        """Return the document. Raises ValueError for a content type other than JSON. Go: Schema."""
        if content_type != _JSON:
            raise ValueError(f"application/json is only content type supported: {content_type}")
        if self.forced_err is not None:
            raise self.forced_err
        return self.gv_spec

    def server_relative_url(self) -> str:
        """Raise NotImplementedError, as Go panics. Go: ServerRelativeURL."""
        raise NotImplementedError("unimplemented")


@dataclass(kw_only=True)
class FakeClient:
    """A client with documents that the test sets; implements openapi.Client. Go: openapitest.FakeClient."""

    paths_map: dict[str, GroupVersion] = field(default_factory=dict)
    """The documents by path."""
    forced_err: Exception | None = None
    """Raised by `paths`."""

    def paths(self) -> dict[str, GroupVersion]:
        """Return `paths_map`, or raise `forced_err`. Go: Paths."""
        if self.forced_err is not None:
            raise self.forced_err
        return self.paths_map


def new_fake_client() -> FakeClient:
    """Return a client without documents. Go: openapitest.NewFakeClient."""
    return FakeClient()
