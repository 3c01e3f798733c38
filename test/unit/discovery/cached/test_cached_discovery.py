"""Discovery that remembers on disk. Go: discovery/cached/disk/cached_discovery_test.go."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from httpscript import Answer, ScriptedServer
from scripteddiscovery import AGGREGATED_V2, discovering, group, legacy, resource, resources

from clientgo import discovery, rest
from clientgo.apimachinery.api import errors
from clientgo.discovery.cached.disk import CachedDiscoveryClient, new_cached_discovery_client_for_config

APPS = resources("apps/v1", resource("deployments", "Deployment"))
DOCUMENTS = legacy([group("apps", "v1"), group("empty", "v1")], [APPS, resources("empty/v1")])


@pytest.fixture
def served() -> Iterator[tuple[discovery.DiscoveryClient, ScriptedServer]]:
    with discovering(DOCUMENTS) as made:
        yield made


def test_files_are_written_whole_and_for_their_group_to_write(served, tmp_path):
    """Go: TestNewCachedDiscoveryClient_PathPerm"""
    client, _ = served
    cached = CachedDiscoveryClient(client, str(tmp_path / "cache"), 60.0)
    cached.server_groups()
    cached.server_resources_for_group_version("apps/v1")
    assert cached.fresh(), "nothing came from somebody else's file"
    groups, apps = tmp_path / "cache" / "servergroups.json", tmp_path / "cache" / "apps" / "v1" / "serverresources.json"
    assert sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_file()) == [apps, groups]
    assert (groups.stat().st_mode & 0o777, apps.parent.stat().st_mode & 0o777) == (0o660, 0o750 & ~_umask())
    written = json.loads(apps.read_bytes())
    assert (written["kind"], written["apiVersion"]) == ("APIResourceList", "v1"), "as kubectl writes it"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_one_client_reads_what_another_wrote_until_fresh_data_are_asked_for(served, tmp_path):
    """Go: TestCachedDiscoveryClient_Fresh, TestCachedDiscoveryClientUnaggregatedServerGroups"""
    client, server = served
    CachedDiscoveryClient(client, str(tmp_path), 60.0).server_groups()
    asked = len(server.requests)
    second = CachedDiscoveryClient(client, str(tmp_path), 60.0)
    groups = second.server_groups()
    assert [found.name for found in groups.groups] == ["", "apps", "empty"]
    assert not groups.kind, "as a live answer has none"
    assert len(server.requests) == asked
    assert not second.fresh()
    second.invalidate()
    assert second.fresh()
    second.server_groups()
    assert len(server.requests) == 2 * asked
    second.server_groups()
    assert len(server.requests) == 2 * asked, "its own file is fresh enough"
    assert second.fresh()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"{}",
        b'{"groups":[]}',
        b'{"kind":"Status","apiVersion":"v1","status":"Failure"}',
        b'{"kind":"APIGroupList","apiVersion":"v2","groups":[]}',
    ],
)
def test_a_file_that_holds_anything_else_is_replaced(content, served, tmp_path):
    client, server = served
    file = tmp_path / "servergroups.json"
    file.write_bytes(content)
    cached = CachedDiscoveryClient(client, str(tmp_path), 60.0)
    assert len(cached.server_groups().groups) == 3
    assert server.requests
    assert json.loads(file.read_bytes())["kind"] == "APIGroupList"


def test_empty_lists_and_failures_are_not_written(served, tmp_path):
    client, _ = served
    cached = CachedDiscoveryClient(client, str(tmp_path), 60.0)
    assert not cached.server_resources_for_group_version("empty/v1").api_resources
    with pytest.raises(errors.StatusError):
        cached.server_resources_for_group_version("nope/v1")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_costs_only_the_cache(served, tmp_path):
    client, _ = served
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    cached = CachedDiscoveryClient(client, str(in_the_way), 60.0)
    assert len(cached.server_groups().groups) == 3


def test_from_a_config_the_groups_and_resources_are_read_together(tmp_path):
    with discovering(DOCUMENTS) as (_, server):
        cached = new_cached_discovery_client_for_config(rest.Config(host=server.url), str(tmp_path), "", 60.0)
        cached.server_groups()
        asked = len(server.requests)
        cached.server_resources_for_group_version("apps/v1")
        assert len(server.requests) == asked, "the memory cache below has it"
        cached.invalidate()
        cached.server_groups()
        assert len(server.requests) > asked, "the memory cache below forgets too"
        cached.close()


@pytest.mark.parametrize("preferred", ["v1", "v2"])
def test_an_aggregated_answer_is_read_and_written_with_all_groups_and_versions(preferred, tmp_path):
    """Go: TestCachedDiscoveryClientAggregatedServerGroups."""
    order = ["v1", "v2"] if preferred == "v1" else ["v2", "v1"]

    def listed(name: str, *versions: str) -> dict:
        kind = {"group": name, "kind": "Thing"}
        found = [{"resource": "things", "responseKind": kind, "scope": "Namespaced", "verbs": ["list"]}]
        return {"metadata": {"name": name}, "versions": [{"version": each, "resources": found} for each in versions]}

    def document(*items: dict) -> Answer:
        body = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items}
        return Answer(200, json.dumps(body).encode(), {"Content-Type": AGGREGATED_V2})

    documents = {"/api": document(listed("", "v1")), "/apis": document(listed("apps", *order), listed("batch", "v1"))}
    with discovering(documents) as (client, server):
        for asked in (2, 2):
            groups = CachedDiscoveryClient(client, str(tmp_path), 60.0).server_groups().groups
            assert [found.name for found in groups] == ["", "apps", "batch"]
            assert [each.group_version for found in groups for each in found.versions] == [
                "v1",
                *[f"apps/{version}" for version in order],
                "batch/v1",
            ]
            chosen = [found.preferred_version.group_version for found in groups]
            assert chosen == ["v1", f"apps/{preferred}", "batch/v1"]
            assert len(server.requests) == asked, "the second client reads the file"
