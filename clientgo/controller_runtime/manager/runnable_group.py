"""The groups of runnables that a manager starts and stops together. Mirrors pkg/manager/runnable_group.go.

Differences from Go: stopping a group that never started does not start it. A group whose context ends while it waits
for a cache stops waiting (v0.24.1 spins forever). A cache that fails before it has synced ends the wait; Go keeps
waiting. Errors go to an `ErrorSink`, which needs no reader, so that no thread stays behind to deliver one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from clientgo import context
from clientgo.context import Context
from clientgo.controller_runtime.cache.cache import Cache
from clientgo.controller_runtime.manager.server import Server
from clientgo.golang.channel import select
from clientgo.golang.functions import raise_returned, require_plain
from clientgo.golang.stop import Signal, is_crash
from clientgo.klog import Logger
from clientgo.klog.answers import is_true
from clientgo.klog.exceptions import location_of
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["ErrRunnableGroupStopped", "ErrorSink", "RunnableGroup", "Runnables", "StartFunc"]

# Seconds after which a stop logs the names of the runnables that it still waits for.
_SLOW = 10.0

StartFunc: TypeAlias = Callable[[Context], object]
"""A function that runs until the context ends."""

RunnableCheck: TypeAlias = Callable[[Context], bool]
"""A function that waits until a runnable is ready and returns True, or returns False on failure."""

BaseContextFunc: TypeAlias = Callable[[], Context]


class ErrRunnableGroupStopped(Exception):
    """Raised by an addition to a manager that is stopping. Go: errRunnableGroupStopped."""

    def __init__(self) -> None:
        super().__init__("can't accept new runnable as stop procedure is already engaged")


@runtime_checkable
class HasCache(Protocol):
    """A runnable with a cache to wait for, such as a Cluster."""

    def start(self, ctx: Context, /) -> None: ...

    def get_cache(self) -> Cache: ...


@runtime_checkable
class WebhookServer(Protocol):
    """A webhook server. It starts before caches, whose first list may need conversion webhooks."""

    def need_leader_election(self) -> bool: ...

    def register(self, path: str, hook: Any, /) -> None: ...

    def start(self, ctx: Context, /) -> None: ...

    def started_checker(self) -> Callable[..., object]: ...


class ErrorSink:
    """A receiver of the errors of runnables. Thread-safe; never blocks.

    The first error stops the manager; it logs later ones. After the stop it logs errors at the info level, as Go does.

    Invariant: `first` is set at most once, and never by an error during or after the stop.
    """

    def __init__(self, logger: Logger) -> None:
        self.logger = logger
        # Guards the other attributes.
        self._lock = threading.Lock()
        self._stopping = False
        self._finished = False
        self._pending: list[BaseException] = []
        self.first: BaseException | None = None
        self.failed = Signal()
        """A signal that the first error sets."""

    def put(self, err: BaseException) -> None:
        with self._lock:
            if not self._stopping and self.first is None:
                self.first = err
                self.failed.set()
                if isinstance(err, SystemExit):  # Python prints no traceback of it.
                    self._log_exit(err)
                return
            if not self._stopping:
                # The stop that the error belongs to will log it.
                self._pending.append(err)
                return
        self._log(err)

    def _log_exit(self, err: SystemExit) -> None:
        """Log why the manager ends, once. In Go os.Exit ends the process without a line."""
        self.logger.info(
            "sys.exit in a reconciler or another runnable ends the manager: raise an exception for a retry",
            code=err.code,
            at=location_of(err),
        )

    def begin_stop(self) -> None:
        """Log all errors from now on, including those that were not reported before."""
        with self._lock:
            self._stopping = True
            pending, self._pending = self._pending, []
        for err in pending:
            self._log(err)

    def finish(self) -> None:
        """Log further errors at the info level, since the manager has stopped or does not wait."""
        with self._lock:
            self._finished = True

    def _log(self, err: BaseException) -> None:
        if isinstance(err, context.Canceled):
            return
        if self._finished:
            self.logger.info("error dropped during shutdown to prevent goroutine leak", error=err)
        else:
            self.logger.error(err, "error received after stop sequence was engaged")


class _ReadyRunnable:
    """A runnable of a group, with its readiness."""

    def __init__(self, name: str, start: StartFunc, check: RunnableCheck | None) -> None:
        self.name = name
        self.start = start
        self.check = check
        self.ready = Signal()
        self.failed = Signal()


class RunnableGroup:
    """A group of runnables that start together and whose ends a stop awaits. Thread-safe.

    Invariants: each runnable runs once, in its own thread; nothing starts after `stop_and_wait` has begun.
    """

    def __init__(self, name: str, base_context: BaseContextFunc, errors: ErrorSink) -> None:
        self._name = name
        self._errors = errors
        self.ctx, self._cancel = context.with_cancel(base_context())
        # Guards the attributes below. Not held while runnables run.
        self._lock = threading.Lock()
        self._started = False
        self._stopped = False
        self._start_queue: list[_ReadyRunnable] = []
        self._threads: set[threading.Thread] = set()
        self._all_ended = threading.Condition(self._lock)
        self._running = 0
        self._logged_running = False

    def started(self) -> bool:
        """Report whether `start` was called."""
        with self._lock:
            return self._started

    def start(self, ctx: Context) -> None:
        """Start the added runnables, and wait until all are ready or `ctx` ends.

        Later calls do nothing. Raises `ctx.err()` at a deadline.
        """
        with self._lock:
            if self._started or self._stopped:
                return
            self._started = True
            queue, self._start_queue = self._start_queue, []
            for runnable in queue:
                self._launch(runnable)
        for runnable in queue:
            select([runnable.ready, runnable.failed, ctx.done()])
        err = ctx.err()
        if err is not None and not isinstance(err, context.Canceled):
            raise err

    def add(self, name: str, start: StartFunc, check: RunnableCheck | None = None) -> None:
        """Add a runnable. It starts with the group, or at once if the group is running. Raises ErrRunnableGroupStopped.
        """
        runnable = _ReadyRunnable(name, start, check)
        with self._lock:
            if self._stopped:
                raise ErrRunnableGroupStopped
            if self._started:
                self._launch(runnable)
            else:
                self._start_queue.append(runnable)

    def _launch(self, runnable: _ReadyRunnable) -> None:
        """Start the runnable's thread and the thread that waits for its readiness. The caller holds the lock."""
        self._thread(self._run, runnable, runnable.name)
        if runnable.check is None:
            runnable.ready.set()
        else:
            self._thread(self._check, runnable, f"{runnable.name}-ready")

    def _thread(self, target: Callable[[_ReadyRunnable], None], runnable: _ReadyRunnable, name: str) -> None:
        self._running += 1

        def run() -> None:
            try:
                target(runnable)
            finally:
                with self._lock:
                    self._running -= 1
                    self._threads.discard(threading.current_thread())
                    self._all_ended.notify_all()

        thread = threading.Thread(target=run, name=f"manager-{self._name}-{name}", daemon=True)
        self._threads.add(thread)
        thread.start()

    def _run(self, runnable: _ReadyRunnable) -> None:
        try:
            raise_returned(runnable.start(self.ctx))
        except BaseException as err:
            self._errors.put(err)
            runnable.failed.set()

    def _check(self, runnable: _ReadyRunnable) -> None:
        check = cast("RunnableCheck", runnable.check)
        try:
            if check(self.ctx):
                runnable.ready.set()
        except BaseException as err:
            if not is_crash(err):
                raise
            self._errors.put(err)
            runnable.failed.set()

    def stop_and_wait(self, ctx: Context) -> None:
        """Cancel the runnables' context and wait until all have returned or `ctx` ends. Idempotent.

        Logs once the runnables that still run after ten seconds, or when `ctx` ends earlier.
        """
        with self._lock:
            self._stopped = True
            self._start_queue.clear()
        self._cancel()
        if ctx.done().is_set():
            return
        slow = REAL_CLOCK.after_func(_SLOW, self._log_running)
        try:
            self._wait(ctx)
        finally:
            slow.stop()
        if ctx.done().is_set():
            self._log_running()

    def _wait(self, ctx: Context) -> None:
        """Wait until all runnables have returned or `ctx` ends."""

        def wake() -> None:
            with self._lock:
                self._all_ended.notify_all()

        remove = ctx.add_done_callback(wake)
        try:
            with self._lock:
                while self._running and not ctx.done().is_set():
                    self._all_ended.wait()
        finally:
            remove()

    def _log_running(self) -> None:
        """Log the names of the runnables that still run, once, to explain a slow stop."""
        with self._lock:
            prefix = f"manager-{self._name}-"
            running = sorted(thread.name.removeprefix(prefix) for thread in self._threads)
            if not running or self._logged_running:
                return
            self._logged_running = True
        self._errors.logger.info(
            "The manager waits for runnables that still run although their context is done; "
            "let start(ctx) return when ctx.done() is set",
            runnables=running,
            group=self._name,
        )

    def __repr__(self) -> str:
        with self._lock:
            state = "stopped" if self._stopped else "started" if self._started else "not started"
            return f"<RunnableGroup {self._name}, {len(self._start_queue)} queued, {self._running} running, {state}>"


class Runnables:
    """The groups of a manager. Go: runnables."""

    def __init__(self, base_context: BaseContextFunc, errors: ErrorSink) -> None:
        self.http_servers = RunnableGroup("http-servers", base_context, errors)
        self.webhooks = RunnableGroup("webhooks", base_context, errors)
        self.caches = RunnableGroup("caches", base_context, errors)
        self.leader_election = RunnableGroup("leader-election", base_context, errors)
        self.warmup = RunnableGroup("warmup", base_context, errors)
        self.others = RunnableGroup("others", base_context, errors)

    def add(self, fn: Any) -> None:
        """Add a runnable or a function to the group for its type. Raises TypeError for other objects."""
        name, start = _name_of(fn), _start_function(fn)
        require_plain(start, "a Runnable", "ctx")
        if isinstance(fn, Server):
            (self.leader_election if fn.need_leader_election() else self.http_servers).add(name, start)
        elif isinstance(fn, HasCache):
            self.caches.add(name, start, lambda ctx: fn.get_cache().wait_for_cache_sync(ctx))
        elif isinstance(fn, WebhookServer):
            self.webhooks.add(name, start)
        else:
            warmup = getattr(fn, "warmup", None)
            if callable(warmup):
                self.warmup.add(f"{name}-warmup", warmup)
            need_leader_election = getattr(fn, "need_leader_election", None)
            is_for_leaders = need_leader_election is None or is_true(need_leader_election)
            (self.leader_election if is_for_leaders else self.others).add(name, start)

    def all(self) -> list[RunnableGroup]:
        """Return the groups in the order in which they stop."""
        return [self.others, self.leader_election, self.caches, self.webhooks, self.http_servers, self.warmup]


def _start_function(fn: Any) -> StartFunc:
    if isinstance(fn, type):
        raise TypeError(f"a Runnable is an object with a method start(ctx), not its class: {fn!r}")
    start = getattr(fn, "start", None)
    if callable(start):
        return cast(StartFunc, start)
    if callable(fn):
        return cast(StartFunc, fn)
    raise TypeError(f"a Runnable has a method start(ctx), or is a function: {fn!r}")


def _name_of(fn: Any) -> str:
    return str(getattr(fn, "name", "") or getattr(fn, "__name__", "") or type(fn).__name__)
