"""A server that starts with the contents of another one."""

from __future__ import annotations

from widgetoperator import CRD

from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.store.storage import Contents


def filled() -> Contents:
    with Server(listen=False) as server:
        definitions = server.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        maps = server.registry.find("", "v1", "configmaps")
        assert definitions is not None
        assert maps is not None
        server.create(definitions, "", CRD)
        server.create(maps, "default", {"metadata": {"name": "a"}, "data": {"size": "1"}})
        assert server.controllers.wait_idle()
        return server.store.all_contents()


def test_a_server_starts_with_the_objects_versions_and_kinds_of_another() -> None:
    contents = filled()

    with Server(listen=False, contents=contents) as server:
        server.store.check()
        assert server.store.all_contents() == contents, "the new server writes nothing"
        assert server.registry.find("example.com", "v1", "widgets") is not None
        found = server.store.get("/configmaps", "default/a")
        assert found is not None
        assert found.obj["data"] == {"size": "1"}


def test_two_servers_with_the_same_contents_are_independent() -> None:
    contents = filled()

    with Server(listen=False, contents=contents) as one, Server(listen=False, contents=contents) as other:
        maps = one.registry.find("", "v1", "configmaps")
        assert maps is not None
        new = one.create(maps, "default", {"metadata": {"name": "b"}})
        assert new.rv == contents.version + 1
        assert one.store.count("/configmaps") == other.store.count("/configmaps") + 1
        assert other.store.all_contents() == contents
