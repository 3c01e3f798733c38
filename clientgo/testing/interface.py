"""The interface of fake clients. Mirrors testing/interface.go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from clientgo.apimachinery import watch
from clientgo.apimachinery.runtime.object import Object
from clientgo.testing.actions import Action
from clientgo.testing.fake import ProxyReactionFunc, ReactionFunc, WatchReactionFunc
from clientgo.testing.fixture import ObjectTracker

if TYPE_CHECKING:
    from clientgo import rest

__all__ = ["FakeClient"]


class FakeClient(Protocol):
    """A client that uses reactors and an object tracker. `Fake` documents the methods."""

    def tracker(self) -> ObjectTracker:
        """Return the tracker that stores the client's objects."""
        ...

    def add_reactor(self, verb: str, resource: str, reaction: ReactionFunc) -> None: ...

    def prepend_reactor(self, verb: str, resource: str, reaction: ReactionFunc) -> None: ...

    def add_watch_reactor(self, resource: str, reaction: WatchReactionFunc) -> None: ...

    def prepend_watch_reactor(self, resource: str, reaction: WatchReactionFunc) -> None: ...

    def add_proxy_reactor(self, resource: str, reaction: ProxyReactionFunc) -> None: ...

    def prepend_proxy_reactor(self, resource: str, reaction: ProxyReactionFunc) -> None: ...

    def invokes(self, action: Action, default_return_obj: Object | None) -> Object | None: ...

    def invokes_watch(self, action: Action) -> watch.Interface: ...

    def invokes_proxy(self, action: Action) -> rest.ResponseWrapper | None: ...

    def clear_actions(self) -> None: ...

    def actions(self) -> list[Action]: ...
