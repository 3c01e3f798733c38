"""Other people's clients against the embedded API server, beside ours: all see the same objects and the same events."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from clientgo import context, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment

CTX = context.background()
# What every client does to the object, told by the versions and events it leaves.
STORY = [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


def peer(name: str) -> Any:
    """Return the other client. If it is missing, the test fails in CI and is skipped elsewhere."""
    if os.environ.get("CI"):
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"pip install -e .[peers] brings {name}")


@pytest.fixture
def env() -> Iterator[Environment]:
    with Environment() as env:
        yield env


def what_ours_sees(env: Environment, since: str) -> list[tuple[str, str]]:
    """Return the events of the ConfigMaps after that version, as our own client gets them."""
    client = kubernetes.new_for_config(env.config)
    opts = metav1.ListOptions(resource_version=since, timeout_seconds=1)
    watcher = client.core_v1().config_maps("default").watch(CTX, opts)
    seen = [(str(event.type), event.object.data["n"]) for event in watcher.result_chan()]
    watcher.stop()
    client.close()
    return seen


def our_version(env: Environment) -> str:
    client = kubernetes.new_for_config(env.config)
    version = client.core_v1().config_maps("default").list(CTX).get_resource_version()
    client.close()
    return version


def ours_lists(env: Environment) -> list[dict[str, Any]]:
    client = kubernetes.new_for_config(env.config)
    items = client.core_v1().config_maps("default").list(CTX).items
    client.close()
    return [item.to_dict() for item in items]


def test_the_official_client(env: Environment) -> None:
    official = peer("kubernetes")
    since = our_version(env)
    with official.config.new_client_from_config(config_file=env.kubeconfig) as api_client:
        api = official.client.CoreV1Api(api_client)
        made = api.create_namespaced_config_map("default", {"metadata": {"name": "settings"}, "data": {"n": "1"}})
        assert made.metadata.uid
        api.patch_namespaced_config_map("settings", "default", {"data": {"n": "2"}})
        listed = api.list_namespaced_config_map("default")
        # It writes the times it has read in another form of the same standard.
        as_json = json.dumps(api_client.sanitize_for_serialization(listed.items)).replace('+00:00"', 'Z"')
        assert json.loads(as_json) == ours_lists(env)
        with pytest.raises(official.client.ApiException) as refused:
            api.create_namespaced_config_map("default", {"metadata": {"name": "settings"}})
        assert (refused.value.status, refused.value.reason) == (409, "Conflict")
        api.delete_namespaced_config_map("settings", "default")

        watcher = official.watch.Watch()
        stream = watcher.stream(api.list_namespaced_config_map, "default", resource_version=since, timeout_seconds=1)
        seen = [(event["type"], event["object"].data["n"]) for event in stream]
        api_client.rest_client.pool_manager.clear()
    assert seen == STORY == what_ours_sees(env, since)


def test_lightkube(env: Environment) -> None:
    lightkube = peer("lightkube")
    core_v1 = peer("lightkube.resources.core_v1")
    meta_v1 = peer("lightkube.models.meta_v1")
    since = our_version(env)
    client = lightkube.Client(config=lightkube.KubeConfig.from_file(env.kubeconfig), namespace="default")
    metadata = meta_v1.ObjectMeta(name="settings", namespace="default")
    made = client.create(core_v1.ConfigMap(metadata=metadata, data={"n": "1"}))
    assert made.metadata.uid
    client.patch(core_v1.ConfigMap, "settings", {"data": {"n": "2"}})
    listed = list(client.list(core_v1.ConfigMap))
    assert [(item.metadata.name, item.metadata.resourceVersion, item.data) for item in listed] == [
        (item["metadata"]["name"], item["metadata"]["resourceVersion"], item["data"]) for item in ours_lists(env)
    ]
    with pytest.raises(lightkube.ApiError) as refused:
        client.create(core_v1.ConfigMap(metadata=metadata))
    assert (refused.value.status.code, refused.value.status.reason) == (409, "AlreadyExists")
    client.delete(core_v1.ConfigMap, "settings")

    seen = []
    for type, obj in client.watch(core_v1.ConfigMap, resource_version=since, server_timeout=1):
        seen.append((type, obj.data["n"]))
        if type == "DELETED":
            break
    client._client._client.close()
    assert seen == STORY == what_ours_sees(env, since)


def test_what_one_client_made_another_changes_and_a_third_deletes(env: Environment) -> None:
    official, lightkube = peer("kubernetes"), peer("lightkube")
    core_v1 = peer("lightkube.resources.core_v1")
    ours = kubernetes.new_for_config(env.config)
    made = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="shared"), data={"n": "1"})
    since = ours.core_v1().config_maps("default").create(CTX, made).get_resource_version()
    with official.config.new_client_from_config(config_file=env.kubeconfig) as api_client:
        api = official.client.CoreV1Api(api_client)
        api.patch_namespaced_config_map("shared", "default", {"data": {"n": "2"}})
        api_client.rest_client.pool_manager.clear()
    client = lightkube.Client(config=lightkube.KubeConfig.from_file(env.kubeconfig), namespace="default")
    assert client.get(core_v1.ConfigMap, "shared").data == {"n": "2"}
    client.delete(core_v1.ConfigMap, "shared")
    client._client._client.close()

    assert what_ours_sees(env, since) == STORY[1:]
    with pytest.raises(errors.StatusError) as gone:
        ours.core_v1().config_maps("default").get(CTX, "shared")
    assert errors.is_not_found(gone.value)
    ours.close()
