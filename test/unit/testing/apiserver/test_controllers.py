"""The server's controllers, which run only when an object concerns them or a request waits for them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.server import Server
from clientgo.testing.apiserver.wire.http import Request


def test_what_concerns_no_controller_rests_until_somebody_waits() -> None:
    server = Server(listen=False)
    maps = server.registry.find("", "v1", "configmaps")
    assert maps is not None
    try:
        server.start()
        assert server.controllers.wait_idle()
        server.create(maps, "default", {"metadata": {"name": "free"}})
        assert repr(server.controllers) == "<Controllers 1 queued>"
        assert server.controllers.wait_idle()
        assert repr(server.controllers) == "<Controllers 0 queued>"
    finally:
        server.stop()


MAPS = "/api/v1/namespaces/default/configmaps"
Json = dict[str, Any]


def kept(name: str, *finalizers: str, owners: tuple[Json, ...] = ()) -> Json:
    """Return a ConfigMap that these finalizers keep."""
    references = [
        {"apiVersion": "v1", "kind": "ConfigMap", "blockOwnerDeletion": True}
        | {key: owner["metadata"][key] for key in ("name", "uid")}
        for owner in owners
    ]
    return {"metadata": {"name": name, "finalizers": [*finalizers], "ownerReferences": references}}


@pytest.mark.parametrize("last", ["gone", "released"])
@pytest.mark.parametrize("count", [1, 3])
def test_an_owner_goes_after_the_last_dependent_that_it_waits_for(count: int, last: str) -> None:
    """Nothing but the end of a dependent lets the owner be checked again: it is in deletion and does not change."""
    with Environment() as env:
        api = Api(env)

        def idle() -> set[str]:
            assert env.server.controllers.wait_idle()
            return {one["metadata"]["name"] for one in api("GET", MAPS)["items"]} - {"kube-root-ca.crt"}

        try:
            owner = api("POST", MAPS, kept("owner"), want=201)
            names = [f"dependent-{number}" for number in range(count)]
            for name in names:
                api("POST", MAPS, kept(name, "example.com/keep", owners=(owner,)), want=201)
            api("DELETE", f"{MAPS}/owner", {"propagationPolicy": "Foreground"}, want=200)
            for name in names:
                assert {"owner", name} <= idle()
                change = {"finalizers": None} if last == "gone" else {"ownerReferences": None}
                api("PATCH", f"{MAPS}/{name}", {"metadata": change}, media="application/merge-patch+json", want=200)
            assert idle() == (set() if last == "gone" else set(names))
        finally:
            api.close()


def test_objects_that_own_each_other_go_in_the_foreground() -> None:
    """Each would wait for the others for ever; as in Go, the collector finds the circle."""
    server = Server(listen=False)
    maps = server.registry.find("", "v1", "configmaps")
    assert maps is not None
    try:
        server.start()
        uids = {}
        for name, owner in (("a", ""), ("b", "a"), ("c", "b")):
            owners = ({"metadata": {"name": owner, "uid": uids[owner]}},) if owner else ()
            made = server.create(maps, "default", kept(name, owners=owners))
            uids[name] = made.obj["metadata"]["uid"]
        closing = kept("a", owners=({"metadata": {"name": "c", "uid": uids["c"]}},))
        foreground = {"propagationPolicy": "Foreground"}
        for method, media, body in (("PATCH", "merge-patch+json", closing), ("DELETE", "json", foreground)):
            headers = {"content-type": f"application/{media}", "authorization": f"Bearer {server.token}"}
            request = Request(method, f"{MAPS}/a", headers)
            request.body = json.dumps(body).encode()
            assert server.handle(request, False).status == 200
        assert server.controllers.wait_idle()
        left = {stored.name for stored in server.store.list("/configmaps", "default/")[1]}
        assert left.isdisjoint(uids)
    finally:
        server.stop()
