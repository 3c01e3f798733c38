"""The implementation of the manager. Mirrors pkg/manager/internal.go.

Differences from Go: runnables report errors to a sink, so that no thread stays behind to deliver one. The event
recorders get the rest of the grace period to deliver their events (Go does not wait at all). `add` does not wait for a
start in progress. A start that fails half-way with an election configured does not panic.
"""

from __future__ import annotations

import socket
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import Any, cast

from clientgo import context, rest
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.util.errors import new_aggregate
from clientgo.context import Context
from clientgo.controller_runtime import webhook
from clientgo.controller_runtime.cache.cache import Cache
from clientgo.controller_runtime.client.interfaces import Client, FieldIndexer, Reader
from clientgo.controller_runtime.cluster.cluster import Cluster
from clientgo.controller_runtime.config.controller import Controller as ControllerConfig
from clientgo.controller_runtime.healthz.healthz import Checker, Handler
from clientgo.controller_runtime.internal import httpserver
from clientgo.controller_runtime.internal.recorder import Provider
from clientgo.controller_runtime.log.log import into_context
from clientgo.controller_runtime.manager.runnable_group import BaseContextFunc, ErrorSink, Runnables
from clientgo.controller_runtime.manager.server import Server
from clientgo.controller_runtime.metrics.server import server as metricsserver
from clientgo.controller_runtime.webhook import conversion
from clientgo.golang.channel import StopChannel, select
from clientgo.golang.duration import format_duration
from clientgo.golang.functions import require_function
from clientgo.golang.http import Client as HTTPClient
from clientgo.golang.http import server as http
from clientgo.golang.stop import Signal
from clientgo.klog import Logger
from clientgo.klog.exceptions import operational_error
from clientgo.tools import events, leaderelection, record
from clientgo.tools.leaderelection import resourcelock
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["ControllerManager", "LeaderElectionLost", "ManagerParts"]


@operational_error
class LeaderElectionLost(Exception):
    """Raised by `start` when another manager may have become the leader. The program should exit at once."""

    def __init__(self) -> None:
        super().__init__("leader election lost")


@dataclass(kw_only=True)
class ManagerParts:
    """The parts that `manager.new` made for a manager."""

    cluster: Cluster
    recorder_provider: Provider
    resource_lock: resourcelock.Interface | None
    metrics_server: metricsserver.Server | None
    health_probe_listener: socket.socket | None
    pprof_listener: socket.socket | None
    controller_config: ControllerConfig
    logger: Logger
    webhook_server: Any
    base_context: BaseContextFunc
    readiness_endpoint_name: str
    liveness_endpoint_name: str
    leader_election_id: str
    leader_election_release_on_cancel: bool
    lease_duration: float
    renew_deadline: float
    retry_period: float
    graceful_shutdown_timeout: float


class ControllerManager:
    """The implementation of Manager. Thread-safe.

    Invariants: `start` works once. The groups start in the order HTTP servers, webhooks, caches, others, warm-up,
    leader election, each when the one before is ready. They stop in the order others, leader election, caches,
    webhooks, HTTP servers, each when the one before has ended or the grace period is over. The manager releases the
    lock last.
    """

    def __init__(self, parts: ManagerParts) -> None:
        self._parts = parts
        self._cluster = parts.cluster
        self._logger = parts.logger
        self._errors = ErrorSink(parts.logger)
        self._runnables = Runnables(parts.base_context, self._errors)
        self._elected = Signal()
        # Guards the attributes below. Not held while runnables start or stop.
        self._lock = threading.Lock()
        self._started = False
        self._readyz: Handler | None = None
        self._healthz: Handler | None = None
        self._webhook_server: webhook.Server | None = None
        self._converter_registry: conversion.Registry | None = None
        # Used only by the thread in `start`, except the timeout, which losing the election sets to 0.
        self._graceful_shutdown_timeout = parts.graceful_shutdown_timeout
        self._leader_election: _Election | None = None

    # ---- what there is

    def add(self, r: Any) -> None:
        """See Manager."""
        self._runnables.add(r)

    def elected(self) -> StopChannel:
        """See Manager."""
        return self._elected

    def add_metrics_server_extra_handler(self, path: str, handler: http.HandlerLike) -> None:
        """See Manager."""
        with self._lock:
            if self._started:
                raise RuntimeError(
                    "unable to add new metrics handler because metrics endpoint has already been created"
                )
            if self._parts.metrics_server is None:
                message = "warn: metrics server is currently disabled, registering extra handler will be ignored"
                self._logger.info(message, path=path)
                return
            self._parts.metrics_server.add_extra_handler(path, handler)
            self._logger.v(2).info("Registering metrics http server extra handler", path=path)

    def add_healthz_check(self, name: str, check: Checker) -> None:
        """See Manager."""
        with self._lock:
            self._check_not_started()
            self._healthz = self._healthz or Handler()
            self._healthz.checks[name] = _required(check, name)

    def add_readyz_check(self, name: str, check: Checker) -> None:
        """See Manager."""
        with self._lock:
            self._check_not_started()
            self._readyz = self._readyz or Handler()
            self._readyz.checks[name] = _required(check, name)

    def _check_not_started(self) -> None:
        if self._started:
            raise RuntimeError("unable to add new checker because healthz endpoint has already been created")

    def get_http_client(self) -> HTTPClient:
        """See Cluster."""
        return self._cluster.get_http_client()

    def get_config(self) -> rest.Config:
        """See Cluster."""
        return self._cluster.get_config()

    def get_client(self) -> Client:
        """See Cluster."""
        return self._cluster.get_client()

    def get_scheme(self) -> Scheme:
        """See Cluster."""
        return self._cluster.get_scheme()

    def get_field_indexer(self) -> FieldIndexer:
        """See Cluster."""
        return self._cluster.get_field_indexer()

    def get_cache(self) -> Cache:
        """See Cluster."""
        return self._cluster.get_cache()

    def get_event_recorder_for(self, name: str) -> record.EventRecorder:
        """See recorder.Provider."""
        return self._cluster.get_event_recorder_for(name)

    def get_event_recorder(self, name: str) -> events.EventRecorder:
        """See recorder.Provider."""
        return self._cluster.get_event_recorder(name)

    def get_rest_mapper(self) -> meta.RESTMapper:
        """See Cluster."""
        return self._cluster.get_rest_mapper()

    def get_api_reader(self) -> Reader:
        """See Cluster."""
        return self._cluster.get_api_reader()

    def get_webhook_server(self) -> webhook.Server:
        """See Manager."""
        with self._lock:
            if self._webhook_server is None:
                server = self._parts.webhook_server
                if server is None:
                    server = webhook.new_server(webhook.Options())
                self.add(server)
                self._webhook_server = server
            return self._webhook_server

    def get_converter_registry(self) -> conversion.Registry:
        """See Manager."""
        with self._lock:
            if self._converter_registry is None:
                self._converter_registry = conversion.new_registry()
            return self._converter_registry

    def get_logger(self) -> Logger:
        """See Manager."""
        return self._logger

    def get_controller_options(self) -> ControllerConfig:
        """See Manager."""
        return self._parts.controller_config

    # ---- start

    def start(self, ctx: Context) -> None:
        """See Manager."""
        with self._lock:
            if self._started:
                raise RuntimeError("manager already started")
            self._started = True
        internal_ctx, internal_cancel = context.with_cancel(ctx)
        if self._parts.resource_lock is not None:
            self._leader_election = self._new_election(self._parts.resource_lock, ctx, internal_ctx)
        failure: BaseException | None = None
        try:
            self._start_groups(ctx, internal_ctx)
            select([ctx.done(), self._errors.failed])
            failure = None if ctx.done().is_set() and not self._errors.failed.is_set() else self._errors.first
        except BaseException as err:
            failure = err
        stop_failure = self._stop(internal_cancel)
        if failure is not None and stop_failure is not None and isinstance(failure, Exception):
            raise cast("Exception", new_aggregate([failure, stop_failure])) from failure
        if failure is not None or stop_failure is not None:
            raise cast("BaseException", stop_failure if failure is None else failure)

    def _start_groups(self, ctx: Context, internal_ctx: Context) -> None:
        groups = self._runnables
        self.add(self._cluster)
        if self._parts.metrics_server is not None:
            groups.http_servers.add("metrics", self._parts.metrics_server.start)
        self._add_probe_servers(internal_ctx)
        for group in (groups.http_servers, groups.webhooks, groups.caches, groups.others, groups.warmup):
            group.start(internal_ctx)
            if ctx.done().is_set():
                return
        if self._leader_election is not None:
            self._leader_election.begin()
        else:
            self._start_leader_election_runnables(internal_ctx)

    def _start_leader_election_runnables(self, ctx: Context) -> None:
        self._runnables.leader_election.start(ctx)
        self._elected.set()

    def _new_election(self, lock: resourcelock.Interface, ctx: Context, internal_ctx: Context) -> _Election:
        def lost() -> None:
            self._graceful_shutdown_timeout = 0.0
            self._errors.put(LeaderElectionLost())

        parts = self._parts
        try:
            elector = leaderelection.new_leader_elector(
                leaderelection.LeaderElectionConfig(
                    lock=lock,
                    lease_duration=parts.lease_duration,
                    renew_deadline=parts.renew_deadline,
                    retry_period=parts.retry_period,
                    callbacks=leaderelection.LeaderCallbacks(
                        on_started_leading=lambda _: self._start_leader_election_runnables(internal_ctx),
                        on_stopped_leading=lost,
                    ),
                    release_on_cancel=parts.leader_election_release_on_cancel,
                    name=parts.leader_election_id,
                )
            )
        except Exception as err:
            raise ValueError(f"failed during initialization leader election process: {err}") from err
        return _Election(elector, context.without_cancel(ctx))

    def _add_probe_servers(self, ctx: Context) -> None:
        ctx = into_context(ctx, self._logger)
        if self._parts.health_probe_listener is not None:
            mux = http.ServeMux()
            for name, handler in (
                (self._parts.readiness_endpoint_name, self._readyz),
                (self._parts.liveness_endpoint_name, self._healthz),
            ):
                if handler is not None:
                    mux.handle(name, http.strip_prefix(name, handler))
                    mux.handle(f"{name}/", http.strip_prefix(name, handler))
            self._add_server("health probe", mux, self._parts.health_probe_listener, ctx)
        if self._parts.pprof_listener is not None:
            self._add_server("pprof", _debug_mux(), self._parts.pprof_listener, ctx)

    def _add_server(self, name: str, mux: http.ServeMux, listener: socket.socket, ctx: Context) -> None:
        self.add(Server(name=name, server=httpserver.new(ctx, mux, name), listener=listener))

    # ---- stop

    def _stop(self, internal_cancel: context.CancelFunc) -> Exception | None:
        """Stop all groups in order, within the grace period. Blocks. Returns the error of an unclean stop."""
        self._errors.begin_stop()
        internal_cancel()
        grace = self._graceful_shutdown_timeout
        if grace == 0:
            self._errors.finish()
        began = REAL_CLOCK.now()
        if grace < 0:
            shutdown_ctx, cancel = context.with_cancel(context.background())
        else:
            shutdown_ctx, cancel = context.with_timeout(context.background(), grace)
        try:
            self._stop_groups(shutdown_ctx)
            overrun = shutdown_ctx.err()
            if self._leader_election is not None:
                self._leader_election.end()
            self._stop_recorders(grace - REAL_CLOCK.since(began) if grace > 0 else grace)
        finally:
            cancel()
            self._errors.finish()
        self._close_listeners()
        if overrun is None or grace == 0:
            return None
        return TimeoutError(
            f"failed waiting for all runnables to end within grace period of {format_duration(grace)}: {overrun}"
        )

    def _stop_groups(self, ctx: Context) -> None:
        groups = self._runnables
        warmup = threading.Thread(
            target=groups.warmup.stop_and_wait, args=(ctx,), name="manager-stop-warmup", daemon=True
        )
        self._logger.info("Stopping and waiting for warmup runnables")
        warmup.start()
        for group_name, group in (
            ("non leader election runnables", groups.others),
            ("leader election runnables", groups.leader_election),
            ("caches", groups.caches),
            ("webhooks", groups.webhooks),
            ("HTTP servers", groups.http_servers),
        ):
            self._logger.info(f"Stopping and waiting for {group_name}")
            group.stop_and_wait(ctx)
        warmup.join()
        self._logger.info("Wait completed, proceeding to shutdown the manager")

    def _stop_recorders(self, left: float) -> None:
        if left < 0 and self._graceful_shutdown_timeout < 0:
            ctx, cancel = context.with_cancel(context.background())
        else:
            ctx, cancel = context.with_timeout(context.background(), max(left, 0.0))
        try:
            self._parts.recorder_provider.stop(ctx)
        finally:
            cancel()

    def _close_listeners(self) -> None:
        """Close the listeners of servers that never started."""
        for listener in (self._parts.health_probe_listener, self._parts.pprof_listener):
            if listener is not None:
                listener.close()

    def __repr__(self) -> str:
        return f"<Manager {', '.join(map(repr, self._runnables.all()))}>"


class _Election:
    """A thread that runs the leader election."""

    def __init__(self, elector: leaderelection.LeaderElector, base: Context) -> None:
        self._elector = elector
        # Not derived from the manager's context: the lock is released after everything that needed it has ended.
        self._ctx, self._cancel = context.with_cancel(base)
        self._thread = threading.Thread(target=elector.run, args=(self._ctx,), name="manager-election", daemon=True)
        self._began = False

    def begin(self) -> None:
        self._began = True
        self._thread.start()

    def end(self) -> None:
        """End the election and release the lock. Blocks until that is done."""
        self._cancel()
        if self._began:
            self._thread.join()


def _required(check: Checker, name: str) -> Checker:
    require_function(check, f"the check {name!r}", "request")
    return check


def _debug_mux() -> http.ServeMux:
    """Return a handler that serves the stacks of all threads in place of Go's pprof."""
    mux = http.ServeMux()

    def index(resp: http.ResponseWriter, req: http.Request) -> None:
        if req.path != "/debug/pprof/":
            http.not_found(resp, req)
            return
        resp.write("/debug/pprof/cmdline\n/debug/pprof/goroutine (the stacks of all threads)\n")

    def cmdline(resp: http.ResponseWriter, req: http.Request) -> None:
        resp.write("\x00".join(sys.argv))

    def threads(resp: http.ResponseWriter, req: http.Request) -> None:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        for ident, frame in sys._current_frames().items():
            resp.write(f"{names.get(ident, ident)}\n{''.join(traceback.format_stack(frame))}\n")

    mux.handle("/debug/pprof/", index)
    mux.handle("/debug/pprof/cmdline", cmdline)
    mux.handle("/debug/pprof/goroutine", threads)
    return mux
