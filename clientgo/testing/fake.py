"""A client that records what it is asked and lets reactors answer. Mirrors testing/fake.go.

Differs from Go: a reaction returns (handled, result) and raises its error; raising means that it handled the action.
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
    """Records actions and answers them with the first reactor that handles them. Go: testing.Fake. Thread-safe.

    One lock is held while reactors run, as in Go: a reactor must not call the client it belongs to. The chains may be
    changed directly before the client is used.
    """

    def __init__(self) -> None:
        # Guards everything below, and serialises reactors.
        self._actions_lock = threading.Lock()
        self._actions: list[Action] = []
        self.reaction_chain: list[Reactor] = []
        """Asked in this order for everything but watches and proxies."""
        self.watch_reaction_chain: list[WatchReactor] = []
        """Asked in this order for watches."""
        self.proxy_reaction_chain: list[ProxyReactor] = []
        """Asked in this order for reads through the API server."""
        self.resources: list[metav1.APIResourceList] = []
        """What discovery answers."""

    def add_reactor(self, verb: str, resource: str, reaction: ReactionFunc) -> None:
        """Ask `reaction` last, about actions with that verb and resource ("pods", "pods/status"); "*" is any."""
        reactor = SimpleReactor(verb, resource, reaction)
        with self._actions_lock:
            self.reaction_chain.append(reactor)

    def prepend_reactor(self, verb: str, resource: str, reaction: ReactionFunc) -> None:
        """As `add_reactor`, but ask it first."""
        reactor = SimpleReactor(verb, resource, reaction)
        with self._actions_lock:
            self.reaction_chain.insert(0, reactor)

    def add_watch_reactor(self, resource: str, reaction: WatchReactionFunc) -> None:
        """Ask `reaction` last about watches of that resource; "*" is any."""
        reactor = SimpleWatchReactor(resource, reaction)
        with self._actions_lock:
            self.watch_reaction_chain.append(reactor)

    def prepend_watch_reactor(self, resource: str, reaction: WatchReactionFunc) -> None:
        """As `add_watch_reactor`, but ask it first."""
        reactor = SimpleWatchReactor(resource, reaction)
        with self._actions_lock:
            self.watch_reaction_chain.insert(0, reactor)

    def add_proxy_reactor(self, resource: str, reaction: ProxyReactionFunc) -> None:
        """Ask `reaction` last about reads of that resource through the API server; "*" is any."""
        reactor = SimpleProxyReactor(resource, reaction)
        with self._actions_lock:
            self.proxy_reaction_chain.append(reactor)

    def prepend_proxy_reactor(self, resource: str, reaction: ProxyReactionFunc) -> None:
        """As `add_proxy_reactor`, but ask it first."""
        reactor = SimpleProxyReactor(resource, reaction)
        with self._actions_lock:
            self.proxy_reaction_chain.insert(0, reactor)

    def invokes(self, action: Action, default_return_obj: Object | None) -> Object | None:
        """Record `action` and return what the first reactor that handles it returns; the default if none does.

        Raises what the reactor raises. Reactors get a copy of the action, the same one after another, so that one may
        change an object that the next one stores; the recorded action stays as it was.
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
        """Record `action` and return the watch of the first reactor that handles it; raises RuntimeError if none."""
        with self._actions_lock:
            seen = self._record(action)
            for reactor in self.watch_reaction_chain:
                if reactor.handles(seen):
                    handled, result = _answer(reactor, reactor.react(seen))
                    if handled and result is not None:
                        return result
        raise RuntimeError(f"unhandled watch: {action!r}")

    def invokes_proxy(self, action: Action) -> rest.ResponseWrapper | None:
        """Record `action` and return what the first reactor that handles it returns; one that raises is passed over."""
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
        """Forget the recorded actions."""
        with self._actions_lock:
            self._actions = []

    def actions(self) -> list[Action]:
        """The recorded actions, oldest first."""
        with self._actions_lock:
            return list(self._actions)

    def _record(self, action: Action) -> Action:
        """Record a copy; return another one for the reactors."""
        self._actions.append(action.deep_copy())
        return action.deep_copy()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self._actions)} actions, {len(self.reaction_chain)} reactors>"


def _answer(reactor: object, answer: tuple[bool, R]) -> tuple[bool, R]:
    """What a reactor answered; raises TypeError when that is no (handled, result), such as Go's three values."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise TypeError(f"{reactor!r} returned {answer!r}; a reaction returns (handled, result) and raises its error")
    return answer


class Reactor(Protocol):
    """Answers some actions. Go: testing.Reactor."""

    def handles(self, action: Action) -> bool:
        """Whether to ask this reactor at all."""
        ...

    def react(self, action: Action) -> tuple[bool, Object | None]:
        """(handled, result); the next reactor is asked when not handled. Raises the error to answer with."""
        ...


class WatchReactor(Protocol):
    """Answers some watches. Go: testing.WatchReactor."""

    def handles(self, action: Action) -> bool: ...

    def react(self, action: Action) -> tuple[bool, watch.Interface | None]:
        """(handled, watch); the next reactor is asked when not handled. Raises the error to answer with."""
        ...


class ProxyReactor(Protocol):
    """Answers some reads through the API server. Go: testing.ProxyReactor."""

    def handles(self, action: Action) -> bool: ...

    def react(self, action: Action) -> tuple[bool, rest.ResponseWrapper | None]:
        """(handled, response); the next reactor is asked when not handled or when this one raises."""
        ...


ReactionFunc: TypeAlias = Callable[[Action], tuple[bool, Object | None]]
"""(handled, result) of an action; raises the error to answer with. Tell subresources by `action.get_subresource()`."""

WatchReactionFunc: TypeAlias = Callable[[Action], tuple[bool, watch.Interface | None]]
"""(handled, watch) of a watch action; raises the error to answer with."""

ProxyReactionFunc: TypeAlias = "Callable[[Action], tuple[bool, rest.ResponseWrapper | None]]"
"""(handled, response) of a proxy action; raising passes the action on."""
