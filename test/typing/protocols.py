"""Objects that users pass to the library, checked by mypy and pyright: classes with parameter names of their own.

pyright rejects a class whose methods name a parameter otherwise than the protocol does, unless the protocol takes it by
position alone. mypy does not compare the names of ordinary parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from clientgo import discovery, logr, rest, testing
from clientgo.api.core import v1 as corev1
from clientgo.api.events import v1 as eventsv1
from clientgo.apimachinery import fields, labels, watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.kubernetes.typed.core import v1 as typedcorev1
from clientgo.kubernetes.typed.events import v1 as typedeventsv1
from clientgo.testing import synctest
from clientgo.tools import cache, events, metrics, record
from clientgo.tools.leaderelection import resourcelock
from clientgo.util import workqueue
from clientgo.utils.clock import clock


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


@dataclass
class Handler:
    """A handler of an informer's notifications."""

    names: list[str] = field(default_factory=list)

    def on_add(self, pod: corev1.Pod, first: bool) -> None:
        self.names.append(pod.metadata.name)

    def on_update(self, before: corev1.Pod, after: corev1.Pod) -> None: ...

    def on_delete(self, gone: corev1.Pod | cache.DeletedFinalStateUnknown, /) -> None: ...


class Source:
    """A ListerWatcher."""

    def list(self, how: metav1.ListOptions) -> corev1.PodList:
        return corev1.PodList()

    def watch(self, how: metav1.ListOptions) -> Any: ...


class Contents:
    """A store."""

    def __init__(self) -> None:
        self.things: dict[str, Any] = {}

    def add(self, thing: Any) -> None:
        self.things[thing.metadata.name] = thing

    def update(self, thing: Any) -> None:
        self.add(thing)

    def delete(self, thing: Any) -> None:
        del self.things[thing.metadata.name]

    def replace(self, things: Iterable[Any], version: str) -> None:
        self.things = {thing.metadata.name: thing for thing in things}

    def resync(self) -> None: ...

    def bookmark(self, version: str) -> None: ...

    def last_store_sync_resource_version(self) -> str:
        return ""


class Limiter:
    """A rate limiter of names."""

    def when(self, name: str) -> float:
        return 1.0

    def forget(self, name: str) -> None: ...

    def num_requeues(self, name: str) -> int:
        return 0


class Gauge:
    """A metric of a queue."""

    def inc(self) -> None: ...

    def dec(self) -> None: ...

    def set(self, number: float) -> None: ...

    def observe(self, number: float) -> None: ...


class Provider:
    """A factory for the metrics of a queue."""

    def new_depth_metric(self, of: str) -> Gauge:
        return Gauge()

    new_adds_metric = new_latency_metric = new_work_duration_metric = new_depth_metric
    new_unfinished_work_seconds_metric = new_longest_running_processor_seconds_metric = new_depth_metric
    new_retries_metric = new_depth_metric


class Lock:
    """A resource lock."""

    def get(self, c: Context) -> tuple[resourcelock.LeaderElectionRecord, bytes]:
        raise NotImplementedError

    def create(self, c: Context, written: resourcelock.LeaderElectionRecord) -> None: ...

    def update(self, c: Context, written: resourcelock.LeaderElectionRecord) -> None: ...

    def record_event(self, text: str) -> None: ...

    def identity(self) -> str:
        return ""

    def describe(self) -> str:
        return ""


class Transport:
    """A RoundTripper that wraps another one."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def round_trip(self, sent: Any) -> Any:
        return self.inner.round_trip(sent)


def pipeline() -> tuple[cache.ResourceEventHandler, cache.ListerWatcher, cache.ReflectorStore]:
    return Handler(), Source(), Contents()


def limited() -> workqueue.TypedRateLimitingInterface[str]:
    workqueue.set_provider(Provider())
    return workqueue.new_typed_rate_limiting_queue(Limiter())


def lock() -> resourcelock.Interface:
    return Lock()


def transport(config: rest.Config) -> None:
    config.wrap_transport = Transport


class Lines:
    """A destination of log lines."""

    def init(self, about: logr.RuntimeInfo) -> None: ...

    def enabled(self, verbosity: int) -> bool:
        return verbosity == 0

    def info(self, verbosity: int, text: str, /, **pairs: object) -> None: ...

    def error(self, failure: BaseException | None, text: str, /, **pairs: object) -> None: ...

    def with_values(self, /, **pairs: object) -> Lines:
        return self

    def with_name(self, part: str) -> Lines:
        return self


class Refusal:
    """A reactor of a fake clientset."""

    def handles(self, call: testing.Action) -> bool:
        return True

    def react(self, call: testing.Action) -> tuple[bool, Any]:
        raise NotImplementedError


class Pairs:
    """Labels, or fields."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values

    def has(self, wanted: str) -> bool:
        return wanted in self.values

    def get(self, wanted: str) -> str:
        return self.values.get(wanted, "")

    def lookup(self, wanted: str) -> tuple[str, bool]:
        return self.get(wanted), self.has(wanted)


class Stopped:
    """A clock that stands still."""

    def now(self) -> float:
        return 0.0

    def since(self, earlier: float) -> float:
        return 0.0


class Report:
    """An object of an error in a watch."""

    def as_object(self, failure: BaseException) -> metav1.Status:
        return metav1.Status(message=str(failure))


class Readable:
    """Resources that can be read."""

    def match(self, version: str, resource: metav1.APIResource) -> bool:
        return "get" in resource.verbs


def last(number: int, must_switch: bool) -> int:
    """Choose the thread that was ready last."""
    return number - 1


def selected(pairs: Pairs) -> bool:
    return labels.everything().matches(pairs) and fields.everything().matches(pairs)


def clocks() -> clock.PassiveClock:
    return Stopped()


def reporter() -> watch.Reporter:
    return Report()


def readable(lists: list[metav1.APIResourceList]) -> list[metav1.APIResourceList]:
    return discovery.filtered_by(Readable(), lists)


def bubbles() -> list[synctest.Bubble]:
    return [synctest.bubble(last), synctest.bubble(lambda number, _: number - 1)]


def lines() -> logr.LogSink:
    return Lines()


def reactor() -> testing.Reactor:
    return Refusal()
