"""A candidate of a coordinated election: registers itself and answers pings.

Mirrors client-go/tools/leaderelection/leasecandidate.go. A controller of the cluster selects the leader among the
LeaseCandidate objects and writes its name to the Lease. The elector of the selected process only renews the Lease
(`LeaderElectionConfig.coordinated`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from clientgo import klog
from clientgo.api.coordination import v1beta1 as coordinationv1beta1
from clientgo.apimachinery import fields
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.context import Context
from clientgo.golang.channel import StopChannel
from clientgo.tools import cache
from clientgo.util import workqueue
from clientgo.utils.clock.clock import REAL_CLOCK, Clock

if TYPE_CHECKING:
    from clientgo import informers, kubernetes

__all__ = ["CacheSyncWaiter", "LeaseCandidate", "new_candidate"]

_REQUEUE_INTERVAL = 5 * 60.0
_RESYNC_PERIOD = 5 * 60.0

# The only key in the queue: there is one object.
_KEY = 0


class CacheSyncWaiter(Protocol):
    """A waiter for the candidate's informer: its informer factory. Go: leaderelection.CacheSyncWaiter."""

    def wait_for_cache_sync(self, stop_ch: StopChannel, /) -> Mapping[type, bool]:
        """Block until the caches have synced or `stop_ch` is set. Return for each type whether it has synced.

        Go: CacheSyncWaiter.WaitForCacheSync.
        """
        ...


class LeaseCandidate:
    """A maintainer of one LeaseCandidate object; `new_candidate` creates it. Go: leaderelection.LeaseCandidate."""

    def __init__(
        self,
        clientset: kubernetes.Interface,
        informer_factory: informers.SharedInformerFactory,
        namespace: str,
        name: str,
        spec: coordinationv1beta1.LeaseCandidateSpec,
    ) -> None:
        """Create a candidate. `spec` is that of a new object, without times."""
        self._lease_client = clientset.coordination_v1beta1().lease_candidates(namespace)
        self._informer_factory = informer_factory
        candidates = informer_factory.coordination().v1beta1().lease_candidates()
        self._lister = candidates.lister()
        self._namespace = namespace
        self._name = name
        self._spec = spec
        self._clock: Clock = REAL_CLOCK
        self._queue: workqueue.TypedRateLimitingInterface[int] = workqueue.new_typed_rate_limiting_queue_with_config(
            workqueue.default_typed_controller_rate_limiter(),
            workqueue.TypedRateLimitingQueueConfig(name="leasecandidate"),
        )
        handler = cache.ResourceEventHandlerFuncs(update_func=lambda _old, new: self._updated(new))
        self._has_synced = candidates.informer().add_event_handler(handler).has_synced

    def run(self, ctx: Context) -> None:
        """Create the object, and renew it every five minutes and on every ping, until `ctx` is done. Blocks.

        Go: LeaseCandidate.Run.
        """
        ctx = klog.new_context(ctx, klog.from_context(ctx).with_name("leasecandidate"))
        worker = threading.Thread(target=self._run_worker, args=(ctx,), name="leasecandidate-worker", daemon=True)
        started = False
        self._informer_factory.start(ctx.done())
        try:
            if not cache.wait_for_named_cache_sync_with_context(ctx, self._has_synced):
                return
            self._enqueue_lease()
            worker.start()
            started = True
            ctx.done().wait()
        finally:
            self._queue.shut_down()
            if started:
                worker.join()
            self._informer_factory.shutdown()

    def _updated(self, candidate: Any) -> None:
        if not isinstance(candidate, coordinationv1beta1.LeaseCandidate):
            return
        ping, renewal = candidate.spec.ping_time, candidate.spec.renew_time
        if ping is not None and (renewal is None or ping > renewal):
            self._enqueue_lease()

    def _run_worker(self, ctx: Context) -> None:
        while self._process_next_work_item(ctx):
            pass

    def _process_next_work_item(self, ctx: Context) -> bool:
        key, shutdown = self._queue.get()
        if shutdown:
            return False
        try:
            self._ensure_lease(ctx)
        except Exception as err:
            utilruntime.handle_error_with_context(ctx, err, "Ensuring lease failed")
            self._queue.add_rate_limited(key)
        else:
            self._queue.add_after(key, _REQUEUE_INTERVAL)
        finally:
            self._queue.done(key)
        return True

    def _enqueue_lease(self) -> None:
        self._queue.add(_KEY)

    def _ensure_lease(self, ctx: Context) -> None:
        """Create the object, or write the current time to it."""
        logger = klog.from_context(ctx)
        try:
            candidate = self._lister.lease_candidates(self._namespace).get(self._name)
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
            logger.v(2).info("Creating lease candidate")
            self._lease_client.create(ctx, self._new_lease_candidate())
            logger.v(2).info("Created lease candidate")
            return
        logger.v(2).info("Lease candidate exists. Renewing.")
        renewed = candidate.deep_copy()
        renewed.spec.renew_time = from_clock(self._clock.now())
        self._lease_client.update(ctx, renewed)

    def _new_lease_candidate(self) -> coordinationv1beta1.LeaseCandidate:
        metadata = metav1.ObjectMeta(name=self._name, namespace=self._namespace)
        spec = self._spec.deep_copy()
        spec.renew_time = from_clock(self._clock.now())
        return coordinationv1beta1.LeaseCandidate(metadata=metadata, spec=spec)

    def __repr__(self) -> str:
        return f"<LeaseCandidate {self._namespace}/{self._name} for {self._spec.lease_name}>"


def new_candidate(
    clientset: kubernetes.Interface,
    candidate_namespace: str,
    candidate_name: str,
    target_lease: str,
    binary_version: str,
    emulation_version: str,
    strategy: str,
) -> tuple[LeaseCandidate, CacheSyncWaiter]:
    """Return a candidate for the Lease `target_lease`, and the waiter for its informer.

    Go: leaderelection.NewCandidate.
    """
    from clientgo import informers  # Loads hundreds of kinds, which other electors do not need.

    def select_candidate(options: metav1.ListOptions) -> None:
        options.field_selector = str(fields.one_term_equal_selector("metadata.name", candidate_name))

    factory = informers.new_shared_informer_factory_with_options(
        clientset,
        _RESYNC_PERIOD,
        informers.with_namespace(candidate_namespace),
        informers.with_tweak_list_options(select_candidate),
    )
    spec = coordinationv1beta1.LeaseCandidateSpec(
        lease_name=target_lease,
        binary_version=binary_version,
        emulation_version=emulation_version,
        strategy=strategy,
    )
    return LeaseCandidate(clientset, factory, candidate_namespace, candidate_name, spec), factory
