"""Work in one of several processes, which holds a Lease. Mirrors examples/leader-election."""

from __future__ import annotations

import argparse
import sys
import uuid

from clientgo import context, klog, rest
from clientgo import kubernetes as clientset
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import clientcmd, leaderelection
from clientgo.tools.leaderelection import resourcelock
from clientgo.util.signals import notify_context


def build_config(kubeconfig: str) -> rest.Config:
    """Return the config of a kubeconfig, or of the pod. Raises ErrNotInCluster, OSError, ValueError."""
    if kubeconfig:
        return clientcmd.build_config_from_flags("", kubeconfig)
    return rest.in_cluster_config()


def main() -> int:
    parser = argparse.ArgumentParser("leader-election", allow_abbrev=False)
    parser.add_argument("-kubeconfig", "--kubeconfig", default="", help="path of the kubeconfig file")
    parser.add_argument("-id", "--id", default=str(uuid.uuid4()), help="the identity of this process")
    parser.add_argument("-lease-lock-name", "--lease-lock-name", default="", help="the name of the Lease")
    parser.add_argument("-lease-lock-namespace", "--lease-lock-namespace", default="", help="its namespace")
    klog.add_flags(parser)
    flags = parser.parse_args()
    logger = klog.background()
    for flag, value in (("name", flags.lease_lock_name), ("namespace", flags.lease_lock_namespace)):
        if not value:
            logger.error(None, f"Unable to get lease lock resource {flag} (missing lease-lock-{flag} flag)")
            klog.flush()
            return 1

    # Leader election writes to a Lease. A conflict makes a write fail, and each process handles that by itself.
    config = build_config(flags.kubeconfig)
    client = clientset.new_for_config(config)
    started_leading = False

    def run(ctx: context.Context) -> None:
        # The loop of a controller belongs here.
        nonlocal started_leading
        started_leading = True
        logger.info("Controller loop...")
        ctx.done().wait()

    def stopped() -> None:
        # Called whenever the election ends, also in a process that never led.
        logger.info("Leader lost", identity=flags.id)
        if started_leading:
            logger.info("Performing cleanup operations...")
        else:
            logger.info("Skipping cleanup because we never started leading")

    def new_leader(identity: str) -> None:
        if identity != flags.id:
            logger.info("New leader elected", identity=identity)

    # Ctrl-C and SIGTERM end the election: this process steps down.
    ctx = notify_context(context.background())

    # Leases are rarely written by others, and few clients watch all of them.
    lock = resourcelock.LeaseLock(
        lease_meta=metav1.ObjectMeta(name=flags.lease_lock_name, namespace=flags.lease_lock_namespace),
        client=client.coordination_v1(),
        lock_config=resourcelock.ResourceLockConfig(identity=flags.id),
    )
    leaderelection.run_or_die(
        ctx,
        leaderelection.LeaderElectionConfig(
            lock=lock,
            # IMPORTANT: all work that the Lease protects must have ended before the context is cancelled. Otherwise
            # another process can be elected while that work still runs.
            release_on_cancel=True,
            lease_duration=60.0,
            renew_deadline=15.0,
            retry_period=5.0,
            callbacks=leaderelection.LeaderCallbacks(
                on_started_leading=run, on_stopped_leading=stopped, on_new_leader=new_leader
            ),
        ),
    )
    klog.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
