"""Events in a real server: what recorders write, and what kubectl shows of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import eventually, kubectl

from clientgo import context, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.golang.channel import Signal
from clientgo.kubernetes.scheme import SCHEME
from clientgo.kubernetes.typed.core.v1 import EventSinkImpl
from clientgo.testing.apiserver import Environment
from clientgo.tools import events, record


@pytest.fixture
def ctx() -> Iterator[Context]:
    """Yield a context that ends with the test."""
    ctx, cancel = context.with_cancel(context.background())
    yield ctx
    cancel()


@pytest.fixture
def env() -> Iterator[Environment]:
    with Environment() as env:
        yield env


def show(env: Environment, *args: str) -> str:
    """Return kubectl's output with collapsed blanks."""
    printed = kubectl(Path(env.kubeconfig), *args)
    return "\n".join(" ".join(line.split()) for line in printed.splitlines())


def config_map(client: kubernetes.Interface, ctx: Context) -> corev1.ConfigMap:
    return (
        client.core_v1()
        .config_maps("default")
        .create(ctx, corev1.ConfigMap(metadata=metav1.ObjectMeta(name="settings")))
    )


def test_repeats_of_a_core_event_are_one_object_with_a_count(env: Environment, ctx: Context) -> None:
    client = kubernetes.new_for_config(env.config)
    about = config_map(client, ctx)
    broadcaster = record.new_broadcaster(record.with_context(ctx))
    broadcaster.start_recording_to_sink(EventSinkImpl(client.core_v1().events("")))
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="e2e", host="here"))
    for _ in range(3):
        recorder.eventf(about, "Normal", "Synced", "%s synced successfully", "ConfigMap")
    recorder.event(about, "Warning", "Odd", "something is odd")

    eventually(
        "four calls of the sink", lambda: broadcaster.statistics().created + broadcaster.statistics().patched == 4
    )

    found = client.core_v1().events("").search(SCHEME, about).items
    assert {(event.reason, event.count) for event in found} == {("Synced", 3), ("Odd", 1)}
    assert broadcaster.statistics().dropped == 0
    broadcaster.shutdown()
    assert "Normal Synced configmap/settings ConfigMap synced successfully" in show(env, "get", "events")
    described = show(env, "describe", "configmap", "settings")
    assert re.search(r"^Normal Synced .*\(x3 over .*\) e2e ConfigMap synced successfully$", described, re.MULTILINE)
    assert re.search(r"^Warning Odd .* e2e something is odd$", described, re.MULTILINE)


def test_repeats_of_a_new_event_are_a_series(env: Environment, ctx: Context) -> None:
    client = kubernetes.new_for_config(env.config)
    about = config_map(client, ctx)
    stop = Signal()
    adapter = events.new_event_broadcaster_adapter(client)
    adapter.start_recording_to_sink(stop)
    recorder = adapter.new_recorder("e2e")
    for _ in range(3):
        recorder.eventf(about, None, "Normal", "Synced", "Syncing", "synced")

    def series() -> list[int]:
        found = client.events_v1().events("default").list(ctx).items
        return [event.series.count for event in found if event.series is not None]

    eventually(
        "a series of two", lambda: series() == [2]
    )  # The third only counts in memory, until the series is refreshed.
    stop.set()
    adapter.shutdown()


def test_events_of_a_namespace_that_is_being_deleted_are_dropped_quietly(env: Environment, ctx: Context) -> None:
    client = kubernetes.new_for_config(env.config)
    gone = corev1.ObjectReference(kind="Pod", namespace="never-was", name="p", api_version="v1")
    broadcaster = record.new_broadcaster(record.with_context(ctx))
    broadcaster.start_recording_to_sink(EventSinkImpl(client.core_v1().events("")))
    broadcaster.new_recorder(SCHEME, corev1.EventSource(component="e2e")).event(gone, "Normal", "R", "m")
    eventually("the event to be refused", lambda: broadcaster.statistics().dropped_rejected == 1)
    assert broadcaster.statistics().failed_tries == 1
    broadcaster.shutdown()
