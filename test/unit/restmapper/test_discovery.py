"""Mappers made from discovery. Go: restmapper/discovery_test.go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from httpscript import status
from scripteddiscovery import discovering, group, legacy, resource, resources

from clientgo import discovery, restmapper
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource
from clientgo.discovery.cached.memory import new_mem_cache_client

PODS = resources("v1", resource("pods", "Pod"), resource("pods/status", "Pod"))
EXTENSIONS = resources("extensions/v1beta1", resource("jobs", "Job"), resource("pods", "Pod"), resource("old", "Old"))


@dataclass
class ScriptedCache:
    """A discovery cache with one answer after another; `invalidate` brings the next."""

    answers: list[Any]
    invalidated: int = 0
    asked: int = 0
    is_fresh: list[bool] = field(default_factory=list)

    def server_groups_and_resources(self) -> Any:
        self.asked += 1
        answer = self.answers[min(self.invalidated, len(self.answers) - 1)]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def fresh(self) -> bool:
        return self.invalidated > 0

    def invalidate(self) -> None:
        self.invalidated += 1


def known(groups: list[dict], lists: list[dict]) -> tuple[list[metav1.APIGroup], list[metav1.APIResourceList]]:
    core = {"name": "", "versions": [{"groupVersion": "v1", "version": "v1"}], "preferredVersion": {"version": "v1"}}
    return (
        [metav1.APIGroup.from_dict(each) for each in [core, *groups]],
        [metav1.APIResourceList.from_dict(each) for each in lists],
    )


def mapper_of(groups: list[dict], lists: list[dict]) -> meta.RESTMapper:
    cache: Any = ScriptedCache([known(groups, lists)])
    return restmapper.new_discovery_rest_mapper(restmapper.get_api_group_resources(cache))


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (("", "", "pods"), ("", "v1", "Pod")),
        (("", "", "pod"), ("", "v1", "Pod")),
        (("", "v1", "pods"), ("", "v1", "Pod")),
        (("extensions", "", "pods"), ("extensions", "v1beta1", "Pod")),
        # "ext" is enough where one group begins so.
        (("ext", "", "pods"), ("extensions", "v1beta1", "Pod")),
        (("", "", "jobs"), ("batch", "v1", "Job")),
        (("batch", "v2alpha1", "jobs"), ("batch", "v2alpha1", "Job")),
        # Only a version that is not the preferred one has it.
        (("", "", "scheduledjobs"), ("batch", "v2alpha1", "ScheduledJob")),
        (("", "", "old"), ("extensions", "v1beta1", "Old")),
    ],
)
def test_the_core_group_comes_first_then_the_order_of_discovery(asked, kind):
    """Go: TestRESTMapper"""
    batch = [
        resources("batch/v1", resource("jobs", "Job")),
        resources("batch/v2alpha1", resource("jobs", "Job"), resource("scheduledjobs", "ScheduledJob")),
    ]
    mapper = mapper_of([group("batch", "v1", "v2alpha1"), group("extensions", "v1beta1")], [PODS, *batch, EXTENSIONS])
    assert mapper.kind_for(GroupVersionResource(*asked)) == GroupVersionKind(*kind)


def test_among_versions_that_are_not_preferred_the_servers_order_counts():
    later = [
        resources("batch/v1", resource("jobs", "Job")),
        resources("batch/v2beta1", resource("plans", "Plan")),
        resources("batch/v2alpha1", resource("plans", "Plan")),
    ]
    mapper = mapper_of([group("batch", "v1", "v2beta1", "v2alpha1")], later)
    plans = GroupVersionResource(resource="plans")
    assert mapper.resource_for(plans) == GroupVersionResource("batch", "v2beta1", "plans")
    assert mapper.kind_for(plans) == GroupVersionKind("batch", "v2beta1", "Plan")


def test_lower_case_kinds_lists_and_guessed_singulars():
    without_singular = resource("oxen", "Ox", singularName="", namespaced=False)
    mapper = mapper_of([group("farm", "v1")], [resources("farm/v1", without_singular)])
    farm = GroupVersion("farm", "v1")
    mapping = mapper.rest_mapping(GroupKind("farm", "ox"), "v1")
    assert (mapping.resource, mapping.scope.name()) == (farm.with_resource("oxen"), meta.RESTScopeName.ROOT)
    assert mapper.rest_mapping(GroupKind("farm", "OxList"), "v1").group_version_kind == farm.with_kind("OxList")
    assert mapper.rest_mapping(GroupKind("farm", "List")).scope.name() == meta.RESTScopeName.ROOT
    assert mapper.resource_singularizer("oxen") == "ox"
    with pytest.raises(meta.NoKindMatchError, match='no matches for kind "Cow" in version "farm/v1"'):
        mapper.rest_mapping(GroupKind("farm", "Cow"), "v1")


def test_subresources_have_no_mapping():
    with pytest.raises(meta.NoResourceMatchError):
        mapper_of([], [PODS]).kind_for(GroupVersionResource("", "", "pods/status"))


def test_nothing_is_asked_before_the_first_question():
    cache: Any = ScriptedCache([known([], [PODS])])
    mapper = restmapper.new_deferred_discovery_rest_mapper(cache)
    assert cache.asked == 0
    for _ in range(3):
        mapper.kind_for(GroupVersionResource("", "", "pods"))
    assert (cache.asked, cache.invalidated) == (1, 0)
    mapper.reset()
    assert (cache.asked, cache.invalidated) == (1, 1)
    mapper.kind_for(GroupVersionResource("", "", "pods"))
    assert cache.asked == 2


JOBS = GroupVersionResource("", "", "jobs")


@pytest.mark.parametrize(
    "question",
    [
        lambda mapper: mapper.kind_for(JOBS),
        lambda mapper: mapper.kinds_for(JOBS),
        lambda mapper: mapper.resource_for(JOBS),
        lambda mapper: mapper.resources_for(JOBS),
        lambda mapper: mapper.rest_mapping(GroupKind("extensions", "Job"), "v1beta1"),
        lambda mapper: mapper.rest_mappings(GroupKind("extensions", "Job"), "v1beta1"),
    ],
)
def test_what_is_not_found_in_old_data_is_looked_up_once_more(question):
    """Go: TestDeferredDiscoveryRESTMapper_CacheMiss"""
    new = known([group("extensions", "v1beta1")], [PODS, EXTENSIONS])
    cache: Any = ScriptedCache([known([], [PODS]), new])
    assert question(restmapper.new_deferred_discovery_rest_mapper(cache))
    assert (cache.asked, cache.invalidated) == (2, 1)
    missing: Any = ScriptedCache([known([], [PODS])])
    with pytest.raises(Exception, match="no matches for") as caught:
        question(restmapper.new_deferred_discovery_rest_mapper(missing))
    assert meta.is_no_match_error(caught.value)
    assert (missing.asked, missing.invalidated) == (2, 1), "data that are fresh are not asked for again"


def test_what_discovery_raises_is_raised_and_tried_again_at_the_next_question():
    cache: Any = ScriptedCache([ValueError("no server"), known([], [PODS])])
    mapper = restmapper.new_deferred_discovery_rest_mapper(cache)
    with pytest.raises(ValueError, match="no server"):
        mapper.kind_for(JOBS)
    assert str(mapper) == "DeferredDiscoveryRESTMapper{no server}"
    assert cache.invalidated == 0
    cache.invalidate()
    assert mapper.kind_for(GroupVersionResource("", "", "pods")).kind == "Pod"
    assert str(mapper).startswith("DeferredDiscoveryRESTMapper{\n\t")


def test_groups_that_cannot_be_read_are_left_out():
    """Go: TestGetAPIGroupResources"""
    documents = legacy([group("bad", "v1"), group("extensions", "v1beta1")], [PODS, EXTENSIONS])
    documents["/apis/bad/v1"] = status(500, "InternalError", "boom")
    with discovering(documents) as (client, _):
        mapper = restmapper.new_deferred_discovery_rest_mapper(new_mem_cache_client(client))
        assert mapper.kind_for(JOBS).group == "extensions"


def test_where_no_group_can_be_read_nothing_matches():
    documents = legacy([], [])
    documents["/api/v1"] = status(500, "InternalError", "boom")
    with discovering(documents) as (client, _):
        [core] = restmapper.get_api_group_resources(client)
        assert core.versioned_resources == {}
        mapper = restmapper.new_discovery_rest_mapper([core])
        with pytest.raises(meta.NoResourceMatchError):
            mapper.kind_for(JOBS)


def test_without_the_groups_the_error_is_raised():
    documents = legacy([], [])
    documents["/apis"] = status(500, "InternalError", "boom")
    with discovering(documents) as (client, _), pytest.raises(errors.StatusError):
        restmapper.get_api_group_resources(client)
    failed: Any = ScriptedCache([discovery.ErrGroupDiscoveryFailed({GroupVersion("a", "v1"): ValueError("b")})])
    with pytest.raises(discovery.ErrGroupDiscoveryFailed):
        restmapper.get_api_group_resources(failed)
