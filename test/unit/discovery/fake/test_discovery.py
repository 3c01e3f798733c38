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


def test_the_versions_of_a_group_are_in_one_group_and_the_first_is_preferred() -> None:
    fake = testing.Fake()
    names = ["apps/v1", "v1", "apps/v1beta1"]
    fake.resources = [metav1.APIResourceList(group_version=name) for name in names]
    found = FakeDiscovery(fake).server_groups().groups
    versions = {group.name: [version.group_version for version in group.versions] for group in found}
    assert versions == {"apps": ["apps/v1", "apps/v1beta1"], "": ["v1"]}
    assert {group.name: group.preferred_version.version for group in found} == {"apps": "v1", "": "v1"}
