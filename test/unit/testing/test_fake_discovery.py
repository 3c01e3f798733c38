"""The discovery of the fake clientsets: what it answers, and how it is made to fail. Go: discovery/fake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.version import Info
from clientgo.kubernetes import fake


def test_the_version_is_configurable() -> None:
    """Go: TestFakingServerVersion."""
    discovery = fake.new_simple_clientset().discovery()
    assert discovery.server_version().git_version.startswith("v")
    discovery.faked_server_version = Info(git_commit="v1.0.0")
    assert discovery.server_version().git_commit == "v1.0.0"


@pytest.mark.parametrize(
    "ask",
    [
        # Go: TestFakingServerVersionWithError
        lambda discovery: discovery.server_version(),
        # Go: TestFakingServerResourcesForGroupVersionWithError
        lambda discovery: discovery.server_resources_for_group_version("dummy.group.io/v1beta2"),
        # Go: TestFakingServerGroupsWithError
        lambda discovery: discovery.server_groups(),
        # Go: TestFakingServerGroupsAndResourcesWithError
        lambda discovery: discovery.server_groups_and_resources(),
    ],
)
def test_what_a_reactor_raises_is_raised(ask: Callable[[Any], Any]) -> None:
    client = fake.new_clientset()

    def react(action: Any) -> Any:
        raise OSError("an error occurred")

    client.prepend_reactor("*", "*", react)
    with pytest.raises(OSError, match="an error occurred"):
        ask(client.discovery())


def test_the_second_question_of_all_groups_and_resources_can_fail_alone() -> None:
    """Go: TestFakingServerGroupsAndResourcesWithError."""
    client = fake.new_clientset()

    def react(action: Any) -> Any:
        raise OSError("an error occurred")

    client.prepend_reactor("get", "resource", react)
    with pytest.raises(OSError, match="an error occurred"):
        client.discovery().server_groups_and_resources()
    assert client.discovery().server_groups().groups == []


def test_groups_are_made_of_the_resources() -> None:
    client = fake.new_clientset()
    versions = ("apps/v1", "apps/v1beta1", "v1")
    client.resources = [metav1.APIResourceList(group_version=version) for version in versions]
    groups, resources = client.discovery().server_groups_and_resources()
    found = [(each.name, each.preferred_version.version, [v.version for v in each.versions]) for each in groups]
    assert found == [("apps", "v1", ["v1", "v1beta1"]), ("", "v1", ["v1"])]
    assert [each.group_version for each in resources] == list(versions)
    with pytest.raises(errors.StatusError, match='GroupVersion "x/v1" not found'):
        client.discovery().server_resources_for_group_version("x/v1")
