"""Names of groups, versions, kinds and resources, as texts."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.runtime import schema
from clientgo.apimachinery.runtime.schema import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    GroupVersions,
)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("v1", ("", "v1")),
        ("/v1", ("", "v1")),
        ("v1/", ("v1", "")),
        ("g/v1", ("g", "v1")),
        ("", ("", "")),
        ("/", ("", "")),
    ],
)
def test_an_api_version_has_one_slash_at_most(text: str, parsed: tuple[str, str]) -> None:
    """Go: TestGroupVersionParse."""
    assert schema.parse_group_version(text) == GroupVersion(*parsed)
    with pytest.raises(ValueError, match="unexpected GroupVersion string: /v1/"):
        schema.parse_group_version("/v1/")


@pytest.mark.parametrize(
    ("text", "short", "full"),
    [
        ("v1", ("", "v1"), None),
        (".v1", ("v1", ""), None),
        ("v1.", ("", "v1"), None),
        ("v1.a", ("a", "v1"), None),
        ("b.v1.a", ("v1.a", "b"), ("a", "v1", "b")),
        ("b.v1.a.c", ("v1.a.c", "b"), ("a.c", "v1", "b")),
    ],
)
def test_an_argument_with_two_dots_can_be_read_in_two_ways(
    text: str, short: tuple[str, str], full: tuple[str, str, str] | None
) -> None:
    """Go: TestGroupResourceParse, TestParseResourceArg, TestParseKindArg, TestParseGroupKind."""
    assert schema.parse_group_resource(text) == GroupResource(*short)
    assert schema.parse_group_kind(text) == GroupKind(*short)
    assert schema.parse_resource_arg(text) == (full and GroupVersionResource(*full), GroupResource(*short))
    assert schema.parse_kind_arg(text) == (full and GroupVersionKind(*full), GroupKind(*short))


def test_the_empty_kind_has_no_api_version() -> None:
    """Go: TestToAPIVersionAndKind."""
    assert GroupVersionKind("", "v1", "Pod").to_api_version_and_kind() == ("v1", "Pod")
    assert GroupVersionKind("g", "v1", "Pod").to_api_version_and_kind() == ("g/v1", "Pod")
    assert GroupVersionKind().to_api_version_and_kind() == ("", "")


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("batch/v2alpha1/ScheduledJob", "batch/v2alpha1/ScheduledJob"),
        ("batch/v3alpha1/CronJob", "batch/v1/CronJob"),
        ("policy/v1beta1/Budget", "policy/v1beta1/Budget"),
        ("apps/v1alpha1/StatefulSet", None),
    ],
)
def test_the_versions_of_the_group_are_tried_in_order(kind: str, target: str | None) -> None:
    """Go: TestKindForGroupVersionKinds."""
    versions = GroupVersions(
        [GroupVersion("batch", "v1"), GroupVersion("batch", "v2alpha1"), GroupVersion("policy", "v1beta1")]
    )
    found = versions.kind_for_group_version_kinds([GroupVersionKind(*kind.split("/"))])
    assert found == (GroupVersionKind(*(target or "//").split("/")), target is not None)


def test_an_exact_version_comes_before_one_carried_over() -> None:
    """Go: TestBestMatch."""
    kinds = [GroupVersionKind("", "v2", "Pod"), GroupVersionKind("", "v1", "Pod")]
    wanted = GroupVersions([GroupVersion("", "v3"), GroupVersion("", "v1")])
    assert wanted.kind_for_group_version_kinds(kinds) == (GroupVersionKind("", "v1", "Pod"), True)
    other = GroupVersions([GroupVersion("", "v3"), GroupVersion("", "v4")])
    assert other.kind_for_group_version_kinds(kinds) == (GroupVersionKind("", "v3", "Pod"), True)
