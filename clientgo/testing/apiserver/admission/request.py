"""The input of an admission plugin: a write before it is stored."""

from __future__ import annotations

from dataclasses import dataclass, field

from clientgo.apimachinery.util import managedfields
from clientgo.testing.apiserver.kinds import ownership
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """A create, or an update with the object as it was. The new one has its defaults; plugins change it in place."""

    resource: Resource
    namespace: str
    # Empty before it is generated.
    name: str
    obj: Json
    old: Json | None = None
    subresource: str = ""
    dry_run: bool = False
    # More warnings for the response.
    warnings: list[str] = field(default_factory=list)
    times: Times | None = None
    registry: Registry | None = None

    @property
    def is_resize(self) -> bool:
        """Report whether the request changes the resources of a pod, which the limits of its namespace bound too."""
        return self.resource.storage == "/pods" and self.subresource == "resize" and self.old is not None

    def now(self) -> str:
        assert self.times is not None
        return self.times.now_text()

    def node_of(self, storage: str) -> managedfields.Node:
        """Return the merge rules of another resource's fields, for plugins that write to it."""
        assert self.registry is not None
        resource = self.registry.by_storage(storage)
        assert resource is not None
        return ownership.merge_node(resource)


