"""The RESTMapper asks a server for what it needs, once, and again for what is new."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from ctrlcluster import CTX, WIDGETS, Cluster

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import apiutil
from clientgo.golang.http import Client, Request, Response, RoundTripper

pytestmark = pytest.mark.shared_server

DEPLOYMENT = GroupKind("apps", "Deployment")


class Recorder:
    """A round tripper that notes the paths. An old server knows no aggregated discovery."""

    def __init__(self, below: RoundTripper, old_server: bool) -> None:
        self._below = below
        self._old_server = old_server
        self.paths: list[str] = []
        self.fail: Callable[[str], bool] = lambda path: False

    def round_trip(self, request: Request) -> Response:
        path = "/" + request.url.split("/", 3)[3].partition("?")[0]
        self.paths.append(path)
        if self.fail(path):
            raise ConnectionRefusedError(111, "connection refused")  # which no client tries again
        if self._old_server:
            request = request.clone()
            request.headers["Accept"] = "application/json"
        return self._below.round_trip(request)

    def seen(self) -> list[str]:
        """Return the paths that were requested since the last call."""
        paths, self.paths = self.paths, []
        return paths


@pytest.fixture
def old(cluster: Cluster) -> Recorder:
    return Recorder(cluster.http_client.transport, old_server=True)


@pytest.fixture
def new(cluster: Cluster) -> Recorder:
    return Recorder(cluster.http_client.transport, old_server=False)


def mapper(cluster: Cluster, recorder: Recorder) -> meta.RESTMapper:
    return apiutil.new_dynamic_rest_mapper(cluster.config, Client(recorder))


def widget_crd(group: str, *versions: str, kind: str = "Widget") -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    one = WIDGETS["spec"]["versions"][0]  # type: ignore[index]
    return {
        **WIDGETS,
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": [{**one, "name": name, "storage": name == versions[0]} for name in versions],
        },
    }


def install(cluster: Cluster, crd: dict[str, Any]) -> None:
    cluster.environment.create(crd)
    assert cluster.environment.wait_idle()


def test_nothing_is_asked_before_something_is_looked_up(cluster: Cluster, old: Recorder) -> None:
    """
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should fetch data based on the request
    """
    made = mapper(cluster, old)
    assert old.seen() == []
    made.rest_mapping(DEPLOYMENT, "v1")
    assert old.seen() == ["/api", "/apis", "/apis/apps/v1"]
    made.rest_mapping(GroupKind("", "Pod"), "v1")
    assert old.seen() == ["/api/v1"]
    made.resource_for(GroupVersionResource("batch", "v1", "jobs"))
    assert old.seen() == ["/apis/batch/v1"]


def test_what_was_learned_is_not_asked_again(cluster: Cluster, old: Recorder) -> None:
    """
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should cache fetched data and doesn't perform any
    ... additional requests
    """
    made = mapper(cluster, old)
    made.rest_mapping(DEPLOYMENT, "v1")
    old.seen()
    deployments = GroupVersionResource("apps", "v1", "deployments")
    assert made.kind_for(deployments).kind == "Deployment"
    assert [gvk.kind for gvk in made.kinds_for(deployments)] == ["Deployment"]
    assert made.resource_for(deployments) == deployments
    assert made.resources_for(deployments) == [deployments]
    assert [each.resource for each in made.rest_mappings(DEPLOYMENT, "v1")] == [deployments]
    assert made.resource_singularizer("deployments") == "deployment"
    assert made.rest_mapping(GroupKind("apps", "StatefulSet"), "v1").resource.resource == "statefulsets"
    assert old.seen() == []


def test_a_server_with_aggregated_discovery_gets_one_request(cluster: Cluster, new: Recorder) -> None:
    """
    Go: client/apiutil: TestLazyRestMapperProvider
    """
    made = mapper(cluster, new)
    made.rest_mapping(DEPLOYMENT, "v1")
    made.rest_mapping(GroupKind("", "Pod"), "v1")
    made.rest_mapping(GroupKind("batch", "Job"))
    assert new.seen() == ["/api", "/apis"]


@pytest.mark.parametrize("is_old", [True, False])
def test_without_a_version_the_preferred_one_is_taken(
    cluster: Cluster, old: Recorder, new: Recorder, is_old: bool
) -> None:
    """
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should work correctly with empty versions list
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should work correctly if the version isn't specified
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should work correctly with multiple API group
    ... versions
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should work correctly with different API group
    ... versions
    Go: client/apiutil: TestLazyRestMapperProvider > Restmapper should consistently return the preferred version
    """
    group = f"{cluster.new_name('g')}.example.com"
    install(cluster, widget_crd(group, "v1beta1", "v1", "v1alpha1"))
    gk = GroupKind(group, "Widget")
    made = mapper(cluster, old if is_old else new)
    assert made.rest_mapping(gk, "v1beta1", "v1alpha1").resource.version == "v1beta1"
    # Also when less wanted versions were learned of before.
    assert made.rest_mapping(gk, "v1").resource.version == "v1"
    assert made.rest_mapping(gk).resource.version == "v1"
    fresh = mapper(cluster, old if is_old else new)
    assert fresh.rest_mapping(gk).resource.version == "v1"
    assert fresh.rest_mapping(gk, "").resource.version == "v1"
    assert {each.resource.version for each in fresh.rest_mappings(gk)} == {"v1", "v1beta1", "v1alpha1"}
    for version in ("v1", "v1beta1", "v1alpha1"):
        assert fresh.rest_mapping(gk, version).resource.version == version
    assert fresh.resource_for(GroupVersionResource(group, "", "widgets")).version == "v1"


@pytest.mark.parametrize("is_old", [True, False])
def test_what_a_server_does_not_have_is_an_error_that_says_so(
    cluster: Cluster, old: Recorder, new: Recorder, is_old: bool
) -> None:
    """
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should return an error if the group doesn't exist
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should return an error if a resource doesn't exist
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should return an error if the version doesn't exist
    """
    made = mapper(cluster, old if is_old else new)
    calls: list[Callable[[], Any]] = [
        lambda: made.rest_mapping(GroupKind("none.example.com", "Widget"), "v1"),
        lambda: made.rest_mapping(GroupKind("none.example.com", "Widget")),
        lambda: made.rest_mapping(GroupKind("apps", "Unheard"), "v1"),
        lambda: made.rest_mapping(DEPLOYMENT, "v17"),
        lambda: made.rest_mappings(DEPLOYMENT, "v17"),
        lambda: made.resource_for(GroupVersionResource("apps", "v1", "unheards")),
        lambda: made.resources_for(GroupVersionResource("apps", "v1", "unheards")),
        lambda: made.kind_for(GroupVersionResource("apps", "v17", "deployments")),
        lambda: made.kinds_for(GroupVersionResource("none.example.com", "v1", "widgets")),
    ]
    for call in calls:
        with pytest.raises(Exception) as caught:
            call()
        assert meta.is_no_match_error(caught.value), caught.value


@pytest.mark.parametrize("is_old", [True, False])
def test_a_kind_that_was_added_since_is_found(cluster: Cluster, old: Recorder, new: Recorder, is_old: bool) -> None:
    """
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper can fetch CRDs if they were created at runtime
    """
    group = f"{cluster.new_name('g')}.example.com"
    made = mapper(cluster, old if is_old else new)
    gk = GroupKind(group, "Widget")
    with pytest.raises(Exception) as caught:
        made.rest_mapping(gk, "v1")
    assert meta.is_no_match_error(caught.value)
    install(cluster, widget_crd(group, "v1"))
    assert made.rest_mapping(gk, "v1").resource.resource == "widgets"
    # And another kind of that group, which is known by now.
    install(cluster, widget_crd(group, "v1", kind="Gadget"))
    assert made.rest_mapping(GroupKind(group, "Gadget"), "v1").resource.resource == "gadgets"


def test_a_version_that_is_gone_makes_the_group_be_asked_about_again(cluster: Cluster, old: Recorder) -> None:
    """
    Go: client/apiutil: TestLazyRestMapperProvider > LazyRESTMapper should invalidate the group cache if a version is
    ... not found
    Go: client/apiutil: TestLazyRestMapper_fetchGroupVersionResourcesLocked_CacheInvalidation
    """
    group = f"{cluster.new_name('g')}.example.com"
    definition = widget_crd(group, "v1", "v2")
    install(cluster, definition)
    made = mapper(cluster, old)
    assert made.rest_mapping(GroupKind(group, "Widget"), "v1").resource.version == "v1"

    left = {"spec": {"versions": definition["spec"]["versions"][:1]}}
    patch = client.raw_patch(PatchType.MERGE, json.dumps(left).encode())
    cluster.client.patch(CTX, Unstructured(copy.deepcopy(definition)), patch)
    assert cluster.environment.wait_idle()
    old.seen()
    with pytest.raises(Exception) as caught:
        made.rest_mapping(GroupKind(group, "Widget"), "v2")
    assert meta.is_no_match_error(caught.value)
    assert old.seen() == [f"/apis/{group}/v2"]
    # What versions the group has is not believed any more.
    install(cluster, widget_crd(group, "v1", kind="Gadget"))
    assert made.rest_mapping(GroupKind(group, "Gadget")).resource.version == "v1"
    assert old.seen() == ["/api", "/apis", f"/apis/{group}/v1"]


def test_a_request_that_fails_is_an_error_and_the_next_look_up_tries_again(cluster: Cluster, old: Recorder) -> None:
    made = mapper(cluster, old)
    old.fail = lambda path: path == "/apis/apps/v1"
    with pytest.raises(RuntimeError, match="failed to get API group resources") as caught:
        made.rest_mapping(DEPLOYMENT, "v1")
    assert not meta.is_no_match_error(caught.value)
    cause = caught.value.__cause__
    assert isinstance(cause, apiutil.ErrResourceDiscoveryFailed)
    assert list(cause.by_version) == [GroupVersion("apps", "v1")]
    old.fail = lambda path: False
    assert made.rest_mapping(DEPLOYMENT, "v1").resource.resource == "deployments"


def test_many_threads_may_look_up_at_once_and_ask_no_more_than_one(cluster: Cluster, new: Recorder) -> None:
    made = mapper(cluster, new)
    start = threading.Barrier(8)
    found: list[str] = []

    def look(kind: str) -> None:
        start.wait()
        found.append(made.rest_mapping(GroupKind("apps", kind), "v1").resource.resource)

    kinds = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"] * 2
    threads = [threading.Thread(target=look, args=(kind,), name=f"look-{kind}") for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(["deployments", "statefulsets", "daemonsets", "replicasets"] * 2)
    assert new.seen()[:2] == ["/api", "/apis"]
    assert new.seen() == []
