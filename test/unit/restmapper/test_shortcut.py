"""Short names and categories. Go: restmapper/shortcut_test.go, restmapper/category_expansion_test.go."""

from __future__ import annotations

from typing import Any

import pytest
from scripteddiscovery import resource, resources

from clientgo import restmapper
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
)
from clientgo.discovery import ErrGroupDiscoveryFailed

PODS = resource("pods", "Pod", shortNames=["po"], categories=["all"])


class Lists:
    """Discovery of these lists, or this error."""

    def __init__(self, *lists: dict, err: Exception | None = None) -> None:
        self.lists = [metav1.APIResourceList.from_dict(each) for each in lists]
        self.err = err

    def server_groups_and_resources(self) -> Any:
        if self.err is not None:
            raise self.err
        return [], self.lists


class Echo:
    """A mapper that records its calls, and whose first call can fail."""

    def __init__(self, misses: int = 0) -> None:
        self.asked: list[GroupVersionResource] = []
        self.misses = misses
        self.resets = 0

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        self.asked.append(resource)
        if len(self.asked) <= self.misses:
            raise meta.NoResourceMatchError(resource)
        return GroupVersionKind(resource.group, resource.version, resource.resource)

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        return [self.kind_for(resource)]

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        return input

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        return [input]

    def rest_mapping(self, gk: GroupKind, *versions: str) -> meta.RESTMapping:
        raise meta.NoKindMatchError(gk, list(versions))

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[meta.RESTMapping]:
        return [self.rest_mapping(gk, *versions)]

    def resource_singularizer(self, resource: str) -> str:
        return resource

    def reset(self) -> None:
        self.resets += 1


def expanded(asked: tuple[str, str, str], *lists: dict, warnings: list[str] | None = None) -> tuple[str, str, str]:
    client: Any = Lists(*lists)
    mapper: Any = Echo()
    handler = None if warnings is None else warnings.append
    found = restmapper.new_shortcut_expander(mapper, client, handler).resource_for(GroupVersionResource(*asked))
    return found.group, found.version, found.resource


AUTOSCALING = resource("horizontalpodautoscalers", "HorizontalPodAutoscaler", shortNames=["hpa"])


@pytest.mark.parametrize(
    ("asked", "result"),
    [
        (("", "", "po"), ("", "", "pods")),
        (("", "v1", "po"), ("", "", "pods")),
        (("", "", "pods"), ("", "", "pods")),
        (("", "", "pod"), ("", "", "pod")),
        (("", "", "nope"), ("", "", "nope")),
        (("autoscaling", "v1", "hpa"), ("autoscaling", "", "horizontalpodautoscalers")),
        (("autoscal", "v1", "hpa"), ("autoscaling", "v1", "horizontalpodautoscalers")),
        (("other", "v1", "hpa"), ("other", "v1", "hpa")),
        # The short name of one resource is the full name of another.
        (("", "", "po2"), ("", "", "po2")),
    ],
)
def test_short_names_are_spelled_out(asked, result):
    """Go: TestReplaceAliases, TestKindFor"""
    core = resources("v1", PODS, resource("po2", "Po2"), resource("others", "Other", shortNames=["po2"]))
    assert expanded(asked, core, resources("autoscaling/v1", AUTOSCALING)) == result


def test_the_first_resource_wins_and_the_others_are_worth_a_word_each():
    """Go: TestWarnAmbigious"""
    lists = [
        resources("a/v1", resource("sparkjobs", "SparkJob", shortNames=["sj"])),
        resources("a/v2", resource("sparkjobs", "SparkJob", shortNames=["sj"])),
        resources("b/v1", resource("superjobs", "SuperJob", shortNames=["sj"])),
        resources("b/v2", resource("superjobs", "SuperJob", shortNames=["sj"])),
    ]
    warnings: list[str] = []
    assert expanded(("", "", "sj"), *lists, warnings=warnings) == ("a", "", "sparkjobs")
    assert warnings == ['short name "sj" could also match lower priority resource superjobs.b']
    assert expanded(("", "", "sj"), *lists) == ("a", "", "sparkjobs"), "nobody has to listen"
    assert expanded(("b", "", "sj"), *lists, warnings=warnings) == ("b", "", "superjobs")
    assert len(warnings) == 1


def test_a_kind_that_is_not_found_is_asked_for_once_more():
    """The mapper below may have discovered anew meanwhile.

    Go: TestKindForWithNewCRDs
    """
    client: Any = Lists(resources("v1", PODS))
    once: Any = Echo(misses=1)
    assert restmapper.new_shortcut_expander(once, client).kind_for(GroupVersionResource("", "", "po")).kind == "pods"
    never: Any = Echo(misses=9)
    with pytest.raises(meta.NoResourceMatchError):
        restmapper.new_shortcut_expander(never, client).kind_for(GroupVersionResource("", "", "po"))
    assert len(never.asked) == 2


def test_everything_else_goes_through():
    mapper: Any = Echo()
    client: Any = Lists(resources("v1", PODS))
    short = restmapper.new_shortcut_expander(mapper, client)
    assert short.resource_singularizer("po") == "pods"
    assert [found.resource for found in short.resources_for(GroupVersionResource("", "", "po"))] == ["pods"]
    assert [found.kind for found in short.kinds_for(GroupVersionResource("", "", "po"))] == ["pods"]
    for question in (short.rest_mapping, short.rest_mappings):
        with pytest.raises(meta.NoKindMatchError):
            question(GroupKind("", "po"), "v1")
    short.reset()
    assert mapper.resets == 1


def test_part_of_what_the_server_has_is_better_than_nothing():
    known = metav1.APIResourceList.from_dict(resources("v1", PODS))
    partial: Any = Lists(err=ErrGroupDiscoveryFailed({GroupVersion("bad", "v1"): ValueError("no")}, [], [known]))
    mapper: Any = Echo()
    assert restmapper.new_shortcut_expander(mapper, partial).resource_singularizer("po") == "pods"
    assert restmapper.new_discovery_category_expander(partial).expand("all") == ([GroupResource("", "pods")], True)
    nothing: Any = Lists(err=ValueError("no server"))
    assert restmapper.new_shortcut_expander(mapper, nothing).resource_singularizer("po") == "po"
    assert restmapper.new_discovery_category_expander(nothing).expand("all") == ([], False)


def test_a_group_version_that_is_none_hides_only_its_own_resources():
    lists = [resources("a/b/c", resource("x", "X", shortNames=["po"], categories=["all"])), resources("v1", PODS)]
    client: Any = Lists(*lists)
    assert expanded(("", "", "po"), *lists) == ("", "", "pods")
    assert restmapper.new_discovery_category_expander(client).expand("all") == ([GroupResource("", "pods")], True)


def test_categories():
    """Go: TestCategoryExpansion, TestDiscoveryCategoryExpander"""
    deployments = resource("deployments", "Deployment", categories=["all", "apps"])
    client: Any = Lists(resources("v1", PODS), resources("apps/v1", deployments))
    expander = restmapper.new_discovery_category_expander(client)
    assert expander.expand("all") == ([GroupResource("", "pods"), GroupResource("apps", "deployments")], True)
    assert expander.expand("nope") == ([], False)
    simple = restmapper.SimpleCategoryExpander(
        expansions={"all": [GroupResource("", "pods"), GroupResource("", "services")], "none": []}
    )
    assert simple.expand("none") == ([], True)
    union = restmapper.UnionCategoryExpander([expander, simple])
    assert union.expand("all") == (
        [GroupResource("", "pods"), GroupResource("apps", "deployments"), GroupResource("", "services")],
        True,
    )
    assert union.expand("none") == ([], True)
    assert union.expand("nope") == ([], False)
    with pytest.raises(ValueError, match="Please provide discovery client to shortcut expander"):
        restmapper.new_discovery_category_expander(None)  # type: ignore[arg-type]
