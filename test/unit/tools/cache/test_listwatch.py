"""The list and watch functions of a reflector. Go: listwatch_test.go."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context
from clientgo.apimachinery import fields, watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.util import watchlist


class Client:
    def __init__(self, unsupported: bool) -> None:
        self._unsupported = unsupported

    def is_watch_list_semantics_un_supported(self) -> bool:
        return self._unsupported


@pytest.mark.parametrize(
    ("client", "unsupported"),
    [
        # Go: TestToListWatcherWithWatchListSemantics/client which doesn't implement the interface supports WatchList semantics  # noqa: E501
        (None, False),
        # Go: TestToListWatcherWithWatchListSemantics/client does not support WatchList semantics
        (Client(True), True),
        # Go: TestToListWatcherWithWatchListSemantics/client supports WatchList semantics
        (Client(False), False),
    ],
)
def test_a_list_watch_passes_on_what_its_client_says(client: object, unsupported: bool) -> None:
    """Go: TestToListWatcherWithWatchListSemantics"""
    target = cache.to_list_watcher_with_watch_list_semantics(cache.ListWatch(), client)
    assert watchlist.does_client_not_support_watch_list_semantics(target) is unsupported


class OldListerWatcher:
    """Knows nothing of contexts."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def list(self, options: metav1.ListOptions) -> Any:
        self.calls.append(f"list {options.resource_version}")

    def watch(self, options: metav1.ListOptions) -> Any:
        self.calls.append(f"watch {options.resource_version}")


def test_an_old_lister_watcher_is_wrapped_and_a_new_one_is_not() -> None:
    old = OldListerWatcher()
    wrapped = cache.to_lister_watcher_with_context(old)
    wrapped.list_with_context(context.background(), metav1.ListOptions(resource_version="1"))
    wrapped.watch_with_context(context.background(), metav1.ListOptions(resource_version="2"))
    assert old.calls == ["list 1", "watch 2"]
    new = cache.ListWatch()
    assert cache.to_lister_watcher_with_context(new) is new
    assert cache.to_lister_with_context(new) is new
    assert cache.to_watcher_with_context(new) is new


def test_each_method_prefers_its_own_function() -> None:
    seen: list[str] = []
    with_both = cache.ListWatch(
        list_func=lambda _: seen.append("list"),
        list_with_context_func=lambda _, __: seen.append("list ctx"),
        watch_func=lambda _: seen.append("watch"),
        watch_func_with_context=lambda _, __: seen.append("watch ctx"),
    )
    options = metav1.ListOptions()
    with_both.list(options)
    with_both.list_with_context(context.background(), options)
    with_both.watch(options)
    with_both.watch_with_context(context.background(), options)
    assert seen == ["list", "list ctx", "watch", "watch ctx"]

    old = cache.ListWatch(list_func=lambda _: seen.append("old"), watch_func=lambda _: seen.append("old"))
    old.list_with_context(context.background(), options)
    old.watch_with_context(context.background(), options)
    new = cache.ListWatch(
        list_with_context_func=lambda _, __: seen.append("new"),
        watch_func_with_context=lambda _, __: seen.append("new"),
    )
    new.list(options)
    new.watch(options)
    assert seen[4:] == ["old", "old", "new", "new"]
    with pytest.raises(ValueError, match="needs a list function"):
        cache.ListWatch().list(options)


class FakeRequest:
    """A request builder that writes down how it was used, and a Getter of itself."""

    def __init__(self) -> None:
        self.used: list[Any] = []

    def get(self) -> Any:
        if self.used and self.used[-1] == "do":
            return "the list"
        return self

    def namespace(self, namespace: str) -> FakeRequest:
        self.used.append(("namespace", namespace))
        return self

    def resource(self, resource: str) -> FakeRequest:
        self.used.append(("resource", resource))
        return self

    def versioned_params(self, options: metav1.ListOptions) -> FakeRequest:
        self.used.append(options.to_dict())
        return self

    def do(self, ctx: context.Context) -> FakeRequest:
        self.used.append("do")
        return self

    def watch(self, ctx: context.Context) -> watch.Interface:
        self.used.append("watch")
        return watch.new_empty_watch()


def test_a_list_watch_from_a_client_makes_requests() -> None:
    request = FakeRequest()
    list_watch = cache.new_list_watch_from_client(request, "pods", "default", fields.parse_selector("spec.nodeName=n1"))
    options = metav1.ListOptions(resource_version="7")
    assert list_watch.list_with_context(context.background(), options) == "the list"
    where = [("namespace", "default"), ("resource", "pods")]
    assert request.used == [*where, {"resourceVersion": "7", "fieldSelector": "spec.nodeName=n1"}, "do"]

    request.used.clear()
    list_watch.watch(options)
    selected = {"resourceVersion": "7", "fieldSelector": "spec.nodeName=n1", "watch": True}
    assert request.used == [*where, selected, "watch"]
    assert options == metav1.ListOptions(resource_version="7"), "the caller's options must stay as they are"


@pytest.mark.parametrize("call", ["list", "watch"])
def test_a_list_watch_without_functions_says_so(call: str) -> None:
    empty, options = cache.ListWatch(), metav1.ListOptions()
    methods = {
        "list": (empty.list, lambda each: empty.list_with_context(context.background(), each)),
        "watch": (empty.watch, lambda each: empty.watch_with_context(context.background(), each)),
    }
    for method in methods[call]:
        with pytest.raises(ValueError, match="^a ListWatch needs a list function and a watch function$"):
            method(options)
