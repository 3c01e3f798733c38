"""Objects that users pass to the library, checked by mypy and pyright: classes with parameter names of their own.

pyright rejects a class whose methods name a parameter otherwise than the protocol does, unless the protocol takes it by
position alone. mypy does not compare the names of ordinary parameters.
"""

from __future__ import annotations

from typing import Any

from clientgo import rest
from clientgo.api.core import v1 as corev1
from clientgo.api.events import v1 as eventsv1
from clientgo.apimachinery.api import meta
from clientgo.context import Context
from clientgo.kubernetes.typed.core import v1 as typedcorev1
from clientgo.kubernetes.typed.events import v1 as typedeventsv1
from clientgo.tools import events, metrics, record
from clientgo.tools.leaderelection import resourcelock
from clientgo.util import workqueue


class Sink:
    """An EventSink of core/v1."""

    def create(self, made: corev1.Event) -> corev1.Event:
        return made

    def update(self, made: corev1.Event) -> corev1.Event:
        return made

    def patch(self, made: corev1.Event, change: bytes) -> corev1.Event:
        return made


class NewerSink:
    """An EventSink of events.k8s.io/v1."""

    def create(self, context: Context, made: eventsv1.Event) -> eventsv1.Event:
        return made

    def update(self, context: Context, made: eventsv1.Event) -> eventsv1.Event:
        return made

    def patch(self, context: Context, made: eventsv1.Event, change: bytes) -> eventsv1.Event:
        return made


class Warnings:
    """A handler of warnings."""

    def handle_warning_header(self, number: int, agent: str, message: str) -> None: ...

    def handle_warning_header_with_context(self, context: Context, number: int, agent: str, message: str) -> None: ...


class Latency:
    """A metric."""

    def observe(self, context: Context, method: str, path: str, seconds: float) -> None: ...


class Recorder:
    """Recorder of an election's events."""

    def eventf(self, about: Any, kind: str, why: str, text: str, /, *values: Any) -> None: ...


def sinks(
    core: typedcorev1.EventInterface, newer: typedeventsv1.EventsV1Client
) -> tuple[list[record.EventSink], list[events.EventSink]]:
    return [typedcorev1.EventSinkImpl(core), Sink()], [events.EventSinkImpl(newer), NewerSink()]


def handlers() -> tuple[rest.WarningHandler, rest.WarningHandlerWithContext]:
    return Warnings(), Warnings()


def latency() -> metrics.LatencyMetric:
    return Latency()


def recorders(of_core: record.EventRecorder) -> list[resourcelock.EventRecorder]:
    return [Recorder(), of_core]


def mappers(mapper: meta.DefaultRESTMapper) -> meta.RESTMapper:
    return mapper


def queue() -> workqueue.TypedRateLimitingInterface[str]:
    return workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
