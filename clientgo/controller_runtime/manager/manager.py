"""Runs controllers, and what they need, together. Mirrors pkg/manager/manager.go."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, runtime_checkable

from clientgo import context, rest
from clientgo.apimachinery.runtime import Scheme
from clientgo.context import Context
from clientgo.controller_runtime import cache as ctrlcache
from clientgo.controller_runtime import client as ctrlclient
from clientgo.controller_runtime import leaderelection, webhook
from clientgo.controller_runtime.cluster import cluster
from clientgo.controller_runtime.cluster.cluster import Cluster
from clientgo.controller_runtime.config.controller import Controller as ControllerConfig
from clientgo.controller_runtime.healthz.healthz import Checker
from clientgo.controller_runtime.internal.metrics.workqueue import install as install_metrics
from clientgo.controller_runtime.internal.recorder import Provider, new_provider
from clientgo.controller_runtime.log.log import LOG
from clientgo.controller_runtime.manager.internal import ControllerManager, ManagerParts
from clientgo.controller_runtime.metrics.server import server as metricsserver
from clientgo.controller_runtime.webhook import conversion
from clientgo.golang.channel import StopChannel
from clientgo.golang.http import server as http
from clientgo.klog import Logger
from clientgo.tools import record
from clientgo.tools.leaderelection import resourcelock

__all__ = [
    "BaseContextFunc",
    "LeaderElectionRunnable",
    "Manager",
    "Options",
    "Runnable",
    "RunnableFunc",
    "RunnableLike",
    "new",
]

_LEASE_DURATION = 15.0
_RENEW_DEADLINE = 10.0
_RETRY_PERIOD = 2.0
_GRACEFUL_SHUTDOWN_PERIOD = 30.0
_READINESS_ENDPOINT = "/readyz"
_LIVENESS_ENDPOINT = "/healthz"


class Manager(Cluster, Protocol):
    """Shares a cache and clients between controllers, starts them in order, and stops them. Go: manager.Manager."""

    def add(self, r: RunnableLike, /) -> None:
        """Run `r` too; at once when the manager runs already. Raises when it is stopping.

        A runnable whose `need_leader_election()` is False runs everywhere; all others, functions too, run only where
        the manager is the leader. What has a cache (a Cluster) and webhook servers start before the others.
        """
        ...

    def elected(self) -> StopChannel:
        """Set once this manager is the leader; with no election, once everything has started."""
        ...

    def add_metrics_server_extra_handler(self, path: str, handler: http.HandlerLike) -> None:
        """Serve something else beside the metrics, before the start. Raises for a path that is taken."""
        ...

    def add_healthz_check(self, name: str, check: Checker) -> None:
        """Add a check of whether the program is alive, before the start."""
        ...

    def add_readyz_check(self, name: str, check: Checker) -> None:
        """Add a check of whether the program is ready, before the start."""
        ...

    def start(self, ctx: Context) -> None:
        """Run everything until `ctx` ends, or something fails. Blocks; what it started has ended when it returns.

        Raises the first error of a runnable; TimeoutError when something did not end within the grace period, that
        goes on running; an Aggregate of both. When the lease is lost it raises at once, without waiting: the program
        must end then, since another one leads.
        """
        ...

    def get_webhook_server(self) -> webhook.Server:
        """The webhook server; the first call adds it to the manager."""
        ...

    def get_logger(self) -> Logger:
        """What the manager logs to."""
        ...

    def get_controller_options(self) -> ControllerConfig:
        """The defaults of the manager's controllers."""
        ...

    def get_converter_registry(self) -> conversion.Registry:
        """The converters that the conversion webhook uses."""
        ...


@dataclass(kw_only=True)
class Options:
    """What can be chosen about a manager. Go: manager.Options. Durations are seconds."""

    scheme: Scheme | None = None
    """What kinds are known by; that of the built-in kinds when None."""
    mapper_provider: cluster.MapperProvider | None = None
    """Makes what resources are known by; by default one that asks the server."""
    cache: ctrlcache.Options = field(default_factory=ctrlcache.Options)
    """What the cache holds; everything asked for, in all namespaces, by default."""
    new_cache: ctrlcache.NewCacheFunc | None = None
    client: ctrlclient.Options = field(default_factory=ctrlclient.Options)
    """How clients behave."""
    new_client: cluster.NewClientFunc | None = None
    logger: Logger | None = None
    """log.LOG when None."""
    leader_election: bool = False
    """Whether only one manager of several runs its controllers."""
    leader_election_resource_lock: str = ""
    leader_election_namespace: str = ""
    """Where the lock is; in a cluster by default where the program is."""
    leader_election_id: str = ""
    """The lock's name."""
    leader_election_config: rest.Config | None = None
    """Where the lock is, when not in the manager's cluster."""
    leader_election_release_on_cancel: bool = False
    """Give the lock up at the end, so that the next leader need not wait for the lease to end.

    Only for programs that end as soon as `start` has returned.
    """
    leader_election_labels: Mapping[str, str] | None = None
    leader_election_resource_lock_interface: resourcelock.Interface | None = None
    """Another kind of lock; then the other options about it do not count."""
    lease_duration: float | None = None
    """15 seconds when None."""
    renew_deadline: float | None = None
    """10 seconds when None."""
    retry_period: float | None = None
    """2 seconds when None."""
    metrics: metricsserver.Options = field(default_factory=metricsserver.Options)
    """Where metrics are served; ":8080" by default, "0" for nowhere."""
    health_probe_bind_address: str = ""
    """Where health probes are served, such as ":8081"; nowhere when "" or "0"."""
    readiness_endpoint_name: str = ""
    """/readyz when empty."""
    liveness_endpoint_name: str = ""
    """/healthz when empty."""
    pprof_bind_address: str = ""
    """Where the stacks of the threads are shown, to nobody but you; nowhere when "" or "0"."""
    webhook_server: webhook.Server | None = None
    """Another webhook server than the default one."""
    base_context: BaseContextFunc | None = None
    """Makes the context that runnables' contexts are made of; an empty one when None."""
    event_broadcaster: record.EventBroadcaster | None = None
    """For other correlation of events than the usual. Deprecated in Go."""
    graceful_shutdown_timeout: float | None = None
    """How long runnables have to end; 30 when None, 0 is no time at all, negative as long as they take."""
    controller: ControllerConfig = field(default_factory=ControllerConfig)
    """The defaults of the manager's controllers."""


BaseContextFunc: TypeAlias = Callable[[], Context]
"""Makes the context that runnables' contexts are made of. Go: manager.BaseContextFunc."""


@runtime_checkable
class Runnable(Protocol):
    """Something that runs until its context ends. Go: manager.Runnable."""

    def start(self, ctx: Context, /) -> None:
        """Run. Must block until `ctx` ends, or until there is nothing more to do; what it raises ends the manager."""
        ...


RunnableLike: TypeAlias = Runnable | Callable[[Context], object]
"""What is taken wherever Go takes a Runnable."""


class RunnableFunc:
    """A function as a Runnable. Go: manager.RunnableFunc. Needed only where it must be an object."""

    def __init__(self, function: Callable[[Context], object]) -> None:
        self._function = function

    def start(self, ctx: Context, /) -> None:
        """Call the function."""
        self._function(ctx)


@runtime_checkable
class LeaderElectionRunnable(Protocol):
    """A Runnable that says whether it waits for the election; others do. Go: manager.LeaderElectionRunnable."""

    def need_leader_election(self) -> bool:
        """Whether it runs only where the manager is the leader."""
        ...


def new(config: rest.Config, options: Options | None = None) -> Manager:
    """A manager for the cluster of `config`. Go: manager.New.

    It listens for health probes at once. Raises ValueError when something is missing, OSError when an address cannot
    be listened on or a certificate cannot be read.
    """
    if config is None:
        raise ValueError("must specify Config")
    install_metrics()
    options = _with_defaults(options or Options())
    members = cluster.new(config, lambda opts: _choose(opts, options))
    config = rest.copy_config(config)
    config.user_agent = config.user_agent or rest.default_kubernetes_user_agent()
    http_client = members.get_http_client()
    logger = options.logger or LOG
    recorder_provider = new_provider(
        config,
        http_client,
        members.get_scheme(),
        logger.with_name("events"),
        cluster.make_broadcaster_producer(config, http_client, options.event_broadcaster),
    )
    resource_lock = _resource_lock(config, options, recorder_provider)
    metrics_server = metricsserver.new_server(options.metrics, config, http_client)
    health_probe_listener, pprof_listener = _listen_for_both(options)
    return ControllerManager(
        ManagerParts(
            cluster=members,
            recorder_provider=recorder_provider,
            resource_lock=resource_lock,
            metrics_server=metrics_server,
            health_probe_listener=health_probe_listener,
            pprof_listener=pprof_listener,
            controller_config=options.controller,
            logger=logger,
            webhook_server=options.webhook_server,
            base_context=options.base_context or context.background,
            readiness_endpoint_name=options.readiness_endpoint_name,
            liveness_endpoint_name=options.liveness_endpoint_name,
            leader_election_id=options.leader_election_id,
            leader_election_release_on_cancel=options.leader_election_release_on_cancel,
            lease_duration=_or(options.lease_duration, _LEASE_DURATION),
            renew_deadline=_or(options.renew_deadline, _RENEW_DEADLINE),
            retry_period=_or(options.retry_period, _RETRY_PERIOD),
            graceful_shutdown_timeout=_or(options.graceful_shutdown_timeout, _GRACEFUL_SHUTDOWN_PERIOD),
        )
    )


def _choose(members: cluster.Options, options: Options) -> None:
    members.scheme = options.scheme
    members.mapper_provider = options.mapper_provider
    members.logger = options.logger
    members.new_cache = options.new_cache
    members.new_client = options.new_client
    members.cache = options.cache
    members.client = options.client
    members.event_broadcaster = options.event_broadcaster


def _listen_for_both(options: Options) -> tuple[socket.socket | None, socket.socket | None]:
    """The listeners of health probes and of pprof; none stays open when the other one fails."""
    health = _listen(options.health_probe_bind_address)
    try:
        return health, _listen(options.pprof_bind_address)
    except Exception:
        if health is not None:
            health.close()
        raise


def _listen(address: str) -> socket.socket | None:
    if address in ("", "0"):
        return None
    try:
        return http.listen(address)
    except http.ListenError as err:
        raise http.ListenError(err.errno, f"error listening on {address}: {err}") from None


def _with_defaults(options: Options) -> Options:
    logger = options.logger or LOG
    return replace(
        options,
        logger=logger,
        readiness_endpoint_name=options.readiness_endpoint_name or _READINESS_ENDPOINT,
        liveness_endpoint_name=options.liveness_endpoint_name or _LIVENESS_ENDPOINT,
        controller=replace(options.controller, logger=options.controller.logger or logger),
    )


def _or(given: float | None, default: float) -> float:
    return default if given is None else given


def _resource_lock(
    config: rest.Config, options: Options, recorder_provider: Provider
) -> resourcelock.Interface | None:
    if not options.leader_election:
        return None
    if options.leader_election_resource_lock_interface is not None:
        return options.leader_election_resource_lock_interface
    return leaderelection.new_resource_lock(
        options.leader_election_config or config,
        recorder_provider,
        leaderelection.Options(
            leader_election=True,
            leader_election_resource_lock=options.leader_election_resource_lock,
            leader_election_id=options.leader_election_id,
            leader_election_namespace=options.leader_election_namespace,
            renew_deadline=_or(options.renew_deadline, _RENEW_DEADLINE),
            leader_labels=options.leader_election_labels,
        ),
    )
