"""The imaginary server. Go: testing/fake_controller_source_test.go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools.cache import testing as framework


@pytest.fixture
def source() -> Iterator[framework.FakeControllerSource]:
    made = framework.new_fake_controller_source()
    yield made
    made.shutdown()


def pod(name: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name))


def watch_from(source: framework.FakeControllerSource, version: str) -> watch.Interface:
    return source.watch(metav1.ListOptions(resource_version=version))


def take(opened: watch.Interface, count: int) -> list[tuple[str, str]]:
    events = []
    for _ in range(count):
        event, ok = opened.result_chan().receive(10.0)
        assert ok and event is not None
        events.append((event.object.get_name(), event.object.get_resource_version()))
    return events


def test_versions_are_counted_and_a_watch_begins_after_its_version(source: framework.FakeControllerSource) -> None:
    """Go: TestRCNumber"""
    for _ in range(3):
        source.modify(pod("foo"))
    from_first = watch_from(source, "1")
    assert take(from_first, 2) == [("foo", "2"), ("foo", "3")]
    from_second = watch_from(source, "2")
    assert take(from_second, 1) == [("foo", "3")]
    source.modify(pod("foo"))
    assert take(from_first, 1) == [("foo", "4")]
    assert take(from_second, 1) == [("foo", "4")]


def test_a_reset_forgets_the_past(source: framework.FakeControllerSource) -> None:
    """Go: TestResetWatch"""
    for _ in range(3):
        source.modify(pod("foo"))
    opened = watch_from(source, "3")
    source.reset_watch()
    assert opened.result_chan().receive(10.0) == (None, False)
    with pytest.raises(apierrors.StatusError, match="too old resource version: 1"):
        watch_from(source, "1")
    again = watch_from(source, "3")
    source.modify(pod("foo"))
    assert take(again, 1) == [("foo", "4")]
    with pytest.raises(apierrors.StatusError, match="too old resource version"):
        watch_from(source, "2")
    with pytest.raises(ValueError, match="in the future"):
        watch_from(source, "9")


def test_a_list_holds_copies_of_the_present_objects(source: framework.FakeControllerSource) -> None:
    source.add(pod("a"))
    source.add_drop_watch(pod("b"))
    source.delete(pod("a"))
    listed = source.list(metav1.ListOptions())
    (item,) = meta.extract_list(listed)
    assert (item.get_name(), listed.get_resource_version()) == ("b", "3")
    item.set_name("changed")
    (again,) = meta.extract_list(source.list(metav1.ListOptions()))
    assert again.get_name() == "b"
    source.list_error = RuntimeError("no list")
    with pytest.raises(RuntimeError, match="no list"):
        source.list(metav1.ListOptions())


def test_changes_behind_the_watchers_backs_reach_only_the_next_list(source: framework.FakeControllerSource) -> None:
    opened = watch_from(source, "0")
    source.add_drop_watch(pod("a"))
    source.modify_drop_watch(pod("a"))
    source.delete_drop_watch(pod("a"))
    source.add(pod("b"))
    assert take(opened, 1) == [("b", "4")]


def test_a_read_only_object_may_come_back(source: framework.FakeControllerSource) -> None:
    cached = pod("a").freeze()
    source.delete(cached)
    assert cached.get_resource_version() == ""


@pytest.mark.parametrize(
    ("source", "obj", "kind"),
    [
        (framework.new_fake_pv_controller_source(), corev1.PersistentVolume(), "PersistentVolumeList"),
        (framework.new_fake_pvc_controller_source(), corev1.PersistentVolumeClaim(), "PersistentVolumeClaimList"),
    ],
)
def test_typed_sources_list_typed_lists(source: framework.FakeControllerSource, obj: corev1.Pod, kind: str) -> None:
    obj.metadata.name = "a"
    source.add(obj)
    listed = source.list(metav1.ListOptions())
    assert type(listed).__name__ == kind
    assert [type(item) for item in meta.extract_list(listed)] == [type(obj)]
    source.shutdown()


def test_after_the_shutdown_it_is_over() -> None:
    source = framework.new_fake_controller_source()
    source.shutdown()
    with pytest.raises(RuntimeError, match="shut down"):
        source.add(pod("a"))
