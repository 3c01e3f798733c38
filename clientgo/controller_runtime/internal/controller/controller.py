"""The implementation of controllers. Mirrors pkg/internal/controller/controller.go.

Go's panics correspond to exceptions that no program raises on purpose, such as an AttributeError of None or a failed
assertion (`is_panic`). All other exceptions are errors. The controller logs and counts both and retries the request; a
panic also runs the PANIC_HANDLERS, which log its traceback. With `recover_panic=False` a panic crashes the process in
Go. Here it stops the controller: `start` stops all workers and raises it, and so does the manager.

Difference: in v0.24.1 a second `start` returns with the lock held; here it does not.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, NoReturn, TypeAlias, TypeVar, cast

from clientgo import context, klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util.errors.chain import is_error
from clientgo.context import Context
from clientgo.controller_runtime.controller.priorityqueue.priorityqueue import AddOpts, ForwardingQueue, PriorityQueue
from clientgo.controller_runtime.internal.controller import metrics
from clientgo.controller_runtime.internal.panics import describe_panic, is_panic
from clientgo.controller_runtime.metrics.registry import AVAILABLE, Counter, Gauge, Histogram
from clientgo.controller_runtime.reconcile.reconcile import (
    ReconcilerLike,
    Result,
    is_terminal_error,
    result_of,
    to_function,
)
from clientgo.controller_runtime.source.source import TypedSource, TypedSyncingSource
from clientgo.golang.channel import Channel, Receive, select
from clientgo.golang.duration import format_duration
from clientgo.golang.functions import call_checked
from clientgo.golang.stop import Signal, is_crash
from clientgo.klog.exceptions import crash_error, operational_error
from clientgo.klog.serialize import to_string
from clientgo.util.workqueue import TypedRateLimiter, TypedRateLimitingInterface
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["CACHE_SYNC_TIMEOUT", "Controller", "Options", "new", "reconcile_id_from_context"]

RequestT = TypeVar("RequestT", bound=Hashable)

CACHE_SYNC_TIMEOUT: Final = 120.0
_LABEL_ERROR = "error"
_LABEL_REQUEUE_AFTER = "requeue_after"
_LABEL_REQUEUE = "requeue"
_LABEL_SUCCESS = "success"

_BOTH = (
    "Warning: Reconciler returned both a result with either RequeueAfter or Requeue set and a non-nil error. "
    "RequeueAfter and Requeue will always be ignored if the error is non-nil. For more details, see: "
    "https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/reconcile#Reconciler"
)


@operational_error
class ReconciliationTimeoutError(Exception):
    """The cause of a context that ended because the reconcile exceeded its timeout. Go: errReconciliationTimeout."""

    def __init__(self) -> None:
        super().__init__("reconciliation timeout")


@operational_error
class _RecoveredPanic(RuntimeError):
    """A panic that was turned into an error. The PANIC_HANDLERS have logged its traceback."""


@dataclass(kw_only=True)
class Options(Generic[RequestT]):
    """The parts and settings of a Controller. Go: controller.Options."""

    do: ReconcilerLike[RequestT]
    rate_limiter: TypedRateLimiter[RequestT]
    new_queue: Callable[[str, TypedRateLimiter[RequestT]], TypedRateLimitingInterface[RequestT]]
    log_constructor: Callable[[RequestT | None], klog.Logger]
    name: str = ""
    max_concurrent_reconciles: int = 1
    cache_sync_timeout: float = CACHE_SYNC_TIMEOUT
    recover_panic: bool | None = None
    leader_elected: bool | None = None
    enable_warmup: bool | None = None
    reconciliation_timeout: float = 0.0


def new(options: Options[RequestT]) -> Controller[RequestT]:
    """Return a controller. It does nothing until `start`. Go: controller.New."""
    return Controller(options)


class Controller(Generic[RequestT]):
    """A controller: its workers reconcile the requests of its queue. Go: controller.Controller.

    Invariants: the queue never gives the same request to two workers at once; the worker calls `done` for every request
    that it takes, also after an error; `_start_watches` holds the sources until the controller starts them all at once;
    a source that is added later starts at once.
    """

    def __init__(self, options: Options[RequestT]) -> None:
        self.name = options.name
        self.max_concurrent_reconciles = options.max_concurrent_reconciles
        self.do = options.do
        self.rate_limiter = options.rate_limiter
        self.new_queue = options.new_queue
        self.cache_sync_timeout = options.cache_sync_timeout
        self.log_constructor = options.log_constructor
        self.recover_panic = options.recover_panic
        self.leader_elected = options.leader_elected
        self.enable_warmup = options.enable_warmup
        self.reconciliation_timeout = options.reconciliation_timeout
        self.started = False
        self.queue: PriorityQueue[RequestT] | None = None
        """The queue, made by the first `start` or `warmup`."""
        self._do = to_function(options.do)
        # Guards the attributes below. Held while the sources start.
        self._lock = threading.Lock()
        self._ctx: Context | None = None
        self._start_watches: list[TypedSource[RequestT]] = []
        self._did_start_sources = False
        self._started_sources_and_queue = False
        # The crash that stops the controller: see _crash.
        self._crashed = Signal()
        self._crash_error: BaseException | None = None
        self._metrics = _Metrics(self.name)
        self._log_v5: klog.Logger | None = None

    # ---- reconciling

    def reconcile(self, ctx: Context, request: RequestT, /) -> Result:
        """Reconcile one request as a worker does: with the timeout, and with panics turned into errors.

        Raises the reconciler's errors.
        """
        try:
            result = self._do_in_time(ctx, request) if self.reconciliation_timeout > 0 else self._do(ctx, request)
            return _DONE if result is None else _require_result(result)
        except Exception as err:
            if not is_panic(err):
                raise
            return self._panicked(ctx, err)

    def _do_in_time(self, ctx: Context, request: RequestT) -> Result | None:
        """Call the reconciler with a context that ends at the timeout, and count a timeout.

        A panic never counts as a timeout.
        """
        cause = ReconciliationTimeoutError()
        limited, cancel = context.with_timeout_cause(ctx, self.reconciliation_timeout, cause)
        has_panicked = False
        try:
            return self._do(limited, request)
        except Exception as err:
            has_panicked = is_panic(err)
            raise
        finally:
            is_late = isinstance(limited.err(), context.DeadlineExceeded) and is_error(limited.cause(), cause)
            if is_late and not has_panicked:
                self._metrics.timeouts.inc()
            cancel()

    def _panicked(self, ctx: Context, err: Exception) -> NoReturn:
        """Handle a panic inside `except`: raise it, or an error made of it."""
        self._metrics.panics.inc()
        if self.recover_panic is False:
            klog.from_context(ctx).info(f"Observed a panic in reconciler: {to_string(err)}")
            raise err
        for handler in utilruntime.PANIC_HANDLERS:
            handler(ctx, err)
        raise _RecoveredPanic(f"panic: {describe_panic(err)} [recovered]") from err

    def _process_next_work_item(self, ctx: Context) -> bool:
        """Take one request from the queue and reconcile it. Returns False once the queue is shut down. Blocks."""
        queue, counts = self.queue, self._metrics
        assert queue is not None
        request, priority, shutdown = queue.get_with_priority()
        if shutdown:
            return False
        counts.active_workers.inc()
        try:
            self._reconcile_handler(ctx, queue, request, priority)
        finally:
            counts.active_workers.dec()
            queue.done(request)
        return True

    def _reconcile_handler(
        self, ctx: Context, queue: PriorityQueue[RequestT], request: RequestT, priority: int
    ) -> None:
        started_at = REAL_CLOCK.now() if AVAILABLE else 0.0
        request_ctx = _RequestContext(ctx, self.log_constructor, request)
        # Make a logger per request only if its lines are shown.
        log = request_ctx.logger().v(5) if self._verbose() else None
        try:
            if log is not None:
                log.info("Reconciling")
            try:
                result = self.reconcile(request_ctx, request)
            except Exception as err:
                if self.recover_panic is False and is_panic(err):
                    raise
                self._failed(request_ctx, queue, request, priority, err)
            else:
                self._succeeded(log, queue, request, priority, result)
        finally:
            if AVAILABLE:
                self._metrics.time.observe(REAL_CLOCK.since(started_at))

    def _failed(
        self,
        ctx: _RequestContext[RequestT],
        queue: PriorityQueue[RequestT],
        request: RequestT,
        priority: int,
        err: Exception,
    ) -> None:
        result = result_of(err)
        if result.priority is not None:
            priority = result.priority
        if is_terminal_error(err):
            self._metrics.terminal_errors.inc()
        else:
            queue.add_with_opts(AddOpts(rate_limited=True, priority=priority), request)
        self._metrics.errors.inc()
        self._metrics.total_error.inc()
        log = ctx.logger()
        if result.requeue_after or result.requeue:
            log.info(_BOTH)
        log.error(err, "Reconciler error")

    def _succeeded(
        self, log: klog.Logger | None, queue: PriorityQueue[RequestT], request: RequestT, priority: int, result: Result
    ) -> None:
        if result.priority is not None:
            priority = result.priority
        if result.requeue_after > 0:
            if log is not None:
                log.info(f"Reconcile done, requeueing after {format_duration(result.requeue_after)}")
            queue.forget(request)
            queue.add_with_opts(AddOpts(after=result.requeue_after, priority=priority), request)
            self._metrics.total_requeue_after.inc()
        elif result.requeue:
            if log is not None:
                log.info("Reconcile done, requeueing")
            queue.add_with_opts(AddOpts(rate_limited=True, priority=priority), request)
            self._metrics.total_requeue.inc()
        else:
            if log is not None:
                log.info("Reconcile successful")
            queue.forget(request)
            self._metrics.total_success.inc()

    def _verbose(self) -> bool:
        """Report whether verbosity 5 is enabled; only then does each request need a logger."""
        if self._log_v5 is None:
            self._log_v5 = self.log_constructor(None).v(5)
        return self._log_v5.enabled()

    # ---- life

    def watch(self, src: TypedSource[RequestT], /) -> None:
        """Add a source. If the controller is running, start the source and raise the errors of its start."""
        with self._lock:
            if not self._started_sources_and_queue:
                self._start_watches.append(src)
                return
            ctx, queue = self._ctx, self.queue
            assert ctx is not None and queue is not None
            self.log_constructor(None).info("Starting EventSource", source=_name_of(src))
            call_checked(src.start, ctx, queue)

    def need_leader_election(self) -> bool:
        """Report whether the controller runs only while the manager is the leader."""
        return self.leader_elected is not False

    def warmup(self, ctx: Context) -> None:
        """Start the sources and the queue without workers, if warm-up is enabled. Blocks until all have synced."""
        if not self.enable_warmup:
            return
        with self._lock:
            self._ctx = ctx
            self._start_sources_and_queue(ctx)

    def start(self, ctx: Context) -> None:
        """Start the sources, wait until they have synced, and reconcile requests until `ctx` ends.

        Blocks until all workers have ended. Raises RuntimeError on a second call, and the error of a source that does
        not start or sync in time.
        """
        with self._lock:
            if self.started:
                raise RuntimeError(
                    "controller was started more than once. This is likely to be caused by being added to a manager "
                    "multiple times"
                )
            self._metrics.init(self.max_concurrent_reconciles)
            self._ctx = ctx
            self._start_sources_and_queue(ctx)
            self.log_constructor(None).info("Starting Controller")
            self.log_constructor(None).info("Starting workers", **{"worker count": self.max_concurrent_reconciles})
            workers = [
                threading.Thread(target=self._work, args=(ctx,), name=f"controller-{self.name}-{n}", daemon=True)
                for n in range(self.max_concurrent_reconciles)
            ]
            for worker in workers:
                worker.start()
            self.started = True
        self._wait_for_end(ctx)
        if self._crash_error is None:
            self.log_constructor(None).info("Shutdown signal received, waiting for all workers to finish")
        for worker in workers:
            worker.join()
        if self._crash_error is not None:
            raise self._crash_error
        self.log_constructor(None).info("All workers finished")

    def _wait_for_end(self, ctx: Context) -> None:
        """Wait until `ctx` ends or a worker crashes."""
        select([ctx.done(), self._crashed])

    def _work(self, ctx: Context) -> None:
        try:
            while self._process_next_work_item(ctx):
                pass
        except BaseException as err:
            self._crash(err)

    def _crash(self, err: BaseException) -> None:
        """Stop the controller, since it must not continue unnoticed without one of its workers."""
        self._crash_error = err
        self._crashed.set()
        assert self.queue is not None
        self.queue.shut_down()

    def _start_sources_and_queue(self, ctx: Context) -> None:
        """Make the queue, start all sources concurrently and wait until they have synced, once. The caller holds the
        lock.
        """
        if self._did_start_sources:
            return
        self._did_start_sources = True
        queue = self.new_queue(self.name, self.rate_limiter)
        self.queue = queue if isinstance(queue, PriorityQueue) else PriorityQueueWrapper(queue)
        ctx.add_done_callback(self.queue.shut_down)
        starts = [_SourceStart(self, ctx, source) for source in self._start_watches]
        for start in starts:
            start.begin()
        errors = [err for start in starts if (err := start.wait()) is not None]
        # Drop the references to the sources, whose caches may be large.
        self._start_watches = []
        self._started_sources_and_queue = True
        if errors:
            raise min(errors, key=lambda failure: failure[:2])[2]

    def get_logger(self) -> klog.Logger:
        """Return the controller's own logger."""
        return self.log_constructor(None)

    def __repr__(self) -> str:
        state = "started" if self.started else "not started"
        return f"<Controller {self.name!r}, {state}, {self.queue or 'no queue yet'}>"


_DONE = Result()


def _require_result(result: object) -> Result:
    """Return the reconciler's result. Raises TypeError if it is not a Result, which is a bug of the reconciler."""
    if not isinstance(result, Result):
        raise TypeError(f"a reconciler returns a Result or None, and raises its errors; this one returned {result!r}")
    try:
        is_number = result.requeue_after > 0 or result.requeue_after <= 0  # NaN is neither
    except TypeError:
        is_number = False
    if not is_number:
        raise TypeError(f"requeue_after is a number of seconds; this reconciler returned {result.requeue_after!r}")
    return result


def _name_of(source: object) -> str:
    """Return the source's `str`, or its class name if it defines none."""
    return type(source).__name__ if type(source).__str__ is object.__str__ else str(source)


# A source's failure: its rank among simultaneous failures, and the error.
_Failure: TypeAlias = tuple[float, int, Exception]


class _SourceStart(Generic[RequestT]):
    """A thread that starts one source and reports its result.

    After the timeout the controller stops waiting; the thread ends when the source's `start` returns.
    """

    def __init__(self, controller: Controller[RequestT], ctx: Context, source: TypedSource[RequestT]) -> None:
        self._controller = controller
        self._ctx = ctx
        self._source = source
        self._log = controller.log_constructor(None).with_values(source=_name_of(source))
        self._outcome: Channel[_Failure | None] = Channel(1)
        self._did_start_syncing = threading.Event()

    def begin(self) -> None:
        self._sync_ctx, self._cancel = context.with_timeout(self._ctx, self._controller.cache_sync_timeout)
        name = f"controller-{self._controller.name}-source"
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        outcome = None
        try:
            self._log.info("Starting EventSource")
            queue = self._controller.queue
            assert queue is not None
            call_checked(self._source.start, self._ctx, queue)
            if isinstance(self._source, TypedSyncingSource):
                self._did_start_syncing.set()
                self._wait_for_sync(self._source)
        except BaseException as err:
            if not is_crash(err):
                raise
            # The controller has ended, so this is not a failure.
            if self._did_start_syncing.is_set() or self._ctx.err() is None:
                # It ends the controller, as a panic ends Go's process.
                failure = err if isinstance(err, Exception) else crash_error(f"source {_name_of(self._source)}", err)
                outcome = (REAL_CLOCK.now(), 1, failure)
        self._outcome.send(outcome)

    def _wait_for_sync(self, source: TypedSyncingSource[RequestT]) -> None:
        try:
            source.wait_for_sync(self._sync_ctx)
        except Exception as err:
            text = f"failed to wait for {self._controller.name} caches to sync {source}: {err}"
            failure = RuntimeError(text)
            failure.__cause__ = err
            self._log.error(failure, "Could not wait for Cache to sync")
            raise failure from err

    def wait(self) -> _Failure | None:
        """Wait until the source has synced, or fails, or exceeds the timeout. Returns the failure or None."""
        try:
            chosen = select([Receive(self._outcome), self._sync_ctx.done()])
            if chosen.case == 0:
                return cast("_Failure | None", chosen.value)
            if self._did_start_syncing.is_set():
                # The source observes the end of the same context and raises a more precise error.
                outcome, _ = self._outcome.receive()
                return outcome
            if self._ctx.err() is not None:
                return None
            # If two sources time out together, name the source that has not started, as Go does.
            return REAL_CLOCK.now(), 0, TimeoutError(
                f"timed out waiting for source {_name_of(self._source)} to Start. "
                "Please ensure that its Start() method is non-blocking"
            )
        finally:
            self._cancel()


class _Metrics:
    """The metrics of one controller, with each series looked up once.

    A series exists from its first use: `start` makes them all. A call of `reconcile` before `start` makes those that it
    increments, as in Go.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def total_error(self) -> Counter:
        return metrics.RECONCILE_TOTAL.labels(self._name, _LABEL_ERROR)

    @cached_property
    def total_requeue_after(self) -> Counter:
        return metrics.RECONCILE_TOTAL.labels(self._name, _LABEL_REQUEUE_AFTER)

    @cached_property
    def total_requeue(self) -> Counter:
        return metrics.RECONCILE_TOTAL.labels(self._name, _LABEL_REQUEUE)

    @cached_property
    def total_success(self) -> Counter:
        return metrics.RECONCILE_TOTAL.labels(self._name, _LABEL_SUCCESS)

    @cached_property
    def errors(self) -> Counter:
        return metrics.RECONCILE_ERRORS.labels(self._name)

    @cached_property
    def terminal_errors(self) -> Counter:
        return metrics.TERMINAL_RECONCILE_ERRORS.labels(self._name)

    @cached_property
    def panics(self) -> Counter:
        return metrics.RECONCILE_PANICS.labels(self._name)

    @cached_property
    def timeouts(self) -> Counter:
        return metrics.RECONCILE_TIMEOUTS.labels(self._name)

    @cached_property
    def time(self) -> Histogram:
        return metrics.RECONCILE_TIME.labels(self._name)

    @cached_property
    def active_workers(self) -> Gauge:
        return metrics.ACTIVE_WORKERS.labels(self._name)

    def init(self, max_concurrent_reconciles: int) -> None:
        """Create the series with value 0. Go: Controller.initMetrics."""
        for counter in (
            self.total_error,
            self.total_requeue_after,
            self.total_requeue,
            self.total_success,
            self.errors,
            self.terminal_errors,
            self.panics,
            self.timeouts,
        ):
            counter.inc(0)
        metrics.WORKER_COUNT.labels(self._name).set(max_concurrent_reconciles)
        self.active_workers.set(0)


class _ReconcileIDKey:
    """The context key of the reconcile ID."""


class _RequestContext(Context, Generic[RequestT]):
    """The context of one reconcile. It makes its logger and its ID on first use."""

    _id: str | None = None
    _logger: klog.Logger | None = None

    def __init__(
        self, parent: Context, log_constructor: Callable[[RequestT | None], klog.Logger], request: RequestT
    ) -> None:
        self._parent = parent
        self._log_constructor = log_constructor
        self._request = request

    def value(self, key: object) -> Any:
        if key is klog.LOGGER_KEY:
            return self.logger()
        if key is _ReconcileIDKey:
            return self.reconcile_id()
        return self._parent.value(key)

    def logger(self) -> klog.Logger:
        """Return the controller's logger with the request's values and the reconcileID."""
        if self._logger is None:
            self._logger = self._log_constructor(self._request).with_values(reconcileID=self.reconcile_id())
        return self._logger

    def reconcile_id(self) -> str:
        """Return the UUID of this reconcile."""
        if self._id is None:
            self._id = str(uuid.uuid4())
        return self._id

    def done(self) -> context.Done:
        return self._parent.done()

    def err(self) -> context.Canceled | context.DeadlineExceeded | None:
        return self._parent.err()

    def cause(self) -> BaseException | None:
        return self._parent.cause()

    def deadline(self) -> float | None:
        return self._parent.deadline()


def reconcile_id_from_context(ctx: Context) -> str:
    """Return the ID of the context's reconcile, or "" outside of one. Go: controller.ReconcileIDFromContext."""
    return cast("str | None", ctx.value(_ReconcileIDKey)) or ""


class PriorityQueueWrapper(ForwardingQueue[RequestT]):
    """A controller's queue without priorities: it ignores the priorities of additions."""

    def add_with_opts(self, o: AddOpts, /, *items: RequestT) -> None:
        """Add items. A rate-limited addition ignores `after`, as in Go."""
        for item in items:
            if o.rate_limited:
                self.add_rate_limited(item)
            elif o.after > 0:
                self.add_after(item, o.after)
            else:
                self.add(item)

    def get_with_priority(self) -> tuple[RequestT, int, bool]:
        item, shutdown = self.get()
        return item, 0, shutdown
