"""The source of a reflector's objects: a function that lists and a function that watches.

Mirrors tools/cache/listwatch.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from clientgo import context
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.watch import Interface
from clientgo.golang.functions import (
    describe_function,
    raise_returned,
    require_function,
    require_methods,
    require_plain,
)
from clientgo.hops import hop
from clientgo.util import watchlist

if TYPE_CHECKING:
    from clientgo.apimachinery.fields import Selector

T = TypeVar("T")


class Lister(Protocol):
    """A source of lists; implement ListerWithContext too. Go: Lister."""

    def list(self, options: metav1.ListOptions, /) -> runtime.Object:
        """Return a list object, whose items fill the store and at whose resource version the watch starts.

        Deprecated in favour of ListerWithContext. Blocks for the request. Go: List.
        """
        ...


@runtime_checkable
class ListerWithContext(Protocol):
    """A source of lists. Go: ListerWithContext."""

    def list_with_context(self, ctx: context.Context, options: metav1.ListOptions, /) -> runtime.Object:
        """Return a list object, whose items fill the store and at whose resource version the watch starts.

        Blocks for the request, and should end soon after `ctx`. Go: ListWithContext.
        """
        ...


def require_lister_watcher(lw: T) -> T:
    """Return `lw` if it has methods to list and to watch, with or without a context. Raises TypeError."""
    source = "the source of an informer or a reflector"
    for verb in ("list", "watch"):
        method = getattr(lw, f"{verb}_with_context", None)
        if isinstance(lw, type) or not callable(method):
            require_methods(lw, source, verb)
        else:
            require_plain(method, f"{verb}_with_context of {source}", "ctx, options")
    return lw


def to_lister_with_context(lister: Lister) -> ListerWithContext:
    """Return `lister` if it takes a context, else a wrapper that ignores the context. Go: ToListerWithContext."""
    if isinstance(lister, ListerWithContext):
        return lister
    return _ListerWrapper(lister)


class _ListerWrapper:
    def __init__(self, parent: Lister) -> None:
        self._parent = parent

    def list_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> runtime.Object:
        return self._parent.list(options)


class Watcher(Protocol):
    """A source of watches; implement WatcherWithContext too. Go: Watcher."""

    def watch(self, options: metav1.ListOptions, /) -> Interface:
        """Return a watch from the version in `options`. Deprecated in favour of WatcherWithContext. Go: Watch.

        If it raises, there is no watch to stop.
        """
        ...


@runtime_checkable
class WatcherWithContext(Protocol):
    """A source of watches. Go: WatcherWithContext."""

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions, /) -> Interface:
        """Return a watch from the version in `options`. Go: WatchWithContext.

        Blocks until the server has answered. If it raises, there is no watch to stop.
        """
        ...


def to_watcher_with_context(watcher: Watcher) -> WatcherWithContext:
    """Return `watcher` if it takes a context, else a wrapper that ignores the context. Go: ToWatcherWithContext."""
    if isinstance(watcher, WatcherWithContext):
        return watcher
    return _WatcherWrapper(watcher)


class _WatcherWrapper:
    def __init__(self, parent: Watcher) -> None:
        self._parent = parent

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Interface:
        return self._parent.watch(options)


class ListerWatcher(Lister, Watcher, Protocol):
    """A source of lists and watches of one resource. Go: ListerWatcher.

    A source may also have only the two methods with a context. A reflector first requests a watch that begins with all
    objects (`sendInitialEvents`). A source without such watches needs a method `is_watch_list_semantics_un_supported`
    that returns True, or the reflector waits for the initial objects for ever.
    """


@runtime_checkable
class ListerWatcherWithContext(ListerWithContext, WatcherWithContext, Protocol):
    """A source of lists and watches of one resource. Go: ListerWatcherWithContext."""


@hop("reflector.source", go="ToListerWatcherWithContext")
def to_lister_watcher_with_context(lw: ListerWatcher | ListerWatcherWithContext) -> ListerWatcherWithContext:
    """Return `lw` if its methods take a context, else a wrapper that ignores it. Go: ToListerWatcherWithContext."""
    if isinstance(lw, ListerWatcherWithContext):
        return lw
    return _ListerWatcherWrapper(to_lister_with_context(lw), to_watcher_with_context(lw))


class _ListerWatcherWrapper:
    def __init__(self, lister: ListerWithContext, watcher: WatcherWithContext) -> None:
        self.list_with_context = lister.list_with_context
        self.watch_with_context = watcher.watch_with_context


# Go: ListFunc. Deprecated in favour of ListWithContextFunc.
ListFunc = Callable[[metav1.ListOptions], runtime.Object]
# Go: ListWithContextFunc.
ListWithContextFunc = Callable[[context.Context, metav1.ListOptions], runtime.Object]
# Go: WatchFunc. Deprecated in favour of WatchFuncWithContext.
WatchFunc = Callable[[metav1.ListOptions], Interface]
# Go: WatchFuncWithContext.
WatchFuncWithContext = Callable[[context.Context, metav1.ListOptions], Interface]


@dataclass(kw_only=True)
class ListWatch:
    """A ListerWatcher made of functions. Go: ListWatch.

    Set `list_func` or `list_with_context_func`, and `watch_func` or `watch_func_with_context` (as in Go, the two names
    differ). If both of a pair are set, the method with a context calls the function with a context.
    """

    list_func: ListFunc | None = None
    watch_func: WatchFunc | None = None
    list_with_context_func: ListWithContextFunc | None = None
    watch_func_with_context: WatchFuncWithContext | None = None
    # As in Go, nothing reads it.
    disable_chunking: bool = False

    def __post_init__(self) -> None:
        """Raise TypeError for what is no function, and for a function with other parameters."""
        for name, parameters in _LIST_WATCH_FUNCTIONS.items():
            if (function := getattr(self, name)) is not None:
                require_function(function, f"the {name} of a ListWatch", parameters)

    def list(self, options: metav1.ListOptions) -> runtime.Object:
        """Make one list request; the reflector makes the pages. Deprecated. Go: List."""
        if self.list_func is not None:
            return self.list_func(options)
        if self.list_with_context_func is not None:
            return self.list_with_context_func(context.background(), options)
        raise _incomplete()

    def list_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> runtime.Object:
        """Make one list request; the reflector makes the pages. Go: ListWithContext."""
        if self.list_with_context_func is not None:
            return self.list_with_context_func(ctx, options)
        if self.list_func is not None:
            return self.list_func(options)
        raise _incomplete()

    def watch(self, options: metav1.ListOptions) -> Interface:
        """Start a watch. Deprecated. Go: Watch."""
        if self.watch_func is not None:
            return self.watch_func(options)
        if self.watch_func_with_context is not None:
            return self.watch_func_with_context(context.background(), options)
        raise _incomplete()

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Interface:
        """Start a watch. Go: WatchWithContext."""
        if self.watch_func_with_context is not None:
            return self.watch_func_with_context(ctx, options)
        if self.watch_func is not None:
            return self.watch_func(options)
        raise _incomplete()


# The functions of a ListWatch and their parameters.
_LIST_WATCH_FUNCTIONS = {
    "list_func": "options",
    "watch_func": "options",
    "list_with_context_func": "ctx, options",
    "watch_func_with_context": "ctx, options",
}


def list_from(source: ListerWithContext, ctx: context.Context, options: metav1.ListOptions) -> runtime.Object:
    """List, as a reflector does. Raises an error that the user's function returns, and a TypeError for no list."""
    returned = source.list_with_context(ctx, options)
    raise_returned(returned)
    try:
        meta.list_accessor(returned)
    except meta.ErrNotList as err:
        got = f"{describe_function(_user_function(source.list_with_context))} returned {type(returned).__name__}"
        raise TypeError(f"returned object must be a list: {err}: {got}") from None
    return returned


def watch_from(source: WatcherWithContext, ctx: context.Context, options: metav1.ListOptions) -> Interface:
    """Watch, as a reflector does. Raises an error that the user's function returns, and a TypeError for no watch."""
    returned = source.watch_with_context(ctx, options)
    raise_returned(returned)
    return require_methods(returned, _user_function(source.watch_with_context), "result_chan", "stop")


def _user_function(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a ListWatch or the method behind a wrapper, which the error of a wrong result names."""
    owner = getattr(method, "__self__", None)
    if isinstance(owner, _ListerWrapper):
        return _user_function(owner._parent.list)
    if isinstance(owner, _WatcherWrapper):
        return _user_function(owner._parent.watch)
    if not isinstance(owner, ListWatch):
        return method
    if "list" in method.__name__:
        return owner.list_with_context_func or owner.list_func or method
    return owner.watch_func_with_context or owner.watch_func or method


def _incomplete() -> ValueError:
    return ValueError("a ListWatch needs a list function and a watch function")


class _ListWatcherWithWatchListSemanticsWrapper:
    """A ListWatch with the answer of its client to `is_watch_list_semantics_un_supported`.

    Fakes do not support such watches; their reflectors list and watch, whatever the feature gate is.
    """

    def __init__(self, list_watch: ListWatch, unsupported_watch_list_semantics: bool) -> None:
        self.list = list_watch.list
        self.list_with_context = list_watch.list_with_context
        self.watch = list_watch.watch
        self.watch_with_context = list_watch.watch_with_context
        self._unsupported_watch_list_semantics = unsupported_watch_list_semantics

    def is_watch_list_semantics_un_supported(self) -> bool:
        return self._unsupported_watch_list_semantics


def to_list_watcher_with_watch_list_semantics(lw: ListWatch, client: object) -> ListerWatcher:
    """Return `lw` with the answer of `client` about streaming lists. Go: ToListWatcherWithWatchListSemantics."""
    return _ListWatcherWithWatchListSemanticsWrapper(lw, watchlist.does_client_not_support_watch_list_semantics(client))


class Getter(Protocol):
    """The method of a REST client that a ListWatch calls. Go: Getter."""

    def get(self) -> Any:
        """Return a new GET request (rest.Request). Go: Get."""
        ...


def new_list_watch_from_client(c: Getter, resource: str, namespace: str, field_selector: Selector) -> ListWatch:
    """Return a ListWatch of `resource` in `namespace` ("" for all), filtered by fields. Go: NewListWatchFromClient."""

    def select_fields(options: metav1.ListOptions) -> None:
        options.field_selector = str(field_selector)

    return new_filtered_list_watch_from_client(c, resource, namespace, select_fields)


def new_filtered_list_watch_from_client(
    c: Getter, resource: str, namespace: str, options_modifier: Callable[[metav1.ListOptions], None]
) -> ListWatch:
    """Return a ListWatch of `resource` in `namespace` ("" for all). Go: NewFilteredListWatchFromClient.

    `options_modifier` may change a copy of the options of each request, for example to add selectors.
    """

    def request(options: metav1.ListOptions) -> Any:
        options_modifier(options)
        return c.get().namespace(namespace).resource(resource).versioned_params(options)

    def list_with_context(ctx: context.Context, options: metav1.ListOptions) -> runtime.Object:
        listed: runtime.Object = request(options.deep_copy()).do(ctx).get()
        return listed

    def watch_with_context(ctx: context.Context, options: metav1.ListOptions) -> Interface:
        options = options.deep_copy()
        options.watch = True
        opened: Interface = request(options).watch(ctx)
        return opened

    return ListWatch(
        list_func=lambda options: list_with_context(context.background(), options),
        watch_func=lambda options: watch_with_context(context.background(), options),
        list_with_context_func=list_with_context,
        watch_func_with_context=watch_with_context,
    )


__all__ = [
    "Getter",
    "ListFunc",
    "ListWatch",
    "ListWithContextFunc",
    "Lister",
    "ListerWatcher",
    "ListerWatcherWithContext",
    "ListerWithContext",
    "WatchFunc",
    "WatchFuncWithContext",
    "Watcher",
    "WatcherWithContext",
    "new_filtered_list_watch_from_client",
    "new_list_watch_from_client",
    "to_list_watcher_with_watch_list_semantics",
    "to_lister_watcher_with_context",
    "to_lister_with_context",
    "to_watcher_with_context",
]
