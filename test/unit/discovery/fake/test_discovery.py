"""The fake discovery client under Go's name."""

from __future__ import annotations

import pytest

from clientgo import testing
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.version import Info
from clientgo.discovery.fake import FakeDiscovery


def test_the_resources_of_the_fake_are_discovered_and_the_calls_recorded() -> None:
    fake = testing.Fake()
    fake.resources = [metav1.APIResourceList(group_version="apps/v1"), metav1.APIResourceList(group_version="v1")]

    client = FakeDiscovery(fake, Info(git_version="v1.2.3"))

    assert [group.name for group in client.server_groups().groups] == ["apps", ""]
    assert client.server_resources_for_group_version("v1").group_version == "v1"
    assert client.server_version().git_version == "v1.2.3"
    with pytest.raises(errors.StatusError, match='GroupVersion "x/v1" not found'):
        client.server_resources_for_group_version("x/v1")
    assert [action.get_resource().resource for action in client.fake.actions()] == [
        *("group", "resource", "version", "resource"),
    ]
