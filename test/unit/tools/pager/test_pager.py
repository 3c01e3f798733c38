"""Lists in pages: what is asked for, what comes out, and how far it reads ahead."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import synctest
from clientgo.tools import pager

PAGE = 10
CTX = context.background()


class Server:
    """Serves so many pods page by page, and writes down what it was asked."""

    def __init__(self, total: int, expires_on_page: int = 0) -> None:
        self.total = total
        self.expires_on_page = expires_on_page
        self.asked: list[dict[str, Any]] = []

    def list(self, ctx: context.Context, options: metav1.ListOptions) -> corev1.PodList:
        self.asked.append(options.to_dict())
        if len(self.asked) == self.expires_on_page:
            raise errors.new_resource_expired("list expired")
        start = int(options.continue_ or 0)
        end = min(start + options.limit, self.total) if options.limit else self.total
        metadata = metav1.ListMeta(resource_version="rv:20", continue_=str(end) if end < self.total else "")
        pods = [corev1.Pod(metadata=metav1.ObjectMeta(name=f"pod{i}")) for i in range(start, end)]
        return corev1.PodList(metadata=metadata, items=pods)


def names_of(listed: Any) -> list[str]:
    return [item.get_name() for item in meta.extract_list(listed)]


def all_names(total: int) -> list[str]:
    return [f"pod{i}" for i in range(total)]


SIZES = [
    pytest.param(0, id="empty page"),
    pytest.param(PAGE - 1, id="one page"),
    pytest.param(PAGE, id="one full page"),
    pytest.param(PAGE + 1, id="two pages"),
    pytest.param(2 * PAGE + 1, id="three pages"),
]


@pytest.mark.parametrize("total", SIZES)
@pytest.mark.parametrize("method", ["list", "list_with_alloc"])
def test_list(total, method):
    """Go: TestListPager_List.

    Go: TestListPager_List/empty page
    Go: TestListPager_List/one page
    Go: TestListPager_List/one full page
    Go: TestListPager_List/two pages
    Go: TestListPager_List/three pages
    """
    server = Server(total)
    listed, paginated = getattr(pager.ListPager(page_size=PAGE, page_fn=server.list), method)(CTX, metav1.ListOptions())
    assert names_of(listed) == all_names(total)
    assert listed.get_resource_version() == "rv:20"
    assert listed.get_continue() == ""
    assert isinstance(listed, corev1.PodList)
    assert paginated is (total > PAGE)
    assert len(server.asked) == max(1, -(-total // PAGE))


@pytest.mark.parametrize("match", ["", "NotOlderThan"])
def test_only_the_first_page_names_a_resource_version(match):
    """Go: TestListPager_List/two pages with resourceVersion.

    Go: TestListPager_List/two pages with resourceVersion and resourceVersionMatch
    """
    server = Server(PAGE + 1)
    options = metav1.ListOptions(resource_version="rv:10", resource_version_match=match, label_selector="a=b")
    pager.ListPager(page_size=PAGE, page_fn=server.list).list(CTX, options)
    first, second = server.asked
    assert first["resourceVersion"] == "rv:10"
    assert first.get("resourceVersionMatch", "") == match
    assert second == {"labelSelector": "a=b", "limit": PAGE, "continue": str(PAGE)}
    assert options.limit == 0, "the caller's options are not changed"


def test_expired_without_fallback():
    """Go: TestListPager_List/expires on second page."""
    server = Server(2 * PAGE, expires_on_page=2)
    with pytest.raises(errors.StatusError) as caught:
        pager.ListPager(page_size=PAGE, page_fn=server.list).list(CTX, metav1.ListOptions())
    assert errors.is_resource_expired(caught.value)


def test_expired_and_then_everything_at_once():
    """Go: TestListPager_List/expires on second page and then lists."""
    server = Server(2 * PAGE, expires_on_page=2)
    options = metav1.ListOptions(resource_version="rv:10")
    listed, paginated = pager.ListPager(page_size=PAGE, page_fn=server.list, full_list_if_expired=True).list(
        CTX, options
    )
    assert names_of(listed) == all_names(2 * PAGE)
    assert paginated
    assert server.asked[2] == {"resourceVersion": "rv:10"}


def test_expired_on_the_first_page_is_final():
    server = Server(2 * PAGE, expires_on_page=1)
    with pytest.raises(errors.StatusError):
        pager.new(server.list).list(CTX, metav1.ListOptions())
    assert len(server.asked) == 1


def test_a_limit_of_the_callers_wins_and_new_has_gos_defaults():
    server = Server(5)
    made = pager.new(server.list)
    made.list(CTX, metav1.ListOptions(limit=2))
    assert [asked["limit"] for asked in server.asked] == [2, 2, 2]
    assert (made.page_size, made.page_buffer_size, made.full_list_if_expired) == (500, 10, True)


def test_a_context_that_is_done_ends_the_list():
    ctx, cancel = context.with_cancel(CTX)
    cancel()
    made = pager.new(lambda ctx, opts: pytest.fail("asked"))
    with pytest.raises(context.Canceled):
        made.list(ctx, metav1.ListOptions())
    with pytest.raises(context.Canceled):
        made.each_list_item(ctx, metav1.ListOptions(), lambda item: None)


def test_what_is_no_list_is_refused():
    made = pager.new(pager.simple_page_func(lambda opts: "no list"))
    with pytest.raises(TypeError, match="returned object must be a list"):
        made.list(CTX, metav1.ListOptions())


@pytest.mark.parametrize("total", SIZES)
@pytest.mark.parametrize("method", ["each_list_item", "each_list_item_with_alloc"])
def test_each_list_item(total, method):
    """Go: TestListPager_EachListItem.

    Go: TestListPager_EachListItem/empty page
    Go: TestListPager_EachListItem/one page
    Go: TestListPager_EachListItem/one full page
    Go: TestListPager_EachListItem/two pages
    Go: TestListPager_EachListItem/three pages
    """
    names: list[str] = []
    made = pager.ListPager(page_size=PAGE, page_fn=Server(total).list)
    getattr(made, method)(CTX, metav1.ListOptions(), lambda item: names.append(item.get_name()))
    assert names == all_names(total)


def test_each_list_item_expires():
    """Go: TestListPager_EachListItem/expires on second page."""
    names: list[str] = []
    made = pager.ListPager(page_size=PAGE, page_fn=Server(2 * PAGE, expires_on_page=2).list)
    with pytest.raises(errors.StatusError) as caught:
        made.each_list_item(CTX, metav1.ListOptions(), lambda item: names.append(item.get_name()))
    assert errors.is_resource_expired(caught.value)
    assert names == all_names(PAGE)


def test_each_list_item_stops_at_the_functions_error():
    """Go: TestListPager_EachListItem/error processing item."""
    names: list[str] = []

    def process(item: corev1.Pod) -> None:
        names.append(item.get_name())
        if len(names) == 3:
            raise ValueError("bad item")

    made = pager.ListPager(page_size=PAGE, page_fn=Server(2 * PAGE).list)
    with pytest.raises(ValueError, match="bad item"):
        made.each_list_item(CTX, metav1.ListOptions(), process)
    assert names == all_names(3)
    assert not [thread for thread in threading.enumerate() if thread.name == "list-pager"]


def test_each_list_item_stops_with_its_context():
    """Go: TestListPager_EachListItem/cancel context while processing."""
    ctx, cancel = context.with_cancel(CTX)
    names: list[str] = []

    def process(item: corev1.Pod) -> None:
        names.append(item.get_name())
        if len(names) == 3:
            cancel()

    made = pager.ListPager(page_size=PAGE, page_fn=Server(3 * PAGE).list)
    with pytest.raises(context.Canceled):
        made.each_list_item(ctx, metav1.ListOptions(), process)
    assert names == all_names(PAGE), "a page that has begun is processed to its end"


@pytest.mark.parametrize(
    ("ahead", "pages", "processed", "asked"),
    [
        pytest.param(0, 1, 1, 1, id="no buffer, one total page"),
        pytest.param(0, 5, 1, 2, id="no buffer, 1/5 pages processed"),
        pytest.param(0, 5, 2, 3, id="no buffer, 2/5 pages processed"),
        pytest.param(0, 5, 5, 5, id="no buffer, 5/5 pages processed"),
        pytest.param(1, 5, 1, 3, id="size 1 buffer, 1/5 pages processed"),
        pytest.param(1, 5, 5, 5, id="size 1 buffer, 5/5 pages processed"),
        pytest.param(10, 5, 1, 5, id="size 10 buffer, 1/5 page processed"),
    ],
)
def test_read_ahead(ahead, pages, processed, asked):
    """Go: TestListPager_eachListPageBuffered.

    Go: TestListPager_eachListPageBuffered/no buffer, one total page
    Go: TestListPager_eachListPageBuffered/no buffer, 1/5 pages processed
    Go: TestListPager_eachListPageBuffered/no buffer, 2/5 pages processed
    Go: TestListPager_eachListPageBuffered/no buffer, 5/5 pages processed
    Go: TestListPager_eachListPageBuffered/size 1 buffer, 1/5 pages processed
    Go: TestListPager_eachListPageBuffered/size 1 buffer, 5/5 pages processed
    Go: TestListPager_eachListPageBuffered/size 10 buffer, 1/5 page processed
    """
    with synctest.bubble() as b:
        server = Server(pages * PAGE)
        made = pager.ListPager(page_size=PAGE, page_fn=server.list, page_buffer_size=ahead)
        seen: list[Any] = []

        def process(page: Any) -> None:
            seen.append(page)
            if len(seen) == processed:
                b.wait()  # the reader has gone as far as it may
                raise ValueError("enough")

        with pytest.raises(ValueError, match="enough"):
            made._each_list_chunk_buffered(CTX, metav1.ListOptions(), process)
        assert len(seen) == processed
        assert len(server.asked) == asked


def test_a_negative_buffer_is_refused():
    made = pager.ListPager(page_fn=Server(1).list, page_buffer_size=-1)
    with pytest.raises(ValueError, match=r"ListPager\.PageBufferSize must be >= 0, got -1"):
        made.each_list_item(CTX, metav1.ListOptions(), lambda item: None)


@pytest.mark.parametrize("page_size", [0, PAGE])
def test_a_server_that_repeats_a_page_is_an_error_and_not_an_endless_loop(page_size):
    asked: list[str] = []

    def repeated(ctx: context.Context, options: metav1.ListOptions) -> corev1.PodList:
        asked.append(options.continue_)
        assert len(asked) < 5
        return corev1.PodList(metadata=metav1.ListMeta(continue_="same"), items=[corev1.Pod()])

    listing = pager.ListPager(page_fn=repeated, page_size=page_size, page_buffer_size=2)
    with pytest.raises(pager.RepeatedPageError, match="repeats the continue token"):
        listing.list(CTX, metav1.ListOptions())
    assert asked == ["", "same"]
    asked.clear()
    items: list[Any] = []
    with pytest.raises(pager.RepeatedPageError):
        listing.each_list_item(CTX, metav1.ListOptions(), items.append)
    assert (asked, len(items)) == (["", "same"], 2)
