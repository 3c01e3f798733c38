"""Definitions that change and go at the same moment: what the server serves afterwards."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from virtualcluster import CTX

from clientgo import dynamic, rest
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.testing import synctest
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.kinds import crd
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.utils.clock import REAL_CLOCK

CAKES = GroupVersionResource("example.com", "v1", "cakes")
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "cakes.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"plural": "cakes", "kind": "Cake"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


def test_a_definition_that_is_deleted_during_a_change_is_served_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    make_group, late = crd.make_group, threading.local()

    def make_late(name: str, definitions: Sequence[Any], clients: Any) -> Any:
        group = make_group(name, definitions, clients)
        if getattr(late, "seconds", 0):
            REAL_CLOCK.sleep(late.seconds)
        return group

    monkeypatch.setattr(crd, "make_group", make_late)
    with synctest.bubble(), Server(listen=False) as server:
        transport = LocalTransport(server)
        client = dynamic.new_for_config(
            rest.Config(host=server.url, bearer_token=server.token, qps=-1, transport=transport)
        )
        definitions = client.resource(GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"))
        definitions.create(CTX, Unstructured(DEFINITION), metav1.CreateOptions())
        assert client.resource(CAKES).list(CTX, metav1.ListOptions()).items == []

        def change() -> None:
            late.seconds = 1.0
            patch = b'{"spec":{"names":{"shortNames":["ck"]}}}'
            definitions.patch(CTX, "cakes.example.com", PatchType.MERGE, patch, metav1.PatchOptions())

        changing = threading.Thread(target=change, name="change")
        changing.start()
        REAL_CLOCK.sleep(0.5)
        definitions.delete(CTX, "cakes.example.com", metav1.DeleteOptions())
        changing.join()
        REAL_CLOCK.sleep(5.0)

        assert definitions.list(CTX, metav1.ListOptions()).items == []
        with pytest.raises(errors.StatusError) as raised:
            client.resource(CAKES).list(CTX, metav1.ListOptions())
        assert errors.is_not_found(raised.value)
