"""Constructors and options of controllers. Mirrors pkg/controller/controller.go. Most programs use the builder instead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, cast

from clientgo.context import Context
from clientgo.controller_runtime import config
from clientgo.controller_runtime.controller.name import check_name
from clientgo.controller_runtime.controller.priorityqueue import priorityqueue
from clientgo.controller_runtime.internal import controller
from clientgo.controller_runtime.internal.controller import CACHE_SYNC_TIMEOUT, reconcile_id_from_context
from clientgo.controller_runtime.internal.metrics.workqueue import install as install_metrics
from clientgo.controller_runtime.log.log import LOG
from clientgo.controller_runtime.reconcile.reconcile import ReconcilerLike, Request, TypedReconciler, to_function
from clientgo.controller_runtime.source.source import TypedSource
from clientgo.golang.functions import check_options
from clientgo.golang.time import require_seconds
from clientgo.klog import Logger, kref
from clientgo.util import workqueue

if TYPE_CHECKING:
    from clientgo.controller_runtime.manager.manager import Manager

__all__ = [
    "Controller",
    "Options",
    "TypedController",
    "TypedOptions",
    "new",
    "new_typed",
    "new_typed_unmanaged",
    "new_unmanaged",
    "reconcile_id_from_context",
]

RequestT = TypeVar("RequestT", bound=Hashable)

_BASE_DELAY = 0.005
_MAX_DELAY = 1000.0


@dataclass(kw_only=True)
class TypedOptions(Generic[RequestT]):
    """The options of a controller. Missing ones come from the manager. Go: controller.TypedOptions."""

    skip_name_validation: bool | None = None
    """Allow several controllers with the same name in the process. They share their metrics."""
    max_concurrent_reconciles: int = 0
    """The number of workers; 0 selects 1."""
    cache_sync_timeout: float = 0.0
    """Seconds until a source must have started and synced; 0 selects two minutes."""
    recover_panic: bool | None = None
    """Handle a bug in the reconciler as an error. None is True."""
    need_leader_election: bool | None = None
    """Run only while the manager is the leader. None is True."""
    reconciler: ReconcilerLike[RequestT] | None = None
    """The reconciler. With the builder, `complete` or `build` sets it."""
    rate_limiter: workqueue.TypedRateLimiter[RequestT] | None = None
    """The delays of failed requests: by default 5 ms to 1000 s, doubled after each failure."""
    new_queue: (
        Callable[[str, workqueue.TypedRateLimiter[RequestT]], workqueue.TypedRateLimitingInterface[RequestT]] | None
    ) = None
    """Makes the queue from the controller's name and rate limiter, when the controller starts. For advanced use."""
    logger: Logger | None = None
    """The controller's logger."""
    log_constructor: Callable[[RequestT | None], Logger] | None = None
    """Makes the logger of a request, or the controller's own logger when it receives None."""
    use_priority_queue: bool | None = None
    """Use a queue with priorities. None is True; False selects client-go's queue and rate limiter."""
    enable_warmup: bool | None = None
    """Start the sources before the manager is elected. None is False."""
    reconciliation_timeout: float = 0.0
    """Seconds after which the context of a reconcile ends; 0 sets no timeout."""

    def default_from_config(self, config: config.Controller) -> None:
        """Set missing options from the manager's defaults. Go: TypedOptions.DefaultFromConfig."""
        if self.logger is None:
            self.logger = config.logger
        if self.skip_name_validation is None:
            self.skip_name_validation = config.skip_name_validation
        if self.max_concurrent_reconciles <= 0 < config.max_concurrent_reconciles:
            self.max_concurrent_reconciles = config.max_concurrent_reconciles
        if self.cache_sync_timeout == 0 and config.cache_sync_timeout > 0:
            self.cache_sync_timeout = config.cache_sync_timeout
        if self.use_priority_queue is None:
            self.use_priority_queue = config.use_priority_queue
        if self.recover_panic is None:
            self.recover_panic = config.recover_panic
        if self.need_leader_election is None:
            self.need_leader_election = config.need_leader_election
        if self.enable_warmup is None:
            self.enable_warmup = config.enable_warmup
        if self.reconciliation_timeout == 0:
            self.reconciliation_timeout = config.reconciliation_timeout


Options: TypeAlias = TypedOptions[Request]
"""The options of a controller whose requests name objects. Go: controller.Options."""


class TypedController(TypedReconciler[RequestT], Protocol[RequestT]):
    """A controller: it reconciles the requests that its sources queue. Also a manager.Runnable.

    Go: controller.TypedController.
    """

    def watch(self, src: TypedSource[RequestT], /) -> None:
        """Add a source. If the controller is running, start the source and raise the errors of its start."""
        ...

    def start(self, ctx: Context, /) -> None:
        """Reconcile requests until `ctx` ends. Blocks. A manager calls it."""
        ...

    def get_logger(self) -> Logger:
        """Return the controller's logger."""
        ...


Controller: TypeAlias = TypedController[Request]
"""A controller whose requests name objects. Go: controller.Controller."""


def new(name: str, mgr: Manager, options: Options) -> Controller:
    """Return a controller that the manager starts. Go: controller.New.

    Raises ValueError if the name or the reconciler is missing, or if the name is taken.
    """
    return new_typed(name, mgr, options)


def new_typed(name: str, mgr: Manager, options: TypedOptions[RequestT]) -> TypedController[RequestT]:
    """Return a controller for any type of request, which the manager starts. Go: controller.NewTyped."""
    check_options(options, TypedOptions, "the options of a controller")
    options = replace(options)
    options.default_from_config(mgr.get_controller_options())
    c = new_typed_unmanaged(name, options)
    mgr.add(c)
    return c


def new_unmanaged(name: str, options: Options) -> Controller:
    """Return a controller that the program starts itself. Go: controller.NewUnmanaged."""
    return new_typed_unmanaged(name, options)


def new_typed_unmanaged(name: str, options: TypedOptions[RequestT]) -> TypedController[RequestT]:
    """Return a controller for any type of request, which the program starts itself.

    Go: controller.NewTypedUnmanaged.
    """
    check_options(options, TypedOptions, "the options of a controller")
    if options.reconciler is None:
        raise ValueError("must specify Reconciler")
    if not name:
        raise ValueError("must specify Name for Controller")
    # Check before the name is reserved, so that a corrected call can use it.
    to_function(options.reconciler)
    require_seconds(options.cache_sync_timeout, "cache_sync_timeout")
    require_seconds(options.reconciliation_timeout, "reconciliation_timeout")
    if not options.skip_name_validation:
        check_name(name)
    install_metrics()
    return controller.new(
        controller.Options(
            do=options.reconciler,
            rate_limiter=options.rate_limiter or _default_rate_limiter(options),
            new_queue=options.new_queue or _default_new_queue(options),
            max_concurrent_reconciles=max(options.max_concurrent_reconciles, 1),
            cache_sync_timeout=options.cache_sync_timeout or CACHE_SYNC_TIMEOUT,
            name=name,
            log_constructor=options.log_constructor or _default_log_constructor(name, options),
            recover_panic=options.recover_panic,
            leader_elected=options.need_leader_election,
            enable_warmup=options.enable_warmup,
            reconciliation_timeout=options.reconciliation_timeout,
        )
    )


def _default_log_constructor(name: str, options: TypedOptions[RequestT]) -> Callable[[RequestT | None], Logger]:
    log = (options.logger or LOG).with_values(controller=name)

    def construct(request: RequestT | None) -> Logger:
        if not isinstance(request, Request):
            return log
        ref = kref(request.namespace, request.name)
        return log.with_values(object=ref, namespace=request.namespace, name=request.name)

    return construct


def _default_rate_limiter(options: TypedOptions[RequestT]) -> workqueue.TypedRateLimiter[RequestT]:
    if options.use_priority_queue is False:
        return workqueue.default_typed_controller_rate_limiter()
    return workqueue.new_typed_item_exponential_failure_rate_limiter(_BASE_DELAY, _MAX_DELAY)


def _default_new_queue(
    options: TypedOptions[RequestT],
) -> Callable[[str, workqueue.TypedRateLimiter[RequestT]], workqueue.TypedRateLimitingInterface[RequestT]]:
    def new_queue(
        name: str, rate_limiter: workqueue.TypedRateLimiter[RequestT]
    ) -> workqueue.TypedRateLimitingInterface[RequestT]:
        if options.use_priority_queue is False:
            return workqueue.new_typed_rate_limiting_queue_with_config(
                rate_limiter, workqueue.TypedRateLimitingQueueConfig(name=name)
            )

        def choose(opts: priorityqueue.Opts[Any]) -> None:
            opts.log = (options.logger or LOG).with_values(controller=name)
            opts.rate_limiter = rate_limiter

        return cast("priorityqueue.PriorityQueue[RequestT]", priorityqueue.new(name, choose))

    return new_queue
