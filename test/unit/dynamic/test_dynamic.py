"""The dynamic client, discovery, REST mappers and dynamic informers against the embedded API server."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator

import pytest
from patience import PATIENCE

from clientgo import context, discovery, dynamic, rest, restmapper
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource, GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.discovery.cached.disk import CachedDiscoveryClient
from clientgo.discovery.cached.memory import ErrCacheNotFound, new_mem_cache_client
from clientgo.dynamic import dynamicinformer
from clientgo.testing.apiserver import Environment
from clientgo.tools import cache
from clientgo.utils.clock.testing import FakeClock

# One server serves the whole module, and its connections may outlive a test.
pytestmark = pytest.mark.shared_server

CTX = context.background()
CONFIG_MAPS = GroupVersionResource("", "v1", "configmaps")
DEPLOYMENTS = GroupVersionResource("apps", "v1", "deployments")


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment() as environment:
        yield environment


@pytest.fixture
def client(env: Environment) -> Iterator[dynamic.DynamicClient]:
    made = dynamic.new_for_config(env.config)
    yield made
    made.close()


@pytest.fixture
def discovered(env: Environment) -> Iterator[discovery.DiscoveryClient]:
    made = discovery.new_discovery_client_for_config(env.config)
    yield made
    made.close()


def config_map(name: str, **data: str) -> Unstructured:
    return Unstructured({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})


def test_every_verb(client):
    maps = client.resource(CONFIG_MAPS).namespace("default")
    created = maps.create(CTX, config_map("verbs", a="1"), metav1.CreateOptions(field_manager="test"))
    assert (created.get_kind(), created.get_api_version()) == ("ConfigMap", "v1")
    changed = created.deep_copy()
    changed.unstructured_content()["data"]["a"] = "2"
    assert maps.update(CTX, changed).unstructured_content()["data"] == {"a": "2"}
    with pytest.raises(errors.StatusError) as caught:
        maps.update(CTX, created)
    assert errors.is_conflict(caught.value)
    merged = maps.patch(CTX, "verbs", PatchType.MERGE, json.dumps({"data": {"b": "3"}}).encode())
    assert merged.unstructured_content()["data"] == {"a": "2", "b": "3"}
    patched = maps.patch(CTX, "verbs", PatchType.JSON, b'[{"op":"remove","path":"/data/a"}]')
    assert patched.unstructured_content()["data"] == {"b": "3"}
    applied = maps.apply(
        CTX, "applied", config_map("applied", x="y"), metav1.ApplyOptions(field_manager="me", force=True)
    )
    assert applied.get_managed_fields()[0].manager == "me"
    with pytest.raises(ValueError, match="cannot apply an object with managed fields already set"):
        maps.apply(CTX, "applied", applied, metav1.ApplyOptions(field_manager="me"))
    listed = maps.list(CTX, metav1.ListOptions(field_selector="metadata.name=verbs"))
    [item] = listed.extract_items()
    assert (item.get_kind(), item.get_api_version()) == ("ConfigMap", "v1"), "servers leave the kind of items out"
    maps.delete(CTX, "verbs")
    with pytest.raises(errors.StatusError) as caught:
        maps.get(CTX, "verbs")
    assert errors.is_not_found(caught.value)
    assert str(caught.value) == 'configmaps "verbs" not found'
    maps.delete_collection(CTX, None, metav1.ListOptions(field_selector="metadata.name=applied"))


def test_names_that_cannot_be():
    """Go: TestInvalidSegments"""
    maps = dynamic.new_for_config(rest.Config(host="http://127.0.0.1:1")).resource(CONFIG_MAPS)
    with pytest.raises(ValueError, match="name is required"):
        maps.get(CTX, "")
    with pytest.raises(ValueError, match=r"invalid resource name \"a/b\": \[may not contain '/'\]"):
        maps.delete(CTX, "a/b")
    with pytest.raises(ValueError, match=r"invalid namespace"):
        maps.namespace("..").list(CTX)


def test_watch(client):
    maps = client.resource(CONFIG_MAPS).namespace("default")
    watcher = maps.watch(CTX, metav1.ListOptions(field_selector="metadata.name=watched"))
    maps.create(CTX, config_map("watched"))
    maps.delete(CTX, "watched")
    events = [watcher.result_chan().receive(10)[0] for _ in range(2)]
    assert [(event.type, event.object.get_kind()) for event in events] == [
        ("ADDED", "ConfigMap"),
        ("DELETED", "ConfigMap"),
    ]
    watcher.stop()


def test_an_informer_follows_the_server(client):
    """Go: TestDynamicSharedInformerFactory"""
    factory = dynamicinformer.new_filtered_dynamic_shared_informer_factory(
        client, 0.0, "default", lambda options: setattr(options, "label_selector", "watched=yes")
    )
    generic = factory.for_resource(CONFIG_MAPS)
    assert factory.for_resource(CONFIG_MAPS) is generic
    added = threading.Event()
    generic.informer().add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda obj: added.set()))
    stop = threading.Event()
    factory.start(stop)
    try:
        assert factory.wait_for_cache_sync(stop) == {CONFIG_MAPS: True}
        maps = client.resource(CONFIG_MAPS).namespace("default")
        mine = config_map("informed")
        mine.set_labels({"watched": "yes"})
        maps.create(CTX, mine)
        maps.create(CTX, config_map("ignored"))
        assert added.wait(PATIENCE)
        lister = generic.lister().by_namespace("default")
        assert [obj.get_name() for obj in lister.list(labels.everything())] == ["informed"]
        assert lister.get("informed").get_name() == "informed"
        with pytest.raises(errors.StatusError, match='configmaps "nope" not found'):
            lister.get("nope")
    finally:
        stop.set()
        factory.shutdown()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith(("watch ", "informer-"))]


def test_discovery_in_both_forms_agrees(discovered):
    groups, lists = discovered.server_groups_and_resources()
    legacy_groups, legacy_lists = discovered.with_legacy().server_groups_and_resources()
    assert [group.name for group in groups] == [group.name for group in legacy_groups]
    assert discovery.group_version_resources(lists) == discovery.group_version_resources(legacy_lists)
    assert discovery.is_resource_enabled(discovered, DEPLOYMENTS)
    preferred = discovered.server_preferred_namespaced_resources()
    names = {resource.name for listed in preferred for resource in listed.api_resources}
    assert "deployments" in names
    assert "namespaces" not in names
    assert not any("/" in name for name in names)


def test_mappers(discovered):
    cached = new_mem_cache_client(discovered)
    mapper = restmapper.new_deferred_discovery_rest_mapper(cached)
    mapping = mapper.rest_mapping(GroupKind("apps", "Deployment"))
    assert mapping.resource == DEPLOYMENTS
    assert mapping.scope.name() == meta.RESTScopeName.NAMESPACE
    assert mapper.kind_for(GroupVersionResource("", "", "pods")) == GroupVersionKind("", "v1", "Pod")
    assert mapper.resource_singularizer("deployments") == "deployment"
    with pytest.raises(meta.NoKindMatchError):
        mapper.rest_mapping(GroupKind("nope", "Nope"))
    short = restmapper.new_shortcut_expander(mapper, cached)
    assert short.kind_for(GroupVersionResource("", "", "po")) == GroupVersionKind("", "v1", "Pod")
    assert short.resource_for(GroupVersionResource("", "", "deploy")) == DEPLOYMENTS
    everything, known = restmapper.new_discovery_category_expander(cached).expand("all")
    assert known
    assert GroupResource("apps", "deployments") in everything


def test_memory_cache(discovered):
    cached = new_mem_cache_client(discovered)
    assert not cached.fresh()
    assert cached.server_groups() is cached.server_groups()
    assert cached.fresh()
    with pytest.raises(ErrCacheNotFound):
        cached.server_resources_for_group_version("nope/v1")
    cached.invalidate()
    assert not cached.fresh()


def test_disk_cache(discovered, tmp_path):
    """Go: TestNewCachedDiscoveryClient_TTL"""
    clock = FakeClock(0.0)
    first = CachedDiscoveryClient(discovered, str(tmp_path), 600.0, clock)
    listed = first.server_resources_for_group_version("apps/v1")
    file = tmp_path / "apps" / "v1" / "serverresources.json"
    clock.set_time(os.stat(file).st_mtime)

    class Unasked:
        def server_resources_for_group_version(self, group_version: str) -> metav1.APIResourceList:
            raise AssertionError("the file was fresh enough")

    second = CachedDiscoveryClient(Unasked(), str(tmp_path), 600.0, clock)  # type: ignore[arg-type]
    assert second.server_resources_for_group_version("apps/v1") == listed
    assert not second.fresh(), "the file is somebody else's"
    clock.step(601)
    with pytest.raises(AssertionError):
        second.server_resources_for_group_version("apps/v1")
