"""Informers of the dynamic client stream their list where the client can, and list where it cannot."""

from __future__ import annotations

import json

from httpscript import Answer, ScriptedServer

from clientgo import context, dynamic, rest
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.dynamic import dynamicinformer
from clientgo.dynamic.fake import new_simple_dynamic_client
from clientgo.features import WATCH_LIST_CLIENT
from clientgo.features.testing import set_feature_during_test
from clientgo.kubernetes.scheme import SCHEME
from clientgo.testing import synctest

DEPLOYMENTS = GroupVersionResource("apps", "v1", "deployments")


def synced(client: dynamic.Interface) -> bool:
    factory = dynamicinformer.new_filtered_dynamic_shared_informer_factory(client, 0.0, "ns", None)
    factory.for_resource(DEPLOYMENTS)
    ctx, cancel = context.with_timeout(context.background(), 60.0)
    factory.start(ctx.done())
    found = factory.wait_for_cache_sync(ctx.done())
    cancel()
    factory.shutdown()
    return found == {DEPLOYMENTS: True}


def test_a_bookmark_that_ends_the_initial_objects_is_a_list() -> None:
    """Go: TestWatchListSemanticsSimple."""
    metadata = {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}
    line = json.dumps({"type": "BOOKMARK", "object": deployment}).encode() + b"\n"
    with set_feature_during_test(WATCH_LIST_CLIENT, True), ScriptedServer(lambda request: Answer(body=line)) as server:
        client = dynamic.new_for_config(rest.Config(host=server.url))
        assert synced(client)
        client.close()
    assert all("watch=true" in request.target for request in server.requests)
    assert "sendInitialEvents=true" in server.requests[0].target


def test_a_fake_is_listed_and_watched() -> None:
    """Go: TestUnSupportWatchListSemantics."""
    with set_feature_during_test(WATCH_LIST_CLIENT, True), synctest.bubble():
        client = new_simple_dynamic_client(SCHEME)
        assert synced(client)
    assert [action.get_verb() for action in client.actions()] == ["list", "watch"]
