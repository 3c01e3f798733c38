"""Work that runs only while this process holds a Lease, for programs without controller-runtime.

    lock = leaderelection.lease_lock(config, "default", "my-controller")
    leaderelection.run_while_leading(ctx, lock, work)

No Go file: every program in Go writes these callbacks, as client-go's examples/leader-election and controller-runtime
do. The defaults of the durations are those of Kubernetes' components (k8s.io/component-base/config/options).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clientgo import context, klog
from clientgo.apimachinery.util import uuid
from clientgo.context import Context
from clientgo.golang.functions import require_function
from clientgo.tools.leaderelection import resourcelock
from clientgo.tools.leaderelection.healthzadaptor import HealthzAdaptor
from clientgo.tools.leaderelection.leaderelection import LeaderCallbacks, LeaderElectionConfig, new_leader_elector

if TYPE_CHECKING:
    from clientgo.rest.config import Config

__all__ = [
    "LEASE_DURATION",
    "RENEW_DEADLINE",
    "RETRY_PERIOD",
    "lease_lock",
    "run_while_leading",
    "unique_identity",
]

LEASE_DURATION = 15.0
"""Default seconds that other candidates wait after the last renewal before they acquire the lock."""
RENEW_DEADLINE = 10.0
"""Default seconds for which a leader tries to renew before it stops leading."""
RETRY_PERIOD = 2.0
"""Default seconds between two attempts to acquire or renew the lock."""


def unique_identity() -> str:
    """Return a new identity for a candidate: the host's name, "_" and a random UUID."""
    return f"{socket.gethostname()}_{uuid.new_uuid()}"


def lease_lock(
    config: Config, namespace: str, name: str, *, identity: str = "", renew_deadline: float = RENEW_DEADLINE
) -> resourcelock.Interface:
    """Return a lock on the named Lease, with connections of its own. Sends nothing.

    An `identity` of "" selects a new unique one. `renew_deadline` is the election's, in seconds; requests of the lock
    take at most half of it. Raises ValueError for an invalid config.
    """
    lock_config = resourcelock.ResourceLockConfig(identity=identity or unique_identity())
    return resourcelock.new_from_kubeconfig(
        resourcelock.LEASES_RESOURCE_LOCK, namespace, name, lock_config, config, renew_deadline
    )


def run_while_leading(
    ctx: Context,
    lock: resourcelock.Interface,
    work: Callable[[Context], object],
    *,
    lease_duration: float = LEASE_DURATION,
    renew_deadline: float = RENEW_DEADLINE,
    retry_period: float = RETRY_PERIOD,
    name: str = "",
    watch_dog: HealthzAdaptor | None = None,
    exit: Callable[[int], Any] = os._exit,
) -> None:
    """Wait for the lock, then run `work` in a thread. Block until `ctx` is done and `work` has returned.

    `work` receives a context that is done when `ctx` is done or the lock is lost. The lock is released only after
    `work` has returned, so the next leader never works beside it, and `run_while_leading` returns when `work` returns,
    even before `ctx` is done. Raises the error that `work` raises.

    When the lock is lost, calls `exit` with code 1 at once, in the calling thread, because no other means is sure to
    stop the process' threads before the next leader starts. An `exit` that returns, as in tests, lets the function
    return after `work` has returned.

    The durations are seconds. `name` is the election's name in metrics and in `watch_dog`, a health check; "" selects
    the lock's description, such as "default/my-program". Raises ValueError for invalid durations before it sends any
    request.
    """
    require_function(work, "the work of a leader", "ctx")
    # Not a child of `ctx`: the lock is renewed until `work` has returned, which is after `ctx` is done.
    candidacy, withdraw = context.with_cancel(context.without_cancel(ctx))
    failures: list[Exception] = []

    def lead(leading: Context) -> None:
        working, stop = context.with_cancel(leading)
        forget = ctx.add_done_callback(stop)
        try:
            if not working.done().is_set():
                work(working)
        except Exception as err:
            failures.append(err)
        finally:
            # Work that ended because the lock is lost has nothing to release.
            lost = leading.done().is_set()
            forget()
            stop()
            if not lost:
                withdraw()

    def stopped() -> None:
        if candidacy.done().is_set():
            return  # No other candidate acquired the lock: this process released it.
        klog.from_context(ctx).error(None, "Leader election lost", lock=lock.describe(), identity=lock.identity())
        klog.flush()
        exit(1)

    def report(identity: str) -> None:
        if identity not in ("", lock.identity()):
            klog.from_context(ctx).info("New leader elected", identity=identity)

    elector = new_leader_elector(
        LeaderElectionConfig(
            lock=lock,
            lease_duration=lease_duration,
            renew_deadline=renew_deadline,
            retry_period=retry_period,
            callbacks=LeaderCallbacks(on_started_leading=lead, on_stopped_leading=stopped, on_new_leader=report),
            release_on_cancel=True,
            name=name or lock.describe(),
        )
    )
    if watch_dog is not None:
        watch_dog.set_leader_election(elector)
    # A leader withdraws by itself when its work has ended.
    forget = ctx.add_done_callback(lambda: None if elector.is_leader() else withdraw())
    try:
        elector.run(candidacy)
    finally:
        forget()
        withdraw()
    if failures:
        raise failures[0]
