"""What a plugin is asked: an object on its way into the store."""

from __future__ import annotations

from dataclasses import dataclass

from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.wire.jsonio import Json


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """A create, or an update with the object as it was. The new one has its defaults; plugins change it in place."""

    resource: Resource
    namespace: str
    # Empty while it is to be generated.
    name: str
    obj: Json
    old: Json | None = None
    subresource: str = ""
