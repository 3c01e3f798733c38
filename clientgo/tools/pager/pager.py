"""A pager, which reads long lists in pages. Mirrors client-go/tools/pager/pager.go.

Differences from Go: a list joined from pages has the pages' class; Go makes a list of its internal version. A server
that answers a request with that request's own continue token is an error; Go requests the same page without end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from clientgo import context
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import UnstructuredList
from clientgo.apimachinery.runtime.object import ListObject
from clientgo.context import Context
from clientgo.golang.channel import Channel, Send, select
from clientgo.golang.functions import call_checked
from clientgo.klog.exceptions import operational_error

__all__ = ["ListPageFunc", "ListPager", "RepeatedPageError", "new", "simple_page_func"]

_DEFAULT_PAGE_SIZE = 500
_DEFAULT_PAGE_BUFFER_SIZE = 10

ListPageFunc = Callable[[Context, metav1.ListOptions], Any]
"""A function that returns the list for the options. Go: pager.ListPageFunc."""


@operational_error
class RepeatedPageError(ValueError):
    """Raised if the server's continue token leads to the same page again. Beyond Go."""

    def __init__(self) -> None:
        super().__init__("the server repeats the continue token of the request, so that the list has no end")


def simple_page_func(fn: Callable[[metav1.ListOptions], Any]) -> ListPageFunc:
    """Return a ListPageFunc that calls a function without a context. Go: pager.SimplePageFunc."""
    return lambda _ctx, opts: fn(opts)


class ListPager:
    """A pager, which reads a list page by page and keeps the selectors in the options. Go: pager.ListPager."""

    def __init__(
        self,
        *,
        page_fn: ListPageFunc,
        page_size: int = 0,
        full_list_if_expired: bool = False,
        page_buffer_size: int = 0,
    ) -> None:
        self.page_size = page_size
        """The limit of each page unless the options set one; 0 requests everything at once."""
        self.page_fn = page_fn
        self.full_list_if_expired = full_list_if_expired
        """True to request the full list if the list expires between two pages."""
        self.page_buffer_size = page_buffer_size
        """Number of pages that `each_list_item` reads ahead."""

    def list(self, ctx: Context, options: metav1.ListOptions) -> tuple[Any, bool]:
        """Return the whole list, and whether it had more than one page. Blocks.

        Several pages are joined to one list with the first page's resource version; a single page is returned
        unchanged. Raises the page function's errors, and `ctx.err()` if the context is done before a page.
        Go: ListPager.List.
        """
        return self._list(ctx, options)

    def list_with_alloc(self, ctx: Context, options: metav1.ListOptions) -> tuple[Any, bool]:
        """Return the full list like `list`. Go has two functions because a kept item may keep its page in memory there.

        Go: ListPager.ListWithAlloc.
        """
        return self._list(ctx, options)

    def _list(self, ctx: Context, options: metav1.ListOptions) -> tuple[Any, bool]:
        options = self._first_options(options)
        requested = options.resource_version, options.resource_version_match
        first: Any = None
        items: list[Any] = []
        while True:
            _raise_if_done(ctx)
            try:
                page = call_checked(self.page_fn, ctx, options.deep_copy())
            except Exception as err:
                # The first page cannot have expired, so a full list would not help.
                if not errors.is_resource_expired(err) or not self.full_list_if_expired or not options.continue_:
                    raise
                options.limit = 0
                options.continue_ = ""
                options.resource_version, options.resource_version_match = requested
                return call_checked(self.page_fn, ctx, options), first is not None
            token = _list_accessor(page).get_continue()
            if first is None and not token:
                return page, False
            if first is None:
                first = page
            items.extend(meta.extract_list(page))
            if not token:
                return _join(first, items), True
            _set_continue(options, token)
            # A server rejects a version together with a continue token, which implies one.
            options.resource_version = ""
            options.resource_version_match = ""

    def each_list_item(self, ctx: Context, options: metav1.ListOptions, fn: Callable[[Any], object]) -> None:
        """Call `fn` with each item, in this thread, while another thread reads up to `page_buffer_size` pages ahead.

        An exception of `fn` ends the loop at once and propagates. Otherwise raises the page function's error after the
        items before it were processed, also an Expired error between two pages, and `ctx.err()`. Blocks until the other
        thread has ended: a page function should observe its context. Go: ListPager.EachListItem.
        """
        self._each_list_chunk_buffered(ctx, options, lambda page: meta.each_list_item(page, fn))

    def each_list_item_with_alloc(self, ctx: Context, options: metav1.ListOptions, fn: Callable[[Any], object]) -> None:
        """Call `fn` with each item, like `each_list_item`; see `list_with_alloc`.

        Go: ListPager.EachListItemWithAlloc.
        """
        self.each_list_item(ctx, options, fn)

    def _each_list_chunk_buffered(self, ctx: Context, options: metav1.ListOptions, fn: Callable[[Any], object]) -> None:
        if self.page_buffer_size < 0:
            raise ValueError(f"ListPager.PageBufferSize must be >= 0, got {self.page_buffer_size}")
        reading, cancel = context.with_cancel(ctx)
        chunks: Channel[Any] = Channel(self.page_buffer_size)
        failures: list[Exception] = []

        def read() -> None:
            try:
                self._each_list_chunk(reading, options, lambda page: _send(reading, chunks, page))
            except Exception as err:
                failures.append(err)
            finally:
                chunks.close()

        reader = threading.Thread(target=read, name="list-pager", daemon=True)
        reader.start()
        try:
            for chunk in chunks:
                _raise_if_done(ctx)
                fn(chunk)
        finally:
            cancel()
            reader.join()
        if failures:
            raise failures[0]

    def _each_list_chunk(self, ctx: Context, options: metav1.ListOptions, fn: Callable[[Any], None]) -> None:
        options = self._first_options(options)
        while True:
            _raise_if_done(ctx)
            page = call_checked(self.page_fn, ctx, options.deep_copy())
            token = _list_accessor(page).get_continue()
            fn(page)
            if not token:
                return
            _set_continue(options, token)

    def _first_options(self, options: metav1.ListOptions) -> metav1.ListOptions:
        options = options.deep_copy()
        if options.limit == 0:
            options.limit = self.page_size
        return options

    def __repr__(self) -> str:
        return f"<ListPager pages of {self.page_size or 'any size'}, {self.page_buffer_size} ahead>"


def new(fn: ListPageFunc) -> ListPager:
    """Return a pager that reads 10 pages of 500 items ahead and falls back to a full list on expiry. Go: pager.New."""
    return ListPager(
        page_fn=fn,
        page_size=_DEFAULT_PAGE_SIZE,
        full_list_if_expired=True,
        page_buffer_size=_DEFAULT_PAGE_BUFFER_SIZE,
    )


def _set_continue(options: metav1.ListOptions, token: str) -> None:
    """Continue the list after the page of `options`. Raises RepeatedPageError."""
    if token == options.continue_:
        raise RepeatedPageError
    options.continue_ = token


def _list_accessor(page: Any) -> Any:
    try:
        return meta.list_accessor(page)
    except Exception as err:
        raise TypeError(f"returned object must be a list: {err}") from err


def _join(page: Any, items: list[Any]) -> ListObject:
    """Return a list of the items, with the first page's class, kind and resource version."""
    cls = type(page) if isinstance(page, ListObject) else UnstructuredList
    joined = cls()
    joined.set_group_version_kind(page.group_version_kind())
    joined.set_resource_version(page.get_resource_version())
    joined.set_self_link(page.get_self_link())
    return meta.new_list(cls, joined.to_dict(), items)


def _send(ctx: Context, chunks: Channel[Any], page: Any) -> None:
    if select([ctx.done(), Send(chunks, page)]).case == 0:
        _raise_if_done(ctx)


def _raise_if_done(ctx: Context) -> None:
    err = ctx.err()
    if err is not None:
        raise err
