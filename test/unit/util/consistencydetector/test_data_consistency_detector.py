"""Comparing what was streamed with what a list says."""

from __future__ import annotations

import re
from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import synctest
from clientgo.util import consistencydetector
from clientgo.util.consistencydetector.data_consistency_detector import DataInconsistencyError

CTX = context.background()


def pod(name: str, version: str = "1") -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, resource_version=version, uid=name))


class Server:
    def __init__(self, *pods: corev1.Pod, failures: int = 0) -> None:
        self.pods = pods
        self.failures = failures
        self.asked: list[dict[str, Any]] = []

    def list(self, ctx: context.Context, options: metav1.ListOptions) -> corev1.PodList:
        self.asked.append(options.to_dict())
        if len(self.asked) <= self.failures:
            raise RuntimeError("down")
        return corev1.PodList(items=list(self.pods), metadata=metav1.ListMeta(resource_version="2"))


def check(server: Server, *streamed: corev1.Pod, version: str = "2", transform: Any = None, **options: Any) -> None:
    consistencydetector.check_data_consistency(
        CTX, "", version, server.list, transform, metav1.ListOptions(**options), lambda: list(streamed)
    )


def test_equal_data_in_any_order():
    server = Server(pod("a"), pod("b"))
    check(server, pod("b"), pod("a"))
    assert server.asked == [{"resourceVersion": "2", "resourceVersionMatch": "Exact"}]
    check(Server())


def test_different_data_raises():
    """Go: TestDataConsistencyChecker."""
    with pytest.raises(DataInconsistencyError, match="data inconsistency detected for"):
        check(Server(pod("a"), pod("b")), pod("a"))
    with pytest.raises(DataInconsistencyError):
        check(Server(pod("a", "2")), pod("a", "1"))


def test_what_the_store_transforms_is_transformed_before_comparing():
    def strip(item: corev1.Pod) -> corev1.Pod:
        item.set_resource_version("")
        return item

    check(Server(pod("a", "7")), pod("a", ""), transform=strip)


@pytest.mark.parametrize(("limit", "streamed", "asked"), [(1, 2, None), (3, 2, 3), (2, 2, 2)])
def test_the_limit_a_watch_cache_ignored_is_left_out(limit, streamed, asked):
    pods = [pod(f"p{i}") for i in range(streamed)]
    server = Server(*pods)
    check(server, *pods, resource_version="0", limit=limit)
    assert server.asked[0].get("limit") == asked


@pytest.mark.parametrize(("version", "options"), [("0", {}), ("2", {"continue_": "token"})])
def test_nothing_to_compare_with(version, options):
    server = Server()
    check(server, pod("a"), version=version, **options)
    assert server.asked == []


def test_the_list_is_retried_every_second():
    """Go: TestDataConsistencyCheckerRetry."""
    with synctest.bubble() as b:
        server = Server(pod("a"), failures=3)
        check(server, pod("a"))
        assert len(server.asked) == 4
        assert b.elapsed == pytest.approx(3.0)


def test_a_context_that_ends_gives_up_without_an_error(caplog):
    with synctest.bubble():
        ctx, cancel = context.with_timeout(CTX, 2.5)
        server = Server(failures=100)
        consistencydetector.check_data_consistency(ctx, "", "2", server.list, None, metav1.ListOptions(), list)
        cancel()
    assert len(server.asked) == 3
    assert "won't be performed" in caplog.text


def test_switching_it_on():
    before = consistencydetector.is_data_consistency_detection_for_watch_list_enabled()
    restore = consistencydetector.set_data_consistency_detection_for_watch_list_enabled_for_test(not before)
    assert consistencydetector.is_data_consistency_detection_for_watch_list_enabled() is not before
    restore()
    assert consistencydetector.is_data_consistency_detection_for_watch_list_enabled() is before


def test_a_bug_of_the_list_function_is_logged_with_type_and_place(caplog: pytest.LogCaptureFixture) -> None:
    def list_nothing(ctx: context.Context, options: metav1.ListOptions) -> corev1.PodList:
        raise KeyError("items")

    with synctest.bubble():
        ctx, cancel = context.with_timeout(CTX, 2.5)
        consistencydetector.check_data_consistency(ctx, "", "2", list_nothing, None, metav1.ListOptions(), list)
        cancel()
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert re.search(r"'items' \(KeyError at test_\w+.py:\d+ in list_nothing\)", errors[0])
