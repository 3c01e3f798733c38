"""get_or_none and none_if_not_found with typed, dynamic and metadata clients and listers, against an API server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clientgo import context, dynamic, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersionResource
from clientgo.kubernetes import fake
from clientgo.listers.core import v1 as corelisters
from clientgo.testing.apiserver import Environment
from clientgo.tools import cache

CTX = context.background()


@pytest.fixture(scope="module")
def environment() -> Iterator[Environment]:
    with Environment() as environment:
        yield environment


@pytest.fixture
def client(environment: Environment) -> Iterator[kubernetes.Clientset]:
    client = kubernetes.new_for_config(environment.config)
    yield client
    client.close()


def test_an_object_or_none_from_a_typed_client(client: kubernetes.Clientset) -> None:
    config_maps = client.core_v1().config_maps("default")
    assert errors.get_or_none(config_maps, CTX, "settings") is None

    config_maps.create(CTX, corev1.ConfigMap(metadata=metav1.ObjectMeta(name="settings"), data={"a": "b"}))
    found = errors.get_or_none(config_maps, CTX, "settings")
    assert found is not None
    assert found.data == {"a": "b"}


def test_a_deletion_of_an_absent_object_is_none(client: kubernetes.Clientset) -> None:
    config_maps = client.core_v1().config_maps("default")
    assert errors.none_if_not_found(config_maps.delete, CTX, "absent", metav1.DeleteOptions()) is None


def test_an_unserved_resource_is_an_error(environment: Environment) -> None:
    client = dynamic.new_for_config(environment.config)
    try:
        served = client.resource(GroupVersionResource("", "v1", "namespaces"))
        assert errors.get_or_none(served, CTX, "nowhere") is None
        for unserved in (GroupVersionResource("", "v1", "nothings"), GroupVersionResource("no.example", "v1", "foos")):
            with pytest.raises(errors.StatusError, match="the server could not find the requested resource"):
                errors.get_or_none(client.resource(unserved), CTX, "x")
    finally:
        client.close()


def test_other_errors_are_raised() -> None:
    def forbidden() -> int:
        raise errors.new_forbidden(GroupResource("", "pods"), "web", None)

    with pytest.raises(errors.StatusError) as raised:
        errors.none_if_not_found(forbidden)
    assert errors.is_forbidden(raised.value)
    with pytest.raises(ConnectionRefusedError):
        errors.none_if_not_found(_refuse)


def _refuse() -> int:
    raise ConnectionRefusedError


def test_listers_and_fake_clients_raise_not_found_too() -> None:
    lister = corelisters.new_pod_lister(cache.new_indexer(cache.meta_namespace_key_func, {}))
    assert errors.none_if_not_found(lister.pods("default").get, "web") is None
    assert errors.get_or_none(fake.new_clientset().core_v1().pods("default"), CTX, "web") is None


def test_the_result_is_passed_on() -> None:
    assert errors.none_if_not_found(divmod, 7, 2) == (3, 1)
