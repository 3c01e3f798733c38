"""The resource lock for a manager's leader election. Mirrors pkg/leaderelection/leader_election.go."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clientgo import rest
from clientgo.controller_runtime.recorder.recorder import Provider
from clientgo.klog.exceptions import as_operational
from clientgo.kubernetes.typed.coordination.v1 import coordination_client
from clientgo.kubernetes.typed.core.v1 import core_client
from clientgo.tools.leaderelection import resourcelock

__all__ = ["Options", "new_resource_lock"]

_IN_CLUSTER_NAMESPACE_PATH = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@dataclass(kw_only=True)
class Options:
    """The settings of the lock. Go: leaderelection.Options."""

    leader_election: bool = False
    """Take part in an election."""
    leader_election_resource_lock: str = ""
    """The kind of lock; only "leases", the default, is supported."""
    leader_election_namespace: str = ""
    """The lock's namespace; "" selects the namespace of the program's pod."""
    leader_election_id: str = ""
    """The lock's name. Required."""
    renew_deadline: float = 0.0
    """Seconds. A request for the lock may take half of that, but at least one second."""
    leader_labels: Mapping[str, str] | None = None
    """The labels of the lock."""


def new_resource_lock(
    config: rest.Config, recorder_provider: Provider, options: Options
) -> resourcelock.Interface | None:
    """Return the lock, or None without an election. Raises ValueError for incomplete settings. Go: NewResourceLock."""
    if not options.leader_election:
        return None
    if not options.leader_election_id:
        raise as_operational(ValueError("LeaderElectionID must be configured"))
    namespace = options.leader_election_namespace or _in_cluster_namespace()
    # Unique for each process, also for later processes in the same pod.
    identity = f"{socket.gethostname()}_{uuid.uuid4()}"
    config = rest.add_user_agent(rest.copy_config(config), "leader-election")
    if options.renew_deadline:
        config.timeout = max(options.renew_deadline / 2, 1.0)
    return resourcelock.new_with_labels(
        options.leader_election_resource_lock or resourcelock.LEASES_RESOURCE_LOCK,
        namespace,
        options.leader_election_id,
        core_client.new_for_config(config),
        coordination_client.new_for_config(config),
        resourcelock.ResourceLockConfig(
            identity=identity, event_recorder=recorder_provider.get_event_recorder_for(identity)
        ),
        options.leader_labels,
    )


def _in_cluster_namespace() -> str:
    path = _IN_CLUSTER_NAMESPACE_PATH
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        message = "not running in-cluster, please specify LeaderElectionNamespace"
        raise as_operational(ValueError(f"unable to find leader election namespace: {message}")) from None
    except OSError as err:
        message = f"error reading namespace file: {os.strerror(err.errno or 0)}"
        raise as_operational(ValueError(f"unable to find leader election namespace: {message}")) from err
