"""Lists and watches of one shard, from servers with and without server-side sharding. No Go counterpart.

Each request names the shard in `ListOptions.shard_selector`. An API server with the feature gate ShardedListAndWatch
sends the shard only. One without it ignores the option and sends everything, and watches, Tables and lists of custom
resources do not say which of the two happened. So the answer is filtered here as well: an object that the server should
have left out costs its transfer, and the reading of its uid or namespace, but neither decoding nor memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from clientgo import context
from clientgo.apimachinery import runtime
from clientgo.apimachinery import watch as apiwatch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import UnstructuredList
from clientgo.apimachinery.sharding import Selector
from clientgo.context import Context
from clientgo.tools.cache.listwatch import (
    ListerWatcher,
    ListWatch,
    to_list_watcher_with_watch_list_semantics,
    to_lister_watcher_with_context,
)
from clientgo.tools.sharding.ranges import ShardBy, selector_of
from clientgo.util import watchlist

__all__ = ["ListingClient", "ShardListWatch", "list_watch_of", "supports_sharding"]


class ListingClient(Protocol):
    """The part of a typed, dynamic or metadata client of one resource that lists and watches."""

    def list(self, ctx: Context, opts: metav1.ListOptions | None = None, /) -> Any: ...

    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None, /) -> apiwatch.Interface: ...


def list_watch_of(client: ListingClient) -> ListerWatcher:
    """Return the ListerWatcher of a client, as generated informers make it: `client.apps_v1().deployments("")`."""
    listing = ListWatch(
        list_with_context_func=lambda ctx, options: client.list(ctx, options),
        watch_func_with_context=lambda ctx, options: client.watch(ctx, options),
    )
    return to_list_watcher_with_watch_list_semantics(listing, client)


def supports_sharding(ctx: Context, client: ListingClient) -> bool:
    """Ask a server whether it has the feature gate ShardedListAndWatch, by a list of at most one object.

    `client` must be of a built-in kind that the caller may list: lists of custom resources never say that they are
    sharded. Only the API server that answers is asked; behind a load balancer another one may answer differently.
    Blocks for the request and raises what it raises.
    """
    everything = str(selector_of([0], 1, ShardBy.UID))
    listed = client.list(ctx, metav1.ListOptions(limit=1, shard_selector=everything))
    return _selector_in(listed) == everything


class ShardListWatch:
    """A ListerWatcher of the objects that a shard selector matches. Thread-safe; blocks as the given one does."""

    def __init__(self, lw: ListerWatcher, selector: Selector) -> None:
        self._inner = to_lister_watcher_with_context(lw)
        self._selector = selector
        self._no_streaming_lists = watchlist.does_client_not_support_watch_list_semantics(lw)

    def __repr__(self) -> str:
        return f"<ShardListWatch {self._selector}>"

    def is_watch_list_semantics_un_supported(self) -> bool:
        """Report whether the client cannot stream lists."""
        return self._no_streaming_lists

    def list(self, options: metav1.ListOptions) -> runtime.Object:
        """Return the list without a context; see `list_with_context`."""
        return self.list_with_context(context.background(), options)

    def watch(self, options: metav1.ListOptions) -> apiwatch.Interface:
        """Open the watch without a context; see `watch_with_context`."""
        return self.watch_with_context(context.background(), options)

    def list_with_context(self, ctx: Context, options: metav1.ListOptions) -> runtime.Object:
        """Return one page of the shard's objects."""
        listed = self._inner.list_with_context(ctx, self._sharded(options))
        if _selector_in(listed) == str(self._selector):
            return listed
        kept = [item for item in meta.extract_list(listed) if self._selector.matches(item)]
        return _page_of(listed, kept)

    def watch_with_context(self, ctx: Context, options: metav1.ListOptions) -> apiwatch.Interface:
        """Open a watch of the shard's objects; bookmarks and errors pass."""
        return apiwatch.filter(self._inner.watch_with_context(ctx, self._sharded(options)), self._keep)

    def _sharded(self, options: metav1.ListOptions) -> metav1.ListOptions:
        options = options.deep_copy()
        options.shard_selector = str(self._selector)
        return options

    def _keep(self, event: apiwatch.Event) -> tuple[apiwatch.Event, bool]:
        if event.type in (apiwatch.EventType.BOOKMARK, apiwatch.EventType.ERROR):
            return event, True
        return event, self._selector.matches(event.object)


def _page_of(listed: Any, kept: Sequence[Any]) -> runtime.Object:
    """Return a list of the kept items with the kind, version and continue token of `listed`."""
    cls = type(listed) if isinstance(listed, runtime.ListObject) else UnstructuredList
    page = cls()
    page.set_group_version_kind(listed.group_version_kind())
    page.set_resource_version(listed.get_resource_version())
    page.set_continue(listed.get_continue())
    return meta.new_list(cls, page.to_dict(), kept)


def _selector_in(listed: object) -> str | None:
    """Return the selector that a server says it has applied; None if it says nothing."""
    get_shard_info = getattr(listed, "get_shard_info", None)
    info = get_shard_info() if get_shard_info is not None else None
    return cast("str", info.selector) if info is not None else None
