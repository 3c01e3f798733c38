"""A client that records its calls and responds with reactors. Mirrors testing/fake.go.

Difference from Go: a reaction returns (handled, result) and raises its error, which counts as handled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.object import Object
from clientgo.testing.actions import Action
from clientgo.testing.fixture import SimpleProxyReactor, SimpleReactor, SimpleWatchReactor

if TYPE_CHECKING:
    from clientgo import rest

__all__ = [
    "Fake",
    "ProxyReactionFunc",
    "ProxyReactor",
    "ReactionFunc",
    "Reactor",
    "WatchReactionFunc",
    "WatchReactor",
]

R = TypeVar("R")


class Fake:
    """A recorder of actions that responds with the first reactor that handles them. Thread-safe. Go: testing.Fake.

    As in Go, it holds a lock while reactors run: a reactor must not call the client it belongs to. The chains may be
    changed directly before the client is used.
    """

    def __init__(self) -> None:
        # Guards all attributes below, and serializes reactors.
        self._actions_lock = threading.Lock()
        self._actions: list[Action] = []
        self.reaction_chain: list[Reactor] = []
        """The reactors for all actions except watches and proxies, in their order."""
        self.watch_reaction_chain: list[WatchReactor] = []
        """The reactors for watches, in their order."""
        self.proxy_reaction_chain: list[ProxyReactor] = []
        """The reactors for reads through the API server, in their order."""
        self.resources: list[metav1.APIResourceList] = []
        """The resources that discovery returns."""

    def add_reactor(self, verb: str, resource: str, reaction: ReactionFunc) -> None:
        """Append a reaction to actions with that verb and resource ("pods", "pods/status"); "*" matches any."""
        reactor = SimpleReactor(verb, resource, reaction)
        with self._actions_lock:
            self.reaction_chain.append(reactor)

    def prepend_reactor(self, verb: str, resource: str, reaction: ReactionFunc) -> None:
        """Insert a reaction before all others; see `add_reactor`."""
        reactor = SimpleReactor(verb, resource, reaction)
        with self._actions_lock:
            self.reaction_chain.insert(0, reactor)

    def add_watch_reactor(self, resource: str, reaction: WatchReactionFunc) -> None:
        """Append a reaction to watches of that resource; "*" matches any."""
        reactor = SimpleWatchReactor(resource, reaction)
        with self._actions_lock:
            self.watch_reaction_chain.append(reactor)

    def prepend_watch_reactor(self, resource: str, reaction: WatchReactionFunc) -> None:
        """Insert a reaction before all others; see `add_watch_reactor`."""
        reactor = SimpleWatchReactor(resource, reaction)
        with self._actions_lock:
            self.watch_reaction_chain.insert(0, reactor)

    def add_proxy_reactor(self, resource: str, reaction: ProxyReactionFunc) -> None:
        """Append a reaction to reads of that resource through the API server; "*" matches any."""
        reactor = SimpleProxyReactor(resource, reaction)
        with self._actions_lock:
            self.proxy_reaction_chain.append(reactor)

    def prepend_proxy_reactor(self, resource: str, reaction: ProxyReactionFunc) -> None:
        """Insert a reaction before all others; see `add_proxy_reactor`."""
        reactor = SimpleProxyReactor(resource, reaction)
        with self._actions_lock:
            self.proxy_reaction_chain.insert(0, reactor)

    def invokes(self, action: Action, default_return_obj: Object | None) -> Object | None:
        """Record `action` and return the result of the first reactor that handles it, or the default.

        Raises the reactor's error. All reactors receive the same copy of the action, so that one may change an object
        that the next one stores; the recorded action does not change.
        """
        with self._actions_lock:
            seen = self._record(action)
            for reactor in self.reaction_chain:
                if reactor.handles(seen):
                    handled, result = _answer(reactor, reactor.react(seen))
                    if handled:
                        return result
        return default_return_obj

    def invokes_watch(self, action: Action) -> watch.Interface:
        """Record `action` and return the watch of the first reactor that handles it. Raises RuntimeError if none does.
        """
        with self._actions_lock:
            seen = self._record(action)
            for reactor in self.watch_reaction_chain:
                if reactor.handles(seen):
                    handled, result = _answer(reactor, reactor.react(seen))
                    if handled and result is not None:
                        return result
        raise RuntimeError(f"unhandled watch: {action!r}")

    def invokes_proxy(self, action: Action) -> rest.ResponseWrapper | None:
        """Record `action` and return the response of the first reactor that handles it; skips reactors that raise."""
        with self._actions_lock:
            seen = self._record(action)
            for reactor in self.proxy_reaction_chain:
                if not reactor.handles(seen):
                    continue
                try:
                    answer = reactor.react(seen)
                except Exception:
                    continue
                handled, result = _answer(reactor, answer)
                if handled:
                    return result
        return None

    def clear_actions(self) -> None:
        """Drop the recorded actions."""
        with self._actions_lock:
            self._actions = []

    def actions(self) -> list[Action]:
        """Return the recorded actions, oldest first."""
        with self._actions_lock:
            return list(self._actions)

    def _record(self, action: Action) -> Action:
        """Record a copy; return another one for the reactors."""
        self._actions.append(action.deep_copy())
        return action.deep_copy()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self._actions)} actions, {len(self.reaction_chain)} reactors>"


def _answer(reactor: object, answer: tuple[bool, R]) -> tuple[bool, R]:
    """Return a reactor's result. Raises TypeError if it is not (handled, result), for example Go's three values."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise TypeError(f"{reactor!r} returned {answer!r}; a reaction returns (handled, result) and raises its error")
    return answer


class Reactor(Protocol):
    """A reaction to some actions. Go: testing.Reactor."""

    def handles(self, action: Action, /) -> bool:
        """Report whether this reactor applies to the action."""
        ...

    def react(self, action: Action, /) -> tuple[bool, Object | None]:
        """Return (handled, result); the next reactor is tried if it is not handled. Raises the error of the response.
        """
        ...


class WatchReactor(Protocol):
    """A reaction to some watches. Go: testing.WatchReactor."""

    def handles(self, action: Action, /) -> bool: ...

    def react(self, action: Action, /) -> tuple[bool, watch.Interface | None]:
        """Return (handled, watch); the next reactor is tried if it is not handled. Raises the error of the response."""
        ...


class ProxyReactor(Protocol):
    """A reaction to some reads through the API server. Go: testing.ProxyReactor."""

    def handles(self, action: Action, /) -> bool: ...

    def react(self, action: Action, /) -> tuple[bool, rest.ResponseWrapper | None]:
        """Return (handled, response); the next reactor is tried if it is not handled or this one raises."""
        ...


ReactionFunc: TypeAlias = Callable[[Action], tuple[bool, Object | None]]
"""A function that returns (handled, result) for an action or raises the error of the response.

`action.get_subresource()` distinguishes subresources.
"""

WatchReactionFunc: TypeAlias = Callable[[Action], tuple[bool, watch.Interface | None]]
"""A function that returns (handled, watch) for a watch action or raises the error of the response."""

ProxyReactionFunc: TypeAlias = "Callable[[Action], tuple[bool, rest.ResponseWrapper | None]]"
"""A function that returns (handled, response) for a proxy action; an error passes the action on."""
