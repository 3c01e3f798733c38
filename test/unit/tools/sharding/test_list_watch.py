"""Lists and watches of a shard: from a server with the feature gate, without it, and for custom resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from clientgo import context, dynamic, kubernetes, metadata, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.tools import sharding
from clientgo.tools.sharding import ShardBy, ShardListWatch, list_watch_of, selector_of, shard_of_value

CTX = context.background()
CONFIG_MAPS = GroupVersionResource("", "v1", "configmaps")
NAMESPACES = sorted(["alpha", "beta", "blue", "data", "mail", "payments", "red", "search", "shop", "web"])


@pytest.fixture(params=[True, False], ids=["gate on", "gate off"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(listen=False, feature_gates={"ShardedListAndWatch": request.param}) as started:
        client = kubernetes.new_for_config(config_of(started))
        for namespace in NAMESPACES:
            client.core_v1().namespaces().create(CTX, corev1.Namespace(metadata=metav1.ObjectMeta(name=namespace)))
            client.core_v1().config_maps(namespace).create(CTX, corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a")))
        yield started


def config_of(server: Server) -> rest.Config:
    return rest.Config(host=server.url, bearer_token=server.token, transport=LocalTransport(server), qps=-1)


def is_gate_on(server: Server) -> bool:
    listed = kubernetes.new_for_config(config_of(server)).core_v1().namespaces()
    return sharding.supports_sharding(CTX, listed)


def clients(server: Server) -> dict[str, Any]:
    config = config_of(server)
    return {
        "typed": kubernetes.new_for_config(config).core_v1().config_maps(""),
        "dynamic": dynamic.new_for_config(config).resource(CONFIG_MAPS),
        "metadata": metadata.new_for_config(config).resource(CONFIG_MAPS),
    }


@pytest.mark.parametrize("kind", ["typed", "dynamic", "metadata"])
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_the_lists_of_all_shards_are_the_collection(server: Server, kind: str, limit: int) -> None:
    client = clients(server)[kind]
    seen: list[str] = []
    for shard in range(3):
        source = ShardListWatch(list_watch_of(client), selector_of([shard], 3, ShardBy.NAMESPACE))
        token = ""
        while True:
            page = source.list_with_context(CTX, metav1.ListOptions(limit=limit, continue_=token))
            names = [item.get_namespace() for item in page.extract_items()]
            assert {shard_of_value(name, 3) for name in names} <= {shard}
            seen += names
            token = page.get_continue()
            if not token:
                break
    assert sorted(seen) == NAMESPACES


@pytest.mark.parametrize("kind", ["typed", "dynamic", "metadata"])
def test_a_watch_has_the_events_of_its_shard_and_the_bookmark(server: Server, kind: str) -> None:
    client = clients(server)[kind]
    source = ShardListWatch(list_watch_of(client), selector_of([1], 3, ShardBy.NAMESPACE))
    options = metav1.ListOptions(
        send_initial_events=True,
        allow_watch_bookmarks=True,
        resource_version_match="NotOlderThan",
        timeout_seconds=60,
    )
    opened = source.watch_with_context(CTX, options)
    names = []
    for event in opened.result_chan():
        if event.type == "BOOKMARK":
            break
        names.append(event.object.get_namespace())
    opened.stop()
    assert sorted(names) == [name for name in NAMESPACES if shard_of_value(name, 3) == 1]
    assert names


def test_the_probe_detects_the_servers_support(server: Server, request: pytest.FixtureRequest) -> None:
    assert is_gate_on(server) is ("gate on" in request.node.name)


@pytest.mark.parametrize("kind", ["typed", "dynamic", "metadata"])
def test_a_deletion_with_a_shard_selector_is_not_sent_to_a_server_that_may_ignore_it(
    server: Server, kind: str
) -> None:
    client = clients(server)[kind]
    if kind == "typed":
        client = kubernetes.new_for_config(config_of(server)).core_v1().config_maps(NAMESPACES[0])
    elif kind == "dynamic":
        client = client.namespace(NAMESPACES[0])
    else:
        client = client.namespace(NAMESPACES[0])
    nothing = metav1.ListOptions(
        shard_selector="shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001')"
    )
    with pytest.raises(ValueError, match="deletecollection with a shard selector deletes the whole collection"):
        client.delete_collection(CTX, metav1.DeleteOptions(), nothing)
    assert len(client.list(CTX).extract_items()) == 1
    if is_gate_on(server):
        client.delete_collection(rest.with_sharding_server(CTX), metav1.DeleteOptions(), nothing)
        assert len(client.list(CTX).extract_items()) == 1
