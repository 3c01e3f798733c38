"""Leader election among replicas: the flags of -leader-elect, and a function that only runs while a Lease is held.

The Go sample-controller has no leader election; the flags and their defaults are those of every component of Kubernetes
(k8s.io/component-base/config/options), the way they are used is that of client-go's examples/leader-election.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

from clientgo import rest
from clientgo.context import Context
from clientgo.golang import strconv
from clientgo.golang.duration import parse_duration
from clientgo.tools import leaderelection
from clientgo.tools.leaderelection import resourcelock

Exit = Callable[[int], Any]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the leader election.

    Go: options.BindLeaderElectionFlags. Durations are written as in Go: 15s, 1m30s, 500ms.
    """
    group = parser.add_argument_group("leader election")

    def add(name: str, **options: Any) -> None:
        group.add_argument(f"-{name}", f"--{name}", **options)

    add(
        "leader-elect",
        type=_bool,
        nargs="?",
        const=True,
        default=False,
        help="Work only while holding a Lease, so that replicas can stand by. (default false)",
    )
    add(
        "leader-elect-lease-duration",
        type=parse_duration,
        default="15s",
        metavar="DURATION",
        help="How long the others leave a leader alone that does not renew. (default 15s)",
    )
    add(
        "leader-elect-renew-deadline",
        type=parse_duration,
        default="10s",
        metavar="DURATION",
        help="How long the leader tries to renew before it gives up; less than the lease duration. (default 10s)",
    )
    add(
        "leader-elect-retry-period",
        type=parse_duration,
        default="2s",
        metavar="DURATION",
        help="The time between two tries to get or renew the Lease. (default 2s)",
    )
    add(
        "leader-elect-resource-lock",
        default=resourcelock.LEASES_RESOURCE_LOCK,
        metavar="KIND",
        help="What is locked; only 'leases' is left. (default leases)",
    )
    add("leader-elect-resource-name", default="sample-controller", metavar="NAME", help="Name of the Lease.")
    add("leader-elect-resource-namespace", default="default", metavar="NAMESPACE", help="Namespace of the Lease.")


def _bool(text: str) -> bool:
    try:
        return strconv.parse_bool(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid boolean value {strconv.quote(text)}") from None


def lock_for_config(cfg: rest.Config, flags: argparse.Namespace) -> resourcelock.Interface:
    """Return the lock of the Lease that the flags name, with an identity that is unique to this process.

    Raises ValueError for an unknown kind of lock.
    """
    return resourcelock.new_from_kubeconfig(
        flags.leader_elect_resource_lock,
        flags.leader_elect_resource_namespace,
        flags.leader_elect_resource_name,
        resourcelock.ResourceLockConfig(identity=leaderelection.unique_identity()),
        cfg,
        flags.leader_elect_renew_deadline,
    )


def run_while_leading(
    ctx: Context,
    lock: resourcelock.Interface,
    flags: argparse.Namespace,
    work: Callable[[Context], None],
    exit: Exit = os._exit,
) -> None:
    """Run `work` while holding the Lease, with the flags' durations. See leaderelection.run_while_leading."""
    leaderelection.run_while_leading(
        ctx,
        lock,
        work,
        lease_duration=flags.leader_elect_lease_duration,
        renew_deadline=flags.leader_elect_renew_deadline,
        retry_period=flags.leader_elect_retry_period,
        name=flags.leader_elect_resource_name,
        exit=exit,
    )
