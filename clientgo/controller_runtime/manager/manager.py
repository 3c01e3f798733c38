"""The manager, which runs controllers and their dependencies. Mirrors pkg/manager/manager.go."""

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
from clientgo.golang.functions import check_options
from clientgo.golang.http import server as http
from clientgo.golang.time import require_seconds
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
    """A manager: it shares a cache and clients between controllers, starts them in order, and stops them.

    Go: manager.Manager.
    """

    def add(self, r: RunnableLike, /) -> None:
        """Add a runnable. If the manager is running, the runnable starts at once. Raises an error if the manager is
        stopping.

        A runnable whose `need_leader_election()` returns False always runs. All others, including functions, run only
        while the manager is the leader. Runnables with a cache (a Cluster) and webhook servers start first.
        """
        ...

    def elected(self) -> StopChannel:
        """Return a channel that closes when this manager is the leader, or, without an election, when everything has
        started.
        """
        ...

    def add_metrics_server_extra_handler(self, path: str, handler: http.HandlerLike) -> None:
        """Serve another path besides the metrics. Call it before `start`. Raises an error if the path is taken."""
        ...

    def add_healthz_check(self, name: str, check: Checker) -> None:
        """Add a liveness check. Call it before `start`."""
        ...

    def add_readyz_check(self, name: str, check: Checker) -> None:
        """Add a readiness check. Call it before `start`."""
        ...

    def start(self, ctx: Context) -> None:
        """Run everything until `ctx` ends or a runnable fails. Blocks until all runnables have ended.

        Raises the first error of a runnable, TimeoutError if a runnable did not end within the grace period (it
        continues to run), or an Aggregate of both. If the manager loses the lease, it raises at once without waiting:
        the program must exit then, since another manager may lead.
        """
        ...

    def get_webhook_server(self) -> webhook.Server:
        """Return the webhook server. The first call adds it to the manager."""
        ...

    def get_logger(self) -> Logger:
        """Return the manager's logger."""
        ...

    def get_controller_options(self) -> ControllerConfig:
        """Return the defaults of the manager's controllers."""
        ...

    def get_converter_registry(self) -> conversion.Registry:
        """Return the converters that the conversion webhook uses."""
        ...


@dataclass(kw_only=True)
class Options:
    """The options of a manager. Durations are seconds. Go: manager.Options."""

    scheme: Scheme | None = None
    """Maps classes to kinds; None selects the built-in kinds."""
    mapper_provider: cluster.MapperProvider | None = None
    """Makes the mapper from kinds to resources; None selects one that discovers kinds on first use."""
    cache: ctrlcache.Options = field(default_factory=ctrlcache.Options)
    """The settings of the cache; by default it covers all namespaces."""
    new_cache: ctrlcache.NewCacheFunc | None = None
    client: ctrlclient.Options = field(default_factory=ctrlclient.Options)
    """The settings of the clients."""
    new_client: cluster.NewClientFunc | None = None
    logger: Logger | None = None
    """The manager's logger; None selects log.LOG."""
    leader_election: bool = False
    """Run controllers only while this manager is the leader."""
    leader_election_resource_lock: str = ""
    leader_election_namespace: str = ""
    """The lock's namespace; "" selects the namespace of the program's pod."""
    leader_election_id: str = ""
    """The lock's name."""
    leader_election_config: rest.Config | None = None
    """The config of the cluster with the lock; None selects the manager's cluster."""
    leader_election_release_on_cancel: bool = False
    """Release the lock at the end, so that the next leader need not wait until the lease expires.

    Only for programs that exit as soon as `start` has returned.
    """
    leader_election_labels: Mapping[str, str] | None = None
    leader_election_resource_lock_interface: resourcelock.Interface | None = None
    """Another kind of lock. It overrides the options of the default lock."""
    lease_duration: float | None = None
    """Seconds until another manager may take over an unrenewed lease; None selects 15."""
    renew_deadline: float | None = None
    """Seconds that the leader retries a renewal before it gives up; None selects 10."""
    retry_period: float | None = None
    """Seconds between two attempts to take or renew the lease; None selects 2."""
    metrics: metricsserver.Options = field(default_factory=metricsserver.Options)
    """The options of the metrics server. It listens at ":8080" by default; "0" disables it."""
    health_probe_bind_address: str = ""
    """The address for health probes, such as ":8081"; "" and "0" disable them."""
    readiness_endpoint_name: str = ""
    """The path of readiness probes; "" selects /readyz."""
    liveness_endpoint_name: str = ""
    """The path of liveness probes; "" selects /healthz."""
    pprof_bind_address: str = ""
    """The address that serves the stacks of all threads; "" and "0" disable it. It must not be public."""
    webhook_server: webhook.Server | None = None
    """The webhook server; None selects the default one."""
    base_context: BaseContextFunc | None = None
    """Makes the parent context of all runnables; None selects an empty one."""
    event_broadcaster: record.EventBroadcaster | None = None
    """A broadcaster with other correlation of events than the default. Deprecated in Go."""
    graceful_shutdown_timeout: float | None = None
    """Seconds that runnables have to end; None selects 30, 0 does not wait, and a negative number waits without limit.
    """
    controller: ControllerConfig = field(default_factory=ControllerConfig)
    """The defaults of the manager's controllers."""


BaseContextFunc: TypeAlias = Callable[[], Context]
"""A function that makes the parent context of all runnables. Go: manager.BaseContextFunc."""


@runtime_checkable
class Runnable(Protocol):
    """A part of a program that runs until its context ends. Go: manager.Runnable."""

    def start(self, ctx: Context, /) -> None:
        """Run. Blocks until `ctx` ends or the work is done. If it raises, the manager stops."""
        ...


RunnableLike: TypeAlias = Runnable | Callable[[Context], object]
"""The parameter type where Go has a Runnable: an object with `start`, or a function."""


class RunnableFunc:
    """A function as a Runnable, for code that needs an object. Go: manager.RunnableFunc."""

    def __init__(self, function: Callable[[Context], object]) -> None:
        self._function = function

    def start(self, ctx: Context, /) -> None:
        """Call the function."""
        self._function(ctx)


@runtime_checkable
class LeaderElectionRunnable(Protocol):
    """A Runnable that states whether it waits for the election; others always wait.

    Go: manager.LeaderElectionRunnable.
    """

    def need_leader_election(self) -> bool:
        """Report whether it runs only while the manager is the leader."""
        ...


def new(config: rest.Config, options: Options | None = None) -> Manager:
    """Return a manager for the cluster of `config`. Go: manager.New.

    It listens for health probes at once. Raises ValueError for incomplete options, OSError if it cannot listen at an
    address or read a certificate.
    """
    if config is None:
        raise ValueError("must specify Config")
    if options is not None:
        check_options(options, Options, "the options of a manager")
    install_metrics()
    options = _with_defaults(options or Options())
    grace = require_seconds(
        _or(options.graceful_shutdown_timeout, _GRACEFUL_SHUTDOWN_PERIOD), "graceful_shutdown_timeout"
    )
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
            graceful_shutdown_timeout=grace,
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
    """Return the listeners for health probes and for pprof. If one fails, the other is closed."""
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
