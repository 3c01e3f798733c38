"""Builders that are never completed."""

from __future__ import annotations

import gc
import re
from typing import Any

import pytest

from clientgo import controller_runtime as ctrl
from clientgo import rest
from clientgo.api.core import v1 as corev1
from clientgo.controller_runtime import manager, reconcile
from clientgo.controller_runtime.metrics.server import server as metricsserver


@pytest.fixture
def mgr() -> manager.Manager:
    config = rest.Config(host="http://127.0.0.1:1")
    return manager.new(config, manager.Options(metrics=metricsserver.Options(bind_address="0")))


def test_a_builder_that_is_not_completed_is_reported_once_with_its_place(mgr: Any, caplog: Any) -> None:
    ctrl.new_controller_managed_by(mgr).for_(corev1.ConfigMap).named("forgotten")
    ctrl.new_webhook_managed_by(mgr, corev1.ConfigMap)

    gc.collect()
    text = "Warning: a builder was not completed, and has no effect: end it with complete"
    assert [re.sub(r'at=".*test_controller\.py:\d+"', "at=HERE", message) for message in caplog.messages] == [
        f'"{text}(reconciler)" logger="builder" builder="Builder" at=HERE',
        f'"{text}()" logger="builder" builder="WebhookBuilder" at=HERE',
    ]


def test_a_builder_that_is_completed_is_not_reported(mgr: Any, caplog: Any) -> None:
    reconciler = reconcile.Func(lambda ctx, request: None)
    ctrl.new_controller_managed_by(mgr).for_(corev1.ConfigMap).named("complete").complete(reconciler)
    with pytest.raises(ValueError, match="must provide a non-nil Reconciler"):
        ctrl.new_controller_managed_by(mgr).for_(corev1.ConfigMap).complete(None)  # type: ignore[arg-type]

    gc.collect()
    assert [message for message in caplog.messages if "not completed" in message] == []
