"""Reconcilers of controller_runtime: the quick form finds the call at which a fault changes the result."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime import client, reconcile
from clientgo.testing import controllertest as ct

CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"size": "1"}}


class Copies:
    """A reconciler that copies a ConfigMap into two Secrets, then marks it as done."""

    def __init__(self, c: client.Client) -> None:
        self.client = c

    def reconcile(self, ctx: Context, request: reconcile.Request) -> reconcile.Result:
        config = self.client.get(ctx, request, corev1.ConfigMap)
        if self.is_done(config):
            return reconcile.Result()
        for number in range(2):
            self.ensure(ctx, config, f"{config.metadata.name}-{number}")
        if (config.metadata.annotations or {}).get("done") != "yes":
            config.metadata.annotations = {"done": "yes"}
            self.client.update(ctx, config)
        return reconcile.Result()

    def is_done(self, config: corev1.ConfigMap) -> bool:
        return False

    def ensure(self, ctx: Context, config: corev1.ConfigMap, name: str) -> None:
        try:
            self.client.get(ctx, client.ObjectKey(config.metadata.namespace, name), corev1.Secret)
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
            self.create(ctx, config, metav1.ObjectMeta(namespace=config.metadata.namespace, name=name))

    def create(self, ctx: Context, config: corev1.ConfigMap, metadata: metav1.ObjectMeta) -> None:
        self.client.create(ctx, corev1.Secret(metadata=metadata, string_data=dict(config.data)))


class MarksFirst(Copies):
    """A reconciler that marks the ConfigMap as done before the Secrets exist."""

    def is_done(self, config: corev1.ConfigMap) -> bool:
        return (config.metadata.annotations or {}).get("done") == "yes"

    def ensure(self, ctx: Context, config: corev1.ConfigMap, name: str) -> None:
        if name.endswith("0"):
            config.metadata.annotations = {"done": "yes"}
            self.client.update(ctx, config)
        super().ensure(ctx, config, name)


class GeneratesNames(Copies):
    """A reconciler that creates a Secret with a generated name in each pass until the mark says that it is done."""

    def is_done(self, config: corev1.ConfigMap) -> bool:
        return (config.metadata.annotations or {}).get("done") == "yes"

    def ensure(self, ctx: Context, config: corev1.ConfigMap, name: str) -> None:
        metadata = metav1.ObjectMeta(namespace=config.metadata.namespace, generate_name=f"{name}-")
        self.create(ctx, config, metadata)


class WritesAlways(Copies):
    def ensure(self, ctx: Context, config: corev1.ConfigMap, name: str) -> None:
        self.client.update(ctx, config)


def test_a_reconciler_that_looks_before_each_write_survives_a_fault_at_each_call() -> None:
    # Six calls: three reads, two creations and an update, with five faults each, and the run without faults.
    assert ct.explore_reconciler(Copies, [CONFIG]) == 1 + 6 * 5


@pytest.mark.parametrize(
    ("reconciler", "check", "problem"),
    [
        (MarksFirst, "end state", "the fault changes the result: secrets default/a-0 is missing"),
        (GeneratesNames, "end state", "the fault changes the result: secrets default/a-0-* exists 2 times"),
        (WritesAlways, "idle writes", "another reconcile writes what is there: update configmaps default/a"),
    ],
)
def test_a_broken_reconciler_is_found(reconciler: Any, check: str, problem: str) -> None:
    with pytest.raises(ct.ControllerFailure) as raised:
        ct.explore_reconciler(reconciler, [CONFIG])

    assert raised.value.check == check
    assert raised.value.problem.startswith(problem)
    assert len(raised.value.script.splitlines()) <= 15
    # The printed program repeats the failure.
    with pytest.raises(ct.ControllerFailure, match=problem.replace("*", r"\*")):
        exec(raised.value.script, {})
