"""The discovery client's results for complete, partial and invalid responses.

Go: discovery/discovery_client_test.go.
"""

from __future__ import annotations

import copy

import pytest
from httpscript import Answer, status
from scripteddiscovery import (
    AGGREGATED_V2,
    AGGREGATED_V2BETA1,
    discovering,
    group,
    legacy,
    path_of,
    resource,
    resources,
)

from clientgo import discovery, rest
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionResource

PODS = resources("v1", resource("pods", "Pod"), resource("namespaces", "Namespace", namespaced=False))
DEPLOYMENTS = resource("deployments", "Deployment")


def aggregated(*items: dict) -> dict:
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": list(items)}


def aggregated_group(name: str, *versions: dict) -> dict:
    return {"metadata": {"name": name}, "versions": list(versions)}


def aggregated_version(version: str, *known: dict, freshness: str = "Current") -> dict:
    return {"version": version, "freshness": freshness, "resources": list(known)}


def aggregated_resource(name: str, kind: str, group_name: str, version: str, **more: object) -> dict:
    response_kind = {"group": group_name, "version": version, "kind": kind}
    return {"resource": name, "responseKind": response_kind, "scope": "Namespaced", "verbs": ["list"], **more}


CORE = aggregated(aggregated_group("", aggregated_version("v1", aggregated_resource("pods", "Pod", "", "v1"))))


def test_a_server_that_does_not_aggregate_is_asked_for_each_group_version():
    """Go: TestGetServerGroupsWithV1Server"""
    apps = [resources("apps/v1", DEPLOYMENTS), resources("apps/v1beta1", DEPLOYMENTS)]
    with discovering(legacy([group("apps", "v1", "v1beta1")], [PODS, *apps])) as (client, server):
        groups, lists = client.server_groups_and_resources()
        paths = [path_of(request) for request in server.requests]
    assert [found.name for found in groups] == ["", "apps"]
    assert groups[0].preferred_version.group_version == "v1"
    assert [listed.group_version for listed in lists] == ["v1", "apps/v1", "apps/v1beta1"], "as discovery orders them"
    assert paths[:2] == ["/api", "/apis"]
    assert sorted(paths[2:]) == ["/api/v1", "/apis/apps/v1", "/apis/apps/v1beta1"]


@pytest.mark.parametrize("content_type", [AGGREGATED_V2, AGGREGATED_V2BETA1])
def test_a_server_that_aggregates_is_asked_twice(content_type):
    """
    Go: TestSplitGroupsAndResources, TestSplitGroupsAndResourcesV2Beta1
    Go: TestAggregatedServerGroups, TestAggregatedServerGroupsAndResources
    Go: TestSplitGroupsAndResources/Aggregated discovery with single subresource
    Go: TestSplitGroupsAndResources/Aggregated discovery with multiple subresources
    """
    deployments = aggregated_resource(
        "deployments",
        "Deployment",
        "apps",
        "v1",
        shortNames=["deploy"],
        categories=["all"],
        subresources=[
            {"subresource": "scale", "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}},
            {"subresource": "kindless"},
        ],
    )
    apps = aggregated_group("apps", aggregated_version("v1", deployments))
    with discovering({"/api": CORE, "/apis": aggregated(apps)}, content_type) as (client, server):
        groups, lists = client.server_groups_and_resources()
        accepted = [request.headers["Accept"] for request in server.requests]
    assert [found.name for found in groups] == ["", "apps"]
    names = {listed.group_version: [found.name for found in listed.api_resources] for listed in lists}
    assert names == {"v1": ["pods"], "apps/v1": ["deployments", "deployments/scale"]}
    scale = lists[1].api_resources[1]
    assert (scale.group, scale.version, scale.kind) == ("autoscaling", "v1", "Scale")
    assert (list(lists[1].api_resources[0].short_names), scale.namespaced) == (["deploy"], True)
    assert accepted == [f"{AGGREGATED_V2},{AGGREGATED_V2BETA1},application/json"] * 2


def test_a_resource_without_a_kind_is_only_the_parent_of_its_subresources():
    """
    Go: TestSplitGroupsAndResources/Aggregated discovery with single subresource and parent missing GVK
    Go: TestSplitGroupsAndResources/Aggregated discovery with single subresource and parent empty GVK
    """
    eviction = {"subresource": "eviction", "responseKind": {"group": "policy", "version": "v1", "kind": "Eviction"}}
    nothing = {"subresource": "nothing", "responseKind": {"group": "", "version": "", "kind": ""}}
    parent = {"resource": "pods", "scope": "Namespaced", "responseKind": {}, "subresources": [eviction, nothing]}
    _, found, _ = discovery.split_groups_and_resources(
        aggregated(aggregated_group("", aggregated_version("v1", parent)))
    )
    assert [each.name for each in found[GroupVersion("", "v1")].api_resources] == ["pods/eviction"]


def test_a_stale_version_is_a_failure_and_never_preferred():
    """
    Go: TestSplitGroupsAndResources/Aggregated discovery: 1 group/2 versions/1 failed GV at /apis
    Go: TestAggregatedServerPreferredResources/Aggregated discovery: stale Group/Version
    Go: TestAggregatedServerGroupsAndResources/Aggregated discovery: 1 group/2 resources at /api, 2
    """
    stale, current = aggregated_version("v2", freshness="Stale"), aggregated_version("v1")
    apps = aggregated_group("apps", stale, current)
    with (
        discovering({"/api": CORE, "/apis": aggregated(apps)}, AGGREGATED_V2) as (client, _),
        pytest.raises(discovery.ErrGroupDiscoveryFailed) as caught,
    ):
        client.server_groups_and_resources()
    failed = caught.value
    assert str(failed) == (
        "unable to retrieve the complete list of server APIs: apps/v2: stale GroupVersion discovery: apps/v2"
    )
    assert discovery.is_group_discovery_failed_error(failed)
    assert list(failed.groups) == [GroupVersion("apps", "v2")]
    assert [found.preferred_version.version for found in failed.server_groups] == ["v1", "v1"]
    assert [listed.group_version for listed in failed.resources] == ["v1", "apps/v1"]


def test_where_all_versions_are_stale_the_groups_that_are_left_are_asked_one_by_one():
    """Go takes an aggregated answer without any resources for one of the old form.

    Go: TestSplitGroupsAndResources/Aggregated discovery: single failed GV at /api
    """
    all_stale = aggregated(aggregated_group("", aggregated_version("v1", freshness="Stale")))
    with discovering({"/api": all_stale, "/apis": aggregated()}, AGGREGATED_V2) as (client, _):
        groups, lists = client.server_groups_and_resources()
    assert ([found.name for found in groups], lists) == ([""], [])


def test_only_both_endpoints_together_make_an_aggregated_answer():
    documents = legacy([group("apps", "v1")], [resources("apps/v1", DEPLOYMENTS)])
    documents["/apis"] = Answer(200, b'{"groups":[]}')
    documents["/api"] = CORE
    with discovering(documents, AGGREGATED_V2) as (client, _):
        groups, by_version, failed = client.groups_and_maybe_resources()
    assert ([found.name for found in groups.groups], by_version, failed) == ([""], None, {})


def test_a_server_without_a_core_group():
    """Go: TestDiscoveryToleratesMissingCoreGroup"""
    documents = legacy([group("apps", "v1")], [resources("apps/v1", DEPLOYMENTS)])
    del documents["/api"]
    with discovering(documents) as (client, _):
        groups, lists = client.server_groups_and_resources()
        assert not client.server_resources_for_group_version("v1").api_resources
        with pytest.raises(errors.StatusError) as caught:
            client.server_resources_for_group_version("nope/v1")
        with pytest.raises(ValueError, match="groupVersion shouldn't be empty"):
            client.server_resources_for_group_version("")
    assert [found.name for found in groups] == ["apps"]
    assert [listed.group_version for listed in lists] == ["apps/v1"]
    assert errors.is_not_found(caught.value)


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_without_the_groups_nothing_is_known(path):
    """Go: TestGetServerGroupsWithBrokenServer"""
    documents = legacy([], [PODS])
    documents[path] = status(403, "Forbidden", "no")
    with discovering(documents) as (client, server):
        with pytest.raises(errors.StatusError) as caught:
            client.server_groups_and_resources()
        assert errors.is_forbidden(caught.value)
        assert [path_of(request) for request in server.requests][-1] == path, "and nothing is tried again"


def test_one_group_that_fails_leaves_the_others():
    """
    Go: TestServerPreferredResourcesRetries
    Go: TestServerPreferredNamespacedResources
    """
    documents = legacy([group("apps", "v1"), group("bad", "v1")], [PODS, resources("apps/v1", DEPLOYMENTS)])
    documents["/apis/bad/v1"] = status(500, "InternalError", "boom")
    with discovering(documents) as (client, server):
        with pytest.raises(discovery.ErrGroupDiscoveryFailed, match="list of server APIs: bad/v1: boom") as caught:
            client.server_groups_and_resources()
        assert [path_of(request) for request in server.requests].count("/api") == 2, "tried twice"
        with pytest.raises(discovery.ErrGroupDiscoveryFailed) as preferred:
            client.server_preferred_namespaced_resources()
    assert [listed.group_version for listed in caught.value.resources] == ["v1", "apps/v1"]
    groups, known = discovery.group_discovery_failed_error_groups(caught.value)
    assert known
    assert list(groups) == [GroupVersion("bad", "v1")]
    names = [found.name for listed in preferred.value.resources for found in listed.api_resources]
    assert names == ["pods", "deployments"]


def test_a_group_that_is_there_at_the_second_attempt():
    documents = legacy([group("apps", "v1")], [PODS])
    late = copy.deepcopy(documents)
    late["/apis/apps/v1"] = resources("apps/v1", DEPLOYMENTS)

    class Late(dict):
        asked = 0

        def get(self, path: str, default: object = None) -> object:
            self.asked += path == "/api"
            return (late if self.asked > 1 else documents).get(path, default)

    with discovering(Late()) as (client, _):
        _, lists = client.server_groups_and_resources()
    assert [listed.group_version for listed in lists] == ["v1", "apps/v1"]


def test_the_preferred_version_of_each_resource():
    """A resource that only another version has is taken from there; a version without any stays as an empty list.

    Go: TestServerPreferredResources
    """
    old_only = resource("cronjobs", "CronJob")
    apps = [
        resources("apps/v1", DEPLOYMENTS, resource("deployments/status", "Deployment")),
        resources("apps/v1beta1", DEPLOYMENTS, old_only),
        resources("apps/v1alpha1", DEPLOYMENTS),
    ]
    with discovering(legacy([group("apps", "v1", "v1beta1", "v1alpha1")], [PODS, *apps])) as (client, _):
        preferred = client.server_preferred_resources()
    names = {listed.group_version: [found.name for found in listed.api_resources] for listed in preferred}
    assert names == {
        "v1": ["pods", "namespaces"],
        "apps/v1": ["deployments"],
        "apps/v1beta1": ["cronjobs"],
        "apps/v1alpha1": [],
    }


def test_the_legacy_client_asks_for_the_plain_form_only():
    """Go: TestUseLegacyDiscovery"""
    with discovering(legacy([], [PODS])) as (client, server):
        client.with_legacy().server_groups()
        client.no_peer_discovery = True
        client.server_groups()
        accepted = [request.headers["Accept"] for request in server.requests]
    assert accepted[0] == "application/json"
    assert accepted[-1].startswith(f"{AGGREGATED_V2};profile=nopeer,{AGGREGATED_V2},")


@pytest.mark.parametrize(
    ("content_type", "is_it"),
    [
        (AGGREGATED_V2, True),
        ("application/json; as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io;charset=utf-8", True),
        (AGGREGATED_V2BETA1, False),
        ("application/json", False),
        ("application/json; charset=UTF-8", False),
        ("", False),
        ("malformed content type string", False),
    ],
)
def test_content_types(content_type, is_it):
    """Go: TestDiscoveryContentTypeVersion"""
    v2 = GroupVersion("apidiscovery.k8s.io", "v2").with_kind("APIGroupDiscoveryList")
    assert discovery.content_type_is_gvk(content_type, v2) is is_it


def test_a_version_that_cannot_be_parsed():
    """Go: TestGetServerVersion"""
    with (
        discovering({"/version": Answer(200, b"[]")}) as (client, _),
        pytest.raises(ValueError, match="unable to parse the server version: "),
    ):
        client.server_version()
    with discovering({"/version": {"gitVersion": "v1.36.0"}}) as (client, _):
        assert client.server_version().git_version == "v1.36.0"
        discovery.matches_server_version(client.server_version(), client)
        with pytest.raises(ValueError, match=r"server version \(.*\) differs from client version \(.*\)"):
            discovery.matches_server_version(type(client.server_version())(git_version="v1"), client)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"<html>sign in here</html>", "invalid character '<' looking for beginning of value"),
        (b"[]", "json: cannot unmarshal array into an object"),
        (b"", "unexpected end of JSON input"),
        (b'"v1"', "json: cannot unmarshal string into an object"),
    ],
)
def test_an_answer_that_is_something_else_says_whose_it_is(body, error):
    """Go: TestTimeoutIsSet"""
    with discovering({"/api": {"versions": ["v1"]}, "/apis": Answer(200, body)}) as (client, _):
        with pytest.raises(ValueError) as caught:
            client.server_groups()
        assert str(caught.value) == error
        assert caught.value.__notes__ == ["GET /apis?timeout=32s: 200"]


def test_null_is_an_empty_answer():
    null = Answer(200, b"null")
    with discovering({"/api": null, "/apis": null, "/version": null, "/openapi/v2": null}) as (client, _):
        groups, lists = client.server_groups_and_resources()
        assert ([found.name for found in groups], lists) == ([""], [])
        assert client.server_version().git_version == ""
        assert client.openapi_schema() == {}


def test_a_list_without_its_group_version_has_the_one_it_was_asked_for():
    """Go: TestGetServerResourcesForGroupVersion"""
    nameless = {"kind": "APIResourceList", "apiVersion": "v1", "resources": [DEPLOYMENTS]}
    with discovering({"/apis/apps/v1": nameless}) as (client, _):
        assert client.server_resources_for_group_version("apps/v1").group_version == "apps/v1"


def test_which_versions_a_server_supports():
    """
    Go: TestServerSupportsVersion/explicit version supported
    Go: TestServerSupportsVersion/explicit version not supported on server
    Go: TestServerSupportsVersion/Status 404 Not Found for core/v1 group returns empty and is unsupported
    """
    with discovering(legacy([group("apps", "v1")], [])) as (client, _):
        discovery.server_supports_version(client, GroupVersion("apps", "v1"))
        with pytest.raises(ValueError, match='server does not support API version "apps/v2"'):
            discovery.server_supports_version(client, GroupVersion("apps", "v2"))
        assert not discovery.is_resource_enabled(client, GroupVersionResource("apps", "v9", "deployments"))
    with discovering({"/apis": {"groups": []}}) as (client, _):
        discovery.server_supports_version(client, GroupVersion("apps", "v2"))


def test_predicates_choose_resources():
    """Go: TestFilteredBy"""
    lists = [copy.deepcopy(PODS), resources("apps/v1", DEPLOYMENTS)]
    known = [discovery.discovery_client.metav1.APIResourceList.from_dict(each) for each in lists]
    chosen = discovery.filtered_by(discovery.SupportsAllVerbs(verbs=["list"]), known)
    assert [listed.group_version for listed in chosen] == ["v1", "apps/v1"]
    assert discovery.filtered_by(discovery.SupportsAllVerbs(verbs=["list", "watch"]), known) == []
    cluster_wide = discovery.ResourcePredicateFunc(lambda group_version, found: not found.namespaced)
    [only] = discovery.filtered_by(cluster_wide, known)
    assert [found.name for found in only.api_resources] == ["namespaces"]
    assert len(known[0].api_resources) == 2, "the lists themselves stay as they are"


def test_close_ends_the_idle_connection_and_the_next_request_opens_another():
    with discovering(legacy([], [PODS])) as (client, server):
        client.server_groups()
        client.close()
        client.server_groups()
        assert {request.connection for request in server.requests} == {1, 2}


@pytest.mark.parametrize(
    ("path", "answer", "is_wanted"),
    [
        # Go: TestAggregatedServerGroupsAndResourcesWithErrors/Aggregated Discovery: 404 for core/v1 is tolerated
        ("/api", status(404, "NotFound", "no"), None),
        # Go: TestAggregatedServerGroupsAndResourcesWithErrors/Aggregated Discovery: 403 for core/v1 causes error
        ("/api", status(403, "Forbidden", "no"), errors.is_forbidden),
        # Go: TestAggregatedServerGroupsAndResourcesWithErrors/Aggregated Discovery: 404 for /apis causes error
        ("/apis", status(404, "NotFound", "no"), errors.is_not_found),
        # Go: TestAggregatedServerGroupsAndResourcesWithErrors/Aggregated Discovery: 403 for /apis causes error
        ("/apis", status(403, "Forbidden", "no"), errors.is_forbidden),
    ],
)
@pytest.mark.parametrize("content_type", [AGGREGATED_V2, "application/json"])
def test_only_the_core_group_may_be_missing(path, answer, is_wanted, content_type):
    """Go: TestDiscoveryFailsWhenNonCoreGroupsMissing"""
    if content_type == AGGREGATED_V2:
        version = aggregated_version("v1", aggregated_resource("deployments", "Deployment", "apps", "v1"))
        documents = {"/api": CORE, "/apis": aggregated(aggregated_group("apps", version))}
    else:
        documents = legacy([group("apps", "v1")], [PODS, resources("apps/v1", DEPLOYMENTS)])
    documents[path] = answer
    with discovering(documents, content_type) as (client, _):
        if is_wanted is None:
            groups, lists = client.server_groups_and_resources()
            assert ([found.name for found in groups], [listed.group_version for listed in lists]) == (
                ["apps"],
                ["apps/v1"],
            )
            return
        with pytest.raises(errors.StatusError) as caught:
            client.server_groups_and_resources()
    assert is_wanted(caught.value)


def test_of_an_aggregated_answer_only_preferred_versions_are_preferred():
    """
    Go: TestAggregatedServerPreferredResources/Aggregated discovery: basic corev1 and apps/v1
    Go: TestAggregatedServerPreferredResources/Aggregated discovery: only resources from preferred apps/v2 group/version
    """
    versions = [
        aggregated_version(version, aggregated_resource("deployments", "Deployment", "apps", version))
        for version in ("v2", "v1")
    ]
    apps = aggregated_group("apps", *versions)
    with discovering({"/api": CORE, "/apis": aggregated(apps)}, AGGREGATED_V2) as (client, _):
        preferred = client.server_preferred_resources()
    names = {listed.group_version: [found.name for found in listed.api_resources] for listed in preferred}
    assert {version: found for version, found in names.items() if found} == {"v1": ["pods"], "apps/v2": ["deployments"]}


def test_a_server_that_rejects_the_request_supports_nothing():
    """
    Go: TestServerSupportsVersion/Status 403 Forbidden for core/v1 group returns error and is unsupported
    Go: TestServerSupportsVersion/connection refused error
    """
    documents = legacy([group("apps", "v1")], [])
    documents["/api"] = status(403, "Forbidden", "no")
    with discovering(documents) as (client, _), pytest.raises(errors.StatusError, match="no"):
        discovery.server_supports_version(client, GroupVersion("apps", "v1"))
    with pytest.raises(rest.URLError):
        discovery.server_supports_version(client, GroupVersion("apps", "v1"))


def test_the_openapi_document_comes_as_the_server_has_it():
    """Go: TestGetOpenAPISchema"""
    document = {"swagger": "2.0", "info": {"title": "Kubernetes"}, "paths": {}}
    with discovering({"/openapi/v2": document}) as (client, _):
        assert client.openapi_schema() == document
