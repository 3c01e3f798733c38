"""Names of informers are unique while they are held."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.tools import cache
from clientgo.tools.cache.identity import _with_resource

PODS = GroupVersionResource("", "v1", "pods")
NODES = GroupVersionResource("", "v1", "nodes")


@pytest.fixture(autouse=True)
def no_names() -> Iterator[None]:
    cache.reset_informer_names_for_testing()
    yield
    cache.reset_informer_names_for_testing()


def test_names_are_unique() -> None:
    """
    Go: TestNewInformerName/first name is unique
    Go: TestNewInformerName/duplicate name returns error
    Go: TestNewInformerName/empty name returns error
    Go: TestNewInformerName/different name is unique
    Go: TestNewInformerName/released name can be reused
    """
    first = cache.new_informer_name("unique")
    assert first.name() == "unique"
    with pytest.raises(ValueError, match='informer name "unique" is already registered'):
        cache.new_informer_name("unique")
    with pytest.raises(ValueError, match="informer name cannot be empty"):
        cache.new_informer_name("")
    cache.new_informer_name("different")
    first.release()
    cache.new_informer_name("unique")


def test_each_resource_is_reserved_once() -> None:
    """
    Go: TestWithResource/first GVR is reserved
    Go: TestWithResource/same GVR second time is not reserved
    Go: TestWithResource/different GVR is reserved
    Go: TestWithResource/nil InformerName returns not reserved
    """
    name = cache.new_informer_name("resources")
    first = name.with_resource(PODS)
    assert first.reserved()
    assert (first.name(), first.group_version_resource()) == ("resources", PODS)
    assert not name.with_resource(PODS).reserved()
    assert name.with_resource(NODES).reserved()
    nobody = _with_resource(None, PODS)
    assert not nobody.reserved()
    assert (nobody.name(), nobody.group_version_resource()) == ("", PODS)


def test_release_gives_everything_up() -> None:
    """Go: TestRelease"""
    old = cache.new_informer_name("released")
    pods = old.with_resource(PODS)
    old.release()
    assert not pods.reserved()
    assert not old.with_resource(NODES).reserved()
    new = cache.new_informer_name("released")
    assert new.with_resource(PODS).reserved()
    old.release()  # takes nothing away from the new holder
    with pytest.raises(ValueError, match="already registered"):
        cache.new_informer_name("released")
