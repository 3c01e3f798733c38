"""Discovery that remembers in memory. Go: discovery/cached/memory/memcache_test.go."""

from __future__ import annotations

import re
import threading

import pytest
from httpscript import status
from scripteddiscovery import AGGREGATED_V2, discovering, group, legacy, path_of, resource, resources

from clientgo import discovery
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.discovery.cached.memory import ErrCacheNotFound, new_mem_cache_client

PODS = resources("v1", resource("pods", "Pod"))
APPS = resources("apps/v1", resource("deployments", "Deployment"))


@pytest.fixture
def handled(monkeypatch):
    """Return the list of the errors that were only logged."""
    messages: list[str] = []
    monkeypatch.setattr(
        utilruntime.runtime, "ERROR_HANDLERS", [lambda ctx, err, msg, **values: messages.append(str(err))]
    )
    return messages


def test_everything_is_read_at_once_and_only_once():
    """Go: TestClient, TestMemCacheGroupsAndMaybeResources"""
    with discovering(legacy([group("apps", "v1")], [PODS, APPS])) as (client, server):
        cached = new_mem_cache_client(client)
        assert not cached.fresh()
        assert cached.server_resources_for_group_version("apps/v1").api_resources[0].name == "deployments"
        assert cached.fresh()
        asked = len(server.requests)
        cached.server_groups_and_resources()
        cached.server_preferred_resources()
        cached.server_preferred_namespaced_resources()
        with pytest.raises(ErrCacheNotFound, match="^not found$"):
            cached.server_resources_for_group_version("nope/v1")
        assert len(server.requests) == asked == 4
        cached.invalidate()
        assert not cached.fresh()
        cached.server_groups()
        assert len(server.requests) == 2 * asked
        assert cached.with_legacy() is cached


def test_an_aggregated_answer_with_stale_versions():
    """Go: TestAggregatedMemCacheGroupsAndMaybeResources, TestMemCacheAggregatedServerGroups"""
    core = {"metadata": {"name": ""}, "versions": [{"version": "v1"}, {"version": "v2", "freshness": "Stale"}]}
    documents = {"/api": {"items": [core]}, "/apis": {"items": []}}
    with discovering(documents, AGGREGATED_V2) as (client, server):
        cached = new_mem_cache_client(client)
        assert isinstance(cached, discovery.AggregatedDiscoveryInterface)
        _, by_version, failed = cached.groups_and_maybe_resources()
        assert list(by_version) == [GroupVersion("", "v1")]
        assert {str(gv): str(err) for gv, err in failed.items()} == {"v2": "stale GroupVersion discovery: v2"}
        with pytest.raises(discovery.StaleGroupVersionError):
            cached.server_resources_for_group_version("v2")
        assert len(server.requests) == 2


@pytest.mark.parametrize("passing", [status(500, "InternalError", "boom"), status(429, "TooManyRequests", "slow down")])
def test_what_failed_for_a_passing_reason_is_asked_for_again(passing, handled):
    """Go: TestPartialRetryableFailure"""
    documents = legacy([group("apps", "v1")], [PODS])
    documents["/apis/apps/v1"] = passing
    with discovering(documents) as (client, server):
        cached = new_mem_cache_client(client)
        with pytest.raises(errors.StatusError):
            cached.server_resources_for_group_version("apps/v1")
        documents["/apis/apps/v1"] = APPS
        assert cached.server_resources_for_group_version("apps/v1").group_version == "apps/v1"
        assert [path_of(request) for request in server.requests].count("/apis") == 1
    assert handled
    assert all(message.startswith("couldn't get resource list for apps/v1: ") for message in handled)


def test_what_failed_for_good_stays_so(handled):
    """Go: TestPartialPermanentFailure"""
    documents = legacy([group("apps", "v1")], [PODS])
    documents["/apis/apps/v1"] = status(403, "Forbidden", "no")
    with discovering(documents) as (client, _):
        cached = new_mem_cache_client(client)
        for _attempt in range(2):
            with pytest.raises(errors.StatusError) as caught:
                cached.server_resources_for_group_version("apps/v1")
            assert errors.is_forbidden(caught.value)
            documents["/apis/apps/v1"] = APPS


def test_a_cached_error_keeps_no_stack_frames(handled):
    documents = legacy([group("apps", "v1")], [PODS])
    documents["/apis/apps/v1"] = documents["/openapi/v3"] = status(403, "Forbidden", "no")
    with discovering(documents) as (client, _):
        cached = new_mem_cache_client(client)
        for question in (lambda: cached.server_resources_for_group_version("apps/v1"), cached.openapi_v3().paths):
            depths = []
            for _attempt in range(3):
                with pytest.raises(errors.StatusError) as caught:
                    question()
                depths.append(len(caught.traceback))
            assert depths[1] == depths[2]


def test_an_empty_list_is_an_error_that_is_not_logged(handled):
    with discovering(legacy([group("metrics", "v1")], [PODS, resources("metrics/v1")])) as (client, _):
        cached = new_mem_cache_client(client)
        with pytest.raises(Exception, match="received empty response for: metrics/v1"):
            cached.server_resources_for_group_version("metrics/v1")
    assert handled == []


def test_a_server_that_cannot_be_reached_is_reported_and_asked_again(handled):
    """Go: TestServerGroupsFails"""
    documents = legacy([], [PODS])
    documents["/apis"] = status(500, "InternalError", "boom")
    with discovering(documents) as (client, _):
        cached = new_mem_cache_client(client)
        with pytest.raises(errors.StatusError):
            cached.server_groups()
        assert not cached.fresh()
        del documents["/apis"]
        documents.update(legacy([], [PODS]))
        assert len(cached.server_groups().groups) == 1
    assert len(handled) == 1
    assert handled[0].startswith("couldn't get current server API group list: ")


def test_many_that_ask_at_once_make_one_read():
    with discovering(legacy([group("apps", "v1")], [PODS, APPS])) as (client, server):
        cached = new_mem_cache_client(client)
        threads = [threading.Thread(target=cached.server_groups_and_resources) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [path_of(request) for request in server.requests].count("/api") == 1


def test_the_openapi_documents_are_read_once_until_they_are_forgotten():
    """Go: TestOpenAPIMemCache, TestGetOpenAPISchemaV3"""
    index = {"paths": {"apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=AB"}}}
    documents = {"/openapi/v3": index, "/openapi/v3/apis/apps/v1": {"openapi": "3.0.0"}}
    with discovering(documents) as (client, server):
        cached = new_mem_cache_client(client)
        for _ in range(2):
            cached.openapi_v3().paths()["apis/apps/v1"].schema()
        assert [path_of(request) for request in server.requests] == ["/openapi/v3", "/openapi/v3/apis/apps/v1"]
        cached.invalidate()
        cached.openapi_v3().paths()
        assert len(server.requests) == 3


def test_close_reaches_the_client_below():
    with discovering(legacy([], [PODS])) as (client, server):
        cached = new_mem_cache_client(client)
        cached.server_groups()
        cached.close()
        cached.invalidate()
        cached.server_groups()
        assert max(request.connection for request in server.requests) > 1


def test_a_bug_of_the_users_code_is_logged_with_type_and_place(caplog: pytest.LogCaptureFixture) -> None:
    class Delegate:
        def __getattr__(self, name: str) -> object:
            raise LookupError(name)

    with pytest.raises(LookupError):
        new_mem_cache_client(Delegate()).server_groups()
    first = caplog.messages[0].splitlines()[0]
    assert "couldn't get current server API group list" in first
    assert re.search(r'at="test_memcache.py:\d+ in __getattr__" cause="LookupError: ', first)
