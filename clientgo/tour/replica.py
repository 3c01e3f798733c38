"""One replica of a program: its connection, its informers, its work queue, its workers.

It represents a process: it can be killed, and then sends nothing more. `Replica` is one of the lessons'
controller (program.py).
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Any

from clientgo import context, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import fields as fieldselectors
from clientgo.apimachinery.util import naming
from clientgo.context import Context
from clientgo.golang import http
from clientgo.kubernetes import scheme
from clientgo.kubernetes.typed.core import v1 as typedcorev1
from clientgo.testing.apiserver import Server
from clientgo.tools import cache, leaderelection, record
from clientgo.tools.leaderelection import resourcelock
from clientgo.tour.program import Enqueuer, Queue, Shouter
from clientgo.tour.settings import Settings
from clientgo.tour.wire import Wire
from clientgo.util import flowcontrol, workqueue

__all__ = ["NAMESPACE", "Bystander", "OrdinaryList", "Process", "Replica", "Trouble", "new_config", "new_queue"]

NAMESPACE = "default"


class Bystander:
    """A second handler, which only looks on; a fault can block it, or make it raise."""

    def __init__(self, program: str = "shouter") -> None:
        self._program = program
        # Guards the next two; notified when the handler may continue.
        self._changed = threading.Condition()
        self._blocked = False
        self._raising = 0

    def block(self) -> None:
        """Block the handler from its next call on."""
        with self._changed:
            self._blocked = True

    def let_go(self) -> None:
        """Go on."""
        with self._changed:
            self._blocked = False
            self._changed.notify_all()

    def fail(self, times: int) -> None:
        """Raise in the next so many calls."""
        with self._changed:
            self._raising += times

    def handler_name(self) -> str:
        """Return its name in the program, after which its thread is named."""
        return f"{self._program}.Bystander"

    def _look_on(self) -> None:
        with self._changed:
            while self._blocked:
                self._changed.wait()
            if self._raising:
                self._raising -= 1
                raise RuntimeError("this handler was told to fail")

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self._look_on()

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._look_on()

    def on_delete(self, obj: Any) -> None:
        self._look_on()


class Trouble:
    """The cache as the workers see it. Faults make its reads fail or hang. A cache.KeyGetter."""

    def __init__(self, indexer: cache.Indexer) -> None:
        self._indexer = indexer
        # Guards the next two; notified when a read may continue.
        self._changed = threading.Condition()
        self._raising = 0
        self._hanging = False

    def fail(self, times: int) -> None:
        """Make the next `times` reads raise."""
        with self._changed:
            self._raising += times

    def hang(self) -> None:
        """Make each read block until `let_go`."""
        with self._changed:
            self._hanging = True

    def let_go(self) -> None:
        """Let blocked and later reads continue."""
        with self._changed:
            self._hanging = False
            self._changed.notify_all()

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        with self._changed:
            while self._hanging:
                self._changed.wait()
            if self._raising:
                self._raising -= 1
                raise RuntimeError("this worker was told to fail")
        return self._indexer.get_by_key(key)


class OrdinaryList:
    """A ListerWatcher without support for streaming lists."""

    def __init__(self, lw: cache.ListWatch) -> None:
        self.list_with_context = lw.list_with_context
        self.watch_with_context = lw.watch_with_context
        self.list = lw.list
        self.watch = lw.watch

    def is_watch_list_semantics_un_supported(self) -> bool:
        return True


def new_config(server: Server, transport: http.RoundTripper) -> rest.Config:
    """Return the configuration of a client that reaches `server` by `transport`."""
    return rest.Config(host=server.url, bearer_token=server.token, qps=-1, transport=transport)


class Process(ABC):
    """The base of replicas. It is created, runs and closes inside a bubble."""

    informers: list[cache.SharedIndexInformer]
    """The first one watches the program's own kind."""
    queue: Any
    trouble: Trouble
    """Makes the workers' cache reads fail or hang."""

    def __init__(
        self, name: str, server: Server, transport: http.RoundTripper, settings: Settings, *, lease: str
    ) -> None:
        self.name = name
        self.ctx, self._cancel = context.with_cancel(context.background())
        self.wire = Wire(transport)
        self.is_killed = False
        self.bystander = Bystander()
        self.settings = settings
        self.config = new_config(server, self.wire)
        self.client = kubernetes.new_for_config(self.config)
        self._lease = lease

    @abstractmethod
    def run(self, ctx: Context) -> None:
        """Run like a main program until `ctx` is done, and stop everything. Blocks."""

    def new_elector(self, callbacks: leaderelection.LeaderCallbacks) -> leaderelection.LeaderElector:
        """Return this replica's elector, with the durations of Kubernetes' own components."""
        lock = resourcelock.new(
            resourcelock.LEASES_RESOURCE_LOCK,
            NAMESPACE,
            self._lease,
            self.client.core_v1(),
            self.client.coordination_v1(),
            resourcelock.ResourceLockConfig(identity=self.name),
        )
        config = leaderelection.LeaderElectionConfig(
            lock=lock, lease_duration=15.0, renew_deadline=10.0, retry_period=2.0, callbacks=callbacks
        )
        return leaderelection.new_leader_elector(config)

    def kill(self) -> None:
        """Cut it off from the server and stop it."""
        self.is_killed = True
        self.wire.down()
        self.stop()

    def stop(self) -> None:
        """Ask it to stop; does not block."""
        self._cancel()
        self.bystander.let_go()
        self.trouble.let_go()

    def close(self) -> None:
        """Release its resources after everything has stopped."""
        self.queue.shut_down()
        self.client.close()


class Replica(Process):
    """A replica of the lessons' controller."""

    def __init__(self, server: Server, transport: http.RoundTripper, name: str, settings: Settings) -> None:
        super().__init__(name, server, transport, settings, lease="shouter")
        informer = self._new_informer(settings)
        self.informers = [informer]
        self.queue = new_queue(settings)
        informer.add_event_handler(Enqueuer(self.queue))
        if settings.handlers > 1:
            informer.add_event_handler(self.bystander)
        self.trouble = Trouble(informer.get_indexer())
        self._broadcaster = self._new_broadcaster() if settings.events else None
        self._controller = Shouter(self.client, self.trouble, self.queue, self._new_recorder())

    def _new_informer(self, settings: Settings) -> cache.SharedIndexInformer:
        lw = cache.new_list_watch_from_client(
            self.client.core_v1().rest_client(), "configmaps", NAMESPACE, fieldselectors.everything()
        )
        options = cache.SharedIndexInformerOptions(
            resync_period=settings.resync,
            indexers=_INDEXERS | ({"words": _by_words} if settings.words else {}),
            in_order=settings.fifo == "RealFIFO",
            emit_delta_type_replaced=settings.replace == "Replaced",
        )
        return cache.new_shared_index_informer_with_options(
            lw if settings.watch_list else OrdinaryList(lw), corev1.ConfigMap(), options
        )

    def _new_broadcaster(self) -> record.EventBroadcasterImpl:
        """Return a broadcaster whose correlator drops events sooner than the default, which has 10 and 25."""
        options = record.CorrelatorOptions(max_events=4, burst_size=8)
        broadcaster = record.new_broadcaster_with_correlator_options(options)
        broadcaster.start_recording_to_sink(typedcorev1.EventSinkImpl(self.client.core_v1().events("")))
        return broadcaster

    def _new_recorder(self) -> record.EventRecorder | None:
        if self._broadcaster is None:
            return None
        return self._broadcaster.new_recorder(scheme.SCHEME, corev1.EventSource(component="shouter"))

    def run(self, ctx: Context) -> None:
        """Run the informer, and the workers as soon as it has synced. Blocks."""
        informer = threading.Thread(target=self._run_informer, args=(ctx,), name="informer", daemon=True)
        informer.start()
        try:
            if cache.wait_for_cache_sync(ctx.done(), self.informers[0].has_synced):
                self._controller.run(ctx, self.settings.workers)
        finally:
            informer.join()

    def _run_informer(self, ctx: Context) -> None:
        with naming.call_site("shouter"):
            self.informers[0].run_with_context(ctx)

    def close(self) -> None:
        if self._broadcaster is not None:
            self._broadcaster.shutdown()
        super().close()


def _by_initial(obj: Any) -> list[str]:
    """Index objects by the first letter of their names."""
    name: str = obj.get_name()
    return [name[:1]]


def _by_words(obj: Any) -> list[str]:
    """Index objects by each word of their texts."""
    words: list[str] = obj.data.get("text", "").split()
    return words


_INDEXERS: cache.Indexers = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func, "initial": _by_initial}


def _new_limiter(settings: Settings) -> workqueue.TypedRateLimiter[str]:
    base = settings.base_delay
    if settings.limiter == "fast-slow":
        return workqueue.new_typed_item_fast_slow_rate_limiter(base, 10 * base, 3)
    exponential = workqueue.new_typed_item_exponential_failure_rate_limiter(base, 1000.0)
    if settings.limiter == "exponential":
        return exponential
    bucket: workqueue.TypedBucketRateLimiter[str] = workqueue.TypedBucketRateLimiter(
        flowcontrol.rate.new_limiter(10.0, 100)
    )
    return workqueue.new_typed_max_of_rate_limiter(exponential, bucket)


def new_queue(settings: Settings) -> Queue:
    """Return the work queue that the settings describe."""
    limiter = _new_limiter(settings)
    if settings.queue == "PriorityQueue":
        return workqueue.new_priority_queue(workqueue.PriorityQueueConfig(rate_limiter=limiter))
    return workqueue.new_typed_rate_limiting_queue(limiter)
