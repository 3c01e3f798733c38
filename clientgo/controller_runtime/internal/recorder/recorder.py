"""Event recorders whose broadcasters start on first use. Mirrors pkg/internal/recorder/recorder.go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.context import Context
from clientgo.controller_runtime.log.log import into_context
from clientgo.golang.channel import select
from clientgo.golang.http import Client as HTTPClient
from clientgo.golang.stop import Signal
from clientgo.klog import Logger
from clientgo.kubernetes.typed.core.v1 import core_client
from clientgo.kubernetes.typed.core.v1.event_expansion import EventSinkImpl
from clientgo.rest import Config
from clientgo.tools import events, record

__all__ = ["EventBroadcasterProducer", "Provider", "new_provider"]

EventBroadcasterProducer: TypeAlias = Callable[[], tuple[record.EventBroadcaster, events.EventBroadcaster, bool]]
"""A function that makes the two broadcasters and returns whether the provider must stop them."""

RecorderT = TypeVar("RecorderT")


@runtime_checkable
class _DrainingBroadcaster(Protocol):
    """The extra methods of this package's broadcasters, which others may lack."""

    def shutdown_with_drain(self, ctx: Context) -> None: ...


def _shut_down(broadcaster: record.EventBroadcaster | events.EventBroadcaster, ctx: Context) -> None:
    if isinstance(broadcaster, _DrainingBroadcaster):
        broadcaster.shutdown_with_drain(ctx)
    else:
        broadcaster.shutdown()


class _Broadcasters(NamedTuple):
    deprecated: record.EventBroadcaster
    current: events.EventBroadcaster
    stop: Callable[[Context], None]


class Provider:
    """A recorder.Provider whose broadcasters, and their threads, start with the first event. Thread-safe."""

    def __init__(
        self,
        config: Config,
        http_client: HTTPClient,
        scheme: Scheme,
        logger: Logger,
        make_broadcaster: EventBroadcasterProducer,
    ) -> None:
        self.scheme = scheme
        self._logger = logger
        self._make_broadcaster = make_broadcaster
        self._events = core_client.new_for_config_and_client(config, http_client).events("")
        # Guards the attributes below. Not held while events are recorded.
        self._lock = threading.Lock()
        self._broadcasters: _Broadcasters | None = None
        self._stopped = False

    def stop(self, ctx: Context) -> None:
        """Stop recording and write the pending events. Blocks until they are written or `ctx` ends.

        Go creates missing broadcasters only to stop them, and loses the events that are queued or in flight.
        """
        with self._lock:
            self._stopped = True
            broadcasters, self._broadcasters = self._broadcasters, None
        if broadcasters is None:
            return
        done = Signal()

        def run() -> None:
            with utilruntime.handle_crash():
                broadcasters.stop(ctx)
            done.set()

        thread = threading.Thread(target=run, name="event-recorder-stop", daemon=True)
        thread.start()
        if select([done, ctx.done()]).case == 0:
            thread.join()

    def broadcasters(self) -> _Broadcasters | None:
        """Return the broadcasters, made by the first call. Returns None after `stop`."""
        with self._lock:
            if self._broadcasters is None and not self._stopped:
                self._broadcasters = self._start()
            return self._broadcasters

    def _start(self) -> _Broadcasters:
        deprecated, current, stop_with_provider = self._make_broadcaster()
        deprecated.start_recording_to_sink(EventSinkImpl(self._events))
        deprecated.start_event_watcher(self._log)
        ctx, cancel = context.with_cancel(context.background())
        current.start_recording_to_sink_with_context(into_context(ctx, self._logger))
        stop_logging = current.start_logging(self._logger.v(1))

        def stop(shutdown_ctx: Context) -> None:
            if stop_with_provider:
                _shut_down(current, shutdown_ctx)
                cancel()
                stop_logging()
                _shut_down(deprecated, shutdown_ctx)

        return _Broadcasters(deprecated, current, stop)

    def _log(self, e: corev1.Event) -> None:
        self._logger.v(1).info(e.message, type=e.type, object=e.involved_object, reason=e.reason)

    def get_event_recorder_for(self, name: str) -> record.EventRecorder:
        """See recorder.Provider."""
        return _DeprecatedRecorder(self, name)

    def get_event_recorder(self, name: str) -> events.EventRecorder:
        """See recorder.Provider."""
        return _LazyRecorder(self, name)


def new_provider(
    config: Config,
    http_client: HTTPClient,
    scheme: Scheme,
    logger: Logger,
    make_broadcaster: EventBroadcasterProducer,
) -> Provider:
    """Return a provider that writes events to the server of `config`. Go: recorder.NewProvider."""
    return Provider(config, http_client, scheme, logger, make_broadcaster)


class _Lazy(Generic[RecorderT]):
    """A recorder that starts on first use and drops events after the provider has stopped."""

    def __init__(self, provider: Provider, name: str) -> None:
        self._provider = provider
        self._name = name
        self._recorder: RecorderT | None = None

    def _use(self) -> RecorderT | None:
        broadcasters = self._provider.broadcasters()
        if broadcasters is None:
            return None
        if self._recorder is None:
            # Two threads may both make one, which does no harm.
            self._recorder = self._make(broadcasters)
        return self._recorder

    def _make(self, broadcasters: _Broadcasters) -> RecorderT:
        raise NotImplementedError


class _LazyRecorder(_Lazy[events.EventRecorder]):
    def _make(self, broadcasters: _Broadcasters) -> events.EventRecorder:
        return broadcasters.current.new_recorder(self._provider.scheme, self._name)

    def eventf(
        self, regarding: Any, related: Any, eventtype: str, reason: str, action: str, note: str, /, *args: Any
    ) -> None:
        recorder = self._use()
        if recorder is not None:
            recorder.eventf(regarding, related, eventtype, reason, action, note, *args)


class _DeprecatedRecorder(_Lazy[record.EventRecorder]):
    def _make(self, broadcasters: _Broadcasters) -> record.EventRecorder:
        return broadcasters.deprecated.new_recorder(self._provider.scheme, corev1.EventSource(component=self._name))

    def event(self, object: Any, eventtype: str, reason: str, message: str) -> None:
        recorder = self._use()
        if recorder is not None:
            recorder.event(object, eventtype, reason, message)

    def eventf(self, object: Any, eventtype: str, reason: str, message_fmt: str, /, *args: Any) -> None:
        recorder = self._use()
        if recorder is not None:
            recorder.eventf(object, eventtype, reason, message_fmt, *args)

    def annotated_eventf(
        self,
        object: Any,
        annotations: Mapping[str, str] | None,
        eventtype: str,
        reason: str,
        message_fmt: str,
        /,
        *args: Any,
    ) -> None:
        recorder = self._use()
        if recorder is not None:
            recorder.annotated_eventf(object, annotations, eventtype, reason, message_fmt, *args)
