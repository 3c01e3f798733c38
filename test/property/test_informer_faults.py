"""An informer behind a network that fails at random ends with what the server has, and tells its handlers so.

CLIENTGO_FAULT_SCRIPTS says how many scripts (default 24); the seed of a failing one is in the message.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from faultyproxy import FaultyProxy

from clientgo import context, gentype, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.tools import cache
from clientgo.tools.cache import reflector

pytestmark = pytest.mark.shared_server

SCRIPTS = int(os.environ.get("CLIENTGO_FAULT_SCRIPTS", "24"))
AT_ONCE = 8
CHANGES = 60
PATIENCE = 60.0
CTX = context.background()


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment() as environment:
        yield environment


def maps_client(env: Environment, host: str, namespace: str) -> tuple[rest.RESTClient, Any]:
    config = rest.copy_config(env.config)
    config.host, config.qps = host, -1
    config.api_path, config.group_version = "/api", corev1.SCHEME_GROUP_VERSION
    client = rest.rest_client_for(config)
    return client, gentype.ClientWithList("configmaps", client, namespace, corev1.ConfigMap, corev1.ConfigMapList)


class Replayed:
    """What the handlers were told, as state; told nonsense, it says so."""

    def __init__(self) -> None:
        self.state: dict[str, str] = {}
        self.nonsense: list[str] = []

    def on_add(self, obj: Any) -> None:
        if obj.get_name() in self.state:
            self.nonsense.append(f"{obj.get_name()} added twice")
        self.state[obj.get_name()] = obj.get_resource_version()

    def on_update(self, old: Any, new: Any) -> None:
        if self.state.get(new.get_name()) != old.get_resource_version():
            self.nonsense.append(f"{new.get_name()} updated from {old.get_resource_version()}, which it was not")
        self.state[new.get_name()] = new.get_resource_version()

    def on_delete(self, obj: Any) -> None:
        name = (obj.obj if isinstance(obj, cache.DeletedFinalStateUnknown) else obj).get_name()
        if self.state.pop(name, None) is None:
            self.nonsense.append(f"{name} deleted without having been there")


def change(maps: Any, dice: random.Random) -> None:
    name = f"map-{dice.randrange(15)}"
    data = {"n": str(dice.random()), "padding": "x" * dice.randrange(2000)}
    obj = corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name), data=data)
    try:
        match dice.randrange(3):
            case 0:
                maps.create(CTX, obj, metav1.CreateOptions())
            case 1:
                maps.update(CTX, obj, metav1.UpdateOptions())
            case _:
                maps.delete(CTX, name, metav1.DeleteOptions())
    except apierrors.StatusError as err:
        if not (apierrors.is_not_found(err) or apierrors.is_already_exists(err)):
            raise


def truth(maps: Any) -> dict[str, str]:
    return {o.get_name(): o.get_resource_version() for o in maps.list(CTX, metav1.ListOptions()).extract_items()}


def run_script(env: Environment, seed: int) -> tuple[str, int]:
    """One informer through one script: the complaint, or the empty string; and how many connections were spoilt."""
    namespace, dice = f"faults-{seed}", random.Random(seed)
    direct_client, direct = maps_client(env, env.config.host, namespace)
    core = gentype.Client("namespaces", direct_client, "", corev1.Namespace)
    core.create(
        CTX,
        corev1.Namespace(metadata=metav1.ObjectMeta(name=namespace)),
        metav1.CreateOptions(),
    )
    parts = urlsplit(env.config.host)
    assert parts.hostname and parts.port
    with FaultyProxy((parts.hostname, parts.port), seed) as proxy:
        client, spoilt = maps_client(env, proxy.url, namespace)
        source = cache.ListWatch(list_with_context_func=spoilt.list, watch_func_with_context=spoilt.watch)
        informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
        seen = Replayed()
        handlers = cache.ResourceEventHandlerFuncs(
            add_func=seen.on_add, update_func=seen.on_update, delete_func=seen.on_delete
        )
        informer.add_event_handler(handlers)
        stop = threading.Event()
        thread = threading.Thread(target=informer.run, args=(stop,), daemon=True)
        thread.start()
        try:
            for _ in range(CHANGES):
                change(direct, dice)
                time.sleep(dice.expovariate(1 / 0.02))
            proxy.calm()
            change(direct, dice)
            expected = truth(direct)
            deadline = time.monotonic() + PATIENCE
            while True:
                stored = {o.get_name(): o.get_resource_version() for o in informer.get_store().list()}
                if stored == expected == seen.state or time.monotonic() > deadline:
                    break
                time.sleep(0.02)
        finally:
            stop.set()
            thread.join(10)
            client.client.close_idle_connections()
            direct_client.client.close_idle_connections()
    if thread.is_alive():
        return f"seed {seed}: the informer did not stop; script {proxy.script}", 0
    if seen.nonsense or not stored == expected == seen.state:
        return f"seed {seed}: {seen.nonsense} {stored=} {expected=} {seen.state=}; script {proxy.script}", 0
    return "", len(proxy.script)


def test_informer_survives_random_faults(env, monkeypatch):
    monkeypatch.setattr(reflector, "_DEFAULT_BACKOFF_INIT", 0.02)
    monkeypatch.setattr(reflector, "_DEFAULT_BACKOFF_MAX", 0.5)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda seed: run_script(env, seed), range(SCRIPTS)))
    complaints = [complaint for complaint, _ in results if complaint]
    assert not complaints, f"{len(complaints)} of {SCRIPTS}:\n" + "\n".join(complaints[:5])
    spoilt = sum(count for _, count in results)
    assert spoilt > 3 * SCRIPTS, f"only {spoilt} connections were spoilt in {SCRIPTS} scripts"
