"""Read a long list in pages, which is easier on the server than all at once.

Mirrors tools/pager/pager.go.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from clientgo import context
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import ListObject, Object
from clientgo.channel import Channel, Send, select

_DEFAULT_PAGE_SIZE = 500
_DEFAULT_PAGE_BUFFER_SIZE = 10

# Go: ListPageFunc. Makes one list request, for one page.
ListPageFunc = Callable[[context.Context, metav1.ListOptions], Object]


def simple_page_func(fn: Callable[[metav1.ListOptions], Object]) -> ListPageFunc:
    """A page function of one that takes no context. Go: SimplePageFunc."""
    return lambda _, options: fn(options)


class _List(ListObject):
    """The items of many pages in one list. Go: metainternalversion.List."""

    __slots__ = ("_objects",)

    def __init__(self, objects: Sequence[Any]) -> None:
        super().__init__()
        self._objects: Sequence[Any] = objects

    def extract_items(self) -> list[Any]:
        return list(self._objects)


def _make_list(first_page: ListObject, objects: Sequence[Any]) -> _List:
    made = _List(objects)
    made.set_resource_version(first_page.get_resource_version())
    made.set_self_link(first_page.get_self_link())
    return made


class ListPager:
    """Lists in pages of at most `page_size`; 0 asks for everything at once. Go: ListPager.

    The options of a request are those given, but for limit, continue token and, after the first page, the version.
    Thread-safe as long as nobody sets the attributes meanwhile.
    """

    def __init__(
        self,
        page_fn: ListPageFunc,
        page_size: int = 0,
        full_list_if_expired: bool = False,
        page_buffer_size: int = 0,
    ) -> None:
        self.page_fn = page_fn
        self.page_size = page_size
        # Whether to list all at once when a continue token is too old.
        self.full_list_if_expired = full_list_if_expired
        # How many pages `each_list_item` may be ahead of the function.
        self.page_buffer_size = page_buffer_size

    def list(self, ctx: context.Context, options: metav1.ListOptions) -> tuple[Object, bool]:
        """(the whole list, whether it came in pages). Blocks for all requests. Go: List.

        A list that comes in one page is given as it is; the items of several are put into one list at the version of
        the first page. Raises what a request raises, `ctx.err()` when `ctx` is done between two.
        """
        options = self._first_page(options)
        version, match = options.resource_version, options.resource_version_match
        first: ListObject | None = None
        objects: Any = []
        while True:
            _raise_if_done(ctx)
            try:
                page = self.page_fn(ctx, options.deep_copy())
            except Exception as err:
                if not (apierrors.is_resource_expired(err) and self.full_list_if_expired and options.continue_):
                    raise
                # The version the pages are at was compacted away meanwhile.
                options.limit, options.continue_ = 0, ""
                options.resource_version, options.resource_version_match = version, match
                return self.page_fn(ctx, options), first is not None
            page_meta = _list_meta(page)
            token = page_meta.get_continue()
            if first is None and not token:
                return page, False
            objects.extend(meta.extract_list_with_alloc(page))
            if first is None:
                first = page_meta
            if not token:
                return _make_list(first, objects), True
            # A continue token stands for the version too; servers refuse both together.
            options.continue_ = token
            options.resource_version = options.resource_version_match = ""

    def list_with_alloc(self, ctx: context.Context, options: metav1.ListOptions) -> tuple[Object, bool]:
        """`list`; here the items never keep their page alive. Go: ListWithAlloc."""
        return self.list(ctx, options)

    def each_list_item(self, ctx: context.Context, options: metav1.ListOptions, fn: Callable[[Any], object]) -> None:
        """Call `fn` with each item, while a thread named "list-pager" reads ahead. Go: EachListItem.

        Raises what `fn` raises, at once; what a request raises, after the items before it; and `ctx.err()`. An expired
        continue token is not recovered from: some items were given out already.
        """
        if self.page_buffer_size < 0:
            raise ValueError(f"ListPager.PageBufferSize must be >= 0, got {self.page_buffer_size}")
        read_ctx, cancel = context.with_cancel(ctx)
        pages: Channel[Object] = Channel(self.page_buffer_size)
        failures: Any = []

        def read_ahead() -> None:
            try:
                for page in self._pages(read_ctx, options):
                    if select([read_ctx.done(), Send(pages, page)]).case == 0:
                        _raise_if_done(read_ctx)
            except BaseException as err:
                failures.append(err)
            finally:
                pages.close()

        reader = threading.Thread(target=read_ahead, name="list-pager", daemon=True)
        reader.start()
        try:
            for page in pages:
                _raise_if_done(ctx)
                meta.each_list_item(page, fn)
        finally:
            cancel()
            reader.join()
        if failures:
            raise failures[0]

    def each_list_item_with_alloc(
        self, ctx: context.Context, options: metav1.ListOptions, fn: Callable[[Any], object]
    ) -> None:
        """`each_list_item`; here the items never keep their page alive. Go: EachListItemWithAlloc."""
        self.each_list_item(ctx, options, fn)

    def _pages(self, ctx: context.Context, options: metav1.ListOptions) -> Iterator[Object]:
        options = self._first_page(options)
        while True:
            _raise_if_done(ctx)
            page = self.page_fn(ctx, options.deep_copy())
            token = _list_meta(page).get_continue()
            yield page
            if not token:
                return
            options.continue_ = token

    def _first_page(self, options: metav1.ListOptions) -> metav1.ListOptions:
        options = options.deep_copy()
        options.limit = options.limit or self.page_size
        return options

    def __repr__(self) -> str:
        return f"<ListPager of {self.page_size}>"


def _raise_if_done(ctx: context.Context) -> None:
    err = ctx.err()
    if err is not None:
        raise err


def _list_meta(page: Object) -> Any:
    try:
        return meta.list_accessor(page)
    except Exception as err:
        raise ValueError(f"returned object must be a list: {err}") from err


def new(fn: ListPageFunc) -> ListPager:
    """A pager with pages of 500 that lists all at once when a continue token is too old. Go: New."""
    return ListPager(fn, _DEFAULT_PAGE_SIZE, True, _DEFAULT_PAGE_BUFFER_SIZE)


__all__ = ["ListPageFunc", "ListPager", "new", "simple_page_func"]
