"""The comparison of what was streamed with a list. Go: util/consistencydetector/data_consistency_detector_test.go."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import synctest
from clientgo.util import consistencydetector

BACKGROUND = context.background()


def pod(name: str, uid: str = "") -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, uid=uid or name))


def check(listed: list[Any], retrieved: list[Any], version: str = "2", **kwargs: Any) -> list[metav1.ListOptions]:
    """Run the check; the options of the list calls it made."""
    asked: list[metav1.ListOptions] = []

    def list_fn(_: context.Context, options: metav1.ListOptions) -> corev1.PodList:
        asked.append(options)
        return corev1.PodList(items=listed)

    options = metav1.ListOptions(**kwargs.pop("options", {}))
    consistencydetector.check_data_consistency(
        BACKGROUND, "it", version, list_fn, kwargs.get("transform"), options, lambda: retrieved
    )
    return asked


def test_the_same_objects_in_any_order_are_consistent() -> None:
    (asked,) = check([pod("a"), pod("b")], [pod("b"), pod("a")])
    assert asked == metav1.ListOptions(resource_version="2", resource_version_match="Exact")


def test_other_objects_are_not() -> None:
    with pytest.raises(AssertionError, match="data inconsistency detected for it, panicking!"):
        check([pod("a")], [pod("b")])


def test_what_was_listed_goes_through_the_transform_too() -> None:
    def rename(obj: corev1.Pod) -> corev1.Pod:
        obj.set_name("renamed")
        return obj

    check([pod("a")], [pod("renamed", uid="a")], transform=rename)


@pytest.mark.parametrize(
    ("limit", "asked_limit"),
    [
        # The watch cache ignored the limit of a list of any data; the database would not.
        (1, 0),
        (3, 3),
    ],
)
def test_the_limit_is_dropped_if_it_was_ignored(limit: int, asked_limit: int) -> None:
    items = [pod("a"), pod("b")]
    (asked,) = check(items, items, options={"resource_version": "0", "limit": limit})
    assert asked.limit == asked_limit


@pytest.mark.parametrize(("version", "token"), [("0", ""), ("2", "token")])
def test_some_lists_cannot_be_compared(version: str, token: str) -> None:
    assert check([pod("a")], [pod("b")], version, options={"continue_": token}) == []


def test_a_failing_list_is_tried_until_the_context_is_done(caplog: pytest.LogCaptureFixture) -> None:
    with synctest.bubble():
        ctx, _ = context.with_timeout(BACKGROUND, 3.5)

        def fail(_: context.Context, __: metav1.ListOptions) -> corev1.PodList:
            raise RuntimeError("no list")

        consistencydetector.check_data_consistency(ctx, "it", "2", fail, None, metav1.ListOptions(), list)
    assert caplog.text.count("retrying until stopCh is closed, err: no list") == 4
    assert "won't be performed" in caplog.text


def test_it_can_be_switched_on_and_back() -> None:
    assert not consistencydetector.is_data_consistency_detection_for_watch_list_enabled()
    restore = consistencydetector.set_data_consistency_detection_for_watch_list_enabled_for_test(True)
    assert consistencydetector.is_data_consistency_detection_for_watch_list_enabled()
    restore()
    assert not consistencydetector.is_data_consistency_detection_for_watch_list_enabled()
