"""Typed clients over HTTP: the user agent, timeouts, and lists that are streamed. Go: the package kubernetes_test."""

from __future__ import annotations

import json

import pytest
from httpscript import Answer, ScriptedServer

from clientgo import context, dynamic, informers, kubernetes, rest
from clientgo.apimachinery.api.errors import StatusError
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.features import WATCH_LIST_CLIENT
from clientgo.features.testing import set_feature_during_test
from clientgo.golang.stop import StopChannel
from clientgo.kubernetes import fake
from clientgo.testing import synctest
from clientgo.util import watchlist

CTX = context.background()


@pytest.mark.parametrize("given", ["", "test-agent"], ids=["empty", "custom"])
def test_every_client_sends_the_user_agent(given: str) -> None:
    """Go: TestClientUserAgent."""
    with ScriptedServer(lambda request: Answer(body=b"{}")) as server:
        client = kubernetes.new_for_config(rest.Config(host=server.url, user_agent=given))
        client.core_v1().pods("").list(CTX, metav1.ListOptions())
        client.core_v1().secrets("").list(CTX, metav1.ListOptions())
        client.apps_v1().deployments("").list(CTX, metav1.ListOptions())
        client.close()
    agents = [request.headers["User-Agent"] for request in server.requests]
    assert agents == [given or rest.default_kubernetes_user_agent()] * 3


def test_a_timeout_is_a_parameter_of_lists_and_watches() -> None:
    """Go: TestListTimeout."""
    with ScriptedServer(lambda request: Answer(404, b"")) as server:
        client = kubernetes.new_for_config(rest.Config(host=server.url))
        sets = client.apps_v1().daemon_sets("")
        for call in (sets.list, sets.watch):
            with pytest.raises(StatusError):
                call(CTX, metav1.ListOptions(timeout_seconds=21))
        client.close()
    assert len(server.requests) == 2
    for request in server.requests:
        assert "timeout=21s" in request.target.partition("?")[2].split("&")


def test_real_clients_stream_lists_and_fakes_do_not() -> None:
    """
    Go: TestDoesClientSupportWatchListSemanticsForKubeClient
    Go: TestDoesClientSupportWatchListSemantics
    """
    config = rest.Config(host="https://127.0.0.1:1")
    assert not watchlist.does_client_not_support_watch_list_semantics(kubernetes.new_for_config(config))
    assert not watchlist.does_client_not_support_watch_list_semantics(dynamic.new_for_config(config))
    assert watchlist.does_client_not_support_watch_list_semantics(fake.new_clientset())


def synced(client: kubernetes.Interface) -> bool:
    factory = informers.new_shared_informer_factory(client, 0.0)
    informer = factory.core().v1().config_maps().informer()
    ctx, cancel = context.with_timeout(CTX, 60.0)
    stop: StopChannel = ctx.done()
    factory.start(stop)
    found = all(factory.wait_for_cache_sync(stop).values()) and informer.has_synced()
    cancel()
    factory.shutdown()
    return found


def test_an_informer_streams_its_list() -> None:
    """Go: TestWatchListSemanticsSimple."""
    metadata = {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}}
    bookmark = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    line = json.dumps({"type": "BOOKMARK", "object": bookmark}).encode() + b"\n"
    with set_feature_during_test(WATCH_LIST_CLIENT, True), ScriptedServer(lambda request: Answer(body=line)) as server:
        client = kubernetes.new_for_config(rest.Config(host=server.url, content_type="application/json"))
        assert synced(client)
        client.close()
    assert "sendInitialEvents=true" in server.requests[0].target
    assert all("watch=true" in request.target for request in server.requests)


def test_an_informer_of_a_fake_lists_and_watches() -> None:
    """Go: TestUnSupportWatchListSemantics."""
    with set_feature_during_test(WATCH_LIST_CLIENT, True), synctest.bubble():
        client = fake.new_clientset()
        assert synced(client)
    assert [action.get_verb() for action in client.actions()] == ["list", "watch"]
